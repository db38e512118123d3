/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* TensorFlow.js's operators that find elements by an index. */
#include "tfjs.h"

#include <string.h>

#define MOST_CLASSES 65536

/* After the batch dimensions, which go in step, an index is a tuple of one. */
static struct tdl_operand *gather_in_step(struct tfjs_import *im, struct tdl_operand *x,
                                          struct tdl_operand *indices, uint32_t batch)
{
    struct tdl_tensor_params p = *tdl_kit_desc(indices);

    if (p.rank == TDL_MAX_RANK) {
        tdl_kit_lacks(&im->kit, "more than %d dimensions", TDL_MAX_RANK);
        return NULL;
    }
    p.shape[p.rank++] = 1;
    indices = tfjs_reshape(im, indices, p.rank, p.shape);
    return indices ? tdl_builder_gather_nd(im->builder, x, indices, batch) : NULL;
}

/* Gather has no axis: it is the first. */
static bool add_gather(struct tfjs_import *im)
{
    struct tdl_operand *x = tfjs_operand(im, 0), *indices = x ? tfjs_operand(im, 1) : NULL;
    int64_t said = 0, batch = tfjs_int(im, "batch_dims", 0);
    uint32_t axis;

    if (!indices || (im->node->data_inputs > 2 && !tfjs_int_at(im, 2, &said)) ||
        !tdl_kit_axis(&im->kit, said, tdl_kit_rank(x), &axis))
        return false;
    batch += batch < 0 ? tdl_kit_rank(indices) : 0;
    if (batch != 0 && batch != axis)
        return tdl_kit_lacks(&im->kit,
                             "%lld batch dimensions and axis %u are not supported; "
                             "libtdl has 0, or as many as are before the axis",
                             (long long)batch, axis);
    return tfjs_give(im, batch ? gather_in_step(im, x, indices, axis)
                               : tdl_builder_gather(im->builder, x, indices, axis));
}

static bool add_gather_nd(struct tfjs_import *im)
{
    struct tdl_operand *x = tfjs_operand(im, 0), *indices = x ? tfjs_operand(im, 1) : NULL;

    return indices && tfjs_give(im, tdl_builder_gather_nd(im->builder, x, indices, 0));
}

/* Onto zeros; updates of one place are added. */
static bool add_scatter_nd(struct tfjs_import *im)
{
    const struct tdl_scatter_params add = {.reduction = TDL_SCATTER_ADD};
    struct tdl_operand *indices = tfjs_operand(im, 0),
                       *updates = indices ? tfjs_operand(im, 1) : NULL, *x;
    struct tdl_tensor_params desc = {.dtype = tdl_kit_desc(updates)->dtype};

    if (!updates || !tfjs_shape_at(im, 2, desc.shape, &desc.rank))
        return false;
    x = tdl_kit_fill(&im->kit, &desc, 0);
    return x && tfjs_give(im, tdl_builder_scatter_nd(im->builder, x, indices, updates, &add));
}

/* Indices [n, rank] or, along one dimension, [n]; a value for all or for each; what the
 * rest is. */
static bool add_sparse(struct tfjs_import *im)
{
    struct tdl_operand *rest = tfjs_operand(im, 3), *indices, *values, *x;
    struct tdl_tensor_params desc = {0};
    uint32_t count;

    if (!rest || !tfjs_shape_at(im, 1, desc.shape, &desc.rank))
        return false;
    if (desc.rank == 0)
        return tdl_kit_damaged(&im->kit, "a shape without dimensions");
    x = tdl_builder_expand(im->builder, rest, desc.rank, desc.shape);
    if (tfjs_is_empty(im, 0))
        return tfjs_give(im, x);
    indices = tfjs_operand(im, 0);
    values = indices ? tfjs_operand(im, 2) : NULL;
    if (!values)
        return false;
    count = tdl_kit_rank(indices) ? tdl_kit_shape(indices)[0] : 1;
    if (tdl_kit_rank(indices) < 2)
        indices = tfjs_reshape(im, indices, 2, (const uint32_t[]){count, 1});
    if (tdl_kit_rank(values) == 0)
        values = tdl_builder_expand(im->builder, values, 1, &count);
    if (!x || !values || !indices)
        return false;
    return tfjs_give(im, tdl_builder_scatter_nd(im->builder, x, indices, values,
                                                &(struct tdl_scatter_params){0}));
}

/* The largest along the last dimension, and where they are. */
static bool add_top_k(struct tfjs_import *im)
{
    struct tdl_operand *x = tfjs_operand(im, 0), *indices;
    const uint32_t rank = tdl_kit_rank(x);
    int64_t k = tfjs_int(im, "k", 0);

    if (!x || (im->node->data_inputs > 1 && !tfjs_int_at(im, 1, &k)))
        return false;
    if (rank == 0 || k < 1 || k > tdl_kit_shape(x)[rank - 1])
        return tdl_kit_damaged(&im->kit, "the %lld largest of %u", (long long)k,
                               rank ? tdl_kit_shape(x)[rank - 1] : 1);
    indices = tdl_builder_top_k(im->builder, x, rank - 1,
                                &(struct tdl_top_k_params){.count = (uint32_t)k});
    return indices &&
           tfjs_give_at(im, 0, tdl_builder_gather_elements(im->builder, x, indices, rank - 1)) &&
           tfjs_give_at(im, 1, indices);
}

static bool add_one_hot(struct tfjs_import *im)
{
    struct tdl_operand *x = tfjs_operand(im, 0), *on = x ? tfjs_operand(im, 2) : NULL;
    struct tdl_operand *off = on ? tfjs_operand(im, 3) : NULL, *classes;
    uint32_t shape[TDL_MAX_RANK + 1], ones[TDL_MAX_RANK + 1], axis, rank;
    int64_t depth;

    if (!off || !tfjs_int_at(im, 1, &depth))
        return false;
    rank = tdl_kit_rank(x) + 1;
    if (depth < 1 || depth > MOST_CLASSES || rank > TDL_MAX_RANK)
        return tdl_kit_lacks(&im->kit, "%lld classes in %u dimensions", (long long)depth, rank);
    if (!tdl_kit_axis(&im->kit, tfjs_int(im, "axis", -1), rank, &axis))
        return false;
    for (uint32_t d = 0; d < rank; d++) {
        shape[d] = d < axis ? tdl_kit_shape(x)[d] : d == axis ? 1 : tdl_kit_shape(x)[d - 1];
        ones[d] = d == axis ? (uint32_t)depth : 1;
    }
    classes = tdl_kit_range(&im->kit, tdl_kit_desc(x)->dtype, (uint32_t)depth, 0, 1);
    classes = tfjs_reshape(im, classes, rank, ones);
    x = tfjs_reshape(im, x, rank, shape);
    if (!classes || !x)
        return false;
    return tfjs_give(
        im, tdl_builder_where(im->builder, tdl_builder_equal(im->builder, x, classes), on, off));
}

const struct tfjs_row tfjs_rows_indices[] = {
    {"Gather", 2, 2, add_gather},
    {"GatherNd", 2, 2, add_gather_nd},
    {"GatherV2", 3, 3, add_gather},
    {"OneHot", 4, 4, add_one_hot},
    {"ScatterNd", 3, 3, add_scatter_nd},
    {"SparseToDense", 4, 4, add_sparse},
    {"TopK", 1, 1, add_top_k},
    {"TopKV2", 2, 2, add_top_k},
    {0},
};
