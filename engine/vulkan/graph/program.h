/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A compiled graph on Vulkan: the plan's steps with their pipelines, arena and
 * weights, and the command buffers recorded for the tensors that it was dispatched
 * with.
 */
#ifndef TDL_PROGRAM_H
#define TDL_PROGRAM_H

#include "compile.h"
#include "split.h"

#include "core/weights.h"
#include "vulkan/batch.h"

#define TDL_MAX_RECORDINGS 64 /* the streams of one model, each with tensors of its own */

/* The plan recorded for one set of bound tensors, in one arena. */
struct tdl_recording {
    struct tdl_recording *next;
    atomic_int refs; /* the graph's, and unsubmitted batches' */
    /* Bound buffers by id: a recording does not keep memory alive, and one whose buffer has gone is
     * never found again. */
    uint64_t bound[TDL_MAX_BINDINGS];
    uint32_t queue; /* the queue whose arena it uses */
    VkCommandPool pool;
    struct tdl_parts parts;
    VkCommandBuffer commands[TDL_MAX_PARTS]; /* one a part */
    VkDescriptorPool descriptors;
    struct tdl_pipeline_list *pipelines;
    VkQueryPool queries; /* round each step of a profiling recording, or round a long run */
    bool profile;
    atomic_bool submitted; /* so that the queries have a state */
    uint64_t last_used;
};

struct tdl_program {
    /* One arena per queue, or runs on several would wait for each other. The first is made with the
     * graph, others at the first run there. */
    struct tdl_buffer *arenas[TDL_MAX_QUEUES];
    struct tdl_weights weights;          /* by block of the plan */
    struct tdl_pipeline_list *pipelines; /* one a step */
    pthread_mutex_t lock;                /* guards what follows, and arenas but the first */
    struct tdl_split split;
    struct tdl_recording *recordings;
    uint32_t recording_count;
    uint64_t use_counter;
};

/* Will the device take every step? */
enum tdl_result tdl_pass_check(const struct tdl_graph *graph);
/* record.c; in the arena of `queue`, which is there. */
enum tdl_result tdl_recording_create(struct tdl_graph *graph, struct tdl_buffer *const *bound,
                                     uint32_t queue, bool profile,
                                     struct tdl_recording **out_recording);
/* Drop a reference; the last one frees when the timeline passes what has been
 * submitted so far. A release function of struct tdl_hold. */
void tdl_recording_release(struct tdl_context *ctx, void *recording);

#endif
