/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* ncnn's convolutions. */
#include "ncnn.h"

#include <stdlib.h>
#include <string.h>

enum { /* parameters of a convolution and a deconvolution */
       OUTPUTS = 0,
       KERNEL = 1,
       DILATION = 2,
       STRIDE = 3,
       PAD_LEFT = 4,
       BIAS = 5,
       WEIGHTS = 6,
       GROUPS = 7,
       INT8 = 8,
       PAD_TOP = 14, /* heights have numbers 10 higher */
       PAD_RIGHT = 15,
       PAD_BOTTOM = 16,
       PAD_VALUE = 18,    /* for a convolution */
       OUTPUT_PAD_W = 18, /* for a deconvolution */
       OUTPUT_PAD_H = 19,
       DYNAMIC = 19, /* for a convolution */
       OUTPUT_W = 20,
       OUTPUT_H = 21,
       DYNAMIC_FILTER = 28, /* for a deconvolution */
};
enum { SAME_UPPER = -233, SAME_LOWER = -234 };

struct window {
    uint32_t outputs, groups, inputs; /* inputs of a group */
    uint32_t kernel[2], stride[2], dilation[2];
    int32_t pad[4]; /* top, bottom, left, right */
};

static bool read_pair(struct ncnn_import *im, const struct ncnn_layer *l, const char *what,
                      uint32_t id, uint32_t out[2])
{
    const int32_t w = ncnn_int(l, id, 1);
    const int32_t h = ncnn_is_line(l) ? 1 : ncnn_int(l, id + 10, w);

    if (!ncnn_in_range(im, what, w, 1) || !ncnn_in_range(im, what, h, 1))
        return false;
    out[0] = (uint32_t)h;
    out[1] = (uint32_t)w;
    return true;
}

static bool read_steps(struct ncnn_import *im, const struct ncnn_layer *l, struct window *w)
{
    if (!read_pair(im, l, "kernel", KERNEL, w->kernel) ||
        !read_pair(im, l, "stride", STRIDE, w->stride) ||
        !read_pair(im, l, "dilation", DILATION, w->dilation))
        return false;
    w->pad[2] = ncnn_int(l, PAD_LEFT, 0);
    w->pad[3] = ncnn_int(l, PAD_RIGHT, w->pad[2]);
    w->pad[0] = ncnn_is_line(l) ? 0 : ncnn_int(l, PAD_TOP, w->pad[2]);
    w->pad[1] = ncnn_is_line(l) ? 0 : ncnn_int(l, PAD_BOTTOM, w->pad[0]);
    return true;
}

/* All but the input's channels, which must be `channels` in the weights' count. */
static bool read_window(struct ncnn_import *im, const struct ncnn_layer *l, uint32_t channels,
                        struct window *w)
{
    const int32_t outputs = ncnn_int(l, OUTPUTS, 0), groups = ncnn_int(l, GROUPS, 1);

    if (!read_steps(im, l, w) || !ncnn_in_range(im, "outputs", outputs, 1) ||
        !ncnn_in_range(im, "groups", groups, 1))
        return false;
    w->outputs = (uint32_t)outputs;
    w->groups = (uint32_t)groups;
    w->inputs = channels / w->groups;
    const uint64_t wanted = (uint64_t)w->outputs * w->inputs * w->kernel[0] * w->kernel[1];
    if (channels % w->groups || w->outputs % w->groups ||
        wanted != (uint64_t)ncnn_int(l, WEIGHTS, 0))
        return tdl_kit_damaged(
            &im->kit, "%d weights for %u outputs of %ux%u from %u inputs in %u groups",
            ncnn_int(l, WEIGHTS, 0), w->outputs, w->kernel[0], w->kernel[1], channels, w->groups);
    return true;
}

static enum tdl_kit_same same_of(const struct window *w)
{
    return w->pad[2] == SAME_UPPER   ? TDL_KIT_SAME_UPPER
           : w->pad[2] == SAME_LOWER ? TDL_KIT_SAME_LOWER
                                     : TDL_KIT_AS_GIVEN;
}

