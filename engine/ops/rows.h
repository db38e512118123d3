/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A tensor seen along one of its axes, for operators that work along one. */
#ifndef TDL_ROWS_H
#define TDL_ROWS_H

#include "element.h"
#include "ops.h"

#include <string.h>

/* Row-major [outer][length][inner]: element `k` of row (o, i) is element
 * (o · length + k) · inner + i. */
struct tdl_rows {
    uint32_t outer, length, inner;
};

static inline struct tdl_rows tdl_rows_of(const struct tdl_tensor_params *p, uint32_t axis)
{
    struct tdl_rows r = {1, p->shape[axis], 1};
    for (uint32_t i = 0; i < axis; i++)
        r.outer *= p->shape[i];
    for (uint32_t i = axis + 1; i < p->rank; i++)
        r.inner *= p->shape[i];
    return r;
}

/* The first element of row `row` = o · inner + i. */
static inline size_t tdl_rows_start(struct tdl_rows r, uint32_t row)
{
    return (size_t)(row / r.inner) * r.length * r.inner + row % r.inner;
}

/* An error with text unless the first input has that axis. */
static inline enum tdl_result tdl_axis_check(const struct tdl_node *n, uint32_t axis)
{
    const struct tdl_operand *x = n->inputs[0];
    if (axis < x->desc.rank)
        return TDL_OK;
    return tdl_fail(TDL_ERROR_INVALID_ARGUMENT, "%s: axis %u of %s; the last one is %d",
                    n->op->name, axis, tdl_operand_text(x), (int)x->desc.rank - 1);
}

/* TRUE for types that may index others. */
static inline bool tdl_is_index(enum tdl_dtype dtype)
{
    return dtype == TDL_INT32 || dtype == TDL_UINT32 || dtype == TDL_INT64;
}

/* How many elements a word holds; 1 of what is larger. */
static inline uint32_t tdl_elements_per_word(enum tdl_dtype dtype)
{
    return 4 / TDL_MIN((uint32_t)tdl_dtype_size(dtype), 4);
}

/* A float among integers. */
static inline uint32_t tdl_bits_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof(bits));
    return bits;
}

/* Invocations of a workgroup whose teams share the work on a result. */
static inline uint32_t tdl_team_local(const struct tdl_device_info *device)
{
    const uint32_t team = tdl_heuristics_of(device)->team;
    return device->max_workgroup_invocations >= team ? team : 128;
}

/* The invocations, 2ⁿ, that share one result: all of a workgroup where there
 * are few results with much work each, one where results are many. */
static inline uint32_t tdl_team_of(const struct tdl_device_info *device, uint32_t results,
                                   uint32_t work)
{
    enum { LEAST = 8 }; /* steps of one */
    const uint32_t busy = tdl_heuristics_of(device)->busy_teams;
    uint32_t team = 1;
    while (team < tdl_team_local(device) && (uint64_t)results * team < busy &&
           work / (team * 2) >= LEAST)
        team *= 2;
    return team;
}

/* Words of a row that an invocation keeps in registers at most (shaders/softmax.comp). */
enum { TDL_ROW_HELD = 16 };

/* As tdl_team_of() for rows whose elements are neighbours in memory: enough of a team to read
 * them together, and to keep a row of `work` in registers, if its members can. */
static inline uint32_t tdl_team_of_row(const struct tdl_device_info *device, uint32_t rows,
                                       uint32_t work)
{
    enum { TOGETHER = 32 };
    uint32_t team = tdl_team_of(device, rows, work);
    if (tdl_heuristics_of(device)->few_invocations)
        return team;
    while (team < tdl_team_local(device) &&
           (team < TOGETHER ? 2 * team <= work : work > TDL_ROW_HELD * team))
        team *= 2;
    return team;
}

/* Steps for others' lower(). */

/* `count` floats that one step of the node leaves to the next. */
static inline struct tdl_operand *tdl_scratch_floats(struct tdl_plan *plan, uint64_t count)
{
    return tdl_plan_scratch(plan, TDL_ALIGN(count * sizeof(float), 16));
}
/* The end of a step that makes the node's output, binding 1, of its first
 * input, binding 0, and of the node's lower(). */
static inline enum tdl_result tdl_finish_step(struct tdl_plan_step *s, struct tdl_plan *plan,
                                              struct tdl_node *n, uint64_t groups)
{
    tdl_plan_read(s, 0, n->inputs[0]);
    tdl_plan_write(s, 1, n->output);
    tdl_plan_flat_groups(s, groups);
    return plan->status;
}
/* Stores the values of `from`, of tdl_scratch_floats(), in the type of `to`. */
void tdl_narrow(struct tdl_plan *plan, struct tdl_node *n, struct tdl_operand *from,
                struct tdl_operand *to);
/* A reduction of the node's first input along one axis, to float32. */
void tdl_reduce_rows(struct tdl_plan *plan, struct tdl_node *n, enum tdl_reduction reduction,
                     uint32_t axis, struct tdl_operand *out);

#endif
