/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Calling back. Reads wait in the order of their points for the timeline, which one
 * thread follows; it copies what was read to where the caller wants it, and tells.
 *
 * The thread holds no reference of the context, and takes none: else the last one could
 * go here, and tdl_context_destroy() would return to a caller whose callbacks are still
 * to come. Instead the last reference waits for the thread. Only a callback that drops
 * it itself cannot be waited for: then the thread ends the context.
 */
#include "notifier.h"

#include "thread.h"

#include <stdio.h>
#include <stdlib.h>

void tdl_notifier_init(struct tdl_notifier *n)
{
    pthread_mutex_init(&n->lock, NULL);
    pthread_cond_init(&n->wake, NULL);
    pthread_cond_init(&n->eased, NULL);
    n->last = &n->first;
}

void tdl_notifier_finish(struct tdl_notifier *n)
{
    pthread_cond_destroy(&n->wake);
    pthread_cond_destroy(&n->eased);
    pthread_mutex_destroy(&n->lock);
}

/* With the lock held. */
static bool is_own_thread(const struct tdl_notifier *n)
{
    return n->running && pthread_equal(n->thread, pthread_self());
}

/* --------------------------------------------------------------- the thread */

static void deliver(struct tdl_context *ctx, struct tdl_read *read)
{
    struct tdl_notifier *n = &ctx->notifier;
    enum tdl_result r = tdl_context_check(ctx);
    if (r == TDL_OK)
        r = ctx->on->context_wait(ctx, read->point, TDL_WAIT_FOREVER);
    if (r == TDL_OK)
        r = tdl_buffer_check_whole(read->staging);
    if (r == TDL_OK)
        memcpy(read->out_data, read->staging->map, read->size);
    tdl_staging_keep(read->staging);
    /* First, so that the callback has room for the next. */
    pthread_mutex_lock(&n->lock);
    n->reads--;
    pthread_cond_broadcast(&n->eased);
    pthread_mutex_unlock(&n->lock);
    tdl_logged(ctx, r);
    read->done(read->done_data, r);
    free(read);
}

/* With the lock held, which it lets go for the call. */
static void tell_lost(struct tdl_notifier *n)
{
    const tdl_lost_fn lost = n->lost;
    n->lost = NULL;
    n->telling = true;
    pthread_mutex_unlock(&n->lock);
    lost(n->lost_data, n->lost_why); /* both stay as they are meanwhile */
    pthread_mutex_lock(&n->lock);
    n->telling = false;
    pthread_cond_broadcast(&n->eased);
}

static void *run(void *data)
{
    struct tdl_context *ctx = data;
    struct tdl_notifier *n = &ctx->notifier;
    pthread_mutex_lock(&n->lock);
    for (;;) {
        struct tdl_read *read = n->first;
        if (n->lost && atomic_load(&ctx->lost)) {
            tell_lost(n);
        } else if (read) {
            if (!(n->first = read->next))
                n->last = &n->first;
            pthread_mutex_unlock(&n->lock);
            deliver(ctx, read);
            pthread_mutex_lock(&n->lock);
        } else if (n->ending) {
            break;
        } else {
            pthread_cond_wait(&n->wake, &n->lock);
        }
    }
    const bool ends_context = n->ends_context;
    pthread_mutex_unlock(&n->lock);
    if (ends_context) {
        pthread_detach(pthread_self());
        tdl_context_end(ctx);
    }
    return NULL;
}

/* With the lock held. */
static enum tdl_result start(struct tdl_context *ctx)
{
    struct tdl_notifier *n = &ctx->notifier;
    if (n->running)
        return TDL_OK;
    const int error = tdl_thread_start(&n->thread, "tdl-calls", run, ctx);
    if (error)
        return tdl_fail(TDL_ERROR_OUT_OF_MEMORY, "there is no thread to call back from: %s",
                        strerror(error));
    n->running = true;
    return TDL_OK;
}

bool tdl_notifier_end(struct tdl_context *ctx)
{
    struct tdl_notifier *n = &ctx->notifier;
    pthread_mutex_lock(&n->lock);
    const bool running = n->running, own = is_own_thread(n);
    n->ending = true;
    n->ends_context = own;
    pthread_cond_signal(&n->wake);
    pthread_mutex_unlock(&n->lock);
    if (running && !own)
        pthread_join(n->thread, NULL);
    return !own;
}

/* -------------------------------------------------------------------- reads */

enum tdl_result tdl_notifier_reserve(struct tdl_context *ctx)
{
    struct tdl_notifier *n = &ctx->notifier;
    enum tdl_result r = tdl_context_check_process(ctx);
    if (r != TDL_OK)
        return r;
    pthread_mutex_lock(&n->lock);
    r = start(ctx);
    if (r == TDL_OK && n->reads >= ctx->max_queued) {
        if (ctx->busy_when_full || is_own_thread(n)) /* its own thread would wait for itself */
            r = tdl_fail_busy(ctx);
        else
            atomic_fetch_add(&ctx->stats.waits, 1);
        while (r == TDL_OK && n->reads >= ctx->max_queued)
            pthread_cond_wait(&n->eased, &n->lock);
    }
    n->reads += r == TDL_OK;
    pthread_mutex_unlock(&n->lock);
    return r;
}

void tdl_notifier_add(struct tdl_context *ctx, struct tdl_read *read)
{
    struct tdl_notifier *n = &ctx->notifier;
    pthread_mutex_lock(&n->lock);
    if (read) {
        *n->last = read;
        n->last = &read->next;
        pthread_cond_signal(&n->wake);
    } else {
        n->reads--;
        pthread_cond_broadcast(&n->eased);
    }
    pthread_mutex_unlock(&n->lock);
}

/* --------------------------------------------------------------------- loss */

void tdl_context_lose(struct tdl_context *ctx)
{
    struct tdl_notifier *n = &ctx->notifier;
    pthread_mutex_lock(&n->lock);
    if (!atomic_exchange(&ctx->lost, true)) {
        snprintf(n->lost_why, sizeof(n->lost_why), "%s", tdl_last_error());
        pthread_cond_signal(&n->wake);
    }
    pthread_mutex_unlock(&n->lock);
}

enum tdl_result tdl_context_on_lost(struct tdl_context *context, tdl_lost_fn lost, void *lost_data)
{
    TDL_NEED(context, "context");
    struct tdl_notifier *n = &context->notifier;
    enum tdl_result r = tdl_context_check_process(context);
    if (r != TDL_OK)
        return tdl_logged(context, r);
    pthread_mutex_lock(&n->lock);
    while (n->telling && !is_own_thread(n))
        pthread_cond_wait(&n->eased, &n->lock);
    if (lost)
        r = start(context);
    if (r == TDL_OK) {
        n->lost = lost;
        n->lost_data = lost_data;
        pthread_cond_signal(&n->wake);
    }
    pthread_mutex_unlock(&n->lock);
    return tdl_logged(context, r);
}

void tdl_context_count_wait(struct tdl_context *ctx)
{
    struct tdl_notifier *n = &ctx->notifier;
    pthread_mutex_lock(&n->lock);
    const bool own = is_own_thread(n);
    pthread_mutex_unlock(&n->lock);
    if (!own)
        atomic_fetch_add(&ctx->stats.waits, 1);
}