static bool read_pads(struct ncnn_import *im, const struct window *w, const uint32_t *size,
                      uint32_t out[4])
{
    const enum tdl_kit_same same = same_of(w);

    for (uint32_t i = 0; i < 4; i++) {
        if (!same && !ncnn_in_range(im, "padding", w->pad[i], 0))
            return false;
        out[i] = same ? 0 : (uint32_t)w->pad[i];
    }
    for (uint32_t i = 0; i < 2; i++)
        tdl_kit_pad_same(same, size[i], w->kernel[i], w->dilation[i], w->stride[i], out + 2 * i);
    return true;
}

static bool read_bias(struct ncnn_import *im, const struct ncnn_layer *l, uint32_t id,
                      uint32_t outputs, struct tdl_operand **out)
{
    *out = NULL;
    if (ncnn_int(l, id, 0) == 0)
        return true;
    *out = ncnn_weights(im, false, 1, &outputs);
    return *out != NULL;
}

static struct tdl_operand *add_inner_product(struct ncnn_import *im, const struct ncnn_layer *l);

/* Weights, bias and scales follow each other. A depthwise convolution has a scale for each
 * group, or with 2 and 102 one for all; above 100 the results have one, too. */
static struct tdl_operand *read_filter(struct ncnn_import *im, const struct ncnn_layer *l,
                                       uint32_t rank, const uint32_t *shape, uint32_t groups,
                                       uint32_t bias_id, struct tdl_operand **bias)
{
    const int32_t scales = ncnn_int(l, INT8, 0);
    struct tdl_operand *filter = ncnn_maybe_bytes(im, rank, shape);
    const bool depthwise = !strncmp(l->type, "ConvolutionDepthWise", 20);

    if (!filter || !read_bias(im, l, bias_id, shape[0], bias))
        return NULL;
    if (scales == 0)
        return tdl_kit_desc(filter)->dtype != TDL_INT8
                   ? filter
                   : tdl_kit_none(&im->kit, TDL_ERROR_INVALID_MODEL, "int8 weights without scales");
    return ncnn_scaled(im, filter,
                       !depthwise          ? shape[0]
                       : scales % 100 == 2 ? 1
                                           : groups,
                       scales > 100);
}

/* Round the picture, with another number than 0. */
static struct tdl_operand *pad_with(struct ncnn_import *im, struct tdl_operand *x, float value,
                                    uint32_t pad[4])
{
    struct tdl_pad_params params = {.value = (double)value};

    for (uint32_t i = 0; i < 4; i++) {
        (i % 2 ? params.after : params.before)[2 + i / 2] = pad[i];
        pad[i] = 0;
    }
    return tdl_builder_pad(im->builder, x, &params);
}

static struct tdl_operand *add_convolution(struct ncnn_import *im, const struct ncnn_layer *l)
{
    struct tdl_conv2d_params params = {.filter_layout = TDL_FILTER_OIHW};
    struct tdl_operand *x = ncnn_bottom(im, l, 0), *filter;
    const float value = ncnn_float(l, PAD_VALUE, 0);
    struct window w = {0};

    if (!x)
        return NULL;
    if (tdl_kit_rank(x) == 1)
        return add_inner_product(im, l);
    if (ncnn_int(l, DYNAMIC, 0) != 0)
        return tdl_kit_lacks_none(&im->kit, "weights that are computed are not supported");
    if (!(x = ncnn_plane(im, l)))
        return NULL;
    const uint32_t *in = tdl_kit_shape(x);
    if (!read_window(im, l, in[1], &w) || !read_pads(im, &w, in + 2, params.pad))
        return NULL;
    if (value != 0)
        x = pad_with(im, x, value, params.pad);
    memcpy(params.stride, w.stride, sizeof(w.stride));
    memcpy(params.dilation, w.dilation, sizeof(w.dilation));
    params.groups = w.groups;
    filter =
        read_filter(im, l, 4, (const uint32_t[]){w.outputs, w.inputs, w.kernel[0], w.kernel[1]},
                    w.groups, BIAS, &params.bias);
    if (!filter)
        return NULL;
    x = tdl_builder_conv2d(im->builder, x, filter, &params);
    return ncnn_from_plane(im, l, ncnn_activate(im, l, x));
}

