/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Made by fuse: softmax(q · kᵀ · scale + mask) · v, of float32, in one kernel. */
#include "ops.h"

#include <string.h>

enum { LOCAL = 64, SIDE = 32 }; /* of shaders/attention.comp */

bool tdl_attention_fits(uint32_t rows, uint32_t width)
{
    enum { LEAST_ROWS = 8, MOST_WIDTH = 256 }; /* an invocation has four rows' sums in registers */
    return rows >= LEAST_ROWS && width <= MOST_WIDTH;
}

static enum tdl_result lower(struct tdl_plan *plan, struct tdl_node *n)
{
    const struct tdl_attention_attr *a = &n->attr.attention;
    const struct tdl_operand *mask = n->inputs[TDL_ATTENTION_MASK];
    const uint32_t matrices = a->batches * a->heads;
    struct tdl_plan_step *s =
        tdl_plan_add_linear_step(plan, "attention", TDL_FLOAT32, n, LOCAL, 1, 1);
    struct tdl_attention_spec spec =
        tdl_attention_spec(.rows_in_all = a->rows, .keys = a->keys, .depth = a->depth,
                           .width = a->width, .heads = a->heads, .scale = a->scale,
                           .masked = mask != NULL, .q = {0}, .k = {0}, .v = {0}, .m = {0},
                           .matrices = matrices);
    memcpy(spec.q, a->q, sizeof(spec.q));
    memcpy(spec.k, a->k, sizeof(spec.k));
    memcpy(spec.v, a->v, sizeof(spec.v));
    memcpy(spec.m, a->mask, sizeof(spec.m));
    TDL_PLAN_SPECS(s, attention, spec);
    for (uint32_t i = 0; i < 3; i++)
        tdl_plan_read(s, i, n->inputs[i]);
    tdl_plan_read(s, 3, n->inputs[mask ? TDL_ATTENTION_MASK : 0]);
    tdl_plan_write(s, 4, n->output);
    tdl_plan_shared(s, 3ull * 4 * SIDE * (SIDE + 1));
    tdl_plan_flat_groups(s, (uint64_t)matrices * TDL_DIV_UP(a->rows, SIDE));
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
