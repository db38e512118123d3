/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "rearrange.h"

struct tdl_plan_step *tdl_plan_add_move(struct tdl_plan *plan, const char *shader,
                                        struct tdl_node *n, struct tdl_moved moved)
{
    const uint32_t local = 64, count = tdl_element_count(n->output) * moved.parts;
    struct tdl_plan_step *s = tdl_plan_add_linear_step(plan, shader, TDL_UINT32, n, local, 1, 1);
    tdl_plan_spec(s, moved.size);
    tdl_plan_spec(s, count);
    tdl_plan_read(s, 0, n->inputs[0]);
    tdl_plan_write(s, 2, n->output);
    tdl_plan_flat_groups(s, TDL_DIV_UP(TDL_DIV_UP(count * moved.size, 4), local));
    return s;
}

/* Drop dimensions of 1, and join neighbours that are one; the parts of an
 * element become a last dimension. */
static struct tdl_rearrangement join(const struct tdl_rearrangement *r, uint32_t parts)
{
    struct tdl_rearrangement out = {0};
    for (uint32_t i = 0; i <= r->rank; i++) {
        bool part = i == r->rank;
        uint32_t size = part ? parts : r->size[i], period = part ? parts : r->period[i];
        uint32_t stride = part ? 1 : r->stride[i] * parts, last = out.rank - 1;
        if (size == 1)
            continue;
        /* Only what is not repeated runs on from one dimension into the next. */
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

/* [b][rows][columns] → [b][columns][rows], of words. */
static bool is_transposition(const struct tdl_rearrangement *r, struct tdl_moved moved)
{
    enum { LEAST = 16 }; /* rows and columns that are worth a tile */
    const uint32_t i = r->rank >= 2 ? r->rank - 2 : 0;
    return moved.size == 4 && (r->rank == 2 || r->rank == 3) && r->size[i] >= LEAST &&
           r->size[i + 1] >= LEAST && r->stride[i] == 1 && r->stride[i + 1] == r->size[i] &&
           r->period[i] == r->size[i] && r->period[i + 1] == r->size[i + 1] &&
           (i == 0 || (r->stride[0] == r->size[1] * r->size[2] && r->period[0] == r->size[0]));
}

static void add_tiles(struct tdl_plan *plan, struct tdl_node *n, const struct tdl_rearrangement *r)
{
    const uint32_t tile = 16, i = r->rank - 2, columns = r->size[i], rows = r->size[i + 1];
    const uint32_t batches = i ? r->size[0] : 1;
    struct tdl_plan_step *s =
        tdl_plan_add_linear_step(plan, "transpose_tile", TDL_UINT32, n, tile, tile / 4, 1);
    tdl_plan_spec(s, rows);
    tdl_plan_spec(s, columns);
    tdl_plan_spec(s, batches);
    tdl_plan_read(s, 0, n->inputs[0]);
    tdl_plan_write(s, 2, n->output);
    tdl_plan_shared(s, 4ull * tile * (tile + 1));
    tdl_plan_groups(s, TDL_DIV_UP(columns, tile), TDL_DIV_UP(rows, tile),
                    TDL_MIN(batches, TDL_LEAST_GROUPS));
}

enum tdl_result tdl_rearrange_lower(struct tdl_plan *plan, struct tdl_node *n,
                                    const struct tdl_rearrangement *wanted)
{
    struct tdl_moved moved = tdl_moved_of(n->output->desc.dtype);
    struct tdl_rearrangement r = join(wanted, moved.parts);
    bool in_order = r.rank == 0 || (r.rank == 1 && r.size[0] == r.period[0] && r.stride[0] == 1);
    if (in_order && !n->output->external && !n->output->alias) {
        n->output->alias = n->inputs[0];
        return plan->status;
    }
    if (is_transposition(&r, moved)) {
        add_tiles(plan, n, &r);
        return plan->status;
    }
    struct tdl_plan_step *s = tdl_plan_add_move(plan, "rearrange", n, moved);
    const uint32_t *lists[] = {r.size, r.period, r.stride};
    for (uint32_t list = 0; list < TDL_COUNT(lists); list++)
        for (uint32_t i = 0; i <= TDL_MAX_RANK; i++)
            tdl_plan_spec(s, i < r.rank ? lists[list][r.rank - 1 - i] : 1);
    return plan->status;
}
