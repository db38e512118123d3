/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* WebNN triangular: https://www.w3.org/TR/webnn/#api-mlgraphbuilder-triangular */
#include "move.h"

#include <string.h>

static enum tdl_result infer(const struct tdl_node *n, struct tdl_tensor_params *out)
{
    if (n->inputs[0]->desc.rank < 2)
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT, "triangular: %s; matrices have rank 2 or more",
                        tdl_operand_text(n->inputs[0]));
    *out = n->inputs[0]->desc;
    return TDL_OK;
}

static void reference_linear(const struct tdl_node *n, const void *const *inputs, void *output)
{
    const struct tdl_tensor_params *p = &n->output->desc;
    const uint32_t rows = p->shape[p->rank - 2], columns = p->shape[p->rank - 1];
    const int64_t diagonal = n->attr.triangular.diagonal;
    size_t size = tdl_dtype_size(p->dtype);
    memcpy(output, inputs[0], tdl_tensor_params_size(p));
    for (uint32_t i = 0, count = (uint32_t)tdl_operand_count(n->output); i < count; i++) {
        int64_t above = (int64_t)(i % columns) - i / columns % rows;
        if (n->attr.triangular.lower ? above > diagonal : above < diagonal)
            memset((uint8_t *)output + i * size, 0, size);
    }
}

static enum tdl_result lower(struct tdl_plan *plan, struct tdl_node *n)
{
    const struct tdl_tensor_params *p = &n->output->desc;
    const struct tdl_triangular_params *t = &n->attr.triangular;
    const uint32_t rows = p->shape[p->rank - 2], columns = p->shape[p->rank - 1];
    /* Past either end more makes no difference, and the kernel counts with
     * 32 bits. */
    int64_t diagonal = TDL_MAX(TDL_MIN((int64_t)t->diagonal, (int64_t)columns), -(int64_t)rows);
    struct tdl_plan_step *s = tdl_move_step(plan, "triangular", n);
    const struct tdl_triangular_spec spec =
        tdl_triangular_spec(.move = tdl_move_parts(n), .rows = rows, .columns = columns,
                            .lower = t->lower, .diagonal = (int32_t)diagonal);
    TDL_PLAN_SPECS(s, triangular, spec);
    return plan->status;
}

static bool stack(struct tdl_node *n, uint32_t stacked)
{
    return tdl_stack_first(n, stacked) && n->inputs[0]->desc.rank > 2;
}

const struct tdl_op tdl_op_triangular = {
    .name = "triangular",
    .storage = TDL_STORAGE_LINEAR,
    .infer = infer,
    .stack = stack,
    .lower = lower,
    .reference_linear = reference_linear,
};

struct tdl_operand *tdl_builder_triangular(struct tdl_builder *b, struct tdl_operand *input,
                                           const struct tdl_triangular_params *params)
{
    TDL_BUILDER_NEED_KNOWN(b, params);
    union tdl_attr attr = {0};
    if (params)
        attr.triangular = *params;
    return tdl_builder_add_node(b, &tdl_op_triangular, &attr, &input, 1, 1);
}
