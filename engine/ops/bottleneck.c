/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * An inverted bottleneck in one dispatch, made by the fuse pass of an expandDepthwise and
 * what alone reads it: a 1×1, or a convTranspose2d 2×2 of stride 2 to one channel, which is
 * a 1×1 to the four pixels of a block. Each workgroup makes all channels of a tile.
 */
#include "expand.h"

/* The size that fits, with a tile of one pixel, into the shared memory of every device. */
enum { MOST_READ = 64, MOST_MIDDLE = 256, MOST_OUT = 64 };
/* Units of work_of(). */
enum { MOST_WORK = 16384 };

struct tile {
    uint32_t w, h, chunk, local;
};

struct layer {
    struct tdl_dims out;             /* of the depthwise half */
    const struct tdl_window *window; /* likewise */
    uint32_t read, middle, end;      /* packs */
    struct tdl_gate_part gate;
    bool means;
};

static uint32_t end_channels(const struct tdl_node *n)
{
    return n->attr.bottleneck.block ? 4 : tdl_operand_dims(n->output).c;
}

static struct layer describe(const struct tdl_node *n)
{
    const struct tdl_expand_part expand = tdl_expand_inside(n);
    const struct tdl_dims f = tdl_operand_dims(n->inputs[TDL_EXPAND_FILTER2]);
    const struct tdl_dims in = tdl_operand_dims(n->inputs[TDL_CONV_INPUT]);
    return (struct layer){
        .out = {in.n, n->window.out[0], n->window.out[1], f.n},
        .window = &n->window,
        .read = expand.in_packs + expand.joined,
        .middle = tdl_packs(f.n),
        .end = tdl_packs(end_channels(n)),
        .gate = tdl_gate_inside(tdl_expand_gate(n)),
        .means = n->means,
    };
}

/* Pixels of a tile with its border. */
static uint64_t span_of(const struct tile *t, const struct layer *l)
{
    return (uint64_t)tdl_expand_span(t->w, l->window->stride[1], l->window->kernel[1]) *
           tdl_expand_span(t->h, l->window->stride[0], l->window->kernel[0]);
}

static uint64_t shared_bytes(const struct tile *t, const struct layer *l)
{
    const uint64_t span = span_of(t, l);
    const uint64_t weights =
        l->read * 4 + 1 + l->window->kernel[0] * l->window->kernel[1] + 1 + 4 * l->end;
    return 16 * (l->read * span + t->chunk * (weights + span + t->w * t->h) +
                 (l->means ? l->end * t->w * t->h : 1)) +
           tdl_gate_shared(&l->gate, t->local);
}

static uint64_t tiles_of(const struct tile *t, const struct layer *l)
{
    return (uint64_t)TDL_DIV_UP(l->out.w, t->w) * TDL_DIV_UP(l->out.h, t->h) * l->out.n;
}

/* The number of processors, about. */
enum { ONE_EACH = 128 };

/* Small ones while there are not enough to keep the device busy, very small ones only to
 * have one for each processor. */
static struct tile tile_of(const struct layer *l)
{
    enum { ENOUGH = 4 * ONE_EACH };
    struct tile t = {16, 8, l->middle, 128};
    while ((t.w * t.h > 32 && tiles_of(&t, l) < ENOUGH) ||
           (t.w * t.h > 8 && tiles_of(&t, l) < ONE_EACH))
        *(t.w > t.h ? &t.w : &t.h) /= 2;
    return t;
}

uint64_t tdl_bottleneck_groups(const struct tdl_node *n)
{
    const struct layer l = describe(n);
    const struct tile t = tile_of(&l);
    return tiles_of(&t, &l);
}

/* Packs of the end that each invocation sums. */
static uint32_t sums_of(const struct tile *t, const struct layer *l)
{
    return TDL_DIV_UP(t->w * t->h * l->end, t->local);
}

