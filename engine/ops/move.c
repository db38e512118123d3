/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "move.h"

#include <string.h>

/* True if every pack of the region is one pack of the input. */
static bool is_aligned(const struct tdl_move *m, struct tdl_dims in)
{
    if (m->kind == TDL_MOVE_WINDOW)
        return m->step[1] == 1 && m->start[1] >= 0 && m->start[1] % 4 == 0 &&
               (uint32_t)m->start[1] + m->region.c <= in.c;
    if (m->order != TDL_BLOCK_DEPTH_FIRST)
        return false;
    return m->kind == TDL_MOVE_DEPTH_TO_SPACE ? m->region.c % 4 == 0 : in.c % 4 == 0;
}

void tdl_move_packed(struct tdl_plan *plan, struct tdl_node *n, struct tdl_operand *input,
                     const struct tdl_move *m)
{
    struct tdl_dims in = tdl_operand_dims(input), out = tdl_operand_dims(n->output);
    uint32_t local = 64, value_bits, pixels = m->region.h * m->region.w;
    memcpy(&value_bits, &m->value, sizeof(value_bits));
    struct tdl_plan_step *s = tdl_plan_add_step(plan, "move", n, local, 1, 1);
    const uint32_t values[] = {
        m->kind, m->mode, in.n, in.c, in.h, in.w, tdl_packs(out.c), out.h, out.w,
        m->region.c, m->region.h, m->region.w,
        m->offset[0], m->offset[1] / 4, m->offset[2], m->offset[3],
        (uint32_t)m->start[0], (uint32_t)m->start[1], (uint32_t)m->start[2], (uint32_t)m->start[3],
        (uint32_t)m->step[0], (uint32_t)m->step[1], (uint32_t)m->step[2], (uint32_t)m->step[3],
        value_bits, m->block, m->order, is_aligned(m, in),
    };
    tdl_plan_specs(s, values, TDL_COUNT(values));
    tdl_plan_read(s, 0, input);
    tdl_plan_write(s, 1, n->output);
    tdl_plan_groups(s, TDL_DIV_UP(pixels, local), tdl_packs(m->region.c), m->region.n);
}

struct tdl_plan_step *tdl_move_linear_step(struct tdl_plan *plan, const char *shader,
                                           struct tdl_node *n)
{
    /* Bits are bits: one class of elements for all, 64-bit ones as two words. */
    struct tdl_plan_step *s = tdl_plan_add_linear_step(plan, shader, TDL_UINT32, n, 64, 1, 1);
    tdl_plan_spec(s, (uint32_t)tdl_dtype_size(n->output->desc.dtype));
    tdl_plan_spec(s, (uint32_t)tdl_operand_count(n->output));
    tdl_plan_linear_groups(s, n->output);
    return s;
}

/* Dimension `i` from the last. */
static uint32_t dimension(const struct tdl_tensor_params *p, uint32_t i)
{
    return i < p->rank ? p->shape[p->rank - 1 - i] : 1;
}

void tdl_move_linear(struct tdl_plan *plan, struct tdl_node *n, enum tdl_pad_mode mode,
                     const int32_t *start, const int32_t *step, uint64_t value)
{
    const struct tdl_tensor_params *in = &n->inputs[0]->desc, *out = &n->output->desc;
    struct tdl_plan_step *s = tdl_move_linear_step(plan, "move_linear", n);
    tdl_plan_spec(s, mode);
    tdl_plan_spec(s, (uint32_t)value);
    tdl_plan_spec(s, (uint32_t)(value >> 32));
    for (uint32_t i = 0; i < TDL_MAX_RANK; i++)
        tdl_plan_spec(s, dimension(out, i));
    for (uint32_t i = 0; i < TDL_MAX_RANK; i++)
        tdl_plan_spec(s, dimension(in, i));
    for (uint32_t i = 0; i < TDL_MAX_RANK; i++)
        tdl_plan_spec(s, i < in->rank ? (uint32_t)start[in->rank - 1 - i] : 0);
    for (uint32_t i = 0; i < TDL_MAX_RANK; i++)
        tdl_plan_spec(s, i < in->rank ? (uint32_t)step[in->rank - 1 - i] : 1);
    tdl_plan_read(s, 0, n->inputs[0]);
    tdl_plan_write(s, 1, n->output);
}

void tdl_move_coordinates(const struct tdl_tensor_params *p, size_t i, int64_t *at)
{
    for (uint32_t d = p->rank; d-- > 0; i /= p->shape[d])
        at[d] = (int64_t)(i % p->shape[d]);
}

size_t tdl_move_index(const struct tdl_tensor_params *p, const int64_t *at)
{
    size_t i = 0;
    for (uint32_t d = 0; d < p->rank; d++)
        i = i * p->shape[d] + (size_t)at[d];
    return i;
}
