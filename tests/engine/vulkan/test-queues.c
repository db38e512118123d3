/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Batches on several queues: what uses the same memory comes one behind the other, by
 * barriers or semaphores, and nothing else waits. The order is read off the submissions,
 * since a device may well do the right thing where nobody told it to. Software Vulkan
 * has one queue, which three share here.
 */
#include "line.h"

#include <string.h>
#include <vulkan/vulkan.h>

enum { QUEUES = 3, TENSORS = 5, BATCHES = 9, SUBMISSIONS = 150 };

static struct tdl_context *ctx;

/* ---------------------------------------------------------- what is submitted */

/* The last point of each queue that has passed. */
struct clock {
    uint64_t reached[QUEUES];
};

static struct submission {
    uint32_t queue;
    uint64_t point;
    uint32_t reads, writes; /* bits of tensors, noted by who asked for it */
    uint32_t waits;         /* for other queues */
    struct clock clock;
} submissions[SUBMISSIONS];
static uint32_t count;
static bool watching;
static uint32_t used = QUEUES; /* by the context */
static VkSemaphore timelines[QUEUES];

/* Index of the semaphore's queue, or QUEUES. */
static uint32_t queue_of(VkSemaphore semaphore)
{
    uint32_t q = 0;
    while (q < QUEUES && timelines[q] != semaphore)
        q++;
    return q;
}

static void come_behind(struct clock *clock, uint32_t queue, uint64_t point)
{
    for (uint32_t i = 0; i < count; i++)
        if (submissions[i].queue == queue && submissions[i].point <= point)
            for (uint32_t q = 0; q < QUEUES; q++)
                if (clock->reached[q] < submissions[i].clock.reached[q])
                    clock->reached[q] = submissions[i].clock.reached[q];
}

VkResult __real_vkQueueSubmit(VkQueue queue, uint32_t n, const VkSubmitInfo *info, VkFence fence);
VkResult __wrap_vkQueueSubmit(VkQueue queue, uint32_t n, const VkSubmitInfo *info, VkFence fence);
VkResult __wrap_vkQueueSubmit(VkQueue queue, uint32_t n, const VkSubmitInfo *info, VkFence fence)
{
    const VkTimelineSemaphoreSubmitInfo *values = info->pNext;
    const uint32_t last = info->signalSemaphoreCount - 1;
    const uint64_t point = values->pSignalSemaphoreValues[last];
    const uint32_t own = (uint32_t)(point % used);
    REQUIRE(n == 1, "%u submissions in one", n);
    if (!timelines[own])
        timelines[own] = info->pSignalSemaphores[last];
    CHECK(timelines[own] == info->pSignalSemaphores[last], "point %llu of another queue",
          (unsigned long long)point);
    if (watching && count < SUBMISSIONS) {
        struct submission *s = &submissions[count];
        *s = (struct submission){.queue = own, .point = point};
        come_behind(&s->clock, own, point);
        for (uint32_t i = 0; i < info->waitSemaphoreCount; i++) {
            const uint32_t q = queue_of(info->pWaitSemaphores[i]);
            s->waits += q < QUEUES;
            if (q < QUEUES)
                come_behind(&s->clock, q, values->pWaitSemaphoreValues[i]);
        }
        s->clock.reached[own] = point;
        count++;
    }
    return __real_vkQueueSubmit(queue, n, info, fence);
}

static void watch(bool on)
{
    OK(tdl_context_sync(ctx));
    if (on)
        count = 0;
    watching = on;
}

/* Each comes behind what it conflicts with. */
static void check_order(void)
{
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t j = 0; j < i; j++) {
            const struct submission *a = &submissions[j], *b = &submissions[i];
            if (((a->writes & (b->reads | b->writes)) | (a->reads & b->writes)) == 0)
                continue;
            if (!CHECK(b->clock.reached[a->queue] >= a->point,
                       "submission %u (queue %u) is not behind %u (queue %u)", i, b->queue, j,
                       a->queue))
                return;
        }
}

/* ------------------------------------------------------------------ batches */

static void create_batches(struct tdl_batch *batches[BATCHES])
{
    for (uint32_t i = 0; i < BATCHES; i++) {
        OK(tdl_batch_create(ctx, &batches[i]));
        tdl_batch_set_queue(batches[i], i); /* modulo the queues */
    }
}

static void destroy_batches(struct tdl_batch *batches[BATCHES])
{
    for (uint32_t i = 0; i < BATCHES; i++)
        tdl_batch_destroy(&batches[i]);
}

static void copy(struct tdl_batch *batch, struct tdl_tensor *from, struct tdl_tensor *to)
{
    OK(tdl_batch_copy(batch, from->buffer, 0, to->buffer, 0, ELEMENTS * sizeof(float)));
}

