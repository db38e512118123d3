/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* WebNN batchNormalization: (x − mean) / √(variance + ε) · scale + bias. */
#include "normalize.h"

#include <math.h>
#include <stdlib.h>

static enum tdl_result infer(const struct tdl_node *n, struct tdl_tensor_params *out)
{
    enum tdl_result r = tdl_norm_check(n, TDL_NORM_SCALE, TDL_NORM_VARIANCE);
    if (r == TDL_OK)
        *out = tdl_desc_like(n->inputs[TDL_NORM_INPUT], tdl_operand_dims(n->inputs[0]));
    return r;
}

static void reference(const struct tdl_node *n, const float *const *inputs, float *output)
{
    struct tdl_dims d = tdl_operand_dims(n->inputs[TDL_NORM_INPUT]);
    const float *scale = inputs[TDL_NORM_SCALE], *bias = inputs[TDL_NORM_BIAS];
    const float *mean = inputs[TDL_NORM_MEAN], *variance = inputs[TDL_NORM_VARIANCE];
    for (size_t i = 0; i < (size_t)d.n * d.h * d.w * d.c; i++) {
        size_t c = i % d.c;
        double v = ((double)inputs[TDL_NORM_INPUT][i] - mean[c]) /
                   sqrt((double)variance[c] + tdl_norm_epsilon(n));
        v = v * (scale ? scale[c] : 1) + (bias ? bias[c] : 0);
        output[i] = tdl_activate(n->attr.norm.activation, (float)v);
    }
}

enum tdl_result tdl_batch_normalization_factors(const struct tdl_node *n, float *a, float *b,
                                                float *means)
{
    const float *scale, *bias, *mean, *variance;
    if (!tdl_norm_constant(n, TDL_NORM_SCALE, &scale) ||
        !tdl_norm_constant(n, TDL_NORM_BIAS, &bias) ||
        !tdl_norm_constant(n, TDL_NORM_MEAN, &mean) ||
        !tdl_norm_constant(n, TDL_NORM_VARIANCE, &variance))
        return TDL_ERROR_UNSUPPORTED;
    for (uint32_t c = 0; c < tdl_operand_dims(n->output).c; c++) {
        double factor = (scale ? scale[c] : 1) / sqrt((double)variance[c] + tdl_norm_epsilon(n));
        a[c] = (float)factor;
        b[c] = (float)((bias ? bias[c] : 0) - (means ? 0 : mean[c] * factor));
        if (means)
            means[c] = mean[c];
    }
    return TDL_OK;
}

static enum tdl_result lower(struct tdl_plan *plan, struct tdl_node *n)
{
    uint32_t channels = tdl_operand_dims(n->output).c;
    float *parts = calloc(channels, 3 * sizeof(*parts));
    if (!parts)
        return tdl_fail(TDL_ERROR_OUT_OF_MEMORY, "out of memory while planning");
    enum tdl_result r =
        tdl_batch_normalization_factors(n, parts, parts + channels, parts + 2 * (size_t)channels);
    if (r == TDL_OK)
        tdl_norm_apply(plan, n, NULL, parts, NULL, NULL);
    free(parts);
    return r == TDL_OK ? plan->status : r;
}

const struct tdl_op tdl_op_batch_normalization = {
    .name = "batchNormalization",
    .infer = infer,
    .resize = tdl_resize_freely,
    .stack = tdl_stack_first,
    .lower = lower,
    .reference = reference,
    .weight_slots = TDL_NORM_WEIGHTS,
    .activation = tdl_norm_activation,
};

struct tdl_operand *tdl_builder_batch_normalization(
    struct tdl_builder *b, struct tdl_operand *input, struct tdl_operand *mean,
    struct tdl_operand *variance, const struct tdl_batch_normalization_params *params)
{
    TDL_BUILDER_NEED_KNOWN(b, params);
    struct tdl_batch_normalization_params p = {0};
    if (params)
        p = *params;
    union tdl_attr attr = {.norm = {.epsilon = p.epsilon, .activation = p.activation}};
    const enum tdl_layout layout =
        tdl_builder_layout(b, &tdl_op_batch_normalization, p.input_layout);
    struct tdl_operand *inputs[] = {input, p.scale, p.bias, mean, variance};
    if (!tdl_norm_known(b, &tdl_op_batch_normalization, p.epsilon, p.activation))
        return NULL;
    if (tdl_builder_status(b) == TDL_OK && (!mean || !variance))
        return tdl_builder_fail(b, TDL_ERROR_INVALID_ARGUMENT,
                                "batchNormalization: the mean or the variance is missing");
    if (tdl_norm_is_dynamic(b, input, inputs, TDL_COUNT(inputs)))
        return tdl_norm_compose(b, &tdl_op_batch_normalization, layout, inputs, TDL_COUNT(inputs),
                                &attr);
    for (uint32_t i = TDL_NORM_SCALE; i <= TDL_NORM_VARIANCE; i++)
        inputs[i] = tdl_parameter(b, inputs[i]);
    return tdl_builder_add_told(b, &tdl_op_batch_normalization, layout, &attr, inputs,
                                TDL_COUNT(inputs), 1);
}
