/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A matrix product on the device's matrix units (VK_KHR_cooperative_matrix):
 * halves in, float32 sums. Only for 16-bit storage, as it rounds both sides to
 * halves. The kernel is in the library only if the build's shader compiler knows
 * GL_KHR_cooperative_matrix.
 */
#include "conv.h"

#include "kernels.h"

#include <math.h>
#include <string.h>

/* v: pixels, channels, subgroups across pixels and across channels, packs a step, parts
 * that the steps are summed in where there are several. Of equals the first is taken. */
static const struct tdl_conv_variant variants[] = {
    {"128x64", {128, 64, 4, 2, 8}},      {"64x64", {64, 64, 2, 2, 8}},
    {"128x128", {128, 128, 2, 4, 8}},    {"64x128", {64, 128, 1, 8, 8}},
    {"32x64", {32, 64, 1, 4, 8}},        {"32x32", {32, 32, 1, 2, 8}},
    {"64x64-64", {64, 64, 2, 2, 16}},    {"32x64-64", {32, 64, 1, 4, 16}},
    {"32x32-64", {32, 32, 1, 2, 16}},    {"64x64-2", {64, 64, 2, 2, 8, 2}},
    {"64x64-4", {64, 64, 2, 2, 8, 4}},   {"64x64-8", {64, 64, 2, 2, 8, 8}},
    {"32x32-4", {32, 32, 1, 2, 8, 4}},   {"32x64-4", {32, 64, 1, 4, 8, 4}},
    {"32x64-8", {32, 64, 1, 4, 8, 8}},   {"64x64-16", {64, 64, 2, 2, 8, 16}},
    {"32x64-16", {32, 64, 1, 4, 8, 16}}, {"32x32-8", {32, 32, 1, 2, 8, 8}},
    {"32x32-16", {32, 32, 1, 2, 8, 16}}, {"128x16", {128, 16, 4, 1, 8}},
    {"64x16-64", {64, 16, 4, 1, 16}},    {"128x32", {128, 32, 4, 1, 8}},
    {"64x32", {64, 32, 2, 1, 8}},
};

/* Large images have workgroups enough, and their sums are not worth their memory. */
enum { MAX_SUM_BYTES = 64 << 20 };

static uint32_t threads(const struct tdl_conv_geometry *g, const struct tdl_conv_variant *v)
{
    return v->v[2] * v->v[3] * g->device->subgroup_size;
}

uint32_t tdl_conv_parts(const struct tdl_conv_variant *v)
{
    return TDL_MAX(1, v->v[5]);
}

static uint32_t step_count(const struct tdl_conv_geometry *g, const struct tdl_conv_variant *v)
{
    return TDL_DIV_UP(tdl_conv_taps(g) * tdl_packs(g->in.c), v->v[4]);
}

uint64_t tdl_conv_sum_bytes(const struct tdl_conv_geometry *g, const struct tdl_conv_variant *v)
{
    return 16ull * tdl_conv_parts(v) * g->in.n * tdl_packs(g->out.c) * tdl_conv_pixels(g);
}

/* As the kernel declares it. */
static uint64_t shared_bytes(const struct tdl_conv_geometry *g, const struct tdl_conv_variant *v)
{
    const uint32_t *frag = g->device->cooperative_matrix;
    return 16ull * v->v[0] * (v->v[4] + 2) + 16ull * v->v[4] * 4 * (v->v[1] / 4 + 2) +
           4ull * v->v[2] * v->v[3] * frag[0] * frag[1];
}

static bool divides(uint32_t part, uint32_t whole)
{
    return part && whole % part == 0;
}

