/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Compiled graphs, run by the operators' references. */
#include "cpu/cpu.h"

#include <stdlib.h>

struct tdl_program {
    atomic_int refs; /* the graph's, and one of each run that is queued */
    struct tdl_ir *ir;
};

static void unref(struct tdl_program *p)
{
    if (!p || atomic_fetch_sub(&p->refs, 1) != 1)
        return;
    tdl_ir_destroy(&p->ir);
    free(p);
}

/* The constants of the builder's are gone once the graph is built. */
static enum tdl_result keep_constants(struct tdl_ir *ir)
{
    for (uint32_t i = 0; i < ir->operand_count; i++) {
        struct tdl_operand *o = ir->operands[i];
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

enum tdl_result tdl_cpu_program_create(struct tdl_graph *g)
{
    struct tdl_program *p = g->program = calloc(1, sizeof(*p));
    if (!p)
        return tdl_fail(TDL_ERROR_OUT_OF_MEMORY, "out of memory while building a graph");
    atomic_init(&p->refs, 1);
    p->ir = tdl_ir_clone(g->plan.ir);
    if (!p->ir)
        return tdl_fail(TDL_ERROR_OUT_OF_MEMORY, "out of memory while building a graph");
    for (uint32_t i = 0; i < p->ir->operand_count; i++) {
        const struct tdl_operand *from = g->plan.ir->operands[i];
        if (from->external && from->bound.layout == TDL_LAYOUT_NC4HW4)
            return tdl_fail(TDL_ERROR_UNSUPPORTED, "%s: device cpu has no packs", from->name);
    }
    return keep_constants(p->ir);
}

enum tdl_result tdl_cpu_program_compile(struct tdl_graph *g,
                                        const struct tdl_compile_params *params)
{
    (void)g;
    if (params && params->progress && !params->progress(params->progress_data, 0, 0))
        return tdl_fail(TDL_ERROR_CANCELED, "building the graph was cancelled");
    return TDL_OK;
}

void tdl_cpu_program_destroy(struct tdl_graph *g)
{
    unref(g->program);
}

struct run {
    struct tdl_cpu_work work;
    struct tdl_program *program;
    uint8_t *bound[TDL_MAX_BINDINGS];
};

static enum tdl_result run(struct tdl_cpu_work *work, struct tdl_cpu_threads *threads)
{
    struct run *w = (struct run *)work;
    const struct tdl_ir *ir = w->program->ir;
    void **values = calloc(ir->operand_count, sizeof(*values));
    (void)threads;
    if (!values)
        return tdl_fail(TDL_ERROR_OUT_OF_MEMORY, "out of memory while running a graph");
    enum tdl_result r = tdl_ir_run_reference(ir, (const void *const *)w->bound, values);
    for (uint32_t i = 0; i < ir->output_count && r == TDL_OK; i++)
        memcpy(w->bound[ir->input_count + i], values[ir->outputs[i]->id],
               tdl_tensor_params_size(&ir->outputs[i]->desc));
    for (uint32_t i = 0; i < ir->operand_count; i++)
        free(values[i]);
    free(values);
    return r;
}

static void release(struct tdl_cpu_work *work)
{
    unref(((struct run *)work)->program);
}

enum tdl_result tdl_cpu_program_run(struct tdl_batch *batch, struct tdl_graph *g,
                                    struct tdl_buffer *const *bound)
{
    const struct tdl_ir *ir = g->program->ir;
    for (uint32_t i = 0; i < ir->input_count + ir->output_count; i++) {
        enum tdl_result r = tdl_cpu_batch_use(batch, bound[i], i >= ir->input_count);
        if (r != TDL_OK)
            return r;
    }
    struct run *w = tdl_cpu_batch_add(batch, sizeof(*w), run);
    if (!w)
        return TDL_ERROR_OUT_OF_MEMORY;
    atomic_fetch_add(&g->program->refs, 1);
    w->program = g->program;
    w->work.release = release;
    for (uint32_t i = 0; i < ir->input_count + ir->output_count; i++)
        w->bound[i] = tdl_cpu_memory(bound[i]);
    return TDL_OK;
}

enum tdl_result tdl_cpu_program_profile(struct tdl_graph *g, struct tdl_buffer *const *bound)
{
    (void)bound;
    return tdl_fail(TDL_ERROR_UNSUPPORTED, "%s does not time single operators", g->ctx->info.name);
}