/* [group][out of it][in of it][height][width] as [out of a group, height, width, in]. */
static struct tdl_operand *deconvolution_filter(struct ncnn_import *im, const struct window *w)
{
    const uint32_t taps = w->kernel[0] * w->kernel[1], outs = w->outputs / w->groups;
    const uint32_t ins = w->inputs * w->groups;
    const uint64_t count = (uint64_t)w->outputs * w->inputs * taps;
    const float *from = ncnn_floats(im, true, count);
    float *to = from ? malloc(count * sizeof(*to)) : NULL;

    if (!from)
        return NULL;
    for (uint64_t i = 0; to && i < count; i++) {
        const uint64_t tap = i % taps, in = i / taps % w->inputs;
        const uint64_t out = i / taps / w->inputs % outs, group = i / taps / w->inputs / outs;

        to[(out * taps + tap) * ins + group * w->inputs + in] = from[i];
    }
    if (!to)
        return tdl_kit_none(&im->kit, TDL_ERROR_OUT_OF_MEMORY, "no memory for weights");
    tdl_builder_own(im->builder, to, free);
    const struct tdl_tensor_params desc = {
        .dtype = TDL_FLOAT32, .rank = 4, .shape = {outs, w->kernel[0], w->kernel[1], ins}};
    return tdl_builder_constant(im->builder, &desc, to, count * sizeof(*to));
}

/* Padding of numbers, or by the output's size, which is then said. */
static bool cut_output(struct ncnn_import *im, const struct ncnn_layer *l, const struct window *w,
                       const uint32_t *size, struct tdl_conv_transpose2d_params *params)
{
    const int32_t out_w = ncnn_int(l, OUTPUT_W, 0);
    const int32_t out_h = ncnn_is_line(l) && out_w ? 1 : ncnn_int(l, OUTPUT_H, out_w);
    const enum tdl_kit_same same = same_of(w);

    if (!same && !out_w && !out_h)
        return read_pads(im, w, size, params->pad);
    if (!same || !out_w || !out_h)
        return tdl_kit_lacks(&im->kit,
                             "an output of %dx%d px with padding of kind %d; libtdl "
                             "takes a size with -233 and -234, which need one",
                             out_w, out_h, w->pad[2]);
    if (!ncnn_in_range(im, "output's size", out_w, 1) ||
        !ncnn_in_range(im, "output's size", out_h, 1))
        return false;
    const uint32_t more[2] = {params->output_padding[0], params->output_padding[1]};
    tdl_kit_crop(same, size, w->kernel, (const uint32_t[]){(uint32_t)out_h, (uint32_t)out_w},
                 params);
    return !memcmp(more, params->output_padding, sizeof(more)) ||
           tdl_kit_damaged(&im->kit, "windows do not reach over an output of %dx%d px", out_w,
                           out_h);
}

static struct tdl_operand *add_deconvolution(struct ncnn_import *im, const struct ncnn_layer *l)
{
    struct tdl_conv_transpose2d_params params = {0};
    struct tdl_operand *x = ncnn_plane(im, l), *filter;
    const int32_t more_w = ncnn_int(l, OUTPUT_PAD_W, 0);
    const int32_t more_h = ncnn_is_line(l) ? 0 : ncnn_int(l, OUTPUT_PAD_H, more_w);
    struct window w = {0};

    if (x && ncnn_int(l, DYNAMIC_FILTER, 0) != 0)
        return tdl_kit_lacks_none(&im->kit, "weights that are computed are not supported");
    if (!x || !read_window(im, l, tdl_kit_shape(x)[1], &w) ||
        !ncnn_in_range(im, "output padding", more_w, 0) ||
        !ncnn_in_range(im, "output padding", more_h, 0))
        return NULL;
    memcpy(params.stride, w.stride, sizeof(w.stride));
    memcpy(params.dilation, w.dilation, sizeof(w.dilation));
    params.output_padding[0] = (uint32_t)more_h;
    params.output_padding[1] = (uint32_t)more_w;
    if (!cut_output(im, l, &w, tdl_kit_shape(x) + 2, &params))
        return NULL;
    params.groups = w.groups;
    filter = deconvolution_filter(im, &w);
    if (!filter || !read_bias(im, l, BIAS, w.outputs, &params.bias))
        return NULL;
    x = tdl_builder_conv_transpose2d(im->builder, x, filter, &params);
    return ncnn_from_plane(im, l, ncnn_activate(im, l, x));
}

