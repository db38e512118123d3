/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Renting tensors out. Both sides of a rental are alike: each has a buffer on
 * the same memory with a state that says whether it is in its hands, and a
 * timeline semaphore that both share counts the times that it changed hands.
 *
 * Giving is a submission of its own, behind all earlier work on the tensor:
 * it releases the memory to the queue family of the others and signals. Taking
 * is no submission: the first one that uses the tensor afterwards waits and
 * acquires, so that work on other tensors does not stand behind it.
 */
#include "rental.h"

#include "vulkan/batch.h"
#include "external.h"
#include "core/tensor.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum tdl_result tdl_rentable_create(struct tdl_context *ctx, const struct tdl_buffer_wish *wish,
                                    struct tdl_buffer **out_buffer)
{
    const bool dma_buf = wish->exportable & TDL_TENSOR_EXPORTABLE_DMA_BUF;
    enum tdl_result r =
        tdl_buffer_create_rentable(ctx, wish->size, dma_buf, wish->name, out_buffer);
    if (r == TDL_OK)
        r = tdl_rental_create(*out_buffer, wish->name,
                              wish->exportable & TDL_TENSOR_WAITS_IF_RENTED);
    if (r != TDL_OK)
        tdl_buffer_destroy(out_buffer);
    return r;
}

/* ---------------------------------------------------------------- semaphores */

static enum tdl_result create_timeline(struct tdl_context *ctx, bool exported,
                                       VkSemaphore *out_semaphore)
{
    const VkExportSemaphoreCreateInfo export = {
        .sType = VK_STRUCTURE_TYPE_EXPORT_SEMAPHORE_CREATE_INFO,
        .handleTypes = VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT};
    return tdl_timeline_create(ctx, exported ? &export : NULL, "rental", out_semaphore);
}

/* `fd` is owned by the semaphore on success. */
static enum tdl_result import_semaphore(struct tdl_context *ctx, VkSemaphore semaphore,
                                        bool sync_file, int fd)
{
    return VK(ctx,
              tdl_vk(ctx)->fn.import_semaphore_fd(
                  tdl_vk(ctx)->device,
                  &(VkImportSemaphoreFdInfoKHR){
                      .sType = VK_STRUCTURE_TYPE_IMPORT_SEMAPHORE_FD_INFO_KHR,
                      .semaphore = semaphore,
                      .flags = sync_file ? VK_SEMAPHORE_IMPORT_TEMPORARY_BIT : 0,
                      .handleType = sync_file ? VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_SYNC_FD_BIT
                                              : VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT,
                      .fd = fd,
                  }));
}

static enum tdl_result export_timeline(struct tdl_context *ctx, VkSemaphore semaphore, int *out_fd)
{
    return VK(ctx, tdl_vk(ctx)->fn.get_semaphore_fd(
                       tdl_vk(ctx)->device,
                       &(VkSemaphoreGetFdInfoKHR){
                           .sType = VK_STRUCTURE_TYPE_SEMAPHORE_GET_FD_INFO_KHR,
                           .semaphore = semaphore,
                           .handleType = VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT,
                       },
                       out_fd));
}

/* -------------------------------------------------------------------- giving */

static enum tdl_result check_rentable(struct tdl_tensor *t, enum tdl_handle_type type)
{
    enum tdl_result r = tdl_vk_context_check(t->buffer->ctx);
    if (r != TDL_OK)
        return r;
    const struct tdl_rental_state *state = tdl_vkb(t->buffer)->rental;
    if (!state)
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT, "%s: was created without TDL_TENSOR_EXPORTABLE",
                        t->label);
    if ((unsigned)type > TDL_HANDLE_KNOWN)
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT, "%s: rented with unknown kind of handle %d",
                        t->label, type);
    r = tdl_rental_check(t->buffer);
    if (r != TDL_OK)
        return r;
    if (type == TDL_HANDLE_KNOWN && !state->family)
        return tdl_fail(TDL_ERROR_INVALID_STATE,
                        "%s was not rented before: nobody knows it yet, give a handle", t->label);
    return TDL_OK;
}

