/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Order between us and others without the CPU. Two currencies: VkSemaphores of
 * this VkDevice, passed through to the submission; and sync files, which the
 * kernel's drivers speak, carried by binary semaphores of our own. One that
 * brought a sync file in is used again, since a temporary import is gone once
 * it has been waited for. One that sent a sync file out could be, too, but
 * validation layers (1.4.309) lose track of it if the fence was taken out before
 * it had signalled; a new one costs less than to live with their false alarms.
 */
#include "sync.h"

#include <tdl/vulkan.h>

#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <linux/dma-buf.h>

/* Kernel headers before 6.0 lack them. */
#ifndef DMA_BUF_IOCTL_EXPORT_SYNC_FILE
struct dma_buf_export_sync_file {
    __u32 flags;
    __s32 fd;
};
struct dma_buf_import_sync_file {
    __u32 flags;
    __s32 fd;
};
#define DMA_BUF_IOCTL_EXPORT_SYNC_FILE _IOWR(DMA_BUF_BASE, 2, struct dma_buf_export_sync_file)
#define DMA_BUF_IOCTL_IMPORT_SYNC_FILE _IOW(DMA_BUF_BASE, 3, struct dma_buf_import_sync_file)
#endif

/* -------------------------------------------------------------- of a batch */

void tdl_sync_begin(struct tdl_context *ctx, struct tdl_sync *s)
{
    vkDestroySemaphore(tdl_vk(ctx)->device, s->export, NULL);
    s->export = VK_NULL_HANDLE;
    s->wait_count = s->signal_count = s->import_count = 0;
    s->export_wanted = s->export_pending = false;
}

void tdl_sync_submitted(struct tdl_context *ctx, struct tdl_sync *s, bool submitted)
{
    s->export_pending = submitted && s->export_wanted;
    /* An import that nobody waited for still holds its sync file. */
    for (uint32_t i = 0; i < s->import_count && !submitted; i++) {
        vkDestroySemaphore(tdl_vk(ctx)->device, s->imports[i], NULL);
        s->imports[i] = VK_NULL_HANDLE;
    }
    s->wait_count = s->signal_count = s->import_count = 0;
    s->export_wanted = false;
}

void tdl_sync_finish(struct tdl_context *ctx, struct tdl_sync *s)
{
    for (uint32_t i = 0; i < TDL_MAX_SEMAPHORES; i++)
        vkDestroySemaphore(tdl_vk(ctx)->device, s->imports[i], NULL);
    vkDestroySemaphore(tdl_vk(ctx)->device, s->export, NULL);
}

static enum tdl_result add(struct tdl_semaphore_op *list, uint32_t *count, uint32_t limit,
                           VkSemaphore semaphore, uint64_t value)
{
    if (!semaphore)
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT, "a batch was given no semaphore");
    if (*count >= limit)
        return tdl_fail(TDL_ERROR_UNSUPPORTED,
                        "the batch has more than %u semaphores: submit it and begin another",
                        limit);
    list[(*count)++] = (struct tdl_semaphore_op){semaphore, value};
    return TDL_OK;
}

enum tdl_result tdl_sync_wait(struct tdl_sync *s, VkSemaphore semaphore, uint64_t value)
{
    return add(s->waits, &s->wait_count, TDL_MAX_SEMAPHORES, semaphore, value);
}

enum tdl_result tdl_sync_signal(struct tdl_sync *s, VkSemaphore semaphore, uint64_t value,
                                uint32_t limit)
{
    return add(s->signals, &s->signal_count, limit, semaphore, value);
}

/* ----------------------------------------------------------- fences of dma-bufs */

static enum tdl_result fence_call(int dma_buf_fd, unsigned long request, void *argument,
                                  const char *what)
{
    int status;
    do
        status = ioctl(dma_buf_fd, request, argument);
    while (status < 0 && (errno == EINTR || errno == EAGAIN));
    if (status >= 0)
        return TDL_OK;
    if (errno == ENOTTY || errno == ENOSYS || errno == EOPNOTSUPP)
        return tdl_fail(TDL_ERROR_UNSUPPORTED,
                        "the kernel has no call to %s (%s): wait on the CPU with poll()", what,
                        strerror(errno));
    return tdl_fail(errno == EBADF || errno == EINVAL ? TDL_ERROR_INVALID_ARGUMENT : TDL_ERROR_IO,
                    "cannot %s: %s", what, strerror(errno));
}

enum tdl_result tdl_dma_buf_get_fence(int dma_buf_fd, bool for_write, int *out_sync_fd)
{
    TDL_NEED(out_sync_fd, "out_sync_fd");
    /* DMA_BUF_SYNC_WRITE asks for what stands against a write: all fences. */
    struct dma_buf_export_sync_file data = {
        .flags = for_write ? DMA_BUF_SYNC_RW : DMA_BUF_SYNC_READ, .fd = -1};
    *out_sync_fd = -1;
    enum tdl_result r =
        fence_call(dma_buf_fd, DMA_BUF_IOCTL_EXPORT_SYNC_FILE, &data, "read a dma-buf's fences");
    if (r == TDL_OK)
        *out_sync_fd = data.fd;
    return r;
}

enum tdl_result tdl_dma_buf_set_fence(int dma_buf_fd, bool for_write, int sync_fd)
{
    struct dma_buf_import_sync_file data = {
        .flags = for_write ? DMA_BUF_SYNC_RW : DMA_BUF_SYNC_READ, .fd = sync_fd};
    if (sync_fd == -1)
        return TDL_OK;
    return fence_call(dma_buf_fd, DMA_BUF_IOCTL_IMPORT_SYNC_FILE, &data,
                      "add a fence to a dma-buf");
}
