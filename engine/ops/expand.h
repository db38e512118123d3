/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Code shared by the operators that begin with a 1×1 and the depthwise conv2d behind it:
 * expandDepthwise and bottleneck. Both have attr.expand. */
#ifndef TDL_EXPAND_H
#define TDL_EXPAND_H

#include "ops.h"

/* Constants of shaders/common/expand.glsl. */
struct tdl_expand_part tdl_expand_inside(const struct tdl_node *n);
/* Bindings 0, 2, 3 and 7: what is read, and the gate. */
void tdl_expand_bind(struct tdl_plan_step *step, struct tdl_node *n);
/* The gate that it is multiplied by, or NULL. */
struct tdl_operand *tdl_expand_gate(const struct tdl_node *n);
/* Channels that the 1×1 reads besides its input's. */
uint32_t tdl_expand_joined(const struct tdl_node *n);
/* Pixels of a tile of so many along one axis, with its border. */
static inline uint32_t tdl_expand_span(uint32_t tile, uint32_t stride, uint32_t kernel)
{
    return (tile - 1) * stride + kernel;
}
/* Weights of the wide channels from `first` to `end`: [channel read][wide], bias[wide],
 * [tap][wide], bias[wide]; 0 past the last one. Returns what is behind them. */
float *tdl_expand_pack(const struct tdl_node *n, uint32_t first, uint32_t end, float *w);
/* Vectors of four of that, for a pack. */
uint64_t tdl_expand_rows(const struct tdl_node *n);
/* A value for each tile, whose number is known when a node is lowered. */
void tdl_expand_place_means(const struct tdl_plan *plan, struct tdl_operand *means, uint32_t tiles);
/* Multiply-accumulates of both; `out` is the depthwise half's output. */
uint64_t tdl_expand_macs(const struct tdl_node *n, struct tdl_dims out);

#endif
