/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The thread that runs batches in the order in which they were submitted, and in the time
 * between them what is to keep none of them waiting. */
#include "batch.h"
#include "core/clock.h"
#include "core/thread.h"
#include "stop.h"
#include "table.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

struct tdl_cpu_deferred {
    struct tdl_cpu_deferred *next;
    uint64_t point;
    void (*free_fn)(void *data);
    void *data;
};

/* ---------------------------------------------------------------- the worker */

/* With the lock held: does it read what an aborted batch should have written, and does not
 * write it first? */
static bool reads_spoilt(const struct tdl_cpu_batch *b)
{
    for (uint32_t i = 0; i < b->touch_count; i++) {
        bool written = b->touches[i].write;
        if (!b->touches[i].buffer->spoilt)
            continue;
        for (uint32_t j = 0; j < b->touch_count && !written; j++)
            written = b->touches[j].write && b->touches[j].buffer == b->touches[i].buffer;
        if (!written)
            return true;
    }
    return false;
}

/* With the lock held: it has run, or not to its end. */
static void note_written(struct tdl_cpu_batch *b, bool spoilt)
{
    for (uint32_t i = 0; i < b->touch_count; i++)
        if (b->touches[i].write)
            b->touches[i].buffer->spoilt = spoilt;
}

static void lose(struct tdl_cpu_context *ctx)
{
    tdl_log(&ctx->base, TDL_LOG_ERROR, "device cpu is lost: %s", tdl_last_error());
    tdl_context_lose(&ctx->base);
}

static void run_batch(struct tdl_cpu_context *ctx, struct tdl_cpu_batch *b)
{
    tdl_heed(&b->aborted);
    for (struct tdl_cpu_work *w = b->work;
         w && !atomic_load(&ctx->base.lost) && !atomic_load(&b->aborted); w = w->next) {
        const uint64_t start = w->stage < TDL_MAX_STAGES ? tdl_clock_ns() : 0;
        const enum tdl_result r = w->run(w, ctx->threads);
        if (r != TDL_OK && r != TDL_ERROR_CANCELED)
            lose(ctx);
        if (w->stage < TDL_MAX_STAGES)
            b->stage_ns[w->stage] += tdl_clock_ns() - start;
    }
    tdl_heed(NULL);
}

/* With the lock held, which it leaves meanwhile: a part of the first that has time. */
static void run_spare(struct tdl_cpu_context *ctx)
{
    struct tdl_cpu_spare *s = ctx->spare;
    pthread_mutex_unlock(&ctx->lock);
    tdl_heed(&s->stopped);
    const bool more =
        !atomic_load(&ctx->base.lost) && !atomic_load(&s->stopped) && s->part(s, ctx->threads);
    tdl_heed(NULL);
    pthread_mutex_lock(&ctx->lock);
    if (more)
        return;
    if (!(ctx->spare = s->next))
        ctx->last_spare = &ctx->spare;
    s->done = true; /* from here on it is its owner's */
    pthread_cond_broadcast(&ctx->passed);
}

/* The first batch in the queue, waited for; NULL at the end. */
static struct tdl_cpu_batch *take_batch(struct tdl_cpu_context *ctx)
{
    bool rests = false;
    while (!ctx->first && (ctx->spare || !ctx->ending)) {
        if (ctx->spare) {
            run_spare(ctx);
            rests = false;
        } else if (rests) {
            pthread_cond_wait(&ctx->submitted, &ctx->lock);
        } else { /* only now: the next frame may have been there already */
            pthread_mutex_unlock(&ctx->lock);
            tdl_cpu_threads_rest(ctx->threads);
            pthread_mutex_lock(&ctx->lock);
            rests = true;
        }
    }
    struct tdl_cpu_batch *b = ctx->first;
    if (b && !(ctx->first = b->next))
        ctx->last = &ctx->first;
    return b;
}

