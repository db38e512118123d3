/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file batch.h
 * Buffers, and batches: several pieces of work in one submission.
 */
#ifndef TDL_BATCH_H
#define TDL_BATCH_H

#include <tdl/tdl.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---------------------------------------------------------------- buffers */

/** A piece of memory: the planes of frames lie in such. */
struct tdl_buffer;

enum tdl_buffer_access {
    TDL_BUFFER_DEVICE = 0, /**< the device only */
    TDL_BUFFER_UPLOAD,     /**< mapped; the caller writes, the device reads */
    TDL_BUFFER_READBACK,   /**< mapped and cached; the device writes, the caller reads */
};

/** Create a buffer of `size` bytes. Mapped kinds are coherent and stay mapped
 *  for life: where the device's cached memory is not, submissions flush it, and waits of
 *  the engine (tdl_context_wait(), tdl_buffer_wait()) invalidate it. Callers who learn by
 *  semaphores or fences of their own that the device has finished call tdl_buffer_wait()
 *  before they read. Nobody writes to a buffer while the device does. Allocates device
 *  memory. */
TDL_API enum tdl_result tdl_buffer_create(struct tdl_context *context, size_t size,
                                          enum tdl_buffer_access access,
                                          struct tdl_buffer **out_buffer);
/**
 * Make the caller's memory a buffer without copying (VK_EXT_external_memory_host; the
 * CPU takes any). `pointer` and `size` are widened to page borders inside; the memory stays
 * valid until the buffer is destroyed and the timeline has passed its last use.
 * @param out_offset  bytes from the buffer's begin to `pointer`
 * @return TDL_ERROR_UNSUPPORTED when device or driver refuses, with the reason;
 *         TDL_ERROR_INVALID_ARGUMENT when the memory ends behind the last address.
 */
TDL_API enum tdl_result tdl_buffer_import_host(struct tdl_context *context, void *pointer,
                                               size_t size, struct tdl_buffer **out_buffer,
                                               uint64_t *out_offset);
/**
 * A tensor on the memory of a buffer, from its begin: of one that was created, or that
 * others share (tdl_buffer_import_host(), and tdl_buffer_import_fd() and tdl_buffer_wrap()
 * in vulkan.h). Nothing is copied or zeroed; the memory lives as long as buffer or tensor
 * does. What mapped kinds hold is in tdl_buffer_data() when the timeline has passed the
 * point of what wrote it. Several tensors on one buffer are ordered with each other, as
 * views are; who else uses the memory has to be waited for, and to wait.
 * @param params  as of tdl_tensor_create(); EXPORTABLE ones have memory of their own.
 *                In packs (TDL_PACKING_C4) the missing channels have to be zero
 * @return TDL_ERROR_INVALID_ARGUMENT for a buffer that is too small: the tensor's bytes
 *         rounded up to 16, and on the CPU, of the caller's memory, 64 more, at an
 *         address that is a multiple of 64. On Vulkan likewise for imported memory that does
 *         not begin with a page (`out_offset` is not 0). What begins with a page, and has 64
 *         bytes more, does on every device
 */
TDL_API enum tdl_result tdl_tensor_create_on(struct tdl_buffer *buffer,
                                             const struct tdl_tensor_params *params,
                                             struct tdl_tensor **out_tensor);
/** Deferred: the memory goes when the device has passed the last use. */
TDL_API void tdl_buffer_destroy(struct tdl_buffer **buffer);
/** The mapping, or NULL for TDL_BUFFER_DEVICE and imported memory. */
TDL_API void *tdl_buffer_data(struct tdl_buffer *buffer);
TDL_API size_t tdl_buffer_size(const struct tdl_buffer *buffer);
/** False where a GPU with memory of its own reads the buffer over a bus, as it lies in that of
 *  the CPU. What is read more than once there is better copied before, by
 *  tdl_batch_copy_buffer(). */
TDL_API bool tdl_buffer_is_local(const struct tdl_buffer *buffer);
/** Wait until the device has finished writing (for_write: and reading) the
 *  buffer, as far as submitted. Blocking; no wait when it is idle.
 *  @return TDL_ERROR_CANCELED after tdl_batch_abort(): what should be there is not */
TDL_API enum tdl_result tdl_buffer_wait(struct tdl_buffer *buffer, bool for_write);

/* ---------------------------------------------------------------- batches */

/**
 * A run of work that is submitted once; on Vulkan up to 250 graphs. Made once and
 * used again for frame after frame: begin, add work, submit. Holds its own command pool,
 * descriptors and timestamps; begin waits for the batch's previous submission,
 * so keep one batch per frame in flight.
 */
struct tdl_batch;

/** Parts of a batch's work that can be timed apart. */
#define TDL_MAX_STAGES 8

