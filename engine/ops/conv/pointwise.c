/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* 1×1, one group, a few packs of a few pixels an invocation. The only row that
 * multiplies by a gate or adds a resampled tensor while it reads its input. */
#include "conv.h"
#include "ops/expand.h"

/* v: packs, px, workgroup size, invocations that share a pixel's input packs; 0 packs: by
 * device and size. */
static const struct tdl_conv_variant variants[] = {
    {"", {0}},
    {"1x1", {1, 1, 64}},
    {"2x1", {2, 1, 64}},
    {"4x1", {4, 1, 64}},
    {"4x2", {4, 2, 64}},
    {"4x4", {4, 4, 64}},
    {"2x2-128", {2, 2, 128}},
    {"4x2-128", {4, 2, 128}},
    {"1x1-1/128", {1, 1, 1, 128}},
    {"1x1-8/32", {1, 1, 8, 32}},
    {"1x1-32/8", {1, 1, 32, 8}},
    {"2x1-32/8", {2, 1, 32, 8}},
};

/* Values that an invocation holds: its sums, as many weights, and its input. */
static uint32_t registers_of(const struct tdl_conv_variant *v)
{
    enum { OTHERS = 8 };
    return 4 * (2 * v->v[0] * v->v[1] + v->v[1]) + OTHERS;
}

static bool accepts(const struct tdl_conv_geometry *g, const struct tdl_conv_variant *v)
{
    uint32_t out = tdl_packs(g->out.c);
    return g->p->groups == 1 && g->window.kernel[0] == 1 && g->window.kernel[1] == 1 &&
           g->window.stride[0] == 1 && g->window.stride[1] == 1 && !g->window.pad[0] &&
           !g->window.pad[2] && g->in.h == g->out.h && g->in.w == g->out.w &&
           (!v->v[0] || (v->v[0] <= out && !tdl_spills(g->device, registers_of(v)) &&
                         v->v[2] * TDL_MAX(1, v->v[3]) <= g->device->max_workgroup_invocations));
}

/* How much of the output an invocation makes. */
struct tile {
    uint32_t packs, px, local, chunk;
    bool prefetch;
    uint32_t split; /* at most so many share a pixel's input packs */
};

/* An invocation for each pixel and output pack would leave the device idle, and read many
 * input packs in a row. */
static bool is_narrow(const struct tdl_conv_geometry *g)
{
    enum { PACKS = 24, EACH = 512 };
    const double work = (double)tdl_conv_pixels(g) * tdl_packs(g->out.c);
    return tdl_packs(g->in.c) >= PACKS && work < tdl_conv_heuristics(g)->speed.groups * EACH;
}

/* The best of those that were measured on an H100, from 1 to 2304 pixels and from 120 to 960
 * channels. */
static struct tile shared_tile(const struct tdl_conv_geometry *g)
{
    const uint32_t pixels = tdl_conv_pixels(g), in = tdl_packs(g->in.c);
    const uint32_t local = pixels <= 4 ? 1 : pixels <= 256 ? 8 : 32;
    const uint32_t most = TDL_MIN(g->device->max_workgroup_invocations, 256) / local;
    return (struct tile){1,
                         1,
                         local,
                         8,
                         in <= tdl_conv_heuristics(g)->read_ahead,
                         tdl_conv_divisor(in, TDL_MIN(most, 128))};
}

/* `alone`: the kernel does what a shared pixel does not allow. */
static struct tile choose_tile(const struct tdl_conv_geometry *g, const struct tdl_conv_variant *v,
                               bool alone)
{
    uint32_t pixels = tdl_conv_pixels(g), in = tdl_packs(g->in.c), out = tdl_packs(g->out.c);
    const bool few = tdl_conv_heuristics(g)->few_invocations;
    const uint32_t ahead = tdl_conv_heuristics(g)->read_ahead;
    if (v->v[0])
        return (struct tile){v->v[0],     v->v[1],
                             v->v[2],     v->v[3] ? 8 : 32,
                             in <= ahead, v->v[3] && !alone ? tdl_conv_divisor(in, v->v[3]) : 1};
    if (few) {
        /* Registers are few and loads dear: reuse each pack for 16 channels. */
        uint32_t packs = out % 4 == 0 || out > 8 ? 4 : TDL_MIN(out, 6);
        return (struct tile){TDL_MIN(out, packs), pixels > 1 ? 2 : 1, 64, 32, false, 1};
    }
    /* A GPU is far from full with these sizes: many invocations with little
     * work each, and loads in flight while the weights arrive. */
    uint64_t work = (uint64_t)pixels * out;
    const struct tile shared = shared_tile(g);
    if (!alone && shared.split >= 4 && is_narrow(g))
        return shared;
    uint32_t packs = work >= 1u << 21 ? 4 : work >= 1u << 18 ? 2 : 1;
    packs = TDL_MIN(packs, tdl_most_sums(g->device));
    return (struct tile){TDL_MIN(out, packs), 1, 64, 32, in <= ahead, 1};
}

