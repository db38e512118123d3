/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The functions that the device's table (core/device.h) points to. */
#ifndef TDL_TABLE_H
#define TDL_TABLE_H

#include "core/device.h"

void tdl_vk_context_destroy(struct tdl_context *ctx);
enum tdl_result tdl_vk_context_wait(struct tdl_context *ctx, uint64_t point, uint64_t timeout_ns);
uint64_t tdl_vk_context_last_point(struct tdl_context *ctx);
uint64_t tdl_vk_context_passed(struct tdl_context *ctx);
void tdl_vk_context_collect(struct tdl_context *ctx);
enum tdl_result tdl_vk_context_save_cache(struct tdl_context *ctx);

enum tdl_result tdl_vk_buffer_create(struct tdl_context *ctx, const struct tdl_buffer_wish *wish,
                                     struct tdl_buffer **out_buffer);
enum tdl_result tdl_vk_buffer_import_host(struct tdl_context *ctx, void *pointer, size_t size,
                                          struct tdl_buffer **out_buffer, uint64_t *out_offset);
void tdl_vk_buffer_destroy(struct tdl_buffer *buffer);
uint64_t tdl_vk_buffer_point(const struct tdl_buffer *buffer, bool and_read);
enum tdl_result tdl_vk_buffer_wait(const struct tdl_buffer *buffer, bool and_read);
bool tdl_vk_buffer_is_local(const struct tdl_buffer *buffer);

enum tdl_result tdl_vk_batch_create(struct tdl_context *ctx, struct tdl_batch **out_batch);
void tdl_vk_batch_destroy(struct tdl_batch *batch);
enum tdl_result tdl_vk_batch_begin(struct tdl_batch *batch);
void tdl_vk_batch_set_queue(struct tdl_batch *batch, uint32_t queue);
void tdl_vk_batch_cancel(struct tdl_batch *batch);
enum tdl_result tdl_vk_batch_submit(struct tdl_batch *batch, uint64_t *out_point);
enum tdl_result tdl_vk_batch_stage(struct tdl_batch *batch, uint32_t stage);
bool tdl_vk_batch_stage_times(struct tdl_batch *batch, uint64_t out_ns[TDL_MAX_STAGES]);
uint64_t tdl_vk_batch_point(const struct tdl_batch *batch);
void tdl_vk_batch_free(struct tdl_context *ctx, struct tdl_batch *batch);
enum tdl_result tdl_vk_batch_copy(struct tdl_batch *batch, struct tdl_buffer *source,
                                  uint64_t source_offset, struct tdl_buffer *target,
                                  uint64_t target_offset, uint64_t size);
enum tdl_result tdl_vk_batch_fill_zero(struct tdl_batch *batch, struct tdl_buffer *target);

enum tdl_result tdl_vk_program_create(struct tdl_graph *graph,
                                      const struct tdl_compile_params *params);
enum tdl_result tdl_vk_program_compile(struct tdl_graph *graph,
                                       const struct tdl_compile_params *params);
void tdl_vk_program_destroy(struct tdl_graph *graph);
enum tdl_result tdl_vk_program_run(struct tdl_batch *batch, struct tdl_graph *graph,
                                   struct tdl_buffer *const *bound);
enum tdl_result tdl_vk_program_profile(struct tdl_graph *graph, struct tdl_buffer *const *bound);

enum tdl_result tdl_vk_frame_to_tensor(struct tdl_batch *batch, const struct tdl_frame *frame,
                                       struct tdl_tensor *tensor,
                                       const struct tdl_frame_to_tensor_params *params);
enum tdl_result tdl_vk_frame_to_tensor_prepare(const struct tdl_frame *frame,
                                               struct tdl_tensor *tensor,
                                               const struct tdl_compile_params *compile);
enum tdl_result tdl_vk_frame_from_tensor(struct tdl_batch *batch, struct tdl_tensor *tensor,
                                         const struct tdl_frame *frame,
                                         const struct tdl_frame_from_tensor_params *params);
enum tdl_result tdl_vk_frame_from_tensor_prepare(struct tdl_tensor *tensor,
                                                 const struct tdl_frame *frame,
                                                 const struct tdl_frame_from_tensor_params *params,
                                                 const struct tdl_compile_params *compile);
extern const struct tdl_composer_room tdl_vk_composer_mask[], tdl_vk_composer_blur[];
enum tdl_result tdl_vk_composer_prepare(struct tdl_composer *composer,
                                        const struct tdl_frame *source,
                                        const struct tdl_frame *target,
                                        const struct tdl_compose_params *params,
                                        const struct tdl_compile_params *compile);
enum tdl_result tdl_vk_compose(struct tdl_batch *batch, struct tdl_composer *composer,
                               const struct tdl_frame *source, struct tdl_tensor *mask,
                               const struct tdl_frame *target,
                               const struct tdl_compose_params *params, bool picture_is_stale);

#endif
