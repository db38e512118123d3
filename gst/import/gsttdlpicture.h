/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Pictures from files, decoded by GStreamer into GPU memory: the background, and what
 * inputs of models get. */
#ifndef GST_TDL_PICTURE_H
#define GST_TDL_PICTURE_H

#include <gst/gst.h>
#include <tdl/frame.h>

/* The purpose of a picture, for the words of messages. */
enum gst_tdl_picture_use {
    GST_TDL_PICTURE_BACKGROUND,
    GST_TDL_PICTURE_INPUT, /* an input of a model; the caller says which */
};

struct gst_tdl_picture {
    struct tdl_frame frame; /* RGBA if it has transparent pixels, else RGBX */
    gfloat aspect;          /* width to height of a pixel */
    gboolean is_video;      /* the picture is the first frame of a video */
    struct tdl_buffer *buffer;
};

/* Pictures larger than this on a side are made smaller while they are loaded. px */
#define GST_TDL_PICTURE_MAX 4096

/* Blocking: decodes the file, a path or a file:// URI, the right side up. Gives
 * up on what takes too long, such as a file system that does not answer. NULL
 * with `error` when it is no picture. */
struct gst_tdl_picture *gst_tdl_picture_load(struct tdl_context *context, const gchar *text,
                                             enum gst_tdl_picture_use use, GError **error);
/* A warning about a picture that is a video; NULL for others. */
GError *gst_tdl_picture_notice(const struct gst_tdl_picture *picture, const gchar *text,
                               enum gst_tdl_picture_use use);
void gst_tdl_picture_free(struct gst_tdl_picture *picture);

/* The size in which a picture of that size is kept: as it is, or smaller. */
void gst_tdl_picture_size(guint width, guint height, guint *out_width, guint *out_height);
/* Finds the source of pixel (x, y) of a picture that EXIF's `orientation` turns the right
 * side up; the size is the picture's as it lies in the file. */
void gst_tdl_picture_turn(guint orientation, guint width, guint height, guint x, guint y,
                          guint *out_x, guint *out_y);

#endif
