/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The device on the host's processor: its table, and how contexts on it come and go. */
#include "device.h"

#include "graph/graph.h"
#include "isa.h"
#include "name.h"
#include "table.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#ifdef TDL_XNNPACK_VERSION
#define HAS_XNNPACK true
#else
#define HAS_XNNPACK false
#define TDL_XNNPACK_VERSION "no XNNPACK"
#endif

/* ------------------------------------------------------------- description */

void tdl_cpu_describe(struct tdl_device_info *info)
{
    static const uint8_t uuid[TDL_UUID_SIZE] = "tdl device: cpu";
    const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    char extensions[64];
    memset(info, 0, sizeof(*info));
    tdl_cpu_read_name("", info->name, sizeof(info->name));
    tdl_cpu_extensions(extensions, sizeof(extensions));
    snprintf(info->driver, sizeof(info->driver), "%s%s, %s", tdl_cpu_isa_name(tdl_cpu_isa(NULL)),
             extensions, TDL_XNNPACK_VERSION);
    memcpy(info->uuid, uuid, sizeof(uuid));
    info->type = TDL_DEVICE_CPU;
    info->queues = 1;
    info->max_buffer_bytes = SIZE_MAX / 2;
    info->memory_bytes = pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page : 0;
    info->usable = tdl_cpu_isa_check() == TDL_OK;
    if (!info->usable)
        snprintf(info->unusable_reason, sizeof(info->unusable_reason), "%.127s", tdl_last_error());
    info->external_memory_host = true;
    info->timestamps = true;
    info->storage_16bit = true;
    info->shader_int64 = true;
}

bool tdl_cpu_is_quick(void)
{
    return HAS_XNNPACK && tdl_cpu_xnn_starts();
}

/* ---------------------------------------------------------------- contexts */

static void context_destroy(struct tdl_context *context)
{
    struct tdl_cpu_context *ctx = tdl_cpu(context);
    tdl_cpu_timeline_stop(ctx);
    tdl_kept_batches_finish(context);
    tdl_cpu_threads_close(&ctx->threads);
    tdl_context_finish(context);
    free(ctx);
}

/* There is nothing that a later start could use. */
static enum tdl_result context_save_cache(struct tdl_context *ctx)
{
    (void)ctx;
    return TDL_OK;
}

/* As graph/plan.c has it. */
static void context_limits(const struct tdl_context *ctx, struct tdl_limits *limits)
{
    (void)ctx;
    limits->max_value_bytes = UINT32_MAX;
}

static bool context_cache_path(const struct tdl_context *ctx, const char *kind,
                               const char *extension, char *path, size_t size)
{
    (void)ctx, (void)kind, (void)extension, (void)path, (void)size;
    return false;
}

static const struct tdl_device tdl_device_cpu = {
    .name = "cpu",
    .context_create = tdl_cpu_context_create,
    .context_destroy = context_destroy,
    .context_wait = tdl_cpu_context_wait,
    .context_last_point = tdl_cpu_context_last_point,
    .context_passed = tdl_cpu_context_passed,
    .context_collect = tdl_cpu_context_collect,
    .context_save_cache = context_save_cache,
    .context_cache_path = context_cache_path,
    .context_limits = context_limits,
    .buffer_create = tdl_cpu_buffer_create,
    .buffer_import_host = tdl_cpu_buffer_import_host,
    .buffer_destroy = tdl_cpu_buffer_destroy,
    .buffer_check_tensor = tdl_cpu_buffer_check_tensor,
    .buffer_point = tdl_cpu_buffer_point,
    .buffer_check_whole = tdl_cpu_buffer_check_whole,
    .batch_create = tdl_cpu_batch_create,
    .batch_destroy = tdl_cpu_batch_destroy,
    .batch_begin = tdl_cpu_batch_begin,
    .batch_cancel = tdl_cpu_batch_cancel,
    .batch_submit = tdl_cpu_batch_submit,
    .batch_abort = tdl_cpu_batch_abort,
    .batch_stage = tdl_cpu_batch_stage,
    .batch_stage_times = tdl_cpu_batch_stage_times,
    .batch_point = tdl_cpu_batch_point,
    .batch_free = tdl_cpu_batch_free,
    .batch_copy = tdl_cpu_batch_copy,
    .batch_fill_zero = tdl_cpu_batch_fill_zero,
    .program_create = tdl_cpu_program_create,
    .program_compile = tdl_cpu_program_compile,
    .program_destroy = tdl_cpu_program_destroy,
    .program_run = tdl_cpu_program_run,
    .program_profile = tdl_cpu_program_profile,
    .program_try = tdl_cpu_program_try,
    .frame_to_tensor = tdl_cpu_frame_to_tensor,
    .frame_to_tensor_prepare = tdl_cpu_frame_to_tensor_prepare,
    .frame_from_tensor = tdl_cpu_frame_from_tensor,
    .frame_from_tensor_prepare = tdl_cpu_frame_from_tensor_prepare,
    .composer_mask = tdl_cpu_composer_mask,
    .composer_blur = tdl_cpu_composer_blur,
    .composer_clear = tdl_cpu_composer_clear,
    .composer_prepare = tdl_cpu_composer_prepare,
    .compose = tdl_cpu_compose,
};

enum tdl_result tdl_cpu_context_create(const struct tdl_context_params *params,
                                       struct tdl_context **out_context)
{
    enum tdl_result r = tdl_cpu_isa_check();
    *out_context = NULL;
    if (r != TDL_OK)
        return r;
    struct tdl_cpu_context *ctx = calloc(1, sizeof(*ctx));
    if (!ctx)
        return tdl_fail(TDL_ERROR_OUT_OF_MEMORY, "out of memory while creating a context");
    tdl_context_init(&ctx->base, &tdl_device_cpu, params);
    tdl_cpu_isa(&ctx->base); /* may have to log something */
    tdl_cpu_describe(&ctx->base.info);
    if (!tdl_cpu_xnn_starts()) {
        snprintf(ctx->base.info.driver, sizeof(ctx->base.info.driver), "%s, XNNPACK does not start",
                 tdl_cpu_isa_name(tdl_cpu_isa(NULL)));
        tdl_log(&ctx->base, TDL_LOG_WARNING,
                "XNNPACK does not start, as it cannot look at the processor: mount /proc and /sys; "
                "networks are several times as slow without");
    }
    r = tdl_cpu_threads_open(params->threads, &ctx->threads);
    if (r == TDL_OK)
        r = tdl_cpu_timeline_start(ctx);
    if (r != TDL_OK) {
        tdl_cpu_threads_close(&ctx->threads);
        tdl_context_finish(&ctx->base);
        free(ctx);
        return r;
    }
    tdl_log(&ctx->base, TDL_LOG_INFO, "device: %s (%s), %u threads", ctx->base.info.name,
            ctx->base.info.driver, tdl_cpu_threads_count(ctx->threads));
    *out_context = &ctx->base;
    return TDL_OK;
}
