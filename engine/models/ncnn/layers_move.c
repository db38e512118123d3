/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* ncnn's layers that move elements, or only name them. */
#include "ncnn.h"

#include <math.h>

/* Split, Noop and the like: the same under other names. */
static struct tdl_operand *add_same(struct ncnn_import *im, const struct ncnn_layer *l)
{
    return ncnn_bottom(im, l, 0);
}

static struct tdl_operand *add_concat(struct ncnn_import *im, const struct ncnn_layer *l)
{
    struct tdl_operand *parts[NCNN_MAX_ARGS];
    uint32_t axis;

    for (uint32_t i = 0; i < l->bottom_count; i++)
        if (!(parts[i] = ncnn_bottom(im, l, i)))
            return NULL;
    return ncnn_axis(im, parts[0], ncnn_int(l, 0, 0), &axis)
               ? tdl_builder_concat(im->builder, parts, l->bottom_count, axis)
               : NULL;
}

static struct tdl_operand *add_flatten(struct ncnn_import *im, const struct ncnn_layer *l)
{
    struct tdl_operand *x = ncnn_bottom(im, l, 0);
    uint32_t count = 1;

    for (uint32_t i = 0; x && i < tdl_kit_rank(x); i++)
        count *= tdl_kit_shape(x)[i];
    return ncnn_reshape(im, x, 1, &count);
}

/* -------------------------------------------------------------------- shapes */

/* Sizes of a blob, outermost first: as parameters 2, 1 and 0 have them, as far as they
 * are given. */
static uint32_t given_sizes(const struct ncnn_layer *l, int32_t unset, int32_t out[3])
{
    uint32_t count = 0;

    for (uint32_t id = 3; id-- > 0;)
        if (count > 0 || id == 0 || ncnn_int(l, id, unset) != unset)
            out[count++] = ncnn_int(l, id, unset);
    return count;
}

/* 0 is the input's own size, -1 what the others leave. */
static struct tdl_operand *add_reshape(struct ncnn_import *im, const struct ncnn_layer *l)
{
    struct tdl_operand *x = ncnn_bottom(im, l, 0);
    uint64_t count = 1, product = 1;
    uint32_t shape[4] = {1}, first, rank;
    int32_t sizes[3];
    int rest = -1;

    if (!x)
        return NULL;
    const struct tdl_tensor_params *in = tdl_kit_desc(x);
    if (ncnn_int(l, 11, NCNN_UNSET) != NCNN_UNSET || ncnn_int(l, 3, 0) != 0)
        return tdl_kit_lacks_none(
            &im->kit, "four dimensions, or another order on the way, are not supported");
    rank = given_sizes(l, NCNN_UNSET, sizes);
    first = rank == 3;
    for (uint32_t i = 0; i < in->rank; i++)
        count *= in->shape[i];
    for (uint32_t i = 0; i < rank; i++) {
        const uint32_t inner = rank - i; /* keeps the dimension of the input */

        if (sizes[i] == 0 && inner <= in->rank)
            sizes[i] = (int32_t)in->shape[in->rank - inner];
        if (sizes[i] == -1 && rest < 0)
            rest = (int)i;
        else if (!ncnn_in_range(im, "size", sizes[i], 1))
            return NULL;
        else
            product *= (uint64_t)sizes[i];
        shape[first + i] = (uint32_t)sizes[i];
    }
    if (rest >= 0)
        shape[first + (uint32_t)rest] = (uint32_t)(count / product);
    if (count % product != 0)
        return tdl_kit_none(&im->kit, TDL_ERROR_INVALID_MODEL, "%llu elements are no parts of %llu",
                            (unsigned long long)count, (unsigned long long)product);
    return ncnn_reshape(im, x, rank + first, shape);
}

