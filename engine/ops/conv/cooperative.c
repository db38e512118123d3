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

/* v: pixels, channels, subgroups across pixels and across channels, packs a step. Of
 * equals the first is taken. */
static const struct tdl_conv_variant variants[] = {
    {"128x64", {128, 64, 4, 2, 8}},   {"64x64", {64, 64, 2, 2, 8}},
    {"128x128", {128, 128, 2, 4, 8}}, {"64x128", {64, 128, 1, 8, 8}},
    {"32x64", {32, 64, 1, 4, 8}},     {"32x32", {32, 32, 1, 2, 8}},
    {"64x64-64", {64, 64, 2, 2, 16}}, {"32x64-64", {32, 64, 1, 4, 16}},
    {"32x32-64", {32, 32, 1, 2, 16}},
};

static uint32_t threads(const struct tdl_conv_geometry *g, const struct tdl_conv_variant *v)
{
    return v->v[2] * v->v[3] * g->device->subgroup_size;
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
    bool smallest = v->v[1] == 32;
    return size <= g->device->max_workgroup_invocations &&
           shared_bytes(g, v) <= g->device->max_shared_memory &&
           divides(frag[0], v->v[0] / v->v[2]) && divides(frag[1], v->v[1] / v->v[3]) &&
           divides(frag[2], v->v[4] * 4) && divides(size, v->v[0] * v->v[4]) &&
           divides(size, v->v[1] * v->v[4]) && (smallest || g->out.c * 2 > v->v[1]);
}

static double cost(const struct tdl_conv_geometry *g, const struct tdl_conv_variant *v)
{
    uint32_t pixels = tdl_conv_pixels(g), packs = tdl_packs(g->out.c);
    double x = TDL_DIV_UP(pixels, v->v[0]), y = TDL_DIV_UP(packs * 4, v->v[1]);
    double filled = (double)pixels * packs * 4 / (x * y * v->v[0] * v->v[1]);
    double reuse = (double)v->v[0] * v->v[1] / (v->v[0] + v->v[1]);
    /* In units of what plain arithmetic does. A processor of the device keeps up with
     * one workgroup of four subgroups or more; a step takes so long even where nothing
     * else runs (measured on an H100). */
    const bool long_step = v->v[4] > 8;
    double peak = tdl_conv_tastes(g)->efficiency.cooperative;
    double efficiency = (peak ? peak : 0.9) * reuse / (reuse + 16) * (long_step ? 0.85 : 1);
    double groups = x * y * g->in.n * fmin(1, threads(g, v) / 128.0);
    double steps = TDL_DIV_UP(tdl_conv_taps(g) * tdl_packs(g->in.c), v->v[4]);
    double latency = (steps + 2) * (long_step ? 950 : 700) + tdl_conv_tastes(g)->speed.dispatch;
    return fmax(latency, tdl_conv_time(g, tdl_conv_macs(g) / filled, efficiency, tdl_conv_bytes(g),
                                       1, groups));
}

/* To the nearest half, clamped to the largest. */
static uint16_t half_of(float value)
{
    return tdl_float_to_half(fmaxf(-65504, fminf(65504, value)));
}

static void pack_weights(const struct tdl_conv_geometry *g, const struct tdl_node *n, uint32_t rows,
                         uint32_t columns, float *w)
{
    const float *f = tdl_constant_data(n->inputs[TDL_CONV_FILTER]);
    uint32_t in = tdl_packs(g->in.c) * 4, taps = tdl_conv_taps(g);
    for (uint32_t row = 0; row < rows; row++)
        for (uint32_t o = 0; o < columns; o += 2, w++) {
            uint16_t pair[2] = {0};
            for (uint32_t k = 0; k < 2 && row / in < taps; k++)
                pair[k] = half_of(tdl_conv_weight(g, f, o + k, row / in, row % in));
            memcpy(w, pair, sizeof(pair));
        }
}

/* shaders/conv2d_cooperative.comp */
struct cooperative_spec {
    struct tdl_conv_window_spec window;
    uint32_t in_packs, out_packs, tile_m, tile_n, step, grid_m, grid_n, frag_m, frag_n, frag_k;
    uint32_t a_loads, b_loads, steps, columns, activation, residual, lanes, last_channels;
};

static void lower(struct tdl_plan *plan, struct tdl_node *n, const struct tdl_conv_geometry *g,
                  const struct tdl_conv_variant *v)
{
    const float *bias = tdl_constant_data(n->inputs[TDL_CONV_BIAS]);
    const uint32_t *frag = g->device->cooperative_matrix, size = threads(g, v);
    uint32_t in = tdl_packs(g->in.c), out = tdl_packs(g->out.c), pixels = tdl_conv_pixels(g);
    uint32_t steps = TDL_DIV_UP(tdl_conv_taps(g) * in, v->v[4]);
    uint32_t groups = TDL_DIV_UP(out * 4, v->v[1]), columns = groups * v->v[1];
    struct tdl_plan_step *s = tdl_plan_add_step(plan, "conv2d_cooperative", n, size, 1, 1);
    const struct cooperative_spec spec = {
        .window = tdl_conv_window_spec(g),
        .in_packs = in,
        .out_packs = out,
        .tile_m = v->v[0],
        .tile_n = v->v[1],
        .step = v->v[4],
        .grid_m = v->v[2],
        .grid_n = v->v[3],
        .frag_m = frag[0],
        .frag_n = frag[1],
        .frag_k = frag[2],
        .a_loads = v->v[0] * v->v[4] / size,
        .b_loads = v->v[1] * v->v[4] / size,
        .steps = steps,
        .columns = columns / 4,
        .activation = g->p->activation,
        .residual = g->residual,
        .lanes = g->device->subgroup_size,
        .last_channels = tdl_last_channels(g->out.c),
    };
    TDL_PLAN_SPECS(s, spec);
    tdl_conv_bind(s, n);
    tdl_plan_shared(s, shared_bytes(g, v));
    const struct tdl_weights_key bias_key = tdl_conv_bias_key(n);
    float *w = tdl_plan_weights(plan, s, 2, columns, &bias_key);
    for (uint32_t o = 0; w && bias && o < g->out.c; o++)
        w[o] = bias[o];
    uint32_t rows = steps * v->v[4] * 4;
    const struct tdl_weights_key key =
        tdl_conv_weights_key(g, n, TDL_WEIGHTS_LAYOUT(pack_weights), rows, columns, 0);
    w = tdl_plan_weights(plan, s, 1, (uint64_t)rows * columns / 2, &key);
    if (w)
        pack_weights(g, n, rows, columns, w);
    tdl_plan_groups(s, TDL_DIV_UP(pixels, v->v[0]), groups, g->in.n);
}

const struct tdl_conv_algorithm tdl_conv_cooperative = {
    .name = "cooperative",
    .variants = variants,
    .variant_count = TDL_COUNT(variants),
    .accepts = accepts,
    .cost = cost,
    .lower = lower,
};
