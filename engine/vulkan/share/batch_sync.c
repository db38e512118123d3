/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A batch's waits and signals: semaphores, and sync files. */
#include "vulkan/batch.h"
#include "vulkan/share/sync.h"

#include <tdl/vulkan.h>

enum tdl_result tdl_batch_wait_semaphore(struct tdl_batch *batch, VkSemaphore semaphore,
                                         uint64_t value)
{
    TDL_NEED(batch, "batch");
    struct tdl_sync *s;
    enum tdl_result r = tdl_batch_sync(batch, true, &s);
    return r == TDL_OK ? tdl_sync_wait(s, semaphore, value) : r;
}

enum tdl_result tdl_batch_signal_semaphore(struct tdl_batch *batch, VkSemaphore semaphore,
                                           uint64_t value)
{
    TDL_NEED(batch, "batch");
    struct tdl_sync *s;
    enum tdl_result r = tdl_batch_sync(batch, true, &s);
    /* One place is left for a sync file. */
    return r == TDL_OK ? tdl_sync_signal(s, semaphore, value, TDL_MAX_SEMAPHORES - 1) : r;
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
        tdl_context_name(ctx, VK_OBJECT_TYPE_SEMAPHORE, TDL_HANDLE(*out_semaphore), name);
    return r;
}

enum tdl_result tdl_batch_wait_sync_fd(struct tdl_batch *batch, int fd)
{
    TDL_NEED(batch, "batch");
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
    TDL_NEED(batch, "batch");
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
    TRY(tdl_sync_signal(s, s->export, 0, TDL_MAX_SEMAPHORES));
    s->export_wanted = true;
fail:
    return r;
}

enum tdl_result tdl_batch_take_sync_fd(struct tdl_batch *batch, int *out_fd)
{
    TDL_NEED(batch, "batch");
    TDL_NEED(out_fd, "out_fd");
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
