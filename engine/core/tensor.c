/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tensor.h"

#include "notifier.h"

#include <tdl/batch.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct tdl_tensor *tdl_tensor_new(const struct tdl_tensor_params *params)
{
    struct tdl_tensor *t = calloc(1, sizeof(*t));
    if (!t) {
        tdl_fail(TDL_ERROR_OUT_OF_MEMORY, "out of memory while creating a tensor");
        return NULL;
    }
    t->params = *params;
    t->size = tdl_tensor_params_size(params);
    snprintf(t->label, sizeof(t->label), "%s", params->label ? params->label : "tensor");
    t->params.label = t->label;
    return t;
}

enum tdl_result tdl_tensor_check_params(const struct tdl_context *context,
                                        const struct tdl_tensor_params *params)
{
    const char *label = params->label ? params->label : "tensor";
    const uint32_t known = TDL_TENSOR_READABLE | TDL_TENSOR_WRITABLE | TDL_TENSOR_EXPORTABLE |
                           TDL_TENSOR_EXPORTABLE_DMA_BUF | TDL_TENSOR_WAITS_IF_RENTED;
    enum tdl_result r = tdl_tensor_params_check(params);
    if (r != TDL_OK)
        return r;
    if (params->usage & ~known)
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT, "%s: there is no usage %#x", label,
                        params->usage & ~known);
    if (params->usage & TDL_TENSOR_WAITS_IF_RENTED &&
        !(params->usage & (TDL_TENSOR_EXPORTABLE | TDL_TENSOR_EXPORTABLE_DMA_BUF)))
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT,
                        "%s: TDL_TENSOR_WAITS_IF_RENTED is for what can be rented: with "
                        "TDL_TENSOR_EXPORTABLE or TDL_TENSOR_EXPORTABLE_DMA_BUF",
                        label);
    if ((params->dtype == TDL_INT64 || params->dtype == TDL_UINT64) && !context->info.shader_int64)
        return tdl_fail(TDL_ERROR_UNSUPPORTED, "%s: %s needs shaderInt64, which %s lacks", label,
                        tdl_dtype_name(params->dtype), context->info.name);
    return TDL_OK;
}

enum tdl_result tdl_tensor_create(struct tdl_context *context,
                                  const struct tdl_tensor_params *params,
                                  struct tdl_tensor **out_tensor)
{
    TDL_NEED(context, "context");
    TDL_NEED(params, "params");
    TDL_NEED(out_tensor, "out_tensor");
    struct tdl_batch *batch = NULL;
    *out_tensor = NULL;
    enum tdl_result r = tdl_tensor_check_params(context, params);
    if (r != TDL_OK)
        return tdl_logged(context, r);
    struct tdl_tensor *t = tdl_tensor_new(params);
    if (!t)
        return TDL_ERROR_OUT_OF_MEMORY;
    if (params->usage & (TDL_TENSOR_EXPORTABLE | TDL_TENSOR_EXPORTABLE_DMA_BUF)) {
        TRY(tdl_buffer_create_exportable_for(context, TDL_TENSOR_BYTES(t->size), params->usage,
                                             t->label, &t->buffer));
    } else {
        TRY(tdl_buffer_create_named(context, TDL_TENSOR_BYTES(t->size), TDL_BUFFER_DEVICE, t->label,
                                    &t->buffer));
    }
    TRY(tdl_batch_borrow(context, &batch));
    TRY(tdl_batch_fill_zero(batch, t->buffer));
    TRY(tdl_batch_submit(batch, NULL));
    *out_tensor = t;
fail:
    tdl_batch_give_back(&batch);
    if (r != TDL_OK)
        tdl_tensor_destroy(&t);
    return tdl_logged(context, r);
}

static enum tdl_result check_buffer(const struct tdl_buffer *buffer,
                                    const struct tdl_tensor_params *params)
{
    const size_t size = tdl_tensor_params_size(params);
    const char *label = params->label ? params->label : "tensor";
    if (params->usage & (TDL_TENSOR_EXPORTABLE | TDL_TENSOR_EXPORTABLE_DMA_BUF))
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT,
                        "%s: what can be rented out has memory of its own: tdl_tensor_create()",
                        label);
    const size_t whole = buffer->given ? (size_t)buffer->given : buffer->size;
    if (buffer->before)
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT,
                        "%s: the imported memory begins %llu bytes inside of a page, and a tensor "
                        "would write what lies there before it: import memory that begins with a "
                        "page, as aligned_alloc() and mmap() give it",
                        label, (unsigned long long)buffer->before);
    if (TDL_TENSOR_BYTES(size) > whole)
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT,
                        "%s: %zu bytes, rounded up to 16, on a buffer of %zu", label, size, whole);
    return buffer->ctx->on->buffer_check_tensor ? buffer->ctx->on->buffer_check_tensor(buffer, size)
                                                : TDL_OK;
}

