/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Waiting for a point of a queue. One thread at a time waits in the driver, for
 * the earliest point that anybody asks for; the others wait for that thread, and it
 * sends the next of them in when it is back. Two threads in vkWaitSemaphores for one
 * semaphore halve the frame rate of a stream on NVIDIA's driver (580), which then
 * wakes them late; and where there are many streams, one wake-up does for all.
 */
#include "wait.h"

#include "context.h"
#include "core/clock.h"
#include "table.h"

#include <errno.h>
#include <time.h>

enum { NAP_NS = 500000, SECOND_NS = 1000000000 };

/* A thread that waits; on its stack, and under the lock. */
struct tdl_waiter {
    struct tdl_waiter *next;
    pthread_cond_t called; /* signalled when the thread shall look */
    uint64_t point;
    bool in_driver, passed;
};

void tdl_waiters_init(struct tdl_waiters *waiters)
{
    *waiters = (struct tdl_waiters){.first = NULL};
    pthread_mutex_init(&waiters->lock, NULL);
    pthread_condattr_init(&waiters->monotonic);
    pthread_condattr_setclock(&waiters->monotonic, CLOCK_MONOTONIC);
}

void tdl_waiters_finish(struct tdl_waiters *waiters)
{
    pthread_condattr_destroy(&waiters->monotonic);
    pthread_mutex_destroy(&waiters->lock);
}

/* Another waiter is in the driver for this point or an earlier one, or should be. A thread that
 * waits for a still earlier point enters the driver beside them: it need not pass later. */
static bool another_first(const struct tdl_waiters *waiters, const struct tdl_waiter *self)
{
    for (const struct tdl_waiter *w = waiters->first; w; w = w->next)
        if (w != self && (w->point < self->point || (w->point == self->point && w->in_driver)))
            return true;
    return false;
}

static void enter(struct tdl_waiters *waiters, struct tdl_waiter *self)
{
    pthread_cond_init(&self->called, &waiters->monotonic);
    self->next = waiters->first;
    waiters->first = self;
}

/* Only those are woken whose point has passed, and whose turn it is now: with many
 * streams waking all costs whole cores. */
static void leave(struct tdl_waiters *waiters, struct tdl_waiter *self, uint64_t value)
{
    struct tdl_waiter **at = &waiters->first, *next = NULL;
    while (*at != self)
        at = &(*at)->next;
    *at = self->next;
    for (struct tdl_waiter *w = waiters->first; w; w = w->next) {
        w->passed |= w->point <= value;
        if (w->passed)
            pthread_cond_signal(&w->called);
        else if (!w->in_driver && (!next || w->point < next->point))
            next = w;
    }
    if (next && !another_first(waiters, next))
        pthread_cond_signal(&next->called);
    pthread_cond_destroy(&self->called);
}

/* Call when another is first. FALSE: the time is up. */
static bool wait_for_others(struct tdl_waiters *waiters, struct tdl_waiter *self, uint64_t deadline)
{
    const struct timespec until = {.tv_sec = (time_t)(deadline / SECOND_NS),
                                   .tv_nsec = (long)(deadline % SECOND_NS)};
    return pthread_cond_timedwait(&self->called, &waiters->lock, &until) != ETIMEDOUT;
}

/* The driver had no memory to wait with. The work is under way and ends all the same,
 * and whoever went on without it would read or overwrite what it works on. */
static VkResult wait_by_asking(struct tdl_vk_context *vk, const struct tdl_queue *queue,
                               uint64_t point, uint64_t deadline)
{
    const struct timespec nap = {.tv_nsec = NAP_NS};
    VkResult result = VK_SUCCESS;
    uint64_t value = 0;

    while (result >= 0 && value < point) {
        if (tdl_clock_ns() >= deadline)
            return VK_TIMEOUT;
        nanosleep(&nap, NULL);
        result = vk->fn.get_semaphore_value(vk->device, queue->timeline, &value);
    }
    return result;
}

