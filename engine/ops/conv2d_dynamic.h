/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TDL_CONV2D_DYNAMIC_H
#define TDL_CONV2D_DYNAMIC_H

#include "ir/builder.h"
#include "ops.h"

/* conv2d by a filter that is no constant, of rank 4 as the input. NULL once the builder has
 * failed. */
struct tdl_operand *tdl_conv2d_dynamic(struct tdl_builder *builder, struct tdl_operand *x,
                                       struct tdl_operand *filter,
                                       const struct tdl_conv2d_params *params);

#endif
