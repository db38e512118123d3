/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One filter a channel: a block of pixels of one pack an invocation. */
#include "conv.h"

/* v: block width, height, workgroup size; 0: by device. */
static const struct tdl_conv_variant variants[] = {
    {"", {0}},           {"1x1", {1, 1, 64}}, {"2x1", {2, 1, 64}},      {"2x2", {2, 2, 64}},
    {"4x1", {4, 1, 64}}, {"4x2", {4, 2, 64}}, {"1x1-128", {1, 1, 128}},
};

static bool accepts(const struct tdl_conv_geometry *g, const struct tdl_conv_variant *v)
{
    return g->pre == TDL_PRE_NONE && g->p->groups == g->in.c && g->out.c == g->in.c &&
           tdl_conv_taps(g) <= 64 &&
           g->window.dilation[1] * (g->window.kernel[1] - 1) + g->window.stride[1] * 3 < 32 &&
           (!v->v[0] || (v->v[0] <= g->out.w && v->v[1] <= g->out.h &&
                         v->v[2] <= g->device->max_workgroup_invocations));
}

struct tile {
    uint32_t px, py, local;
};

static struct tile choose_tile(const struct tdl_conv_geometry *g, const struct tdl_conv_variant *v)
{
    if (v->v[0])
        return (struct tile){v->v[0], v->v[1], v->v[2]};
    const bool few = tdl_conv_heuristics(g)->few_invocations;
    uint32_t px = !few ? 1 : g->window.stride[1] == 1 ? 4 : 2;
    struct tile t = {TDL_MIN(px, g->out.w), few ? TDL_MIN(2, g->out.h) : 1, 64};
    if (few) { /* idle invocations cost as much as busy ones */
        uint32_t blocks = TDL_DIV_UP(g->out.w, t.px) * TDL_DIV_UP(g->out.h, t.py);
        t.local = TDL_MIN(t.local, TDL_ALIGN(blocks, 8));
    }
    return t;
}

static double cost(const struct tdl_conv_geometry *g, const struct tdl_conv_variant *v)
{
    struct tile t = choose_tile(g, v);
    double groups = (double)TDL_DIV_UP(tdl_conv_pixels(g), t.px * t.py * t.local) *
                    tdl_packs(g->in.c) * g->in.n;
    return tdl_conv_time(g, tdl_conv_macs(g), tdl_conv_heuristics(g)->efficiency.depthwise,
                         tdl_conv_bytes(g), 1, groups) *
           (v->v[0] ? 1.1 : 1);
}

static void lower(struct tdl_plan *plan, struct tdl_node *n, const struct tdl_conv_geometry *g,
                  const struct tdl_conv_variant *v)
{
    const float *f = tdl_constant_data(n->inputs[TDL_CONV_FILTER]);
    const float *bias = tdl_constant_data(n->inputs[TDL_CONV_BIAS]);
    struct tile t = choose_tile(g, v);
    uint32_t packs = tdl_packs(g->in.c), taps = tdl_conv_taps(g);
    uint32_t blocks = TDL_DIV_UP(g->out.w, t.px) * TDL_DIV_UP(g->out.h, t.py);
    struct tdl_plan_step *s = tdl_plan_add_step(plan, "conv2d_depthwise", n, t.local, 1, 1);
    const struct tdl_conv2d_depthwise_spec spec =
        tdl_conv2d_depthwise_spec(.window = tdl_conv_window(g), .packs = packs, .px = t.px,
                                  .activation = g->p->activation, .residual = g->residual,
                                  .py = t.py, .last_channels = tdl_last_channels(g->out.c));
    TDL_PLAN_SPECS(s, conv2d_depthwise, spec);
    tdl_conv_bind(s, n);
    tdl_plan_shared(s, (uint64_t)(taps + 1) * 16);
    const struct tdl_weights_key key =
        tdl_conv_weights_key(g, n, TDL_WEIGHTS_LAYOUT(tdl_conv_depthwise), 0, 0, 0);
    float *w = tdl_plan_weights(plan, s, 1, (uint64_t)packs * (taps + 1) * 4, &key);
    for (uint32_t k = 0; w && k < packs; k++)
        for (uint32_t tap = 0; tap <= taps; tap++)
            for (uint32_t c = k * 4; c < k * 4 + 4; c++, w++)
                *w = tap < taps             ? tdl_conv_weight(g, f, c, tap, 0)
                     : bias && c < g->out.c ? bias[c]
                                            : 0;
    tdl_plan_groups(s, TDL_DIV_UP(blocks, t.local), packs, g->in.n);
}

const struct tdl_conv_algorithm tdl_conv_depthwise = {
    .name = "depthwise",
    .variants = variants,
    .variant_count = TDL_COUNT(variants),
    .accepts = accepts,
    .cost = cost,
    .lower = lower,
};
