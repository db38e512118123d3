/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Compute pipelines, made once per (shader, specialization) and context, and
 * the cache on disk behind them.
 */
#ifndef TDL_PIPELINE_H
#define TDL_PIPELINE_H

#include "context.h"
#include "kernels.h"

struct tdl_pipeline {
    struct tdl_pipeline *next;
    const struct tdl_shader *shader;
    uint32_t spec[TDL_MAX_SPEC], spec_count;
    uint32_t chain[TDL_MAX_CHAIN], chain_count;
    VkPipeline pipeline;
    atomic_bool used; /* it was dispatched: even drivers that wait for that have compiled it */
};

/* Thread-safe. */
bool tdl_pipeline_is_used(const struct tdl_pipeline *pipeline);
void tdl_pipeline_set_used(const struct tdl_pipeline *pipeline);

/* The pipeline of `shader_name` specialised with `spec` (constant_id i takes
 * spec[i]); created and kept on first use. By convention constant 0, 1 and 2
 * are the workgroup size. Owned by the context. Blocking when it compiles. */
enum tdl_result tdl_pipeline_get(struct tdl_context *ctx, const char *shader_name,
                                 const uint32_t *spec, uint32_t spec_count,
                                 const struct tdl_pipeline **out_pipeline);

/* The same with the constants of a chain; without, they keep their defaults. */
enum tdl_result tdl_pipeline_get_chained(struct tdl_context *ctx, const char *shader_name,
                                         const uint32_t *spec, uint32_t spec_count,
                                         const uint32_t *chain, uint32_t chain_count,
                                         const struct tdl_pipeline **out_pipeline);

/* Fill a set of the one layout that all pipelines have. */
void tdl_pipeline_write_set(const struct tdl_context *ctx, VkDescriptorSet set,
                            const VkDescriptorBufferInfo infos[TDL_MAX_BINDS]);

/* Context creation and destruction. */
enum tdl_result tdl_pipelines_init(struct tdl_context *ctx);
void tdl_pipelines_finish(struct tdl_context *ctx);

#endif
