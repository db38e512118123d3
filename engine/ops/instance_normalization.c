/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* WebNN instanceNormalization: (x − μ) / √(σ² + ε) · scale + bias, with mean
 * and variance of each channel of each image. */
#include "normalize.h"

#include <math.h>

static enum tdl_result infer(const struct tdl_node *n, struct tdl_tensor_params *out)
{
    enum tdl_result r = tdl_norm_check(n, TDL_NORM_SCALE, TDL_NORM_BIAS);
    if (r == TDL_OK)
        *out = tdl_desc_like(n->inputs[TDL_NORM_INPUT], tdl_operand_dims(n->inputs[0]));
    return r;
}

static void reference(const struct tdl_node *n, const float *const *inputs, float *output)
{
    struct tdl_dims d = tdl_operand_dims(n->inputs[TDL_NORM_INPUT]);
    const float *scale = inputs[TDL_NORM_SCALE], *bias = inputs[TDL_NORM_BIAS];
    size_t pixels = (size_t)d.h * d.w;
    for (uint32_t b = 0; b < d.n; b++)
        for (uint32_t c = 0; c < d.c; c++) {
            const float *x = inputs[TDL_NORM_INPUT] + b * pixels * d.c + c;
            float *y = output + b * pixels * d.c + c;
            double mean = 0, variance = 0;
            for (size_t i = 0; i < pixels; i++)
                mean += (double)x[i * d.c] / (double)pixels;
            for (size_t i = 0; i < pixels; i++)
                variance += (x[i * d.c] - mean) * (x[i * d.c] - mean) / (double)pixels;
            for (size_t i = 0; i < pixels; i++) {
                double v = (x[i * d.c] - mean) / sqrt(variance + tdl_norm_epsilon(n));
                v = v * (scale ? scale[c] : 1) + (bias ? bias[c] : 0);
                y[i * d.c] = tdl_activate(n->attr.norm.activation, (float)v);
            }
        }
}

static enum tdl_result lower(struct tdl_plan *plan, struct tdl_node *n)
{
    const float *scale, *bias;
    if (!tdl_norm_constant(n, TDL_NORM_SCALE, &scale) ||
        !tdl_norm_constant(n, TDL_NORM_BIAS, &bias))
        return TDL_ERROR_UNSUPPORTED;
    struct tdl_operand *factors = tdl_norm_moments(plan, n, false, scale, bias);
    if (factors)
        tdl_norm_apply(plan, n, factors, NULL, NULL, NULL);
    return plan->status;
}

const struct tdl_op tdl_op_instance_normalization = {
    .name = "instanceNormalization",
    .infer = infer,
    .resize = tdl_resize_freely,
    .stack = tdl_stack_first,
    .lower = lower,
    .reference = reference,
    .weight_slots = TDL_NORM_WEIGHTS,
    .activation = tdl_norm_activation,
};

struct tdl_operand *tdl_builder_instance_normalization(
    struct tdl_builder *b, struct tdl_operand *input,
    const struct tdl_instance_normalization_params *params)
{
    TDL_BUILDER_NEED_KNOWN(b, params);
    struct tdl_instance_normalization_params p = {0};
    if (params)
        p = *params;
    union tdl_attr attr = {.norm = {.epsilon = p.epsilon, .activation = p.activation}};
    const enum tdl_layout layout =
        tdl_builder_layout(b, &tdl_op_instance_normalization, p.input_layout);
    struct tdl_operand *inputs[] = {input, p.scale, p.bias};
    const bool dynamic = tdl_norm_is_dynamic(b, input, inputs, TDL_COUNT(inputs));
    if (!tdl_norm_known(b, &tdl_op_instance_normalization, p.epsilon, p.activation))
        return NULL;
    if (dynamic) {
        struct tdl_instance_normalization_params plain = {.epsilon = p.epsilon,
                                                          .input_layout = layout};
        inputs[TDL_NORM_INPUT] = tdl_builder_instance_normalization(b, input, &plain);
        return inputs[TDL_NORM_INPUT] ? tdl_norm_compose(b, &tdl_op_instance_normalization, layout,
                                                         inputs, TDL_COUNT(inputs), &attr)
                                      : NULL;
    }
    for (uint32_t i = TDL_NORM_SCALE; i <= TDL_NORM_BIAS; i++)
        inputs[i] = tdl_parameter(b, inputs[i]);
    return tdl_builder_add_told(b, &tdl_op_instance_normalization, layout, &attr, inputs,
                                TDL_COUNT(inputs), 1);
}
