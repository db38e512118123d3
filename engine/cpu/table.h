/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The functions of the table that lie in this folder itself. */
#ifndef TDL_CPU_TABLE_H
#define TDL_CPU_TABLE_H

#include "cpu.h"

/* timeline.c */
enum tdl_result tdl_cpu_timeline_start(struct tdl_cpu_context *ctx);
/* Runs what is queued first. */
void tdl_cpu_timeline_stop(struct tdl_cpu_context *ctx);
struct tdl_cpu_batch;
/* Give the batch a point behind all others, and its buffers with it. */
uint64_t tdl_cpu_timeline_submit(struct tdl_cpu_context *ctx, struct tdl_cpu_batch *batch);
/* Call free_fn(data) when the point has passed; at once if it has. */
void tdl_cpu_timeline_defer(struct tdl_cpu_context *ctx, uint64_t point, void (*free_fn)(void *),
                            void *data);
enum tdl_result tdl_cpu_context_wait(struct tdl_context *ctx, uint64_t point, uint64_t timeout_ns);
uint64_t tdl_cpu_context_last_point(struct tdl_context *ctx);
uint64_t tdl_cpu_context_passed(struct tdl_context *ctx);
void tdl_cpu_context_collect(struct tdl_context *ctx);

/* buffer.c */
enum tdl_result tdl_cpu_buffer_create(struct tdl_context *ctx, const struct tdl_buffer_wish *wish,
                                      struct tdl_buffer **out_buffer);
enum tdl_result tdl_cpu_buffer_import_host(struct tdl_context *ctx, void *pointer, size_t size,
                                           struct tdl_buffer **out_buffer, uint64_t *out_offset);
void tdl_cpu_buffer_destroy(struct tdl_buffer *buffer);
enum tdl_result tdl_cpu_buffer_check_tensor(const struct tdl_buffer *buffer, size_t size);
uint64_t tdl_cpu_buffer_point(const struct tdl_buffer *buffer, bool and_read);
enum tdl_result tdl_cpu_buffer_check_whole(const struct tdl_buffer *buffer);

/* batch.c */
enum tdl_result tdl_cpu_batch_create(struct tdl_context *ctx, struct tdl_batch **out_batch);
void tdl_cpu_batch_destroy(struct tdl_batch *batch);
enum tdl_result tdl_cpu_batch_begin(struct tdl_batch *batch);
void tdl_cpu_batch_cancel(struct tdl_batch *batch);
enum tdl_result tdl_cpu_batch_submit(struct tdl_batch *batch, uint64_t *out_point);
void tdl_cpu_batch_abort(struct tdl_batch *batch);
enum tdl_result tdl_cpu_batch_stage(struct tdl_batch *batch, uint32_t stage);
bool tdl_cpu_batch_stage_times(struct tdl_batch *batch, uint64_t out_ns[TDL_MAX_STAGES]);
uint64_t tdl_cpu_batch_point(const struct tdl_batch *batch);
enum tdl_result tdl_cpu_batch_copy(struct tdl_batch *batch, struct tdl_buffer *source,
                                   uint64_t source_offset, struct tdl_buffer *target,
                                   uint64_t target_offset, uint64_t size);
enum tdl_result tdl_cpu_batch_fill_zero(struct tdl_batch *batch, struct tdl_buffer *target);
void tdl_cpu_batch_free(struct tdl_context *ctx, struct tdl_batch *batch);

#endif
