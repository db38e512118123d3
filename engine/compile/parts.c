/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * parts: channels of one picture lie behind each other in packs, so a slice of some can
 * be a part of its input's memory, and what a concat joins can be written into its
 * output at once. Operators ask tdl_operand_lies_in() when they are lowered.
 */
#include "passes.h"

#include "ops/ops.h"
#include "ops/packs.h"

#include <stdlib.h>

/* Memory of the whole is taken from the first part on. */
enum { LARGE = 32 << 20, NEAR = 16 /* operators between part and whole, if it is large */ };

static bool in_arena(const struct tdl_operand *o)
{
    return !o->external && o->kind == TDL_OPERAND_VALUE && o->storage == TDL_STORAGE_PACKED;
}

static void put(struct tdl_operand *part, struct tdl_operand *whole, uint64_t offset)
{
    if (part->part_of || part == whole || offset % TDL_PLAN_ALIGNMENT ||
        part->size > whole->size - offset)
        return;
    part->part_of = whole;
    part->part_offset = offset;
}

static void find_slice(struct tdl_node *n)
{
    struct tdl_operand *out = tdl_operand_root(n->output), *in = tdl_operand_root(n->inputs[0]);
    const struct tdl_dims d = tdl_operand_dims(n->inputs[0]), o = tdl_operand_dims(n->output);
    const uint32_t axis = n->output->layout == TDL_LAYOUT_NCHW ? 1 : 3;
    const uint32_t start = n->attr.slice.start[axis];
    if (!in_arena(in) || !in_arena(out) || d.n != 1 || d.h != o.h || d.w != o.w || start % 4 ||
        (o.c % 4 && start + o.c != d.c))
        return;
    for (uint32_t i = 0; i < 4; i++)
        if (n->attr.slice.step[i] != 1)
            return;
    put(out, in, tdl_operand_packs_size(n->inputs[0], start));
}

static void find_concat(struct tdl_node *n, const uint32_t *made, uint32_t at)
{
    struct tdl_operand *whole = tdl_operand_root(n->output);
    uint64_t offset = 0;
    if (!in_arena(whole) || tdl_operand_dims(n->output).n != 1 ||
        tdl_pack_axis(n->output->layout, n->attr.concat.axis) != 1)
        return;
    for (uint32_t i = 0; i + 1 < n->input_count; i++)
        if (tdl_operand_dims(n->inputs[i]).c % 4) /* the next begins within a pack */
            return;
    for (uint32_t i = 0; i < n->input_count; i++) {
        struct tdl_operand *part = tdl_operand_root(n->inputs[i]);
        if (in_arena(part) && part->producer &&
            (whole->size <= LARGE || at - made[part->id] <= NEAR))
            put(part, whole, offset);
        /* A constant has no memory of its own here, so that its size is not told. */
        offset += tdl_operand_packs_size(n->output, tdl_operand_dims(n->inputs[i]).c);
    }
}

void tdl_plan_find_parts(struct tdl_plan *plan)
{
    const struct tdl_ir *ir = plan->ir;
    uint32_t *made = calloc(ir->operand_count + (size_t)1, sizeof(*made));
    for (uint32_t i = 0; made && i < ir->node_count; i++) {
        struct tdl_node *n = ir->nodes[i];
        made[tdl_operand_root(n->output)->id] = i;
        if (n->storage == TDL_STORAGE_PACKED && n->op == &tdl_op_slice)
            find_slice(n);
        else if (n->storage == TDL_STORAGE_PACKED && n->op == &tdl_op_concat)
            find_concat(n, made, i);
    }
    free(made);
}
