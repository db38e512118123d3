/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* ONNX's operators on each element. Those that WebNN has no operator for are put
 * together from others, by their definitions in ONNX's Operators.md. */
#include "onnx.h"

#include <string.h>

/* The type and shape of input `i` for an output without elements, if it has none. */
static bool gave_empty(struct onnx_import *im, uint32_t i, enum tdl_dtype *dtype)
{
    struct tdl_tensor_params desc;

    if (!onnx_is_empty(im, i) || !onnx_desc(im, i, &desc))
        return false;
    if (dtype)
        desc.dtype = *dtype;
    return onnx_give_empty(im, 0, &desc);
}

/* --------------------------------------------------------------- of one input */

static bool add_unary(struct onnx_import *im)
{
    struct tdl_operand *x;

    if (gave_empty(im, 0, NULL))
        return true;
    if (onnx_has_wide(im))
        return onnx_add_elements_wide(im);
    x = onnx_operand(im, 0);
    if (!x)
        return false;
    const enum tdl_dtype dtype = tdl_kit_desc(x)->dtype;
    if (im->node.row->one == tdl_builder_abs &&
        (dtype == TDL_UINT8 || dtype == TDL_UINT32 || dtype == TDL_UINT64)) /* is its own */
        return onnx_give(im, x);
    return onnx_give(im, im->node.row->one(im->builder, x));
}

/* ------------------------------------------------------------------- of types */

static bool add_cast_to(struct onnx_import *im, enum tdl_dtype dtype, bool to_bool)
{
    struct tdl_operand *x;

    if (gave_empty(im, 0, &dtype))
        return true;
    x = onnx_operand(im, 0);
    if (!x)
        return false;
    if (to_bool) /* whatever is not 0 */
        return onnx_give(im, tdl_builder_not_equal(im->builder, x, tdl_kit_like(&im->kit, x, 0)));
    if (tdl_kit_desc(x)->dtype == dtype)
        return onnx_give(im, x);
    return onnx_give(im, tdl_builder_cast(im->builder, x, dtype));
}

static bool add_cast(struct onnx_import *im)
{
    const int64_t to = onnx_int(im, "to", 0);
    enum tdl_dtype dtype;

    return onnx_dtype(im, to, &dtype) && add_cast_to(im, dtype, to == ONNX_BOOL);
}

/* ONNX's bool and uint8 are one type here: the latter is meant, where it matters. */
static bool add_cast_like(struct onnx_import *im)
{
    struct tdl_tensor_params like;

    return onnx_desc(im, 1, &like) && add_cast_to(im, like.dtype, false);
}

static bool add_identity(struct onnx_import *im)
{
    struct tdl_operand *x;

    if (gave_empty(im, 0, NULL))
        return true;
    x = onnx_operand(im, 0);
    return x && onnx_give(im, x);
}

/* What is dropped in training is kept here; the mask says so. */
static bool add_dropout(struct onnx_import *im)
{
    struct tdl_operand *x = onnx_operand(im, 0);
    int64_t training = 0;
    uint32_t count;

    if (!x || (onnx_given(im, 2) && !onnx_ints(im, 2, &training, 1, &count)))
        return false;
    if (training)
        return tdl_kit_refuse(&im->kit, "it is in training mode; export the model for inference");
    if (onnx_wanted(im, 1) &&
        !onnx_give_at(im, 1,
                      tdl_builder_expand(im->builder, tdl_kit_number(&im->kit, TDL_UINT8, 1),
                                         tdl_kit_rank(x), tdl_kit_shape(x))))
        return false;
    return onnx_give(im, x);
}

/* -------------------------------------------------------------- of two inputs */

/* Some take any number of inputs, one by one. */
static bool add_binary(struct onnx_import *im)
{
    struct tdl_operand *o;

    for (uint32_t i = 0; i < im->node.input_count; i++)
        if (gave_empty(im, i, NULL))
            return true;
    if (onnx_has_wide(im))
        return onnx_add_elements_wide(im);
    o = onnx_operand(im, 0);
    for (uint32_t i = 1; i < im->node.input_count && o; i++) {
        struct tdl_operand *next = onnx_operand(im, i);

        o = next ? im->node.row->two(im->builder, o, next) : NULL;
    }
    if (o && !strcmp(im->node.row->name, "Mean"))
        o = tdl_builder_linear(im->builder, o, 1 / (float)im->node.input_count, 0);
    return onnx_give(im, o);
}

static bool is_real(const struct tdl_operand *o)
{
    const enum tdl_dtype dtype = tdl_kit_desc(o)->dtype;

    return dtype == TDL_FLOAT32 || dtype == TDL_FLOAT16;
}

