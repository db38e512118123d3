/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * conv2d, and the choice of its kernel: a table of rows, each with a predicate,
 * first match wins.
 */
#include "../graph/builder.h"
#include "ops.h"

#include <string.h>

struct geometry {
    struct tdl_dims in, out;
    uint32_t kernel[2];
    struct tdl_window window;
    const struct tdl_conv2d_params *p;
    uint32_t in_per_group, out_per_group;
};

static bool resolve(const struct tdl_node *n, struct geometry *g)
{
    struct tdl_dims f = tdl_operand_dims(n->inputs[TDL_CONV_FILTER]);
    uint32_t extent[2];
    g->p = &n->attr.conv.p;
    g->in = tdl_operand_dims(n->inputs[TDL_CONV_INPUT]);
    g->kernel[0] = f.h;
    g->kernel[1] = f.w;
    for (int i = 0; i < 2; i++) {
        uint64_t e = (uint64_t)(g->kernel[i] - 1) * g->p->dilation[i] + 1;
        if (e > INT32_MAX || g->p->stride[i] > INT32_MAX)
            return false;
        extent[i] = (uint32_t)e;
    }
    g->in_per_group = f.c;
    g->out_per_group = f.n / g->p->groups;
    if (!tdl_window_resolve(g->in, extent, g->p->stride, g->p->pad, g->p->padding, &g->window))
        return false;
    g->out = (struct tdl_dims){g->in.n, g->window.out_h, g->window.out_w, f.n};
    return true;
}

static enum tdl_result infer(const struct tdl_node *n, struct tdl_tensor_params *out)
{
    const struct tdl_operand *x = n->inputs[TDL_CONV_INPUT], *f = n->inputs[TDL_CONV_FILTER];
    const struct tdl_operand *bias = n->inputs[TDL_CONV_BIAS];
    struct geometry g;
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
    if (!resolve(n, &g))
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT,
                        "conv2d: the window of filter %s does not fit into the padded input %s",
                        tdl_operand_text(f), tdl_operand_text(x));
    *out = tdl_desc_like(x, g.out);
    return TDL_OK;
}

static uint64_t macs(const struct tdl_node *n)
{
    struct geometry g;
    return resolve(n, &g) ? (uint64_t)g.out.n * g.out.h * g.out.w * g.out.c * g.kernel[0] *
                                g.kernel[1] * g.in_per_group
                          : 0;
}

