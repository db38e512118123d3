/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A compiled graph: the plan with its pipelines, arena and weights, and the
 * command buffers recorded for the tensors it was dispatched with.
 */
#ifndef TDL_GRAPH_H
#define TDL_GRAPH_H

#include "compile.h"

#include "compile/passes.h"
#include "vulkan/batch.h"

#define TDL_MAX_BINDINGS 32 /* inputs and outputs of one graph */
#define TDL_MAX_RECORDINGS 8

/* The plan recorded for one set of bound tensors. */
struct tdl_recording {
    struct tdl_recording *next;
    atomic_int refs; /* the graph's, and unsubmitted batches' */
    /* Which buffers, by id: a recording does not keep memory alive, and one
     * whose buffer has gone is never found again. */
    uint64_t bound[TDL_MAX_BINDINGS];
    VkCommandPool pool;
    VkCommandBuffer commands;
    VkDescriptorPool descriptors;
    VkQueryPool queries; /* of a profiling recording */
    uint64_t last_used;
};

struct tdl_graph {
    struct tdl_context *ctx;
    struct tdl_plan plan;
    uint32_t operator_count;
    pthread_mutex_t compile_lock;
    atomic_bool compiled; /* every step has its pipeline */
    struct tdl_buffer *arena, *weights;
    pthread_mutex_t lock; /* guards recordings */
    struct tdl_recording *recordings;
    uint32_t recording_count;
    uint64_t use_counter;
    struct tdl_graph_step *steps;
};

/* tdl_builder_build() with tdl_plan.guard, for tests: bound tensors then need
 * buffers with as many bytes behind what they hold. */
enum tdl_result tdl_builder_build_guarded(struct tdl_builder *builder,
                                          const struct tdl_build_params *params, uint64_t guard,
                                          struct tdl_graph **out_graph);

/* TDL_OK, or why the builder cannot be built. */
enum tdl_result tdl_builder_check_buildable(const struct tdl_builder *builder);
/* The same, with the choice of algorithms in the caller's hand. */
enum tdl_result tdl_builder_build_by(struct tdl_builder *builder,
                                     const struct tdl_build_params *params, uint64_t guard,
                                     const struct tdl_plan_policy *policy,
                                     struct tdl_graph **out_graph);

/* Will the device take every step? */
enum tdl_result tdl_pass_check(const struct tdl_graph *graph);
/* Fill in the pipeline of every step. Blocking: compiles. */
enum tdl_result tdl_pass_pipelines(struct tdl_graph *graph,
                                   const struct tdl_compile_params *params);

/* record.c */
enum tdl_result tdl_recording_create(struct tdl_graph *graph, struct tdl_buffer *const *bound,
                                     bool profile, struct tdl_recording **out_recording);
/* Drop a reference; the last one frees when the timeline passes what has been
 * submitted so far. A release function of struct tdl_hold. */
void tdl_recording_release(struct tdl_context *ctx, void *recording);

#endif
