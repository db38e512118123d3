/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* conv2d. How it is computed is chosen from a table: conv/conv.h. */
#include "../graph/builder.h"
#include "conv/conv.h"

#include <stdlib.h>
#include <string.h>

static enum tdl_result infer(const struct tdl_node *n, struct tdl_tensor_params *out)
{
    const struct tdl_operand *x = n->inputs[TDL_CONV_INPUT], *f = n->inputs[TDL_CONV_FILTER];
    const struct tdl_operand *bias = n->inputs[TDL_CONV_BIAS];
    struct tdl_conv_geometry g;
    if (x->desc.rank != 4 || f->desc.rank != 4 || f->desc.layout != TDL_LAYOUT_NHWC)
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT,
                        "conv2d: input %s and filter %s must have rank 4, the filter as ohwi",
                        tdl_operand_text(x), tdl_operand_text(f));
    struct tdl_dims d = tdl_operand_dims(x), k = tdl_operand_dims(f);
    uint32_t groups = n->attr.conv.p.groups;
    if (d.c % groups || k.n % groups || k.c != d.c / groups)
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT,
                        "conv2d: filter %s does not fit input %s with %u groups",
                        tdl_operand_text(f), tdl_operand_text(x), groups);
    if (bias && (bias->desc.rank != 1 || bias->desc.shape[0] != k.n))
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT,
                        "conv2d: bias %s does not fit %u output channels", tdl_operand_text(bias),
                        k.n);
    if (!tdl_conv_resolve(n, &g))
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT,
                        "conv2d: the window of filter %s does not fit into the padded input %s",
                        tdl_operand_text(f), tdl_operand_text(x));
    *out = tdl_desc_like(x, g.out);
    return TDL_OK;
}

static uint64_t macs(const struct tdl_node *n)
{
    struct tdl_conv_geometry g;
    return tdl_conv_resolve(n, &g) ? (uint64_t)g.out.n * g.out.h * g.out.w * g.out.c * g.kernel[0] *
                                g.kernel[1] * g.in_per_group
                          : 0;
}

static void reference(const struct tdl_node *n, const float *const *inputs, float *output)
{
    const float *x = inputs[TDL_CONV_INPUT], *f = inputs[TDL_CONV_FILTER];
    const float *bias = inputs[TDL_CONV_BIAS];
    struct tdl_conv_geometry g;
    if (!tdl_conv_resolve(n, &g))
        return;
    for (uint32_t b = 0; b < g.out.n; b++)
        for (uint32_t oy = 0; oy < g.out.h; oy++)
            for (uint32_t ox = 0; ox < g.out.w; ox++)
                for (uint32_t o = 0; o < g.out.c; o++) {
                    double sum = bias ? bias[o] : 0;
                    uint32_t first = o / g.out_per_group * g.in_per_group;
                    for (uint32_t ky = 0; ky < g.kernel[0]; ky++)
                        for (uint32_t kx = 0; kx < g.kernel[1]; kx++) {
                            int64_t y = (int64_t)oy * g.p->stride[0] + ky * g.p->dilation[0] -
                                        g.window.pad_top;
                            int64_t c = (int64_t)ox * g.p->stride[1] + kx * g.p->dilation[1] -
                                        g.window.pad_left;
                            if (y < 0 || c < 0 || y >= g.in.h || c >= g.in.w)
                                continue;
                            const float *px =
                                x + (((size_t)b * g.in.h + (size_t)y) * g.in.w + (size_t)c) * g.in.c;
                            const float *w =
                                f + (((size_t)o * g.kernel[0] + ky) * g.kernel[1] + kx) *
                                        g.in_per_group;
                            for (uint32_t i = 0; i < g.in_per_group; i++)
                                sum += (double)px[first + i] * w[i];
                        }
                    output[(((size_t)b * g.out.h + oy) * g.out.w + ox) * g.out.c + o] =
                        tdl_activate(g.p->activation, (float)sum);
                }
}

static enum tdl_result lower(struct tdl_plan *plan, struct tdl_node *n)
{
    struct tdl_conv_geometry g = {.device = plan->device, .storage = plan->storage};
    if (!tdl_conv_resolve(n, &g))
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT, "%s: the window does not fit", n->label);
    if (!tdl_constant_data(n->inputs[TDL_CONV_FILTER]) ||
        (n->inputs[TDL_CONV_BIAS] && !tdl_constant_data(n->inputs[TDL_CONV_BIAS])))
        return tdl_fail(TDL_ERROR_UNSUPPORTED,
                        "%s: the filter and bias of conv2d must be float32 constants, given by "
                        "tdl_builder_constant; filters that are computed or bound at dispatch "
                        "are not supported",
                        n->label);
    return tdl_conv_lower(plan, n, &g);
}

const struct tdl_op tdl_op_conv2d = {
    .name = "conv2d",
    .infer = infer,
    .lower = lower,
    .reference = reference,
    .macs = macs,
    .weight_slots = 1u << TDL_CONV_FILTER | 1u << TDL_CONV_BIAS,
};

struct tdl_operand *tdl_builder_conv2d(struct tdl_builder *b, struct tdl_operand *input,
                                       struct tdl_operand *filter,
                                       const struct tdl_conv2d_params *params)
{
    union tdl_attr attr = {.conv.p = params ? *params : (struct tdl_conv2d_params){0}};
    struct tdl_conv2d_params *p = &attr.conv.p;
    struct tdl_operand *inputs[] = {input, filter, p->bias};
    for (int i = 0; i < 2; i++) {
        p->stride[i] = tdl_or_one(p->stride[i]);
        p->dilation[i] = tdl_or_one(p->dilation[i]);
    }
    p->groups = tdl_or_one(p->groups);
    p->bias = NULL;
    if (!tdl_builder_known_window(b, &tdl_op_conv2d, p->padding, p->activation))
        return NULL;
    return tdl_builder_add_node(b, &tdl_op_conv2d, &attr, inputs, TDL_COUNT(inputs), 2);
}
