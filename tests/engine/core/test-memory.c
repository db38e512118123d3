/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Memory that a context holds is bounded, however many graphs come and go and however much work is
 * queued. Bytes are counted, not timed.
 */
#include "check.h"

#include <core/device.h>
#include <tdl/frame.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHANNELS = 4, SIDE = 6, ELEMENTS = CHANNELS * SIDE * SIDE };

static struct tdl_context *ctx;

static struct tdl_context_stats stats_now(void)
{
    struct tdl_context_stats stats;
    tdl_context_get_stats(ctx, &stats);
    return stats;
}

static struct tdl_tensor_params picture(uint32_t side)
{
    return (struct tdl_tensor_params){.rank = 4,
                                      .shape = {1, side, side, CHANNELS},
                                      .usage = TDL_TENSOR_READABLE | TDL_TENSOR_WRITABLE};
}

/* Kernels of its own for each side: they are compiled for sizes. */
static struct tdl_graph *pool_of(uint32_t side)
{
    const struct tdl_tensor_params p = picture(side);
    struct tdl_builder *b;
    struct tdl_graph *g;
    OK(check_builder(ctx, &b));
    struct tdl_operand *x = tdl_builder_input(b, "x", &p);
    OK(tdl_builder_output(
        b, "y",
        tdl_builder_max_pool2d(
            b, x, &(struct tdl_pool2d_params){.window = {2, 2}, .pad = {0, 1, 0, 1}})));
    OK(tdl_builder_build(b, NULL, &g));
    tdl_builder_destroy(&b);
    return g;
}

struct run {
    struct tdl_graph *graph;
    struct tdl_tensor *x, *y;
    float in[ELEMENTS], out[ELEMENTS];
};

static void run_open(struct run *r)
{
    const struct tdl_tensor_params p = picture(SIDE);
    r->graph = pool_of(SIDE);
    OK(tdl_tensor_create(ctx, &p, &r->x));
    OK(tdl_tensor_create(ctx, &p, &r->y));
    for (int i = 0; i < ELEMENTS; i++)
        r->in[i] = (float)(i * 37 % 101);
}

static enum tdl_result run_dispatch(struct run *r)
{
    return tdl_graph_dispatch(r->graph, &(struct tdl_binding){"x", r->x}, 1,
                              &(struct tdl_binding){"y", r->y}, 1, NULL);
}

static void run_check(struct run *r)
{
    OK(tdl_tensor_write(r->x, r->in, sizeof(r->in), NULL));
    OK(run_dispatch(r));
    OK(tdl_tensor_read(r->y, r->out, sizeof(r->out)));
    for (int i = 0; i < ELEMENTS; i++) {
        const int x = i / CHANNELS % SIDE, y = i / CHANNELS / SIDE;
        float want = r->in[i];
        for (int at = 1; at < 4; at++)
            if (x + at % 2 < SIDE && y + at / 2 < SIDE)
                want = TDL_MAX(want, r->in[i + (at % 2 + at / 2 * SIDE) * CHANNELS]);
        if (!CHECK(r->out[i] == want, "%d is %g, not %g", i, (double)r->out[i], (double)want))
            return;
    }
}

static void run_close(struct run *r)
{
    tdl_tensor_destroy(&r->x);
    tdl_tensor_destroy(&r->y);
    tdl_graph_destroy(&r->graph);
}

/* Graphs of many sizes leave a bounded number of pipelines, and none that somebody
 * else runs goes. */
