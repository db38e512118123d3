/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* TensorFlow Lite's changes of type. Quantized tensors are float32 operands
 * already (constants.c), so that nothing is computed where they come and go. */
#include "ops.h"

#include <string.h>

/* Only noted; see the top of tflite.c. */
static bool note_source(struct tflite_import *im, int32_t in, int32_t out,
                        const struct tflite_tensor *result)
{
    struct tflite_tensor constant;

    if (!tflite_get_constant(im, in, &constant))
        return false;
    if ((constant.type != TFLITE_FLOAT16 && !tflite_is_quantized(&constant)) ||
        result->type != TFLITE_FLOAT32)
        return tdl_kit_refuse(
            &im->kit,
            "%s to %s is not supported; convert the model with float16 weights, or "
            "integers and their scales",
            tflite_type_name(constant.type), tflite_type_name(result->type));
    if (constant.rank != result->rank ||
        memcmp(constant.shape, result->shape, sizeof(result->shape)) != 0)
        return tdl_kit_damaged(
            &im->kit, "the model file is damaged: tensors %d and %d differ in shape", in, out);
    im->values[out].source = (im->values[in].source ? im->values[in].source : in + 1);
    return true;
}

static bool add_densify(struct tflite_import *im, const struct tflite_op *op)
{
    const int32_t in = op->inputs[0], out = op->outputs[0];
    struct tflite_tensor constant, result;

    if (!tflite_get_constant(im, in, &constant) || !tflite_get_tensor(im, out, &result) ||
        !tflite_is_new(im, out, &result))
        return false;
    if (constant.type != result.type || constant.rank != result.rank ||
        memcmp(constant.shape, result.shape, sizeof(result.shape)) != 0)
        return tdl_kit_damaged(
            &im->kit, "the model file is damaged: tensors %d and %d differ in type or shape", in,
            out);
    im->values[out].source = im->values[in].source ? im->values[in].source : in + 1;
    return true;
}

static bool add_dequantize(struct tflite_import *im, const struct tflite_op *op)
{
    const int32_t in = op->inputs[0], out = op->outputs[0];
    struct tflite_tensor from, result;

    if (!tflite_get_tensor(im, in, &from) || !tflite_get_tensor(im, out, &result) ||
        !tflite_is_new(im, out, &result))
        return false;
    if (from.data || im->values[in].source)
        return note_source(im, in, out, &result);
    if (!tflite_is_quantized(&from) || !tflite_operand(im, in))
        return tflite_is_quantized(&from) ? false : tflite_fail_type(im, in, &from);
    return tflite_give(im, op, tflite_operand(im, in));
}

/* Of real values, or with other scales. */
static bool add_quantize(struct tflite_import *im, const struct tflite_op *op)
{
    struct tdl_operand *x = tflite_operand(im, op->inputs[0]);

    return x && tflite_give(im, op, x);
}

static bool add_cast(struct tflite_import *im, const struct tflite_op *op)
{
    struct tdl_operand *x = tflite_operand(im, op->inputs[0]), *zero;
    struct tflite_tensor from, to;
    enum tdl_dtype dtype;

    if (!x || !tflite_get_tensor(im, op->inputs[0], &from) ||
        !tflite_get_tensor(im, op->outputs[0], &to))
        return false;
    if (tflite_is_quantized(&from) || tflite_is_quantized(&to))
        return tdl_kit_refuse(
            &im->kit,
            "tensors %d and %d, one of them quantized, cannot be cast: convert the "
            "model with QUANTIZE and DEQUANTIZE",
            op->inputs[0], op->outputs[0]);
    if (!tflite_dtype(&to, &dtype))
        return tflite_fail_type(im, op->outputs[0], &to);
    if (to.type != TFLITE_BOOL)
        return tflite_give(im, op, tdl_builder_cast(im->builder, x, dtype));
    zero = tflite_zero(im, tdl_kit_desc(x)->dtype);
    return zero && tflite_give(im, op, tdl_builder_not_equal(im->builder, x, zero));
}

const struct tflite_op_row tflite_rows_quantize[] = {
    TFLITE_OP(CAST, 6, 1, 1, add_cast, .options = TFLITE_CAST_OPTIONS),
    TFLITE_OP(DENSIFY, 1, 1, 1, add_densify),
    TFLITE_OP(DEQUANTIZE, 6, 1, 1, add_dequantize),
    TFLITE_OP(QUANTIZE, 4, 1, 1, add_quantize),
    {0},
};
