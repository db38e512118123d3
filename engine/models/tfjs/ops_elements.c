/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* TensorFlow.js's operators on elements. */
#include "tfjs.h"

#include <string.h>

/* ----------------------------------------------------------------------- two */

/* The result has the wider of two types, as in TensorFlow.js: bool, int32, float32. */
static bool read_two(struct tfjs_import *im, struct tdl_operand **a, struct tdl_operand **b)
{
    *a = tfjs_operand(im, 0);
    *b = *a ? tfjs_operand(im, 1) : NULL;
    if (!*b)
        return false;
    const enum tdl_dtype left = tdl_kit_desc(*a)->dtype, right = tdl_kit_desc(*b)->dtype;
    const enum tdl_dtype wide =
        left == TDL_FLOAT32 || right == TDL_FLOAT32 ? TDL_FLOAT32 : TDL_INT32;

    if (left != right && left != wide)
        *a = tdl_builder_cast(im->builder, *a, wide);
    if (left != right && right != wide)
        *b = tdl_builder_cast(im->builder, *b, wide);
    return true;
}

static bool add_two(struct tfjs_import *im)
{
    struct tdl_operand *a, *b;

    return read_two(im, &a, &b) && tfjs_give(im, im->row->two(im->builder, a, b));
}

/* ⌊x / y⌋; the builder cuts integers towards zero. */
static struct tdl_operand *floor_ratio(struct tfjs_import *im, struct tdl_operand *x,
                                       struct tdl_operand *y)
{
    struct tdl_builder *b = im->builder;
    struct tdl_operand *ratio = tdl_builder_div(b, x, y), *zero, *rest, *less;

    if (!ratio || tdl_kit_desc(x)->dtype == TDL_FLOAT32)
        return ratio ? tdl_builder_floor(b, ratio) : NULL;
    zero = tdl_kit_like(&im->kit, x, 0);
    rest = zero ? tdl_builder_sub(b, x, tdl_builder_mul(b, ratio, y)) : NULL;
    less = tdl_builder_logical_xor(b, tdl_builder_lesser(b, rest, zero),
                                   tdl_builder_lesser(b, y, zero));
    less = tdl_builder_logical_and(b, less, tdl_builder_not_equal(b, rest, zero));
    return tdl_builder_sub(b, ratio, tdl_builder_cast(b, less, tdl_kit_desc(x)->dtype));
}

static bool add_floor_divide(struct tfjs_import *im)
{
    struct tdl_operand *x, *y;

    return read_two(im, &x, &y) && tfjs_give(im, floor_ratio(im, x, y));
}

/* The remainder, with the sign of the divisor. */
static bool add_floor_mod(struct tfjs_import *im)
{
    struct tdl_builder *b = im->builder;
    struct tdl_operand *x, *y;

    return read_two(im, &x, &y) &&
           tfjs_give(im, tdl_builder_sub(b, x, tdl_builder_mul(b, floor_ratio(im, x, y), y)));
}

/* TensorFlow.js rounds ratios of integers down. */
static bool add_divide(struct tfjs_import *im)
{
    struct tdl_operand *x, *y;

    if (!read_two(im, &x, &y))
        return false;
    return tfjs_give(im, tdl_kit_desc(x)->dtype == TDL_FLOAT32 ? tdl_builder_div(im->builder, x, y)
                                                               : floor_ratio(im, x, y));
}

/* 0 where the divisor is. */
static bool add_divide_no_nan(struct tfjs_import *im)
{
    struct tdl_builder *b = im->builder;
    struct tdl_operand *x, *y, *zero;

    if (!read_two(im, &x, &y))
        return false;
    zero = tdl_kit_like(&im->kit, y, 0);
    return zero && tfjs_give(im, tdl_builder_where(b, tdl_builder_equal(b, y, zero), zero,
                                                   tdl_builder_div(b, x, y)));
}

static bool add_squared_difference(struct tfjs_import *im)
{
    struct tdl_operand *x, *y, *d;

    if (!read_two(im, &x, &y))
        return false;
    d = tdl_builder_sub(im->builder, x, y);
    return tfjs_give(im, tdl_builder_mul(im->builder, d, d));
}

