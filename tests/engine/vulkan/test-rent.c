/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Tensors in other hands: to and fro between two VkDevices, to Vulkan code on
 * the same one, everything refused in between, and nothing lost at the end.
 */
#include "barriers.h"
#include "fds.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

enum { ELEMENTS = 24, BYTES = ELEMENTS * sizeof(float) };

static struct tdl_tensor_params params(uint32_t usage)
{
    return (struct tdl_tensor_params){.dtype = TDL_FLOAT32, .rank = 4, .shape = {1, 2, 3, 4},
                                      .usage = usage, .label = "lent"};
}
#define USAGE (TDL_TENSOR_READABLE | TDL_TENSOR_WRITABLE)

static int count_fds(void)
{
    int count = 0;
    for (int fd = 0; fd < 256; fd++)
        count += fcntl(fd, F_GETFD) >= 0;
    return count;
}

static void close_fds(const struct tdl_rental *r)
{
    if (r->memory_fd >= 0)
        close(r->memory_fd);
    if (r->semaphore_fd >= 0)
        close(r->semaphore_fd);
}

static struct tdl_tensor *tensor(struct tdl_context *ctx, uint32_t usage)
{
    struct tdl_tensor *t;
    struct tdl_tensor_params p = params(usage);
    OK(tdl_tensor_create(ctx, &p, &t));
    return t;
}

/* y = x + summand */
static struct tdl_graph *adder(struct tdl_context *ctx, float summand)
{
    struct tdl_builder *builder;
    struct tdl_graph *graph;
    struct tdl_tensor_params p = params(0);
    const struct tdl_tensor_params one = {.dtype = TDL_FLOAT32, .rank = 4, .shape = {1, 1, 1, 1}};
    OK(check_builder(ctx, &builder));
    struct tdl_operand *x = tdl_builder_input(builder, "x", &p);
    struct tdl_operand *c = tdl_builder_constant(builder, &one, &summand, sizeof(summand));
    tdl_builder_output(builder, "y", tdl_builder_add(builder, x, c));
    OK(tdl_builder_build(builder, NULL, &graph));
    tdl_builder_destroy(&builder);
    return graph;
}

static enum tdl_result run(struct tdl_graph *graph, struct tdl_tensor *x, struct tdl_tensor *y)
{
    return tdl_graph_dispatch(graph, &(struct tdl_binding){"x", x}, 1,
                              &(struct tdl_binding){"y", y}, 1, NULL);
}

/* ------------------------------------------------- what goes to the driver */

/* Many drivers run submissions in their order, and memory is where it is: that
 * a wait, or half of a transfer of ownership, is missing shows in no result. */
static struct {
    VkSemaphore waited[64];
    uint64_t values[64];
    uint32_t wait_count, acquires, releases;
} seen;

static bool is_outside(uint32_t family)
{
    return family == VK_QUEUE_FAMILY_EXTERNAL || family == VK_QUEUE_FAMILY_FOREIGN_EXT;
}

VkResult __real_vkQueueSubmit(VkQueue queue, uint32_t count, const VkSubmitInfo *infos,
                              VkFence fence);
VkResult __wrap_vkQueueSubmit(VkQueue queue, uint32_t count, const VkSubmitInfo *infos,
                              VkFence fence);
VkResult __wrap_vkQueueSubmit(VkQueue queue, uint32_t count, const VkSubmitInfo *infos,
                              VkFence fence)
{
    for (uint32_t i = 0; i < count; i++) {
        const VkTimelineSemaphoreSubmitInfo *values = infos[i].pNext;
        for (uint32_t k = 0; k < infos[i].waitSemaphoreCount; k++, seen.wait_count++) {
            seen.waited[seen.wait_count % 64] = infos[i].pWaitSemaphores[k];
            seen.values[seen.wait_count % 64] =
                values && values->sType == VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO &&
                        k < values->waitSemaphoreValueCount
                    ? values->pWaitSemaphoreValues[k]
                    : 0;
        }
    }
    return __real_vkQueueSubmit(queue, count, infos, fence);
}

