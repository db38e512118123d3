/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* TensorFlow Lite's operators that give elements another shape, or repeat them. */
#include "ops.h"

#include <math.h>
#include <string.h>

/* Sizes of which one may be -1: what the others leave of `count` elements. */
static bool resolve_shape(struct tflite_import *im, uint64_t count, const int64_t *sizes,
                          uint32_t rank, uint32_t *out)
{
    uint64_t product = 1;
    int rest = -1;

    for (uint32_t i = 0; i < rank; i++) {
        if (sizes[i] == -1 && rest < 0)
            rest = (int)i;
        else if (sizes[i] < 1 || sizes[i] > INT32_MAX)
            return tdl_kit_damaged(&im->kit, "a shape with size %lld in dimension %u",
                                   (long long)sizes[i], i);
        else if ((product *= (uint64_t)sizes[i]) > count)
            break;
        out[i] = (uint32_t)sizes[i];
    }
    if (product > count || count % product != 0 || (rest < 0 && product != count))
        return tdl_kit_damaged(&im->kit, "a shape of %llu elements for an input of %llu",
                               (unsigned long long)product, (unsigned long long)count);
    if (rest >= 0)
        out[rest] = (uint32_t)(count / product);
    return true;
}

/* A known shape as input 1, or the one in the options; else false without an error. */
static bool read_new_shape(struct tflite_import *im, const struct tflite_op *op, int64_t *sizes,
                           uint32_t *out_rank)
{
    const struct tdl_fb_vector list =
        tdl_fb_vector_of(&im->fb, &op->options, TFLITE_RESHAPE_NEW_SHAPE, 4);
    struct tflite_known known;

    if (op->input_count > 1 && tflite_get_known(im, op->inputs[1], &known) &&
        known.count <= TDL_MAX_RANK) {
        for (uint32_t i = 0; i < known.count; i++)
            sizes[i] = known.numbers[i];
        *out_rank = known.count;
        return true;
    }
    if (op->input_count > 1 || !list.present || list.count > TDL_MAX_RANK)
        return false;
    for (uint32_t i = 0; i < list.count; i++)
        sizes[i] = tdl_fb_vector_i32(&im->fb, &list, i);
    *out_rank = list.count;
    return true;
}

/* To the known shape, or else to what the file says of the output. */
static bool add_reshape(struct tflite_import *im, const struct tflite_op *op)
{
    struct tdl_operand *x = tflite_operand(im, op->inputs[0]);
    const struct tdl_tensor_params *in = tdl_kit_desc(x);
    uint32_t shape[TDL_MAX_RANK], rank;
    int64_t sizes[TDL_MAX_RANK];
    struct tflite_tensor result;
    uint64_t count = 1;

    if (!x || !tflite_get_tensor(im, op->outputs[0], &result))
        return false;
    for (uint32_t i = 0; i < in->rank; i++)
        count *= in->shape[i];
    if (!read_new_shape(im, op, sizes, &rank)) {
        rank = result.rank;
        for (uint32_t i = 0; i < rank; i++)
            sizes[i] = (int32_t)result.shape[i];
    }
    return tflite_check(im) && resolve_shape(im, count, sizes, rank, shape) &&
           tflite_give(im, op, tdl_builder_reshape(im->builder, x, rank, shape));
}

static bool add_squeeze(struct tflite_import *im, const struct tflite_op *op)
{
    struct tdl_operand *x = tflite_operand(im, op->inputs[0]);
    const struct tdl_fb_vector axes =
        tdl_fb_vector_of(&im->fb, &op->options, TFLITE_SQUEEZE_DIMS, 4);
    uint32_t shape[TDL_MAX_RANK], rank;
    int64_t list[TDL_MAX_RANK];

    if (!x || !tflite_check(im))
        return false;
    if (axes.count > TDL_MAX_RANK)
        return tdl_kit_damaged(&im->kit, "%u axes of %u dimensions", axes.count, tdl_kit_rank(x));
    for (uint32_t i = 0; i < axes.count; i++)
        list[i] = tdl_fb_vector_i32(&im->fb, &axes, i);
    return tflite_check(im) &&
           tdl_kit_squeeze(&im->kit, tdl_kit_desc(x), list, axes.count, shape, &rank) &&
           tflite_give(im, op, tdl_builder_reshape(im->builder, x, rank, shape));
}