static bool add_many(struct tfjs_import *im)
{
    struct tdl_operand *sum = tfjs_operand(im, 0);

    for (uint32_t i = 1; sum && i < im->node->data_inputs; i++) {
        struct tdl_operand *next = tfjs_operand(im, i);

        sum = next ? tdl_builder_add(im->builder, sum, next) : NULL;
    }
    return tfjs_give(im, sum);
}

static bool add_atan2(struct tfjs_import *im)
{
    struct tdl_operand *y, *x;

    return read_two(im, &y, &x) && tfjs_give(im, tdl_kit_atan2(&im->kit, y, x));
}

/* ----------------------------------------------------------------------- one */

static struct tdl_operand *square(struct tdl_builder *b, struct tdl_operand *x)
{
    return tdl_builder_mul(b, x, x);
}

static struct tdl_operand *root_below_one(struct tdl_builder *b, struct tdl_operand *x)
{
    return tdl_builder_reciprocal(b, tdl_builder_sqrt(b, x));
}

static struct tdl_operand *relu6(struct tdl_builder *b, struct tdl_operand *x)
{
    return tdl_builder_activation(b, x, TDL_ACTIVATION_RELU6);
}

static struct tdl_operand *elu(struct tdl_builder *b, struct tdl_operand *x)
{
    return tdl_builder_elu(b, x, 1);
}

/* 1.0507 · (x, or 1.67326 · (eˣ − 1) below 0). */
static struct tdl_operand *selu(struct tdl_builder *b, struct tdl_operand *x)
{
    return tdl_builder_linear(b, tdl_builder_elu(b, x, 1.6732632423543772f), 1.0507009873554805f,
                              0);
}

static struct tdl_operand *log_of_more(struct tdl_builder *b, struct tdl_operand *x)
{
    return tdl_builder_log(b, tdl_builder_linear(b, x, 1, 1));
}

static bool add_one(struct tfjs_import *im)
{
    struct tdl_operand *x = tfjs_operand(im, 0);

    return x && tfjs_give(im, im->row->one(im->builder, x));
}

static bool add_leaky_relu(struct tfjs_import *im)
{
    struct tdl_operand *x = tfjs_operand(im, 0);

    return x && tfjs_give(im, tdl_builder_leaky_relu(im->builder, x,
                                                     (float)tfjs_float(im, "alpha", 0.2)));
}

static bool add_clip(struct tfjs_import *im)
{
    struct tdl_operand *x = tfjs_operand(im, 0), *least = x ? tfjs_operand(im, 1) : NULL;
    struct tdl_operand *most = least ? tfjs_operand(im, 2) : NULL;

    return most && tfjs_give(im, tdl_builder_min(im->builder,
                                                 tdl_builder_max(im->builder, x, least), most));
}

/* Whatever it is. */
static bool add_identity(struct tfjs_import *im)
{
    const struct tfjs_value *v = tfjs_in_value(im, 0);

    return v && tfjs_give_value(im, 0, v);
}

static bool add_cast(struct tfjs_import *im)
{
    const struct tfjs_value *v = tfjs_in_value(im, 0);
    struct tdl_operand *x;
    enum tdl_dtype to;

    if (!v || !tfjs_dtype_of(im, "DstT", &to))
        return false;
    if (!v->operand) {
        struct tdl_tensor_params empty = v->empty;

        empty.dtype = to;
        return tfjs_give_empty(im, 0, &empty);
    }
    if (tdl_kit_desc(v->operand)->dtype == to)
        return tfjs_give_value(im, 0, v);
    x = tfjs_operand(im, 0);
    if (!x)
        return false;
    if (to == TDL_UINT8) /* bool: what is not 0 */
        return tfjs_give(im, tdl_builder_not_equal(im->builder, x, tdl_kit_like(&im->kit, x, 0)));
    return tfjs_give(im, tdl_builder_cast(im->builder, x, to));
}

