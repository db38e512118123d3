/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Contexts on a device from outside, one and two; our device for others; and
 * order by semaphores and sync files.
 */
#include "neighbour.h"
#include "fds.h"

#include <vulkan/batch.h>

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

enum { SIZE = 4096 };

/* A context on a device from outside; NULL with text. */
static struct tdl_context *adopt(const struct tdl_vulkan_device *vk)
{
    struct tdl_context *ctx;
    OK(tdl_context_create_from_vulkan(
        &(struct tdl_context_params){.log = check_log, .cache_dir = ""}, vk, &ctx));
    return ctx;
}

/* A graph that adds 1, run on 0, 1, 2 … */
static void run_graph(struct tdl_context *ctx)
{
    const struct tdl_tensor_params params = {
        .dtype = TDL_FLOAT32, .rank = 4, .shape = {1, 2, 3, 4},
        .usage = TDL_TENSOR_READABLE | TDL_TENSOR_WRITABLE};
    float data[24], one = 1;
    struct tdl_builder *builder;
    struct tdl_graph *graph;
    struct tdl_tensor *x, *y;
    OK(check_builder(ctx, &builder));
    struct tdl_operand *in = tdl_builder_input(builder, "x", &params);
    struct tdl_operand *constant = tdl_builder_constant(
        builder,
        &(struct tdl_tensor_params){.dtype = TDL_FLOAT32, .rank = 4, .shape = {1, 1, 1, 1}}, &one,
        sizeof(one));
    tdl_builder_output(builder, "y", tdl_builder_add(builder, in, constant));
    OK(tdl_builder_build(builder, NULL, &graph));
    tdl_builder_destroy(&builder);
    OK(tdl_tensor_create(ctx, &params, &x));
    OK(tdl_tensor_create(ctx, &params, &y));
    for (int i = 0; i < 24; i++)
        data[i] = (float)i;
    OK(tdl_tensor_write(x, data, sizeof(data), NULL));
    OK(tdl_graph_dispatch(graph, &(struct tdl_binding){"x", x}, 1, &(struct tdl_binding){"y", y},
                          1, NULL));
    OK(tdl_tensor_read(y, data, sizeof(data)));
    for (int i = 0; i < 24; i++)
        CHECK(data[i] == (float)(i + 1), "element %d is %g", i, data[i]);
    tdl_graph_destroy(&graph);
    tdl_tensor_destroy(&x);
    tdl_tensor_destroy(&y);
}

/* ------------------------------------------------------------------ devices */

static void test_adopted(void)
{
    struct neighbour d;
    neighbour_open(&d, true);
    check_begin("a graph on a device from outside");
    struct tdl_context *ctx = adopt(&d.vk);
    int locks = d.locks;
    run_graph(ctx);
    CHECK(d.locks > locks, "the queue was used without its lock");
    struct tdl_context_stats stats;
    tdl_context_get_stats(ctx, &stats);
    CHECK((uint64_t)d.locks == stats.submits, "%d locks for %llu submissions", d.locks,
          (unsigned long long)stats.submits);

    check_begin("two contexts on one device");
    struct tdl_context *second = adopt(&d.vk);
    run_graph(second);
    run_graph(ctx);
    tdl_context_destroy(&ctx); /* must leave the device alone */
    run_graph(second);

    check_begin("the device of a context on a device from outside");
    struct tdl_vulkan_device vk;
    tdl_context_get_vulkan(second, &vk);
    CHECK(vk.device == d.vk.device && vk.queue == d.vk.queue &&
              vk.extension_count == d.vk.extension_count &&
              vk.instance_version == d.vk.instance_version,
          "other handles");
    struct tdl_context *third = adopt(&vk);
    run_graph(third);
    tdl_context_destroy(&third);
    tdl_context_destroy(&second);
    neighbour_close(&d);
}

/* ------------------------------------------------------------------- buffers */

/* A VkBuffer with memory that the CPU can look into. */
struct theirs {
    VkBuffer buffer;
    VkDeviceMemory memory;
    float *map;
};

