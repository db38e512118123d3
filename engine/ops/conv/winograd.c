/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Winograd's minimal filtering for 3×3, stride 1 (Lavin and Gray,
 * arXiv:1509.09308): tiles of m × m outputs are made from (m + 2)² inputs with
 * as many multiplications a channel, instead of 9 m². Three steps: transform
 * the input's tiles, one matrix product for each of the (m + 2)² positions,
 * transform back. The filters are transformed here, in double precision.
 *
 * What lies between the steps is float32 whatever the storage type: the
 * transforms of F(4,3) magnify rounding tenfold.
 */
#include "conv.h"

#include <math.h>
#include <stdlib.h>

static const double g23[4][3] = {{1, 0, 0}, {0.5, 0.5, 0.5}, {0.5, -0.5, 0.5}, {0, 0, 1}};
/* Points 0, ±1, ±2 and infinity. */
static const double g43[6][3] = {{1.0 / 4, 0, 0},
                                 {-1.0 / 6, -1.0 / 6, -1.0 / 6},
                                 {-1.0 / 6, 1.0 / 6, -1.0 / 6},
                                 {1.0 / 24, 1.0 / 12, 1.0 / 6},
                                 {1.0 / 24, -1.0 / 12, 1.0 / 6},
                                 {0, 0, 1}};

static uint32_t tiles_of(const struct tdl_conv_geometry *g, uint32_t m)
{
    return g->in.n * TDL_DIV_UP(g->out.h, m) * TDL_DIV_UP(g->out.w, m);
}

static uint64_t scratch_bytes(const struct tdl_conv_geometry *g, uint32_t m, uint32_t channels)
{
    return (uint64_t)(m + 2) * (m + 2) * tdl_packs(channels) * 16 * tiles_of(g, m);
}

static bool accepts(const struct tdl_conv_geometry *g, const struct tdl_conv_variant *v, uint32_t m)
{
    return tdl_conv_one_group(g) && g->window.kernel[0] == 3 && g->window.kernel[1] == 3 &&
           g->window.stride[0] == 1 && g->window.stride[1] == 1 && g->window.dilation[0] == 1 &&
           g->window.dilation[1] == 1 && tdl_conv_gemm_accepts(g, v) &&
           tdl_packs(g->in.c) <= TDL_LEAST_GROUPS && tdl_packs(g->out.c) <= TDL_LEAST_GROUPS &&
           tdl_conv_scratch_fits(g, scratch_bytes(g, m, g->in.c) + scratch_bytes(g, m, g->out.c));
}

static double cost(const struct tdl_conv_geometry *g, const struct tdl_conv_variant *v, uint32_t m)
{
    /* Time of both transforms, where there are too few tiles to hide them; measured on an
     * H100. */
    enum { TRANSFORM_LOADS = 110 };
    uint32_t positions = (m + 2) * (m + 2), tiles = tiles_of(g, m);
    double in = (double)scratch_bytes(g, m, g->in.c), out = (double)scratch_bytes(g, m, g->out.c);
    double macs = (double)positions * tiles * g->in.c * g->out.c;
    const struct tdl_heuristics *heuristics = tdl_conv_heuristics(g);
    return fmax(2 * heuristics->speed.dispatch + TRANSFORM_LOADS * heuristics->speed.load,
                tdl_conv_time(g, 0, 1, tdl_conv_bytes(g) + 1.3 * (in + out), 2, 1)) +
           tdl_conv_gemm_cost(g, v, macs, in + out, positions, tiles, 1);
}

/* U = G g Gᵀ of one pair of channels: the columns first, then the rows. Element (y, x) lies
 * `stride` behind the one before it. */
