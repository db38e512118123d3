/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a kernel's descriptor sets look like: one storage buffer for each binding that it
 * declares, so that a device has to allow no more of them than the kernel has. Kernels with
 * the same bindings share a layout. All take TDL_MAX_PUSH bytes of push constants.
 */
#ifndef TDL_LAYOUT_H
#define TDL_LAYOUT_H

#include "context.h"

struct tdl_kernel_layout {
    struct tdl_kernel_layout *next;
    uint32_t binds; /* a bit for each binding */
    uint32_t count; /* of them */
    VkDescriptorSetLayout set;
    VkPipelineLayout pipeline;
};

/* Made on first use, and the context's. Call with the pipelines' lock held. */
enum tdl_result tdl_kernel_layout_get(struct tdl_context *ctx, uint32_t binds,
                                      const struct tdl_kernel_layout **out_layout);
/* The end of the context. */
void tdl_kernel_layouts_finish(struct tdl_context *ctx);

/* Fill a set; of the infos those of its bindings are read. */
void tdl_kernel_layout_write(const struct tdl_context *ctx, const struct tdl_kernel_layout *layout,
                             VkDescriptorSet set, const VkDescriptorBufferInfo *infos);

#endif
