/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Between the files of the fuse pass. */
#ifndef TDL_FUSE_H
#define TDL_FUSE_H

#include "ir/ir.h"

/* In fuse_nodes.c. The activation a node ends with, or NULL if it has no room for one. */
enum tdl_activation *tdl_fuse_activation_of(struct tdl_node *n);
void tdl_fuse_append_label(struct tdl_node *to, const struct tdl_node *from);
/* Let `n` make what `last`, its only reader, made. */
void tdl_fuse_take_output(struct tdl_node *n, struct tdl_node *last);

/* A constant of floats that a pass makes: the caller fills `out_data`. NULL when out
 * of memory. */
struct tdl_operand *tdl_fuse_add_constant(struct tdl_ir *ir, const struct tdl_tensor_params *desc,
                                          float **out_data);
/* Are filter and bias of a convolution known, as kernels keep them among their weights? */
bool tdl_fuse_has_constants(const struct tdl_node *n);
/* conv2d 1×1, one group, stride 1, of which filter and bias are constants. */
bool tdl_fuse_is_pointwise(const struct tdl_node *n);

/* The number of a constant of one element; false: it is none. */
bool tdl_fuse_scalar_of(const struct tdl_operand *o, float *out);
/* In fuse_chain.c: a function of one value, or of a value and a constant, behind a node
 * that has room for one. */
bool tdl_fuse_chain(struct tdl_ir *ir, struct tdl_node *n);
/* The activation by which the node, which has neither, ends with that chain. */
enum tdl_activation tdl_fuse_take_chain(struct tdl_node *n, const struct tdl_chain *chain);
/* A function of a value and a constant of one element becomes one of the value. */
bool tdl_fuse_scalar(struct tdl_ir *ir, struct tdl_node *n);
/* In fuse_swish.c. */
bool tdl_fuse_gated(struct tdl_ir *ir, struct tdl_node *n);
bool tdl_fuse_mix(struct tdl_ir *ir, struct tdl_node *n);
/* In fuse_inside.c: gates that need no dispatch of their own. */
bool tdl_fuse_means(struct tdl_ir *ir, struct tdl_node *n);
bool tdl_fuse_inside(struct tdl_ir *ir, struct tdl_node *n);
/* Means of equal parts of `o`, as many as `parts` squared: a tensor with the same mean.
 * `o` itself if it does not divide so, or when out of memory. `late`: not at once, but
 * before they are read. */
struct tdl_operand *tdl_fuse_part_means(struct tdl_ir *ir, struct tdl_operand *o, uint32_t parts,
                                        bool late);
/* In fuse_attention.c. */
bool tdl_fuse_attention(struct tdl_ir *ir, struct tdl_node *n);
/* In fuse_project.c: an expansion with what reads it. */
bool tdl_fuse_project(struct tdl_ir *ir, struct tdl_node *n);
/* In fuse_compose.c: a 1×1 that only mixes channels, and the expansion behind it. */
bool tdl_fuse_compose(struct tdl_ir *ir, struct tdl_node *n);
bool tdl_fuse_compose_low(struct tdl_ir *ir, struct tdl_node *n);
/* Filter E and bias b of a 1×1 become those of one that reads what `end`, also a 1×1,
 * reads: E · P, and behind or before it E's own for `joined` channels, as many as `end`
 * makes or 0. False, and nothing changed, where that is too much, or out of memory. */
bool tdl_fuse_compose_filters(struct tdl_ir *ir, struct tdl_operand **filter,
                              struct tdl_operand **bias, const struct tdl_node *end,
                              uint32_t joined, bool before);
/* Patterns of absorb.c. */
bool tdl_fuse_clamp(struct tdl_ir *ir, struct tdl_node *n);
bool tdl_fuse_channel_constant(struct tdl_ir *ir, struct tdl_node *n);
bool tdl_fuse_normalization(struct tdl_ir *ir, struct tdl_node *n);
bool tdl_fuse_pad(struct tdl_ir *ir, struct tdl_node *n);
bool tdl_fuse_whole(struct tdl_ir *ir, struct tdl_node *n);

#endif
