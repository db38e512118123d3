/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Tensors, dispatches and batches: what is refused and with which text, the
 * order of work that depends on other work, lifetimes in any order, several
 * threads, and a steady state that creates nothing.
 */
#include "subject.h"

#include <tdl/frame.h>

#include <pthread.h>

#define READ TDL_TENSOR_READABLE
#define WRITE TDL_TENSOR_WRITABLE

static struct tdl_context *ctx;

/* ------------------------------------------------------------------ helpers */

enum { H = 5, W = 7, C = 6, ELEMENTS = H * W * C };

static struct tdl_tensor_params image(uint32_t usage)
{
    struct tdl_tensor_params p = subject_image(TDL_LAYOUT_NHWC, 1, H, W, C);
    p.usage = usage;
    return p;
}

static struct tdl_tensor *tensor_of(struct tdl_context *context, uint32_t usage)
{
    struct tdl_tensor_params p = image(usage);
    struct tdl_tensor *t;
    OK(tdl_tensor_create(context, &p, &t));
    return t;
}

/* y = x · factor + summand. */
static struct tdl_graph *line_graph(struct tdl_context *context, float factor, float summand)
{
    struct tdl_tensor_params p = image(0);
    struct tdl_builder *b;
    struct tdl_graph *graph;
    OK(tdl_builder_create(context, &b));
    struct tdl_operand *x = tdl_builder_input(b, "x", &p);
    struct tdl_operand *m = subject_constant(b, 4, (uint32_t[]){1, 1, 1, 1}, &factor);
    struct tdl_operand *s = subject_constant(b, 4, (uint32_t[]){1, 1, 1, 1}, &summand);
    tdl_builder_output(b, "y", tdl_builder_add(b, tdl_builder_mul(b, x, m), s));
    OK(tdl_builder_build(b, &(struct tdl_build_params){.precision = TDL_PRECISION_FP32}, &graph));
    tdl_builder_destroy(&b);
    return graph;
}

static enum tdl_result dispatch(struct tdl_graph *g, struct tdl_tensor *x, struct tdl_tensor *y)
{
    return tdl_graph_dispatch(g, &(struct tdl_binding){"x", x}, 1, &(struct tdl_binding){"y", y}, 1,
                              NULL);
}

static enum tdl_result add_to_batch(struct tdl_batch *b, struct tdl_graph *g, struct tdl_tensor *x,
                                    struct tdl_tensor *y)
{
    return tdl_batch_graph(b, g, &(struct tdl_binding){"x", x}, 1, &(struct tdl_binding){"y", y},
                           1);
}

static void write_all(struct tdl_tensor *t, float value)
{
    float data[ELEMENTS];
    for (int i = 0; i < ELEMENTS; i++)
        data[i] = value;
    OK(tdl_tensor_write(t, data, sizeof(data), NULL));
}

static bool expect_all(struct tdl_tensor *t, float value)
{
    float data[ELEMENTS];
    OK(tdl_tensor_read(t, data, sizeof(data)));
    for (int i = 0; i < ELEMENTS; i++)
        if (data[i] != value)
            return CHECK(false, "element %d is %g instead of %g", i, (double)data[i],
                         (double)value);
    return true;
}

static struct tdl_context_stats stats_of(struct tdl_context *context)
{
    struct tdl_context_stats stats;
    tdl_context_get_stats(context, &stats);
    return stats;
}

/* ------------------------------------------------------------------ tensors */

static void check_round_trip(void)
{
    static const struct tdl_tensor_params all[] = {
        {.dtype = TDL_FLOAT32, .rank = 0},
        {.dtype = TDL_FLOAT16, .rank = 1, .shape = {3}},
        {.dtype = TDL_INT32, .rank = 2, .shape = {5, 7}},
        {.dtype = TDL_UINT32, .rank = 3, .shape = {2, 3, 1}},
        {.dtype = TDL_INT8, .rank = 1, .shape = {1}},
        {.dtype = TDL_UINT8, .rank = 4, .shape = {1, 3, 5, 3}, .layout = TDL_LAYOUT_NCHW},
        {.dtype = TDL_INT64, .rank = 1, .shape = {9}},
        {.dtype = TDL_UINT64, .rank = 4, .shape = {1, 2, 2, 5}, .layout = TDL_LAYOUT_NC4HW4},
    };
    for (size_t i = 0; i < COUNT(all); i++) {
        struct tdl_tensor_params p = all[i];
        struct tdl_tensor *t;
        uint8_t in[512], got[512];
        struct rng rng = {i};
        size_t size = tdl_tensor_params_size(&p);
        check_begin("round trip of %s, rank %u", tdl_dtype_name(p.dtype), p.rank);
        p.usage = READ | WRITE;
        REQUIRE(size && size <= sizeof(in), "%zu bytes", size);
        OK(tdl_tensor_create(ctx, &p, &t));
        OK(tdl_tensor_read(t, got, size));
        memset(in, 0, size);
        CHECK(!memcmp(in, got, size), "a new tensor is not zero");
        for (size_t k = 0; k < size; k++)
            in[k] = (uint8_t)rng_next(&rng);
        OK(tdl_tensor_write(t, in, size, NULL));
        OK(tdl_tensor_read(t, got, size));
        CHECK(!memcmp(in, got, size), "what was read is not what was written");
        CHECK(tdl_tensor_get_params(t)->dtype == p.dtype && tdl_tensor_get_params(t)->label,
              "the params are not kept");
        tdl_tensor_destroy(&t);
    }
    check_begin("sizes");
    const struct tdl_tensor_params packed = {
        .rank = 4, .shape = {2, 3, 5, 6}, .layout = TDL_LAYOUT_NC4HW4};
    CHECK(tdl_tensor_params_size(&packed) == 2 * 2 * 3 * 5 * 4 * 4, "NC4HW4 has %zu bytes",
          tdl_tensor_params_size(&packed));
    CHECK(tdl_dtype_size((enum tdl_dtype)99) == 0 && tdl_dtype_name((enum tdl_dtype)99),
          "a data type 99");
}

