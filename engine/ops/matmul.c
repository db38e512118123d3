/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * WebNN matmul: https://www.w3.org/TR/webnn/#api-mlgraphbuilder-matmul
 * and what gemm shares with it. Two kernels: tiles of the output, where there
 * is a tile's worth of it, and teams that share the sum of one result; of halves two
 * more, tiles on matrix units, and on matrices that a whole workgroup holds.
 */
#include "matmul.h"

#include "conv/conv.h"
#include "ir/builder.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MAX_BATCH_DIMS = TDL_MAX_RANK - 2 };

static enum tdl_result infer(const struct tdl_node *n, struct tdl_tensor_params *out)
{
    const struct tdl_operand *a = n->inputs[TDL_MATMUL_A], *b = n->inputs[TDL_MATMUL_B];
    const struct tdl_tensor_params *p = &a->desc, *q = &b->desc;
    if (p->rank < 2 || q->rank < 2 || !tdl_is_float(p->dtype) || p->dtype != q->dtype)
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT,
                        "matmul: %s and %s; a and b have rank 2 or more and one type, float32 or "
                        "float16",
                        tdl_operand_text(a), tdl_operand_text(b));
    if (p->shape[p->rank - 1] != q->shape[q->rank - 2])
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT,
                        "matmul: %s and %s; the inner dimensions differ (%u and %u)",
                        tdl_operand_text(a), tdl_operand_text(b), p->shape[p->rank - 1],
                        q->shape[q->rank - 2]);
    *out = p->rank >= q->rank ? *p : *q;
    for (uint32_t i = 0; i + 2 < out->rank; i++) {
        /* Dimension i of the output in a and b, when they have it. */
        uint32_t x = i + p->rank >= out->rank ? p->shape[i + p->rank - out->rank] : 1;
        uint32_t y = i + q->rank >= out->rank ? q->shape[i + q->rank - out->rank] : 1;
        if (x != y && x != 1 && y != 1)
            return tdl_fail(TDL_ERROR_INVALID_ARGUMENT,
                            "matmul: %s and %s; %u and %u do not broadcast", tdl_operand_text(a),
                            tdl_operand_text(b), x, y);
        out->shape[i] = TDL_MAX(x, y);
    }
    out->shape[out->rank - 2] = p->shape[p->rank - 2];
    out->shape[out->rank - 1] = q->shape[q->rank - 1];
    return TDL_OK;
}

/* --------------------------------------------------------------- reference */

/* Element (row, column) of the matrix of `p` that belongs to the batch index
 * `at` of the output, which has `rank` dimensions. */
static double element_at(const struct tdl_tensor_params *p, const void *data, const uint32_t *at,
                         uint32_t rank, uint32_t row, uint32_t column)
{
    size_t index = 0;
    for (uint32_t i = 0; i < p->rank; i++) {
        uint32_t from_right = p->rank - i;
        uint32_t c = from_right == 1 ? column : from_right == 2 ? row : at[rank - from_right];
        index = index * p->shape[i] + (p->shape[i] == 1 ? 0 : c);
    }
    return (double)tdl_element_get(p->dtype, data, index);
}

void tdl_matmul_reference(const struct tdl_node *n, const void *const *inputs, void *output)
{
    const struct tdl_tensor_params *a = &n->inputs[TDL_MATMUL_A]->desc;
    const struct tdl_tensor_params *b = &n->inputs[TDL_MATMUL_B]->desc, *out = &n->output->desc;
    const struct tdl_operand *c = n->input_count > TDL_MATMUL_C ? n->inputs[TDL_MATMUL_C] : NULL;
    const struct tdl_matmul_attr *p = &n->attr.matmul;
    uint32_t inner = a->shape[a->rank - 1 - p->a_transpose], at[TDL_MAX_RANK];
    for (uint32_t i = 0, count = (uint32_t)tdl_operand_count(n->output); i < count; i++) {
        uint32_t rest = i;
        for (uint32_t d = out->rank; d-- > 0; rest /= out->shape[d])
            at[d] = rest % out->shape[d];
        uint32_t row = at[out->rank - 2], column = at[out->rank - 1];
        double sum = 0;
        for (uint32_t k = 0; k < inner; k++)
            sum += element_at(a, inputs[TDL_MATMUL_A], at, out->rank, p->a_transpose ? k : row,
                              p->a_transpose ? row : k) *
                   element_at(b, inputs[TDL_MATMUL_B], at, out->rank, p->b_transpose ? column : k,
                              p->b_transpose ? k : column);
        sum *= p->alpha;
        if (c)
            sum += p->beta * element_at(&c->desc, inputs[TDL_MATMUL_C], at, out->rank, row, column);
        tdl_element_set(out->dtype, output, i, tdl_activate(p->activation, (float)sum));
    }
}

