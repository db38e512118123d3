/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* ncnn's normalizations; each takes a blob of any dimensions unless it says otherwise. */
#include "ncnn.h"

/* Numbers of the file behind it: a factor, and with `shifts` a term, of each channel. */
static struct tdl_operand *scale_channels(struct ncnn_import *im, struct tdl_operand *x,
                                          int32_t channels, bool shifts)
{
    struct tdl_operand *factor, *term = NULL;

    if (!x || !ncnn_in_range(im, "channels", channels, 1))
        return NULL;
    factor = ncnn_channel_weights(im, x, (uint32_t)channels);
    if (shifts)
        term = ncnn_channel_weights(im, x, (uint32_t)channels);
    x = tdl_builder_mul(im->builder, x, factor);
    return shifts ? tdl_builder_add(im->builder, x, term) : x;
}

/* 1 / √(x + epsilon) */
static struct tdl_operand *inverse_root(struct ncnn_import *im, struct tdl_operand *x,
                                        float epsilon)
{
    x = tdl_builder_sqrt(im->builder, tdl_builder_linear(im->builder, x, 1, epsilon));
    return tdl_builder_reciprocal(im->builder, x);
}

/* Each row of [rows, elements] for itself: less its mean, by its deviation. */
static struct tdl_operand *normalize_rows(struct ncnn_import *im, struct tdl_operand *x,
                                          uint32_t size, float epsilon, struct tdl_operand *scale,
                                          struct tdl_operand *bias)
{
    const uint32_t rows = (uint32_t)(tdl_kit_elements(x) / size);
    const struct tdl_layer_normalization_params params = {
        .scale = scale, .bias = bias, .axes = {1}, .axis_count = 1, .epsilon = epsilon};

    x = ncnn_reshape(im, x, 2, (const uint32_t[]){rows, size});
    return tdl_builder_layer_normalization(im->builder, x, &params);
}

static struct tdl_operand *add_instance_norm(struct ncnn_import *im, const struct ncnn_layer *l)
{
    struct tdl_operand *x = ncnn_bottom(im, l, 0), *y;
    const uint32_t *in;

    if (!x)
        return NULL;
    const uint32_t dims = ncnn_dims(x, &in);
    if (dims < 3)
        return tdl_kit_lacks_none(&im->kit, "a blob of %u dimensions instead of 3 or 4", dims);
    y = normalize_rows(im, x, (uint32_t)(tdl_kit_elements(x) / in[0]), ncnn_float(l, 1, 0.001f),
                       NULL, NULL);
    y = ncnn_blob(im, y, dims, in);
    return ncnn_int(l, 2, 1) ? scale_channels(im, y, ncnn_int(l, 0, 0), true) : y;
}

static struct tdl_operand *add_group_norm(struct ncnn_import *im, const struct ncnn_layer *l)
{
    struct tdl_operand *x = ncnn_bottom(im, l, 0), *y;
    const int32_t groups = ncnn_int(l, 0, 1);
    const uint32_t *in;

    if (!x || !ncnn_in_range(im, "groups", groups, 1))
        return NULL;
    const uint32_t dims = ncnn_dims(x, &in);
    if (in[0] % (uint32_t)groups)
        return tdl_kit_none(&im->kit, TDL_ERROR_INVALID_MODEL, "%u channels in %d groups", in[0],
                            groups);
    y = normalize_rows(im, x, (uint32_t)(tdl_kit_elements(x) / (uint32_t)groups),
                       ncnn_float(l, 2, 0.001f), NULL, NULL);
    y = ncnn_blob(im, y, dims, in);
    return ncnn_int(l, 3, 1) ? scale_channels(im, y, ncnn_int(l, 1, 0), true) : y;
}

/* Elements that are normalized together, and that the weights are for: the innermost
 * dimensions that have so many, but never all of several channels. */
