/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Counts (counts.c) of operators that take elements by indices, or find them. */
#include "count_rules.h"

#include <string.h>

/* Indices from the end count from that of what exists. */
static bool prepare_gather(struct onnx_import *im)
{
    struct tdl_builder *b = im->builder;
    struct tdl_operand *count, *at;
    struct tdl_tensor_params desc;
    uint32_t axis;

    if (!onnx_desc(im, 0, &desc) || !onnx_read_axis(im, 0, desc.rank, &axis))
        return false;
    count = onnx_count(im, 0, axis);
    at = count ? onnx_operand(im, 1) : NULL;
    if (!at)
        return !count;
    const enum tdl_dtype dtype = tdl_kit_desc(at)->dtype;
    struct tdl_operand *below = tdl_builder_lesser(b, at, tdl_kit_like(&im->kit, at, 0));
    count = tdl_builder_cast(b, onnx_reshape(im, count, 0, NULL), dtype);
    im->node.instead[1] = tdl_builder_where(b, below, tdl_builder_add(b, at, count), at);
    return im->node.instead[1] != NULL;
}

static bool follow_gather(struct onnx_import *im)
{
    struct tdl_tensor_params desc, at_desc;
    struct onnx_counts counts = {{NULL}};
    struct onnx_sizes in, at;
    uint32_t axis, to = 0;

    if (!onnx_read_sizes(im, 0, &desc, &in) || !onnx_read_sizes(im, 1, &at_desc, &at) ||
        !onnx_read_axis(im, 0, in.rank, &axis))
        return false;
    if (!strcmp(im->node.row->name, "GatherElements"))
        return onnx_set_counts(im, 0, &at.counts);
    for (uint32_t d = 0; d < axis; d++)
        counts.of[to++] = in.counts.of[d];
    for (uint32_t d = 0; d < at.rank && to < TDL_MAX_RANK; d++)
        counts.of[to++] = at.counts.of[d];
    for (uint32_t d = axis + 1; d < in.rank && to < TDL_MAX_RANK; d++)
        counts.of[to++] = in.counts.of[d];
    return !onnx_output_value(im, 0) || onnx_set_counts(im, 0, &counts);
}

static bool follow_gather_nd(struct onnx_import *im)
{
    struct tdl_tensor_params desc, at_desc;
    struct onnx_counts counts = {{NULL}};
    struct onnx_sizes in, at;
    uint32_t to = 0;

    if (!onnx_read_sizes(im, 0, &desc, &in) || !onnx_read_sizes(im, 1, &at_desc, &at))
        return false;
    const uint32_t batch = (uint32_t)onnx_int(im, "batch_dims", 0);
    for (uint32_t d = 0; d + 1 < at.rank && to < TDL_MAX_RANK; d++)
        counts.of[to++] = at.counts.of[d];
    for (uint32_t d = batch + at.shape[at.rank - 1]; d < in.rank && to < TDL_MAX_RANK; d++)
        counts.of[to++] = in.counts.of[d];
    return onnx_set_counts(im, 0, &counts);
}

/* Updates that do not exist go to a place behind the data, which is cut off. */
static bool prepare_scatter(struct onnx_import *im)
{
    const bool nd = !strcmp(im->node.row->name, "ScatterND");
    struct tdl_builder *b = im->builder;
    struct tdl_operand *x = onnx_operand(im, 0), *at = x ? onnx_operand(im, 1) : NULL;
    struct tdl_pad_params pad = {{0}};
    struct onnx_counts counts = {{NULL}};
    uint32_t axis = 0, own = 0;

    if (!at || (!nd && !onnx_read_axis(im, 0, tdl_kit_rank(x), &axis)))
        return false;
    if (tdl_kit_rank(at) == 0 || tdl_kit_rank(x) == 0 ||
        (nd && tdl_kit_shape(at)[tdl_kit_rank(at) - 1] > tdl_kit_rank(x)))
        return true; /* and is refused */
    for (uint32_t d = 0; d < tdl_kit_rank(at); d++) {
        struct tdl_operand *count = onnx_count(im, 1, d);

        counts.of[d] = count ? count : d + nd < tdl_kit_rank(at) ? onnx_count(im, 2, d) : NULL;
        /* Rows that do not exist here do not exist there, either. */
        own |= !nd && d != axis && onnx_count(im, 0, d) ? 0 : counts.of[d] != NULL;
    }
    if (!own)
        return true;
    const int32_t size = (int32_t)tdl_kit_shape(x)[axis];
    struct tdl_operand *sizes = nd ? tdl_kit_int_list(&im->kit, (const int32_t *)tdl_kit_shape(x),
                                                      tdl_kit_shape(at)[tdl_kit_rank(at) - 1])
                                   : onnx_count_number(im, size);
    const enum tdl_dtype dtype = tdl_kit_desc(at)->dtype;
    struct tdl_operand *below = tdl_builder_lesser(b, at, tdl_kit_like(&im->kit, at, 0));
    at = sizes ? tdl_builder_where(b, below,
                                   tdl_builder_add(b, at, tdl_builder_cast(b, sizes, dtype)), at)
               : NULL;
    pad.after[axis] = 1;
    im->node.instead[0] = tdl_builder_pad(b, x, &pad);
    im->node.instead[1] = at ? onnx_mask(im, at, &counts, size) : NULL;
    return im->node.instead[0] && im->node.instead[1];
}

