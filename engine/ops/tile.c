/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* WebNN tile: https://www.w3.org/TR/webnn/#api-mlgraphbuilder-tile */
#include "move.h"

static enum tdl_result infer(const struct tdl_node *n, struct tdl_tensor_params *out)
{
    const uint32_t *repetitions = n->attr.tile.repetitions;
    *out = n->inputs[0]->desc;
    for (uint32_t i = 0; i < out->rank; i++)
        if (!repetitions[i] ||
            __builtin_mul_overflow(out->shape[i], repetitions[i], &out->shape[i]))
            return tdl_fail(TDL_ERROR_INVALID_ARGUMENT,
                            "tile: %s repeated %u times in dimension %u; it has to be 1 or more, "
                            "and the size fit",
                            tdl_operand_text(n->inputs[0]), repetitions[i], i);
    return TDL_OK;
}

static void reference_linear(const struct tdl_node *n, const void *const *inputs, void *output)
{
    const struct tdl_tensor_params *in = &n->inputs[0]->desc, *out = &n->output->desc;
    for (size_t i = 0, count = tdl_operand_count(n->output); i < count; i++) {
        int64_t at[TDL_MAX_RANK];
        tdl_move_coordinates(out, i, at);
        for (uint32_t d = 0; d < out->rank; d++)
            at[d] %= in->shape[d];
        tdl_element_set_bits(in->dtype, output, i,
                             tdl_element_bits(in->dtype, inputs[0], tdl_move_index(in, at)));
    }
}

static enum tdl_result lower(struct tdl_plan *plan, struct tdl_node *n)
{
    const struct tdl_tensor_params *in = &n->inputs[0]->desc;
    struct tdl_strided r = {.rank = in->rank};
    uint32_t stride = 1;
    for (uint32_t d = in->rank; d-- > 0; stride *= in->shape[d]) {
        r.size[d] = n->output->desc.shape[d];
        r.period[d] = in->shape[d];
        r.stride[d] = stride;
    }
    return tdl_move_linear(plan, n, &r);
}

static bool stack(struct tdl_node *n, uint32_t stacked)
{
    return tdl_stack_first(n, stacked) && n->attr.tile.repetitions[0] == 1;
}

const struct tdl_op tdl_op_tile = {
    .name = "tile",
    .storage = TDL_STORAGE_LINEAR,
    .infer = infer,
    .resize = tdl_resize_freely,
    .stack = stack,
    .lower = lower,
    .reference_linear = reference_linear,
};

struct tdl_operand *tdl_builder_tile(struct tdl_builder *b, struct tdl_operand *input,
                                     const uint32_t *repetitions)
{
    union tdl_attr attr = {0};
    uint32_t rank = tdl_builder_status(b) == TDL_OK && input ? input->desc.rank : 0;
    if (!repetitions)
        return tdl_builder_fail(b, TDL_ERROR_INVALID_ARGUMENT, "tile: no repetitions were given");
    for (uint32_t i = 0; i < rank; i++)
        attr.tile.repetitions[i] = repetitions[i];
    return tdl_builder_add_node(b, &tdl_op_tile, &attr, &input, 1, 1);
}
