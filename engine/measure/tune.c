/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tdl_tune(): the graph is built once for each number of candidate, every
 * layer taking its candidate of that number, and profiled; so each is
 * timed where it will run, with its own neighbours, and one run times all
 * layers. Devices drift and have neighbours: candidates take turns, beside the
 * default, and what counts is the ratio to it.
 */
#include "measure.h"

#include "ir/builder.h"
#include "core/graph.h"
#include "core/tuning_file.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUND = 8, DEFAULT_ITERATIONS = 15, MAX_ITERATIONS = 1000 };
/* GPUs lower their clocks when they idle, and compiling lets them: runs that do
 * not count before each round, and right before each that does. */
enum { AWAKE_NS = 200000000, AHEAD = 6 };
#define DEFAULT_PATIENCE 8
/* A candidate has to be this much faster than the default to be worth it. */
#define LEAST_GAIN 0.97

/* A layer in one graph: its times over the runs. */
struct timing {
    char layer[160], algorithm[48];
    uint32_t occurrences;
    double *ns; /* one a run, summed over the occurrences */
};

struct run {
    struct tdl_graph *graph;
    struct timing *timings;
    uint32_t count;
};

struct tuner {
    struct tdl_builder *builder;
    const struct tdl_tune_params *params;
    struct tdl_context *ctx;
    uint32_t iterations;
    struct tdl_binding inputs[TDL_MAX_BINDINGS], outputs[TDL_MAX_BINDINGS];
    uint32_t input_count, output_count;
    struct run runs[ROUND]; /* the first is the default */
    uint32_t run_count;
    uint32_t rounds;        /* that were measured */
    double run_ns;          /* of the default, with what goes ahead of it */
    double end;             /* tdl_now_ns() when time is up; INFINITY: never */
    struct tdl_tuning only; /* layers to tune; the algorithms are their defaults */
    struct tdl_tuning late; /* layers that have ways which there was no time for */
    struct tdl_tune_result *results;
    uint32_t result_count, result_capacity;
};

static enum tdl_result no_memory(void)
{
    return tdl_fail(TDL_ERROR_OUT_OF_MEMORY, "out of memory while tuning");
}

/* ------------------------------------------------------------------ tensors */

static enum tdl_result create_tensor(struct tuner *t, const struct tdl_tensor_params *desc,
                                     struct tdl_binding *binding, bool fill)
{
    struct tdl_tensor_params params = *desc;
    const bool half = desc->dtype == TDL_FLOAT16;
    const size_t size = tdl_tensor_params_size(desc), count = size / (half ? 2 : 4);
    enum tdl_result r;
    void *values = NULL;
    params.usage = TDL_TENSOR_READABLE | TDL_TENSOR_WRITABLE;
    params.label = NULL;
    TRY(tdl_tensor_create(t->ctx, &params, &binding->tensor));
    if (!fill || (desc->dtype != TDL_FLOAT32 && !half))
        return TDL_OK;
    values = malloc(size);
    if (!values)
        return no_memory();
    /* Values differ: zeros are quicker on some devices. */
    for (size_t i = 0; i < count; i++) {
        const float value = (float)((uint32_t)i * 2654435761u >> 8) * 0x1p-24f;
        if (half)
            ((uint16_t *)values)[i] = tdl_float_to_half(value);
        else
            ((float *)values)[i] = value;
    }
    r = tdl_tensor_write(binding->tensor, values, size, NULL);
fail:
    free(values);
    return r;
}

static enum tdl_result create_tensors(struct tuner *t, struct tdl_graph *graph)
{
    const struct tdl_tensor_params *desc;
    enum tdl_result r = TDL_OK;
    const char *name;
    while ((desc = tdl_graph_input(graph, t->input_count, &name))) {
        t->inputs[t->input_count].name = name;
        TRY(create_tensor(t, desc, &t->inputs[t->input_count++], true));
    }
    while ((desc = tdl_graph_output(graph, t->output_count, &name))) {
        t->outputs[t->output_count].name = name;
        TRY(create_tensor(t, desc, &t->outputs[t->output_count++], false));
    }
fail:
    return r;
}

