/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* TensorFlow.js's operators that move elements and leave each as it is. */
#include "tfjs.h"

#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------ joined and parted */

/* Collects those of inputs `first` and on that have elements: `count` of them in memory
 * that the builder owns. NULL with the builder in error. */
static struct tdl_operand **read_many(struct tfjs_import *im, uint32_t first, uint32_t end,
                                      uint32_t *out_count)
{
    struct tdl_operand **list = tdl_kit_make(&im->kit, (end - first + 1) * sizeof(*list));

    *out_count = 0;
    for (uint32_t i = first; list && i < end; i++) {
        if (tfjs_is_empty(im, i))
            continue;
        list[*out_count] = tfjs_operand(im, i);
        if (!list[(*out_count)++])
            return NULL;
    }
    return tdl_builder_status(im->builder) == TDL_OK ? list : NULL;
}

/* The axis comes last (ConcatV2) or first (Concat). */
static bool add_concat(struct tfjs_import *im)
{
    const uint32_t last = im->node->data_inputs - 1, first = im->row->detail ? 1 : 0;
    struct tdl_operand **list;
    uint32_t count, axis;
    int64_t said;

    if (!tfjs_int_at(im, im->row->detail ? 0 : last, &said))
        return false;
    list = read_many(im, first, first ? last + 1 : last, &count);
    if (!list)
        return false;
    if (count == 0)
        return tfjs_give_value(im, 0, tfjs_in_value(im, first));
    return tdl_kit_axis(&im->kit, said, tdl_kit_rank(list[0]), &axis) &&
           tfjs_give(im, count == 1 ? list[0] : tdl_builder_concat(im->builder, list, count, axis));
}

static bool add_pack(struct tfjs_import *im)
{
    struct tdl_operand **list;
    uint32_t shape[TDL_MAX_RANK], count, axis = 0;

    list = read_many(im, 0, im->node->data_inputs, &count);

    if (!list)
        return false;
    if (count < im->node->data_inputs)
        return tdl_kit_lacks(&im->kit, "some inputs have no elements");
    for (uint32_t i = 0; i < count; i++) {
        const struct tdl_tensor_params *in = tdl_kit_desc(list[i]);

        if (!tdl_kit_with(&im->kit, in, tfjs_int(im, "axis", 0), &axis, shape) ||
            !(list[i] = tfjs_reshape(im, list[i], in->rank + 1, shape)))
            return false;
    }
    return tfjs_give(im, count == 1 ? list[0] : tdl_builder_concat(im->builder, list, count, axis));
}

/* Equal parts where `sizes` is NULL; without the axis if it is to go. */
static bool give_parts(struct tfjs_import *im, struct tdl_operand *x, uint32_t axis, uint32_t count,
                       const uint32_t *sizes, bool drop)
{
    struct tdl_operand **parts = tdl_kit_make(&im->kit, (count + 1) * sizeof(*parts));
    uint32_t shape[TDL_MAX_RANK];

    if (!parts)
        return false;
    if (count == 1)
        parts[0] = x;
    else if (tdl_builder_split(im->builder, x, count, sizes, axis, parts) != TDL_OK)
        return false;
    const uint32_t rank = tdl_kit_without(tdl_kit_desc(parts[0]), 1u << axis, shape);
    for (uint32_t i = 0; i < count; i++)
        if (!tfjs_give_at(im, i, drop ? tfjs_reshape(im, parts[i], rank, shape) : parts[i]))
            return false;
    return true;
}

static bool add_unpack(struct tfjs_import *im)
{
    struct tdl_operand *x = tfjs_operand(im, 0);
    uint32_t axis;

    return x && tdl_kit_axis(&im->kit, tfjs_int(im, "axis", 0), tdl_kit_rank(x), &axis) &&
           give_parts(im, x, axis, tdl_kit_shape(x)[axis], NULL, true);
}

/* The axis, and the input: the other way round with SplitV. */
static bool add_split(struct tfjs_import *im)
{
    struct tdl_operand *x = tfjs_operand(im, 1);
    const int64_t count = tfjs_int(im, "num_split", 0);
    uint32_t axis;
    int64_t said;

    if (!x || !tfjs_int_at(im, 0, &said) || !tdl_kit_axis(&im->kit, said, tdl_kit_rank(x), &axis))
        return false;
    if (count < 1 || tdl_kit_shape(x)[axis] % count != 0)
        return tdl_kit_damaged(&im->kit, "%lld parts of %u elements", (long long)count,
                               tdl_kit_shape(x)[axis]);
    return give_parts(im, x, axis, (uint32_t)count, NULL, false);
}

