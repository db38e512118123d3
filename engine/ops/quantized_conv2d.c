/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Made by the pass quantize: conv2d of int8 to int8 in NHWC, of a filter that is whole numbers
 * times a scale for each output channel, summed in integers. Slots are those of conv2d.
 */
#include "quantized.h"
#include "ops.h"

#include "conv/conv.h"

#include <math.h>
#include <stdlib.h>

/* ------------------------------------------------------------------- filters */

static size_t weights_per_channel(const struct tdl_node *conv)
{
    const struct tdl_operand *filter = conv->inputs[TDL_CONV_FILTER];
    return tdl_operand_count(filter) / tdl_operand_dims(filter).n;
}

static bool are_whole(const float *weights, size_t count, float scale)
{
    const float near = 1e-4f; /* what is left of float32 behind 8 bits, with some room */
    for (size_t i = 0; i < count; i++) {
        const float q = weights[i] / scale, whole = rintf(q);
        if (!(fabsf(q - whole) <= near && whole >= -128 && whole <= 127))
            return false;
    }
    return true;
}

/* A scale that does, in which the largest weight is 1 to 128; 0: none. Of few numbers it is a
 * fraction of what they have in common, so that the bias is whole in it but for little. */
static float scale_of(const float *weights, size_t count)
{
    float most = 0;
    for (size_t i = 0; i < count; i++)
        most = fmaxf(most, fabsf(weights[i]));
    if (most == 0)
        return 1;
    for (int k = 1; k <= 128 && isnormal(most / 128); k++)
        if (are_whole(weights, count, most / (float)k))
            return most / (float)(k > 127 ? k : k * (127 / k));
    return 0;
}

bool tdl_quantized_scales(const struct tdl_node *conv, float *scales)
{
    const float *weights = conv->inputs[TDL_CONV_FILTER]->data;
    const size_t count = weights_per_channel(conv);
    for (uint32_t c = 0; c < tdl_operand_dims(conv->output).c; c++)
        if (!(scales[c] = scale_of(weights + c * count, count)))
            return false;
    return true;
}

void tdl_quantized_filter(const struct tdl_node *conv, const float *scales, int8_t *filter)
{
    const float *weights = conv->inputs[TDL_CONV_FILTER]->data;
    const size_t per_channel = weights_per_channel(conv);
    for (size_t i = 0; i < tdl_operand_count(conv->inputs[TDL_CONV_FILTER]); i++)
        filter[i] = (int8_t)rintf(weights[i] / scales[i / per_channel]);
}

void tdl_quantized_bias(const struct tdl_node *conv, const float *scales, int32_t *bias)
{
    const struct tdl_operand *o = conv->inputs[TDL_CONV_BIAS];
    const float *values = o ? o->data : NULL;
    const float scale = conv->attr.quantized_conv.in.scale;
    for (uint32_t c = 0; c < tdl_operand_dims(conv->output).c; c++)
        bias[c] =
            values ? (int32_t)rint((double)values[c] / ((double)scale * (double)scales[c])) : 0;
}

/* ----------------------------------------------------------------- reference */

struct sums {
    struct tdl_conv_geometry g;
    const int8_t *input, *filter;
    int32_t zero;
};

static int64_t sum_at(const struct sums *s, size_t image, size_t oy, size_t ox, uint32_t o)
{
    const struct tdl_window *w = &s->g.window;
    const uint32_t depth = s->g.in_per_group, first = o / s->g.out_per_group * depth;
    const int8_t *filter = s->filter + (size_t)o * w->kernel[0] * w->kernel[1] * depth;
    int64_t sum = 0;
    for (uint32_t ky = 0; ky < w->kernel[0]; ky++)
        for (uint32_t kx = 0; kx < w->kernel[1]; kx++) {
            const int64_t y = (int64_t)(oy * w->stride[0] + ky * w->dilation[0]) - w->pad[0];
            const int64_t x = (int64_t)(ox * w->stride[1] + kx * w->dilation[1]) - w->pad[2];
            if (y < 0 || x < 0 || y >= s->g.in.h || x >= s->g.in.w)
                continue;
            const int8_t *pixel =
                s->input + ((image * s->g.in.h + (size_t)y) * s->g.in.w + (size_t)x) * s->g.in.c +
                first;
            const int8_t *tap = filter + ((size_t)ky * w->kernel[1] + kx) * depth;
            for (uint32_t i = 0; i < depth; i++)
                sum += (pixel[i] - s->zero) * tap[i];
        }
    return sum;
}

static int8_t finish(const struct tdl_quantized_conv_attr *p, double real)
{
    const enum tdl_activation a = p->conv.p.activation;
    real = a == TDL_ACTIVATION_NONE ? real : fmax(real, 0);
    real = a == TDL_ACTIVATION_RELU6 ? fmin(real, 6) : real;
    const double q = rint(real / (double)p->out.scale) + (double)p->out.zero;
    return (int8_t)fmin(fmax(q, -128), 127);
}

static void sum_all(const struct tdl_node *n, const int8_t *input, const int8_t *filter,
                    const float *scales, const int32_t *bias, int8_t *output)
{
    const struct tdl_quantized_conv_attr *p = &n->attr.quantized_conv;
    struct sums s = {.input = input, .filter = filter, .zero = (int32_t)p->in.zero};
    tdl_conv_describe(n, &s.g);
    for (size_t i = 0; i < tdl_operand_count(n->output); i++) {
        const size_t pixel = i / s.g.out.c, row = pixel / s.g.out.w;
        const uint32_t o = (uint32_t)(i % s.g.out.c);
        const int64_t sum =
            sum_at(&s, row / s.g.out.h, row % s.g.out.h, pixel % s.g.out.w, o) + bias[o];
        output[i] = finish(p, (double)sum * (double)p->in.scale * (double)scales[o]);
    }
}

static void reference(const struct tdl_node *n, const void *const *inputs, void *output)
{
    struct tdl_operand parameters[2];
    struct tdl_node told = *n;
    for (uint32_t i = TDL_CONV_FILTER; i <= TDL_CONV_BIAS; i++) {
        if (!n->inputs[i])
            continue;
        parameters[i - TDL_CONV_FILTER] = *n->inputs[i];
        parameters[i - TDL_CONV_FILTER].data = inputs[i];
        told.inputs[i] = &parameters[i - TDL_CONV_FILTER];
    }
    const uint32_t channels = tdl_operand_dims(n->output).c;
    float *scales = malloc(channels * sizeof(*scales));
    int32_t *bias = malloc(channels * sizeof(*bias));
    int8_t *filter = malloc(tdl_operand_count(n->inputs[TDL_CONV_FILTER]));
    if (scales && bias && filter && tdl_quantized_scales(&told, scales)) {
        tdl_quantized_filter(&told, scales, filter);
        tdl_quantized_bias(&told, scales, bias);
        sum_all(n, inputs[TDL_CONV_INPUT], filter, scales, bias, output);
    }
    free(scales);
    free(bias);
    free(filter);
}

static uint64_t macs(const struct tdl_node *n)
{
    return tdl_op_conv2d.macs(n);
}

const struct tdl_op tdl_op_quantized_conv2d = {
    .name = "quantizedConv2d",
    .storage = TDL_STORAGE_LINEAR,
    .reference_linear = reference,
    .macs = macs,
    .weight_slots = 1u << TDL_CONV_FILTER | 1u << TDL_CONV_BIAS,
};