/* A product over all elements; of a blob of two dimensions, row by row. Also a
 * convolution of a vector, which has its numbers at other places. */
static struct tdl_operand *add_inner_product(struct ncnn_import *im, const struct ncnn_layer *l)
{
    const bool product = l->type[0] == 'I';
    struct tdl_gemm_params params = {.b_transpose = true};
    struct tdl_operand *x = ncnn_bottom(im, l, 0), *weights;
    const int32_t outputs = ncnn_int(l, OUTPUTS, 0);
    const int32_t size = ncnn_int(l, product ? 2 : WEIGHTS, 0);
    uint64_t count = 1;

    if (!x || !ncnn_in_range(im, "outputs", outputs, 1))
        return NULL;
    const struct tdl_tensor_params *in = tdl_kit_desc(x);
    for (uint32_t i = 0; i < in->rank; i++)
        count *= in->shape[i];
    const uint32_t depth = size > 0 ? (uint32_t)size / (uint32_t)outputs : 0;
    const bool rows = in->rank == 2 && in->shape[1] == depth;
    if (size < 1 || size % outputs != 0 || (!rows && count != depth))
        return tdl_kit_none(&im->kit, TDL_ERROR_INVALID_MODEL,
                            "%d weights for %d outputs from %llu inputs", size, outputs,
                            (unsigned long long)count);
    weights = read_filter(im, l, 2, (const uint32_t[]){(uint32_t)outputs, depth}, 1,
                          product ? 1 : BIAS, &params.c);
    if (!weights)
        return NULL;
    if (!rows)
        x = ncnn_reshape(im, x, 2, (const uint32_t[]){1, depth});
    x = x ? tdl_builder_gemm(im->builder, x, weights, &params) : NULL;
    if (x && !rows)
        x = ncnn_reshape(im, x, 1, (const uint32_t[]){(uint32_t)outputs});
    return ncnn_activate(im, l, x);
}

/* What is under each window as a column, channel by channel. */
static struct tdl_operand *add_unfold(struct ncnn_import *im, const struct ncnn_layer *l)
{
    static const uint32_t exchanged[] = {1, 0, 2};
    struct tdl_operand *x = ncnn_picture(im, l, 0), *y;
    struct tdl_im2col_params params = {0};
    struct window w = {0};

    if (!x || !read_steps(im, l, &w) || !read_pads(im, &w, tdl_kit_shape(x) + 2, params.pad))
        return NULL;
    memcpy(params.kernel, w.kernel, sizeof(w.kernel));
    memcpy(params.stride, w.stride, sizeof(w.stride));
    memcpy(params.dilation, w.dilation, sizeof(w.dilation));
    y = tdl_builder_im2col(im->builder, x, &params);
    if (!y)
        return NULL;
    const uint32_t channels = tdl_kit_shape(x)[1], rows = tdl_kit_shape(y)[1];
    const uint32_t columns = tdl_kit_shape(y)[2] * tdl_kit_shape(y)[3];
    y = ncnn_reshape(im, y, 3, (const uint32_t[]){rows / channels, channels, columns});
    y = tdl_builder_transpose(im->builder, y, exchanged);
    return ncnn_reshape(im, y, 2, (const uint32_t[]){rows, columns});
}

const struct ncnn_row ncnn_rows_conv[] = {
    {"Convolution", 1, 1, add_convolution},
    {"Convolution1D", 1, 1, add_convolution},
    {"ConvolutionDepthWise", 1, 1, add_convolution},
    {"ConvolutionDepthWise1D", 1, 1, add_convolution},
    {"Deconvolution", 1, 1, add_deconvolution},
    {"Deconvolution1D", 1, 1, add_deconvolution},
    {"DeconvolutionDepthWise", 1, 1, add_deconvolution},
    {"DeconvolutionDepthWise1D", 1, 1, add_deconvolution},
    {"InnerProduct", 1, 1, add_inner_product},
    {"Unfold", 1, 1, add_unfold},
    {0},
};
