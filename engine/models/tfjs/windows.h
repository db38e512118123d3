/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Attributes of operators with windows over pictures (windows.c). */
#ifndef TDL_TFJS_WINDOWS_H
#define TDL_TFJS_WINDOWS_H

#include "tfjs.h"

/* Where the node has channels: NHWC, unless it says NCHW. */
enum tdl_layout tfjs_input_layout(const struct tfjs_import *im);
/* The picture that is input `i`. NULL with the builder in error. */
struct tdl_operand *tfjs_picture(struct tfjs_import *im, uint32_t i);
/* Height and width of a list of four, in the node's order of dimensions; 1 each where there
 * is none. */
bool tfjs_pair(struct tfjs_import *im, const char *name, uint32_t out[2]);
/* "SAME", "VALID" or "EXPLICIT", and the last one's numbers. */
bool tfjs_padding(struct tfjs_import *im, enum tdl_padding *out_padding, uint32_t out_pad[4]);

/* Functions fused to an operator: a bias, then an activation, which may have a slope. */
struct tfjs_fused {
    struct tdl_operand *bias, *slope; /* or NULL */
    enum tdl_activation activation;   /* the activation, where operators take it */
    enum { TFJS_PLAIN, TFJS_ELU, TFJS_LEAKY_RELU, TFJS_PRELU } behind;
    float alpha;
};
/* Inputs from `first` on are its arguments. */
bool tfjs_read_fused(struct tfjs_import *im, uint32_t first, struct tfjs_fused *out);
/* Adds the functions that operators do not take with them. */
struct tdl_operand *tfjs_finish_fused(struct tfjs_import *im, const struct tfjs_fused *fused,
                                      struct tdl_operand *y);

#endif
