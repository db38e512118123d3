/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * conv2d 1×1 + depthwise conv2d in one dispatch, made by the fuse pass: the
 * inverted bottleneck of MobileNetV2 (Sandler et al., arXiv:1801.04381).
 */
#include "expand.h"

struct tile {
    uint32_t w, h, group, local;
    uint32_t ahead; /* packs whose reads are under way at once */
};

/* The facts that decide over a tile, and over the shared memory that it needs. */
struct layer {
    struct tdl_dims out;
    const struct tdl_window *window; /* of the depthwise half, as is `out` */
    uint32_t in_packs;
    struct tdl_gate_part gate;
    bool means;
    bool merges; /* a resampled tensor, which costs four reads a pack */
};

/* Pixels of a tile with its border. */
static uint32_t span_of(struct tile t, const struct layer *l)
{
    return tdl_expand_span(t.w, l->window->stride[1], l->window->kernel[1]) *
           tdl_expand_span(t.h, l->window->stride[0], l->window->kernel[0]);
}

static uint64_t shared_bytes(struct tile t, const struct layer *l)
{
    const uint32_t weights = l->in_packs * 4 + 1 + l->window->kernel[0] * l->window->kernel[1] + 1;
    const uint64_t totals = l->means ? t.local * t.group : 1;
    return 16 * (t.group * ((uint64_t)span_of(t, l) + weights) + totals) +
           tdl_gate_shared(&l->gate, t.local);
}

/* Few do much each: what a tile's border costs is what counts. */
static struct tile tile_of_few(const struct layer *l)
{
    struct tile t = {8, 8, 4, 64, 1};
    /* Small maps whole: no border to compute twice. */
    if (l->window->stride[0] == 1 || (l->out.w <= 16 && l->out.h <= 16) ||
        l->out.w * l->out.h >= 1u << 14)
        t.w = t.h = 16;
    t.w = TDL_MIN(t.w, l->out.w);
    t.h = TDL_MIN(t.h, l->out.h);
    t.local = TDL_MIN(1024, span_of(t, l));
    return t;
}

/* Tiles of which each takes one turn, with many reads under way, as long as all
 * workgroups run at once; then borders count, who waits makes room for others, and what
 * was read serves several packs. */
static struct tile tile_of_many(const struct layer *l)
{
    enum { AT_ONCE = 640 };
    struct tile t = {16, 8, 1, 256, 16};
    if (l->window->stride[0] > 1)
        t.w = 8, t.h = 4;
    const uint64_t tiles = (uint64_t)TDL_DIV_UP(l->out.w, t.w) * TDL_DIV_UP(l->out.h, t.h);
    const bool alone = tiles * tdl_packs(l->out.c) * l->out.n <= AT_ONCE;
    if (!alone && l->merges)
        t = (struct tile){l->out.w >= 64 ? 32 : 16, 8, 4, 256, 1};
    else if (!alone && (l->out.w > 16 || l->out.h > 16))
        t = (struct tile){16, 16, 2, 256, 1};
    else if (!alone && l->window->stride[0] == 1)
        t = (struct tile){16, 16, 1, 256, 1};
    else if (!alone)
        t = (struct tile){16, 8, 2, 128, 1};
    t.w = TDL_MIN(t.w, l->out.w);
    t.h = TDL_MIN(t.h, l->out.h);
    if (alone)
        t.local = TDL_MAX(64, TDL_MIN(256, TDL_ALIGN(span_of(t, l), 32)));
    return t;
}

