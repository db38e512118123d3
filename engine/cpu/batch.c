/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Batches: a list of pieces of work in memory that is used again and again. */
#include "batch.h"
#include "table.h"

#include <stdlib.h>

#define NO_STAGE TDL_MAX_STAGES

struct tdl_cpu_chunk {
    struct tdl_cpu_chunk *next;
    size_t used, size;
    _Alignas(max_align_t) uint8_t bytes[];
};

/* ------------------------------------------------------------ coming and going */

enum tdl_result tdl_cpu_batch_create(struct tdl_context *ctx, struct tdl_batch **out_batch)
{
    struct tdl_cpu_batch *b = calloc(1, sizeof(*b));
    if (!b)
        return tdl_fail(TDL_ERROR_OUT_OF_MEMORY, "out of memory while creating a batch");
    b->base.ctx = tdl_context_ref(ctx);
    b->last = &b->work;
    *out_batch = &b->base;
    return TDL_OK;
}

void tdl_cpu_batch_free(struct tdl_context *ctx, struct tdl_batch *batch)
{
    struct tdl_cpu_batch *b = tdl_cpu_batch(batch);
    (void)ctx;
    for (struct tdl_cpu_chunk *c = b->chunks, *next; c; c = next) {
        next = c->next;
        free(c);
    }
    free(b->uses);
    free(b->touches);
    free(b);
}

void tdl_cpu_batch_release(struct tdl_cpu_batch *b)
{
    for (struct tdl_cpu_work *w = b->work, *next; w; w = next) {
        next = w->next;
        if (w->release)
            w->release(w);
    }
    b->work = NULL;
    b->last = &b->work;
}

static void drop_uses(struct tdl_cpu_batch *b)
{
    for (uint32_t i = 0; i < b->use_count; i++)
        tdl_buffer_destroy(&b->uses[i].buffer);
    b->use_count = 0;
}

void tdl_cpu_batch_destroy(struct tdl_batch *batch)
{
    struct tdl_cpu_batch *b = tdl_cpu_batch(batch);
    struct tdl_context *ctx = batch->ctx;
    if (b->recording)
        tdl_cpu_batch_cancel(batch);
    pthread_mutex_lock(&tdl_cpu(ctx)->lock);
    b->orphan = true;
    const bool queued = b->queued;
    pthread_mutex_unlock(&tdl_cpu(ctx)->lock);
    if (!queued)
        tdl_cpu_batch_free(ctx, batch);
    tdl_context_destroy(&ctx);
}

uint64_t tdl_cpu_batch_point(const struct tdl_batch *batch)
{
    return ((const struct tdl_cpu_batch *)batch)->point;
}

/* --------------------------------------------------------------- recording */

enum tdl_result tdl_cpu_batch_begin(struct tdl_batch *batch)
{
    struct tdl_cpu_batch *b = tdl_cpu_batch(batch);
    if (b->recording)
        return tdl_fail(TDL_ERROR_INVALID_STATE,
                        "tdl_batch_begin: the batch was begun already; submit or cancel it first");
    enum tdl_result r = tdl_context_wait(batch->ctx, b->point, TDL_WAIT_FOREVER);
    if (r != TDL_OK)
        return r;
    for (struct tdl_cpu_chunk *c = b->chunks; c; c = c->next)
        c->used = 0;
    memset(b->stage_ns, 0, sizeof(b->stage_ns));
    b->stage = NO_STAGE;
    b->stages_begun = 0;
    b->recording = true;
    return TDL_OK;
}

void tdl_cpu_batch_cancel(struct tdl_batch *batch)
{
    struct tdl_cpu_batch *b = tdl_cpu_batch(batch);
    if (!b->recording)
        return;
    tdl_cpu_batch_release(b);
    drop_uses(b);
    b->recording = false;
    b->stages_begun = 0;
}

static enum tdl_result check_recording(const struct tdl_cpu_batch *b)
{
    return b->recording
               ? TDL_OK
               : tdl_fail(TDL_ERROR_INVALID_STATE, "the batch was not begun: call tdl_batch_begin");
}

/* Room in the chunks; they stay, so that the next frame needs none. */
static void *take_memory(struct tdl_cpu_batch *b, size_t size)
{
    enum { CHUNK = 4096 };
    struct tdl_cpu_chunk *c = b->chunks;
    size = TDL_ALIGN(size, sizeof(max_align_t));
    while (c && c->size - c->used < size)
        c = c->next;
    if (!c) {
        const size_t room = TDL_MAX(size, (size_t)CHUNK);
        c = malloc(sizeof(*c) + room);
        if (!c)
            return NULL;
        *c = (struct tdl_cpu_chunk){.next = b->chunks, .size = room};
        b->chunks = c;
    }
    void *memory = c->bytes + c->used;
    c->used += size;
    return memset(memory, 0, size);
}

void *tdl_cpu_batch_add(struct tdl_batch *batch, size_t size,
                        enum tdl_result (*run)(struct tdl_cpu_work *, struct tdl_cpu_threads *))
{
    struct tdl_cpu_batch *b = tdl_cpu_batch(batch);
    if (check_recording(b) != TDL_OK)
        return NULL;
    struct tdl_cpu_work *w = take_memory(b, size);
    if (!w) {
        tdl_fail(TDL_ERROR_OUT_OF_MEMORY, "out of memory while adding to a batch");
        return NULL;
    }
    w->run = run;
    w->stage = b->stage;
    *b->last = w;
    b->last = &w->next;
    return w;
}

