/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A matrix product through shared memory, and the two rows that are hardly
 * more: implicit (the product's left side is gathered from the image while it
 * is multiplied) and im2col (it is gathered into memory before).
 */
#include "conv.h"

#include <math.h>

/* v: invocations across pixels and across packs, pixels and packs an
 * invocation, packs of input a step, and what was reached with it on an H200, in
 * percent of what tdl_conv_time() holds possible. Named by pixels × channels of
 * a workgroup. */
const struct tdl_conv_variant tdl_conv_gemm_variants[TDL_CONV_GEMM_VARIANTS] = {
    {"128x128", {16, 16, 8, 2, 4, 68}}, {"128x64", {32, 8, 4, 2, 4, 76}},
    {"64x64", {16, 8, 4, 2, 4, 80}},    {"64x128", {16, 16, 4, 2, 4, 78}},
    {"128x32", {32, 4, 4, 2, 4, 66}},   {"64x32", {16, 4, 4, 2, 4, 68}},
    {"32x32", {16, 4, 2, 2, 4, 76}},    {"32x16", {16, 4, 2, 1, 4, 62}},
};

struct shape {
    uint32_t threads, pixels, packs; /* of a workgroup */
    uint32_t step;
};

static struct shape shape_of(const struct tdl_conv_variant *v)
{
    return (struct shape){v->v[0] * v->v[1], v->v[0] * v->v[2], v->v[1] * v->v[3], v->v[4]};
}

static uint64_t shared_bytes(const struct tdl_conv_variant *v)
{
    struct shape s = shape_of(v);
    return 16 * (uint64_t)s.step * (s.pixels + 4 * s.packs);
}

/* Values that an invocation holds, as compilers of RADV count them: its sums, both sides
 * of a step, what is loaded ahead of the next one, and places. */
static uint32_t registers_of(const struct tdl_conv_variant *v)
{
    enum { OTHERS = 16, RIGHT = 4 };
    const struct shape s = shape_of(v);
    const uint32_t loads = s.step * (s.pixels + 4 * s.packs) / s.threads;
    return 4 * (v->v[2] * v->v[3] + v->v[2] + RIGHT + loads) + OTHERS;
}

bool tdl_conv_gemm_accepts(const struct tdl_conv_geometry *g, const struct tdl_conv_variant *v)
{
    struct shape s = shape_of(v);
    /* No tile of which more than half is empty, or that is spilled, but for the smallest. */
    bool small = v == &tdl_conv_gemm_variants[TDL_CONV_GEMM_VARIANTS - 1];
    return s.threads <= g->device->max_workgroup_invocations &&
           shared_bytes(v) <= g->device->max_shared_memory &&
           (small ||
            (tdl_packs(g->out.c) * 2 > s.packs && !tdl_spills(g->device, registers_of(v))));
}

double tdl_conv_gemm_cost(const struct tdl_conv_geometry *g, const struct tdl_conv_variant *v,
                          double macs, double bytes, uint32_t batches, uint32_t pixels,
                          uint32_t taps)
{
    enum { STEP_LOADS = 4 }; /* which one step takes the time of, measured on an H100 */
    struct shape s = shape_of(v);
    uint32_t packs = tdl_packs(g->out.c);
    double x = TDL_DIV_UP(pixels, s.pixels), y = TDL_DIV_UP(packs, s.packs);
    double filled = (double)pixels * packs / (x * y * s.pixels * s.packs);
    double efficiency = tdl_conv_heuristics(g)->efficiency.gemm;
    if (!efficiency)
        efficiency = v->v[5] / 100.0;
    /* A step waits for what it loads, then for all others of its workgroup. */
    const struct tdl_heuristics *heuristics = tdl_conv_heuristics(g);
    const double steps = TDL_DIV_UP(taps * tdl_packs(g->in.c), s.step);
    const double time = fmax(
        heuristics->speed.dispatch + steps * STEP_LOADS * heuristics->speed.load,
        tdl_conv_time(g, macs / filled, efficiency, bytes, 1, x * y * batches * s.threads / 128.0));
    return time * tdl_crowding(g->device, registers_of(v));
}

/* ------------------------------------------------------------------ product */

static void fill_weights(const struct tdl_conv_gemm *m, uint32_t columns, uint32_t rows,
                         tdl_conv_weight_fn weight, const void *data, float *w)
{
    const struct tdl_conv_geometry *g = &m->g;
    uint32_t in = tdl_packs(g->in.c) * 4, taps = tdl_conv_taps(g);
    for (uint32_t b = 0; b < m->batches; b++)
        for (uint32_t row = 0; row < rows; row++) {
            uint32_t tap = row / in, i = row % in;
            for (uint32_t o = 0; o < columns; o++, w++)
                *w = tap < taps && i < g->in.c && o < g->out.c ? weight(data, b, o, tap, i) : 0;
        }
}