static bool accepts(const struct tdl_conv_geometry *g, const struct tdl_conv_variant *v)
{
    const uint32_t *frag = g->device->cooperative_matrix;
    if (!frag[0] || g->storage != TDL_FLOAT16 || !tdl_conv_one_group(g) ||
        !tdl_shaders_have_matrices())
        return false;
    uint32_t size = threads(g, v);
    bool smallest = v->v[1] <= 32;
    if (tdl_conv_parts(v) > 1 &&
        tdl_conv_sum_bytes(g, v) > TDL_MIN(g->device->max_buffer_bytes, (uint64_t)MAX_SUM_BYTES))
        return false;
    return size <= g->device->max_workgroup_invocations &&
           shared_bytes(g, v) <= g->device->max_shared_memory &&
           divides(frag[0], v->v[0] / v->v[2]) && divides(frag[1], v->v[1] / v->v[3]) &&
           divides(frag[2], v->v[4] * 4) && divides(size, v->v[0] * v->v[4]) &&
           divides(size, v->v[1] * v->v[4]) && (smallest || g->out.c * 2 > v->v[1]);
}

/* Time of a step even where nothing else runs, ns (measured on H100 and H200); there are
 * two more at the beginning and the end. */
static double step_time(const struct tdl_conv_geometry *g, const struct tdl_conv_variant *v)
{
    const double steps = TDL_DIV_UP(step_count(g, v), tdl_conv_parts(v)) + 2;
    const bool is_long = v->v[4] > 8;
    return g->wide_cells ? steps * (is_long ? 500 : 330) + 1100 : steps * (is_long ? 950 : 700);
}

static double cost(const struct tdl_conv_geometry *g, const struct tdl_conv_variant *v)
{
    enum { READERS = 256 }; /* workgroups that memory waits for, not they for it */
    const uint32_t pixels = tdl_conv_pixels(g), packs = tdl_packs(g->out.c),
                   parts = tdl_conv_parts(v);
    const double x = TDL_DIV_UP(pixels, v->v[0]), y = TDL_DIV_UP(packs * 4, v->v[1]);
    const double filled = (double)pixels * packs * 4 / (x * y * v->v[0] * v->v[1]);
    const double reuse = (double)v->v[0] * v->v[1] / (v->v[0] + v->v[1]);
    /* In units of what plain arithmetic does. A processor of the device keeps up with
     * one workgroup of four subgroups or more. */
    const double peak = tdl_conv_heuristics(g)->efficiency.cooperative;
    const double of_step = v->v[4] <= 8 ? 1 : g->wide_cells ? 1.1 : 0.85;
    const double efficiency = (peak ? peak : 0.9) * reuse / (reuse + 16) * of_step;
    const double all = x * y * g->in.n * parts, groups = all * fmin(1, threads(g, v) / 128.0);
    const double bytes = tdl_conv_bytes(g) * (g->wide_cells ? fmax(1, READERS / all) : 1);
    const double latency = step_time(g, v) + tdl_conv_heuristics(g)->speed.dispatch;
    const double adding =
        parts > 1 ? tdl_conv_time(g, 0, 1, 2 * (double)tdl_conv_sum_bytes(g, v), 1, 1) : 0;
    return adding +
           fmax(latency, tdl_conv_time(g, tdl_conv_macs(g) / filled, efficiency, bytes, 1, groups));
}

/* To the nearest half, clamped to the largest. */
static uint16_t half_of(float value)
{
    return tdl_float_to_half(fmaxf(-65504, fminf(65504, value)));
}

/* Packs the filter of a transposed convolution. */
static float block_weight(const struct tdl_conv_geometry *g, const struct tdl_conv_blocks *blocks,
                          const float *f, uint32_t column, uint32_t i)
{
    const uint32_t width = tdl_packs(blocks->channels) * 4,
                   taps = blocks->size[0] * blocks->size[1];
    const uint32_t tap = column / width, o = column % width;
    if (tap >= taps || o >= blocks->channels || i >= g->in.c)
        return 0;
    return f[((size_t)o * taps + tap) * g->in.c + i];
}