static void test_pipelines(void)
{
    enum { GRAPHS = 30, KEPT = 64 };
    struct run r;
    check_begin("pipelines");
    run_open(&r);
    run_check(&r);
    const struct tdl_context_stats before = stats_now();
    for (uint32_t i = 0; i < GRAPHS; i++) {
        struct tdl_graph *g = pool_of(SIDE + 1 + i), *same = pool_of(SIDE + 1 + i);
        tdl_graph_destroy(&g);
        tdl_graph_destroy(&same);
    }
    struct tdl_context_stats after = stats_now();
    const uint64_t made = after.pipelines - before.pipelines;
    CHECK(made > KEPT, "%llu pipelines: too few for the test", (unsigned long long)made);
    CHECK(after.pipelines_held <= before.pipelines_held + KEPT, "%llu pipelines are held",
          (unsigned long long)after.pipelines_held);
    struct tdl_graph *last = pool_of(SIDE + GRAPHS);
    CHECK(stats_now().pipelines == after.pipelines, "what went last was made again");
    run_check(&r);
    CHECK(stats_now().pipelines == after.pipelines, "what is in use was made again");
    tdl_graph_destroy(&last);
    run_close(&r);
}

/* ------------------------------------------------------------------- transfers */

/* Reading and writing takes the same memory again and again. */
static void test_staging(void)
{
    struct tdl_context_stats before, after;
    struct run r;
    check_begin("staging");
    run_open(&r);
    run_check(&r);
    before = stats_now();
    CHECK(before.staging_bytes, "nothing is kept");
    for (int i = 0; i < 20; i++) {
        r.in[i] = (float)(200 + i);
        run_check(&r);
    }
    after = stats_now();
    CHECK(after.allocations == before.allocations, "%llu allocations in 20 rounds",
          (unsigned long long)(after.allocations - before.allocations));
    run_close(&r);

    /* Large ones are not kept for ever. */
    const struct tdl_tensor_params p = {.rank = 1,
                                        .shape = {9 << 20},
                                        .dtype = TDL_UINT8,
                                        .usage = TDL_TENSOR_READABLE | TDL_TENSOR_WRITABLE};
    struct tdl_tensor *t;
    char *bytes = calloc(1, p.shape[0]);
    REQUIRE(bytes, "out of memory");
    OK(tdl_tensor_create(ctx, &p, &t));
    for (int i = 0; i < 8; i++) {
        OK(tdl_tensor_write(t, bytes, p.shape[0], NULL));
        OK(tdl_tensor_read(t, bytes, p.shape[0]));
    }
    for (int i = 0; i < 8; i++)
        OK(tdl_tensor_write(t, bytes, p.shape[0], NULL));
    CHECK(stats_now().staging_bytes <= 64 << 20, "%llu bytes are kept",
          (unsigned long long)stats_now().staging_bytes);
    tdl_tensor_destroy(&t);
    free(bytes);
}

