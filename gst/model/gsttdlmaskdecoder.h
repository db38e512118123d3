/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Networks that cut out what a prompt means: Segment Anything (Kirillov et al. 2023) and its kin.
 * They are mostly exported as two files. The encoder makes embeddings of a picture, and the decoder
 * one or several masks of these and of points. Both become one graph. In the frames behind the one
 * of the prompt, the points are the corners of the last mask's box. The mask itself goes in, too,
 * where the decoder takes one.
 */
#ifndef GST_TDL_MASK_DECODER_H
#define GST_TDL_MASK_DECODER_H

#include <tdl/models.h>

#include "gsttdlfollow.h"

#define GST_TDL_MASK_DECODER_DIMS 32 /* sizes that files leave open in inputs of prompts */

/* An output of a file. */
struct gst_tdl_named {
    gchar *name; /* owned by who has the list */
    struct tdl_operand *operand;
};

/* State of reading the files of such a network; zeroed at first. */
struct gst_tdl_mask_decoder {
    const struct gst_tdl_sources *sources;
    guint height, width; /* px of the picture; 0: not known yet */
    gboolean begun;      /* `follow` is there */
    gboolean takes_points;
    const gchar *file; /* borrowed: the second file, once it is being read */
    struct gst_tdl_follow follow;
};

/* Is a model read so, if it has inputs for points? */
gboolean gst_tdl_mask_decoder_wanted(const struct gst_tdl_sources *sources);
/* Sizes of inputs for `room` points, by names to be freed. Returns how many, at most
 * GST_TDL_MASK_DECODER_DIMS. */
guint gst_tdl_mask_decoder_dimensions(guint room, struct tdl_model_dimension *out_dimensions,
                                      gchar **out_places);
/* What goes into an input that is for the prompt, the last mask or the picture's size, by its
 * name; NULL: it is for something else, or the builder has failed. */
struct tdl_operand *gst_tdl_mask_decoder_input(struct gst_tdl_mask_decoder *decoder,
                                               struct tdl_builder *builder, const char *name,
                                               const struct tdl_tensor_params *params);
/* The object's mask [1, h, w, 1] of 0 to 1, of outputs of the first file, by way of
 * "decoder-model" if there is one. Blocking, as that is read. NULL once the builder has failed. */
struct tdl_operand *gst_tdl_mask_decoder_mask(struct gst_tdl_mask_decoder *decoder,
                                              struct tdl_builder *builder,
                                              const struct gst_tdl_named *outputs, guint count);

#endif