/* --------------------------------------------------------------------- runs */

static struct timing *find_timing(struct run *run, const char *layer)
{
    for (uint32_t i = 0; i < run->count; i++)
        if (!strcmp(run->timings[i].layer, layer))
            return &run->timings[i];
    return NULL;
}

static enum tdl_result list_layers(struct tuner *t, struct run *run)
{
    const struct tdl_plan *plan = &run->graph->plan;
    run->timings = calloc(plan->step_count + 1, sizeof(*run->timings));
    if (!run->timings)
        return no_memory();
    for (uint32_t i = 0; i < plan->step_count; i++) {
        const struct tdl_plan_step *s = &plan->steps[i];
        if (!s->layer_start)
            continue;
        struct timing *found = find_timing(run, s->layer);
        if (!found) {
            found = &run->timings[run->count++];
            memcpy(found->layer, s->layer, sizeof(found->layer));
            memcpy(found->algorithm, s->algorithm, sizeof(found->algorithm));
            found->ns = calloc(t->iterations, sizeof(*found->ns));
            if (!found->ns)
                return no_memory();
        }
        found->occurrences++;
    }
    return TDL_OK;
}

static void run_finish(struct run *run)
{
    for (uint32_t i = 0; i < run->count; i++)
        free(run->timings[i].ns);
    free(run->timings);
    tdl_graph_destroy(&run->graph);
    *run = (struct run){0};
}

/* Candidate 0 is the default. */
static enum tdl_result run_build(struct tuner *t, struct run *run, uint32_t candidate,
                                 bool *out_more)
{
    const struct tdl_plan_policy policy = {.candidate = candidate,
                                           .patience = t->params->patience > 0 ? t->params->patience
                                                                               : DEFAULT_PATIENCE,
                                           .only = candidate ? &t->only : NULL};
    struct tdl_build_params build = t->params->build;
    enum tdl_result r;
    build.defer_compile = true;
    TRY(tdl_builder_build_by(t->builder, &build, 0, &policy, &run->graph));
    *out_more = run->graph->plan.policy.more;
    TRY(list_layers(t, run));
fail:
    return r;
}

struct compiling {
    const struct tdl_compile_params *params;
    double until;
    bool late;
};

static bool on_progress(void *data, uint32_t done, uint32_t total)
{
    struct compiling *c = data;
    if (c->params->progress && !c->params->progress(c->params->progress_data, done, total))
        return false;
    c->late = done < total && tdl_now_ns() >= c->until;
    return !c->late;
}

/* `out_late`: not to the end, as the time was up. */
static enum tdl_result run_compile(struct tuner *t, struct run *run, double until, bool *out_late)
{
    struct compiling c = {&t->params->build.compile, until, false};
    struct tdl_compile_params params = *c.params;
    params.progress = on_progress;
    params.progress_data = &c;
    const enum tdl_result r = tdl_graph_compile(run->graph, &params);
    *out_late = r == TDL_ERROR_CANCELED && c.late;
    return *out_late ? TDL_OK : r;
}

static enum tdl_result dispatch(struct tuner *t, const struct run *run, uint64_t *out_point)
{
    return tdl_graph_dispatch(run->graph, t->inputs, t->input_count, t->outputs, t->output_count,
                              out_point);
}

static enum tdl_result wake(struct tuner *t)
{
    const double end = tdl_now_ns() + AWAKE_NS;
    enum tdl_result r = TDL_OK;
    uint64_t point;
    while (tdl_heuristics_of(&t->ctx->info)->dozes && r == TDL_OK && tdl_now_ns() < end) {
        for (uint32_t i = 0; i < AHEAD; i++)
            TRY(dispatch(t, &t->runs[0], &point));
        r = tdl_context_wait(t->ctx, point, TDL_WAIT_FOREVER);
    }
fail:
    return r;
}

