/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Places every value in one arena. A value lives from the level at which it is
 * written to the last at which it is read (schedule.c); values are placed by
 * decreasing size at the lowest offset that no living neighbour covers (greedy
 * by size, as in Pisarchyk and Lee, arXiv:2001.03288). That looks at every pair
 * of values. Where there are more than any real model has, values are placed in
 * the order of time instead, which wastes more where sizes differ.
 */
#include "passes.h"

#include <stdlib.h>
#include <string.h>

enum { MANY_VALUES = 4096 };

static void find_lifetimes(struct tdl_plan *plan)
{
    for (uint32_t i = 0; i < plan->ir->operand_count; i++)
        plan->ir->operands[i]->first_step = UINT32_MAX;
    for (uint32_t i = 0; i < plan->step_count; i++)
        for (uint32_t j = 0; j < TDL_MAX_BINDS; j++) {
            /* While a part lives, so does all of it. */
            for (struct tdl_operand *o = plan->steps[i].binds[j].operand; o; o = o->part_of) {
                o->first_step = TDL_MIN(o->first_step, plan->steps[i].level);
                o->last_step = TDL_MAX(o->last_step, plan->steps[i].level);
            }
        }
}

static bool lives_with(const struct tdl_operand *a, const struct tdl_operand *b)
{
    return a->first_step <= b->last_step && b->first_step <= a->last_step;
}

static int by_size(const void *a, const void *b)
{
    const struct tdl_operand *x = *(struct tdl_operand *const *)a;
    const struct tdl_operand *y = *(struct tdl_operand *const *)b;
    if (x->size != y->size)
        return x->size < y->size ? 1 : -1;
    return x->id < y->id ? -1 : 1;
}

/* The lowest offset where `o` overlaps none of the placed that live with it.
 * These are sorted by offset: what lies before one that is in the way ends
 * before it or was avoided already. */
static uint64_t find_offset(struct tdl_operand *const *placed, uint32_t count,
                            const struct tdl_operand *o, uint64_t guard)
{
    uint64_t offset = 0;
    for (uint32_t i = 0; i < count && placed[i]->offset < offset + o->size + guard; i++) {
        const struct tdl_operand *p = placed[i];
        if ((guard || lives_with(o, p)) && offset < p->offset + p->size + guard)
            offset = TDL_ALIGN(p->offset + p->size, TDL_PLAN_ALIGNMENT) + guard;
    }
    return offset;
}

static void insert_by_offset(struct tdl_operand **placed, uint32_t count, struct tdl_operand *o)
{
    for (; count && placed[count - 1]->offset > o->offset; count--)
        placed[count] = placed[count - 1];
    placed[count] = o;
}

/* ------------------------------------------------------------ many values */

/* Free bytes between living values, in the order of their offsets. The last one
 * has no end. */
struct gap {
    uint64_t start, end;
};
struct gaps {
    struct gap *list;
    uint32_t count;
};

/* From the first gap that is large enough; aligned. */
static uint64_t gaps_take(struct gaps *g, uint64_t size)
{
    uint32_t i = 0;
    size = TDL_ALIGN(size, TDL_PLAN_ALIGNMENT);
    while (g->list[i].end - g->list[i].start < size)
        i++;
    uint64_t offset = g->list[i].start;
    g->list[i].start += size;
    if (g->list[i].start == g->list[i].end)
        memmove(&g->list[i], &g->list[i + 1], (--g->count - i) * sizeof(*g->list));
    return offset;
}

static void gaps_give(struct gaps *g, uint64_t start, uint64_t size)
{
    uint64_t end = start + TDL_ALIGN(size, TDL_PLAN_ALIGNMENT);
    uint32_t low = 0, high = g->count;
    while (low < high) { /* the first gap behind it */
        uint32_t middle = low + (high - low) / 2;
        if (g->list[middle].start < end)
            low = middle + 1;
        else
            high = middle;
    }
    bool before = low && g->list[low - 1].end == start, behind = g->list[low].start == end;
    if (before && behind) {
        g->list[low - 1].end = g->list[low].end;
        memmove(&g->list[low], &g->list[low + 1], (--g->count - low) * sizeof(*g->list));
    } else if (before) {
        g->list[low - 1].end = end;
    } else if (behind) {
        g->list[low].start = start;
    } else {
        memmove(&g->list[low + 1], &g->list[low], (g->count++ - low) * sizeof(*g->list));
        g->list[low] = (struct gap){start, end};
    }
}

