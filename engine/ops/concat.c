/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* WebNN concat. */
#include "move.h"

#include <stdlib.h>

static enum tdl_result infer(const struct tdl_node *n, struct tdl_tensor_params *out)
{
    const uint32_t axis = n->attr.concat.axis;
    *out = n->inputs[0]->desc;
    for (uint32_t i = 1; i < n->input_count && axis < out->rank; i++) {
        const struct tdl_tensor_params *p = &n->inputs[i]->desc;
        bool fits = p->dtype == out->dtype && p->rank == out->rank;
        for (uint32_t d = 0; fits && d < p->rank; d++)
            fits = d == axis || p->shape[d] == out->shape[d];
        if (!fits || __builtin_add_overflow(out->shape[axis], p->shape[axis], &out->shape[axis]))
            return tdl_fail(TDL_ERROR_INVALID_ARGUMENT,
                            "concat: %s and %s differ in more than dimension %u",
                            tdl_operand_text(n->inputs[0]), tdl_operand_text(n->inputs[i]), axis);
    }
    if (axis >= out->rank)
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT, "concat: %s has no dimension %u",
                        tdl_operand_text(n->inputs[0]), axis);
    return TDL_OK;
}

static void reference(const struct tdl_node *n, const void *const *inputs, void *output)
{
    const struct tdl_tensor_params *out = &n->output->desc;
    const uint32_t axis = n->attr.concat.axis;
    for (size_t i = 0, count = tdl_operand_count(n->output); i < count; i++) {
        int64_t at[TDL_MAX_RANK];
        uint32_t from = 0;
        tdl_move_coordinates(out, i, at);
        while (at[axis] >= n->inputs[from]->desc.shape[axis])
            at[axis] -= n->inputs[from++]->desc.shape[axis];
        const size_t j = tdl_move_index(&n->inputs[from]->desc, at);
        tdl_element_set_bits(out->dtype, output, i, tdl_element_bits(out->dtype, inputs[from], j));
    }
}

static void lower_linear(struct tdl_plan *plan, struct tdl_node *n)
{
    const struct tdl_tensor_params *out = &n->output->desc;
    struct tdl_concat_linear_spec spec =
        tdl_concat_linear_spec(.move = tdl_move_parts(n), .inner = tdl_parts_of(out->dtype).count,
                               .axis = out->shape[n->attr.concat.axis], .inputs = n->input_count,
                               .end = {0});
    _Static_assert(TDL_COUNT(spec.end) == TDL_MAX_CONCAT, "inputs");
    for (uint32_t i = n->attr.concat.axis + 1; i < out->rank; i++)
        spec.inner *= out->shape[i];
    for (uint32_t i = 0, end = 0; i < n->input_count; i++) {
        end += n->inputs[i]->desc.shape[n->attr.concat.axis];
        spec.end[i] = end;
    }
    struct tdl_plan_step *s = tdl_move_step(plan, "concat_linear", n);
    TDL_PLAN_SPECS(s, concat_linear, spec);
}

/* Channels that begin within packs: each is looked for. */
static void lower_channels(struct tdl_plan *plan, struct tdl_node *n)
{
    struct tdl_dims d = tdl_operand_dims(n->output);
    uint32_t end = 0, local = 64;
    struct tdl_plan_step *s = tdl_plan_add_step(plan, "concat", n, local, 1, 1);
    struct tdl_concat_spec spec =
        tdl_concat_spec(.pixels = d.h * d.w, .inputs = n->input_count, .end = {0});
    _Static_assert(TDL_COUNT(spec.end) == TDL_MAX_CONCAT, "inputs");
    for (uint32_t i = 0; i < n->input_count; i++) {
        end += tdl_operand_dims(n->inputs[i]).c;
        spec.end[i] = end;
        tdl_plan_read(s, i, n->inputs[i]);
    }
    TDL_PLAN_SPECS(s, concat, spec);
    tdl_plan_write(s, TDL_MAX_CONCAT, n->output);
    tdl_plan_groups(s, TDL_DIV_UP(d.h * d.w, local), tdl_packs(d.c), d.n);
}

