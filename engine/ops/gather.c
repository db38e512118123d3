/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* WebNN gather: https://www.w3.org/TR/webnn/#api-mlgraphbuilder-gather */
#include "move.h"

#include <string.h>

static enum tdl_result infer(const struct tdl_node *n, struct tdl_tensor_params *out)
{
    const struct tdl_tensor_params *x = &n->inputs[0]->desc, *indices = &n->inputs[1]->desc;
    const uint32_t axis = n->attr.gather.axis, rank = x->rank + indices->rank - 1;
    enum tdl_result r = tdl_axis_check(n, axis);
    if (r != TDL_OK)
        return r;
    if (!tdl_is_index(indices->dtype))
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT,
                        "gather: indices %s; they are int32, uint32 or int64",
                        tdl_operand_text(n->inputs[1]));
    if (rank > TDL_MAX_RANK)
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT,
                        "gather: %s by indices %s would have %u dimensions, %d at most",
                        tdl_operand_text(n->inputs[0]), tdl_operand_text(n->inputs[1]), rank,
                        TDL_MAX_RANK);
    *out = *x;
    out->rank = rank;
    memcpy(out->shape + axis, indices->shape, indices->rank * sizeof(*out->shape));
    memcpy(out->shape + axis + indices->rank, x->shape + axis + 1,
           (x->rank - axis - 1) * sizeof(*out->shape));
    return TDL_OK;
}

static void reference_linear(const struct tdl_node *n, const void *const *inputs, void *output)
{
    const struct tdl_tensor_params *in = &n->inputs[0]->desc, *indices = &n->inputs[1]->desc;
    struct tdl_rows rows = tdl_rows_of(in, n->attr.gather.axis);
    size_t slice = rows.inner * tdl_dtype_size(in->dtype);
    uint32_t count = (uint32_t)tdl_operand_count(n->inputs[1]);
    uint8_t *to = output;
    for (uint32_t o = 0; o < rows.outer; o++)
        for (uint32_t i = 0; i < count; i++, to += slice) {
            int64_t index = (int64_t)tdl_element_get(indices->dtype, inputs[1], i);
            if (index < 0)
                index += rows.length;
            index = TDL_MIN(TDL_MAX(index, 0), (int64_t)rows.length - 1);
            memcpy(to, (const uint8_t *)inputs[0] + (o * rows.length + (size_t)index) * slice,
                   slice);
        }
}

void tdl_gather_step(struct tdl_plan *plan, struct tdl_node *n, struct tdl_operand *indices,
                     const struct tdl_gather *g)
{
    struct tdl_operand *inputs[] = {n->inputs[0], indices};
    struct tdl_plan_step *s = tdl_move_step_of(plan, "gather", n, inputs, 2);
    const struct tdl_gather_spec spec =
        tdl_gather_spec(.move = tdl_move_parts(n), .index_type = g->index_type, .length = g->length,
                        .indices = g->indices,
                        .inner = g->inner * tdl_parts_of(n->output->desc.dtype).count);
    TDL_PLAN_SPECS(s, gather, spec);
}

static enum tdl_result lower(struct tdl_plan *plan, struct tdl_node *n)
{
    struct tdl_rows rows = tdl_rows_of(&n->inputs[0]->desc, n->attr.gather.axis);
    tdl_gather_step(plan, n, n->inputs[1],
                    &(struct tdl_gather){.index_type = n->inputs[1]->desc.dtype,
                                         .length = rows.length,
                                         .indices = (uint32_t)tdl_operand_count(n->inputs[1]),
                                         .inner = rows.inner});
    return plan->status;
}

/* Within each picture, or what each picture's indices name in a table that all have. */
static bool stack(struct tdl_node *n, uint32_t stacked)
{
    return n->attr.gather.axis > 0 ? tdl_stack_first(n, stacked) : stacked == 2;
}

const struct tdl_op tdl_op_gather = {
    .name = "gather",
    .storage = TDL_STORAGE_LINEAR,
    .infer = infer,
    .stack = stack,
    .lower = lower,
    .reference_linear = reference_linear,
    .work = tdl_output_work,
};

struct tdl_operand *tdl_builder_gather(struct tdl_builder *b, struct tdl_operand *input,
                                       struct tdl_operand *indices, uint32_t axis)
{
    union tdl_attr attr = {.gather.axis = axis};
    return tdl_builder_add_node(b, &tdl_op_gather, &attr, (struct tdl_operand *[]){input, indices},
                                2, 2);
}