enum tdl_result tdl_tensor_create_on(struct tdl_buffer *buffer,
                                     const struct tdl_tensor_params *params,
                                     struct tdl_tensor **out_tensor)
{
    TDL_NEED_KNOWN(params);
    TDL_NEED(buffer, "buffer");
    TDL_NEED(params, "params");
    TDL_NEED(out_tensor, "out_tensor");
    struct tdl_tensor *t = NULL;
    enum tdl_result r;
    *out_tensor = NULL;
    TRY(tdl_context_check(buffer->ctx));
    TRY(tdl_tensor_check_params(buffer->ctx, params));
    TRY(check_buffer(buffer, params));
    t = tdl_tensor_new(params);
    if (!t)
        return TDL_ERROR_OUT_OF_MEMORY;
    t->buffer = tdl_buffer_ref(buffer);
    *out_tensor = t;
fail:
    return tdl_logged(buffer->ctx, r);
}

void tdl_tensor_destroy(struct tdl_tensor **tensor)
{
    struct tdl_tensor *t = tdl_take(tensor);
    if (!t)
        return;
    tdl_buffer_destroy(&t->buffer);
    if (t->owner)
        tdl_weights_release(t->owner, &t->constant);
    tdl_context_destroy(&t->owner);
    free(t);
}

const struct tdl_tensor_params *tdl_tensor_get_params(const struct tdl_tensor *tensor)
{
    return tensor ? &tensor->params : NULL;
}

/* ---------------------------------------------------------------- transfers */

static enum tdl_result check_usage(const struct tdl_tensor *t, uint32_t usage)
{
    if (t->params.usage & usage)
        return TDL_OK;
    return tdl_fail(TDL_ERROR_INVALID_ARGUMENT, "%s: was created without TDL_TENSOR_%s", t->label,
                    usage == TDL_TENSOR_READABLE ? "READABLE" : "WRITABLE");
}

/* The whole tensor. */
static enum tdl_result check_size(const struct tdl_tensor *t, size_t size, const char *what)
{
    char text[96];
    if (size == t->size)
        return TDL_OK;
    return tdl_fail(TDL_ERROR_INVALID_ARGUMENT, "%s: %s of %zu bytes; %s has %zu", t->label, what,
                    size, tdl_tensor_params_text(&t->params, text, sizeof(text)), t->size);
}

/* A part of it, or of a buffer. */
static enum tdl_result check_part(const char *whose, size_t whole, uint64_t offset, size_t size)
{
    if (size && offset <= whole && size <= whole - offset)
        return TDL_OK;
    return tdl_fail(TDL_ERROR_INVALID_ARGUMENT,
                    "%s: %zu bytes from byte %llu on; it has %zu, and a part has one or more",
                    whose, size, (unsigned long long)offset, whole);
}

/* All of a tensor, where `whole` says what is done with it, or a part. */
static enum tdl_result check_reach(const struct tdl_tensor *t, uint32_t usage, const char *whole,
                                   uint64_t offset, size_t size)
{
    const enum tdl_result r = check_usage(t, usage);
    if (r != TDL_OK)
        return r;
    return whole ? check_size(t, size, whole) : check_part(t->label, t->size, offset, size);
}

static enum tdl_result write_to(struct tdl_tensor *t, const char *whole, uint64_t offset,
                                const void *data, size_t size, uint64_t *out_point)
{
    struct tdl_context *ctx = t->buffer->ctx;
    struct tdl_buffer *staging = NULL;
    struct tdl_batch *batch = NULL;
    enum tdl_result r;
    TRY(check_reach(t, TDL_TENSOR_WRITABLE, whole, offset, size));
    TRY(tdl_staging_take(ctx, size, TDL_BUFFER_UPLOAD, &staging));
    memcpy(tdl_buffer_data(staging), data, size);
    TRY(tdl_batch_borrow_queued(ctx, &batch));
    TRY(tdl_batch_copy(batch, staging, 0, t->buffer, offset, size));
    TRY(tdl_batch_submit(batch, out_point));
fail:
    tdl_batch_give_back(&batch);
    tdl_staging_give_back(&staging);
    return tdl_logged(ctx, r);
}

static enum tdl_result read_from(struct tdl_tensor *t, const char *whole, uint64_t offset,
                                 void *out_data, size_t size)
{
    struct tdl_context *ctx = t->buffer->ctx;
    struct tdl_buffer *staging = NULL;
    struct tdl_batch *batch = NULL;
    uint64_t point;
    enum tdl_result r;
    TRY(check_reach(t, TDL_TENSOR_READABLE, whole, offset, size));
    TRY(tdl_staging_take(ctx, size, TDL_BUFFER_READBACK, &staging));
    TRY(tdl_batch_borrow(ctx, &batch));
    TRY(tdl_batch_copy(batch, t->buffer, offset, staging, 0, size));
    TRY(tdl_batch_submit(batch, &point));
    TRY(tdl_context_wait(ctx, point, TDL_WAIT_FOREVER));
    TRY(tdl_buffer_check_whole(staging));
    memcpy(out_data, tdl_buffer_data(staging), size);
fail:
    tdl_batch_give_back(&batch);
    tdl_staging_give_back(&staging);
    return tdl_logged(ctx, r);
}