/* Parts of tensors, at odd offsets, one behind the other in a batch and by themselves. */
static void test_parts(void)
{
    enum { SIZE = 64 };
    const struct tdl_tensor_params p = {.rank = 1,
                                        .shape = {SIZE},
                                        .dtype = TDL_UINT8,
                                        .usage = TDL_TENSOR_READABLE | TDL_TENSOR_WRITABLE};
    const struct tdl_tensor_params closed = {.rank = 1, .shape = {SIZE}, .dtype = TDL_UINT8};
    uint8_t want[SIZE] = {0}, got[SIZE];
    struct tdl_buffer *up, *down;
    struct tdl_tensor *t, *other;
    struct tdl_batch *batch;
    uint64_t point;
    check_begin("parts");
    OK(tdl_tensor_create(ctx, &p, &t));
    OK(tdl_tensor_create(ctx, &closed, &other));
    OK(tdl_buffer_create(ctx, SIZE, TDL_BUFFER_UPLOAD, &up));
    OK(tdl_buffer_create(ctx, SIZE, TDL_BUFFER_READBACK, &down));
    OK(tdl_batch_create(ctx, &batch));
    uint8_t *from = tdl_buffer_data(up), *to = tdl_buffer_data(down);
    for (int i = 0; i < SIZE; i++)
        from[i] = (uint8_t)(100 + i);
    OK(tdl_tensor_write_part(t, 5, "abc", 3, &point));
    memcpy(&want[5], "abc", 3);
    OK(tdl_batch_begin(batch));
    OK(tdl_batch_buffer_to_tensor(batch, up, 3, t, 7, 9));
    memcpy(&want[7], &from[3], 9);
    OK(tdl_batch_tensor_to_buffer(batch, t, 1, down, 2, 60));
    OK(tdl_batch_submit(batch, &point));
    OK(tdl_context_wait(ctx, point, TDL_WAIT_FOREVER));
    CHECK(!memcmp(&to[2], &want[1], 60), "the buffer has other bytes");
    OK(tdl_tensor_read_part(t, 6, got, 11));
    CHECK(!memcmp(got, &want[6], 11), "other bytes were read");
    OK(tdl_tensor_read(t, got, SIZE));
    CHECK(!memcmp(got, want, SIZE), "bytes outside the parts were written");

    FAILS(tdl_tensor_write_part(t, 62, want, 3, NULL), TDL_ERROR_INVALID_ARGUMENT, "it has 64");
    FAILS(tdl_tensor_read_part(t, UINT64_MAX, got, 2), TDL_ERROR_INVALID_ARGUMENT, "it has 64");
    FAILS(tdl_tensor_read_part(t, 0, got, 0), TDL_ERROR_INVALID_ARGUMENT, "one or more");
    FAILS(tdl_tensor_read_part(other, 0, got, 1), TDL_ERROR_INVALID_ARGUMENT, "READABLE");
    OK(tdl_batch_begin(batch));
    FAILS(tdl_batch_buffer_to_tensor(batch, up, 60, t, 0, 5), TDL_ERROR_INVALID_ARGUMENT,
          "the buffer");
    FAILS(tdl_batch_tensor_to_buffer(batch, t, 60, down, 0, 5), TDL_ERROR_INVALID_ARGUMENT,
          "it has 64");
    FAILS(tdl_batch_buffer_to_tensor(batch, up, 0, other, 0, 5), TDL_ERROR_INVALID_ARGUMENT,
          "WRITABLE");
    FAILS(tdl_batch_copy_buffer(batch, up, 0, up, 9, 10), TDL_ERROR_INVALID_ARGUMENT, "overlap");
    FAILS(tdl_batch_copy_buffer(batch, up, 9, up, 0, 10), TDL_ERROR_INVALID_ARGUMENT, "overlap");
    FAILS(tdl_batch_copy_buffer(batch, up, 3, up, 3, 1), TDL_ERROR_INVALID_ARGUMENT, "overlap");
    CHECK(!tdl_buffer_is_local(NULL), "no buffer is near");
    OK(tdl_batch_copy_buffer(batch, up, 0, up, 10, 10));
    OK(tdl_batch_copy_buffer(batch, up, 30, up, 20, 10));
    OK(tdl_batch_submit(batch, &point));
    OK(tdl_context_wait(ctx, point, TDL_WAIT_FOREVER));
    for (int i = 0; i < 10; i++)
        CHECK(from[10 + i] == 100 + i && from[20 + i] == 130 + i, "byte %d beside: %u, %u", i,
              from[10 + i], from[20 + i]);
    OK(tdl_batch_begin(batch));
    tdl_batch_cancel(batch);
    tdl_batch_destroy(&batch);
    tdl_buffer_destroy(&up);
    tdl_buffer_destroy(&down);
    tdl_tensor_destroy(&t);
    tdl_tensor_destroy(&other);
}

static void check_bytes(const char *what, const uint8_t *got, const uint8_t *want, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (got[i] != want[i]) {
            CHECK(false, "%s: byte %zu is %u, not %u", what, i, got[i], want[i]);
            return;
        }
}

/* Mapped memory is as good as coherent, on devices where it is not (CONTRIBUTING.md, "Rules",
 * has how they are pretended): what the caller has written in it is there for the device, beside
 * what the device writes, and a wait for a point shows all up to there. */
