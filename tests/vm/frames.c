/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "frames.h"

#include <gst/allocators/gstdmabuf.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

void frames_check(gboolean good, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    gchar *text = g_strdup_vprintf(format, args);
    va_end(args);
    g_print("%s: %s\n", good ? "ok" : "FAILED", text);
    g_free(text);
    if (!good) { /* with no destructors, under the feet of running threads */
        fflush(NULL);
        _exit(1);
    }
}

void frames_tell(const GstCaps *caps)
{
    gchar *text = gst_caps_to_string(caps);

    g_print("%s\n", text);
    g_free(text);
}

gboolean frames_info(const GstCaps *caps, GstVideoInfo *out_info)
{
    GstVideoInfoDmaDrm drm;

    if (!gst_video_is_dma_drm_caps(caps))
        return gst_video_info_from_caps(out_info, caps);
    return gst_video_info_dma_drm_from_caps(&drm, caps) &&
           gst_video_info_dma_drm_to_video_info(&drm, out_info);
}

static gint first_component(const GstVideoInfo *info, guint plane)
{
    for (guint i = 0; i < GST_VIDEO_INFO_N_COMPONENTS(info); i++)
        if (GST_VIDEO_INFO_COMP_PLANE(info, i) == (gint)plane)
            return (gint)i;
    return 0;
}

/* Not gst_video_frame_map(): what that believes of DMA_DRM formats differs
 * between releases, and here GstVideoMeta's offsets and strides are tested. */
GstBuffer *frames_copy(GstBuffer *buffer, const GstVideoInfo *info)
{
    GstVideoMeta *meta = gst_buffer_get_video_meta(buffer);
    GstBuffer *copy = gst_buffer_new_allocate(NULL, GST_VIDEO_INFO_SIZE(info), NULL);
    GstMapInfo from, to;

    if (!gst_buffer_map(buffer, &from, GST_MAP_READ) || !gst_buffer_map(copy, &to, GST_MAP_WRITE))
        frames_check(FALSE, "a frame cannot be mapped");
    memset(to.data, 0, to.size);
    for (guint p = 0; p < GST_VIDEO_INFO_N_PLANES(info); p++) {
        gint c = first_component(info, p);
        gsize offset = meta ? meta->offset[p] : GST_VIDEO_INFO_PLANE_OFFSET(info, p);
        gint stride = meta ? meta->stride[p] : GST_VIDEO_INFO_PLANE_STRIDE(info, p);
        gsize row =
            (gsize)GST_VIDEO_INFO_COMP_WIDTH(info, c) * GST_VIDEO_INFO_COMP_PSTRIDE(info, c);

        for (gint y = 0; y < GST_VIDEO_INFO_COMP_HEIGHT(info, c); y++)
            memcpy(to.data + GST_VIDEO_INFO_PLANE_OFFSET(info, p) +
                       (gsize)y * GST_VIDEO_INFO_PLANE_STRIDE(info, p),
                   from.data + offset + (gsize)y * stride, row);
    }
    gst_buffer_unmap(copy, &to);
    gst_buffer_unmap(buffer, &from);
    gst_buffer_copy_into(copy, buffer, GST_BUFFER_COPY_TIMESTAMPS, 0, -1);
    return copy;
}

gint frames_stride(GstBuffer *buffer, const GstVideoInfo *info)
{
    GstVideoMeta *meta = gst_buffer_get_video_meta(buffer);

    return meta ? meta->stride[0] : GST_VIDEO_INFO_PLANE_STRIDE(info, 0);
}

gboolean frames_are_dma_buf(GstBuffer *buffer)
{
    for (guint i = 0; i < gst_buffer_n_memory(buffer); i++)
        if (!gst_is_dmabuf_memory(gst_buffer_peek_memory(buffer, i)))
            return FALSE;
    return gst_buffer_n_memory(buffer) > 0;
}