static void transform_pair(const double (*G)[3], uint32_t a, const double taps[9], float *u,
                           size_t stride)
{
    double columns[6][3];
    for (uint32_t y = 0; y < a; y++)
        for (uint32_t x = 0; x < 3; x++)
            columns[y][x] = G[y][0] * taps[x] + G[y][1] * taps[3 + x] + G[y][2] * taps[6 + x];
    for (uint32_t y = 0; y < a; y++)
        for (uint32_t x = 0; x < a; x++, u += stride)
            *u = (float)(columns[y][0] * G[x][0] + columns[y][1] * G[x][1] +
                         columns[y][2] * G[x][2]);
}

/* The filter of every pair, [position][in][out]: in the order in which they are asked
 * for. */
static float *transform_filter(const struct tdl_conv_geometry *g, const float *f, uint32_t m)
{
    const uint32_t a = m + 2;
    const double(*G)[3] = m == 2 ? g23 : g43;
    const size_t pairs = (size_t)g->out.c * g->in.c;
    float *u = malloc(a * a * pairs * sizeof(*u));
    for (uint32_t i = 0; u && i < g->in.c; i++)
        for (uint32_t o = 0; o < g->out.c; o++) {
            double taps[9];
            for (uint32_t tap = 0; tap < 9; tap++)
                taps[tap] = (double)tdl_conv_weight(g, f, o, tap, i);
            transform_pair(G, a, taps, u + (size_t)i * g->out.c + o, pairs);
        }
    return u;
}

struct source {
    const struct tdl_conv_geometry *g;
    const float *filter;
    uint32_t m;
    float *u; /* made when it is needed */
};

static bool prepare(void *data)
{
    struct source *s = data;
    s->u = transform_filter(s->g, s->filter, s->m);
    return s->u;
}

static float weight(const void *data, uint32_t batch, uint32_t o, uint32_t tap, uint32_t i)
{
    const struct source *s = data;
    (void)tap;
    return s->u[((size_t)batch * s->g->in.c + i) * s->g->out.c + o];
}

static struct tdl_winograd_part transform_of(const struct tdl_conv_geometry *g, uint32_t m,
                                             uint32_t channels)
{
    return tdl_winograd_part(.in_w = g->in.w, .in_h = g->in.h, .out_w = g->out.w, .out_h = g->out.h,
                             .pad_left = g->window.pad[2], .pad_top = g->window.pad[0],
                             .packs = tdl_packs(channels), .m = m,
                             .tiles_w = TDL_DIV_UP(g->out.w, m), .tiles_h = TDL_DIV_UP(g->out.h, m),
                             .tiles = tiles_of(g, m));
}

/* Rows of a tile are made by invocations of their own where one has no room for all. */
static bool is_apart(const struct tdl_conv_geometry *g, uint32_t m)
{
    enum { OTHERS = 16 };
    return !tdl_fits_registers(g->device, 4 * (m + 2) * (m + 2) + OTHERS);
}

/* Both transforms have an invocation a tile and pack. */
static void add_transform(struct tdl_plan *plan, struct tdl_node *n,
                          const struct tdl_conv_geometry *g, uint32_t m, bool output,
                          struct tdl_operand *scratch)
{
    uint32_t channels = output ? g->out.c : g->in.c, tiles = tiles_of(g, m);
    const struct tdl_winograd_part transform = transform_of(g, m, channels);
    const bool apart = is_apart(g, m);
    const uint32_t rows = !apart ? 1 : output ? m : m + 2;
    struct tdl_plan_step *s = tdl_plan_add_step(
        plan, output ? "conv2d_winograd_output" : "conv2d_winograd_input", n, 64, 1, 1);
    if (output) {
        const struct tdl_conv2d_winograd_output_spec spec =
            tdl_conv2d_winograd_output_spec(.winograd = transform, .activation = g->p->activation,
                                            .residual = g->residual,
                                            .last_channels = tdl_last_channels(channels),
                                            .apart = apart);
        TDL_PLAN_SPECS(s, conv2d_winograd_output, spec);
        const float *bias = tdl_constant_data(n->inputs[TDL_CONV_BIAS]);
        tdl_plan_read(s, 6, scratch);
        if (g->residual)
            tdl_plan_read(s, 4, n->inputs[TDL_CONV_RESIDUAL]);
        tdl_plan_write(s, 5, n->output);
        const struct tdl_weights_key key = tdl_conv_bias_key(n);
        float *w = tdl_plan_weights(plan, s, 1, (uint64_t)tdl_packs(g->out.c) * 4, &key);
        for (uint32_t o = 0; w && bias && o < g->out.c; o++)
            w[o] = bias[o];
    } else {
        TDL_PLAN_SPECS(s, conv2d_winograd_input,
                       tdl_conv2d_winograd_input_spec(.winograd = transform, .apart = apart));
        tdl_plan_read(s, 0, n->inputs[TDL_CONV_INPUT]);
        tdl_plan_write(s, 7, scratch);
    }
    tdl_plan_groups(s, TDL_DIV_UP(tiles, 64), tdl_packs(channels), rows);
    if (s)
        s->macs = 0;
}

