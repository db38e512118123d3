/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Compute pipelines, made once per (shader, specialization) and context, and
 * the cache on disk behind them. A graph's go with their last graph, but for the
 * TDL_IDLE_PIPELINES that went last; those of frames, which have few, stay.
 */
#ifndef TDL_PIPELINE_H
#define TDL_PIPELINE_H

#include "context.h"
#include "kernels.h"
#include "layout.h"

/* Pipelines without a holder that are kept for the next graph. */
#define TDL_IDLE_PIPELINES 64

struct tdl_pipeline {
    struct tdl_pipeline *next;
    const struct tdl_shader *shader;
    uint32_t spec[TDL_MAX_SPEC], spec_count;
    uint32_t chain[TDL_MAX_CHAIN], chain_count;
    const struct tdl_kernel_layout *layout;
    VkPipeline pipeline;
    uint64_t hash; /* hash of shader and constants */
    /* Under the lock: holders; for frames, too; when the last holder went. */
    uint32_t holders;
    bool kept;
    uint64_t idle_since;
    /* was dispatched: even drivers that compile at the first use have compiled it */
    atomic_bool used;
};

/* Thread-safe. */
bool tdl_pipeline_is_used(const struct tdl_pipeline *pipeline);
void tdl_pipeline_set_used(const struct tdl_pipeline *pipeline);

/* The pipeline of `shader_name` specialised with `spec` (constant_id i takes
 * spec[i]); created on first use, and kept as long as the context. By convention
 * constant 0, 1 and 2 are the workgroup size. Blocking when it compiles. */
enum tdl_result tdl_pipeline_get(struct tdl_context *ctx, const char *shader_name,
                                 const uint32_t *spec, uint32_t spec_count,
                                 const struct tdl_pipeline **out_pipeline);

/* As tdl_pipeline_get(), with the constants of a chain (without, they keep their defaults). The
 * caller holds it: let it go when the device has passed its last use. */
enum tdl_result tdl_pipeline_hold(struct tdl_context *ctx, const char *shader_name,
                                  const uint32_t *spec, uint32_t spec_count, const uint32_t *chain,
                                  uint32_t chain_count, const struct tdl_pipeline **out_pipeline);
/* One more holder of a pipeline that the caller holds. */
const struct tdl_pipeline *tdl_pipeline_ref(struct tdl_context *ctx,
                                            const struct tdl_pipeline *pipeline);
/* Let `count` of them go; NULL among them is nothing. kept: the context has them
 * for good now. */
void tdl_pipelines_let_go(struct tdl_context *ctx, const struct tdl_pipeline *const *pipelines,
                          uint32_t count, bool kept);

/* A graph's pipelines, for the graph and its recordings. */
struct tdl_pipeline_list {
    atomic_int refs;
    uint32_t count;
    const struct tdl_pipeline *pipelines[]; /* held; NULL: not there yet */
};
struct tdl_pipeline_list *tdl_pipeline_list_new(uint32_t count);
struct tdl_pipeline_list *tdl_pipeline_list_ref(struct tdl_pipeline_list *list);
void tdl_pipeline_list_release(struct tdl_context *ctx, struct tdl_pipeline_list *list);

/* Context creation and destruction. */
enum tdl_result tdl_pipelines_init(struct tdl_context *ctx);
void tdl_pipelines_finish(struct tdl_context *ctx);

#endif