/* Choose a timeline or a sync file; the semaphore is created when it is first needed. */
static enum tdl_result choose_order(struct tdl_buffer *b, enum tdl_handle_type type,
                                    struct tdl_rental *out)
{
    struct tdl_context *ctx = b->ctx;
    struct tdl_rental_state *state = tdl_vkb(b)->rental;
    const bool within = out->queue_family == VK_QUEUE_FAMILY_IGNORED;
    enum tdl_result r = TDL_OK;
    pthread_mutex_lock(&tdl_vk(ctx)->lock);
    if (state->timeline || ctx->info.timeline_fd || within)
        out->order = TDL_ORDER_TIMELINE;
    else
        out->order = ctx->info.sync_fd ? TDL_ORDER_SYNC_FILE : TDL_ORDER_NONE;
    /* One that was made for this VkDevice alone serves nobody else. */
    if (state->timeline && !within && !ctx->info.timeline_fd)
        out->order = ctx->info.sync_fd ? TDL_ORDER_SYNC_FILE : TDL_ORDER_NONE;
    if (out->order == TDL_ORDER_TIMELINE) {
        if (!state->timeline)
            r = create_timeline(ctx, ctx->info.timeline_fd, &state->timeline);
        out->semaphore = state->timeline;
        out->wait_value = state->value + 1;
        if (r == TDL_OK && (type == TDL_HANDLE_OPAQUE_FD || type == TDL_HANDLE_DMA_BUF))
            r = export_timeline(ctx, state->timeline, &out->semaphore_fd);
    }
    pthread_mutex_unlock(&tdl_vk(ctx)->lock);
    return r;
}

static void describe(struct tdl_buffer *b, enum tdl_handle_type type, struct tdl_rental *out)
{
    VkMemoryRequirements requirements;
    vkGetBufferMemoryRequirements(tdl_vk(b->ctx)->device, tdl_vkb(b)->buffer, &requirements);
    out->type = type;
    out->size = b->size;
    out->buffer = tdl_vkb(b)->buffer;
    out->allocation_size = requirements.size;
    out->memory_type = tdl_vkb(b)->memory_type;
    out->usage = TDL_BUFFER_USAGE;
    out->handle_types = tdl_vkb(b)->export_types;
    if (type == TDL_HANDLE_KNOWN)
        out->queue_family = tdl_vkb(b)->rental->family;
    else if (type == TDL_HANDLE_VK_BUFFER)
        out->queue_family = VK_QUEUE_FAMILY_IGNORED;
    else
        out->queue_family = tdl_external_family(b->ctx, type);
}

/* The submission that gives it away. */
static enum tdl_result give(struct tdl_buffer *b, struct tdl_rental *out)
{
    struct tdl_context *ctx = b->ctx;
    struct tdl_batch *batch = NULL;
    uint64_t point;
    enum tdl_result r;
    TRY(tdl_batch_borrow(ctx, &batch));
    TRY(tdl_batch_give(batch, b, out->queue_family));
    if (out->order == TDL_ORDER_TIMELINE)
        TRY(tdl_batch_signal_semaphore(batch, out->semaphore, out->wait_value));
    if (out->order == TDL_ORDER_SYNC_FILE)
        TRY(tdl_batch_want_sync_fd(batch));
    TRY(tdl_batch_submit(batch, &point));
    /* The tensor is rented from here on: a failure now must not keep it from the others. */
    if (out->order == TDL_ORDER_TIMELINE) {
        pthread_mutex_lock(&tdl_vk(ctx)->lock);
        tdl_vkb(b)->rental->value = TDL_MAX(tdl_vkb(b)->rental->value, out->wait_value);
        pthread_mutex_unlock(&tdl_vk(ctx)->lock);
    } else if (out->order == TDL_ORDER_SYNC_FILE &&
               tdl_batch_take_sync_fd(batch, &out->semaphore_fd) != TDL_OK) {
        out->order = TDL_ORDER_NONE;
    }
    if (out->order == TDL_ORDER_NONE) {
        if (!atomic_exchange(&tdl_vk(ctx)->rent_wait_told, true))
            tdl_log(ctx, TDL_LOG_WARNING,
                    "%s: %s shares no semaphores, so the CPU waits for the GPU at each rental",
                    tdl_vkb(b)->rental->label, ctx->info.name);
        r = tdl_context_wait(ctx, point, TDL_WAIT_FOREVER);
    }
fail:
    tdl_batch_give_back(&batch);
    return r;
}

enum tdl_result tdl_tensor_rent(struct tdl_tensor *t, enum tdl_handle_type type,
                                struct tdl_rental *out)
{
    TDL_NEED(t, "tensor");
    TDL_NEED(out, "out_rental");
    enum tdl_result r;
    *out = (struct tdl_rental){.memory_fd = -1, .semaphore_fd = -1};
    TRY(check_rentable(t, type));
    if (type == TDL_HANDLE_OPAQUE_FD || type == TDL_HANDLE_DMA_BUF)
        TRY(tdl_buffer_export_as(t->buffer, type, &out->memory_fd));
    describe(t->buffer, type, out);
    TRY(choose_order(t->buffer, type, out));
    TRY(give(t->buffer, out));
    return TDL_OK;
fail:
    if (out->memory_fd >= 0)
        close(out->memory_fd);
    if (out->semaphore_fd >= 0)
        close(out->semaphore_fd);
    *out = (struct tdl_rental){.memory_fd = -1, .semaphore_fd = -1};
    return r;
}

