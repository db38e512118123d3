/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One tdl_context per device and process: elements that ask for the same
 * device share its queue, its compiled pipelines and its memory, so a frame
 * goes from one tdlfilter to the next without leaving the GPU. */
#ifndef GST_TDL_CONTEXT_H
#define GST_TDL_CONTEXT_H

#include "gsttdlerror.h"

#include <tdl/vulkan.h>

/* `device` as in tdl_context_params; NULL and "" are "auto". Blocking on first
 * use. Give back by gst_tdl_context_release(). Thread-safe. */
struct tdl_context *gst_tdl_context_acquire(const gchar *device, GError **error);
/* The same on a device of somebody else, which `keeper` keeps alive. The
 * context may outlive its release in frames and pools: they hold the keeper. */
struct tdl_context *gst_tdl_context_acquire_vulkan(const struct tdl_vulkan_device *device,
                                                   GObject *keeper, GError **error);
/* What keeps the context's device alive; NULL for devices of our own. Borrowed. */
GObject *gst_tdl_context_keeper(const struct tdl_context *context);
void gst_tdl_context_release(struct tdl_context **context);

#endif
