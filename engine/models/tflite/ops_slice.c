/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* TensorFlow Lite's operators that take parts of tensors. */
#include "ops.h"

#include <stdlib.h>
#include <string.h>

/* A size of -1 goes to the end. */
static bool add_slice(struct tflite_import *im, const struct tflite_op *op)
{
    struct tdl_slice_params params = {0};
    struct tdl_operand *input = tflite_operand(im, op->inputs[0]);
    const uint32_t rank = tdl_kit_rank(input);
    int64_t start[TDL_MAX_RANK], size[TDL_MAX_RANK];

    if (!input || !tflite_read_ints(im, op, 1, rank, start) ||
        !tflite_read_ints(im, op, 2, rank, size))
        return false;
    for (uint32_t i = 0; i < rank; i++) {
        if (start[i] < 0 || size[i] < -1 || size[i] == 0)
            return tdl_kit_damaged(&im->kit, "%lld elements from %lld on in dimension %u",
                                   (long long)size[i], (long long)start[i], i);
        params.start[i] = (uint32_t)start[i];
        params.size[i] = size[i] < 0 ? 0 : (uint32_t)size[i];
    }
    return tflite_give(im, op, tdl_builder_slice(im->builder, input, &params));
}

/* --------------------------------------------------------------- STRIDED_SLICE */

static bool read_entries(struct tflite_import *im, const struct tflite_op *op,
                         struct tdl_kit_places *e)
{
    static const uint32_t fields[] = {TFLITE_STRIDED_BEGIN, TFLITE_STRIDED_END,
                                      TFLITE_STRIDED_ELLIPSIS, TFLITE_STRIDED_NEW_AXIS,
                                      TFLITE_STRIDED_SHRINK};
    uint32_t *masks[] = {&e->begin_mask, &e->end_mask, &e->ellipsis, &e->new_axis, &e->shrink};

    for (uint32_t i = 0; i < 5; i++)
        *masks[i] = (uint32_t)tdl_fb_i32(&im->fb, &op->options, fields[i], 0);
    if (tdl_fb_u8(&im->fb, &op->options, TFLITE_STRIDED_OFFSET, 0))
        return tdl_kit_refuse(&im->kit,
                              "ends that count from the begin are not supported; convert the model "
                              "with an older TensorFlow");
    return tflite_check(im) && tflite_read_list(im, op, 1, 2 * TDL_MAX_RANK, e->begin, &e->count) &&
           tflite_read_ints(im, op, 2, e->count, e->end) &&
           tflite_read_ints(im, op, 3, e->count, e->step);
}

static bool add_strided_slice(struct tflite_import *im, const struct tflite_op *op)
{
    struct tdl_operand *x = tflite_operand(im, op->inputs[0]);
    struct tdl_slice_params params = {0};
    struct tdl_kit_places places = {0};
    struct tdl_tensor_params out;

    return x && read_entries(im, op, &places) &&
           tdl_kit_take_places(&im->kit, &places, tdl_kit_desc(x), &params, &out) &&
           tflite_give(im, op, tdl_kit_slice_places(&im->kit, x, &params, &out));
}

/* REVERSE_V2. */
static bool add_reverse(struct tflite_import *im, const struct tflite_op *op)
{
    struct tdl_operand *x = tflite_operand(im, op->inputs[0]);
    int64_t axes[TDL_MAX_RANK];
    uint32_t count, along[TDL_MAX_RANK];

    if (!x || !tflite_read_list(im, op, 1, TDL_MAX_RANK, axes, &count))
        return false;
    if (!tdl_kit_axes(&im->kit, axes, count, tdl_kit_rank(x), along))
        return false;
    return tflite_give(im, op,
                       count ? tdl_builder_reverse(im->builder, x, count, along)
                             : tdl_builder_identity(im->builder, x));
}

/* --------------------------------------------------------------- by an index */