static uint32_t layer_size(struct ncnn_import *im, const struct ncnn_layer *l,
                           const struct tdl_operand *x)
{
    const uint32_t *in;
    const uint32_t dims = ncnn_dims(x, &in), wanted = (uint32_t)ncnn_int(l, 0, 0);
    const uint32_t least = dims > 1;
    uint32_t size = 1;

    for (uint32_t i = dims; i-- > least;) {
        size *= in[i];
        if (size == wanted)
            return size;
    }
    if (size == wanted || ncnn_int(l, 2, 1) == 0)
        return size;
    tdl_kit_damaged(&im->kit, "%u numbers for %u elements", wanted, size);
    return 0;
}

static struct tdl_operand *add_layer_norm(struct ncnn_import *im, const struct ncnn_layer *l)
{
    struct tdl_operand *x = ncnn_bottom(im, l, 0), *scale = NULL, *bias = NULL;
    const uint32_t size = x ? layer_size(im, l, x) : 0, *in;

    if (size == 0)
        return NULL;
    if (ncnn_int(l, 2, 1)) {
        scale = ncnn_weights(im, false, 1, &size);
        bias = scale ? ncnn_weights(im, false, 1, &size) : NULL;
        if (!bias)
            return NULL;
    }
    const uint32_t dims = ncnn_dims(x, &in);
    return ncnn_blob(im, normalize_rows(im, x, size, ncnn_float(l, 1, 0.001f), scale, bias), dims,
                     in);
}

/* x / √(mean of x² + epsilon) · scale: Zhang and Sennrich, arXiv:1910.07467. */
static struct tdl_operand *add_rms_norm(struct ncnn_import *im, const struct ncnn_layer *l)
{
    static const struct tdl_reduce_params row = {
        .axes = {1}, .axis_count = 1, .keep_dimensions = true};
    struct tdl_operand *x = ncnn_bottom(im, l, 0), *y, *mean;
    const uint32_t size = x ? layer_size(im, l, x) : 0, *in;

    if (size == 0)
        return NULL;
    const uint32_t rows = (uint32_t)(tdl_kit_elements(x) / size), dims = ncnn_dims(x, &in);
    y = ncnn_reshape(im, x, 2, (const uint32_t[]){rows, size});
    mean =
        tdl_builder_reduce(im->builder, tdl_builder_mul(im->builder, y, y), TDL_REDUCE_MEAN, &row);
    y = tdl_builder_mul(im->builder, y, inverse_root(im, mean, ncnn_float(l, 1, 0.001f)));
    if (y && ncnn_int(l, 2, 1))
        y = tdl_builder_mul(im->builder, y, ncnn_weights(im, false, 1, &size));
    return ncnn_blob(im, y, dims, in);
}

/* ------------------------------------------------------- without weights of their own */

/* The channels, or all that is not the channels, or both. */
static struct tdl_reduce_params over(const struct tdl_operand *x, bool channels, bool pixels)
{
    struct tdl_reduce_params params = {.keep_dimensions = true};

    for (uint32_t i = ncnn_channel_axis(x); i < tdl_kit_rank(x); i++)
        if (i == ncnn_channel_axis(x) ? channels : pixels)
            params.axes[params.axis_count++] = i;
    return params;
}

/* (x − mean) / (√variance + epsilon) */
static struct tdl_operand *add_mvn(struct ncnn_import *im, const struct ncnn_layer *l)
{
    struct tdl_builder *b = im->builder;
    struct tdl_operand *x = ncnn_picture(im, l, 0), *d, *root;

    if (!x)
        return NULL;
    const struct tdl_reduce_params params = over(x, ncnn_int(l, 1, 0) != 0, true);
    d = tdl_builder_sub(b, x, tdl_builder_reduce(b, x, TDL_REDUCE_MEAN, &params));
    if (ncnn_int(l, 0, 0) == 0)
        return d;
    root = tdl_builder_sqrt(
        b, tdl_builder_reduce(b, tdl_builder_mul(b, d, d), TDL_REDUCE_MEAN, &params));
    return tdl_builder_div(b, d, tdl_builder_linear(b, root, 1, ncnn_float(l, 2, 0.0001f)));
}