static struct tile choose_tile(const struct tdl_device_info *device, const struct layer *l)
{
    const struct tdl_heuristics *heuristics = tdl_heuristics_of(device);
    struct tile t = heuristics->few_invocations ? tile_of_few(l) : tile_of_many(l);
    t.ahead = TDL_MIN(t.ahead, TDL_MAX(1, heuristics->read_ahead));
    t.local = TDL_MIN(t.local, device->max_workgroup_invocations);
    const uint32_t most = TDL_MIN(t.group, tdl_most_sums(device));
    t.group = 1;
    while (shared_bytes(t, l) > device->max_shared_memory && (t.w > 1 || t.h > 1))
        *(t.w > t.h ? &t.w : &t.h) /= 2;
    while (shared_bytes(t, l) > tdl_shared_room(device, t.local) &&
           tdl_more_share(device, t.local) && t.local * 2 <= span_of(t, l))
        t.local *= 2;
    for (uint32_t group = most; group > 1; group--) {
        struct tile wider = {t.w, t.h, group, t.local, t.ahead};
        if (tdl_packs(l->out.c) % group == 0 &&
            shared_bytes(wider, l) <= tdl_shared_room(device, t.local))
            return wider;
    }
    return t;
}

bool tdl_expand_depthwise_fits(const struct tdl_node *expand, const struct tdl_node *depthwise)
{
    const struct tdl_window *w = &depthwise->window;
    struct tdl_dims in = tdl_operand_dims(expand->inputs[TDL_CONV_INPUT]);
    /* A tile of 8×8 of these fits into the shared memory of every device. */
    return w->dilation[0] == 1 && w->dilation[1] == 1 && w->kernel[0] <= 5 && w->kernel[1] <= 5 &&
           w->stride[0] <= 2 && w->stride[1] <= 2 && in.c <= 128;
}

uint32_t tdl_expand_joined(const struct tdl_node *n)
{
    return n->attr.expand.joined ? tdl_operand_dims(n->inputs[TDL_CONV_LOW]).c : 0;
}

struct tdl_operand *tdl_expand_gate(const struct tdl_node *n)
{
    return n->attr.expand.conv.pre != TDL_PRE_NONE ? n->inputs[TDL_CONV_GATE] : NULL;
}

struct tdl_expand_part tdl_expand_inside(const struct tdl_node *n)
{
    const struct tdl_operand *low = n->inputs[TDL_CONV_LOW];
    const struct tdl_dims in = tdl_operand_dims(n->inputs[TDL_CONV_INPUT]);
    const struct tdl_dims l = low ? tdl_operand_dims(low) : (struct tdl_dims){1, 1, 1, 1};
    return tdl_expand_part(.in_w = in.w, .in_h = in.h, .in_packs = tdl_packs(in.c),
                           .pre = n->attr.expand.conv.pre, .low_w = l.w, .low_h = l.h,
                           .coordinates = n->attr.expand.conv.coordinates,
                           .joined = tdl_packs(tdl_expand_joined(n)));
}

void tdl_expand_bind(struct tdl_plan_step *s, struct tdl_node *n)
{
    tdl_plan_read(s, 0, n->inputs[TDL_CONV_INPUT]);
    if (tdl_expand_gate(n))
        tdl_gate_bind(s, n->inputs[TDL_CONV_GATE]);
    if (n->attr.expand.conv.pre == TDL_PRE_MERGE || n->attr.expand.joined)
        tdl_plan_read(s, 3, n->inputs[TDL_CONV_LOW]);
}

static struct layer layer_of(const struct tdl_node *n)
{
    const uint32_t joined = tdl_packs(tdl_expand_joined(n));
    return (struct layer){
        .out = tdl_operand_dims(n->output),
        .window = &n->window,
        .in_packs = tdl_packs(tdl_operand_dims(n->inputs[TDL_CONV_INPUT]).c) + joined,
        .gate = tdl_gate_inside(tdl_expand_gate(n)),
        .means = n->means,
        .merges = n->attr.expand.conv.pre == TDL_PRE_MERGE || joined,
    };
}

uint64_t tdl_expand_depthwise_groups(const struct tdl_node *n)
{
    const struct layer l = layer_of(n);
    const struct tile t = tile_of_many(&l);
    const uint32_t packs = tdl_packs(l.out.c);
    return (uint64_t)TDL_DIV_UP(l.out.w, t.w) * TDL_DIV_UP(l.out.h, t.h) * l.out.n *
           (packs % t.group ? packs : packs / t.group);
}

