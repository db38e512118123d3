/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "recurrent.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct tdl_operand *O;

struct tdl_operand *tdl_part_of(struct tdl_builder *b, O x, uint32_t axis, uint32_t start,
                                uint32_t size)
{
    struct tdl_slice_params p = {0};
    p.start[axis] = start;
    p.size[axis] = size;
    return x ? tdl_builder_slice(b, x, &p) : NULL;
}

/* Number `i` of the first dimension, which is left out. */
static O row_of(struct tdl_builder *b, O x, uint32_t i)
{
    O part = tdl_part_of(b, x, 0, i, 1);
    return part ? tdl_builder_reshape(b, part, part->desc.rank - 1, part->desc.shape + 1) : NULL;
}

/* x as the only one of a new first dimension. */
static O as_row(struct tdl_builder *b, O x)
{
    uint32_t shape[TDL_MAX_RANK] = {1};
    if (!x)
        return NULL;
    memcpy(shape + 1, x->desc.shape, x->desc.rank * sizeof(*shape));
    return tdl_builder_reshape(b, x, x->desc.rank + 1, shape);
}

/* ------------------------------------------------------------------- checks */

/* One of the operands has this shape, as far as that is given: 0 means any. A cell's
 * lack the first dimension. */
static bool has_shape(struct tdl_builder *b, const struct tdl_recurrence *r, const char *what, O o,
                      uint32_t rank, const uint64_t *shape)
{
    const uint32_t first = r->steps ? 0 : 1;
    char text[96] = "";
    size_t used = 0;
    bool same = o->desc.rank == rank - first && o->desc.dtype == r->input->desc.dtype;
    for (uint32_t i = first; i < rank; i++) {
        same = same && (!shape[i] || o->desc.shape[i - first] == shape[i]);
        used += (size_t)snprintf(text + used, sizeof(text) - used, i > first ? ",%.0llu" : "%.0llu",
                                 (unsigned long long)shape[i]);
    }
    if (!same)
        tdl_builder_fail(b, TDL_ERROR_INVALID_ARGUMENT, "%s: %s is %s; it has to be %s[%s]",
                         r->name, what, tdl_operand_text(o), tdl_dtype_name(r->input->desc.dtype),
                         text);
    return same;
}

static bool check_input(struct tdl_builder *b, struct tdl_recurrence *r)
{
    const struct tdl_tensor_params *x = &r->input->desc;
    const uint32_t first = r->steps ? 1 : 0;
    if (r->steps > TDL_MAX_STEPS)
        tdl_builder_fail(b, TDL_ERROR_UNSUPPORTED,
                         "%s: %u steps; up to %d: cut the sequence, and give the states on",
                         r->name, r->steps, TDL_MAX_STEPS);
    else if (x->rank != 2 + first || !tdl_is_float(x->dtype) || (first && x->shape[0] != r->steps))
        tdl_builder_fail(b, TDL_ERROR_INVALID_ARGUMENT,
                         "%s: the input is %s; it is float32 or float16 of %s%u%s", r->name,
                         tdl_operand_text(r->input), first ? "[steps, batch, size] with " : "[",
                         first ? r->steps : 0, first ? " steps" : "]");
    else if (!r->hidden || r->hidden > INT32_MAX / 4)
        tdl_builder_fail(b, TDL_ERROR_INVALID_ARGUMENT,
                         "%s: a hidden size of %u; it is the last dimension of the states", r->name,
                         r->hidden);
    r->batch = x->shape[first];
    r->inputs = x->shape[first + 1];
    if ((uint64_t)r->batch * (first ? r->steps : 1) > UINT32_MAX)
        tdl_builder_fail(b, TDL_ERROR_UNSUPPORTED, "%s: the input is %s; choose a smaller batch",
                         r->name, tdl_operand_text(r->input));
    return b->status == TDL_OK;
}

bool tdl_recurrence_check(struct tdl_builder *b, struct tdl_recurrence *r)
{
    const struct tdl_cell *c = &r->all;
    const O operands[] = {r->input,          c->weight,   c->recurrent,  c->bias,
                          c->recurrent_bias, c->peephole, r->initial[0], r->initial[1]};
    if (tdl_builder_status(b) != TDL_OK)
        return false;
    if ((unsigned)r->direction > TDL_RECURRENT_BOTH)
        tdl_builder_fail(b, TDL_ERROR_INVALID_ARGUMENT, "%s: there is no direction %u", r->name,
                         r->direction);
    for (uint32_t i = 0; i < TDL_COUNT(operands) && b->status == TDL_OK; i++)
        if (operands[i] ? operands[i]->ir != b->ir : i < 3)
            tdl_builder_fail(b, TDL_ERROR_INVALID_ARGUMENT,
                             "%s: input %u is missing or of another builder", r->name, i);
    if (b->status != TDL_OK || !check_input(b, r))
        return false;
    const uint64_t d = r->direction == TDL_RECURRENT_BOTH ? 2 : 1, all = r->gates * r->hidden;
    const struct {
        const char *what;
        O o;
        uint32_t rank;
        uint64_t shape[3];
    } rows[] = {
        {"the weight", c->weight, 3, {d, all, r->inputs}},
        {"the recurrent weight", c->recurrent, 3, {d, all, r->hidden}},
        {"the bias", c->bias, 2, {d, all}},
        {"the recurrent bias", c->recurrent_bias, 2, {d, all}},
        {"the peephole", c->peephole, 2, {d, 3ull * r->hidden}},
        {"the hidden state", r->initial[0], 3, {d, r->batch, r->hidden}},
        {"the cell's state", r->initial[1], 3, {d, r->batch, r->hidden}},
    };
    for (uint32_t i = 0; i < TDL_COUNT(rows); i++)
        if (rows[i].o && !has_shape(b, r, rows[i].what, rows[i].o, rows[i].rank, rows[i].shape))
            return false;
    return true;
}