static void check_tensor_errors(void)
{
    static const struct {
        const char *name;
        struct tdl_tensor_params p;
        enum tdl_result want;
        const char *says;
    } wrong[] = {
        {"rank 5", {.rank = 5}, TDL_ERROR_INVALID_ARGUMENT, "rank 5"},
        {"no elements", {.rank = 2, .shape = {4, 0}}, TDL_ERROR_INVALID_ARGUMENT, "dimension"},
        {"data type", {.dtype = 99}, TDL_ERROR_INVALID_ARGUMENT, "99"},
        {"layout", {.rank = 4, .shape = {1, 1, 1, 1}, .layout = 9}, TDL_ERROR_INVALID_ARGUMENT,
         "layout"},
        {"packs of rank 3", {.rank = 3, .shape = {4, 4, 4}, .layout = TDL_LAYOUT_NC4HW4},
         TDL_ERROR_INVALID_ARGUMENT, "rank 4"},
        {"2^96 elements", {.rank = 4, .shape = {1u << 24, 1u << 24, 1u << 24, 1u << 24}},
         TDL_ERROR_INVALID_ARGUMENT, "size"},
        {"2^63 bytes", {.rank = 3, .shape = {1u << 31, 1u << 30, 1}}, TDL_ERROR_UNSUPPORTED,
         "bytes"},
        {"exportable", {.rank = 1, .shape = {4}, .usage = TDL_TENSOR_EXPORTABLE},
         TDL_ERROR_UNSUPPORTED, "exportable"},
    };
    struct tdl_context_stats before = stats_of(ctx);
    for (size_t i = 0; i < COUNT(wrong); i++) {
        struct tdl_tensor_params p = wrong[i].p;
        struct tdl_tensor *t = (struct tdl_tensor *)&p;
        check_begin("tensor: %s", wrong[i].name);
        p.label = "my tensor";
        FAILS(tdl_tensor_create(ctx, &p, &t), wrong[i].want, wrong[i].says);
        CHECK(strstr(tdl_last_error(), "my tensor"), "\"%s\" does not name the tensor",
              tdl_last_error());
        CHECK(!t, "a tensor in spite of the error");
    }
    CHECK(stats_of(ctx).memory_bytes == before.memory_bytes, "memory was left");

    check_begin("tensor: access");
    float data[ELEMENTS + 1] = {0};
    struct tdl_tensor *none = tensor_of(ctx, 0), *reader = tensor_of(ctx, READ);
    struct tdl_tensor *writer = tensor_of(ctx, WRITE);
    FAILS(tdl_tensor_write(none, data, ELEMENTS * 4, NULL), TDL_ERROR_INVALID_ARGUMENT, "WRITABLE");
    FAILS(tdl_tensor_write(reader, data, ELEMENTS * 4, NULL), TDL_ERROR_INVALID_ARGUMENT,
          "WRITABLE");
    FAILS(tdl_tensor_read(none, data, ELEMENTS * 4), TDL_ERROR_INVALID_ARGUMENT, "READABLE");
    FAILS(tdl_tensor_read(writer, data, ELEMENTS * 4), TDL_ERROR_INVALID_ARGUMENT, "READABLE");
    FAILS(tdl_tensor_read(reader, data, sizeof(data)), TDL_ERROR_INVALID_ARGUMENT,
          "float32[1,5,7,6]");
    FAILS(tdl_tensor_write(writer, data, ELEMENTS * 4 - 1, NULL), TDL_ERROR_INVALID_ARGUMENT,
          "839 bytes");
    FAILS(tdl_tensor_write(writer, data, 0, NULL), TDL_ERROR_INVALID_ARGUMENT, "840");
    tdl_tensor_destroy(&none);
    tdl_tensor_destroy(&reader);
    tdl_tensor_destroy(&writer);
    tdl_tensor_destroy(&writer);
}