static bool add_expand_dims(struct tflite_import *im, const struct tflite_op *op)
{
    struct tdl_operand *x = tflite_operand(im, op->inputs[0]);
    uint32_t shape[TDL_MAX_RANK], along;
    int64_t axis;

    return x && tflite_read_ints(im, op, 1, 1, &axis) &&
           tdl_kit_with(&im->kit, tdl_kit_desc(x), axis, &along, shape) &&
           tflite_give(im, op, tdl_builder_reshape(im->builder, x, tdl_kit_rank(x) + 1, shape));
}

static bool add_tile(struct tflite_import *im, const struct tflite_op *op)
{
    struct tdl_operand *x = tflite_operand(im, op->inputs[0]);
    const uint32_t rank = tdl_kit_rank(x);
    uint32_t repetitions[TDL_MAX_RANK];
    int64_t times[TDL_MAX_RANK];

    if (!x || !tflite_read_ints(im, op, 1, rank, times))
        return false;
    for (uint32_t i = 0; i < rank; i++) {
        if (times[i] < 1)
            return tdl_kit_damaged(&im->kit, "dimension %u %lld times", i, (long long)times[i]);
        repetitions[i] = (uint32_t)times[i];
    }
    return tflite_give(im, op, tdl_builder_tile(im->builder, x, repetitions));
}

/* `x` broadcast to the known shape that input `number` is, or else to what the file says of
 * the output. */
static bool set_expanded(struct tflite_import *im, const struct tflite_op *op,
                         struct tdl_operand *x, uint32_t number)
{
    struct tflite_tensor result;
    struct tflite_known known;
    int64_t sizes[TDL_MAX_RANK];

    if (!x || !tflite_get_tensor(im, op->outputs[0], &result))
        return false;
    if (tflite_get_known(im, op->inputs[number], &known)) {
        if (!tflite_read_list(im, op, number, TDL_MAX_RANK, sizes, &result.rank))
            return false;
        for (uint32_t i = 0; i < result.rank; i++) {
            if (sizes[i] < 1)
                return tdl_kit_damaged(&im->kit, "a shape with size %lld in dimension %u",
                                       (long long)sizes[i], i);
            result.shape[i] = (uint32_t)sizes[i];
        }
    }
    return tflite_give(im, op, tdl_builder_expand(im->builder, x, result.rank, result.shape));
}

static bool add_broadcast_to(struct tflite_import *im, const struct tflite_op *op)
{
    return set_expanded(im, op, tflite_operand(im, op->inputs[0]), 1);
}

/* The shape that two shapes broadcast to. */
static bool add_broadcast_args(struct tflite_import *im, const struct tflite_op *op)
{
    int64_t lists[2][TDL_MAX_RANK];
    int32_t shape[TDL_MAX_RANK];
    struct tdl_operand *result;
    struct tflite_tensor out;
    uint32_t counts[2];

    for (uint32_t i = 0; i < 2; i++)
        if (!tflite_read_list(im, op, i, TDL_MAX_RANK, lists[i], &counts[i]))
            return false;
    const uint32_t rank = counts[0] > counts[1] ? counts[0] : counts[1];
    for (uint32_t i = 0; i < rank; i++) { /* from the last on */
        const int64_t a = i < counts[0] ? lists[0][counts[0] - 1 - i] : 1;
        const int64_t b = i < counts[1] ? lists[1][counts[1] - 1 - i] : 1;

        if (a != b && a != 1 && b != 1)
            return tdl_kit_damaged(&im->kit, "sizes %lld and %lld do not broadcast", (long long)a,
                                   (long long)b);
        shape[rank - 1 - i] = (int32_t)(a == 1 ? b : a);
    }
    if (rank == 0 || !tflite_get_tensor(im, op->outputs[0], &out))
        return rank == 0 && tdl_kit_lacks(&im->kit, "the shape of a scalar has no elements");
    result = tdl_kit_int_list(&im->kit, shape, rank);
    if (result && out.type == TFLITE_INT64)
        result = tdl_builder_cast(im->builder, result, TDL_INT64);
    return tflite_give(im, op, result);
}