static bool add_split_by_sizes(struct tfjs_import *im)
{
    enum { MOST = 256 };
    struct tdl_operand *x = tfjs_operand(im, 0);
    uint32_t axis, count, sizes[MOST];
    int64_t said, list[MOST], rest, open = -1;

    if (!x || !tfjs_ints(im, 1, list, MOST, &count) || !tfjs_int_at(im, 2, &said) ||
        !tdl_kit_axis(&im->kit, said, tdl_kit_rank(x), &axis))
        return false;
    rest = tdl_kit_shape(x)[axis];
    for (uint32_t i = 0; i < count; i++) {
        if (list[i] == -1 && open < 0) {
            open = i;
            continue;
        }
        if (list[i] < 1 || list[i] > rest)
            return tdl_kit_lacks(&im->kit, "a part of %lld elements", (long long)list[i]);
        sizes[i] = (uint32_t)list[i];
        rest -= list[i];
    }
    if (count == 0 || (open >= 0 ? rest < 1 : rest != 0))
        return tdl_kit_damaged(&im->kit, "parts that are not %u elements", tdl_kit_shape(x)[axis]);
    if (open >= 0)
        sizes[open] = (uint32_t)rest;
    return give_parts(im, x, axis, count, sizes, false);
}

/* ----------------------------------------------------------------------- slices */

static bool add_slice(struct tfjs_import *im)
{
    struct tdl_operand *x = tfjs_operand(im, 0);
    int64_t start[TDL_MAX_RANK], size[TDL_MAX_RANK];
    struct tdl_slice_params params = {0};
    uint32_t starts, sizes;

    if (!x || !tfjs_ints(im, 1, start, TDL_MAX_RANK, &starts) ||
        !tfjs_ints(im, 2, size, TDL_MAX_RANK, &sizes))
        return false;
    for (uint32_t d = 0; d < tdl_kit_rank(x); d++) {
        const int64_t all = tdl_kit_shape(x)[d];

        if (starts != tdl_kit_rank(x) || sizes != starts || start[d] < 0 || start[d] >= all ||
            size[d] < -1 || size[d] == 0 || size[d] > all - start[d])
            return tdl_kit_lacks(&im->kit,
                                 "a slice that is not within its %u dimensions, or "
                                 "without elements",
                                 tdl_kit_rank(x));
        params.start[d] = (uint32_t)start[d];
        params.size[d] = (uint32_t)(size[d] < 0 ? all - start[d] : size[d]);
    }
    return tfjs_give(im, tdl_kit_rank(x) ? tdl_builder_slice(im->builder, x, &params) : x);
}

static bool read_entries(struct tfjs_import *im, struct tdl_kit_places *e)
{
    uint32_t ends, steps;

    if (!tfjs_ints(im, 1, e->begin, 2 * TDL_MAX_RANK, &e->count) ||
        !tfjs_ints(im, 2, e->end, 2 * TDL_MAX_RANK, &ends) ||
        !tfjs_ints(im, 3, e->step, 2 * TDL_MAX_RANK, &steps))
        return false;
    e->begin_mask = (uint32_t)tfjs_int(im, "begin_mask", 0);
    e->end_mask = (uint32_t)tfjs_int(im, "end_mask", 0);
    e->ellipsis = (uint32_t)tfjs_int(im, "ellipsis_mask", 0);
    e->new_axis = (uint32_t)tfjs_int(im, "new_axis_mask", 0);
    e->shrink = (uint32_t)tfjs_int(im, "shrink_axis_mask", 0);
    if (ends == e->count && steps == e->count)
        return true;
    return tdl_kit_damaged(&im->kit, "%u begins, %u ends and %u steps", e->count, ends, steps);
}

