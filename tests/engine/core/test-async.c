/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reading without waiting: in order, once each, many at a time, from several threads,
 * from callbacks, and while everything is destroyed.
 */
#include "line.h"

#include <core/device.h>

#include <semaphore.h>

enum { MANY = 60, ROOM = 3 };

static struct tdl_context *ctx;

/* Reads of one test: what each gave, and when. */
struct reads {
    struct read {
        struct reads *all;
        float got[ELEMENTS];
        uint32_t calls, order;
        enum tdl_result result;
    } each[MANY];
    atomic_uint ended;
    sem_t one;
};

static struct reads *reads_open(void)
{
    struct reads *r = calloc(1, sizeof(*r));
    REQUIRE(r, "out of memory");
    sem_init(&r->one, 0, 0);
    for (uint32_t i = 0; i < MANY; i++)
        r->each[i].all = r;
    return r;
}

static void ended(void *data, enum tdl_result result)
{
    struct read *one = data;
    one->calls++;
    one->result = result;
    one->order = atomic_fetch_add(&one->all->ended, 1);
    sem_post(&one->all->one);
}

static void wait_for(struct reads *r, uint32_t count)
{
    while (count--)
        sem_wait(&r->one);
}

static void reads_close(struct reads *r)
{
    sem_destroy(&r->one);
    free(r);
}

static void expect(const struct reads *r, uint32_t i, float value)
{
    const struct read *one = &r->each[i];
    CHECK(one->calls == 1 && one->result == TDL_OK, "read %u: %u calls, the last with %s", i,
          one->calls, tdl_result_string(one->result));
    for (int at = 0; at < ELEMENTS; at++)
        if (!CHECK(one->got[at] == value, "read %u, %d is %g, not %g", i, at,
                   (double)one->got[at], (double)value))
            return;
}

static enum tdl_result read_one(struct tdl_tensor *t, struct read *one)
{
    return tdl_tensor_read_async(t, one->got, sizeof(one->got), ended, one, NULL);
}

static void open_context(uint32_t max_queued, bool busy_when_full)
{
    const struct tdl_context_params params = {.validation = true,
                                              .log = check_log,
                                              .max_queued = max_queued,
                                              .busy_when_full = busy_when_full};
    OK(tdl_context_create(&params, &ctx));
}

/* ---------------------------------------------------------------------- order */

/* Between writes and dispatches each read has the values of its moment. Nothing is
 * allocated once there is memory for as many as may be under way, and no thread of ours
 * slept where the queue has room. */
static void test_order(uint32_t max_queued)
{
    struct tdl_context_stats before, after;
    open_context(max_queued, false);
    check_begin("order, %u queued", max_queued);
    struct tdl_tensor *x = tensor_of(ctx, READ | WRITE), *y = tensor_of(ctx, READ | WRITE);
    struct tdl_graph *g = line_graph(ctx, 2, 1);
    for (int round = 0; round < 2; round++) {
        struct reads *r = reads_open();
        before = stats_of(ctx);
        for (uint32_t i = 0; i < MANY; i += 2) {
            write_all(x, (float)i);
            OK(read_one(x, &r->each[i]));
            OK(dispatch(g, x, y));
            OK(read_one(y, &r->each[i + 1]));
        }
        after = stats_of(ctx);
        wait_for(r, MANY);
        for (uint32_t i = 0; i < MANY; i++) {
            expect(r, i, i % 2 ? (float)(i - 1) * 2 + 1 : (float)i);
            CHECK(r->each[i].order == i, "read %u ended as number %u", i, r->each[i].order);
        }
        reads_close(r);
    }
    if (max_queued == ROOM)
        CHECK(after.staging_bytes <= 64 << 10, "%llu bytes of staging",
              (unsigned long long)after.staging_bytes);
    else
        CHECK(after.waits == before.waits, "%llu waits",
              (unsigned long long)(after.waits - before.waits));
    tdl_tensor_destroy(&x);
    tdl_tensor_destroy(&y);
    tdl_graph_destroy(&g);
    check_context_close(ctx);
}

static void test_part(void)
{
    struct reads *r = reads_open();
    uint64_t point = 0;
    check_begin("parts");
    struct tdl_tensor *x = tensor_of(ctx, READ | WRITE), *closed = tensor_of(ctx, WRITE);
    write_all(x, 7);
    struct read *one = &r->each[0];
    OK(tdl_tensor_read_part_async(x, 5, (char *)one->got + 1, 9, ended, one, &point));
    CHECK(point && point == tdl_context_last_point(ctx), "its point is %llu",
          (unsigned long long)point);
    wait_for(r, 1);
    float want[4] = {7, 7, 7, 7};
    CHECK(one->result == TDL_OK && !memcmp((char *)one->got + 1, (char *)want + 1, 9) &&
              !((char *)one->got)[0] && !((char *)one->got)[10],
          "another part was read");

    /* A refused read calls nobody back. */
    one = &r->each[1];
    FAILS(tdl_tensor_read_async(x, one->got, 3, ended, one, NULL), TDL_ERROR_INVALID_ARGUMENT,
          "read of 3 bytes");
    FAILS(tdl_tensor_read_part_async(x, sizeof(one->got), one->got, 1, ended, one, NULL),
          TDL_ERROR_INVALID_ARGUMENT, "one or more");
    FAILS(read_one(closed, one), TDL_ERROR_INVALID_ARGUMENT, "READABLE");
    OK(read_one(x, &r->each[2]));
    wait_for(r, 1);
    CHECK(!one->calls, "called back, and was refused");
    expect(r, 2, 7);
    tdl_tensor_destroy(&x);
    tdl_tensor_destroy(&closed);
    reads_close(r);
}