static void bind(struct tdl_plan_step *s, const struct tdl_conv_gemm *m)
{
    tdl_plan_read(s, m->wide ? 6 : m->g.plain ? 2 : 0, m->in);
    if (m->residual)
        tdl_plan_read(s, 4, m->residual);
    tdl_plan_write(s, m->wide ? 7 : 5, m->out);
}

void tdl_conv_gemm_lower(struct tdl_plan *plan, struct tdl_node *n, const struct tdl_conv_gemm *m,
                         const struct tdl_conv_variant *v, tdl_conv_weight_fn weight, void *data)
{
    const struct tdl_conv_geometry *g = &m->g;
    const struct shape s = shape_of(v);
    uint32_t in = tdl_packs(g->in.c), out = tdl_packs(g->out.c), pixels = tdl_conv_pixels(g);
    uint32_t steps = TDL_DIV_UP(tdl_conv_taps(g) * in, s.step), groups = TDL_DIV_UP(out, s.packs);
    uint32_t columns = groups * s.packs * 4, rows = steps * s.step * 4;
    struct tdl_plan_step *step = tdl_plan_add_step(plan, "conv2d_gemm", n, v->v[0], v->v[1], 1);
    const struct tdl_conv2d_gemm_spec spec =
        tdl_conv2d_gemm_spec(.window = tdl_conv_window(g), .in_packs = in, .out_packs = out,
                             .px = v->v[2], .packs = v->v[3], .step = s.step, .tile_m = s.pixels,
                             .tile_n = s.packs, .a_loads = s.step * s.pixels / s.threads,
                             .b_loads = s.step * 4 * s.packs / s.threads, .steps = steps,
                             .columns = columns / 4, .batched = m->batches > 1, .wide = m->wide,
                             .activation = m->wide ? TDL_ACTIVATION_NONE : g->p->activation,
                             .residual = m->residual != NULL,
                             .last_channels = tdl_last_channels(g->out.c),
                             .plain = g->plain ? g->in.c : 0);
    TDL_PLAN_SPECS(step, conv2d_gemm, spec);
    bind(step, m);
    tdl_plan_shared(step, shared_bytes(v));
    struct tdl_weights_key key =
        tdl_conv_weights_key(g, n, (uintptr_t)weight, rows, columns, m->batches);
    if (m->wide) /* the bias is added later */
        key.constants[1] = NULL;
    float *w = tdl_plan_weights(plan, step, 1, ((uint64_t)m->batches * rows + 1) * columns, &key);
    if (w && m->prepare && !m->prepare(data)) {
        plan->status = tdl_fail(TDL_ERROR_OUT_OF_MEMORY, "%s: out of memory for filters", n->label);
    } else if (w) {
        const float *bias = tdl_constant_data(n->inputs[TDL_CONV_BIAS]);
        fill_weights(m, columns, rows, weight, data, w);
        w += (uint64_t)m->batches * rows * columns;
        for (uint32_t o = 0; o < g->out.c && bias && !m->wide; o++)
            w[o] = bias[o];
    }
    tdl_plan_groups(step, TDL_DIV_UP(pixels, s.pixels), groups,
                    m->batches > 1 ? m->batches : g->in.n);
}

struct source {
    const struct tdl_conv_geometry *g;
    const float *filter;
};

static float plain_weight(const void *data, uint32_t batch, uint32_t o, uint32_t tap, uint32_t i)
{
    const struct source *s = data;
    (void)batch;
    return tdl_conv_weight(s->g, s->filter, o, tap, i);
}

/* ----------------------------------------------------------------- implicit */

static bool implicit_accepts(const struct tdl_conv_geometry *g, const struct tdl_conv_variant *v)
{
    return tdl_conv_one_group(g) && tdl_conv_gemm_accepts(g, v);
}

static double implicit_cost(const struct tdl_conv_geometry *g, const struct tdl_conv_variant *v)
{
    /* The filling of each tap's last pack is multiplied, too. */
    const double filled = g->in_per_group / (tdl_packs(g->in_per_group) * 4.0);
    return tdl_conv_gemm_cost(g, v, tdl_conv_macs(g) / filled, tdl_conv_bytes(g), g->in.n,
                              tdl_conv_pixels(g), tdl_conv_taps(g));
}