/* Of two types, the result has the first. */
static bool add_pow(struct onnx_import *im)
{
    struct tdl_builder *b = im->builder;
    struct tdl_operand *x = onnx_operand(im, 0), *y = x ? onnx_operand(im, 1) : NULL;
    const enum tdl_dtype dtype = x ? tdl_kit_desc(x)->dtype : TDL_FLOAT32;

    if (!y)
        return false;
    if (tdl_kit_desc(y)->dtype == dtype)
        return onnx_give(im, tdl_builder_pow(b, x, y));
    if (is_real(x) || !is_real(y))
        return onnx_give(im, tdl_builder_pow(b, x, tdl_builder_cast(b, y, dtype)));
    x = tdl_builder_cast(b, x, TDL_FLOAT32);
    y = tdl_builder_cast(b, y, TDL_FLOAT32);
    return onnx_give(im, tdl_builder_cast(b, tdl_builder_pow(b, x, y), dtype));
}

/* x − ⌊x / y⌋ · y, of the divisor's sign; with fmod cut towards zero, of the
 * dividend's. Division of integers cuts already. */
static bool add_mod(struct onnx_import *im)
{
    struct tdl_builder *b = im->builder;
    struct tdl_operand *x = onnx_operand(im, 0), *y = x ? onnx_operand(im, 1) : NULL, *q, *r;

    if (!y)
        return false;
    q = tdl_builder_div(b, x, y);
    if (is_real(x)) {
        /* sign · ⌊|x / y|⌋ */
        q = tdl_builder_mul(b, tdl_builder_sign(b, q), tdl_builder_floor(b, tdl_builder_abs(b, q)));
    }
    r = tdl_builder_sub(b, x, tdl_builder_mul(b, q, y));
    if (onnx_int(im, "fmod", 0) || !r)
        return onnx_give(im, r);
    struct tdl_operand *zero = tdl_kit_like(&im->kit, x, 0);
    struct tdl_operand *differs =
        tdl_builder_logical_xor(b, tdl_builder_lesser(b, r, zero), tdl_builder_lesser(b, y, zero));
    struct tdl_operand *some = tdl_builder_not_equal(b, r, zero);
    return onnx_give(im, tdl_builder_where(b, tdl_builder_logical_and(b, differs, some),
                                           tdl_builder_add(b, r, y), r));
}

/* x · 2ʸ or x / 2ʸ, of unsigned numbers; powers that do not fit are 0, and x / 0, too. */
static bool add_bit_shift(struct onnx_import *im)
{
    struct tdl_builder *b = im->builder;
    struct tdl_operand *x = onnx_operand(im, 0), *y = x ? onnx_operand(im, 1) : NULL, *power;

    if (!y)
        return false;
    power = tdl_builder_pow(b, tdl_kit_like(&im->kit, y, 2), y);
    return onnx_give(im, (onnx_string_is(im, "direction", "LEFT") ? tdl_builder_mul
                                                                  : tdl_builder_div)(b, x, power));
}

/* −x − 1, which wraps. */
static bool add_bitwise_not(struct onnx_import *im)
{
    struct tdl_builder *b = im->builder;
    struct tdl_operand *x = onnx_operand(im, 0);

    if (!x)
        return false;
    if (is_real(x))
        return tdl_kit_damaged(&im->kit, "bits of %s", tdl_dtype_name(tdl_kit_desc(x)->dtype));
    x = tdl_builder_sub(b, tdl_kit_like(&im->kit, x, 0), x);
    return onnx_give(im, tdl_builder_sub(b, x, tdl_kit_like(&im->kit, x, 1)));
}

static bool add_where(struct onnx_import *im)
{
    struct tdl_operand *condition = onnx_operand(im, 0);
    struct tdl_operand *x = condition ? onnx_operand(im, 1) : NULL;
    struct tdl_operand *y = x ? onnx_operand(im, 2) : NULL;

    return y && onnx_give(im, tdl_builder_where(im->builder, condition, x, y));
}

/* Bounds that are known, in order, are one operator that others can take in. */
static bool clamp_known(struct onnx_import *im, struct tdl_operand *x, const double bounds[2])
{
    const float low = (float)bounds[0], high = (float)bounds[1];
    const float infinity = __builtin_inff();

    return onnx_give(im, tdl_builder_clamp(im->builder, x, low > -infinity ? &low : NULL,
                                           high < infinity ? &high : NULL));
}

