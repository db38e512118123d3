/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * pipelines: one per step, from the context's table, the cache on disk or the
 * compiler. Drivers take 5 to 50 ms for a kernel that they have not seen, so
 * several threads compile at once.
 */
#include "graph.h"

#include <stdio.h>
#include <unistd.h>

#define MAX_THREADS 8

/* Drivers need not say when a kernel asks for more than they have. */
static enum tdl_result check_limits(const struct tdl_context *ctx, const struct tdl_plan_step *s)
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
    return TDL_OK;
}

struct work {
    struct tdl_graph *graph;
    atomic_uint next; /* step to compile */
    pthread_mutex_t lock;
    enum tdl_result result; /* first failure, with its text */
    char error[512];
};

static void *compile_steps(void *data)
{
    struct work *work = data;
    struct tdl_plan *plan = &work->graph->plan;
    for (uint32_t i; (i = atomic_fetch_add(&work->next, 1)) < plan->step_count;) {
        struct tdl_plan_step *s = &plan->steps[i];
        enum tdl_result r = tdl_pipeline_get_chained(work->graph->ctx, s->shader, s->spec,
                                                     s->spec_count, s->chain, s->chain_count,
                                                     &s->pipeline);
        if (r == TDL_OK)
            continue;
        /* Error texts belong to a thread: hand it over. */
        pthread_mutex_lock(&work->lock);
        if (work->result == TDL_OK) {
            work->result = r;
            snprintf(work->error, sizeof(work->error), "%s", tdl_last_error());
        }
        pthread_mutex_unlock(&work->lock);
        break;
    }
    return NULL;
}

enum tdl_result tdl_pass_pipelines(struct tdl_graph *g)
{
    struct work work = {.graph = g};
    pthread_t threads[MAX_THREADS];
    uint32_t count = 0;
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    for (uint32_t i = 0; i < g->plan.step_count; i++) {
        enum tdl_result r = check_limits(g->ctx, &g->plan.steps[i]);
        if (r != TDL_OK)
            return r;
    }
    pthread_mutex_init(&work.lock, NULL);
    while (count + 1 < MAX_THREADS && (long)count + 1 < cores && count + 1 < g->plan.step_count &&
           pthread_create(&threads[count], NULL, compile_steps, &work) == 0)
        count++;
    compile_steps(&work); /* this thread works too, or alone */
    for (uint32_t i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    pthread_mutex_destroy(&work.lock);
    return work.result == TDL_OK ? TDL_OK : tdl_fail(work.result, "%s", work.error);
}