/* Of one image, what a copy writes is a part of the output's memory, so that it need not wait
 * for the others. Else the output, and where in it is left as it was. */
static struct tdl_operand *target_of(struct tdl_plan *plan, struct tdl_node *n, uint32_t axis,
                                     uint64_t offset, uint64_t size, struct tdl_move *m)
{
    struct tdl_operand *whole = tdl_operand_root(n->output);
    if (whole->external || axis != 1 || m->region.n != 1 || n->input_count == 1 ||
        offset % TDL_PLAN_ALIGNMENT || plan->guard || plan->no_fuse)
        return n->output;
    struct tdl_operand *part = tdl_plan_scratch(plan, size);
    if (!part)
        return n->output;
    part->part_of = whole;
    part->part_offset = offset;
    m->offset[1] = 0;
    return part;
}

static enum tdl_result lower(struct tdl_plan *plan, struct tdl_node *n)
{
    if (n->storage == TDL_STORAGE_LINEAR) {
        lower_linear(plan, n);
        return plan->status;
    }
    const uint32_t axis = tdl_pack_axis(n->output->layout, n->attr.concat.axis);
    bool aligned = true;
    for (uint32_t i = 0; i + 1 < n->input_count; i++)
        aligned &= axis != 1 || tdl_operand_dims(n->inputs[i]).c % 4 == 0;
    if (!aligned) {
        lower_channels(plan, n);
        return plan->status;
    }
    struct tdl_move m = {.mode = TDL_PAD_EDGE, .step = {1, 1, 1, 1}};
    uint64_t offset = 0;
    for (uint32_t i = 0; i < n->input_count; i++) {
        m.region = tdl_operand_dims(n->inputs[i]);
        const uint64_t size = tdl_operand_packs_size(n->output, m.region.c);
        if (!tdl_operand_lies_in(n->inputs[i], n->output, offset)) {
            struct tdl_move moved = m;
            struct tdl_operand *to = target_of(plan, n, axis, offset, size, &moved);
            tdl_move_packed(plan, n, n->inputs[i], to, &moved);
        }
        m.offset[axis] += n->inputs[i]->desc.shape[n->attr.concat.axis];
        offset += size;
    }
    return plan->status;
}

static bool stack(struct tdl_node *n, uint32_t stacked)
{
    return n->attr.concat.axis > 0 && stacked == (1u << n->input_count) - 1;
}

static bool renumber(struct tdl_node *n, const uint32_t place[4])
{
    n->attr.concat.axis = place[n->attr.concat.axis];
    return true;
}

const struct tdl_op tdl_op_concat = {
    .name = "concat",
    .infer = infer,
    .resize = tdl_resize_freely,
    .stack = stack,
    .lower = lower,
    .storage = TDL_STORAGE_EITHER,
    .reference_linear = reference,
    .renumber = renumber,
};

/* A node takes so many; more are joined in groups, and these again. */
struct tdl_operand *tdl_builder_concat(struct tdl_builder *b, struct tdl_operand *const *inputs,
                                       uint32_t count, uint32_t axis)
{
    const union tdl_attr attr = {.concat.axis = axis};
    if (tdl_builder_status(b) != TDL_OK)
        return NULL;
    if (!inputs || !count)
        return tdl_builder_fail(b, TDL_ERROR_INVALID_ARGUMENT, "concat: there are no inputs");
    if (count <= TDL_MAX_CONCAT)
        return tdl_builder_add_node(b, &tdl_op_concat, &attr, inputs, count, count);
    uint32_t groups = TDL_DIV_UP(count, TDL_MAX_CONCAT);
    struct tdl_operand **parts = calloc(groups, sizeof(struct tdl_operand *)), *result;
    if (!parts)
        return tdl_builder_fail(b, TDL_ERROR_OUT_OF_MEMORY, "out of memory in a builder");
    for (uint32_t i = 0; i < groups; i++) {
        uint32_t first = i * TDL_MAX_CONCAT;
        parts[i] =
            tdl_builder_concat(b, inputs + first, TDL_MIN(count - first, TDL_MAX_CONCAT), axis);
    }
    result = tdl_builder_concat(b, parts, groups, axis);
    free(parts);
    return result;
}
