/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* TensorFlow Lite's operators that look along axes. */
#include "ops.h"

#include <string.h>

static bool read_axes(struct tflite_import *im, const struct tflite_op *op, uint32_t rank,
                      struct tdl_reduce_params *params)
{
    int64_t axes[TDL_MAX_RANK];
    uint32_t count;

    return tflite_read_list(im, op, 1, TDL_MAX_RANK, axes, &count) &&
           tdl_kit_reduce_axes(&im->kit, axes, count, rank, params);
}

/* A picture's mean over height and width has kernels of its own. */
static bool is_global(const struct tdl_tensor_params *in, const struct tdl_reduce_params *params)
{
    return in->rank == 4 && in->dtype == TDL_FLOAT32 && params->axis_count == 2 &&
           params->axes[0] + params->axes[1] == 3 && params->axes[0] * params->axes[1] == 2;
}

static struct tdl_operand *global_mean(struct tflite_import *im, struct tdl_operand *x, bool keep)
{
    const uint32_t *s = tdl_kit_shape(x);
    const uint32_t shape[] = {s[0], s[3]};

    x = tdl_builder_global_average_pool(im->builder, x);
    return x && !keep ? tdl_builder_reshape(im->builder, x, 2, shape) : x;
}

/* MEAN, SUM, REDUCE_MAX and so on; ANY and ALL are the largest and the smallest of
 * 0 and 1. */
static bool add_reduce(struct tflite_import *im, const struct tflite_op *op)
{
    struct tdl_operand *x = tflite_operand(im, op->inputs[0]);
    const enum tdl_reduction reduction = (enum tdl_reduction)op->row->detail;
    struct tdl_reduce_params params = {0};

    params.keep_dimensions = tdl_fb_u8(&im->fb, &op->options, TFLITE_REDUCER_KEEP_DIMS, 0);
    if (!x || !tflite_check(im) || !read_axes(im, op, tdl_kit_rank(x), &params))
        return false;
    return tflite_give(im, op,
                       reduction == TDL_REDUCE_MEAN && is_global(tdl_kit_desc(x), &params)
                           ? global_mean(im, x, params.keep_dimensions)
                           : tdl_builder_reduce(im->builder, x, reduction, &params));
}

/* ARG_MAX and ARG_MIN: the first of equal ones. */
static bool add_arg(struct tflite_import *im, const struct tflite_op *op)
{
    struct tdl_arg_min_max_params params = {0};
    struct tdl_operand *x = tflite_operand(im, op->inputs[0]);
    struct tflite_tensor result;
    uint32_t along;
    int64_t axis;

    if (!x || !tflite_read_ints(im, op, 1, 1, &axis) ||
        !tdl_kit_axis(&im->kit, axis, tdl_kit_rank(x), &along) ||
        !tflite_get_tensor(im, op->outputs[0], &result))
        return false;
    params.output_dtype = result.type == TFLITE_INT64 ? TDL_INT64 : TDL_INT32;
    return tflite_give(im, op,
                       (op->row->code == TFLITE_ARG_MAX
                            ? tdl_builder_arg_max
                            : tdl_builder_arg_min)(im->builder, x, along, &params));
}

static bool add_cumulative_sum(struct tflite_import *im, const struct tflite_op *op)
{
    struct tdl_cumulative_sum_params params = {
        .exclusive = tdl_fb_u8(&im->fb, &op->options, TFLITE_CUMSUM_EXCLUSIVE, 0),
        .reversed = tdl_fb_u8(&im->fb, &op->options, TFLITE_CUMSUM_REVERSE, 0),
    };
    struct tdl_operand *x = tflite_operand(im, op->inputs[0]);
    uint32_t along;
    int64_t axis;

    if (!x || !tflite_check(im) || !tflite_read_ints(im, op, 1, 1, &axis) ||
        !tdl_kit_axis(&im->kit, axis, tdl_kit_rank(x), &along))
        return false;
    return tflite_give(im, op, tdl_builder_cumulative_sum(im->builder, x, along, &params));
}

/* ---------------------------------------------------------- along the last one */

/* The input, which must have a last axis. */
static struct tdl_operand *with_last(struct tflite_import *im, const struct tflite_op *op,
                                     uint32_t *out_last)
{
    struct tdl_operand *x = tflite_operand(im, op->inputs[0]);
    const uint32_t rank = tdl_kit_rank(x);

    *out_last = rank - 1;
    if (x && rank == 0) {
        tdl_kit_damaged(&im->kit, "the input has no dimension");
        return NULL;
    }
    return x;
}