enum tdl_result tdl_tensor_write(struct tdl_tensor *t, const void *data, size_t size,
                                 uint64_t *out_point)
{
    TDL_NEED(t, "tensor");
    TDL_NEED(data, "data");
    return write_to(t, "write", 0, data, size, out_point);
}

enum tdl_result tdl_tensor_read(struct tdl_tensor *t, void *out_data, size_t size)
{
    TDL_NEED(t, "tensor");
    TDL_NEED(out_data, "out_data");
    return read_from(t, "read", 0, out_data, size);
}

enum tdl_result tdl_tensor_write_part(struct tdl_tensor *t, uint64_t offset, const void *data,
                                      size_t size, uint64_t *out_point)
{
    TDL_NEED(t, "tensor");
    TDL_NEED(data, "data");
    return write_to(t, NULL, offset, data, size, out_point);
}

enum tdl_result tdl_tensor_read_part(struct tdl_tensor *t, uint64_t offset, void *out_data,
                                     size_t size)
{
    TDL_NEED(t, "tensor");
    TDL_NEED(out_data, "out_data");
    return read_from(t, NULL, offset, out_data, size);
}

/* Queue the copy of a part; its point is the read's. */
static enum tdl_result queue_read(struct tdl_tensor *t, uint64_t offset, struct tdl_read *read)
{
    struct tdl_context *ctx = t->buffer->ctx;
    struct tdl_batch *batch = NULL;
    enum tdl_result r;
    TRY(tdl_staging_take(ctx, read->size, TDL_BUFFER_READBACK, &read->staging));
    TRY(tdl_batch_borrow_queued(ctx, &batch));
    TRY(tdl_batch_copy(batch, t->buffer, offset, read->staging, 0, read->size));
    TRY(tdl_batch_submit(batch, &read->point));
fail:
    tdl_batch_give_back(&batch);
    if (r != TDL_OK)
        tdl_staging_give_back(&read->staging);
    return r;
}

static enum tdl_result read_later(struct tdl_tensor *t, const char *whole, uint64_t offset,
                                  const struct tdl_read *wanted, uint64_t *out_point)
{
    struct tdl_context *ctx = t->buffer->ctx;
    struct tdl_read *read;
    enum tdl_result r;
    TRY(check_reach(t, TDL_TENSOR_READABLE, whole, offset, wanted->size));
    TRY(tdl_notifier_reserve(ctx));
    read = malloc(sizeof(*read));
    if (!read) {
        tdl_notifier_add(ctx, NULL);
        r = tdl_fail(TDL_ERROR_OUT_OF_MEMORY, "out of memory while reading %s", t->label);
        goto fail;
    }
    *read = *wanted;
    r = queue_read(t, offset, read);
    if (r == TDL_OK && out_point)
        *out_point = read->point;
    if (r == TDL_OK)
        tdl_buffer_loosen(read->staging);
    tdl_notifier_add(ctx, r == TDL_OK ? read : NULL);
    if (r != TDL_OK)
        free(read);
fail:
    return tdl_logged(ctx, r);
}

enum tdl_result tdl_tensor_read_async(struct tdl_tensor *t, void *out_data, size_t size,
                                      tdl_read_fn done, void *done_data, uint64_t *out_point)
{
    TDL_NEED(t, "tensor");
    TDL_NEED(out_data, "out_data");
    TDL_NEED(done, "done");
    return read_later(t, "read", 0,
                      &(struct tdl_read){
                          .out_data = out_data, .size = size, .done = done, .done_data = done_data},
                      out_point);
}

enum tdl_result tdl_tensor_read_part_async(struct tdl_tensor *t, uint64_t offset, void *out_data,
                                           size_t size, tdl_read_fn done, void *done_data,
                                           uint64_t *out_point)
{
    TDL_NEED(t, "tensor");
    TDL_NEED(out_data, "out_data");
    TDL_NEED(done, "done");
    return read_later(t, NULL, offset,
                      &(struct tdl_read){
                          .out_data = out_data, .size = size, .done = done, .done_data = done_data},
                      out_point);
}

