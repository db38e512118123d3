/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* k×k, one group: a few output packs of one pixel an invocation. */
#include "conv.h"

#include <math.h>

/* v: packs, workgroup size; 0: the most that is useful, 64. */
static const struct tdl_conv_variant variants[] = {
    {"", {0, 0}},
    {"1", {1, 64}},
    {"2", {2, 64}},
    {"4-128", {4, 128}},
};

static bool accepts(const struct tdl_conv_geometry *g, const struct tdl_conv_variant *v)
{
    return tdl_conv_one_group(g) && v->v[0] <= tdl_packs(g->out.c) &&
           v->v[1] <= g->device->max_workgroup_invocations;
}

struct tile {
    uint32_t packs, local, chunk, kept; /* kept: vec4 in shared memory */
    bool unroll;
};

static struct tile choose_tile(const struct tdl_conv_geometry *g, const struct tdl_conv_variant *v)
{
    uint32_t in = tdl_packs(g->in.c), out = tdl_packs(g->out.c), taps = tdl_conv_taps(g);
    struct tile t = {
        .packs = v->v[0] ? v->v[0] : TDL_MIN(TDL_MIN(out, 4), tdl_most_sums(g->device)),
        .local = v->v[1] ? v->v[1] : 64,
        .chunk = tdl_conv_divisor(in, 16),
        .unroll = taps * in <= 36,
    };
    t.kept = (t.unroll ? taps * in : t.chunk) * 4 * t.packs;
    return t;
}

static double cost(const struct tdl_conv_geometry *g, const struct tdl_conv_variant *v)
{
    struct tile t = choose_tile(g, v);
    double groups = (double)TDL_DIV_UP(tdl_conv_pixels(g), t.local) *
                    TDL_DIV_UP(tdl_packs(g->out.c), t.packs) * g->in.n;
    const struct tdl_heuristics *likes = tdl_conv_heuristics(g);
    double efficiency = t.unroll ? likes->efficiency.direct : likes->efficiency.direct_looped;
    double loads = (double)tdl_conv_taps(g) * tdl_packs(g->in.c) * likes->speed.load;
    return fmax(likes->speed.dispatch + loads,
                tdl_conv_time(g, tdl_conv_macs(g), efficiency, tdl_conv_bytes(g), 1, groups)) *
           (v->v[0] ? 1.1 : 1);
}

static void lower(struct tdl_plan *plan, struct tdl_node *n, const struct tdl_conv_geometry *g,
                  const struct tdl_conv_variant *v)
{
    uint32_t in = tdl_packs(g->in.c), out = tdl_packs(g->out.c);
    struct tile t = choose_tile(g, v);
    struct tdl_plan_step *s = tdl_plan_add_step(plan, "conv2d_direct", n, t.local, 1, 1);
    const struct tdl_conv2d_direct_spec spec =
        tdl_conv2d_direct_spec(.window = tdl_conv_window(g), .in_packs = in, .out_packs = out,
                               .tile = t.packs, .chunk = t.chunk, .activation = g->p->activation,
                               .residual = g->residual, .unroll = t.unroll, .shared = t.kept,
                               .in_channels = g->in.c, .last_channels = tdl_last_channels(g->out.c),
                               .plain = g->plain ? g->in.c : 0);
    TDL_PLAN_SPECS(s, conv2d_direct, spec);
    tdl_conv_bind(s, n);
    tdl_plan_shared(s, (uint64_t)t.kept * 16);
    uint32_t groups = TDL_DIV_UP(out, t.packs);
    tdl_conv_bind_weights(plan, s, g, n, t.packs);
    tdl_plan_groups(s, TDL_DIV_UP(g->out.h * g->out.w, t.local), groups, g->in.n);
}

const struct tdl_conv_algorithm tdl_conv_direct = {
    .name = "direct",
    .reads_plain = true,
    .variants = variants,
    .variant_count = TDL_COUNT(variants),
    .accepts = accepts,
    .cost = cost,
    .lower = lower,
};
