/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* WebNN layerNormalization: (x − μ) / √(σ² + ε) · scale + bias, with mean and
 * variance over the given axes. In packs: over channels, over height and
 * width, and over all three. */
#include "normalize.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Axes of an image whatever its layout. */
enum { H = 1, W = 2, C = 4 };

static uint32_t image_axes(const struct tdl_node *n)
{
    static const uint32_t nhwc[] = {8, H, W, C}, nchw[] = {8, C, H, W};
    const struct tdl_operand *x = n->inputs[TDL_NORM_INPUT];
    uint32_t axes = 0;
    for (uint32_t i = 0; i < 4; i++)
        if (n->attr.norm.axes & 1u << i)
            axes |= x->desc.layout == TDL_LAYOUT_NCHW ? nchw[i] : nhwc[i];
    return axes;
}

/* Scale and bias have the dimensions of the axes. */
static bool fits(const struct tdl_node *n, const struct tdl_operand *o)
{
    const struct tdl_tensor_params *x = &n->inputs[TDL_NORM_INPUT]->desc;
    uint32_t at = 0;
    for (uint32_t i = 0; i < x->rank; i++)
        if (n->attr.norm.axes & 1u << i)
            if (at >= o->desc.rank || o->desc.shape[at++] != x->shape[i])
                return false;
    return at == o->desc.rank;
}

static enum tdl_result infer(const struct tdl_node *n, struct tdl_tensor_params *out)
{
    const struct tdl_operand *x = n->inputs[TDL_NORM_INPUT];
    if (x->desc.rank != 4 || x->desc.dtype != TDL_FLOAT32)
        return tdl_fail(TDL_ERROR_UNSUPPORTED,
                        "layerNormalization: the input %s is not float32 of rank 4",
                        tdl_operand_text(x));
    for (uint32_t i = TDL_NORM_SCALE; i <= TDL_NORM_BIAS; i++)
        if (n->inputs[i] && !fits(n, n->inputs[i]))
            return tdl_fail(TDL_ERROR_INVALID_ARGUMENT,
                            "layerNormalization: %s has not the dimensions of the input %s at "
                            "the axes",
                            tdl_operand_text(n->inputs[i]), tdl_operand_text(x));
    uint32_t axes = image_axes(n);
    if (axes != C && axes != (H | W) && axes != (H | W | C))
        return tdl_fail(TDL_ERROR_UNSUPPORTED,
                        "layerNormalization: not over channels, height and width, or all three of "
                        "%s",
                        tdl_operand_text(x));
    *out = tdl_desc_like(x, tdl_operand_dims(x));
    return TDL_OK;
}

/* Where the scale and bias of an element are. */
static size_t parameter_index(const struct tdl_node *n, uint32_t y, uint32_t x, uint32_t c)
{
    struct tdl_dims d = tdl_operand_dims(n->inputs[TDL_NORM_INPUT]);
    uint32_t axes = image_axes(n);
    size_t pixel = (size_t)y * d.w + x;
    if (axes == C)
        return c;
    if (axes == (H | W))
        return pixel;
    return n->inputs[TDL_NORM_INPUT]->desc.layout == TDL_LAYOUT_NCHW
               ? (size_t)c * d.h * d.w + pixel
               : pixel * d.c + c;
}

/* One group of elements that share their moments: those of `image` that are
 * at channel `c`, or at `pixel`, where they are not −1. */
static void reference_group(const struct tdl_node *n, const float *const *inputs, float *output,
                            int64_t channel, int64_t pixel)
{
    struct tdl_dims d = tdl_operand_dims(n->inputs[TDL_NORM_INPUT]);
    const float *scale = inputs[TDL_NORM_SCALE], *bias = inputs[TDL_NORM_BIAS];
    double mean = 0, variance = 0;
    size_t count = 0;
    for (int pass = 0; pass < 3; pass++) {
        for (size_t i = 0; i < (size_t)d.h * d.w * d.c; i++) {
            if ((channel >= 0 && i % d.c != (size_t)channel) ||
                (pixel >= 0 && i / d.c != (size_t)pixel))
                continue;
            double x = inputs[TDL_NORM_INPUT][i];
            if (pass == 0) {
                mean += x;
                count++;
            } else if (pass == 1) {
                variance += (x - mean) * (x - mean);
            } else {
                size_t p = parameter_index(n, (uint32_t)(i / d.c / d.w), (uint32_t)(i / d.c % d.w),
                                           (uint32_t)(i % d.c));
                double v = (x - mean) / sqrt(variance + tdl_norm_epsilon(n));
                v = v * (scale ? scale[p] : 1) + (bias ? bias[p] : 0);
                output[i] = tdl_activate(n->attr.norm.activation, (float)v);
            }
        }
        if (pass == 0)
            mean /= (double)count;
        else if (pass == 1)
            variance /= (double)count;
    }
}

