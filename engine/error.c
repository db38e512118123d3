/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Error texts (one per thread) and log lines. */
#include "context.h"

#include <stdarg.h>
#include <stdio.h>

static _Thread_local char last_error[1024];

const char *tdl_result_string(enum tdl_result result)
{
    switch (result) {
    case TDL_OK:
        return "ok";
    case TDL_ERROR_INVALID_ARGUMENT:
        return "invalid argument";
    case TDL_ERROR_INVALID_STATE:
        return "invalid state";
    case TDL_ERROR_OUT_OF_MEMORY:
        return "out of memory";
    case TDL_ERROR_NO_DEVICE:
        return "no device";
    case TDL_ERROR_DEVICE_LOST:
        return "device lost";
    case TDL_ERROR_UNSUPPORTED:
        return "unsupported";
    case TDL_ERROR_INVALID_MODEL:
        return "invalid model";
    case TDL_ERROR_IO:
        return "input/output error";
    case TDL_ERROR_TIMEOUT:
        return "timeout";
    case TDL_ERROR_CANCELED:
        return "cancelled";
    }
    return "unknown result";
}

const char *tdl_last_error(void)
{
    return last_error;
}

const char *tdl_context_last_error(const struct tdl_context *context)
{
    (void)context;
    return last_error;
}

enum tdl_result tdl_fail(enum tdl_result result, const char *format, ...)
{
    /* An argument may be the previous text, so print beside it first. */
    char text[sizeof(last_error)];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    snprintf(last_error, sizeof(last_error), "%s", text);
    return result;
}

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

static const char *vk_result_name(VkResult result)
{
    switch (result) {
#define NAME(x)                                                                                    \
    case x:                                                                                        \
        return #x
        NAME(VK_ERROR_OUT_OF_HOST_MEMORY);
        NAME(VK_ERROR_OUT_OF_DEVICE_MEMORY);
        NAME(VK_ERROR_INITIALIZATION_FAILED);
        NAME(VK_ERROR_DEVICE_LOST);
        NAME(VK_ERROR_MEMORY_MAP_FAILED);
        NAME(VK_ERROR_LAYER_NOT_PRESENT);
        NAME(VK_ERROR_EXTENSION_NOT_PRESENT);
        NAME(VK_ERROR_FEATURE_NOT_PRESENT);
        NAME(VK_ERROR_INCOMPATIBLE_DRIVER);
        NAME(VK_ERROR_TOO_MANY_OBJECTS);
        NAME(VK_ERROR_FRAGMENTED_POOL);
        NAME(VK_ERROR_OUT_OF_POOL_MEMORY);
        NAME(VK_ERROR_INVALID_EXTERNAL_HANDLE);
#undef NAME
    default:
        return "VkResult";
    }
}

enum tdl_result tdl_vk_fail(struct tdl_context *ctx, VkResult result, const char *call)
{
    int name_length = 0;
    while (call[name_length] && call[name_length] != '(')
        name_length++;
    enum tdl_result r = TDL_ERROR_UNSUPPORTED;
    const char *advice = "";
    switch (result) {
    case VK_ERROR_OUT_OF_HOST_MEMORY:
    case VK_ERROR_OUT_OF_DEVICE_MEMORY:
    case VK_ERROR_OUT_OF_POOL_MEMORY:
        r = TDL_ERROR_OUT_OF_MEMORY;
        advice = "; close other programs on this device or use smaller pictures";
        break;
    case VK_ERROR_DEVICE_LOST:
        r = TDL_ERROR_DEVICE_LOST;
        advice = "; the device stopped working: destroy this context and create a new one, and "
                 "look into the kernel log if it happens again";
        if (ctx)
            atomic_store(&ctx->lost, true);
        break;
    case VK_ERROR_INCOMPATIBLE_DRIVER:
    case VK_ERROR_INITIALIZATION_FAILED:
        r = TDL_ERROR_NO_DEVICE;
        advice = "; install a Vulkan driver (on Debian: mesa-vulkan-drivers)";
        break;
    default:
        break;
    }
    tdl_fail(r, "%.*s failed: %s (%d)%s", name_length, call, vk_result_name(result), result, advice);
    tdl_log(ctx, TDL_LOG_ERROR, "%s", last_error);
    return r;
}
