/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The passes, from what a builder made to a plan of steps in one arena. */
#ifndef TDL_PASSES_H
#define TDL_PASSES_H

#include "ir/plan.h"

/* Passes, in this order. */
enum tdl_result tdl_pass_fold(struct tdl_ir *ir);
/* `few_dispatches`: a dispatch costs more than some work done twice, as on a
 * GPU; without it only what saves work or memory traffic is fused. */
enum tdl_result tdl_pass_fuse(struct tdl_ir *ir, bool few_dispatches);
enum tdl_result tdl_pass_layout(struct tdl_ir *ir, const struct tdl_build_params *params,
                                enum tdl_dtype storage);
/* Of layout, only what tensors inputs and outputs are bound to, for devices that
 * want no steps: packs where the params ask for them, whatever is inside. */
void tdl_pass_bind(struct tdl_ir *ir, const struct tdl_build_params *params);

/* Lower every node, then place operands in the arena by liveness. */
enum tdl_result tdl_plan_build(struct tdl_plan *plan);
enum tdl_result tdl_plan_place(struct tdl_plan *plan); /* arena.c: the second half */

#endif
