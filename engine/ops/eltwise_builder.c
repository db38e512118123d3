/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The public functions of the element-wise operators. */
#include "ir/builder.h"
#include "element.h"

#include <math.h>

static struct tdl_operand *add_unary(struct tdl_builder *b, enum tdl_function f,
                                     struct tdl_operand *x, float alpha, float beta)
{
    union tdl_attr attr = {.eltwise = {.a = alpha, .b = beta}};
    if (isnan(alpha) || isnan(beta))
        return tdl_builder_fail(b, TDL_ERROR_INVALID_ARGUMENT, "%s: %s is not a number",
                                tdl_op_eltwise[f].name, isnan(alpha) ? "alpha" : "beta");
    return tdl_builder_add_node(b, &tdl_op_eltwise[f], &attr, &x, 1, 1);
}

static struct tdl_operand *add_several(struct tdl_builder *b, enum tdl_function f,
                                       struct tdl_operand **inputs, uint32_t count)
{
    const union tdl_attr attr = {0};
    return tdl_builder_add_node(b, &tdl_op_eltwise[f], &attr, inputs, count, count);
}

#define DEFINE_ONE(function, name)                                                                 \
    struct tdl_operand *tdl_builder_##name(struct tdl_builder *b, struct tdl_operand *x)           \
    {                                                                                              \
        return add_unary(b, function, x, 0, 0);                                                    \
    }
#define DEFINE_TWO(function, name)                                                                 \
    struct tdl_operand *tdl_builder_##name(struct tdl_builder *b, struct tdl_operand *x,           \
                                           struct tdl_operand *y)                                  \
    {                                                                                              \
        return add_several(b, function, (struct tdl_operand *[]){x, y}, 2);                        \
    }
#define DEFINE_OWN(function, name)
#define DEFINE_MADE(function, name)
#define DEFINE_INNER(function, name)
#define TDL_FUNCTION(kind, function, name, text) DEFINE_##kind(TDL_##function, name)
#include "list.h"

static bool takes_floats(struct tdl_builder *b, const char *name, const struct tdl_operand *x)
{
    if (tdl_builder_status(b) == TDL_OK && x && !tdl_is_float(x->desc.dtype))
        tdl_builder_fail(b, TDL_ERROR_INVALID_ARGUMENT, "%s takes float32 and float16, not %s",
                         name, tdl_operand_text(x));
    return tdl_builder_status(b) == TDL_OK;
}

struct tdl_operand *tdl_builder_is_nan(struct tdl_builder *b, struct tdl_operand *x)
{
    return takes_floats(b, "isNaN", x) ? tdl_builder_not_equal(b, x, x) : NULL;
}

struct tdl_operand *tdl_builder_is_infinite(struct tdl_builder *b, struct tdl_operand *x)
{
    static const float infinity = INFINITY;
    static const uint16_t half_infinity = 0x7c00;
    struct tdl_tensor_params p = {.dtype = x ? x->desc.dtype : TDL_FLOAT32};
    if (!takes_floats(b, "isInfinite", x))
        return NULL;
    return tdl_builder_equal(
        b, tdl_builder_abs(b, x),
        p.dtype == TDL_FLOAT32
            ? tdl_builder_constant(b, &p, &infinity, sizeof(infinity))
            : tdl_builder_constant(b, &p, &half_infinity, sizeof(half_infinity)));
}

struct tdl_operand *tdl_builder_leaky_relu(struct tdl_builder *b, struct tdl_operand *x,
                                           float alpha)
{
    return add_unary(b, TDL_LEAKY_RELU, x, alpha, 0);
}

struct tdl_operand *tdl_builder_elu(struct tdl_builder *b, struct tdl_operand *x, float alpha)
{
    return add_unary(b, TDL_ELU, x, alpha, 0);
}

struct tdl_operand *tdl_builder_hard_sigmoid(struct tdl_builder *b, struct tdl_operand *x,
                                             float alpha, float beta)
{
    return add_unary(b, TDL_HARD_SIGMOID, x, alpha, beta);
}

struct tdl_operand *tdl_builder_linear(struct tdl_builder *b, struct tdl_operand *x, float alpha,
                                       float beta)
{
    return add_unary(b, TDL_LINEAR, x, alpha, beta);
}

struct tdl_operand *tdl_builder_where(struct tdl_builder *b, struct tdl_operand *condition,
                                      struct tdl_operand *x, struct tdl_operand *y)
{
    return add_several(b, TDL_WHERE, (struct tdl_operand *[]){x, y, condition}, 3);
}

struct tdl_operand *tdl_builder_clamp(struct tdl_builder *b, struct tdl_operand *x,
                                      const void *least, const void *most)
{
    union tdl_attr attr = {0};
    if (!x || tdl_builder_status(b) != TDL_OK) /* its data type is needed */
        return tdl_builder_add_node(b, &tdl_op_eltwise[TDL_CLAMP], &attr, &x, 1, 1);
    const enum tdl_dtype dtype = x->desc.dtype;
    bool ordered;
    if (tdl_is_float(dtype)) {
        attr.eltwise.a = least ? (float)tdl_element_get(dtype, least, 0) : -INFINITY;
        attr.eltwise.b = most ? (float)tdl_element_get(dtype, most, 0) : INFINITY;
        ordered = attr.eltwise.a <= attr.eltwise.b; /* nor NaN */
    } else {
        const uint64_t lowest = tdl_double_to_integer(dtype, -INFINITY);
        uint64_t *bounds = attr.eltwise.bounds; /* with their sign, as kernels want them */
        bounds[0] = least ? tdl_element_bits(dtype, least, 0) : lowest;
        bounds[1] =
            most ? tdl_element_bits(dtype, most, 0) : tdl_double_to_integer(dtype, INFINITY);
        ordered = lowest ? (int64_t)bounds[0] <= (int64_t)bounds[1] : bounds[0] <= bounds[1];
    }
    if (!ordered)
        return tdl_builder_fail(b, TDL_ERROR_INVALID_ARGUMENT,
                                "clamp of %s: the least value is more than the most, or NaN",
                                tdl_operand_text(x));
    return tdl_builder_add_node(b, &tdl_op_eltwise[TDL_CLAMP], &attr, &x, 1, 1);
}

struct tdl_operand *tdl_builder_activation(struct tdl_builder *b, struct tdl_operand *x,
                                           enum tdl_activation activation)
{
    static const enum tdl_function functions[] = {
        [TDL_ACTIVATION_RELU] = TDL_RELU,       [TDL_ACTIVATION_RELU6] = TDL_CLAMP,
        [TDL_ACTIVATION_SIGMOID] = TDL_SIGMOID, [TDL_ACTIVATION_HARD_SWISH] = TDL_HARD_SWISH,
        [TDL_ACTIVATION_TANH] = TDL_TANH,
    };
    if (tdl_builder_status(b) != TDL_OK)
        return NULL;
    if (activation == TDL_ACTIVATION_NONE)
        return x;
    if ((unsigned)activation >= TDL_COUNT(functions))
        return tdl_builder_fail(b, TDL_ERROR_INVALID_ARGUMENT, "activation: there is none %u",
                                activation);
    if (activation == TDL_ACTIVATION_RELU6 && x && !tdl_is_float(x->desc.dtype))
        return tdl_builder_fail(b, TDL_ERROR_INVALID_ARGUMENT,
                                "activation: relu6 takes float32 and float16, not %s",
                                tdl_operand_text(x));
    return add_unary(b, functions[activation], x, 0, 6);
}
