/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One plan: from an IR through the passes to a device's program. */
#include "graph.h"

#include "compile/passes.h"
#include "ops/conv/conv.h"
#include "tuning_file.h"

#include <stdlib.h>

static enum tdl_dtype choose_storage(enum tdl_precision precision)
{
    /* Never by itself: halves end at 65504 and have 11 bits, and nobody but the user
     * knows whether that does for a network. A discrete GPU is bound by latency here:
     * measured, fp32 is no slower. One that shares the CPU's memory may gain. */
    return precision == TDL_PRECISION_FP16 ? TDL_FLOAT16 : TDL_FLOAT32;
}

/* Describe a plan of dispatches; a device that wants none describes its steps itself. */
static enum tdl_result describe_steps(struct tdl_graph *g)
{
    if (!g->ctx->on->wants_steps)
        return TDL_OK;
    g->steps = calloc(g->plan.step_count ? g->plan.step_count : 1, sizeof(*g->steps));
    if (!g->steps)
        return tdl_fail(TDL_ERROR_OUT_OF_MEMORY, "out of memory while building a graph");
    g->step_count = g->plan.step_count;
    for (uint32_t i = 0; i < g->plan.step_count; i++) {
        const struct tdl_plan_step *s = &g->plan.steps[i];
        g->steps[i] = (struct tdl_graph_step){
            .kernel = s->kernel->name,
            .label = s->label,
            .groups = {s->groups[0], s->groups[1], s->groups[2]},
            .local_size = s->spec[0] * s->spec[1] * s->spec[2],
            .macs = s->macs,
            .bytes = s->bytes,
            .algorithm = s->algorithm,
            .choice = s->choice,
        };
    }
    return TDL_OK;
}

static void warn_of_declined(const struct tdl_graph *g)
{
    const struct tdl_ir_budget *budget = &g->plan.ir->budget;
    if (budget->declined)
        tdl_log(g->ctx, TDL_LOG_WARNING,
                "%u operators on constants, of which there are %llu bytes, would make too many of "
                "them: they, and those behind them, are computed in every run",
                budget->declined, (unsigned long long)budget->given);
}

static void warn_of_uncut(const struct tdl_graph *g)
{
    if (g->plan.ir->uncut)
        tdl_log(g->ctx, TDL_LOG_WARNING,
                "a graph of %u operators is too large to find out where its values are best kept "
                "in packs of four channels: it may convert more often than need be",
                g->operator_count);
}

/* The device, if products run on its matrix units. */
static const struct tdl_device_info *units_of(const struct tdl_graph *g)
{
    const struct tdl_device_info *device = &g->ctx->info;
    return g->plan.storage == TDL_FLOAT16 &&
                   (device->cooperative_matrix[0] || device->workgroup_matrix)
               ? device
               : NULL;
}

static enum tdl_result run_passes(struct tdl_graph *g, const struct tdl_build_params *params)
{
    struct tdl_ir *ir = g->plan.ir;
    const bool steps = g->ctx->on->wants_steps;
    enum tdl_result r;
    TRY(tdl_pass_fold(ir));
    TRY(tdl_pass_labels(ir));
    g->operator_count = ir->node_count;
    ir->units = units_of(g);
    if (g->plan.storage == TDL_FLOAT16)
        TRY(tdl_pass_widen(ir));
    if (!params->no_fuse)
        TRY(steps ? tdl_pass_fuse(ir, tdl_heuristics_of(&g->ctx->info)->few_dispatches)
                  : tdl_pass_absorb(ir));
    warn_of_declined(g);
    if (!steps && params->conv2d_algorithm)
        return tdl_fail(TDL_ERROR_UNSUPPORTED,
                        "conv2d_algorithm \"%s\": device %s has one way to compute convolutions; "
                        "name none",
                        params->conv2d_algorithm, g->ctx->on->name);
    if (!steps) {
        tdl_pass_bind(ir, params);
        return TDL_OK;
    }
    TRY(tdl_pass_layout(ir, params, g->plan.storage));
    warn_of_uncut(g);
    if (!params->no_fuse) {
        TRY(tdl_pass_join(ir));
        TRY(tdl_pass_mix(ir, &g->ctx->info, g->plan.storage));
    }
    TRY(tdl_plan_build(&g->plan));
    TRY(tdl_conv_check_obeyed(&g->plan.policy));
fail:
    return r;
}