/* All of the middle at once, if it fits. */
static struct tile choose_tile(const struct tdl_device_info *device, const struct layer *l)
{
    struct tile t = tile_of(l);
    /* Alone on a processor, its time is that of the gate, which many make sooner. */
    const bool alone = tiles_of(&t, l) <= ONE_EACH;
    t.w = TDL_MIN(t.w, l->out.w);
    t.h = TDL_MIN(t.h, l->out.h);
    /* An invocation expands two packs of a pixel at a time. */
    if ((span_of(&t, l) * l->middle > 512 || (alone && l->gate.gate_packs)) &&
        device->max_workgroup_invocations >= 256)
        t.local = 256;
    /* Where a large workgroup's memory leaves no room for others, more share its work. */
    while ((shared_bytes(&t, l) > tdl_shared_room(device, t.local) ||
            sums_of(&t, l) > tdl_most_sums(device)) &&
           tdl_more_share(device, t.local))
        t.local *= 2;
    while (sums_of(&t, l) > tdl_most_sums(device) && t.w * t.h > 1)
        *(t.w > t.h ? &t.w : &t.h) /= 2;
    while (shared_bytes(&t, l) > device->max_shared_memory) {
        if (t.chunk > 1)
            for (t.chunk--; l->middle % t.chunk; t.chunk--)
                ;
        else if (t.w > 1 || t.h > 1)
            *(t.w > t.h ? &t.w : &t.h) /= 2;
        else
            break; /* tdl_plan_shared() says so */
    }
    return t;
}

bool tdl_bottleneck_reads(uint32_t channels)
{
    return channels <= MOST_READ;
}

/* Products of packs that one workgroup makes of a tile of 4×4: nobody shares them. */
static uint64_t work_of(const struct tdl_node *expand, const struct tdl_node *end)
{
    const struct tdl_window *w = &expand->window;
    const struct tdl_dims f = tdl_operand_dims(expand->inputs[TDL_EXPAND_FILTER2]);
    const uint64_t span = tdl_expand_span(4, w->stride[1], w->kernel[1]) *
                          tdl_expand_span(4, w->stride[0], w->kernel[0]);
    const uint32_t in = tdl_operand_dims(expand->inputs[TDL_CONV_INPUT]).c;
    const uint64_t read = tdl_packs(in) + tdl_packs(tdl_expand_joined(expand));
    return tdl_packs(f.n) * (span * read + 16ull * tdl_packs(tdl_operand_dims(end->output).c));
}

bool tdl_bottleneck_fits(const struct tdl_node *expand, const struct tdl_node *end)
{
    const struct tdl_dims in = tdl_operand_dims(expand->inputs[TDL_CONV_INPUT]);
    const struct tdl_dims middle = tdl_operand_dims(expand->output);
    return work_of(expand, end) <= MOST_WORK &&
           tdl_bottleneck_reads(in.c + tdl_expand_joined(expand)) && middle.c <= MOST_MIDDLE &&
           tdl_operand_dims(end->output).c <= MOST_OUT;
}

static uint64_t macs(const struct tdl_node *n)
{
    const struct layer l = describe(n);
    return tdl_expand_macs(n, l.out) +
           (uint64_t)l.out.n * l.out.h * l.out.w * l.out.c * end_channels(n);
}

static void pack_weights(const struct tdl_node *n, const struct layer *l, uint32_t chunk, float *w)
{
    const float *f = tdl_constant_data(n->inputs[TDL_BOTTLENECK_FILTER]);
    const float *b = tdl_constant_data(n->inputs[TDL_BOTTLENECK_BIAS]);
    const uint32_t count = end_channels(n), middle = l->out.c;
    for (uint32_t first = 0; first < l->middle * 4; first += chunk * 4) {
        w = tdl_expand_pack(n, first, first + chunk * 4, w);
        for (uint32_t c = first; c < first + chunk * 4; c++)
            for (uint32_t o = 0; o < l->end * 4; o++) /* of a block, a tap */
                *w++ = c < middle && o < count ? f[(size_t)o * middle + c] : 0;
    }
    for (uint32_t o = 0; o < l->end * 4; o++)
        *w++ = b && o < count ? b[n->attr.bottleneck.block ? 0 : o] : 0;
}