static void theirs_open(const struct tdl_vulkan_device *vk, struct theirs *t, uint64_t size)
{
    VkMemoryRequirements needs;
    VkPhysicalDeviceMemoryProperties types;
    const VkMemoryPropertyFlags mapped =
        VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    uint32_t type = 0;
    const VkBufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                                     .size = size,
                                     .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT |
                                              VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
                                              VK_BUFFER_USAGE_TRANSFER_DST_BIT};
    REQUIRE(vkCreateBuffer(vk->device, &info, NULL, &t->buffer) == VK_SUCCESS, "no buffer");
    vkGetBufferMemoryRequirements(vk->device, t->buffer, &needs);
    vkGetPhysicalDeviceMemoryProperties(vk->physical_device, &types);
    while (type < types.memoryTypeCount &&
           (!(needs.memoryTypeBits >> type & 1) ||
            (types.memoryTypes[type].propertyFlags & mapped) != mapped))
        type++;
    const VkMemoryAllocateInfo memory = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                         .allocationSize = needs.size,
                                         .memoryTypeIndex = type};
    REQUIRE(vkAllocateMemory(vk->device, &memory, NULL, &t->memory) == VK_SUCCESS &&
                vkBindBufferMemory(vk->device, t->buffer, t->memory, 0) == VK_SUCCESS &&
                vkMapMemory(vk->device, t->memory, 0, VK_WHOLE_SIZE, 0, (void **)&t->map) ==
                    VK_SUCCESS,
            "no memory");
}

static void theirs_close(const struct tdl_vulkan_device *vk, struct theirs *t)
{
    vkDestroyBuffer(vk->device, t->buffer, NULL);
    vkFreeMemory(vk->device, t->memory, NULL);
}

/* Theirs becomes a tensor: what they wrote is read, what is written they see, and it stays
 * theirs. */
static void test_wrapped(void)
{
    enum { COUNT_OF = 100, BYTES = COUNT_OF * sizeof(float) };
    const struct tdl_tensor_params p = {.rank = 1, .shape = {COUNT_OF},
                                        .usage = TDL_TENSOR_READABLE | TDL_TENSOR_WRITABLE};
    float data[COUNT_OF];
    struct neighbour d;
    struct theirs t;
    struct tdl_buffer *b;
    struct tdl_tensor *x;
    uint64_t point;
    neighbour_open(&d, false);
    check_begin("a VkBuffer from outside");
    struct tdl_context *ctx = adopt(&d.vk);
    theirs_open(&d.vk, &t, BYTES);
    for (int i = 0; i < COUNT_OF; i++)
        t.map[i] = (float)i;
    struct tdl_buffer_wrap_params w = {.buffer = t.buffer, .size = BYTES};
    OK(tdl_buffer_wrap(ctx, &w, &b));
    OK(tdl_tensor_create_on(b, &p, &x));
    OK(tdl_tensor_read(x, data, BYTES));
    CHECK(!memcmp(data, t.map, BYTES), "the tensor has other values");
    data[9] = -9;
    OK(tdl_tensor_write(x, data, BYTES, &point));
    OK(tdl_context_wait(ctx, point, TDL_WAIT_FOREVER));
    CHECK(!memcmp(data, t.map, BYTES), "the VkBuffer has other values");
    tdl_buffer_destroy(&b);
    tdl_tensor_destroy(&x);

    w.usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT;
    FAILS(tdl_buffer_wrap(ctx, &w, &b), TDL_ERROR_INVALID_ARGUMENT, "TRANSFER_SRC");
    w = (struct tdl_buffer_wrap_params){.buffer = t.buffer};
    FAILS(tdl_buffer_wrap(ctx, &w, &b), TDL_ERROR_INVALID_ARGUMENT, "the size");
    tdl_context_destroy(&ctx);
    CHECK(t.map[9] == -9, "the memory went with the context");
    theirs_close(&d.vk, &t);
    neighbour_close(&d);
}

static void test_ours(void)
{
    struct tdl_context *ctx = check_context_open(), *second;
    struct tdl_vulkan_device vk;
    check_begin("our device for others");
    tdl_context_get_vulkan(ctx, &vk);
    CHECK(vk.instance && vk.physical_device && vk.device && vk.queue && vk.lock_queue &&
              vk.unlock_queue && vk.features,
          "something is missing");
    tdl_context_lock_queue(ctx);
    VkResult r = vkQueueWaitIdle(vk.queue);
    tdl_context_unlock_queue(ctx);
    CHECK(r == VK_SUCCESS, "vkQueueWaitIdle: %d", r);
    second = adopt(&vk);
    run_graph(second);
    run_graph(ctx);
    tdl_context_destroy(&second);
    check_context_close(ctx);
}