static void check_reshape(void)
{
    struct tdl_tensor *t = tensor_of(ctx, READ | WRITE), *view, *again, *none;
    struct tdl_tensor_params p = image(READ);
    float data[ELEMENTS], got[ELEMENTS];
    check_begin("reshape");
    for (int i = 0; i < ELEMENTS; i++)
        data[i] = (float)i;
    OK(tdl_tensor_reshape(t, 2, (uint32_t[]){H * W, C}, &view));
    OK(tdl_tensor_reshape(view, 1, (uint32_t[]){ELEMENTS}, &again));
    CHECK(tdl_tensor_get_params(view)->rank == 2 && tdl_tensor_get_params(view)->shape[1] == C,
          "the view has another shape");
    OK(tdl_tensor_write(again, data, sizeof(data), NULL));
    tdl_tensor_destroy(&again);
    tdl_tensor_destroy(&t);
    OK(tdl_tensor_read(view, got, sizeof(got)));
    CHECK(!memcmp(data, got, sizeof(got)), "the views do not share their memory");
    FAILS(tdl_tensor_reshape(view, 2, (uint32_t[]){H, W}, &none), TDL_ERROR_INVALID_ARGUMENT,
          "float32[35,6] cannot be reshaped to float32[5,7]");
    CHECK(!none, "a view in spite of the error");
    FAILS(tdl_tensor_reshape(view, 5, (uint32_t[]){1, 1, 1, 1, 1}, &none),
          TDL_ERROR_INVALID_ARGUMENT, "rank 5");
    FAILS(tdl_tensor_reshape(view, 1, (uint32_t[]){0}, &none), TDL_ERROR_INVALID_ARGUMENT,
          "reshaped");
    tdl_tensor_destroy(&view);
    p.layout = TDL_LAYOUT_NC4HW4;
    OK(tdl_tensor_create(ctx, &p, &t));
    FAILS(tdl_tensor_reshape(t, 1, (uint32_t[]){ELEMENTS}, &none), TDL_ERROR_INVALID_ARGUMENT,
          "NC4HW4");
    tdl_tensor_destroy(&t);
}

/* ----------------------------------------------------------------- bindings */

static void check_bindings(void)
{
    struct tdl_context *other = check_context_open();
    struct tdl_graph *g = line_graph(ctx, 1, 1);
    struct tdl_tensor *x = tensor_of(ctx, READ | WRITE), *y = tensor_of(ctx, READ), *view;
    struct tdl_tensor *foreign = tensor_of(other, READ), *wrong[4];
    struct tdl_tensor_params p = image(0);
    struct tdl_binding in = {"x", x}, out = {"y", y};
    const char *name;
    check_begin("bindings");
    CHECK(tdl_graph_input(g, 0, &name) && !strcmp(name, "x") && !tdl_graph_input(g, 1, NULL),
          "the inputs are wrong");
    CHECK(tdl_graph_output(g, 0, &name) && !strcmp(name, "y") && !tdl_graph_output(g, 1, NULL),
          "the outputs are wrong");
    p.shape[1]++;
    OK(tdl_tensor_create(ctx, &p, &wrong[0]));
    p = image(0);
    p.dtype = TDL_FLOAT16;
    OK(tdl_tensor_create(ctx, &p, &wrong[1]));
    p = image(0);
    p.layout = TDL_LAYOUT_NCHW;
    OK(tdl_tensor_create(ctx, &p, &wrong[2]));
    OK(tdl_tensor_reshape(x, 2, (uint32_t[]){H * W, C}, &wrong[3]));
    static const char *const says[] = {"float32[1,6,7,6]", "float16[1,5,7,6]", "layout",
                                       "float32[35,6]"};
    for (size_t i = 0; i < COUNT(wrong); i++) {
        FAILS(dispatch(g, wrong[i], y), TDL_ERROR_INVALID_ARGUMENT, says[i]);
        CHECK(strstr(tdl_last_error(), "\"x\"") && strstr(tdl_last_error(), "float32[1,5,7,6]"),
              "\"%s\"", tdl_last_error());
        FAILS(dispatch(g, x, wrong[i]), TDL_ERROR_INVALID_ARGUMENT, "\"y\"");
        tdl_tensor_destroy(&wrong[i]);
    }
    FAILS(dispatch(g, NULL, y), TDL_ERROR_INVALID_ARGUMENT, "\"x\" has no tensor");
    FAILS(dispatch(g, foreign, y), TDL_ERROR_INVALID_ARGUMENT, "another context");
    FAILS(dispatch(g, x, foreign), TDL_ERROR_INVALID_ARGUMENT, "another context");
    FAILS(dispatch(g, x, x), TDL_ERROR_INVALID_ARGUMENT, "shares");
    OK(tdl_tensor_reshape(x, 4, (uint32_t[]){1, H, W, C}, &view));
    FAILS(dispatch(g, x, view), TDL_ERROR_INVALID_ARGUMENT, "shares");
    FAILS(tdl_graph_dispatch(g, NULL, 0, &out, 1, NULL), TDL_ERROR_INVALID_ARGUMENT, "1 inputs");
    FAILS(tdl_graph_dispatch(g, &in, 1, NULL, 0, NULL), TDL_ERROR_INVALID_ARGUMENT, "1 outputs");
    in.name = "z";
    FAILS(tdl_graph_dispatch(g, &in, 1, &out, 1, NULL), TDL_ERROR_INVALID_ARGUMENT, "\"x\"");
    in.name = NULL;
    FAILS(tdl_graph_dispatch(g, &in, 1, &out, 1, NULL), TDL_ERROR_INVALID_ARGUMENT, "\"x\"");
    /* After all that, it works. */
    write_all(x, 4);
    OK(dispatch(g, view, y));
    expect_all(y, 5);
    tdl_tensor_destroy(&view);
    tdl_tensor_destroy(&x);
    tdl_tensor_destroy(&y);
    tdl_tensor_destroy(&foreign);
    tdl_graph_destroy(&g);
    tdl_graph_destroy(&g);
    check_context_close(other);
}