static void count_handovers(uint32_t buffer_count, const VkBufferMemoryBarrier *buffers,
                            uint32_t image_count, const VkImageMemoryBarrier *images)
{
    (void)image_count, (void)images;
    for (uint32_t i = 0; i < buffer_count; i++) {
        seen.acquires += is_outside(buffers[i].srcQueueFamilyIndex);
        seen.releases += is_outside(buffers[i].dstQueueFamilyIndex);
    }
}

static uint32_t times_waited(VkSemaphore semaphore, uint64_t value)
{
    uint32_t times = 0;
    for (uint32_t i = 0; i < 64 && i < seen.wait_count; i++)
        times += seen.waited[i] == semaphore && seen.values[i] == value;
    return times;
}

/* ------------------------------------------------------------- two devices */

/* Nothing can be done with it, or with a view of it, and it is named. */
static void check_exclusive(struct tdl_tensor *t, struct tdl_tensor *view, struct tdl_tensor *other,
                            struct tdl_graph *graph)
{
    const enum tdl_result wrong = TDL_ERROR_INVALID_STATE;
    float data[ELEMENTS] = {0};
    struct tdl_rental rental;
    FAILS(tdl_tensor_write(t, data, BYTES, NULL), wrong, "lent is rented out");
    FAILS(tdl_tensor_read(t, data, BYTES), wrong, "lent is rented out");
    FAILS(tdl_tensor_write(view, data, BYTES, NULL), wrong, "lent is rented out");
    FAILS(tdl_tensor_read(view, data, BYTES), wrong, "lent is rented out");
    FAILS(run(graph, t, other), wrong, "lent is rented out");
    FAILS(run(graph, other, t), wrong, "lent is rented out");
    FAILS(tdl_tensor_rent(t, TDL_HANDLE_OPAQUE_FD, &rental), wrong, "lent is rented out");
    FAILS(tdl_tensor_rent(view, TDL_HANDLE_KNOWN, &rental), wrong, "lent is rented out");
    CHECK(rental.memory_fd == -1 && rental.semaphore_fd == -1, "fds came out");
}

/* a adds 1, b adds 100, and it goes to and fro; nobody reads in between. */
static void test_two_devices(struct tdl_context *a, struct tdl_context *b,
                             enum tdl_handle_type type)
{
    enum { ROUNDS = 20 };
    const uint32_t flat = ELEMENTS;
    const int before = count_fds();
    float data[ELEMENTS];
    struct tdl_rental rental;
    const uint32_t exportable = type == TDL_HANDLE_DMA_BUF ? TDL_TENSOR_EXPORTABLE_DMA_BUF
                                                           : TDL_TENSOR_EXPORTABLE;
    struct tdl_tensor *ours = tensor(a, USAGE | exportable), *spare = tensor(a, USAGE);
    struct tdl_tensor *theirs, *work = tensor(b, USAGE), *view;
    struct tdl_graph *one = adder(a, 1), *hundred = adder(b, 100), *copy_b = adder(b, 0),
                     *copy_a = adder(a, 0);
    struct tdl_tensor_params p = params(USAGE);
    check_begin("%s between two devices", type == TDL_HANDLE_DMA_BUF ? "dma-buf" : "opaque fd");
    for (int i = 0; i < ELEMENTS; i++)
        data[i] = (float)i;
    OK(tdl_tensor_reshape(ours, 1, &flat, &view));
    OK(tdl_tensor_write(ours, data, BYTES, NULL));
    OK(tdl_tensor_rent(ours, type, &rental));
    printf("%s: order %s\n", type == TDL_HANDLE_DMA_BUF ? "dma-buf" : "opaque fd",
           rental.order == TDL_ORDER_TIMELINE    ? "by timeline semaphore"
           : rental.order == TDL_ORDER_SYNC_FILE ? "by sync file"
                                                 : "by the CPU");
    CHECK(rental.order == (tdl_context_device(a)->timeline_fd ? TDL_ORDER_TIMELINE
                           : tdl_context_device(a)->sync_fd   ? TDL_ORDER_SYNC_FILE
                                                              : TDL_ORDER_NONE),
          "order %d", rental.order);
    check_exclusive(ours, view, spare, one);
    OK(tdl_tensor_import(b, &p, &rental, &theirs));
    close_fds(&rental);
    int during = count_fds();

