/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* ncnn's layers of pictures: pools, padding and other sizes. */
#include "ncnn.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct tdl_operand *add_pixel_shuffle(struct ncnn_import *im, const struct ncnn_layer *l)
{
    struct tdl_operand *x = ncnn_picture(im, l, 0);
    const int32_t factor = ncnn_int(l, 0, 1);

    if (!x || !ncnn_in_range(im, "factor", factor, 1))
        return NULL;
    return tdl_builder_depth_to_space(im->builder, x, (uint32_t)factor,
                                      ncnn_int(l, 1, 0) ? TDL_BLOCK_DEPTH_FIRST
                                                        : TDL_BLOCK_COLUMN_FIRST);
}

/* ------------------------------------------------------------------- padding */

/* Sides of a picture, px, below 0 where they are cut off. */
static struct tdl_operand *pad(struct ncnn_import *im, struct tdl_operand *x, const int32_t *sides,
                               enum tdl_pad_mode mode, float value)
{
    struct tdl_pad_params params = {.mode = mode, .value = (double)value};
    const uint32_t first = tdl_kit_rank(x) - 2;

    for (uint32_t i = 0; i < 4; i++) { /* top, bottom, left, right */
        if (!ncnn_in_range(im, "padding", sides[i], 0))
            return NULL;
        (i % 2 ? params.after : params.before)[first + i / 2] = (uint32_t)sides[i];
    }
    return tdl_builder_pad(im->builder, x, &params);
}

static struct tdl_operand *add_padding(struct ncnn_import *im, const struct ncnn_layer *l)
{
    static const enum tdl_pad_mode modes[] = {TDL_PAD_CONSTANT, TDL_PAD_EDGE, TDL_PAD_REFLECTION};
    const int32_t sides[] = {ncnn_int(l, 0, 0), ncnn_int(l, 1, 0), ncnn_int(l, 2, 0),
                             ncnn_int(l, 3, 0)};
    const int32_t type = ncnn_int(l, 4, 0);
    struct tdl_operand *x = ncnn_picture(im, l, 0);

    if (x && (type < 0 || type > 2 || ncnn_int(l, 6, 0) || ncnn_int(l, 7, 0) || ncnn_int(l, 8, 0)))
        return tdl_kit_lacks_none(
            &im->kit, "padding of channels, by channel, or of kind %d is not supported", type);
    return x ? pad(im, x, sides, modes[type], ncnn_float(l, 5, 0)) : NULL;
}

/* --------------------------------------------------------------------- pools */

static struct tdl_operand *pool(struct ncnn_import *im, struct tdl_operand *x, int32_t type,
                                const struct tdl_pool2d_params *params)
{
    return (type == 0 ? tdl_builder_max_pool2d : tdl_builder_average_pool2d)(im->builder, x,
                                                                             params);
}

/* A vector of channels. */
static struct tdl_operand *global_pool(struct ncnn_import *im, struct tdl_operand *x, int32_t type)
{
    const uint32_t channels = tdl_kit_shape(x)[1];

    x = type == 0 ? tdl_builder_global_max_pool(im->builder, x)
                  : tdl_builder_global_average_pool(im->builder, x);
    return ncnn_reshape(im, x, 1, &channels);
}

/* Adaptive pools become these where the output divides the input. */
static struct tdl_operand *adaptive_pool(struct ncnn_import *im, const struct ncnn_layer *l,
                                         struct tdl_operand *x)
{
    const uint32_t *size = tdl_kit_shape(x) + 2;
    const int32_t w = ncnn_int(l, 8, 0), h = ncnn_int(l, 18, w);
    struct tdl_pool2d_params params = {0};

    for (uint32_t i = 0; i < 2; i++) {
        const int32_t out = i ? w : h;

        params.window[i] = out == NCNN_UNSET || out < 1 ? 1 : size[i] / (uint32_t)out;
        params.stride[i] = params.window[i];
        if (params.window[i] == 0 || (out > 0 && size[i] % (uint32_t)out != 0) ||
            (out < 1 && out != NCNN_UNSET))
            return tdl_kit_lacks_none(
                &im->kit,
                "adaptive pooling of %u px to %d is not supported; libtdl has what "
                "divides",
                size[i], out);
    }
    return pool(im, x, ncnn_int(l, 0, 0), &params);
}