/* Filters are not computed, and outputs are needed. */
static void check_build_errors(void)
{
    struct tdl_tensor_params p = image(0), f = subject_image(TDL_LAYOUT_NHWC, 4, 1, 1, C);
    struct tdl_builder *b;
    struct tdl_graph *g;
    check_begin("build");
    OK(tdl_builder_create(ctx, &b));
    struct tdl_operand *x = tdl_builder_input(b, "x", &p);
    FAILS(tdl_builder_build(b, NULL, &g), TDL_ERROR_INVALID_STATE, "no output");
    tdl_builder_output(b, "y", tdl_builder_conv2d(b, x, tdl_builder_input(b, "f", &f), NULL));
    FAILS(tdl_builder_build(b, NULL, &g), TDL_ERROR_UNSUPPORTED, "constants");
    CHECK(!g, "a graph in spite of the error");
    tdl_builder_destroy(&b);
}

/* -------------------------------------------------------------------- order */

static void check_chains(void)
{
    struct tdl_graph *g = line_graph(ctx, 1, 1);
    struct tdl_tensor *x = tensor_of(ctx, READ | WRITE), *y = tensor_of(ctx, READ | WRITE);
    check_begin("1000 dispatches, each on what the last one made");
    write_all(x, 0);
    for (int i = 0; i < 500; i++) {
        OK(dispatch(g, x, y));
        OK(dispatch(g, y, x));
    }
    expect_all(x, 1000);
    check_begin("writes before and behind reads");
    for (int i = 0; i < 1000; i++) {
        write_all(x, (float)i);
        OK(dispatch(g, x, y));
        write_all(x, -1); /* must not overtake the read */
        if (i % 50 == 49 && !expect_all(y, (float)i + 1))
            break;
    }
    expect_all(x, -1);
    check_begin("two writes of one tensor");
    for (int i = 0; i < 200; i++) {
        write_all(x, (float)i);
        write_all(y, 0);
        OK(dispatch(g, x, y));
        write_all(y, (float)-i);
        if (i % 50 == 49)
            expect_all(y, (float)-i);
    }
    tdl_tensor_destroy(&x);
    tdl_tensor_destroy(&y);
    tdl_graph_destroy(&g);
}

/* Two graphs that share nothing, and a third that needs both. */
static void check_mixed_chains(void)
{
    struct tdl_graph *one = line_graph(ctx, 1, 1), *two = line_graph(ctx, 2, 0);
    struct tdl_tensor *t[6];
    float want[6];
    struct rng rng = {7};
    check_begin("random chains over six tensors, seed 7");
    for (size_t i = 0; i < COUNT(t); i++) {
        t[i] = tensor_of(ctx, READ | WRITE);
        write_all(t[i], want[i] = (float)i);
    }
    for (int i = 0; i < 1000; i++) {
        uint32_t from = rng_below(&rng, 6), to = (from + 1 + rng_below(&rng, 5)) % 6;
        bool twice = want[from] < 1000 && rng_one_in(&rng, 2);
        OK(dispatch(twice ? two : one, t[from], t[to]));
        want[to] = twice ? 2 * want[from] : want[from] + 1;
        if (rng_one_in(&rng, 8))
            write_all(t[from], want[from] = (float)rng_below(&rng, 10));
        if (rng_one_in(&rng, 40) && !expect_all(t[to], want[to]))
            break;
    }
    for (size_t i = 0; i < COUNT(t); i++) {
        expect_all(t[i], want[i]);
        tdl_tensor_destroy(&t[i]);
    }
    tdl_graph_destroy(&one);
    tdl_graph_destroy(&two);
}

/* Copies between buffers, in batches of random length: no arena whose hazards
 * would order them anyhow. Every order that matters comes up, within batches
 * and between them. */
static void check_copies(uint64_t seed)
{
    enum { BUFFERS = 5, SIZE = 4096 };
    struct tdl_tensor *t[BUFFERS];
    float want[BUFFERS], data[SIZE / 4];
    const struct tdl_tensor_params p = {
        .rank = 1, .shape = {SIZE / 4}, .usage = READ | WRITE};
    struct rng rng = {seed};
    check_begin("random copies, seed %llu", (unsigned long long)seed);
    for (int i = 0; i < BUFFERS; i++) {
        want[i] = (float)i + 1;
        for (int k = 0; k < SIZE / 4; k++)
            data[k] = want[i];
        OK(tdl_tensor_create(ctx, &p, &t[i]));
        OK(tdl_tensor_write(t[i], data, SIZE, NULL));
    }
    for (int i = 0; i < 100; i++) {
        struct tdl_batch *batch;
        OK(tdl_batch_borrow(ctx, &batch));
        for (uint32_t n = 1 + rng_below(&rng, 5); n; n--) {
            uint32_t from = rng_below(&rng, BUFFERS), to = (from + 1 + rng_below(&rng, 4)) % BUFFERS;
            if (rng_one_in(&rng, 6)) {
                OK(tdl_batch_fill_zero(batch, t[to]->buffer));
                want[to] = 0;
            } else {
                OK(tdl_batch_copy(batch, t[from]->buffer, 0, t[to]->buffer, 0, SIZE));
                want[to] = want[from];
            }
        }
        OK(tdl_batch_submit(batch, NULL));
        tdl_batch_give_back(&batch);
        if (i % 10 == 9) /* something new to move round */
            OK(tdl_tensor_write(t[i % BUFFERS], data, SIZE, NULL));
        if (i % 10 == 9)
            want[i % BUFFERS] = data[0];
    }
    for (int i = 0; i < BUFFERS; i++) {
        OK(tdl_tensor_read(t[i], data, SIZE));
        for (int k = 0; k < SIZE / 4; k++)
            if (!CHECK(data[k] == want[i], "buffer %d, element %d is %g instead of %g", i, k,
                       (double)data[k], (double)want[i]))
                break;
        tdl_tensor_destroy(&t[i]);
    }
}