static void check_copies(uint64_t seed)
{
    struct tdl_batch *batches[BATCHES];
    struct tdl_tensor *t[TENSORS];
    float want[TENSORS];
    uint64_t points[SUBMISSIONS];
    struct rng rng = {seed};
    check_begin("copies on %d queues, seed %llu", QUEUES, (unsigned long long)seed);
    create_batches(batches);
    for (uint32_t i = 0; i < TENSORS; i++) {
        t[i] = tensor_of(ctx, READ | WRITE);
        write_all(t[i], want[i] = (float)i);
    }
    watch(true);
    for (uint32_t i = 0; i < SUBMISSIONS; i++) {
        struct tdl_batch *batch = batches[rng_below(&rng, BATCHES)];
        uint32_t reads = 0, writes = 0;
        OK(tdl_batch_begin(batch));
        for (uint32_t n = 1 + rng_below(&rng, 3); n; n--) {
            const uint32_t from = rng_below(&rng, TENSORS),
                           to = (from + 1 + rng_below(&rng, TENSORS - 1)) % TENSORS;
            copy(batch, t[from], t[to]);
            want[to] = want[from];
            reads |= 1u << from;
            writes |= 1u << to;
        }
        OK(tdl_batch_submit(batch, &points[i]));
        submissions[i].reads = reads;
        submissions[i].writes = writes;
        CHECK(!i || points[i] > points[i - 1], "points do not count the submissions");
        if (rng_one_in(&rng, 10))
            OK(tdl_context_wait(ctx, points[rng_below(&rng, i + 1)], TDL_WAIT_FOREVER));
        if (rng_one_in(&rng, 10)) {
            OK(tdl_buffer_wait(t[0]->buffer, true));
            for (uint32_t k = 0; k <= i; k++)
                CHECK(!((submissions[k].reads | submissions[k].writes) & 1) ||
                          tdl_context_wait(ctx, points[k], 0) == TDL_OK,
                      "submission %u still uses the buffer", k);
        }
    }
    watch(false);
    check_order();
    for (uint32_t i = 0; i < SUBMISSIONS; i++)
        OK(tdl_context_wait(ctx, points[i], 0)); /* as all was waited for */
    for (uint32_t i = 0; i < TENSORS; i++) {
        expect_all(t[i], want[i]);
        tdl_tensor_destroy(&t[i]);
    }
    destroy_batches(batches);
}

/* Streams with tensors of their own and one network: its arena is not in their way. */
static void check_streams(void)
{
    struct tdl_graph *graph = line_graph(ctx, 2, 1);
    struct tdl_batch *batches[BATCHES];
    struct tdl_tensor *x[QUEUES], *y[QUEUES];
    check_begin("a stream a queue");
    create_batches(batches);
    for (uint32_t q = 0; q < QUEUES; q++) {
        x[q] = tensor_of(ctx, READ | WRITE);
        y[q] = tensor_of(ctx, READ | WRITE);
        write_all(x[q], (float)q);
    }
    watch(true);
    for (uint32_t i = 0; i < 4 * BATCHES; i++) {
        struct tdl_batch *batch = batches[i % BATCHES];
        const uint32_t q = i % QUEUES;
        OK(tdl_batch_begin(batch));
        OK(tdl_batch_graph(batch, graph, &(struct tdl_binding){"x", x[q]}, 1,
                           &(struct tdl_binding){"y", y[q]}, 1));
        copy(batch, y[q], x[q]);
        OK(tdl_batch_submit(batch, NULL));
    }
    watch(false);
    /* The tensors were written on the first queue, which each waits for once. */
    uint32_t waits = 0;
    for (uint32_t i = 0; i < count; i++)
        waits += submissions[i].waits;
    CHECK(count == 4 * BATCHES && waits == QUEUES - 1, "%u waits in %u submissions", waits, count);
    for (uint32_t q = 0; q < QUEUES; q++) {
        float want = (float)q;
        for (uint32_t i = 0; i < 4 * BATCHES / QUEUES; i++)
            want = 2 * want + 1;
        expect_all(y[q], want);
        tdl_tensor_destroy(&x[q]);
        tdl_tensor_destroy(&y[q]);
    }
    destroy_batches(batches);
    tdl_graph_destroy(&graph);
}

/* Memory goes when all queues have passed it, and an idle queue keeps none. */
static void check_memory(void)
{
    struct tdl_batch *batches[BATCHES];
    struct tdl_context_stats before, after;
    check_begin("memory behind several queues");
    create_batches(batches);
    OK(tdl_context_sync(ctx));
    tdl_context_get_stats(ctx, &before);
    for (uint32_t i = 0; i < 3 * BATCHES; i++) {
        struct tdl_buffer *from, *to;
        OK(tdl_buffer_create(ctx, 1 << 16, TDL_BUFFER_DEVICE, &from));
        OK(tdl_buffer_create(ctx, 1 << 16, TDL_BUFFER_DEVICE, &to));
        OK(tdl_batch_begin(batches[i % BATCHES]));
        OK(tdl_batch_copy(batches[i % BATCHES], from, 0, to, 0, 1 << 16));
        OK(tdl_batch_submit(batches[i % BATCHES], NULL));
        tdl_buffer_destroy(&from);
        tdl_buffer_destroy(&to);
    }
    OK(tdl_context_sync(ctx));
    tdl_context_get_stats(ctx, &after);
    CHECK(after.memory_bytes == before.memory_bytes, "%llu bytes are left",
          (unsigned long long)(after.memory_bytes - before.memory_bytes));
    destroy_batches(batches);
}