static void reference(const struct tdl_node *n, const float *const *inputs, float *output)
{
    const float *x = inputs[TDL_CONV_INPUT], *f = inputs[TDL_CONV_FILTER];
    const float *bias = inputs[TDL_CONV_BIAS];
    struct geometry g;
    if (!resolve(n, &g))
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

/* ------------------------------------------------------------------ kernels */

/* Largest divisor of `value` that is at most `limit`. */
static uint32_t divisor(uint32_t value, uint32_t limit)
{
    for (uint32_t d = TDL_MIN(value, limit); d > 1; d--)
        if (value % d == 0)
            return d;
    return 1;
}

/* Tap `tap`, input channel `i` of output channel `o`; 0 past the ends. */
static float weight(const struct geometry *g, const float *f, uint32_t o, uint32_t tap, uint32_t i)
{
    if (o >= g->out.c || i >= g->in_per_group)
        return 0;
    return f[((size_t)o * g->kernel[0] * g->kernel[1] + tap) * g->in_per_group + i];
}

/* Per group of `tile` packs: [tap][in channel][tile] vec4, then the bias. */
static void pack_weights(const struct geometry *g, const struct tdl_node *n, uint32_t tile, float *w)
{
    const float *f = tdl_constant_data(n->inputs[TDL_CONV_FILTER]);
    const float *bias = tdl_constant_data(n->inputs[TDL_CONV_BIAS]);
    uint32_t taps = g->kernel[0] * g->kernel[1], in = tdl_packs(g->in.c) * 4;
    for (uint32_t first = 0; first < tdl_packs(g->out.c); first += tile) {
        for (uint32_t tap = 0; tap < taps; tap++)
            for (uint32_t i = 0; i < in; i++)
                for (uint32_t o = 0; o < tile * 4; o++)
                    *w++ = weight(g, f, first * 4 + o, tap, i);
        for (uint32_t o = first * 4; o < (first + tile) * 4; o++)
            *w++ = bias && o < g->out.c ? bias[o] : 0;
    }
}

static void bind_common(struct tdl_plan_step *s, struct tdl_node *n)
{
    tdl_plan_read(s, 0, n->inputs[TDL_CONV_INPUT]);
    if (n->input_count > TDL_CONV_RESIDUAL && n->inputs[TDL_CONV_RESIDUAL])
        tdl_plan_read(s, 4, n->inputs[TDL_CONV_RESIDUAL]);
    tdl_plan_write(s, 5, n->output);
}

static uint32_t has_residual(const struct tdl_node *n)
{
    return n->input_count > TDL_CONV_RESIDUAL && n->inputs[TDL_CONV_RESIDUAL];
}

/* Constants 3–14 of every k×k kernel. */
static void spec_window(struct tdl_plan_step *s, const struct geometry *g)
{
    const uint32_t values[] = {g->in.w,           g->in.h,           g->out.w,
                               g->out.h,          g->kernel[1],      g->kernel[0],
                               g->p->stride[1],   g->p->stride[0],   g->p->dilation[1],
                               g->p->dilation[0], g->window.pad_left, g->window.pad_top};
    for (size_t i = 0; i < TDL_COUNT(values); i++)
        tdl_plan_spec(s, values[i]);
}

static bool is_pointwise(const struct geometry *g)
{
    return g->p->groups == 1 && g->kernel[0] == 1 && g->kernel[1] == 1 && g->p->stride[0] == 1 &&
           g->p->stride[1] == 1 && !g->window.pad_top && !g->window.pad_left &&
           g->in.h == g->out.h && g->in.w == g->out.w;
}

/* How much of the output an invocation of the pointwise kernel makes. */
struct pointwise_tile {
    uint32_t packs, px, local, chunk;
    bool prefetch;
};

static struct pointwise_tile choose_tile(const struct tdl_device_info *device, uint32_t pixels,
                                         uint32_t in, uint32_t out)
{
    if (device->type == TDL_DEVICE_CPU) {
        /* Registers are few and loads dear: reuse each pack for 16 channels. */
        uint32_t packs = out % 4 == 0 || out > 8 ? 4 : TDL_MIN(out, 6);
        return (struct pointwise_tile){TDL_MIN(out, packs), pixels > 1 ? 2 : 1, 64, 32, false};
    }
    /* A GPU is far from full with these sizes: many invocations with little
     * work each, and loads in flight while the weights arrive. */
    uint64_t work = (uint64_t)pixels * out;
    uint32_t packs = work >= 1u << 21 ? 4 : work >= 1u << 18 ? 2 : 1;
    return (struct pointwise_tile){TDL_MIN(out, packs), 1, 64, 32, in <= 32};
}

static void lower_pointwise(struct tdl_plan *plan, struct tdl_node *n, const struct geometry *g)
{
    uint32_t in = tdl_packs(g->in.c), out = tdl_packs(g->out.c), pixels = g->in.h * g->in.w;
    struct pointwise_tile t = choose_tile(plan->device, pixels, in, out);
    uint32_t tile = t.packs, px = t.px, chunk = divisor(in, t.chunk), local = t.local;
    struct tdl_plan_step *s = tdl_plan_add_step(plan, "conv2d_pointwise", n, local, 1, 1);
    const uint32_t values[] = {pixels, in, out, tile, px, chunk, g->p->activation,
                               n->attr.conv.pre, has_residual(n), t.prefetch, g->in.w};
    for (size_t i = 0; i < TDL_COUNT(values); i++)
        tdl_plan_spec(s, values[i]);
    bind_common(s, n);
    if (n->attr.conv.pre != TDL_PRE_NONE)
        tdl_plan_read(s, 2, n->inputs[TDL_CONV_GATE]);
    if (n->attr.conv.pre == TDL_PRE_MERGE) {
        struct tdl_dims low = tdl_operand_dims(n->inputs[TDL_CONV_LOW]);
        tdl_plan_spec(s, low.w);
        tdl_plan_spec(s, low.h);
        tdl_plan_spec(s, n->attr.conv.coordinates);
        tdl_plan_read(s, 3, n->inputs[TDL_CONV_LOW]);
    }
    tdl_plan_shared(s, (uint64_t)chunk * 4 * tile * 16);
    uint32_t groups = TDL_DIV_UP(out, tile);
    float *w = tdl_plan_weights(plan, s, 1, (uint64_t)groups * (in * 4 + 1) * tile * 4);
    if (w)
        pack_weights(g, n, tile, w);
    tdl_plan_groups(s, TDL_DIV_UP(pixels, local * px), groups, g->in.n);
}

static void lower_direct(struct tdl_plan *plan, struct tdl_node *n, const struct geometry *g)
{
    uint32_t in = tdl_packs(g->in.c), out = tdl_packs(g->out.c), taps = g->kernel[0] * g->kernel[1];
    uint32_t tile = TDL_MIN(out, 4), chunk = divisor(in, 16), local = 64;
    bool unroll = taps * in <= 36;
    uint32_t kept = (unroll ? taps * in : chunk) * 4 * tile; /* vec4 in shared memory */
    struct tdl_plan_step *s = tdl_plan_add_step(plan, "conv2d_direct", n, local, 1, 1);
    spec_window(s, g);
    const uint32_t values[] = {in,
                               out,
                               tile,
                               chunk,
                               g->p->activation,
                               has_residual(n),
                               unroll,
                               kept,
                               g->in.c};
    for (size_t i = 0; i < TDL_COUNT(values); i++)
        tdl_plan_spec(s, values[i]);
    bind_common(s, n);
    tdl_plan_shared(s, (uint64_t)kept * 16);
    uint32_t groups = TDL_DIV_UP(out, tile);
    float *w = tdl_plan_weights(plan, s, 1, (uint64_t)groups * ((uint64_t)taps * in * 4 + 1) * tile * 4);
    if (w)
        pack_weights(g, n, tile, w);
    tdl_plan_groups(s, TDL_DIV_UP(g->out.h * g->out.w, local), groups, g->in.n);
}

static bool is_depthwise(const struct geometry *g)
{
    return g->p->groups == g->in.c && g->out.c == g->in.c && g->kernel[0] * g->kernel[1] <= 64 &&
           g->p->dilation[1] * (g->kernel[1] - 1) + g->p->stride[1] * 3 < 32;
}

static void lower_depthwise(struct tdl_plan *plan, struct tdl_node *n, const struct geometry *g)
{
    const float *f = tdl_constant_data(n->inputs[TDL_CONV_FILTER]);
    const float *bias = tdl_constant_data(n->inputs[TDL_CONV_BIAS]);
    bool cpu = plan->device->type == TDL_DEVICE_CPU;
    uint32_t packs = tdl_packs(g->in.c), taps = g->kernel[0] * g->kernel[1], local = 64;
    uint32_t px = !cpu ? 1 : g->p->stride[1] == 1 ? 4 : 2;
    px = TDL_MIN(px, g->out.w);
    uint32_t py = cpu ? TDL_MIN(2, g->out.h) : 1;
    uint32_t blocks = TDL_DIV_UP(g->out.w, px) * TDL_DIV_UP(g->out.h, py);
    if (cpu) /* idle invocations cost as much as busy ones */
        local = TDL_MIN(local, TDL_ALIGN(blocks, 8));
    struct tdl_plan_step *s = tdl_plan_add_step(plan, "conv2d_depthwise", n, local, 1, 1);
    spec_window(s, g);
    const uint32_t values[] = {packs, px, g->p->activation, has_residual(n), py};
    for (size_t i = 0; i < TDL_COUNT(values); i++)
        tdl_plan_spec(s, values[i]);
    bind_common(s, n);
    tdl_plan_shared(s, (uint64_t)(taps + 1) * 16);
    float *w = tdl_plan_weights(plan, s, 1, (uint64_t)packs * (taps + 1) * 4);
    for (uint32_t k = 0; w && k < packs; k++)
        for (uint32_t tap = 0; tap <= taps; tap++)
            for (uint32_t c = k * 4; c < k * 4 + 4; c++, w++)
                *w = tap < taps ? weight(g, f, c, tap, 0) : bias && c < g->out.c ? bias[c] : 0;
    tdl_plan_groups(s, TDL_DIV_UP(blocks, local), packs, g->in.n);
}

static void lower_grouped(struct tdl_plan *plan, struct tdl_node *n, const struct geometry *g)
{
    const float *f = tdl_constant_data(n->inputs[TDL_CONV_FILTER]);
    const float *bias = tdl_constant_data(n->inputs[TDL_CONV_BIAS]);
    uint64_t count = (uint64_t)g->out.c * g->kernel[0] * g->kernel[1] * g->in_per_group;
    struct tdl_plan_step *s = tdl_plan_add_step(plan, "conv2d_grouped", n, 64, 1, 1);
    spec_window(s, g);
    const uint32_t values[] = {tdl_packs(g->in.c),  g->out.c,           g->in_per_group,
                               g->out_per_group, g->p->activation, has_residual(n)};
    for (size_t i = 0; i < TDL_COUNT(values); i++)
        tdl_plan_spec(s, values[i]);
    bind_common(s, n);
    float *w = tdl_plan_weights(plan, s, 1, count + g->out.c);
    if (w) {
        memcpy(w, f, count * sizeof(float));
        if (bias)
            memcpy(w + count, bias, g->out.c * sizeof(float));
    }
    tdl_plan_groups(s, TDL_DIV_UP(g->out.h * g->out.w, 64), tdl_packs(g->out.c), g->in.n);
}

static bool is_one_group(const struct geometry *g)
{
    return g->p->groups == 1;
}

static bool always(const struct geometry *g)
{
    (void)g;
    return true;
}

static const struct algorithm {
    const char *name;
    bool (*accepts)(const struct geometry *g);
    void (*lower)(struct tdl_plan *plan, struct tdl_node *n, const struct geometry *g);
} algorithms[] = {
    {"pointwise", is_pointwise, lower_pointwise},
    {"depthwise", is_depthwise, lower_depthwise},
    {"direct", is_one_group, lower_direct},
    {"grouped", always, lower_grouped},
};

static enum tdl_result lower(struct tdl_plan *plan, struct tdl_node *n)
{
    struct geometry g;
    if (!resolve(n, &g))
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT, "%s: the window does not fit", n->label);
    if (!tdl_constant_data(n->inputs[TDL_CONV_FILTER]) ||
        (n->inputs[TDL_CONV_BIAS] && !tdl_constant_data(n->inputs[TDL_CONV_BIAS])))
        return tdl_fail(TDL_ERROR_UNSUPPORTED,
                        "%s: the filter and bias of conv2d must be float32 constants", n->label);
    for (size_t i = 0; i < TDL_COUNT(algorithms); i++)
        if (algorithms[i].accepts(&g)) {
            algorithms[i].lower(plan, n, &g);
            return plan->status;
        }
    return TDL_ERROR_UNSUPPORTED;
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