/* Padding: explicit, with windows that begin inside (0) or end inside (1); or to the
 * input's size divided, the odd pixel at the end (2) or at the begin (3). */
static bool read_pool(struct ncnn_import *im, const struct ncnn_layer *l, const uint32_t *size,
                      struct tdl_pool2d_params *params)
{
    static const uint32_t first[] = {13, 15, 3, 14}; /* top, bottom, left, right */
    const int32_t mode = ncnn_int(l, 5, 0), left = ncnn_int(l, 3, 0), top = ncnn_int(l, 13, left);

    for (uint32_t i = 0; i < 2; i++) { /* height, width */
        const int32_t k = ncnn_int(l, 1, 0), s = ncnn_int(l, 2, 1);
        const int32_t window = i ? k : ncnn_int(l, 11, k), stride = i ? s : ncnn_int(l, 12, s);

        if (!ncnn_in_range(im, "window", window, 1) || !ncnn_in_range(im, "stride", stride, 1))
            return false;
        params->window[i] = (uint32_t)window;
        params->stride[i] = (uint32_t)stride;
    }
    for (uint32_t i = 0; i < 4 && mode < 2; i++) {
        const int32_t side = ncnn_int(l, first[i], i < 2 ? top : left);

        if (!ncnn_in_range(im, "padding", side, 0))
            return false;
        params->pad[i] = (uint32_t)side;
    }
    if (mode == 0)
        params->rounding = TDL_ROUNDING_CEIL;
    for (uint32_t i = 0; i < 2 && mode > 1; i++)
        tdl_kit_pad_same(mode == 2 ? TDL_KIT_SAME_UPPER : TDL_KIT_SAME_LOWER, size[i],
                         params->window[i], 1, params->stride[i], params->pad + 2 * i);
    params->count_include_pad = ncnn_int(l, 6, 0) != 0;
    return mode >= 0 && mode <= 3 ? true : tdl_kit_damaged(&im->kit, "padding of kind %d", mode);
}

static struct tdl_operand *add_pooling(struct ncnn_import *im, const struct ncnn_layer *l)
{
    const int32_t type = ncnn_int(l, 0, 0);
    struct tdl_operand *x = ncnn_picture(im, l, 0);
    struct tdl_pool2d_params params = {0};

    if (x && (type < 0 || type > 1))
        return tdl_kit_none(&im->kit, TDL_ERROR_INVALID_MODEL, "pooling of kind %d", type);
    if (!x || ncnn_int(l, 4, 0) != 0)
        return x ? global_pool(im, x, type) : NULL;
    if (ncnn_int(l, 7, 0) != 0)
        return adaptive_pool(im, l, x);
    return read_pool(im, l, tdl_kit_shape(x) + 2, &params) ? pool(im, x, type, &params) : NULL;
}

/* -------------------------------------------------------------------- Interp */

/* Weights of the four pixels round a place, at a distance t behind the second: Keys,
 * "Cubic convolution interpolation", 1981, with a = −¾. */
static void cubic_weights(float t, float out[4])
{
    const float a = -0.75f, distance[4] = {t + 1, t, 1 - t, 2 - t};

    for (int i = 0; i < 4; i++) {
        const float d = distance[i];

        out[i] = i == 0 || i == 3 ? ((d - 5) * d + 8) * d * a - 4 * a
                                  : ((a + 2) * d - (a + 3)) * d * d + 1;
    }
}

/* Every `step`-th place between the same four pixels of a row and of a column: a
 * convolution of each channel for itself. */