static void test_read_back(void)
{
    enum { SIZE = 3001, PARTS = 5 };  /* no multiple of what is flushed at once */
    enum { SCRATCH = 16 << 20 };      /* to copy takes longer than to look at a part */
    static const size_t at[] = {1, 250, 700, 1024, 2990}, bytes[] = {3, 20, 324, 1500, 11};
    uint8_t want[SIZE];
    uint64_t points[PARTS];
    struct tdl_buffer *up, *down, *copy, *scratch;
    struct tdl_batch *batches[PARTS], *batch;
    check_begin("read back");
    OK(tdl_buffer_create(ctx, SIZE, TDL_BUFFER_UPLOAD, &up));
    OK(tdl_buffer_create(ctx, SIZE, TDL_BUFFER_READBACK, &down));
    OK(tdl_buffer_create(ctx, SIZE, TDL_BUFFER_READBACK, &copy));
    OK(tdl_buffer_create(ctx, 2 * SCRATCH, TDL_BUFFER_DEVICE, &scratch));
    uint8_t *from = tdl_buffer_data(up), *to = tdl_buffer_data(down);
    for (int i = 0; i < SIZE; i++) {
        from[i] = (uint8_t)(i % 251);
        to[i] = want[i] = (uint8_t)(255 - i % 7);
    }
    for (int i = 0; i < PARTS; i++) {
        OK(tdl_batch_create(ctx, &batches[i]));
        batch = batches[i];
        OK(tdl_batch_begin(batch));
        OK(tdl_batch_copy_buffer(batch, scratch, 0, scratch, SCRATCH, SCRATCH));
        OK(tdl_batch_copy_buffer(batch, up, at[i], down, at[i], bytes[i]));
        OK(tdl_batch_submit(batch, &points[i]));
    }
    for (int i = 0; i < PARTS; i++) {
        OK(tdl_context_wait(ctx, points[i], TDL_WAIT_FOREVER));
        memcpy(&want[at[i]], &from[at[i]], bytes[i]);
        check_bytes("a part", &to[at[i]], &want[at[i]], bytes[i]);
    }
    check_bytes("all parts", to, want, SIZE);

    to[0] = want[0] = 77;
    to[SIZE - 1] = want[SIZE - 1] = 78;
    OK(tdl_batch_begin(batch));
    OK(tdl_batch_copy_buffer(batch, down, 0, copy, 0, SIZE));
    OK(tdl_batch_submit(batch, NULL));
    OK(tdl_buffer_wait(copy, false));
    check_bytes("a copy", tdl_buffer_data(copy), want, SIZE);
    OK(tdl_batch_begin(batch));
    OK(tdl_batch_copy_buffer(batch, up, 0, down, 0, SIZE));
    OK(tdl_batch_submit(batch, NULL));
    tdl_buffer_destroy(&down); /* while the device writes it */
    OK(tdl_context_wait(ctx, points[0], TDL_WAIT_FOREVER));
    for (int i = 0; i < PARTS; i++)
        tdl_batch_destroy(&batches[i]);
    tdl_buffer_destroy(&up);
    tdl_buffer_destroy(&copy);
    tdl_buffer_destroy(&scratch);
}

/* Tensors on buffers: written and read by tensor and by mapping, one input and one output
 * of a graph without a copy. */
