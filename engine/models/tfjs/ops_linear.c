/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* TensorFlow.js's matrices, reductions and what looks along axes. */
#include "windows.h"

#include <string.h>

/* -------------------------------------------------------------------- matrices */

/* A product of integers is exact where there is nothing to add up, as in tables of
 * places. */
static struct tdl_operand *integer_product(struct tfjs_import *im, struct tdl_operand *a,
                                           struct tdl_operand *b)
{
    const struct tdl_tensor_params *p = tdl_kit_desc(a), *q = tdl_kit_desc(b);
    struct tdl_builder *builder = im->builder;
    struct tdl_operand *product;

    if (p->rank == 2 && q->rank == 2 && p->shape[1] == 1 && q->shape[0] == 1)
        return tdl_builder_mul(builder, a, b);
    product = tdl_builder_matmul(builder, tdl_builder_cast(builder, a, TDL_FLOAT32),
                                 tdl_builder_cast(builder, b, TDL_FLOAT32));
    return product ? tdl_builder_cast(builder, product, p->dtype) : NULL;
}

/* With a bias of one row and an activation; of rank 2, which TensorFlow.js asks for. */
static bool add_product(struct tfjs_import *im)
{
    struct tdl_operand *a = tfjs_operand(im, 0), *b = a ? tfjs_operand(im, 1) : NULL;
    struct tdl_gemm_params params = {0};
    struct tfjs_fused fused;

    if (!b || !tfjs_read_fused(im, 2, &fused))
        return false;
    if (tdl_kit_desc(a)->dtype != TDL_FLOAT32 && !tfjs_bool(im, "transpose_a") &&
        !tfjs_bool(im, "transpose_b") && im->node->data_inputs == 2)
        return tfjs_give(im, integer_product(im, a, b));
    params.a_transpose = tfjs_bool(im, "transpose_a");
    params.b_transpose = tfjs_bool(im, "transpose_b");
    params.c = fused.bias;
    params.activation = fused.activation;
    return tfjs_give(im,
                     tfjs_finish_fused(im, &fused, tdl_builder_gemm(im->builder, a, b, &params)));
}

/* The matrices of the last two dimensions, turned over. */
static struct tdl_operand *turn(struct tfjs_import *im, struct tdl_operand *x)
{
    uint32_t order[TDL_MAX_RANK], rank = tdl_kit_rank(x);

    if (rank < 2)
        return x;
    for (uint32_t d = 0; d < rank; d++)
        order[d] = d;
    order[rank - 2] = rank - 1;
    order[rank - 1] = rank - 2;
    return tdl_builder_transpose(im->builder, x, order);
}

static bool add_matmul(struct tfjs_import *im)
{
    struct tdl_operand *a = tfjs_operand(im, 0), *b = a ? tfjs_operand(im, 1) : NULL;

    if (!b)
        return false;
    if (tfjs_bool(im, "adj_x"))
        a = turn(im, a);
    if (tfjs_bool(im, "adj_y"))
        b = turn(im, b);
    return a && b && tfjs_give(im, tdl_builder_matmul(im->builder, a, b));
}

/* ------------------------------------------------------------------ reductions */

static bool read_axes(struct tfjs_import *im, uint32_t rank, struct tdl_reduce_params *params)
{
    int64_t axes[TDL_MAX_RANK];
    uint32_t count;

    return tfjs_ints(im, 1, axes, TDL_MAX_RANK, &count) &&
           tdl_kit_reduce_axes(&im->kit, axes, count, rank, params);
}

/* A picture's mean over height and width has kernels of its own. */
static struct tdl_operand *reduce(struct tfjs_import *im, struct tdl_operand *x,
                                  const struct tdl_reduce_params *params)
{
    const struct tdl_tensor_params *p = tdl_kit_desc(x);
    const uint32_t flat[] = {p->shape[0], p->shape[3]};

    if (im->row->detail != TDL_REDUCE_MEAN || p->rank != 4 || p->dtype != TDL_FLOAT32 ||
        params->axis_count != 2 || params->axes[0] + params->axes[1] != 3 ||
        params->axes[0] * params->axes[1] != 2)
        return tdl_builder_reduce(im->builder, x, (enum tdl_reduction)im->row->detail, params);
    x = tdl_builder_global_average_pool(im->builder, x);
    return params->keep_dimensions ? x : tfjs_reshape(im, x, 2, flat);
}