static void *work(void *data)
{
    struct tdl_cpu_context *ctx = data;
    pthread_mutex_lock(&ctx->lock);
    for (struct tdl_cpu_batch *b; (b = take_batch(ctx));) {
        const bool on_sand = reads_spoilt(b);
        pthread_mutex_unlock(&ctx->lock);
        run_batch(ctx, b);
        tdl_cpu_batch_release(b);
        pthread_mutex_lock(&ctx->lock);
        const bool orphan = b->orphan;
        note_written(b, on_sand || atomic_load(&b->aborted));
        ctx->done = b->point;
        b->queued = false;
        pthread_cond_broadcast(&ctx->passed);
        pthread_mutex_unlock(&ctx->lock);
        if (orphan)
            tdl_cpu_batch_free(&ctx->base, &b->base);
        tdl_cpu_context_collect(&ctx->base);
        pthread_mutex_lock(&ctx->lock);
        if (ctx->spare) /* there may never be a time without batches */
            run_spare(ctx);
    }
    pthread_mutex_unlock(&ctx->lock);
    return NULL;
}

static void finish(struct tdl_cpu_context *ctx)
{
    pthread_cond_destroy(&ctx->submitted);
    pthread_cond_destroy(&ctx->passed);
    pthread_mutex_destroy(&ctx->lock);
}

enum tdl_result tdl_cpu_timeline_start(struct tdl_cpu_context *ctx)
{
    pthread_condattr_t monotonic;
    pthread_mutex_init(&ctx->lock, NULL);
    pthread_cond_init(&ctx->submitted, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&ctx->passed, &monotonic);
    pthread_condattr_destroy(&monotonic);
    ctx->last = &ctx->first;
    ctx->last_spare = &ctx->spare;
    const int error = tdl_thread_start(&ctx->worker, "tdl-cpu", work, ctx);
    if (!error)
        return TDL_OK;
    finish(ctx);
    return tdl_fail(TDL_ERROR_OUT_OF_MEMORY, "device cpu has no thread to work on: %s",
                    strerror(error));
}

void tdl_cpu_timeline_stop(struct tdl_cpu_context *ctx)
{
    pthread_mutex_lock(&ctx->lock);
    ctx->ending = true;
    pthread_cond_signal(&ctx->submitted);
    pthread_mutex_unlock(&ctx->lock);
    pthread_join(ctx->worker, NULL);
    tdl_cpu_context_collect(&ctx->base);
    finish(ctx);
}

/* ------------------------------------------------------------------- points */

uint64_t tdl_cpu_timeline_submit(struct tdl_cpu_context *ctx, struct tdl_cpu_batch *b)
{
    pthread_mutex_lock(&ctx->lock);
    const uint64_t point = b->point = ++ctx->last_point;
    for (uint32_t i = 0; i < b->use_count; i++) {
        struct tdl_cpu_buffer *buffer = (struct tdl_cpu_buffer *)b->uses[i].buffer;
        *(b->uses[i].write ? &buffer->written : &buffer->read) = point;
        b->touches[i] = (struct tdl_cpu_touch){buffer, b->uses[i].write};
    }
    b->touch_count = b->use_count;
    atomic_store(&b->aborted, false);
    b->queued = true;
    b->next = NULL;
    *ctx->last = b;
    ctx->last = &b->next;
    pthread_cond_signal(&ctx->submitted);
    pthread_mutex_unlock(&ctx->lock);
    return point;
}

uint64_t tdl_cpu_context_last_point(struct tdl_context *context)
{
    struct tdl_cpu_context *ctx = tdl_cpu(context);
    pthread_mutex_lock(&ctx->lock);
    const uint64_t point = ctx->last_point;
    pthread_mutex_unlock(&ctx->lock);
    return point;
}

uint64_t tdl_cpu_context_passed(struct tdl_context *context)
{
    struct tdl_cpu_context *ctx = tdl_cpu(context);
    pthread_mutex_lock(&ctx->lock);
    const uint64_t point = ctx->done;
    pthread_mutex_unlock(&ctx->lock);
    return point;
}

