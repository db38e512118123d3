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

#include "vulkan/batch.h"

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
    /* What was imported and never waited for holds its sync file. */
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

enum tdl_result tdl_batch_wait_semaphore(struct tdl_batch *batch, VkSemaphore semaphore,
                                         uint64_t value)
{
    struct tdl_sync *s;
    enum tdl_result r = tdl_batch_sync(batch, true, &s);
    return r == TDL_OK ? tdl_sync_wait(s, semaphore, value) : r;
}

enum tdl_result tdl_batch_signal_semaphore(struct tdl_batch *batch, VkSemaphore semaphore,
                                           uint64_t value)
{
    struct tdl_sync *s;
    enum tdl_result r = tdl_batch_sync(batch, true, &s);
    /* One place is left for a sync file. */
    return r == TDL_OK ? add(s->signals, &s->signal_count, TDL_MAX_SEMAPHORES - 1, semaphore, value)
                       : r;
}

/* -------------------------------------------------------------- sync files */

static enum tdl_result check_sync_fd(const struct tdl_context *ctx)
{
    return ctx->info.sync_fd
               ? TDL_OK
               : tdl_fail(TDL_ERROR_UNSUPPORTED,
                          "%s takes and gives no sync files: wait on the CPU", ctx->info.name);
}

static enum tdl_result create_semaphore(struct tdl_context *ctx,
                                        VkExternalSemaphoreHandleTypeFlags exported,
                                        const char *name, VkSemaphore *out_semaphore)
{
    const VkExportSemaphoreCreateInfo export = {
        .sType = VK_STRUCTURE_TYPE_EXPORT_SEMAPHORE_CREATE_INFO, .handleTypes = exported};
    enum tdl_result r =
        VK(ctx, vkCreateSemaphore(tdl_vk(ctx)->device,
                                  &(VkSemaphoreCreateInfo){
                                      .sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO,
                                      .pNext = exported ? &export : NULL,
                                  },
                                  NULL, out_semaphore));
    if (r == TDL_OK)
        tdl_context_name(ctx, VK_OBJECT_TYPE_SEMAPHORE, (uint64_t)(uintptr_t)*out_semaphore, name);
    return r;
}

enum tdl_result tdl_batch_wait_sync_fd(struct tdl_batch *batch, int fd)
{
    struct tdl_context *ctx = tdl_batch_context(batch);
    struct tdl_sync *s;
    enum tdl_result r;
    TRY(tdl_batch_sync(batch, true, &s));
    TRY(check_sync_fd(ctx));
    if (fd < -1) {
        r = tdl_fail(TDL_ERROR_INVALID_ARGUMENT, "%d is no sync file", fd);
        goto fail;
    }
    if (fd < 0)
        return TDL_OK;
    if (s->wait_count == TDL_MAX_SEMAPHORES) {
        r = tdl_fail(TDL_ERROR_UNSUPPORTED,
                     "the batch waits for %d semaphores: submit it and begin another",
                     TDL_MAX_SEMAPHORES);
        goto fail;
    }
    VkSemaphore *semaphore = &s->imports[s->import_count];
    if (!*semaphore)
        TRY(create_semaphore(ctx, 0, "sync file in", semaphore));
    TRY(VK(ctx,
           tdl_vk(ctx)->fn.import_semaphore_fd(
               tdl_vk(ctx)->device, &(VkImportSemaphoreFdInfoKHR){
                                        .sType = VK_STRUCTURE_TYPE_IMPORT_SEMAPHORE_FD_INFO_KHR,
                                        .semaphore = *semaphore,
                                        .flags = VK_SEMAPHORE_IMPORT_TEMPORARY_BIT,
                                        .handleType = VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_SYNC_FD_BIT,
                                        .fd = fd,
                                    })));
    s->import_count++;
    TRY(tdl_sync_wait(s, *semaphore, 0));
fail:
    return r;
}

enum tdl_result tdl_batch_want_sync_fd(struct tdl_batch *batch)
{
    struct tdl_context *ctx = tdl_batch_context(batch);
    struct tdl_sync *s;
    enum tdl_result r;
    TRY(tdl_batch_sync(batch, true, &s));
    TRY(check_sync_fd(ctx));
    if (s->export_wanted)
        return TDL_OK;
    if (!s->export)
        TRY(create_semaphore(ctx, VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_SYNC_FD_BIT, "sync file out",
                             &s->export));
    TRY(add(s->signals, &s->signal_count, TDL_MAX_SEMAPHORES, s->export, 0));
    s->export_wanted = true;
fail:
    return r;
}

enum tdl_result tdl_batch_take_sync_fd(struct tdl_batch *batch, int *out_fd)
{
    struct tdl_context *ctx = tdl_batch_context(batch);
    struct tdl_sync *s;
    *out_fd = -1;
    enum tdl_result r = tdl_batch_sync(batch, false, &s);
    if (r == TDL_OK && !s->export_pending)
        r = tdl_fail(TDL_ERROR_INVALID_STATE,
                     "there is no sync file to take: call tdl_batch_want_sync_fd before the "
                     "submission, and take it once");
    if (r == TDL_OK)
        r = VK(ctx, tdl_vk(ctx)->fn.get_semaphore_fd(
                        tdl_vk(ctx)->device,
                        &(VkSemaphoreGetFdInfoKHR){
                            .sType = VK_STRUCTURE_TYPE_SEMAPHORE_GET_FD_INFO_KHR,
                            .semaphore = s->export,
                            .handleType = VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_SYNC_FD_BIT,
                        },
                        out_fd));
    if (r == TDL_OK)
        s->export_pending = false;
    return r;
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
