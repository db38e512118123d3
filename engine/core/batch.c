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

enum tdl_result tdl_batch_borrow(struct tdl_context *ctx, struct tdl_batch **out_batch)
{
    const enum tdl_result r = tdl_context_check_process(ctx);
    *out_batch = NULL;
    return r == TDL_OK ? ctx->on->batch_borrow(ctx, true, out_batch) : r;
}

enum tdl_result tdl_batch_borrow_queued(struct tdl_context *ctx, struct tdl_batch **out_batch)
{
    const enum tdl_result r = tdl_context_check_process(ctx);
    *out_batch = NULL;
    return r == TDL_OK ? ctx->on->batch_borrow(ctx, !ctx->busy_when_full, out_batch) : r;
}

enum tdl_result tdl_fail_busy(const struct tdl_context *ctx)
{
    return tdl_fail(TDL_ERROR_BUSY,
                    "%u pieces of work are queued (tdl_context_params.max_queued): wait for one "
                    "of them with tdl_context_wait(), then try again",
                    ctx->max_queued);
}

void tdl_batch_give_back(struct tdl_batch **batch)
{
    struct tdl_batch *b = tdl_take(batch);
    if (b)
        b->ctx->on->batch_give_back(b);
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
