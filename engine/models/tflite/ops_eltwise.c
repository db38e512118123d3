/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* TensorFlow Lite's element-wise operators. */
#include "ops.h"

#include <string.h>

/* Input `number` with at least `rank` dimensions. TensorFlow puts ones before
 * the shorter shape, the builder wants equal ranks: constants are remade. */
static struct tdl_operand *widened(struct tflite_import *im, const struct tflite_op *op,
                                   uint32_t number, struct tdl_operand *operand, uint32_t rank)
{
    const uint32_t old = tdl_operand_get_desc(operand)->rank, more = rank - old;
    struct tflite_tensor constant;

    if (old >= rank)
        return operand;
    if (!tflite_get_constant(im, op->inputs[number], &constant))
        return NULL;
    memmove(constant.shape + more, constant.shape, old * sizeof(constant.shape[0]));
    for (uint32_t i = 0; i < more; i++)
        constant.shape[i] = 1;
    constant.rank = rank;
    return tflite_constant_operand(im, &constant);
}

static const struct binary {
    int32_t code;
    struct tdl_operand *(*add)(struct tdl_builder *, struct tdl_operand *, struct tdl_operand *);
    bool activates; /* its options name a fused activation */
} binaries[] = {
    {TFLITE_ADD, tdl_builder_add, true},      {TFLITE_SUB, tdl_builder_sub, true},
    {TFLITE_MUL, tdl_builder_mul, true},      {TFLITE_DIV, tdl_builder_div, true},
    {TFLITE_MAXIMUM, tdl_builder_max, false}, {TFLITE_MINIMUM, tdl_builder_min, false},
    {TFLITE_POW, tdl_builder_pow, false},     {TFLITE_PRELU, tdl_builder_prelu, false},
};

bool tflite_add_binary(struct tflite_import *im, const struct tflite_op *op)
{
    const struct binary *binary = binaries;
    struct tdl_operand *a = tflite_operand(im, op->inputs[0]);
    struct tdl_operand *b = a ? tflite_operand(im, op->inputs[1]) : NULL;
    struct tdl_operand *output;
    enum tdl_activation activation = TDL_ACTIVATION_NONE;

    while (binary->code != op->row->code)
        binary++;
    if (!b || (binary->activates &&
               !tflite_read_activation(im, op, TFLITE_BINARY_ACTIVATION, &activation)))
        return false;
    a = widened(im, op, 0, a, tdl_operand_get_desc(b)->rank);
    b = a ? widened(im, op, 1, b, tdl_operand_get_desc(a)->rank) : NULL;
    if (!b)
        return false;
    output = binary->add(im->builder, a, b);
    if (output)
        output = tdl_builder_activation(im->builder, output, activation);
    return tflite_set_output(im, op, output);
}

static struct tdl_operand *add_elu(struct tdl_builder *builder, struct tdl_operand *x)
{
    return tdl_builder_elu(builder, x, 1);
}

static const struct unary {
    int32_t code;
    struct tdl_operand *(*add)(struct tdl_builder *, struct tdl_operand *);
} unaries[] = {
    {TFLITE_ABS, tdl_builder_abs}, {TFLITE_CEIL, tdl_builder_ceil},
    {TFLITE_COS, tdl_builder_cos}, {TFLITE_ELU, add_elu},
    {TFLITE_EXP, tdl_builder_exp}, {TFLITE_FLOOR, tdl_builder_floor},
    {TFLITE_LOG, tdl_builder_log}, {TFLITE_NEG, tdl_builder_neg},
    {TFLITE_SIN, tdl_builder_sin}, {TFLITE_SQRT, tdl_builder_sqrt},
};

bool tflite_add_unary(struct tflite_import *im, const struct tflite_op *op)
{
    const struct unary *unary = unaries;
    struct tdl_operand *input = tflite_operand(im, op->inputs[0]);

    while (unary->code != op->row->code)
        unary++;
    return input && tflite_set_output(im, op, unary->add(im->builder, input));
}

bool tflite_add_leaky_relu(struct tflite_import *im, const struct tflite_op *op)
{
    struct tdl_operand *input = tflite_operand(im, op->inputs[0]);
    const int32_t bits = tdl_fb_i32(&im->fb, &op->options, TFLITE_LEAKY_RELU_ALPHA, 0);
    float alpha;

    memcpy(&alpha, &bits, sizeof(alpha));
    return input && tflite_check(im) &&
           tflite_set_output(im, op, tdl_builder_leaky_relu(im->builder, input, alpha));
}
