/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Programs: made of a graph, and run as pieces of work of batches. */
#include "graph.h"
#include "hot.h"

#include "core/clock.h"
#include "cpu/memory.h"
#include "ops/ops.h"
#include "stop.h"

#include <stdlib.h>
#include <sys/mman.h>

/* Add to the context's figures the memory beside shared weights, which count themselves. */
static void count_memory(struct tdl_program *p)
{
    p->counted = true;
    atomic_fetch_add(&p->ctx->stats.allocations,
                     (p->xnn_bytes > 0) + (p->arena_size > 0) + (p->scratch_bytes > 0));
    atomic_fetch_add(&p->ctx->stats.memory_bytes, p->arena_size + p->xnn_bytes + p->scratch_bytes);
}

static void unref(struct tdl_program *p)
{
    if (!p || atomic_fetch_sub(&p->refs, 1) > 1)
        return;
    if (p->counted)
        atomic_fetch_sub(&p->ctx->stats.memory_bytes,
                         p->arena_size + p->xnn_bytes + p->scratch_bytes);
    tdl_cpu_drop_steps(p);
    tdl_cpu_drop_copies(p);
    tdl_weights_release(p->ctx, &p->weights);
    tdl_ir_destroy(&p->ir);
    free(p->nodes);
    free(p->chain_ends);
    free(p->steps);
    free(p->arena);
    free(p->scratch.memory);
    free(p->values);
    free(p->constants);
    free(p->ns);
    free(p);
}

/* A copy to rewrite, which knows what tensors are bound. */
static struct tdl_ir *copy_ir(const struct tdl_ir *from)
{
    struct tdl_ir *ir = tdl_ir_clone(from);
    for (uint32_t i = 0; ir && i < from->operand_count; i++) {
        ir->operands[i]->external = from->operands[i]->external;
        ir->operands[i]->bound = from->operands[i]->bound;
        ir->operands[i]->binding = from->operands[i]->binding;
    }
    return ir;
}

enum tdl_result tdl_cpu_program_create(struct tdl_graph *g, const struct tdl_compile_params *params)
{
    struct tdl_program *p = g->program = calloc(1, sizeof(*p));
    enum tdl_result r;
    if (!p)
        return tdl_fail(TDL_ERROR_OUT_OF_MEMORY, "out of memory while building a graph");
    atomic_init(&p->refs, 1);
    p->ctx = g->ctx;
    p->ir = copy_ir(g->plan.ir);
    if (!p->ir)
        return tdl_fail(TDL_ERROR_OUT_OF_MEMORY, "out of memory while building a graph");
    p->threads = tdl_cpu(g->ctx)->threads;
    TRY(tdl_cpu_prepare(p->ir, g->plan.no_fuse, p->threads));
    TRY(tdl_cpu_plan(p, g, params));
    p->ns = calloc(p->step_count + (size_t)1, sizeof(*p->ns));
    if (!p->ns)
        return tdl_fail(TDL_ERROR_OUT_OF_MEMORY, "out of memory while building a graph");
    TRY(tdl_cpu_describe_steps(g));
    count_memory(p);
fail:
    return r;
}

/* Addresses as many as the largest value has bytes, at which nothing else lies: XNNPACK
 * knows what it reads for padding by its address, and takes for padding what seems to
 * lie at the same. */