static void submit_copy(struct tdl_tensor *from, struct tdl_tensor *to)
{
    struct tdl_batch *batch;
    OK(tdl_batch_borrow(ctx, &batch));
    OK(tdl_batch_copy(batch, from->buffer, 0, to->buffer, 0, ELEMENTS * 4));
    OK(tdl_batch_submit(batch, NULL));
    tdl_batch_give_back(&batch);
}

/* A barrier stands between two submissions if one needs the other, else not. */
static void check_barriers(void)
{
    static const struct {
        const char *name;
        int from[2], to[2];
        bool barrier;
    } pairs[] = {
        {"two that share nothing", {0, 2}, {1, 3}, false},
        {"two readers", {0, 0}, {1, 2}, false},
        {"a reader of what was written", {0, 1}, {1, 2}, true},
        {"a writer of what was read", {0, 2}, {1, 0}, true},
        {"two writers", {0, 2}, {1, 1}, true},
    };
    for (size_t i = 0; i < COUNT(pairs); i++) {
        struct tdl_tensor *t[6];
        check_begin("barriers: %s", pairs[i].name);
        for (size_t k = 0; k < COUNT(t); k++)
            t[k] = tensor_of(ctx, READ | WRITE);
        /* Their making is behind a barrier, which these two need. */
        submit_copy(t[4], t[5]);
        submit_copy(t[5], t[4]);
        submit_copy(t[pairs[i].from[0]], t[pairs[i].to[0]]);
        uint64_t before = ctx->barrier_point;
        submit_copy(t[pairs[i].from[1]], t[pairs[i].to[1]]);
        CHECK((ctx->barrier_point != before) == pairs[i].barrier, "%s barrier",
              pairs[i].barrier ? "no" : "a needless");
        for (size_t k = 0; k < COUNT(t); k++)
            tdl_tensor_destroy(&t[k]);
    }
}

/* ------------------------------------------------------------------ batches */

static void check_batches(void)
{
    struct tdl_graph *g = line_graph(ctx, 1, 1);
    struct tdl_tensor *x = tensor_of(ctx, READ | WRITE), *y = tensor_of(ctx, READ | WRITE);
    struct tdl_batch *b;
    uint64_t times[TDL_STAGE_COUNT], point, before;
    OK(tdl_batch_create(ctx, &b));
    check_begin("batch: the wrong moment");
    FAILS(tdl_batch_submit(b, NULL), TDL_ERROR_INVALID_STATE, "begin");
    FAILS(add_to_batch(b, g, x, y), TDL_ERROR_INVALID_STATE, "begin");
    FAILS(tdl_batch_stage(b, TDL_STAGE_NETWORK), TDL_ERROR_INVALID_STATE, "begin");
    CHECK(!tdl_batch_stage_times(b, times), "times of nothing");
    tdl_batch_cancel(b);
    OK(tdl_batch_begin(b));
    FAILS(tdl_batch_begin(b), TDL_ERROR_INVALID_STATE, "begun already");

    check_begin("batch: a chain in each of 100");
    write_all(x, 0);
    for (int i = 0; i < 100; i++) {
        if (i)
            OK(tdl_batch_begin(b));
        for (int k = 0; k < 3; k++) {
            OK(add_to_batch(b, g, x, y));
            OK(add_to_batch(b, g, y, x));
        }
        OK(tdl_batch_submit(b, &point));
    }
    CHECK(tdl_context_last_point(ctx) == point, "the point is not the batch's");
    expect_all(x, 600);

    check_begin("batch: cancelled");
    write_all(y, 7);
    before = tdl_context_last_point(ctx);
    OK(tdl_batch_begin(b));
    OK(add_to_batch(b, g, x, y));
    tdl_batch_cancel(b);
    CHECK(tdl_context_last_point(ctx) == before, "something was submitted");
    expect_all(y, 7);
    FAILS(tdl_batch_submit(b, NULL), TDL_ERROR_INVALID_STATE, "begin");

    check_begin("batch: an error in the middle");
    OK(tdl_batch_begin(b));
    OK(add_to_batch(b, g, x, y));
    FAILS(add_to_batch(b, g, x, x), TDL_ERROR_INVALID_ARGUMENT, "shares");
    OK(tdl_batch_submit(b, NULL));
    expect_all(y, 601);

    check_begin("batch: nothing in it");
    OK(tdl_batch_begin(b));
    OK(tdl_batch_submit(b, &point));
    OK(tdl_context_wait(ctx, point, TDL_WAIT_FOREVER));

    check_begin("batch: filled up");
    write_all(x, 0);
    enum tdl_result r = TDL_OK;
    int added = 0;
    OK(tdl_batch_begin(b));
    for (; added < 10000 && r == TDL_OK; added += r == TDL_OK)
        r = added % 2 ? add_to_batch(b, g, y, x) : add_to_batch(b, g, x, y);
    CHECK(r == TDL_ERROR_UNSUPPORTED && added >= 7 && strstr(tdl_last_error(), "full"),
          "after %d: %s: %s", added, tdl_result_string(r), tdl_last_error());
    OK(tdl_batch_submit(b, NULL));
    expect_all(added % 2 ? y : x, (float)added);
    tdl_batch_destroy(&b);
    tdl_batch_destroy(&b);
    tdl_tensor_destroy(&x);
    tdl_tensor_destroy(&y);
    tdl_graph_destroy(&g);
}

