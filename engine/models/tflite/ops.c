/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Operators of TensorFlow Lite as builder calls: a table of rows, one function
 * for each kind of operator. */
#include "ops.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Strides, windows and dilations beyond this are nonsense in an image network
 * and would only overflow sums further down. */
#define MAX_STEP 16384

bool tflite_in_step_range(struct tflite_import *im, const char *what, int32_t a, int32_t b)
{
    if (a >= 1 && a <= MAX_STEP && b >= 1 && b <= MAX_STEP)
        return true;
    return tflite_fail(im, TDL_ERROR_INVALID_MODEL,
                       "the model file is damaged: %s %dx%d is not within 1 to %d", what, a, b,
                       MAX_STEP);
}

/* Vertical and horizontal numbers of an options table. */
bool tflite_read_pair(struct tflite_import *im, const struct tflite_op *op, const char *what,
                      uint32_t field_h, uint32_t field_w, int32_t fallback, uint32_t out[2])
{
    const int32_t h = tdl_fb_i32(&im->fb, &op->options, field_h, fallback);
    const int32_t w = tdl_fb_i32(&im->fb, &op->options, field_w, fallback);

    if (!tflite_check(im) || !tflite_in_step_range(im, what, h, w))
        return false;
    out[0] = (uint32_t)h;
    out[1] = (uint32_t)w;
    return true;
}

bool tflite_read_padding(struct tflite_import *im, const struct tflite_op *op,
                         enum tdl_padding *out)
{
    const uint8_t padding = tdl_fb_u8(&im->fb, &op->options, TFLITE_WINDOW_PADDING, 0);

    if (!tflite_check(im))
        return false;
    if (padding > TFLITE_PADDING_VALID)
        return tflite_fail(im, TDL_ERROR_INVALID_MODEL,
                           "the model file is damaged: padding %u is neither SAME nor VALID",
                           padding);
    *out = padding == TFLITE_PADDING_SAME ? TDL_PADDING_SAME_UPPER : TDL_PADDING_EXPLICIT;
    return true;
}

bool tflite_read_activation(struct tflite_import *im, const struct tflite_op *op, uint32_t field,
                            enum tdl_activation *out)
{
    const uint8_t code = tdl_fb_u8(&im->fb, &op->options, field, TFLITE_ACTIVATION_NONE);

    if (!tflite_check(im))
        return false;
    switch (code) {
    case TFLITE_ACTIVATION_NONE:
        *out = TDL_ACTIVATION_NONE;
        return true;
    case TFLITE_ACTIVATION_RELU:
        *out = TDL_ACTIVATION_RELU;
        return true;
    case TFLITE_ACTIVATION_RELU6:
        *out = TDL_ACTIVATION_RELU6;
        return true;
    case TFLITE_ACTIVATION_TANH:
        *out = TDL_ACTIVATION_TANH;
        return true;
    default:
        return tflite_fail(im, TDL_ERROR_UNSUPPORTED,
                           "the fused activation function %u is not supported; libtdl has none, "
                           "RELU, RELU6 and TANH",
                           code);
    }
}

/* Input `number` of the operator as a rank-4 picture. */
struct tdl_operand *tflite_picture(struct tflite_import *im, const struct tflite_op *op,
                                   uint32_t number)
{
    struct tdl_operand *operand = tflite_operand(im, op->inputs[number]);

    if (operand && tdl_operand_get_desc(operand)->rank != 4) {
        tflite_fail(im, TDL_ERROR_UNSUPPORTED, "input %u has %u dimensions instead of 4", number,
                    tdl_operand_get_desc(operand)->rank);
        return NULL;
    }
    return operand;
}

/* Input `number` of the operator as a rank-4 filter of a sane window. */
static struct tdl_operand *filter_of(struct tflite_import *im, const struct tflite_op *op,
                                     uint32_t number)
{
    struct tdl_operand *filter = tflite_picture(im, op, number);
    const uint32_t *shape = filter ? tdl_operand_get_desc(filter)->shape : NULL;

    return filter && tflite_in_step_range(im, "filter", (int32_t)shape[1], (int32_t)shape[2])
               ? filter
               : NULL;
}

