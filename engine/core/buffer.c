/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core.h"

void tdl_buffer_init(struct tdl_buffer *b, struct tdl_context *ctx, size_t size)
{
    static atomic_ullong next_id = 1;
    b->ctx = tdl_context_ref(ctx);
    atomic_init(&b->refs, 1);
    b->id = atomic_fetch_add(&next_id, 1);
    b->size = size;
}

static enum tdl_result create(struct tdl_context *ctx, const struct tdl_buffer_wish *wish,
                              struct tdl_buffer **out_buffer)
{
    *out_buffer = NULL;
    enum tdl_result r = tdl_context_check(ctx);
    if (r != TDL_OK)
        return r;
    if (!wish->size)
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT, "%s: 0 bytes were asked for; it has 1 or more",
                        wish->name);
    return ctx->on->buffer_create(ctx, wish, out_buffer);
}

enum tdl_result tdl_buffer_create_named(struct tdl_context *ctx, size_t size,
                                        enum tdl_buffer_access access, const char *name,
                                        struct tdl_buffer **out_buffer)
{
    return create(ctx, &(struct tdl_buffer_wish){.size = size, .access = access, .name = name},
                  out_buffer);
}

enum tdl_result tdl_buffer_create_parts(struct tdl_context *ctx, size_t size,
                                        enum tdl_buffer_access access, const char *name,
                                        struct tdl_buffer **out_buffer)
{
    return create(
        ctx, &(struct tdl_buffer_wish){.size = size, .access = access, .name = name, .parts = true},
        out_buffer);
}

enum tdl_result tdl_buffer_create_exportable_for(struct tdl_context *ctx, size_t size,
                                                 uint32_t usage, const char *name,
                                                 struct tdl_buffer **out_buffer)
{
    return create(ctx,
                  &(struct tdl_buffer_wish){
                      .size = size, .access = TDL_BUFFER_DEVICE, .name = name, .exportable = usage},
                  out_buffer);
}

enum tdl_result tdl_buffer_create(struct tdl_context *context, size_t size,
                                  enum tdl_buffer_access access, struct tdl_buffer **out_buffer)
{
    TDL_NEED(context, "context");
    TDL_NEED(out_buffer, "out_buffer");
    static const char *const names[] = {"buffer (device)", "buffer (upload)", "buffer (readback)"};
    *out_buffer = NULL;
    if ((unsigned)access >= TDL_COUNT(names))
        return tdl_logged(context, tdl_fail(TDL_ERROR_INVALID_ARGUMENT,
                                            "a buffer with unknown access %d", access));
    return tdl_logged(context,
                      tdl_buffer_create_named(context, size, access, names[access], out_buffer));
}

enum tdl_result tdl_buffer_import_host(struct tdl_context *ctx, void *pointer, size_t size,
                                       struct tdl_buffer **out_buffer, uint64_t *out_offset)
{
    TDL_NEED(ctx, "context");
    TDL_NEED(out_buffer, "out_buffer");
    TDL_NEED(out_offset, "out_offset");
    enum tdl_result r = tdl_context_check(ctx);
    *out_buffer = NULL;
    if (r == TDL_OK && (!pointer || !size))
        r = tdl_fail(TDL_ERROR_INVALID_ARGUMENT, "there is no host memory to import");
    if (r == TDL_OK && size > UINTPTR_MAX - (uintptr_t)pointer)
        r = tdl_fail(TDL_ERROR_INVALID_ARGUMENT,
                     "host memory of %zu bytes at %p goes past the end of the address space", size,
                     pointer);
    if (r == TDL_OK)
        r = ctx->on->buffer_import_host(ctx, pointer, size, out_buffer, out_offset);
    if (r == TDL_OK) {
        (*out_buffer)->given = size;
        (*out_buffer)->before = *out_offset;
    }
    return tdl_logged(ctx, r);
}

struct tdl_buffer *tdl_buffer_ref(struct tdl_buffer *buffer)
{
    atomic_fetch_add(&buffer->refs, 1);
    return buffer;
}

void tdl_buffer_loosen(struct tdl_buffer *buffer)
{
    struct tdl_context *ctx = buffer->ctx;
    buffer->is_loose = true;
    tdl_context_destroy(&ctx);
}

void tdl_buffer_destroy(struct tdl_buffer **buffer)
{
    struct tdl_buffer *b = tdl_take(buffer);
    if (!b || tdl_context_is_forked(b->ctx) || atomic_fetch_sub(&b->refs, 1) != 1)
        return;
    struct tdl_context *ctx = b->ctx;
    const bool is_loose = b->is_loose;
    ctx->on->buffer_destroy(b);
    if (!is_loose)
        tdl_context_destroy(&ctx);
}

void *tdl_buffer_data(struct tdl_buffer *buffer)
{
    return buffer ? buffer->map : NULL;
}

size_t tdl_buffer_size(const struct tdl_buffer *buffer)
{
    return buffer ? buffer->size : 0;
}

bool tdl_buffer_is_local(const struct tdl_buffer *buffer)
{
    return buffer &&
           (!buffer->ctx->on->buffer_is_local || buffer->ctx->on->buffer_is_local(buffer));
}

enum tdl_result tdl_buffer_check_whole(const struct tdl_buffer *buffer)
{
    const struct tdl_device *on = buffer->ctx->on;
    return on->buffer_check_whole ? on->buffer_check_whole(buffer) : TDL_OK;
}

enum tdl_result tdl_buffer_wait(struct tdl_buffer *buffer, bool for_write)
{
    TDL_NEED(buffer, "buffer");
    const struct tdl_device *on = buffer->ctx->on;
    enum tdl_result r;
    if (!on->buffer_wait) {
        r = tdl_context_wait(buffer->ctx, on->buffer_point(buffer, for_write),
                             TDL_WAIT_FOREVER); /* a failed wait is logged by the wait itself */
        return r == TDL_OK ? tdl_logged(buffer->ctx, tdl_buffer_check_whole(buffer)) : r;
    }
    r = tdl_context_check(buffer->ctx);
    return tdl_logged(buffer->ctx, r == TDL_OK ? on->buffer_wait(buffer, for_write) : r);
}
