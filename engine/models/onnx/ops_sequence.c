/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * ONNX's lists of tensors, whose lengths are known when the model is loaded: a list names the
 * values in it, and none of it is left in the graph.
 */
#include "onnx.h"

#include <stdlib.h>
#include <string.h>

#define MAX_LENGTH 1024

/* A list with room for `count` values; NULL with the builder in error. */
static struct onnx_list *make(struct onnx_import *im, uint32_t count)
{
    struct onnx_list *l;

    if (count > MAX_LENGTH) {
        tdl_kit_lacks(&im->kit, "a list of %u tensors; libtdl has up to %d", count, MAX_LENGTH);
        return NULL;
    }
    l = tdl_kit_make(&im->kit, sizeof(*l) + count * sizeof(l->places[0]));
    if (l)
        l->count = count;
    return l;
}

static bool give_list(struct onnx_import *im, const struct onnx_list *l)
{
    struct onnx_value *v =
        l && onnx_wanted(im, 0) ? onnx_add_value(im, &im->node.outputs[0]) : NULL;

    if (v)
        v->list = l;
    return v ? (v->given = true) : l && !onnx_wanted(im, 0);
}

/* The place of input `i` among the values; false with the builder in error. */
static bool take_place(struct onnx_import *im, uint32_t i, uint64_t *out)
{
    const struct onnx_value *v = onnx_given(im, i) ? onnx_find(im, &im->node.inputs[i]) : NULL;

    *out = v ? (uint64_t)(v - im->values) : 0;
    return v || tdl_kit_damaged(&im->kit, "input %u is no value of the graph before it", i);
}

/* Input 0 as a list; NULL with the builder in error. */
static const struct onnx_list *take_list(struct onnx_import *im)
{
    uint64_t place;

    if (!take_place(im, 0, &place))
        return NULL;
    if (!im->values[place].list)
        tdl_kit_damaged(&im->kit, "input 0 is no list of tensors");
    return im->values[place].list;
}

/* A place in the list by input `i`, which may count from the end; `length` of them. */
static bool take_index(struct onnx_import *im, uint32_t i, uint32_t length, int64_t fallback,
                       uint32_t *out)
{
    int64_t index = fallback;
    uint32_t count;

    if (onnx_given(im, i) && !onnx_ints(im, i, &index, 1, &count))
        return false;
    if (index < 0)
        index += length;
    *out = (uint32_t)index;
    return (index >= 0 && index < length) ||
           tdl_kit_damaged(&im->kit, "there is no place %lld in a list of %u", (long long)index,
                           length);
}

static bool add_construct(struct onnx_import *im)
{
    struct onnx_list *l = make(im, im->node.input_count);

    for (uint32_t i = 0; l && i < l->count; i++)
        if (!take_place(im, i, &l->places[i]))
            return false;
    return give_list(im, l);
}

static bool add_empty(struct onnx_import *im)
{
    return give_list(im, make(im, 0));
}

static bool add_insert(struct onnx_import *im)
{
    const struct onnx_list *from = take_list(im);
    struct onnx_list *l = from ? make(im, from->count + 1) : NULL;
    uint32_t at;
    uint64_t place;

    /* From the end it counts places of the list as it was. */
    if (!l || !take_place(im, 1, &place))
        return false;
    at = from->count;
    if (onnx_given(im, 2)) {
        int64_t index;
        uint32_t count;

        if (!onnx_ints(im, 2, &index, 1, &count))
            return false;
        index += index < 0 ? from->count : 0;
        if (index < 0 || index > from->count)
            return tdl_kit_damaged(&im->kit, "there is no place %lld in a list of %u",
                                   (long long)index, from->count);
        at = (uint32_t)index;
    }
    memcpy(l->places, from->places, at * sizeof(place));
    l->places[at] = place;
    memcpy(l->places + at + 1, from->places + at, (from->count - at) * sizeof(place));
    return give_list(im, l);
}

static bool add_erase(struct onnx_import *im)
{
    const struct onnx_list *from = take_list(im);
    struct onnx_list *l = from ? make(im, from->count ? from->count - 1 : 0) : NULL;
    uint32_t at;

    if (!l || !take_index(im, 1, from->count, -1, &at))
        return false;
    memcpy(l->places, from->places, at * sizeof(l->places[0]));
    memcpy(l->places + at, from->places + at + 1, (l->count - at) * sizeof(l->places[0]));
    return give_list(im, l);
}

static bool add_at(struct onnx_import *im)
{
    const struct onnx_list *l = take_list(im);
    uint32_t at;

    return l && take_index(im, 1, l->count, 0, &at) &&
           (!onnx_wanted(im, 0) || onnx_add_alias(im, &im->node.outputs[0], l->places[at]));
}

static bool add_length(struct onnx_import *im)
{
    const struct onnx_list *l = take_list(im);
    const int64_t length = l ? l->count : 0;

    return l && onnx_give(im, onnx_constant(im, TDL_INT64, 0, NULL, &length));
}