uint64_t tdl_matmul_macs(const struct tdl_node *n)
{
    const struct tdl_tensor_params *a = &n->inputs[TDL_MATMUL_A]->desc;
    return (uint64_t)tdl_operand_count(n->output) *
           a->shape[a->rank - 1 - n->attr.matmul.a_transpose];
}

/* ---------------------------------------------------------------- geometry */

/* All matrices as strides, in elements. */
struct geometry {
    uint32_t m, n, k;
    uint32_t a_row, a_column, b_row, b_column, c_row, c_column;
    uint32_t dims; /* of the batch, outermost first */
    uint32_t size[MAX_BATCH_DIMS], a_step[MAX_BATCH_DIMS], b_step[MAX_BATCH_DIMS];
    uint32_t batches;
};

/* Strides of the leading dimensions of `p` as the output has them; 0 where
 * it is broadcast. */
static void batch_steps(const struct tdl_tensor_params *p, uint32_t rank, uint32_t *steps)
{
    uint32_t stride = p->shape[p->rank - 1] * p->shape[p->rank - 2];
    for (uint32_t i = rank - 2; i-- > 0;) {
        bool there = i + p->rank >= rank;
        uint32_t size = there ? p->shape[i + p->rank - rank] : 1;
        steps[i] = size == 1 ? 0 : stride;
        stride *= size;
    }
}

/* Drop dimensions of 1, and join neighbours that are one dimension to both. */
static void join_batch(struct geometry *g)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < g->dims; i++) {
        if (g->size[i] == 1)
            continue;
        if (kept && g->a_step[kept - 1] == g->a_step[i] * g->size[i] &&
            g->b_step[kept - 1] == g->b_step[i] * g->size[i]) {
            kept--;
            g->size[i] *= g->size[kept];
        }
        g->size[kept] = g->size[i];
        g->a_step[kept] = g->a_step[i];
        g->b_step[kept] = g->b_step[i];
        kept++;
    }
    g->dims = kept;
    /* One matrix b for all: the batch is more rows of a. */
    if (kept == 1 && !g->b_step[0] && g->a_column == 1 && !g->c_row &&
        g->a_step[0] == g->m * g->a_row) {
        g->m *= g->size[0];
        g->dims = 0;
    }
}

static struct geometry geometry_of(const struct tdl_node *n)
{
    const struct tdl_tensor_params *a = &n->inputs[TDL_MATMUL_A]->desc;
    const struct tdl_tensor_params *b = &n->inputs[TDL_MATMUL_B]->desc, *out = &n->output->desc;
    const struct tdl_operand *c = n->input_count > TDL_MATMUL_C ? n->inputs[TDL_MATMUL_C] : NULL;
    const struct tdl_matmul_attr *p = &n->attr.matmul;
    uint32_t a_width = a->shape[a->rank - 1], b_width = b->shape[b->rank - 1];
    struct geometry g = {
        .m = out->shape[out->rank - 2],
        .n = out->shape[out->rank - 1],
        .k = a->shape[a->rank - 1 - p->a_transpose],
        .a_row = p->a_transpose ? 1 : a_width,
        .a_column = p->a_transpose ? a_width : 1,
        .b_row = p->b_transpose ? 1 : b_width,
        .b_column = p->b_transpose ? b_width : 1,
        .dims = out->rank - 2,
        .batches = 1,
    };
    if (c) {
        uint32_t width = c->desc.rank ? c->desc.shape[c->desc.rank - 1] : 1;
        g.c_column = width > 1;
        g.c_row = c->desc.rank > 1 && c->desc.shape[c->desc.rank - 2] > 1 ? width : 0;
    }
    memcpy(g.size, out->shape, g.dims * sizeof(*g.size));
    batch_steps(a, out->rank, g.a_step);
    batch_steps(b, out->rank, g.b_step);
    join_batch(&g);
    for (uint32_t i = 0; i < g.dims; i++)
        g.batches *= g.size[i];
    return g;
}

