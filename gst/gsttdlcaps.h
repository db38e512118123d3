/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Caps and picture geometry: pure functions, no element, no device. */
#ifndef GST_TDL_CAPS_H
#define GST_TDL_CAPS_H

#include <gst/video/video.h>
#include <tdl/frame.h>

#define GST_TDL_FORMATS                                                                            \
    "{ NV12, I420, YUY2, UYVY, P010_10LE, RGBA, BGRA, RGBx, BGRx, RGB, BGR, GRAY8 }"

/* The caps on the other side of the element in `mode`: `direction` is the
 * side that `caps` belong to. `filter` may be NULL. Returns new caps. */
GstCaps *gst_tdl_caps_transform(enum tdl_mode mode, GstPadDirection direction, GstCaps *caps,
                                GstCaps *filter);

/* Whether `mode` makes `out` of `in`. */
gboolean gst_tdl_caps_fit(enum tdl_mode mode, GstVideoFormat in, GstVideoFormat out);

/* The mode for a frame between a change of `mode` and its renegotiation: the
 * wanted one where the formats fit, else the one that they were made for. */
enum tdl_mode gst_tdl_caps_mode(enum tdl_mode wanted, GstVideoFormat in, GstVideoFormat out);

enum tdl_format gst_tdl_format(GstVideoFormat format);

/* Format, size and colorimetry of a frame; its planes stay empty. */
void gst_tdl_caps_frame(const GstVideoInfo *info, struct tdl_frame *out_frame);

struct gst_tdl_rect {
    guint x, y, width, height; /* px */
};

/* `rect` grown to what the GPU can write by itself, and cut to the frame; FALSE
 * when it is the whole frame, or nothing of it. */
gboolean gst_tdl_caps_crop(guint width, guint height, struct gst_tdl_rect *rect);
/* The part of a frame in `rect`, on the same memory. */
void gst_tdl_frame_crop(const struct tdl_frame *frame, const GstVideoFormatInfo *format,
                        const struct gst_tdl_rect *rect, struct tdl_frame *out_part);

/* Bytes of a row of plane `plane`, and its rows, for a picture of that size. */
gsize gst_tdl_plane_row(const GstVideoFormatInfo *format, guint plane, guint width);
guint gst_tdl_plane_rows(const GstVideoFormatInfo *format, guint plane, guint height);

#endif
