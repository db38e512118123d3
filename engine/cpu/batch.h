/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Batches from within, for the timeline that runs them. */
#ifndef TDL_CPU_BATCH_H
#define TDL_CPU_BATCH_H

#include "cpu.h"

struct tdl_cpu_chunk;

struct tdl_cpu_use {
    struct tdl_buffer *buffer;
    bool write;
};

struct tdl_cpu_batch {
    struct tdl_batch base;
    struct tdl_cpu_batch *next; /* in the queue */
    bool recording;
    bool queued, orphan; /* under the context's lock: to be run; nobody's any more */
    atomic_bool aborted; /* set under the context's lock, while it is queued */
    uint64_t point;

    struct tdl_cpu_work *work, **last;
    struct tdl_cpu_chunk *chunks; /* memory of the works, the newest first */
    struct tdl_cpu_use *uses;
    uint32_t use_count, use_capacity;
    /* The uses while it is queued, without references: buffers outlive the points of their uses. As
     * many as `use_capacity`. */
    struct tdl_cpu_touch {
        struct tdl_cpu_buffer *buffer;
        bool write;
    } * touches;
    uint32_t touch_count;

    uint32_t stage, stages_begun; /* TDL_MAX_STAGES: none */
    uint64_t stage_ns[TDL_MAX_STAGES];
};

static inline struct tdl_cpu_batch *tdl_cpu_batch(struct tdl_batch *batch)
{
    return (struct tdl_cpu_batch *)batch;
}

/* Release what was added, whether it has run or not. */
void tdl_cpu_batch_release(struct tdl_cpu_batch *batch);

#endif