static enum tdl_result run_once(struct tuner *t, struct run *run, int64_t iteration)
{
    enum tdl_result r = TDL_OK;
    for (uint32_t i = 0; tdl_heuristics_of(&t->ctx->info)->dozes && i < AHEAD; i++)
        TRY(dispatch(t, run, NULL));
    TRY(tdl_graph_profile(run->graph, t->inputs, t->input_count, t->outputs, t->output_count));
    for (uint32_t i = 0; r == TDL_OK && iteration >= 0 && i < run->graph->plan.step_count; i++) {
        const struct tdl_plan_step *s = &run->graph->plan.steps[i];
        struct timing *timing = *s->layer ? find_timing(run, s->layer) : NULL;
        if (timing)
            timing->ns[iteration] += (double)run->graph->steps[i].gpu_ns;
    }
fail:
    return r;
}

/* ------------------------------------------------------------------ results */

/* The first round's: what the default took before was one run. */
static enum tdl_result add_result(struct tuner *t, const struct timing *timing, double ratio,
                                  double ns, bool is_default)
{
    for (uint32_t i = 0; i < t->result_count; i++)
        if (!strcmp(t->results[i].layer, timing->layer) &&
            !strcmp(t->results[i].algorithm, timing->algorithm)) {
            if (is_default && t->rounds == 1)
                t->results[i].ns = ns;
            return TDL_OK;
        }
    if (t->result_count == t->result_capacity) {
        uint32_t capacity = t->result_capacity ? 2 * t->result_capacity : 64;
        struct tdl_tune_result *results = realloc(t->results, capacity * sizeof(*results));
        if (!results)
            return no_memory();
        t->results = results;
        t->result_capacity = capacity;
    }
    struct tdl_tune_result *out = &t->results[t->result_count++];
    *out = (struct tdl_tune_result){.ratio = ratio, .ns = ns, .is_default = is_default};
    memcpy(out->layer, timing->layer, sizeof(out->layer));
    memcpy(out->algorithm, timing->algorithm, sizeof(out->algorithm));
    return TDL_OK;
}

/* What the runs of a round say, of which `count` were timed. */
static enum tdl_result add_results(struct tuner *t, uint32_t count)
{
    enum tdl_result r = TDL_OK;
    for (uint32_t k = 0; k < t->run_count; k++)
        for (uint32_t i = 0; i < t->runs[k].count; i++) {
            struct timing *timing = &t->runs[k].timings[i];
            struct timing *base = find_timing(&t->runs[0], timing->layer);
            double ns = tdl_times_of(timing->ns, count).median / timing->occurrences;
            double base_ns = base ? tdl_times_of(base->ns, count).median / base->occurrences : ns;
            TRY(add_result(t, timing, base_ns > 0 ? ns / base_ns : 1, ns, k == 0));
        }
fail:
    return r;
}

/* The default goes on into the next round. */
static void end_round(struct tuner *t)
{
    for (uint32_t i = 0; i < t->runs[0].count; i++)
        memset(t->runs[0].timings[i].ns, 0, t->iterations * sizeof(double));
    for (uint32_t k = 1; k < t->run_count; k++)
        run_finish(&t->runs[k]);
    t->run_count = 1;
}

/* The runs of one round, in turns. */
static enum tdl_result measure_round(struct tuner *t)
{
    const uint32_t count =
        tdl_tune_iterations(t->end - tdl_now_ns(), t->run_ns, t->run_count, t->iterations);
    enum tdl_result r;
    TRY(wake(t));
    for (int64_t i = -TDL_TUNE_WARMUP; i < (int64_t)count; i++)
        for (uint32_t k = 0; k < t->run_count; k++)
            TRY(run_once(t, &t->runs[k], i));
    t->rounds++;
    TRY(add_results(t, count));
fail:
    end_round(t);
    return r;
}