/* -------------------------------------------------------------------- taking */

/* The wait for what `theirs` says, with the lock held. */
static enum tdl_result take_order(struct tdl_buffer *b, const struct tdl_rental *theirs,
                                  VkSemaphore *out_old, struct tdl_semaphore_op *out_wait)
{
    struct tdl_context *ctx = b->ctx;
    struct tdl_rental_state *state = tdl_vkb(b)->rental;
    VkSemaphore semaphore = VK_NULL_HANDLE;
    enum tdl_result r;
    switch (theirs ? theirs->order : TDL_ORDER_NONE) {
    case TDL_ORDER_NONE:
        return TDL_OK;
    case TDL_ORDER_TIMELINE:
        if (!state->timeline || theirs->wait_value < state->value)
            return tdl_fail(TDL_ERROR_INVALID_ARGUMENT,
                            "%s: returned with value %llu of %s; the rental's was %llu",
                            state->label, (unsigned long long)theirs->wait_value,
                            state->timeline ? "its timeline" : "a timeline that it has not",
                            (unsigned long long)state->value);
        *out_wait = (struct tdl_semaphore_op){state->timeline, theirs->wait_value};
        return TDL_OK;
    case TDL_ORDER_SYNC_FILE:
        break;
    default:
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT, "%s: returned with unknown order %d",
                        state->label, theirs->order);
    }
    if (theirs->semaphore_fd == -1)
        return TDL_OK;
    if (!ctx->info.sync_fd)
        return tdl_fail(TDL_ERROR_UNSUPPORTED, "%s: %s takes no sync files: wait on the CPU",
                        state->label, ctx->info.name);
    TRY(VK(ctx, vkCreateSemaphore(
                    tdl_vk(ctx)->device,
                    &(VkSemaphoreCreateInfo){.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO},
                    NULL, &semaphore)));
    TRY(import_semaphore(ctx, semaphore, true, theirs->semaphore_fd));
    *out_old = state->import;
    state->import = semaphore;
    *out_wait = (struct tdl_semaphore_op){semaphore, 0};
    return TDL_OK;
fail:
    vkDestroySemaphore(tdl_vk(ctx)->device, semaphore, NULL);
    return r;
}

/* Rented on this VkDevice, the buffer itself is in use there: the timeline has
 * to know when that ends, or the buffer could go too early. */
static enum tdl_result note_end(struct tdl_buffer *b)
{
    struct tdl_batch *batch = NULL;
    enum tdl_result r;
    TRY(tdl_batch_borrow(b->ctx, &batch));
    TRY(tdl_batch_give(batch, b, 0));
    TRY(tdl_batch_submit(batch, NULL));
fail:
    tdl_batch_give_back(&batch);
    return r;
}

enum tdl_result tdl_tensor_return(struct tdl_tensor *t, const struct tdl_rental *theirs)
{
    TDL_NEED_KNOWN(theirs);
    TDL_NEED(t, "tensor");
    struct tdl_context *ctx = t->buffer->ctx;
    struct tdl_semaphore_op wait = {VK_NULL_HANDLE, 0};
    VkSemaphore old = VK_NULL_HANDLE;
    bool within = false;
    enum tdl_result r = tdl_vk_context_check(ctx);
    if (r != TDL_OK)
        return r;
    struct tdl_rental_state *state = tdl_vkb(t->buffer)->rental;
    if (!state)
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT, "%s: was created without TDL_TENSOR_EXPORTABLE",
                        t->label);
    pthread_mutex_lock(&tdl_vk(ctx)->lock);
    if (!state->rented)
        r = tdl_fail(TDL_ERROR_INVALID_STATE, "%s is not rented: there is nothing to return",
                     t->label);
    if (r == TDL_OK)
        r = take_order(t->buffer, theirs, &old, &wait);
    if (r == TDL_OK) {
        within = state->family == VK_QUEUE_FAMILY_IGNORED;
        state->rented = false;
        pthread_cond_broadcast(&tdl_vk(ctx)->returned);
        state->away = true;
        state->wait = wait;
        if (wait.semaphore == state->timeline)
            state->value = TDL_MAX(state->value, wait.value);
    }
    pthread_mutex_unlock(&tdl_vk(ctx)->lock);
    if (old)
        tdl_context_defer_semaphore(ctx, tdl_context_last_point(ctx), old);
    return r == TDL_OK && within && wait.semaphore ? note_end(t->buffer) : r;
}

