/* SPDX-License-Identifier: LGPL-2.1-or-later */
#define _GNU_SOURCE
#include "fds.h"

#include <vulkan/batch.h>

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <linux/dma-buf.h>
#include <linux/dma-heap.h>
#include <linux/udmabuf.h>

static int memory_file(size_t size)
{
    int fd = memfd_create("tdl-test", MFD_ALLOW_SEALING | MFD_CLOEXEC);
    REQUIRE(fd >= 0 && ftruncate(fd, (off_t)size) == 0, "no memfd of %zu bytes", size);
    return fd;
}

int fds_dma_buf(struct tdl_context *ctx, size_t size, const char **out_how)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), whole = (size + page - 1) / page * page;
    int device = open("/dev/udmabuf", O_RDWR | O_CLOEXEC), fd = -1;
    if (device >= 0) {
        int memory = memory_file(whole);
        fcntl(memory, F_ADD_SEALS, F_SEAL_SHRINK);
        fd = ioctl(device, UDMABUF_CREATE,
                   &(struct udmabuf_create){.memfd = (__u32)memory, .size = whole,
                                            .flags = UDMABUF_FLAGS_CLOEXEC});
        close(memory);
        close(device);
        *out_how = "udmabuf";
        if (fd >= 0)
            return fd;
    }
    device = open("/dev/dma_heap/system", O_RDWR | O_CLOEXEC);
    if (device >= 0) {
        struct dma_heap_allocation_data data = {.len = whole, .fd_flags = O_RDWR | O_CLOEXEC};
        fd = ioctl(device, DMA_HEAP_IOCTL_ALLOC, &data) < 0 ? -1 : (int)data.fd;
        close(device);
        *out_how = "dma-heap";
        if (fd >= 0)
            return fd;
    }
    if (tdl_context_device(ctx)->type == TDL_DEVICE_SOFTWARE) {
        *out_how = "memfd";
        return memory_file(whole);
    }
    *out_how = "neither /dev/udmabuf nor /dev/dma_heap/system can be used";
    return -1;
}

static void access_bytes(int fd, uint8_t *out, const uint8_t *data, size_t size)
{
    struct dma_buf_sync sync = {.flags = DMA_BUF_SYNC_START | DMA_BUF_SYNC_RW};
    uint8_t *map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    REQUIRE(map != MAP_FAILED, "the dma-buf cannot be mapped");
    ioctl(fd, DMA_BUF_IOCTL_SYNC, &sync); /* fails on a memfd, which needs none */
    if (out)
        memcpy(out, map, size);
    if (data)
        memcpy(map, data, size);
    sync.flags = DMA_BUF_SYNC_END | DMA_BUF_SYNC_RW;
    ioctl(fd, DMA_BUF_IOCTL_SYNC, &sync);
    munmap(map, size);
}

void fds_read(int fd, uint8_t *out, size_t size)
{
    access_bytes(fd, out, NULL, size);
}

void fds_write(int fd, const uint8_t *data, size_t size)
{
    access_bytes(fd, NULL, data, size);
}

void fds_upload(struct tdl_context *ctx, struct tdl_buffer *buffer, const uint8_t *data,
                size_t size)
{
    struct tdl_buffer *staging;
    struct tdl_batch *batch;
    OK(tdl_buffer_create(ctx, size, TDL_BUFFER_UPLOAD, &staging));
    memcpy(tdl_buffer_data(staging), data, size);
    OK(tdl_batch_borrow(ctx, &batch));
    OK(tdl_batch_copy(batch, staging, 0, buffer, 0, size));
    OK(tdl_batch_submit(batch, NULL));
    tdl_batch_give_back(&batch);
    OK(tdl_context_sync(ctx));
    tdl_buffer_destroy(&staging);
}

void fds_download(struct tdl_context *ctx, struct tdl_buffer *buffer, uint8_t *out, size_t size)
{
    struct tdl_buffer *staging;
    struct tdl_batch *batch;
    OK(tdl_buffer_create(ctx, size, TDL_BUFFER_READBACK, &staging));
    OK(tdl_batch_borrow(ctx, &batch));
    OK(tdl_batch_copy(batch, buffer, 0, staging, 0, size));
    OK(tdl_batch_submit(batch, NULL));
    tdl_batch_give_back(&batch);
    OK(tdl_context_sync(ctx));
    memcpy(out, tdl_buffer_data(staging), size);
    tdl_buffer_destroy(&staging);
}

void fds_pattern(uint8_t *out, size_t size, uint64_t seed)
{
    struct rng rng = {seed};
    for (size_t i = 0; i < size; i++)
        out[i] = (uint8_t)rng_next(&rng);
}