static bool add_strided_slice(struct tfjs_import *im)
{
    struct tdl_kit_places places = {.may_be_empty = true};
    struct tdl_operand *x = tfjs_operand(im, 0);
    struct tdl_slice_params params = {0};
    struct tdl_tensor_params out;

    if (!x || !read_entries(im, &places) ||
        !tdl_kit_take_places(&im->kit, &places, tdl_kit_desc(x), &params, &out))
        return false;
    for (uint32_t d = 0; d < out.rank; d++)
        if (out.shape[d] == 0)
            return tfjs_give_empty(im, 0, &out);
    return tfjs_give(im, tdl_kit_slice_places(&im->kit, x, &params, &out));
}

/* ------------------------------------------------------------------------ borders */

/* [rank, 2] numbers: before and after each dimension. */
static bool read_borders(struct tfjs_import *im, uint32_t input, uint32_t rank, uint32_t *before,
                         uint32_t *after)
{
    int64_t list[2 * TDL_MAX_RANK];
    uint32_t count;

    if (!tfjs_ints(im, input, list, 2 * TDL_MAX_RANK, &count))
        return false;
    if (count != 2 * rank)
        return tdl_kit_damaged(&im->kit, "%u borders of %u dimensions", count, rank);
    for (uint32_t i = 0; i < count; i++) {
        if (list[i] < 0 || list[i] > INT32_MAX)
            return tdl_kit_damaged(&im->kit, "a border of %lld elements", (long long)list[i]);
        (i % 2 ? after : before)[i / 2] = (uint32_t)list[i];
    }
    return true;
}

static bool add_pad(struct tfjs_import *im)
{
    struct tdl_operand *x = tfjs_operand(im, 0);
    struct tdl_pad_params params = {0};
    uint32_t one = 1;
    char mode[16];

    if (!x || !read_borders(im, 1, tdl_kit_rank(x), params.before, params.after) ||
        (im->node->data_inputs > 2 && !tfjs_floats(im, 2, &params.value, 1, &one)))
        return false;
    if (im->row->detail) {
        tfjs_string(im, "mode", mode, sizeof(mode));
        if (strcmp(mode, "REFLECT") != 0)
            return tdl_kit_lacks(&im->kit,
                                 "a border of mode '%s' is not supported; libtdl has "
                                 "REFLECT",
                                 mode);
        params.mode = TDL_PAD_REFLECTION;
    }
    return tfjs_give(im, tdl_builder_pad(im->builder, x, &params));
}

static bool add_tile(struct tfjs_import *im)
{
    struct tdl_operand *x = tfjs_operand(im, 0);
    uint32_t times[TDL_MAX_RANK], count;

    if (!x || !tfjs_shape_at(im, 1, times, &count))
        return false;
    if (count != tdl_kit_rank(x))
        return tdl_kit_damaged(&im->kit, "%u repetitions of %u dimensions", count, tdl_kit_rank(x));
    return tfjs_give(im, count ? tdl_builder_tile(im->builder, x, times) : x);
}

static bool add_transpose(struct tfjs_import *im)
{
    struct tdl_operand *x = tfjs_operand(im, 0);
    int64_t list[TDL_MAX_RANK];
    uint32_t order[TDL_MAX_RANK], count;

    if (!x || !tfjs_ints(im, 1, list, TDL_MAX_RANK, &count))
        return false;
    if (!tdl_kit_permutation(&im->kit, list, count, tdl_kit_rank(x), order))
        return false;
    return tfjs_give(im, count ? tdl_builder_transpose(im->builder, x, order) : x);
}

static bool add_reverse(struct tfjs_import *im)
{
    struct tdl_operand *x = tfjs_operand(im, 0);
    int64_t list[TDL_MAX_RANK];
    uint32_t axes[TDL_MAX_RANK], count;

    if (!x || !tfjs_ints(im, 1, list, TDL_MAX_RANK, &count))
        return false;
    if (!tdl_kit_axes(&im->kit, list, count, tdl_kit_rank(x), axes))
        return false;
    return tfjs_give(im, count ? tdl_builder_reverse(im->builder, x, count, axes) : x);
}

/* -------------------------------------------------------------- blocks and batches */

/* Blocks, and [spatial, 2] numbers of what stands round them, or is cut off. */
static bool read_blocks(struct tfjs_import *im, uint32_t rank, uint32_t *block,
                        uint32_t *out_spatial, uint32_t *before, uint32_t *after)
{
    if (!tfjs_shape_at(im, 1, block, out_spatial))
        return false;
    for (uint32_t i = 0; i < *out_spatial; i++)
        if (*out_spatial >= rank || block[i] > 64)
            return tdl_kit_lacks(&im->kit, "blocks of %u along %u of %u dimensions", block[i],
                                 *out_spatial, rank);
    return read_borders(im, 2, *out_spatial, before, after);
}