/* -------------------------------------------------------------------- threads */

struct worker {
    pthread_t thread;
    struct tdl_tensor *tensor;
    struct reads *reads;
};

static void *work(void *data)
{
    struct worker *w = data;
    for (uint32_t i = 0; i < MANY; i++) {
        write_all(w->tensor, (float)i);
        OK(read_one(w->tensor, &w->reads->each[i]));
    }
    return NULL;
}

static void test_threads(void)
{
    struct worker workers[3];
    open_context(ROOM, false);
    check_begin("threads");
    for (size_t i = 0; i < COUNT(workers); i++) {
        workers[i] =
            (struct worker){.tensor = tensor_of(ctx, READ | WRITE), .reads = reads_open()};
        REQUIRE(!pthread_create(&workers[i].thread, NULL, work, &workers[i]), "no thread");
    }
    for (size_t i = 0; i < COUNT(workers); i++) {
        pthread_join(workers[i].thread, NULL);
        wait_for(workers[i].reads, MANY);
        for (uint32_t j = 0; j < MANY; j++) {
            expect(workers[i].reads, j, (float)j);
            CHECK(workers[i].reads->each[j].order == j, "thread %zu's read %u is out of order", i,
                  j);
        }
        reads_close(workers[i].reads);
        tdl_tensor_destroy(&workers[i].tensor);
    }
    check_context_close(ctx);
}

/* ------------------------------------------------------------------ callbacks */

/* One that asks for the next from within. */
static struct {
    struct tdl_tensor *x;
    struct reads *reads;
    uint32_t next;
} chain;

static void ask_again(void *data, enum tdl_result result)
{
    const uint32_t next = chain.next++;
    if (next < MANY) {
        write_all(chain.x, (float)next);
        struct read *one = &chain.reads->each[next];
        OK(tdl_tensor_read_async(chain.x, one->got, sizeof(one->got), ask_again, one, NULL));
    }
    ended(data, result);
}

static void test_chain(void)
{
    open_context(1, false);
    check_begin("from within");
    chain.x = tensor_of(ctx, READ | WRITE);
    chain.reads = reads_open();
    chain.next = 1;
    OK(tdl_tensor_read_async(chain.x, chain.reads->each[0].got, sizeof(float) * ELEMENTS,
                             ask_again, &chain.reads->each[0], NULL));
    wait_for(chain.reads, MANY);
    for (uint32_t i = 0; i < MANY; i++)
        expect(chain.reads, i, (float)i);
    reads_close(chain.reads);
    tdl_tensor_destroy(&chain.x);
    check_context_close(ctx);
}

/* One that does not return until it may. */
struct gate {
    sem_t entered, open;
};

static void stop_at(void *data, enum tdl_result result)
{
    struct gate *gate = data;
    CHECK(result == TDL_OK, "%s", tdl_last_error());
    sem_post(&gate->entered);
    sem_wait(&gate->open);
}

static void test_busy(void)
{
    struct reads *r = reads_open();
    struct gate gate;
    float first[ELEMENTS];
    open_context(ROOM, true);
    check_begin("busy");
    sem_init(&gate.entered, 0, 0);
    sem_init(&gate.open, 0, 0);
    struct tdl_tensor *x = tensor_of(ctx, READ | WRITE);
    OK(tdl_tensor_read_async(x, first, sizeof(first), stop_at, &gate, NULL));
    sem_wait(&gate.entered);
    for (uint32_t i = 0; i < ROOM; i++) {
        OK(tdl_context_sync(ctx));
        OK(read_one(x, &r->each[i]));
    }
    OK(tdl_context_sync(ctx));
    FAILS(read_one(x, &r->each[ROOM]), TDL_ERROR_BUSY, "max_queued");
    sem_post(&gate.open);
    wait_for(r, ROOM);
    OK(read_one(x, &r->each[ROOM]));
    wait_for(r, 1);
    CHECK(r->each[ROOM].calls == 1, "%u calls", r->each[ROOM].calls);
    tdl_tensor_destroy(&x);
    sem_destroy(&gate.entered);
    sem_destroy(&gate.open);
    reads_close(r);
    check_context_close(ctx);
}

/* ---------------------------------------------------------------- destruction */

static void never_lost(void *data, const char *why)
{
    (void)data;
    CHECK(false, "a context that was destroyed was lost: %s", why);
}