static bool follow_scatter(struct onnx_import *im)
{
    struct onnx_value *v = onnx_output_value(im, 0);
    struct tdl_slice_params p = {{0}};
    struct tdl_tensor_params desc;
    struct onnx_sizes in;

    if (!v || !onnx_read_sizes(im, 0, &desc, &in))
        return !v;
    memcpy(p.size, in.shape, in.rank * sizeof(*p.size));
    if (im->node.instead[0] && !(v->operand = tdl_builder_slice(im->builder, v->operand, &p)))
        return false;
    return onnx_set_counts(im, 0, &in.counts);
}

static bool prepare_top_k(struct onnx_import *im)
{
    return onnx_mask_input(im, 0, ~0u, onnx_extreme(im, 0, !onnx_int(im, "largest", 1)));
}

static bool follow_top_k(struct onnx_import *im)
{
    struct tdl_operand *wanted = onnx_counted_at(im, 1, 0), *count;
    struct tdl_tensor_params desc;
    struct onnx_sizes in;
    uint32_t axis;

    if (!onnx_read_sizes(im, 0, &desc, &in) || !onnx_read_axis(im, -1, in.rank, &axis))
        return false;
    for (uint32_t i = 0; i < 2; i++) {
        const struct onnx_value *v = onnx_output_value(im, i);

        if (!v)
            continue;
        count = in.counts.of[axis];
        if (count && !wanted)
            wanted = onnx_count_number(im, tdl_kit_shape(v->operand)[axis]);
        struct onnx_counts counts = in.counts;
        counts.of[axis] = count ? tdl_builder_min(im->builder, count, wanted) : wanted;
        if (!onnx_set_counts(im, i, &counts))
            return false;
    }
    return true;
}

static bool follow_one_hot(struct onnx_import *im)
{
    struct onnx_counts counts = {{NULL}};
    struct tdl_tensor_params desc;
    struct onnx_sizes in;
    uint32_t axis;

    if (!onnx_read_sizes(im, 0, &desc, &in) || !onnx_read_axis(im, -1, in.rank + 1, &axis))
        return false;
    for (uint32_t d = 0; d < in.rank; d++)
        counts.of[d + (d >= axis)] = in.counts.of[d];
    return onnx_set_counts(im, 0, &counts);
}

/* ----------------------------------------------------------- what finds things */

static bool prepare_non_zero(struct onnx_import *im)
{
    return onnx_mask_input(im, 0, ~0u, 0);
}

static bool prepare_compress(struct onnx_import *im)
{
    return onnx_mask_input(im, 1, ~0u, 0);
}

static bool prepare_suppression(struct onnx_import *im)
{
    return onnx_mask_input(im, 1, ~0u, (double)-__builtin_inff());
}

/* By a condition that is known: other dimensions keep their counts, as the row has it where it is
 * not. */
static bool follow_compress(struct onnx_import *im)
{
    struct tdl_tensor_params desc;
    struct onnx_sizes in;
    uint32_t axis;

    if (!onnx_has(im, "axis")) /* elements are taken in their order */
        return onnx_allow_counts(im, 0, !onnx_is_constant(im, 1));
    if (!onnx_is_constant(im, 1))
        return true;
    if (!onnx_read_sizes(im, 0, &desc, &in) || !onnx_read_axis(im, 0, in.rank, &axis) ||
        !onnx_allow_counts(im, 0, ~(1u << axis)))
        return false;
    return onnx_set_counts(im, 0, &in.counts);
}

/* Parts of a list along an axis that all exists. */
static bool follow_split_list(struct onnx_import *im)
{
    struct onnx_value *v = onnx_wanted(im, 0) ? onnx_find(im, &im->node.outputs[0]) : NULL;
    const struct onnx_counts *counts = onnx_counts(im, 0);
    struct tdl_tensor_params desc;
    uint32_t axis;

    if (!onnx_desc(im, 0, &desc) || !onnx_read_axis(im, 0, desc.rank, &axis))
        return false;
    if (!onnx_given(im, 1) && !onnx_int(im, "keepdims", 1))
        return onnx_allow_counts(im, 0, 0);
    if (!onnx_allow_counts(im, 0, ~(1u << axis)))
        return false;
    for (uint32_t i = 0; v && v->list && i < v->list->count; i++)
        im->values[v->list->places[i]].counts = counts;
    return true;
}

const struct onnx_count_rule onnx_counts_indices[] = {
    {"Compress", follow_compress, prepare_compress, 0},
    {"Gather", follow_gather, prepare_gather, 0},
    {"GatherElements", follow_gather, prepare_gather, 0},
    {"GatherND", follow_gather_nd, NULL, 0},
    {"If", onnx_follow_itself, NULL, 0},
    {"NonMaxSuppression", onnx_follow_itself, prepare_suppression, 4 | 8 | 16},
    {"NonZero", onnx_follow_itself, prepare_non_zero, 0},
    {"OptionalGetElement", onnx_follow_itself, NULL, 0},
    {"OptionalHasElement", onnx_follow_itself, NULL, 0},
    {"Optional", onnx_follow_itself, NULL, 0},
    {"OneHot", follow_one_hot, NULL, 2},
    {"Scatter", follow_scatter, prepare_scatter, 0},
    {"ScatterElements", follow_scatter, prepare_scatter, 0},
    {"ScatterND", follow_scatter, prepare_scatter, 0},
    {"Shape", onnx_follow_itself, NULL, 0},
    {"Size", onnx_follow_itself, NULL, 0},
    {"Slice", onnx_follow_itself, NULL, 8 | 16},
    {"Loop", onnx_follow_itself, NULL, 2},
    {"SequenceConstruct", onnx_follow_itself, NULL, 0},
    {"SequenceInsert", onnx_follow_itself, NULL, 4},
    {"SplitToSequence", follow_split_list, NULL, 2},
    {"TopK", follow_top_k, prepare_top_k, 0},
    {0},
};