static struct timespec deadline_after(uint64_t timeout_ns)
{
    const uint64_t start = tdl_clock_ns(), end = start + TDL_MIN(timeout_ns, UINT64_MAX / 4);
    return (struct timespec){.tv_sec = (time_t)(end / 1000000000u),
                             .tv_nsec = (long)(end % 1000000000u)};
}

enum tdl_result tdl_cpu_context_wait(struct tdl_context *context, uint64_t point,
                                     uint64_t timeout_ns)
{
    struct tdl_cpu_context *ctx = tdl_cpu(context);
    const struct timespec deadline = deadline_after(timeout_ns);
    int error = 0;
    pthread_mutex_lock(&ctx->lock);
    point = TDL_MIN(point, ctx->last_point);
    if (ctx->done < point && timeout_ns)
        tdl_context_count_wait(context);
    while (ctx->done < point && timeout_ns && error != ETIMEDOUT)
        error = pthread_cond_timedwait(&ctx->passed, &ctx->lock, &deadline);
    const bool passed = ctx->done >= point;
    pthread_mutex_unlock(&ctx->lock);
    if (!passed)
        return tdl_fail(TDL_ERROR_TIMEOUT, "point %llu was not reached in %llu ns",
                        (unsigned long long)point, (unsigned long long)timeout_ns);
    return tdl_context_check(context);
}

/* ---------------------------------------------------------------- spare time */

void tdl_cpu_spare_run(struct tdl_cpu_context *ctx, struct tdl_cpu_spare *spare,
                       const struct tdl_compile_params *params)
{
    enum { LOOK_NS = 50000000 };
    pthread_mutex_lock(&ctx->lock);
    *ctx->last_spare = spare;
    ctx->last_spare = &spare->next;
    pthread_cond_signal(&ctx->submitted);
    tdl_context_count_wait(&ctx->base);
    while (!spare->done) {
        const struct timespec look = deadline_after(LOOK_NS);
        if (pthread_cond_timedwait(&ctx->passed, &ctx->lock, &look) != ETIMEDOUT || spare->done)
            continue;
        pthread_mutex_unlock(&ctx->lock);
        if (params && params->progress && !params->progress(params->progress_data, 0, 0))
            atomic_store(&spare->stopped, true);
        pthread_mutex_lock(&ctx->lock);
    }
    pthread_mutex_unlock(&ctx->lock);
}

/* ---------------------------------------------------------- deferred destroy */

void tdl_cpu_timeline_defer(struct tdl_cpu_context *ctx, uint64_t point, void (*free_fn)(void *),
                            void *data)
{
    struct tdl_cpu_deferred *d = malloc(sizeof(*d));
    if (!d) { /* no memory to remember it by: wait instead */
        tdl_cpu_context_wait(&ctx->base, point, TDL_WAIT_FOREVER);
        free_fn(data);
        return;
    }
    *d = (struct tdl_cpu_deferred){.point = point, .free_fn = free_fn, .data = data};
    pthread_mutex_lock(&ctx->lock);
    d->next = ctx->deferred;
    ctx->deferred = d;
    pthread_mutex_unlock(&ctx->lock);
    tdl_cpu_context_collect(&ctx->base);
}

void tdl_cpu_context_collect(struct tdl_context *context)
{
    struct tdl_cpu_context *ctx = tdl_cpu(context);
    struct tdl_cpu_deferred *passed = NULL;
    pthread_mutex_lock(&ctx->lock);
    for (struct tdl_cpu_deferred **p = &ctx->deferred; *p;) {
        struct tdl_cpu_deferred *d = *p;
        if (d->point > ctx->done) {
            p = &d->next;
            continue;
        }
        *p = d->next;
        d->next = passed;
        passed = d;
    }
    pthread_mutex_unlock(&ctx->lock);
    for (struct tdl_cpu_deferred *d = passed, *next; d; d = next) {
        next = d->next;
        d->free_fn(d->data);
        free(d);
    }
}
