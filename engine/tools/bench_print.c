/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "bench.h"

#include <inttypes.h>

static double gflops(uint64_t macs, double us)
{
    return us > 0 ? 2e-3 * (double)macs / us : 0;
}

void bench_print_text(const struct bench *b)
{
    const struct tdl_device_info *device = tdl_context_device(b->context);
    const struct tdl_times *w = &b->wall;
    struct tdl_graph_stats stats;

    tdl_graph_get_stats(b->graph, &stats);
    printf("%s\n", b->model ? b->model : b->op.name);
    printf("device       %s (%s)\n", device->name, device->driver);
    printf("plan         %u operators in %u dispatches, %s, fusion %s\n", stats.operators,
           stats.steps, tool_precision_name(stats.precision), b->build.no_fuse ? "off" : "on");
    printf("work         %.3f million multiply-accumulates, %.2f MiB of activations (%.2f MiB "
           "unshared), %.1f KiB of weights\n",
           (double)stats.macs / 1e6, (double)stats.arena_bytes / (1 << 20),
           (double)stats.tensor_bytes / (1 << 20), (double)stats.weight_bytes / 1024);
    printf("start        %.1f ms to load and compile, %.2f ms for the first run\n", b->build_ms,
           b->first_ms);
    printf("runs         %u after %u to warm up; %" PRIu64 " submits, %" PRIu64
           " allocations, %" PRIu64 " pipelines\n",
           b->iterations, b->warmup, b->submits, b->allocations, b->pipelines);
    printf("wall         mean %.3f ms, sd %.3f, min %.3f, median %.3f, max %.3f\n", w->mean,
           w->deviation, w->min, w->median, w->max);
    if (!b->step_us) {
        printf("device time  this device has no timestamps\n");
        return;
    }
    printf("device time  mean %.4f ms, sd %.4f, min %.4f, median %.4f, max %.4f\n", b->gpu.mean,
           b->gpu.deviation, b->gpu.min, b->gpu.median, b->gpu.max);
    printf("             %.4f ms as the sum of the dispatches below, each timed alone\n\n",
           b->steps_us / 1e3);
    printf("%4s %-26s %-22s %10s %6s %9s %8s  %s\n", "step", "kernel", "algorithm", "us", "share",
           "GFLOP/s", "GB/s", "computes");
    for (uint32_t i = 0; i < b->step_count; i++) {
        const struct tdl_graph_step *step = tdl_graph_get_step(b->graph, i);
        const double us = b->step_us[i];
        char algorithm[64];

        printf("%4u %-26s %-22s %10.2f %5.1f%% %9.1f %8.1f  %s\n", i, step->kernel,
               tool_algorithm(step, algorithm, sizeof(algorithm)), us,
               b->steps_us > 0 ? 100 * us / b->steps_us : 0, gflops(step->macs, us),
               us > 0 ? (double)step->bytes / us / 1e3 : 0, step->label);
    }
}

void bench_print_string(const char *name, const char *value)
{
    printf("  \"%s\": ", name);
    tool_json_string(stdout, value);
    printf(",\n");
}

static void print_steps(const struct bench *b)
{
    printf("  \"steps\": [");
    for (uint32_t i = 0; i < b->step_count; i++) {
        const struct tdl_graph_step *step = tdl_graph_get_step(b->graph, i);

        printf("%s\n    {\"kernel\": ", i ? "," : "");
        tool_json_string(stdout, step->kernel);
        printf(", \"label\": ");
        tool_json_string(stdout, step->label);
        if (*step->algorithm)
            printf(", \"algorithm\": \"%s\", \"choice\": \"%s\"", step->algorithm,
                   tool_choice_name(step->choice));
        printf(", \"groups\": [%u, %u, %u], \"local_size\": %u, \"macs\": %" PRIu64
               ", \"bytes\": %" PRIu64,
               step->groups[0], step->groups[1], step->groups[2], step->local_size, step->macs,
               step->bytes);
        if (b->step_us)
            printf(", \"gpu_us\": %.3f", b->step_us[i]);
        printf("}");
    }
    printf("\n  ]\n");
}

void bench_print_json(const struct bench *b)
{
    const struct tdl_device_info *device = tdl_context_device(b->context);
    const struct tdl_times *w = &b->wall;
    struct tdl_graph_stats stats;

    tdl_graph_get_stats(b->graph, &stats);
    printf("{\n");
    bench_print_string(b->model ? "model" : "op", b->model ? b->model : b->op.name);
    bench_print_string("device", device->name);
    bench_print_string("driver", device->driver);
    bench_print_string("precision", tool_precision_name(stats.precision));
    printf("  \"fuse\": %s,\n", b->build.no_fuse ? "false" : "true");
    printf("  \"operators\": %u, \"dispatches\": %u, \"macs\": %" PRIu64 ",\n", stats.operators,
           stats.steps, stats.macs);
    printf("  \"arena_bytes\": %" PRIu64 ", \"tensor_bytes\": %" PRIu64
           ", \"weight_bytes\": %" PRIu64 ",\n",
           stats.arena_bytes, stats.tensor_bytes, stats.weight_bytes);
    printf("  \"warmup\": %u, \"iterations\": %u,\n", b->warmup, b->iterations);
    printf("  \"submits\": %" PRIu64 ", \"allocations\": %" PRIu64 ", \"pipelines\": %" PRIu64
           ",\n",
           b->submits, b->allocations, b->pipelines);
    printf("  \"build_ms\": %.3f, \"first_ms\": %.3f,\n", b->build_ms, b->first_ms);
    printf("  \"wall_ms\": {\"mean\": %.4f, \"sd\": %.4f, \"min\": %.4f, \"median\": %.4f, "
           "\"max\": %.4f},\n",
           w->mean, w->deviation, w->min, w->median, w->max);
    if (b->step_us)
        printf("  \"gpu_ms\": {\"mean\": %.4f, \"sd\": %.4f, \"min\": %.4f, \"median\": %.4f, "
               "\"max\": %.4f},\n  \"steps_ms\": %.4f,\n",
               b->gpu.mean, b->gpu.deviation, b->gpu.min, b->gpu.median, b->gpu.max,
               b->steps_us / 1e3);
    print_steps(b);
    printf("}\n");
}
