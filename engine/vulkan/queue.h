/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The queues of a context, and the points of its timeline. Work of one queue is in the
 * order of its submission. Each queue has a semaphore that its submissions bring to
 * their points; which queue a point is of lies in the number: queue q has the points
 * that are q modulo the number of queues. So points count all work in the order of
 * submission, and with one queue they are 1, 2, 3.
 *
 * Whoever submits waits on the device for what other queues still do with the same
 * buffers (submit.c). A device that was created outside lends one queue.
 */
#ifndef TDL_VULKAN_QUEUE_H
#define TDL_VULKAN_QUEUE_H

#include "vk.h"
#include "wait.h"

#define TDL_MAX_QUEUES 4 /* more were no faster on an H100 */

struct tdl_context;

/* All but the handles is guarded by the context's lock. */
struct tdl_queue {
    VkQueue handle;
    VkSemaphore timeline;
    uint64_t last_point;  /* submitted here */
    uint64_t first_point; /* first point since the queue was last seen idle */
    /* Work of this queue up to this point is ordered by a barrier before anything
     * that is submitted here now, and that of others by a semaphore. */
    uint64_t barrier_point;
    uint64_t waited[TDL_MAX_QUEUES];
    struct tdl_waiters waiters;
};

/* How many of a family's `available` queues contexts use, which TDL_QUEUES in the environment
 * may say, too. */
uint32_t tdl_queue_count_wanted(VkQueueFlags flags, uint32_t available);

/* A timeline semaphore at 0; `next` goes behind its type. */
enum tdl_result tdl_timeline_create(struct tdl_context *ctx, const void *next, const char *name,
                                    VkSemaphore *out_semaphore);

enum tdl_result tdl_queues_init(struct tdl_context *ctx);
void tdl_queues_finish(struct tdl_context *ctx);

/* The queue that a point is of. */
struct tdl_queue *tdl_queue_of(const struct tdl_context *ctx, uint64_t point);
/* The next point of a queue. With the lock held. */
uint64_t tdl_queue_next_point(const struct tdl_context *ctx, uint32_t queue);
/* Note that it was submitted. With the lock held. */
void tdl_queue_submitted(struct tdl_context *ctx, uint32_t queue, uint64_t point);
/* The value that the queue's semaphore has reached; 0 if the driver does not say. */
uint64_t tdl_queue_passed(const struct tdl_context *ctx, const struct tdl_queue *queue);
/* All work up to here is done, on whatever queue. With the lock held. */
uint64_t tdl_queues_passed_locked(struct tdl_context *ctx);

#endif
