/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Takes the place of gsttdlvulkan.c in a build without GStreamer's Vulkan library:
 * neighbours have no device. */
#include "gsttdlvulkan.h"

const gboolean gst_tdl_vulkan_built = FALSE;

void gst_tdl_vulkan_init(struct gst_tdl_vulkan *vulkan)
{
    (void)vulkan;
}

void gst_tdl_vulkan_finish(struct gst_tdl_vulkan *vulkan)
{
    (void)vulkan;
}

void gst_tdl_vulkan_clear(struct gst_tdl_vulkan *vulkan)
{
    (void)vulkan;
}

gboolean gst_tdl_vulkan_find(struct gst_tdl_vulkan *vulkan, GstElement *element)
{
    (void)vulkan;
    (void)element;
    return FALSE;
}

struct gst_tdl_device *gst_tdl_vulkan_acquire(struct gst_tdl_vulkan *vulkan, GError **error)
{
    (void)vulkan;
    (void)error;
    return NULL;
}

void gst_tdl_vulkan_set_context(struct gst_tdl_vulkan *vulkan, GstElement *element,
                                GstContext *context)
{
    (void)vulkan;
    (void)element;
    (void)context;
}

gboolean gst_tdl_vulkan_answer(struct gst_tdl_vulkan *vulkan, GstElement *element, GstQuery *query)
{
    (void)vulkan;
    (void)element;
    (void)query;
    return FALSE;
}

GstBufferPool *gst_tdl_vulkan_pool(const struct gst_tdl_device *device, GstCaps *caps, gsize size,
                                   guint min)
{
    (void)device;
    (void)caps;
    (void)size;
    (void)min;
    return NULL;
}
