/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The rental state of a buffer under a tensor that may be rented. A batch asks
 * when it notes a use, for an early error, and again when it is submitted,
 * which counts: then the lock is held.
 */
#ifndef TDL_RENTAL_STATE_H
#define TDL_RENTAL_STATE_H

#include "vulkan/buffer.h"
#include "sync.h"

/* Guarded by tdl_vk(ctx)->lock. */
struct tdl_rental_state {
    bool rented;                  /* others have it: every use is an error, */
    bool waits;                   /* … or waits for them */
    bool away;                    /* others had it: the next submission takes it over */
    uint32_t family;              /* stands for the others; 0: it was never rented */
    struct tdl_semaphore_op wait; /* awaited by that submission, if any */
    VkSemaphore timeline;         /* ours, shared with those who rent; or VK_NULL_HANDLE */
    uint64_t value;               /* last known of it */
    VkSemaphore import;           /* ours, for a sync file that comes back */
    char label[64];               /* the tensor's, for messages */
};

/* All of these accept buffers that cannot be rented. TDL_OK, or that the
 * tensor is rented; of one that waits, when it is no more, or the device is lost. */
enum tdl_result tdl_rental_check(const struct tdl_buffer *buffer);
/* Wait until it is returned, if it is such a one. Call with the lock held, which is let go
 * meanwhile: true if it was. */
bool tdl_rental_await_locked(const struct tdl_buffer *buffer);
enum tdl_result tdl_rental_check_locked(const struct tdl_buffer *buffer);
/* Have the submission wait until those who had it are done. */
enum tdl_result tdl_rental_wait(const struct tdl_buffer *buffer, struct tdl_sync *sync);
/* A submission used it, and gave it to the queue family `gave`, or not (0).
 * Call with the lock held. */
void tdl_rental_used(struct tdl_buffer *buffer, uint32_t gave);
/* Make a buffer one that can be rented. */
enum tdl_result tdl_rental_create(struct tdl_buffer *buffer, const char *label, bool waits);

#endif