/** Create a batch, not begun. Allocates its pools; never waits for the device. */
TDL_API enum tdl_result tdl_batch_create(struct tdl_context *context, struct tdl_batch **out_batch);
/**
 * Have a batch's work from the next tdl_batch_begin() on run on another of the device's
 * queues, so that the work of several streams goes on at the same time, if the device has
 * several (tdl_device_info.queues; NVIDIA's and AMD's GPUs do). What uses the same memory is
 * ordered as it is submitted, on whatever queue. Without this call, all work is on queue 0.
 * A graph has memory of its own for its activations on each queue that it runs on. Not to be
 * called while another thread uses the batch.
 * @param queue  any number; it counts modulo the context's queues
 */
TDL_API void tdl_batch_set_queue(struct tdl_batch *batch, uint32_t queue);
/** Gives up what was not submitted; what was, runs on. */
TDL_API void tdl_batch_destroy(struct tdl_batch **batch);
/** Start anew. Blocking: waits for the batch's previous submission. */
TDL_API enum tdl_result tdl_batch_begin(struct tdl_batch *batch);
/** Give up what was added since begin. */
TDL_API void tdl_batch_cancel(struct tdl_batch *batch);
/**
 * Nobody wants any more what was submitted last: on the CPU the rest of it is left, between
 * a graph's operators and inside of most of them, and its point passes soon. What it should
 * have written, and what batches behind it make of that, is not there until it is written
 * anew: reads of such tensors, and tdl_buffer_wait(), are TDL_ERROR_CANCELED, while
 * tdl_context_wait() is TDL_OK as ever. Does nothing where the work has finished, was not
 * submitted, or is on Vulkan, whose GPU runs on with what it was given. Graphs and other
 * batches go on, and the batch may be begun again.
 * Thread-safe: from any thread while another one uses the batch, but not while it is
 * destroyed. Never blocks.
 */
TDL_API void tdl_batch_abort(struct tdl_batch *batch);
/** Submit; never waits. `out_point` may be NULL. */
TDL_API enum tdl_result tdl_batch_submit(struct tdl_batch *batch, uint64_t *out_point);
/** Begin timing a stage, numbered by the caller from 0 to TDL_MAX_STAGES - 1, in any
 *  order; the stage before ends here, and the last at submit. What a stage takes
 *  when it is begun again is added.
 *  @return TDL_ERROR_INVALID_ARGUMENT for numbers beyond; TDL_ERROR_UNSUPPORTED when
 *          stages were begun TDL_MAX_STAGES times in this batch */
TDL_API enum tdl_result tdl_batch_stage(struct tdl_batch *batch, uint32_t stage);
/** The device's time in ns of each of the first `count` stages of the last finished
 *  submission; 0 where the stage was not run or the device has no timestamps. Does
 *  not wait: false, and zeros, when nothing has finished since the last begin, or it
 *  had no stages. */
TDL_API bool tdl_batch_stage_times(struct tdl_batch *batch, uint64_t *out_ns, uint32_t count);
/** tdl_graph_dispatch() as a part of a batch. */
TDL_API enum tdl_result tdl_batch_graph(struct tdl_batch *batch, struct tdl_graph *graph,
                                        const struct tdl_binding *inputs, uint32_t input_count,
                                        const struct tdl_binding *outputs, uint32_t output_count);
/**
 * Copy `size` bytes of a buffer into a tensor, as it lies in memory, or of a tensor into a
 * buffer: one or more, at any offsets, within both. The tensor is WRITABLE, or READABLE.
 * To read without waiting copy into a buffer of TDL_BUFFER_READBACK; when the timeline
 * has passed the batch's point tdl_buffer_data() has the bytes.
 */
TDL_API enum tdl_result tdl_batch_buffer_to_tensor(struct tdl_batch *batch,
                                                   struct tdl_buffer *buffer,
                                                   uint64_t buffer_offset,
                                                   struct tdl_tensor *tensor, uint64_t offset,
                                                   size_t size);
TDL_API enum tdl_result tdl_batch_tensor_to_buffer(struct tdl_batch *batch,
                                                   struct tdl_tensor *tensor, uint64_t offset,
                                                   struct tdl_buffer *buffer,
                                                   uint64_t buffer_offset, size_t size);

/**
 * Copy `size` bytes from one buffer to another, or to another part of the same one: one or
 * more, at any offsets, within both. Work of the batch that comes later sees them there.
 * @return TDL_ERROR_INVALID_ARGUMENT where two parts of one buffer overlap, be it by a byte
 *         or all of them
 */
TDL_API enum tdl_result tdl_batch_copy_buffer(struct tdl_batch *batch, struct tdl_buffer *source,
                                              uint64_t source_offset, struct tdl_buffer *target,
                                              uint64_t target_offset, size_t size);

#ifdef __cplusplus
}
#endif
#endif
