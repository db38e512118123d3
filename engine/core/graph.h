/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Compiled graphs: from a builder through the passes to a device's program. */
#ifndef TDL_GRAPH_H
#define TDL_GRAPH_H

#include "core.h"

/* tdl_builder_build() with tdl_plan.guard, for tests: bound tensors then need
 * buffers with as many bytes behind what they hold. */
enum tdl_result tdl_builder_build_guarded(struct tdl_builder *builder,
                                          const struct tdl_build_params *params, uint64_t guard,
                                          struct tdl_graph **out_graph);

/* build.c: one plan of the IR, without more of them; `params` may be NULL. */
enum tdl_result tdl_graph_build(struct tdl_context *ctx, const struct tdl_ir *ir,
                                const struct tdl_build_params *params, uint64_t guard,
                                struct tdl_graph **out_graph);
enum tdl_result tdl_graph_build_by(struct tdl_context *ctx, const struct tdl_ir *ir,
                                   const struct tdl_build_params *params, uint64_t guard,
                                   const struct tdl_plan_policy *policy,
                                   struct tdl_graph **out_graph);
/* Free one plan, whose process it is. */
void tdl_graph_finish(struct tdl_graph *graph);

/* TDL_OK, or why the builder cannot be built. */
enum tdl_result tdl_builder_check_buildable(const struct tdl_builder *builder);
/* As tdl_builder_build_guarded(), with the choice of algorithms in the caller's hand. */
enum tdl_result tdl_builder_build_by(struct tdl_builder *builder,
                                     const struct tdl_build_params *params, uint64_t guard,
                                     const struct tdl_plan_policy *policy,
                                     struct tdl_graph **out_graph);

#endif
