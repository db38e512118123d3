/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Helpers of all layers: the blobs that they read, and what is wrong with their numbers. */
#include "ncnn.h"

#include <string.h>

#define MAX_SIZE 65536 /* bound of steps, windows, sizes and counts of channels */

bool ncnn_in_range(struct ncnn_import *im, const char *what, int64_t value, int64_t least)
{
    if (value >= least && value <= MAX_SIZE)
        return true;
    tdl_kit_damaged(&im->kit, "the model file is damaged: %s %lld is not within %lld to %d", what,
                    (long long)value, (long long)least, MAX_SIZE);
    return false;
}

struct tdl_operand *ncnn_bottom(struct ncnn_import *im, const struct ncnn_layer *l, uint32_t i)
{
    return im->blobs[l->bottoms[i]].operand;
}

struct tdl_operand *ncnn_picture(struct ncnn_import *im, const struct ncnn_layer *l, uint32_t i)
{
    struct tdl_operand *x = ncnn_bottom(im, l, i);

    if (tdl_kit_rank(x) == 4)
        return x;
    return tdl_kit_lacks_none(&im->kit, "a blob of %u dimensions instead of 3", tdl_kit_rank(x));
}

bool ncnn_is_line(const struct ncnn_layer *l)
{
    return strstr(l->type, "1D") != NULL;
}

struct tdl_operand *ncnn_plane(struct ncnn_import *im, const struct ncnn_layer *l)
{
    struct tdl_operand *x = ncnn_bottom(im, l, 0);

    if (!ncnn_is_line(l))
        return ncnn_picture(im, l, 0);
    if (tdl_kit_rank(x) != 2)
        return x ? tdl_kit_lacks_none(&im->kit, "a blob of %u dimensions instead of 2",
                                      tdl_kit_rank(x))
                 : NULL;
    const uint32_t *in = tdl_kit_shape(x);
    return ncnn_blob(im, x, 3, (const uint32_t[]){in[0], 1, in[1]});
}

struct tdl_operand *ncnn_from_plane(struct ncnn_import *im, const struct ncnn_layer *l,
                                    struct tdl_operand *x)
{
    const uint32_t *in = tdl_kit_shape(x);

    return x && ncnn_is_line(l) ? ncnn_blob(im, x, 2, (const uint32_t[]){in[1], in[3]}) : x;
}

uint32_t ncnn_dims(const struct tdl_operand *x, const uint32_t **out_shape)
{
    const uint32_t batch = tdl_kit_rank(x) >= 4;

    *out_shape = tdl_kit_shape(x) + batch;
    return tdl_kit_rank(x) - batch;
}

struct tdl_operand *ncnn_blob(struct ncnn_import *im, struct tdl_operand *x, uint32_t dims,
                              const uint32_t *shape)
{
    uint32_t whole[1 + NCNN_MAX_DIMS] = {1};
    const uint32_t batch = dims >= 3;

    for (uint32_t i = 0; i < dims; i++)
        whole[batch + i] = shape[i];
    return ncnn_reshape(im, x, batch + dims, whole);
}

bool ncnn_axis(struct ncnn_import *im, const struct tdl_operand *x, int32_t axis, uint32_t *out)
{
    const uint32_t rank = tdl_kit_rank(x), first = rank >= 4;
    const int32_t dims = (int32_t)(rank - first);

    if (axis < -dims || axis >= dims)
        return tdl_kit_damaged(&im->kit, "there is no axis %d in %d dimensions", axis, dims);
    *out = first + (uint32_t)(axis < 0 ? axis + dims : axis);
    return true;
}

struct tdl_operand *ncnn_reshape(struct ncnn_import *im, struct tdl_operand *x, uint32_t rank,
                                 const uint32_t *shape)
{
    return x ? tdl_builder_reshape(im->builder, x, rank, shape) : NULL;
}
