/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* ncnn's layers of pictures: pools, padding, blocks and places. */
#include "ncnn.h"

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

/* Blocks of pixels as channels; what is over at the right and below is left out. */
static struct tdl_operand *add_reorg(struct ncnn_import *im, const struct ncnn_layer *l)
{
    struct tdl_operand *x = ncnn_picture(im, l, 0);
    const int32_t stride = ncnn_int(l, 0, 1);
    struct tdl_slice_params whole = {0};

    if (!x || !ncnn_in_range(im, "stride", stride, 1))
        return NULL;
    const uint32_t *in = tdl_kit_shape(x), step = (uint32_t)stride;
    if (in[2] < step || in[3] < step)
        return tdl_kit_none(&im->kit, TDL_ERROR_INVALID_MODEL, "blocks of %u in %ux%u px", step,
                            in[3], in[2]);
    whole.size[2] = in[2] / step * step;
    whole.size[3] = in[3] / step * step;
    x = tdl_builder_slice(im->builder, x, &whole);
    return tdl_builder_space_to_depth(
        im->builder, x, step, ncnn_int(l, 1, 0) ? TDL_BLOCK_DEPTH_FIRST : TDL_BLOCK_COLUMN_FIRST);
}

/* A layer of the programs that came with YOLOv5 and YOLOX: every second pixel of every second
 * row, four times, column by column. */
static struct tdl_operand *add_focus(struct ncnn_import *im, const struct ncnn_layer *l)
{
    struct tdl_operand *x = ncnn_picture(im, l, 0), *parts[4];

    if (!x)
        return NULL;
    const uint32_t h = tdl_kit_shape(x)[2] / 2 * 2, w = tdl_kit_shape(x)[3] / 2 * 2;
    if (h == 0 || w == 0)
        return tdl_kit_none(&im->kit, TDL_ERROR_INVALID_MODEL, "a picture of one row or column");
    for (uint32_t i = 0; i < 4; i++) {
        const struct tdl_slice_params params = {.start = {0, 0, i % 2, i / 2},
                                                .size = {0, 0, h - i % 2, w - i / 2},
                                                .step = {1, 1, 2, 2}};

        if (!(parts[i] = tdl_builder_slice(im->builder, x, &params)))
            return NULL;
    }
    return tdl_builder_concat(im->builder, parts, 4, 1);
}

/* ------------------------------------------------------------------- padding */

/* Numbers by channel are taken off before zeros come, and put back. */
static struct tdl_operand *pad_by_channel(struct ncnn_import *im, const struct ncnn_layer *l,
                                          struct tdl_operand *x,
                                          const struct tdl_pad_params *params)
{
    const int32_t count = ncnn_int(l, 6, 0);
    struct tdl_operand *values;

    if (tdl_kit_rank(x) < 4 || params->mode != TDL_PAD_CONSTANT || params->before[1] ||
        params->after[1])
        return tdl_kit_lacks_none(&im->kit,
                                  "numbers by channel for other than pixels are not supported");
    if (!ncnn_in_range(im, "channels", count, 1) ||
        !(values = ncnn_channel_weights(im, x, (uint32_t)count)))
        return NULL;
    x = tdl_builder_pad(im->builder, tdl_builder_sub(im->builder, x, values), params);
    return tdl_builder_add(im->builder, x, values);
}

/* Top, bottom, left and right; front and behind are channels, or the depth where there is
 * one. A vector has no height. */
static struct tdl_operand *add_padding(struct ncnn_import *im, const struct ncnn_layer *l)
{
    static const enum tdl_pad_mode modes[] = {TDL_PAD_CONSTANT, TDL_PAD_EDGE, TDL_PAD_REFLECTION};
    static const uint32_t ids[][2] = {{2, 3}, {0, 1}, {7, 8}}; /* innermost first */
    const int32_t type = ncnn_int(l, 4, 0);
    struct tdl_operand *x = ncnn_bottom(im, l, 0);
    struct tdl_pad_params params = {.value = (double)ncnn_float(l, 5, 0)};
    const uint32_t *in;

