/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Inputs of a network beside the frame. A state is an output that the next run gets as
 * an input ("model-state"); what is the same in every run is a constant, a number
 * ("model-constants") or a file's picture ("model-pictures").
 *
 * A file may leave the sizes of a state open: it is read with 1 for each first, and once
 * more with those that its output has then.
 */
#ifndef GST_TDL_LINKS_H
#define GST_TDL_LINKS_H

#include <tdl/models.h>

#include "gsttdldecode.h"

#define GST_TDL_MAX_LINKS 12 /* bound of each kind: graphs have 64 inputs, and outputs */
#define GST_TDL_STATE_DIMS 4
#define GST_TDL_MAX_PICTURES 4 /* pictures that a model takes, the frame among them */
#define GST_TDL_MAX_STATES (GST_TDL_MAX_LINKS + 1) /* with that of gsttdlfollow.h */
#define GST_TDL_LINK_DIMS                                                                          \
    (GST_TDL_STATE_DIMS * (GST_TDL_MAX_LINKS + GST_TDL_MAX_PICTURES) + GST_TDL_MASK_DECODER_DIMS)

/* The properties' words about inputs, while a model is read. */
struct gst_tdl_links {
    GStrv constants, states, pictures; /* name, value, name, value … */
    guint constant_count, state_count, picture_count;
    struct tdl_model_number numbers[GST_TDL_MAX_LINKS];
    struct tdl_model_dimension dimensions[GST_TDL_LINK_DIMS]; /* states'; said of pictures */
    gchar *places[GST_TDL_LINK_DIMS];                         /* names of these */
    guint dimension_count;
    struct tdl_tensor_params shapes[GST_TDL_MAX_LINKS]; /* shapes of outputs that were seen */
    struct tdl_operand *seen[GST_TDL_MAX_LINKS];        /* outputs by state; NULL: not among them */
    GPtrArray *bytes;                                   /* names of pictures of uint8 */
    gboolean moved;                                     /* boxes of an output were: gsttdlboxes.h */
    struct gst_tdl_decode *decode;
};

/* FALSE with `error`, which says what they should look like. */
gboolean gst_tdl_links_parse(struct gst_tdl_links *links, const struct gst_tdl_sources *sources,
                             GError **error);
void gst_tdl_links_clear(struct gst_tdl_links *links);
/* "uint8[1,3,64,64]", to be freed. */
gchar *gst_tdl_links_shape_text(const struct tdl_tensor_params *params);
/* Say in `reading` what the model's inputs are, and that outputs go to `decode` but for
 * the states, which become outputs of the graph. */
void gst_tdl_links_read(struct gst_tdl_links *links, struct gst_tdl_decode *decode,
                        struct tdl_model_params *reading);
/* Call after the last output: a state is the mask where nothing else is. */
void gst_tdl_links_finish(struct gst_tdl_links *links, struct tdl_builder *builder);
/* The sizes of outputs are those of the inputs when the file is read again. */
void gst_tdl_links_resize(struct gst_tdl_links *links);

/* The states of a graph, by names that it owns. */
struct gst_tdl_states {
    guint count;
    const gchar *inputs[GST_TDL_MAX_STATES], *outputs[GST_TDL_MAX_STATES];
    const struct tdl_tensor_params *params[GST_TDL_MAX_STATES];
    guint of[GST_TDL_MAX_STATES]; /* the first with the same output: itself, mostly */
};
/* Find them in the graph, and which inputs are pictures (GST_TDL_MAX_PICTURES) and which
 * output the mask. NULL, or what is wrong, to be freed; *out_open: states whose input and
 * output are not alike, which reading it again may mend. */
gchar *gst_tdl_states_find(const struct gst_tdl_links *links, const struct tdl_graph *graph,
                           struct gst_tdl_states *out_states, guint *out_pictures,
                           guint *out_picture_count, guint *out_mask, gboolean *out_open);

/* An element's states: each twice, one read and one written. */
struct gst_tdl_carry {
    struct tdl_tensor *zeros[GST_TDL_MAX_STATES], *tensors[2][GST_TDL_MAX_STATES];
    guint turn;    /* written by the next run */
    gboolean kept; /* there is a run before */
};
enum tdl_result gst_tdl_carry_init(struct gst_tdl_carry *memory, struct tdl_context *context,
                                   const struct gst_tdl_states *states);
void gst_tdl_carry_finish(struct gst_tdl_carry *memory);
/* Bind the states that the next run reads, and writes. Those that it writes are counted. */
guint gst_tdl_carry_bind(const struct gst_tdl_carry *memory, const struct gst_tdl_states *states,
                         struct tdl_binding *inputs, struct tdl_binding *outputs);
/* The run is submitted. */
void gst_tdl_carry_step(struct gst_tdl_carry *memory);

#endif
