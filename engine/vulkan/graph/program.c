/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Programs: what a graph is on Vulkan, and its recordings. */
#include "program.h"

#include "vulkan/table.h"

#include <stdlib.h>
#include <string.h>

static enum tdl_result fail_reach(const struct tdl_graph *g, const struct tdl_plan_step *step,
                                  bool operand, uint64_t size)
{
    return tdl_fail(TDL_ERROR_UNSUPPORTED,
                    "%s: its %s needs a buffer of %llu bytes; this device's kernels reach %llu. "
                    "Use %s, float16, or the CPU as the device",
                    step->label, operand ? "operand" : "constant", (unsigned long long)size,
                    (unsigned long long)g->ctx->info.max_buffer_bytes,
                    operand ? "a smaller picture, or fewer at once" : "a smaller model");
}

/* Weights and arena may be larger than what a kernel reaches, not what is bound of them. */
static enum tdl_result check_reach(const struct tdl_graph *g)
{
    const uint64_t reach = g->ctx->info.max_buffer_bytes;
    for (uint32_t i = 0; i < g->plan.step_count; i++)
        for (uint32_t k = 0; k < TDL_MAX_BINDS; k++) {
            const struct tdl_plan_bind *bind = &g->plan.steps[i].binds[k];
            const bool operand = bind->kind == TDL_PLAN_BIND_OPERAND;
            const uint64_t size = operand ? bind->operand->size : bind->size;
            if (bind->kind != TDL_PLAN_BIND_NONE && size + g->plan.guard > reach)
                return fail_reach(g, &g->plan.steps[i], operand, size);
        }
    return TDL_OK;
}

static enum tdl_result share_weights(struct tdl_graph *g, struct tdl_program *p)
{
    struct tdl_weights_block *blocks = calloc(g->plan.block_count + (size_t)1, sizeof(*blocks));
    if (!blocks)
        return tdl_fail(TDL_ERROR_OUT_OF_MEMORY, "out of memory while building a graph");
    for (uint32_t i = 0; i < g->plan.block_count; i++) {
        const struct tdl_plan_block *block = &g->plan.blocks[i];
        blocks[i].data = (const uint8_t *)g->plan.weights + block->offset;
        blocks[i].size = block->size;
    }
    const enum tdl_result r =
        tdl_weights_share(g->ctx, blocks, g->plan.block_count, TDL_BUFFER_DEVICE, &p->weights);
    free(blocks);
    return r;
}

static enum tdl_result need_arena(struct tdl_graph *g, uint32_t queue)
{
    struct tdl_buffer **arena = &g->program->arenas[queue];
    return *arena ? TDL_OK
                  : tdl_buffer_create_parts(g->ctx, TDL_MAX(g->plan.arena_size, 16),
                                            TDL_BUFFER_DEVICE, "arena", arena);
}

enum tdl_result tdl_vk_program_create(struct tdl_graph *g, const struct tdl_compile_params *params)
{
    (void)params; /* kernels are what takes its time */
    enum tdl_result r = tdl_pass_check(g);
    if (r == TDL_OK)
        r = check_reach(g);
    if (r != TDL_OK)
        return r;
    g->program = calloc(1, sizeof(*g->program));
    if (!g->program)
        return tdl_fail(TDL_ERROR_OUT_OF_MEMORY, "out of memory while building a graph");
    pthread_mutex_init(&g->program->lock, NULL);
    tdl_split_init(&g->program->split, &g->ctx->info);
    r = need_arena(g, 0);
    return r == TDL_OK ? share_weights(g, g->program) : r;
}

void tdl_vk_program_destroy(struct tdl_graph *g)
{
    struct tdl_program *p = g->program;
    if (!p)
        return;
    for (struct tdl_recording *rec = p->recordings, *next; rec; rec = next) {
        next = rec->next;
        tdl_recording_release(g->ctx, rec);
    }
    for (uint32_t i = 0; i < TDL_MAX_QUEUES; i++)
        tdl_buffer_destroy(&p->arenas[i]);
    tdl_weights_release(g->ctx, &p->weights);
    pthread_mutex_destroy(&p->lock);
    tdl_pipeline_list_release(g->ctx, p->pipelines);
    free(p);
    g->program = NULL;
}

/* ------------------------------------------------------------- dispatching */

static bool matches(const struct tdl_recording *rec, struct tdl_buffer *const *bound,
                    uint32_t count, uint32_t queue)
{
    for (uint32_t i = 0; i < count; i++)
        if (rec->bound[i] != bound[i]->id)
            return false;
    return rec->queue == queue;
}

/* Make room for one more. */
static void drop_oldest(struct tdl_graph *g)
{
    struct tdl_recording **oldest = NULL;
    for (struct tdl_recording **p = &g->program->recordings; *p; p = &(*p)->next)
        if (!oldest || (*p)->last_used < (*oldest)->last_used)
            oldest = p;
    if (!oldest)
        return;
    struct tdl_recording *rec = *oldest;
    *oldest = rec->next;
    g->program->recording_count--;
    tdl_recording_release(g->ctx, rec);
}

/* What a long run takes is known when its timestamps are there: recordings that were made
 * before are cut by a guess. */
