/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Between a model's file and a mask: the numbers that its picture is given as, which
 * of its outputs is the mask, and the operators that make one of it, on the device. */
#ifndef GST_TDL_DECODE_H
#define GST_TDL_DECODE_H

#include <tdl/models.h>

#include "gsttdlmaskdecoder.h"

/* State of decoding the outputs while a model is read. */
struct gst_tdl_decode {
    const struct gst_tdl_sources *sources;
    gboolean found;
    gboolean trusted; /* a mask of it is known to be from 0 to 1 */
    /* the output has no channel axis; it is a picture if its aspect is the frame's */
    gboolean guessed;
    gboolean usual;                   /* the mask has the name that it has beside colours */
    GString *others;                  /* names and shapes of outputs that were left out */
    GArray *kept;                     /* outputs that may be a part of the mask; NULL: none yet */
    struct tdl_tensor_params picture; /* the input that gets the frame; rank 0: not known */
    enum tdl_layout layout;           /* of the picture */
    struct gst_tdl_mask_decoder prompted; /* of models with prompts */
    struct tdl_operand *mask;             /* [1, h, w, C]; NULL: not yet */
    struct tdl_operand *colors; /* colours of the foreground, as the model gives them; NULL: none */
    guint classes;              /* channels of the chosen output; 0: the model does not say */
    gboolean shares;            /* the output has bytes, which are assumed to be shares of 255 */
    gboolean flat; /* the output is [h, w, C]: the values of [1, h, w, C] without an image layout */
};

void gst_tdl_decode_clear(struct gst_tdl_decode *decode);
/* Callback for tdl_model_params.output, with a struct gst_tdl_decode. Returns the chosen output as
 * a mask [1, h, w, 1] float32; NULL for others, which gst_tdl_decode_finish() may still choose. */
struct tdl_operand *gst_tdl_decode_output(void *decode, struct tdl_builder *builder,
                                          const char *name, struct tdl_operand *operand);

/* Decodes one output without regard to the others. */
struct tdl_operand *gst_tdl_decode_alone(struct gst_tdl_decode *decode, struct tdl_builder *builder,
                                         const char *name, struct tdl_operand *operand);
/* Call after the last output. Chooses among all of them where one alone was not clear, and makes
 * the choice an output of the builder. */
void gst_tdl_decode_finish(struct gst_tdl_decode *decode, struct tdl_builder *builder);
/* Parameters of an output as an image of rank 4, flat or not. */
struct tdl_tensor_params gst_tdl_decode_image(const struct tdl_tensor_params *params);
/* Part of an error message that lists the outputs that would have fitted. */
const gchar *gst_tdl_decode_wanted(const struct gst_tdl_sources *sources);

/* The size of "model-size", and the numbers of "input-…". FALSE with `error`, which
 * says what they should look like. */
gboolean gst_tdl_decode_size(const struct gst_tdl_sources *sources, uint32_t out_size[2],
                             GError **error);
gboolean gst_tdl_decode_picture(const struct gst_tdl_sources *sources,
                                struct tdl_frame_to_tensor_params *out, GError **error);

#endif