/* x / max(√ Σ x², 1e-6), as TensorFlow Lite has it. */
static bool add_l2_normalization(struct tflite_import *im, const struct tflite_op *op)
{
    static const float epsilon = 1e-6f;
    const struct tdl_tensor_params scalar = {.dtype = TDL_FLOAT32};
    struct tdl_reduce_params params = {.axis_count = 1, .keep_dimensions = true};
    struct tdl_operand *x = with_last(im, op, &params.axes[0]), *norm, *least;
    enum tdl_activation activation;

    if (!x || !tflite_read_activation(im, op, TFLITE_FUSED_ACTIVATION, &activation))
        return false;
    norm = tdl_builder_reduce(im->builder, x, TDL_REDUCE_L2, &params);
    least = tdl_builder_constant(im->builder, &scalar, &epsilon, sizeof(epsilon));
    norm = norm && least ? tdl_builder_max(im->builder, norm, least) : NULL;
    x = norm ? tdl_builder_div(im->builder, x, norm) : NULL;
    return x && tflite_give(im, op, tdl_builder_activation(im->builder, x, activation));
}

/* SOFTMAX of beta · x, and LOG_SOFTMAX. */
static bool add_softmax(struct tflite_import *im, const struct tflite_op *op)
{
    struct tdl_reduce_params params = {.axis_count = 1, .keep_dimensions = true};
    struct tdl_operand *x = with_last(im, op, &params.axes[0]), *sum;
    const int32_t bits = tdl_fb_i32(&im->fb, &op->options, TFLITE_SOFTMAX_BETA, 0);
    float beta;

    memcpy(&beta, &bits, sizeof(beta));
    if (!x || !tflite_check(im))
        return false;
    if (op->row->code == TFLITE_LOG_SOFTMAX) {
        sum = tdl_builder_reduce(im->builder, x, TDL_REDUCE_LOG_SUM_EXP, &params);
        return sum && tflite_give(im, op, tdl_builder_sub(im->builder, x, sum));
    }
    if (beta != 1)
        x = tdl_builder_linear(im->builder, x, beta, 0);
    return x && tflite_give(im, op, tdl_builder_softmax(im->builder, x, params.axes[0]));
}

const struct tflite_op_row tflite_rows_reduce[] = {
    TFLITE_OP(ARG_MAX, 3, 2, 2, add_arg, .options = TFLITE_ARG_MAX_OPTIONS),
    TFLITE_OP(ARG_MIN, 3, 2, 2, add_arg, .options = TFLITE_ARG_MIN_OPTIONS),
    TFLITE_OP(CUMSUM, 1, 2, 2, add_cumulative_sum, .options = TFLITE_CUMSUM_OPTIONS),
    TFLITE_OP(L2_NORMALIZATION, 2, 1, 1, add_l2_normalization, .options = TFLITE_L2_NORM_OPTIONS),
    TFLITE_OP(LOG_SOFTMAX, 2, 1, 1, add_softmax),
    TFLITE_OP(MEAN, 3, 2, 2, add_reduce, .options = TFLITE_REDUCER_OPTIONS,
              .detail = TDL_REDUCE_MEAN),
    TFLITE_OP(REDUCE_ALL, 1, 2, 2, add_reduce, .options = TFLITE_REDUCER_OPTIONS,
              .detail = TDL_REDUCE_MIN),
    TFLITE_OP(REDUCE_ANY, 1, 2, 2, add_reduce, .options = TFLITE_REDUCER_OPTIONS,
              .detail = TDL_REDUCE_MAX),
    TFLITE_OP(REDUCE_MAX, 3, 2, 2, add_reduce, .options = TFLITE_REDUCER_OPTIONS,
              .detail = TDL_REDUCE_MAX),
    TFLITE_OP(REDUCE_MIN, 3, 2, 2, add_reduce, .options = TFLITE_REDUCER_OPTIONS,
              .detail = TDL_REDUCE_MIN),
    TFLITE_OP(REDUCE_PROD, 2, 2, 2, add_reduce, .options = TFLITE_REDUCER_OPTIONS,
              .detail = TDL_REDUCE_PRODUCT),
    TFLITE_OP(SOFTMAX, 3, 1, 1, add_softmax, .options = TFLITE_SOFTMAX_OPTIONS),
    TFLITE_OP(SUM, 2, 2, 2, add_reduce, .options = TFLITE_REDUCER_OPTIONS,
              .detail = TDL_REDUCE_SUM),
    {0},
};