static void lower(struct tdl_plan *plan, struct tdl_node *n, const struct tdl_conv_geometry *g,
                  const struct tdl_conv_variant *v, uint32_t m)
{
    static const struct tdl_conv2d_params once = {.groups = 1};
    const uint32_t positions = (m + 2) * (m + 2);
    struct tdl_operand *in = tdl_plan_scratch(plan, scratch_bytes(g, m, g->in.c));
    struct tdl_operand *out = tdl_plan_scratch(plan, scratch_bytes(g, m, g->out.c));
    if (!in || !out)
        return;
    struct source source = {g, tdl_constant_data(n->inputs[TDL_CONV_FILTER]), m, NULL};
    struct tdl_conv_gemm product = {
        .g = *g, .batches = positions, .wide = true, .in = in, .out = out, .prepare = prepare};
    product.g.p = &once;
    product.g.in = (struct tdl_dims){1, 1, tiles_of(g, m), g->in.c};
    product.g.out = (struct tdl_dims){1, 1, tiles_of(g, m), g->out.c};
    product.g.window = tdl_window_pixel(product.g.out);
    add_transform(plan, n, g, m, false, in);
    tdl_conv_gemm_lower(plan, n, &product, v, weight, &source);
    add_transform(plan, n, g, m, true, out);
    free(source.u);
}

/* ----------------------------------------------------------------- two rows */

static bool accepts23(const struct tdl_conv_geometry *g, const struct tdl_conv_variant *v)
{
    return accepts(g, v, 2);
}
static double cost23(const struct tdl_conv_geometry *g, const struct tdl_conv_variant *v)
{
    return cost(g, v, 2);
}
static void lower23(struct tdl_plan *plan, struct tdl_node *n, const struct tdl_conv_geometry *g,
                    const struct tdl_conv_variant *v)
{
    lower(plan, n, g, v, 2);
}

static bool accepts43(const struct tdl_conv_geometry *g, const struct tdl_conv_variant *v)
{
    return accepts(g, v, 4);
}
static double cost43(const struct tdl_conv_geometry *g, const struct tdl_conv_variant *v)
{
    return cost(g, v, 4);
}
static void lower43(struct tdl_plan *plan, struct tdl_node *n, const struct tdl_conv_geometry *g,
                    const struct tdl_conv_variant *v)
{
    lower(plan, n, g, v, 4);
}

const struct tdl_conv_algorithm tdl_conv_winograd23 = {
    .name = "winograd23",
    .variants = tdl_conv_gemm_variants,
    .variant_count = TDL_CONV_GEMM_VARIANTS,
    .accepts = accepts23,
    .cost = cost23,
    .lower = lower23,
};
const struct tdl_conv_algorithm tdl_conv_winograd43 = {
    .name = "winograd43",
    .variants = tdl_conv_gemm_variants,
    .variant_count = TDL_CONV_GEMM_VARIANTS,
    .accepts = accepts43,
    .cost = cost43,
    .lower = lower43,
};