/* Extensions that were not enabled are not used. */
static void test_bare(void)
{
    struct neighbour d;
    neighbour_open(&d, false);
    check_begin("a device without extensions");
    struct tdl_context *ctx = adopt(&d.vk);
    const struct tdl_device_info *info = tdl_context_device(ctx);
    struct tdl_buffer *buffer;
    uint64_t offset;
    CHECK(!info->external_memory_fd && !info->external_memory_host && !info->sync_fd &&
              !info->external_memory_dma_buf && !info->drm_format_modifiers && !info->timeline_fd &&
              !info->dma_buf_export,
          "extensions that were not enabled");
    FAILS(tdl_buffer_create_exportable(ctx, TDL_HANDLE_OPAQUE_FD, SIZE, &buffer),
          TDL_ERROR_UNSUPPORTED, "exports no memory");
    FAILS(tdl_buffer_import_fd(ctx, TDL_HANDLE_OPAQUE_FD, 0, SIZE, &buffer), TDL_ERROR_UNSUPPORTED,
          "VK_KHR_external_memory_fd");
    FAILS(tdl_buffer_import_host(ctx, &d, SIZE, &buffer, &offset), TDL_ERROR_UNSUPPORTED,
          "VK_EXT_external_memory_host");
    run_graph(ctx);
    tdl_context_destroy(&ctx);

    check_begin("a device that does not do");
    struct tdl_vulkan_device vk = d.vk;
    vk.features = NULL;
    FAILS(tdl_context_create_from_vulkan(NULL, &vk, &ctx), TDL_ERROR_UNSUPPORTED,
          "timelineSemaphore");
    CHECK(!ctx, "a context came out");
    vk = d.vk;
    vk.instance_version = VK_API_VERSION_1_0;
    FAILS(tdl_context_create_from_vulkan(NULL, &vk, &ctx), TDL_ERROR_UNSUPPORTED, "1.1 or more");
    vk.instance_version = VK_API_VERSION_1_1;
    FAILS(tdl_context_create_from_vulkan(NULL, &vk, &ctx), TDL_ERROR_UNSUPPORTED,
          "VK_KHR_timeline_semaphore");
    vk = d.vk;
    vk.queue_family = 99;
    FAILS(tdl_context_create_from_vulkan(NULL, &vk, &ctx), TDL_ERROR_INVALID_ARGUMENT,
          "family 99 does not exist");
    vk = d.vk;
    vk.queue = NULL;
    FAILS(tdl_context_create_from_vulkan(NULL, &vk, &ctx), TDL_ERROR_INVALID_ARGUMENT, "queue");
    vk = d.vk;
    vk.unlock_queue = NULL;
    FAILS(tdl_context_create_from_vulkan(NULL, &vk, &ctx), TDL_ERROR_INVALID_ARGUMENT, "both");
    FAILS(tdl_context_create_from_vulkan(NULL, NULL, &ctx), TDL_ERROR_INVALID_ARGUMENT,
          "device is NULL");
    neighbour_close(&d);
}

/* --------------------------------------------------------------- semaphores */

/* The signals of one submission have no order among each other. */
static void wait_semaphore(const struct tdl_vulkan_device *vk, VkSemaphore semaphore,
                           uint64_t value)
{
    PFN_vkWaitSemaphores wait =
        (PFN_vkWaitSemaphores)vkGetDeviceProcAddr(vk->device, "vkWaitSemaphores");
    VkResult r = wait(vk->device,
                      &(VkSemaphoreWaitInfo){.sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
                                             .semaphoreCount = 1,
                                             .pSemaphores = &semaphore,
                                             .pValues = &value},
                      10000000000u);
    CHECK(r == VK_SUCCESS, "vkWaitSemaphores: %d", r);
}

static uint64_t semaphore_value(const struct tdl_vulkan_device *vk, VkSemaphore semaphore)
{
    PFN_vkGetSemaphoreCounterValue get = (PFN_vkGetSemaphoreCounterValue)vkGetDeviceProcAddr(
        vk->device, "vkGetSemaphoreCounterValue");
    uint64_t value = 0;
    REQUIRE(get(vk->device, semaphore, &value) == VK_SUCCESS, "no value");
    return value;
}