static int by_first_step(const void *a, const void *b)
{
    const struct tdl_operand *x = *(struct tdl_operand *const *)a;
    const struct tdl_operand *y = *(struct tdl_operand *const *)b;
    if (x->first_step != y->first_step)
        return x->first_step < y->first_step ? -1 : 1;
    return by_size(a, b);
}

static int by_last_step(const void *a, const void *b)
{
    const struct tdl_operand *x = *(struct tdl_operand *const *)a;
    const struct tdl_operand *y = *(struct tdl_operand *const *)b;
    if (x->last_step != y->last_step)
        return x->last_step < y->last_step ? -1 : 1;
    return by_size(a, b);
}

/* Step by step, in the first gap that fits. */
static enum tdl_result place_in_time(struct tdl_operand **list, uint32_t count)
{
    struct tdl_operand **ending = malloc(count * sizeof(*ending));
    struct gaps gaps = {calloc(count + (size_t)1, sizeof(*gaps.list)), 1};
    enum tdl_result r = TDL_OK;
    uint32_t ended = 0;
    if (!ending || !gaps.list) {
        r = tdl_fail(TDL_ERROR_OUT_OF_MEMORY, "out of memory while planning the arena");
        goto done;
    }
    gaps.list[0].end = UINT64_MAX;
    memcpy(ending, list, count * sizeof(*list));
    qsort(list, count, sizeof(*list), by_first_step);
    qsort(ending, count, sizeof(*ending), by_last_step);
    for (uint32_t i = 0; i < count; i++) {
        for (; ending[ended]->last_step < list[i]->first_step; ended++)
            gaps_give(&gaps, ending[ended]->offset, ending[ended]->size);
        list[i]->offset = gaps_take(&gaps, list[i]->size);
    }
done:
    free(ending);
    free(gaps.list);
    return r;
}

/* -------------------------------------------------------------------- both */

enum tdl_result tdl_arena_place(struct tdl_ir *ir, uint64_t guard, uint64_t *out_arena_size,
                                uint64_t *out_tensor_bytes)
{
    struct tdl_operand **list = calloc(2 * (size_t)ir->operand_count + 1, sizeof(*list));
    struct tdl_operand **placed = list ? list + ir->operand_count : NULL;
    enum tdl_result r = TDL_OK;
    uint32_t count = 0;
    *out_arena_size = *out_tensor_bytes = 0;
    if (!list)
        return tdl_fail(TDL_ERROR_OUT_OF_MEMORY, "out of memory while planning the arena");
    for (uint32_t i = 0; i < ir->operand_count; i++) {
        struct tdl_operand *o = ir->operands[i];
        if (o->first_step == UINT32_MAX || o->external || o->part_of)
            continue;
        *out_tensor_bytes += o->size;
        list[count++] = o;
    }
    if (count > MANY_VALUES && !guard) {
        r = place_in_time(list, count);
    } else {
        qsort(list, count, sizeof(*list), by_size);
        for (uint32_t i = 0; i < count; i++) {
            list[i]->offset = find_offset(placed, i, list[i], guard);
            insert_by_offset(placed, i, list[i]);
        }
    }
    for (uint32_t i = 0; i < count; i++)
        *out_arena_size = TDL_MAX(*out_arena_size, list[i]->offset + list[i]->size + guard);
    for (uint32_t i = 0; i < ir->operand_count; i++) {
        const struct tdl_operand *whole = ir->operands[i];
        uint64_t offset = 0;
        for (; whole->part_of; whole = whole->part_of)
            offset += whole->part_offset;
        if (ir->operands[i]->part_of)
            ir->operands[i]->offset = whole->offset + offset;
    }
    free(list);
    return r;
}

enum tdl_result tdl_plan_place(struct tdl_plan *plan)
{
    find_lifetimes(plan);
    return tdl_arena_place(plan->ir, plan->guard, &plan->arena_size, &plan->tensor_bytes);
}
