/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* WebNN softmax: https://www.w3.org/TR/webnn/#api-mlgraphbuilder-softmax-method */
#include "ir/builder.h"
#include "packs.h"
#include "rows.h"

#include <math.h>

static enum tdl_result infer(const struct tdl_node *n, struct tdl_tensor_params *out)
{
    const struct tdl_operand *x = n->inputs[0];
    enum tdl_result r = tdl_axis_check(n, n->attr.softmax.axis);
    if (r != TDL_OK)
        return r;
    if (!tdl_is_float(x->desc.dtype))
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT,
                        "softmax: %s; it takes float32 and float16, cast first",
                        tdl_operand_text(x));
    *out = x->desc;
    return TDL_OK;
}

static void reference_linear(const struct tdl_node *n, const void *const *inputs, void *output)
{
    enum tdl_dtype dtype = n->output->desc.dtype;
    struct tdl_rows rows = tdl_rows_of(&n->output->desc, n->attr.softmax.axis);
    for (uint32_t row = 0; row < rows.outer * rows.inner; row++) {
        size_t base = tdl_rows_start(rows, row);
        double largest = -INFINITY, sum = 0;
#define X(k) (double)tdl_element_get(dtype, inputs[0], base + (size_t)(k)*rows.inner)
        for (uint32_t k = 0; k < rows.length; k++)
            largest = fmax(largest, X(k));
        for (uint32_t k = 0; k < rows.length; k++)
            sum += exp(X(k) - largest);
        for (uint32_t k = 0; k < rows.length; k++)
            tdl_element_set(dtype, output, base + (size_t)k * rows.inner,
                            exp(X(k) - largest) / sum);
#undef X
    }
}

/* One dispatch a row for each team; in packs, for each invocation. */
static enum tdl_result lower_packed(struct tdl_plan *plan, struct tdl_node *n)
{
    const uint32_t local = 64;
    struct tdl_dims d = tdl_operand_dims(n->output);
    const uint32_t shape[] = {d.n, tdl_packs(d.c), d.h, d.w};
    uint32_t axis = tdl_pack_axis(n->output->layout, n->attr.softmax.axis);
    uint32_t inner = 1, all = shape[0] * shape[1] * shape[2] * shape[3];
    for (uint32_t i = axis + 1; i < 4; i++)
        inner *= shape[i];
    const uint32_t rows = all / shape[axis];
    struct tdl_plan_step *s = tdl_plan_add_step(plan, "softmax_packed", n, local, 1, 1);
    const struct tdl_softmax_packed_spec spec =
        tdl_softmax_packed_spec(.rows = rows, .length = shape[axis], .inner = inner,
                                .across = axis == TDL_PACK_C, .channels = d.c, .pixels = d.h * d.w);
    TDL_PLAN_SPECS(s, softmax_packed, spec);
    return tdl_finish_step(s, plan, n, TDL_DIV_UP(rows, local));
}

/* Halves: ln Σ exp of each row, then all elements. Two elements of a word may
 * be of different rows. */
static enum tdl_result lower_halves(struct tdl_plan *plan, struct tdl_node *n)
{
    const uint32_t local = 64;
    struct tdl_rows rows = tdl_rows_of(&n->output->desc, n->attr.softmax.axis);
    uint32_t count = (uint32_t)tdl_operand_count(n->output);
    struct tdl_operand *sums = tdl_scratch_floats(plan, (uint64_t)rows.outer * rows.inner);
    if (!sums)
        return plan->status;
    tdl_reduce_rows(plan, n, TDL_REDUCE_LOG_SUM_EXP, n->attr.softmax.axis, sums);
    struct tdl_plan_step *s =
        tdl_plan_add_linear_step(plan, "softmax_of_sum", n->output->desc.dtype, n, local, 1, 1);
    const struct tdl_softmax_of_sum_spec spec =
        tdl_softmax_of_sum_spec(.type = n->output->desc.dtype, .count = count,
                                .length = rows.length, .inner = rows.inner);
    TDL_PLAN_SPECS(s, softmax_of_sum, spec);
    tdl_plan_read(s, 0, n->inputs[0]);
    tdl_plan_read(s, 1, sums);
    tdl_plan_write(s, 2, n->output);
    tdl_plan_flat_groups(s, TDL_DIV_UP(TDL_DIV_UP(count, 2), local));
    return plan->status;
}

static enum tdl_result lower(struct tdl_plan *plan, struct tdl_node *n)
{
    const uint32_t local = tdl_team_local(plan->device);
    if (n->storage == TDL_STORAGE_PACKED)
        return lower_packed(plan, n);
    if (n->output->desc.dtype == TDL_FLOAT16)
        return lower_halves(plan, n);
    struct tdl_rows rows = tdl_rows_of(&n->output->desc, n->attr.softmax.axis);
    const uint32_t count = rows.outer * rows.inner;
    const uint32_t team =
        (rows.inner == 1 ? tdl_team_of_row : tdl_team_of)(plan->device, count, rows.length);
    struct tdl_plan_step *s =
        tdl_plan_add_linear_step(plan, "softmax", TDL_FLOAT32, n, local, 1, 1);
    const struct tdl_softmax_spec spec =
        tdl_softmax_spec(.reduce =
                             tdl_reduce_part(.reduction = TDL_REDUCE_SUM, .team = team,
                                             .neighbours = rows.inner == 1, .count = rows.length),
                         .rows = count, .inner = rows.inner);
    TDL_PLAN_SPECS(s, softmax, spec);
    return tdl_finish_step(s, plan, n, TDL_DIV_UP(count, local / team));
}

static bool stack(struct tdl_node *n, uint32_t stacked)
{
    return tdl_stack_first(n, stacked) && n->attr.softmax.axis > 0;
}

static bool renumber(struct tdl_node *n, const uint32_t place[4])
{
    n->attr.softmax.axis = place[n->attr.softmax.axis];
    return true;
}

const struct tdl_op tdl_op_softmax = {
    .name = "softmax",
    .storage = TDL_STORAGE_EITHER,
    .infer = infer,
    .resize = tdl_resize_freely,
    .stack = stack,
    .lower = lower,
    .reference_linear = reference_linear,
    .floats = true,
    .renumber = renumber,
};

struct tdl_operand *tdl_builder_softmax(struct tdl_builder *b, struct tdl_operand *input,
                                        uint32_t axis)
{
    union tdl_attr attr = {.softmax.axis = axis};
    return tdl_builder_add_node(b, &tdl_op_softmax, &attr, &input, 1, 1);
}
