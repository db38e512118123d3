/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* TensorFlow Lite's operators that put elements beside each other, or apart. */
#include "ops.h"

#include <string.h>

static bool add_concatenation(struct tflite_import *im, const struct tflite_op *op)
{
    const int32_t axis = tdl_fb_i32(&im->fb, &op->options, TFLITE_CONCATENATION_AXIS, 0);
    struct tdl_operand *inputs[TFLITE_MAX_ARGS], *output;
    enum tdl_activation activation;
    uint32_t along;

    if (!tflite_check(im) ||
        !tflite_read_activation(im, op, TFLITE_CONCATENATION_ACTIVATION, &activation))
        return false;
    for (uint32_t i = 0; i < op->input_count; i++)
        if (!(inputs[i] = tflite_operand(im, op->inputs[i])))
            return false;
    if (!tdl_kit_axis(&im->kit, axis, tdl_kit_rank(inputs[0]), &along))
        return false;
    output = tdl_builder_concat(im->builder, inputs, op->input_count, along);
    if (output)
        output = tdl_builder_activation(im->builder, output, activation);
    return tflite_give(im, op, output);
}

/* PAD, PADV2 with a value as third input, MIRROR_PAD. */
static bool add_pad(struct tflite_import *im, const struct tflite_op *op)
{
    struct tdl_pad_params params = {.mode = TDL_PAD_CONSTANT};
    struct tdl_operand *input = tflite_operand(im, op->inputs[0]);
    const uint32_t rank = tdl_kit_rank(input);
    int64_t sizes[2 * TDL_MAX_RANK];
    struct tflite_tensor value;
    float number;

    if (!input || !tflite_read_ints(im, op, 1, 2 * rank, sizes))
        return false;
    for (uint32_t i = 0; i < 2 * rank; i++) {
        if (sizes[i] < 0)
            return tdl_kit_damaged(&im->kit, "padding of %lld elements", (long long)sizes[i]);
        (i % 2 ? params.after : params.before)[i / 2] = (uint32_t)sizes[i];
    }
    if (op->row->code == TFLITE_MIRROR_PAD) {
        const uint8_t mode = tdl_fb_u8(&im->fb, &op->options, TFLITE_MIRROR_PAD_MODE, 0);

        if (!tflite_check(im))
            return false;
        if (mode != TFLITE_MIRROR_REFLECT)
            return tdl_kit_lacks(&im->kit, "mode %u is not supported; libtdl has REFLECT", mode);
        params.mode = TDL_PAD_REFLECTION;
    }
    if (op->row->code == TFLITE_PADV2) {
        if (!tflite_get_weights(im, op->inputs[2], &value))
            return false;
        if (value.type != TFLITE_FLOAT32 || value.elements != 1 || value.data_size < 4)
            return tdl_kit_lacks(&im->kit, "the value is not one float32");
        memcpy(&number, value.data, sizeof(number));
        params.value = (double)number;
    }
    return tflite_give(im, op, tdl_builder_pad(im->builder, input, &params));
}

/* DEPTH_TO_SPACE and SPACE_TO_DEPTH. */
static bool add_blocks(struct tflite_import *im, const struct tflite_op *op)
{
    struct tdl_operand *input = tflite_picture(im, op, 0);
    const int32_t size = tdl_fb_i32(&im->fb, &op->options, TFLITE_BLOCK_SIZE, 0);

    if (!input || !tflite_check(im) || !tflite_in_step_range(im, "block", size, size))
        return false;
    return tflite_give(
        im, op,
        op->row->code == TFLITE_DEPTH_TO_SPACE
            ? tdl_builder_depth_to_space(im->builder, input, (uint32_t)size, TDL_BLOCK_DEPTH_FIRST)
            : tdl_builder_space_to_depth(im->builder, input, (uint32_t)size,
                                         TDL_BLOCK_DEPTH_FIRST));
}

static bool add_pack(struct tflite_import *im, const struct tflite_op *op)
{
    const int32_t axis = tdl_fb_i32(&im->fb, &op->options, TFLITE_PACK_AXIS, 0);
    struct tdl_operand *inputs[TFLITE_MAX_ARGS];
    uint32_t shape[TDL_MAX_RANK], along;

    for (uint32_t i = 0; i < op->input_count; i++) {
        struct tdl_operand *x = tflite_operand(im, op->inputs[i]);

        if (!x || !tflite_check(im) ||
            !tdl_kit_with(&im->kit, tdl_kit_desc(x), axis, &along, shape) ||
            !(inputs[i] = tdl_builder_reshape(im->builder, x, tdl_kit_rank(x) + 1, shape)))
            return false;
    }
    return tflite_give(im, op, tdl_builder_concat(im->builder, inputs, op->input_count, along));
}

/* Parts along an axis as the operator's outputs, without it if `drop`. */
static bool set_parts(struct tflite_import *im, const struct tflite_op *op, struct tdl_operand *x,
                      const uint32_t *sizes, uint32_t axis, bool drop)
{
    struct tdl_operand *parts[TFLITE_MAX_ARGS];

    if (tdl_builder_split(im->builder, x, op->output_count, sizes, axis, parts) != TDL_OK)
        return false;
    for (uint32_t i = 0; i < op->output_count; i++) {
        uint32_t shape[TDL_MAX_RANK];

        if (drop)
            parts[i] = tdl_builder_reshape(
                im->builder, parts[i], tdl_kit_without(tdl_kit_desc(parts[i]), 1u << axis, shape),
                shape);
        if (!tflite_give_at(im, op, i, parts[i]))
            return false;
    }
    return true;
}

