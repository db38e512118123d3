/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The passes, from what a builder made to a plan of steps in one arena. */
#ifndef TDL_PASSES_H
#define TDL_PASSES_H

#include "ir/plan.h"

/* Passes, in this order. */
enum tdl_result tdl_pass_fold(struct tdl_ir *ir);
/* Values of four dimensions under the layout that the operators on channels around them have;
 * inputs and outputs keep theirs. */
enum tdl_result tdl_pass_labels(struct tdl_ir *ir);
/* For graphs that are kept in 16 bits: say which values are not (operand->wide). Fusions
 * keep what the last of their nodes had. */
enum tdl_result tdl_pass_widen(struct tdl_ir *ir);
/* `few_dispatches`: a dispatch costs more than some work done twice, as on a
 * GPU; without it only what saves work or memory traffic is fused. */
enum tdl_result tdl_pass_fuse(struct tdl_ir *ir, bool few_dispatches);
/* The part of fuse that leaves operators with references: for devices that want no steps. */
enum tdl_result tdl_pass_absorb(struct tdl_ir *ir);
enum tdl_result tdl_pass_layout(struct tdl_ir *ir, const struct tdl_build_params *params,
                                enum tdl_dtype storage);
/* After layout: element-wise operators on packs that follow one another become one. */
enum tdl_result tdl_pass_join(struct tdl_ir *ir);
/* Behind join: convolutions on matrix units take in what stands around them. */
enum tdl_result tdl_pass_mix(struct tdl_ir *ir, const struct tdl_device_info *device,
                             enum tdl_dtype storage);
/* For devices that want no steps, of a graph whose values are row-major: what quantized numbers
 * become between operators stays in eight bits, and is computed in one operator. Convolutions
 * that `takes`, if it is not NULL, become ones of int8. */
enum tdl_result tdl_pass_quantize(struct tdl_ir *ir, bool (*takes)(const struct tdl_node *conv));
/* Of layout, only what tensors inputs and outputs are bound to, for devices that
 * want no steps: packs where the params ask for them, whatever is inside. */
void tdl_pass_bind(struct tdl_ir *ir, const struct tdl_build_params *params);

/* Lower every node, then place operands in the arena by liveness. */
enum tdl_result tdl_plan_build(struct tdl_plan *plan);
void tdl_plan_find_parts(struct tdl_plan *plan);       /* parts.c: before the first */
void tdl_plan_schedule(struct tdl_plan *plan);         /* schedule.c: in between */
enum tdl_result tdl_plan_place(struct tdl_plan *plan); /* arena.c: the second half */
/* The placing of the arena: every value with a size, that is not external and has a
 * `first_step` (UINT32_MAX: none), gets its offset. `guard` as in struct tdl_plan. */
enum tdl_result tdl_arena_place(struct tdl_ir *ir, uint64_t guard, uint64_t *out_arena_size,
                                uint64_t *out_tensor_bytes);

#endif
