/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Buffers that pass between us and others: what a submission takes over in
 * front of its work and gives back behind it, as two small command buffers,
 * since the work itself may be a recording that is replayed.
 */
#ifndef TDL_HANDOVER_H
#define TDL_HANDOVER_H

#include "vulkan/buffer.h"

enum { TDL_MAX_HANDOVERS = 32 }; /* shared buffers in one submission */

struct tdl_handover {
    VkBufferMemoryBarrier acquire[TDL_MAX_HANDOVERS], release[TDL_MAX_HANDOVERS];
    uint32_t acquire_count, release_count;
};

/* Note one buffer that the submission uses (any number of times). `give`, if
 * not 0: the queue family that it goes to for good, until rental.c takes it back.
 * Call with the lock held, since rentals come and go. */
enum tdl_result tdl_handover_add(struct tdl_handover *handover, struct tdl_buffer *buffer,
                                 uint32_t give);
/* Record what was noted: commands[0] runs before the work, commands[1] behind. */
enum tdl_result tdl_handover_record(struct tdl_context *ctx, const struct tdl_handover *handover,
                                    const VkCommandBuffer commands[2]);

#endif
