/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Tensors that are constants of graphs. They are among the weights of their context from the
 * beginning, so that graphs which read them as they lie take that memory, and need none of
 * their own.
 */
#include "tensor.h"

#include "ir/builder.h"

#include <stdlib.h>

static enum tdl_result check_constant(const struct tdl_tensor_params *p)
{
    const char *label = p->label ? p->label : "tensor";
    if (p->usage & ~(uint32_t)TDL_TENSOR_READABLE)
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT,
                        "%s: a constant is read at most (TDL_TENSOR_READABLE): nobody writes it, "
                        "and it is not rented",
                        label);
    if (p->packing)
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT, "%s: a constant is in no packs", label);
    return TDL_OK;
}

/* Kernels reach whole words, and have the bytes behind the last element among a constant's; the
 * CPU has just its bytes. */
static enum tdl_result keep(struct tdl_tensor *t, struct tdl_context *ctx, const void *data)
{
    const bool words = ctx->on->wants_steps;
    const size_t size = words ? TDL_TENSOR_BYTES(t->size) : t->size;
    void *copy = calloc(1, TDL_TENSOR_BYTES(t->size));
    if (!copy)
        return tdl_fail(TDL_ERROR_OUT_OF_MEMORY, "out of memory while creating a tensor");
    memcpy(copy, data, t->size);
    const enum tdl_result r =
        tdl_weights_hold(ctx, &(struct tdl_weights_block){copy, size},
                         words ? TDL_BUFFER_DEVICE : TDL_BUFFER_UPLOAD, &t->constant);
    free(copy);
    return r;
}

enum tdl_result tdl_tensor_create_constant(struct tdl_context *ctx,
                                           const struct tdl_tensor_params *params, const void *data,
                                           size_t size, struct tdl_tensor **out_tensor)
{
    TDL_NEED_KNOWN(params);
    TDL_NEED(ctx, "context");
    TDL_NEED(params, "params");
    TDL_NEED(data, "data");
    TDL_NEED(out_tensor, "out_tensor");
    struct tdl_tensor *t = NULL;
    enum tdl_result r;
    *out_tensor = NULL;
    TRY(tdl_context_check(ctx));
    TRY(tdl_tensor_check_params(ctx, params));
    TRY(check_constant(params));
    t = tdl_tensor_new(params);
    if (!t)
        return TDL_ERROR_OUT_OF_MEMORY;
    if (size != t->size) {
        r = tdl_fail(TDL_ERROR_INVALID_ARGUMENT, "%s: a constant was given %zu bytes; it has %zu",
                     t->label, size, t->size);
        goto fail;
    }
    TRY(keep(t, ctx, data));
    t->owner = tdl_context_ref(ctx); /* weights hold none */
    t->buffer = tdl_buffer_ref(t->constant.buffers[0]);
    *out_tensor = t;
    return TDL_OK;
fail:
    free(t);
    return tdl_logged(ctx, r);
}

enum tdl_result tdl_tensor_check_no_constant(const struct tdl_tensor *t)
{
    return t->owner ? tdl_fail(TDL_ERROR_INVALID_ARGUMENT,
                               "%s is a constant: builders take it (tdl_builder_constant_tensor), "
                               "and nothing else",
                               t->label)
                    : TDL_OK;
}

struct tdl_operand *tdl_builder_constant_tensor(struct tdl_builder *b, struct tdl_tensor *t)
{
    if (tdl_builder_status(b) != TDL_OK)
        return NULL;
    if (!t || !t->owner || t->owner != b->ctx)
        return tdl_builder_fail(b, TDL_ERROR_INVALID_ARGUMENT, "tdl_builder_constant_tensor: %s%s",
                                t ? t->label : "there is no tensor",
                                !t          ? ""
                                : !t->owner ? " is none of tdl_tensor_create_constant()"
                                            : " is of another context");
    struct tdl_tensor readable = *t;
    void *copy = malloc(t->size);
    readable.params.usage |= TDL_TENSOR_READABLE;
    if (!copy)
        return tdl_builder_fail(b, TDL_ERROR_OUT_OF_MEMORY, "out of memory in a builder");
    tdl_builder_own(b, copy, free);
    if (tdl_builder_status(b) != TDL_OK)
        return NULL;
    const enum tdl_result r = tdl_tensor_read(&readable, copy, t->size);
    if (r != TDL_OK)
        return tdl_builder_fail(b, r, "the constant %s cannot be read", t->label);
    return tdl_builder_constant(b, &t->params, copy, t->size);
}