    struct tdl_context_stats stats_a, stats_b, now_a, now_b;
    tdl_context_get_stats(a, &stats_a);
    tdl_context_get_stats(b, &stats_b);
    memset(&seen, 0, sizeof(seen));
    for (int i = 0; i < ROUNDS; i++) {
        OK(run(hundred, theirs, work));
        OK(run(copy_b, work, theirs));
        OK(tdl_tensor_rent(theirs, TDL_HANDLE_KNOWN, &rental));
        CHECK(rental.memory_fd == -1, "a memory fd for those who have it");
        FAILS(run(hundred, theirs, work), TDL_ERROR_INVALID_STATE, "lent is rented out");
        OK(tdl_tensor_return(ours, &rental));
        OK(run(one, ours, spare));
        OK(run(copy_a, spare, ours));
        OK(tdl_tensor_rent(ours, TDL_HANDLE_KNOWN, &rental));
        OK(tdl_tensor_return(theirs, &rental));
    }
    /* Vulkan: ownership is released by the one, and acquired by the other. */
    CHECK(seen.acquires == 2 * ROUNDS && seen.releases == 2 * ROUNDS,
          "%u acquisitions and %u releases in %d changes of hands", seen.acquires, seen.releases,
          2 * ROUNDS);
    tdl_context_get_stats(a, &now_a);
    tdl_context_get_stats(b, &now_b);
    if (rental.order != TDL_ORDER_NONE)
        CHECK(now_a.waits == stats_a.waits && now_b.waits == stats_b.waits,
              "the CPU waited %llu times", (unsigned long long)(now_a.waits - stats_a.waits));
    CHECK(count_fds() == during, "%d fds are open, %d were", count_fds(), during);
    OK(tdl_tensor_read(theirs, data, BYTES));
    for (int i = 0; i < ELEMENTS; i++)
        CHECK(data[i] == (float)(i + ROUNDS * 101), "element %d is %g", i, data[i]);

    /* The owner's end while rented: the others' import holds the memory. */
    tdl_tensor_destroy(&ours);
    tdl_tensor_destroy(&view);
    OK(tdl_context_sync(a));
    OK(tdl_tensor_read(theirs, data, BYTES));
    CHECK(data[1] == (float)(1 + ROUNDS * 101), "the memory went: %g", data[1]);
    tdl_tensor_destroy(&theirs);
    /* A rental's timeline goes with the end of one more submission. */
    struct tdl_tensor *more_a = tensor(a, USAGE), *more_b = tensor(b, USAGE);
    OK(run(one, spare, more_a));
    OK(run(hundred, work, more_b));
    tdl_tensor_destroy(&more_a);
    tdl_tensor_destroy(&more_b);
    tdl_tensor_destroy(&spare);
    tdl_tensor_destroy(&work);
    tdl_graph_destroy(&one);
    tdl_graph_destroy(&hundred);
    tdl_graph_destroy(&copy_a);
    tdl_graph_destroy(&copy_b);
    OK(tdl_context_sync(a));
    OK(tdl_context_sync(b));
    CHECK(count_fds() == before, "%d fds are open, %d were", count_fds(), before);
}

/* ------------------------------------------------------------------- errors */