/* A batch stands still until its semaphore is signalled, and tells the next. */
static void check_timeline(struct tdl_context *ctx, struct tdl_buffer *buffer)
{
    struct tdl_vulkan_device vk;
    struct tdl_batch *batch;
    uint64_t point;
    check_begin("timeline semaphores of others");
    tdl_context_get_vulkan(ctx, &vk);
    VkSemaphore before = semaphore_new(&vk, VK_SEMAPHORE_TYPE_TIMELINE),
                after = semaphore_new(&vk, VK_SEMAPHORE_TYPE_TIMELINE);
    OK(tdl_batch_create(ctx, &batch));
    for (uint64_t round = 1; round <= 3; round++) {
        OK(tdl_batch_begin(batch));
        OK(tdl_batch_wait_semaphore(batch, before, round * 10));
        OK(tdl_batch_signal_semaphore(batch, after, round * 5));
        OK(tdl_batch_fill_zero(batch, buffer));
        OK(tdl_batch_submit(batch, &point));
        FAILS(tdl_context_wait(ctx, point, 0), TDL_ERROR_TIMEOUT, "not reached");
        FAILS(tdl_context_wait(ctx, point, 1000000), TDL_ERROR_TIMEOUT, "not reached");
        CHECK(semaphore_value(&vk, after) == (round - 1) * 5, "signalled too early");
        semaphore_signal(&vk, before, round * 10);
        OK(tdl_buffer_wait(buffer, true));
        OK(tdl_context_wait(ctx, point, 0));
        wait_semaphore(&vk, after, round * 5);
        CHECK(semaphore_value(&vk, after) == round * 5, "not signalled: %llu",
              (unsigned long long)semaphore_value(&vk, after));
    }
    FAILS(tdl_batch_wait_semaphore(batch, before, 1), TDL_ERROR_INVALID_STATE, "begin");
    OK(tdl_batch_begin(batch));
    FAILS(tdl_batch_wait_semaphore(batch, VK_NULL_HANDLE, 1), TDL_ERROR_INVALID_ARGUMENT,
          "no semaphore");
    for (int i = 0; i < 16; i++)
        OK(tdl_batch_wait_semaphore(batch, before, 1));
    FAILS(tdl_batch_wait_semaphore(batch, before, 1), TDL_ERROR_UNSUPPORTED, "more than 16");
    tdl_batch_cancel(batch); /* and what was added is forgotten */
    OK(tdl_batch_begin(batch));
    OK(tdl_batch_submit(batch, &point));
    OK(tdl_context_wait(ctx, point, TDL_WAIT_FOREVER));
    tdl_batch_destroy(&batch);
    OK(tdl_context_sync(ctx));
    vkDestroySemaphore(vk.device, before, NULL);
    vkDestroySemaphore(vk.device, after, NULL);
}

/* One batch signals, the next waits. */
static void check_binary(struct tdl_context *ctx, struct tdl_buffer *buffer)
{
    struct tdl_vulkan_device vk;
    struct tdl_batch *batch[2];
    check_begin("binary semaphores");
    tdl_context_get_vulkan(ctx, &vk);
    VkSemaphore semaphore = semaphore_new(&vk, VK_SEMAPHORE_TYPE_BINARY);
    for (int i = 0; i < 2; i++)
        OK(tdl_batch_create(ctx, &batch[i]));
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 2; i++)
            OK(tdl_batch_begin(batch[i]));
        OK(tdl_batch_fill_zero(batch[0], buffer));
        OK(tdl_batch_signal_semaphore(batch[0], semaphore, 0));
        OK(tdl_batch_wait_semaphore(batch[1], semaphore, 0));
        for (int i = 0; i < 2; i++)
            OK(tdl_batch_submit(batch[i], NULL));
    }
    OK(tdl_context_sync(ctx));
    for (int i = 0; i < 2; i++)
        tdl_batch_destroy(&batch[i]);
    OK(tdl_context_sync(ctx));
    vkDestroySemaphore(vk.device, semaphore, NULL);
}

/* --------------------------------------------------------------- sync files */

static void check_no_sync_fd(struct tdl_context *ctx)
{
    struct tdl_batch *batch;
    int fd;
    check_begin("no sync files");
    OK(tdl_batch_create(ctx, &batch));
    OK(tdl_batch_begin(batch));
    FAILS(tdl_batch_wait_sync_fd(batch, 0), TDL_ERROR_UNSUPPORTED, "wait on the CPU");
    FAILS(tdl_batch_want_sync_fd(batch), TDL_ERROR_UNSUPPORTED, "wait on the CPU");
    FAILS(tdl_batch_take_sync_fd(batch, &fd), TDL_ERROR_INVALID_STATE, "not submitted");
    OK(tdl_batch_submit(batch, NULL));
    FAILS(tdl_batch_take_sync_fd(batch, &fd), TDL_ERROR_INVALID_STATE, "tdl_batch_want_sync_fd");
    tdl_batch_destroy(&batch);
}

