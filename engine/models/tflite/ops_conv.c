/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* TensorFlow Lite's convolutions. */
#include "ops.h"

#include <string.h>

static bool add_conv2d(struct tflite_import *im, const struct tflite_op *op)
{
    struct tdl_conv2d_params params = {0};
    struct tdl_operand *input = tflite_picture(im, op, 0);
    struct tdl_operand *filter = input ? tflite_filter(im, op, 1) : NULL;
    uint32_t channels, filter_channels;

    if (!filter || !tflite_read_padding(im, op, &params.padding) ||
        !tflite_read_pair(im, op, "stride", TFLITE_WINDOW_STRIDE_H, TFLITE_WINDOW_STRIDE_W, 0,
                          params.stride) ||
        !tflite_read_pair(im, op, "dilation", TFLITE_CONV_DILATION_H, TFLITE_CONV_DILATION_W, 1,
                          params.dilation) ||
        !tflite_read_activation(im, op, TFLITE_CONV_ACTIVATION, &params.activation) ||
        !tflite_read_bias(im, op, 2, &params.bias))
        return false;
    channels = tdl_kit_shape(input)[3];
    filter_channels = tdl_kit_shape(filter)[3];
    if (channels % filter_channels != 0)
        return tdl_kit_damaged(&im->kit, "a filter of %u channels does not divide an input of %u",
                               filter_channels, channels);
    params.groups = channels / filter_channels;
    return tflite_give(im, op, tdl_builder_conv2d(im->builder, input, filter, &params));
}

/* [1, kh, kw, out] as the file has it into [out, kh, kw, 1], in memory that the
 * builder owns. */
static bool transpose_depthwise(struct tflite_import *im, struct tflite_tensor *filter)
{
    const size_t element = tflite_type_size(filter->type);
    const uint32_t taps = filter->shape[1] * filter->shape[2], channels = filter->shape[3];
    const struct tflite_made key = {.from = (uintptr_t)filter->data,
                                    .size = filter->data_size,
                                    .bytes = filter->data_size,
                                    .kind = TFLITE_MADE_DEPTHWISE,
                                    .taps = taps,
                                    .channels = channels};
    bool found;
    uint8_t *memory = tflite_make(im, &key, &found);

    if (!memory)
        return false;
    for (uint32_t tap = 0; tap < taps && !found; tap++) {
        for (uint32_t c = 0; c < channels; c++)
            memcpy(memory + ((size_t)c * taps + tap) * element,
                   filter->data + ((size_t)tap * channels + c) * element, element);
    }
    filter->data = memory;
    filter->shape[0] = channels;
    filter->shape[3] = 1;
    if (filter->axis == 0 || filter->axis == 3) /* count of scales */
        filter->axis = 3 - filter->axis;
    return true;
}

/* The multiplier is in the filter's shape; the option of that name is redundant, and not every
 * converter fills it in. */
static bool check_depthwise(struct tflite_import *im, const char *type, uint32_t rank,
                            const uint32_t *s, uint32_t channels)
{
    if (rank != 4 || s[0] != 1 || s[3] % channels != 0)
        return tdl_kit_damaged(&im->kit,
                               "a depthwise filter %s[%u,%u,%u,%u] does not fit %u channels", type,
                               s[0], s[1], s[2], s[3], channels);
    return tflite_in_step_range(im, "filter", s[1], s[2]);
}

/* A constant of the file, whose numbers are moved; or what a graph got as its argument. */
static struct tdl_operand *depthwise_filter(struct tflite_import *im, const struct tflite_op *op,
                                            uint32_t channels, enum tdl_filter_layout *layout)
{
    struct tflite_tensor constant;
    struct tdl_operand *given;

    if (!tflite_get_tensor(im, op->inputs[1], &constant))
        return NULL;
    given = im->values[op->inputs[1]].operand;
    if (given && !constant.data && !im->values[op->inputs[1]].source) {
        *layout = TDL_FILTER_IHWO;
        return check_depthwise(im, tdl_dtype_name(tdl_kit_desc(given)->dtype), tdl_kit_rank(given),
                               tdl_kit_shape(given), channels)
                   ? given
                   : NULL;
    }
    if (!tflite_get_weights(im, op->inputs[1], &constant))
        return NULL;
    const bool real = constant.type == TFLITE_FLOAT32 || constant.type == TFLITE_FLOAT16 ||
                      tflite_is_quantized(&constant);
    if (!check_depthwise(im, tflite_type_name(constant.type), real ? constant.rank : 0,
                         constant.shape, channels) ||
        !transpose_depthwise(im, &constant))
        return NULL;
    return tflite_constant_operand(im, &constant);
}