/* Memory of a busy queue is kept, whatever points the others have passed. */
static void check_busy_memory(void)
{
    enum { SIZE = 1 << 16, RUNS = 200 };
    struct tdl_graph *graph = line_graph(ctx, 1, 1);
    struct tdl_tensor *x = tensor_of(ctx, READ | WRITE), *y = tensor_of(ctx, READ | WRITE);
    struct tdl_batch *batches[BATCHES];
    struct tdl_buffer *from, *to;
    struct tdl_context_stats stats;
    uint64_t point, with;
    check_begin("memory of a busy queue");
    create_batches(batches);
    OK(tdl_buffer_create(ctx, SIZE, TDL_BUFFER_DEVICE, &from));
    OK(tdl_buffer_create(ctx, SIZE, TDL_BUFFER_DEVICE, &to));
    OK(tdl_context_sync(ctx));
    tdl_context_get_stats(ctx, &stats);
    with = stats.memory_bytes;
    OK(tdl_batch_begin(batches[0]));
    for (uint32_t i = 0; i < RUNS; i++)
        OK(add_to_batch(batches[0], graph, i % 2 ? y : x, i % 2 ? x : y));
    OK(tdl_batch_copy(batches[0], from, 0, to, 0, SIZE));
    OK(tdl_batch_submit(batches[0], &point));
    tdl_buffer_destroy(&from);
    for (uint32_t i = 0; i < BATCHES; i++) {
        OK(tdl_batch_begin(batches[1]));
        OK(tdl_batch_submit(batches[1], NULL));
        tdl_context_get_stats(ctx, &stats);
        CHECK(stats.memory_bytes >= with || tdl_context_wait(ctx, point, 0) == TDL_OK,
              "it went while it was in use");
    }
    OK(tdl_context_sync(ctx));
    tdl_context_get_stats(ctx, &stats);
    CHECK(stats.memory_bytes == with - SIZE, "%llu bytes are left",
          (unsigned long long)(stats.memory_bytes + SIZE - with));
    tdl_buffer_destroy(&to);
    tdl_tensor_destroy(&x);
    tdl_tensor_destroy(&y);
    tdl_graph_destroy(&graph);
    destroy_batches(batches);
}

/* Points say which queue they are of: the remainder by the number of queues that are used. */
static void check_fewer(uint64_t most, uint32_t expected)
{
    const struct tdl_context_params params = {
        .max_queues = most, .validation = true, .log = check_log};
    struct tdl_context *own;
    struct tdl_batch *batch;
    uint64_t before = 0, point;
    check_begin("max_queues %llu", (unsigned long long)most);
    used = expected;
    memset(timelines, 0, sizeof(timelines));
    OK(tdl_context_create(&params, &own));
    CHECK(tdl_context_device(own)->queues == QUEUES, "the device has other queues by it");
    OK(tdl_batch_create(own, &batch));
    for (uint32_t queue = 0; queue < 2 * QUEUES; queue++) {
        tdl_batch_set_queue(batch, queue);
        OK(tdl_batch_begin(batch));
        OK(tdl_batch_submit(batch, &point));
        CHECK(point % expected == queue % expected && point > before &&
                  point <= before + 2 * expected,
              "point %llu behind %llu on queue %u of %u", (unsigned long long)point,
              (unsigned long long)before, queue, expected);
        before = point;
    }
    tdl_batch_destroy(&batch);
    check_context_close(own);
}

int main(int argc, char **argv)
{
    const uint64_t seed = check_seed(argc, argv, 2);
    const long cases = check_cases(argc, argv, 6);
    REQUIRE(setenv("TDL_QUEUES", "3", 1) == 0, "no environment");
    ctx = check_context_open();
    CHECK(tdl_context_device(ctx)->queues == QUEUES, "%llu queues",
          (unsigned long long)tdl_context_device(ctx)->queues);
    for (long i = 0; i < cases; i++)
        check_copies(seed + (uint64_t)i);
    check_streams();
    check_memory();
    check_busy_memory();
    check_fewer(1, 1);
    check_fewer(2, 2);
    check_fewer(QUEUES + 1, QUEUES);
    tdl_batch_set_queue(NULL, 1);
    check_context_close(ctx);
    return check_result();
}