static void test_on_buffers(void)
{
    const struct tdl_tensor_params p = picture(SIDE), half = picture(SIDE - 1);
    const size_t size = ELEMENTS * sizeof(float);
    struct tdl_buffer *in, *out;
    struct tdl_tensor *x, *y, *part;
    struct run r;
    uint64_t point;
    check_begin("tensors on buffers");
    run_open(&r);
    OK(tdl_buffer_create(ctx, size, TDL_BUFFER_UPLOAD, &in));
    OK(tdl_buffer_create(ctx, size + 64, TDL_BUFFER_READBACK, &out));
    memcpy(tdl_buffer_data(in), r.in, size);
    OK(tdl_tensor_create_on(in, &p, &x));
    OK(tdl_tensor_create_on(out, &p, &y));
    OK(tdl_tensor_create_on(out, &half, &part));
    OK(tdl_graph_dispatch(r.graph, &(struct tdl_binding){"x", x}, 1,
                          &(struct tdl_binding){"y", y}, 1, &point));
    tdl_tensor_destroy(&y);
    OK(tdl_context_wait(ctx, point, TDL_WAIT_FOREVER));
    run_check(&r);
    CHECK(!memcmp(tdl_buffer_data(out), r.out, size), "the mapping has another result");
    OK(tdl_tensor_read(part, r.out, tdl_tensor_params_size(&half)));
    CHECK(!memcmp(tdl_buffer_data(out), r.out, tdl_tensor_params_size(&half)), "another tensor");
    tdl_buffer_destroy(&in);
    OK(tdl_tensor_read(x, r.out, size)); /* `x` holds the memory */
    CHECK(!memcmp(r.in, r.out, size), "other bytes");
    tdl_tensor_destroy(&x);
    tdl_tensor_destroy(&part);

    FAILS(tdl_tensor_create_on(out, &(struct tdl_tensor_params){.rank = 1, .shape = {200}}, &x),
          TDL_ERROR_INVALID_ARGUMENT, "on a buffer of");
    FAILS(tdl_tensor_create_on(
              out,
              &(struct tdl_tensor_params){.rank = 1, .shape = {4}, .usage = TDL_TENSOR_EXPORTABLE},
              &x),
          TDL_ERROR_INVALID_ARGUMENT, "rented out");
    tdl_buffer_destroy(&out);
    run_close(&r);
}

/* Neither what lies in front of the caller's memory in its page nor what lies behind is
 * written by a tensor on it. */
static void test_inside_of_page(float *memory)
{
    enum { BEFORE = 256, SIZE = 4096 };
    const struct tdl_tensor_params small = {.rank = 1, .shape = {16}, .usage = TDL_TENSOR_WRITABLE};
    static const float ones[16] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    struct tdl_buffer *b;
    struct tdl_tensor *t;
    uint64_t offset, point;
    const float first = memory[0];
    OK(tdl_buffer_import_host(ctx, memory + BEFORE, SIZE, &b, &offset));
    if (offset) {
        FAILS(tdl_tensor_create_on(b, &small, &t), TDL_ERROR_INVALID_ARGUMENT, "inside of a page");
    } else {
        OK(tdl_tensor_create_on(b, &small, &t));
        OK(tdl_tensor_write(t, ones, sizeof(ones), &point));
        OK(tdl_context_wait(ctx, point, TDL_WAIT_FOREVER));
        CHECK(memory[0] == first && memory[BEFORE] == 1, "another place was written");
        tdl_tensor_destroy(&t);
    }
    tdl_buffer_destroy(&b);
    /* The page is larger than the part that was given. */
    OK(tdl_buffer_import_host(ctx, memory, 256, &b, &offset));
    FAILS(tdl_tensor_create_on(b, &(struct tdl_tensor_params){.rank = 1, .shape = {128}}, &t),
          TDL_ERROR_INVALID_ARGUMENT, "on a buffer of 256");
    tdl_buffer_destroy(&b);
}

