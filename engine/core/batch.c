/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core.h"

enum tdl_result tdl_batch_create(struct tdl_context *context, struct tdl_batch **out_batch)
{
    TDL_NEED(context, "context");
    TDL_NEED(out_batch, "out_batch");
    enum tdl_result r = tdl_context_check(context);
    *out_batch = NULL;
    if (r == TDL_OK)
        r = context->on->batch_create(context, out_batch);
    return tdl_logged(context, r);
}

void tdl_batch_set_queue(struct tdl_batch *batch, uint32_t queue)
{
    if (batch && !tdl_context_is_forked(batch->ctx) && batch->ctx->on->batch_set_queue)
        batch->ctx->on->batch_set_queue(batch, queue);
}

void tdl_batch_destroy(struct tdl_batch **batch)
{
    struct tdl_batch *b = tdl_take(batch);
    if (b && !tdl_context_is_forked(b->ctx))
        b->ctx->on->batch_destroy(b);
}

struct tdl_context *tdl_batch_context(struct tdl_batch *batch)
{
    return batch->ctx;
}

enum tdl_result tdl_batch_begin(struct tdl_batch *batch)
{
    TDL_NEED(batch, "batch");
    enum tdl_result r = tdl_context_check_process(batch->ctx);
    return tdl_logged(batch->ctx, r == TDL_OK ? batch->ctx->on->batch_begin(batch) : r);
}

void tdl_batch_cancel(struct tdl_batch *batch)
{
    if (batch && !tdl_context_is_forked(batch->ctx))
        batch->ctx->on->batch_cancel(batch);
}

void tdl_batch_abort(struct tdl_batch *batch)
{
    if (batch && !tdl_context_is_forked(batch->ctx) && batch->ctx->on->batch_abort)
        batch->ctx->on->batch_abort(batch);
}

enum tdl_result tdl_batch_submit(struct tdl_batch *batch, uint64_t *out_point)
{
    TDL_NEED(batch, "batch");
    enum tdl_result r = tdl_context_check_process(batch->ctx);
    return tdl_logged(batch->ctx, r == TDL_OK ? batch->ctx->on->batch_submit(batch, out_point) : r);
}

enum tdl_result tdl_batch_stage(struct tdl_batch *batch, uint32_t stage)
{
    TDL_NEED(batch, "batch");
    if (stage >= TDL_MAX_STAGES)
        return tdl_logged(batch->ctx,
                          tdl_fail(TDL_ERROR_INVALID_ARGUMENT,
                                   "tdl_batch_stage: there is no stage %u; there are %d", stage,
                                   TDL_MAX_STAGES));
    return tdl_logged(batch->ctx, batch->ctx->on->batch_stage(batch, stage));
}

bool tdl_batch_stage_times(struct tdl_batch *batch, uint64_t *out_ns, uint32_t count)
{
    uint64_t all[TDL_MAX_STAGES] = {0};
    const bool known = batch && batch->ctx->on->batch_stage_times(batch, all);
    for (uint32_t i = 0; out_ns && i < count; i++)
        out_ns[i] = known && i < TDL_MAX_STAGES ? all[i] : 0;
    return known;
}

enum tdl_result tdl_batch_copy(struct tdl_batch *batch, struct tdl_buffer *source,
                               uint64_t source_offset, struct tdl_buffer *target,
                               uint64_t target_offset, uint64_t size)
{
    return batch->ctx->on->batch_copy(batch, source, source_offset, target, target_offset, size);
}

enum tdl_result tdl_batch_fill_zero(struct tdl_batch *batch, struct tdl_buffer *target)
{
    return batch->ctx->on->batch_fill_zero(batch, target);
}

/* ------------------------------------------------------------- kept batches */

/* The oldest that is not in use, if its work is done, or all there may be are queued; NULL:
 * make one, unless that is full. */
static struct tdl_batch *take_kept(struct tdl_context *ctx, bool may_wait, bool *out_full)
{
    const uint64_t passed = ctx->on->context_passed(ctx);
    struct tdl_kept_batches *kept = &ctx->batches;
    pthread_mutex_lock(&kept->lock);
    struct tdl_batch *b = kept->first;
    const bool done = b && ctx->on->batch_point(b) <= passed;
    const bool full = kept->count >= ctx->max_queued;
    *out_full = full && !done && !may_wait;
    if (done || (b && full && may_wait)) {
        kept->first = b->next_kept;
        if (!kept->first)
            kept->last = NULL;
        b->next_kept = NULL;
    } else {
        b = NULL;
        kept->count += !*out_full;
    }
    pthread_mutex_unlock(&kept->lock);
    return b;
}

enum tdl_result tdl_fail_busy(const struct tdl_context *ctx)
{
    return tdl_fail(TDL_ERROR_BUSY,
                    "%u pieces of work are queued (tdl_context_params.max_queued): wait for one "
                    "of them with tdl_context_wait(), then try again",
                    ctx->max_queued);
}

static enum tdl_result borrow(struct tdl_context *ctx, bool may_wait, struct tdl_batch **out_batch)
{
    bool full;
    enum tdl_result r = tdl_context_check_process(ctx);
    *out_batch = NULL;
    if (r != TDL_OK)
        return r;
    struct tdl_batch *b = take_kept(ctx, may_wait, &full);
    if (full)
        return tdl_fail_busy(ctx);
    if (b)
        b->ctx = tdl_context_ref(ctx);
    else
        r = tdl_batch_create(ctx, &b);
    if (r == TDL_OK)
        r = ctx->on->batch_begin(b);
    if (r == TDL_OK) {
        *out_batch = b;
        return TDL_OK;
    }
    tdl_batch_destroy(&b);
    pthread_mutex_lock(&ctx->batches.lock);
    ctx->batches.count--;
    pthread_mutex_unlock(&ctx->batches.lock);
    return r;
}

enum tdl_result tdl_batch_borrow(struct tdl_context *ctx, struct tdl_batch **out_batch)
{
    return borrow(ctx, true, out_batch);
}

enum tdl_result tdl_batch_borrow_queued(struct tdl_context *ctx, struct tdl_batch **out_batch)
{
    return borrow(ctx, !ctx->busy_when_full, out_batch);
}

void tdl_batch_give_back(struct tdl_batch **batch)
{
    struct tdl_batch *b = tdl_take(batch);
    if (!b)
        return;
    struct tdl_context *ctx = b->ctx;
    struct tdl_kept_batches *kept = &ctx->batches;
    ctx->on->batch_cancel(b);
    pthread_mutex_lock(&kept->lock);
    *(kept->last ? &kept->last->next_kept : &kept->first) = b;
    kept->last = b;
    pthread_mutex_unlock(&kept->lock);
    tdl_context_destroy(&ctx); /* a kept batch holds no reference */
}

void tdl_kept_batches_finish(struct tdl_context *ctx)
{
    for (struct tdl_batch *b = ctx->batches.first, *next; b; b = next) {
        next = b->next_kept;
        ctx->on->batch_free(ctx, b);
    }
    ctx->batches.first = ctx->batches.last = NULL;
}
