/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "coherence.h"

#include "buffer.h"

void tdl_stale_init(struct tdl_stale *stale)
{
    pthread_mutex_init(&stale->lock, NULL);
}

void tdl_stale_finish(struct tdl_stale *stale)
{
    pthread_mutex_destroy(&stale->lock);
}

/* The driver takes whole atoms. The mapping ends with the memory. */
static VkMappedMemoryRange whole_atoms(const struct tdl_buffer *b, uint64_t start, uint64_t end)
{
    const uint64_t atom = tdl_vk(b->ctx)->properties.limits.nonCoherentAtomSize;
    const uint64_t from = start / atom * atom;
    const bool to_the_end = end >= b->size || TDL_ALIGN(end, atom) >= b->size;
    return (VkMappedMemoryRange){
        .sType = VK_STRUCTURE_TYPE_MAPPED_MEMORY_RANGE,
        .memory = tdl_vkb(b)->memory,
        .offset = from,
        .size = to_the_end ? VK_WHOLE_SIZE : TDL_ALIGN(end, atom) - from,
    };
}

enum tdl_result tdl_coherence_flush(const struct tdl_buffer *b, uint64_t start, uint64_t end)
{
    const VkMappedMemoryRange range = whole_atoms(b, start, end);
    return VK(b->ctx, vkFlushMappedMemoryRanges(tdl_vk(b->ctx)->device, 1, &range));
}

/* Between parts that the device wrote the CPU may have written others, which were never
 * flushed. */
static enum tdl_result invalidate(const struct tdl_vk_buffer *b)
{
    struct tdl_context *ctx = b->base.ctx;
    const struct tdl_staleness *s = &b->stale;
    const VkMappedMemoryRange range = whole_atoms(&b->base, s->start, s->end);
    const enum tdl_result r =
        s->has_gaps ? tdl_coherence_flush(&b->base, s->start, s->end) : TDL_OK;
    if (r != TDL_OK)
        return r;
    return VK(ctx, vkInvalidateMappedMemoryRanges(tdl_vk(ctx)->device, 1, &range));
}

void tdl_coherence_note(struct tdl_buffer *buffer, uint64_t start, uint64_t end, uint64_t point)
{
    struct tdl_stale *all = &tdl_vk(buffer->ctx)->stale;
    struct tdl_vk_buffer *b = tdl_vkb(buffer);
    pthread_mutex_lock(&all->lock);
    if (!b->stale.listed) {
        b->stale = (struct tdl_staleness){
            .next = all->first, .listed = true, .first_point = point, .start = start, .end = end};
        all->first = b;
        atomic_fetch_add(&all->count, 1);
    }
    b->stale.has_gaps |= start < b->stale.start || end > b->stale.end;
    b->stale.last_point = point;
    b->stale.start = TDL_MIN(b->stale.start, start);
    b->stale.end = TDL_MAX(b->stale.end, end);
    pthread_mutex_unlock(&all->lock);
}

static void unlist(struct tdl_stale *all, struct tdl_vk_buffer **at)
{
    struct tdl_vk_buffer *b = *at;
    *at = b->stale.next;
    b->stale.listed = false;
    atomic_fetch_sub(&all->count, 1);
}

static bool passed(const struct tdl_context *ctx, uint64_t point)
{
    return tdl_queue_passed(ctx, tdl_queue_of(ctx, point)) >= point;
}

enum tdl_result tdl_coherence_catch_up(struct tdl_context *ctx)
{
    struct tdl_stale *all = &tdl_vk(ctx)->stale;
    enum tdl_result r = TDL_OK;
    if (!atomic_load(&all->count))
        return TDL_OK;
    pthread_mutex_lock(&all->lock);
    for (struct tdl_vk_buffer **at = &all->first; *at && r == TDL_OK;) {
        const struct tdl_staleness *stale = &(*at)->stale;
        /* Asked before: what ends in between is for the next time. */
        const bool whole = passed(ctx, stale->last_point);
        if (whole || passed(ctx, stale->first_point))
            r = invalidate(*at);
        if (whole && r == TDL_OK)
            unlist(all, at);
        else
            at = &(*at)->stale.next;
    }
    pthread_mutex_unlock(&all->lock);
    return r;
}

void tdl_coherence_forget(struct tdl_buffer *buffer)
{
    struct tdl_stale *all = &tdl_vk(buffer->ctx)->stale;
    struct tdl_vk_buffer *b = tdl_vkb(buffer);
    pthread_mutex_lock(&all->lock);
    if (b->stale.listed) {
        struct tdl_vk_buffer **at = &all->first;
        while (*at != b)
            at = &(*at)->stale.next;
        unlist(all, at);
    }
    pthread_mutex_unlock(&all->lock);
}
