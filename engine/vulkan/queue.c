/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "queue.h"

#include "context.h"

#include <stdlib.h>

uint32_t tdl_queue_count_wanted(VkQueueFlags flags, uint32_t available)
{
    const char *text = getenv("TDL_QUEUES");
    const unsigned long told = text ? strtoul(text, NULL, 10) : 0;
    if (told)
        return (uint32_t)TDL_MIN(told, TDL_MAX_QUEUES);
    /* Queues that draw, too, take turns on the GPUs that were tried, and lose by it. */
    return flags & VK_QUEUE_GRAPHICS_BIT ? 1 : TDL_MIN(available, TDL_MAX_QUEUES);
}

enum tdl_result tdl_timeline_create(struct tdl_context *ctx, const void *next, const char *name,
                                    VkSemaphore *out_semaphore)
{
    const VkSemaphoreTypeCreateInfo type = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
        .pNext = next,
        .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE,
    };
    enum tdl_result r =
        VK(ctx, vkCreateSemaphore(tdl_vk(ctx)->device,
                                  &(VkSemaphoreCreateInfo){
                                      .sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO,
                                      .pNext = &type,
                                  },
                                  NULL, out_semaphore));
    if (r == TDL_OK)
        tdl_context_name(ctx, VK_OBJECT_TYPE_SEMAPHORE, TDL_HANDLE(*out_semaphore), name);
    return r;
}

enum tdl_result tdl_queues_init(struct tdl_context *ctx)
{
    enum tdl_result r = TDL_OK;
    for (uint32_t i = 0; i < tdl_vk(ctx)->queue_count && r == TDL_OK; i++)
        r = tdl_timeline_create(ctx, NULL, "timeline", &tdl_vk(ctx)->queues[i].timeline);
    return r;
}

void tdl_queues_finish(struct tdl_context *ctx)
{
    for (uint32_t i = 0; i < tdl_vk(ctx)->queue_count; i++)
        vkDestroySemaphore(tdl_vk(ctx)->device, tdl_vk(ctx)->queues[i].timeline, NULL);
}

struct tdl_queue *tdl_queue_of(const struct tdl_context *ctx, uint64_t point)
{
    return &tdl_vk(ctx)->queues[point % tdl_vk(ctx)->queue_count];
}

uint64_t tdl_queue_next_point(const struct tdl_context *ctx, uint32_t queue)
{
    const uint64_t count = tdl_vk(ctx)->queue_count, least = tdl_vk(ctx)->last_point + 1;
    return least + (queue + count - least % count) % count;
}

void tdl_queue_submitted(struct tdl_context *ctx, uint32_t queue, uint64_t point)
{
    struct tdl_queue *q = &tdl_vk(ctx)->queues[queue];
    /* Only tdl_queues_passed_locked() reads first_point, where there are several queues. */
    if (tdl_vk(ctx)->queue_count > 1 && tdl_queue_passed(ctx, q) >= q->last_point)
        q->first_point = point;
    q->last_point = tdl_vk(ctx)->last_point = point;
}

uint64_t tdl_queue_passed(const struct tdl_context *ctx, const struct tdl_queue *queue)
{
    const struct tdl_vk_context *vk = tdl_vk(ctx);
    uint64_t value = 0;
    return vk->fn.get_semaphore_value(vk->device, queue->timeline, &value) < 0 ? 0 : value;
}

/* A queue that has long been idle has an old value, which says nothing of what others
 * have done since. */
uint64_t tdl_queues_passed_locked(struct tdl_context *ctx)
{
    const struct tdl_vk_context *vk = tdl_vk(ctx);
    uint64_t all = vk->last_point;
    if (vk->queue_count == 1)
        return tdl_queue_passed(ctx, &vk->queues[0]);
    for (uint32_t i = 0; i < vk->queue_count; i++) {
        const struct tdl_queue *q = &vk->queues[i];
        const uint64_t value = tdl_queue_passed(ctx, q);
        if (value < q->last_point)
            all = TDL_MIN(all, TDL_MAX(value, q->first_point - 1));
    }
    return all;
}