void tdl_graph_finish(struct tdl_graph *g)
{
    g->ctx->on->program_destroy(g);
    tdl_plan_finish(&g->plan);
    pthread_mutex_destroy(&g->compile_lock);
    free(g->steps);
    tdl_context_destroy(&g->ctx);
    free(g);
}

enum tdl_result tdl_graph_compile(struct tdl_graph *g, const struct tdl_compile_params *params)
{
    TDL_NEED_KNOWN(params);
    TDL_NEED(g, "graph");
    enum tdl_result r = tdl_context_check_process(g->ctx);
    if (r != TDL_OK)
        return r;
    pthread_mutex_lock(&g->compile_lock);
    if (!atomic_load(&g->compiled))
        r = g->ctx->on->program_compile(g, params);
    if (r == TDL_OK)
        atomic_store(&g->compiled, true);
    pthread_mutex_unlock(&g->compile_lock);
    return r;
}

enum tdl_result tdl_graph_build_by(struct tdl_context *ctx, const struct tdl_ir *ir,
                                   const struct tdl_build_params *params, uint64_t guard,
                                   const struct tdl_plan_policy *policy,
                                   struct tdl_graph **out_graph)
{
    static const struct tdl_build_params defaults;
    enum tdl_result r;
    *out_graph = NULL;
    if (!params)
        params = &defaults;
    struct tdl_graph *g = calloc(1, sizeof(*g));
    if (!g)
        return tdl_fail(TDL_ERROR_OUT_OF_MEMORY, "out of memory while building a graph");
    g->ctx = tdl_context_ref(ctx);
    pthread_mutex_init(&g->compile_lock, NULL);
    g->plan.device = &g->ctx->info;
    g->plan.guard = guard;
    g->plan.policy = *policy;
    g->plan.storage = g->ctx->on->wants_steps ? choose_storage(params->precision) : TDL_FLOAT32;
    g->plan.no_fuse = params->no_fuse;
    g->plan.ir = tdl_ir_clone(ir);
    if (!g->plan.ir) {
        r = tdl_fail(TDL_ERROR_OUT_OF_MEMORY, "out of memory while building a graph");
        goto fail;
    }
    TRY(run_passes(g, params));
    TRY(g->ctx->on->program_create(g, &params->compile));
    free(g->plan.weights);
    g->plan.weights = NULL;
    tdl_ir_forget_constants(g->plan.ir); /* their owner may now free them */
    TRY(describe_steps(g));
    if (!params->defer_compile)
        TRY(tdl_graph_compile(g, &params->compile));
    *out_graph = g;
    return TDL_OK;
fail:
    tdl_graph_finish(g);
    return r;
}

enum tdl_result tdl_graph_build(struct tdl_context *ctx, const struct tdl_ir *ir,
                                const struct tdl_build_params *params, uint64_t guard,
                                struct tdl_graph **out_graph)
{
    struct tdl_plan_policy policy = {.forced = params ? params->conv2d_algorithm : NULL};
    struct tdl_tuning tuning = {0};
    *out_graph = NULL;
    if (!tdl_context_copy_tuning(ctx, &tuning))
        return tdl_fail(TDL_ERROR_OUT_OF_MEMORY, "out of memory while building a graph");
    policy.tuning = &tuning;
    const enum tdl_result r = tdl_graph_build_by(ctx, ir, params, guard, &policy, out_graph);
    if (r == TDL_OK)
        (*out_graph)->plan.policy.tuning = NULL;
    tdl_tuning_finish(&tuning);
    return r;
}
