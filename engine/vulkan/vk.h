/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How the engine calls Vulkan. */
#ifndef TDL_VK_H
#define TDL_VK_H

#include "base.h"

#include <vulkan/vulkan.h>

/* A handle as a number. Those of devices, queues and command buffers are always pointers;
 * the others are numbers of 64 bits where pointers have 32, and fit into no pointer there. */
#define TDL_HANDLE(handle) ((uint64_t)(handle))

/* Turns a failed VkResult into a tdl_result with text; marks the context lost. */
enum tdl_result tdl_vk_fail(struct tdl_context *ctx, VkResult result, const char *call);

/* VK(ctx, vkFoo(...)) evaluates to a tdl_result, with trace and error text. */
#define VK(ctx, call) tdl_vk_check(ctx, (call), #call)
static inline enum tdl_result tdl_vk_check(struct tdl_context *ctx, VkResult r, const char *call)
{
    return r >= 0 ? TDL_OK : tdl_vk_fail(ctx, r, call);
}

#endif
