/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Dispatches and batches: the order of work that depends on other work,
 * lifetimes in any order, several threads, and a steady state that creates
 * nothing.
 */
#include "line.h"

#include <pthread.h>

static struct tdl_context *ctx;

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
            uint32_t from = rng_below(&rng, BUFFERS),
                     to = (from + 1 + rng_below(&rng, 4)) % BUFFERS;
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
    for (size_t i = 0; i < COUNT(pairs) && subject_has_kernels(ctx); i++) {
        struct tdl_tensor *t[6];
        check_begin("barriers: %s", pairs[i].name);
        for (size_t k = 0; k < COUNT(t); k++)
            t[k] = tensor_of(ctx, READ | WRITE);
        /* Their making is behind a barrier, which these two need. */
        submit_copy(t[4], t[5]);
        submit_copy(t[5], t[4]);
        submit_copy(t[pairs[i].from[0]], t[pairs[i].to[0]]);
        uint64_t before = subject_barrier_point(ctx);
        submit_copy(t[pairs[i].from[1]], t[pairs[i].to[1]]);
        CHECK((subject_barrier_point(ctx) != before) == pairs[i].barrier, "%s barrier",
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
    uint64_t times[STAGES], point, before;
    OK(tdl_batch_create(ctx, &b));
    check_begin("batch: the wrong moment");
    FAILS(tdl_batch_submit(b, NULL), TDL_ERROR_INVALID_STATE, "begin");
    FAILS(add_to_batch(b, g, x, y), TDL_ERROR_INVALID_STATE, "begin");
    FAILS(tdl_batch_stage(b, NETWORK), TDL_ERROR_INVALID_STATE, "begin");
    CHECK(!tdl_batch_stage_times(b, times, STAGES), "times of nothing");
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
    CHECK(subject_has_kernels(ctx)
              ? r == TDL_ERROR_UNSUPPORTED && added >= 250 && strstr(tdl_last_error(), "full")
              : r == TDL_OK,
          "after %d: %s: %s", added, tdl_result_string(r), tdl_last_error());
    OK(tdl_batch_submit(b, NULL));
    expect_all(added % 2 ? y : x, (float)added);
    tdl_batch_destroy(&b);
    tdl_batch_destroy(&b);
    tdl_tensor_destroy(&x);
    tdl_tensor_destroy(&y);
    tdl_graph_destroy(&g);
}

/* Objects that a batch uses may be destroyed before it is submitted or aborted. */
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
    uint64_t times[STAGES], point;
    check_begin("stages");
    OK(tdl_batch_create(ctx, &b));
    OK(tdl_batch_begin(b));
    OK(tdl_batch_stage(b, NETWORK));
    OK(add_to_batch(b, g, x, y));
    CHECK(!tdl_batch_stage_times(b, times, STAGES), "times before the work was submitted");
    OK(tdl_batch_submit(b, &point));
    OK(tdl_context_wait(ctx, point, TDL_WAIT_FOREVER));
    if (tdl_context_device(ctx)->timestamps) {
        CHECK(tdl_batch_stage_times(b, times, STAGES), "no times");
        CHECK(times[NETWORK] && !times[PREPROCESS] && !times[COMPOSE],
              "the times are %llu, %llu, %llu ns", (unsigned long long)times[0],
              (unsigned long long)times[1], (unsigned long long)times[2]);
    } else {
        CHECK(!tdl_batch_stage_times(b, times, STAGES), "times from a device without");
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

    check_begin("what a run takes");
    const struct tdl_binding in = {"x", x}, out = {"y", y};
    uint64_t ns = 0;
    OK(tdl_graph_try(g, &in, 1, &out, 1, NULL, &ns));
    CHECK(ns, "no time");
    FAILS(tdl_graph_try(g, &in, 1, NULL, 0, NULL, &ns), TDL_ERROR_INVALID_ARGUMENT, "outputs");
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

/* Everything destroyed in the 120 orders while work is queued: every 4th in a
 * run. */
static void check_destruction(uint64_t seed)
{
    const int step = (int)check_stride(4);
    unsigned errors = 0;
    check_begin("destruction in any order");
    for (int order = (int)(seed % (uint64_t)step); order < 120; order += step) {
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

/* As files have them, of which only the ends differ. */
static void check_long_names(void)
{
#define LONG "StatefulPartitionedCall/model/feature_pyramid_network/box_predictor/stage/"
    const struct tdl_tensor_params p = image(0);
    struct tdl_tensor *a = tensor_of(ctx, WRITE), *b = tensor_of(ctx, WRITE);
    struct tdl_tensor *y = tensor_of(ctx, READ);
    struct tdl_builder *builder;
    struct tdl_graph *g;
    const char *name;
    check_begin("long names");
    OK(check_builder(ctx, &builder));
    struct tdl_operand *x = tdl_builder_input(builder, LONG "a", &p);
    OK(tdl_builder_output(builder, LONG "y",
                          tdl_builder_sub(builder, x, tdl_builder_input(builder, LONG "b", &p))));
    OK(tdl_builder_build(builder, NULL, &g));
    tdl_builder_destroy(&builder);
    tdl_graph_input(g, 1, &name);
    CHECK(!strcmp(name, LONG "b"), "\"%s\"", name);
    write_all(a, 7);
    write_all(b, 2);
    OK(tdl_graph_dispatch(g, (struct tdl_binding[]){{LONG "b", b}, {LONG "a", a}}, 2,
                          &(struct tdl_binding){LONG "y", y}, 1, NULL));
    CHECK(expect_all(y, 5), "the inputs were taken for each other");
    FAILS(tdl_graph_dispatch(g, (struct tdl_binding[]){{LONG "b", b}, {LONG "c", a}}, 2,
                             &(struct tdl_binding){LONG "y", y}, 1, NULL),
          TDL_ERROR_INVALID_ARGUMENT, "\"" LONG "a\" was not given, but \"" LONG "c\"");
    tdl_graph_destroy(&g);
    tdl_tensor_destroy(&a);
    tdl_tensor_destroy(&b);
    tdl_tensor_destroy(&y);
}

int main(int argc, char **argv)
{
    ctx = check_context_open();
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
    check_long_names();
    check_threads();
    check_destruction(check_seed(argc, argv, 1));
    check_context_close(ctx);
    return check_result();
}
