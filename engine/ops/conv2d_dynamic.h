/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TDL_CONV2D_DYNAMIC_H
#define TDL_CONV2D_DYNAMIC_H

#include "ir/builder.h"
#include "ops.h"

/* conv2d by a filter that is no constant, of rank 4 as the input, whose layout the params
 * say. NULL once the builder has
 * failed. */
struct tdl_operand *tdl_conv2d_dynamic(struct tdl_builder *builder, struct tdl_operand *x,
                                       struct tdl_operand *filter,
                                       const struct tdl_conv2d_params *params);

/* As above for convTranspose2d, by an "ohwi" filter and the window that the node would have. */
struct tdl_operand *tdl_conv_transpose2d_dynamic(struct tdl_builder *builder, struct tdl_operand *x,
                                                 struct tdl_operand *filter,
                                                 const struct tdl_conv_transpose2d_params *params,
                                                 const struct tdl_window *window);
/* x, of that layout, as NHWC, and back: the same picture. */
struct tdl_operand *tdl_to_nhwc(struct tdl_builder *builder, struct tdl_operand *x,
                                enum tdl_layout from);
struct tdl_operand *tdl_from_nhwc(struct tdl_builder *builder, struct tdl_operand *x,
                                  enum tdl_layout to);
/* The result of a convolution without bias and activation, with a bias that is no
 * constant. */
struct tdl_operand *tdl_add_bias(struct tdl_builder *builder, struct tdl_operand *x,
                                 enum tdl_layout layout, struct tdl_operand *bias,
                                 enum tdl_activation activation);

#endif
