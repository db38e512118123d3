/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Compilation: what the progress function hears, cancelling, graphs that are
 * compiled later, and that neither the number of threads nor the way there
 * changes a result.
 */
#include "sketch.h"

#include <vulkan/graph/compile.h>

#include <tdl/frame.h>

#include <pthread.h>
#include <stdatomic.h>

enum { SIZE = 8, CHANNELS = 4, VALUES = SIZE * SIZE * CHANNELS };

static struct tdl_context *ctx;

/* A few kernels, two of which are needed twice. */
static struct tdl_graph *build(struct tdl_context *context, const struct tdl_build_params *params,
                               enum tdl_result expected)
{
    struct sketch s = {.rng = {11}};
    struct tdl_graph *g = NULL;
    OK(check_builder(context, &s.b));
    s.x = sketch_input(&s, "x", 1, SIZE, SIZE, CHANNELS);
    O y = sketch_depthwise(&s, sketch_conv3(&s, sketch_conv1(&s, s.x)));
    sketch_output(&s, "y", sketch_conv1(&s, sketch_depthwise(&s, sketch_conv3(&s, y))));
    const enum tdl_result r = tdl_builder_build(s.b, params, &g);
    CHECK(r == expected, "build: %d: %s", (int)r, tdl_last_error());
    CHECK(!g == (expected != TDL_OK), "a graph with result %d", (int)r);
    tdl_builder_destroy(&s.b);
    return g;
}

static struct tdl_tensor *tensor_like(const struct tdl_tensor_params *like, uint32_t usage)
{
    struct tdl_tensor_params params = *like;
    struct tdl_tensor *t;
    params.usage = usage;
    OK(tdl_tensor_create(ctx, &params, &t));
    return t;
}

static enum tdl_result dispatch(struct tdl_graph *g, float out[VALUES])
{
    struct tdl_binding x = {"x", tensor_like(tdl_graph_input(g, 0, NULL), TDL_TENSOR_WRITABLE)};
    struct tdl_binding y = {"y", tensor_like(tdl_graph_output(g, 0, NULL), TDL_TENSOR_READABLE)};
    struct rng rng = {5};
    for (int i = 0; i < VALUES; i++)
        out[i] = rng_float(&rng, -1, 1);
    OK(tdl_tensor_write(x.tensor, out, VALUES * sizeof(float), NULL));
    const enum tdl_result r = tdl_graph_dispatch(g, &x, 1, &y, 1, NULL);
    if (r == TDL_OK)
        OK(tdl_tensor_read(y.tensor, out, VALUES * sizeof(float)));
    tdl_tensor_destroy(&x.tensor);
    tdl_tensor_destroy(&y.tensor);
    return r;
}

static uint64_t pipelines(void)
{
    struct tdl_context_stats stats;
    tdl_context_get_stats(ctx, &stats);
    return stats.pipelines;
}

/* ---------------------------------------------------------------- progress */

struct heard {
    uint32_t calls, total;
    uint32_t stop_at;  /* cancel when so many are done; UINT32_MAX: never */
    bool in_order;     /* 0, 1, 2, … of one total */
    atomic_int inside; /* calls under way */
};

static bool hear(void *data, uint32_t done, uint32_t total)
{
    struct heard *h = data;
    if (atomic_fetch_add(&h->inside, 1) != 0 || done != h->calls || (done && total != h->total))
        h->in_order = false;
    h->calls++;
    h->total = total;
    atomic_fetch_sub(&h->inside, 1);
    return done < h->stop_at;
}

static struct heard listener(uint32_t stop_at)
{
    return (struct heard){.stop_at = stop_at, .in_order = true};
}

static void check_progress(uint32_t threads)
{
    struct heard first = listener(UINT32_MAX), second = listener(UINT32_MAX);
    struct tdl_build_params params = {.compile = {threads, hear, &first}};
    const uint64_t before = pipelines();
    check_begin("progress with %u threads", threads);
    struct tdl_graph *g = build(ctx, &params, TDL_OK);
    CHECK(first.in_order, "out of order, or two at once");
    CHECK(first.total > 2 && first.calls == first.total + 1, "%u calls for %u kernels",
          first.calls, first.total);
    CHECK(pipelines() - before == first.total, "%llu pipelines for %u kernels",
          (unsigned long long)(pipelines() - before), first.total);
    params.compile.progress_data = &second;
    struct tdl_graph *again = build(ctx, &params, TDL_OK);
    CHECK(second.in_order && second.calls == second.total + 1 && second.total == first.total,
          "%u calls for %u kernels that are there", second.calls, second.total);
    CHECK(pipelines() - before == first.total, "kernels were compiled twice");
    tdl_graph_destroy(&g);
    tdl_graph_destroy(&again);
}

