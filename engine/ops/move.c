/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "move.h"

/* ---------------------------------------------------------------- in packs */

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
                     struct tdl_operand *output, const struct tdl_move *m)
{
    struct tdl_dims in = tdl_operand_dims(input), out = tdl_operand_dims(n->output);
    uint32_t local = 64, pixels = m->region.h * m->region.w;
    struct tdl_plan_step *s = tdl_plan_add_step(plan, "move", n, local, 1, 1);
    const struct tdl_move_spec spec =
        tdl_move_spec(.kind = m->kind, .mode = m->mode, .in_n = in.n, .in_c = in.c, .in_h = in.h,
                      .in_w = in.w, .out_packs = tdl_packs(out.c), .out_h = out.h, .out_w = out.w,
                      .region_c = m->region.c, .region_h = m->region.h, .region_w = m->region.w,
                      .offset_n = m->offset[0], .offset_packs = m->offset[1] / 4,
                      .offset_y = m->offset[2], .offset_x = m->offset[3], .start_n = m->start[0],
                      .start_c = m->start[1], .start_y = m->start[2], .start_x = m->start[3],
                      .step_n = m->step[0], .step_c = m->step[1], .step_y = m->step[2],
                      .step_x = m->step[3], .value = m->value, .block = m->block,
                      .column_first = m->order, .aligned = is_aligned(m, in));
    TDL_PLAN_SPECS(s, move, spec);
    tdl_plan_read(s, 0, input);
    tdl_plan_write(s, 1, output);
    tdl_plan_groups(s, TDL_DIV_UP(pixels, local), tdl_packs(m->region.c), m->region.n);
}

/* --------------------------------------------------------- in linear memory */

struct tdl_parts tdl_parts_of(enum tdl_dtype dtype)
{
    uint32_t size = (uint32_t)tdl_dtype_size(dtype);
    return size == 8 ? (struct tdl_parts){4, 2} : (struct tdl_parts){size, 1};
}

struct tdl_move_part tdl_move_parts(const struct tdl_node *n)
{
    const struct tdl_parts parts = tdl_parts_of(n->output->desc.dtype);
    const uint32_t count = (uint32_t)tdl_operand_count(n->output) * parts.count;
    return tdl_move_part(.size = parts.size, .parts = parts.count, .count = count);
}

struct tdl_plan_step *tdl_move_step_of(struct tdl_plan *plan, const char *shader,
                                       struct tdl_node *n, struct tdl_operand *const *inputs,
                                       uint32_t input_count)
{
    const struct tdl_move_part parts = tdl_move_parts(n);
    const uint32_t local = 64;
    struct tdl_plan_step *s = tdl_plan_add_linear_step(plan, shader, TDL_UINT32, n, local, 1, 1);
    for (uint32_t i = 0; i < input_count; i++)
        tdl_plan_read(s, i, inputs[i]);
    tdl_plan_write(s, TDL_MAX_CONCAT, n->output);
    tdl_plan_flat_groups(s, TDL_DIV_UP(TDL_DIV_UP(parts.count, 4 / parts.size), local));
    return s;
}

struct tdl_plan_step *tdl_move_step(struct tdl_plan *plan, const char *shader, struct tdl_node *n)
{
    return tdl_move_step_of(plan, shader, n, n->inputs, n->input_count);
}

/* In parts, which become a last dimension; without dimensions of 1, and with
 * neighbours that run on into one another joined. */
static struct tdl_strided join(const struct tdl_strided *r, uint32_t parts)
{
    struct tdl_strided out = {.offset = r->offset * parts};
    for (uint32_t i = 0; i <= r->rank; i++) {
        bool part = i == r->rank;
        uint32_t size = part ? parts : r->size[i], period = part ? parts : r->period[i];
        uint32_t stride = part ? 1 : r->stride[i] * parts, last = out.rank - 1;
        if (size == 1)
            continue;
        /* Only what is not repeated runs on. */
        if (out.rank && size == period && out.period[last] == out.size[last] &&
            out.stride[last] == stride * size) {
            out.size[last] *= size;
            out.period[last] *= size;
            out.stride[last] = stride;
            continue;
        }
        out.size[out.rank] = size;
        out.period[out.rank] = period;
        out.stride[out.rank++] = stride;
    }
    return out;
}

