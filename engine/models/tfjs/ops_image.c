/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* TensorFlow.js's pools, resizes, blocks and normalizations of pictures. */
#include "windows.h"

#include <string.h>

enum pool { AVERAGE, MAX };

static bool add_pool(struct tfjs_import *im)
{
    struct tdl_pool2d_params params = {.input_layout = tfjs_input_layout(im)};
    struct tdl_operand *x = tfjs_picture(im, 0);
    const bool max = im->row->detail == MAX;
    const uint32_t *s = tdl_kit_shape(x) + (params.input_layout == TDL_LAYOUT_NCHW ? 2 : 1);

    if (!x || !tfjs_pair(im, "ksize", params.window) || !tfjs_pair(im, "strides", params.stride) ||
        !tfjs_padding(im, &params.padding, params.pad))
        return false;
    /* One window over all of it has kernels of its own. */
    if (params.window[0] == s[0] && params.window[1] == s[1] && !params.pad[0] && !params.pad[1] &&
        !params.pad[2] && !params.pad[3] && params.padding == TDL_PADDING_EXPLICIT)
        params = (struct tdl_pool2d_params){.input_layout = params.input_layout};
    x = max ? tdl_builder_max_pool2d(im->builder, x, &params)
            : tdl_builder_average_pool2d(im->builder, x, &params);
    return tfjs_give(im, x);
}

/* Integers give floats. */
static bool add_resize(struct tfjs_import *im)
{
    const bool corners = tfjs_bool(im, "align_corners"), half = tfjs_bool(im, "half_pixel_centers");
    struct tdl_resample2d_params params = {.mode = (enum tdl_resample_mode)im->row->detail};
    struct tdl_operand *x = tfjs_picture(im, 0);
    uint32_t size[TDL_MAX_RANK], count;

    if (!x || !tfjs_shape_at(im, 1, size, &count))
        return false;
    if (count != 2 || (corners && half))
        return tdl_kit_damaged(&im->kit, "%u sizes, align_corners %d, half_pixel_centers %d", count,
                               corners, half);
    params.size[0] = size[0];
    params.size[1] = size[1];
    params.coordinates = corners ? TDL_RESAMPLE_ALIGN_CORNERS
                         : half  ? TDL_RESAMPLE_HALF_PIXEL
                                 : TDL_RESAMPLE_ASYMMETRIC;
    /* Corners' coordinates are rounded half up, centres fall into a pixel. */
    params.rounding = corners || half ? TDL_RESAMPLE_PREFER_CEIL : TDL_RESAMPLE_FLOOR;
    if (tdl_kit_desc(x)->dtype != TDL_FLOAT32)
        x = tdl_builder_cast(im->builder, x, TDL_FLOAT32);
    if (size[0] == tdl_kit_shape(x)[1] && size[1] == tdl_kit_shape(x)[2])
        return tfjs_give(im, x);
    return tfjs_give(im, tdl_builder_resample2d(im->builder, x, &params));
}

static bool add_blocks(struct tfjs_import *im)
{
    struct tdl_operand *x = tfjs_picture(im, 0);
    const int64_t size = tfjs_int(im, "block_size", 0);

    if (!x)
        return false;
    if (size < 1 || size > 64)
        return tdl_kit_damaged(&im->kit, "blocks of %lld px", (long long)size);
    tdl_builder_set_input_layout(im->builder, tfjs_input_layout(im));
    x = (im->row->detail ? tdl_builder_space_to_depth : tdl_builder_depth_to_space)(
        im->builder, x, (uint32_t)size, TDL_BLOCK_DEPTH_FIRST);
    tdl_builder_set_input_layout(im->builder, TDL_LAYOUT_NHWC);
    return tfjs_give(im, x);
}

static bool add_batch_norm(struct tfjs_import *im)
{
    struct tdl_operand *x = tfjs_picture(im, 0), *in[5] = {0};
    struct tdl_batch_normalization_params params = {.input_layout = tfjs_input_layout(im)};

    for (uint32_t i = 1; x && i < 5; i++)
        if (!(in[i] = tfjs_operand(im, i)))
            return false;
    if (!x)
        return false;
    if (tfjs_bool(im, "is_training"))
        return tdl_kit_lacks(&im->kit, "it is in training, and libtdl runs networks only");
    params.scale = in[1];
    params.bias = in[2];
    params.epsilon = (float)tfjs_float(im, "epsilon", 1e-4);
    return tfjs_give(im, tdl_builder_batch_normalization(im->builder, x, in[3], in[4], &params));
}

/* By channel, or along the last dimension. */
static bool add_bias(struct tfjs_import *im)
{
    struct tdl_operand *x = tfjs_operand(im, 0), *bias = x ? tfjs_operand(im, 1) : NULL;
    char text[8];

    if (!bias)
        return false;
    if (tdl_kit_rank(bias) != 1)
        return tdl_kit_damaged(&im->kit, "a bias of %u dimensions", tdl_kit_rank(bias));
    if (!strcmp(tfjs_string(im, "data_format", text, sizeof(text)), "NCHW") && tdl_kit_rank(x) == 4)
        bias = tfjs_reshape(im, bias, 3, (const uint32_t[]){tdl_kit_shape(bias)[0], 1, 1});
    return tfjs_give(im, tdl_builder_add(im->builder, x, bias));
}

const struct tfjs_row tfjs_rows_image[] = {
    {"AvgPool", 1, 1, add_pool, .detail = AVERAGE},
    {"BiasAdd", 2, 2, add_bias},
    {"BiasAddV1", 2, 2, add_bias},
    {"DepthToSpace", 1, 1, add_blocks},
    {"FusedBatchNorm", 5, 5, add_batch_norm},
    {"FusedBatchNormV2", 5, 5, add_batch_norm},
    {"FusedBatchNormV3", 5, 5, add_batch_norm},
    {"MaxPool", 1, 1, add_pool, .detail = MAX},
    {"ResizeBilinear", 2, 2, add_resize, .detail = TDL_RESAMPLE_LINEAR},
    {"ResizeNearestNeighbor", 2, 2, add_resize, .detail = TDL_RESAMPLE_NEAREST},
    {"SpaceToDepth", 1, 1, add_blocks, .detail = 1},
    {0},
};
