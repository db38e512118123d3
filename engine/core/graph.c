/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Compiling a builder's graph, and dispatching it. */
#include "graph.h"

#include "clock.h"
#include "ir/builder.h"
#include "ops/conv/conv.h"
#include "plans.h"
#include "tensor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --------------------------------------------------------------- compiling */

enum tdl_result tdl_builder_check_buildable(const struct tdl_builder *b)
{
    if (b->status != TDL_OK)
        return tdl_fail(b->status, "%s", b->error);
    if (!b->ctx)
        return tdl_fail(TDL_ERROR_INVALID_STATE,
                        "tdl_builder_build: the builder was created without a context");
    if (!b->ir->output_count)
        return tdl_fail(TDL_ERROR_INVALID_STATE,
                        "tdl_builder_build: the graph has no output; call tdl_builder_output");
    return tdl_context_check(b->ctx);
}

enum tdl_result tdl_builder_build(struct tdl_builder *b, const struct tdl_build_params *params,
                                  struct tdl_graph **out_graph)
{
    TDL_NEED(b, "builder");
    TDL_NEED(out_graph, "out_graph");
    const enum tdl_result r = tdl_builder_build_guarded(b, params, 0, out_graph);
    if (b->status == TDL_OK) /* the builder may still be mended and built */
        snprintf(b->error, sizeof(b->error), "%s", r == TDL_OK ? "" : tdl_last_error());
    return tdl_logged(b->ctx, r);
}

static enum tdl_result check_params(const struct tdl_build_params *p)
{
    if (p && (TDL_IS_UNKNOWN(p) || TDL_IS_UNKNOWN(&p->compile)))
        return tdl_fail_unknown("struct tdl_build_params");
    if (p && (unsigned)p->precision > TDL_PRECISION_FP16)
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT, "there is no precision %d", p->precision);
    if (p && ((unsigned)p->input_packing > TDL_PACKING_C4 ||
              (unsigned)p->output_packing > TDL_PACKING_C4))
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT, "there is no packing %d",
                        (unsigned)p->input_packing > TDL_PACKING_C4 ? p->input_packing
                                                                    : p->output_packing);
    if (p && p->max_plans == 1)
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT,
                        "max_plans is 1, and the plan of the first sizes stays: 2 or more, or 0");
    return TDL_OK;
}

enum tdl_result tdl_builder_build_guarded(struct tdl_builder *b,
                                          const struct tdl_build_params *params, uint64_t guard,
                                          struct tdl_graph **out_graph)
{
    enum tdl_result r;
    *out_graph = NULL;
    TRY(check_params(params));
    TRY(tdl_builder_check_buildable(b));
    if (params && params->conv2d_algorithm)
        TRY(tdl_conv_check_forced(params->conv2d_algorithm));
    if (b->dynamic.count)
        TRY(tdl_plans_check(b));
    TRY(tdl_graph_build(b->ctx, b->ir, params, guard, out_graph));
    if (b->dynamic.count)
        TRY(tdl_plans_create(*out_graph, b, params, guard, &(*out_graph)->plans));
    return TDL_OK;
fail:
    tdl_graph_destroy(out_graph);
    return r;
}

enum tdl_result tdl_builder_build_by(struct tdl_builder *b, const struct tdl_build_params *params,
                                     uint64_t guard, const struct tdl_plan_policy *policy,
                                     struct tdl_graph **out_graph)
{
    return tdl_graph_build_by(b->ctx, b->ir, params, guard, policy, out_graph);
}

void tdl_graph_destroy(struct tdl_graph **graph)
{
    struct tdl_graph *g = tdl_take(graph);
    if (!g || tdl_context_is_forked(g->ctx))
        return;
    tdl_plans_destroy(&g->plans);
    tdl_graph_finish(g);
}

/* ------------------------------------------------------------- description */

static const struct tdl_tensor_params *describe(struct tdl_operand *const *list, uint32_t count,
                                                uint32_t index, const char **out_name)
{
    if (index >= count)
        return NULL;
    if (out_name)
        *out_name = list[index]->name;
    return &list[index]->bound;
}

