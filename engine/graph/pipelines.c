/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* pipelines: one per step, from the context's table, the cache on disk or the
 * compiler. */
#include "graph.h"

#include <stdlib.h>

/* Drivers need not say when a kernel asks for more than they have. */
static enum tdl_result check_step(const struct tdl_context *ctx, const struct tdl_plan_step *s)
{
    const VkPhysicalDeviceLimits *limits = &ctx->properties.limits;
    const uint64_t invocations = (uint64_t)s->spec[0] * s->spec[1] * s->spec[2];
    for (int i = 0; i < 3; i++) {
        if (s->groups[i] > limits->maxComputeWorkGroupCount[i])
            return tdl_fail(TDL_ERROR_UNSUPPORTED,
                            "%s: %s needs %u workgroups, %s allows %u; use a smaller model",
                            s->label, s->shader, s->groups[i], ctx->info.name,
                            limits->maxComputeWorkGroupCount[i]);
        if (s->spec[i] > limits->maxComputeWorkGroupSize[i] ||
            invocations > ctx->info.max_workgroup_invocations)
            return tdl_fail(TDL_ERROR_UNSUPPORTED,
                            "%s: %s needs workgroups of %ux%ux%u invocations, %s allows %u",
                            s->label, s->shader, s->spec[0], s->spec[1], s->spec[2],
                            ctx->info.name, ctx->info.max_workgroup_invocations);
    }
    if (s->shared_bytes > ctx->info.max_shared_memory)
        return tdl_fail(TDL_ERROR_UNSUPPORTED,
                        "%s: %s needs %llu bytes of shared memory, %s has %u; switch fusion off "
                        "or use a smaller model",
                        s->label, s->shader, (unsigned long long)s->shared_bytes, ctx->info.name,
                        ctx->info.max_shared_memory);
    if (!tdl_shader_exists(s->shader))
        return tdl_fail(TDL_ERROR_UNSUPPORTED, "this build has no shader %s", s->shader);
    return TDL_OK;
}

enum tdl_result tdl_pass_check(const struct tdl_graph *g)
{
    enum tdl_result r = TDL_OK;
    for (uint32_t i = 0; i < g->plan.step_count && r == TDL_OK; i++)
        r = check_step(g->ctx, &g->plan.steps[i]);
    return r;
}

enum tdl_result tdl_pass_pipelines(struct tdl_graph *g, const struct tdl_compile_params *params)
{
    const uint32_t count = g->plan.step_count;
    struct tdl_kernel *kernels = calloc(count ? count : 1, sizeof(*kernels));
    const struct tdl_pipeline **pipelines = calloc(count ? count : 1, sizeof(*pipelines));
    enum tdl_result r;
    if (!kernels || !pipelines) {
        r = tdl_fail(TDL_ERROR_OUT_OF_MEMORY, "out of memory while compiling a graph");
        goto fail;
    }
    for (uint32_t i = 0; i < count; i++) {
        const struct tdl_plan_step *s = &g->plan.steps[i];
        kernels[i] = (struct tdl_kernel){.shader = s->shader,
                                         .spec = s->spec,
                                         .chain = s->chain,
                                         .spec_count = s->spec_count,
                                         .chain_count = s->chain_count};
    }
    TRY(tdl_compile_kernels(g->ctx, kernels, count, g->arena, params, pipelines));
    for (uint32_t i = 0; i < count; i++)
        g->plan.steps[i].pipeline = pipelines[i];
fail:
    free(kernels);
    free(pipelines);
    return r;
}