/* What the default takes, and where: the layers that are worth tuning. */
static enum tdl_result find_large(struct tuner *t)
{
    struct run *run = &t->runs[0];
    struct tdl_tune_load *loads = calloc(run->count + (size_t)1, sizeof(*loads));
    enum tdl_result r = loads ? TDL_OK : no_memory();
    double start = 0;
    for (int64_t i = -1; i < 1 && r == TDL_OK; i++) {
        start = tdl_now_ns();
        r = run_once(t, run, i);
    }
    t->run_ns = tdl_now_ns() - start;
    for (uint32_t i = 0; i < run->count && r == TDL_OK; i++) {
        memcpy(loads[i].layer, run->timings[i].layer, sizeof(loads[i].layer));
        loads[i].ns = run->timings[i].ns[0];
    }
    const uint32_t large = r == TDL_OK ? tdl_tune_select(loads, run->count, t->params->share) : 0;
    for (uint32_t i = 0; i < large && r == TDL_OK; i++)
        r = tdl_tuning_set(&t->only, loads[i].layer, "", 0) ? TDL_OK : no_memory();
    free(loads);
    return r;
}

/* The layers that have a way of this graph's number. */
static enum tdl_result note_late(struct tuner *t, const struct run *run)
{
    const struct tdl_plan *plan = &run->graph->plan;
    for (uint32_t i = 0; i < plan->step_count; i++)
        if (plan->steps[i].layer_start && plan->steps[i].choice == TDL_CHOICE_FORCED &&
            !tdl_tuning_set(&t->late, plan->steps[i].layer, "", 0))
            return no_memory();
    return TDL_OK;
}

/* One graph more, to be measured in this round. `out_late`: there is no time for it. */
static enum tdl_result add_run(struct tuner *t, uint32_t candidate, bool *out_more, bool *out_late)
{
    struct run *run = &t->runs[t->run_count];
    const double now = tdl_now_ns();
    /* Compiled while there is still the time to measure what is there already. */
    const double until = now + (t->end - now) / 2;
    enum tdl_result r;
    TRY(run_build(t, run, candidate, out_more));
    *out_late = tdl_tune_room(t->end - now, t->run_ns, 2) < 2;
    if (!*out_late)
        TRY(run_compile(t, run, until, out_late));
    if (*out_late) {
        TRY(note_late(t, run));
        run_finish(run);
    } else {
        t->run_count++;
    }
fail:
    return r;
}

static enum tdl_result measure_default(struct tuner *t)
{
    enum tdl_result r;
    bool ignored, late;
    TRY(run_build(t, &t->runs[0], 0, &ignored));
    t->run_count = 1;
    TRY(run_compile(t, &t->runs[0], t->end, &late));
    if (late)
        return tdl_fail(TDL_ERROR_TIMEOUT,
                        "tdl_tune: the graph itself was not compiled in %g s: call it once more, "
                        "which finds what was compiled, or give it more seconds",
                        t->params->seconds);
    TRY(create_tensors(t, t->runs[0].graph));
    TRY(find_large(t));
    TRY(add_results(t, 1));
fail:
    return r;
}

static enum tdl_result measure_all(struct tuner *t)
{
    bool more = true, late = false;
    enum tdl_result r;
    TRY(measure_default(t));
    for (uint32_t candidate = 1; more && !late && t->only.count; candidate++) {
        const uint32_t room = tdl_tune_room(t->end - tdl_now_ns(), t->run_ns, ROUND);
        TRY(add_run(t, candidate, &more, &late));
        if (t->run_count > 1 && (t->run_count >= TDL_MAX(room, 2) || !more || late))
            TRY(measure_round(t));
    }
fail:
    return r;
}

static void judge(struct tuner *t)
{
    for (uint32_t i = 0; i < t->result_count; i++) {
        struct tdl_tune_result *result = &t->results[i];
        result->untuned = !tdl_tuning_find(&t->only, result->layer)  ? TDL_UNTUNED_SMALL
                          : tdl_tuning_find(&t->late, result->layer) ? TDL_UNTUNED_LATE
                                                                     : TDL_TUNED_WHOLLY;
    }
}