/* What a batch was given may go before the batch is submitted, or given up. */
static void check_early_destruction(void)
{
    struct tdl_tensor *result = tensor_of(ctx, READ | WRITE);
    struct tdl_batch *b;
    OK(tdl_batch_create(ctx, &b));
    for (int i = 0; i < 8; i++) {
        struct tdl_graph *g = line_graph(ctx, 1, (float)i);
        struct tdl_tensor *x = tensor_of(ctx, READ | WRITE), *y = tensor_of(ctx, READ | WRITE);
        check_begin("batch: its tensors%s destroyed before it is %s", i & 2 ? " and graph" : "",
                    i & 1 ? "cancelled" : "submitted");
        write_all(x, 5);
        OK(tdl_context_sync(ctx));
        OK(tdl_batch_begin(b));
        OK(add_to_batch(b, g, x, y));
        OK(add_to_batch(b, g, y, result));
        tdl_tensor_destroy(&x);
        tdl_tensor_destroy(&y);
        if (i & 2)
            tdl_graph_destroy(&g);
        OK(tdl_context_sync(ctx));
        if (i & 1) {
            tdl_batch_cancel(b);
        } else {
            OK(tdl_batch_submit(b, NULL));
            expect_all(result, 5 + 2 * (float)i);
        }
        tdl_graph_destroy(&g);
    }
    tdl_batch_destroy(&b);
    tdl_tensor_destroy(&result);
}

static void check_stages(void)
{
    struct tdl_graph *g = line_graph(ctx, 1, 1);
    struct tdl_tensor *x = tensor_of(ctx, READ | WRITE), *y = tensor_of(ctx, READ);
    struct tdl_batch *b;
    uint64_t times[TDL_STAGE_COUNT], point;
    check_begin("stages");
    OK(tdl_batch_create(ctx, &b));
    OK(tdl_batch_begin(b));
    OK(tdl_batch_stage(b, TDL_STAGE_NETWORK));
    OK(add_to_batch(b, g, x, y));
    CHECK(!tdl_batch_stage_times(b, times), "times before the work was submitted");
    OK(tdl_batch_submit(b, &point));
    OK(tdl_context_wait(ctx, point, TDL_WAIT_FOREVER));
    if (tdl_context_device(ctx)->timestamps) {
        CHECK(tdl_batch_stage_times(b, times), "no times");
        CHECK(times[TDL_STAGE_NETWORK] && !times[TDL_STAGE_PREPROCESS] && !times[TDL_STAGE_COMPOSE],
              "the times are %llu, %llu, %llu ns", (unsigned long long)times[0],
              (unsigned long long)times[1], (unsigned long long)times[2]);
    } else {
        CHECK(!tdl_batch_stage_times(b, times), "times from a device without");
    }
    tdl_batch_destroy(&b);

    check_begin("profile");
    enum tdl_result r = tdl_graph_profile(g, &(struct tdl_binding){"x", x}, 1,
                                          &(struct tdl_binding){"y", y}, 1);
    CHECK(r == (tdl_context_device(ctx)->timestamps ? TDL_OK : TDL_ERROR_UNSUPPORTED), "%s",
          tdl_last_error());
    uint64_t sum = 0;
    uint32_t steps = 0;
    for (const struct tdl_graph_step *s; (s = tdl_graph_get_step(g, steps)); steps++)
        sum += s->gpu_ns;
    struct tdl_graph_stats stats;
    tdl_graph_get_stats(g, &stats);
    CHECK(steps == stats.steps && steps, "%u steps, %u in the stats", steps, stats.steps);
    CHECK(r != TDL_OK || sum, "no step took any time");
    tdl_tensor_destroy(&x);
    tdl_tensor_destroy(&y);
    tdl_graph_destroy(&g);
}

/* ----------------------------------------------------------- more recordings */

/* More sets of tensors than a graph keeps recordings for, back and forth; all
 * in one batch too. */
