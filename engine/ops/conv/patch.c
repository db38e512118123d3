/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * On the device's matrix units, from a patch of the picture in shared memory: for the layers
 * of small pictures, where cooperative.c waits for each step of a sum. As there, both sides
 * are rounded to halves, and the kernel is in the library only if the build's shader compiler
 * knows GL_KHR_cooperative_matrix.
 */
#include "conv.h"

#include "kernels.h"

#include <math.h>
#include <string.h>

/* v: fragments across and down, most fragments of channels, subgroups across the tile's
 * pixels, subgroups that share a sum. Of equals the first is taken. */
static const struct tdl_conv_variant variants[] = {
    {"1x2x1/8", {1, 2, 1, 1, 8}},   {"1x4x2/2/4", {1, 4, 2, 2, 4}}, {"1x1x1/16", {1, 1, 1, 1, 16}},
    {"1x8x1/4/2", {1, 8, 1, 4, 2}}, {"1x2x2/8", {1, 2, 2, 1, 8}},   {"1x1x1/8", {1, 1, 1, 1, 8}},
    {"2x4x1/2/4", {2, 4, 1, 2, 4}}, {"2x4x1/8/1", {2, 4, 1, 8, 1}}, {"1x4x3/2/4", {1, 4, 3, 2, 4}},
    {"1x1x2/4", {1, 1, 2, 1, 4}},   {"2x8x1/4/2", {2, 8, 1, 4, 2}}, {"2x8x2/8/1", {2, 8, 2, 8, 1}},
    {"1x4x1/2/4", {1, 4, 1, 2, 4}}, {"1x1x3/8", {1, 1, 3, 1, 8}},
};

/* How a layer is laid out, with one of the variants. */
struct layout {
    uint32_t tile_w, tile_h, tile_n, blocks; /* pixels, channels; tiles of channels */
    uint32_t own_m, own_n;                   /* fragments of a subgroup */
    uint32_t chunk, chunks, work, steps, ahead, cells, staged;
    uint32_t patch; /* pixels */
    uint64_t shared;
    uint32_t tiles;
};

static uint32_t threads(const struct tdl_conv_geometry *g, const struct tdl_conv_variant *v)
{
    return v->v[3] * v->v[4] * g->device->subgroup_size;
}

/* Nothing lies between the pixels of a 1×1 convolution: they are one long row. Of what is
 * resampled it matters where they are. */
static bool is_flat(const struct tdl_conv_geometry *g)
{
    return tdl_conv_taps(g) == 1 && !g->resampled && g->window.stride[0] == 1 &&
           g->window.stride[1] == 1 && !g->window.pad[0] && !g->window.pad[2] &&
           g->in.h == g->out.h && g->in.w == g->out.w;
}

static struct tdl_window_part window_of(const struct tdl_conv_geometry *g)
{
    struct tdl_window_part s = tdl_conv_window(g);
    if (is_flat(g)) {
        s.in_w = s.out_w = tdl_conv_pixels(g);
        s.in_h = s.out_h = 1;
    }
    return s;
}

static uint64_t patch_bytes(const struct layout *l, uint32_t chunk)
{
    return 16ull * l->patch * (chunk / 2 + 1);
}

/* Registers hold the fragments of so many steps; of these, the fewest steps behind the last. */
static void choose_steps(struct layout *l, uint32_t shares)
{
    enum { REGISTERS = 144, SUM = 8, SIDE = 4, MOST = 4 };
    const uint32_t each = TDL_DIV_UP(l->work, shares), sums = SUM * l->own_m * l->own_n;
    const uint32_t sides = SIDE * (l->own_m + l->own_n);
    const uint32_t room = sums + sides < REGISTERS ? (REGISTERS - sums) / sides : 1;
    l->ahead = 1;
    for (uint32_t i = TDL_MIN(TDL_MIN(room, MOST), each); i > 1 && l->ahead == 1; i--)
        if (TDL_ALIGN(each, i) <= each + each / 8)
            l->ahead = i;
    l->steps = TDL_DIV_UP(each, l->ahead) * l->ahead;
}