/* A condition for each row of the others is a column; else all broadcast. */
static bool add_select(struct tfjs_import *im)
{
    struct tdl_operand *c = tfjs_operand(im, 0), *x = c ? tfjs_operand(im, 1) : NULL;
    struct tdl_operand *y = x ? tfjs_operand(im, 2) : NULL;
    uint32_t shape[TDL_MAX_RANK] = {0};

    if (!y)
        return false;
    if (!strcmp(im->row->name, "Select") && tdl_kit_rank(c) == 1 && tdl_kit_rank(x) > 1) {
        for (uint32_t d = 0; d < tdl_kit_rank(x); d++)
            shape[d] = d ? 1 : tdl_kit_shape(c)[0];
        c = tfjs_reshape(im, c, tdl_kit_rank(x), shape);
    }
    return tfjs_give(im, tdl_builder_where(im->builder, c, x, y));
}

/* clang-format off */
#define ONE(type, function) {type, 1, 1, add_one, .one = function}
#define TWO(type, function) {type, 2, 2, add_two, .two = function}
/* clang-format on */

const struct tfjs_row tfjs_rows_elements[] = {
    ONE("Abs", tdl_builder_abs),
    TWO("Add", tdl_builder_add),
    {"AddN", 1, TDL_KIT_MANY, add_many},
    TWO("AddV2", tdl_builder_add),
    {"Atan2", 2, 2, add_atan2},
    {"Cast", 1, 1, add_cast},
    ONE("Ceil", tdl_builder_ceil),
    {"ClipByValue", 3, 3, add_clip},
    ONE("Cos", tdl_builder_cos),
    {"Div", 2, 2, add_divide},
    {"DivNoNan", 2, 2, add_divide_no_nan},
    ONE("Elu", elu),
    TWO("Equal", tdl_builder_equal),
    ONE("Erf", tdl_builder_erf),
    ONE("Exp", tdl_builder_exp),
    ONE("Floor", tdl_builder_floor),
    {"FloorDiv", 2, 2, add_floor_divide},
    {"FloorMod", 2, 2, add_floor_mod},
    TWO("Greater", tdl_builder_greater),
    TWO("GreaterEqual", tdl_builder_greater_or_equal),
    {"Identity", 1, 1, add_identity},
    ONE("Inv", tdl_builder_reciprocal),
    ONE("IsInf", tdl_builder_is_infinite),
    ONE("IsNan", tdl_builder_is_nan),
    {"LeakyRelu", 1, 1, add_leaky_relu},
    TWO("Less", tdl_builder_lesser),
    TWO("LessEqual", tdl_builder_lesser_or_equal),
    ONE("Log", tdl_builder_log),
    ONE("Log1p", log_of_more),
    TWO("LogicalAnd", tdl_builder_logical_and),
    ONE("LogicalNot", tdl_builder_logical_not),
    TWO("LogicalOr", tdl_builder_logical_or),
    TWO("LogicalXor", tdl_builder_logical_xor),
    TWO("Maximum", tdl_builder_max),
    TWO("Minimum", tdl_builder_min),
    {"Mod", 2, 2, add_floor_mod},
    TWO("Mul", tdl_builder_mul),
    ONE("Neg", tdl_builder_neg),
    TWO("NotEqual", tdl_builder_not_equal),
    {"PlaceholderWithDefault", 1, 1, add_identity},
    TWO("Pow", tdl_builder_pow),
    TWO("Prelu", tdl_builder_prelu),
    {"PreventGradient", 1, 1, add_identity},
    {"RealDiv", 2, 2, add_divide},
    ONE("Reciprocal", tdl_builder_reciprocal),
    ONE("Relu", tdl_builder_relu),
    ONE("Relu6", relu6),
    ONE("Round", tdl_builder_round_even),
    ONE("Rsqrt", root_below_one),
    {"Select", 3, 3, add_select},
    {"SelectV2", 3, 3, add_select},
    ONE("Selu", selu),
    ONE("Sigmoid", tdl_builder_sigmoid),
    ONE("Sign", tdl_builder_sign),
    ONE("Sin", tdl_builder_sin),
    {"Snapshot", 1, 1, add_identity},
    ONE("Softplus", tdl_builder_softplus),
    ONE("Softsign", tdl_builder_softsign),
    ONE("Sqrt", tdl_builder_sqrt),
    ONE("Square", square),
    {"SquaredDifference", 2, 2, add_squared_difference},
    {"StopGradient", 1, 1, add_identity},
    TWO("Sub", tdl_builder_sub),
    ONE("Tan", tdl_builder_tan),
    ONE("Tanh", tdl_builder_tanh),
    {0},
};
