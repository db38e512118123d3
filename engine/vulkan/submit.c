/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Batches on their way to the queue, and the times that they took. */
#include "batch_state.h"
#include "vulkan/share/handover.h"
#include "vulkan/share/rental_state.h"
#include "vulkan/table.h"

#include <string.h>

/* --------------------------------------------------------------- timestamps */

static enum tdl_result timestamp(struct tdl_vk_batch *b)
{
    VkCommandBuffer cb;
    enum tdl_result r = tdl_batch_open_commands(b, &cb);
    if (r != TDL_OK)
        return r;
    if (!b->mark_count)
        vkCmdResetQueryPool(cb, b->queries, 0, TDL_BATCH_TIMESTAMPS);
    vkCmdWriteTimestamp(cb,
                        b->mark_count ? VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT
                                      : VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT,
                        b->queries, b->mark_count);
    return TDL_OK;
}

enum tdl_result tdl_vk_batch_stage(struct tdl_batch *batch, uint32_t stage)
{
    struct tdl_vk_batch *b = tdl_vk_batch(batch);
    if (b->state != TDL_BATCH_RECORDING)
        return tdl_fail(TDL_ERROR_INVALID_STATE, "the batch was not begun: call tdl_batch_begin");
    if (!b->queries)
        return TDL_OK;
    if (b->mark_count == TDL_BATCH_TIMESTAMPS - 1)
        return tdl_fail(TDL_ERROR_UNSUPPORTED,
                        "stages were begun %d times in this batch: submit it and begin another",
                        TDL_MAX_STAGES);
    enum tdl_result r = timestamp(b);
    if (r == TDL_OK)
        b->marks[b->mark_count++] = stage;
    return r;
}

bool tdl_vk_batch_stage_times(struct tdl_batch *batch, uint64_t out_ns[TDL_MAX_STAGES])
{
    struct tdl_vk_batch *b = tdl_vk_batch(batch);
    struct {
        uint64_t value, available;
    } ticks[TDL_BATCH_TIMESTAMPS];
    uint32_t count = b->submitted_marks;
    /* The queries keep what the submission before wrote until the device gets
     * to reset them. */
    if (!count || tdl_queue_passed(b->base.ctx, tdl_queue_of(b->base.ctx, b->point)) < b->point)
        return false;
    if (vkGetQueryPoolResults(tdl_vk(b->base.ctx)->device, b->queries, 0, count, sizeof(ticks),
                              ticks, sizeof(ticks[0]),
                              VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WITH_AVAILABILITY_BIT) < 0)
        return false;
    for (uint32_t i = 0; i < count; i++)
        if (!ticks[i].available)
            return false;
    for (uint32_t i = 0; i + 1 < count; i++)
        out_ns[b->marks[i]] +=
            tdl_context_ticks_ns(b->base.ctx, ticks[i].value, ticks[i + 1].value);
    return true;
}

/* --------------------------------------------------------------- submission */

/* Acquiring others' memory, or giving it away, changes it for every user. */
static bool changes(const struct tdl_batch_use *use)
{
    const struct tdl_vk_buffer *buffer = tdl_vkb(use->buffer);
    return use->write || buffer->shared || buffer->rental;
}

/* The last uses, by queue, that conflict with the batch's: it is submitted behind them. Call with
 * the lock held. */
static void find_conflicts(const struct tdl_vk_batch *b, uint64_t out_points[TDL_MAX_QUEUES])
{
    const uint32_t queues = tdl_vk(b->base.ctx)->queue_count;
    for (uint32_t i = 0; i < b->use_count; i++) {
        const struct tdl_batch_use *u = &b->uses[i];
        const struct tdl_vk_buffer *buffer = tdl_vkb(u->buffer);
        const uint32_t writer = (uint32_t)(buffer->write_point % queues);
        /* Barriers order the batch behind earlier work of the same queue. */
        if (writer != b->queue || !u->epoch)
            out_points[writer] = TDL_MAX(out_points[writer], buffer->write_point);
        for (uint32_t q = 0; q < queues && changes(u); q++)
            if (q != b->queue || !u->epoch)
                out_points[q] = TDL_MAX(out_points[q], buffer->read_points[q]);
    }
}

static void note_uses(struct tdl_vk_batch *b)
{
    for (uint32_t i = 0; i < b->use_count; i++) {
        const struct tdl_batch_use *u = &b->uses[i];
        struct tdl_vk_buffer *buffer = tdl_vkb(u->buffer);
        if (u->read)
            buffer->read_points[b->queue] = b->point;
        if (changes(u))
            buffer->write_point = b->point;
        if (u->write && buffer->incoherent)
            tdl_coherence_note(u->buffer, u->start, u->end, b->point);
        tdl_rental_used(u->buffer, u->give);
    }
}

/* What is written is flushed as well: what the CPU has left there in its cache would come down on
 * it later. */
