/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Made by fuse: softmax(q · kᵀ · scale + mask) · v in one kernel, on matrix units where the
 * device has them and activations are halves.
 */
#include "ops.h"

#include "kernels.h"

#include <string.h>

enum { LEAST_ROWS = 8 };

/* ------------------------------------------------------------- plain kernel */

enum { LOCAL = 64, SIDE = 32 }; /* of shaders/attention.comp */

static struct tdl_attention_part constants(const struct tdl_node *n)
{
    const struct tdl_attention_attr *a = &n->attr.attention;
    struct tdl_attention_part spec =
        tdl_attention_part(.type = n->output->desc.dtype, .rows_in_all = a->rows, .keys = a->keys,
                           .depth = a->depth, .width = a->width, .heads = a->heads,
                           .scale = a->scale, .masked = n->inputs[TDL_ATTENTION_MASK] != NULL,
                           .q = {0}, .k = {0}, .v = {0}, .m = {0}, .o = {0},
                           .matrices = a->batches * a->heads);
    memcpy(spec.q, a->q, sizeof(spec.q));
    memcpy(spec.k, a->k, sizeof(spec.k));
    memcpy(spec.v, a->v, sizeof(spec.v));
    memcpy(spec.m, a->mask, sizeof(spec.m));
    memcpy(spec.o, a->out, sizeof(spec.o));
    return spec;
}

static void bind(struct tdl_plan_step *s, struct tdl_node *n, uint32_t rows)
{
    const struct tdl_attention_attr *a = &n->attr.attention;
    for (uint32_t i = 0; i < 3; i++)
        tdl_plan_read(s, i, n->inputs[i]);
    tdl_plan_read(s, 3, n->inputs[n->inputs[TDL_ATTENTION_MASK] ? TDL_ATTENTION_MASK : 0]);
    tdl_plan_write(s, 4, n->output);
    tdl_plan_flat_groups(s, (uint64_t)a->batches * a->heads * TDL_DIV_UP(a->rows, rows));
}

static void add_plain_step(struct tdl_plan *plan, struct tdl_node *n)
{
    struct tdl_plan_step *s =
        tdl_plan_add_linear_step(plan, "attention", TDL_FLOAT32, n, LOCAL, 1, 1);
    const struct tdl_attention_spec spec = tdl_attention_spec(.attention = constants(n));
    TDL_PLAN_SPECS(s, attention, spec);
    tdl_plan_shared(s, 3ull * 4 * SIDE * (SIDE + 1));
    bind(s, n, SIDE);
}

/* -------------------------------------------------------------- matrix units */

static struct tdl_attention_cooperative_spec units_spec(const struct tdl_device_info *device,
                                                        uint32_t tile)
{
    enum { SUBGROUPS = 4 };
    const uint32_t *frag = device->cooperative_matrix;
    return tdl_attention_cooperative_spec(.attention = {0}, .tile = tile, .subgroups = SUBGROUPS,
                                          .lanes = device->subgroup_size, .frag_m = frag[0],
                                          .frag_n = frag[1], .frag_k = frag[2]);
}

/* As shaders/attention_cooperative.comp declares it. */
static uint64_t units_shared(uint32_t depth, uint32_t width,
                             const struct tdl_attention_cooperative_spec *s)
{
    const uint32_t deep = TDL_DIV_UP(depth, s->frag_k) * s->frag_k;
    const uint32_t wide = TDL_DIV_UP(width, s->frag_n) * s->frag_n;
    const uint32_t lines = s->subgroups * s->frag_m, team = s->lanes / s->frag_m;
    return 2ull * s->tile * (deep + 8 + wide + 8) +
           (uint64_t)lines * (16 * (s->tile / 4 + team) + 8 * (s->tile / 4 + 2));
}

/* The keys that are in shared memory at once; 0: the device cannot. */
static uint32_t units_tile(const struct tdl_device_info *device, uint32_t depth, uint32_t width)
{
    static const uint32_t tiles[] = {64, 32};
    const uint32_t *frag = device->cooperative_matrix;
    if (!frag[0] || !tdl_shaders_have_matrices() || device->subgroup_size % frag[0] ||
        frag[1] % 8 || frag[2] % 8)
        return 0;
    for (size_t i = 0; i < TDL_COUNT(tiles); i++) {
        const struct tdl_attention_cooperative_spec s = units_spec(device, tiles[i]);
        const uint32_t team = s.lanes / s.frag_m;
        if (s.tile % s.frag_n == 0 && s.tile % s.frag_k == 0 && s.frag_n / 4 % team == 0 &&
            s.frag_k / 4 % team == 0 &&
            s.subgroups * s.lanes <= device->max_workgroup_invocations &&
            units_shared(depth, width, &s) <= device->max_shared_memory)
            return s.tile;
    }
    return 0;
}

static void add_units_step(struct tdl_plan *plan, struct tdl_node *n, uint32_t tile)
{
    const struct tdl_attention_attr *a = &n->attr.attention;
    struct tdl_attention_cooperative_spec spec = units_spec(plan->device, tile);
    struct tdl_plan_step *s = tdl_plan_add_linear_step(
        plan, "attention_cooperative", n->output->desc.dtype, n, spec.subgroups * spec.lanes, 1, 1);
    spec.attention = constants(n);
    TDL_PLAN_SPECS(s, attention_cooperative, spec);
    tdl_plan_shared(s, units_shared(a->depth, a->width, &spec));
    bind(s, n, spec.subgroups * spec.frag_m);
}

/* --------------------------------------------------------------------- both */

bool tdl_attention_fits(const struct tdl_device_info *units, enum tdl_dtype type, uint32_t rows,
                        uint32_t depth, uint32_t width)
{
    enum { MOST_WIDTH = 256, MOST_OF_UNITS = 128 }; /* rows' sums are in registers */
    if (rows < LEAST_ROWS)
        return false;
    if (units)
        return depth <= MOST_OF_UNITS && width <= MOST_OF_UNITS && units_tile(units, depth, width);
    return type == TDL_FLOAT32 && width <= MOST_WIDTH;
}

static enum tdl_result lower(struct tdl_plan *plan, struct tdl_node *n)
{
    const struct tdl_attention_attr *a = &n->attr.attention;
    const uint32_t tile = plan->ir->units ? units_tile(plan->ir->units, a->depth, a->width) : 0;
    if (tile)
        add_units_step(plan, n, tile);
    else
        add_plain_step(plan, n);
    return plan->status;
}

static uint64_t macs(const struct tdl_node *n)
{
    const struct tdl_attention_attr *a = &n->attr.attention;
    return (uint64_t)a->batches * a->heads * a->rows * a->keys * (a->depth + a->width);
}

const struct tdl_op tdl_op_attention = {
    .name = "attention",
    .storage = TDL_STORAGE_LINEAR,
    .lower = lower,
    .macs = macs,
};
