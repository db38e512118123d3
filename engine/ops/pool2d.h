/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Code shared by the three pools over windows: geometry, kernel, reference. */
#ifndef TDL_POOL2D_H
#define TDL_POOL2D_H

#include "ir/builder.h"
#include "ops.h"

/* KIND of shaders/pool2d.comp. */
enum tdl_pool_kind { TDL_POOL_AVERAGE = 0, TDL_POOL_MAX, TDL_POOL_L2 };

struct tdl_operand *tdl_pool2d_add(struct tdl_builder *b, const struct tdl_op *op,
                                   struct tdl_operand *input,
                                   const struct tdl_pool2d_params *params);
enum tdl_result tdl_pool2d_infer(const struct tdl_node *n, struct tdl_tensor_params *out);
enum tdl_result tdl_pool2d_lower(struct tdl_plan *plan, struct tdl_node *n,
                                 enum tdl_pool_kind kind);
/* `start` begins a window; `join` adds a pixel; `finish` makes the result of
 * what was joined and the count of pixels. */
struct tdl_pool_definition {
    double start;
    double (*join)(double so_far, double pixel);
    double (*finish)(double joined, uint32_t count);
};
void tdl_pool2d_reference(const struct tdl_node *n, const struct tdl_pool_definition *definition,
                          const float *input, float *output);

/* As of struct tdl_op. */
void tdl_pool2d_resolve(struct tdl_node *n);
bool tdl_pool2d_resize(struct tdl_node *n);
enum tdl_activation *tdl_pool2d_activation(struct tdl_node *n);
/* For a pool without padding, as `widen` of struct tdl_op; `counts`: the zeros count in
 * what is made of a window. */
bool tdl_pool2d_widen(struct tdl_node *n, const uint32_t border[4], bool counts);

#endif