static void check_many_sets(void)
{
    enum { SETS = 20 };
    struct tdl_graph *g = line_graph(ctx, 1, 1);
    struct tdl_tensor *x[SETS], *y[SETS];
    struct tdl_batch *b;
    check_begin("%d sets of tensors", SETS);
    for (int i = 0; i < SETS; i++) {
        x[i] = tensor_of(ctx, READ | WRITE);
        y[i] = tensor_of(ctx, READ | WRITE);
        write_all(x[i], (float)i);
    }
    for (int round = 0; round < 5; round++)
        for (int i = 0; i < SETS; i++)
            OK(round % 2 ? dispatch(g, y[i], x[i]) : dispatch(g, x[i], y[i]));
    for (int i = 0; i < SETS; i++)
        expect_all(y[i], (float)i + 5);
    OK(tdl_batch_create(ctx, &b));
    for (int round = 0; round < 3; round++) {
        OK(tdl_batch_begin(b));
        int i = 0;
        while (i < SETS && add_to_batch(b, g, x[i], y[i]) == TDL_OK)
            i++;
        CHECK(i >= 9, "only %d fitted: %s", i, tdl_last_error());
        OK(tdl_batch_submit(b, NULL));
        for (int k = 0; k < i; k++)
            expect_all(y[k], (float)k + 5);
        for (int k = 0; k < i; k++)
            write_all(y[k], 0);
    }
    tdl_batch_destroy(&b);
    for (int i = 0; i < SETS; i++) {
        tdl_tensor_destroy(&x[i]);
        tdl_tensor_destroy(&y[i]);
    }
    tdl_graph_destroy(&g);
}

/* ------------------------------------------------------------- steady state */

static void check_steady_state(void)
{
    struct tdl_graph *g = line_graph(ctx, 1, 1);
    struct tdl_tensor *x[2], *y[2];
    struct tdl_batch *batches[2];
    uint64_t points[2] = {0}, point = 0;
    for (int i = 0; i < 2; i++) {
        x[i] = tensor_of(ctx, READ | WRITE);
        y[i] = tensor_of(ctx, READ);
        OK(tdl_batch_create(ctx, &batches[i]));
    }
    struct tdl_context_stats before = {0}, after;
    check_begin("steady state of dispatches");
    for (int i = 0; i < 210; i++) {
        if (i == 10) {
            OK(tdl_context_sync(ctx));
            before = stats_of(ctx);
        }
        OK(tdl_graph_dispatch(g, &(struct tdl_binding){"x", x[i % 2]}, 1,
                              &(struct tdl_binding){"y", y[i % 2]}, 1, &point));
        if (i % 8 == 7)
            OK(tdl_context_wait(ctx, point, TDL_WAIT_FOREVER));
    }
    OK(tdl_context_sync(ctx));
    after = stats_of(ctx);
    CHECK(after.submits - before.submits == 200, "%llu submissions for 200 dispatches",
          (unsigned long long)(after.submits - before.submits));
    CHECK(after.allocations == before.allocations, "memory was allocated");
    CHECK(after.pipelines == before.pipelines, "pipelines were created");
    CHECK(after.memory_bytes == before.memory_bytes, "memory grew");
    struct tdl_graph_stats stats;
    tdl_graph_get_stats(g, &stats);
    CHECK(after.dispatches - before.dispatches == 200 * (uint64_t)stats.steps,
          "%llu kernels in 200 dispatches of %u", (unsigned long long)(after.dispatches -
                                                                       before.dispatches),
          stats.steps);

    check_begin("steady state of batches");
    before = stats_of(ctx);
    for (int i = 0; i < 100; i++) {
        struct tdl_batch *b = batches[i % 2];
        OK(tdl_context_wait(ctx, points[i % 2], TDL_WAIT_FOREVER));
        struct tdl_context_stats waited = stats_of(ctx);
        OK(tdl_batch_begin(b));
        OK(add_to_batch(b, g, x[i % 2], y[i % 2]));
        OK(tdl_batch_submit(b, &points[i % 2]));
        CHECK(stats_of(ctx).waits == waited.waits, "frame %d waited for the device", i);
    }
    after = stats_of(ctx);
    CHECK(after.submits - before.submits == 100 && after.allocations == before.allocations &&
              after.pipelines == before.pipelines,
          "%llu submissions, %llu allocations, %llu pipelines for 100 batches",
          (unsigned long long)(after.submits - before.submits),
          (unsigned long long)(after.allocations - before.allocations),
          (unsigned long long)(after.pipelines - before.pipelines));
    for (int i = 0; i < 2; i++) {
        tdl_tensor_destroy(&x[i]);
        tdl_tensor_destroy(&y[i]);
        tdl_batch_destroy(&batches[i]);
    }
    tdl_graph_destroy(&g);
}

/* ---------------------------------------------------------------- lifetimes */

static void count_errors(void *data, enum tdl_log_level level, const char *message)
{
    if (level == TDL_LOG_ERROR) {
        ++*(unsigned *)data;
        fprintf(stderr, "%s\n", message);
    }
}

