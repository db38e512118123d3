/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* TensorFlow Lite's element-wise operators. */
#include "ops.h"

#include <string.h>

static bool add_activation(struct tflite_import *im, const struct tflite_op *op)
{
    struct tdl_operand *input = tflite_operand(im, op->inputs[0]);
    const enum tdl_activation activation = (enum tdl_activation)op->row->detail;

    return input && tflite_give(im, op, tdl_builder_activation(im->builder, input, activation));
}

/* ------------------------------------------------------------------ of two */

static struct tdl_operand *squared_difference(struct tdl_builder *b, struct tdl_operand *x,
                                              struct tdl_operand *y)
{
    struct tdl_operand *d = tdl_builder_sub(b, x, y);

    return d ? tdl_builder_mul(b, d, d) : NULL;
}

/* 1 where a division that cuts towards zero went one too far up: the rest is not
 * 0, and its sign is not the divisor's. */
static struct tdl_operand *went_up(struct tdl_builder *b, struct tdl_operand *rest,
                                   struct tdl_operand *y, enum tdl_dtype dtype)
{
    static const uint64_t bits;
    struct tdl_operand *zero = tdl_builder_constant(b, &(struct tdl_tensor_params){.dtype = dtype},
                                                    &bits, tdl_dtype_size(dtype));
    struct tdl_operand *some = zero ? tdl_builder_not_equal(b, rest, zero) : NULL;
    struct tdl_operand *below = some ? tdl_builder_lesser(b, rest, zero) : NULL;
    struct tdl_operand *signs = below ? tdl_builder_lesser(b, y, zero) : NULL;

    signs = signs ? tdl_builder_not_equal(b, below, signs) : NULL;
    some = signs ? tdl_builder_logical_and(b, some, signs) : NULL;
    return some ? tdl_builder_cast(b, some, dtype) : NULL;
}

/* x / y, rounded down. */
static struct tdl_operand *floor_div(struct tdl_builder *b, struct tdl_operand *x,
                                     struct tdl_operand *y)
{
    const enum tdl_dtype dtype = tdl_kit_desc(x)->dtype;
    struct tdl_operand *q = tdl_builder_div(b, x, y), *rest;

    if (!q || dtype == TDL_FLOAT32)
        return q ? tdl_builder_floor(b, q) : NULL;
    rest = tdl_builder_mul(b, q, y);
    rest = rest ? tdl_builder_sub(b, x, rest) : NULL;
    rest = rest ? went_up(b, rest, y, dtype) : NULL;
    return rest ? tdl_builder_sub(b, q, rest) : NULL;
}

/* The rest of that. */
static struct tdl_operand *floor_mod(struct tdl_builder *b, struct tdl_operand *x,
                                     struct tdl_operand *y)
{
    struct tdl_operand *q = floor_div(b, x, y);

    q = q ? tdl_builder_mul(b, q, y) : NULL;
    return q ? tdl_builder_sub(b, x, q) : NULL;
}

enum { ACTIVATES = 1 }; /* the options name a fused activation */

static bool add_binary(struct tflite_import *im, const struct tflite_op *op)
{
    struct tdl_operand *a = tflite_operand(im, op->inputs[0]);
    struct tdl_operand *b = a ? tflite_operand(im, op->inputs[1]) : NULL;
    struct tdl_operand *output;
    enum tdl_activation activation = TDL_ACTIVATION_NONE;

    if (!b || (op->row->detail == ACTIVATES &&
               !tflite_read_activation(im, op, TFLITE_FUSED_ACTIVATION, &activation)))
        return false;
    output = op->row->two(im->builder, a, b);
    if (output)
        output = tdl_builder_activation(im->builder, output, activation);
    return tflite_give(im, op, output);
}

/* ADD_N. */
static bool add_sum_of_many(struct tflite_import *im, const struct tflite_op *op)
{
    struct tdl_operand *sum = tflite_operand(im, op->inputs[0]);

    for (uint32_t i = 1; sum && i < op->input_count; i++) {
        struct tdl_operand *next = tflite_operand(im, op->inputs[i]);

        sum = next ? tdl_builder_add(im->builder, sum, next) : NULL;
    }
    return sum &&
           tflite_give(im, op, op->input_count > 1 ? sum : tdl_builder_identity(im->builder, sum));
}

/* SELECT_V2 broadcasts. SELECT does not, but for a condition with one dimension,
 * which chooses along the first. */
static bool add_select(struct tflite_import *im, const struct tflite_op *op)
{
    struct tdl_operand *in[3];

    for (uint32_t i = 0; i < 3; i++)
        if (!(in[i] = tflite_operand(im, op->inputs[i])))
            return false;
    const struct tdl_tensor_params *condition = tdl_kit_desc(in[0]);
    const uint32_t rank = tdl_kit_rank(in[1]);
    if (op->row->code == TFLITE_SELECT && condition->rank == 1 && rank > 1) {
        uint32_t shape[TDL_MAX_RANK] = {condition->shape[0], 1, 1, 1, 1, 1};

        in[0] = tdl_builder_reshape(im->builder, in[0], rank, shape);
    }
    return in[0] && tflite_give(im, op, tdl_builder_where(im->builder, in[0], in[1], in[2]));
}

