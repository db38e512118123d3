/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Images of GStreamer's Vulkan elements, on the device that is shared with them. */
#include "gsttdlexporter.h"

static gboolean is_for(const struct gst_tdl_video *video)
{
    return video->memory == GST_TDL_MEMORY_VULKAN;
}

/* Images that go away must not be those that the GPU still writes. */
static const gchar *export(const struct gst_tdl_export_request *request, GError **error)
{
    const GstVideoInfo *info = &request->video->info;
    GstBufferPool *pool;
    GstCaps *caps;
    guint min;

    gst_tdl_export_asked(request->query, &caps, NULL, NULL, &min, NULL);
    gst_tdl_session_drain(request->session);
    pool = gst_tdl_vulkan_pool(request->session->device, caps, info->size, min);
    if (!pool) {
        g_set_error(error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
                    "GStreamer's Vulkan library makes no images of %s on this device. Put the caps "
                    "video/x-raw behind tdlfilter, or choose another format.",
                    GST_VIDEO_INFO_NAME(info));
        return "there are no images of the format";
    }
    gst_tdl_export_set_pool(request->query, pool, info->size, min, 0);
    gst_object_unref(pool);
    return NULL;
}

const struct gst_tdl_export_method gst_tdl_export_vulkan = {
    .path = "vulkan-image",
    .is_for = is_for,
    .export = export,
};
