/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Long runs in several submissions, as watchdogs of drivers end what takes too long: where
 * they are cut on which device, and that they are one piece of work all the same.
 */
#include "check.h"

#include <core/graph.h>
#include <vulkan/graph/program.h>

#include <string.h>

/* ----------------------------------------------------------- the arithmetic */

#define MS 1000000.

static const struct tdl_device_info integrated = {.type = TDL_DEVICE_INTEGRATED_GPU},
                                    discrete = {.type = TDL_DEVICE_DISCRETE_GPU},
                                    virtual = {.type = TDL_DEVICE_VIRTUAL_GPU},
                                    other = {.type = TDL_DEVICE_OTHER},
                                    software = {.type = TDL_DEVICE_SOFTWARE};

static void split(const struct tdl_device_info *device, const struct tdl_graph_step *steps,
                  uint32_t count, double scale, struct tdl_parts *out)
{
    struct tdl_split s;
    tdl_split_init(&s, device);
    s.scale = scale;
    tdl_split_steps(&s, device, steps, count, out);
}

static void check_arithmetic(void)
{
    static const struct tdl_device_info *const small[] = {&integrated, &virtual, &other};
    struct tdl_graph_step steps[200] = {{0}};
    struct tdl_parts parts;
    struct tdl_split s;

    check_begin("where runs are cut");
    for (uint32_t i = 0; i < 10; i++)
        steps[i].macs = 500000000; /* 100 ms of the slowest GPU of a board */
    for (size_t i = 0; i < COUNT(small); i++) {
        split(small[i], steps, 10, 1, &parts);
        CHECK(parts.count == 5 && parts.starts[1] == 2 && parts.starts[4] == 8 && parts.timed,
              "device %zu: %u parts of 1000 ms, the second from step %u on", i, parts.count,
              parts.starts[1]);
    }
    split(&integrated, steps, 2, 1, &parts);
    CHECK(parts.count == 1 && parts.timed, "200 ms are %u parts", parts.count);
    split(&integrated, steps, 1, 1, &parts);
    CHECK(parts.count == 1 && !parts.timed, "100 ms are %u parts, or timed", parts.count);
    split(&discrete, steps, 10, 1, &parts);
    CHECK(parts.count == 1 && !parts.timed, "a card has %u parts, or timed", parts.count);
    split(&software, steps, 10, 1, &parts);
    CHECK(parts.count == 1 && !parts.timed, "software has %u parts, or timed", parts.count);

    check_begin("what was measured");
    tdl_split_init(&s, &integrated);
    tdl_split_steps(&s, &integrated, steps, 10, &parts);
    CHECK(tdl_split_learn(&s, &parts, (uint64_t)(20 * MS)), "nothing was learned");
    tdl_split_steps(&s, &integrated, steps, 10, &parts);
    CHECK(parts.count == 1, "20 ms are %u parts", parts.count);
    CHECK(!tdl_split_learn(&s, &parts, (uint64_t)(900 * MS)), "it was learned once more");
    split(&integrated, steps, 10, 3, &parts); /* as slow: each is 300 ms */
    CHECK(parts.count == 10, "10 steps of 300 ms are %u parts", parts.count);

    check_begin("more than there may be");
    for (uint32_t i = 0; i < COUNT(steps); i++)
        steps[i].bytes = 1000000000; /* 500 ms */
    split(&integrated, steps, COUNT(steps), 1, &parts);
    CHECK(parts.count <= TDL_MAX_PARTS && parts.count > TDL_MAX_PARTS / 4 &&
              parts.ns[parts.count - 1] < 10 * 500 * MS,
          "%u parts, the last one of %g ms", parts.count, parts.ns[parts.count - 1] / MS);
}

/* -------------------------------------------------------------- on the device */

enum { LAYERS = 6, SIDE = 24, CHANNELS = 8, COUNT_OF = SIDE * SIDE * CHANNELS };

static struct {
    uint32_t calls, waits_behind, signals_before, signals_last, commands;
} seen;

