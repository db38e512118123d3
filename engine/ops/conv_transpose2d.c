/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "../graph/builder.h"
#include "ops.h"

struct geometry {
    struct tdl_dims in, out;
    uint32_t kernel[2], pad_top, pad_left;
    const struct tdl_conv_transpose2d_params *p;
};

static bool resolve(const struct tdl_node *n, struct geometry *g)
{
    struct tdl_dims f = tdl_operand_dims(n->inputs[TDL_CONV_FILTER]);
    uint64_t size[2];
    g->p = &n->attr.conv_transpose;
    g->in = tdl_operand_dims(n->inputs[TDL_CONV_INPUT]);
    g->kernel[0] = f.h;
    g->kernel[1] = f.w;
    g->pad_top = g->p->pad[0];
    g->pad_left = g->p->pad[2];
    const uint32_t in[2] = {g->in.h, g->in.w};
    for (int i = 0; i < 2; i++) {
        uint64_t full = (uint64_t)(in[i] - 1) * g->p->stride[i] + g->kernel[i];
        uint64_t cut = (uint64_t)g->p->pad[2 * i] + g->p->pad[2 * i + 1];
        if (g->p->padding == TDL_PADDING_SAME_UPPER) {
            /* The gradient of TensorFlow's SAME convolution. */
            uint32_t over = g->kernel[i] > g->p->stride[i] ? g->kernel[i] - g->p->stride[i] : 0;
            *(i ? &g->pad_left : &g->pad_top) = over / 2;
            size[i] = (uint64_t)in[i] * g->p->stride[i];
        } else {
            size[i] = full > cut ? full - cut : 0;
        }
        if (!size[i] || size[i] > INT32_MAX || g->p->pad[2 * i] > INT32_MAX)
            return false;
    }
    g->out = (struct tdl_dims){g->in.n, (uint32_t)size[0], (uint32_t)size[1], f.n};
    return true;
}

static enum tdl_result infer(const struct tdl_node *n, struct tdl_tensor_params *out)
{
    const struct tdl_operand *x = n->inputs[TDL_CONV_INPUT], *f = n->inputs[TDL_CONV_FILTER];
    const struct tdl_operand *bias = n->inputs[TDL_CONV_BIAS];
    struct geometry g;
    if (x->desc.rank != 4 || f->desc.rank != 4 || f->desc.layout != TDL_LAYOUT_NHWC ||
        tdl_operand_dims(f).c != tdl_operand_dims(x).c)
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT,
                        "convTranspose2d: filter %s (ohwi) does not fit input %s",
                        tdl_operand_text(f), tdl_operand_text(x));
    if (bias && (bias->desc.rank != 1 || bias->desc.shape[0] != tdl_operand_dims(f).n))
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT,
                        "convTranspose2d: bias %s does not fit %u output channels",
                        tdl_operand_text(bias), tdl_operand_dims(f).n);
    if (!resolve(n, &g))
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT,
                        "convTranspose2d: strides and padding leave no output, or too large a "
                        "one, of input %s and filter %s",
                        tdl_operand_text(x), tdl_operand_text(f));
    *out = tdl_desc_like(x, g.out);
    return TDL_OK;
}

static uint64_t macs(const struct tdl_node *n)
{
    struct geometry g;
    return resolve(n, &g) ? (uint64_t)g.in.n * g.in.h * g.in.w * g.in.c * g.out.c * g.kernel[0] *
                                g.kernel[1]
                          : 0;
}

/* The scatter of the definition: every input pixel stamps the kernel. */
static void reference(const struct tdl_node *n, const float *const *inputs, float *output)
{
    const float *x = inputs[TDL_CONV_INPUT], *f = inputs[TDL_CONV_FILTER];
    const float *bias = inputs[TDL_CONV_BIAS];
    struct geometry g;
    if (!resolve(n, &g))
        return;
    size_t pixels = (size_t)g.out.n * g.out.h * g.out.w;
    for (size_t i = 0; i < pixels * g.out.c; i++)
        output[i] = bias ? bias[i % g.out.c] : 0;
    for (uint32_t b = 0; b < g.in.n; b++)
        for (uint32_t iy = 0; iy < g.in.h; iy++)
            for (uint32_t ix = 0; ix < g.in.w; ix++)
                for (uint32_t ky = 0; ky < g.kernel[0]; ky++)
                    for (uint32_t kx = 0; kx < g.kernel[1]; kx++) {
                        int64_t oy = (int64_t)iy * g.p->stride[0] + ky - g.pad_top;
                        int64_t ox = (int64_t)ix * g.p->stride[1] + kx - g.pad_left;
                        if (oy < 0 || ox < 0 || oy >= g.out.h || ox >= g.out.w)
                            continue;
                        const float *px = x + (((size_t)b * g.in.h + iy) * g.in.w + ix) * g.in.c;
                        float *to = output + (((size_t)b * g.out.h + (size_t)oy) * g.out.w +
                                              (size_t)ox) *
                                                 g.out.c;
                        for (uint32_t o = 0; o < g.out.c; o++)
                            for (uint32_t i = 0; i < g.in.c; i++)
                                to[o] += px[i] * f[(((size_t)o * g.kernel[0] + ky) * g.kernel[1] +
                                                    kx) *
                                                       g.in.c +
                                                   i];
                    }
    for (size_t i = 0; i < pixels * g.out.c; i++)
        output[i] = tdl_activate(g.p->activation, output[i]);
}

/* Its weights are kept in shared memory, and its loop is unrolled. */
#define MAX_BLOCK_CHANNELS 256

