/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* ncnn's layers that take elements apart and put them together, or only name them. */
#include "ncnn.h"

#include <math.h>

/* The same under other names, or stored in another way. */
static struct tdl_operand *add_same(struct ncnn_import *im, const struct ncnn_layer *l)
{
    return ncnn_bottom(im, l, 0);
}

/* One bottom for all tops, or each of several; those that are left only come together there,
 * and are outputs. */
static bool add_noop(struct ncnn_import *im, const struct ncnn_layer *l, struct tdl_operand **tops)
{
    if (l->bottom_count > 1 && l->top_count > l->bottom_count)
        return tdl_kit_damaged(&im->kit, "%u bottoms and %u tops", l->bottom_count, l->top_count);
    for (uint32_t i = 0; i < l->top_count; i++)
        tops[i] = ncnn_bottom(im, l, l->bottom_count > 1 ? i : 0);
    for (uint32_t i = l->top_count; i < l->bottom_count; i++)
        im->blobs[l->bottoms[i]].used = false;
    return true;
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

/* ------------------------------------------------------------------ Slice, GLU */

/* Elements of `x` along an axis. */
static struct tdl_operand *part(struct ncnn_import *im, struct tdl_operand *x, uint32_t axis,
                                uint32_t start, uint32_t size)
{
    struct tdl_slice_params params = {0};

    params.start[axis] = start;
    params.size[axis] = size;
    return tdl_builder_slice(im->builder, x, &params);
}

/* How many elements a top gets of those from `at` on: by the places where parts end, or by
 * sizes; what is not given is shared by all tops that are left. */
static int64_t slice_size(const struct ncnn_layer *l, uint32_t top, int64_t at, int64_t whole)
{
    const uint32_t left = l->top_count - top;

    if (l->params[2].count > 0) {
        const int64_t end = ncnn_int_at(l, 2, top, 0);

        return left == 1 ? whole - at : (end < 0 ? end + whole : end) - at;
    }
    const int32_t size = ncnn_int_at(l, 0, top, NCNN_UNSET);
    return size == NCNN_UNSET ? (whole - at) / left : size;
}

static bool add_slice(struct ncnn_import *im, const struct ncnn_layer *l, struct tdl_operand **tops)
{
    struct tdl_operand *x = ncnn_bottom(im, l, 0);
    int64_t at = 0;
    uint32_t axis;

    if (!x || !ncnn_axis(im, x, ncnn_int(l, 1, 0), &axis))
        return false;
    const int64_t whole = tdl_kit_shape(x)[axis];
    for (uint32_t i = 0; i < l->top_count; i++) {
        const int64_t size = slice_size(l, i, at, whole);

        if (size < 1 || size > whole - at)
            return tdl_kit_damaged(&im->kit, "part %u has %lld elements, from %lld on, of %lld", i,
                                   (long long)size, (long long)at, (long long)whole);
        tops[i] = part(im, x, axis, (uint32_t)at, (uint32_t)size);
        at += size;
    }
    return true;
}

/* The first half by the sigmoid of the second. */
static struct tdl_operand *add_glu(struct ncnn_import *im, const struct ncnn_layer *l)
{
    struct tdl_operand *x = ncnn_bottom(im, l, 0), *gate;
    uint32_t axis = 0;

    if (!x || (tdl_kit_rank(x) > 1 && !ncnn_axis(im, x, ncnn_int(l, 0, 0), &axis)))
        return NULL;
    const uint32_t half = tdl_kit_shape(x)[axis] / 2;
    if (half == 0)
        return tdl_kit_none(&im->kit, TDL_ERROR_INVALID_MODEL, "there is one element to halve");
    gate = tdl_builder_sigmoid(im->builder, part(im, x, axis, half, half));
    return tdl_builder_mul(im->builder, part(im, x, axis, 0, half), gate);
}

/* ------------------------------------------------------------- Tile, Flip, shuffle */

/* By an axis, or by an array of which the last is the innermost dimension's. */
static struct tdl_operand *add_tile(struct ncnn_import *im, const struct ncnn_layer *l)
{
    struct tdl_operand *x = ncnn_bottom(im, l, 0);
    uint32_t times[1 + NCNN_MAX_DIMS] = {1, 1, 1, 1, 1}, shape[NCNN_MAX_DIMS] = {1, 1, 1, 1};
    const uint32_t count = l->params[2].count;
    const uint32_t *in;

    if (!x)
        return NULL;
    const uint32_t dims = ncnn_dims(x, &in), whole = count > dims ? count : dims;
    if (whole > NCNN_MAX_DIMS)
        return tdl_kit_none(&im->kit, TDL_ERROR_INVALID_MODEL, "a blob of %u dimensions", whole);
    for (uint32_t i = 0; i < dims; i++)
        shape[whole - dims + i] = in[i];
    x = ncnn_blob(im, x, whole, shape);
    uint32_t *last = times + (whole >= 3) + whole, axis = 0;
    if (count == 0 && !ncnn_axis(im, x, ncnn_int(l, 0, 0), &axis))
        return NULL;
    for (uint32_t i = 0; i < (count ? count : 1); i++) {
        const int32_t n = count ? ncnn_int_at(l, 2, i, 1) : ncnn_int(l, 1, 1);

        if (!ncnn_in_range(im, "number of tiles", n, 1))
            return NULL;
        *(count ? last - count + i : times + axis) = (uint32_t)n;
    }
    return x ? tdl_builder_tile(im->builder, x, times) : NULL;
}

static struct tdl_operand *add_flip(struct ncnn_import *im, const struct ncnn_layer *l)
{
    struct tdl_operand *x = ncnn_bottom(im, l, 0);
    uint32_t axes[NCNN_MAX_VALUES];

    if (!x)
        return NULL;
    for (uint32_t i = 0; i < l->params[0].count; i++)
        if (!ncnn_axis(im, x, ncnn_int_at(l, 0, i, 0), &axes[i]))
            return NULL;
    return tdl_builder_reverse(im->builder, x, l->params[0].count, axes);
}

/* Channels in groups: the first of each, the second of each, … */
static struct tdl_operand *add_shuffle_channel(struct ncnn_import *im, const struct ncnn_layer *l)
{
    static const uint32_t exchanged[] = {1, 0, 2};
    struct tdl_operand *x = ncnn_bottom(im, l, 0), *y;
    const int32_t groups = ncnn_int(l, 0, 1);
    const uint32_t *in;

    if (!x || !ncnn_in_range(im, "groups", groups, 1))
        return NULL;
    const uint32_t dims = ncnn_dims(x, &in), group = (uint32_t)groups;
    if (in[0] % group)
        return tdl_kit_none(&im->kit, TDL_ERROR_INVALID_MODEL, "%u channels in %u groups", in[0],
                            group);
    const uint32_t first = ncnn_int(l, 1, 0) ? in[0] / group : group;
    const uint32_t rest = (uint32_t)(tdl_kit_elements(x) / in[0]);
    y = ncnn_reshape(im, x, 3, (const uint32_t[]){first, in[0] / first, rest});
    return ncnn_blob(im, tdl_builder_transpose(im->builder, y, exchanged), dims, in);
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
    /* Starts, sizes and ends of w, h and c; of w, h, d and c. */
    static const uint32_t ids[][NCNN_MAX_DIMS][3] = {
        {{0, 3, 6}, {1, 4, 7}, {2, 5, 8}},
        {{0, 3, 6}, {1, 4, 7}, {13, 14, 15}, {2, 5, 8}},
    };
    struct tdl_operand *x = ncnn_bottom(im, l, 0), *like = x;
    struct tdl_slice_params params = {0};

    if (x && l->bottom_count > 1)
        like = ncnn_bottom(im, l, 1);
    if (!x || !like)
        return NULL;
    const struct tdl_tensor_params *in = tdl_kit_desc(x);
    if (l->params[19].text || l->params[20].text)
        return tdl_kit_lacks_none(&im->kit, "places that are expressions are not supported");
    if (l->params[9].set)
        return crop_by_arrays(im, l, x, &params) ? tdl_builder_slice(im->builder, x, &params)
                                                 : NULL;
    if (tdl_kit_rank(like) != in->rank)
        return tdl_kit_none(&im->kit, TDL_ERROR_INVALID_MODEL, "blobs of other dimensions");
    for (uint32_t i = 0; i < in->rank - ncnn_channel_axis(x); i++) {
        const uint32_t d = in->rank - 1 - i, *id = ids[in->rank == 5][i];
        const int64_t start = ncnn_int(l, id[0], 0), whole = in->shape[d];
        const int64_t left = whole - start - ncnn_int(l, id[2], 0);
        const int64_t size =
            l->bottom_count > 1 ? (int64_t)tdl_kit_shape(like)[d] : ncnn_int(l, id[1], NCNN_UNSET);

        if (!set_part(im, &params, d, whole, start,
                      size == NCNN_UNSET || size == 0 || size > left ? left : size))
            return NULL;
    }
    return tdl_builder_slice(im->builder, x, &params);
}

/* ------------------------------------------------------------------ CopyTo, rotary */

/* Where the second blob begins in the first: by arrays, or by a parameter for each dimension. */
static bool copy_places(struct ncnn_import *im, const struct ncnn_layer *l,
                        const struct tdl_operand *x, int64_t *start)
{
    static const uint32_t ids[][NCNN_MAX_DIMS] = {{0}, {1, 0}, {2, 1, 0}, {2, 13, 1, 0}};
    const uint32_t batch = ncnn_channel_axis(x), *shape;
    const uint32_t dims = ncnn_dims(x, &shape);
    uint32_t axis;

    for (uint32_t i = 0; i < dims; i++)
        start[batch + i] = l->params[9].count ? 0 : ncnn_int(l, ids[dims - 1][i], 0);
    for (uint32_t i = 0; i < l->params[9].count; i++) {
        const int32_t at = ncnn_int_at(l, 9, i, 0);

        if (!ncnn_axis(im, x, ncnn_int_at(l, 11, i, (int32_t)i), &axis))
            return false;
        start[axis] = at < 0 ? at + (int64_t)tdl_kit_shape(x)[axis] : at;
    }
    return true;
}

/* The second blob in the place of a part of the first. */
static struct tdl_operand *add_copy_to(struct ncnn_import *im, const struct ncnn_layer *l)
{
    struct tdl_operand *x = ncnn_bottom(im, l, 0), *y = ncnn_bottom(im, l, 1), *where;
    int64_t start[1 + NCNN_MAX_DIMS] = {0};
    struct tdl_pad_params params = {0};

    if (!x || !y)
        return NULL;
    const struct tdl_tensor_params *to = tdl_kit_desc(x), *from = tdl_kit_desc(y);
    if (to->rank != from->rank)
        return tdl_kit_none(&im->kit, TDL_ERROR_INVALID_MODEL, "blobs of other dimensions");
    if (!copy_places(im, l, x, start))
        return NULL;
    for (uint32_t i = 0; i < to->rank; i++) {
        const int64_t after = (int64_t)to->shape[i] - start[i] - from->shape[i];

        if (start[i] < 0 || after < 0)
            return tdl_kit_none(&im->kit, TDL_ERROR_INVALID_MODEL,
                                "%u elements from %lld on, of %u", from->shape[i],
                                (long long)start[i], to->shape[i]);
        params.before[i] = (uint32_t)start[i];
        params.after[i] = (uint32_t)after;
    }
    where = tdl_kit_fill(
        &im->kit,
        &(struct tdl_tensor_params){.dtype = TDL_UINT8,
                                    .rank = from->rank,
                                    .shape = {from->shape[0], from->shape[1], from->shape[2],
                                              from->shape[3], from->shape[4]}},
        1);
    where = where ? tdl_builder_pad(im->builder, where, &params) : NULL;
    return tdl_builder_where(im->builder, where, tdl_builder_pad(im->builder, y, &params), x);
}

/* Pairs turned by the angles of a table: they are neighbours, or lie half a row apart. Su et
 * al., arXiv:2104.09864. */
static struct tdl_operand *add_rotary(struct ncnn_import *im, const struct ncnn_layer *l)
{
    struct tdl_builder *b = im->builder;
    struct tdl_operand *x = ncnn_picture(im, l, 0), *c = ncnn_bottom(im, l, 1);
    struct tdl_operand *s = ncnn_bottom(im, l, 2), *first, *second, *parts[2];
    const uint32_t near = ncnn_int(l, 0, 0) != 0, axis = near ? 4 : 3;

    if (!x || !c || !s)
        return NULL;
    const uint32_t *in = tdl_kit_shape(x), half = in[3] / 2;
    const uint32_t pairs[] = {1, in[1], in[2], near ? half : 2, near ? 2 : half};
    const uint32_t angles[] = {in[2], near ? half : 1, near ? 1 : half};
    if (in[3] % 2 || tdl_kit_elements(c) != in[2] * half || tdl_kit_elements(s) != in[2] * half)
        return tdl_kit_none(&im->kit, TDL_ERROR_INVALID_MODEL,
                            "angles that do not fit rows of %u elements", in[3]);
    c = ncnn_reshape(im, c, 3, angles);
    s = ncnn_reshape(im, s, 3, angles);
    x = ncnn_reshape(im, x, 5, pairs);
    first = part(im, x, axis, 0, 1);
    second = part(im, x, axis, 1, 1);
    parts[0] = tdl_builder_sub(b, tdl_builder_mul(b, first, c), tdl_builder_mul(b, second, s));
    parts[1] = tdl_builder_add(b, tdl_builder_mul(b, first, s), tdl_builder_mul(b, second, c));
    return parts[1] ? ncnn_blob(im, tdl_builder_concat(b, parts, 2, axis), 3, in + 1) : NULL;
}

const struct ncnn_row ncnn_rows_move[] = {
    {"Cast", 1, 1, add_same},
    {"Concat", 1, NCNN_MAX_ARGS, add_concat},
    {"CopyTo", 2, 2, add_copy_to},
    {"Crop", 1, 2, add_crop},
    {"DeepCopy", 1, 1, add_same},
    {"Flip", 1, 1, add_flip},
    {"GLU", 1, 1, add_glu},
    {"Noop", 1, NCNN_MAX_ARGS, NULL, .add_tops = add_noop},
    {"Packing", 1, 1, add_same},
    {"RotaryEmbed", 3, 3, add_rotary},
    {"ShuffleChannel", 1, 1, add_shuffle_channel},
    {"Slice", 1, 1, NULL, .add_tops = add_slice},
    {"Split", 1, 1, add_same, .many_tops = true},
    {"Tile", 1, 1, add_tile},
    {0},
};