/* ------------------------------------------------------------------- lower */

static struct tdl_matmul_part constants(const struct tdl_node *n, const struct geometry *g,
                                        enum tdl_dtype out)
{
    const struct tdl_matmul_attr *p = &n->attr.matmul;
    bool c = n->input_count > TDL_MATMUL_C && n->inputs[TDL_MATMUL_C];
    struct tdl_matmul_part spec =
        tdl_matmul_part(.type = n->output->desc.dtype, .out_type = out, .m = g->m, .n = g->n,
                        .k = g->k, .a_row = g->a_row, .a_column = g->a_column, .b_row = g->b_row,
                        .b_column = g->b_column, .c_row = g->c_row, .c_column = g->c_column,
                        .with_c = c, .alpha = p->alpha, .beta = p->beta,
                        .activation = p->activation, .batches = g->batches, .size = {0},
                        .a_step = {0}, .b_step = {0});
    _Static_assert(TDL_COUNT(spec.size) == MAX_BATCH_DIMS - 1, "dimensions");
    _Static_assert(TDL_COUNT(spec.a_step) == MAX_BATCH_DIMS, "dimensions");
    for (uint32_t i = 0; i < MAX_BATCH_DIMS; i++) {
        const bool has = i < g->dims;
        const uint32_t d = has ? g->dims - 1 - i : 0;
        if (i + 1 < MAX_BATCH_DIMS)
            spec.size[i] = has ? g->size[d] : 1;
        spec.a_step[i] = has ? g->a_step[d] : 0;
        spec.b_step[i] = has ? g->b_step[d] : 0;
    }
    return spec;
}

/* The work left when the products are summed. */
static void bind_end(struct tdl_plan_step *s, struct tdl_node *n, struct tdl_operand *out)
{
    if (n->input_count > TDL_MATMUL_C && n->inputs[TDL_MATMUL_C])
        tdl_plan_read(s, 2, n->inputs[TDL_MATMUL_C]);
    tdl_plan_write(s, 3, out);
}

static void bind(struct tdl_plan_step *s, struct tdl_node *n)
{
    tdl_plan_read(s, 0, n->inputs[TDL_MATMUL_A]);
    tdl_plan_read(s, 1, n->inputs[TDL_MATMUL_B]);
}

static void add_team_step(struct tdl_plan *plan, struct tdl_node *n, const struct geometry *g)
{
    const uint32_t local = tdl_team_local(plan->device), count = g->batches * g->m * g->n;
    enum tdl_dtype dtype = n->output->desc.dtype;
    uint32_t words = TDL_DIV_UP(count, tdl_elements_per_word(dtype));
    uint32_t team = tdl_team_of(plan->device, words, g->k);
    struct tdl_plan_step *s = tdl_plan_add_linear_step(plan, "matmul_team", dtype, n, local, 1, 1);
    const struct tdl_matmul_team_spec spec =
        tdl_matmul_team_spec(.matmul = constants(n, g, dtype), .team = team,
                             .neighbours = g->b_row == 1 /* along k */);
    TDL_PLAN_SPECS(s, matmul_team, spec);
    bind(s, n);
    bind_end(s, n, n->output);
    tdl_plan_flat_groups(s, TDL_DIV_UP(words, local / team));
}

enum { TILE = 4, DEEP = 16 }; /* rows and columns of an invocation */

/* v: invocations of a workgroup in each direction. */
static const struct tdl_conv_variant sides[] = {{"32x32", {8}}, {"64x64", {16}}};