VkResult __real_vkQueueSubmit(VkQueue queue, uint32_t n, const VkSubmitInfo *info, VkFence fence);
VkResult __wrap_vkQueueSubmit(VkQueue queue, uint32_t n, const VkSubmitInfo *info, VkFence fence);
VkResult __wrap_vkQueueSubmit(VkQueue queue, uint32_t n, const VkSubmitInfo *info, VkFence fence)
{
    seen.waits_behind += seen.calls ? info->waitSemaphoreCount : 0;
    seen.signals_before += seen.signals_last;
    seen.signals_last = info->signalSemaphoreCount;
    seen.commands += info->commandBufferCount;
    seen.calls++;
    return __real_vkQueueSubmit(queue, n, info, fence);
}

static struct tdl_graph *build(struct tdl_context *ctx)
{
    static float weights[CHANNELS * 9 * CHANNELS];
    const struct tdl_tensor_params image = {.rank = 4, .shape = {1, SIDE, SIDE, CHANNELS}};
    const struct tdl_tensor_params filter = {.rank = 4, .shape = {CHANNELS, 3, 3, CHANNELS}};
    const struct tdl_conv2d_params same = {.padding = TDL_PADDING_SAME_UPPER};
    struct tdl_graph *graph;
    struct tdl_builder *b;
    for (size_t i = 0; i < COUNT(weights); i++)
        weights[i] = (float)((int)(i * 7 % 11) - 5) / 40;
    OK(check_builder(ctx, &b));
    struct tdl_operand *x = tdl_builder_input(b, "x", &image);
    struct tdl_operand *f = tdl_builder_constant(b, &filter, weights, sizeof(weights));
    for (int i = 0; i < LAYERS; i++)
        x = tdl_builder_conv2d(b, x, f, &same);
    tdl_builder_output(b, "y", x);
    OK(tdl_builder_build(b, &(struct tdl_build_params){.precision = TDL_PRECISION_FP32}, &graph));
    tdl_builder_destroy(&b);
    return graph;
}

static struct tdl_tensor *tensor_like(struct tdl_context *ctx, const struct tdl_tensor_params *like)
{
    struct tdl_tensor_params params = *like;
    struct tdl_tensor *tensor;
    params.usage = TDL_TENSOR_READABLE | TDL_TENSOR_WRITABLE;
    params.label = NULL;
    OK(tdl_tensor_create(ctx, &params, &tensor));
    return tensor;
}

/* Two runs; how often the queue was called for the second one. */
static uint32_t run(struct tdl_context *ctx, struct tdl_graph *graph, float *out)
{
    struct tdl_binding in = {"x", tensor_like(ctx, tdl_graph_input(graph, 0, NULL))};
    struct tdl_binding result = {"y", tensor_like(ctx, tdl_graph_output(graph, 0, NULL))};
    static float values[COUNT_OF];
    struct tdl_context_stats before, after;
    uint64_t first, point;
    for (uint32_t i = 0; i < COUNT_OF; i++)
        values[i] = (float)(i * 2654435761u >> 16) * 0x1p-16f;
    OK(tdl_tensor_write(in.tensor, values, sizeof(values), NULL));
    OK(tdl_graph_dispatch(graph, &in, 1, &result, 1, &first));
    OK(tdl_context_wait(ctx, first, TDL_WAIT_FOREVER));
    tdl_context_get_stats(ctx, &before);
    memset(&seen, 0, sizeof(seen));
    OK(tdl_graph_dispatch(graph, &in, 1, &result, 1, &point));
    const uint32_t calls = seen.calls;
    tdl_context_get_stats(ctx, &after);
    CHECK(point == first + 1, "point %llu behind %llu", (unsigned long long)point,
          (unsigned long long)first);
    CHECK(!seen.signals_before && seen.signals_last == 1 && !seen.waits_behind,
          "%u signals before the last call, %u in it, %u waits behind the first",
          seen.signals_before, seen.signals_last, seen.waits_behind);
    CHECK(after.submits - before.submits == calls, "%llu submissions counted, %u calls",
          (unsigned long long)(after.submits - before.submits), calls);
    OK(tdl_context_wait(ctx, point, TDL_WAIT_FOREVER));
    OK(tdl_tensor_read(result.tensor, out, COUNT_OF * sizeof(float)));
    tdl_tensor_destroy(&in.tensor);
    tdl_tensor_destroy(&result.tensor);
    return calls;
}

