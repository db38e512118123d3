/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "bench.h"

#include <inttypes.h>

static const char *const time_names[BENCH_TIMES] = {
    [BENCH_PREPROCESS] = "preprocess",
    [BENCH_NETWORK] = "network",
    [BENCH_COMPOSE] = "compose",
    [BENCH_STAGES] = "sum",
};

static const char *memory_name(const struct bench *b)
{
    return b->frame_options.device_memory ? "device" : "mapped";
}

void bench_frame_print_text(const struct bench *b)
{
    const struct tdl_device_info *device = tdl_context_device(b->context);
    const struct bench_frame *f = b->frame;
    struct tdl_graph_stats stats;

    tdl_graph_get_stats(b->graph, &stats);
    printf("%s\n", b->model);
    printf("device       %s (%s)\n", device->name, device->driver);
    printf("frame        %ux%u px %s to %s, %s, in %s memory\n", b->frame_options.size[0],
           b->frame_options.size[1], tdl_format_name(b->frame_options.format),
           tdl_format_name(f->target_format), tool_mode_name(b->frame_options.mode),
           memory_name(b));
    if (f->network)
        printf("network      %u dispatches, %s, fusion %s; finds %.0f %% foreground\n", stats.steps,
               tool_precision_name(stats.precision), b->build.no_fuse ? "off" : "on",
               100 * f->foreground);
    else
        printf("network      is not run in this mode\n");
    printf("start        %.1f ms to the first frame: %.1f ms to a context, %.1f ms to load and "
           "compile\n",
           f->first_ms, f->context_ms, b->build_ms);
    printf("frames       2 x %u after %u to warm up; %" PRIu64 " submits, %" PRIu64
           " allocations, %" PRIu64 " pipelines\n",
           b->iterations, b->warmup, b->submits, b->allocations, b->pipelines);
    printf("throughput   %.1f frames/s with %u under way; the CPU waited %" PRIu64 " times\n",
           f->rate, BENCH_FLIGHT, f->waits);
    printf("\nms, one frame at a time\n%-17s %9s %9s %9s %9s %9s\n", "", "median", "mean", "sd",
           "min", "max");
#define ROW(name, s)                                                                               \
    printf("%-17s %9.4f %9.4f %9.4f %9.4f %9.4f\n", name, (s)->median, (s)->mean, (s)->deviation,  \
           (s)->min, (s)->max)
    ROW("wall", &f->wall);
    ROW("cpu, of that", &f->cpu);
    for (uint32_t i = 0; i < BENCH_TIMES && device->timestamps; i++) {
        char name[32];

        if (!f->network && i < BENCH_COMPOSE)
            continue;
        snprintf(name, sizeof(name), "device %s", time_names[i]);
        ROW(name, &f->gpu[i]);
    }
#undef ROW
    if (!device->timestamps)
        printf("this device has no timestamps\n");
}

static void print_summary(const char *name, const struct tdl_times *s, const char *end)
{
    printf("\"%s\": {\"mean\": %.4f, \"sd\": %.4f, \"min\": %.4f, \"median\": %.4f, "
           "\"max\": %.4f}%s\n",
           name, s->mean, s->deviation, s->min, s->median, s->max, end);
}

void bench_frame_print_json(const struct bench *b)
{
    const struct tdl_device_info *device = tdl_context_device(b->context);
    const struct bench_frame *f = b->frame;
    struct tdl_graph_stats stats;

    tdl_graph_get_stats(b->graph, &stats);
    printf("{\n");
    bench_print_string("model", b->model);
    bench_print_string("device", device->name);
    bench_print_string("driver", device->driver);
    bench_print_string("precision", tool_precision_name(stats.precision));
    bench_print_string("mode", tool_mode_name(b->frame_options.mode));
    bench_print_string("format", tdl_format_name(b->frame_options.format));
    bench_print_string("target_format", tdl_format_name(f->target_format));
    bench_print_string("memory", memory_name(b));
    printf("  \"width\": %u, \"height\": %u, \"fuse\": %s,\n", b->frame_options.size[0],
           b->frame_options.size[1], b->build.no_fuse ? "false" : "true");
    if (f->network)
        printf("  \"foreground\": %.4f,\n", f->foreground);
    printf("  \"first_frame_ms\": %.3f, \"context_ms\": %.3f, \"build_ms\": %.3f,\n", f->first_ms,
           f->context_ms, b->build_ms);
    printf("  \"warmup\": %u, \"iterations\": %u, \"in_flight\": %u,\n", b->warmup, b->iterations,
           BENCH_FLIGHT);
    printf("  \"submits\": %" PRIu64 ", \"allocations\": %" PRIu64 ", \"pipelines\": %" PRIu64
           ", \"waits\": %" PRIu64 ",\n",
           b->submits, b->allocations, b->pipelines, f->waits);
    printf("  \"frames_per_second\": %.3f,\n  ", f->rate);
    print_summary("wall_ms", &f->wall, ",");
    printf("  ");
    print_summary("cpu_ms", &f->cpu, device->timestamps ? "," : "");
    if (device->timestamps) {
        printf("  \"gpu_ms\": {\n");
        for (uint32_t i = 0; i < BENCH_TIMES; i++) {
            printf("    ");
            print_summary(time_names[i], &f->gpu[i], i + 1 < BENCH_TIMES ? "," : "");
        }
        printf("  }\n");
    }
    printf("}\n");
}