static void bind_weights(struct tdl_plan *plan, struct tdl_plan_step *s, const struct tdl_node *n,
                         const struct layer *l, uint32_t chunk)
{
    const uint32_t in = tdl_operand_dims(n->inputs[TDL_CONV_INPUT]).c;
    const struct tdl_weights_key key = {
        TDL_WEIGHTS_LAYOUT(pack_weights),
        {n->inputs[TDL_CONV_FILTER], n->inputs[TDL_CONV_BIAS], n->inputs[TDL_EXPAND_FILTER2],
         n->inputs[TDL_EXPAND_BIAS2], n->inputs[TDL_BOTTLENECK_FILTER],
         n->inputs[TDL_BOTTLENECK_BIAS]},
        {chunk, in, tdl_expand_joined(n), l->out.c, l->window->kernel[0], l->window->kernel[1],
         end_channels(n), n->attr.bottleneck.block}};
    const uint64_t vectors = l->middle * (tdl_expand_rows(n) + 4 * l->end) + l->end;
    float *w = tdl_gate_plan_weights(plan, s, tdl_expand_gate(n), vectors * 4, &key);
    if (w)
        pack_weights(n, l, chunk, w);
}

static enum tdl_result lower(struct tdl_plan *plan, struct tdl_node *n)
{
    const bool linear = n->output->storage == TDL_STORAGE_LINEAR;
    struct tdl_operand *residual = n->inputs[TDL_CONV_RESIDUAL];
    const struct layer l = describe(n);
    const struct tile t = choose_tile(plan->device, &l);
    const uint32_t tiles = TDL_DIV_UP(l.out.w, t.w) * TDL_DIV_UP(l.out.h, t.h);
    if (n->means)
        tdl_expand_place_means(plan, n->means, tiles);
    struct tdl_plan_step *s = tdl_plan_add_step(plan, "conv2d_bottleneck", n, t.local, 1, 1);
    const struct tdl_conv2d_bottleneck_spec spec =
        tdl_conv2d_bottleneck_spec(.gate = l.gate, .expand = tdl_expand_inside(n), .out_w = l.out.w,
                                   .out_h = l.out.h, .kernel_w = l.window->kernel[1],
                                   .kernel_h = l.window->kernel[0], .stride_w = l.window->stride[1],
                                   .stride_h = l.window->stride[0], .pad_left = l.window->pad[2],
                                   .pad_top = l.window->pad[0], .middle = l.middle,
                                   .chunk = t.chunk, .out_packs = l.end, .tile_w = t.w,
                                   .tile_h = t.h, .activation1 = n->attr.expand.conv.p.activation,
                                   .activation2 = n->attr.expand.depthwise.activation,
                                   .activation3 = n->attr.bottleneck.activation,
                                   .own = n->attr.expand.residual_is_own,
                                   .residual = residual != NULL,
                                   .block = n->attr.bottleneck.block ? linear ? 2 : 1 : 0,
                                   .last_channels = tdl_last_channels(end_channels(n)),
                                   .means = l.means);
    TDL_PLAN_SPECS(s, conv2d_bottleneck, spec);
    tdl_expand_bind(s, n);
    if (residual)
        tdl_plan_read(s, 4, residual);
    tdl_plan_write(s, 5, n->output);
    if (n->means)
        tdl_plan_write(s, 6, n->means);
    tdl_plan_shared(s, shared_bytes(&t, &l));
    bind_weights(plan, s, n, &l, t.chunk);
    tdl_plan_groups(s, tiles, 1, l.out.n);
    return plan->status;
}

/* A one-channel float32 tensor, without packs. */
static bool writes_linear(const struct tdl_node *n)
{
    return n->attr.bottleneck.block && n->output->desc.dtype == TDL_FLOAT32;
}

const struct tdl_op tdl_op_bottleneck = {
    .name = "bottleneck",
    .lower = lower,
    .macs = macs,
    .weight_slots = 1u << TDL_CONV_FILTER | 1u << TDL_CONV_BIAS | 1u << TDL_EXPAND_FILTER2 |
                    1u << TDL_EXPAND_BIAS2 | 1u << TDL_BOTTLENECK_FILTER |
                    1u << TDL_BOTTLENECK_BIAS,
    .writes_linear = writes_linear,
};
