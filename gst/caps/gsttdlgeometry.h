/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The place of the picture in its frame, and of its parts: pure functions. */
#ifndef GST_TDL_GEOMETRY_H
#define GST_TDL_GEOMETRY_H

#include "gsttdlcaps.h"

struct gst_tdl_rect {
    guint x, y, width, height; /* px */
};

/* Source and target of one frame, and the parts of them that are looked at. */
struct gst_tdl_frames {
    struct tdl_frame source, target;           /* whole */
    struct tdl_frame source_part, target_part; /* inside the crop */
    gboolean cropped;
    gfloat pixel_aspect; /* width to height of every pixel; 0: 1 */
    guint label;         /* the value of foreground in a mask, whose rest is 0 all over; 0: 255 */
};

/* `rect` grown to what the GPU can write by itself, and cut to the frame; FALSE
 * when it is the whole frame, or nothing of it. */
gboolean gst_tdl_rect_align(guint width, guint height, struct gst_tdl_rect *rect);
/* Grows `rect` until it holds the second rectangle, too; a width of 0 is an empty `rect`. */
void gst_tdl_rect_unite(struct gst_tdl_rect *rect, gint64 x, gint64 y, gint64 width, gint64 height);
/* A buffer with more than the caps' picture in it: the GstVideoMeta is of the
 * whole, and the crop meta says which part of that is meant, as videocrop and
 * decoders do. TRUE: `out_whole` is what lies in the buffer, `out_part` the
 * picture's place there, of the caps' size. Pairs of pixels are not split; planes
 * of chroma begin at the sample that an odd place shares. */
gboolean gst_tdl_video_is_part(const struct gst_tdl_video *video, GstBuffer *buffer,
                               struct gst_tdl_video *out_whole, struct gst_tdl_rect *out_part);
/* The part of a frame in `rect`, on the same memory. */
void gst_tdl_geometry_crop(const struct tdl_frame *frame, const GstVideoFormatInfo *format,
                           const struct gst_tdl_rect *rect, struct tdl_frame *out_part);

/* Bytes of a row of plane `plane`, and its rows, for a picture of that size. */
gsize gst_tdl_geometry_plane_row(const GstVideoFormatInfo *format, guint plane, guint width);
guint gst_tdl_geometry_plane_rows(const GstVideoFormatInfo *format, guint plane, guint height);

#endif
