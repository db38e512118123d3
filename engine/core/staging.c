/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Mapped memory on the way to tensors and back. What a transfer has used goes to a
 * list, and is taken again by a later one of about the same size once the device is
 * done with it, so that reading and writing allocates nothing in the steady state.
 *
 * The list is in the order of use: where one of a size is not done, those behind it
 * are not either. As idle batches, what lies in it holds no reference of the context.
 */
#include "core.h"

enum { SMALLEST = 4096, LARGEST = 16 << 20, KEPT = 64 << 20 };

/* Few sizes, so that they fit each other. */
static size_t round_up(size_t size)
{
    size_t rounded = SMALLEST;
    while (rounded < size)
        rounded *= 2;
    return rounded;
}

/* With the lock held. */
static struct tdl_buffer *unlink_next(struct tdl_staging *s, struct tdl_buffer *before)
{
    struct tdl_buffer **at = before ? &before->next_idle : &s->first, *taken = *at;
    *at = taken->next_idle;
    if (s->last == taken)
        s->last = before;
    s->bytes -= taken->size;
    taken->next_idle = NULL;
    return taken;
}

static struct tdl_buffer *find(struct tdl_context *ctx, size_t size, enum tdl_buffer_access access)
{
    const uint64_t passed = ctx->on->context_passed(ctx);
    struct tdl_buffer *before = NULL, *found = NULL;
    pthread_mutex_lock(&ctx->staging.lock);
    for (struct tdl_buffer *b = ctx->staging.first; b; before = b, b = b->next_idle)
        if (b->size == size && b->idle_access == access) {
            if (ctx->on->buffer_point(b, true) <= passed)
                found = unlink_next(&ctx->staging, before);
            break;
        }
    pthread_mutex_unlock(&ctx->staging.lock);
    if (found) {
        tdl_context_ref(ctx);
        found->is_loose = false;
    }
    return found;
}

enum tdl_result tdl_staging_take(struct tdl_context *ctx, size_t size,
                                 enum tdl_buffer_access access, struct tdl_buffer **out_buffer)
{
    if (size > LARGEST)
        return tdl_buffer_create_named(ctx, size, access, "staging", out_buffer);
    enum tdl_result r = tdl_context_check(ctx);
    *out_buffer = NULL;
    if (r != TDL_OK)
        return r;
    *out_buffer = find(ctx, round_up(size), access);
    if (*out_buffer)
        return TDL_OK;
    r = tdl_buffer_create_named(ctx, round_up(size), access, "staging", out_buffer);
    if (r == TDL_OK)
        (*out_buffer)->idle_access = access;
    return r;
}

/* Free a list of what was kept. */
static void destroy_all(struct tdl_buffer *list)
{
    for (struct tdl_buffer *next; list; list = next) {
        next = list->next_idle;
        tdl_buffer_destroy(&list);
    }
}

void tdl_staging_keep(struct tdl_buffer *b)
{
    struct tdl_staging *s = &b->ctx->staging;
    struct tdl_buffer *gone = NULL;
    if (b->size > LARGEST) {
        tdl_buffer_destroy(&b);
        return;
    }
    pthread_mutex_lock(&s->lock);
    while (s->bytes + b->size > KEPT) {
        struct tdl_buffer *oldest = unlink_next(s, NULL);
        oldest->next_idle = gone;
        gone = oldest;
    }
    *(s->last ? &s->last->next_idle : &s->first) = b;
    s->last = b;
    s->bytes += b->size;
    pthread_mutex_unlock(&s->lock);
    destroy_all(gone);
}

void tdl_staging_give_back(struct tdl_buffer **buffer)
{
    struct tdl_buffer *b = tdl_take(buffer);
    if (!b)
        return;
    struct tdl_context *ctx = b->ctx;
    b->is_loose = true;
    tdl_staging_keep(b);
    tdl_context_destroy(&ctx);
}

void tdl_staging_finish(struct tdl_context *ctx)
{
    struct tdl_buffer *all = ctx->staging.first;
    ctx->staging.first = ctx->staging.last = NULL;
    ctx->staging.bytes = 0;
    destroy_all(all);
}
