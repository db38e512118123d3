/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Recording work. Within a batch, a barrier is recorded only where a buffer's
 * use conflicts with an earlier one since the last barrier; against earlier
 * batches that is decided at submission, under the context's lock, because
 * only there the order is known.
 */
#ifndef TDL_VK_BATCH_H
#define TDL_VK_BATCH_H

#include "buffer.h"
#include "pipeline.h"

/* <tdl/batch.h> promises fewer; a few more have room. */
#define TDL_BATCH_GRAPHS 250

/* A storage buffer binding; index in the array is the binding number. A NULL
 * buffer leaves the binding unused by the kernel. */
struct tdl_bind {
    struct tdl_buffer *buffer;
    uint64_t offset; /* bytes, multiple of minStorageBufferOffsetAlignment (256 does) */
    uint64_t size;   /* bytes, 0: to the end */
    bool read, write;
    bool exact; /* nothing of the buffer is touched but these bytes, and size is not 0 */
};

/* Add one dispatch. Push constants start at byte 0. */
enum tdl_result tdl_batch_dispatch(struct tdl_batch *batch, const struct tdl_pipeline *pipeline,
                                   const struct tdl_bind *binds, uint32_t bind_count,
                                   const void *push, uint32_t push_size, uint32_t groups_x,
                                   uint32_t groups_y, uint32_t groups_z);
/* Something that a batch keeps alive until its work has a point or was given
 * up; release() then frees it behind the context's last point. */
struct tdl_hold {
    void *data;
    void (*release)(struct tdl_context *ctx, void *data);
    void (*submitted)(void *data); /* before that, where it was; may be NULL */
};
/* Work recorded elsewhere, in parts, which orders its own dispatches. */
struct tdl_recorded {
    const VkCommandBuffer *parts;
    const double *ns; /* what each part is thought to take */
    uint32_t part_count, dispatches;
    double bound_ns; /* of what is submitted at once; 0: none */
};
/* Add it, with the buffers that it uses. On success the batch takes `hold` over. */
enum tdl_result tdl_batch_execute(struct tdl_batch *batch, const struct tdl_recorded *recorded,
                                  const struct tdl_bind *uses, uint32_t use_count,
                                  struct tdl_hold hold);
/* Keep something alive until then. On success the batch takes it over. */
enum tdl_result tdl_batch_hold(struct tdl_batch *batch, struct tdl_hold hold);
/* The command buffer to record more work into, ordered behind earlier work on
 * the same buffers. */
enum tdl_result tdl_batch_commands(struct tdl_batch *batch, const struct tdl_bind *uses,
                                   uint32_t use_count, VkCommandBuffer *out_commands);
/* The batch's end gives a buffer to a queue family; 0 only uses it, for the
 * sake of order. */
enum tdl_result tdl_batch_give(struct tdl_batch *batch, struct tdl_buffer *buffer, uint32_t family);
struct tdl_sync;
/* The batch's waits and signals. An error if it is being recorded when it should not be, or is not
 * when it should. */
enum tdl_result tdl_batch_sync(struct tdl_batch *batch, bool recording, struct tdl_sync **out_sync);
/* The queue that its work goes to. */
uint32_t tdl_batch_queue(const struct tdl_batch *batch);

#endif
