/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Contexts: the part that is the same on every device. */
#include "cache_file.h"
#include "notifier.h"
#include "thread.h"
#include "tuning_file.h"
#include "weights.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* As tdl.h says. */
enum { MAX_QUEUED = 256 };

void tdl_log(const struct tdl_context *ctx, enum tdl_log_level level, const char *format, ...)
{
    if (!ctx || !ctx->log || level > ctx->log_level)
        return;
    char text[2048];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    ctx->log(ctx->log_data, level, text);
}

/* ------------------------------------------------------------- creation */

void tdl_context_init(struct tdl_context *ctx, const struct tdl_device *on,
                      const struct tdl_context_params *params)
{
    ctx->on = on;
    atomic_init(&ctx->refs, 1);
    ctx->forks = tdl_forks();
    pthread_mutex_init(&ctx->tuning_lock, NULL);
    pthread_mutex_init(&ctx->staging.lock, NULL);
    pthread_mutex_init(&ctx->batches.lock, NULL);
    tdl_notifier_init(&ctx->notifier);
    tdl_weights_table_init(&ctx->weights);
    ctx->max_queued = params->max_queued ? params->max_queued : MAX_QUEUED;
    ctx->busy_when_full = params->busy_when_full;
    ctx->log = params->log;
    ctx->log_data = params->log_data;
    ctx->log_level = params->log_level ? params->log_level : TDL_LOG_WARNING;
    ctx->cache_dir = tdl_cache_folder(params->cache_dir);
}

void tdl_context_finish(struct tdl_context *ctx)
{
    tdl_tuning_finish(&ctx->tuning);
    pthread_mutex_destroy(&ctx->tuning_lock);
    pthread_mutex_destroy(&ctx->staging.lock);
    pthread_mutex_destroy(&ctx->batches.lock);
    tdl_notifier_finish(&ctx->notifier);
    tdl_weights_table_finish(&ctx->weights);
    free(ctx->cache_dir);
}

struct tdl_context *tdl_context_ref(struct tdl_context *context)
{
    if (context)
        atomic_fetch_add(&context->refs, 1);
    return context;
}

void tdl_context_destroy(struct tdl_context **context)
{
    struct tdl_context *ctx = tdl_take(context);
    if (!ctx || tdl_context_is_forked(ctx) || atomic_fetch_sub(&ctx->refs, 1) != 1)
        return;
    if (tdl_notifier_end(ctx))
        tdl_context_end(ctx);
}

void tdl_context_end(struct tdl_context *ctx)
{
    tdl_staging_finish(ctx);
    ctx->on->context_destroy(ctx);
}

/* -------------------------------------------------------------- timeline */

bool tdl_context_is_forked(const struct tdl_context *ctx)
{
    return ctx->forks != tdl_forks();
}

enum tdl_result tdl_context_check_process(const struct tdl_context *ctx)
{
    if (!tdl_context_is_forked(ctx))
        return TDL_OK;
    return tdl_fail(TDL_ERROR_INVALID_STATE,
                    "this process was forked from the one that made the context, whose threads "
                    "and device it does not have: create one here, or fork before the first");
}

enum tdl_result tdl_context_check(struct tdl_context *ctx)
{
    if (!ctx)
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT,
                        "context is NULL: give one of tdl_context_create()");
    if (atomic_load(&ctx->lost))
        return tdl_fail(TDL_ERROR_DEVICE_LOST,
                        "the device %s was lost: destroy this context and create a new one",
                        ctx->info.name);
    return tdl_context_check_process(ctx);
}

enum tdl_result tdl_context_wait(struct tdl_context *ctx, uint64_t point, uint64_t timeout_ns)
{
    enum tdl_result r = tdl_context_check(ctx);
    if (r == TDL_OK && point > tdl_context_last_point(ctx))
        r = tdl_fail(TDL_ERROR_INVALID_ARGUMENT,
                     "point %llu has not been submitted yet: waiting for it would not end",
                     (unsigned long long)point);
    if (r == TDL_OK)
        r = ctx->on->context_wait(ctx, point, timeout_ns);
    /* A caller that only asks (no timeout) has met no failure. */
    return r == TDL_ERROR_TIMEOUT && !timeout_ns ? r : tdl_logged(ctx, r);
}

uint64_t tdl_context_last_point(struct tdl_context *ctx)
{
    return ctx ? ctx->on->context_last_point(ctx) : 0;
}

enum tdl_result tdl_context_sync(struct tdl_context *ctx)
{
    TDL_NEED(ctx, "context");
    enum tdl_result r = tdl_context_check(ctx);
    if (r == TDL_OK)
        r = ctx->on->context_wait(ctx, TDL_ALL_POINTS, TDL_WAIT_FOREVER);
    if (!tdl_context_is_forked(ctx))
        ctx->on->context_collect(ctx);
    return tdl_logged(ctx, r);
}

/* ----------------------------------------------------------------- other */

enum tdl_result tdl_context_save_cache(struct tdl_context *ctx)
{
    TDL_NEED(ctx, "context");
    enum tdl_result r = tdl_context_check_process(ctx);
    return tdl_logged(ctx, r == TDL_OK ? ctx->on->context_save_cache(ctx) : r);
}

const struct tdl_device_info *tdl_context_device(const struct tdl_context *ctx)
{
    return ctx ? &ctx->info : NULL;
}

void tdl_context_get_stats(struct tdl_context *ctx, struct tdl_context_stats *out)
{
    if (out && !ctx)
        *out = (struct tdl_context_stats){0};
    if (!out || !ctx)
        return;
    pthread_mutex_lock(&ctx->staging.lock);
    const uint64_t staging = ctx->staging.bytes, held = atomic_load(&ctx->stats.memory_bytes);
    pthread_mutex_unlock(&ctx->staging.lock);
    *out = (struct tdl_context_stats){
        .submits = atomic_load(&ctx->stats.submits),
        .dispatches = atomic_load(&ctx->stats.dispatches),
        .waits = atomic_load(&ctx->stats.waits),
        .pipelines = atomic_load(&ctx->stats.pipelines),
        .allocations = atomic_load(&ctx->stats.allocations),
        .memory_bytes = held - TDL_MIN(staging, held),
        .staging_bytes = staging,
        .pipelines_held = atomic_load(&ctx->stats.pipelines_held),
        .validation_errors = atomic_load(&ctx->stats.validation_errors),
    };
}
