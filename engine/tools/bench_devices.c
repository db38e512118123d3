/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One model, or operator, on every device there is: turn and turn about, so that
 * whatever else the machine does hits all of them. */
#include "bench.h"

#include <stdlib.h>
#include <string.h>

/* Turns that each device has, of as many runs as --iterations asks for in all. */
enum { ROUNDS = 10 };

struct bench_device {
    struct bench bench;
    char index[12];
    double *wall_ns;  /* times of all rounds; NULL: the device could not run */
    char reason[160]; /* why not */
};

/* Loaded, compiled and warm. A device that cannot is shown with its reason. */
static bool prepare(struct bench_device *d, const struct bench *base, uint32_t index)
{
    const struct tdl_benchmark_params once = {.warmup = base->warmup ? base->warmup : 1,
                                              .iterations = 1};
    struct tdl_benchmark_result first;
    struct bench *b = &d->bench;

    *b = *base;
    b->devices = NULL;
    b->device_count = 0;
    snprintf(d->index, sizeof(d->index), "%u", index);
    b->device = d->index;
    d->wall_ns = calloc(base->iterations, sizeof(*d->wall_ns));
    if (d->wall_ns && tool_create_context(b->device, b->threads, 1, &b->context) == TOOL_OK &&
        bench_compile(b) == TOOL_OK && bench_create_tensors(b) == TOOL_OK &&
        tdl_benchmark(b->graph, b->inputs, b->input_count, b->outputs, b->output_count, &once,
                      &first) == TDL_OK) {
        b->first_ms = first.first_ns / 1e6;
        return true;
    }
    snprintf(d->reason, sizeof(d->reason), "%.150s", tdl_last_error());
    free(d->wall_ns);
    d->wall_ns = NULL;
    return false;
}

static int run_round(struct bench_device *d, uint32_t round)
{
    struct bench *b = &d->bench;
    struct tdl_benchmark_result result;
    const uint64_t begin = (uint64_t)b->iterations * round / ROUNDS;
    const uint64_t end = (uint64_t)b->iterations * (round + 1) / ROUNDS;
    const struct tdl_benchmark_params params = {
        .warmup = 1,
        .iterations = (uint32_t)(end - begin),
        .wall_ns = d->wall_ns + begin,
    };

    if (begin == end)
        return TOOL_OK;
    if (tdl_benchmark(b->graph, b->inputs, b->input_count, b->outputs, b->output_count, &params,
                      &result) != TDL_OK)
        return tool_fail("%s", tdl_last_error());
    return TOOL_OK;
}

static void summarise(struct bench_device *d)
{
    const uint32_t count = d->bench.iterations;
    struct tdl_times *ms = &d->bench.wall;

    for (uint32_t i = 0; i < count; i++)
        d->wall_ns[i] /= 1e6;
    *ms = tdl_times_of(d->wall_ns, count);
}

int bench_devices_run(struct bench *b)
{
    struct tdl_device_info infos[16];
    uint32_t count = 0, ran = 0;
    int status = TOOL_OK;

    if (tdl_device_list(infos, 16, &count) != TDL_OK)
        return tool_fail("%s", tdl_last_error());
    count = count < 16 ? count : 16;
    b->devices = calloc(count, sizeof(*b->devices));
    if (!b->devices)
        return tool_fail("no memory for %u devices", count);
    b->device_count = count;
    for (uint32_t i = 0; i < count; i++)
        ran += prepare(&b->devices[i], b, i);
    for (uint32_t round = 0; round < ROUNDS; round++)
        for (uint32_t i = 0; i < count && status == TOOL_OK; i++)
            if (b->devices[i].wall_ns)
                status = run_round(&b->devices[i], round);
    for (uint32_t i = 0; i < count && status == TOOL_OK; i++)
        if (b->devices[i].wall_ns)
            summarise(&b->devices[i]);
    return status == TOOL_OK && !ran ? TOOL_FAILED : status;
}

void bench_devices_finish(struct bench *b)
{
    for (uint32_t i = 0; i < b->device_count; i++) {
        bench_finish(&b->devices[i].bench);
        free(b->devices[i].wall_ns);
    }
    free(b->devices);
    b->devices = NULL;
    b->device_count = 0;
}

const struct bench *bench_devices_get(const struct bench *b, uint32_t i, const char **out_reason)
{
    if (i >= b->device_count)
        return NULL;
    *out_reason = b->devices[i].wall_ns ? NULL : b->devices[i].reason;
    return &b->devices[i].bench;
}

/* The smallest median. */
static double fastest(const struct bench *b)
{
    double best = 0;

    for (uint32_t i = 0; i < b->device_count; i++) {
        const double median = b->devices[i].bench.wall.median;

        if (b->devices[i].wall_ns && (best == 0 || median < best))
            best = median;
    }
    return best;
}

void bench_devices_print_text(const struct bench *b)
{
    const double best = fastest(b);

    printf("%s: %u runs on each device, in turns\n\n", b->model ? b->model : b->op.name,
           b->iterations);
    printf("%-46s %10s %10s %10s %10s %8s\n", "device", "build ms", "first ms", "min ms",
           "median ms", "x best");
    for (uint32_t i = 0; i < b->device_count; i++) {
        const struct bench *d = &b->devices[i].bench;

        if (!b->devices[i].wall_ns) {
            printf("%-46s %s\n", d->device, b->devices[i].reason);
            continue;
        }
        printf("%-46.46s %10.1f %10.2f %10.3f %10.3f %8.2f\n", tdl_context_device(d->context)->name,
               d->build_ms, d->first_ms, d->wall.min, d->wall.median, d->wall.median / best);
    }
}

void bench_devices_print_json(const struct bench *b)
{
    printf("{\n");
    bench_print_string(b->model ? "model" : "op", b->model ? b->model : b->op.name);
    printf("  \"iterations\": %u,\n  \"devices\": [", b->iterations);
    for (uint32_t i = 0; i < b->device_count; i++) {
        const struct bench *d = &b->devices[i].bench;

        printf("%s\n    {\"index\": %u, ", i ? "," : "", i);
        printf(b->devices[i].wall_ns ? "\"name\": " : "\"error\": ");
        tool_json_string(stdout, b->devices[i].wall_ns ? tdl_context_device(d->context)->name
                                                       : b->devices[i].reason);
        if (b->devices[i].wall_ns)
            printf(", \"build_ms\": %.3f, \"first_ms\": %.3f, \"min_ms\": %.4f, "
                   "\"median_ms\": %.4f",
                   d->build_ms, d->first_ms, d->wall.min, d->wall.median);
        printf("}");
    }
    printf("\n  ]\n}\n");
}
