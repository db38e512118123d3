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
        enum tdl_result r = tdl_pipeline_get(work->graph->ctx, s->shader, s->spec, s->spec_count,
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