/* The optional bias; false only on error. */
static bool read_bias(struct tflite_import *im, const struct tflite_op *op, uint32_t number,
                      struct tdl_operand **out)
{
    *out = NULL;
    if (number >= op->input_count || op->inputs[number] < 0)
        return true;
    *out = tflite_operand(im, op->inputs[number]);
    return *out != NULL;
}

/* A constant list of `count` int32, such as axes or a size. */
bool tflite_read_ints(struct tflite_import *im, const struct tflite_op *op, uint32_t number,
                      uint32_t count, int32_t *out)
{
    struct tflite_tensor list;

    if (!tflite_get_constant(im, op->inputs[number], &list))
        return false;
    if (list.type != TFLITE_INT32 || list.elements != count)
        return tflite_fail(im, TDL_ERROR_UNSUPPORTED,
                           "input %u is %llu numbers of type %s instead of %u of int32", number,
                           (unsigned long long)list.elements, tflite_type_name(list.type), count);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t bits = 0;

        for (uint32_t byte = 0; byte < 4; byte++)
            bits |= (uint32_t)list.data[4 * i + byte] << (8 * byte);
        memcpy(&out[i], &bits, sizeof(bits));
    }
    return true;
}

/* ----------------------------------------------------------- convolutions */

static bool add_conv2d(struct tflite_import *im, const struct tflite_op *op)
{
    struct tdl_conv2d_params params = {0};
    struct tdl_operand *input = tflite_picture(im, op, 0);
    struct tdl_operand *filter = input ? filter_of(im, op, 1) : NULL;
    uint32_t channels, filter_channels;

    if (!filter || !tflite_read_padding(im, op, &params.padding) ||
        !tflite_read_pair(im, op, "stride", TFLITE_WINDOW_STRIDE_H, TFLITE_WINDOW_STRIDE_W, 0,
                          params.stride) ||
        !tflite_read_pair(im, op, "dilation", TFLITE_CONV_DILATION_H, TFLITE_CONV_DILATION_W, 1,
                          params.dilation) ||
        !tflite_read_activation(im, op, TFLITE_CONV_ACTIVATION, &params.activation) ||
        !read_bias(im, op, 2, &params.bias))
        return false;
    channels = tdl_operand_get_desc(input)->shape[3];
    filter_channels = tdl_operand_get_desc(filter)->shape[3];
    if (channels % filter_channels != 0)
        return tflite_fail(im, TDL_ERROR_INVALID_MODEL,
                           "a filter of %u channels does not divide an input of %u",
                           filter_channels, channels);
    params.groups = channels / filter_channels;
    return tflite_set_output(im, op, tdl_builder_conv2d(im->builder, input, filter, &params));
}

/* [1, kh, kw, out] as the file has it into [out, kh, kw, 1], in memory that the
 * builder owns. */