/* `blocks` may be NULL. */
static void pack_weights(const struct tdl_conv_geometry *g, const struct tdl_node *n,
                         const struct tdl_conv_blocks *blocks, uint32_t rows, uint32_t columns,
                         float *w)
{
    const float *f = tdl_constant_data(n->inputs[TDL_CONV_FILTER]);
    uint32_t in = tdl_packs(g->in.c) * 4, taps = tdl_conv_taps(g);
    for (uint32_t row = 0; row < rows; row++)
        for (uint32_t o = 0; o < columns; o += 2, w++) {
            uint16_t pair[2] = {0};
            for (uint32_t k = 0; k < 2 && row / in < taps; k++)
                pair[k] = half_of(blocks ? block_weight(g, blocks, f, o + k, row)
                                         : tdl_conv_weight(g, f, o + k, row / in, row % in));
            memcpy(w, pair, sizeof(pair));
        }
}

static void add_bias(struct tdl_plan *plan, struct tdl_plan_step *s, uint32_t binding,
                     const struct tdl_node *n, uint32_t channels, uint32_t columns)
{
    const float *bias = tdl_constant_data(n->inputs[TDL_CONV_BIAS]);
    const struct tdl_weights_key key = tdl_conv_bias_key(n);
    float *w = tdl_plan_weights(plan, s, binding, columns, &key);
    for (uint32_t o = 0; w && bias && o < channels; o++)
        w[o] = bias[o];
}

static void add_parts(struct tdl_plan *plan, struct tdl_node *n, const struct tdl_conv_geometry *g,
                      const struct tdl_conv_variant *v, struct tdl_operand *sums)
{
    const uint32_t packs = tdl_packs(g->out.c), pixels = tdl_conv_pixels(g);
    struct tdl_plan_step *s = tdl_plan_add_step(plan, "conv2d_parts", n, 64, 1, 1);
    const struct tdl_conv2d_parts_spec spec =
        tdl_conv2d_parts_spec(.pixels = pixels, .packs = packs, .count = g->in.n * packs * pixels,
                              .parts = tdl_conv_parts(v), .activation = g->p->activation,
                              .residual = g->residual,
                              .last_channels = tdl_last_channels(g->out.c));
    TDL_PLAN_SPECS(s, conv2d_parts, spec);
    tdl_plan_read(s, 6, sums);
    if (g->residual)
        tdl_plan_read(s, 4, n->inputs[TDL_CONV_RESIDUAL]);
    tdl_plan_write(s, 5, n->output);
    add_bias(plan, s, 1, n, g->out.c, packs * 4);
    tdl_plan_groups(s, TDL_DIV_UP(spec.count, 64), 1, 1);
    if (s)
        s->macs = 0;
}

static struct tdl_conv2d_cooperative_spec cooperative_spec(const struct tdl_conv_geometry *g,
                                                           const struct tdl_conv_variant *v)
{
    const uint32_t *frag = g->device->cooperative_matrix, size = threads(g, v);
    const bool whole = tdl_conv_parts(v) == 1; /* or conv2d_parts does the rest */

    return tdl_conv2d_cooperative_spec(.window = tdl_conv_window(g), .in_packs = tdl_packs(g->in.c),
                                       .out_packs = tdl_packs(g->out.c), .tile_m = v->v[0],
                                       .tile_n = v->v[1], .step = v->v[4], .grid_m = v->v[2],
                                       .grid_n = v->v[3], .frag_m = frag[0], .frag_n = frag[1],
                                       .frag_k = frag[2], .a_cells = v->v[0] * v->v[4] / size,
                                       .b_cells = v->v[1] * v->v[4] / size,
                                       .steps = step_count(g, v),
                                       .columns = TDL_DIV_UP(tdl_packs(g->out.c) * 4, v->v[1]) *
                                                  v->v[1] / 4,
                                       .activation = whole ? g->p->activation : TDL_ACTIVATION_NONE,
                                       .residual = whole && g->residual,
                                       .lanes = g->device->subgroup_size,
                                       .last_channels = tdl_last_channels(g->out.c),
                                       .parts = tdl_conv_parts(v), .block_w = 1, .block_h = 1);
}

