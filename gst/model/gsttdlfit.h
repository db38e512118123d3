/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How a frame lies in a network's picture, and the network's mask over the frame: pure. */
#ifndef GST_TDL_FIT_H
#define GST_TDL_FIT_H

#include "settings/gsttdlsettings.h"

/* Grey round a picture that does not fill the network's, the habit of YOLO's networks. */
#define GST_TDL_FIT_PAD (114 / 255.0f)

struct gst_tdl_fit_sizes {
    guint frame[2];      /* width and height, px; likewise the others */
    gfloat pixel_aspect; /* width to height of the frame's pixels; 0: 1 */
    guint input[2], mask[2];
    guint region[4]; /* x, y, width and height, px of the frame: nothing else is looked at; width
                        0: all is */
};

/* Part of a mask that covers the frame, as struct tdl_compose_params has it. */
struct gst_tdl_mask_part {
    gint x, y;
    guint width, height; /* 0: all of it */
};

/* Writes how the frame becomes the picture, and the mask the frame's, into `picture`,
 * whose scales are left alone, and `out_part`. `fit`: enum gst_tdl_input_fit; a region is
 * stretched, whatever it is. The rectangles are whole px of the mask, where that is as
 * large as the network's picture or a whole part of it. */
void gst_tdl_fit(gint fit, const struct gst_tdl_fit_sizes *sizes,
                 struct tdl_frame_to_tensor_params *picture, struct gst_tdl_mask_part *out_part);

/* A point of the frame in shares of the network's picture, which lies in it as gst_tdl_fit() has
 * said. One that the network does not see says nothing; a box ends where that picture does. */
struct gst_tdl_point gst_tdl_fit_point(const struct gst_tdl_point *point,
                                       const struct gst_tdl_fit_sizes *sizes,
                                       const struct tdl_frame_to_tensor_params *picture);

#endif