    if (!x)
        return NULL;
    if (type < 0 || type > 2)
        return tdl_kit_none(&im->kit, TDL_ERROR_INVALID_MODEL, "padding of kind %d", type);
    params.mode = modes[type];
    const uint32_t dims = ncnn_dims(x, &in), last = tdl_kit_rank(x) - 1;
    for (uint32_t i = 0; i < dims && i < 3; i++) {
        const int32_t before = ncnn_int(l, ids[i][0], 0), after = ncnn_int(l, ids[i][1], 0);

        if (!ncnn_in_range(im, "padding", before, 0) || !ncnn_in_range(im, "padding", after, 0))
            return NULL;
        params.before[last - i] = (uint32_t)before;
        params.after[last - i] = (uint32_t)after;
    }
    return ncnn_int(l, 6, 0) ? pad_by_channel(im, l, x, &params)
                             : tdl_builder_pad(im->builder, x, &params);
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

/* Output `o` of `out` is the mean of all pixels that it has a part of. */
static void mean_row(uint32_t in, uint32_t out, uint32_t o, float *row, size_t step)
{
    const uint64_t first = (uint64_t)in * o / out;
    const uint64_t end = ((uint64_t)in * (o + 1) + out - 1) / out;

    for (uint64_t i = first; i < end; i++)
        row[i * step] = 1 / (float)(end - first);
}

/* Adaptive pools are plain ones where the output divides the input; means of others are
 * products of matrices. A size that is not given is the input's. */
static struct tdl_operand *adaptive_pool(struct ncnn_import *im, const struct ncnn_layer *l,
                                         struct tdl_operand *x)
{
    const uint32_t *in = tdl_kit_shape(x) + 2;
    const int32_t w = ncnn_int(l, 8, 0), h = ncnn_is_line(l) ? 1 : ncnn_int(l, 18, w);
    struct tdl_pool2d_params params = {0};
    bool divides = true;
    uint32_t size[2];

    for (uint32_t i = 0; i < 2; i++) {
        const int32_t out = i ? w : h;

        if (out != NCNN_UNSET && !ncnn_in_range(im, "size", out, 1))
            return NULL;
        size[i] = out == NCNN_UNSET ? in[i] : (uint32_t)out;
        divides &= in[i] % size[i] == 0;
        params.window[i] = params.stride[i] = divides ? in[i] / size[i] : 1;
    }
    if (divides)
        return pool(im, x, ncnn_int(l, 0, 0), &params);
    if (ncnn_int(l, 0, 0) == 0)
        return tdl_kit_lacks_none(&im->kit,
                                  "adaptive pooling of %ux%u px to %ux%u is not supported; libtdl "
                                  "has the largest of what divides",
                                  in[1], in[0], size[1], size[0]);
    return ncnn_mix(im, x, size, mean_row);
}

/* Padding: explicit, with windows that begin inside (0) or end inside (1); or to the
 * input's size divided, the odd pixel at the end (2) or at the begin (3). */
static bool read_pool(struct ncnn_import *im, const struct ncnn_layer *l, const uint32_t *size,
                      struct tdl_pool2d_params *params)
{
    static const uint32_t first[] = {13, 15, 3, 14}; /* top, bottom, left, right */
    const bool line = ncnn_is_line(l);
    const int32_t mode = ncnn_int(l, 5, 0), left = ncnn_int(l, 3, 0);
    const int32_t top = ncnn_int(l, 13, left);

    for (uint32_t i = 0; i < 2; i++) { /* height, width */
        const int32_t k = ncnn_int(l, 1, 0), s = ncnn_int(l, 2, 1);
        const int32_t window = i ? k : line ? 1 : ncnn_int(l, 11, k);
        const int32_t stride = i ? s : line ? 1 : ncnn_int(l, 12, s);

        if (!ncnn_in_range(im, "window", window, 1) || !ncnn_in_range(im, "stride", stride, 1))
            return false;
        params->window[i] = (uint32_t)window;
        params->stride[i] = (uint32_t)stride;
    }
    for (uint32_t i = 0; i < 4 && mode < 2; i++) {
        const int32_t side = line && i < 2 ? 0 : ncnn_int(l, first[i], i < 2 ? top : left);

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
    struct tdl_operand *x = ncnn_plane(im, l);
    struct tdl_pool2d_params params = {0};

    if (x && (type < 0 || type > 1))
        return tdl_kit_none(&im->kit, TDL_ERROR_INVALID_MODEL, "pooling of kind %d", type);
    if (!x || ncnn_int(l, 4, 0) != 0)
        return x ? global_pool(im, x, type) : NULL;
    if (ncnn_int(l, 7, 0) != 0)
        return ncnn_from_plane(im, l, adaptive_pool(im, l, x));
    if (!read_pool(im, l, tdl_kit_shape(x) + 2, &params))
        return NULL;
    return ncnn_from_plane(im, l, pool(im, x, type, &params));
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
    {"GridSample", 2, 2, add_grid_sample},     {"Padding", 1, 1, add_padding},
    {"PixelShuffle", 1, 1, add_pixel_shuffle}, {"Pooling", 1, 1, add_pooling},
    {"Pooling1D", 1, 1, add_pooling},          {"Reorg", 1, 1, add_reorg},
    {"YoloV5Focus", 1, 1, add_focus},          {0},
};