/* On the caller's own memory, where the device can have it. */
static void test_on_host_memory(void)
{
    enum { PAGE = 1 << 16, COUNT_OF = 1000 };
    const struct tdl_tensor_params p = {
        .rank = 1, .shape = {COUNT_OF}, .usage = TDL_TENSOR_READABLE | TDL_TENSOR_WRITABLE};
    static float got[COUNT_OF];
    struct tdl_buffer *b;
    struct tdl_tensor *t;
    uint64_t offset, point;
    check_begin("tensors on host memory");
    float *memory = aligned_alloc(PAGE, PAGE);
    REQUIRE(memory, "out of memory");
    for (int i = 0; i < COUNT_OF; i++)
        memory[i] = (float)i;
    const enum tdl_result r = tdl_buffer_import_host(ctx, memory, PAGE, &b, &offset);
    if (r == TDL_ERROR_UNSUPPORTED) {
        printf("not run: %s\n", tdl_last_error());
        free(memory);
        return;
    }
    REQUIRE(r == TDL_OK && !offset, "%s, offset %llu", tdl_last_error(),
            (unsigned long long)offset);
    OK(tdl_tensor_create_on(b, &p, &t));
    OK(tdl_tensor_read(t, got, sizeof(got)));
    CHECK(!memcmp(got, memory, sizeof(got)), "the tensor has other values");
    got[7] = -1;
    OK(tdl_tensor_write(t, got, sizeof(got), &point));
    OK(tdl_context_wait(ctx, point, TDL_WAIT_FOREVER));
    CHECK(memory[7] == -1 && memory[8] == 8, "the memory has other values");
    tdl_tensor_destroy(&t);
    FAILS(tdl_tensor_create_on(
              b, &(struct tdl_tensor_params){.rank = 1, .shape = {PAGE / sizeof(float) + 1}}, &t),
          TDL_ERROR_INVALID_ARGUMENT, "on a buffer of");
    tdl_buffer_destroy(&b);
    test_inside_of_page(memory);
    if (!ctx->on->wants_steps) {
        OK(tdl_buffer_import_host(ctx, memory, sizeof(got), &b, &offset));
        FAILS(tdl_tensor_create_on(b, &p, &t), TDL_ERROR_INVALID_ARGUMENT, "64 bytes more");
        tdl_buffer_destroy(&b);
    }
    OK(tdl_context_sync(ctx));
    free(memory);
}

/* ----------------------------------------------------------------------- queue */

enum { QUEUED = 3 };

static void open_queue(bool busy_when_full)
{
    const struct tdl_context_params params = {.validation = true,
                                              .log = check_log,
                                              .max_queued = QUEUED,
                                              .busy_when_full = busy_when_full};
    OK(tdl_context_create(&params, &ctx));
}

/* No more is in flight than was asked for, and nothing is lost of what waited. */
static void test_queue(void)
{
    struct run r;
    open_queue(false);
    check_begin("queue");
    run_open(&r);
    for (int i = 0; i < 100; i++) {
        OK(run_dispatch(&r));
        /* Read the last point first: the device may pass more meanwhile. */
        const uint64_t last = tdl_context_last_point(ctx), passed = ctx->on->context_passed(ctx);
        CHECK(last <= passed + QUEUED, "%llu are queued", (unsigned long long)(last - passed));
    }
    run_check(&r);
    run_close(&r);
    check_context_close(ctx);
}

static void test_busy(void)
{
    enum tdl_result got = TDL_OK;
    struct run r;
    open_queue(true);
    check_begin("busy");
    run_open(&r);
    OK(tdl_context_sync(ctx));
    for (int i = 0; i < 100000 && got == TDL_OK; i++)
        got = run_dispatch(&r);
    CHECK(got == TDL_ERROR_BUSY && strstr(tdl_last_error(), "max_queued"), "%s: %s",
          tdl_result_string(got), tdl_last_error());
    OK(tdl_context_sync(ctx));
    OK(run_dispatch(&r));
    OK(tdl_context_sync(ctx));
    run_check(&r);
    run_close(&r);
    check_context_close(ctx);
}

/* Whoever logs all hears of what fails, with its reason. */
static char told[4096];

static void note(void *data, enum tdl_log_level level, const char *message)
{
    const size_t used = strlen(told);
    (void)data;
    if (level == TDL_LOG_DEBUG)
        snprintf(told + used, sizeof(told) - used, "%s\n", message);
}