static void reference(const struct tdl_node *n, const float *const *inputs, float *output)
{
    struct tdl_dims d = tdl_operand_dims(n->inputs[TDL_NORM_INPUT]);
    size_t image = (size_t)d.h * d.w * d.c;
    uint32_t axes = image_axes(n);
    for (uint32_t b = 0; b < d.n; b++) {
        const float *values[] = {inputs[TDL_NORM_INPUT] + b * image, inputs[TDL_NORM_SCALE],
                                 inputs[TDL_NORM_BIAS]};
        if (axes == (H | W | C))
            reference_group(n, values, output + b * image, -1, -1);
        for (uint32_t c = 0; c < d.c && axes == (H | W); c++)
            reference_group(n, values, output + b * image, c, -1);
        for (uint32_t i = 0; i < d.h * d.w && axes == C; i++)
            reference_group(n, values, output + b * image, -1, i);
    }
}

static void lower_channels(struct tdl_plan *plan, struct tdl_node *n, const float *scale,
                           const float *bias)
{
    struct tdl_dims d = tdl_operand_dims(n->output);
    uint32_t pixels = d.h * d.w, packs = tdl_packs(d.c), epsilon_bits;
    bool gpu = plan->device->type != TDL_DEVICE_CPU;
    /* Few pixels of many channels need more invocations than pixels. */
    uint32_t team = !gpu || packs < 8 ? 1 : packs < 32 ? 4 : 16, local = 64 / team;
    float epsilon = tdl_norm_epsilon(n);
    memcpy(&epsilon_bits, &epsilon, sizeof(epsilon_bits));
    struct tdl_plan_step *s = tdl_plan_add_step(plan, "normalize_channels", n, local, team, 1);
    const uint32_t values[] = {pixels, packs, d.c, scale || bias, epsilon_bits,
                               n->attr.norm.activation};
    for (size_t i = 0; i < TDL_COUNT(values); i++)
        tdl_plan_spec(s, values[i]);
    tdl_plan_read(s, 0, n->inputs[TDL_NORM_INPUT]);
    if (scale || bias) {
        float *w = tdl_plan_weights(plan, s, 1, (uint64_t)packs * 8);
        if (w)
            tdl_norm_interleave(scale, 1, bias, d.c, w);
    }
    tdl_plan_write(s, 2, n->output);
    tdl_plan_shared(s, (uint64_t)local * team * 4);
    tdl_plan_groups(s, TDL_DIV_UP(pixels, local), 1, d.n);
}

/* Parameters by element, in NHWC. */
static void spread(const struct tdl_node *n, const float *parameter, float *out)
{
    struct tdl_dims d = tdl_operand_dims(n->output);
    for (uint32_t y = 0; parameter && y < d.h; y++)
        for (uint32_t x = 0; x < d.w; x++)
            for (uint32_t c = 0; c < d.c; c++)
                *out++ = parameter[parameter_index(n, y, x, c)];
}

static enum tdl_result lower(struct tdl_plan *plan, struct tdl_node *n)
{
    struct tdl_dims d = tdl_operand_dims(n->output);
    size_t count = (size_t)d.h * d.w * d.c;
    const float *scale, *bias;
    if (!tdl_norm_constant(n, TDL_NORM_SCALE, &scale) ||
        !tdl_norm_constant(n, TDL_NORM_BIAS, &bias))
        return TDL_ERROR_UNSUPPORTED;
    if (image_axes(n) == C) {
        lower_channels(plan, n, scale, bias);
        return plan->status;
    }
    struct tdl_operand *factors =
        tdl_norm_moments(plan, n, (image_axes(n) & C) != 0, NULL, NULL);
    float *elements = calloc(count, 2 * sizeof(*elements));
    if (!elements)
        return tdl_fail(TDL_ERROR_OUT_OF_MEMORY, "out of memory while planning");
    spread(n, scale, elements);
    spread(n, bias, elements + count);
    if (factors)
        tdl_norm_apply(plan, n, factors, NULL, NULL, scale ? elements : NULL,
                       bias ? elements + count : NULL);
    free(elements);
    return plan->status;
}

const struct tdl_op tdl_op_layer_normalization = {
    .name = "layerNormalization",
    .infer = infer,
    .lower = lower,
    .reference = reference,
    .weight_slots = TDL_NORM_WEIGHTS,
};

struct tdl_operand *
tdl_builder_layer_normalization(struct tdl_builder *b, struct tdl_operand *input,
                                const struct tdl_layer_normalization_params *params)
{
    struct tdl_layer_normalization_params p = {0};
    if (params)
        p = *params;
    union tdl_attr attr = {.norm = {.epsilon = p.epsilon, .activation = p.activation}};
    struct tdl_operand *inputs[] = {input, p.scale, p.bias};
    if (!tdl_builder_known_window(b, &tdl_op_layer_normalization, 0, p.activation))
        return NULL;
    for (uint32_t i = 0; b->status == TDL_OK && input && i < p.axis_count; i++) {
        if (p.axis_count > TDL_MAX_RANK || p.axes[i] >= input->desc.rank ||
            (i && p.axes[i] <= p.axes[i - 1]))
            return tdl_builder_fail(b, TDL_ERROR_INVALID_ARGUMENT,
                                    "layerNormalization: axes must rise and be below the rank of "
                                    "%s",
                                    tdl_operand_text(input));
        attr.norm.axes |= 1u << p.axes[i];
    }
    if (b->status == TDL_OK && input && !p.axis_count && input->desc.rank)
        attr.norm.axes = (1u << input->desc.rank) - 2;
    return tdl_builder_add_node(b, &tdl_op_layer_normalization, &attr, inputs, TDL_COUNT(inputs),
                                1);
}
