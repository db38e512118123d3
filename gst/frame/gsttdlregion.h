/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Regions of interest that come with a frame: what the network looks at of it.
 *
 * The mask of a region is a part of one of the whole frame, in px of the network's. So that
 * this one is not another size with each box of a detector, and masks of frames before can be
 * smoothed with, the lengths of the region go in eighths of the frame's, and do not shrink by
 * a single one.
 */
#ifndef GST_TDL_REGION_H
#define GST_TDL_REGION_H

#include "caps/gsttdlgeometry.h"

struct gst_tdl_region {
    guint steps[2]; /* eighths of the width and the height; 0: none before */
};

/* The smallest rectangle round all regions of a buffer, in its px. FALSE: there is none. */
gboolean gst_tdl_region_find(GstBuffer *buffer, struct gst_tdl_rect *out_rect);
/* Pure: what is looked at of a frame for the sake of `wanted`, with a margin. FALSE: all of it. */
gboolean gst_tdl_region_choose(struct gst_tdl_region *region, const struct gst_tdl_rect *wanted,
                               const guint frame[2], guint out_region[4]);

#endif