#define TOLD(call, part)                                                                           \
    do {                                                                                           \
        *told = 0;                                                                                 \
        CHECK((call) != TDL_OK && strstr(told, part), #call ": \"%s\"", told);                     \
    } while (0)

/* Messages about contexts, buffers, batches, frames and compositions. */
static void log_of_frames(void)
{
    const struct tdl_frame none = {.format = TDL_FORMAT_COUNT};
    const struct tdl_compose_params params = {.opacity = 1};
    struct tdl_composer *composer;
    struct tdl_tensor *mask;
    struct tdl_buffer *b;
    struct tdl_batch *batch;
    uint64_t offset;
    const struct tdl_tensor_params p = picture(SIDE);
    OK(tdl_tensor_create(ctx, &p, &mask));
    OK(tdl_composer_create(ctx, &composer));
    OK(tdl_batch_create(ctx, &batch));
    TOLD(tdl_context_wait(ctx, UINT64_MAX, 0), "not been submitted");
    TOLD(tdl_buffer_create(ctx, 0, TDL_BUFFER_UPLOAD, &b), "0 bytes");
    TOLD(tdl_buffer_create(ctx, 4, 7, &b), "unknown access");
    TOLD(tdl_buffer_import_host(ctx, NULL, 4, &b, &offset), "no host memory");
    TOLD(tdl_batch_submit(batch, NULL), "not begun");
    OK(tdl_batch_begin(batch));
    TOLD(tdl_batch_begin(batch), "begun already");
    TOLD(tdl_batch_stage(batch, TDL_MAX_STAGES), "no stage");
    TOLD(tdl_frame_to_tensor(batch, &none, mask, NULL), "no format");
    TOLD(tdl_frame_to_tensor_prepare(&none, mask, NULL), "no format");
    TOLD(tdl_frame_from_tensor(batch, mask, &none, NULL), "no format");
    TOLD(tdl_frame_from_tensor_prepare(mask, &none, NULL, NULL), "no format");
    TOLD(tdl_compose(batch, composer, &none, mask, &none, &params), "no format");
    TOLD(tdl_composer_prepare(composer, &none, &none, &params, NULL), "no format");
    tdl_batch_destroy(&batch);
    tdl_composer_destroy(&composer);
    tdl_tensor_destroy(&mask);
}

static void test_log(void)
{
    const struct tdl_context_params params = {.log = note, .log_level = TDL_LOG_DEBUG};
    struct tdl_builder *b;
    struct tdl_graph *g;
    struct run r;
    check_begin("log");
    OK(tdl_context_create(&params, &ctx));
    run_open(&r);
    *told = 0;
    tdl_tensor_read(r.y, r.out, 7);
    CHECK(strstr(told, "read of 7 bytes"), "reading: \"%s\"", told);
    *told = 0;
    tdl_graph_dispatch(r.graph, NULL, 0, NULL, 0, NULL);
    CHECK(strstr(told, "1 inputs and 1 outputs"), "dispatching: \"%s\"", told);
    OK(check_builder(ctx, &b));
    *told = 0;
    tdl_builder_input(b, "", NULL);
    CHECK(strstr(told, "needs a name"), "a builder: \"%s\"", told);
    *told = 0;
    tdl_builder_build(b, NULL, &g);
    CHECK(strstr(told, "needs a name"), "building: \"%s\"", told);
    tdl_builder_destroy(&b);
    log_of_frames();
    run_close(&r);
    check_context_close(ctx);
}

int main(void)
{
    ctx = check_context_open();
    if (ctx->on->wants_steps)
        test_pipelines();
    test_staging();
    test_parts();
    test_read_back();
    test_on_buffers();
    test_on_host_memory();
    check_context_close(ctx);
    test_queue();
    test_busy();
    test_log();
    return check_result();
}
