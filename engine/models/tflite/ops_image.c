/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* TensorFlow Lite's pools and resizes. */
#include "ops.h"

static bool read_pool(struct tflite_import *im, const struct tflite_op *op,
                      struct tdl_pool2d_params *params)
{
    return tflite_read_padding(im, op, &params->padding) &&
           tflite_read_pair(im, op, "stride", TFLITE_WINDOW_STRIDE_H, TFLITE_WINDOW_STRIDE_W, 0,
                            params->stride) &&
           tflite_read_pair(im, op, "window", TFLITE_POOL_HEIGHT, TFLITE_POOL_WIDTH, 0,
                            params->window) &&
           tflite_read_activation(im, op, TFLITE_POOL_ACTIVATION, &params->activation);
}

static bool add_max_pool(struct tflite_import *im, const struct tflite_op *op)
{
    struct tdl_pool2d_params params = {0};
    struct tdl_operand *input = tflite_picture(im, op, 0);

    return input && read_pool(im, op, &params) &&
           tflite_give(im, op, tdl_builder_max_pool2d(im->builder, input, &params));
}

static bool add_average_pool(struct tflite_import *im, const struct tflite_op *op)
{
    struct tdl_pool2d_params params = {0};
    struct tdl_operand *input = tflite_picture(im, op, 0), *output;
    const uint32_t *shape;

    if (!input || !read_pool(im, op, &params))
        return false;
    shape = tdl_kit_shape(input);
    /* One window over the whole image is the mean, which has kernels of its own. */
    if (params.window[0] == shape[1] && params.window[1] == shape[2] &&
        (params.padding == TDL_PADDING_EXPLICIT ||
         (params.stride[0] >= shape[1] && params.stride[1] >= shape[2]))) {
        output = tdl_builder_global_average_pool(im->builder, input);
        if (output)
            output = tdl_builder_activation(im->builder, output, params.activation);
    } else {
        output = tdl_builder_average_pool2d(im->builder, input, &params);
    }
    return tflite_give(im, op, output);
}

/* Size and coordinates; both kinds have the same options at other numbers. */
static bool read_resize(struct tflite_import *im, const struct tflite_op *op,
                        uint32_t corners_field, uint32_t half_field,
                        struct tdl_resample2d_params *params)
{
    const bool corners = tdl_fb_u8(&im->fb, &op->options, corners_field, 0);
    const bool half = tdl_fb_u8(&im->fb, &op->options, half_field, 0);
    int64_t size[2];

    if (!tflite_check(im) || !tflite_read_ints(im, op, 1, 2, size) ||
        !tflite_in_step_range(im, "size", size[0], size[1]))
        return false;
    if (corners && half)
        return tdl_kit_damaged(&im->kit, "align_corners and half_pixel_centers exclude each other");
    params->size[0] = (uint32_t)size[0];
    params->size[1] = (uint32_t)size[1];
    params->coordinates = corners ? TDL_RESAMPLE_ALIGN_CORNERS
                          : half  ? TDL_RESAMPLE_HALF_PIXEL
                                  : TDL_RESAMPLE_ASYMMETRIC;
    return true;
}

static bool add_resize(struct tflite_import *im, const struct tflite_op *op)
{
    struct tdl_resample2d_params params = {.mode = TDL_RESAMPLE_LINEAR};
    struct tdl_operand *input = tflite_picture(im, op, 0);

    return input &&
           read_resize(im, op, TFLITE_RESIZE_ALIGN_CORNERS, TFLITE_RESIZE_HALF_PIXEL, &params) &&
           tflite_give(im, op, tdl_builder_resample2d(im->builder, input, &params));
}

/* TensorFlow rounds corners' coordinates half up, takes the pixel in which
 * another centre falls, and else rounds down. */
static bool add_resize_nearest(struct tflite_import *im, const struct tflite_op *op)
{
    struct tdl_resample2d_params params = {.mode = TDL_RESAMPLE_NEAREST};
    struct tdl_operand *input = tflite_picture(im, op, 0);

    if (!input ||
        !read_resize(im, op, TFLITE_NEAREST_ALIGN_CORNERS, TFLITE_NEAREST_HALF_PIXEL, &params))
        return false;
    params.rounding = params.coordinates == TDL_RESAMPLE_ASYMMETRIC ? TDL_RESAMPLE_FLOOR
                                                                    : TDL_RESAMPLE_PREFER_CEIL;
    return tflite_give(im, op, tdl_builder_resample2d(im->builder, input, &params));
}

const struct tflite_op_row tflite_rows_image[] = {
    TFLITE_OP(AVERAGE_POOL_2D, 3, 1, 1, add_average_pool, .options = TFLITE_POOL_2D_OPTIONS),
    TFLITE_OP(MAX_POOL_2D, 3, 1, 1, add_max_pool, .options = TFLITE_POOL_2D_OPTIONS),
    TFLITE_OP(RESIZE_BILINEAR, 4, 2, 2, add_resize, .options = TFLITE_RESIZE_BILINEAR_OPTIONS),
    TFLITE_OP(RESIZE_NEAREST_NEIGHBOR, 4, 2, 2, add_resize_nearest,
              .options = TFLITE_RESIZE_NEAREST_NEIGHBOR_OPTIONS),
    {0},
};