/* False if it does not fit into shared memory. */
static bool lay_out(const struct tdl_conv_geometry *g, const struct tdl_conv_variant *v,
                    struct layout *l)
{
    enum { MOST_STAGED = 4, MOST_CELLS = 8, BY = 4 /* packs of a fragment's depth, or more */ };
    const uint32_t *frag = g->device->cooperative_matrix;
    const struct tdl_window_part w = window_of(g);
    const uint32_t columns = TDL_DIV_UP(tdl_packs(g->out.c) * 4, frag[1]);
    const uint32_t by = TDL_MAX(BY, frag[2] / 4), packs = TDL_ALIGN(tdl_packs(g->in.c), by);
    *l = (struct layout){.tile_w = v->v[0] * frag[0] * (is_flat(g) ? v->v[1] : 1),
                         .tile_h = is_flat(g) ? 1 : v->v[1],
                         .blocks = TDL_DIV_UP(columns, v->v[2]),
                         .own_m = v->v[0] * v->v[1] / v->v[3]};
    l->own_n = TDL_DIV_UP(columns, l->blocks);
    l->tile_n = l->own_n * frag[1];
    const uint64_t span_w =
        (uint64_t)(l->tile_w - 1) * w.stride_w + (uint64_t)(w.kernel_w - 1) * w.dilation_w + 1;
    const uint64_t span_h =
        (uint64_t)(l->tile_h - 1) * w.stride_h + (uint64_t)(w.kernel_h - 1) * w.dilation_h + 1;
    if (span_w * span_h > UINT16_MAX)
        return false;
    l->patch = (uint32_t)(span_w * span_h);
    const uint64_t stage = 16ull * v->v[3] * v->v[4] * frag[0] * (frag[1] / 4 + 1);
    uint64_t room = g->device->max_shared_memory;
    if (stage + patch_bytes(l, by) > room)
        return false;
    for (l->chunk = packs, l->chunks = 1; patch_bytes(l, l->chunk) + stage > room; l->chunks++)
        l->chunk = TDL_ALIGN(TDL_DIV_UP(packs, l->chunks + 1), by);
    room -= patch_bytes(l, l->chunk);
    l->staged = tdl_conv_divisor(l->own_m * l->own_n,
                                 (uint32_t)TDL_MIN(room / stage, (uint64_t)MOST_STAGED));
    l->shared = patch_bytes(l, l->chunk) + stage * l->staged;
    l->work = tdl_conv_taps(g) * (l->chunk * 4 / frag[2]);
    choose_steps(l, v->v[4]);
    l->cells = TDL_MIN(TDL_DIV_UP(l->patch * (l->chunk / 2), threads(g, v)), MOST_CELLS);
    l->tiles = TDL_DIV_UP(w.out_w, l->tile_w) * TDL_DIV_UP(w.out_h, l->tile_h);
    return true;
}

static bool accepts(const struct tdl_conv_geometry *g, const struct tdl_conv_variant *v)
{
    enum { MOST_SUMS = 16 };
    const uint32_t *frag = g->device->cooperative_matrix;
    struct layout l;
    if (!frag[0] || g->storage != TDL_FLOAT16 || g->p->groups != 1 || g->bound ||
        g->pre == TDL_PRE_MERGE || !tdl_shaders_have_matrices() || frag[2] % 8 ||
        threads(g, v) > g->device->max_workgroup_invocations || !lay_out(g, v, &l))
        return false;
    return l.own_m * l.own_n <= MOST_SUMS && l.tiles <= TDL_LEAST_GROUPS;
}

/* How many packs are read for one of the patch: what is resampled has four neighbours, which
 * other workgroups want, too, and a product two factors. */
static double reads(const struct tdl_conv_geometry *g)
{
    return g->resampled ? 1 + 5.0 * g->resampled / g->in.c : g->mixed ? 1.5 : 1;
}

/* ns, with what was measured on an H100 of 60 layers in all variants: what a workgroup waits
 * for, and what those of a processor do together. */
static double cost(const struct tdl_conv_geometry *g, const struct tdl_conv_variant *v)
{
    enum { PROCESSORS = 132 };
    struct layout l;
    if (!lay_out(g, v, &l))
        return INFINITY;
    const double own = l.own_m * l.own_n, subgroups = v->v[3] * v->v[4];
    const double each = fmax(1, (double)l.tiles * l.blocks * g->in.n / PROCESSORS);
    const double wait = l.chunks * l.steps * (313.0 / l.ahead + 97 * own) + 629 * own / l.staged;
    const double work = 0.29 * l.chunks * l.patch * l.chunk * reads(g) +
                        11.5 * l.chunks * subgroups * l.steps * l.own_n + 15.2 * subgroups * own;
    /* The estimates of rows without matrix units know nothing of waiting, and that of
     * `cooperative` too little where channels are few. */
    enum { MANY = 128 };
    const double scale = is_flat(g) ? 0.6 : g->in.c < MANY ? 0.8 : 1.3;
    return fmax(scale * (2500 + wait + each * work),
                tdl_conv_time(g, 0, 1, tdl_conv_bytes(g), 1, 1));
}

static uint16_t half_of(float value)
{
    return tdl_float_to_half(fmaxf(-65504, fminf(65504, value)));
}

/* Fragments in the order of their use: see the kernel. */
static void pack_weights(const struct tdl_conv_geometry *g, const struct tdl_node *n,
                         const struct layout *l, uint32_t shares, float *w)
{
    const float *f = tdl_constant_data(n->inputs[TDL_CONV_FILTER]);
    const uint32_t *frag = g->device->cooperative_matrix;
    const uint32_t deep = l->chunk * 4 / frag[2], size = frag[1] * frag[2];
    const uint32_t count = l->blocks * l->chunks * l->steps * shares * l->own_n;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t column = i % l->own_n, step = i / l->own_n % (l->steps * shares);
        const uint32_t chunk = i / l->own_n / (l->steps * shares) % l->chunks;
        const uint32_t block = i / l->own_n / (l->steps * shares) / l->chunks;
        for (uint32_t k = 0; k < size; k += 2, w++) {
            const uint32_t o = block * l->tile_n + column * frag[1] + k / frag[2];
            const uint32_t c = chunk * l->chunk * 4 + step % deep * frag[2] + k % frag[2];
            uint16_t pair[2] = {0};
            for (uint32_t j = 0; j < 2 && step < l->work; j++)
                pair[j] = half_of(tdl_conv_weight(g, f, o, step / deep, c + j));
            memcpy(w, pair, sizeof(pair));
        }
    }
}

