/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* TensorFlow.js's convolutions. */
#include "windows.h"

#include <string.h>

enum kind { FULL, DEPTHWISE };

/* A convolution in blocks: where pixels of a block are pictures, neighbours there are a
 * block apart here. */
static bool dilate(struct tfjs_import *im, const struct tfjs_value *v, const uint32_t *window,
                   struct tdl_conv2d_params *params)
{
    if (params->stride[0] != 1 || params->stride[1] != 1 || params->dilation[0] != 1 ||
        params->dilation[1] != 1)
        return false;
    for (uint32_t i = 0; i < 2; i++) {
        const uint32_t block = v->block[i], around = (window[i] - 1) * block;

        params->dilation[i] = block;
        if (params->padding == TDL_PADDING_SAME_UPPER) {
            params->pad[2 * i] = (window[i] - 1) / 2 * block;
            params->pad[2 * i + 1] = around - params->pad[2 * i];
        } else {
            params->pad[2 * i] *= block;
            params->pad[2 * i + 1] *= block;
        }
    }
    params->padding = TDL_PADDING_EXPLICIT;
    (void)im;
    return true;
}

/* [h, w, in, multiplier] as [h, w, 1, in · multiplier], which lies in memory likewise. */
static struct tdl_operand *depthwise_filter(struct tfjs_import *im, const struct tfjs_value *v)
{
    const struct tdl_tensor_params *p = tdl_kit_desc(v->operand);
    struct tdl_tensor_params desc = *p;

    desc.shape[2] = 1;
    desc.shape[3] = p->shape[2] * p->shape[3];
    return v->data
               ? tdl_builder_constant(im->builder, &desc, v->data, tdl_tensor_params_size(&desc))
               : tfjs_reshape(im, v->operand, 4, desc.shape);
}

/* The filter in its form, and the groups that it asks for. */
static struct tdl_operand *read_filter(struct tfjs_import *im, uint32_t channels,
                                       uint32_t *out_groups)
{
    const struct tfjs_value *v = tfjs_in_value(im, 1);
    struct tdl_operand *filter = v ? tfjs_operand(im, 1) : NULL;
    const uint32_t *shape = tdl_kit_shape(filter);

    if (!filter)
        return NULL;
    if (tdl_kit_rank(filter) != 4) {
        tdl_kit_damaged(&im->kit, "a filter of %u dimensions instead of 4", tdl_kit_rank(filter));
        return NULL;
    }
    const bool fits =
        im->row->detail == DEPTHWISE ? shape[2] == channels : channels % shape[2] == 0;
    if (!fits) {
        tdl_kit_damaged(&im->kit, "a filter of %u channels for an input of %u", shape[2], channels);
        return NULL;
    }
    *out_groups = im->row->detail == DEPTHWISE ? channels : channels / shape[2];
    return im->row->detail == DEPTHWISE ? depthwise_filter(im, v) : filter;
}

static bool add_conv(struct tfjs_import *im)
{
    struct tfjs_value *v = tfjs_in_value(im, 0), value = {0};
    struct tdl_conv2d_params params = {.filter_layout = TDL_FILTER_HWIO,
                                       .input_layout = tfjs_input_layout(im)};
    const bool nchw = params.input_layout == TDL_LAYOUT_NCHW;
    struct tfjs_fused fused;
    struct tdl_operand *x, *filter;

    if (!v || !tfjs_pair(im, "strides", params.stride) ||
        !tfjs_pair(im, "dilations", params.dilation) ||
        !tfjs_padding(im, &params.padding, params.pad) || !tfjs_read_fused(im, 2, &fused))
        return false;
    const struct tdl_operand *weights = tfjs_operand(im, 1);
    const bool blocks =
        v->block[0] && tdl_kit_rank(weights) == 4 && dilate(im, v, tdl_kit_shape(weights), &params);
    x = blocks ? v->operand : tfjs_picture(im, 0);
    filter = x ? read_filter(im, tdl_kit_shape(x)[nchw ? 1 : 3], &params.groups) : NULL;
    if (!filter)
        return false;
    params.bias = fused.bias;
    params.activation = fused.activation;
    x = tfjs_finish_fused(im, &fused, tdl_builder_conv2d(im->builder, x, filter, &params));
    if (!blocks)
        return tfjs_give(im, x);
    value.operand = x;
    memcpy(value.block, v->block, sizeof(value.block));
    return value.operand && tfjs_give_value(im, 0, &value);
}

