/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* ONNX's operators on each element. Those that WebNN has no operator for are put
 * together from others, by their definitions in ONNX's Operators.md. */
#include "onnx.h"

#include <string.h>

typedef struct tdl_operand *(*unary_fn)(struct tdl_builder *, struct tdl_operand *);
typedef struct tdl_operand *(*binary_fn)(struct tdl_builder *, struct tdl_operand *,
                                         struct tdl_operand *);

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

static const struct {
    const char *type;
    unary_fn add;
} unaries[] = {
    {"Abs", tdl_builder_abs},
    {"Ceil", tdl_builder_ceil},
    {"Cos", tdl_builder_cos},
    {"Erf", tdl_builder_erf},
    {"Exp", tdl_builder_exp},
    {"Floor", tdl_builder_floor},
    {"HardSwish", tdl_builder_hard_swish},
    {"Log", tdl_builder_log},
    {"Neg", tdl_builder_neg},
    {"Not", tdl_builder_logical_not},
    {"Reciprocal", tdl_builder_reciprocal},
    {"Relu", tdl_builder_relu},
    {"Round", tdl_builder_round_even},
    {"Sigmoid", tdl_builder_sigmoid},
    {"Sign", tdl_builder_sign},
    {"Sin", tdl_builder_sin},
    {"Softplus", tdl_builder_softplus},
    {"Softsign", tdl_builder_softsign},
    {"Sqrt", tdl_builder_sqrt},
    {"Tan", tdl_builder_tan},
    {"Tanh", tdl_builder_tanh},
};

static bool add_unary(struct onnx_import *im)
{
    struct tdl_operand *x;
    size_t i = 0;

    if (gave_empty(im, 0, NULL))
        return true;
    x = onnx_operand(im, 0);
    while (strcmp(unaries[i].type, im->node.row->type) != 0)
        i++;
    if (!x)
        return false;
    const enum tdl_dtype dtype = tdl_kit_desc(x)->dtype;
    if (unaries[i].add == tdl_builder_abs &&
        (dtype == TDL_UINT8 || dtype == TDL_UINT32 || dtype == TDL_UINT64)) /* is its own */
        return onnx_give(im, x);
    return onnx_give(im, unaries[i].add(im->builder, x));
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
        return onnx_give(im, tdl_builder_not_equal(im->builder, x, onnx_scalar(im, x, 0)));
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
        return tdl_kit_lacks(&im->kit, "it is in training mode; export the model for inference");
    if (onnx_wanted(im, 1) &&
        !onnx_give_at(im, 1,
                      tdl_builder_expand(im->builder, onnx_number(im, TDL_UINT8, 1), onnx_rank(x),
                                         onnx_shape(x))))
        return false;
    return onnx_give(im, x);
}

/* -------------------------------------------------------------- of two inputs */

static const struct {
    const char *type;
    binary_fn add;
    bool of_many;
} binaries[] = {
    {"Add", tdl_builder_add, false},
    {"And", tdl_builder_logical_and, false},
    {"BitwiseAnd", tdl_builder_bitwise_and, false},
    {"BitwiseOr", tdl_builder_bitwise_or, false},
    {"BitwiseXor", tdl_builder_bitwise_xor, false},
    {"Div", tdl_builder_div, false},
    {"Equal", tdl_builder_equal, false},
    {"Greater", tdl_builder_greater, false},
    {"GreaterOrEqual", tdl_builder_greater_or_equal, false},
    {"Less", tdl_builder_lesser, false},
    {"LessOrEqual", tdl_builder_lesser_or_equal, false},
    {"Max", tdl_builder_max, true},
    {"Mean", tdl_builder_add, true},
    {"Min", tdl_builder_min, true},
    {"Mul", tdl_builder_mul, false},
    {"Or", tdl_builder_logical_or, false},
    {"PRelu", tdl_builder_prelu, false},
    {"Sub", tdl_builder_sub, false},
    {"Sum", tdl_builder_add, true},
    {"Xor", tdl_builder_logical_xor, false},
};