/* The variant that is taken unless others were measured. */
static uint32_t tile_side(const struct tdl_plan *plan, const struct geometry *g)
{
    uint32_t side = tdl_heuristics_of(plan->device)->matrix_side;
    uint64_t large = (uint64_t)TDL_DIV_UP(g->m, TILE * side) * TDL_DIV_UP(g->n, TILE * side);
    /* Not enough of them for all of a GPU, or more than a device must allow. */
    return large * g->batches < 64 || plan->device->max_workgroup_invocations < side * side ? 8
                                                                                            : side;
}

static void add_tile_step(struct tdl_plan *plan, struct tdl_node *n, const struct geometry *g,
                          uint32_t side)
{
    enum tdl_dtype dtype = n->output->desc.dtype;
    /* Two elements a word: a row that ends within one is converted after. */
    bool apart = dtype == TDL_FLOAT16 && g->n % 2;
    const uint32_t x = side, y = side;
    struct tdl_operand *out =
        apart ? tdl_scratch_floats(plan, (uint64_t)g->batches * g->m * g->n) : n->output;
    struct tdl_plan_step *s = tdl_plan_add_linear_step(plan, "matmul", dtype, n, x, y, 1);
    if (!out)
        return;
    const struct tdl_matmul_spec spec =
        tdl_matmul_spec(.matmul = constants(n, g, apart ? TDL_FLOAT32 : dtype), .deep = DEEP);
    TDL_PLAN_SPECS(s, matmul, spec);
    bind(s, n);
    bind_end(s, n, out);
    tdl_plan_shared(s, 16ull * DEEP * (x + 1 + y + 1));
    tdl_plan_groups(s, TDL_DIV_UP(g->n, TILE * x), TDL_DIV_UP(g->m, TILE * y),
                    TDL_MIN(g->batches, TDL_LEAST_GROUPS));
    if (apart)
        tdl_narrow(plan, n, out, n->output);
}

/* The estimated time of add_tile_step(), in ns. Nine loads one after the other are what a
 * step of its loop took on an H100. */
static double tile_time(const struct tdl_plan *plan, const struct geometry *g, uint32_t invocations)
{
    const double side = TILE * invocations;
    const double tiles = ceil(g->m / side) * ceil(g->n / side) * g->batches;
    const struct tdl_heuristics *t = tdl_heuristics_of(plan->device);
    const double busy = fmin(1, tiles * side * side / (TILE * TILE * 128) / t->speed.groups);
    const double latency = 9 * t->speed.load * TDL_DIV_UP(g->k, DEEP);
    const double macs = tiles * side * side * g->k;
    return t->speed.dispatch + fmax(latency, macs / (t->speed.macs * t->efficiency.matmul * busy));
}

/* All but what the product is. */
static struct tdl_matmul_cooperative_spec units_spec(const struct tdl_device_info *device,
                                                     const struct tdl_conv_variant *v)
{
    const uint32_t *frag = device->cooperative_matrix;
    return tdl_matmul_cooperative_spec(.matmul = {0}, .tile_m = v->v[0], .tile_n = v->v[1],
                                       .step = v->v[4], .grid_m = v->v[2], .grid_n = v->v[3],
                                       .frag_m = frag[0], .frag_n = frag[1], .frag_k = frag[2],
                                       .lanes = device->subgroup_size, .parts = tdl_conv_parts(v));
}

/* As common/cooperative.glsl declares it for two tiles of cells of 16 bytes, and a stage. */
static uint64_t units_shared(const struct geometry *g, const struct tdl_matmul_cooperative_spec *s)
{
    const uint64_t deep = s->step * 4;
    const uint64_t a = g->a_column == 1 ? s->tile_m * (deep + 8) : deep * (s->tile_m + 8);
    const uint64_t b = g->b_column == 1 ? deep * (s->tile_n + 8) : s->tile_n * (deep + 8);
    return 2 * 2 * (a + b) + 4ull * s->grid_m * s->grid_n * s->frag_m * s->frag_n;
}