/* -------------------------------------------------------------------- steps */

/* The share of the input, [rows, inputs], in the gates. */
static O project(struct tdl_builder *b, const struct tdl_recurrence *r, struct tdl_cell *cell,
                 O input)
{
    O bias = cell->bias;
    if (r->one_bias && cell->recurrent_bias) {
        bias = bias ? tdl_builder_add(b, bias, cell->recurrent_bias) : cell->recurrent_bias;
        cell->recurrent_bias = NULL;
    }
    r->prepare(b, r, cell);
    return tdl_builder_gemm(b, input, cell->weight,
                            &(struct tdl_gemm_params){.c = bias, .b_transpose = true});
}

static O zeros(struct tdl_builder *b, const struct tdl_recurrence *r)
{
    static const float none;
    const struct tdl_tensor_params p = {.dtype = r->input->desc.dtype};
    return tdl_builder_expand(b, tdl_builder_constant(b, &p, &none, tdl_dtype_size(p.dtype)), 2,
                              (const uint32_t[]){r->batch, r->hidden});
}

/* One direction: its last states, and its part of the sequence, [steps, 1, batch, hidden]. */
static void run_direction(struct tdl_builder *b, const struct tdl_recurrence *r, uint32_t direction,
                          O *rows, O out[3])
{
    const struct tdl_cell *all = &r->all;
    const bool back = direction == 1 || r->direction == TDL_RECURRENT_BACKWARD;
    struct tdl_cell cell = {
        .weight = row_of(b, all->weight, direction),
        .recurrent = row_of(b, all->recurrent, direction),
        .bias = row_of(b, all->bias, direction),
        .recurrent_bias = row_of(b, all->recurrent_bias, direction),
        .peephole = row_of(b, all->peephole, direction),
    };
    O states[2] = {NULL, NULL};
    O x = tdl_builder_reshape(b, r->input, 2, (const uint32_t[]){r->steps * r->batch, r->inputs});
    x = project(b, r, &cell, x);
    for (uint32_t i = 0; i < r->states; i++)
        states[i] = r->initial[i] ? row_of(b, r->initial[i], direction) : zeros(b, r);
    for (uint32_t i = 0; i < r->steps && b->status == TDL_OK; i++) {
        const uint32_t step = back ? r->steps - 1 - i : i;
        r->step(b, r, &cell, tdl_part_of(b, x, 0, step * r->batch, r->batch), states);
        rows[step] = r->return_sequence ? as_row(b, states[0]) : NULL;
    }
    for (uint32_t i = 0; i < r->states; i++)
        out[i] = as_row(b, states[i]);
    if (r->return_sequence)
        out[r->states] = tdl_builder_reshape(b, tdl_builder_concat(b, rows, r->steps, 0), 4,
                                             (const uint32_t[]){r->steps, 1, r->batch, r->hidden});
}

enum tdl_result tdl_recurrence_run(struct tdl_builder *b, struct tdl_recurrence *r, O *out_outputs)
{
    O parts[2][3] = {{NULL}}, *rows;
    const uint32_t outputs = r->states < 2 ? r->states + 1 : 3;
    for (uint32_t i = 0; out_outputs && i < outputs; i++)
        out_outputs[i] = NULL;
    if (!out_outputs)
        tdl_builder_fail(b, TDL_ERROR_INVALID_ARGUMENT, "%s: out_outputs is NULL", r->name);
    else if (tdl_builder_status(b) == TDL_OK && !r->steps)
        tdl_builder_fail(b, TDL_ERROR_INVALID_ARGUMENT, "%s: a sequence of no steps", r->name);
    if (!tdl_recurrence_check(b, r))
        return tdl_builder_status(b);
    rows = calloc(r->steps, sizeof(struct tdl_operand *));
    if (!rows)
        tdl_builder_fail(b, TDL_ERROR_OUT_OF_MEMORY, "out of memory in a builder");
    for (uint32_t d = 0; rows && d < (r->direction == TDL_RECURRENT_BOTH ? 2 : 1); d++)
        run_direction(b, r, d, rows, parts[d]);
    free(rows);
    for (uint32_t i = 0; i < outputs && b->status == TDL_OK; i++)
        out_outputs[i] =
            r->direction == TDL_RECURRENT_BOTH && parts[0][i]
                ? tdl_builder_concat(b, (O[]){parts[0][i], parts[1][i]}, 2, i == r->states ? 1 : 0)
                : parts[0][i];
    return b->status;
}

void tdl_recurrence_once(struct tdl_builder *b, struct tdl_recurrence *r, O states[2])
{
    struct tdl_cell cell = r->all;
    if (!tdl_recurrence_check(b, r))
        return;
    memcpy(states, r->initial, sizeof(r->initial));
    r->step(b, r, &cell, project(b, r, &cell, r->input), states);
}