/* Pictures are not moved yet: a convolution may make a dilation of it. */
static bool add_space_to_batch(struct tfjs_import *im)
{
    struct tdl_operand *x = tfjs_operand(im, 0);
    struct tdl_pad_params params = {0};
    uint32_t block[TDL_MAX_RANK], spatial;
    struct tfjs_value value = {0};

    if (!x ||
        !read_blocks(im, tdl_kit_rank(x), block, &spatial, params.before + 1, params.after + 1))
        return false;
    x = tdl_builder_pad(im->builder, x, &params);
    for (uint32_t i = 0; x && i < spatial; i++)
        if (tdl_kit_shape(x)[1 + i] % block[i] != 0)
            return tdl_kit_damaged(&im->kit, "%u elements are no blocks of %u",
                                   tdl_kit_shape(x)[1 + i], block[i]);
    if (!x || tdl_kit_rank(x) != 4 || spatial != 2)
        return x && tfjs_give(im, tdl_kit_exchange_blocks(&im->kit, x, block, spatial, false));
    value.operand = x;
    memcpy(value.block, block, sizeof(value.block));
    return tfjs_give_value(im, 0, &value);
}

static bool add_batch_to_space(struct tfjs_import *im)
{
    const struct tfjs_value *v = tfjs_in_value(im, 0);
    struct tdl_slice_params params = {0};
    uint32_t block[TDL_MAX_RANK], after[TDL_MAX_RANK] = {0}, spatial, blocks = 1;
    struct tdl_operand *x;

    if (!v || !v->operand ||
        !read_blocks(im, tdl_kit_rank(v->operand), block, &spatial, params.start + 1, after + 1))
        return v && !v->operand && tdl_kit_lacks(&im->kit, "input 0 has no elements");
    for (uint32_t i = 0; i < spatial; i++)
        blocks *= block[i];
    if (spatial == 2 && v->block[0] == block[0] && v->block[1] == block[1]) {
        x = v->operand;
    } else {
        x = tfjs_operand(im, 0);
        if (x && tdl_kit_shape(x)[0] % blocks != 0)
            return tdl_kit_damaged(&im->kit, "%u pictures are no blocks of %u", tdl_kit_shape(x)[0],
                                   blocks);
        x = x ? tdl_kit_exchange_blocks(&im->kit, x, block, spatial, true) : NULL;
    }
    for (uint32_t d = 0; x && d < tdl_kit_rank(x); d++) {
        const uint64_t cut = (uint64_t)params.start[d] + after[d];

        if (cut >= tdl_kit_shape(x)[d])
            return tdl_kit_damaged(&im->kit, "nothing is left of %u elements", tdl_kit_shape(x)[d]);
        params.size[d] = tdl_kit_shape(x)[d] - (uint32_t)cut;
    }
    return x && tfjs_give(im, tdl_builder_slice(im->builder, x, &params));
}

const struct tfjs_row tfjs_rows_moving[] = {
    {"BatchToSpaceND", 3, 3, add_batch_to_space},
    {"Concat", 2, TDL_KIT_MANY, add_concat, .detail = 1},
    {"ConcatV2", 2, TDL_KIT_MANY, add_concat},
    {"MirrorPad", 2, 2, add_pad, .detail = 1},
    {"Pack", 1, TDL_KIT_MANY, add_pack},
    {"Pad", 2, 2, add_pad},
    {"PadV2", 3, 3, add_pad},
    {"Reverse", 2, 2, add_reverse},
    {"ReverseV2", 2, 2, add_reverse},
    {"Slice", 3, 3, add_slice},
    {"SpaceToBatchND", 3, 3, add_space_to_batch},
    {"Split", 2, 2, add_split},
    {"SplitV", 3, 3, add_split_by_sizes},
    {"StridedSlice", 4, 4, add_strided_slice},
    {"Tile", 2, 2, add_tile},
    {"Transpose", 2, 2, add_transpose},
    {"Unpack", 1, 1, add_unpack},
    {0},
};
