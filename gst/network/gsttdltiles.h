/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Frames in tiles of the model's size, for models that make pictures: each tile is a run
 * of the network, and what is near its borders within the frame is left to the next. */
#ifndef GST_TDL_TILES_H
#define GST_TDL_TILES_H

#include "caps/gsttdlgeometry.h"
#include "gsttdlinfer.h"

#define GST_TDL_MAX_TILES 60 /* a frame: one submission */

/* One axis of a frame. */
struct gst_tdl_tile_axis {
    guint length; /* length of the frame, px */
    guint tile;   /* length of the model's input, px */
    guint margin; /* px of a tile that its neighbour keeps; less where tiles are small */
    guint align;  /* kept pixels begin at multiples of it */
};
guint gst_tdl_tile_axis_count(const struct gst_tdl_tile_axis *axis);
/* The beginning of the tile with this number, and the part of the frame that it keeps. */
void gst_tdl_tile_axis_get(const struct gst_tdl_tile_axis *axis, guint number, guint *out_start,
                           guint *out_begin, guint *out_end);

/* Runs of the network for a frame of this size. */
guint gst_tdl_tiles_count(const struct gst_tdl_model *model, guint width, guint height,
                          guint margin);
/* Sizes of tiles, as a stream had them last; and the size that makes too many of a frame,
 * 0: none did. */
struct gst_tdl_overlap {
    guint used, refused;
};
/* The wanted sizes, with those used last in the place of refused ones. */
guint gst_tdl_overlap_known(struct gst_tdl_overlap *overlap, guint wanted);
/* As above for a frame of this size; sizes that make too many are refused from now on,
 * with `error`. */
guint gst_tdl_overlap_choose(struct gst_tdl_overlap *overlap, const struct gst_tdl_model *model,
                             guint width, guint height, guint wanted, GError **error);
/* Add to the batch: all tiles of the source, shown in the target, whose layout `target`
 * has. Never blocks. */
enum tdl_result gst_tdl_tiles_record(struct gst_tdl_infer *infer, struct tdl_batch *batch,
                                     const struct gst_tdl_frames *frames,
                                     const GstVideoFormatInfo *target, guint margin);

#endif
