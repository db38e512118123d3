/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The inside of a batch, for those who record it (batch.c) and those who
 * submit it (submit.c). */
#ifndef TDL_BATCH_STATE_H
#define TDL_BATCH_STATE_H

#include "batch.h"
#include "vulkan/share/sync.h"

enum {
    TDL_BATCH_PARTS = 512, /* command buffers in one submission */
    TDL_BATCH_OWN = 256,   /* recorded by the batch itself */
    TDL_BATCH_FEW = 8,     /* made at once; the others as they are needed */
    TDL_BATCH_SETS = 128,  /* dispatches recorded by the batch itself */
    TDL_BATCH_HOLDS = 512, /* things kept alive: recordings, images */
    TDL_BATCH_TIMESTAMPS = TDL_MAX_STAGES + 1,
};

/* One buffer's use; `epoch` counts the barriers recorded before it. */
struct tdl_batch_use {
    struct tdl_buffer *buffer;
    uint64_t start, end; /* bytes, of all uses of the epoch */
    uint32_t epoch;
    bool read, write;
    uint32_t give; /* the queue family that it goes to with this batch, or 0 */
};

enum tdl_batch_state { TDL_BATCH_IDLE, TDL_BATCH_RECORDING };

struct tdl_vk_batch {
    struct tdl_batch base;
    enum tdl_batch_state state;
    uint32_t queue, next_queue; /* indices among the context's; from the next begin on */
    VkCommandPool pool;
    VkCommandBuffer own[TDL_BATCH_OWN];
    uint32_t own_count, own_used;
    bool open;      /* own[own_used - 1] is being recorded */
    bool finishing; /* the last part, which has room kept for it */
    VkCommandBuffer parts[TDL_BATCH_PARTS];
    bool cuts[TDL_BATCH_PARTS]; /* the part begins another submission to the queue */
    uint32_t part_count;
    double piece_ns;             /* what the parts since the last cut are thought to take */
    VkCommandBuffer handover[2]; /* in front of the parts and behind them */
    struct tdl_sync sync;
    struct tdl_hold holds[TDL_BATCH_HOLDS];
    uint32_t hold_count;
    VkDescriptorPool descriptors;
    /* The first sets_used are this recording's; others wait for kernels of their layout. As
     * many may be left from recordings before as a recording may take anew. */
    struct tdl_batch_set {
        const struct tdl_kernel_layout *layout;
        VkDescriptorSet set;
    } sets[2 * TDL_BATCH_SETS];
    uint32_t set_count, sets_used;
    struct tdl_batch_use *uses; /* counted once per barrier */
    uint32_t use_count, use_capacity, epoch, dispatches;
    bool writes_host;
    VkQueryPool queries; /* VK_NULL_HANDLE: no timestamps on this device */
    uint32_t marks[TDL_BATCH_TIMESTAMPS];
    uint32_t mark_count;
    uint32_t submitted_marks;
    uint64_t point; /* the last submission's */
};

static inline struct tdl_vk_batch *tdl_vk_batch(const struct tdl_batch *batch)
{
    return (struct tdl_vk_batch *)batch;
}

/* The command buffer under recording, opened if need be. */
enum tdl_result tdl_batch_open_commands(struct tdl_vk_batch *batch, VkCommandBuffer *out);
enum tdl_result tdl_batch_close_commands(struct tdl_vk_batch *batch);
/* Order all that follows behind all that was recorded; to_host: for the CPU. */
void tdl_batch_barrier(VkCommandBuffer commands, bool to_host);
/* Let go what the batch held until its work had a point, or was given up: work
 * recorded elsewhere, and the buffers in use, which their owners may destroy
 * or replace in between. */
void tdl_batch_let_go(struct tdl_vk_batch *batch, bool submitted);

#endif
