/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "handover.h"

#include "rental_state.h"

#define WORK_STAGES (VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT)
#define WORK_WRITES (VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_WRITE_BIT)
#define WORK_READS (VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_TRANSFER_READ_BIT)

static enum tdl_result add(VkBufferMemoryBarrier *list, uint32_t *count, struct tdl_buffer *b,
                           uint32_t theirs, bool acquire)
{
    const uint32_t ours = tdl_vk(b->ctx)->queue_family;
    if (theirs == VK_QUEUE_FAMILY_IGNORED) /* somebody on this VkDevice */
        return TDL_OK;
    for (uint32_t i = 0; i < *count; i++)
        if (list[i].buffer == tdl_vkb(b)->buffer)
            return TDL_OK;
    if (*count == TDL_MAX_HANDOVERS)
        return tdl_fail(TDL_ERROR_UNSUPPORTED,
                        "the batch uses more than %d shared buffers: submit it and begin another",
                        TDL_MAX_HANDOVERS);
    list[(*count)++] = (VkBufferMemoryBarrier){
        .sType = VK_STRUCTURE_TYPE_BUFFER_MEMORY_BARRIER,
        .srcAccessMask = acquire ? 0 : WORK_WRITES,
        .dstAccessMask = acquire ? WORK_READS | WORK_WRITES : 0,
        .srcQueueFamilyIndex = acquire ? theirs : ours,
        .dstQueueFamilyIndex = acquire ? ours : theirs,
        .buffer = tdl_vkb(b)->buffer,
        .size = VK_WHOLE_SIZE,
    };
    return TDL_OK;
}

enum tdl_result tdl_handover_add(struct tdl_handover *h, struct tdl_buffer *b, uint32_t give)
{
    enum tdl_result r = TDL_OK;
    if (tdl_vkb(b)->shared) {
        TRY(add(h->acquire, &h->acquire_count, b, tdl_vkb(b)->external_family, true));
        TRY(add(h->release, &h->release_count, b, tdl_vkb(b)->external_family, false));
    }
    if (tdl_vkb(b)->rental && tdl_vkb(b)->rental->away)
        TRY(add(h->acquire, &h->acquire_count, b, tdl_vkb(b)->rental->family, true));
    if (give)
        TRY(add(h->release, &h->release_count, b, give, false));
fail:
    return r;
}

static enum tdl_result record(struct tdl_context *ctx, VkCommandBuffer cb,
                              VkPipelineStageFlags from, VkPipelineStageFlags to,
                              const VkBufferMemoryBarrier *barriers, uint32_t count)
{
    enum tdl_result r =
        VK(ctx, vkBeginCommandBuffer(cb, &(VkCommandBufferBeginInfo){
                                             .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                             .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT,
                                         }));
    if (r != TDL_OK)
        return r;
    if (count)
        vkCmdPipelineBarrier(cb, from, to, 0, 0, NULL, count, barriers, 0, NULL);
    return VK(ctx, vkEndCommandBuffer(cb));
}

enum tdl_result tdl_handover_record(struct tdl_context *ctx, const struct tdl_handover *h,
                                    const VkCommandBuffer commands[2])
{
    /* All commands on the outer side: a batch's release then stands before the
     * next one's acquire, and the semaphores' stage covers it. */
    enum tdl_result r = record(ctx, commands[0], VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, WORK_STAGES,
                               h->acquire, h->acquire_count);
    return r == TDL_OK ? record(ctx, commands[1], WORK_STAGES, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
                                h->release, h->release_count)
                       : r;
}
