/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Code shared by lstm and gru: sequences of a known length become the operators of each
 * step, one behind the other. What the input gives to the gates is one product for all
 * steps.
 */
#ifndef TDL_RECURRENT_H
#define TDL_RECURRENT_H

#include "ir/builder.h"
#include "ops.h"

#define TDL_MAX_STEPS 1024

/* The operands of one direction, which is what a step reads. */
struct tdl_cell {
    struct tdl_operand *weight, *recurrent, *bias, *recurrent_bias, *peephole;
    struct tdl_operand *parts[3]; /* part of the recurrent weights, or of the peephole */
};

struct tdl_recurrence {
    const char *name;
    uint32_t gates, states; /* 4 and 2, or 3 and 1 */
    uint32_t steps;         /* 0: a cell, whose operands lack the first dimension */
    uint32_t batch, inputs, hidden;
    enum tdl_recurrent_direction direction;
    bool return_sequence;
    bool one_bias; /* both are added to what the input gives */
    struct tdl_operand *input;
    struct tdl_cell all; /* directions in their first dimension */
    struct tdl_operand *initial[2];
    /* Values that do not change from step to step. */
    void (*prepare)(struct tdl_builder *b, const struct tdl_recurrence *r, struct tdl_cell *cell);
    /* From what the input gives to the gates, [batch, gates · hidden], the next states. */
    void (*step)(struct tdl_builder *b, const struct tdl_recurrence *r, const struct tdl_cell *cell,
                 struct tdl_operand *x, struct tdl_operand *states[2]);
    const void *params;
};

/* All operands are there, and of the shapes that belong together: fills in batch and
 * inputs. False with the builder in error. */
bool tdl_recurrence_check(struct tdl_builder *b, struct tdl_recurrence *r);
/* The last states, and behind them the sequence if it is wanted, or NULL. */
enum tdl_result tdl_recurrence_run(struct tdl_builder *b, struct tdl_recurrence *r,
                                   struct tdl_operand **out_outputs);
/* One step of a cell: the states become the next ones. */
void tdl_recurrence_once(struct tdl_builder *b, struct tdl_recurrence *r,
                         struct tdl_operand *states[2]);

/* `size` elements of a dimension from `start` on. */
struct tdl_operand *tdl_part_of(struct tdl_builder *b, struct tdl_operand *x, uint32_t axis,
                                uint32_t start, uint32_t size);
/* None: the default. */
static inline enum tdl_activation tdl_activation_or(enum tdl_activation given,
                                                    enum tdl_activation otherwise)
{
    return given == TDL_ACTIVATION_NONE ? otherwise : given;
}

#endif
