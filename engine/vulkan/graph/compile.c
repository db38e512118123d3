/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A kernel is compiled when its pipeline has been made and dispatched once,
 * with no workgroup at all: many drivers compile when a pipeline is made, and
 * some, software ones above all, when it is first used. There a kernel takes
 * 0.1 to several seconds, so several threads compile at once, and whoever waits
 * is told after each one how far they are, and may say that it is enough.
 *
 * Software Vulkan compiles where it executes, on the one thread that serves a
 * device's queue: threads that share a context would only wait for each other.
 * There each further thread has a context of its own on the same device, and
 * this one finds what they have compiled in the driver's cache on disk, in ms.
 * Without such a cache the time is what it was. Contexts cost time, too, so they
 * are made when a kernel has shown that it is not in that cache.
 */
#include "compile.h"

#include "core/clock.h"
#include "core/thread.h"
#include "vulkan/batch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define MAX_THREADS 16

uint32_t tdl_compile_cold_ms = 50;

struct work {
    struct tdl_context *ctx;
    const struct tdl_kernel *kernels;
    const uint32_t *distinct; /* indices of kernels, each different from all others */
    const struct tdl_pipeline **pipelines;
    struct tdl_buffer *scratch;
    struct tdl_compile_params params;
    uint32_t total;
    atomic_uint next; /* next index in `distinct` */
    pthread_t helpers[MAX_THREADS];
    uint32_t helper_count;
    pthread_mutex_t lock;
    uint32_t done;
    enum tdl_result result; /* first failure, with its text */
    char error[512];
};

/* 0 for the same kernel; else any order. */
static int compare(const struct tdl_kernel *a, const struct tdl_kernel *b)
{
    int order = strcmp(a->shader, b->shader);
    if (!order)
        order = (int)a->spec_count - (int)b->spec_count;
    if (!order)
        order = (int)a->chain_count - (int)b->chain_count;
    if (!order)
        order = memcmp(a->spec, b->spec, a->spec_count * sizeof(*a->spec));
    if (!order && a->chain_count)
        order = memcmp(a->chain, b->chain, a->chain_count * sizeof(*a->chain));
    return order;
}

/* Order by kernel, so that equal ones lie side by side, the first of them first. */
static int by_kernel(const void *a, const void *b)
{
    const struct tdl_kernel *x = *(const struct tdl_kernel *const *)a;
    const struct tdl_kernel *y = *(const struct tdl_kernel *const *)b;
    int order = compare(x, y);
    return order ? order : x < y ? -1 : x > y;
}

uint32_t *tdl_kernels_match(const struct tdl_kernel *kernels, uint32_t count,
                            uint32_t *out_distinct)
{
    const struct tdl_kernel **sorted = malloc((count + (size_t)1) * sizeof(*sorted));
    uint32_t *first = malloc((count + (size_t)1) * sizeof(*first));
    *out_distinct = 0;
    if (!sorted || !first) {
        free(sorted);
        free(first);
        return NULL;
    }
    for (uint32_t i = 0; i < count; i++)
        sorted[i] = &kernels[i];
    qsort(sorted, count, sizeof(*sorted), by_kernel);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t at = (uint32_t)(sorted[i] - kernels);
        bool same = i && !compare(sorted[i - 1], sorted[i]);
        first[at] = same ? first[sorted[i - 1] - kernels] : at;
        *out_distinct += !same;
    }
    free(sorted);
    return first;
}

static enum tdl_result dispatch_nothing(struct tdl_context *ctx,
                                        const struct tdl_pipeline *pipeline,
                                        struct tdl_buffer *scratch)
{
    static const uint32_t push[TDL_MAX_PUSH / 4];
    struct tdl_bind binds[TDL_MAX_BINDS];
    struct tdl_batch *batch = NULL;
    uint64_t point;
    enum tdl_result r;
    for (uint32_t i = 0; i < TDL_MAX_BINDS; i++)
        binds[i] = (struct tdl_bind){.buffer = scratch, .read = true, .write = true};
    TRY(tdl_batch_borrow(ctx, &batch));
    TRY(tdl_batch_dispatch(batch, pipeline, binds, TDL_MAX_BINDS, push, sizeof(push), 0, 0, 0));
    TRY(tdl_batch_submit(batch, &point));
    TRY(tdl_context_wait(ctx, point, TDL_WAIT_FOREVER));
fail:
    tdl_batch_give_back(&batch);
    return r;
}