static bool add_fill(struct tflite_import *im, const struct tflite_op *op)
{
    return set_expanded(im, op, tflite_operand(im, op->inputs[1]), 0);
}

static bool add_zeros_like(struct tflite_import *im, const struct tflite_op *op)
{
    struct tdl_operand *x = tflite_operand(im, op->inputs[0]), *zero;
    const struct tdl_tensor_params *in = tdl_kit_desc(x);

    zero = x ? tflite_zero(im, in->dtype) : NULL;
    return zero && tflite_give(im, op, tdl_builder_expand(im->builder, zero, in->rank, in->shape));
}

/* SHAPE, and RANK. */
static bool add_shape(struct tflite_import *im, const struct tflite_op *op)
{
    const struct tdl_operand *x = tflite_operand(im, op->inputs[0]);
    const struct tdl_tensor_params *in = tdl_kit_desc(x);
    const bool rank = op->row->code == TFLITE_RANK;
    struct tflite_tensor result;
    struct tdl_operand *list;
    int32_t sizes[TDL_MAX_RANK];

    if (!x || !tflite_get_tensor(im, op->outputs[0], &result))
        return false;
    if (!rank && in->rank == 0)
        return tdl_kit_lacks(&im->kit, "the shape of a scalar has no elements");
    for (uint32_t i = 0; i < in->rank; i++)
        sizes[i] = (int32_t)in->shape[i];
    list = rank ? tdl_kit_number(&im->kit, TDL_INT32, in->rank)
                : tdl_kit_int_list(&im->kit, sizes, in->rank);
    if (list && result.type == TFLITE_INT64)
        list = tdl_builder_cast(im->builder, list, TDL_INT64);
    return tflite_give(im, op, list);
}

#define MAX_RANGE 65536

/* From known numbers: how many there are is a size. */
static bool add_range(struct tflite_import *im, const struct tflite_op *op)
{
    static const char *const names[] = {"the start", "the limit", "the step"};
    struct tdl_operand *x = NULL, *list;
    double in[3], count; /* start, limit, step */
    uint32_t got;

    for (uint32_t i = 0; i < 3; i++)
        if (!(x = tflite_operand(im, op->inputs[i])) ||
            !tdl_kit_floats(&im->kit, x, names[i], &in[i], 1, &got))
            return false;
    count = in[2] != 0 ? ceil((in[1] - in[0]) / in[2]) : 0;
    if (!(count >= 1 && count <= MAX_RANGE))
        return tdl_kit_lacks(&im->kit,
                             "a range from %g to %g by steps of %g; libtdl has those of "
                             "1 to %d numbers",
                             in[0], in[1], in[2], MAX_RANGE);
    const enum tdl_dtype dtype = tdl_kit_desc(x)->dtype;
    list = tdl_kit_range(&im->kit, dtype, (uint32_t)count, in[0], in[2]);
    if (list && tdl_kit_desc(list)->dtype != dtype)
        list = tdl_builder_cast(im->builder, list, dtype);
    return tflite_give(im, op, list);
}

const struct tflite_op_row tflite_rows_shape[] = {
    TFLITE_OP(BROADCAST_ARGS, 1, 2, 2, add_broadcast_args),
    TFLITE_OP(BROADCAST_TO, 3, 2, 2, add_broadcast_to),
    TFLITE_OP(EXPAND_DIMS, 1, 2, 2, add_expand_dims),
    TFLITE_OP(FILL, 4, 2, 2, add_fill),
    TFLITE_OP(RANGE, 2, 3, 3, add_range),
    TFLITE_OP(RANK, 1, 1, 1, add_shape),
    TFLITE_OP(RESHAPE, 1, 1, 2, add_reshape, .options = TFLITE_RESHAPE_OPTIONS),
    TFLITE_OP(SHAPE, 1, 1, 1, add_shape),
    TFLITE_OP(SQUEEZE, 2, 1, 1, add_squeeze, .options = TFLITE_SQUEEZE_OPTIONS),
    TFLITE_OP(TILE, 3, 2, 2, add_tile),
    TFLITE_OP(ZEROS_LIKE, 1, 1, 1, add_zeros_like),
    {0},
};