static bool add_unpack(struct tflite_import *im, const struct tflite_op *op)
{
    const int32_t axis = tdl_fb_i32(&im->fb, &op->options, TFLITE_UNPACK_AXIS, 0);
    struct tdl_operand *x = tflite_operand(im, op->inputs[0]);
    const struct tdl_tensor_params *in = tdl_kit_desc(x);
    uint32_t along;

    if (!x || !tflite_check(im) || !tdl_kit_axis(&im->kit, axis, in->rank, &along))
        return false;
    if (in->shape[along] != op->output_count)
        return tdl_kit_damaged(&im->kit, "%u outputs for %u parts", op->output_count,
                               in->shape[along]);
    return set_parts(im, op, x, NULL, along, true);
}

/* Sizes, of which one may be -1: what the others leave. */
static bool read_parts(struct tflite_import *im, const struct tflite_op *op, uint32_t whole,
                       uint32_t *out)
{
    int64_t sizes[TFLITE_MAX_ARGS];
    int64_t left = whole;
    int rest = -1;

    if (!tflite_read_ints(im, op, 1, op->output_count, sizes))
        return false;
    for (uint32_t i = 0; i < op->output_count; i++) {
        if (sizes[i] == -1 && rest < 0)
            rest = (int)i;
        else
            left -= sizes[i];
        out[i] = (uint32_t)sizes[i];
        if (sizes[i] < -1 || sizes[i] == 0 || left < 0)
            return tdl_kit_damaged(&im->kit, "a part of %lld of %u", (long long)sizes[i], whole);
    }
    if (rest >= 0)
        out[rest] = (uint32_t)left;
    return true; /* the builder adds them up */
}

/* SPLIT has the axis first, SPLIT_V last. */
static bool add_split(struct tflite_import *im, const struct tflite_op *op)
{
    const bool by_sizes = op->row->code == TFLITE_SPLIT_V;
    struct tdl_operand *x = tflite_operand(im, op->inputs[by_sizes ? 0 : 1]);
    uint32_t sizes[TFLITE_MAX_ARGS], along;
    int64_t axis;

    if (!x || !tflite_read_ints(im, op, by_sizes ? 2 : 0, 1, &axis) ||
        !tdl_kit_axis(&im->kit, axis, tdl_kit_rank(x), &along) ||
        (by_sizes && !read_parts(im, op, tdl_kit_shape(x)[along], sizes)))
        return false;
    return set_parts(im, op, x, by_sizes ? sizes : NULL, along, false);
}

static bool add_transpose(struct tflite_import *im, const struct tflite_op *op)
{
    struct tdl_operand *x = tflite_operand(im, op->inputs[0]);
    const uint32_t rank = tdl_kit_rank(x);
    uint32_t permutation[TDL_MAX_RANK];
    int64_t list[TDL_MAX_RANK];

    if (!x || !tflite_read_ints(im, op, 1, rank, list))
        return false;
    if (!tdl_kit_permutation(&im->kit, list, rank, rank, permutation))
        return false;
    return tflite_give(im, op, tdl_builder_transpose(im->builder, x, permutation));
}

const struct tflite_op_row tflite_rows_move[] = {
    TFLITE_OP(CONCATENATION, 4, 1, TFLITE_MAX_ARGS, add_concatenation,
              .options = TFLITE_CONCATENATION_OPTIONS),
    TFLITE_OP(DEPTH_TO_SPACE, 2, 1, 1, add_blocks, .options = TFLITE_DEPTH_TO_SPACE_OPTIONS),
    TFLITE_OP(MIRROR_PAD, 3, 2, 2, add_pad, .options = TFLITE_MIRROR_PAD_OPTIONS),
    TFLITE_OP(PACK, 4, 1, TFLITE_MAX_ARGS, add_pack, .options = TFLITE_PACK_OPTIONS),
    TFLITE_OP(PAD, 4, 2, 2, add_pad, .options = TFLITE_PAD_OPTIONS),
    TFLITE_OP(PADV2, 4, 3, 3, add_pad, .options = TFLITE_PADV2_OPTIONS),
    TFLITE_OP(SPACE_TO_DEPTH, 2, 1, 1, add_blocks, .options = TFLITE_SPACE_TO_DEPTH_OPTIONS),
    TFLITE_OP(SPLIT, 4, 2, 2, add_split, .options = TFLITE_SPLIT_OPTIONS,
              .outputs = TFLITE_MAX_ARGS),
    TFLITE_OP(SPLIT_V, 2, 3, 3, add_split, .options = TFLITE_SPLIT_V_OPTIONS,
              .outputs = TFLITE_MAX_ARGS),
    TFLITE_OP(TRANSPOSE, 6, 2, 2, add_transpose),
    TFLITE_OP(UNPACK, 4, 1, 1, add_unpack, .options = TFLITE_UNPACK_OPTIONS,
              .outputs = TFLITE_MAX_ARGS),
    {0},
};