/* No kernel is left for the first dispatch: what drivers compile then, too, was
 * dispatched. */
static void check_used(uint32_t threads)
{
    struct tdl_context_stats before, after;
    check_begin("every kernel is dispatched once, %u threads", threads);
    struct heard h = listener(UINT32_MAX);
    tdl_context_get_stats(ctx, &before);
    struct tdl_graph *g =
        build(ctx, &(struct tdl_build_params){.compile = {threads, hear, &h}}, TDL_OK);
    tdl_context_get_stats(ctx, &after);
    CHECK(after.dispatches - before.dispatches == h.total, "%llu dispatches for %u kernels",
          (unsigned long long)(after.dispatches - before.dispatches), h.total);
    tdl_graph_destroy(&g);
}

/* --------------------------------------------------------------- cancelling */

static void check_cancelled(uint32_t threads, uint32_t stop_at)
{
    struct heard h = listener(stop_at), rest = listener(UINT32_MAX);
    const struct tdl_compile_params stop = {threads, hear, &h}, go_on = {threads, hear, &rest};
    const uint64_t before = pipelines();
    float values[VALUES];
    check_begin("cancelled after %u kernels, %u threads", stop_at, threads);
    struct tdl_graph *g = build(ctx, &(struct tdl_build_params){.defer_compile = true}, TDL_OK);
    CHECK(pipelines() == before, "a deferred compilation has begun");
    FAILS(dispatch(g, values), TDL_ERROR_INVALID_STATE, "not compiled");
    FAILS(tdl_graph_compile(g, &stop), TDL_ERROR_CANCELED, "cancelled after");
    CHECK(h.in_order && h.calls == stop_at + 1, "%u calls", h.calls);
    const uint64_t made = pipelines() - before;
    CHECK(made >= stop_at && made < stop_at + (stop_at ? threads : 1), "%llu were compiled",
          (unsigned long long)made);
    FAILS(dispatch(g, values), TDL_ERROR_INVALID_STATE, "not compiled");
    OK(tdl_graph_compile(g, &go_on));
    CHECK(rest.calls == rest.total + 1 && rest.total == h.total, "%u calls for %u kernels",
          rest.calls, rest.total);
    CHECK(pipelines() - before == h.total, "kernels were compiled twice");
    OK(tdl_graph_compile(g, &stop)); /* nothing to do, so nothing to hear */
    CHECK(h.calls == stop_at + 1, "a compiled graph was compiled again");
    OK(dispatch(g, values));
    CHECK(pipelines() - before == h.total, "the first dispatch made pipelines");
    tdl_graph_destroy(&g);
}

static void check_cancelled_build(void)
{
    struct heard h = listener(1);
    check_begin("cancelled in tdl_builder_build");
    build(ctx, &(struct tdl_build_params){.compile = {1, hear, &h}}, TDL_ERROR_CANCELED);
    CHECK(h.calls == 2, "%u calls", h.calls);
}

static void check_cancelled_frames(void)
{
    struct tdl_composer *composer;
    struct tdl_frame frame = {0};
    struct tdl_buffer *buffer;
    struct tdl_tensor *tensor;
    struct heard h = listener(0), all = listener(UINT32_MAX);
    const struct tdl_compile_params stop = {1, hear, &h}, go_on = {1, hear, &all};
    const struct tdl_compose_params params = {.mode = TDL_MODE_OVERLAY};
    const struct tdl_tensor_params shape = {.rank = 4, .shape = {1, 8, 8, 3}};
    const size_t size = tdl_frame_layout(&frame, TDL_FORMAT_RGBA, 16, 16, 64);
    check_begin("kernels of frames");
    OK(tdl_buffer_create(ctx, size, TDL_BUFFER_DEVICE, &buffer));
    frame.planes[0].buffer = buffer;
    OK(tdl_composer_create(ctx, &composer));
    OK(tdl_tensor_create(ctx, &shape, &tensor));
    const uint64_t before = pipelines();
    FAILS(tdl_composer_prepare(composer, &frame, &frame, &params, &stop), TDL_ERROR_CANCELED,
          "cancelled");
    FAILS(tdl_frame_to_tensor_prepare(&frame, tensor, &stop), TDL_ERROR_CANCELED, "cancelled");
    CHECK(pipelines() == before && h.calls == 2, "%u calls", h.calls);
    OK(tdl_composer_prepare(composer, &frame, &frame, &params, &go_on));
    CHECK(all.in_order && all.calls == all.total + 1 && pipelines() - before == all.total,
          "%u calls for %u kernels", all.calls, all.total);
    OK(tdl_frame_to_tensor_prepare(&frame, tensor, NULL));
    const uint64_t prepared = pipelines();
    struct tdl_batch *batch;
    OK(tdl_batch_create(ctx, &batch));
    OK(tdl_batch_begin(batch));
    OK(tdl_frame_to_tensor(batch, &frame, tensor, NULL));
    CHECK(pipelines() == prepared, "the first frame compiled");
    tdl_batch_destroy(&batch);
    tdl_tensor_destroy(&tensor);
    tdl_composer_destroy(&composer);
    tdl_buffer_destroy(&buffer);
}

