/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Memory of the host's: our own, or somebody's that is used where it lies. */
#include "memory.h"
#include "table.h"

#include <stdlib.h>

/* Kernels load whole vectors, and XNNPACK says that it may read 16 bytes past the end. */
#define BEHIND 64
#define ALIGNMENT 64

enum tdl_result tdl_cpu_buffer_create(struct tdl_context *ctx, const struct tdl_buffer_wish *wish,
                                      struct tdl_buffer **out_buffer)
{
    if (wish->size > ctx->info.max_buffer_bytes)
        return tdl_fail(TDL_ERROR_UNSUPPORTED,
                        "%s: %zu bytes are more than memory has addresses for", wish->name,
                        wish->size);
    if (wish->exportable)
        return tdl_fail(TDL_ERROR_UNSUPPORTED,
                        "%s: memory of device cpu is not rented out; others on this machine read "
                        "and write it by tdl_buffer_data()",
                        wish->name);
    enum tdl_result r = tdl_cpu_memory_check(wish->name, wish->size);
    if (r != TDL_OK)
        return r;
    struct tdl_cpu_buffer *b = calloc(1, sizeof(*b));
    if (b && wish->size < SIZE_MAX - BEHIND - ALIGNMENT)
        b->memory = aligned_alloc(ALIGNMENT, TDL_ALIGN(wish->size + BEHIND, ALIGNMENT));
    if (!b || !b->memory) {
        free(b);
        return tdl_fail(TDL_ERROR_OUT_OF_MEMORY, "%s: out of memory for %zu bytes", wish->name,
                        wish->size);
    }
    memset(b->memory + wish->size, 0, BEHIND);
    tdl_buffer_init(&b->base, ctx, wish->size);
    b->base.map = wish->access == TDL_BUFFER_DEVICE ? NULL : b->memory;
    atomic_fetch_add(&ctx->stats.allocations, 1);
    atomic_fetch_add(&ctx->stats.memory_bytes, wish->size);
    *out_buffer = &b->base;
    return TDL_OK;
}

enum tdl_result tdl_cpu_buffer_import_host(struct tdl_context *ctx, void *pointer, size_t size,
                                           struct tdl_buffer **out_buffer, uint64_t *out_offset)
{
    struct tdl_cpu_buffer *b = calloc(1, sizeof(*b));
    if (!b)
        return tdl_fail(TDL_ERROR_OUT_OF_MEMORY, "out of memory while importing memory");
    tdl_buffer_init(&b->base, ctx, size);
    b->memory = pointer;
    b->borrowed = true;
    *out_offset = 0;
    *out_buffer = &b->base;
    return TDL_OK;
}

static void free_buffer(void *data)
{
    struct tdl_cpu_buffer *b = data;
    if (!b->borrowed)
        free(b->memory);
    free(b);
}

void tdl_cpu_buffer_destroy(struct tdl_buffer *buffer)
{
    struct tdl_cpu_buffer *b = (struct tdl_cpu_buffer *)buffer;
    struct tdl_context *ctx = buffer->ctx;
    if (!b->borrowed)
        atomic_fetch_sub(&ctx->stats.memory_bytes, buffer->size);
    tdl_cpu_timeline_defer(tdl_cpu(ctx), tdl_cpu_buffer_point(buffer, true), free_buffer, b);
}

enum tdl_result tdl_cpu_buffer_check_tensor(const struct tdl_buffer *buffer, size_t size)
{
    const struct tdl_cpu_buffer *b = (const struct tdl_cpu_buffer *)buffer;
    if (!b->borrowed || ((uintptr_t)b->memory % ALIGNMENT == 0 && buffer->size >= BEHIND &&
                         size <= buffer->size - BEHIND))
        return TDL_OK;
    return tdl_fail(TDL_ERROR_INVALID_ARGUMENT,
                    "host memory of %zu bytes at %p for a tensor of %zu: it has to begin at a "
                    "multiple of %d and to have %d bytes more",
                    buffer->size, (void *)b->memory, size, ALIGNMENT, BEHIND);
}

enum tdl_result tdl_cpu_buffer_check_whole(const struct tdl_buffer *buffer)
{
    const struct tdl_cpu_buffer *b = (const struct tdl_cpu_buffer *)buffer;
    struct tdl_cpu_context *ctx = tdl_cpu(buffer->ctx);
    pthread_mutex_lock(&ctx->lock);
    const bool spoilt = b->spoilt;
    pthread_mutex_unlock(&ctx->lock);
    return spoilt ? tdl_fail(TDL_ERROR_CANCELED,
                             "what should have been written was given up by tdl_batch_abort(); "
                             "write it anew")
                  : TDL_OK;
}

uint64_t tdl_cpu_buffer_point(const struct tdl_buffer *buffer, bool and_read)
{
    const struct tdl_cpu_buffer *b = (const struct tdl_cpu_buffer *)buffer;
    struct tdl_cpu_context *ctx = tdl_cpu(buffer->ctx);
    pthread_mutex_lock(&ctx->lock);
    const uint64_t point = and_read ? TDL_MAX(b->written, b->read) : b->written;
    pthread_mutex_unlock(&ctx->lock);
    return point;
}