static bool add_depthwise(struct tflite_import *im, const struct tflite_op *op)
{
    struct tdl_conv2d_params params = {0};
    struct tdl_operand *input = tflite_picture(im, op, 0), *filter;

    if (!input || !tflite_read_padding(im, op, &params.padding) ||
        !tflite_read_pair(im, op, "stride", TFLITE_WINDOW_STRIDE_H, TFLITE_WINDOW_STRIDE_W, 0,
                          params.stride) ||
        !tflite_read_pair(im, op, "dilation", TFLITE_DEPTHWISE_DILATION_H,
                          TFLITE_DEPTHWISE_DILATION_W, 1, params.dilation) ||
        !tflite_read_activation(im, op, TFLITE_DEPTHWISE_ACTIVATION, &params.activation) ||
        !tflite_read_bias(im, op, 2, &params.bias))
        return false;
    params.groups = tdl_kit_shape(input)[3];
    filter = depthwise_filter(im, op, params.groups, &params.filter_layout);
    return filter && tflite_give(im, op, tdl_builder_conv2d(im->builder, input, filter, &params));
}

static bool add_transpose_conv(struct tflite_import *im, const struct tflite_op *op)
{
    struct tdl_conv_transpose2d_params params = {0};
    struct tdl_operand *input, *filter;
    int64_t shape[4];

    if (!tflite_read_ints(im, op, 0, 4, shape))
        return false;
    filter = tflite_filter(im, op, 1);
    input = filter ? tflite_picture(im, op, 2) : NULL;
    if (!input || !tflite_read_padding(im, op, &params.padding) ||
        !tflite_read_pair(im, op, "stride", TFLITE_WINDOW_STRIDE_H, TFLITE_WINDOW_STRIDE_W, 0,
                          params.stride) ||
        !tflite_read_activation(im, op, TFLITE_TRANSPOSE_CONV_ACTIVATION, &params.activation) ||
        !tflite_read_bias(im, op, 3, &params.bias) ||
        !tdl_kit_crop_gradient(&im->kit, tdl_kit_shape(input) + 1, tdl_kit_shape(filter) + 1,
                               shape + 1, &params))
        return false;
    return tflite_give(im, op, tdl_builder_conv_transpose2d(im->builder, input, filter, &params));
}

/* MediaPipe's transposed convolution with a bias. Its options are the C struct
 * TfLiteTransposeConvParams as it lay in memory: int32 padding (1 SAME,
 * 2 VALID), stride_width, stride_height, and in newer files the activation. */
static bool add_transpose_conv_bias(struct tflite_import *im, const struct tflite_op *op)
{
    struct tdl_conv_transpose2d_params params = {0};
    struct tdl_operand *input = tflite_picture(im, op, 0);
    struct tdl_operand *filter = input ? tflite_filter(im, op, 1) : NULL;
    struct tdl_fb_vector words = op->custom_options;
    int32_t word[4] = {0};

    if (!filter || !tflite_read_bias(im, op, 2, &params.bias))
        return false;
    words.count /= 4;
    for (uint32_t i = 0; i < 4 && i < words.count; i++)
        word[i] = tdl_fb_vector_i32(&im->fb, &words, i);
    if (!tflite_check(im))
        return false;
    if (words.count < 3 || word[0] < 1 || word[0] > 2 || word[3] != 0)
        return tdl_kit_lacks(&im->kit,
                             "options (%u bytes, padding %d, activation %d) are not those of "
                             "MediaPipe's operator",
                             op->custom_options.count, word[0], word[3]);
    if (!tflite_in_step_range(im, "stride", word[2], word[1]))
        return false;
    params.stride[0] = (uint32_t)word[2];
    params.stride[1] = (uint32_t)word[1];
    params.padding = word[0] == 1 ? TDL_PADDING_SAME_UPPER : TDL_PADDING_EXPLICIT;
    return tflite_give(im, op, tdl_builder_conv_transpose2d(im->builder, input, filter, &params));
}

const struct tflite_op_row tflite_rows_conv[] = {
    TFLITE_OP(CONV_2D, 8, 2, 3, add_conv2d, .options = TFLITE_CONV_2D_OPTIONS),
    TFLITE_OP(DEPTHWISE_CONV_2D, 7, 2, 3, add_depthwise,
              .options = TFLITE_DEPTHWISE_CONV_2D_OPTIONS),
    TFLITE_OP(TRANSPOSE_CONV, 5, 3, 4, add_transpose_conv,
              .options = TFLITE_TRANSPOSE_CONV_OPTIONS),
    {"Convolution2DTransposeBias", 2, 3, add_transpose_conv_bias, .newest = 1,
     .code = TFLITE_CUSTOM},
    {0},
};
