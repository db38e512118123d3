/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* WebNN slice, with ONNX's steps backwards. */
#include "move.h"

#include <stdlib.h>
#include <string.h>

static enum tdl_result infer(const struct tdl_node *n, struct tdl_tensor_params *out)
{
    const struct tdl_tensor_params *in = &n->inputs[0]->desc;
    *out = *in;
    for (uint32_t i = 0; i < in->rank; i++) {
        uint32_t start = n->attr.slice.start[i], size = n->attr.slice.size[i];
        int64_t step = n->attr.slice.step[i];
        /* Elements from the start on to the end of the input. */
        uint64_t room = start >= in->shape[i] ? 0 : step > 0 ? in->shape[i] - start : start + 1u;
        if (!size || size > room || !step || step == INT32_MIN || in->shape[i] > INT32_MAX)
            return tdl_fail(TDL_ERROR_INVALID_ARGUMENT,
                            "slice: %u elements from %u on with step %lld are not in dimension %u "
                            "of %s",
                            size, start, (long long)step, i, tdl_operand_text(n->inputs[0]));
        out->shape[i] = (uint32_t)TDL_DIV_UP((uint64_t)size, (uint64_t)llabs(step));
    }
    return TDL_OK;
}

/* Elements that lie in a row in both: those of the last dimensions, of which all are taken. */
static size_t row_of(const struct tdl_node *n)
{
    const struct tdl_tensor_params *in = &n->inputs[0]->desc;
    size_t row = 1;
    for (uint32_t d = in->rank; d-- > 0; row *= in->shape[d])
        if (n->output->desc.shape[d] != in->shape[d] || n->attr.slice.step[d] != 1)
            break;
    return row;
}

static void reference(const struct tdl_node *n, const void *const *inputs, void *output)
{
    const struct tdl_tensor_params *in = &n->inputs[0]->desc, *out = &n->output->desc;
    const size_t row = row_of(n), size = tdl_dtype_size(in->dtype);
    for (size_t i = 0, count = tdl_operand_count(n->output); i < count; i += row) {
        int64_t at[TDL_MAX_RANK];
        tdl_move_coordinates(out, i, at);
        for (uint32_t d = 0; d < in->rank; d++)
            at[d] = n->attr.slice.start[d] + at[d] * n->attr.slice.step[d];
        memcpy((uint8_t *)output + i * size,
               (const uint8_t *)inputs[0] + tdl_move_index(in, at) * size, row * size);
    }
}

static enum tdl_result lower_linear(struct tdl_plan *plan, struct tdl_node *n)
{
    const struct tdl_slice_params *p = &n->attr.slice;
    const struct tdl_tensor_params *in = &n->inputs[0]->desc;
    struct tdl_strided r = {.rank = in->rank};
    for (uint32_t d = in->rank, stride = 1; d-- > 0; stride *= in->shape[d]) {
        r.size[d] = r.period[d] = n->output->desc.shape[d];
        r.stride[d] = stride * (uint32_t)p->step[d];
        r.offset += stride * p->start[d];
    }
    return tdl_move_linear(plan, n, &r);
}

static enum tdl_result lower(struct tdl_plan *plan, struct tdl_node *n)
{
    struct tdl_move m = {.region = tdl_operand_dims(n->output)};
    if (n->storage == TDL_STORAGE_LINEAR)
        return lower_linear(plan, n);
    struct tdl_operand *out = tdl_operand_root(n->output), *in = tdl_operand_root(n->inputs[0]);
    const uint32_t axis = n->output->layout == TDL_LAYOUT_NCHW ? 1 : 3;
    const uint32_t first = n->attr.slice.start[axis];
    if (first % 4 == 0 && tdl_operand_lies_in(out, in, tdl_operand_packs_size(n->inputs[0], first)))
        return TDL_OK;
    for (uint32_t i = 0; i < 4; i++) {
        m.start[tdl_pack_axis(n->output->layout, i)] = (int32_t)n->attr.slice.start[i];
        m.step[tdl_pack_axis(n->output->layout, i)] = n->attr.slice.step[i];
    }
    m.mode = TDL_PAD_EDGE; /* nothing is outside */
    tdl_move_packed(plan, n, n->inputs[0], n->output, &m);
    return plan->status;
}

static bool stack(struct tdl_node *n, uint32_t stacked)
{
    struct tdl_slice_params *p = &n->attr.slice;
    if (!tdl_stack_first(n, stacked) || p->step[0] != 1)
        return false;
    p->size[0] = n->inputs[0]->desc.shape[0];
    return true;
}

static bool renumber(struct tdl_node *n, const uint32_t place[4])
{
    uint32_t steps[4];
    memcpy(steps, n->attr.slice.step, sizeof(steps));
    tdl_renumber_list(n->attr.slice.start, place);
    tdl_renumber_list(n->attr.slice.size, place);
    tdl_renumber_list(steps, place);
    memcpy(n->attr.slice.step, steps, sizeof(steps));
    return true;
}

const struct tdl_op tdl_op_slice = {
    .name = "slice",
    .infer = infer,
    .stack = stack,
    .lower = lower,
    .storage = TDL_STORAGE_EITHER,
    .reference_linear = reference,
    .work = tdl_output_work,
    .renumber = renumber,
};

struct tdl_operand *tdl_builder_slice(struct tdl_builder *b, struct tdl_operand *input,
                                      const struct tdl_slice_params *params)
{
    TDL_BUILDER_NEED_KNOWN(b, params);
    union tdl_attr attr = {.slice = params ? *params : (struct tdl_slice_params){0}};
    for (uint32_t i = 0; tdl_builder_status(b) == TDL_OK && input && i < input->desc.rank; i++) {
        int32_t *step = &attr.slice.step[i];
        uint32_t start = attr.slice.start[i], *size = &attr.slice.size[i];
        *step = *step ? *step : 1;
        if (!*size && start < input->desc.shape[i])
            *size = *step > 0 ? input->desc.shape[i] - start : start + 1;
    }
    return tdl_builder_add_node(b, &tdl_op_slice, &attr, &input, 1, 1);
}