static double cost(const struct tdl_conv_geometry *g, const struct tdl_conv_variant *v)
{
    struct tile t = choose_tile(g, v, false);
    double groups = (double)TDL_DIV_UP(tdl_conv_pixels(g), t.local * t.px) *
                    TDL_DIV_UP(tdl_packs(g->out.c), t.packs) * g->in.n;
    /* The compiler's own choice is the first of equals. */
    double efficiency = tdl_conv_heuristics(g)->efficiency.pointwise;
    return tdl_conv_time(g, tdl_conv_macs(g), efficiency, tdl_conv_bytes(g), 1, groups) *
           (v->v[0] ? 1.1 : 1);
}

static uint64_t shared_bytes(const struct tile *t, uint32_t chunk, const struct tdl_node *n,
                             const struct tdl_gate_part *gate)
{
    const uint64_t sums = t->split > 1 ? (uint64_t)t->local * t->px * t->packs * t->split : 1;
    return 16 * ((uint64_t)chunk * t->split * 4 * t->packs + sums +
                 (n->means ? t->local * t->packs : 1)) +
           tdl_gate_shared(gate, t->local);
}

static void lower(struct tdl_plan *plan, struct tdl_node *n, const struct tdl_conv_geometry *g,
                  const struct tdl_conv_variant *v)
{
    uint32_t in = tdl_packs(g->in.c), out = tdl_packs(g->out.c), pixels = g->in.h * g->in.w;
    struct tdl_operand *by = n->attr.conv.pre != TDL_PRE_NONE ? n->inputs[TDL_CONV_GATE] : NULL;
    const struct tdl_gate_part gate = tdl_gate_inside(by);
    struct tile t = choose_tile(g, v, n->means || gate.gate_packs);
    if (gate.gate_packs) /* many invocations make these sooner */
        t.local = TDL_MIN(TDL_MAX(t.local, 128), g->device->max_workgroup_invocations);
    if (n->means) /* few workgroups, whose means are read for the mean of all */
        t.local = TDL_MIN(TDL_GATE_PIXELS, g->device->max_workgroup_invocations);
    uint32_t chunk = tdl_conv_divisor(in / t.split, t.chunk);
    const uint64_t room = tdl_shared_room(g->device, t.local * t.split);
    while (chunk > 1 && shared_bytes(&t, chunk, n, &gate) > room)
        chunk = tdl_conv_divisor(in / t.split, chunk - 1);
    uint32_t tile = t.packs, px = t.px, local = t.local;
    struct tdl_plan_step *s = tdl_plan_add_step(plan, "conv2d_pointwise", n, local, t.split, 1);
    struct tdl_conv2d_pointwise_spec spec =
        tdl_conv2d_pointwise_spec(.gate = gate, .pixels = pixels, .in_packs = in, .out_packs = out,
                                  .tile = tile, .px = px, .chunk = chunk,
                                  .activation = g->p->activation, .pre = n->attr.conv.pre,
                                  .residual = g->residual, .prefetch = t.prefetch, .width = g->in.w,
                                  .last_channels = tdl_last_channels(g->out.c), .low_w = 1,
                                  .low_h = 1, .coordinates = 0, .means = n->means != NULL,
                                  .split = t.split);
    tdl_conv_bind(s, n);
    if (by)
        tdl_gate_bind(s, by);
    if (n->attr.conv.pre == TDL_PRE_MERGE) {
        struct tdl_dims low = tdl_operand_dims(n->inputs[TDL_CONV_LOW]);
        spec.low_w = low.w;
        spec.low_h = low.h;
        spec.coordinates = n->attr.conv.coordinates;
        tdl_plan_read(s, 3, n->inputs[TDL_CONV_LOW]);
    }
    TDL_PLAN_SPECS(s, conv2d_pointwise, spec);
    tdl_plan_shared(s, shared_bytes(&t, chunk, n, &gate));
    uint32_t columns = TDL_DIV_UP(pixels, local * px), groups = TDL_DIV_UP(out, tile);
    if (n->means) {
        tdl_expand_place_means(plan, n->means, columns);
        tdl_plan_write(s, 6, n->means);
    }
    tdl_conv_bind_weights(plan, s, g, n, tile);
    tdl_plan_groups(s, columns, groups, g->in.n);
}

const struct tdl_conv_algorithm tdl_conv_pointwise = {
    .name = "pointwise",
    .variants = variants,
    .variant_count = TDL_COUNT(variants),
    .accepts = accepts,
    .cost = cost,
    .lower = lower,
};