/* Between a tensor and a buffer, in a batch. */
static enum tdl_result copy(struct tdl_batch *batch, struct tdl_tensor *t, uint64_t offset,
                            struct tdl_buffer *buffer, uint64_t buffer_offset, size_t size,
                            bool to_tensor)
{
    enum tdl_result r;
    if (t->buffer->ctx != batch->ctx || buffer->ctx != batch->ctx)
        return tdl_logged(
            batch->ctx, tdl_fail(TDL_ERROR_INVALID_ARGUMENT,
                                 "%s: batch, tensor and buffer are not of one context", t->label));
    if (buffer == t->buffer)
        return tdl_logged(batch->ctx, tdl_fail(TDL_ERROR_INVALID_ARGUMENT,
                                               "%s: the buffer is the tensor's own", t->label));
    TRY(check_reach(t, to_tensor ? TDL_TENSOR_WRITABLE : TDL_TENSOR_READABLE, NULL, offset, size));
    TRY(check_part("the buffer", buffer->size, buffer_offset, size));
    r = to_tensor ? tdl_batch_copy(batch, buffer, buffer_offset, t->buffer, offset, size)
                  : tdl_batch_copy(batch, t->buffer, offset, buffer, buffer_offset, size);
fail:
    return tdl_logged(batch->ctx, r);
}

enum tdl_result tdl_batch_buffer_to_tensor(struct tdl_batch *batch, struct tdl_buffer *buffer,
                                           uint64_t buffer_offset, struct tdl_tensor *tensor,
                                           uint64_t offset, size_t size)
{
    TDL_NEED(batch, "batch");
    TDL_NEED(buffer, "buffer");
    TDL_NEED(tensor, "tensor");
    return copy(batch, tensor, offset, buffer, buffer_offset, size, true);
}

enum tdl_result tdl_batch_tensor_to_buffer(struct tdl_batch *batch, struct tdl_tensor *tensor,
                                           uint64_t offset, struct tdl_buffer *buffer,
                                           uint64_t buffer_offset, size_t size)
{
    TDL_NEED(batch, "batch");
    TDL_NEED(tensor, "tensor");
    TDL_NEED(buffer, "buffer");
    return copy(batch, tensor, offset, buffer, buffer_offset, size, false);
}

enum tdl_result tdl_tensor_reshape(struct tdl_tensor *t, uint32_t rank, const uint32_t *shape,
                                   struct tdl_tensor **out_view)
{
    TDL_NEED(t, "tensor");
    TDL_NEED(out_view, "out_view");
    struct tdl_tensor_params params = t->params;
    char from[96], to[96];
    *out_view = NULL;
    if (tdl_tensor_check_no_constant(t) != TDL_OK)
        return TDL_ERROR_INVALID_ARGUMENT;
    if (rank > TDL_MAX_RANK)
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT, "%s: rank %u; %d at most", t->label, rank,
                        TDL_MAX_RANK);
    if (rank)
        TDL_NEED(shape, "shape");
    params.rank = rank;
    memset(params.shape, 0, sizeof(params.shape));
    if (rank)
        memcpy(params.shape, shape, rank * sizeof(*shape));
    if (t->params.packing == TDL_PACKING_C4)
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT, "%s: a tensor in packs cannot be reshaped",
                        t->label);
    if (tdl_tensor_params_size(&params) != t->size)
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT, "%s: %s cannot be reshaped to %s", t->label,
                        tdl_tensor_params_text(&t->params, from, sizeof(from)),
                        tdl_tensor_params_text(&params, to, sizeof(to)));
    struct tdl_tensor *view = tdl_tensor_new(&params);
    if (!view)
        return TDL_ERROR_OUT_OF_MEMORY;
    view->buffer = tdl_buffer_ref(t->buffer);
    *out_view = view;
    return TDL_OK;
}

enum tdl_result tdl_batch_copy_buffer(struct tdl_batch *batch, struct tdl_buffer *source,
                                      uint64_t source_offset, struct tdl_buffer *target,
                                      uint64_t target_offset, size_t size)
{
    enum tdl_result r;
    TDL_NEED(batch, "batch");
    TDL_NEED(source, "source");
    TDL_NEED(target, "target");
    if (source->ctx != batch->ctx || target->ctx != batch->ctx)
        return tdl_logged(batch->ctx, tdl_fail(TDL_ERROR_INVALID_ARGUMENT,
                                               "batch and buffers are not of one context"));
    TRY(check_part("the source", source->size, source_offset, size));
    TRY(check_part("the target", target->size, target_offset, size));
    if (source == target && source_offset < target_offset + size &&
        target_offset < source_offset + size)
        TRY(tdl_fail(TDL_ERROR_INVALID_ARGUMENT,
                     "%llu bytes from offset %llu to %llu of one buffer overlap; copy by way of "
                     "another buffer",
                     (unsigned long long)size, (unsigned long long)source_offset,
                     (unsigned long long)target_offset));
    r = tdl_batch_copy(batch, source, source_offset, target, target_offset, size);
fail:
    return tdl_logged(batch->ctx, r);
}