static void learn(struct tdl_graph *g, const struct tdl_recording *rec)
{
    uint64_t ticks[2];
    if (!rec->queries || g->program->split.measured ||
        vkGetQueryPoolResults(tdl_vk(g->ctx)->device, rec->queries, 0, 2, sizeof(ticks), ticks,
                              sizeof(*ticks), VK_QUERY_RESULT_64_BIT) != VK_SUCCESS)
        return;
    const uint64_t ns = tdl_context_ticks_ns(g->ctx, ticks[0], ticks[1]);
    if (!tdl_split_learn(&g->program->split, &rec->parts, ns))
        return;
    tdl_log(g->ctx, TDL_LOG_DEBUG, "a run takes %.1f ms; submissions are cut at %.0f",
            (double)ns / 1e6, g->program->split.bound_ns / 1e6);
    while (g->program->recordings)
        drop_oldest(g);
}

/* The recording for these buffers, made if need be. Call with the graph's
 * lock held. */
static enum tdl_result find_recording(struct tdl_graph *g, struct tdl_buffer *const *bound,
                                      uint32_t queue, struct tdl_recording **out)
{
    uint32_t count = g->plan.ir->input_count + g->plan.ir->output_count;
    struct tdl_recording *rec = g->program->recordings;
    while (rec && !matches(rec, bound, count, queue))
        rec = rec->next;
    if (rec && atomic_load(&rec->submitted)) {
        learn(g, rec); /* which may drop all */
        rec = g->program->recordings ? rec : NULL;
    }
    if (!rec) {
        if (g->program->recording_count >= TDL_MAX_RECORDINGS)
            drop_oldest(g);
        enum tdl_result r = need_arena(g, queue);
        if (r == TDL_OK)
            r = tdl_recording_create(g, bound, queue, false, &rec);
        if (r != TDL_OK)
            return r;
        rec->next = g->program->recordings;
        g->program->recordings = rec;
        g->program->recording_count++;
    }
    rec->last_used = ++g->program->use_counter;
    *out = rec;
    return TDL_OK;
}

static void note_submitted(void *recording)
{
    struct tdl_recording *rec = recording;
    atomic_store(&rec->submitted, true);
}

static enum tdl_result execute(struct tdl_batch *batch, struct tdl_graph *g,
                               struct tdl_recording *rec, struct tdl_buffer *const *bound)
{
    const struct tdl_weights *weights = &g->program->weights;
    struct tdl_bind uses[TDL_MAX_BINDINGS + TDL_MAX_WEIGHTS + 1] = {
        {.buffer = g->program->arenas[rec->queue], .read = true, .write = true}};
    uint32_t count = 1, inputs = g->plan.ir->input_count;
    for (uint32_t i = 0; i < weights->count; i++)
        uses[count++] = (struct tdl_bind){.buffer = weights->buffers[i], .read = true};
    for (uint32_t i = 0; i < inputs + g->plan.ir->output_count; i++)
        uses[count++] =
            (struct tdl_bind){.buffer = bound[i], .read = i < inputs, .write = i >= inputs};
    atomic_fetch_add(&rec->refs, 1);
    const struct tdl_recorded recorded = {rec->commands, rec->parts.ns, rec->parts.count,
                                          g->plan.step_count, g->program->split.bound_ns};
    enum tdl_result r =
        tdl_batch_execute(batch, &recorded, uses, count,
                          (struct tdl_hold){rec, tdl_recording_release, note_submitted});
    if (r != TDL_OK)
        tdl_recording_release(g->ctx, rec);
    return r;
}

enum tdl_result tdl_vk_program_run(struct tdl_batch *batch, struct tdl_graph *g,
                                   struct tdl_buffer *const *bound)
{
    struct tdl_recording *rec;
    pthread_mutex_lock(&g->program->lock);
    enum tdl_result r = find_recording(g, bound, tdl_batch_queue(batch), &rec);
    if (r == TDL_OK)
        r = execute(batch, g, rec, bound);
    pthread_mutex_unlock(&g->program->lock);
    return r;
}

/* --------------------------------------------------------------- profiling */

static enum tdl_result read_times(struct tdl_graph *g, const struct tdl_recording *rec)
{
    uint32_t count = g->plan.step_count + 1;
    uint64_t *ticks = calloc(count, sizeof(*ticks));
    if (!ticks)
        return tdl_fail(TDL_ERROR_OUT_OF_MEMORY, "out of memory while profiling");
    enum tdl_result r =
        VK(g->ctx, vkGetQueryPoolResults(tdl_vk(g->ctx)->device, rec->queries, 0, count,
                                         count * sizeof(*ticks), ticks, sizeof(*ticks),
                                         VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WAIT_BIT));
    for (uint32_t i = 0; r == TDL_OK && i + 1 < count; i++)
        g->steps[i].gpu_ns = tdl_context_ticks_ns(g->ctx, ticks[i], ticks[i + 1]);
    free(ticks);
    return r;
}

enum tdl_result tdl_vk_program_profile(struct tdl_graph *g, struct tdl_buffer *const *bound)
{
    struct tdl_recording *rec = NULL;
    struct tdl_batch *batch = NULL;
    uint64_t point;
    enum tdl_result r;
    TRY(tdl_recording_create(g, bound, 0, true, &rec));
    TRY(tdl_batch_borrow(g->ctx, &batch));
    TRY(execute(batch, g, rec, bound));
    TRY(tdl_batch_submit(batch, &point));
    TRY(tdl_context_wait(g->ctx, point, TDL_WAIT_FOREVER));
    TRY(read_times(g, rec));
fail:
    tdl_batch_give_back(&batch);
    tdl_recording_release(g->ctx, rec);
    return r;
}
