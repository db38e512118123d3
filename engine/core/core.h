/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Contexts, buffers, batches and frames as the public headers have them: checks
 * that need no device, then a call through its table. And what the engine's own
 * rooms want of them beside.
 */
#ifndef TDL_CORE_H
#define TDL_CORE_H

#include "device.h"

/* Does a selector (tdl_context_params.device) name this device of the list? */
bool tdl_device_matches(const struct tdl_device_info *info, uint32_t index, const char *selector);
/* Whether that leaves the choice to the library: none, "" or "auto". */
bool tdl_device_is_auto(const char *selector);
/* What users expect of "auto": the smaller is the better kind. */
int tdl_device_rank(enum tdl_device_type type);

struct tdl_buffer *tdl_buffer_ref(struct tdl_buffer *buffer);
/* When its point has passed: CANCELED with text where its writing was aborted. */
enum tdl_result tdl_buffer_check_whole(const struct tdl_buffer *buffer);
/* Drop its reference of the context, which is not the last: of one that goes on a thread
 * that the context's end waits for. */
void tdl_buffer_loosen(struct tdl_buffer *buffer);
/* As tdl_buffer_create(), with a name for messages and captures. */
enum tdl_result tdl_buffer_create_named(struct tdl_context *ctx, size_t size,
                                        enum tdl_buffer_access access, const char *name,
                                        struct tdl_buffer **out_buffer);
/* As tdl_buffer_create_named(), possibly above max_buffer_bytes: kernels reach only parts of it. */
enum tdl_result tdl_buffer_create_parts(struct tdl_context *ctx, size_t size,
                                        enum tdl_buffer_access access, const char *name,
                                        struct tdl_buffer **out_buffer);
/* The memory of a tensor that may be rented to others. */
enum tdl_result tdl_buffer_create_exportable_for(struct tdl_context *ctx, size_t size,
                                                 uint32_t usage, const char *name,
                                                 struct tdl_buffer **out_buffer);

struct tdl_context *tdl_batch_context(struct tdl_batch *batch);
/* Borrow a batch for one-off work, begun; the context keeps those that were
 * given back, so that nothing is created in the steady state. Submit it, then
 * give it back; NULL is accepted, and what was not submitted is cancelled.
 * Where max_queued of them are not done, it waits for the oldest. */
enum tdl_result tdl_batch_borrow(struct tdl_context *ctx, struct tdl_batch **out_batch);
void tdl_batch_give_back(struct tdl_batch **batch);
/* As tdl_batch_borrow(), for work that the library's caller queues: where it would wait, it fails
 * with TDL_ERROR_BUSY if the context was made so. */
enum tdl_result tdl_batch_borrow_queued(struct tdl_context *ctx, struct tdl_batch **out_batch);
/* A mapped buffer of `size` bytes or more that no work uses; give it back when what
 * uses it is submitted: the context keeps it for the next one. */
enum tdl_result tdl_staging_take(struct tdl_context *ctx, size_t size,
                                 enum tdl_buffer_access access, struct tdl_buffer **out_buffer);
void tdl_staging_give_back(struct tdl_buffer **buffer);
/* As giving back, of one that is loose. */
void tdl_staging_keep(struct tdl_buffer *buffer);
/* The end of the context: the last reference has gone. */
void tdl_staging_finish(struct tdl_context *ctx);
/* notifier.c: with tdl_context_init(), and behind tdl_notifier_end(). */
void tdl_notifier_init(struct tdl_notifier *notifier);
void tdl_notifier_finish(struct tdl_notifier *notifier);
/* Nobody has a reference of the context any more, and no thread calls back. */
void tdl_context_end(struct tdl_context *ctx);
/* Add a copy between buffers, bytes. */
enum tdl_result tdl_batch_copy(struct tdl_batch *batch, struct tdl_buffer *source,
                               uint64_t source_offset, struct tdl_buffer *target,
                               uint64_t target_offset, uint64_t size);
enum tdl_result tdl_batch_fill_zero(struct tdl_batch *batch, struct tdl_buffer *target);

#endif
