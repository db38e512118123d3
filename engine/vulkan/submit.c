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
    uint64_t passed = 0;
    /* The queries keep what the submission before wrote until the device gets
     * to reset them. */
    if (!count ||
        tdl_vk(b->base.ctx)
                ->fn.get_semaphore_value(tdl_vk(b->base.ctx)->device, tdl_vk(b->base.ctx)->timeline,
                                         &passed) < 0 ||
        passed < b->point)
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

/* Does this batch touch what earlier submissions left without a barrier? Only
 * uses before the batch's first own barrier can. Call with the lock held. */
static bool needs_barrier(const struct tdl_vk_batch *b)
{
    for (uint32_t i = 0; i < b->use_count; i++) {
        const struct tdl_batch_use *u = &b->uses[i];
        if (u->epoch)
            continue;
        if (tdl_vkb(u->buffer)->write_point > tdl_vk(b->base.ctx)->barrier_point ||
            (u->write && tdl_vkb(u->buffer)->read_point > tdl_vk(b->base.ctx)->barrier_point))
            return true;
    }
    return false;
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
    uint64_t before = tdl_vk(ctx)->last_point;
    bool around;
    enum tdl_result r = hand_over(b, &around);
    if (r != TDL_OK)
        return r;
    list[0] = b->handover[0];
    memcpy(&list[1], b->parts, b->part_count * sizeof(list[0]));
    list[1 + b->part_count] = b->handover[1];
    const struct tdl_submission submission = {
        .commands = around ? list : b->parts,
        .command_count = b->part_count + (around ? 2 : 0),
        .prepend_barrier = needs_barrier(b),
        .waits = b->sync.waits,
        .wait_count = b->sync.wait_count,
        .signals = b->sync.signals,
        .signal_count = b->sync.signal_count,
    };
    r = tdl_context_submit_locked(ctx, &submission, &b->point);
    if (r != TDL_OK)
        return r;
    if (b->epoch)
        tdl_vk(ctx)->barrier_point = TDL_MAX(tdl_vk(ctx)->barrier_point, before);
    for (uint32_t i = 0; i < b->use_count; i++) {
        struct tdl_buffer *buffer = b->uses[i].buffer;
        if (b->uses[i].read)
            tdl_vkb(buffer)->read_point = b->point;
        if (b->uses[i].write)
            tdl_vkb(buffer)->write_point = b->point;
        tdl_rental_used(buffer, b->uses[i].give);
    }
    return TDL_OK;
}

enum tdl_result tdl_vk_batch_submit(struct tdl_batch *batch, uint64_t *out_point)
{
    struct tdl_vk_batch *b = tdl_vk_batch(batch);
    struct tdl_context *ctx = b->base.ctx;
    if (b->state != TDL_BATCH_RECORDING)
        return tdl_fail(TDL_ERROR_INVALID_STATE, "the batch was not begun: call tdl_batch_begin");
    enum tdl_result r = finish_recording(b);
    if (r != TDL_OK) {
        tdl_vk_batch_cancel(batch);
        return r;
    }
    pthread_mutex_lock(&tdl_vk(ctx)->lock);
    r = submit_locked(b);
    pthread_mutex_unlock(&tdl_vk(ctx)->lock);
    tdl_batch_let_go(b);
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
