/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The Vulkan device of the neighbours. GStreamer's Vulkan elements agree on
 * instance, device and queue by GstContext; the element asks for theirs before
 * it opens one of its own, and answers with it when it is asked.
 *
 * A build without GStreamer's Vulkan library (the option vulkan-image) has
 * gsttdlvulkan-none.c instead: nothing is ever found.
 */
#ifndef GST_TDL_VULKAN_H
#define GST_TDL_VULKAN_H

#include "gsttdldevice.h"

/* FALSE where nothing can be found at all. */
extern const gboolean gst_tdl_vulkan_built;

/* The state of one element. Queries come from any thread. */
struct gst_tdl_vulkan {
    GMutex lock;
    GObject *display, *instance, *device, *queue; /* guarded by `lock` */
};
void gst_tdl_vulkan_init(struct gst_tdl_vulkan *vulkan);
void gst_tdl_vulkan_finish(struct gst_tdl_vulkan *vulkan);

/* Ask neighbours, bins and the application for a device. FALSE when there is
 * none, or none that can be shared. */
gboolean gst_tdl_vulkan_find(struct gst_tdl_vulkan *vulkan, GstElement *element);
/* Forget it. */
void gst_tdl_vulkan_clear(struct gst_tdl_vulkan *vulkan);
/* The device that was found; one for all elements in the process. NULL with no
 * error: none was found. Give back by gst_tdl_device_release(). */
struct gst_tdl_device *gst_tdl_vulkan_acquire(struct gst_tdl_vulkan *vulkan, GError **error);

/* GstElement.set_context, and CONTEXT queries: TRUE when answered. */
void gst_tdl_vulkan_set_context(struct gst_tdl_vulkan *vulkan, GstElement *element,
                                GstContext *context);
gboolean gst_tdl_vulkan_answer(struct gst_tdl_vulkan *vulkan, GstElement *element, GstQuery *query);

/* A pool of images for `caps` on a device that was acquired here; NULL where the
 * library has none of that format. */
GstBufferPool *gst_tdl_vulkan_pool(const struct gst_tdl_device *device, GstCaps *caps, gsize size,
                                   guint min);

#endif