static bool units_fit(const struct tdl_conv_geometry *product, const void *data,
                      const struct tdl_conv_variant *v)
{
    const struct tdl_matmul_cooperative_spec s = units_spec(product->device, v);
    const uint32_t threads = s.grid_m * s.grid_n * s.lanes;
    return (uint64_t)product->in.n * s.parts <= TDL_LEAST_GROUPS && s.frag_m % 8 == 0 &&
           s.frag_n % 8 == 0 && s.frag_k % 8 == 0 && s.tile_m * s.step / 2 % threads == 0 &&
           s.tile_n * s.step / 2 % threads == 0 &&
           units_shared(data, &s) <= product->device->max_shared_memory;
}

/* The end of a product whose steps were summed in parts. */
static void add_parts_step(struct tdl_plan *plan, struct tdl_node *n, const struct geometry *g,
                           uint32_t parts, struct tdl_operand *sums)
{
    enum { LOCAL = 64 };
    const enum tdl_dtype dtype = n->output->desc.dtype;
    const uint64_t count = (uint64_t)g->batches * g->m * g->n;
    struct tdl_plan_step *s = tdl_plan_add_linear_step(plan, "matmul_parts", dtype, n, LOCAL, 1, 1);
    const struct tdl_matmul_parts_spec spec =
        tdl_matmul_parts_spec(.matmul = constants(n, g, dtype), .parts = parts);
    TDL_PLAN_SPECS(s, matmul_parts, spec);
    tdl_plan_read(s, 4, sums);
    bind_end(s, n, n->output);
    tdl_plan_flat_groups(s, TDL_DIV_UP(TDL_DIV_UP(count, tdl_elements_per_word(dtype)), LOCAL));
    if (s)
        s->macs = 0;
}

static void add_units_step(struct tdl_plan *plan, struct tdl_node *n, const struct geometry *g,
                           const struct tdl_conv_geometry *product,
                           const struct tdl_conv_variant *v)
{
    struct tdl_matmul_cooperative_spec spec = units_spec(plan->device, v);
    struct tdl_operand *sums =
        spec.parts > 1 ? tdl_plan_scratch(plan, tdl_conv_sum_bytes(product, v)) : NULL;
    if (spec.parts > 1 && !sums)
        return;
    struct tdl_plan_step *s =
        tdl_plan_add_linear_step(plan, "matmul_cooperative", n->output->desc.dtype, n,
                                 spec.grid_m * spec.grid_n * spec.lanes, 1, 1);
    spec.matmul = constants(n, g, n->output->desc.dtype);
    TDL_PLAN_SPECS(s, matmul_cooperative, spec);
    tdl_plan_shared(s, units_shared(g, &spec));
    bind(s, n);
    if (sums)
        tdl_plan_write(s, 4, sums);
    else
        bind_end(s, n, n->output);
    tdl_plan_groups(s, TDL_DIV_UP(g->m, spec.tile_m), TDL_DIV_UP(g->n, spec.tile_n),
                    g->batches * spec.parts);
    if (sums)
        add_parts_step(plan, n, g, spec.parts, sums);
}

/* ---------------------------------------------- matrices of a whole workgroup */

/* v: rows, columns, values of the sums in a step, invocations, whether a step is loaded ahead,
 * and what it takes, ns, where nothing else runs (measured on an H200). */
static const struct tdl_conv_variant tensor_tiles[] = {
    {"32x64", {32, 64, 64, 128, 0, 500}},
    {"64x64", {64, 64, 64, 128, 0, 630}},
    {"128x256", {128, 256, 32, 256, 1, 1500}},
};

/* One product of halves, whose a is not turned; of a turned b the largest tiles are slow. */
static bool tensors_accept(const struct tdl_plan *plan, const struct tdl_node *n,
                           const struct geometry *g, const struct tdl_conv_variant *v)
{
    return plan->device->workgroup_matrix >= v->v[3] && n->output->desc.dtype == TDL_FLOAT16 &&
           g->batches == 1 && g->a_column == 1 && (g->b_column == 1 || v->v[1] <= 64);
}