static void report(const struct tuner *t)
{
    for (uint32_t i = 0; t->params->report && i < t->result_count; i++)
        t->params->report(t->params->report_data, &(struct tdl_tune_report){
                                                      .layer = t->results[i].layer,
                                                      .algorithm = t->results[i].algorithm,
                                                      .gpu_ns = t->results[i].ns,
                                                      .is_default = t->results[i].is_default,
                                                      .untuned = t->results[i].untuned,
                                                  });
}

bool tdl_tune_choose(const struct tdl_tune_result *results, uint32_t count, struct tdl_tuning *out)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct tdl_tune_result *base = &results[i], *best = base;
        uint32_t ways = 0;
        if (!base->is_default)
            continue;
        for (uint32_t k = 0; k < count; k++) {
            const bool same = !strcmp(results[k].layer, base->layer);
            ways += same;
            if (same && results[k].ratio < best->ratio)
                best = &results[k];
        }
        if (ways == 1 && base->untuned != TDL_TUNED_WHOLLY)
            continue; /* nothing is known of it */
        if (best->ratio > LEAST_GAIN)
            best = base;
        if (!tdl_tuning_set(out, best->layer, best->algorithm, (uint64_t)best->ns))
            return false;
    }
    return true;
}

static enum tdl_result keep(struct tuner *t, uint32_t *out_layers)
{
    struct tdl_tuning tuning = {0};
    enum tdl_result r = TDL_OK;
    if (!tdl_tune_choose(t->results, t->result_count, &tuning))
        r = no_memory();
    *out_layers = tuning.count;
    if (r == TDL_OK && !t->params->dry)
        r = tdl_context_add_tuning(t->ctx, &tuning);
    tdl_tuning_finish(&tuning);
    return r;
}

enum tdl_result tdl_tune(struct tdl_builder *builder, const struct tdl_tune_params *params,
                         uint32_t *out_layers)
{
    TDL_NEED_KNOWN(params);
    static const struct tdl_tune_params defaults;
    uint32_t layers = 0;
    enum tdl_result r;
    if (!builder)
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT, "tdl_tune: there is no builder");
    struct tuner *t = calloc(1, sizeof(*t));
    if (!t)
        return no_memory();
    t->builder = builder;
    t->params = params ? params : &defaults;
    t->ctx = builder->ctx;
    t->iterations =
        t->params->iterations ? TDL_MIN(t->params->iterations, MAX_ITERATIONS) : DEFAULT_ITERATIONS;
    TRY(tdl_builder_check_buildable(builder));
    if (!t->ctx->on->wants_steps) {
        r = tdl_fail(TDL_ERROR_UNSUPPORTED,
                     "tdl_tune: device %s has one way to compute convolutions; there is nothing to "
                     "choose",
                     t->ctx->on->name);
        goto fail;
    }
    if (!t->ctx->info.timestamps) {
        r = tdl_fail(TDL_ERROR_UNSUPPORTED, "tdl_tune: %s has no timestamps", t->ctx->info.name);
        goto fail;
    }
    t->end = t->params->seconds > 0 ? tdl_now_ns() + t->params->seconds * 1e9 : INFINITY;
    TRY(measure_all(t));
    judge(t);
    report(t);
    TRY(keep(t, &layers));
fail:
    for (uint32_t i = 0; i < ROUND; i++)
        run_finish(&t->runs[i]);
    for (uint32_t i = 0; i < t->input_count; i++)
        tdl_tensor_destroy(&t->inputs[i].tensor);
    for (uint32_t i = 0; i < t->output_count; i++)
        tdl_tensor_destroy(&t->outputs[i].tensor);
    tdl_tuning_finish(&t->only);
    tdl_tuning_finish(&t->late);
    free(t->results);
    free(t);
    if (out_layers)
        *out_layers = layers;
    return r;
}