static bool is_block(const struct geometry *g)
{
    return g->out.c == 1 && g->in.c <= MAX_BLOCK_CHANNELS && g->kernel[0] == 2 && g->kernel[1] == 2 && g->p->stride[0] == 2 &&
           g->p->stride[1] == 2 && g->out.h == g->in.h * 2 && g->out.w == g->in.w * 2 &&
           !g->pad_top && !g->pad_left;
}

bool tdl_conv_transpose2d_writes_linear(const struct tdl_node *n)
{
    struct geometry g;
    return n->op == &tdl_op_conv_transpose2d && resolve(n, &g) && is_block(&g);
}

static float filter_at(const struct geometry *g, const float *f, uint32_t o, uint32_t tap, uint32_t i)
{
    return o < g->out.c && i < g->in.c
               ? f[((size_t)o * g->kernel[0] * g->kernel[1] + tap) * g->in.c + i]
               : 0;
}

static void lower_block(struct tdl_plan *plan, struct tdl_node *n, const struct geometry *g,
                        const float *f, const float *bias)
{
    uint32_t in = tdl_packs(g->in.c), local = 64;
    struct tdl_plan_step *s = tdl_plan_add_step(plan, "conv_transpose2d_block", n, local, 1, 1);
    const uint32_t values[] = {g->in.w, g->in.h, in, g->p->activation, n->output->external};
    for (size_t i = 0; i < TDL_COUNT(values); i++)
        tdl_plan_spec(s, values[i]);
    tdl_plan_read(s, 0, n->inputs[TDL_CONV_INPUT]);
    tdl_plan_write(s, n->output->external ? 6 : 5, n->output);
    tdl_plan_shared(s, ((uint64_t)in * 4 + 1) * 16);
    float *w = tdl_plan_weights(plan, s, 1, ((uint64_t)in * 4 + 1) * 4);
    for (uint32_t i = 0; w && i <= in * 4; i++)
        for (uint32_t tap = 0; tap < 4; tap++)
            *w++ = i < in * 4 ? filter_at(g, f, 0, tap, i) : bias ? bias[0] : 0;
    tdl_plan_groups(s, TDL_DIV_UP(g->in.h * g->in.w, local), 1, g->in.n);
}

static void lower_gather(struct tdl_plan *plan, struct tdl_node *n, const struct geometry *g,
                         const float *f, const float *bias)
{
    uint32_t in = tdl_packs(g->in.c), out = tdl_packs(g->out.c), local = 64;
    uint32_t taps = g->kernel[0] * g->kernel[1];
    struct tdl_plan_step *s = tdl_plan_add_step(plan, "conv_transpose2d", n, local, 1, 1);
    const uint32_t values[] = {g->in.w,         g->in.h,         g->out.w,       g->out.h,
                               g->kernel[1],    g->kernel[0],    g->p->stride[1], g->p->stride[0],
                               g->pad_left,     g->pad_top,      in,             out,
                               g->p->activation, g->out.c - (out - 1) * 4};
    for (size_t i = 0; i < TDL_COUNT(values); i++)
        tdl_plan_spec(s, values[i]);
    tdl_plan_read(s, 0, n->inputs[TDL_CONV_INPUT]);
    tdl_plan_write(s, 5, n->output);
    float *w = tdl_plan_weights(plan, s, 1, (uint64_t)out * ((uint64_t)taps * in * 4 + 1) * 4);
    for (uint32_t k = 0; w && k < out; k++) {
        for (uint32_t tap = 0; tap < taps; tap++)
            for (uint32_t i = 0; i < in * 4; i++)
                for (uint32_t o = k * 4; o < k * 4 + 4; o++)
                    *w++ = filter_at(g, f, o, tap, i);
        for (uint32_t o = k * 4; o < k * 4 + 4; o++)
            *w++ = bias && o < g->out.c ? bias[o] : 0;
    }
    tdl_plan_groups(s, TDL_DIV_UP(g->out.h * g->out.w, local), out, g->in.n);
}

static enum tdl_result lower(struct tdl_plan *plan, struct tdl_node *n)
{
    const float *f = tdl_constant_data(n->inputs[TDL_CONV_FILTER]);
    const float *bias = tdl_constant_data(n->inputs[TDL_CONV_BIAS]);
    struct geometry g;
    if (!resolve(n, &g) || !f || (n->inputs[TDL_CONV_BIAS] && !bias))
        return tdl_fail(TDL_ERROR_UNSUPPORTED,
                        "%s: the filter and bias of convTranspose2d must be float32 constants",
                        n->label);
    if (is_block(&g))
        lower_block(plan, n, &g, f, bias);
    else
        lower_gather(plan, n, &g, f, bias);
    return plan->status;
}

const struct tdl_op tdl_op_conv_transpose2d = {
    .name = "convTranspose2d",
    .infer = infer,
    .lower = lower,
    .reference = reference,
    .macs = macs,
    .weight_slots = 1u << TDL_CONV_FILTER | 1u << TDL_CONV_BIAS,
};

struct tdl_operand *tdl_builder_conv_transpose2d(struct tdl_builder *b, struct tdl_operand *input,
                                                 struct tdl_operand *filter,
                                                 const struct tdl_conv_transpose2d_params *params)
{
    union tdl_attr attr = {
        .conv_transpose = params ? *params : (struct tdl_conv_transpose2d_params){0}};
    struct tdl_operand *inputs[] = {input, filter, attr.conv_transpose.bias};
    for (int i = 0; i < 2; i++)
        attr.conv_transpose.stride[i] = tdl_or_one(attr.conv_transpose.stride[i]);
    attr.conv_transpose.bias = NULL;
    if (!tdl_builder_known_window(b, &tdl_op_conv_transpose2d, attr.conv_transpose.padding,
                                  attr.conv_transpose.activation))
        return NULL;
    return tdl_builder_add_node(b, &tdl_op_conv_transpose2d, &attr, inputs, TDL_COUNT(inputs), 2);
}
