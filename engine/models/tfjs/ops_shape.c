/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* TensorFlow.js's operators on shapes, most of which are known when a model is loaded. */
#include "tfjs.h"

#include <math.h>
#include <string.h>

#define MOST_NUMBERS 65536 /* bound of a range */

/* The operand, with elements or without. */
static bool read_desc(struct tfjs_import *im, struct tdl_tensor_params *out)
{
    const struct tfjs_value *v = tfjs_in_value(im, 0);

    if (!v)
        return false;
    if (!v->operand)
        *out = v->empty;
    else if (!v->block[0])
        *out = *tdl_kit_desc(v->operand);
    else
        *out = *tdl_kit_desc(tfjs_operand(im, 0));
    return true;
}

static bool add_shape(struct tfjs_import *im)
{
    struct tdl_tensor_params desc;
    int32_t list[TDL_MAX_RANK];

    if (!read_desc(im, &desc))
        return false;
    for (uint32_t d = 0; d < desc.rank; d++)
        list[d] = (int32_t)desc.shape[d];
    if (desc.rank == 0)
        return tfjs_give_empty(im, 0, &(struct tdl_tensor_params){.dtype = TDL_INT32, .rank = 1});
    return tfjs_give(im, tdl_kit_int_list(&im->kit, list, desc.rank));
}

/* Elements, or dimensions. */
static bool add_size(struct tfjs_import *im)
{
    struct tdl_tensor_params desc;
    double count = 1;

    if (!read_desc(im, &desc))
        return false;
    for (uint32_t d = 0; d < desc.rank; d++)
        count *= desc.shape[d];
    return tfjs_give(im, tdl_kit_number(&im->kit, TDL_INT32, im->row->detail ? desc.rank : count));
}

static uint64_t elements_of(const struct tdl_tensor_params *desc)
{
    uint64_t count = 1;

    for (uint32_t d = 0; d < desc->rank; d++)
        count *= desc->shape[d];
    return count;
}

static bool give_reshaped(struct tfjs_import *im, uint32_t rank, const uint32_t *shape)
{
    struct tfjs_value *v = tfjs_in_value(im, 0), value = {0};

    if (!v)
        return false;
    if (!v->operand) {
        struct tdl_tensor_params empty = {.dtype = v->empty.dtype, .rank = rank};

        memcpy(empty.shape, shape, rank * sizeof(*shape));
        if (elements_of(&empty) != 0)
            return tdl_kit_damaged(&im->kit, "elements of nothing");
        return tfjs_give_empty(im, 0, &empty);
    }
    if (v->data) { /* shares the weights under another shape */
        struct tdl_tensor_params desc = {.dtype = tdl_kit_desc(v->operand)->dtype, .rank = rank};

        memcpy(desc.shape, shape, rank * sizeof(*shape));
        if (tdl_tensor_params_size(&desc) == tdl_tensor_params_size(tdl_kit_desc(v->operand))) {
            value.data = v->data;
            value.operand =
                tdl_builder_constant(im->builder, &desc, v->data, tdl_tensor_params_size(&desc));
            return value.operand && tfjs_give_value(im, 0, &value);
        }
    }
    return tfjs_give(im, tfjs_reshape(im, tfjs_operand(im, 0), rank, shape));
}

static bool add_reshape(struct tfjs_import *im)
{
    struct tdl_tensor_params desc;
    int64_t list[TDL_MAX_RANK], open = -1;
    uint32_t shape[TDL_MAX_RANK], rank;
    uint64_t rest = 1, count;

    if (!read_desc(im, &desc) || !tfjs_ints(im, 1, list, TDL_MAX_RANK, &rank))
        return false;
    count = elements_of(&desc);
    for (uint32_t d = 0; d < rank; d++) {
        const bool is_open = list[d] == -1 && open < 0;

        if (!is_open && (list[d] < 0 || list[d] > INT32_MAX || rest > UINT32_MAX))
            return tdl_kit_damaged(&im->kit, "a shape with %lld elements in dimension %u",
                                   (long long)list[d], d);
        if (is_open)
            open = d;
        else
            rest *= (uint64_t)list[d];
        shape[d] = is_open ? 1 : (uint32_t)list[d];
    }
    if (open >= 0 && (rest == 0 || count % rest != 0))
        return tdl_kit_damaged(&im->kit, "%llu elements in rows of %llu", (unsigned long long)count,
                               (unsigned long long)rest);
    if (open >= 0)
        shape[open] = (uint32_t)(count / rest);
    return give_reshaped(im, rank, shape);
}