static struct tdl_operand *cubic(struct ncnn_import *im, struct tdl_operand *x,
                                 const uint32_t step[2])
{
    const uint32_t channels = tdl_kit_shape(x)[1];
    const struct tdl_tensor_params desc = {
        .dtype = TDL_FLOAT32, .rank = 4, .shape = {channels, 4, 4, 1}};
    struct tdl_conv2d_params params = {.groups = channels, .stride = {step[0], step[1]}};
    float weights[2][4], *filter = malloc((size_t)channels * 16 * sizeof(*filter));
    int32_t sides[4];
    uint32_t before[2];

    if (!filter)
        return tdl_kit_none(&im->kit, TDL_ERROR_OUT_OF_MEMORY, "no memory for weights");
    tdl_builder_own(im->builder, filter, free);
    for (uint32_t i = 0; i < 2; i++) { /* the first place is (step − 1) / 2 */
        cubic_weights(step[i] % 2 ? 0 : 0.5f, weights[i]);
        before[i] = (step[i] - 1) / 2;
        sides[2 * i] = before[i] == 0 ? 1 : 0;
        sides[2 * i + 1] = step[i] < before[i] + 3 ? (int32_t)(before[i] + 3 - step[i]) : 0;
    }
    for (uint32_t i = 0; i < 16 * channels; i++)
        filter[i] = weights[0][i / 4 % 4] * weights[1][i % 4];
    x = pad(im, x, sides, TDL_PAD_EDGE, 0);
    if (x && (before[0] > 1 || before[1] > 1)) {
        struct tdl_slice_params cut = {0};

        cut.start[2] = before[0] > 1 ? before[0] - 1 : 0;
        cut.start[3] = before[1] > 1 ? before[1] - 1 : 0;
        x = tdl_builder_slice(im->builder, x, &cut);
    }
    struct tdl_operand *constant =
        tdl_builder_constant(im->builder, &desc, filter, 16 * channels * sizeof(*filter));
    return x && constant ? tdl_builder_conv2d(im->builder, x, constant, &params) : NULL;
}

/* Elements of the matrices below, in all of a model. */
#define MAX_MATRICES ((uint64_t)1 << 23)

/* The matrix that makes a row of `out` elements of one of `in`; [out, in], or the other way
 * round with `turned`. Places beyond the ends are those at the ends. */
static struct tdl_operand *cubic_matrix(struct ncnn_import *im, uint32_t in, uint32_t out,
                                        bool turned)
{
    const struct tdl_tensor_params desc = {
        .dtype = TDL_FLOAT32, .rank = 2, .shape = {turned ? in : out, turned ? out : in}};
    const double scale = (double)in / out;
    float weights[4], *matrix;

    im->matrices += (uint64_t)in * out;
    if (im->matrices > MAX_MATRICES)
        return tdl_kit_none(
            &im->kit, TDL_ERROR_UNSUPPORTED,
            "bicubic from %u to %u px, in a picture of this size, is not supported; "
            "give a smaller one",
            in, out);
    matrix = calloc((size_t)in * out, sizeof(*matrix));
    if (!matrix)
        return tdl_kit_none(&im->kit, TDL_ERROR_OUT_OF_MEMORY, "no memory for weights");
    tdl_builder_own(im->builder, matrix, free);
    for (uint32_t o = 0; o < out; o++) {
        const double place = (o + 0.5) * scale - 0.5;
        const int64_t second = (int64_t)floor(place);

        cubic_weights((float)(place - (double)second), weights);
        for (int i = 0; i < 4; i++) {
            const int64_t at = second - 1 + i;
            const size_t from = at < 0 ? 0 : at >= in ? in - 1 : (size_t)at;

            matrix[turned ? from * out + o : (size_t)o * in + from] += weights[i];
        }
    }
    return tdl_builder_constant(im->builder, &desc, matrix, (size_t)in * out * sizeof(*matrix));
}

/* Any size: rows and columns as products of matrices. */
static struct tdl_operand *cubic_to(struct ncnn_import *im, struct tdl_operand *x,
                                    const uint32_t size[2])
{
    const uint32_t *s = tdl_kit_shape(x);
    const uint32_t planes = s[1], in[2] = {s[2], s[3]};
    struct tdl_operand *down = cubic_matrix(im, in[0], size[0], false);
    struct tdl_operand *across = down ? cubic_matrix(im, in[1], size[1], true) : NULL;

    x = across ? ncnn_reshape(im, x, 3, (const uint32_t[]){planes, in[0], in[1]}) : NULL;
    x = x ? tdl_builder_matmul(im->builder, x, across) : NULL;
    x = x ? tdl_builder_matmul(im->builder, down, x) : NULL;
    return ncnn_reshape(im, x, 4, (const uint32_t[]){1, planes, size[0], size[1]});
}