const struct tdl_tensor_params *tdl_graph_input(const struct tdl_graph *g, uint32_t index,
                                                const char **out_name)
{
    return g ? describe(g->plan.ir->inputs, g->plan.ir->input_count, index, out_name) : NULL;
}

const struct tdl_tensor_params *tdl_graph_output(const struct tdl_graph *g, uint32_t index,
                                                 const char **out_name)
{
    return g ? describe(g->plan.ir->outputs, g->plan.ir->output_count, index, out_name) : NULL;
}

static enum tdl_layout layout_of(struct tdl_operand *const *list, uint32_t count, uint32_t index)
{
    if (index >= count || list[index]->desc.rank != 4)
        return TDL_LAYOUT_DEFAULT;
    return list[index]->bound.packing ? TDL_LAYOUT_NC4HW4 : list[index]->layout;
}

enum tdl_layout tdl_graph_input_layout(const struct tdl_graph *g, uint32_t index)
{
    return g ? layout_of(g->plan.ir->inputs, g->plan.ir->input_count, index) : TDL_LAYOUT_DEFAULT;
}

enum tdl_layout tdl_graph_output_layout(const struct tdl_graph *g, uint32_t index)
{
    return g ? layout_of(g->plan.ir->outputs, g->plan.ir->output_count, index) : TDL_LAYOUT_DEFAULT;
}

void tdl_graph_get_stats(const struct tdl_graph *g, struct tdl_graph_stats *out)
{
    if (out && !g)
        *out = (struct tdl_graph_stats){0};
    if (!out || !g)
        return;
    *out = (struct tdl_graph_stats){
        .operators = g->operator_count,
        .steps = g->step_count,
        .arena_bytes = g->plan.arena_size,
        .tensor_bytes = g->plan.tensor_bytes,
        .weight_bytes = g->plan.weight_count * sizeof(float),
        .precision = g->plan.storage == TDL_FLOAT16 ? TDL_PRECISION_FP16 : TDL_PRECISION_FP32,
        .quantized_steps = g->quantized_steps,
    };
    for (uint32_t i = 0; i < g->step_count; i++)
        out->macs += g->steps[i].macs;
}

const struct tdl_graph_step *tdl_graph_get_step(const struct tdl_graph *g, uint32_t index)
{
    return g && index < g->step_count ? &g->steps[index] : NULL;
}

/* ------------------------------------------------------------- dispatching */

static const char *packing_text(const struct tdl_tensor_params *p)
{
    return p->packing == TDL_PACKING_C4 ? " in packs" : "";
}

/* A name that was given, and that the graph does not know; NULL: none. */
static const char *find_stranger(struct tdl_operand *const *operands, uint32_t operand_count,
                                 const struct tdl_binding *list, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        bool known = !list[i].name;
        for (uint32_t k = 0; k < operand_count && !known; k++)
            known = !strcmp(list[i].name, operands[k]->name);
        if (!known)
            return list[i].name;
    }
    return NULL;
}

