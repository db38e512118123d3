/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How far off the results of a graph may be by what devices round on the way to them. A
 * subtraction of neighbours, or a division by a small deviation, makes much of it.
 */
#ifndef TEST_CONDITION_H
#define TEST_CONDITION_H

#include <ir/ir.h>

/* For each element of each floating point output, twice the most that the reference moves where
 * every value is moved up or down by its rounding, by chance, in many runs. `want`: what the
 * reference gave, by operand id. `half`: what lies between operators is kept in 16 bits. The
 * rooms are in the order of ir->outputs; they and none of `want` are the caller's to free. */
enum tdl_result condition_rooms(const struct tdl_ir *ir, const void *const *inputs,
                                void *const *want, bool half, double **out_rooms);

#endif