static enum tdl_result hold(struct work *work, uint32_t i)
{
    const struct tdl_kernel *k = &work->kernels[i];
    if (work->pipelines[i])
        return TDL_OK;
    return tdl_pipeline_hold(work->ctx, k->shader, k->spec, k->spec_count, k->chain, k->chain_count,
                             &work->pipelines[i]);
}

static enum tdl_result compile_one(struct work *work, uint32_t i)
{
    enum tdl_result r = hold(work, i);
    if (r != TDL_OK || tdl_pipeline_is_used(work->pipelines[i]))
        return r;
    r = dispatch_nothing(work->ctx, work->pipelines[i], work->scratch);
    if (r == TDL_OK)
        tdl_pipeline_set_used(work->pipelines[i]);
    return r;
}

/* Call with the lock held: one at a time, and in order. */
static enum tdl_result tell(struct work *work)
{
    const struct tdl_compile_params *p = &work->params;
    if (!p->progress || p->progress(p->progress_data, work->done, work->total))
        return TDL_OK;
    return tdl_fail(TDL_ERROR_CANCELED, "compilation was cancelled after %u of %u kernels",
                    work->done, work->total);
}

/* False when it is over for everybody. Error texts belong to a thread: keep it. */
static bool go_on(struct work *work, enum tdl_result r)
{
    pthread_mutex_lock(&work->lock);
    if (r == TDL_OK && work->result == TDL_OK) {
        work->done++;
        r = tell(work);
    }
    if (r != TDL_OK && work->result == TDL_OK) {
        work->result = r;
        snprintf(work->error, sizeof(work->error), "%s", tdl_last_error());
    }
    bool more = work->result == TDL_OK;
    pthread_mutex_unlock(&work->lock);
    return more;
}

static void *compile_some(void *data)
{
    struct work *work = data;
    for (uint32_t i; (i = atomic_fetch_add(&work->next, 1)) < work->total;)
        if (!go_on(work, compile_one(work, work->distinct[i])))
            break;
    return NULL;
}

/* ------------------------------------------------------- contexts of their own */

static bool warm_up(struct tdl_context *apart, struct tdl_buffer *scratch,
                    const struct tdl_kernel *k)
{
    const struct tdl_pipeline *p = NULL;
    const bool ok = tdl_pipeline_hold(apart, k->shader, k->spec, k->spec_count, k->chain,
                                      k->chain_count, &p) == TDL_OK &&
                    dispatch_nothing(apart, p, scratch) == TDL_OK;
    tdl_pipelines_let_go(apart, &p, 1, false);
    return ok;
}

/* Compile in a context of one's own; the other one dispatches later. */
static void *compile_apart(void *data)
{
    struct work *work = data;
    struct tdl_context *apart = NULL;
    struct tdl_buffer *scratch = NULL;
    char uuid[2 * TDL_UUID_SIZE + 1];
    for (int i = 0; i < TDL_UUID_SIZE; i++)
        snprintf(&uuid[2 * i], 3, "%02x", work->ctx->info.uuid[i]);
    const struct tdl_context_params params = {.device = uuid, .cache_dir = ""};
    if (work->ctx->on->context_create(&params, &apart) == TDL_OK &&
        tdl_buffer_create(apart, 256, TDL_BUFFER_DEVICE, &scratch) == TDL_OK)
        for (uint32_t i; (i = atomic_fetch_add(&work->next, 1)) < work->total;) {
            const uint32_t at = work->distinct[i];
            enum tdl_result r = warm_up(apart, scratch, &work->kernels[at]) ? hold(work, at)
                                                                            : compile_one(work, at);
            if (!go_on(work, r))
                break;
        }
    tdl_buffer_destroy(&scratch);
    tdl_context_destroy(&apart);
    return NULL;
}

/* ------------------------------------------------------------------ threads */

static uint32_t count_threads(const struct work *work)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    uint32_t threads =
        work->params.threads ? work->params.threads : (uint32_t)(cores > 0 ? cores : 1);
    return TDL_MIN(threads, MAX_THREADS);
}