/* The tensor bound to `operand`, checked. */
static enum tdl_result find_binding(const struct tdl_graph *g, const struct tdl_operand *operand,
                                    const char *what, const struct tdl_binding *list,
                                    uint32_t count, struct tdl_buffer **out_buffer)
{
    char have[96], want[96];
    for (uint32_t i = 0; i < count; i++) {
        if (!list[i].name || strcmp(list[i].name, operand->name) != 0)
            continue;
        const struct tdl_tensor *t = list[i].tensor;
        if (!t)
            return tdl_fail(TDL_ERROR_INVALID_ARGUMENT, "%s \"%.400s\" has no tensor", what,
                            operand->name);
        if (tdl_tensor_check_no_constant(t) != TDL_OK)
            return TDL_ERROR_INVALID_ARGUMENT;
        const struct tdl_tensor_params *p = &t->params, *q = &operand->bound;
        if (t->buffer->ctx != g->ctx)
            return tdl_fail(TDL_ERROR_INVALID_ARGUMENT,
                            "%s \"%.400s\": the tensor is of another context", what, operand->name);
        if (p->dtype != q->dtype || p->rank != q->rank ||
            memcmp(p->shape, q->shape, p->rank * sizeof(p->shape[0])) != 0 ||
            p->packing != q->packing)
            return tdl_fail(
                TDL_ERROR_INVALID_ARGUMENT, "%s \"%.400s\": the tensor is %s%s; the graph has %s%s",
                what, operand->name, tdl_tensor_params_text(p, have, sizeof(have)), packing_text(p),
                tdl_tensor_params_text(q, want, sizeof(want)), packing_text(q));
        *out_buffer = t->buffer;
        return TDL_OK;
    }
    const struct tdl_ir *ir = g->plan.ir;
    const bool in = operand->binding < (int32_t)ir->input_count;
    const char *stranger = find_stranger(in ? ir->inputs : ir->outputs,
                                         in ? ir->input_count : ir->output_count, list, count);
    return stranger ? tdl_fail(TDL_ERROR_INVALID_ARGUMENT,
                               "%s \"%.400s\" was not given, but \"%.100s\", which there is not",
                               what, operand->name, stranger)
                    : tdl_fail(TDL_ERROR_INVALID_ARGUMENT, "%s \"%.400s\" was not given", what,
                               operand->name);
}

static enum tdl_result resolve_bindings(const struct tdl_graph *g, const struct tdl_binding *inputs,
                                        uint32_t input_count, const struct tdl_binding *outputs,
                                        uint32_t output_count, struct tdl_buffer **bound)
{
    const struct tdl_ir *ir = g->plan.ir;
    if (!atomic_load(&g->compiled))
        return tdl_fail(TDL_ERROR_INVALID_STATE,
                        "the graph is not compiled; call tdl_graph_compile() first");
    if (input_count != ir->input_count || output_count != ir->output_count)
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT,
                        "the graph has %u inputs and %u outputs; %u and %u were given",
                        ir->input_count, ir->output_count, input_count, output_count);
    if ((input_count && !inputs) || (output_count && !outputs))
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT,
                        "the bindings of a dispatch are NULL: give the graph's inputs and outputs");
    for (uint32_t i = 0; i < ir->input_count; i++) {
        enum tdl_result r = find_binding(g, ir->inputs[i], "input", inputs, input_count, &bound[i]);
        if (r != TDL_OK)
            return r;
    }
    for (uint32_t i = 0; i < ir->output_count; i++) {
        struct tdl_buffer **out = &bound[ir->input_count + i];
        enum tdl_result r = find_binding(g, ir->outputs[i], "output", outputs, output_count, out);
        if (r != TDL_OK)
            return r;
        for (struct tdl_buffer **b = bound; b < out; b++)
            if (*b == *out)
                return tdl_fail(TDL_ERROR_INVALID_ARGUMENT,
                                "output \"%.400s\" shares its memory with another tensor of this "
                                "dispatch",
                                ir->outputs[i]->name);
    }
    return TDL_OK;
}

enum tdl_result tdl_batch_graph(struct tdl_batch *batch, struct tdl_graph *g,
                                const struct tdl_binding *inputs, uint32_t input_count,
                                const struct tdl_binding *outputs, uint32_t output_count)
{
    TDL_NEED(batch, "batch");
    TDL_NEED(g, "graph");
    struct tdl_buffer *bound[TDL_MAX_BINDINGS] = {0};
    struct tdl_graph *plan = g;
    if (tdl_batch_context(batch) != g->ctx)
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT, "batch and graph are of different contexts");
    enum tdl_result r = tdl_plans_take(g, inputs, input_count, &plan);
    if (r == TDL_OK)
        r = resolve_bindings(plan, inputs, input_count, outputs, output_count, bound);
    if (r == TDL_OK)
        r = g->ctx->on->program_run(batch, plan, bound);
    tdl_plans_give_back(g, plan);
    return tdl_logged(g->ctx, r);
}