/* After the batch dimensions, which go in step, an index is a tuple of one. */
static struct tdl_operand *gather_in_step(struct tflite_import *im, struct tdl_operand *x,
                                          struct tdl_operand *indices, uint32_t batch)
{
    struct tdl_tensor_params p = *tdl_kit_desc(indices);

    if (p.rank < TDL_MAX_RANK)
        p.shape[p.rank++] = 1;
    return tdl_builder_gather_nd(im->builder, x,
                                 tdl_builder_reshape(im->builder, indices, p.rank, p.shape), batch);
}

static bool add_gather(struct tflite_import *im, const struct tflite_op *op)
{
    const int32_t axis = tdl_fb_i32(&im->fb, &op->options, TFLITE_GATHER_AXIS, 0);
    const int32_t batch = tdl_fb_i32(&im->fb, &op->options, TFLITE_GATHER_BATCH_DIMS, 0);
    struct tdl_operand *x = tflite_operand(im, op->inputs[0]);
    struct tdl_operand *indices = x ? tflite_operand(im, op->inputs[1]) : NULL;
    uint32_t along;

    if (!indices || !tflite_check(im) || !tdl_kit_axis(&im->kit, axis, tdl_kit_rank(x), &along))
        return false;
    if (batch != 0 && batch != (int32_t)along)
        return tdl_kit_lacks(&im->kit,
                             "%d batch dimensions and axis %u are not supported; libtdl has 0, or "
                             "as many as are before the axis",
                             batch, along);
    return tflite_give(im, op,
                       batch ? gather_in_step(im, x, indices, along)
                             : tdl_builder_gather(im->builder, x, indices, along));
}

static bool add_gather_nd(struct tflite_import *im, const struct tflite_op *op)
{
    struct tdl_operand *x = tflite_operand(im, op->inputs[0]);
    struct tdl_operand *indices = x ? tflite_operand(im, op->inputs[1]) : NULL;

    return indices && tflite_give(im, op, tdl_builder_gather_nd(im->builder, x, indices, 0));
}

/* Onto zeros; updates of one place are added. */
static bool add_scatter_nd(struct tflite_import *im, const struct tflite_op *op)
{
    const struct tdl_scatter_params add = {.reduction = TDL_SCATTER_ADD};
    struct tdl_operand *indices = tflite_operand(im, op->inputs[0]), *x;
    struct tdl_operand *updates = indices ? tflite_operand(im, op->inputs[1]) : NULL;
    int64_t list[TDL_MAX_RANK];
    uint32_t shape[TDL_MAX_RANK], rank;

    if (!updates || !tflite_read_list(im, op, 2, TDL_MAX_RANK, list, &rank))
        return false;
    for (uint32_t i = 0; i < rank; i++) {
        if (list[i] < 1)
            return tdl_kit_lacks(&im->kit, "a result of %lld elements in dimension %u",
                                 (long long)list[i], i);
        shape[i] = (uint32_t)list[i];
    }
    x = tflite_zero(im, tdl_kit_desc(updates)->dtype);
    x = x ? tdl_builder_expand(im->builder, x, rank, shape) : NULL;
    return x && tflite_give(im, op, tdl_builder_scatter_nd(im->builder, x, indices, updates, &add));
}

/* The largest along the last dimension, and where they are. */
static bool add_top_k(struct tflite_import *im, const struct tflite_op *op)
{
    struct tdl_operand *x = tflite_operand(im, op->inputs[0]), *indices;
    const uint32_t rank = tdl_kit_rank(x);
    int64_t k;

    if (!x || !tflite_read_ints(im, op, 1, 1, &k))
        return false;
    if (rank < 1 || k < 1)
        return tdl_kit_lacks(&im->kit, "the %lld largest of %u dimensions", (long long)k, rank);
    indices = tdl_builder_top_k(im->builder, x, rank - 1,
                                &(struct tdl_top_k_params){.count = (uint32_t)k});
    if (!indices ||
        !tflite_give_at(im, op, 0, tdl_builder_gather_elements(im->builder, x, indices, rank - 1)))
        return false;
    return op->output_count < 2 || tflite_give_at(im, op, 1, indices);
}

