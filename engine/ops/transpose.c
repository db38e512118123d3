/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* WebNN transpose: https://www.w3.org/TR/webnn/#api-mlgraphbuilder-transpose */
#include "move.h"
#include "ops.h"

#include <string.h>

static const uint32_t to_nchw[] = {0, 3, 1, 2}, to_nhwc[] = {0, 2, 3, 1};

static enum tdl_result infer(const struct tdl_node *n, struct tdl_tensor_params *out)
{
    const struct tdl_tensor_params *in = &n->inputs[0]->desc;
    const uint32_t *permutation = n->attr.transpose.permutation;
    uint32_t seen = 0;
    *out = *in;
    for (uint32_t i = 0; i < in->rank; i++) {
        if (permutation[i] >= in->rank || seen >> permutation[i] & 1)
            return tdl_fail(TDL_ERROR_INVALID_ARGUMENT,
                            "transpose: %s; the permutation names dimension %u twice or past the "
                            "last, it has to name each once",
                            tdl_operand_text(n->inputs[0]), permutation[i]);
        seen |= 1u << permutation[i];
        out->shape[i] = in->shape[permutation[i]];
    }
    return TDL_OK;
}

static void reference_linear(const struct tdl_node *n, const void *const *inputs, void *output)
{
    const struct tdl_tensor_params *in = &n->inputs[0]->desc, *out = &n->output->desc;
    for (size_t i = 0, count = tdl_operand_count(n->output); i < count; i++) {
        int64_t at[TDL_MAX_RANK], from[TDL_MAX_RANK];
        tdl_move_coordinates(out, i, at);
        for (uint32_t d = 0; d < out->rank; d++)
            from[n->attr.transpose.permutation[d]] = at[d];
        tdl_element_set_bits(in->dtype, output, i,
                             tdl_element_bits(in->dtype, inputs[0], tdl_move_index(in, from)));
    }
}

/* Another layout is not enough: of two transposes in a row, joined, the output has that of
 * the second, wherever the dimensions went. */
bool tdl_transpose_renames(const struct tdl_node *n)
{
    const struct tdl_operand *in = n->inputs[0], *out = n->output;
    const uint32_t *expected = out->layout == TDL_LAYOUT_NCHW ? to_nchw : to_nhwc;
    return in->desc.rank == 4 && in->layout != out->layout &&
           !memcmp(n->attr.transpose.permutation, expected, sizeof(to_nchw));
}

static enum tdl_result lower(struct tdl_plan *plan, struct tdl_node *n)
{
    if (n->storage == TDL_STORAGE_PACKED) {
        if (tdl_operand_root(n->inputs[0]) == tdl_operand_root(n->output))
            return plan->status;
        if (n->output->external) /* between two tensors of the caller's */
            tdl_copy_words(plan, n, (uint32_t)(n->output->size / 4));
        else
            n->output->alias = n->inputs[0];
        return plan->status;
    }
    const struct tdl_tensor_params *in = &n->inputs[0]->desc;
    struct tdl_strided r = {.rank = in->rank};
    uint32_t strides[TDL_MAX_RANK], stride = 1;
    for (uint32_t d = in->rank; d-- > 0; stride *= in->shape[d])
        strides[d] = stride;
    for (uint32_t d = 0; d < in->rank; d++) {
        uint32_t from = n->attr.transpose.permutation[d];
        r.size[d] = r.period[d] = in->shape[from];
        r.stride[d] = strides[from];
    }
    return tdl_move_linear(plan, n, &r);
}

static bool stack(struct tdl_node *n, uint32_t stacked)
{
    return tdl_stack_first(n, stacked) && n->attr.transpose.permutation[0] == 0;
}

const struct tdl_op tdl_op_transpose = {
    .name = "transpose",
    .storage = TDL_STORAGE_EITHER,
    .can_pack = tdl_transpose_renames,
    .relabels = true,
    .infer = infer,
    .resize = tdl_resize_freely,
    .stack = stack,
    .lower = lower,
    .reference_linear = reference_linear,
};

struct tdl_operand *tdl_builder_transpose(struct tdl_builder *b, struct tdl_operand *input,
                                          const uint32_t *permutation)
{
    union tdl_attr attr = {0};
    uint32_t rank = tdl_builder_status(b) == TDL_OK && input ? input->desc.rank : 0;
    for (uint32_t i = 0; i < rank; i++)
        attr.transpose.permutation[i] = permutation ? permutation[i] : rank - 1 - i;
    return tdl_builder_add_node(b, &tdl_op_transpose, &attr, &input, 1, 1);
}