/* Whoever destroys the context has the values behind it. */
static void test_destroyed(void)
{
    struct reads *r = reads_open();
    open_context(0, false);
    check_begin("destroyed");
    struct tdl_tensor *x = tensor_of(ctx, READ | WRITE), *y = tensor_of(ctx, READ | WRITE);
    struct tdl_graph *g = line_graph(ctx, 2, 1);
    OK(tdl_context_on_lost(ctx, never_lost, NULL));
    for (uint32_t i = 0; i < MANY; i++) {
        write_all(x, (float)i);
        OK(dispatch(g, x, y));
        OK(read_one(y, &r->each[i]));
    }
    tdl_tensor_destroy(&x);
    tdl_graph_destroy(&g);
    tdl_context_destroy(&ctx);
    tdl_tensor_destroy(&y);
    for (uint32_t i = 0; i < MANY; i++)
        expect(r, i, (float)i * 2 + 1);
    reads_close(r);
}

/* The last reference goes in a callback, and others are still to come. */
static void drop_all(void *data, enum tdl_result result)
{
    struct tdl_tensor **last = data;
    CHECK(result == TDL_OK, "%s", tdl_last_error());
    tdl_context_destroy(&ctx);
    tdl_tensor_destroy(last);
}

static void test_dropped_within(void)
{
    struct reads *r = reads_open();
    float got[ELEMENTS], other[ELEMENTS];
    struct gate gate;
    open_context(0, false);
    check_begin("dropped within");
    struct tdl_tensor *x = tensor_of(ctx, READ | WRITE);
    write_all(x, 5);
    sem_init(&gate.entered, 0, 0);
    sem_init(&gate.open, 0, 0);
    OK(tdl_tensor_read_async(x, got, sizeof(got), stop_at, &gate, NULL));
    OK(tdl_tensor_read_async(x, other, sizeof(other), drop_all, &x, NULL));
    OK(read_one(x, &r->each[0]));
    OK(read_one(x, &r->each[1]));
    sem_wait(&gate.entered);
    sem_post(&gate.open);
    wait_for(r, 2);
    expect(r, 0, 5);
    expect(r, 1, 5);
    CHECK(!ctx && !x, "they are still there");
    sem_destroy(&gate.entered);
    sem_destroy(&gate.open);
    reads_close(r);
}

/* ----------------------------------------------------------------------- loss */

struct loss {
    atomic_uint calls;
    sem_t told;
    char why[256];
};

static void lost(void *data, const char *why)
{
    struct loss *l = data;
    snprintf(l->why, sizeof(l->why), "%s", why);
    atomic_fetch_add(&l->calls, 1);
    sem_post(&l->told);
}

/* Told once, whether asked before or after; a read behind it ends with it. */
static void test_lost(void)
{
    struct loss before = {.calls = 0}, after = {.calls = 0}, never = {.calls = 0};
    struct reads *r = reads_open();
    struct gate gate;
    float first[ELEMENTS];
    const struct tdl_context_params params = {.cache_dir = ""};
    OK(tdl_context_create(&params, &ctx)); /* without the layers: the device is well */
    check_begin("lost");
    sem_init(&gate.entered, 0, 0);
    sem_init(&gate.open, 0, 0);
    sem_init(&before.told, 0, 0);
    sem_init(&after.told, 0, 0);
    sem_init(&never.told, 0, 0);
    struct tdl_tensor *x = tensor_of(ctx, READ | WRITE);
    OK(tdl_context_on_lost(ctx, lost, &never));
    OK(tdl_context_on_lost(ctx, lost, &before));
    OK(tdl_tensor_read_async(x, first, sizeof(first), stop_at, &gate, NULL));
    OK(read_one(x, &r->each[0]));
    sem_wait(&gate.entered);
    tdl_context_wait(ctx, UINT64_MAX, 0); /* for the sake of a text */
    tdl_context_lose(ctx);
    tdl_context_lose(ctx);
    FAILS(read_one(x, &r->each[1]), TDL_ERROR_DEVICE_LOST, "was lost");
    sem_post(&gate.open);
    sem_wait(&before.told);
    CHECK(strstr(before.why, "not been submitted"), "why: \"%s\"", before.why);
    wait_for(r, 1);
    CHECK(r->each[0].result == TDL_ERROR_DEVICE_LOST && r->each[0].calls == 1,
          "the read ended with %s", tdl_result_string(r->each[0].result));
    OK(tdl_context_on_lost(ctx, lost, &after));
    sem_wait(&after.told);
    OK(tdl_context_on_lost(ctx, NULL, NULL));
    tdl_tensor_destroy(&x);
    tdl_context_destroy(&ctx);
    CHECK(before.calls == 1 && after.calls == 1 && !never.calls && !r->each[1].calls,
          "%u, %u and %u calls", before.calls, after.calls, never.calls);
    sem_destroy(&before.told);
    sem_destroy(&after.told);
    sem_destroy(&never.told);
    sem_destroy(&gate.entered);
    sem_destroy(&gate.open);
    reads_close(r);
}

int main(void)
{
    ctx = check_context_open();
    test_part();
    check_context_close(ctx);
    test_dropped_within(); /* first: its context is going while others come */
    test_order(0);
    test_order(ROOM);
    test_threads();
    test_chain();
    test_busy();
    test_destroyed();
    test_lost();
    return check_result();
}
