/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "null-device.h"

#include <core/tensor.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct null_context {
    struct tdl_context base;
    uint64_t last_point;
};

/* One piece of work of a batch. */
struct work {
    struct tdl_buffer *source, *target; /* a copy, or zeros where there is no source */
    uint64_t source_offset, target_offset, size;
    struct tdl_graph *graph; /* a run */
    struct tdl_buffer *bound[TDL_MAX_BINDINGS];
};

enum { MAX_WORK = 16 };

struct null_batch {
    struct tdl_batch base;
    bool recording;
    struct work work[MAX_WORK];
    uint32_t count;
};

struct tdl_program {
    struct tdl_ir *ir;
};

static atomic_uint buffers;

uint32_t null_count_buffers(void)
{
    return atomic_load(&buffers);
}

/* ---------------------------------------------------------------- contexts */

static void context_destroy(struct tdl_context *ctx)
{
    tdl_kept_batches_finish(ctx);
    tdl_context_finish(ctx);
    free(ctx);
}

/* Work is done when it is submitted. */
static enum tdl_result context_wait(struct tdl_context *ctx, uint64_t point, uint64_t timeout_ns)
{
    (void)ctx, (void)point, (void)timeout_ns;
    return TDL_OK;
}

static uint64_t context_last_point(struct tdl_context *ctx)
{
    return ((struct null_context *)ctx)->last_point;
}

static void context_collect(struct tdl_context *ctx)
{
    (void)ctx;
}

static enum tdl_result context_save_cache(struct tdl_context *ctx)
{
    (void)ctx;
    return TDL_OK;
}

static bool context_cache_path(const struct tdl_context *ctx, const char *kind,
                               const char *extension, char *path, size_t size)
{
    (void)ctx, (void)kind, (void)extension, (void)path, (void)size;
    return false;
}

struct tdl_context *null_context_create(void)
{
    static const struct tdl_context_params params = {.cache_dir = ""};
    struct null_context *ctx = calloc(1, sizeof(*ctx));
    if (!ctx)
        return NULL;
    tdl_context_init(&ctx->base, &null_device, &params);
    snprintf(ctx->base.info.name, sizeof(ctx->base.info.name), "null");
    ctx->base.info.shader_int64 = true;
    ctx->base.info.max_buffer_bytes = UINT32_MAX;
    return &ctx->base;
}

/* ------------------------------------------------------------------ memory */

static enum tdl_result buffer_create(struct tdl_context *ctx, const struct tdl_buffer_wish *wish,
                                     struct tdl_buffer **out_buffer)
{
    if (wish->exportable)
        return tdl_fail(TDL_ERROR_UNSUPPORTED, "%s: nobody else reaches this memory", wish->name);
    struct tdl_buffer *b = calloc(1, sizeof(*b));
    void *memory = b ? malloc(wish->size) : NULL;
    if (!memory) {
        free(b);
        return tdl_fail(TDL_ERROR_OUT_OF_MEMORY, "out of memory for %s", wish->name);
    }
    memset(memory, 0xa5, wish->size);
    tdl_buffer_init(b, ctx, wish->size);
    b->map = memory;
    atomic_fetch_add(&buffers, 1);
    *out_buffer = b;
    return TDL_OK;
}

static enum tdl_result buffer_import_host(struct tdl_context *ctx, void *pointer, size_t size,
                                          struct tdl_buffer **out_buffer, uint64_t *out_offset)
{
    (void)pointer, (void)size, (void)out_buffer, (void)out_offset;
    return tdl_fail(TDL_ERROR_UNSUPPORTED, "%s imports nothing", ctx->info.name);
}

static void buffer_destroy(struct tdl_buffer *b)
{
    atomic_fetch_sub(&buffers, 1);
    free(b->map);
    free(b);
}

static uint64_t buffer_point(const struct tdl_buffer *b, bool and_read)
{
    (void)b, (void)and_read;
    return 0;
}

/* ----------------------------------------------------------------- batches */

static enum tdl_result batch_create(struct tdl_context *ctx, struct tdl_batch **out_batch)
{
    struct null_batch *b = calloc(1, sizeof(*b));
    if (!b)
        return tdl_fail(TDL_ERROR_OUT_OF_MEMORY, "out of memory while creating a batch");
    b->base.ctx = tdl_context_ref(ctx);
    *out_batch = &b->base;
    return TDL_OK;
}