/* ------------------------------------------------------------------ of one */

static struct tdl_operand *elu(struct tdl_builder *builder, struct tdl_operand *x)
{
    return tdl_builder_elu(builder, x, 1);
}

static struct tdl_operand *square(struct tdl_builder *builder, struct tdl_operand *x)
{
    return tdl_builder_mul(builder, x, x);
}

static struct tdl_operand *reciprocal_sqrt(struct tdl_builder *builder, struct tdl_operand *x)
{
    x = tdl_builder_sqrt(builder, x);
    return x ? tdl_builder_reciprocal(builder, x) : NULL;
}

/* The others have the builder's word for a wrong type; a clamp's bounds are floats. */
static struct tdl_operand *clamp(struct tdl_builder *builder, struct tdl_operand *x, float least)
{
    static const float one = 1;

    if (tdl_kit_desc(x)->dtype != TDL_FLOAT32)
        return tdl_builder_fail(builder, TDL_ERROR_UNSUPPORTED, "the input is %s, not float32",
                                tdl_dtype_name(tdl_kit_desc(x)->dtype));
    return tdl_builder_clamp(builder, x, &least, &one);
}

static struct tdl_operand *relu_n1_to_1(struct tdl_builder *builder, struct tdl_operand *x)
{
    return clamp(builder, x, -1);
}

static struct tdl_operand *relu_0_to_1(struct tdl_builder *builder, struct tdl_operand *x)
{
    return clamp(builder, x, 0);
}

static bool add_unary(struct tflite_import *im, const struct tflite_op *op)
{
    struct tdl_operand *input = tflite_operand(im, op->inputs[0]);

    return input && tflite_give(im, op, op->row->one(im->builder, input));
}

/* x / 2 · (1 + tanh(√(2/π) · (x + 0.044715 x³))): Hendrycks and Gimpel,
 * arXiv:1606.08415, section 2. */
static struct tdl_operand *approximate_gelu(struct tdl_builder *b, struct tdl_operand *x)
{
    struct tdl_operand *t = tdl_builder_mul(b, x, x);

    t = t ? tdl_builder_linear(b, t, 0.0356774081f, 0.7978845608f) : NULL;
    t = t ? tdl_builder_mul(b, t, x) : NULL;
    t = t ? tdl_builder_tanh(b, t) : NULL;
    t = t ? tdl_builder_linear(b, t, 0.5f, 0.5f) : NULL;
    return t ? tdl_builder_mul(b, t, x) : NULL;
}

static bool add_gelu(struct tflite_import *im, const struct tflite_op *op)
{
    struct tdl_operand *input = tflite_operand(im, op->inputs[0]);
    const uint8_t approximate = tdl_fb_u8(&im->fb, &op->options, TFLITE_GELU_APPROXIMATE, 0);

    return input && tflite_check(im) &&
           tflite_give(im, op,
                       (approximate ? approximate_gelu : tdl_builder_gelu)(im->builder, input));
}

static bool add_leaky_relu(struct tflite_import *im, const struct tflite_op *op)
{
    struct tdl_operand *input = tflite_operand(im, op->inputs[0]);
    const int32_t bits = tdl_fb_i32(&im->fb, &op->options, TFLITE_LEAKY_RELU_ALPHA, 0);
    float alpha;

    memcpy(&alpha, &bits, sizeof(alpha));
    return input && tflite_check(im) &&
           tflite_give(im, op, tdl_builder_leaky_relu(im->builder, input, alpha));
}

