/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Mapped memory that the CPU caches and that is not coherent, as many GPUs of boards have
 * it for reading back. The CPU's writes are flushed before each batch that uses it, and
 * its cache is invalidated when a wait has seen the point pass of what wrote it. So users
 * of mapped buffers see coherent memory, whatever the device has.
 */
#ifndef TDL_VULKAN_COHERENCE_H
#define TDL_VULKAN_COHERENCE_H

#include <tdl/tdl.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

struct tdl_buffer;

/* A context's buffers whose memory the CPU's cache may not show as the device left it. */
struct tdl_stale {
    pthread_mutex_t lock; /* taken inside of any other */
    struct tdl_vk_buffer *first;
    atomic_uint count;
};

/* A buffer's part of it, under that lock. */
struct tdl_staleness {
    struct tdl_vk_buffer *next;
    bool listed, has_gaps;
    uint64_t first_point, last_point; /* of what wrote it since it was last invalidated */
    uint64_t start, end;              /* bytes that were written */
};

void tdl_stale_init(struct tdl_stale *stale);
void tdl_stale_finish(struct tdl_stale *stale);

/* What the CPU has written to bytes `start` to `end`, or to the buffer's end if it comes first,
 * is there for a batch that is submitted behind this. Not for coherent memory. */
enum tdl_result tdl_coherence_flush(const struct tdl_buffer *buffer, uint64_t start, uint64_t end);
/* Work that was submitted, with this point, writes them. */
void tdl_coherence_note(struct tdl_buffer *buffer, uint64_t start, uint64_t end, uint64_t point);
/* Have the CPU see all that the device has finished. An error of the driver's leaves the rest
 * for the next time. */
enum tdl_result tdl_coherence_catch_up(struct tdl_context *ctx);
/* Nobody will look at it any more. */
void tdl_coherence_forget(struct tdl_buffer *buffer);

#endif