/* Along an axis that they have, or along a new one. */
static bool join(struct onnx_import *im, const struct onnx_list *l, struct tdl_operand **parts)
{
    const bool is_new = onnx_int(im, "new_axis", 0) != 0;
    uint32_t shape[TDL_MAX_RANK], filled = 0, axis = 0;

    for (uint32_t i = 0; i < l->count; i++) {
        struct onnx_value *v = &im->values[l->places[i]];

        if (!onnx_settle(im, v))
            return false;
        if (v->wide || v->list || v->counts ||
            (is_new && (!v->operand || tdl_kit_rank(v->operand) == TDL_MAX_RANK)))
            return tdl_kit_lacks(&im->kit, "a list of such tensors");
        if (!v->operand) /* without elements it adds none */
            continue;
        parts[filled] = v->operand;
        if (is_new) {
            if (!tdl_kit_with(&im->kit, tdl_kit_desc(v->operand), onnx_int(im, "axis", 0), &axis,
                              shape))
                return false;
            parts[filled] = onnx_reshape(im, v->operand, tdl_kit_rank(v->operand) + 1, shape);
        }
        filled++;
    }
    if (!filled || !parts[0])
        return tdl_kit_lacks(&im->kit, "a list without elements");
    if (!is_new && !tdl_kit_axis(&im->kit, onnx_int(im, "axis", 0), tdl_kit_rank(parts[0]), &axis))
        return false;
    return onnx_give(im,
                     filled == 1 ? parts[0] : tdl_builder_concat(im->builder, parts, filled, axis));
}

static bool add_concat(struct onnx_import *im)
{
    const struct onnx_list *l = take_list(im);
    struct tdl_operand **parts = l ? calloc(l->count + 1, sizeof(*parts)) : NULL;
    const bool ok = l && (parts ? join(im, l, parts) : tdl_kit_fail_memory(&im->kit));

    free(parts);
    return ok;
}

/* Sizes of the parts of `length` elements; how many there are, or 0 with the builder in error. */
static uint32_t split_sizes(struct onnx_import *im, uint32_t length, uint32_t *sizes)
{
    struct tdl_tensor_params desc = {.rank = 0};
    int64_t list[MAX_LENGTH] = {1};
    uint32_t count = 1, left = length, parts = 0;

    if (onnx_given(im, 1) &&
        (!onnx_desc(im, 1, &desc) || !onnx_ints(im, 1, list, MAX_LENGTH, &count)))
        return 0;
    const bool equal = desc.rank == 0; /* the last may be smaller */
    while (parts < MAX_LENGTH && (equal ? left > 0 : parts < count)) {
        const int64_t size = equal && list[0] > left ? left : list[equal ? 0 : parts];

        if (size < 1 || size > left)
            return tdl_kit_lacks(&im->kit, "a part of %lld elements", (long long)size);
        sizes[parts++] = (uint32_t)size;
        left -= (uint32_t)size;
    }
    if (left > 0)
        return tdl_kit_lacks(&im->kit, "a list of other parts, or of more than %d", MAX_LENGTH);
    return parts;
}

static bool add_split(struct onnx_import *im)
{
    struct tdl_operand *x = onnx_operand(im, 0), *parts[MAX_LENGTH];
    uint32_t sizes[MAX_LENGTH], axis, count, rank, shape[TDL_MAX_RANK];
    struct onnx_list *l;

    if (!x || !tdl_kit_axis(&im->kit, onnx_int(im, "axis", 0), tdl_kit_rank(x), &axis) ||
        !(count = split_sizes(im, tdl_kit_shape(x)[axis], sizes)) || !(l = make(im, count)) ||
        tdl_builder_split(im->builder, x, count, sizes, axis, parts) != TDL_OK)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        if (!onnx_given(im, 1) && !onnx_int(im, "keepdims", 1)) {
            rank = tdl_kit_without(tdl_kit_desc(parts[i]), 1u << axis, shape);
            parts[i] = onnx_reshape(im, parts[i], rank, shape);
        }
        if (!onnx_add_nameless(im, parts[i], &l->places[i]))
            return false;
    }
    return give_list(im, l);
}

/* Optional and OptionalGetElement: a value by another name, or none, which is left out where
 * it is read. */
static bool add_optional(struct onnx_import *im)
{
    uint64_t place;

    if (!onnx_wanted(im, 0))
        return true;
    if (onnx_given(im, 0))
        return take_place(im, 0, &place) && onnx_add_alias(im, &im->node.outputs[0], place);
    if (strcmp(im->node.row->name, "Optional"))
        return tdl_kit_damaged(&im->kit, "an element of nothing");
    struct onnx_value *v = onnx_add_value(im, &im->node.outputs[0]);

    return v && (v->given = v->omitted = true);
}

static bool add_has_element(struct onnx_import *im)
{
    const uint8_t has = onnx_given(im, 0);

    return onnx_give(im, onnx_constant(im, TDL_UINT8, 0, NULL, &has));
}

const struct onnx_row onnx_rows_sequence[] = {
    {"ConcatFromSequence", 1, 1, add_concat},
    {"Optional", 0, 1, add_optional},
    {"OptionalGetElement", 0, 1, add_optional},
    {"OptionalHasElement", 0, 1, add_has_element},
    {"SequenceAt", 2, 2, add_at},
    {"SequenceConstruct", 1, TDL_KIT_MANY, add_construct},
    {"SequenceEmpty", 0, 0, add_empty},
    {"SequenceErase", 1, 2, add_erase},
    {"SequenceInsert", 2, 3, add_insert},
    {"SequenceLength", 1, 1, add_length},
    {"SplitToSequence", 1, 2, add_split},
    {0},
};