static bool add_clip(struct onnx_import *im)
{
    struct tdl_operand *x = onnx_operand(im, 0), *bound;
    const float infinity = __builtin_inff();
    double bounds[2] = {(double)onnx_float(im, "min", -infinity),
                        (double)onnx_float(im, "max", infinity)};
    bool known = true;
    uint32_t count;

    for (uint32_t i = 0; i < 2 && x; i++) {
        if (!onnx_given(im, 1 + i) || onnx_is_empty(im, 1 + i))
            continue;
        known &= onnx_is_constant(im, 1 + i);
        if (known && !onnx_floats(im, 1 + i, &bounds[i], 1, &count))
            return false;
    }
    if (!x)
        return false;
    if (known && tdl_kit_desc(x)->dtype == TDL_FLOAT32 && bounds[0] <= bounds[1])
        return clamp_known(im, x, bounds);
    for (uint32_t i = 0; i < 2; i++) {
        const double none = i ? (double)infinity : (double)-infinity;

        if (onnx_given(im, 1 + i) && !onnx_is_empty(im, 1 + i))
            bound = onnx_operand(im, 1 + i);
        else if (!onnx_given(im, 1 + i) && bounds[i] != none)
            bound = tdl_kit_like(&im->kit, x, bounds[i]);
        else
            continue;
        x = bound ? (i ? tdl_builder_min : tdl_builder_max)(im->builder, x, bound) : NULL;
    }
    return onnx_give(im, x);
}

/* clang-format off */
#define ONE(name, function) {name, 1, 1, add_unary, .one = function}
#define TWO(name, function) {name, 2, 2, add_binary, .two = function}
/* clang-format on */

const struct onnx_row onnx_rows_elements[] = {
    ONE("Abs", tdl_builder_abs),
    TWO("Add", tdl_builder_add),
    TWO("And", tdl_builder_logical_and),
    {"BitShift", 2, 2, add_bit_shift},
    TWO("BitwiseAnd", tdl_builder_bitwise_and),
    {"BitwiseNot", 1, 1, add_bitwise_not},
    TWO("BitwiseOr", tdl_builder_bitwise_or),
    TWO("BitwiseXor", tdl_builder_bitwise_xor),
    {"Cast", 1, 1, add_cast},
    {"CastLike", 2, 2, add_cast_like},
    ONE("Ceil", tdl_builder_ceil),
    {"Clip", 1, 3, add_clip},
    ONE("Cos", tdl_builder_cos),
    TWO("Div", tdl_builder_div),
    {"Dropout", 1, 3, add_dropout},
    TWO("Equal", tdl_builder_equal),
    ONE("Erf", tdl_builder_erf),
    ONE("Exp", tdl_builder_exp),
    ONE("Floor", tdl_builder_floor),
    TWO("Greater", tdl_builder_greater),
    TWO("GreaterOrEqual", tdl_builder_greater_or_equal),
    ONE("HardSwish", tdl_builder_hard_swish),
    {"Identity", 1, 1, add_identity},
    TWO("Less", tdl_builder_lesser),
    TWO("LessOrEqual", tdl_builder_lesser_or_equal),
    ONE("Log", tdl_builder_log),
    {"Max", 1, TDL_KIT_MANY, add_binary, .two = tdl_builder_max},
    {"Mean", 1, TDL_KIT_MANY, add_binary, .two = tdl_builder_add},
    {"Min", 1, TDL_KIT_MANY, add_binary, .two = tdl_builder_min},
    {"Mod", 2, 2, add_mod},
    TWO("Mul", tdl_builder_mul),
    ONE("Neg", tdl_builder_neg),
    ONE("Not", tdl_builder_logical_not),
    TWO("Or", tdl_builder_logical_or),
    TWO("PRelu", tdl_builder_prelu),
    {"Pow", 2, 2, add_pow},
    ONE("Reciprocal", tdl_builder_reciprocal),
    ONE("Relu", tdl_builder_relu),
    ONE("Round", tdl_builder_round_even),
    ONE("Sigmoid", tdl_builder_sigmoid),
    ONE("Sign", tdl_builder_sign),
    ONE("Sin", tdl_builder_sin),
    ONE("Softplus", tdl_builder_softplus),
    ONE("Softsign", tdl_builder_softsign),
    ONE("Sqrt", tdl_builder_sqrt),
    TWO("Sub", tdl_builder_sub),
    {"Sum", 1, TDL_KIT_MANY, add_binary, .two = tdl_builder_add},
    ONE("Tan", tdl_builder_tan),
    ONE("Tanh", tdl_builder_tanh),
    {"Where", 3, 3, add_where},
    TWO("Xor", tdl_builder_logical_xor),
    {0},
};
