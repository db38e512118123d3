/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* ONNX's matrices, reductions and what else works along axes. */
#include "onnx.h"

#include <string.h>

/* ------------------------------------------------------------------- matrices */

static bool add_gemm(struct onnx_import *im)
{
    struct tdl_operand *a = onnx_operand(im, 0), *b = a ? onnx_operand(im, 1) : NULL;
    const float alpha = onnx_float(im, "alpha", 1), beta = onnx_float(im, "beta", 1);
    struct tdl_gemm_params p = {
        .alpha = alpha,
        .beta = beta,
        .a_transpose = onnx_int(im, "transA", 0) != 0,
        .b_transpose = onnx_int(im, "transB", 0) != 0,
    };

    if (!b || (beta != 0 && !onnx_optional(im, 2, &p.c)))
        return false;
    if (alpha == 0) /* for the builder, 0 is 1 */
        a = tdl_builder_mul(im->builder, a, tdl_kit_like(&im->kit, a, 0));
    return onnx_give(im, tdl_builder_gemm(im->builder, a, b, &p));
}

/* A vector on the left is a row, on the right a column, and the result loses that
 * dimension again. */
static bool add_matmul(struct onnx_import *im)
{
    struct tdl_operand *a = onnx_operand(im, 0), *b = a ? onnx_operand(im, 1) : NULL, *y;
    uint32_t shape[TDL_MAX_RANK], rank = 0;

    if (!b)
        return false;
    const bool row = tdl_kit_rank(a) == 1, column = tdl_kit_rank(b) == 1;
    if (row)
        a = onnx_reshape(im, a, 2, (const uint32_t[]){1, tdl_kit_shape(a)[0]});
    if (column)
        b = onnx_reshape(im, b, 2, (const uint32_t[]){tdl_kit_shape(b)[0], 1});
    y = tdl_builder_matmul(im->builder, a, b);
    if (!y || (!row && !column))
        return onnx_give(im, y);
    for (uint32_t i = 0; i < tdl_kit_rank(y); i++)
        if (!(row && i + 2 == tdl_kit_rank(y)) && !(column && i + 1 == tdl_kit_rank(y)))
            shape[rank++] = tdl_kit_shape(y)[i];
    return onnx_give(im, onnx_reshape(im, y, rank, shape));
}

/* -------------------------------------------------------------------- softmax */

/* Up to opset 12 all dimensions from the axis on are one. Returns x in the shape to
 * work on, and the axis there. */
static struct tdl_operand *take_axis(struct onnx_import *im, uint32_t *axis)
{
    struct tdl_operand *x = onnx_operand(im, 0);
    const bool old = im->opset < 13;

    if (!x || !tdl_kit_axis(&im->kit, onnx_int(im, "axis", old ? 1 : -1), tdl_kit_rank(x), axis))
        return NULL;
    if (!old || *axis + 1 == tdl_kit_rank(x))
        return x;
    x = tdl_builder_flatten(im->builder, x, *axis);
    *axis = 1;
    return x;
}

static bool add_softmax(struct onnx_import *im)
{
    uint32_t axis;
    struct tdl_operand *x = take_axis(im, &axis);

    return x && onnx_give_like_input(im, tdl_builder_softmax(im->builder, x, axis));
}

/* x − ln Σ eˣ */
static bool add_log_softmax(struct onnx_import *im)
{
    uint32_t axis;
    struct tdl_operand *x = take_axis(im, &axis);

    if (!x)
        return false;
    const struct tdl_reduce_params p = {{axis}, 1, .keep_dimensions = true};
    return onnx_give_like_input(
        im, tdl_builder_sub(im->builder, x,
                            tdl_builder_reduce(im->builder, x, TDL_REDUCE_LOG_SUM_EXP, &p)));
}

/* `indices` with a dimension of `depth` in place of 1 at the axis: where it counts to
 * the index, 1. */
