/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The plans of a graph whose inputs have dynamic dimensions. The graph itself is the first
 * plan, of the sizes that it was built with, and owns the others; each is a graph as
 * tdl_graph_build() makes it, so that devices know of one size only.
 *
 * A plan is made by resizing a copy of the builder's IR, or by a function that adds the same to
 * a new builder, as readers of model files give it.
 */
#ifndef TDL_PLANS_H
#define TDL_PLANS_H

#include "device.h"

struct tdl_builder;

/* TDL_OK, or why graphs of it have no other sizes than the inputs' now. */
enum tdl_result tdl_plans_check(const struct tdl_builder *builder);
/* Called for a graph that was just built; the list becomes its `plans`. */
enum tdl_result tdl_plans_create(struct tdl_graph *first, struct tdl_builder *builder,
                                 const struct tdl_build_params *params, uint64_t guard,
                                 struct tdl_plans **out_plans);
/* Waits for a plan that is being made in the background, which is told to end. */
void tdl_plans_destroy(struct tdl_plans **plans);

/* The plan for what is bound, which stays until it is given back; the graph itself where it has
 * no other or the bindings are wrong. Makes it, or has it made and is TDL_ERROR_BUSY. */
enum tdl_result tdl_plans_take(struct tdl_graph *graph, const struct tdl_binding *inputs,
                               uint32_t count, struct tdl_graph **out_plan);
void tdl_plans_give_back(struct tdl_graph *graph, struct tdl_graph *plan);

#endif