/* No more than there are kernels left, beside the `own` of this thread. They go by its name,
 * so that one sees whose kernels they compile. */
static void call_helpers(struct work *work, void *(*function)(void *), uint32_t own)
{
    const uint32_t next = atomic_load(&work->next);
    const uint32_t left = work->total - TDL_MIN(work->total, next + own);
    const uint32_t wanted = TDL_MIN(count_threads(work) - 1, left);
    while (work->helper_count < wanted &&
           !tdl_thread_start(&work->helpers[work->helper_count], NULL, function, work))
        work->helper_count++;
}

/* Wait for a thread that compiles in the same context, but no longer than a kernel takes that is
 * in the cache: who flushes or stops a stream waits for this one. */
static bool take_turn(pthread_mutex_t *turn)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until); /* pthread_mutex_timedlock()'s clock */
    const uint64_t ns = (uint64_t)until.tv_nsec + tdl_compile_cold_ms * 1000000ull;
    until.tv_sec += (time_t)(ns / 1000000000);
    until.tv_nsec = (long)(ns % 1000000000);
    return !pthread_mutex_timedlock(turn, &until);
}

/* Alone, until a kernel takes long. Only who has the turn judges by the time: a wait for another
 * thread's kernel says nothing of the cache. */
static void compile_in_software(struct work *work)
{
    pthread_mutex_t *turn = &tdl_vk(work->ctx)->compile_turn;
    for (uint32_t i; (i = atomic_fetch_add(&work->next, 1)) < work->total;) {
        const bool mine = take_turn(turn);
        const uint64_t start = tdl_clock_ns();
        const enum tdl_result r = compile_one(work, work->distinct[i]);
        const uint64_t took = tdl_clock_ns() - start;
        if (mine)
            pthread_mutex_unlock(turn);
        if (!go_on(work, r))
            return;
        if (mine && !work->helper_count && took >= tdl_compile_cold_ms * 1000000ull)
            call_helpers(work, compile_apart, 0);
    }
}

static enum tdl_result run(struct work *work)
{
    const bool software = tdl_heuristics_of(&work->ctx->info)->compiles_in_queue;
    enum tdl_result r = tell(work);
    if (r != TDL_OK)
        return r;
    pthread_mutex_init(&work->lock, NULL);
    if (software) {
        compile_in_software(work);
    } else {
        call_helpers(work, compile_some, 1);
        compile_some(work); /* this thread works, too; alone, if there are no helpers */
    }
    for (uint32_t i = 0; i < work->helper_count; i++)
        pthread_join(work->helpers[i], NULL);
    pthread_mutex_destroy(&work->lock);
    if (work->result != TDL_OK)
        return tdl_fail(work->result, "%s", work->error);
    for (uint32_t i = 0; i < work->total && r == TDL_OK && work->helper_count && software; i++)
        /* compiled apart before; this only takes them */
        r = compile_one(work, work->distinct[i]);
    return r;
}

enum tdl_result tdl_compile_kernels(struct tdl_context *ctx, const struct tdl_kernel *kernels,
                                    uint32_t count, struct tdl_buffer *scratch,
                                    const struct tdl_compile_params *params,
                                    const struct tdl_pipeline **pipelines)
{
    uint32_t total, *first = tdl_kernels_match(kernels, count, &total);
    uint32_t *distinct = calloc(count ? count : 1, sizeof(*distinct));
    struct work work = {.ctx = ctx,
                        .kernels = kernels,
                        .distinct = distinct,
                        .pipelines = pipelines,
                        .scratch = scratch};
    enum tdl_result r;
    if (!first || !distinct) {
        r = tdl_fail(TDL_ERROR_OUT_OF_MEMORY, "out of memory while compiling kernels");
        goto done;
    }
    if (params)
        work.params = *params;
    for (uint32_t i = 0; i < count; i++)
        if (first[i] == i)
            distinct[work.total++] = i;
    r = run(&work);
    for (uint32_t i = 0; i < count && r == TDL_OK; i++)
        if (first[i] != i && !pipelines[i])
            pipelines[i] = tdl_pipeline_ref(ctx, pipelines[first[i]]);
done:
    free(first);
    free(distinct);
    return r;
}