static bool transpose_depthwise(struct tflite_import *im, struct tflite_tensor *filter)
{
    const size_t element = filter->type == TFLITE_FLOAT16 ? 2 : 4;
    const uint32_t taps = filter->shape[1] * filter->shape[2], channels = filter->shape[3];
    const struct tflite_made key = {.from = (uintptr_t)filter->data,
                                    .size = filter->data_size,
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
    return true;
}

static bool add_depthwise(struct tflite_import *im, const struct tflite_op *op)
{
    struct tdl_conv2d_params params = {0};
    struct tdl_operand *input = tflite_picture(im, op, 0), *filter;
    struct tflite_tensor constant;
    uint32_t channels;

    if (!input || !tflite_read_padding(im, op, &params.padding) ||
        !tflite_read_pair(im, op, "stride", TFLITE_WINDOW_STRIDE_H, TFLITE_WINDOW_STRIDE_W, 0,
                          params.stride) ||
        !tflite_read_pair(im, op, "dilation", TFLITE_DEPTHWISE_DILATION_H,
                          TFLITE_DEPTHWISE_DILATION_W, 1, params.dilation) ||
        !tflite_read_activation(im, op, TFLITE_DEPTHWISE_ACTIVATION, &params.activation) ||
        !read_bias(im, op, 2, &params.bias) || !tflite_get_constant(im, op->inputs[1], &constant))
        return false;
    channels = tdl_operand_get_desc(input)->shape[3];
    /* The multiplier is in the filter's shape; the option of that name is
     * redundant, and not every converter fills it in. */
    if (constant.type == TFLITE_INT32 || constant.rank != 4 || constant.shape[0] != 1 ||
        constant.shape[3] % channels != 0)
        return tflite_fail(im, TDL_ERROR_INVALID_MODEL,
                           "a depthwise filter %s[%u,%u,%u,%u] does not fit %u channels",
                           tflite_type_name(constant.type), constant.shape[0], constant.shape[1],
                           constant.shape[2], constant.shape[3], channels);
    if (!tflite_in_step_range(im, "filter", (int32_t)constant.shape[1],
                              (int32_t)constant.shape[2]) ||
        !transpose_depthwise(im, &constant))
        return false;
    filter = tflite_constant_operand(im, &constant);
    params.groups = channels;
    return filter &&
           tflite_set_output(im, op, tdl_builder_conv2d(im->builder, input, filter, &params));
}

/* TensorFlow asks for an output size: with SAME padding any whose forward
 * convolution has the input's size, with VALID the full one. What is left
 * over is cut away, the odd pixel at the end. */
static bool crop_output(struct tflite_import *im, const struct tdl_operand *input,
                        const struct tdl_operand *filter, const int32_t *shape,
                        struct tdl_conv_transpose2d_params *params)
{
    const bool same = params->padding == TDL_PADDING_SAME_UPPER;

    params->padding = TDL_PADDING_EXPLICIT;
    for (uint32_t i = 0; i < 2; i++) {
        const int64_t in = tdl_operand_get_desc(input)->shape[1 + i];
        const int64_t window = tdl_operand_get_desc(filter)->shape[1 + i];
        const int64_t stride = params->stride[i], out = shape[1 + i];
        const int64_t cut = (in - 1) * stride + window - out;

        if (cut < 0 || (!same && cut > 0) || (same && (out + stride - 1) / stride != in))
            return tflite_fail(im, TDL_ERROR_UNSUPPORTED,
                               "an output of %lld px from %lld px with stride %lld and window "
                               "%lld is not supported",
                               (long long)out, (long long)in, (long long)stride, (long long)window);
        params->pad[2 * i] = (uint32_t)(cut / 2);
        params->pad[2 * i + 1] = (uint32_t)(cut - cut / 2);
    }
    return true;
}

static bool add_transpose_conv(struct tflite_import *im, const struct tflite_op *op)
{
    struct tdl_conv_transpose2d_params params = {0};
    struct tdl_operand *input, *filter;
    int32_t shape[4];

    if (!tflite_read_ints(im, op, 0, 4, shape))
        return false;
    filter = filter_of(im, op, 1);
    input = filter ? tflite_picture(im, op, 2) : NULL;
    if (!input || !tflite_read_padding(im, op, &params.padding) ||
        !tflite_read_pair(im, op, "stride", TFLITE_WINDOW_STRIDE_H, TFLITE_WINDOW_STRIDE_W, 0,
                          params.stride) ||
        !tflite_read_activation(im, op, TFLITE_TRANSPOSE_CONV_ACTIVATION, &params.activation) ||
        !read_bias(im, op, 3, &params.bias) || !crop_output(im, input, filter, shape, &params))
        return false;
    return tflite_set_output(im, op,
                             tdl_builder_conv_transpose2d(im->builder, input, filter, &params));
}

/* MediaPipe's transposed convolution with a bias. Its options are the C struct
 * TfLiteTransposeConvParams as it lay in memory: int32 padding (1 SAME,
 * 2 VALID), stride_width, stride_height, and in newer files the activation. */
static bool add_transpose_conv_bias(struct tflite_import *im, const struct tflite_op *op)
{
    struct tdl_conv_transpose2d_params params = {0};
    struct tdl_operand *input = tflite_picture(im, op, 0);
    struct tdl_operand *filter = input ? filter_of(im, op, 1) : NULL;
    struct tdl_fb_vector words = op->custom_options;
    int32_t word[4] = {0};

    if (!filter || !read_bias(im, op, 2, &params.bias))
        return false;
    words.count /= 4;
    for (uint32_t i = 0; i < 4 && i < words.count; i++)
        word[i] = tdl_fb_vector_i32(&im->fb, &words, i);
    if (!tflite_check(im))
        return false;
    if (words.count < 3 || word[0] < 1 || word[0] > 2 || word[3] != 0)
        return tflite_fail(im, TDL_ERROR_UNSUPPORTED,
                           "options (%u bytes, padding %d, activation %d) are not those of "
                           "MediaPipe's operator",
                           op->custom_options.count, word[0], word[3]);
    if (!tflite_in_step_range(im, "stride", word[2], word[1]))
        return false;
    params.stride[0] = (uint32_t)word[2];
    params.stride[1] = (uint32_t)word[1];
    params.padding = word[0] == 1 ? TDL_PADDING_SAME_UPPER : TDL_PADDING_EXPLICIT;
    return tflite_set_output(im, op,
                             tdl_builder_conv_transpose2d(im->builder, input, filter, &params));
}

/* ----------------------------------------------------------- element-wise */

static bool add_activation(struct tflite_import *im, const struct tflite_op *op)
{
    struct tdl_operand *input = tflite_operand(im, op->inputs[0]);

    if (!input)
        return false;
    return tflite_set_output(im, op,
                             tdl_builder_activation(im->builder, input, op->row->activation));
}

/* Only noted; see the top of tflite.c. */
static bool add_dequantize(struct tflite_import *im, const struct tflite_op *op)
{
    const int32_t in = op->inputs[0], out = op->outputs[0];
    struct tflite_tensor constant, result;

    if (!tflite_get_constant(im, in, &constant) || !tflite_get_tensor(im, out, &result))
        return false;
    if (constant.type != TFLITE_FLOAT16 || result.type != TFLITE_FLOAT32)
        return tflite_fail(im, TDL_ERROR_UNSUPPORTED,
                           "%s to %s is not supported; convert the model with float16 weights or "
                           "none",
                           tflite_type_name(constant.type), tflite_type_name(result.type));
    if (im->values[out].operand || im->values[out].source || result.data)
        return tflite_fail(im, TDL_ERROR_INVALID_MODEL,
                           "the model file is damaged: tensor %d '%.80s' is written twice", out,
                           result.name);
    if (constant.rank != result.rank ||
        memcmp(constant.shape, result.shape, sizeof(result.shape)) != 0)
        return tflite_fail(im, TDL_ERROR_INVALID_MODEL,
                           "the model file is damaged: tensors %d and %d differ in shape", in, out);
    im->values[out].source = in + 1;
    return true;
}

/* ------------------------------------------------------------------ table */

static const struct tflite_op_row rows[] = {
    {TFLITE_ABS, "ABS", 5, 0, 1, 1, tflite_add_unary, TDL_ACTIVATION_NONE},
    {TFLITE_ADD, "ADD", 5, TFLITE_ADD_OPTIONS, 2, 2, tflite_add_binary, TDL_ACTIVATION_NONE},
    {TFLITE_AVERAGE_POOL_2D, "AVERAGE_POOL_2D", 3, TFLITE_POOL_2D_OPTIONS, 1, 1,
     tflite_add_average_pool, TDL_ACTIVATION_NONE},
    {TFLITE_CEIL, "CEIL", 1, 0, 1, 1, tflite_add_unary, TDL_ACTIVATION_NONE},
    {TFLITE_CONCATENATION, "CONCATENATION", 4, TFLITE_CONCATENATION_OPTIONS, 1, TFLITE_MAX_ARGS,
     tflite_add_concatenation, TDL_ACTIVATION_NONE},
    {TFLITE_CONV_2D, "CONV_2D", 8, TFLITE_CONV_2D_OPTIONS, 2, 3, add_conv2d, TDL_ACTIVATION_NONE},
    {TFLITE_COS, "COS", 1, 0, 1, 1, tflite_add_unary, TDL_ACTIVATION_NONE},
    {TFLITE_DEPTHWISE_CONV_2D, "DEPTHWISE_CONV_2D", 7, TFLITE_DEPTHWISE_CONV_2D_OPTIONS, 2, 3,
     add_depthwise, TDL_ACTIVATION_NONE},
    {TFLITE_DEPTH_TO_SPACE, "DEPTH_TO_SPACE", 2, TFLITE_DEPTH_TO_SPACE_OPTIONS, 1, 1,
     tflite_add_blocks, TDL_ACTIVATION_NONE},
    {TFLITE_DEQUANTIZE, "DEQUANTIZE", 6, 0, 1, 1, add_dequantize, TDL_ACTIVATION_NONE},
    {TFLITE_DIV, "DIV", 2, TFLITE_DIV_OPTIONS, 2, 2, tflite_add_binary, TDL_ACTIVATION_NONE},
    {TFLITE_ELU, "ELU", 1, 0, 1, 1, tflite_add_unary, TDL_ACTIVATION_NONE},
    {TFLITE_EXP, "EXP", 2, 0, 1, 1, tflite_add_unary, TDL_ACTIVATION_NONE},
    {TFLITE_FLOOR, "FLOOR", 1, 0, 1, 1, tflite_add_unary, TDL_ACTIVATION_NONE},
    {TFLITE_HARD_SWISH, "HARD_SWISH", 1, 0, 1, 1, add_activation, TDL_ACTIVATION_HARD_SWISH},
    {TFLITE_LEAKY_RELU, "LEAKY_RELU", 2, TFLITE_LEAKY_RELU_OPTIONS, 1, 1, tflite_add_leaky_relu,
     TDL_ACTIVATION_NONE},
    {TFLITE_LOG, "LOG", 2, 0, 1, 1, tflite_add_unary, TDL_ACTIVATION_NONE},
    {TFLITE_LOGISTIC, "LOGISTIC", 3, 0, 1, 1, add_activation, TDL_ACTIVATION_SIGMOID},
    {TFLITE_MAXIMUM, "MAXIMUM", 4, TFLITE_MAXIMUM_MINIMUM_OPTIONS, 2, 2, tflite_add_binary,
     TDL_ACTIVATION_NONE},
    {TFLITE_MAX_POOL_2D, "MAX_POOL_2D", 3, TFLITE_POOL_2D_OPTIONS, 1, 1, tflite_add_max_pool,
     TDL_ACTIVATION_NONE},
    {TFLITE_MEAN, "MEAN", 3, TFLITE_REDUCER_OPTIONS, 2, 2, tflite_add_mean, TDL_ACTIVATION_NONE},
    {TFLITE_MINIMUM, "MINIMUM", 4, TFLITE_MAXIMUM_MINIMUM_OPTIONS, 2, 2, tflite_add_binary,
     TDL_ACTIVATION_NONE},
    {TFLITE_MIRROR_PAD, "MIRROR_PAD", 3, TFLITE_MIRROR_PAD_OPTIONS, 2, 2, tflite_add_pad,
     TDL_ACTIVATION_NONE},
    {TFLITE_MUL, "MUL", 7, TFLITE_MUL_OPTIONS, 2, 2, tflite_add_binary, TDL_ACTIVATION_NONE},
    {TFLITE_NEG, "NEG", 1, 0, 1, 1, tflite_add_unary, TDL_ACTIVATION_NONE},
    {TFLITE_PAD, "PAD", 4, TFLITE_PAD_OPTIONS, 2, 2, tflite_add_pad, TDL_ACTIVATION_NONE},
    {TFLITE_PADV2, "PADV2", 4, TFLITE_PADV2_OPTIONS, 3, 3, tflite_add_pad, TDL_ACTIVATION_NONE},
    {TFLITE_POW, "POW", 1, 0, 2, 2, tflite_add_binary, TDL_ACTIVATION_NONE},
    {TFLITE_PRELU, "PRELU", 1, 0, 2, 2, tflite_add_binary, TDL_ACTIVATION_NONE},
    {TFLITE_RELU, "RELU", 3, 0, 1, 1, add_activation, TDL_ACTIVATION_RELU},
    {TFLITE_RELU6, "RELU6", 3, 0, 1, 1, add_activation, TDL_ACTIVATION_RELU6},
    {TFLITE_RESIZE_BILINEAR, "RESIZE_BILINEAR", 4, TFLITE_RESIZE_BILINEAR_OPTIONS, 2, 2,
     tflite_add_resize, TDL_ACTIVATION_NONE},
    {TFLITE_RESIZE_NEAREST_NEIGHBOR, "RESIZE_NEAREST_NEIGHBOR", 4,
     TFLITE_RESIZE_NEAREST_NEIGHBOR_OPTIONS, 2, 2, tflite_add_resize_nearest, TDL_ACTIVATION_NONE},
    {TFLITE_SIN, "SIN", 1, 0, 1, 1, tflite_add_unary, TDL_ACTIVATION_NONE},
    {TFLITE_SLICE, "SLICE", 5, TFLITE_SLICE_OPTIONS, 3, 3, tflite_add_slice, TDL_ACTIVATION_NONE},
    {TFLITE_SOFTMAX, "SOFTMAX", 3, TFLITE_SOFTMAX_OPTIONS, 1, 1, tflite_add_softmax,
     TDL_ACTIVATION_NONE},
    {TFLITE_SPACE_TO_DEPTH, "SPACE_TO_DEPTH", 2, TFLITE_SPACE_TO_DEPTH_OPTIONS, 1, 1,
     tflite_add_blocks, TDL_ACTIVATION_NONE},
    {TFLITE_SQRT, "SQRT", 1, 0, 1, 1, tflite_add_unary, TDL_ACTIVATION_NONE},
    {TFLITE_SUB, "SUB", 5, TFLITE_SUB_OPTIONS, 2, 2, tflite_add_binary, TDL_ACTIVATION_NONE},
    {TFLITE_TANH, "TANH", 3, 0, 1, 1, add_activation, TDL_ACTIVATION_TANH},
    {TFLITE_TRANSPOSE_CONV, "TRANSPOSE_CONV", 5, TFLITE_TRANSPOSE_CONV_OPTIONS, 3, 4,
     add_transpose_conv, TDL_ACTIVATION_NONE},
    {TFLITE_CUSTOM, "Convolution2DTransposeBias", 1, 0, 2, 3, add_transpose_conv_bias,
     TDL_ACTIVATION_NONE},
};

const struct tflite_op_row *tflite_find_row(int32_t code, const char *custom)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (rows[i].code != code)
            continue;
        if (code != TFLITE_CUSTOM || (custom && strcmp(custom, rows[i].name) == 0))
            return &rows[i];
    }
    return NULL;
}