/* Height and width: given, or the input's by a scale. */
static bool output_size(struct ncnn_import *im, const struct ncnn_layer *l, const uint32_t *in,
                        uint32_t out[2])
{
    for (uint32_t i = 0; i < 2; i++) {
        const int32_t size = ncnn_int(l, 3 + i, 0);
        const float scaled = (float)in[i] * ncnn_float(l, 1 + i, 1);

        if (!ncnn_in_range(im, "size", size, 0) ||
            (size == 0 && !ncnn_in_range(im, "size", scaled < 65536 ? (int64_t)scaled : -1, 1)))
            return false;
        out[i] = size ? (uint32_t)size : (uint32_t)scaled;
    }
    return true;
}

static struct tdl_operand *add_interp(struct ncnn_import *im, const struct ncnn_layer *l)
{
    struct tdl_operand *x = ncnn_picture(im, l, 0);
    struct tdl_resample2d_params params = {0};
    const int32_t type = ncnn_int(l, 0, 0);

    if (!x || !output_size(im, l, tdl_kit_shape(x) + 2, params.size))
        return NULL;
    const uint32_t *in = tdl_kit_shape(x) + 2;
    const bool corners = ncnn_int(l, 6, 0) != 0;
    if (in[0] == params.size[0] && in[1] == params.size[1])
        return x;
    if (type == 3 && !corners && in[0] % params.size[0] == 0 && in[1] % params.size[1] == 0)
        return cubic(im, x, (const uint32_t[]){in[0] / params.size[0], in[1] / params.size[1]});
    if (type == 3 && !corners)
        return cubic_to(im, x, params.size);
    if (type != 1 && type != 2)
        return tdl_kit_lacks_none(
            &im->kit,
            "kind %d%s is not supported; libtdl has nearest, bilinear, and bicubic "
            "between centres",
            type, corners ? " between corners" : "");
    params.mode = type == 1 ? TDL_RESAMPLE_NEAREST : TDL_RESAMPLE_LINEAR;
    params.coordinates = type == 1 ? TDL_RESAMPLE_ASYMMETRIC
                         : corners ? TDL_RESAMPLE_ALIGN_CORNERS
                                   : TDL_RESAMPLE_HALF_PIXEL;
    params.rounding = TDL_RESAMPLE_FLOOR;
    return tdl_builder_resample2d(im->builder, x, &params);
}

/* ---------------------------------------------------------------- GridSample */

/* The places lie as pictures do, or as PyTorch has them: x and y side by side. */
static struct tdl_operand *add_grid_sample(struct ncnn_import *im, const struct ncnn_layer *l)
{
    static const enum tdl_grid_mode modes[] = {TDL_GRID_LINEAR, TDL_GRID_NEAREST, TDL_GRID_CUBIC};
    static const uint32_t to_places[] = {0, 2, 3, 1};
    const int32_t mode = ncnn_int(l, 0, 1), padding = ncnn_int(l, 1, 1);
    struct tdl_operand *x = ncnn_picture(im, l, 0), *grid = x ? ncnn_picture(im, l, 1) : NULL;

    if (!grid)
        return NULL;
    if (mode < 1 || mode > 3 || padding < 1 || padding > 3)
        return tdl_kit_lacks_none(&im->kit, "kind %d with padding %d is not supported", mode,
                                  padding);
    const struct tdl_grid_sample_params p = {.mode = modes[mode - 1],
                                             .padding = (enum tdl_grid_padding)(padding - 1),
                                             .align_corners = ncnn_int(l, 2, 0) != 0};
    if (ncnn_int(l, 3, 0))
        grid = tdl_builder_transpose(im->builder, grid, to_places);
    return tdl_builder_grid_sample(im->builder, x, grid, &p);
}

const struct ncnn_row ncnn_rows_image[] = {
    {"GridSample", 2, 2, add_grid_sample}, {"Interp", 1, 1, add_interp},
    {"Padding", 1, 1, add_padding},        {"PixelShuffle", 1, 1, add_pixel_shuffle},
    {"Pooling", 1, 1, add_pooling},        {0},
};
