/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The element-wise operators. They differ in a function only, so they share
 * their kernels, where the function is a specialization constant.
 */
#ifndef TDL_ELTWISE_H
#define TDL_ELTWISE_H

#include "ir/plan.h"

/* Numbers as in shaders/common/eltwise.glsl. */
enum tdl_function {
#define TDL_FUNCTION(kind, function, name, text) TDL_##function,
#include "list.h"
    TDL_FUNCTIONS,
};

/* The function of a node of this file's operators; TDL_FUNCTIONS for others. */
enum tdl_function tdl_function_of(const struct tdl_node *node);
/* The function's name, as WebNN has it. */
const char *tdl_function_name(enum tdl_function function);

void tdl_eltwise_reference(const struct tdl_node *n, const void *const *inputs, void *output);

#endif