const char *tflite_known_names(char *text, size_t size)
{
    size_t used = 0;

    text[0] = 0;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]) && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%s", i ? ", " : "", rows[i].name);
    return text;
}

/* In the order of the schema's enum BuiltinOperator, up to where the list of
 * StableHLO operators begins. */
static const char *const code_names[] = {
    "ADD",
    "AVERAGE_POOL_2D",
    "CONCATENATION",
    "CONV_2D",
    "DEPTHWISE_CONV_2D",
    "DEPTH_TO_SPACE",
    "DEQUANTIZE",
    "EMBEDDING_LOOKUP",
    "FLOOR",
    "FULLY_CONNECTED",
    "HASHTABLE_LOOKUP",
    "L2_NORMALIZATION",
    "L2_POOL_2D",
    "LOCAL_RESPONSE_NORMALIZATION",
    "LOGISTIC",
    "LSH_PROJECTION",
    "LSTM",
    "MAX_POOL_2D",
    "MUL",
    "RELU",
    "RELU_N1_TO_1",
    "RELU6",
    "RESHAPE",
    "RESIZE_BILINEAR",
    "RNN",
    "SOFTMAX",
    "SPACE_TO_DEPTH",
    "SVDF",
    "TANH",
    "CONCAT_EMBEDDINGS",
    "SKIP_GRAM",
    "CALL",
    "CUSTOM",
    "EMBEDDING_LOOKUP_SPARSE",
    "PAD",
    "UNIDIRECTIONAL_SEQUENCE_RNN",
    "GATHER",
    "BATCH_TO_SPACE_ND",
    "SPACE_TO_BATCH_ND",
    "TRANSPOSE",
    "MEAN",
    "SUB",
    "DIV",
    "SQUEEZE",
    "UNIDIRECTIONAL_SEQUENCE_LSTM",
    "STRIDED_SLICE",
    "BIDIRECTIONAL_SEQUENCE_RNN",
    "EXP",
    "TOPK_V2",
    "SPLIT",
    "LOG_SOFTMAX",
    "DELEGATE",
    "BIDIRECTIONAL_SEQUENCE_LSTM",
    "CAST",
    "PRELU",
    "MAXIMUM",
    "ARG_MAX",
    "MINIMUM",
    "LESS",
    "NEG",
    "PADV2",
    "GREATER",
    "GREATER_EQUAL",
    "LESS_EQUAL",
    "SELECT",
    "SLICE",
    "SIN",
    "TRANSPOSE_CONV",
    "SPARSE_TO_DENSE",
    "TILE",
    "EXPAND_DIMS",
    "EQUAL",
    "NOT_EQUAL",
    "LOG",
    "SUM",
    "SQRT",
    "RSQRT",
    "SHAPE",
    "POW",
    "ARG_MIN",
    "FAKE_QUANT",
    "REDUCE_PROD",
    "REDUCE_MAX",
    "PACK",
    "LOGICAL_OR",
    "ONE_HOT",
    "LOGICAL_AND",
    "LOGICAL_NOT",
    "UNPACK",
    "REDUCE_MIN",
    "FLOOR_DIV",
    "REDUCE_ANY",
    "SQUARE",
    "ZEROS_LIKE",
    "FILL",
    "FLOOR_MOD",
    "RANGE",
    "RESIZE_NEAREST_NEIGHBOR",
    "LEAKY_RELU",
    "SQUARED_DIFFERENCE",
    "MIRROR_PAD",
    "ABS",
    "SPLIT_V",
    "UNIQUE",
    "CEIL",
    "REVERSE_V2",
    "ADD_N",
    "GATHER_ND",
    "COS",
    "WHERE",
    "RANK",
    "ELU",
    "REVERSE_SEQUENCE",
    "MATRIX_DIAG",
    "QUANTIZE",
    "MATRIX_SET_DIAG",
    "ROUND",
    "HARD_SWISH",
    "IF",
    "WHILE",
    "NON_MAX_SUPPRESSION_V4",
    "NON_MAX_SUPPRESSION_V5",
    "SCATTER_ND",
    "SELECT_V2",
    "DENSIFY",
    "SEGMENT_SUM",
    "BATCH_MATMUL",
    "PLACEHOLDER_FOR_GREATER_OP_CODES",
    "CUMSUM",
    "CALL_ONCE",
    "BROADCAST_TO",
    "RFFT2D",
    "CONV_3D",
    "IMAG",
    "REAL",
    "COMPLEX_ABS",
    "HASHTABLE",
    "HASHTABLE_FIND",
    "HASHTABLE_IMPORT",
    "HASHTABLE_SIZE",
    "REDUCE_ALL",
    "CONV_3D_TRANSPOSE",
    "VAR_HANDLE",
    "READ_VARIABLE",
    "ASSIGN_VARIABLE",
    "BROADCAST_ARGS",
    "RANDOM_STANDARD_NORMAL",
    "BUCKETIZE",
    "RANDOM_UNIFORM",
    "MULTINOMIAL",
    "GELU",
    "DYNAMIC_UPDATE_SLICE",
    "RELU_0_TO_1",
    "UNSORTED_SEGMENT_PROD",
    "UNSORTED_SEGMENT_MAX",
    "UNSORTED_SEGMENT_SUM",
    "ATAN2",
    "UNSORTED_SEGMENT_MIN",
    "SIGN",
    "BITCAST",
    "BITWISE_XOR",
    "RIGHT_SHIFT",
};

const char *tflite_code_name(int32_t code)
{
    return code >= 0 && code < (int32_t)(sizeof(code_names) / sizeof(code_names[0]))
               ? code_names[code]
               : NULL;
}
