/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The background picture: a file decoded by GStreamer into GPU memory. */
#ifndef GST_TDL_PICTURE_H
#define GST_TDL_PICTURE_H

#include <gst/gst.h>
#include <tdl/frame.h>

struct gst_tdl_picture {
    struct tdl_frame frame;
    struct tdl_buffer *buffer;
};

/* Blocking: decodes the file. NULL with `error` when it is no picture. */
struct gst_tdl_picture *gst_tdl_picture_load(struct tdl_context *context, const gchar *path,
                                             GError **error);
void gst_tdl_picture_free(struct gst_tdl_picture *picture);

#endif