static void test_errors(struct tdl_context *a, struct tdl_context *b)
{
    const enum tdl_result wrong = TDL_ERROR_INVALID_ARGUMENT, state = TDL_ERROR_INVALID_STATE;
    struct tdl_tensor *plain = tensor(a, USAGE), *t = tensor(a, USAGE | TDL_TENSOR_EXPORTABLE);
    struct tdl_tensor *other;
    struct tdl_rental rental, end = {.order = TDL_ORDER_TIMELINE};
    struct tdl_tensor_params p = params(USAGE);
    float data[ELEMENTS];
    check_begin("errors");
    FAILS(tdl_tensor_rent(plain, TDL_HANDLE_OPAQUE_FD, &rental), wrong, "TDL_TENSOR_EXPORTABLE");
    FAILS(tdl_tensor_return(plain, NULL), wrong, "TDL_TENSOR_EXPORTABLE");
    FAILS(tdl_tensor_return(t, NULL), state, "lent is not rented");
    FAILS(tdl_tensor_rent(t, TDL_HANDLE_KNOWN, &rental), state, "nobody knows it");
    FAILS(tdl_tensor_rent(t, (enum tdl_handle_type)7, &rental), wrong, "handle 7");
    if (!tdl_context_device(a)->dma_buf_export)
        FAILS(tdl_tensor_rent(t, TDL_HANDLE_DMA_BUF, &rental), TDL_ERROR_UNSUPPORTED, "dma-buf");
    OK(tdl_tensor_read(t, data, BYTES)); /* and after all that it is still ours */

    OK(tdl_tensor_rent(t, TDL_HANDLE_VK_BUFFER, &rental));
    CHECK(rental.memory_fd == -1 && rental.semaphore_fd == -1 && rental.buffer &&
              rental.semaphore && rental.order == TDL_ORDER_TIMELINE,
          "order %d", rental.order);
    FAILS(tdl_tensor_import(b, &p, &rental, &other), wrong, "no memory_fd");
    end.wait_value = rental.wait_value - 1;
    FAILS(tdl_tensor_return(t, &end), wrong, "the rental's was");
    end.order = (enum tdl_order)5;
    FAILS(tdl_tensor_return(t, &end), wrong, "order 5");
    FAILS(tdl_tensor_read(t, data, BYTES), state, "lent is rented out"); /* still */
    OK(tdl_tensor_return(t, NULL));
    FAILS(tdl_tensor_return(t, NULL), state, "lent is not rented");
    OK(tdl_tensor_read(t, data, BYTES));

    if (tdl_context_device(a)->external_memory_fd) {
        OK(tdl_tensor_rent(t, TDL_HANDLE_OPAQUE_FD, &rental));
        p.shape[0] = 9;
        FAILS(tdl_tensor_import(b, &p, &rental, &other), wrong, "the rental has 96 bytes");
        CHECK(!other, "a tensor came out");
        close_fds(&rental);
    }
    tdl_tensor_destroy(&plain);
    tdl_tensor_destroy(&t); /* rented or not */
}

/* ---------------------------------------------------------- on one VkDevice */

/* Vulkan code of the test's own that borrows a tensor as VkBuffer. */
struct borrower {
    struct tdl_vulkan_device vk;
    VkCommandPool pool;
    VkCommandBuffer commands;
    VkSemaphore gate; /* the CPU opens it */
};

static VkSemaphore timeline(VkDevice device)
{
    const VkSemaphoreTypeCreateInfo type = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
        .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE};
    VkSemaphore semaphore;
    VkResult r = vkCreateSemaphore(
        device,
        &(VkSemaphoreCreateInfo){.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO, .pNext = &type},
        NULL, &semaphore);
    REQUIRE(r == VK_SUCCESS, "no semaphore: %d", r);
    return semaphore;
}

static void borrower_open(struct borrower *b, struct tdl_context *ctx)
{
    tdl_context_get_vulkan(ctx, &b->vk);
    VkResult r = vkCreateCommandPool(b->vk.device,
                                     &(VkCommandPoolCreateInfo){
                                         .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                         .queueFamilyIndex = b->vk.queue_family},
                                     NULL, &b->pool);
    REQUIRE(r == VK_SUCCESS, "no command pool: %d", r);
    b->gate = timeline(b->vk.device);
}

