/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The barriers that the engine records, on their way to the driver; of programs that
 * are linked with --wrap=vkCmdPipelineBarrier. */
#ifndef TEST_BARRIERS_H
#define TEST_BARRIERS_H

#include <vulkan/vulkan.h>

typedef void (*barriers_fn)(uint32_t buffer_count, const VkBufferMemoryBarrier *buffers,
                            uint32_t image_count, const VkImageMemoryBarrier *images);
/* Have all of them shown to `seen` from now on. */
void barriers_watch(barriers_fn seen);

#endif