static void add_weights(struct tdl_plan *plan, struct tdl_plan_step *s, const struct tdl_node *n,
                        const struct tdl_conv_geometry *g, const struct tdl_conv_blocks *blocks,
                        uint32_t rows, uint32_t columns)
{
    struct tdl_weights_key key = tdl_conv_weights_key(g, n, TDL_WEIGHTS_LAYOUT(pack_weights), rows,
                                                      columns, blocks ? blocks->size[1] : 0);
    float *w = tdl_plan_weights(plan, s, 1, (uint64_t)rows * columns / 2, &key);
    if (w)
        pack_weights(g, n, blocks, rows, columns, w);
}

static void lower(struct tdl_plan *plan, struct tdl_node *n, const struct tdl_conv_geometry *g,
                  const struct tdl_conv_variant *v)
{
    struct tdl_operand *sums =
        tdl_conv_parts(v) > 1 ? tdl_plan_scratch(plan, tdl_conv_sum_bytes(g, v)) : NULL;
    if (tdl_conv_parts(v) > 1 && !sums)
        return;
    struct tdl_plan_step *s = tdl_plan_add_step(plan, "conv2d_cooperative", n, threads(g, v), 1, 1);
    const struct tdl_conv2d_cooperative_spec spec = cooperative_spec(g, v);
    const uint32_t rows = spec.steps * v->v[4] * 4, columns = spec.columns * 4;
    TDL_PLAN_SPECS(s, conv2d_cooperative, spec);
    tdl_plan_shared(s, shared_bytes(g, v));
    if (sums) {
        tdl_plan_read(s, 0, n->inputs[TDL_CONV_INPUT]);
        tdl_plan_write(s, 6, sums);
    } else {
        tdl_conv_bind(s, n);
        add_bias(plan, s, 2, n, g->out.c, columns);
    }
    add_weights(plan, s, n, g, NULL, rows, columns);
    tdl_plan_groups(s, TDL_DIV_UP(tdl_conv_pixels(g), v->v[0]), columns / v->v[1],
                    g->in.n * tdl_conv_parts(v));
    if (sums)
        add_parts(plan, n, g, v, sums);
}

void tdl_conv_cooperative_blocks(struct tdl_plan *plan, struct tdl_node *n,
                                 const struct tdl_conv_geometry *g,
                                 const struct tdl_conv_variant *v,
                                 const struct tdl_conv_blocks *blocks)
{
    struct tdl_plan_step *s = tdl_plan_add_step(plan, "conv2d_cooperative", n, threads(g, v), 1, 1);
    struct tdl_conv2d_cooperative_spec spec = cooperative_spec(g, v);
    const uint32_t packs = tdl_packs(blocks->channels);
    spec.out_packs = packs;
    spec.last_channels = tdl_last_channels(blocks->channels);
    spec.block_h = blocks->size[0];
    spec.block_w = blocks->size[1];
    TDL_PLAN_SPECS(s, conv2d_cooperative, spec);
    tdl_plan_shared(s, shared_bytes(g, v));
    tdl_plan_read(s, 0, n->inputs[TDL_CONV_INPUT]);
    tdl_plan_write(s, 5, n->output);
    add_bias(plan, s, 2, n, blocks->channels, packs * 4);
    add_weights(plan, s, n, g, blocks, spec.steps * v->v[4] * 4, spec.columns * 4);
    tdl_plan_groups(s, TDL_DIV_UP(tdl_conv_pixels(g), v->v[0]), spec.columns * 4 / v->v[1],
                    g->in.n);
}

const struct tdl_conv_algorithm tdl_conv_cooperative = {
    .name = "cooperative",
    .variants = variants,
    .variant_count = TDL_COUNT(variants),
    .accepts = accepts,
    .cost = cost,
    .lower = lower,
};
