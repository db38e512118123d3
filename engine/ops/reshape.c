/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Another shape over the same elements. The layout pass lets the output be its
 * input under another name where it can (tdl_operand_root()); then there is
 * nothing to do. A copy is left between two tensors of the caller's.
 */
#include "ir/builder.h"
#include "ops.h"

#include <string.h>

static enum tdl_result infer(const struct tdl_node *n, struct tdl_tensor_params *out)
{
    const struct tdl_operand *x = n->inputs[0];
    *out = x->desc;
    out->rank = n->attr.shape.rank;
    memcpy(out->shape, n->attr.shape.size, sizeof(out->shape));
    if (tdl_tensor_params_size(out) != tdl_tensor_params_size(&x->desc)) {
        char text[96];
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT, "reshape: %s cannot become %s: other counts",
                        tdl_operand_text(x), tdl_tensor_params_text(out, text, sizeof(text)));
    }
    return TDL_OK;
}

static void reference(const struct tdl_node *n, const void *const *inputs, void *output)
{
    memcpy(output, inputs[0], tdl_tensor_params_size(&n->output->desc));
}

void tdl_copy_words(struct tdl_plan *plan, struct tdl_node *n, uint32_t words)
{
    struct tdl_plan_step *s =
        tdl_plan_add_linear_step(plan, "eltwise_linear", TDL_UINT32, n, 64, 1, 1);
    const struct tdl_eltwise_linear_spec spec =
        tdl_eltwise_linear_spec(.function = TDL_IDENTITY, .activation = TDL_ACTIVATION_NONE,
                                .type = TDL_UINT32, .count = words, .rank = 1, .size = {0},
                                .a = {1}, .b = {0}, .c = {0}, .least_low = 0, .least_high = 0,
                                .most_low = 0, .most_high = 0);
    TDL_PLAN_SPECS(s, eltwise_linear, spec);
    tdl_plan_read(s, 0, n->inputs[0]);
    tdl_plan_write(s, 3, n->output);
    tdl_plan_flat_groups(s, TDL_DIV_UP(words, 64));
}

static enum tdl_result lower(struct tdl_plan *plan, struct tdl_node *n)
{
    if (tdl_operand_root(n->inputs[0]) != tdl_operand_root(n->output))
        tdl_copy_words(plan, n, (uint32_t)TDL_DIV_UP(tdl_tensor_params_size(&n->output->desc), 4));
    return plan->status;
}

static bool stack(struct tdl_node *n, uint32_t stacked)
{
    if (!tdl_stack_first(n, stacked) || !n->attr.shape.rank || n->attr.shape.size[0] != 1)
        return false;
    n->attr.shape.size[0] = n->inputs[0]->desc.shape[0];
    return true;
}

const struct tdl_op tdl_op_reshape = {
    .name = "reshape",
    .infer = infer,
    .stack = stack,
    .lower = lower,
    .storage = TDL_STORAGE_LINEAR,
    .reference_linear = reference,
    .renames = true,
};

static struct tdl_operand *add(struct tdl_builder *b, const struct tdl_op *op,
                               struct tdl_operand *x, uint32_t rank, const uint32_t *shape)
{
    union tdl_attr attr = {.shape.rank = rank};
    if (rank > TDL_MAX_RANK || (rank && !shape))
        return tdl_builder_fail(b, TDL_ERROR_INVALID_ARGUMENT,
                                "%s: rank %u; %d at most, and a size for each dimension", op->name,
                                rank, TDL_MAX_RANK);
    if (rank)
        memcpy(attr.shape.size, shape, rank * sizeof(*shape));
    return tdl_builder_add_node(b, op, &attr, &x, 1, 1);
}

struct tdl_operand *tdl_builder_reshape(struct tdl_builder *b, struct tdl_operand *x, uint32_t rank,
                                        const uint32_t *shape)
{
    return add(b, &tdl_op_reshape, x, rank, shape);
}

struct tdl_operand *tdl_builder_flatten(struct tdl_builder *b, struct tdl_operand *x, uint32_t axis)
{
    uint32_t shape[2] = {1, 1};
    if (!x || tdl_builder_status(b) != TDL_OK)
        return add(b, &tdl_op_reshape, x, 2, shape);
    if (axis > x->desc.rank)
        return tdl_builder_fail(b, TDL_ERROR_INVALID_ARGUMENT, "flatten: axis %u of %s", axis,
                                tdl_operand_text(x));
    for (uint32_t i = 0; i < x->desc.rank; i++)
        shape[i >= axis] *= x->desc.shape[i]; /* the count fits, infer says */
    return add(b, &tdl_op_reshape, x, 2, shape);
}

struct tdl_operand *tdl_builder_expand(struct tdl_builder *b, struct tdl_operand *x, uint32_t rank,
                                       const uint32_t *shape)
{
    return add(b, &tdl_op_eltwise[TDL_EXPAND], x, rank, shape);
}
