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

bool tdl_ir_budget_init(struct tdl_ir *ir)
{
    struct range *ranges = calloc(ir->operand_count + (size_t)1, sizeof(*ranges));
    uint32_t count = 0;
    if (!ranges)
        return false;
    for (uint32_t i = 0; i < ir->operand_count; i++) {
        const struct tdl_operand *o = ir->operands[i];
        uintptr_t start = (uintptr_t)o->data;
        if (o->kind == TDL_OPERAND_CONSTANT)
            ranges[count++] = (struct range){start, start + tdl_tensor_params_size(&o->desc)};
    }
    ir->budget = (struct tdl_ir_budget){.given = count_bytes(ranges, count)};
    ir->budget.made_limit = MADE_TIMES * ir->budget.given + MADE_FREE;
    ir->budget.work_limit = WORK_TIMES * ir->budget.given + WORK_FREE;
    free(ranges);
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