/* The order of dimensions, outermost first. */
static struct tdl_operand *add_permute(struct ncnn_import *im, const struct ncnn_layer *l)
{
    static const uint32_t orders[][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                         {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    static const uint32_t exchanged[] = {1, 0};
    const int32_t type = ncnn_int(l, 0, 0);
    struct tdl_operand *x = ncnn_bottom(im, l, 0);
    uint32_t shape[4] = {1};

    if (!x)
        return NULL;
    const struct tdl_tensor_params *in = tdl_kit_desc(x);
    if (type < 0 || type > (in->rank == 4 ? 5 : in->rank == 2 ? 1 : 0))
        return tdl_kit_none(&im->kit, TDL_ERROR_INVALID_MODEL,
                            "there is no order %d of %u dimensions", type,
                            in->rank == 4 ? 3 : in->rank);
    if (type == 0)
        return x;
    if (in->rank == 2)
        return tdl_builder_transpose(im->builder, x, exchanged);
    for (uint32_t i = 0; i < 3; i++)
        shape[1 + i] = in->shape[1 + orders[type][i]];
    x = ncnn_reshape(im, x, 3, in->shape + 1);
    x = x ? tdl_builder_transpose(im->builder, x, orders[type]) : NULL;
    return ncnn_reshape(im, x, 4, shape);
}

static struct tdl_operand *add_memory_data(struct ncnn_import *im, const struct ncnn_layer *l)
{
    uint32_t shape[4] = {1}, count, first;
    uint64_t elements = 1;
    int32_t sizes[3];

    if (ncnn_int(l, 11, 0) != 0)
        return tdl_kit_lacks_none(&im->kit, "four dimensions are not supported");
    count = given_sizes(l, 0, sizes);
    first = count == 3;
    for (uint32_t i = 0; i < count; i++) {
        if (!ncnn_in_range(im, "size", sizes[i], 1))
            return NULL;
        shape[first + i] = (uint32_t)sizes[i];
        elements *= shape[first + i]; /* of 2^16 each */
    }
    if (elements > UINT32_MAX)
        return tdl_kit_none(&im->kit, TDL_ERROR_INVALID_MODEL, "too many numbers");
    return ncnn_reshape(
        im, ncnn_weights(im, ncnn_int(l, 21, 1) == 0, 1, (const uint32_t[]){(uint32_t)elements}),
        count + first, shape);
}

/* ---------------------------------------------------------------------- Crop */

/* `size` from `start` on, of a dimension. */
static bool set_part(struct ncnn_import *im, struct tdl_slice_params *params, uint32_t d,
                     int64_t whole, int64_t start, int64_t size)
{
    params->start[d] = (uint32_t)start;
    params->size[d] = (uint32_t)size;
    if (start >= 0 && size >= 1 && start <= whole - size)
        return true;
    return tdl_kit_damaged(&im->kit, "%lld elements from %lld on, of %lld", (long long)size,
                           (long long)start, (long long)whole);
}

/* Arrays of starts and ends, for these axes. */
static bool crop_by_arrays(struct ncnn_import *im, const struct ncnn_layer *l,
                           const struct tdl_operand *x, struct tdl_slice_params *params)
{
    const uint32_t *shape = tdl_kit_shape(x);
    uint32_t d;

    for (uint32_t i = 0; i < l->params[9].count; i++) {
        const float axis = ncnn_value(l, 11, i, (float)i);
        const float from = ncnn_value(l, 9, i, 0), to = ncnn_value(l, 10, i, NCNN_UNSET);

        if (!(fabsf(axis) < 8) || !(fabsf(from) < 1e7f) || !(fabsf(to) < 1e10f))
            return tdl_kit_damaged(&im->kit, "a place from %g to %g along %g", (double)from,
                                   (double)to, (double)axis);
        if (!ncnn_axis(im, x, (int32_t)axis, &d))
            return false;
        const int64_t whole = shape[d];
        int64_t start = (int64_t)from == NCNN_UNSET ? 0 : (int64_t)from;
        int64_t end = (int64_t)to == NCNN_UNSET ? whole : (int64_t)to;

        start += start < 0 ? whole : 0;
        end += end <= 0 ? whole : 0;
        end = end > whole ? whole : end;
        if (!set_part(im, params, d, whole, start, end - start))
            return false;
    }
    return true;
}

static struct tdl_operand *add_crop(struct ncnn_import *im, const struct ncnn_layer *l)
{
    static const uint32_t sizes[] = {3, 4, 5}, ends[] = {6, 7, 8}; /* of w, h, c */
    struct tdl_operand *x = ncnn_bottom(im, l, 0), *like = x;
    struct tdl_slice_params params = {0};

    if (x && l->bottom_count > 1)
        like = ncnn_bottom(im, l, 1);
    if (!x || !like)
        return NULL;
    const struct tdl_tensor_params *in = tdl_kit_desc(x);
    if (l->params[9].set)
        return crop_by_arrays(im, l, x, &params) ? tdl_builder_slice(im->builder, x, &params)
                                                 : NULL;
    if (tdl_kit_rank(like) != in->rank)
        return tdl_kit_none(&im->kit, TDL_ERROR_INVALID_MODEL, "blobs of other dimensions");
    for (uint32_t i = 0; i < in->rank && i < 3; i++) {
        const uint32_t d = in->rank - 1 - i;
        const int64_t start = ncnn_int(l, i, 0), whole = in->shape[d];
        const int64_t left = whole - start - ncnn_int(l, ends[i], 0);
        const int64_t size = l->bottom_count > 1 ? (int64_t)tdl_kit_shape(like)[d]
                                                 : ncnn_int(l, sizes[i], NCNN_UNSET);

        if (!set_part(im, &params, d, whole, start,
                      size == NCNN_UNSET || size == 0 || size > left ? left : size))
            return NULL;
    }
    return tdl_builder_slice(im->builder, x, &params);
}

const struct ncnn_row ncnn_rows_move[] = {
    {"Concat", 1, NCNN_MAX_ARGS, add_concat},
    {"Crop", 1, 2, add_crop},
    {"Flatten", 1, 1, add_flatten},
    {"MemoryData", 0, 0, add_memory_data},
    {"Noop", 1, 1, add_same, .many_tops = true},
    {"Permute", 1, 1, add_permute},
    {"Reshape", 1, 1, add_reshape},
    {"Split", 1, 1, add_same, .many_tops = true},
    {0},
};
