/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tdl_benchmark(), and the statistics that measuring shares. */
#include "measure.h"

#include "core/graph.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

struct tdl_times tdl_times_of(double *values, uint32_t count)
{
    struct tdl_times t = {0};
    if (!count)
        return t;
    qsort(values, count, sizeof(*values), compare);
    for (uint32_t i = 0; i < count; i++)
        t.mean += values[i] / count;
    for (uint32_t i = 0; i < count; i++)
        t.deviation += (values[i] - t.mean) * (values[i] - t.mean);
    t.deviation = count > 1 ? sqrt(t.deviation / (count - 1)) : 0;
    t.min = values[0];
    t.max = values[count - 1];
    t.median = (values[(count - 1) / 2] + values[count / 2]) / 2;
    return t;
}

double tdl_now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

struct job {
    struct tdl_graph *graph;
    struct tdl_batch *batch;
    const struct tdl_binding *inputs, *outputs;
    uint32_t input_count, output_count;
};

static enum tdl_result run_once(struct job *job, double *out_wall, double *out_gpu)
{
    const double start = tdl_now_ns();
    uint64_t point, gpu;
    enum tdl_result r;
    TRY(tdl_batch_begin(job->batch));
    TRY(tdl_batch_stage(job->batch, 0));
    TRY(tdl_batch_graph(job->batch, job->graph, job->inputs, job->input_count, job->outputs,
                        job->output_count));
    TRY(tdl_batch_submit(job->batch, &point));
    TRY(tdl_context_wait(job->graph->ctx, point, TDL_WAIT_FOREVER));
    *out_wall = tdl_now_ns() - start;
    tdl_batch_stage_times(job->batch, &gpu, 1);
    *out_gpu = (double)gpu;
    return TDL_OK;
fail:
    tdl_batch_cancel(job->batch);
    return r;
}

static enum tdl_result run_all(struct job *job, uint32_t warmup, uint32_t iterations, double *wall,
                               double *gpu, double *out_first)
{
    enum tdl_result r;
    double ignored;
    TRY(run_once(job, out_first, &ignored));
    for (uint32_t i = 0; i < warmup; i++)
        TRY(run_once(job, &ignored, &ignored));
    for (uint32_t i = 0; i < iterations; i++)
        TRY(run_once(job, &wall[i], &gpu[i]));
fail:
    return r;
}

enum tdl_result tdl_benchmark(struct tdl_graph *graph, const struct tdl_binding *inputs,
                              uint32_t input_count, const struct tdl_binding *outputs,
                              uint32_t output_count, const struct tdl_benchmark_params *params,
                              struct tdl_benchmark_result *out)
{
    TDL_NEED_KNOWN(params);
    static const struct tdl_benchmark_params defaults;
    struct job job = {graph, NULL, inputs, outputs, input_count, output_count};
    enum tdl_result r;
    if (!graph || !out)
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT,
                        "tdl_benchmark: a graph and room for the result are needed");
    if (!params)
        params = &defaults;
    *out =
        (struct tdl_benchmark_result){.iterations = params->iterations ? params->iterations : 100};
    double *wall = calloc(2 * (size_t)out->iterations, sizeof(*wall));
    double *gpu = wall ? wall + out->iterations : NULL;
    if (!wall)
        return tdl_fail(TDL_ERROR_OUT_OF_MEMORY, "out of memory for %u times", out->iterations);
    TRY(tdl_batch_create(graph->ctx, &job.batch));
    TRY(run_all(&job, params->warmup ? params->warmup : 10, out->iterations, wall, gpu,
                &out->first_ns));
    if (params->wall_ns)
        memcpy(params->wall_ns, wall, out->iterations * sizeof(*wall));
    if (params->gpu_ns)
        memcpy(params->gpu_ns, gpu, out->iterations * sizeof(*gpu));
    out->wall = tdl_times_of(wall, out->iterations);
    out->gpu = tdl_times_of(gpu, out->iterations);
fail:
    tdl_batch_destroy(&job.batch);
    free(wall);
    return r;
}
