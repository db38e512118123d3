/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* TensorFlow Lite's products of matrices. */
#include "ops.h"

/* Rows of as many elements as the weights have columns; the shape that they had, with
 * the weights' rows for its last dimension, in *out_shape if that shall be kept. */
static struct tdl_operand *as_rows(struct tflite_import *im, struct tdl_operand *x,
                                   const struct tdl_tensor_params *weights, bool keep,
                                   struct tdl_tensor_params *out_shape)
{
    const struct tdl_tensor_params *in = tdl_kit_desc(x);
    const uint32_t depth = weights->rank == 2 ? weights->shape[1] : 0;
    uint64_t count = 1;

    for (uint32_t i = 0; i < in->rank; i++)
        count *= in->shape[i];
    if (depth == 0 || count % depth != 0 ||
        (keep && (in->rank == 0 || in->shape[in->rank - 1] != depth))) {
        tdl_kit_damaged(
            &im->kit, "weights of %u dimensions, [%u,%u], do not fit an input of %llu elements",
            weights->rank, weights->shape[0], weights->shape[1], (unsigned long long)count);
        return NULL;
    }
    const uint32_t rows = (uint32_t)(count / depth);
    if (keep) {
        *out_shape = *in;
        out_shape->shape[in->rank - 1] = weights->shape[0];
    } else {
        *out_shape = (struct tdl_tensor_params){.rank = 2, .shape = {rows, weights->shape[0]}};
    }
    return tdl_builder_reshape(im->builder, x, 2, (const uint32_t[]){rows, depth});
}

static bool add_fully_connected(struct tflite_import *im, const struct tflite_op *op)
{
    struct tdl_gemm_params params = {.b_transpose = true};
    struct tdl_operand *x = tflite_operand(im, op->inputs[0]);
    struct tdl_operand *weights = x ? tflite_operand(im, op->inputs[1]) : NULL;
    const uint8_t format = tdl_fb_u8(&im->fb, &op->options, TFLITE_FULLY_CONNECTED_FORMAT, 0);
    const uint8_t keep = tdl_fb_u8(&im->fb, &op->options, TFLITE_FULLY_CONNECTED_KEEP, 0);
    struct tdl_tensor_params shape;

    if (!weights || !tflite_check(im) ||
        !tflite_read_activation(im, op, TFLITE_FUSED_ACTIVATION, &params.activation) ||
        !tflite_read_bias(im, op, 2, &params.c))
        return false;
    if (format != 0)
        return tdl_kit_lacks(&im->kit, "weights in format %u are not supported; libtdl has DEFAULT",
                             format);
    x = as_rows(im, x, tdl_kit_desc(weights), keep, &shape);
    x = x ? tdl_builder_gemm(im->builder, x, weights, &params) : NULL;
    if (x && keep)
        x = tdl_builder_reshape(im->builder, x, shape.rank, shape.shape);
    return tflite_give(im, op, x);
}

/* The last two dimensions exchanged. */
static struct tdl_operand *adjoint(struct tflite_import *im, struct tdl_operand *x)
{
    uint32_t permutation[TDL_MAX_RANK];
    const uint32_t rank = tdl_kit_rank(x);

    for (uint32_t i = 0; i < rank; i++)
        permutation[i] = i < rank - 2 ? i : 2 * rank - 3 - i;
    return tdl_builder_transpose(im->builder, x, permutation);
}

static bool add_batch_matmul(struct tflite_import *im, const struct tflite_op *op)
{
    struct tdl_operand *in[2];

    for (uint32_t i = 0; i < 2; i++) {
        const uint8_t turn = tdl_fb_u8(&im->fb, &op->options, TFLITE_BATCH_MATMUL_ADJ_X + i, 0);

        in[i] = tflite_operand(im, op->inputs[i]);
        if (!in[i] || !tflite_check(im))
            return false;
        if (tdl_kit_rank(in[i]) < 2)
            return tdl_kit_damaged(&im->kit, "input %u is no matrix", i);
        if (turn && !(in[i] = adjoint(im, in[i])))
            return false;
    }
    return tflite_give(im, op, tdl_builder_matmul(im->builder, in[0], in[1]));
}

const struct tflite_op_row tflite_rows_matrix[] = {
    TFLITE_OP(BATCH_MATMUL, 4, 2, 2, add_batch_matmul, .options = TFLITE_BATCH_MATMUL_OPTIONS),
    TFLITE_OP(FULLY_CONNECTED, 12, 2, 3, add_fully_connected,
              .options = TFLITE_FULLY_CONNECTED_OPTIONS),
    {0},
};
