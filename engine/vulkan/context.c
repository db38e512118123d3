/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "context.h"

#include "core/thread.h"
#include "loader.h"
#include "table.h"

#include <stdlib.h>
#include <string.h>

struct tdl_deferred {
    struct tdl_deferred *next;
    uint64_t point;
    tdl_free_fn free_fn;
    void *data;
    VkSemaphore semaphore; /* instead of `free_fn` */
};

/* -------------------------------------------------------------- timeline */

/* A device of Vulkan's has this file's functions in its table, which lies above it. */
static bool is_vulkan(const struct tdl_context *ctx)
{
    return ctx->on->context_collect == tdl_vk_context_collect;
}

enum tdl_result tdl_vk_context_check(struct tdl_context *ctx)
{
    if (!is_vulkan(ctx))
        return tdl_fail(TDL_ERROR_UNSUPPORTED,
                        "%s is no device of Vulkan's: it shares nothing with one", ctx->info.name);
    return tdl_context_check(ctx);
}

void tdl_context_lock_queue(struct tdl_context *ctx)
{
    if (!ctx || !is_vulkan(ctx))
        return;
    if (!tdl_vk(ctx)->setup.borrowed)
        pthread_mutex_lock(&tdl_vk(ctx)->queue_lock);
    else if (tdl_vk(ctx)->setup.lock_queue)
        tdl_vk(ctx)->setup.lock_queue(tdl_vk(ctx)->setup.lock_data);
}

void tdl_context_unlock_queue(struct tdl_context *ctx)
{
    if (!ctx || !is_vulkan(ctx))
        return;
    if (!tdl_vk(ctx)->setup.borrowed)
        pthread_mutex_unlock(&tdl_vk(ctx)->queue_lock);
    else if (tdl_vk(ctx)->setup.unlock_queue)
        tdl_vk(ctx)->setup.unlock_queue(tdl_vk(ctx)->setup.lock_data);
}

/* The two halves of VkSubmitInfo and its timeline values. */
struct semaphores {
    VkSemaphore handles[TDL_MAX_SEMAPHORES + TDL_MAX_QUEUES];
    uint64_t values[TDL_MAX_SEMAPHORES + TDL_MAX_QUEUES];
    uint32_t count;
};

static void add_semaphores(struct semaphores *list, const struct tdl_semaphore_op *ops,
                           uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        list->handles[list->count] = ops[i].semaphore;
        list->values[list->count++] = ops[i].value;
    }
}

/* A queue waits for a point once: all its later work is behind that point. */
static void add_others(struct tdl_context *ctx, struct semaphores *list,
                       const struct tdl_submission *s)
{
    const struct tdl_queue *own = &tdl_vk(ctx)->queues[s->queue];
    for (uint32_t i = 0; i < tdl_vk(ctx)->queue_count; i++)
        if (i != s->queue && s->behind[i] > own->waited[i])
            add_semaphores(
                list, &(struct tdl_semaphore_op){tdl_vk(ctx)->queues[i].timeline, s->behind[i]}, 1);
}

static void note_others(struct tdl_queue *own, const struct tdl_submission *s)
{
    for (uint32_t i = 0; i < TDL_MAX_QUEUES; i++)
        own->waited[i] = TDL_MAX(own->waited[i], s->behind[i]);
}

static bool is_cut(const struct tdl_submission *s, uint32_t command)
{
    return command >= s->first_cut && command - s->first_cut < s->cut_count &&
           s->cuts[command - s->first_cut];
}

/* Commands `from` to `end` of the whole, whose first part waits, and whose last one signals. */
static enum tdl_result submit_piece(struct tdl_context *ctx, const struct tdl_queue *own,
                                    const VkSubmitInfo *whole, uint32_t from, uint32_t end)
{
    VkTimelineSemaphoreSubmitInfo timeline = *(const VkTimelineSemaphoreSubmitInfo *)whole->pNext;
    VkSubmitInfo piece = *whole;
    piece.pNext = &timeline;
    piece.pCommandBuffers += from;
    piece.commandBufferCount = end - from;
    if (from)
        piece.waitSemaphoreCount = timeline.waitSemaphoreValueCount = 0;
    if (end < whole->commandBufferCount)
        piece.signalSemaphoreCount = timeline.signalSemaphoreValueCount = 0;
    tdl_context_lock_queue(ctx);
    const enum tdl_result r = VK(ctx, vkQueueSubmit(own->handle, 1, &piece, VK_NULL_HANDLE));
    tdl_context_unlock_queue(ctx);
    if (r == TDL_OK)
        atomic_fetch_add(&ctx->stats.submits, 1);
    return r;
}