/* Some take any number of inputs, one by one. */
static bool add_binary(struct onnx_import *im)
{
    struct tdl_operand *o;
    size_t row = 0;

    for (uint32_t i = 0; i < im->node.input_count; i++)
        if (gave_empty(im, i, NULL))
            return true;
    o = onnx_operand(im, 0);
    while (strcmp(binaries[row].type, im->node.row->type) != 0)
        row++;
    if (im->node.input_count > 2 && !binaries[row].of_many)
        return tdl_kit_damaged(&im->kit, "%u inputs instead of 2", im->node.input_count);
    for (uint32_t i = 1; i < im->node.input_count && o; i++) {
        struct tdl_operand *next = onnx_operand(im, i);

        o = next ? binaries[row].add(im->builder, o, next) : NULL;
    }
    if (o && !strcmp(im->node.row->type, "Mean"))
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
    struct tdl_operand *zero = onnx_scalar(im, x, 0);
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
    power = tdl_builder_pow(b, onnx_scalar(im, y, 2), y);
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
    x = tdl_builder_sub(b, onnx_scalar(im, x, 0), x);
    return onnx_give(im, tdl_builder_sub(b, x, onnx_scalar(im, x, 1)));
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
            bound = onnx_scalar(im, x, bounds[i]);
        else
            continue;
        x = bound ? (i ? tdl_builder_min : tdl_builder_max)(im->builder, x, bound) : NULL;
    }
    return onnx_give(im, x);
}

const struct onnx_row onnx_rows_elements[] = {
    {"Abs", 1, 1, add_unary},
    {"Add", 2, 2, add_binary},
    {"And", 2, 2, add_binary},
    {"BitShift", 2, 2, add_bit_shift},
    {"BitwiseAnd", 2, 2, add_binary},
    {"BitwiseNot", 1, 1, add_bitwise_not},
    {"BitwiseOr", 2, 2, add_binary},
    {"BitwiseXor", 2, 2, add_binary},
    {"Cast", 1, 1, add_cast},
    {"CastLike", 2, 2, add_cast_like},
    {"Ceil", 1, 1, add_unary},
    {"Clip", 1, 3, add_clip},
    {"Cos", 1, 1, add_unary},
    {"Div", 2, 2, add_binary},
    {"Dropout", 1, 3, add_dropout},
    {"Equal", 2, 2, add_binary},
    {"Erf", 1, 1, add_unary},
    {"Exp", 1, 1, add_unary},
    {"Floor", 1, 1, add_unary},
    {"Greater", 2, 2, add_binary},
    {"GreaterOrEqual", 2, 2, add_binary},
    {"HardSwish", 1, 1, add_unary},
    {"Identity", 1, 1, add_identity},
    {"Less", 2, 2, add_binary},
    {"LessOrEqual", 2, 2, add_binary},
    {"Log", 1, 1, add_unary},
    {"Max", 1, ONNX_MANY, add_binary},
    {"Mean", 1, ONNX_MANY, add_binary},
    {"Min", 1, ONNX_MANY, add_binary},
    {"Mod", 2, 2, add_mod},
    {"Mul", 2, 2, add_binary},
    {"Neg", 1, 1, add_unary},
    {"Not", 1, 1, add_unary},
    {"Or", 2, 2, add_binary},
    {"PRelu", 2, 2, add_binary},
    {"Pow", 2, 2, add_pow},
    {"Reciprocal", 1, 1, add_unary},
    {"Relu", 1, 1, add_unary},
    {"Round", 1, 1, add_unary},
    {"Sigmoid", 1, 1, add_unary},
    {"Sign", 1, 1, add_unary},
    {"Sin", 1, 1, add_unary},
    {"Softplus", 1, 1, add_unary},
    {"Softsign", 1, 1, add_unary},
    {"Sqrt", 1, 1, add_unary},
    {"Sub", 2, 2, add_binary},
    {"Sum", 1, ONNX_MANY, add_binary},
    {"Tan", 1, 1, add_unary},
    {"Tanh", 1, 1, add_unary},
    {"Where", 3, 3, add_where},
    {"Xor", 2, 2, add_binary},
    {0},
};