static void borrower_close(struct borrower *b)
{
    vkDestroyCommandPool(b->vk.device, b->pool, NULL);
    vkDestroySemaphore(b->vk.device, b->gate, NULL);
}

/* Queue a fill of the rented buffer that stands until the gate opens. */
static void fill_gated(struct borrower *b, const struct tdl_rental *rental, uint32_t word,
                       uint64_t gate)
{
    vkResetCommandPool(b->vk.device, b->pool, 0);
    vkAllocateCommandBuffers(b->vk.device,
                             &(VkCommandBufferAllocateInfo){
                                 .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                 .commandPool = b->pool,
                                 .commandBufferCount = 1},
                             &b->commands);
    vkBeginCommandBuffer(b->commands, &(VkCommandBufferBeginInfo){
                                          .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO});
    vkCmdFillBuffer(b->commands, rental->buffer, 0, VK_WHOLE_SIZE, word);
    vkEndCommandBuffer(b->commands);
    const VkSemaphore waits[] = {rental->semaphore, b->gate};
    const uint64_t wait_values[] = {rental->wait_value, gate}, done = rental->wait_value + 1;
    const VkPipelineStageFlags stages[] = {VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
                                           VK_PIPELINE_STAGE_ALL_COMMANDS_BIT};
    const VkTimelineSemaphoreSubmitInfo values = {
        .sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
        .waitSemaphoreValueCount = 2,
        .pWaitSemaphoreValues = wait_values,
        .signalSemaphoreValueCount = 1,
        .pSignalSemaphoreValues = &done,
    };
    b->vk.lock_queue(b->vk.lock_data);
    VkResult r = vkQueueSubmit(b->vk.queue, 1,
                               &(VkSubmitInfo){.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                                               .pNext = &values,
                                               .waitSemaphoreCount = 2,
                                               .pWaitSemaphores = waits,
                                               .pWaitDstStageMask = stages,
                                               .commandBufferCount = 1,
                                               .pCommandBuffers = &b->commands,
                                               .signalSemaphoreCount = 1,
                                               .pSignalSemaphores = &rental->semaphore},
                               VK_NULL_HANDLE);
    b->vk.unlock_queue(b->vk.lock_data);
    REQUIRE(r == VK_SUCCESS, "vkQueueSubmit: %d", r);
}

static void open_gate(const struct borrower *b, uint64_t value)
{
    PFN_vkSignalSemaphore signal =
        (PFN_vkSignalSemaphore)vkGetDeviceProcAddr(b->vk.device, "vkSignalSemaphore");
    VkResult r = signal(b->vk.device,
                        &(VkSemaphoreSignalInfo){.sType = VK_STRUCTURE_TYPE_SEMAPHORE_SIGNAL_INFO,
                                                 .semaphore = b->gate,
                                                 .value = value});
    REQUIRE(r == VK_SUCCESS, "vkSignalSemaphore: %d", r);
}

