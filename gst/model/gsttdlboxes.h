/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Boxes in outputs that decoders of GStreamer's take for places in the frame. A model has them in
 * its own picture, which may be of another size or lie otherwise in it (gsttdlfit.h), so its graph
 * moves them: by a factor and a summand for each number of a box, which are inputs of the graph. */
#ifndef GST_TDL_BOXES_H
#define GST_TDL_BOXES_H

#include "settings/gsttdlsettings.h"

#include <tdl/tdl.h>

struct gst_tdl_boxes_kind;

/* Boxes of a graph. */
struct gst_tdl_boxes {
    const struct gst_tdl_boxes_kind *kind;  /* NULL: there are none */
    const gchar *factor, *summand;          /* names of the graph's inputs; owned by the graph */
    const struct tdl_tensor_params *params; /* of both */
};

/* The picture that the model sees, in the frame. */
struct gst_tdl_boxes_view {
    guint input[2];  /* width and height of the model's picture, px */
    guint inside[4]; /* x, y, width and height of what shows the frame in it; width 0: all of it */
    guint seen[4];   /* likewise of the part of the frame that it shows, px of the frame */
    guint frame[2];  /* width and height of the frame, px */
};

/* The output with the id in the group (which may be NULL) with its boxes moved: `operand`, where
 * it has none, or the builder has moved some of another output. */
struct tdl_operand *gst_tdl_boxes_move(struct tdl_builder *builder,
                                       const struct gst_tdl_sources *sources, const gchar *id,
                                       struct tdl_operand *operand, gboolean *moved);
/* TRUE for the name of such an input of a graph. */
gboolean gst_tdl_boxes_is_name(const gchar *name);
/* Find them in a graph that was made of such operands. */
void gst_tdl_boxes_find(const struct tdl_graph *graph, struct gst_tdl_boxes *out);
/* As many factors and summands as the inputs have numbers. */
void gst_tdl_boxes_fill(const struct gst_tdl_boxes *boxes, const struct gst_tdl_boxes_view *view,
                        gfloat *factors, gfloat *summands);

#endif