#define MAX_CLASSES 65536

/* 0, 1, 2 … along one dimension. */
static struct tdl_operand *count_up(struct tflite_import *im, const struct tdl_tensor_params *desc,
                                    uint32_t count)
{
    const size_t size = count * sizeof(int64_t);
    int64_t *numbers = malloc(size);

    if (!numbers) {
        tdl_kit_fail(&im->kit, TDL_ERROR_OUT_OF_MEMORY, "no memory for %u classes", count);
        return NULL;
    }
    tdl_builder_own(im->builder, numbers, free);
    for (uint32_t i = 0; i < count; i++) {
        numbers[i] = i;
        if (desc->dtype == TDL_INT32)
            ((int32_t *)numbers)[i] = (int32_t)i;
    }
    return tdl_builder_constant(im->builder, desc, numbers,
                                desc->dtype == TDL_INT32 ? size / 2 : size);
}

static bool add_one_hot(struct tflite_import *im, const struct tflite_op *op)
{
    const int32_t axis = tdl_fb_i32(&im->fb, &op->options, TFLITE_ONE_HOT_AXIS, 0);
    struct tdl_operand *in[4] = {0}, *classes;
    struct tdl_tensor_params ones = {0};
    uint32_t shape[TDL_MAX_RANK + 1], along;
    int64_t depth;

    for (uint32_t i = 0; i < 4; i++)
        if (i != 1 && !(in[i] = tflite_operand(im, op->inputs[i])))
            return false;
    const struct tdl_tensor_params *x = tdl_kit_desc(in[0]);
    if (!tflite_check(im) || !tflite_read_ints(im, op, 1, 1, &depth) ||
        !tdl_kit_axis(&im->kit, axis, x->rank + 1, &along))
        return false;
    if (depth < 1 || depth > MAX_CLASSES || (x->dtype != TDL_INT32 && x->dtype != TDL_INT64) ||
        x->rank == TDL_MAX_RANK)
        return tdl_kit_lacks(&im->kit, "%lld classes of %s of rank %u", (long long)depth,
                             tdl_dtype_name(x->dtype), x->rank);
    ones = (struct tdl_tensor_params){.dtype = x->dtype, .rank = x->rank + 1};
    for (uint32_t i = 0; i <= x->rank; i++) {
        shape[i] = i < along ? x->shape[i] : i == along ? 1 : x->shape[i - 1];
        ones.shape[i] = i == along ? (uint32_t)depth : 1;
    }
    classes = count_up(im, &ones, (uint32_t)depth);
    in[0] = classes ? tdl_builder_reshape(im->builder, in[0], ones.rank, shape) : NULL;
    in[0] = in[0] ? tdl_builder_equal(im->builder, in[0], classes) : NULL;
    return in[0] && tflite_give(im, op, tdl_builder_where(im->builder, in[0], in[2], in[3]));
}

/* ---------------------------------------------------------- blocks and batches */

/* Borders that stand round the input before, or are cut off after. */
static struct tdl_operand *put_border(struct tflite_import *im, struct tdl_operand *x,
                                      const int64_t *border, uint32_t spatial, bool cut)
{
    const struct tdl_tensor_params *in = tdl_kit_desc(x);
    struct tdl_slice_params slice = {0};
    struct tdl_pad_params pad = {0};

    for (uint32_t i = 0; i < spatial; i++) {
        const int64_t before = border[2 * i], after = border[2 * i + 1];

        if (before < 0 || after < 0 || (cut && before + after >= in->shape[1 + i])) {
            tdl_kit_damaged(&im->kit, "a border of %lld and %lld at %u elements", (long long)before,
                            (long long)after, in->shape[1 + i]);
            return NULL;
        }
        pad.before[1 + i] = slice.start[1 + i] = (uint32_t)before;
        pad.after[1 + i] = (uint32_t)after;
        slice.size[1 + i] = in->shape[1 + i] - (uint32_t)(before + after);
    }
    return cut ? tdl_builder_slice(im->builder, x, &slice) : tdl_builder_pad(im->builder, x, &pad);
}