static double tensors_cost(const struct tdl_conv_geometry *g, const struct tdl_conv_variant *v)
{
    const double x = TDL_DIV_UP(g->in.h, v->v[0]), y = TDL_DIV_UP(g->out.c, v->v[1]);
    const double filled = (double)g->in.h * g->out.c / (x * y * v->v[0] * v->v[1]);
    const double reuse = (double)v->v[0] * v->v[1] / (v->v[0] + v->v[1]);
    const double efficiency = 5.6 * reuse / (reuse + 28);
    const double latency =
        (TDL_DIV_UP(g->in.c, v->v[2]) + 2.0) * v->v[5] + tdl_conv_heuristics(g)->speed.dispatch;
    const double time = tdl_conv_time(g, tdl_conv_macs(g) / filled, efficiency, tdl_conv_bytes(g),
                                      1, x * y * v->v[3] / 128.0);
    /* Lines that come 16 bytes at once, `cooperative` brings sooner; here that is left to tuning.
     * Others it gathers value by value, which its estimate does not know. */
    return fmax(latency, time) * (g->wide_cells ? 2 : 0.8);
}

static void add_tensors_step(struct tdl_plan *plan, struct tdl_node *n, const struct geometry *g,
                             const struct tdl_conv_variant *v)
{
    const struct tdl_matmul_tensors_spec spec =
        tdl_matmul_tensors_spec(.matmul = constants(n, g, n->output->desc.dtype), .tile_m = v->v[0],
                                .tile_n = v->v[1], .deep = v->v[2], .ahead = v->v[4]);
    struct tdl_plan_step *s =
        tdl_plan_add_linear_step(plan, "matmul_tensors", n->output->desc.dtype, n, v->v[3], 1, 1);
    TDL_PLAN_SPECS(s, matmul_tensors, spec);
    bind(s, n);
    bind_end(s, n, n->output);
    tdl_plan_groups(s, TDL_DIV_UP(g->m, v->v[0]), TDL_DIV_UP(g->n, v->v[1]), 1);
}

const struct tdl_conv_algorithm tdl_matmul_tensors = {
    .name = "tensors",
    .variants = tensor_tiles,
    .variant_count = TDL_COUNT(tensor_tiles),
    .cost = tensors_cost,
};

/* ------------------------------------------------------------------ choice */

/* The facts that decide between candidates, in words: the key of the tuning file. */
static void describe(const struct tdl_plan *plan, const struct tdl_node *n,
                     const struct geometry *g, char *text, size_t size)
{
    const bool c = n->input_count > TDL_MATMUL_C && n->inputs[TDL_MATMUL_C];
    bool shared_a = false, shared_b = false;
    for (uint32_t i = 0; i < g->dims; i++) {
        shared_a |= !g->a_step[i];
        shared_b |= !g->b_step[i];
    }
    snprintf(text, size, "matmul-%s-%ux%ux%ux%u%s%s%s%s%s",
             n->output->desc.dtype == TDL_FLOAT16 ? "f16"
             : plan->storage == TDL_FLOAT16       ? "f32as16"
                                                  : "f32",
             g->batches, g->m, g->k, g->n, g->a_column == 1 ? "" : "-aT",
             g->b_column == 1 ? "" : "-bT", shared_a ? "-sharedA" : "", shared_b ? "-sharedB" : "",
             c ? "-c" : "");
}

static const struct tdl_conv_variant alone = {"", {0}};

static struct tdl_candidate candidate(const char *name, const struct tdl_conv_variant *v,
                                      double cost)
{
    return (struct tdl_candidate){name, v->name, cost, NULL, v};
}

/* Halves lose nothing on matrix units; floats become halves there, where activations are kept
 * as such. Estimates are too rough for more than whether these are worth it: among the others
 * a rule decides, and what it did not choose waits to be measured. */
