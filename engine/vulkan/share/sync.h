/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Semaphores and sync files of others that a batch waits for or signals. */
#ifndef TDL_SYNC_H
#define TDL_SYNC_H

#include "vulkan/context.h"

/* One batch's waits and signals. */
struct tdl_sync {
    struct tdl_semaphore_op waits[TDL_MAX_SEMAPHORES], signals[TDL_MAX_SEMAPHORES];
    uint32_t wait_count, signal_count;
    /* Ours, for sync files that come in; used again for each submission. */
    VkSemaphore imports[TDL_MAX_SEMAPHORES];
    uint32_t import_count;
    /* Ours, for the sync file that goes out; a new one for each. */
    VkSemaphore export;
    bool export_wanted, export_pending;
};

/* Forget what was asked for; the device has finished with all of it. */
void tdl_sync_begin(struct tdl_context *ctx, struct tdl_sync *sync);
/* Forget the waits and signals added since begin: they have been submitted, or never will be. */
void tdl_sync_submitted(struct tdl_context *ctx, struct tdl_sync *sync, bool submitted);
void tdl_sync_finish(struct tdl_context *ctx, struct tdl_sync *sync);
/* Wait in the batch for an op of rental_state.c. */
enum tdl_result tdl_sync_wait(struct tdl_sync *sync, VkSemaphore semaphore, uint64_t value);
/* Signal one, of at most `limit`. */
enum tdl_result tdl_sync_signal(struct tdl_sync *sync, VkSemaphore semaphore, uint64_t value,
                                uint32_t limit);

#endif