/* The end of one batch is the start of the next, on another device. */
static void check_sync_fd(struct tdl_context *a, struct tdl_context *b, struct tdl_buffer *buffer)
{
    struct tdl_batch *first, *second;
    int fd;
    check_begin("sync files");
    OK(tdl_batch_create(a, &first));
    OK(tdl_batch_create(b, &second));
    for (int round = 0; round < 40; round++) {
        OK(tdl_batch_begin(first));
        OK(tdl_batch_fill_zero(first, buffer));
        OK(tdl_batch_want_sync_fd(first));
        OK(tdl_batch_want_sync_fd(first)); /* as good as once */
        OK(tdl_batch_submit(first, NULL));
        if (round % 5 == 4)
            continue; /* nobody takes it */
        OK(tdl_batch_take_sync_fd(first, &fd));
        if (round == 0) {
            int twice;
            FAILS(tdl_batch_take_sync_fd(first, &twice), TDL_ERROR_INVALID_STATE, "once");
            CHECK(twice == -1, "an fd came out");
        }
        OK(tdl_batch_begin(second));
        OK(tdl_batch_wait_sync_fd(second, -1));
        if (round % 7 == 6 && fd >= 0) { /* taken in and given up */
            int copy = dup(fd);
            OK(tdl_batch_wait_sync_fd(second, copy));
            tdl_batch_cancel(second);
            OK(tdl_batch_begin(second));
        }
        OK(tdl_batch_wait_sync_fd(second, fd));
        OK(tdl_batch_submit(second, NULL));
    }
    OK(tdl_batch_begin(second));
    int pipes[2];
    REQUIRE(pipe(pipes) == 0, "no pipe");
    close(pipes[1]);
    tdl_batch_cancel(second);
    close(pipes[0]);
    tdl_batch_destroy(&first);
    tdl_batch_destroy(&second);
    OK(tdl_context_sync(a));
    OK(tdl_context_sync(b));
}

/* Exports and imports the fences of a dma-buf. */
static void check_fences(struct tdl_context *ctx)
{
    const char *how;
    int dma_buf = fds_dma_buf(ctx, SIZE, &how), fence;
    check_begin("fences of a dma-buf (%s)", how);
    FAILS(tdl_dma_buf_get_fence(-1, false, &fence), TDL_ERROR_INVALID_ARGUMENT, "Bad file");
    if (dma_buf < 0) {
        printf("not run: fences of dma-bufs: %s\n", how);
        return;
    }
    if (!strcmp(how, "memfd")) {
        FAILS(tdl_dma_buf_get_fence(dma_buf, false, &fence), TDL_ERROR_UNSUPPORTED, "poll()");
        FAILS(tdl_dma_buf_set_fence(dma_buf, true, dma_buf), TDL_ERROR_UNSUPPORTED, "poll()");
        OK(tdl_dma_buf_set_fence(dma_buf, true, -1));
        printf("not run: fences of dma-bufs: no /dev/udmabuf\n");
    } else {
        for (int write = 0; write < 2; write++) {
            OK(tdl_dma_buf_get_fence(dma_buf, write, &fence));
            struct pollfd wait = {.fd = fence, .events = POLLIN};
            CHECK(poll(&wait, 1, 0) == 1, "an idle dma-buf has a fence that has not signalled");
            OK(tdl_dma_buf_set_fence(dma_buf, write, fence));
            close(fence);
        }
    }
    close(dma_buf);
}

static void test_order(void)
{
    struct tdl_context *ctx = check_context_open(), *other = check_context_open();
    struct tdl_buffer *buffer;
    OK(tdl_buffer_create(ctx, SIZE, TDL_BUFFER_DEVICE, &buffer));
    check_timeline(ctx, buffer);
    check_binary(ctx, buffer);
    if (tdl_context_device(ctx)->sync_fd) {
        check_sync_fd(ctx, other, buffer);
    } else {
        printf("not run: %s has no sync files\n", tdl_context_device(ctx)->name);
        check_no_sync_fd(ctx);
    }
    check_fences(ctx);
    tdl_buffer_destroy(&buffer);
    check_context_close(ctx);
    check_context_close(other);
}

int main(void)
{
    test_adopted();
    test_wrapped();
    test_ours();
    test_bare();
    test_order();
    return check_result();
}