/* An empty reduction: no sum, and a product of 1. */
static bool reduce_empty(struct tfjs_import *im)
{
    const struct tfjs_value *v = tfjs_in_value(im, 0);
    const int32_t detail = im->row->detail;

    if (v->empty.rank != 1 || (detail != TDL_REDUCE_PRODUCT && detail != TDL_REDUCE_SUM))
        return tdl_kit_lacks(&im->kit, "input 0 has no elements");
    return tfjs_give(im, tdl_kit_number(&im->kit, v->empty.dtype, detail == TDL_REDUCE_PRODUCT));
}

static bool add_reduce(struct tfjs_import *im)
{
    struct tdl_reduce_params params = {.keep_dimensions = tfjs_bool(im, "keep_dims")};
    struct tdl_operand *x;

    if (tfjs_is_empty(im, 0))
        return reduce_empty(im);
    x = tfjs_operand(im, 0);
    if (!x || !read_axes(im, tdl_kit_rank(x), &params))
        return false;
    if (params.axis_count == 0)
        return tfjs_give(im, x);
    return tfjs_give(im, reduce(im, x, &params));
}

static bool add_arg(struct tfjs_import *im)
{
    const struct tdl_arg_min_max_params params = {.output_dtype = TDL_INT32};
    struct tdl_operand *x = tfjs_operand(im, 0);
    uint32_t axis;
    int64_t said;

    return x && tfjs_int_at(im, 1, &said) && tdl_kit_axis(&im->kit, said, tdl_kit_rank(x), &axis) &&
           tfjs_give(im, (im->row->detail ? tdl_builder_arg_max
                                          : tdl_builder_arg_min)(im->builder, x, axis, &params));
}

static bool add_softmax(struct tfjs_import *im)
{
    struct tdl_operand *x = tfjs_operand(im, 0);

    if (!x)
        return false;
    if (tdl_kit_rank(x) == 0)
        return tdl_kit_damaged(&im->kit, "of a single number");
    x = tdl_builder_softmax(im->builder, x, tdl_kit_rank(x) - 1);
    return tfjs_give(im, im->row->detail && x ? tdl_builder_log(im->builder, x) : x);
}

static bool add_cumulative(struct tfjs_import *im)
{
    const struct tdl_cumulative_sum_params params = {.exclusive = tfjs_bool(im, "exclusive"),
                                                     .reversed = tfjs_bool(im, "reverse")};
    struct tdl_operand *x = tfjs_operand(im, 0);
    uint32_t axis;
    int64_t said;

    return x && tfjs_int_at(im, 1, &said) && tdl_kit_axis(&im->kit, said, tdl_kit_rank(x), &axis) &&
           tfjs_give(im, tdl_builder_cumulative_sum(im->builder, x, axis, &params));
}

const struct tfjs_row tfjs_rows_linear[] = {
    {"All", 2, 2, add_reduce, .detail = TDL_REDUCE_MIN},
    {"Any", 2, 2, add_reduce, .detail = TDL_REDUCE_MAX},
    {"ArgMax", 2, 2, add_arg, .detail = 1},
    {"ArgMin", 2, 2, add_arg},
    {"BatchMatMul", 2, 2, add_matmul},
    {"BatchMatMulV2", 2, 2, add_matmul},
    {"Cumsum", 2, 2, add_cumulative},
    {"LogSoftmax", 1, 1, add_softmax, .detail = 1},
    {"MatMul", 2, 2, add_product},
    {"Max", 2, 2, add_reduce, .detail = TDL_REDUCE_MAX},
    {"Mean", 2, 2, add_reduce, .detail = TDL_REDUCE_MEAN},
    {"Min", 2, 2, add_reduce, .detail = TDL_REDUCE_MIN},
    {"Prod", 2, 2, add_reduce, .detail = TDL_REDUCE_PRODUCT},
    {"Softmax", 1, 1, add_softmax},
    {"Sum", 2, 2, add_reduce, .detail = TDL_REDUCE_SUM},
    {"_FusedMatMul", 2, 4, add_product},
    {0},
};