static void test_one_device(struct tdl_context *ctx)
{
    struct tdl_tensor *t = tensor(ctx, USAGE | TDL_TENSOR_EXPORTABLE), *copy = tensor(ctx, USAGE);
    struct tdl_graph *graph = adder(ctx, 1);
    struct tdl_rental rental;
    struct borrower b;
    float data[ELEMENTS], two = 2.0f, eight = 8.0f;
    uint32_t word;
    check_begin("a VkBuffer on the same device");
    borrower_open(&b, ctx);
    memset(data, 0, sizeof(data));
    OK(tdl_tensor_write(t, data, BYTES, NULL));
    for (uint64_t round = 1; round <= 3; round++) {
        OK(tdl_tensor_rent(t, TDL_HANDLE_VK_BUFFER, &rental));
        memcpy(&word, round & 1 ? &two : &eight, sizeof(word));
        fill_gated(&b, &rental, word, round);
        rental.wait_value++;
        memset(&seen, 0, sizeof(seen));
        OK(tdl_tensor_return(t, &rental)); /* long before they are done */
        OK(run(graph, t, copy));
        CHECK(times_waited(rental.semaphore, rental.wait_value) == 1,
              "%u waits for what was returned",
              times_waited(rental.semaphore, rental.wait_value));
        FAILS(tdl_context_wait(ctx, tdl_context_last_point(ctx), 0), TDL_ERROR_TIMEOUT, "");
        open_gate(&b, round);
        OK(tdl_tensor_read(copy, data, BYTES));
        CHECK(data[ELEMENTS - 1] == (round & 1 ? 3.0f : 9.0f), "round %d: %g", (int)round,
              data[ELEMENTS - 1]);
    }
    /* Returned, and gone before the others are done: it stays until then. */
    OK(tdl_tensor_rent(t, TDL_HANDLE_VK_BUFFER, &rental));
    fill_gated(&b, &rental, 0, 4);
    rental.wait_value++;
    struct tdl_context_stats with, without;
    tdl_context_get_stats(ctx, &with);
    OK(tdl_tensor_return(t, &rental));
    tdl_tensor_destroy(&t);
    FAILS(tdl_context_wait(ctx, tdl_context_last_point(ctx), 0), TDL_ERROR_TIMEOUT, "");
    tdl_context_get_stats(ctx, &without);
    CHECK(without.memory_bytes == with.memory_bytes, "the memory went while others filled it");
    open_gate(&b, 4);
    OK(tdl_context_sync(ctx));
    tdl_tensor_destroy(&copy);
    tdl_graph_destroy(&graph);
    borrower_close(&b);
}

/* Semaphores that are destroyed as soon as their last submission is seen to end. Drivers with a
 * thread for the queue may still be releasing the one that was waited for. */
static void test_early_end(struct tdl_context *ctx)
{
    enum { ROUNDS = 200 };
    struct tdl_rental rental;
    struct borrower b;
    check_begin("gone as soon as it may");
    borrower_open(&b, ctx);
    for (uint64_t round = 1; round <= ROUNDS; round++) {
        struct tdl_tensor *t = tensor(ctx, USAGE | TDL_TENSOR_EXPORTABLE);
        OK(tdl_tensor_rent(t, TDL_HANDLE_VK_BUFFER, &rental));
        fill_gated(&b, &rental, 0, round);
        rental.wait_value++;
        OK(tdl_tensor_return(t, &rental));
        tdl_tensor_destroy(&t);
        open_gate(&b, round);
        OK(tdl_context_sync(ctx));
    }
    borrower_close(&b);
}

/* ------------------------------------------------------------------ threads */

struct race {
    struct tdl_tensor *tensor;
    atomic_int won;
};

static void *rent_it(void *data)
{
    struct race *race = data;
    struct tdl_rental rental;
    float values[ELEMENTS];
    enum tdl_result r = tdl_tensor_rent(race->tensor, TDL_HANDLE_VK_BUFFER, &rental);
    atomic_fetch_add(&race->won, r == TDL_OK);
    if (r != TDL_OK)
        CHECK(r == TDL_ERROR_INVALID_STATE, "%s", tdl_last_error());
    CHECK(tdl_tensor_read(race->tensor, values, BYTES) == TDL_ERROR_INVALID_STATE,
          "a rented tensor was read");
    return NULL;
}

static void test_threads(struct tdl_context *ctx)
{
    enum { THREADS = 4, ROUNDS = 10 };
    struct race race = {.tensor = tensor(ctx, USAGE | TDL_TENSOR_EXPORTABLE)};
    check_begin("several who want it");
    for (int round = 0; round < ROUNDS; round++) {
        pthread_t threads[THREADS];
        atomic_store(&race.won, 0);
        for (int i = 0; i < THREADS; i++)
            REQUIRE(pthread_create(&threads[i], NULL, rent_it, &race) == 0, "no thread");
        for (int i = 0; i < THREADS; i++)
            pthread_join(threads[i], NULL);
        CHECK(race.won == 1, "round %d: %d have it", round, race.won);
        OK(tdl_tensor_return(race.tensor, NULL));
    }
    tdl_tensor_destroy(&race.tensor);
}

