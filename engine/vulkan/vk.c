/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The meaning of Vulkan's results. */
#include "vk.h"

#include "core/core.h"

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
        break;
    case VK_ERROR_INCOMPATIBLE_DRIVER:
    case VK_ERROR_INITIALIZATION_FAILED:
        r = TDL_ERROR_NO_DEVICE;
        advice = "; install a Vulkan driver (on Debian: mesa-vulkan-drivers)";
        break;
    default:
        break;
    }
    tdl_fail(r, "%.*s failed: %s (%d)%s", name_length, call, vk_result_name(result), result,
             advice);
    tdl_log(ctx, TDL_LOG_ERROR, "%s", tdl_last_error());
    if (ctx && r == TDL_ERROR_DEVICE_LOST)
        tdl_context_lose(ctx);
    return r;
}
