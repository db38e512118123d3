/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Takes the place of gsttdlimportvulkan.c in a build without GStreamer's Vulkan library:
 * no frame comes in Vulkan images. */
#include "gsttdlimporter.h"

const struct gst_tdl_import_method gst_tdl_import_vulkan = { .path = "vulkan-image" };

void gst_tdl_import_submitted(const struct gst_tdl_import *import, guint64 point)
{
    (void)import; /* images of dma-bufs are the engine's to follow */
    (void)point;
}

void gst_tdl_import_vulkan_release(struct gst_tdl_import *import)
{
    (void)import;
}