static void check_runs(struct tdl_context *ctx)
{
    static float whole[COUNT_OF], cut[COUNT_OF];
    struct tdl_graph *graph = build(ctx);
    struct tdl_parts parts;
    check_begin("a short run");
    CHECK(run(ctx, graph, whole) == 1, "%u calls of the queue", seen.calls);
    tdl_graph_destroy(&graph);

    check_begin("a run that takes longer than the bound at every step");
    tdl_split_ns = 1;
    graph = build(ctx);
    tdl_split_steps(&graph->program->split, &ctx->info, graph->steps, graph->step_count, &parts);
    CHECK(parts.count == graph->step_count && parts.count > 1, "%u parts of %u steps", parts.count,
          graph->step_count);
    const uint32_t calls = run(ctx, graph, cut);
    CHECK(graph->program->split.measured == ctx->info.timestamps, "it was not measured");
    CHECK(calls == parts.count, "%u calls for %u parts", calls, parts.count);
    CHECK(!memcmp(whole, cut, sizeof(whole)), "it computes something else");
    tdl_graph_destroy(&graph);

    check_begin("a run whose estimate was too long");
    tdl_split_ns = (uint64_t)1e15;
    graph = build(ctx);
    graph->program->split.bound_ns = 1e9;
    graph->program->split.scale = 1e9; /* far slower than any device */
    const uint32_t fewer = run(ctx, graph, cut);
    tdl_split_steps(&graph->program->split, &ctx->info, graph->steps, graph->step_count, &parts);
    CHECK(fewer == parts.count, "%u calls for %u parts, as measured", fewer, parts.count);
    CHECK(!ctx->info.timestamps || parts.count < graph->step_count,
          "a run of less than a second is still %u parts", parts.count);
    CHECK(!memcmp(whole, cut, sizeof(whole)), "it computes something else");
    tdl_graph_destroy(&graph);
    tdl_split_ns = 0;
}

/* Steps of cut runs are one behind the other in their batch, and so are batches. */
static void check_chain(struct tdl_context *ctx)
{
    static float once[COUNT_OF], twice[COUNT_OF], chain[COUNT_OF];
    struct tdl_batch *batch;
    uint64_t point;
    check_begin("a batch of cut runs, each on what the one before made");
    tdl_split_ns = 1;
    struct tdl_graph *graph = build(ctx);
    struct tdl_tensor *t[3];
    for (int i = 0; i < 3; i++)
        t[i] = tensor_like(ctx, tdl_graph_input(graph, 0, NULL));
    run(ctx, graph, once);
    OK(tdl_tensor_write(t[0], once, sizeof(once), NULL));
    OK(tdl_graph_dispatch(graph, &(struct tdl_binding){"x", t[0]}, 1,
                          &(struct tdl_binding){"y", t[1]}, 1, NULL));
    OK(tdl_tensor_read(t[1], twice, sizeof(twice)));
    OK(tdl_graph_dispatch(graph, &(struct tdl_binding){"x", t[1]}, 1,
                          &(struct tdl_binding){"y", t[2]}, 1, NULL));
    OK(tdl_tensor_read(t[2], twice, sizeof(twice)));
    OK(tdl_batch_create(ctx, &batch));
    OK(tdl_batch_begin(batch));
    for (int i = 0; i < 2; i++)
        OK(tdl_batch_graph(batch, graph, &(struct tdl_binding){"x", t[i]}, 1,
                           &(struct tdl_binding){"y", t[i + 1]}, 1));
    memset(&seen, 0, sizeof(seen));
    OK(tdl_batch_submit(batch, &point));
    CHECK(seen.calls >= 2 * graph->step_count && seen.signals_last == 1, "%u calls, %u signals",
          seen.calls, seen.signals_last);
    OK(tdl_context_wait(ctx, point, TDL_WAIT_FOREVER));
    OK(tdl_tensor_read(t[2], chain, sizeof(chain)));
    CHECK(!memcmp(chain, twice, sizeof(chain)), "it computes something else");
    tdl_batch_destroy(&batch);
    for (int i = 0; i < 3; i++)
        tdl_tensor_destroy(&t[i]);
    tdl_graph_destroy(&graph);
    tdl_split_ns = 0;
}

int main(void)
{
    struct tdl_context *ctx;
    check_arithmetic();
    ctx = check_context_open();
    check_runs(ctx);
    check_chain(ctx);
    check_context_close(ctx);
    return check_result();
}