static void implicit_lower(struct tdl_plan *plan, struct tdl_node *n,
                           const struct tdl_conv_geometry *g, const struct tdl_conv_variant *v)
{
    struct source source = {g, tdl_constant_data(n->inputs[TDL_CONV_FILTER])};
    const struct tdl_conv_gemm m = {
        .g = *g,
        .batches = 1,
        .in = n->inputs[TDL_CONV_INPUT],
        .residual = g->residual ? n->inputs[TDL_CONV_RESIDUAL] : NULL,
        .out = n->output,
    };
    tdl_conv_gemm_lower(plan, n, &m, v, plain_weight, &source);
}

const struct tdl_conv_algorithm tdl_conv_implicit = {
    .name = "implicit",
    .reads_plain = true,
    .variants = tdl_conv_gemm_variants,
    .variant_count = TDL_CONV_GEMM_VARIANTS,
    .accepts = implicit_accepts,
    .cost = implicit_cost,
    .lower = implicit_lower,
};

/* ------------------------------------------------------------------- im2col */

/* Packs of a pixel's column: every tap's channels, filled up to packs. */
static uint64_t column_packs(const struct tdl_conv_geometry *g)
{
    return (uint64_t)tdl_conv_taps(g) * tdl_packs(g->in.c);
}

static uint64_t column_bytes(const struct tdl_conv_geometry *g)
{
    return column_packs(g) * 4 * tdl_conv_value_bytes(g) * tdl_conv_pixels(g) * g->in.n;
}

static bool im2col_accepts(const struct tdl_conv_geometry *g, const struct tdl_conv_variant *v)
{
    return tdl_conv_one_group(g) && tdl_conv_gemm_accepts(g, v) &&
           column_packs(g) * 4 <= INT32_MAX && column_packs(g) <= TDL_LEAST_GROUPS &&
           tdl_conv_scratch_fits(g, column_bytes(g));
}

static double im2col_cost(const struct tdl_conv_geometry *g, const struct tdl_conv_variant *v)
{
    double column = (double)column_bytes(g);
    return tdl_conv_time(g, 0, 1, tdl_conv_bytes(g) + column, 1, 1) +
           tdl_conv_gemm_cost(g, v, tdl_conv_macs(g), tdl_conv_bytes(g) + column, g->in.n,
                              tdl_conv_pixels(g), tdl_conv_taps(g));
}

struct column_source {
    struct source plain;
    uint32_t channels; /* of a tap, with the filling */
};

static float column_weight(const void *data, uint32_t batch, uint32_t o, uint32_t tap, uint32_t i)
{
    const struct column_source *s = data;
    (void)batch;
    (void)tap;
    return tdl_conv_weight(s->plain.g, s->plain.filter, o, i / s->channels, i % s->channels);
}

static void im2col_lower(struct tdl_plan *plan, struct tdl_node *n,
                         const struct tdl_conv_geometry *g, const struct tdl_conv_variant *v)
{
    static const struct tdl_conv2d_params once = {.groups = 1};
    struct tdl_conv2d_params product = once;
    const uint32_t channels = tdl_packs(g->in.c) * 4;
    struct column_source source = {{g, tdl_constant_data(n->inputs[TDL_CONV_FILTER])}, channels};
    struct tdl_operand *columns = tdl_plan_scratch(plan, column_bytes(g));
    if (!columns)
        return;
    struct tdl_plan_step *s = tdl_plan_add_step(plan, "im2col", n, 64, 1, 1);
    const struct tdl_im2col_spec spec =
        tdl_im2col_spec(.window = tdl_conv_window(g), .in_packs = tdl_packs(g->in.c),
                        .channels = channels, .out_packs = (uint32_t)column_packs(g));
    TDL_PLAN_SPECS(s, im2col, spec);
    tdl_plan_read(s, 0, n->inputs[TDL_CONV_INPUT]);
    tdl_plan_write(s, 5, columns);
    tdl_plan_groups(s, TDL_DIV_UP(tdl_conv_pixels(g), 64), (uint32_t)column_packs(g), g->in.n);
    if (s)
        s->macs = 0;

    struct tdl_conv_gemm m = {
        .g = *g,
        .batches = 1,
        .in = columns,
        .residual = g->residual ? n->inputs[TDL_CONV_RESIDUAL] : NULL,
        .out = n->output,
    };
    product.activation = g->p->activation;
    m.g.p = &product;
    m.g.in = (struct tdl_dims){g->in.n, g->out.h, g->out.w, (uint32_t)column_packs(g) * 4};
    m.g.window = tdl_window_pixel(m.g.in);
    tdl_conv_gemm_lower(plan, n, &m, v, column_weight, &source);
}

const struct tdl_conv_algorithm tdl_conv_im2col = {
    .name = "im2col",
    .variants = tdl_conv_gemm_variants,
    .variant_count = TDL_CONV_GEMM_VARIANTS,
    .accepts = im2col_accepts,
    .cost = im2col_cost,
    .lower = im2col_lower,
};