/* ------------------------------------------------------------------ waiting */

struct waiter {
    struct tdl_tensor *tensor;
    struct tdl_batch *batch; /* with a use of it already; or NULL */
    atomic_bool began, ended;
    float first;
};

static void *use_it(void *data)
{
    struct waiter *w = data;
    float values[ELEMENTS] = {0};
    atomic_store(&w->began, true);
    if (w->batch)
        CHECK(tdl_batch_submit(w->batch, NULL) == TDL_OK, "%s", tdl_last_error());
    else
        CHECK(tdl_tensor_read(w->tensor, values, BYTES) == TDL_OK, "%s", tdl_last_error());
    atomic_store(&w->ended, true);
    w->first = values[0];
    return NULL;
}

/* Uses wait until it is returned: those that begin then, and what was in a batch before. */
static void test_waiting(struct tdl_context *ctx)
{
    const uint32_t usage = USAGE | TDL_TENSOR_EXPORTABLE | TDL_TENSOR_WAITS_IF_RENTED;
    struct tdl_tensor_params p = params(USAGE | TDL_TENSOR_WAITS_IF_RENTED);
    struct tdl_tensor *t, *y = tensor(ctx, USAGE);
    struct tdl_graph *graph = adder(ctx, 1);
    const float values[ELEMENTS] = {7};
    struct tdl_rental rental;
    check_begin("uses that wait");
    FAILS(tdl_tensor_create(ctx, &p, &t), TDL_ERROR_INVALID_ARGUMENT, "what can be rented");
    t = tensor(ctx, usage);
    OK(tdl_tensor_write(t, values, BYTES, NULL));
    for (int in_batch = 0; in_batch < 2; in_batch++) {
        struct waiter w = {.tensor = t};
        pthread_t thread;
        if (in_batch) {
            OK(tdl_batch_create(ctx, &w.batch));
            OK(tdl_batch_begin(w.batch));
            OK(tdl_batch_graph(w.batch, graph, &(struct tdl_binding){"x", t}, 1,
                               &(struct tdl_binding){"y", y}, 1));
        }
        OK(tdl_tensor_rent(t, TDL_HANDLE_VK_BUFFER, &rental));
        REQUIRE(pthread_create(&thread, NULL, use_it, &w) == 0, "no thread");
        while (!atomic_load(&w.began))
            usleep(100);
        usleep(20000); /* an error would be there by now */
        CHECK(!atomic_load(&w.ended), "used while others have it");
        OK(tdl_tensor_return(t, NULL));
        pthread_join(thread, NULL);
        CHECK(atomic_load(&w.ended) && (in_batch || w.first == 7), "%g", (double)w.first);
        tdl_batch_destroy(&w.batch);
    }
    float got[ELEMENTS];
    OK(tdl_tensor_read(y, got, BYTES));
    CHECK(got[0] == 8, "%g", (double)got[0]);
    tdl_graph_destroy(&graph);
    tdl_tensor_destroy(&t);
    tdl_tensor_destroy(&y);
}

int main(void)
{
    struct tdl_context *a = check_context_open(), *b = check_context_open();
    const struct tdl_device_info *info = tdl_context_device(a);
    barriers_watch(count_handovers);
    if (info->external_memory_fd)
        test_two_devices(a, b, TDL_HANDLE_OPAQUE_FD);
    else
        printf("not run: %s has no opaque fds\n", info->name);
    if (info->dma_buf_export && info->external_memory_dma_buf)
        test_two_devices(a, b, TDL_HANDLE_DMA_BUF);
    else
        printf("not run: %s exports no dma-bufs\n", info->name);
    test_errors(a, b);
    test_one_device(a);
    test_early_end(a);
    test_threads(a);
    test_waiting(a);
    check_context_close(a);
    check_context_close(b);
    return check_result();
}