uint64_t tdl_expand_macs(const struct tdl_node *n, struct tdl_dims out)
{
    struct tdl_dims in = tdl_operand_dims(n->inputs[TDL_CONV_INPUT]);
    const uint64_t channels = (uint64_t)in.c + tdl_expand_joined(n);
    struct tdl_dims f = tdl_operand_dims(n->inputs[TDL_EXPAND_FILTER2]);
    return in.n * channels * in.h * in.w * out.c +
           (uint64_t)out.n * out.h * out.w * out.c * f.h * f.w;
}

static uint64_t macs(const struct tdl_node *n)
{
    return tdl_expand_macs(n, tdl_operand_dims(n->output));
}

static float channel(const float *data, uint32_t c, uint32_t count)
{
    return data && c < count ? data[c] : 0;
}

float *tdl_expand_pack(const struct tdl_node *n, uint32_t first, uint32_t end, float *w)
{
    const float *f1 = tdl_constant_data(n->inputs[TDL_CONV_FILTER]);
    const float *b1 = tdl_constant_data(n->inputs[TDL_CONV_BIAS]);
    const float *f2 = tdl_constant_data(n->inputs[TDL_EXPAND_FILTER2]);
    const float *b2 = tdl_constant_data(n->inputs[TDL_EXPAND_BIAS2]);
    struct tdl_dims in = tdl_operand_dims(n->inputs[TDL_CONV_INPUT]);
    struct tdl_dims f = tdl_operand_dims(n->inputs[TDL_EXPAND_FILTER2]);
    uint32_t count = f.n, taps = f.h * f.w, joined = tdl_expand_joined(n), row = in.c + joined;
    for (uint32_t i = 0; i < tdl_packs(in.c) * 4; i++)
        for (uint32_t c = first; c < end; c++)
            *w++ = i < in.c && c < count ? f1[c * row + i] : 0;
    for (uint32_t i = 0; i < tdl_packs(joined) * 4; i++)
        for (uint32_t c = first; c < end; c++)
            *w++ = i < joined && c < count ? f1[c * row + in.c + i] : 0;
    for (uint32_t c = first; c < end; c++)
        *w++ = channel(b1, c, count);
    for (uint32_t tap = 0; tap < taps; tap++)
        for (uint32_t c = first; c < end; c++)
            *w++ = c < count ? f2[c * taps + tap] : 0;
    for (uint32_t c = first; c < end; c++)
        *w++ = channel(b2, c, count);
    return w;
}

uint64_t tdl_expand_rows(const struct tdl_node *n)
{
    struct tdl_dims in = tdl_operand_dims(n->inputs[TDL_CONV_INPUT]);
    struct tdl_dims f = tdl_operand_dims(n->inputs[TDL_EXPAND_FILTER2]);
    return (tdl_packs(in.c) + tdl_packs(tdl_expand_joined(n))) * 4ull + 1 + f.h * f.w + 1;
}

static void pack_weights(const struct tdl_node *n, uint32_t group, float *w)
{
    const uint32_t count = tdl_packs(tdl_operand_dims(n->output).c) * 4;
    for (uint32_t first = 0; first < count; first += group * 4)
        w = tdl_expand_pack(n, first, first + group * 4, w);
}

static void bind(struct tdl_plan_step *s, struct tdl_node *n, uint32_t residual)
{
    tdl_expand_bind(s, n);
    if (residual == 1)
        tdl_plan_read(s, 4, n->inputs[TDL_CONV_RESIDUAL]);
    tdl_plan_write(s, 5, n->output);
    if (n->means)
        tdl_plan_write(s, 6, n->means);
}

