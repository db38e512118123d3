/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Code shared by the normalizations: x · a + b, with a and b from constants or from the
 * moments of the input itself. */
#ifndef TDL_NORMALIZE_H
#define TDL_NORMALIZE_H

#include "ir/builder.h"
#include "ops.h"

/* Input slots; scale and bias may be NULL. */
enum { TDL_NORM_INPUT = 0, TDL_NORM_SCALE, TDL_NORM_BIAS, TDL_NORM_MEAN, TDL_NORM_VARIANCE };
#define TDL_NORM_WEIGHTS                                                                           \
    (1u << TDL_NORM_SCALE | 1u << TDL_NORM_BIAS | 1u << TDL_NORM_MEAN | 1u << TDL_NORM_VARIANCE)

/* 0 means WebNN's default. */
static inline float tdl_norm_epsilon(const struct tdl_node *n)
{
    return n->attr.norm.epsilon > 0 ? n->attr.norm.epsilon : 1e-5f;
}

/* Are these parameters any? Otherwise the builder has failed. */
bool tdl_norm_known(struct tdl_builder *b, const struct tdl_op *op, float epsilon,
                    enum tdl_activation activation);
enum tdl_activation *tdl_norm_activation(struct tdl_node *n);
/* The float32 constant in a slot, NULL in *out if there is none. False, with
 * an error, if it is not constant. */
bool tdl_norm_constant(const struct tdl_node *n, uint32_t slot, const float **out);
/* Is one of these parameters, by their slots, no constant? */
bool tdl_norm_is_dynamic(struct tdl_builder *b, const struct tdl_operand *x,
                         struct tdl_operand *const *inputs, uint32_t count);
/* (x − mean) · scale / √(variance + epsilon) + bias of parameters that may be computed or bound
 * at dispatch, from operators that are there; without mean and variance x · scale + bias. */
struct tdl_operand *tdl_norm_compose(struct tdl_builder *b, const struct tdl_op *op,
                                     enum tdl_layout layout, struct tdl_operand *const *inputs,
                                     uint32_t count, const union tdl_attr *attr);
/* An error unless the input is a float32 image, and what is in the slots from
 * `first` to `last` is one value a channel. */
enum tdl_result tdl_norm_check(const struct tdl_node *n, uint32_t first, uint32_t last);

/* Moments over each image (`channels` too, or for each channel), in `parts` on
 * the device; returns factor and offset for tdl_norm_apply(). */
struct tdl_operand *tdl_norm_moments(struct tdl_plan *plan, struct tdl_node *n, bool channels,
                                     const float *scale, const float *bias);
/* out = activate(x · a + b), a and b of `factors`, or, where that is NULL, activate((x − mean) ·
 * a + b) of `parts`: a, b and mean, a value a channel each. Then scale and bias for each
 * element, in NHWC of one image, if given. */
void tdl_norm_apply(struct tdl_plan *plan, struct tdl_node *n, struct tdl_operand *factors,
                    const float *parts, const float *scale, const float *bias);
/* A key for weights that `layout` makes of the node's parameters. */
struct tdl_weights_key tdl_norm_weights_key(const struct tdl_node *n, uintptr_t layout);
/* Pairs of packs of two lists of `count` values, either of them NULL. */
void tdl_norm_interleave(const float *first, float missing_first, const float *second,
                         uint32_t count, float *out);

#endif