/* -------------------------------------------------------------------- import */

static enum tdl_result import_order(struct tdl_buffer *b, const struct tdl_rental *rental)
{
    struct tdl_context *ctx = b->ctx;
    enum tdl_result r = TDL_OK;
    const bool sync_file = rental->order == TDL_ORDER_SYNC_FILE;
    if (rental->order == TDL_ORDER_NONE || (sync_file && rental->semaphore_fd == -1))
        return TDL_OK;
    if (rental->semaphore_fd < 0)
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT,
                        "%s: the rental has a value to wait for and no semaphore_fd",
                        tdl_vkb(b)->rental->label);
    if (!(sync_file ? ctx->info.sync_fd : ctx->info.timeline_fd))
        return tdl_fail(TDL_ERROR_UNSUPPORTED, "%s: %s takes no %s", tdl_vkb(b)->rental->label,
                        ctx->info.name, sync_file ? "sync files" : "timeline semaphores by fd");
    int own = fcntl(rental->semaphore_fd, F_DUPFD_CLOEXEC, 0);
    if (own < 0)
        return tdl_fail(TDL_ERROR_IO, "%s: the fd cannot be duplicated: %s",
                        tdl_vkb(b)->rental->label, strerror(errno));
    VkSemaphore *semaphore =
        sync_file ? &tdl_vkb(b)->rental->import : &tdl_vkb(b)->rental->timeline;
    if (sync_file)
        TRY(VK(ctx, vkCreateSemaphore(
                        tdl_vk(ctx)->device,
                        &(VkSemaphoreCreateInfo){.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO},
                        NULL, semaphore)));
    else
        TRY(create_timeline(ctx, true, semaphore));
    TRY(import_semaphore(ctx, *semaphore, sync_file, own));
    own = -1;
    tdl_vkb(b)->rental->value = sync_file ? 0 : rental->wait_value;
    tdl_vkb(b)->rental->wait = (struct tdl_semaphore_op){*semaphore, rental->wait_value};
fail:
    if (own >= 0)
        close(own);
    return r;
}

enum tdl_result tdl_tensor_import(struct tdl_context *ctx, const struct tdl_tensor_params *params,
                                  const struct tdl_rental *rental, struct tdl_tensor **out_tensor)
{
    TDL_NEED_KNOWN(rental);
    TDL_NEED(ctx, "context");
    TDL_NEED(params, "params");
    TDL_NEED(rental, "rental");
    TDL_NEED(out_tensor, "out_tensor");
    struct tdl_tensor *t = NULL;
    enum tdl_result r;
    *out_tensor = NULL;
    TRY(tdl_tensor_params_check(params));
    if (rental->memory_fd < 0) {
        r = tdl_fail(TDL_ERROR_INVALID_ARGUMENT,
                     "%s: the rental has no memory_fd: rent with TDL_HANDLE_OPAQUE_FD or "
                     "TDL_HANDLE_DMA_BUF",
                     params->label ? params->label : "tensor");
        goto fail;
    }
    t = tdl_tensor_new(params);
    if (!t)
        return TDL_ERROR_OUT_OF_MEMORY;
    if (TDL_TENSOR_BYTES(t->size) > rental->size) {
        char text[96];
        r = tdl_fail(TDL_ERROR_INVALID_ARGUMENT, "%s: the rental has %zu bytes; %s has %zu",
                     t->label, rental->size, tdl_tensor_params_text(params, text, sizeof(text)),
                     t->size);
        goto fail;
    }
    TRY(tdl_buffer_import_fd(ctx, rental->type, rental->memory_fd, rental->size, &t->buffer));
    tdl_vkb(t->buffer)->shared = false; /* changes hands by rent and return instead */
    TRY(tdl_rental_create(t->buffer, t->label, params->usage & TDL_TENSOR_WAITS_IF_RENTED));
    tdl_vkb(t->buffer)->rental->family = tdl_vkb(t->buffer)->external_family;
    tdl_vkb(t->buffer)->rental->away = true;
    TRY(import_order(t->buffer, rental));
    *out_tensor = t;
    return TDL_OK;
fail:
    tdl_tensor_destroy(&t);
    return r;
}