static uint32_t collect(const struct tdl_plan *plan, const struct tdl_node *n,
                        const struct geometry *g, bool few, const struct tdl_conv_geometry *product,
                        struct tdl_candidate *list)
{
    const uint32_t side = tile_side(plan, g);
    const double tiles = tile_time(plan, g, side), later = 1.01 * tiles;
    const double rows = (double)g->batches * g->m * g->n * g->k /
                        (tdl_heuristics_of(plan->device)->speed.macs * 0.02);
    uint32_t count = 0;
    list[count++] = candidate("team", &alone, few ? tiles / 4 : fmax(later, rows));
    for (uint32_t i = 0; i < TDL_COUNT(sides); i++)
        if (sides[i].v[0] == side ||
            plan->device->max_workgroup_invocations >= sides[i].v[0] * sides[i].v[0])
            list[count++] = candidate(
                "tiled", &sides[i],
                sides[i].v[0] == side ? tiles : fmax(later, tile_time(plan, g, sides[i].v[0])));
    if (few)
        return count;
    count = tdl_conv_collect_units(product, units_fit, g, list, count);
    for (uint32_t i = 0; i < TDL_COUNT(tensor_tiles); i++)
        if (tensors_accept(plan, n, g, &tensor_tiles[i])) {
            list[count] =
                candidate("tensors", &tensor_tiles[i], tensors_cost(product, &tensor_tiles[i]));
            list[count++].row = &tdl_matmul_tensors;
        }
    return count;
}

enum tdl_result tdl_matmul_lower(struct tdl_plan *plan, struct tdl_node *n)
{
    enum { FEW = 8 }; /* rows or columns: most of a tile would be empty */
    const struct geometry g = geometry_of(n);
    const bool half = n->output->desc.dtype == TDL_FLOAT16 || plan->storage == TDL_FLOAT16;
    struct tdl_conv_geometry product = tdl_conv_product(
        plan, half ? TDL_FLOAT16 : TDL_FLOAT32, (struct tdl_dims){g.batches, g.m, 1, g.k}, g.n);
    const uint32_t first = plan->step_count;
    struct tdl_candidate list[TDL_MAX_CANDIDATES];
    char layer[sizeof(plan->steps->layer)];
    enum tdl_choice choice;
    product.wide_cells = n->output->desc.dtype == TDL_FLOAT16 &&
                         (g.a_column == 1 ? g.k : g.m) % 8 == 0 &&
                         (g.b_column == 1 ? g.n : g.k) % 8 == 0;
    const uint32_t count = collect(plan, n, &g, g.m < FEW || g.n < FEW, &product, list);
    describe(plan, n, &g, layer, sizeof(layer));
    const struct tdl_candidate *c = tdl_choose(plan, layer, list, count, &choice);
    if (c->row == &tdl_matmul_tensors)
        add_tensors_step(plan, n, &g, c->sizes);
    else if (c->row)
        add_units_step(plan, n, &g, &product, c->sizes);
    else if (c->sizes == &alone)
        add_team_step(plan, n, &g);
    else
        add_tile_step(plan, n, &g, c->sizes->v[0]);
    tdl_name_layer(plan, first, c, layer, choice);
    return plan->status;
}

enum tdl_activation *tdl_matmul_activation(struct tdl_node *n)
{
    return &n->attr.matmul.activation;
}

/* Matrices side by side, or rows of a. */
static bool stack(struct tdl_node *n, uint32_t stacked)
{
    const uint32_t rank = n->output->desc.rank;
    if (rank == 2)
        return stacked == 1u << TDL_MATMUL_A;
    return rank > 2 && tdl_stack_broadcast(n, stacked);
}

const struct tdl_op tdl_op_matmul = {
    .name = "matmul",
    .storage = TDL_STORAGE_LINEAR,
    .infer = infer,
    .resize = tdl_resize_freely,
    .stack = stack,
    .lower = tdl_matmul_lower,
    .reference_linear = tdl_matmul_reference,
    .macs = tdl_matmul_macs,
    .activation = tdl_matmul_activation,
    .floats = true,
};

struct tdl_operand *tdl_builder_matmul(struct tdl_builder *b, struct tdl_operand *x,
                                       struct tdl_operand *y)
{
    union tdl_attr attr = {.matmul = {.alpha = 1, .beta = 1}};
    return tdl_builder_add_node(b, &tdl_op_matmul, &attr, (struct tdl_operand *[]){x, y}, 2, 2);
}
