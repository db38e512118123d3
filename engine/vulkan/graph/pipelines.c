/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* pipelines: one per step, from the context's table, the cache on disk or the
 * compiler. */
#include "program.h"

#include "vulkan/table.h"

#include <stdlib.h>

/* Large models need a few hundred different ones; each takes a driver
 * milliseconds, and up to a megabyte that is kept. */
#define MAX_KERNELS 2048

/* Drivers need not say when a kernel asks for more than they have. */
static enum tdl_result check_step(const struct tdl_context *ctx, const struct tdl_plan_step *s)
{
    const VkPhysicalDeviceLimits *limits = &tdl_vk(ctx)->properties.limits;
    const uint64_t invocations = (uint64_t)s->spec[0] * s->spec[1] * s->spec[2];
    for (int i = 0; i < 3; i++) {
        if (s->groups[i] > limits->maxComputeWorkGroupCount[i])
            return tdl_fail(TDL_ERROR_UNSUPPORTED,
                            "%s: %s needs %u workgroups, %s allows %u; use a smaller model",
                            s->label, s->kernel->name, s->groups[i], ctx->info.name,
                            limits->maxComputeWorkGroupCount[i]);
        if (s->spec[i] > limits->maxComputeWorkGroupSize[i] ||
            invocations > ctx->info.max_workgroup_invocations)
            return tdl_fail(TDL_ERROR_UNSUPPORTED,
                            "%s: %s needs workgroups of %ux%ux%u invocations, %s allows %u",
                            s->label, s->kernel->name, s->spec[0], s->spec[1], s->spec[2],
                            ctx->info.name, ctx->info.max_workgroup_invocations);
    }
    if (s->shared_bytes > ctx->info.max_shared_memory)
        return tdl_fail(TDL_ERROR_UNSUPPORTED,
                        "%s: %s needs %llu bytes of shared memory, %s has %u; switch fusion off "
                        "or use a smaller model",
                        s->label, s->kernel->name, (unsigned long long)s->shared_bytes,
                        ctx->info.name, ctx->info.max_shared_memory);
    return TDL_OK;
}

/* One a step. NULL when out of memory. */
static struct tdl_kernel *list_kernels(const struct tdl_plan *plan)
{
    struct tdl_kernel *kernels = calloc(plan->step_count + (size_t)1, sizeof(*kernels));
    for (uint32_t i = 0; i < plan->step_count && kernels; i++) {
        const struct tdl_plan_step *s = &plan->steps[i];
        kernels[i] = (struct tdl_kernel){.shader = s->kernel->name,
                                         .spec = s->spec,
                                         .chain = s->chain,
                                         .spec_count = s->spec_count,
                                         .chain_count = s->chain_count};
    }
    return kernels;
}

static enum tdl_result check_kernels(const struct tdl_plan *plan)
{
    struct tdl_kernel *kernels = list_kernels(plan);
    uint32_t distinct;
    uint32_t *first = kernels ? tdl_kernels_match(kernels, plan->step_count, &distinct) : NULL;
    const bool ok = first;
    free(kernels);
    free(first);
    if (!ok)
        return tdl_fail(TDL_ERROR_OUT_OF_MEMORY, "out of memory while building a graph");
    return distinct <= MAX_KERNELS
               ? TDL_OK
               : tdl_fail(TDL_ERROR_UNSUPPORTED,
                          "the graph needs %u different kernels; libtdl compiles up to %d for a "
                          "graph: use a model with fewer sizes",
                          distinct, MAX_KERNELS);
}

enum tdl_result tdl_pass_check(const struct tdl_graph *g)
{
    enum tdl_result r = TDL_OK;
    for (uint32_t i = 0; i < g->plan.step_count && r == TDL_OK; i++)
        r = check_step(g->ctx, &g->plan.steps[i]);
    return r == TDL_OK ? check_kernels(&g->plan) : r;
}

enum tdl_result tdl_vk_program_compile(struct tdl_graph *g, const struct tdl_compile_params *params)
{
    const uint32_t count = g->plan.step_count;
    struct tdl_program *p = g->program;
    struct tdl_kernel *kernels = list_kernels(&g->plan);
    if (!kernels)
        return tdl_fail(TDL_ERROR_OUT_OF_MEMORY, "out of memory while compiling a graph");
    if (!p->pipelines) /* otherwise a call before this one has compiled */
        p->pipelines = tdl_pipeline_list_new(count);
    enum tdl_result r = p->pipelines ? tdl_compile_kernels(g->ctx, kernels, count, p->arenas[0],
                                                           params, p->pipelines->pipelines)
                                     : TDL_ERROR_OUT_OF_MEMORY;
    free(kernels);
    return r;
}