static bool add_squeeze(struct tfjs_import *im)
{
    struct tdl_tensor_params desc;
    int64_t list[TDL_MAX_RANK];
    uint32_t shape[TDL_MAX_RANK], count, rank;
    json_t *attr;
    const char *name;

    if (!read_desc(im, &desc))
        return false;
    attr = json_object_get(im->node->json, "attr");
    name = json_object_get(attr, "axis") ? "axis" : "squeeze_dims";
    if (!tfjs_int_list(im, name, list, TDL_MAX_RANK, &count))
        return false;
    return tdl_kit_squeeze(&im->kit, &desc, list, count, shape, &rank) &&
           give_reshaped(im, rank, shape);
}

static bool add_expand_dims(struct tfjs_import *im)
{
    struct tdl_tensor_params desc;
    uint32_t shape[TDL_MAX_RANK], axis;
    int64_t said;

    if (!read_desc(im, &desc) || !tfjs_int_at(im, 1, &said) ||
        !tdl_kit_with(&im->kit, &desc, said, &axis, shape))
        return false;
    return give_reshaped(im, desc.rank + 1, shape);
}

/* ---------------------------------------------------------------- what fills */

static bool add_broadcast(struct tfjs_import *im)
{
    struct tdl_operand *x = tfjs_operand(im, 0);
    uint32_t shape[TDL_MAX_RANK], rank;

    if (!x || !tfjs_shape_at(im, 1, shape, &rank))
        return false;
    if (rank == tdl_kit_rank(x) && !memcmp(shape, tdl_kit_shape(x), rank * sizeof(*shape)))
        return tfjs_give(im, x);
    return tfjs_give(im, rank ? tdl_builder_expand(im->builder, x, rank, shape) : x);
}

static bool add_fill(struct tfjs_import *im)
{
    struct tdl_operand *x = tfjs_operand(im, 1);
    uint32_t shape[TDL_MAX_RANK], rank;

    if (!x || !tfjs_shape_at(im, 0, shape, &rank))
        return false;
    return tfjs_give(im, rank ? tdl_builder_expand(im->builder, x, rank, shape) : x);
}

/* Zeros or ones, as many as the input has. */
static bool add_like(struct tfjs_import *im)
{
    struct tdl_tensor_params desc;

    if (!read_desc(im, &desc))
        return false;
    if (tfjs_is_empty(im, 0))
        return tfjs_give_empty(im, 0, &desc);
    return tfjs_give(im, tdl_kit_fill(&im->kit, &desc, im->row->detail));
}

static bool add_range(struct tfjs_import *im)
{
    const enum tdl_dtype dtype = tdl_kit_desc(tfjs_operand(im, 0))->dtype;
    double ends[3], count;
    uint32_t one;

    for (uint32_t i = 0; i < 3; i++)
        if (!tfjs_floats(im, i, &ends[i], 1, &one))
            return false;
    count = ends[2] ? ceil((ends[1] - ends[0]) / ends[2]) : 0;
    if (count <= 0)
        return tfjs_give_empty(im, 0, &(struct tdl_tensor_params){.dtype = dtype, .rank = 1});
    if (!(count <= MOST_NUMBERS))
        return tdl_kit_lacks(&im->kit, "a range of %.0f numbers; libtdl takes up to %d", count,
                             MOST_NUMBERS);
    return tfjs_give(im, tdl_kit_range(&im->kit, dtype, (uint32_t)count, ends[0], ends[2]));
}

const struct tfjs_row tfjs_rows_shape[] = {
    {"BroadcastTo", 2, 2, add_broadcast},
    {"ExpandDims", 2, 2, add_expand_dims},
    {"Fill", 2, 2, add_fill},
    {"OnesLike", 1, 1, add_like, .detail = 1},
    {"Range", 3, 3, add_range},
    {"Rank", 1, 1, add_size, .detail = 1},
    {"Reshape", 2, 2, add_reshape},
    {"Shape", 1, 1, add_shape},
    {"Size", 1, 1, add_size},
    {"Squeeze", 1, 1, add_squeeze},
    {"ZerosLike", 1, 1, add_like},
    {0},
};