static struct tdl_operand *one_hot(struct onnx_import *im, struct tdl_operand *indices,
                                   uint32_t axis, uint32_t depth)
{
    uint32_t shape[TDL_MAX_RANK];
    struct tdl_operand *count;

    for (uint32_t i = 0; i < tdl_kit_rank(indices); i++)
        shape[i] = i == axis ? depth : 1;
    count = onnx_sequence(im, tdl_kit_desc(indices)->dtype, depth, 0, 1);
    if (count)
        count = onnx_reshape(im, count, tdl_kit_rank(indices), shape);
    return tdl_builder_equal(im->builder, indices, count);
}

/* 1 at the first largest element, else 0. */
static bool add_hardmax(struct onnx_import *im)
{
    uint32_t axis;
    struct tdl_operand *x = take_axis(im, &axis), *y;

    if (!x)
        return false;
    y = tdl_builder_arg_max(im->builder, x, axis,
                            &(struct tdl_arg_min_max_params){.keep_dimensions = true});
    if (y)
        y = one_hot(im, y, axis, tdl_kit_shape(x)[axis]);
    return onnx_give_like_input(im, tdl_builder_cast(im->builder, y, tdl_kit_desc(x)->dtype));
}

/* One of two values; indices may count from the end, and those outside are nowhere. */
static bool add_one_hot(struct onnx_import *im)
{
    struct tdl_builder *b = im->builder;
    struct tdl_operand *indices = onnx_operand(im, 0), *values, *off, *on, *y;
    uint32_t axis, count, shape[TDL_MAX_RANK], rank;
    double depth;

    if (!indices || !onnx_floats(im, 1, &depth, 1, &count) || !(values = onnx_operand(im, 2)))
        return false;
    rank = tdl_kit_rank(indices) + 1;
    if (rank > TDL_MAX_RANK || !(depth >= 1 && depth <= 1 << 20))
        return tdl_kit_lacks(&im->kit, "%u dimensions with a depth of %g", rank, depth);
    if (!tdl_kit_axis(&im->kit, onnx_int(im, "axis", -1), rank, &axis))
        return false;
    for (uint32_t i = 0, from = 0; i < rank; i++)
        shape[i] = i == axis ? 1 : tdl_kit_shape(indices)[from++];
    indices = onnx_reshape(im, tdl_builder_cast(b, indices, TDL_INT32), rank, shape);
    struct tdl_operand *zero = tdl_kit_number(&im->kit, TDL_INT32, 0);
    struct tdl_operand *wrapped =
        tdl_builder_add(b, indices, tdl_kit_number(&im->kit, TDL_INT32, depth));
    indices = tdl_builder_where(b, tdl_builder_lesser(b, indices, zero), wrapped, indices);
    if (!indices)
        return false;
    y = one_hot(im, indices, axis, (uint32_t)depth);
    off = tdl_builder_slice(b, values, &(struct tdl_slice_params){.size = {1}});
    on = tdl_builder_slice(b, values, &(struct tdl_slice_params){.start = {1}, .size = {1}});
    return onnx_give(im, tdl_builder_where(b, y, on, off));
}

/* ------------------------------------------------------------------ reductions */

static bool add_arg(struct onnx_import *im)
{
    struct tdl_operand *x = onnx_operand(im, 0);
    const bool max = !strcmp(im->node.row->name, "ArgMax");
    const struct tdl_arg_min_max_params p = {
        .keep_dimensions = onnx_int(im, "keepdims", 1) != 0,
        .select_last_index = onnx_int(im, "select_last_index", 0) != 0,
        .output_dtype = TDL_INT64,
    };
    uint32_t axis;

    return x && tdl_kit_axis(&im->kit, onnx_int(im, "axis", 0), tdl_kit_rank(x), &axis) &&
           onnx_give(im,
                     (max ? tdl_builder_arg_max : tdl_builder_arg_min)(im->builder, x, axis, &p));
}