static enum tdl_result flush_uses(const struct tdl_vk_batch *b)
{
    enum tdl_result r = TDL_OK;
    for (uint32_t i = 0; i < b->use_count && r == TDL_OK; i++)
        if (tdl_vkb(b->uses[i].buffer)->incoherent)
            r = tdl_coherence_flush(b->uses[i].buffer, b->uses[i].start, b->uses[i].end);
    return r;
}

static enum tdl_result finish_recording(struct tdl_vk_batch *b)
{
    VkCommandBuffer cb;
    enum tdl_result r = TDL_OK;
    b->finishing = true;
    if (b->mark_count)
        TRY(timestamp(b));
    if (b->writes_host) {
        TRY(tdl_batch_open_commands(b, &cb));
        tdl_batch_barrier(cb, true);
    }
    TRY(tdl_batch_close_commands(b));
fail:
    return r;
}

/* Take shared and returned buffers over in front of the work, and give back
 * what is to go behind it. Only with the lock held is it known who has them. */
static enum tdl_result hand_over(struct tdl_vk_batch *b, bool *out_any)
{
    struct tdl_handover h = {.acquire_count = 0};
    enum tdl_result r = TDL_OK;
    for (uint32_t i = 0; i < b->use_count; i++) {
        TRY(tdl_rental_check_locked(b->uses[i].buffer));
        TRY(tdl_handover_add(&h, b->uses[i].buffer, b->uses[i].give));
        TRY(tdl_rental_wait(b->uses[i].buffer, &b->sync));
    }
    *out_any = h.acquire_count || h.release_count;
    if (*out_any)
        TRY(tdl_handover_record(b->base.ctx, &h, b->handover));
fail:
    return r;
}

/* With the lock held. */
static enum tdl_result submit_locked(struct tdl_vk_batch *b)
{
    struct tdl_context *ctx = b->base.ctx;
    VkCommandBuffer list[TDL_BATCH_PARTS + 2];
    struct tdl_queue *own = &tdl_vk(ctx)->queues[b->queue];
    const uint64_t before = own->last_point;
    bool around;
    enum tdl_result r = hand_over(b, &around);
    if (r != TDL_OK)
        return r;
    list[0] = b->handover[0];
    memcpy(&list[1], b->parts, b->part_count * sizeof(list[0]));
    list[1 + b->part_count] = b->handover[1];
    struct tdl_submission submission = {
        .queue = b->queue,
        .commands = around ? list : b->parts,
        .command_count = b->part_count + (around ? 2 : 0),
        .cuts = b->cuts,
        .first_cut = around ? 1 : 0,
        .cut_count = b->part_count,
        .waits = b->sync.waits,
        .wait_count = b->sync.wait_count,
        .signals = b->sync.signals,
        .signal_count = b->sync.signal_count,
    };
    find_conflicts(b, submission.behind);
    submission.prepend_barrier = submission.behind[b->queue] > own->barrier_point;
    r = tdl_context_submit_locked(ctx, &submission, &b->point);
    if (r != TDL_OK)
        return r;
    if (b->epoch)
        own->barrier_point = TDL_MAX(own->barrier_point, before);
    note_uses(b);
    return TDL_OK;
}

/* Somebody may have rented what the batch uses since it was added. Call with the lock held,
 * which is let go meanwhile: so all are looked at again. */
static void await_rented(const struct tdl_vk_batch *b)
{
    for (uint32_t i = 0; i < b->use_count; i++)
        if (tdl_rental_await_locked(b->uses[i].buffer))
            i = UINT32_MAX;
}

enum tdl_result tdl_vk_batch_submit(struct tdl_batch *batch, uint64_t *out_point)
{
    struct tdl_vk_batch *b = tdl_vk_batch(batch);
    struct tdl_context *ctx = b->base.ctx;
    if (b->state != TDL_BATCH_RECORDING)
        return tdl_fail(TDL_ERROR_INVALID_STATE, "the batch was not begun: call tdl_batch_begin");
    enum tdl_result r = finish_recording(b);
    if (r == TDL_OK)
        r = flush_uses(b);
    if (r != TDL_OK) {
        tdl_vk_batch_cancel(batch);
        return r;
    }
    pthread_mutex_lock(&tdl_vk(ctx)->lock);
    await_rented(b);
    r = submit_locked(b);
    pthread_mutex_unlock(&tdl_vk(ctx)->lock);
    tdl_batch_let_go(b, r == TDL_OK);
    tdl_sync_submitted(ctx, &b->sync, r == TDL_OK);
    b->state = TDL_BATCH_IDLE;
    if (r != TDL_OK)
        return r;
    b->submitted_marks = b->mark_count ? b->mark_count + 1 : 0;
    atomic_fetch_add(&ctx->stats.dispatches, b->dispatches);
    if (out_point)
        *out_point = b->point;
    tdl_vk_context_collect(ctx);
    return TDL_OK;
}