static void *reserve_addresses(const struct tdl_program *p, size_t *out_size)
{
    enum { BEHIND = 4096 }; /* XNNPACK may count a little beyond */
    uint64_t size = 0;
    for (uint32_t i = 0; i < p->ir->operand_count; i++)
        size = TDL_MAX(size, tdl_tensor_params_size(&p->ir->operands[i]->desc));
    *out_size = size + BEHIND;
    void *at = mmap(NULL, *out_size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return at == MAP_FAILED ? NULL : at;
}

enum tdl_result tdl_cpu_ask(const struct tdl_compile_params *params)
{
    if (!params || !params->progress || params->progress(params->progress_data, 0, 0))
        return TDL_OK;
    return tdl_fail(TDL_ERROR_CANCELED, "compilation was cancelled by the progress function");
}

/* The system gives memory when it is touched: by the first run else, which would take
 * several times as long. */
static enum tdl_result touch_arena(struct tdl_program *p, const struct tdl_compile_params *params)
{
    enum { PAGE = 4096, PART = 16 << 20 };
    enum tdl_result r = tdl_cpu_memory_check("the graph", p->arena_size);
    for (uint64_t i = 0; i < p->arena_size && r == TDL_OK; i += PAGE) {
        if (i % PART == 0)
            r = tdl_cpu_ask(params);
        p->arena[i] = 0;
    }
    return r;
}

enum tdl_result tdl_cpu_program_compile(struct tdl_graph *g,
                                        const struct tdl_compile_params *params)
{
    struct tdl_program *p = g->program;
    enum tdl_result r;
    void *stand_in = NULL;
    size_t size = 0;
    TRY(tdl_cpu_ask(params));
    TRY(touch_arena(p, params));
    stand_in = reserve_addresses(p, &size);
    for (uint32_t i = 0; stand_in && i < p->step_count; i++) {
        if (!p->steps[i].xnn)
            continue;
        TRY(tdl_cpu_ask(params));
        TRY(tdl_cpu_xnn_setup(p->steps[i].xnn, p->values, stand_in));
    }
fail:
    if (stand_in)
        munmap(stand_in, size);
    return r;
}

void tdl_cpu_program_destroy(struct tdl_graph *g)
{
    unref(tdl_take(&g->program));
}

/* ---------------------------------------------------------------------- runs */

struct run {
    struct tdl_cpu_work work;
    struct tdl_program *program;
    bool timed;
    uint8_t *bound[TDL_MAX_BINDINGS];
};

static void run_node(struct tdl_program *p, const struct tdl_cpu_step *s,
                     const struct tdl_cpu_kernel *kernel, struct tdl_cpu_threads *threads)
{
    const struct tdl_node *n = s->nodes[s->node_count - 1];
    struct tdl_cpu_call call = {.node = n,
                                .output = p->values[n->output->id],
                                .scratch = &p->scratch,
                                .state = s->made.state,
                                .packed =
                                    s->made.packed_bytes ? tdl_cpu_weights(p, s->block) : NULL,
                                .threads = threads,
                                .chain = s->nodes,
                                .chain_count = s->node_count,
                                .values = p->values};
    for (uint32_t i = 0; i < n->input_count; i++)
        call.inputs[i] = n->inputs[i] ? p->values[n->inputs[i]->id] : NULL;
    if (kernel) {
        kernel->run(&call);
    } else if (n->op->reference) {
        const float *inputs[TDL_MAX_NODE_INPUTS] = {0};
        for (uint32_t i = 0; i < n->input_count; i++)
            inputs[i] = call.inputs[i];
        n->op->reference(n, inputs, call.output);
    } else {
        n->op->reference_linear(n, call.inputs, call.output);
    }
}

/* Compute the result of XNNPACK's last node anew, by a kernel that keeps NaN, if there are
 * infinities. */
static void keep_nan(struct tdl_program *p, const struct tdl_cpu_step *s,
                     struct tdl_cpu_threads *threads)
{
    const struct tdl_operand *o = s->nodes[s->node_count - 1]->output;
    if (!tdl_cpu_hot()->all_finite(p->values[o->id], tdl_operand_count(o)))
        run_node(p, s, s->exact, threads);
}

static void bind(struct tdl_program *p, uint8_t *const *bound)
{
    for (uint32_t i = 0; i < p->ir->operand_count; i++) {
        const struct tdl_operand *root = tdl_operand_root(p->ir->operands[i]);
        if (root->external)
            p->values[i] = bound[root->binding];
    }
}

static enum tdl_result run_step(struct tdl_program *p, const struct tdl_cpu_step *s,
                                struct tdl_cpu_threads *threads)
{
    enum tdl_result r = TDL_OK;
    if (tdl_is_stopped(tdl_heeded()))
        return TDL_ERROR_CANCELED;
    if (s->xnn)
        r = tdl_cpu_xnn_run(s->xnn, p->values);
    else
        run_node(p, s, s->kernel, threads);
    if (r == TDL_OK && s->xnn && s->exact)
        keep_nan(p, s, threads);
    return r;
}

static enum tdl_result run(struct tdl_cpu_work *work, struct tdl_cpu_threads *threads)
{
    const struct run *run = (struct run *)work;
    struct tdl_program *p = run->program;
    enum tdl_result r = TDL_OK;
    p->runs++;
    bind(p, run->bound);
    for (uint32_t i = 0; i < p->step_count; i++) {
        const uint64_t start = run->timed ? tdl_clock_ns() : 0;
        TRY(run_step(p, &p->steps[i], threads));
        if (run->timed)
            p->ns[i] = tdl_clock_ns() - start;
    }
fail:
    return r;
}

static void release(struct tdl_cpu_work *work)
{
    unref(((struct run *)work)->program);
}

static enum tdl_result add_run(struct tdl_batch *batch, struct tdl_graph *g,
                               struct tdl_buffer *const *bound, bool timed)
{
    const struct tdl_ir *ir = g->plan.ir;
    const uint32_t count = ir->input_count + ir->output_count;
    enum tdl_result r;
    for (uint32_t i = 0; i < count; i++)
        TRY(tdl_cpu_batch_use(batch, bound[i], i >= ir->input_count));
    struct run *w = tdl_cpu_batch_add(batch, sizeof(*w), run);
    if (!w)
        return TDL_ERROR_INVALID_STATE;
    for (uint32_t i = 0; i < count; i++)
        w->bound[i] = tdl_cpu_memory(bound[i]);
    w->timed = timed;
    w->program = g->program;
    w->work.release = release;
    atomic_fetch_add(&g->program->refs, 1);
    atomic_fetch_add(&g->ctx->stats.dispatches, g->step_count);
fail:
    return r;
}

enum tdl_result tdl_cpu_program_run(struct tdl_batch *batch, struct tdl_graph *g,
                                    struct tdl_buffer *const *bound)
{
    return add_run(batch, g, bound, false);
}

enum tdl_result tdl_cpu_program_profile(struct tdl_graph *g, struct tdl_buffer *const *bound)
{
    struct tdl_batch *batch = NULL;
    enum tdl_result r;
    uint64_t point;
    TRY(tdl_batch_borrow(g->ctx, &batch));
    TRY(add_run(batch, g, bound, true));
    TRY(tdl_batch_submit(batch, &point));
    TRY(tdl_context_wait(g->ctx, point, TDL_WAIT_FOREVER));
    for (uint32_t i = 0; i < g->step_count; i++)
        g->steps[i].gpu_ns = g->program->ns[i];
fail:
    tdl_batch_give_back(&batch);
    return r;
}

/* ------------------------------------------------------------- in spare time */

struct trial {
    struct tdl_cpu_spare spare;
    struct tdl_program *program;
    uint8_t *bound[TDL_MAX_BINDINGS];
    uint32_t next; /* step */
    uint64_t runs; /* the program's when the part before had ended */
    bool hurries;  /* all steps that are left at once */
    uint64_t ns;
    enum tdl_result result;
};

/* The graph may have been at work between two steps, in the same memory: then anew, and once
 * more that would be in vain, too. */
static bool try_part(struct tdl_cpu_spare *spare, struct tdl_cpu_threads *threads)
{
    struct trial *t = (struct trial *)spare;
    struct tdl_program *p = t->program;
    if (t->next && t->runs != p->runs) {
        t->hurries = true;
        t->next = 0;
        t->ns = 0;
    }
    t->runs = p->runs;
    bind(p, t->bound);
    do {
        const uint64_t start = tdl_clock_ns();
        if (t->next < p->step_count)
            t->result = run_step(p, &p->steps[t->next++], threads);
        t->ns += tdl_clock_ns() - start;
    } while (t->hurries && t->result == TDL_OK && t->next < p->step_count);
    return t->result == TDL_OK && t->next < p->step_count;
}

/* Mark the outputs of a trial as spoilt or not: only batches know of points. */
static void note_outputs(const struct trial *t, const struct tdl_ir *ir,
                         struct tdl_buffer *const *bound)
{
    struct tdl_cpu_context *ctx = tdl_cpu(t->program->ctx);
    bool spoilt = t->result != TDL_OK;
    pthread_mutex_lock(&ctx->lock);
    for (uint32_t i = 0; i < ir->input_count; i++)
        spoilt |= ((const struct tdl_cpu_buffer *)bound[i])->spoilt;
    for (uint32_t i = 0; i < ir->output_count; i++)
        ((struct tdl_cpu_buffer *)bound[ir->input_count + i])->spoilt = spoilt;
    pthread_mutex_unlock(&ctx->lock);
}

enum tdl_result tdl_cpu_program_try(struct tdl_graph *g, struct tdl_buffer *const *bound,
                                    const struct tdl_compile_params *params, uint64_t *out_ns)
{
    const struct tdl_ir *ir = g->plan.ir;
    struct trial t = {.spare = {.part = try_part}, .program = g->program};
    for (uint32_t i = 0; i < ir->input_count + ir->output_count; i++)
        t.bound[i] = tdl_cpu_memory(bound[i]);
    tdl_cpu_spare_run(tdl_cpu(g->ctx), &t.spare, params);
    if (atomic_load(&t.spare.stopped))
        t.result = tdl_fail(TDL_ERROR_CANCELED, "the run was cancelled by the progress function");
    else if (t.result == TDL_OK)
        t.result = tdl_context_check(g->ctx);
    else
        tdl_fail(t.result, "the graph could not be run");
    note_outputs(&t, ir, bound);
    *out_ns = t.ns;
    return t.result;
}
