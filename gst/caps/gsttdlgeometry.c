/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gsttdlgeometry.h"

gsize gst_tdl_geometry_plane_row(const GstVideoFormatInfo *format, guint plane, guint width)
{
    gsize bytes = 0;

    for (guint c = 0; c < GST_VIDEO_FORMAT_INFO_N_COMPONENTS(format); c++) {
        gsize samples = GST_VIDEO_FORMAT_INFO_SCALE_WIDTH(format, c, width);

        if (GST_VIDEO_FORMAT_INFO_PLANE(format, c) == plane)
            bytes = MAX(bytes, samples * GST_VIDEO_FORMAT_INFO_PSTRIDE(format, c));
    }
    return bytes;
}

guint gst_tdl_geometry_plane_rows(const GstVideoFormatInfo *format, guint plane, guint height)
{
    for (guint c = 0; c < GST_VIDEO_FORMAT_INFO_N_COMPONENTS(format); c++)
        if (GST_VIDEO_FORMAT_INFO_PLANE(format, c) == plane)
            return GST_VIDEO_FORMAT_INFO_SCALE_HEIGHT(format, c, height);
    return 0;
}

#define FAR G_MAXUINT16 /* px, behind every frame */

void gst_tdl_rect_unite(struct gst_tdl_rect *rect, gint64 x, gint64 y, gint64 width, gint64 height)
{
    guint right = CLAMP(x + width, 0, FAR), bottom = CLAMP(y + height, 0, FAR);
    guint left = CLAMP(x, 0, FAR), top = CLAMP(y, 0, FAR);

    if (left >= right || top >= bottom)
        return;
    if (rect->width) {
        right = MAX(right, rect->x + rect->width);
        bottom = MAX(bottom, rect->y + rect->height);
        left = MIN(left, rect->x);
        top = MIN(top, rect->y);
    }
    *rect = (struct gst_tdl_rect){ left, top, right - left, bottom - top };
}

/* The GPU writes words of four bytes: a quarter of a word is two pixels of
 * I420's half-size chroma, so eight pixels are whole words in every plane. */
#define CROP_ALIGN 8

gboolean gst_tdl_rect_align(guint width, guint height, struct gst_tdl_rect *rect)
{
    guint64 right = MIN((guint64)rect->x + rect->width, width);
    guint64 bottom = MIN((guint64)rect->y + rect->height, height);

    if (rect->x >= right || rect->y >= bottom)
        return FALSE;
    rect->x -= rect->x % CROP_ALIGN;
    rect->y -= rect->y % 2;
    rect->width = MIN(GST_ROUND_UP_8(right), width) - rect->x;
    rect->height = MIN(GST_ROUND_UP_2(bottom), height) - rect->y;
    return rect->width < width || rect->height < height;
}

gboolean gst_tdl_video_is_part(const struct gst_tdl_video *video, GstBuffer *buffer,
                               struct gst_tdl_video *out_whole, struct gst_tdl_rect *out_part)
{
    const GstVideoCropMeta *crop = gst_buffer_get_video_crop_meta(buffer);
    const GstVideoMeta *meta = gst_buffer_get_video_meta(buffer);
    guint width = GST_VIDEO_INFO_WIDTH(&video->info), height = GST_VIDEO_INFO_HEIGHT(&video->info);
    /* U and V of packed formats belong to pairs. */
    const gboolean pairs = GST_VIDEO_INFO_N_PLANES(&video->info) == 1 &&
                           GST_VIDEO_FORMAT_INFO_W_SUB(video->info.finfo, GST_VIDEO_COMP_U) > 0;

    if (!crop || !meta || (meta->width <= width && meta->height <= height) || meta->width < width ||
        meta->height < height)
        return FALSE;
    *out_whole = *video;
    out_whole->info.width = meta->width;
    out_whole->info.height = meta->height;
    *out_part = (struct gst_tdl_rect){ MIN(crop->x, meta->width - width),
                                       MIN(crop->y, meta->height - height), width, height };
    if (pairs)
        out_part->x -= out_part->x % 2;
    return TRUE;
}

void gst_tdl_geometry_crop(const struct tdl_frame *frame, const GstVideoFormatInfo *format,
                           const struct gst_tdl_rect *rect, struct tdl_frame *out_part)
{
    *out_part = *frame;
    out_part->width = rect->width;
    out_part->height = rect->height;
    for (guint c = GST_VIDEO_FORMAT_INFO_N_COMPONENTS(format); c-- > 0;) {
        guint p = GST_VIDEO_FORMAT_INFO_PLANE(format, c);

        /* The last one set is the plane's first component. */
        out_part->planes[p].offset =
            frame->planes[p].offset +
            (guint64)(rect->y >> GST_VIDEO_FORMAT_INFO_H_SUB(format, c)) * frame->planes[p].stride +
            (guint64)(rect->x >> GST_VIDEO_FORMAT_INFO_W_SUB(format, c)) *
                GST_VIDEO_FORMAT_INFO_PSTRIDE(format, c);
    }
}
