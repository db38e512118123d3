/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The VkDevice of a context: a new one, or somebody else's. */
#ifndef TDL_OPEN_H
#define TDL_OPEN_H

#include "context.h"

/* Create tdl_vk(ctx)->device of tdl_vk(ctx)->physical with one queue, noting what it has. */
enum tdl_result tdl_setup_create_device(struct tdl_context *ctx, uint64_t max_queues);
/* Take tdl_vk(ctx)->device from outside: check it, note what it has, and take from
 * ctx->info what was not enabled. */
enum tdl_result tdl_setup_adopt_device(struct tdl_context *ctx,
                                       const struct tdl_vulkan_device *theirs);

#endif
