/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Dma-bufs of ours: linear ones are written in place, into tiled ones the GPU copies. */
#include "gsttdlexporter.h"

#include "gsttdlexportdmabufpool.h"

static gboolean is_linear(const struct gst_tdl_video *video)
{
    return video->memory != GST_TDL_MEMORY_VULKAN && video->modifier == GST_TDL_LINEAR;
}

static gboolean is_tiled(const struct gst_tdl_video *video)
{
    return video->memory == GST_TDL_MEMORY_DMA_BUF && video->modifier != GST_TDL_LINEAR;
}

/* Under caps of dma-bufs nothing else is left. */
static const gchar *export(const struct gst_tdl_export_request *request, GError **error)
{
    struct gst_tdl_device *device = request->session->device;

    if (request->video->memory == GST_TDL_MEMORY_SYSTEM)
        return "the caps agreed on are of system memory";
    if (device->able.dma_buf_out)
        return gst_tdl_export_from(request, gst_tdl_export_dma_buf_pool_new(device, NULL), error);
    g_set_error(error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
                "No dma-bufs for the output: %s, and the device cannot make any itself. Put "
                "the caps video/x-raw behind tdlfilter for frames in system memory, or choose "
                "another device (tdl-info lists what they can do).",
                request->declined);
    return "the device makes no dma-bufs";
}

const struct gst_tdl_export_method gst_tdl_export_dma_buf = {
    .path = "dma-buf",
    .is_for = is_linear,
    .export = export,
};

const struct gst_tdl_export_method gst_tdl_export_dma_buf_image = {
    .path = "dma-buf-image",
    .is_for = is_tiled,
    .export = export,
};
