/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Threads that wait for points of one context: each comes back when its own has passed,
 * or its time is up, and no two wait in the driver for the same one.
 */
#include "check.h"

#include <tdl/tdl.h>

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <vulkan/vulkan.h>

enum { SIDE = 96, THREADS = 6, ROUNDS = 40, RUNS = 24 };

/* ------------------------------------------------- what goes to the driver */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
    uint64_t points[THREADS];
    int count, calls, needless;
} in_driver;
static PFN_vkWaitSemaphores real_wait;

static VKAPI_ATTR VkResult VKAPI_CALL wait_semaphores(VkDevice device,
                                                      const VkSemaphoreWaitInfo *info,
                                                      uint64_t timeout)
{
    const uint64_t point = info->pValues[0];
    int at = 0;

    pthread_mutex_lock(&lock);
    for (int i = 0; i < THREADS; i++) {
        in_driver.needless += in_driver.points[i] == point;
        at = in_driver.points[i] ? at : i;
    }
    in_driver.points[at] = point;
    in_driver.calls++;
    pthread_mutex_unlock(&lock);
    const VkResult result = real_wait(device, info, timeout);
    pthread_mutex_lock(&lock);
    in_driver.points[at] = 0;
    pthread_mutex_unlock(&lock);
    return result;
}

PFN_vkVoidFunction __real_vkGetDeviceProcAddr(VkDevice device, const char *name);
PFN_vkVoidFunction __wrap_vkGetDeviceProcAddr(VkDevice device, const char *name);
PFN_vkVoidFunction __wrap_vkGetDeviceProcAddr(VkDevice device, const char *name)
{
    const PFN_vkVoidFunction function = __real_vkGetDeviceProcAddr(device, name);
    if (strncmp(name, "vkWaitSemaphores", 16) != 0)
        return function;
    real_wait = (PFN_vkWaitSemaphores)function;
    return (PFN_vkVoidFunction)wait_semaphores;
}

/* ------------------------------------------------------------------ waiting */

static const struct tdl_tensor_params square = {
    .dtype = TDL_FLOAT32, .rank = 2, .shape = {SIDE, SIDE}};

/* y = x · x: long enough to be waited for. */
static struct tdl_graph *multiplier(struct tdl_context *ctx)
{
    struct tdl_builder *builder;
    struct tdl_graph *graph;
    OK(check_builder(ctx, &builder));
    struct tdl_operand *x = tdl_builder_input(builder, "x", &square);
    tdl_builder_output(builder, "y", tdl_builder_matmul(builder, x, x));
    OK(tdl_builder_build(builder, NULL, &graph));
    tdl_builder_destroy(&builder);
    return graph;
}

struct round {
    struct tdl_context *ctx;
    uint64_t points[RUNS];
};

struct thread {
    struct round *round;
    uint64_t seed;
    int late, timeouts;
};

static uint32_t draw(struct thread *t, uint32_t below)
{
    t->seed = t->seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(t->seed >> 33) % below;
}

static void *wait_for_some(void *data)
{
    static const uint64_t times[] = {0, 1, 20000, 1000000, TDL_WAIT_FOREVER, TDL_WAIT_FOREVER};
    struct thread *t = data;
    for (int i = 0; i < 8; i++) {
        const uint64_t point = t->round->points[draw(t, RUNS)], time = times[draw(t, 6)];
        const enum tdl_result r = tdl_context_wait(t->round->ctx, point, time);
        t->timeouts += r == TDL_ERROR_TIMEOUT;
        if (r == TDL_OK)
            t->late += tdl_context_wait(t->round->ctx, point, 0) != TDL_OK;
        else
            t->late += r != TDL_ERROR_TIMEOUT || time == TDL_WAIT_FOREVER;
    }
    return NULL;
}

static void play(struct round *round, struct tdl_graph *graph, struct tdl_tensor *x,
                 struct tdl_tensor *y, int number)
{
    struct thread threads[THREADS];
    pthread_t ids[THREADS];
    for (int i = 0; i < RUNS; i++)
        OK(tdl_graph_dispatch(graph, &(struct tdl_binding){"x", x}, 1,
                              &(struct tdl_binding){"y", y}, 1, &round->points[i]));
    for (int i = 0; i < THREADS; i++) {
        threads[i] = (struct thread){.round = round, .seed = (uint64_t)(number * THREADS + i)};
        REQUIRE(pthread_create(&ids[i], NULL, wait_for_some, &threads[i]) == 0, "no thread");
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(ids[i], NULL);
        CHECK(threads[i].late == 0, "%d waits ended without their point", threads[i].late);
    }
}

int main(void)
{
    struct tdl_context *ctx = check_context_open();
    struct tdl_graph *graph = multiplier(ctx);
    struct round round = {.ctx = ctx};
    struct tdl_tensor *x, *y;
    OK(tdl_tensor_create(ctx, &square, &x));
    OK(tdl_tensor_create(ctx, &square, &y));
    check_begin("several who wait");
    for (int i = 0; i < ROUNDS; i++)
        play(&round, graph, x, y, i);
    CHECK(in_driver.calls > 0, "nobody waited in the driver");
    CHECK(in_driver.needless == 0, "%d of %d waited in the driver beside one for the same point",
          in_driver.needless, in_driver.calls);
    tdl_tensor_destroy(&x);
    tdl_tensor_destroy(&y);
    tdl_graph_destroy(&graph);
    check_context_close(ctx);
    return check_result();
}
