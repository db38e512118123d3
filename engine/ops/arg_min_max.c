/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* WebNN argMin, argMax: https://www.w3.org/TR/webnn/#api-mlgraphbuilder-argminmax */
#include "ir/builder.h"
#include "packs.h"
#include "rows.h"

static enum tdl_result infer(const struct tdl_node *n, struct tdl_tensor_params *out)
{
    const struct tdl_arg_attr *p = &n->attr.arg;
    enum tdl_result r = tdl_axis_check(n, p->axis);
    if (r != TDL_OK)
        return r;
    if (p->output_dtype != TDL_INT32 && p->output_dtype != TDL_INT64)
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT,
                        "%s: indices of type %s; they are int32 or int64", n->op->name,
                        tdl_dtype_name(p->output_dtype));
    *out = n->inputs[0]->desc;
    out->dtype = p->output_dtype;
    if (p->keep_dimensions) {
        out->shape[p->axis] = 1;
        return TDL_OK;
    }
    out->rank--;
    for (uint32_t i = p->axis; i < out->rank; i++)
        out->shape[i] = out->shape[i + 1];
    return TDL_OK;
}

static void reference_linear(const struct tdl_node *n, const void *const *inputs, void *output)
{
    const struct tdl_tensor_params *in = &n->inputs[0]->desc;
    struct tdl_rows rows = tdl_rows_of(in, n->attr.arg.axis);
    for (uint32_t row = 0; row < rows.outer * rows.inner; row++) {
        size_t base = tdl_rows_start(rows, row);
        uint32_t best = 0;
        for (uint32_t k = 1; k < rows.length; k++) {
            long double x = tdl_element_get(in->dtype, inputs[0], base + (size_t)k * rows.inner);
            long double y = tdl_element_get(in->dtype, inputs[0], base + (size_t)best * rows.inner);
            if (n->op == &tdl_op_arg_max ? x > y : x < y)
                best = k;
            else if (x == y && n->attr.arg.select_last_index)
                best = k;
        }
        tdl_element_set(n->output->desc.dtype, output, row, best);
    }
}

static bool over_channels(const struct tdl_node *n, uint32_t slot)
{
    const struct tdl_operand *in = n->inputs[slot];
    return in->desc.rank == 4 && tdl_pack_axis(in->layout, n->attr.arg.axis) == TDL_PACK_C;
}

static enum tdl_result lower_packed(struct tdl_plan *plan, struct tdl_node *n)
{
    const uint32_t local = 64;
    const struct tdl_arg_attr *p = &n->attr.arg;
    struct tdl_dims d = tdl_operand_dims(n->inputs[0]);
    struct tdl_plan_step *s = tdl_plan_add_step(plan, "arg_min_max_packed", n, local, 1, 1);
    const struct tdl_arg_min_max_packed_spec spec =
        tdl_arg_min_max_packed_spec(.channels = d.c, .pixels = d.h * d.w, .images = d.n,
                                    .largest = n->op == &tdl_op_arg_max,
                                    .last = p->select_last_index,
                                    .out_words = p->output_dtype == TDL_INT64 ? 2 : 1);
    TDL_PLAN_SPECS(s, arg_min_max_packed, spec);
    return tdl_finish_step(s, plan, n, TDL_DIV_UP(d.n * d.h * d.w, local));
}

static enum tdl_result lower(struct tdl_plan *plan, struct tdl_node *n)
{
    const uint32_t local = tdl_team_local(plan->device);
    const struct tdl_arg_attr *p = &n->attr.arg;
    if (n->inputs[0]->storage == TDL_STORAGE_PACKED)
        return lower_packed(plan, n);
    enum tdl_dtype dtype = n->inputs[0]->desc.dtype;
    struct tdl_rows rows = tdl_rows_of(&n->inputs[0]->desc, p->axis);
    uint32_t count = rows.outer * rows.inner, team = tdl_team_of(plan->device, count, rows.length);
    struct tdl_plan_step *s = tdl_plan_add_linear_step(plan, "arg_min_max", dtype, n, local, 1, 1);
    const struct tdl_arg_min_max_spec spec =
        tdl_arg_min_max_spec(.type = dtype, .team = team, .neighbours = rows.inner == 1,
                             .length = rows.length, .inner = rows.inner, .rows = count,
                             .largest = n->op == &tdl_op_arg_max, .last = p->select_last_index,
                             .out_words = p->output_dtype == TDL_INT64 ? 2 : 1);
    TDL_PLAN_SPECS(s, arg_min_max, spec);
    return tdl_finish_step(s, plan, n, TDL_DIV_UP(count, local / team));
}

static bool stack(struct tdl_node *n, uint32_t stacked)
{
    return tdl_stack_first(n, stacked) && n->attr.arg.axis > 0;
}

static bool renumber(struct tdl_node *n, const uint32_t place[4])
{
    uint32_t *axis = &n->attr.arg.axis;
    if (!n->attr.arg.keep_dimensions && !tdl_renumber_keeps_order(~(1u << *axis) & 15, place))
        return false;
    *axis = place[*axis];
    return true;
}

const struct tdl_op tdl_op_arg_max = {
    .name = "argMax",
    .storage = TDL_STORAGE_LINEAR,
    .infer = infer,
    .stack = stack,
    .reads_packs = over_channels,
    .lower = lower,
    .reference_linear = reference_linear,
    .floats = true,
    .renumber = renumber,
};
const struct tdl_op tdl_op_arg_min = {
    .name = "argMin",
    .storage = TDL_STORAGE_LINEAR,
    .infer = infer,
    .stack = stack,
    .reads_packs = over_channels,
    .lower = lower,
    .reference_linear = reference_linear,
    .floats = true,
    .renumber = renumber,
};

static struct tdl_operand *add(struct tdl_builder *b, const struct tdl_op *op,
                               struct tdl_operand *input, uint32_t axis,
                               const struct tdl_arg_min_max_params *params)
{
    struct tdl_arg_min_max_params p = params ? *params : (struct tdl_arg_min_max_params){0};
    union tdl_attr attr = {.arg = {
                               .axis = axis,
                               .keep_dimensions = p.keep_dimensions,
                               .select_last_index = p.select_last_index,
                               .output_dtype = p.output_dtype ? p.output_dtype : TDL_INT32,
                           }};
    return tdl_builder_add_node(b, op, &attr, &input, 1, 1);
}

struct tdl_operand *tdl_builder_arg_max(struct tdl_builder *b, struct tdl_operand *input,
                                        uint32_t axis, const struct tdl_arg_min_max_params *params)
{
    TDL_BUILDER_NEED_KNOWN(b, params);
    return add(b, &tdl_op_arg_max, input, axis, params);
}

struct tdl_operand *tdl_builder_arg_min(struct tdl_builder *b, struct tdl_operand *input,
                                        uint32_t axis, const struct tdl_arg_min_max_params *params)
{
    TDL_BUILDER_NEED_KNOWN(b, params);
    return add(b, &tdl_op_arg_min, input, axis, params);
}