static void bind_constants(struct tdl_plan *plan, struct tdl_plan_step *s, const struct tdl_node *n,
                           const struct tdl_conv_geometry *g, const struct layout *l,
                           uint32_t shares)
{
    const uint32_t *frag = g->device->cooperative_matrix;
    const uint64_t halves =
        (uint64_t)l->blocks * l->chunks * l->steps * shares * l->own_n * frag[1] * frag[2];
    struct tdl_weights_key key = tdl_conv_weights_key(g, n, TDL_WEIGHTS_LAYOUT(pack_weights),
                                                      l->tile_n, l->chunk, l->steps * shares);
    float *w = tdl_plan_weights(plan, s, 1, halves / 2, &key);
    if (w)
        pack_weights(g, n, l, shares, w);
    const float *bias = tdl_constant_data(n->inputs[TDL_CONV_BIAS]);
    key = tdl_conv_bias_key(n);
    w = tdl_plan_weights(plan, s, 2, tdl_packs(g->out.c) * 4, &key);
    for (uint32_t o = 0; w && bias && o < g->out.c; o++)
        w[o] = bias[o];
}

static void lower(struct tdl_plan *plan, struct tdl_node *n, const struct tdl_conv_geometry *g,
                  const struct tdl_conv_variant *v)
{
    const uint32_t *frag = g->device->cooperative_matrix;
    struct layout l;
    if (!lay_out(g, v, &l))
        return;
    /* What is resampled comes first, and the input behind it. */
    struct tdl_operand *low = g->pre == TDL_PRE_NONE ? tdl_conv_input(n, TDL_CONV_LOW) : NULL;
    struct tdl_operand *first = low ? low : n->inputs[TDL_CONV_INPUT];
    struct tdl_operand *second =
        low ? n->inputs[TDL_CONV_INPUT] : tdl_conv_input(n, TDL_CONV_SECOND);
    const struct tdl_dims size = tdl_operand_dims(first);
    struct tdl_plan_step *s = tdl_plan_add_step(plan, "conv2d_patch", n, threads(g, v), 1, 1);
    const struct tdl_conv2d_patch_spec spec =
        tdl_conv2d_patch_spec(.window = window_of(g), .in_packs = tdl_packs(g->in.c),
                              .out_packs = tdl_packs(g->out.c), .tile_w = l.tile_w,
                              .tile_h = l.tile_h, .tile_n = l.tile_n, .chunk = l.chunk,
                              .chunks = l.chunks, .grid_m = v->v[3], .shares = v->v[4],
                              .steps = l.steps, .ahead = l.ahead, .cells = l.cells,
                              .staged = l.staged, .frag_m = frag[0], .frag_n = frag[1],
                              .frag_k = frag[2], .activation = g->p->activation,
                              .residual = n->attr.conv.blends ? 2 : g->residual,
                              .gated = g->pre == TDL_PRE_GATE,
                              .last_channels = tdl_last_channels(g->out.c),
                              .first = tdl_packs(size.c),
                              .factor = tdl_conv_input(n, TDL_CONV_FACTOR) != NULL,
                              .low_w = low ? size.w : 0, .low_h = low ? size.h : 0,
                              .coordinates = low ? n->attr.conv.coordinates : 0);
    TDL_PLAN_SPECS(s, conv2d_patch, spec);
    tdl_plan_shared(s, l.shared);
    tdl_plan_read(s, 0, first);
    if (g->pre == TDL_PRE_GATE)
        tdl_plan_read(s, 3, n->inputs[TDL_CONV_GATE]);
    if (g->residual)
        tdl_plan_read(s, 4, n->inputs[TDL_CONV_RESIDUAL]);
    tdl_plan_write(s, 5, n->output);
    if (second)
        tdl_plan_read(s, 6, second);
    if (tdl_conv_input(n, TDL_CONV_FACTOR))
        tdl_plan_read(s, 7, n->inputs[TDL_CONV_FACTOR]);
    if (n->attr.conv.blends)
        tdl_plan_read(s, 3, n->inputs[TDL_CONV_BLEND]);
    bind_constants(plan, s, n, g, &l, v->v[4]);
    tdl_plan_groups(s, l.tiles, l.blocks, g->in.n);
}

const struct tdl_conv_algorithm tdl_conv_patch = {
    .name = "patch",
    .variants = variants,
    .variant_count = TDL_COUNT(variants),
    .accepts = accepts,
    .cost = cost,
    .lower = lower,
};