/* `ahead` commands are in front of those of the submission. */
static enum tdl_result submit_pieces(struct tdl_context *ctx, const struct tdl_queue *own,
                                     const VkSubmitInfo *whole, const struct tdl_submission *s,
                                     uint32_t ahead)
{
    enum tdl_result r = TDL_OK;
    uint32_t from = 0;
    for (uint32_t i = ahead + 1; i < whole->commandBufferCount && r == TDL_OK; i++)
        if (is_cut(s, i - ahead)) {
            r = submit_piece(ctx, own, whole, from, i);
            from = r == TDL_OK ? i : from;
        }
    if (r == TDL_OK)
        r = submit_piece(ctx, own, whole, from, whole->commandBufferCount);
    if (r != TDL_OK && from) { /* nobody would know when the pieces before have ended */
        tdl_context_lock_queue(ctx);
        vkQueueWaitIdle(own->handle);
        tdl_context_unlock_queue(ctx);
    }
    return r;
}

enum tdl_result tdl_context_submit_locked(struct tdl_context *ctx, const struct tdl_submission *s,
                                          uint64_t *out_point)
{
    enum { MAX_COMMANDS = 520 };
    VkCommandBuffer list[MAX_COMMANDS];
    VkPipelineStageFlags stages[TDL_MAX_SEMAPHORES + TDL_MAX_QUEUES];
    struct tdl_queue *own = &tdl_vk(ctx)->queues[s->queue];
    struct semaphores waits = {.count = 0}, signals = {.count = 0};
    uint32_t n = 0;
    if (s->command_count >= MAX_COMMANDS)
        return tdl_fail(TDL_ERROR_UNSUPPORTED, "a batch holds more than %d parts: submit earlier",
                        MAX_COMMANDS - 1);
    if (s->prepend_barrier)
        list[n++] = tdl_vk(ctx)->barrier_commands;
    memcpy(&list[n], s->commands, s->command_count * sizeof(*s->commands));
    n += s->command_count;

    const struct tdl_semaphore_op point = {own->timeline, tdl_queue_next_point(ctx, s->queue)};
    /* Ours last: drivers signal in this order, and whoever has waited for the
     * point may destroy the others. */
    add_semaphores(&signals, s->signals, s->signal_count);
    add_semaphores(&signals, &point, 1);
    add_semaphores(&waits, s->waits, s->wait_count);
    add_others(ctx, &waits, s);
    for (uint32_t i = 0; i < waits.count; i++)
        stages[i] = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
    const VkTimelineSemaphoreSubmitInfo timeline = {
        .sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
        .waitSemaphoreValueCount = waits.count,
        .pWaitSemaphoreValues = waits.values,
        .signalSemaphoreValueCount = signals.count,
        .pSignalSemaphoreValues = signals.values,
    };
    const VkSubmitInfo submit = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
        .pNext = &timeline,
        .waitSemaphoreCount = waits.count,
        .pWaitSemaphores = waits.handles,
        .pWaitDstStageMask = stages,
        .commandBufferCount = n,
        .pCommandBuffers = list,
        .signalSemaphoreCount = signals.count,
        .pSignalSemaphores = signals.handles,
    };
    /* Layers and drivers may start threads for the first one. */
    sigset_t before;
    const bool first = !own->last_point;
    if (first)
        tdl_signals_block(&before);
    enum tdl_result r = submit_pieces(ctx, own, &submit, s, s->prepend_barrier ? 1 : 0);
    if (first)
        tdl_signals_restore(&before);
    if (r != TDL_OK)
        return r;
    if (s->prepend_barrier)
        own->barrier_point = own->last_point;
    note_others(own, s);
    tdl_queue_submitted(ctx, s->queue, point.value);
    *out_point = point.value;
    return TDL_OK;
}

uint64_t tdl_vk_context_last_point(struct tdl_context *ctx)
{
    pthread_mutex_lock(&tdl_vk(ctx)->lock);
    uint64_t point = tdl_vk(ctx)->last_point;
    pthread_mutex_unlock(&tdl_vk(ctx)->lock);
    return point;
}

uint64_t tdl_vk_context_passed(struct tdl_context *ctx)
{
    pthread_mutex_lock(&tdl_vk(ctx)->lock);
    uint64_t point = tdl_queues_passed_locked(ctx);
    pthread_mutex_unlock(&tdl_vk(ctx)->lock);
    return point;
}

