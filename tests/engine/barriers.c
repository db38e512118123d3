/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "barriers.h"

#include <stddef.h>

static barriers_fn watcher;

void barriers_watch(barriers_fn seen)
{
    watcher = seen;
}

void __real_vkCmdPipelineBarrier(VkCommandBuffer commands, VkPipelineStageFlags from,
                                 VkPipelineStageFlags to, VkDependencyFlags flags, uint32_t count,
                                 const VkMemoryBarrier *all, uint32_t buffer_count,
                                 const VkBufferMemoryBarrier *buffers, uint32_t image_count,
                                 const VkImageMemoryBarrier *images);
void __wrap_vkCmdPipelineBarrier(VkCommandBuffer commands, VkPipelineStageFlags from,
                                 VkPipelineStageFlags to, VkDependencyFlags flags, uint32_t count,
                                 const VkMemoryBarrier *all, uint32_t buffer_count,
                                 const VkBufferMemoryBarrier *buffers, uint32_t image_count,
                                 const VkImageMemoryBarrier *images);
void __wrap_vkCmdPipelineBarrier(VkCommandBuffer commands, VkPipelineStageFlags from,
                                 VkPipelineStageFlags to, VkDependencyFlags flags, uint32_t count,
                                 const VkMemoryBarrier *all, uint32_t buffer_count,
                                 const VkBufferMemoryBarrier *buffers, uint32_t image_count,
                                 const VkImageMemoryBarrier *images)
{
    if (watcher)
        watcher(buffer_count, buffers, image_count, images);
    __real_vkCmdPipelineBarrier(commands, from, to, flags, count, all, buffer_count, buffers,
                                image_count, images);
}