static void bind_weights(struct tdl_plan *plan, struct tdl_plan_step *s, const struct tdl_node *n,
                         uint32_t group)
{
    struct tdl_dims in = tdl_operand_dims(n->inputs[TDL_CONV_INPUT]);
    struct tdl_dims out = tdl_operand_dims(n->output);
    struct tdl_dims f = tdl_operand_dims(n->inputs[TDL_EXPAND_FILTER2]);
    const struct tdl_weights_key key = {TDL_WEIGHTS_LAYOUT(pack_weights),
                                        {n->inputs[TDL_CONV_FILTER], n->inputs[TDL_CONV_BIAS],
                                         n->inputs[TDL_EXPAND_FILTER2],
                                         n->inputs[TDL_EXPAND_BIAS2]},
                                        {group, in.c, tdl_expand_joined(n), out.c, f.h, f.w}};
    float *w = tdl_gate_plan_weights(plan, s, tdl_expand_gate(n),
                                     tdl_packs(out.c) * 4 * tdl_expand_rows(n), &key);
    if (w)
        pack_weights(n, group, w);
}

void tdl_expand_place_means(const struct tdl_plan *plan, struct tdl_operand *means, uint32_t tiles)
{
    struct tdl_dims d = tdl_operand_dims(means);
    d.w = tiles;
    means->desc = tdl_desc_like(means, d);
    means->size = (uint64_t)d.n * tdl_packs(d.c) * 4 * tiles * tdl_dtype_size(plan->storage);
}

static enum tdl_result lower(struct tdl_plan *plan, struct tdl_node *n)
{
    const struct tdl_window *w = &n->window;
    struct tdl_dims in = tdl_operand_dims(n->inputs[TDL_CONV_INPUT]);
    struct tdl_dims out = tdl_operand_dims(n->output);
    const struct tdl_expand_part expand = tdl_expand_inside(n);
    const uint32_t packs = tdl_packs(out.c);
    uint32_t residual = n->attr.expand.residual_is_own ? 2 : n->inputs[TDL_CONV_RESIDUAL] ? 1 : 0;
    const struct layer layer = layer_of(n);
    struct tile t = choose_tile(plan->device, &layer);
    const uint32_t tiles = TDL_DIV_UP(out.w, t.w) * TDL_DIV_UP(out.h, t.h);
    if (n->means)
        tdl_expand_place_means(plan, n->means, tiles);

    struct tdl_plan_step *s = tdl_plan_add_step(plan, "conv2d_expand_depthwise", n, t.local, 1, 1);
    const struct tdl_conv2d_expand_depthwise_spec spec =
        tdl_conv2d_expand_depthwise_spec(.gate = layer.gate, .expand = expand, .out_w = out.w,
                                         .out_h = out.h, .kernel_w = w->kernel[1],
                                         .kernel_h = w->kernel[0], .stride_w = w->stride[1],
                                         .stride_h = w->stride[0], .pad_left = w->pad[2],
                                         .pad_top = w->pad[0], .out_packs = packs, .group = t.group,
                                         .tile_w = t.w, .tile_h = t.h,
                                         .activation1 = n->attr.expand.conv.p.activation,
                                         .activation2 = n->attr.expand.depthwise.activation,
                                         .residual = residual,
                                         .last_channels = tdl_last_channels(out.c),
                                         .means = n->means != NULL, .ahead = t.ahead);
    TDL_PLAN_SPECS(s, conv2d_expand_depthwise, spec);
    bind(s, n, residual);
    tdl_plan_shared(s, shared_bytes(t, &layer));
    bind_weights(plan, s, n, t.group);
    tdl_plan_groups(s, tiles, packs / t.group, in.n);
    return plan->status;
}

const struct tdl_op tdl_op_expand_depthwise = {
    .name = "expandDepthwise",
    .lower = lower,
    .macs = macs,
    .weight_slots = 1u << TDL_CONV_FILTER | 1u << TDL_CONV_BIAS | 1u << TDL_EXPAND_FILTER2 |
                    1u << TDL_EXPAND_BIAS2,
};