static void batch_cancel(struct tdl_batch *batch)
{
    struct null_batch *b = (struct null_batch *)batch;
    for (uint32_t i = 0; i < b->count; i++) {
        tdl_buffer_destroy(&b->work[i].source);
        tdl_buffer_destroy(&b->work[i].target);
        for (uint32_t j = 0; j < TDL_MAX_BINDINGS; j++)
            tdl_buffer_destroy(&b->work[i].bound[j]);
    }
    b->count = 0;
    b->recording = false;
}

static void batch_destroy(struct tdl_batch *batch)
{
    struct tdl_context *ctx = batch->ctx;
    batch_cancel(batch);
    free(batch);
    tdl_context_destroy(&ctx);
}

static enum tdl_result batch_begin(struct tdl_batch *batch)
{
    struct null_batch *b = (struct null_batch *)batch;
    if (b->recording)
        return tdl_fail(TDL_ERROR_INVALID_STATE, "the batch was begun already");
    b->recording = true;
    return TDL_OK;
}

/* Run the references on what is bound, and put the outputs where they belong. */
static enum tdl_result run(const struct work *w)
{
    const struct tdl_ir *ir = w->graph->program->ir;
    const void *inputs[TDL_MAX_BINDINGS];
    void **values = calloc(ir->operand_count, sizeof(*values));
    if (!values)
        return tdl_fail(TDL_ERROR_OUT_OF_MEMORY, "out of memory while running a graph");
    for (uint32_t i = 0; i < ir->input_count; i++)
        inputs[i] = w->bound[i]->map;
    enum tdl_result r = tdl_ir_run_reference(ir, inputs, values);
    for (uint32_t i = 0; i < ir->output_count && r == TDL_OK; i++)
        memcpy(w->bound[ir->input_count + i]->map, values[ir->outputs[i]->id],
               tdl_tensor_params_size(&ir->outputs[i]->desc));
    for (uint32_t i = 0; i < ir->operand_count; i++)
        free(values[i]);
    free(values);
    return r;
}

static enum tdl_result execute(const struct work *w)
{
    if (w->graph)
        return run(w);
    uint8_t *to = (uint8_t *)w->target->map + w->target_offset;
    if (w->source)
        memcpy(to, (const uint8_t *)w->source->map + w->source_offset, w->size);
    else
        memset(to, 0, w->size);
    return TDL_OK;
}

static enum tdl_result batch_submit(struct tdl_batch *batch, uint64_t *out_point)
{
    struct null_batch *b = (struct null_batch *)batch;
    struct null_context *ctx = (struct null_context *)batch->ctx;
    enum tdl_result r = TDL_OK;
    if (!b->recording)
        return tdl_fail(TDL_ERROR_INVALID_STATE, "the batch was not begun");
    for (uint32_t i = 0; i < b->count && r == TDL_OK; i++)
        r = execute(&b->work[i]);
    batch_cancel(batch);
    if (r == TDL_OK && out_point)
        *out_point = ctx->last_point + 1;
    ctx->last_point += r == TDL_OK;
    atomic_fetch_add(&batch->ctx->stats.submits, r == TDL_OK);
    return r;
}

static enum tdl_result batch_stage(struct tdl_batch *batch, uint32_t stage)
{
    (void)batch, (void)stage;
    return TDL_OK;
}

static bool batch_stage_times(struct tdl_batch *batch, uint64_t out_ns[TDL_MAX_STAGES])
{
    (void)batch, (void)out_ns;
    return false;
}

/* Work is done when it is submitted. */
static uint64_t batch_point(const struct tdl_batch *batch)
{
    (void)batch;
    return 0;
}

static void batch_free(struct tdl_context *ctx, struct tdl_batch *batch)
{
    (void)ctx;
    free(batch);
}