void tdl_context_wait_idle(struct tdl_context *ctx)
{
    const struct tdl_queue *own = &tdl_vk(ctx)->queues[0];
    if (tdl_vk(ctx)->setup.borrowed) {
        if (own->timeline && own->last_point)
            tdl_vk(ctx)->fn.wait_semaphores(
                tdl_vk(ctx)->device,
                &(VkSemaphoreWaitInfo){.sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
                                       .semaphoreCount = 1,
                                       .pSemaphores = &own->timeline,
                                       .pValues = &own->last_point},
                UINT64_MAX);
        return;
    }
    pthread_mutex_lock(&tdl_vk(ctx)->queue_lock);
    vkDeviceWaitIdle(tdl_vk(ctx)->device);
    pthread_mutex_unlock(&tdl_vk(ctx)->queue_lock);
}

/* ------------------------------------------------------ deferred destroy */

static void free_deferred(struct tdl_context *ctx, const struct tdl_deferred *d)
{
    if (d->free_fn)
        d->free_fn(ctx, d->data);
    vkDestroySemaphore(tdl_vk(ctx)->device, d->semaphore, NULL);
}

static void defer(struct tdl_context *ctx, const struct tdl_deferred *what)
{
    struct tdl_deferred *d = malloc(sizeof(*d));
    if (!d) { /* no memory to remember it by: wait instead */
        tdl_context_wait_idle(ctx);
        free_deferred(ctx, what);
        return;
    }
    *d = *what;
    pthread_mutex_lock(&tdl_vk(ctx)->lock);
    d->next = tdl_vk(ctx)->deferred;
    tdl_vk(ctx)->deferred = d;
    pthread_mutex_unlock(&tdl_vk(ctx)->lock);
    tdl_vk_context_collect(ctx);
}

void tdl_context_defer(struct tdl_context *ctx, uint64_t point, tdl_free_fn free_fn, void *data)
{
    defer(ctx, &(struct tdl_deferred){.point = point, .free_fn = free_fn, .data = data});
}

void tdl_context_defer_semaphore(struct tdl_context *ctx, uint64_t point, VkSemaphore semaphore)
{
    defer(ctx, &(struct tdl_deferred){.point = point, .semaphore = semaphore});
}

void tdl_context_free_deferred(struct tdl_context *ctx)
{
    for (struct tdl_deferred *d; (d = tdl_vk(ctx)->deferred);) {
        tdl_vk(ctx)->deferred = d->next; /* freeing may defer more */
        free_deferred(ctx, d);
        free(d);
    }
}

void tdl_vk_context_collect(struct tdl_context *ctx)
{
    struct tdl_deferred *done = NULL;
    pthread_mutex_lock(&tdl_vk(ctx)->lock);
    if (tdl_vk(ctx)->deferred) {
        const uint64_t value = tdl_queues_passed_locked(ctx);
        for (struct tdl_deferred **p = &tdl_vk(ctx)->deferred; *p;) {
            struct tdl_deferred *d = *p;
            if (d->point <= value) {
                *p = d->next;
                d->next = done;
                done = d;
            } else {
                p = &d->next;
            }
        }
    }
    pthread_mutex_unlock(&tdl_vk(ctx)->lock);
    while (done) {
        struct tdl_deferred *next = done->next;
        free_deferred(ctx, done);
        free(done);
        done = next;
    }
}

/* ----------------------------------------------------------------- other */

uint64_t tdl_context_ticks_ns(const struct tdl_context *ctx, uint64_t from, uint64_t to)
{
    uint64_t mask =
        tdl_vk(ctx)->timestamp_bits >= 64 ? UINT64_MAX : (1ull << tdl_vk(ctx)->timestamp_bits) - 1;
    return (uint64_t)((double)((to - from) & mask) *
                      (double)tdl_vk(ctx)->properties.limits.timestampPeriod);
}

void tdl_context_name(struct tdl_context *ctx, VkObjectType type, uint64_t handle, const char *name)
{
    if (!tdl_vk(ctx)->fn.set_object_name || !name)
        return;
    tdl_loader_lock();
    tdl_vk(ctx)->fn.set_object_name(tdl_vk(ctx)->device,
                                    &(VkDebugUtilsObjectNameInfoEXT){
                                        .sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_OBJECT_NAME_INFO_EXT,
                                        .objectType = type,
                                        .objectHandle = handle,
                                        .pObjectName = name,
                                    });
    tdl_loader_unlock();
}