/* Everything destroyed in each of the 120 orders while work is queued. */
static void check_destruction(void)
{
    unsigned errors = 0;
    check_begin("destruction in any order");
    for (int order = 0; order < 120; order++) {
        struct tdl_context *c;
        struct tdl_batch *batch;
        OK(tdl_context_create(&(struct tdl_context_params){.validation = true,
                                                           .log = count_errors,
                                                           .log_data = &errors,
                                                           .cache_dir = ""},
                              &c));
        struct tdl_graph *g = line_graph(c, 1, 1);
        struct tdl_tensor *x = tensor_of(c, READ | WRITE), *y = tensor_of(c, READ);
        OK(tdl_batch_create(c, &batch));
        OK(tdl_batch_begin(batch));
        OK(add_to_batch(batch, g, x, y));
        OK(tdl_batch_submit(batch, NULL));
        for (int i = 0; i < 4; i++)
            OK(dispatch(g, x, y));
        int left[] = {0, 1, 2, 3, 4};
        for (int count = 5, code = order; count; code /= count, count--) {
            int pick = code % count;
            switch (left[pick]) {
            case 0:
                tdl_context_destroy(&c);
                break;
            case 1:
                tdl_graph_destroy(&g);
                break;
            case 2:
                tdl_tensor_destroy(&x);
                break;
            case 3:
                tdl_tensor_destroy(&y);
                break;
            default:
                tdl_batch_destroy(&batch);
            }
            left[pick] = left[count - 1];
        }
    }
    CHECK(!errors, "%u errors", errors);
}

static void check_memory_returns(void)
{
    check_begin("memory comes back");
    OK(tdl_context_sync(ctx));
    uint64_t before = stats_of(ctx).memory_bytes;
    for (int i = 0; i < 50; i++) {
        struct tdl_graph *g = line_graph(ctx, 1, (float)i);
        struct tdl_tensor *x = tensor_of(ctx, READ | WRITE), *y = tensor_of(ctx, READ);
        write_all(x, 1);
        OK(dispatch(g, x, y));
        tdl_tensor_destroy(&x);
        tdl_graph_destroy(&g);
        expect_all(y, (float)i + 1);
        tdl_tensor_destroy(&y);
    }
    OK(tdl_context_sync(ctx));
    CHECK(stats_of(ctx).memory_bytes == before, "%llu bytes before, %llu behind",
          (unsigned long long)before, (unsigned long long)stats_of(ctx).memory_bytes);
}

/* ------------------------------------------------------------------ threads */

struct worker {
    pthread_t thread;
    int number;
    struct tdl_graph *shared;
};

/* A graph of its own, and one that all use with tensors of their own: more
 * sets of them than a graph keeps. */
static void *work(void *data)
{
    enum { SETS = 4, ROUNDS = 40 };
    struct worker *w = data;
    struct tdl_graph *own = line_graph(ctx, 1, (float)w->number);
    struct tdl_tensor *x[SETS], *y[SETS];
    for (int i = 0; i < SETS; i++) {
        x[i] = tensor_of(ctx, READ | WRITE);
        y[i] = tensor_of(ctx, READ | WRITE);
        write_all(x[i], (float)(100 * w->number + i));
    }
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; i < SETS; i++) {
            OK(dispatch(w->shared, x[i], y[i]));
            OK(dispatch(own, y[i], x[i]));
            if (round % 10 == 9)
                expect_all(y[i], (float)(100 * w->number + i + round * (1 + w->number) + 1));
        }
    for (int i = 0; i < SETS; i++) {
        expect_all(x[i], (float)(100 * w->number + i + ROUNDS * (1 + w->number)));
        tdl_tensor_destroy(&x[i]);
        tdl_tensor_destroy(&y[i]);
    }
    tdl_graph_destroy(&own);
    return NULL;
}

static void check_threads(void)
{
    struct worker workers[4];
    struct tdl_graph *shared = line_graph(ctx, 1, 1);
    check_begin("threads");
    for (int i = 0; i < (int)COUNT(workers); i++) {
        workers[i] = (struct worker){.number = i, .shared = shared};
        REQUIRE(!pthread_create(&workers[i].thread, NULL, work, &workers[i]), "no thread");
    }
    for (size_t i = 0; i < COUNT(workers); i++)
        pthread_join(workers[i].thread, NULL);
    tdl_graph_destroy(&shared);
}

/* Two contexts on one device, side by side. */
static void check_two_contexts(void)
{
    struct tdl_context *both[] = {ctx, check_context_open()};
    struct tdl_graph *g[2];
    struct tdl_tensor *x[2], *y[2];
    check_begin("two contexts");
    for (int k = 0; k < 2; k++) {
        g[k] = line_graph(both[k], 1, (float)(k + 1));
        x[k] = tensor_of(both[k], READ | WRITE);
        y[k] = tensor_of(both[k], READ | WRITE);
    }
    for (int i = 0; i < 100; i++)
        for (int k = 0; k < 2; k++)
            OK(i % 2 ? dispatch(g[k], y[k], x[k]) : dispatch(g[k], x[k], y[k]));
    for (int k = 0; k < 2; k++) {
        expect_all(x[k], 100 * (float)(k + 1));
        tdl_tensor_destroy(&x[k]);
        tdl_tensor_destroy(&y[k]);
        tdl_graph_destroy(&g[k]);
    }
    check_context_close(both[1]);
}

int main(void)
{
    ctx = check_context_open();
    check_round_trip();
    check_tensor_errors();
    check_reshape();
    check_bindings();
    check_build_errors();
    check_chains();
    check_mixed_chains();
    for (uint64_t seed = 1; seed <= 5; seed++)
        check_copies(seed);
    check_barriers();
    check_batches();
    check_early_destruction();
    check_stages();
    check_many_sets();
    check_steady_state();
    check_memory_returns();
    check_two_contexts();
    check_threads();
    check_destruction();
    check_context_close(ctx);
    return check_result();
}