/* ---------------------------------------------------------------- transposed */

/* [h, w, out, in] as [out, h, w, in]. */
static struct tdl_operand *transposed_filter(struct tfjs_import *im, uint32_t i)
{
    const struct tfjs_value *v = tfjs_in_value(im, i);
    struct tdl_operand *filter = v ? tfjs_operand(im, i) : NULL;
    struct tdl_tensor_params desc = *tdl_kit_desc(filter);
    const uint32_t *s = tdl_kit_shape(filter);
    static const uint32_t order[] = {2, 0, 1, 3};
    float *to;

    if (!filter || desc.rank != 4 || desc.dtype != TDL_FLOAT32) {
        if (filter)
            tdl_kit_damaged(&im->kit, "a filter of %s with %u dimensions",
                            tdl_dtype_name(desc.dtype), desc.rank);
        return NULL;
    }
    if (!v->data)
        return tdl_kit_settle(&im->kit, tdl_builder_transpose(im->builder, filter, order));
    for (uint32_t d = 0; d < 4; d++)
        desc.shape[d] = s[order[d]];
    to = tdl_kit_make(&im->kit, tdl_tensor_params_size(&desc));
    for (uint32_t out = 0; to && out < s[2]; out++)
        for (size_t tap = 0; tap < (size_t)s[0] * s[1]; tap++)
            memcpy(to + (out * (size_t)s[0] * s[1] + tap) * s[3],
                   (const float *)v->data + (tap * s[2] + out) * s[3], s[3] * sizeof(float));
    return to ? tdl_builder_constant(im->builder, &desc, to, tdl_tensor_params_size(&desc)) : NULL;
}

static bool add_conv_transpose(struct tfjs_import *im)
{
    struct tdl_conv_transpose2d_params params = {.input_layout = tfjs_input_layout(im)};
    struct tdl_operand *filter = transposed_filter(im, 1), *x = filter ? tfjs_picture(im, 2) : NULL;
    int64_t size[4];
    uint32_t count;

    if (!x || !tfjs_ints(im, 0, size, 4, &count) || !tfjs_pair(im, "strides", params.stride) ||
        !tfjs_pair(im, "dilations", params.dilation) ||
        !tfjs_padding(im, &params.padding, params.pad))
        return false;
    if (count != 4)
        return tdl_kit_damaged(&im->kit, "a size of %u numbers instead of 4", count);
    const uint32_t first = params.input_layout == TDL_LAYOUT_NCHW ? 2 : 1;
    return tdl_kit_crop_gradient(&im->kit, tdl_kit_shape(x) + first, tdl_kit_shape(filter) + 1,
                                 size + first, &params) &&
           tfjs_give(im, tdl_builder_conv_transpose2d(im->builder, x, filter, &params));
}

const struct tfjs_row tfjs_rows_conv[] = {
    {"Conv2D", 2, 2, add_conv, .detail = FULL},
    {"Conv2DBackpropInput", 3, 3, add_conv_transpose},
    {"DepthwiseConv2d", 2, 2, add_conv, .detail = DEPTHWISE},
    {"DepthwiseConv2dNative", 2, 2, add_conv, .detail = DEPTHWISE},
    {"FusedDepthwiseConv2dNative", 2, 4, add_conv, .detail = DEPTHWISE},
    {"_FusedConv2D", 2, 4, add_conv, .detail = FULL},
    {0},
};
