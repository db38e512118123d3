/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What passes may spend on constants. A file of a megabyte has room for ten
 * thousand operators that each make a megabyte of the one before, or all of
 * them of the same. Folding and fusing save work in every run, but nothing
 * needs them: where they cost too much, the device computes the value instead.
 */
#include "ir.h"

#include <stdlib.h>

/* Real models double float16 constants and turn them round once or twice. What
 * is added is for small graphs that begin with next to nothing. */
enum { MADE_TIMES = 16, WORK_TIMES = 64 };
#define MADE_FREE ((uint64_t)4 << 20)
#define WORK_FREE ((uint64_t)64 << 20)

struct range {
    uintptr_t start, end;
};

static int by_start(const void *a, const void *b)
{
    const struct range *x = a, *y = b;
    return x->start < y->start ? -1 : x->start > y->start;
}

/* Constants may share their bytes, or overlap: each byte counts once. */
static uint64_t count_bytes(struct range *ranges, uint32_t count)
{
    uintptr_t end = 0;
    uint64_t bytes = 0;
    qsort(ranges, count, sizeof(*ranges), by_start);
    for (uint32_t i = 0; i < count; i++) {
        if (ranges[i].end <= end)
            continue;
        bytes += ranges[i].end - (ranges[i].start > end ? ranges[i].start : end);
        end = ranges[i].end;
    }
    return bytes;
}

/* The bytes of those whose elements were given in so many bytes; 0: as they are. */
static uint64_t count_constants(const struct tdl_ir *ir, size_t element, bool evaluated,
                                struct range *ranges)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < ir->operand_count; i++) {
        const struct tdl_operand *o = ir->operands[i];
        const struct tdl_compact *c = o->compact;
        const uintptr_t start = (uintptr_t)(c ? c->data : o->data);
        if (o->kind != TDL_OPERAND_CONSTANT || (o->evaluated && !evaluated))
            continue;
        if ((c ? tdl_dtype_size(c->dtype) : 0) == element)
            ranges[count++] = (struct range){start, start + (c ? tdl_operand_count(o) * element
                                                               : tdl_tensor_params_size(&o->desc))};
    }
    return count_bytes(ranges, count);
}

/* Constants that were given in fewer bits count as the floats that they stand for. */
static bool count_given(const struct tdl_ir *ir, bool evaluated, uint64_t *out)
{
    struct range *ranges = calloc(ir->operand_count + (size_t)1, sizeof(*ranges));
    if (!ranges)
        return false;
    *out = count_constants(ir, 0, evaluated, ranges) +
           4 * count_constants(ir, 1, evaluated, ranges) +
           2 * count_constants(ir, 2, evaluated, ranges);
    free(ranges);
    return true;
}

bool tdl_ir_budget_init(struct tdl_ir *ir)
{
    ir->budget = (struct tdl_ir_budget){0};
    if (!count_given(ir, true, &ir->budget.given))
        return false;
    ir->budget.made_limit = MADE_TIMES * ir->budget.given + MADE_FREE;
    ir->budget.work_limit = WORK_TIMES * ir->budget.given + WORK_FREE;
    return true;
}

bool tdl_ir_budget_grow(struct tdl_ir *ir)
{
    struct tdl_ir_budget *b = &ir->budget;
    uint64_t given;
    /* Seldom enough that all counts together stay in proportion to the operands. */
    if ((b->counted && ir->operand_count < b->counted + b->counted / 4 + 16) ||
        !count_given(ir, false, &given))
        return false;
    b->counted = ir->operand_count;
    b->made_limit += MADE_TIMES * (given - TDL_MIN(given, b->given));
    b->work_limit += WORK_TIMES * (given - TDL_MIN(given, b->given));
    b->given = TDL_MAX(given, b->given);
    return true;
}

bool tdl_ir_spend(struct tdl_ir *ir, uint64_t bytes, uint64_t work)
{
    struct tdl_ir_budget *b = &ir->budget;
    if (bytes > b->made_limit - b->made || work > b->work_limit - b->work)
        return false;
    b->made += bytes;
    b->work += work;
    return true;
}