/* ----------------------------------------------------------------- results */

static void *compile_graph(void *data)
{
    return tdl_graph_compile(data, NULL) == TDL_OK ? data : NULL;
}

static void check_results(void)
{
    float one[VALUES], many[VALUES], later[VALUES];
    pthread_t thread;
    void *other;
    check_begin("one thread and eight, at once and later");
    struct tdl_graph *g = build(ctx, &(struct tdl_build_params){.compile = {.threads = 1}}, TDL_OK);
    OK(dispatch(g, one));
    tdl_graph_destroy(&g);
    check_context_close(ctx);
    ctx = check_context_open();
    g = build(ctx, &(struct tdl_build_params){.compile = {.threads = 8}}, TDL_OK);
    OK(dispatch(g, many));
    tdl_graph_destroy(&g);
    check_context_close(ctx);
    ctx = check_context_open();
    g = build(ctx, &(struct tdl_build_params){.defer_compile = true}, TDL_OK);
    REQUIRE(!pthread_create(&thread, NULL, compile_graph, g), "no thread");
    OK(tdl_graph_compile(g, NULL));
    pthread_join(thread, &other);
    CHECK(other == g, "the other thread failed");
    OK(dispatch(g, later));
    tdl_graph_destroy(&g);
    CHECK(!memcmp(one, many, sizeof(one)), "eight threads have another result");
    CHECK(!memcmp(one, later, sizeof(one)), "compiled later it has another result");
}

/* Software devices have one thread that compiles: further ones are made, and the
 * kernels come from them. The linker counts. */
static atomic_uint devices;
VkResult __real_vkCreateDevice(VkPhysicalDevice physical, const VkDeviceCreateInfo *info,
                               const VkAllocationCallbacks *allocator, VkDevice *out_device);
VkResult __wrap_vkCreateDevice(VkPhysicalDevice physical, const VkDeviceCreateInfo *info,
                               const VkAllocationCallbacks *allocator, VkDevice *out_device);
VkResult __wrap_vkCreateDevice(VkPhysicalDevice physical, const VkDeviceCreateInfo *info,
                               const VkAllocationCallbacks *allocator, VkDevice *out_device)
{
    atomic_fetch_add(&devices, 1);
    return __real_vkCreateDevice(physical, info, allocator, out_device);
}

static void check_apart(void)
{
    const bool software = tdl_context_device(ctx)->type == TDL_DEVICE_SOFTWARE;
    const unsigned before = atomic_load(&devices);
    check_progress(3);
    const unsigned made = atomic_load(&devices) - before;
    CHECK(made == (software ? 2 * 2 : 0), "3 threads made %u devices for 2 graphs", made);
}

/* Each with a context that has no kernel yet. */
static void fresh(void (*check)(void))
{
    ctx = check_context_open();
    check();
    check_context_close(ctx);
}

static void check_progress_1(void) { check_progress(1); }
static void check_progress_8(void) { check_progress(8); }
static void check_used_1(void) { check_used(1); }
static void check_used_3(void) { check_used(3); }
static void check_cancelled_0(void) { check_cancelled(1, 0); }
static void check_cancelled_1(void) { check_cancelled(1, 1); }
static void check_cancelled_2(void) { check_cancelled(8, 2); }

int main(void)
{
    /* Keeps the layers loaded: ThreadSanitizer does not like them to come again. */
    struct tdl_context *first = check_context_open();
    fresh(check_progress_1);
    fresh(check_progress_8);
    fresh(check_used_1);
    fresh(check_cancelled_0);
    fresh(check_cancelled_1);
    fresh(check_cancelled_2);
    fresh(check_cancelled_build);
    fresh(check_cancelled_frames);
    fresh(check_results);
    tdl_compile_cold_ms = 0; /* as if no kernel were in a cache */
    fresh(check_apart);
    fresh(check_used_3);
    fresh(check_cancelled_2);
    fresh(check_results);
    check_context_close(first);
    return check_result();
}