/* Do blocks divide what they come from? */
static bool check_blocks(struct tflite_import *im, const struct tdl_tensor_params *in,
                         const int64_t *list, uint32_t spatial, bool back, uint32_t *block)
{
    uint64_t blocks = 1;

    for (uint32_t i = 0; i < spatial; i++) {
        if (!tflite_in_step_range(im, "block", list[i], list[i]))
            return false;
        block[i] = (uint32_t)list[i];
        blocks *= block[i];
        if (!back && in->shape[1 + i] % block[i] != 0)
            return tdl_kit_damaged(&im->kit, "blocks of %u do not divide %u", block[i],
                                   in->shape[1 + i]);
    }
    return !back || in->shape[0] % blocks == 0 ||
           tdl_kit_damaged(&im->kit, "%llu blocks do not divide %u images",
                           (unsigned long long)blocks, in->shape[0]);
}

/* SPACE_TO_BATCH_ND and BATCH_TO_SPACE_ND. */
static bool add_batches_of_blocks(struct tflite_import *im, const struct tflite_op *op)
{
    const bool back = op->row->code == TFLITE_BATCH_TO_SPACE_ND;
    int64_t list[TDL_MAX_RANK], border[2 * TDL_MAX_RANK];
    struct tdl_operand *x = tflite_operand(im, op->inputs[0]);
    const struct tdl_tensor_params *in = tdl_kit_desc(x);
    uint32_t block[TDL_MAX_RANK], spatial;

    if (!x || !tflite_read_list(im, op, 1, TDL_MAX_RANK, list, &spatial) ||
        !tflite_read_ints(im, op, 2, 2 * spatial, border))
        return false;
    if (spatial < 1 || in->rank < 1 + spatial || in->rank + spatial > TDL_MAX_RANK)
        return tdl_kit_lacks(&im->kit,
                             "blocks of %u dimensions in %u are not supported; libtdl has those of "
                             "images",
                             spatial, in->rank);
    if (!back && !(x = put_border(im, x, border, spatial, false)))
        return false;
    if (!check_blocks(im, tdl_kit_desc(x), list, spatial, back, block))
        return false;
    x = tdl_kit_exchange_blocks(&im->kit, x, block, spatial, back);
    if (x && back)
        x = put_border(im, x, border, spatial, true);
    return tflite_give(im, op, x);
}

const struct tflite_op_row tflite_rows_slice[] = {
    TFLITE_OP(BATCH_TO_SPACE_ND, 4, 3, 3, add_batches_of_blocks),
    TFLITE_OP(GATHER, 7, 2, 2, add_gather, .options = TFLITE_GATHER_OPTIONS),
    TFLITE_OP(GATHER_ND, 5, 2, 2, add_gather_nd),
    TFLITE_OP(ONE_HOT, 1, 4, 4, add_one_hot, .options = TFLITE_ONE_HOT_OPTIONS),
    TFLITE_OP(REVERSE_V2, 3, 2, 2, add_reverse),
    TFLITE_OP(SCATTER_ND, 1, 3, 3, add_scatter_nd),
    TFLITE_OP(SLICE, 6, 3, 3, add_slice, .options = TFLITE_SLICE_OPTIONS),
    TFLITE_OP(SPACE_TO_BATCH_ND, 4, 3, 3, add_batches_of_blocks),
    TFLITE_OP(STRIDED_SLICE, 8, 4, 4, add_strided_slice, .options = TFLITE_STRIDED_SLICE_OPTIONS),
    TFLITE_OP(TOPK_V2, 3, 2, 2, add_top_k, .outputs = 2),
    {0},
};