static VkResult wait_in_driver(struct tdl_vk_context *vk, const struct tdl_queue *queue,
                               uint64_t point, uint64_t deadline)
{
    const uint64_t now = tdl_clock_ns();
    const VkSemaphoreWaitInfo wait = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
        .semaphoreCount = 1,
        .pSemaphores = &queue->timeline,
        .pValues = &point,
    };
    const VkResult result =
        vk->fn.wait_semaphores(vk->device, &wait, deadline > now ? deadline - now : 0);
    return result == VK_ERROR_OUT_OF_HOST_MEMORY || result == VK_ERROR_OUT_OF_DEVICE_MEMORY
               ? wait_by_asking(vk, queue, point, deadline)
               : result;
}

/* Until the point has passed, or the time is up. */
static VkResult wait_in_turn(struct tdl_vk_context *vk, struct tdl_queue *queue, uint64_t point,
                             uint64_t deadline)
{
    struct tdl_waiters *waiters = &queue->waiters;
    struct tdl_waiter self = {.point = point};
    VkResult result = VK_SUCCESS;
    bool in_time = true;
    uint64_t value = 0;

    pthread_mutex_lock(&waiters->lock);
    enter(waiters, &self);
    while (in_time && !self.passed && another_first(waiters, &self))
        in_time = wait_for_others(waiters, &self, deadline);
    if (!self.passed && in_time) {
        self.in_driver = true;
        pthread_mutex_unlock(&waiters->lock);
        result = wait_in_driver(vk, queue, point, deadline);
        if (result == VK_SUCCESS)
            vk->fn.get_semaphore_value(vk->device, queue->timeline, &value);
        pthread_mutex_lock(&waiters->lock);
    } else if (!self.passed) {
        result = VK_TIMEOUT;
    }
    leave(waiters, &self, value);
    pthread_mutex_unlock(&waiters->lock);
    return result;
}

static enum tdl_result wait_for(struct tdl_context *ctx, struct tdl_queue *queue, uint64_t point,
                                uint64_t timeout_ns, uint64_t deadline)
{
    struct tdl_vk_context *vk = tdl_vk(ctx);
    uint64_t value = 0;
    const enum tdl_result r =
        VK(ctx, vk->fn.get_semaphore_value(vk->device, queue->timeline, &value));
    if (r != TDL_OK || value >= point)
        return r;
    if (timeout_ns)
        tdl_context_count_wait(ctx);
    const VkResult result = timeout_ns ? wait_in_turn(vk, queue, point, deadline) : VK_TIMEOUT;
    if (result == VK_TIMEOUT)
        return tdl_fail(TDL_ERROR_TIMEOUT, "point %llu was not reached in %llu ns",
                        (unsigned long long)point, (unsigned long long)timeout_ns);
    return result < 0 ? tdl_vk_fail(ctx, result, "vkWaitSemaphores(") : TDL_OK;
}

static uint64_t last_of(struct tdl_context *ctx, const struct tdl_queue *queue)
{
    pthread_mutex_lock(&tdl_vk(ctx)->lock);
    const uint64_t point = queue->last_point;
    pthread_mutex_unlock(&tdl_vk(ctx)->lock);
    return point;
}

static enum tdl_result wait_for_points(struct tdl_context *ctx, uint64_t point, uint64_t timeout_ns)
{
    struct tdl_vk_context *vk = tdl_vk(ctx);
    const uint64_t deadline = tdl_clock_ns() + TDL_MIN(timeout_ns, UINT64_MAX / 4);
    struct tdl_queue *own = tdl_queue_of(ctx, point);
    enum tdl_result r = TDL_OK;
    if (point != TDL_ALL_POINTS) /* a number between two of its points is the one before */
        return wait_for(ctx, own, TDL_MIN(point, last_of(ctx, own)), timeout_ns, deadline);
    for (uint32_t i = 0; i < vk->queue_count && r == TDL_OK; i++)
        r = wait_for(ctx, &vk->queues[i], last_of(ctx, &vk->queues[i]), timeout_ns, deadline);
    return r;
}

enum tdl_result tdl_vk_context_wait(struct tdl_context *ctx, uint64_t point, uint64_t timeout_ns)
{
    const enum tdl_result r = wait_for_points(ctx, point, timeout_ns);
    return r == TDL_OK ? tdl_coherence_catch_up(ctx) : r;
}
