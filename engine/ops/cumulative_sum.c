/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* WebNN cumulativeSum: https://www.w3.org/TR/webnn/#api-mlgraphbuilder-cumulativesum */
#include "ir/builder.h"
#include "rows.h"

static enum tdl_result infer(const struct tdl_node *n, struct tdl_tensor_params *out)
{
    const struct tdl_operand *x = n->inputs[0];
    enum tdl_result r = tdl_axis_check(n, n->attr.cumulative_sum.axis);
    if (r != TDL_OK)
        return r;
    if (x->desc.dtype == TDL_INT8 || x->desc.dtype == TDL_UINT8)
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT,
                        "cumulativeSum: %s; it does not take 8-bit integers, cast first",
                        tdl_operand_text(x));
    *out = x->desc;
    return TDL_OK;
}

static void reference_linear(const struct tdl_node *n, const void *const *inputs, void *output)
{
    const struct tdl_cumulative_sum_params *p = &n->attr.cumulative_sum.p;
    enum tdl_dtype dtype = n->output->desc.dtype;
    struct tdl_rows rows = tdl_rows_of(&n->output->desc, n->attr.cumulative_sum.axis);
    for (uint32_t row = 0; row < rows.outer * rows.inner; row++) {
        size_t base = tdl_rows_start(rows, row);
        long double sum = 0;
        uint64_t whole = 0;
        for (uint32_t i = 0; i < rows.length; i++) {
            uint32_t k = p->reversed ? rows.length - 1 - i : i;
            size_t at = base + (size_t)k * rows.inner;
            long double before = sum;
            uint64_t whole_before = whole;
            sum += tdl_element_get(dtype, inputs[0], at);
            if (tdl_is_float(dtype)) {
                tdl_element_set(dtype, output, at, p->exclusive ? before : sum);
                continue;
            }
            whole += tdl_element_bits(dtype, inputs[0], at);
            tdl_element_set_bits(dtype, output, at, p->exclusive ? whole_before : whole);
        }
    }
}

static enum tdl_result lower(struct tdl_plan *plan, struct tdl_node *n)
{
    const uint32_t local = 64; /* more would add up what the others have */
    const struct tdl_cumulative_sum_params *p = &n->attr.cumulative_sum.p;
    enum tdl_dtype dtype = n->output->desc.dtype;
    /* Halves: sums in float32 first. An invocation cannot write half a word. */
    bool halves = dtype == TDL_FLOAT16;
    struct tdl_rows rows = tdl_rows_of(&n->output->desc, n->attr.cumulative_sum.axis);
    uint32_t count = rows.outer * rows.inner;
    uint32_t team = TDL_MIN(tdl_team_of(plan->device, count, rows.length), local);
    struct tdl_operand *out =
        halves ? tdl_scratch_floats(plan, tdl_operand_count(n->output)) : n->output;
    struct tdl_plan_step *s =
        tdl_plan_add_linear_step(plan, "cumulative_sum", dtype, n, local, 1, 1);
    if (!out)
        return plan->status;
    const struct tdl_cumulative_sum_spec spec =
        tdl_cumulative_sum_spec(.type = dtype, .out_type = halves ? TDL_FLOAT32 : dtype,
                                .team = team, .length = rows.length, .inner = rows.inner,
                                .rows = count, .exclusive = p->exclusive, .reversed = p->reversed);
    TDL_PLAN_SPECS(s, cumulative_sum, spec);
    tdl_plan_read(s, 0, n->inputs[0]);
    tdl_plan_write(s, 1, out);
    tdl_plan_flat_groups(s, TDL_DIV_UP(count, local / team));
    if (halves)
        tdl_narrow(plan, n, out, n->output);
    return plan->status;
}

static bool stack(struct tdl_node *n, uint32_t stacked)
{
    return tdl_stack_first(n, stacked) && n->attr.cumulative_sum.axis > 0;
}

const struct tdl_op tdl_op_cumulative_sum = {
    .name = "cumulativeSum",
    .storage = TDL_STORAGE_LINEAR,
    .infer = infer,
    .resize = tdl_resize_freely,
    .stack = stack,
    .lower = lower,
    .reference_linear = reference_linear,
    .floats = true,
};

struct tdl_operand *tdl_builder_cumulative_sum(struct tdl_builder *b, struct tdl_operand *input,
                                               uint32_t axis,
                                               const struct tdl_cumulative_sum_params *params)
{
    TDL_BUILDER_NEED_KNOWN(b, params);
    union tdl_attr attr = {.cumulative_sum.axis = axis};
    if (params)
        attr.cumulative_sum.p = *params;
    return tdl_builder_add_node(b, &tdl_op_cumulative_sum, &attr, &input, 1, 1);
}