static enum tdl_result add(struct tdl_batch *batch, const struct work *work)
{
    struct null_batch *b = (struct null_batch *)batch;
    if (!b->recording)
        return tdl_fail(TDL_ERROR_INVALID_STATE, "the batch was not begun");
    if (b->count == MAX_WORK)
        return tdl_fail(TDL_ERROR_UNSUPPORTED, "the batch is full");
    struct work *w = &b->work[b->count++];
    *w = *work;
    if (w->source)
        tdl_buffer_ref(w->source);
    if (w->target)
        tdl_buffer_ref(w->target);
    for (uint32_t i = 0; i < TDL_MAX_BINDINGS; i++)
        if (w->bound[i])
            tdl_buffer_ref(w->bound[i]);
    return TDL_OK;
}

static enum tdl_result batch_copy(struct tdl_batch *batch, struct tdl_buffer *source,
                                  uint64_t source_offset, struct tdl_buffer *target,
                                  uint64_t target_offset, uint64_t size)
{
    return add(batch, &(struct work){.source = source,
                                     .target = target,
                                     .source_offset = source_offset,
                                     .target_offset = target_offset,
                                     .size = size});
}

static enum tdl_result batch_fill_zero(struct tdl_batch *batch, struct tdl_buffer *target)
{
    return add(batch, &(struct work){.target = target, .size = target->size});
}

/* ---------------------------------------------------------------- programs */

/* The constants of the builder's are gone once the graph is built. */
static enum tdl_result program_create(struct tdl_graph *g, const struct tdl_compile_params *params)
{
    (void)params;
    struct tdl_ir *ir = tdl_ir_clone(g->plan.ir);
    g->program = calloc(1, sizeof(*g->program));
    if (!ir || !g->program) {
        tdl_ir_destroy(&ir);
        return tdl_fail(TDL_ERROR_OUT_OF_MEMORY, "out of memory while building a graph");
    }
    g->program->ir = ir;
    for (uint32_t i = 0; i < ir->operand_count; i++) {
        struct tdl_operand *o = ir->operands[i];
        const struct tdl_operand *from = g->plan.ir->operands[i];
        if (from->external && from->bound.packing == TDL_PACKING_C4)
            return tdl_fail(TDL_ERROR_UNSUPPORTED, "%s: this device has no packs", from->name);
        if (!tdl_operand_expand(o))
            return tdl_fail(TDL_ERROR_OUT_OF_MEMORY, "out of memory while building a graph");
        if (!o->data)
            continue;
        const size_t size = tdl_tensor_params_size(&o->desc);
        void *own = tdl_ir_alloc(ir, size);
        if (!own)
            return tdl_fail(TDL_ERROR_OUT_OF_MEMORY, "out of memory while building a graph");
        memcpy(own, o->data, size);
        o->data = own;
    }
    return TDL_OK;
}

static enum tdl_result program_compile(struct tdl_graph *g, const struct tdl_compile_params *params)
{
    if (params && params->progress && !params->progress(params->progress_data, 0, 0))
        return tdl_fail(TDL_ERROR_CANCELED, "cancelled");
    (void)g;
    return TDL_OK;
}

static void program_destroy(struct tdl_graph *g)
{
    if (g->program)
        tdl_ir_destroy(&g->program->ir);
    free(g->program);
}

static enum tdl_result program_run(struct tdl_batch *batch, struct tdl_graph *g,
                                   struct tdl_buffer *const *bound)
{
    struct work w = {.graph = g};
    memcpy(w.bound, bound, sizeof(w.bound));
    return add(batch, &w);
}

const struct tdl_device null_device = {
    .name = "null",
    .context_destroy = context_destroy,
    .context_wait = context_wait,
    .context_last_point = context_last_point,
    .context_passed = context_last_point,
    .context_collect = context_collect,
    .context_save_cache = context_save_cache,
    .context_cache_path = context_cache_path,
    .buffer_create = buffer_create,
    .buffer_import_host = buffer_import_host,
    .buffer_destroy = buffer_destroy,
    .buffer_point = buffer_point,
    .batch_create = batch_create,
    .batch_destroy = batch_destroy,
    .batch_begin = batch_begin,
    .batch_cancel = batch_cancel,
    .batch_submit = batch_submit,
    .batch_stage = batch_stage,
    .batch_stage_times = batch_stage_times,
    .batch_point = batch_point,
    .batch_free = batch_free,
    .batch_copy = batch_copy,
    .batch_fill_zero = batch_fill_zero,
    .program_create = program_create,
    .program_compile = program_compile,
    .program_destroy = program_destroy,
    .program_run = program_run,
};