const struct tflite_op_row tflite_rows_eltwise[] = {
    TFLITE_OP(ABS, 5, 1, 1, add_unary, .one = tdl_builder_abs),
    TFLITE_OP(ADD, 5, 2, 2, add_binary, .two = tdl_builder_add, .detail = ACTIVATES,
              .options = TFLITE_ADD_OPTIONS),
    TFLITE_OP(ADD_N, 1, 1, TFLITE_MAX_ARGS, add_sum_of_many),
    TFLITE_OP(CEIL, 2, 1, 1, add_unary, .one = tdl_builder_ceil),
    TFLITE_OP(COS, 2, 1, 1, add_unary, .one = tdl_builder_cos),
    TFLITE_OP(DIV, 2, 2, 2, add_binary, .two = tdl_builder_div, .detail = ACTIVATES,
              .options = TFLITE_DIV_OPTIONS),
    TFLITE_OP(ELU, 2, 1, 1, add_unary, .one = elu),
    TFLITE_OP(EQUAL, 4, 2, 2, add_binary, .two = tdl_builder_equal),
    TFLITE_OP(EXP, 2, 1, 1, add_unary, .one = tdl_builder_exp),
    TFLITE_OP(FLOOR, 2, 1, 1, add_unary, .one = tdl_builder_floor),
    TFLITE_OP(FLOOR_DIV, 3, 2, 2, add_binary, .two = floor_div),
    TFLITE_OP(FLOOR_MOD, 2, 2, 2, add_binary, .two = floor_mod),
    TFLITE_OP(GELU, 2, 1, 1, add_gelu, .options = TFLITE_GELU_OPTIONS),
    TFLITE_OP(GREATER, 2, 2, 2, add_binary, .two = tdl_builder_greater),
    TFLITE_OP(GREATER_EQUAL, 3, 2, 2, add_binary, .two = tdl_builder_greater_or_equal),
    TFLITE_OP(HARD_SWISH, 1, 1, 1, add_activation, .detail = TDL_ACTIVATION_HARD_SWISH),
    TFLITE_OP(LEAKY_RELU, 2, 1, 1, add_leaky_relu, .options = TFLITE_LEAKY_RELU_OPTIONS),
    TFLITE_OP(LESS, 3, 2, 2, add_binary, .two = tdl_builder_lesser),
    TFLITE_OP(LESS_EQUAL, 3, 2, 2, add_binary, .two = tdl_builder_lesser_or_equal),
    TFLITE_OP(LOG, 2, 1, 1, add_unary, .one = tdl_builder_log),
    TFLITE_OP(LOGICAL_AND, 1, 2, 2, add_binary, .two = tdl_builder_logical_and),
    TFLITE_OP(LOGICAL_NOT, 1, 1, 1, add_unary, .one = tdl_builder_logical_not),
    TFLITE_OP(LOGICAL_OR, 1, 2, 2, add_binary, .two = tdl_builder_logical_or),
    TFLITE_OP(LOGISTIC, 3, 1, 1, add_activation, .detail = TDL_ACTIVATION_SIGMOID),
    TFLITE_OP(MAXIMUM, 4, 2, 2, add_binary, .two = tdl_builder_max,
              .options = TFLITE_MAXIMUM_MINIMUM_OPTIONS),
    TFLITE_OP(MINIMUM, 4, 2, 2, add_binary, .two = tdl_builder_min,
              .options = TFLITE_MAXIMUM_MINIMUM_OPTIONS),
    TFLITE_OP(MUL, 7, 2, 2, add_binary, .two = tdl_builder_mul, .detail = ACTIVATES,
              .options = TFLITE_MUL_OPTIONS),
    TFLITE_OP(NEG, 2, 1, 1, add_unary, .one = tdl_builder_neg),
    TFLITE_OP(NOT_EQUAL, 4, 2, 2, add_binary, .two = tdl_builder_not_equal),
    TFLITE_OP(POW, 1, 2, 2, add_binary, .two = tdl_builder_pow),
    TFLITE_OP(PRELU, 1, 2, 2, add_binary, .two = tdl_builder_prelu),
    TFLITE_OP(RELU, 3, 1, 1, add_activation, .detail = TDL_ACTIVATION_RELU),
    TFLITE_OP(RELU6, 3, 1, 1, add_activation, .detail = TDL_ACTIVATION_RELU6),
    TFLITE_OP(RELU_0_TO_1, 1, 1, 1, add_unary, .one = relu_0_to_1),
    TFLITE_OP(RELU_N1_TO_1, 1, 1, 1, add_unary, .one = relu_n1_to_1),
    TFLITE_OP(ROUND, 1, 1, 1, add_unary, .one = tdl_builder_round_even),
    TFLITE_OP(RSQRT, 3, 1, 1, add_unary, .one = reciprocal_sqrt),
    TFLITE_OP(SELECT, 4, 3, 3, add_select),
    TFLITE_OP(SELECT_V2, 2, 3, 3, add_select),
    TFLITE_OP(SIGN, 1, 1, 1, add_unary, .one = tdl_builder_sign),
    TFLITE_OP(SIN, 1, 1, 1, add_unary, .one = tdl_builder_sin),
    TFLITE_OP(SQRT, 2, 1, 1, add_unary, .one = tdl_builder_sqrt),
    TFLITE_OP(SQUARE, 1, 1, 1, add_unary, .one = square),
    TFLITE_OP(SQUARED_DIFFERENCE, 2, 2, 2, add_binary, .two = squared_difference),
    TFLITE_OP(SUB, 5, 2, 2, add_binary, .two = tdl_builder_sub, .detail = ACTIVATES,
              .options = TFLITE_SUB_OPTIONS),
    TFLITE_OP(TANH, 3, 1, 1, add_activation, .detail = TDL_ACTIVATION_TANH),
    {0},
};