enum tdl_result tdl_cpu_batch_use(struct tdl_batch *batch, struct tdl_buffer *buffer, bool write)
{
    struct tdl_cpu_batch *b = tdl_cpu_batch(batch);
    enum tdl_result r = check_recording(b);
    if (r != TDL_OK)
        return r;
    if (b->use_count == b->use_capacity) {
        const uint32_t capacity = b->use_capacity ? 2 * b->use_capacity : 16;
        struct tdl_cpu_use *uses = realloc(b->uses, capacity * sizeof(*uses));
        if (uses)
            b->uses = uses;
        struct tdl_cpu_touch *touches = realloc(b->touches, capacity * sizeof(*touches));
        if (touches)
            b->touches = touches;
        if (!uses || !touches)
            return tdl_fail(TDL_ERROR_OUT_OF_MEMORY, "out of memory while adding to a batch");
        b->use_capacity = capacity;
    }
    b->uses[b->use_count++] = (struct tdl_cpu_use){tdl_buffer_ref(buffer), write};
    return TDL_OK;
}

enum tdl_result tdl_cpu_batch_submit(struct tdl_batch *batch, uint64_t *out_point)
{
    struct tdl_cpu_batch *b = tdl_cpu_batch(batch);
    enum tdl_result r;
    TRY(check_recording(b));
    TRY(tdl_context_check(batch->ctx));
    b->recording = false;
    const uint64_t point = tdl_cpu_timeline_submit(tdl_cpu(batch->ctx), b);
    drop_uses(b); /* batches that this frees wait for the point */
    atomic_fetch_add(&batch->ctx->stats.submits, 1);
    if (out_point)
        *out_point = point;
fail:
    return r;
}

void tdl_cpu_batch_abort(struct tdl_batch *batch)
{
    struct tdl_cpu_batch *b = tdl_cpu_batch(batch);
    pthread_mutex_lock(&tdl_cpu(batch->ctx)->lock);
    if (b->queued)
        atomic_store(&b->aborted, true);
    pthread_mutex_unlock(&tdl_cpu(batch->ctx)->lock);
}

/* ------------------------------------------------------------------- stages */

enum tdl_result tdl_cpu_batch_stage(struct tdl_batch *batch, uint32_t stage)
{
    struct tdl_cpu_batch *b = tdl_cpu_batch(batch);
    enum tdl_result r = check_recording(b);
    if (r != TDL_OK)
        return r;
    if (b->stages_begun == TDL_MAX_STAGES)
        return tdl_fail(TDL_ERROR_UNSUPPORTED,
                        "tdl_batch_stage: stages were begun %d times in this batch already",
                        TDL_MAX_STAGES);
    b->stages_begun++;
    b->stage = stage;
    return TDL_OK;
}

bool tdl_cpu_batch_stage_times(struct tdl_batch *batch, uint64_t out_ns[TDL_MAX_STAGES])
{
    struct tdl_cpu_batch *b = tdl_cpu_batch(batch);
    struct tdl_cpu_context *ctx = tdl_cpu(batch->ctx);
    pthread_mutex_lock(&ctx->lock);
    const bool finished = !b->recording && !b->queued && b->stages_begun;
    pthread_mutex_unlock(&ctx->lock);
    if (finished)
        memcpy(out_ns, b->stage_ns, sizeof(b->stage_ns));
    return finished;
}

/* ------------------------------------------------------------ copies and zeros */

struct copy {
    struct tdl_cpu_work work;
    const uint8_t *source; /* NULL: zeros */
    uint8_t *target;
    size_t size;
};

static enum tdl_result run_copy(struct tdl_cpu_work *work, struct tdl_cpu_threads *threads)
{
    const struct copy *c = (const struct copy *)work;
    (void)threads;
    if (c->source)
        memmove(c->target, c->source, c->size);
    else
        memset(c->target, 0, c->size);
    return TDL_OK;
}

static enum tdl_result add_copy(struct tdl_batch *batch, struct tdl_buffer *source,
                                uint64_t source_offset, struct tdl_buffer *target,
                                uint64_t target_offset, uint64_t size)
{
    enum tdl_result r = tdl_cpu_batch_use(batch, target, true);
    if (r == TDL_OK && source)
        r = tdl_cpu_batch_use(batch, source, false);
    struct copy *c = r == TDL_OK ? tdl_cpu_batch_add(batch, sizeof(*c), run_copy) : NULL;
    if (!c)
        return r != TDL_OK ? r : TDL_ERROR_OUT_OF_MEMORY;
    c->source = source ? tdl_cpu_memory(source) + source_offset : NULL;
    c->target = tdl_cpu_memory(target) + target_offset;
    c->size = size;
    return TDL_OK;
}

enum tdl_result tdl_cpu_batch_copy(struct tdl_batch *batch, struct tdl_buffer *source,
                                   uint64_t source_offset, struct tdl_buffer *target,
                                   uint64_t target_offset, uint64_t size)
{
    return add_copy(batch, source, source_offset, target, target_offset, size);
}

enum tdl_result tdl_cpu_batch_fill_zero(struct tdl_batch *batch, struct tdl_buffer *target)
{
    return add_copy(batch, NULL, 0, target, 0, target->size);
}
