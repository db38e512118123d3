/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "bench.h"

#include <tdl/models.h>

#include <stdlib.h>
#include <string.h>

/* Runs with a timestamp round every dispatch; the median is reported. */
#define PROFILE_RUNS 15

int bench_compile(struct bench *b)
{
    const uint64_t start = tool_now();
    const char *name = b->model ? b->model : b->op.name;
    int status;

    if (tdl_builder_create(b->context, &b->builder) != TDL_OK)
        return tool_fail("%s", tdl_last_error());
    if (b->model) {
        if (tdl_model_load(b->builder, b->model, &b->model_options.params) != TDL_OK)
            return tool_model_fail(name, tdl_builder_error(b->builder));
    } else {
        status = bench_build_operator(&b->op, b->builder);
        if (status != TOOL_OK)
            return status;
    }
    if (b->stream_options.batches.count && !b->frame_options.size[0] &&
        tdl_builder_stack(b->builder, b->stream_options.batches.values[0]) != TDL_OK)
        return tool_fail("%s: %s", name, tdl_last_error());
    b->build.compile.progress = tool_progress;
    b->build.defer_compile = b->tune || b->compare; /* tdl_tune() compiles its own */
    if (tdl_builder_build(b->builder, &b->build, &b->graph) != TDL_OK)
        return tool_fail("%s: %s", name, tdl_last_error());
    b->build_ms = (double)(tool_now() - start) / 1e6;
    return TOOL_OK;
}

static int fill(struct tdl_tensor *tensor, uint64_t seed)
{
    const struct tdl_tensor_params *params = tdl_tensor_get_params(tensor);
    const size_t size = tdl_tensor_params_size(params);
    float *values = calloc(1, size);
    enum tdl_result r;

    if (!values)
        return tool_fail("no memory for %zu bytes of input", size);
    if (params->dtype == TDL_FLOAT32) { /* pictures are within 0 to 1 */
        for (size_t i = 0; i < size / sizeof(*values); i++)
            values[i] = 0.5f + 0.5f * tool_random(&seed);
    }
    r = tdl_tensor_write(tensor, values, size, NULL);
    free(values);
    return r == TDL_OK ? TOOL_OK : tool_fail("%s", tdl_last_error());
}

int bench_create_tensors(struct bench *b)
{
    const struct tdl_tensor_params *params;
    struct tdl_tensor_params copy;

    while (b->input_count < BENCH_MAX_BINDINGS &&
           (params = tdl_graph_input(b->graph, b->input_count, &b->inputs[b->input_count].name))) {
        struct tdl_binding *binding = &b->inputs[b->input_count++];

        copy = *params;
        copy.usage = TDL_TENSOR_WRITABLE;
        if (tdl_tensor_create(b->context, &copy, &binding->tensor) != TDL_OK)
            return tool_fail("%s", tdl_last_error());
        if (fill(binding->tensor, 0x2545f4914f6cdd1du + b->input_count) != TOOL_OK)
            return TOOL_FAILED;
    }
    while (
        b->output_count < BENCH_MAX_BINDINGS &&
        (params = tdl_graph_output(b->graph, b->output_count, &b->outputs[b->output_count].name))) {
        copy = *params;
        copy.usage = TDL_TENSOR_READABLE;
        if (tdl_tensor_create(b->context, &copy, &b->outputs[b->output_count++].tensor) != TDL_OK)
            return tool_fail("%s", tdl_last_error());
    }
    return TOOL_OK;
}

static struct tdl_times in_ms(const struct tdl_times *ns)
{
    return (struct tdl_times){.mean = ns->mean / 1e6,
                              .deviation = ns->deviation / 1e6,
                              .min = ns->min / 1e6,
                              .median = ns->median / 1e6,
                              .max = ns->max / 1e6};
}

static int measure(struct bench *b)
{
    const struct tdl_benchmark_params params = {.warmup = b->warmup, .iterations = b->iterations};
    struct tdl_context_stats before, after;
    struct tdl_benchmark_result first, result;

    /* Once, so that what the first run allocates is not counted below. */
    if (tdl_benchmark(b->graph, b->inputs, b->input_count, b->outputs, b->output_count,
                      &(struct tdl_benchmark_params){.warmup = 1, .iterations = 1},
                      &first) != TDL_OK)
        return tool_fail("%s", tdl_last_error());
    tdl_context_get_stats(b->context, &before);
    if (tdl_benchmark(b->graph, b->inputs, b->input_count, b->outputs, b->output_count, &params,
                      &result) != TDL_OK)
        return tool_fail("%s", tdl_last_error());
    tdl_context_get_stats(b->context, &after);
    b->first_ms = first.first_ns / 1e6;
    b->allocations = after.allocations - before.allocations;
    b->pipelines = after.pipelines - before.pipelines;
    b->submits = after.submits - before.submits;
    b->wall = in_ms(&result.wall);
    b->gpu = in_ms(&result.gpu);
    return TOOL_OK;
}

/* Medians over some runs of every dispatch and of their sum. */
static int profile(struct bench *b)
{
    double sums[PROFILE_RUNS] = {0};
    double *times;

    while (tdl_graph_get_step(b->graph, b->step_count))
        b->step_count++;
    if (!tdl_context_device(b->context)->timestamps)
        return TOOL_OK;
    times = calloc((size_t)b->step_count * PROFILE_RUNS + 1, sizeof(*times));
    b->step_us = calloc((size_t)b->step_count + 1, sizeof(*b->step_us));
    for (uint32_t run = 0; times && b->step_us && run < PROFILE_RUNS; run++) {
        if (tdl_graph_profile(b->graph, b->inputs, b->input_count, b->outputs, b->output_count) !=
            TDL_OK) {
            free(times);
            return tool_fail("%s", tdl_last_error());
        }
        for (uint32_t i = 0; i < b->step_count; i++) {
            const double us = (double)tdl_graph_get_step(b->graph, i)->gpu_ns / 1e3;

            times[i * PROFILE_RUNS + run] = us;
            sums[run] += us;
        }
    }
    if (!times || !b->step_us) {
        free(times);
        return tool_fail("no memory for the times of %u dispatches", b->step_count);
    }
    for (uint32_t i = 0; i < b->step_count; i++)
        b->step_us[i] = tdl_times_of(times + (size_t)i * PROFILE_RUNS, PROFILE_RUNS).median;
    b->steps_us = tdl_times_of(sums, PROFILE_RUNS).median;
    free(times);
    return TOOL_OK;
}

int bench_run(struct bench *b)
{
    int status = tool_create_context(b->device, b->threads, 1, &b->context);

    if (status == TOOL_OK)
        status = bench_compile(b);
    if (status == TOOL_OK && (b->tune || b->compare))
        return bench_tune_run(b);
    if (status == TOOL_OK)
        status = bench_create_tensors(b);
    if (status == TOOL_OK)
        status = measure(b);
    return status == TOOL_OK ? profile(b) : status;
}

void bench_finish(struct bench *b)
{
    bench_devices_finish(b);
    bench_streams_finish(b);
    bench_frame_finish(b);
    for (uint32_t i = 0; i < b->input_count; i++)
        tdl_tensor_destroy(&b->inputs[i].tensor);
    for (uint32_t i = 0; i < b->output_count; i++)
        tdl_tensor_destroy(&b->outputs[i].tensor);
    tdl_graph_destroy(&b->graph);
    tdl_builder_destroy(&b->builder);
    tdl_context_destroy(&b->context);
    free(b->step_us);
    free(b->tuned);
}