/* Without axes it is all, or, on request, none: then each element is reduced alone. */
static bool add_reduce(struct onnx_import *im)
{
    struct tdl_operand *x = onnx_operand(im, 0);
    struct tdl_reduce_params p = {.keep_dimensions = onnx_int(im, "keepdims", 1) != 0};
    int64_t axes[TDL_MAX_RANK];
    uint32_t count;

    if (!x || !onnx_ints_of(im, "axes", 1, axes, TDL_MAX_RANK, &count))
        return false;
    if (count == 0 && onnx_int(im, "noop_with_empty_axes", 0))
        return onnx_give(im, x);
    if (!tdl_kit_reduce_axes(&im->kit, axes, count, tdl_kit_rank(x), &p))
        return false;
    if (tdl_kit_rank(x) == 0) /* one number is its own sum */
        return onnx_give(im, x);
    return onnx_give(
        im, tdl_builder_reduce(im->builder, x, (enum tdl_reduction)im->node.row->detail, &p));
}

static bool add_cumsum(struct onnx_import *im)
{
    struct tdl_operand *x = onnx_operand(im, 0);
    int64_t number;
    uint32_t axis, count;

    return x && onnx_ints(im, 1, &number, 1, &count) &&
           tdl_kit_axis(&im->kit, number, tdl_kit_rank(x), &axis) &&
           onnx_give(im,
                     tdl_builder_cumulative_sum(im->builder, x, axis,
                                                &(struct tdl_cumulative_sum_params){
                                                    .exclusive = onnx_int(im, "exclusive", 0) != 0,
                                                    .reversed = onnx_int(im, "reverse", 0) != 0,
                                                }));
}

static bool add_trilu(struct onnx_import *im)
{
    struct tdl_operand *x = onnx_operand(im, 0);
    int64_t k = 0;
    uint32_t count;

    if (!x || (onnx_given(im, 1) && !onnx_ints(im, 1, &k, 1, &count)))
        return false;
    k = k > INT32_MAX ? INT32_MAX : k < -INT32_MAX ? -INT32_MAX : k;
    return onnx_give(im, tdl_builder_triangular(im->builder, x,
                                                &(struct tdl_triangular_params){
                                                    .lower = !onnx_int(im, "upper", 1),
                                                    .diagonal = (int32_t)k,
                                                }));
}

const struct onnx_row onnx_rows_linear[] = {
    {"ArgMax", 1, 1, add_arg},
    {"ArgMin", 1, 1, add_arg},
    {"CumSum", 2, 2, add_cumsum},
    {"Einsum", 1, TDL_KIT_MANY, onnx_add_einsum},
    {"Gemm", 2, 3, add_gemm},
    {"Hardmax", 1, 1, add_hardmax},
    {"LogSoftmax", 1, 1, add_log_softmax},
    {"MatMul", 2, 2, add_matmul},
    {"OneHot", 3, 3, add_one_hot},
    {"ReduceL1", 1, 2, add_reduce, .detail = TDL_REDUCE_L1},
    {"ReduceL2", 1, 2, add_reduce, .detail = TDL_REDUCE_L2},
    {"ReduceLogSum", 1, 2, add_reduce, .detail = TDL_REDUCE_LOG_SUM},
    {"ReduceLogSumExp", 1, 2, add_reduce, .detail = TDL_REDUCE_LOG_SUM_EXP},
    {"ReduceMax", 1, 2, add_reduce, .detail = TDL_REDUCE_MAX},
    {"ReduceMean", 1, 2, add_reduce, .detail = TDL_REDUCE_MEAN},
    {"ReduceMin", 1, 2, add_reduce, .detail = TDL_REDUCE_MIN},
    {"ReduceProd", 1, 2, add_reduce, .detail = TDL_REDUCE_PRODUCT},
    {"ReduceSum", 1, 2, add_reduce, .detail = TDL_REDUCE_SUM},
    {"ReduceSumSquare", 1, 2, add_reduce, .detail = TDL_REDUCE_SUM_SQUARE},
    {"Softmax", 1, 1, add_softmax},
    {"Trilu", 1, 2, add_trilu},
    {0},
};
