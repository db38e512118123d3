/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* WebNN gatherElements: https://www.w3.org/TR/webnn/#api-mlgraphbuilder-gatherelements */
#include "move.h"

static enum tdl_result infer(const struct tdl_node *n, struct tdl_tensor_params *out)
{
    const struct tdl_tensor_params *x = &n->inputs[0]->desc, *indices = &n->inputs[1]->desc;
    const uint32_t axis = n->attr.gather.axis;
    enum tdl_result r = tdl_axis_check(n, axis);
    if (r != TDL_OK)
        return r;
    bool fits = indices->rank == x->rank && tdl_is_index(indices->dtype);
    for (uint32_t i = 0; i < x->rank && fits; i++)
        fits = i == axis || indices->shape[i] == x->shape[i];
    if (!fits)
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT,
                        "gatherElements: %s by indices %s along axis %u; they are int32, uint32 "
                        "or int64, and of the same size in all other dimensions",
                        tdl_operand_text(n->inputs[0]), tdl_operand_text(n->inputs[1]), axis);
    *out = *x;
    out->shape[axis] = indices->shape[axis];
    return TDL_OK;
}

static void reference_linear(const struct tdl_node *n, const void *const *inputs, void *output)
{
    const struct tdl_tensor_params *in = &n->inputs[0]->desc, *indices = &n->inputs[1]->desc;
    const uint32_t axis = n->attr.gather.axis;
    for (size_t i = 0, count = tdl_operand_count(n->output); i < count; i++) {
        int64_t at[TDL_MAX_RANK], index = (int64_t)tdl_element_get(indices->dtype, inputs[1], i);
        if (index < 0)
            index += in->shape[axis];
        tdl_move_coordinates(indices, i, at);
        at[axis] = TDL_MIN(TDL_MAX(index, 0), (int64_t)in->shape[axis] - 1);
        tdl_element_set_bits(in->dtype, output, i,
                             tdl_element_bits(in->dtype, inputs[0], tdl_move_index(in, at)));
    }
}

static enum tdl_result lower(struct tdl_plan *plan, struct tdl_node *n)
{
    const struct tdl_operand *x = n->inputs[0];
    struct tdl_rows rows = tdl_rows_of(&x->desc, n->attr.gather.axis);
    struct tdl_plan_step *s = tdl_move_step(plan, "gather_elements", n);
    const struct tdl_gather_elements_spec spec =
        tdl_gather_elements_spec(.move = tdl_move_parts(n), .index_type = n->inputs[1]->desc.dtype,
                                 .length = rows.length,
                                 .out_length = n->output->desc.shape[n->attr.gather.axis],
                                 .inner = rows.inner);
    TDL_PLAN_SPECS(s, gather_elements, spec);
    return plan->status;
}

const struct tdl_op tdl_op_gather_elements = {
    .name = "gatherElements",
    .storage = TDL_STORAGE_LINEAR,
    .infer = infer,
    .lower = lower,
    .reference_linear = reference_linear,
    .work = tdl_output_work,
};

struct tdl_operand *tdl_builder_gather_elements(struct tdl_builder *b, struct tdl_operand *input,
                                                struct tdl_operand *indices, uint32_t axis)
{
    union tdl_attr attr = {.gather.axis = axis};
    return tdl_builder_add_node(b, &tdl_op_gather_elements, &attr,
                                (struct tdl_operand *[]){input, indices}, 2, 2);
}
