/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tensor.h"

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

enum tdl_result tdl_tensor_create(struct tdl_context *context,
                                  const struct tdl_tensor_params *params,
                                  struct tdl_tensor **out_tensor)
{
    TDL_NEED(context, "context");
    TDL_NEED(params, "params");
    TDL_NEED(out_tensor, "out_tensor");
    struct tdl_batch *batch = NULL;
    *out_tensor = NULL;
    enum tdl_result r = tdl_tensor_params_check(params);
    if (r != TDL_OK)
        return r;
    const uint32_t known = TDL_TENSOR_READABLE | TDL_TENSOR_WRITABLE | TDL_TENSOR_EXPORTABLE |
                           TDL_TENSOR_EXPORTABLE_DMA_BUF;
    if (params->usage & ~known)
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT, "%s: there is no usage %#x",
                        params->label ? params->label : "tensor", params->usage & ~known);
    if ((params->dtype == TDL_INT64 || params->dtype == TDL_UINT64) &&
        !tdl_context_device(context)->shader_int64)
        return tdl_fail(TDL_ERROR_UNSUPPORTED, "%s: %s needs shaderInt64, which %s lacks",
                        params->label ? params->label : "tensor", tdl_dtype_name(params->dtype),
                        tdl_context_device(context)->name);
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
    return r;
}

void tdl_tensor_destroy(struct tdl_tensor **tensor)
{
    struct tdl_tensor *t = tdl_take(tensor);
    if (!t)
        return;
    tdl_buffer_destroy(&t->buffer);
    free(t);
}

const struct tdl_tensor_params *tdl_tensor_get_params(const struct tdl_tensor *tensor)
{
    return tensor ? &tensor->params : NULL;
}

/* Checks that are common to read and write. */
static enum tdl_result check_access(const struct tdl_tensor *t, size_t size, uint32_t usage,
                                    const char *what)
{
    char text[96];
    if (!(t->params.usage & usage))
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT, "%s: was created without TDL_TENSOR_%s",
                        t->label, usage == TDL_TENSOR_READABLE ? "READABLE" : "WRITABLE");
    if (size != t->size)
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT, "%s: %s of %zu bytes; %s has %zu", t->label,
                        what, size, tdl_tensor_params_text(&t->params, text, sizeof(text)),
                        t->size);
    return TDL_OK;
}

enum tdl_result tdl_tensor_write(struct tdl_tensor *t, const void *data, size_t size,
                                 uint64_t *out_point)
{
    TDL_NEED(t, "tensor");
    TDL_NEED(data, "data");
    struct tdl_buffer *staging = NULL;
    struct tdl_batch *batch = NULL;
    enum tdl_result r = check_access(t, size, TDL_TENSOR_WRITABLE, "write");
    if (r != TDL_OK)
        return r;
    TRY(tdl_staging_take(t->buffer->ctx, size, TDL_BUFFER_UPLOAD, &staging));
    memcpy(tdl_buffer_data(staging), data, size);
    TRY(tdl_batch_borrow_queued(t->buffer->ctx, &batch));
    TRY(tdl_batch_copy(batch, staging, 0, t->buffer, 0, size));
    TRY(tdl_batch_submit(batch, out_point));
fail:
    tdl_batch_give_back(&batch);
    tdl_staging_give_back(&staging);
    return r;
}

enum tdl_result tdl_tensor_read(struct tdl_tensor *t, void *out_data, size_t size)
{
    TDL_NEED(t, "tensor");
    TDL_NEED(out_data, "out_data");
    struct tdl_buffer *staging = NULL;
    struct tdl_batch *batch = NULL;
    uint64_t point;
    enum tdl_result r = check_access(t, size, TDL_TENSOR_READABLE, "read");
    if (r != TDL_OK)
        return r;
    TRY(tdl_staging_take(t->buffer->ctx, size, TDL_BUFFER_READBACK, &staging));
    TRY(tdl_batch_borrow(t->buffer->ctx, &batch));
    TRY(tdl_batch_copy(batch, t->buffer, 0, staging, 0, size));
    TRY(tdl_batch_submit(batch, &point));
    TRY(tdl_context_wait(t->buffer->ctx, point, TDL_WAIT_FOREVER));
    memcpy(out_data, tdl_buffer_data(staging), size);
fail:
    tdl_batch_give_back(&batch);
    tdl_staging_give_back(&staging);
    return r;
}

enum tdl_result tdl_tensor_reshape(struct tdl_tensor *t, uint32_t rank, const uint32_t *shape,
                                   struct tdl_tensor **out_view)
{
    TDL_NEED(t, "tensor");
    TDL_NEED(out_view, "out_view");
    struct tdl_tensor_params params = t->params;
    char from[96], to[96];
    *out_view = NULL;
    if (rank > TDL_MAX_RANK)
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT, "%s: rank %u; %d at most", t->label, rank,
                        TDL_MAX_RANK);
    if (rank)
        TDL_NEED(shape, "shape");
    params.rank = rank;
    memset(params.shape, 0, sizeof(params.shape));
    if (rank)
        memcpy(params.shape, shape, rank * sizeof(*shape));
    if (t->params.layout == TDL_LAYOUT_NC4HW4)
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT, "%s: a tensor in NC4HW4 cannot be reshaped",
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