/* All of the input in its order. */
static bool is_copy(const struct tdl_strided *r, const struct tdl_node *n)
{
    return r->offset == 0 && tdl_operand_count(n->output) == tdl_operand_count(n->inputs[0]) &&
           (r->rank == 0 || (r->rank == 1 && r->size[0] == r->period[0] && r->stride[0] == 1));
}

/* [b][rows][columns] → [b][columns][rows], of words. */
static bool is_transposition(const struct tdl_strided *r, uint32_t part_size)
{
    enum { LEAST = 16 }; /* rows and columns that are worth a tile */
    const uint32_t i = r->rank >= 2 ? r->rank - 2 : 0;
    return part_size == 4 && r->offset == 0 && (r->rank == 2 || r->rank == 3) &&
           r->size[i] >= LEAST && r->size[i + 1] >= LEAST && r->stride[i] == 1 &&
           r->stride[i + 1] == r->size[i] && r->period[i] == r->size[i] &&
           r->period[i + 1] == r->size[i + 1] &&
           (i == 0 || (r->stride[0] == r->size[1] * r->size[2] && r->period[0] == r->size[0]));
}

static void add_tiles(struct tdl_plan *plan, struct tdl_node *n, const struct tdl_strided *r)
{
    const uint32_t tile = 16, i = r->rank - 2, columns = r->size[i], rows = r->size[i + 1];
    const uint32_t batches = i ? r->size[0] : 1;
    struct tdl_plan_step *s =
        tdl_plan_add_linear_step(plan, "transpose_tile", TDL_UINT32, n, tile, tile / 4, 1);
    const struct tdl_transpose_tile_spec spec =
        tdl_transpose_tile_spec(.rows = rows, .columns = columns, .batches = batches);
    TDL_PLAN_SPECS(s, transpose_tile, spec);
    tdl_plan_read(s, 0, n->inputs[0]);
    tdl_plan_write(s, 2, n->output);
    tdl_plan_shared(s, 4ull * tile * (tile + 1));
    tdl_plan_groups(s, TDL_DIV_UP(columns, tile), TDL_DIV_UP(rows, tile),
                    TDL_MIN(batches, TDL_LEAST_GROUPS));
}

enum tdl_result tdl_move_linear(struct tdl_plan *plan, struct tdl_node *n,
                                const struct tdl_strided *strided)
{
    const struct tdl_parts parts = tdl_parts_of(n->output->desc.dtype);
    struct tdl_strided r = join(strided, parts.count);
    if (is_copy(&r, n) && !n->output->external && !n->output->alias) {
        n->output->alias = n->inputs[0];
        return plan->status;
    }
    if (is_transposition(&r, parts.size)) {
        add_tiles(plan, n, &r);
        return plan->status;
    }
    struct tdl_plan_step *s = tdl_move_step(plan, "move_linear", n);
    struct tdl_move_linear_spec spec =
        tdl_move_linear_spec(.move = tdl_move_parts(n), .offset = r.offset, .size = {0},
                             .period = {0}, .stride = {0});
    _Static_assert(TDL_COUNT(spec.size) == TDL_MAX_RANK + 1, "dimensions");
    for (uint32_t i = 0; i <= TDL_MAX_RANK; i++) {
        const bool has = i < r.rank;
        const uint32_t d = has ? r.rank - 1 - i : 0;
        spec.size[i] = has ? r.size[d] : 1;
        spec.period[i] = has ? r.period[d] : 1;
        spec.stride[i] = has ? r.stride[d] : 1;
    }
    TDL_PLAN_SPECS(s, move_linear, spec);
    return plan->status;
}

/* ---------------------------------------------------------- for references */

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