enum tdl_result tdl_graph_dispatch(struct tdl_graph *g, const struct tdl_binding *inputs,
                                   uint32_t input_count, const struct tdl_binding *outputs,
                                   uint32_t output_count, uint64_t *out_point)
{
    TDL_NEED(g, "graph");
    struct tdl_batch *batch = NULL;
    enum tdl_result r;
    TRY(tdl_batch_borrow_queued(g->ctx, &batch));
    TRY(tdl_batch_graph(batch, g, inputs, input_count, outputs, output_count));
    TRY(tdl_batch_submit(batch, out_point));
fail:
    tdl_batch_give_back(&batch);
    return r;
}

/* --------------------------------------------------------------- profiling */

enum tdl_result tdl_graph_profile(struct tdl_graph *g, const struct tdl_binding *inputs,
                                  uint32_t input_count, const struct tdl_binding *outputs,
                                  uint32_t output_count)
{
    TDL_NEED(g, "graph");
    struct tdl_buffer *bound[TDL_MAX_BINDINGS] = {0};
    enum tdl_result r = tdl_context_check_process(g->ctx);
    if (r == TDL_OK)
        r = resolve_bindings(g, inputs, input_count, outputs, output_count, bound);
    if (r == TDL_OK && !g->ctx->info.timestamps)
        r = tdl_fail(TDL_ERROR_UNSUPPORTED, "%s has no timestamps", g->ctx->info.name);
    return r == TDL_OK ? g->ctx->on->program_profile(g, bound) : r;
}

/* ------------------------------------------------------------------ trying */

static bool goes_on(const struct tdl_compile_params *params)
{
    return !params || !params->progress || params->progress(params->progress_data, 0, 0);
}

static enum tdl_result try_as_batch(struct tdl_graph *g, struct tdl_buffer *const *bound,
                                    const struct tdl_compile_params *params, uint64_t *out_ns)
{
    enum { LOOK_NS = 50000000 };
    struct tdl_batch *batch = NULL;
    uint64_t start, point;
    enum tdl_result r;
    TRY(tdl_batch_borrow(g->ctx, &batch));
    start = tdl_clock_ns();
    TRY(g->ctx->on->program_run(batch, g, bound));
    TRY(tdl_batch_submit(batch, &point));
    do
        r = tdl_context_wait(g->ctx, point, LOOK_NS);
    while (r == TDL_ERROR_TIMEOUT && goes_on(params));
    *out_ns = tdl_clock_ns() - start;
    if (r == TDL_ERROR_TIMEOUT) {
        tdl_batch_abort(batch);
        TRY(tdl_context_wait(g->ctx, point, TDL_WAIT_FOREVER));
        r = tdl_fail(TDL_ERROR_CANCELED, "the run was cancelled by the progress function");
    }
fail:
    tdl_batch_give_back(&batch);
    return r;
}

enum tdl_result tdl_graph_try(struct tdl_graph *g, const struct tdl_binding *inputs,
                              uint32_t input_count, const struct tdl_binding *outputs,
                              uint32_t output_count, const struct tdl_compile_params *params,
                              uint64_t *out_ns)
{
    TDL_NEED(g, "graph");
    TDL_NEED(out_ns, "out_ns");
    TDL_NEED_KNOWN(params);
    struct tdl_buffer *bound[TDL_MAX_BINDINGS] = {0};
    *out_ns = 0;
    struct tdl_graph *plan = g;
    enum tdl_result r = tdl_context_check(g->ctx);
    if (r == TDL_OK)
        r = tdl_plans_take(g, inputs, input_count, &plan);
    if (r == TDL_OK)
        r = resolve_bindings(plan, inputs, input_count, outputs, output_count, bound);
    if (r == TDL_OK && g->ctx->on->program_try)
        r = g->ctx->on->program_try(plan, bound, params, out_ns);
    else if (r == TDL_OK)
        r = try_as_batch(plan, bound, params, out_ns);
    tdl_plans_give_back(g, plan);
    return tdl_logged(g->ctx, r);
}