/* By the root of the sum of squares, which epsilon keeps from 0 in one of three ways. */
static struct tdl_operand *add_normalize(struct ncnn_import *im, const struct ncnn_layer *l)
{
    struct tdl_builder *b = im->builder;
    struct tdl_operand *x = ncnn_picture(im, l, 0), *sum;
    const float epsilon = ncnn_float(l, 2, 0.0001f);
    const int32_t mode = ncnn_int(l, 9, 0), count = ncnn_int(l, 3, 0);

    if (!x)
        return NULL;
    const struct tdl_reduce_params params = over(x, ncnn_int(l, 4, 1) != 0, ncnn_int(l, 0, 0) != 0);
    if (mode < 0 || mode > 2 || params.axis_count == 0)
        return tdl_kit_none(&im->kit, TDL_ERROR_INVALID_MODEL,
                            "nothing to normalize over, or epsilon of kind %d", mode);
    sum = tdl_builder_reduce(b, x, TDL_REDUCE_SUM_SQUARE, &params);
    if (mode == 2)
        sum = tdl_builder_clamp(b, sum, &epsilon, NULL);
    if (mode == 0)
        sum = tdl_builder_linear(b, sum, 1, epsilon);
    sum = tdl_builder_sqrt(b, sum);
    if (mode == 1)
        sum = tdl_builder_clamp(b, sum, &epsilon, NULL);
    return scale_channels(im, tdl_builder_div(b, x, sum), count, false);
}

/* x · (bias + alpha · mean of x²)^−beta, over channels that are neighbours, or over pixels:
 * the mean is a pool, along the channels as rows of a picture. */
static struct tdl_operand *add_lrn(struct ncnn_import *im, const struct ncnn_layer *l)
{
    struct tdl_builder *b = im->builder;
    struct tdl_operand *x = ncnn_picture(im, l, 0), *y;
    const int32_t size = ncnn_int(l, 1, 5);
    const bool pixels = ncnn_int(l, 0, 0) != 0;

    if (!x || !ncnn_in_range(im, "neighbours", size, 1))
        return NULL;
    const uint32_t *in = tdl_kit_shape(x);
    const uint32_t before = (uint32_t)size / 2, window = pixels ? (uint32_t)size : 2 * before + 1;
    const uint32_t behind = window - 1 - before;
    const struct tdl_pool2d_params params = {
        .window = {window, pixels ? window : 1},
        .pad = {before, behind, pixels ? before : 0, pixels ? behind : 0},
        .count_include_pad = true,
    };
    y = tdl_builder_mul(b, x, x);
    if (!pixels)
        y = ncnn_reshape(im, y, 4, (const uint32_t[]){1, 1, in[1], in[2] * in[3]});
    y = tdl_builder_average_pool2d(b, y, &params);
    y = tdl_builder_linear(b, y, ncnn_float(l, 2, 1) * (float)window / (float)size,
                           ncnn_float(l, 4, 1));
    y = tdl_builder_pow(b, y,
                        tdl_kit_number(&im->kit, TDL_FLOAT32, (double)ncnn_float(l, 3, 0.75f)));
    return tdl_builder_div(b, x, ncnn_reshape(im, y, 4, in));
}

const struct ncnn_row ncnn_rows_norm[] = {
    {"GroupNorm", 1, 1, add_group_norm},
    {"InstanceNorm", 1, 1, add_instance_norm},
    {"LRN", 1, 1, add_lrn},
    {"LayerNorm", 1, 1, add_layer_norm},
    {"MVN", 1, 1, add_mvn},
    {"Normalize", 1, 1, add_normalize},
    {"RMSNorm", 1, 1, add_rms_norm},
    {0},
};
