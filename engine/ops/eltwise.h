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
    /* Functions of one value, with parameters a and b. */
    TDL_IDENTITY = 0,
    TDL_RELU,
    TDL_CLAMP, /* a … b; of integers, the bounds are in attr.eltwise.bounds */
    TDL_SIGMOID,
    TDL_HARD_SWISH,
    TDL_TANH,
    TDL_LEAKY_RELU, /* x < 0: a · x */
    TDL_ELU,        /* x < 0: a · (eˣ − 1) */
    TDL_GELU,
    TDL_HARD_SIGMOID, /* a · x + b, within 0 … 1 */
    TDL_SOFTPLUS,
    TDL_SOFTSIGN,
    TDL_LINEAR, /* a · x + b */
    TDL_ABS,
    TDL_CEIL,
    TDL_FLOOR,
    TDL_ROUND_EVEN,
    TDL_EXP,
    TDL_LOG,
    TDL_NEG,
    TDL_SQRT,
    TDL_RECIPROCAL,
    TDL_ERF,
    TDL_SIN,
    TDL_COS,
    TDL_TAN,
    TDL_SIGN,
    TDL_LOGICAL_NOT,
    /* Functions of a value and a constant; made by fuse only. */
    TDL_DIV_BY, /* x / a */
    TDL_DIV_OF, /* a / x */
    TDL_POW_BY, /* x ^ a */
    TDL_POW_OF, /* a ^ x */
    /* Functions of two values. */
    TDL_ADD,
    TDL_SUB,
    TDL_MUL,
    TDL_DIV,
    TDL_MAX_OF,
    TDL_MIN_OF,
    TDL_POW,
    TDL_PRELU, /* x < 0: y · x */
    TDL_BITWISE_AND,
    TDL_BITWISE_OR,
    TDL_BITWISE_XOR,
    TDL_EQUAL,
    TDL_NOT_EQUAL,
    TDL_GREATER,
    TDL_GREATER_OR_EQUAL,
    TDL_LESSER,
    TDL_LESSER_OR_EQUAL,
    TDL_LOGICAL_AND,
    TDL_LOGICAL_OR,
    TDL_LOGICAL_XOR,
    /* A function of three: a condition, and the values where it is and is not. */
    TDL_WHERE,
    /* A function of one, to another shape; IDENTITY for the kernels. */
    TDL_EXPAND,
    TDL_FUNCTIONS,
};

/* The function of a node of this file's operators; TDL_FUNCTIONS for others. */
enum tdl_function tdl_function_of(const struct tdl_node *node);
/* The function's name, as WebNN has it. */
const char *tdl_function_name(enum tdl_function function);

void tdl_eltwise_reference(const struct tdl_node *n, const void *const *inputs, void *output);

#endif
