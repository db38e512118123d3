/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* TensorFlow Lite's operators that work on any shape: those that move elements,
 * and softmax. */
#include "ops.h"

#include <string.h>

bool tflite_add_concatenation(struct tflite_import *im, const struct tflite_op *op)
{
    const int32_t axis = tdl_fb_i32(&im->fb, &op->options, TFLITE_CONCATENATION_AXIS, 0);
    struct tdl_operand *inputs[TFLITE_MAX_ARGS], *output;
    enum tdl_activation activation;

    if (!tflite_check(im) ||
        !tflite_read_activation(im, op, TFLITE_CONCATENATION_ACTIVATION, &activation))
        return false;
    for (uint32_t i = 0; i < op->input_count; i++)
        if (!(inputs[i] = tflite_operand(im, op->inputs[i])))
            return false;
    const int32_t rank = (int32_t)tdl_operand_get_desc(inputs[0])->rank;
    if (axis < -rank || axis >= rank)
        return tflite_fail(im, TDL_ERROR_INVALID_MODEL, "there is no axis %d in %d dimensions",
                           axis, rank);
    output = tdl_builder_concat(im->builder, inputs, op->input_count,
                                (uint32_t)(axis < 0 ? axis + rank : axis));
    if (output)
        output = tdl_builder_activation(im->builder, output, activation);
    return tflite_set_output(im, op, output);
}

/* PAD, PADV2 with a value as third input, MIRROR_PAD. */
bool tflite_add_pad(struct tflite_import *im, const struct tflite_op *op)
{
    struct tdl_pad_params params = {.mode = TDL_PAD_CONSTANT};
    struct tdl_operand *input = tflite_operand(im, op->inputs[0]);
    const uint32_t rank = input ? tdl_operand_get_desc(input)->rank : 0;
    int32_t sizes[2 * TDL_MAX_RANK];
    struct tflite_tensor value;
    float number;

    if (!input || !tflite_read_ints(im, op, 1, 2 * rank, sizes))
        return false;
    for (uint32_t i = 0; i < 2 * rank; i++) {
        if (sizes[i] < 0)
            return tflite_fail(im, TDL_ERROR_INVALID_MODEL, "padding of %d elements", sizes[i]);
        (i % 2 ? params.after : params.before)[i / 2] = (uint32_t)sizes[i];
    }
    if (op->row->code == TFLITE_MIRROR_PAD) {
        const uint8_t mode = tdl_fb_u8(&im->fb, &op->options, TFLITE_MIRROR_PAD_MODE, 0);

        if (!tflite_check(im))
            return false;
        if (mode != TFLITE_MIRROR_REFLECT)
            return tflite_fail(im, TDL_ERROR_UNSUPPORTED,
                               "mode %u is not supported; libtdl has REFLECT", mode);
        params.mode = TDL_PAD_REFLECTION;
    }
    if (op->row->code == TFLITE_PADV2) {
        if (!tflite_get_constant(im, op->inputs[2], &value))
            return false;
        if (value.type != TFLITE_FLOAT32 || value.elements != 1 || value.data_size < 4)
            return tflite_fail(im, TDL_ERROR_UNSUPPORTED, "the value is not one float32");
        memcpy(&number, value.data, sizeof(number));
        params.value = (double)number;
    }
    return tflite_set_output(im, op, tdl_builder_pad(im->builder, input, &params));
}

/* DEPTH_TO_SPACE and SPACE_TO_DEPTH. */
bool tflite_add_blocks(struct tflite_import *im, const struct tflite_op *op)
{
    struct tdl_operand *input = tflite_picture(im, op, 0);
    const int32_t size = tdl_fb_i32(&im->fb, &op->options, TFLITE_BLOCK_SIZE, 0);

    if (!input || !tflite_check(im) || !tflite_in_step_range(im, "block", size, size))
        return false;
    return tflite_set_output(
        im, op,
        op->row->code == TFLITE_DEPTH_TO_SPACE
            ? tdl_builder_depth_to_space(im->builder, input, (uint32_t)size, TDL_BLOCK_DEPTH_FIRST)
            : tdl_builder_space_to_depth(im->builder, input, (uint32_t)size,
                                         TDL_BLOCK_DEPTH_FIRST));
}

/* A size of -1 goes to the end. */
bool tflite_add_slice(struct tflite_import *im, const struct tflite_op *op)
{
    struct tdl_slice_params params = {0};
    struct tdl_operand *input = tflite_operand(im, op->inputs[0]);
    const uint32_t rank = input ? tdl_operand_get_desc(input)->rank : 0;
    int32_t start[TDL_MAX_RANK], size[TDL_MAX_RANK];

    if (!input || !tflite_read_ints(im, op, 1, rank, start) ||
        !tflite_read_ints(im, op, 2, rank, size))
        return false;
    for (uint32_t i = 0; i < rank; i++) {
        if (start[i] < 0 || size[i] < -1 || size[i] == 0)
            return tflite_fail(im, TDL_ERROR_INVALID_MODEL,
                               "%d elements from %d on in dimension %u", size[i], start[i], i);
        params.start[i] = (uint32_t)start[i];
        params.size[i] = size[i] < 0 ? 0 : (uint32_t)size[i];
    }
    return tflite_set_output(im, op, tdl_builder_slice(im->builder, input, &params));
}

/* Along the last axis. */
bool tflite_add_softmax(struct tflite_import *im, const struct tflite_op *op)
{
    struct tdl_operand *input = tflite_operand(im, op->inputs[0]);
    const int32_t bits = tdl_fb_i32(&im->fb, &op->options, TFLITE_SOFTMAX_BETA, 0);
    float beta;

    memcpy(&beta, &bits, sizeof(beta));
    if (!input || !tflite_check(im))
        return false;
    if (beta != 1)
        return tflite_fail(im, TDL_ERROR_UNSUPPORTED, "beta %g is not supported; libtdl has 1",
                           (double)beta);
    return tflite_set_output(
        im, op, tdl_builder_softmax(im->builder, input, tdl_operand_get_desc(input)->rank - 1));
}
