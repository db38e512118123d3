/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "weights.h"

#include "core.h"

#include <stdlib.h>

/* One piece of memory, in the context's list. All under the list's lock. */
struct tdl_weights_memory {
    struct tdl_weights_memory *next;
    struct tdl_buffer *buffer;
    uint32_t users; /* graphs */
    uint64_t bytes; /* bytes of its blocks */
    uint32_t count;
    struct entry { /* in their order */
        struct tdl_digest digest;
        uint64_t size, offset;
    } entries[];
};

enum { NOWHERE = UINT32_MAX };

static enum tdl_result out_of_memory(void)
{
    return tdl_fail(TDL_ERROR_OUT_OF_MEMORY, "out of memory for a graph's weights");
}

static int by_content(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    if (x->size != y->size)
        return x->size < y->size ? -1 : 1;
    return memcmp(&x->digest, &y->digest, sizeof(x->digest));
}

static const struct entry *find(const struct tdl_weights_memory *m, const struct entry *wanted)
{
    return bsearch(wanted, m->entries, m->count, sizeof(*m->entries), by_content);
}

/* ------------------------------------------------------------------ of others */

/* Bytes of the blocks that have no place yet. */
static uint64_t bytes_found(const struct tdl_weights_memory *m, const struct entry *wanted,
                            const struct tdl_weights *w, uint32_t count)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < count; i++)
        if (w->places[i].buffer == NOWHERE && find(m, &wanted[i]))
            bytes += wanted[i].size;
    return bytes;
}

/* The memory with most of the wanted blocks, if at least half of its bytes are wanted. */
static struct tdl_weights_memory *choose(const struct tdl_weights_table *table,
                                         const struct entry *wanted, const struct tdl_weights *w,
                                         uint32_t count, uint64_t missing)
{
    struct tdl_weights_memory *best = NULL;
    uint64_t most = 0;
    for (struct tdl_weights_memory *m = table->first; m; m = m->next) {
        if (m->bytes > 2 * missing)
            continue;
        const uint64_t bytes = bytes_found(m, wanted, w, count);
        if (bytes > most && 2 * bytes >= m->bytes) {
            best = m;
            most = bytes;
        }
    }
    return best;
}

static void use(struct tdl_weights *w, struct tdl_weights_memory *m)
{
    m->users++;
    w->memories[w->count] = m;
    w->buffers[w->count++] = m->buffer;
}

/* Returns the bytes that have no place. */
static uint64_t take_of_others(const struct tdl_weights_table *table, const struct entry *wanted,
                               uint32_t count, struct tdl_weights *w)
{
    uint64_t missing = 0;
    for (uint32_t i = 0; i < count; i++)
        missing += wanted[i].size;
    while (missing && w->count < TDL_MAX_WEIGHTS - 1) {
        struct tdl_weights_memory *m = choose(table, wanted, w, count, missing);
        if (!m)
            break;
        for (uint32_t i = 0; i < count; i++) {
            const struct entry *e = w->places[i].buffer == NOWHERE ? find(m, &wanted[i]) : NULL;
            if (!e)
                continue;
            w->places[i] = (struct tdl_weights_place){e->offset, w->count};
            missing -= wanted[i].size;
        }
        use(w, m);
    }
    return missing;
}

/* ------------------------------------------------------------------- one's own */

static struct tdl_weights_memory *place_rest(const struct entry *wanted, uint32_t count,
                                             struct tdl_weights *w, uint64_t *out_size)
{
    struct tdl_weights_memory *m = malloc(sizeof(*m) + count * sizeof(*m->entries));
    *out_size = 0;
    if (!m)
        return NULL;
    *m = (struct tdl_weights_memory){0};
    for (uint32_t i = 0; i < count; i++) {
        if (w->places[i].buffer != NOWHERE)
            continue;
        w->places[i] = (struct tdl_weights_place){*out_size, w->count};
        m->entries[m->count] = wanted[i];
        m->entries[m->count++].offset = *out_size;
        m->bytes += wanted[i].size;
        *out_size += TDL_ALIGN(wanted[i].size, TDL_PLAN_ALIGNMENT);
    }
    qsort(m->entries, m->count, sizeof(*m->entries), by_content);
    return m;
}

/* Write the blocks whose place is in memory number `at`. */
static void write_blocks(const struct tdl_weights *w, const struct tdl_weights_block *blocks,
                         uint32_t count, uint32_t at, struct tdl_buffer *to, uint64_t size)
{
    uint8_t *map = tdl_buffer_data(to);
    uint64_t end = 0;
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t offset = w->places[i].offset;
        if (w->places[i].buffer != at)
            continue;
        memset(map + end, 0, offset - end);
        memcpy(map + offset, blocks[i].data, blocks[i].size);
        end = offset + blocks[i].size;
    }
    memset(map + end, 0, size - end);
}

static enum tdl_result upload(struct tdl_context *ctx, const struct tdl_weights *w,
                              const struct tdl_weights_block *blocks, uint32_t count,
                              struct tdl_buffer *target, uint64_t size)
{
    struct tdl_buffer *staging = NULL;
    struct tdl_batch *batch = NULL;
    enum tdl_result r;
    TRY(tdl_buffer_create_parts(ctx, size, TDL_BUFFER_UPLOAD, "weights staging", &staging));
    write_blocks(w, blocks, count, w->count, staging, size);
    TRY(tdl_batch_borrow(ctx, &batch));
    TRY(tdl_batch_copy(batch, staging, 0, target, 0, size));
    TRY(tdl_batch_submit(batch, NULL));
fail:
    tdl_batch_give_back(&batch);
    tdl_buffer_destroy(&staging);
    return r;
}

static enum tdl_result add_rest(struct tdl_context *ctx, const struct tdl_weights_block *blocks,
                                const struct entry *wanted, uint32_t count,
                                enum tdl_buffer_access access, struct tdl_weights *w)
{
    uint64_t size;
    enum tdl_result r;
    struct tdl_weights_memory *m = place_rest(wanted, count, w, &size);
    if (!m)
        return out_of_memory();
    TRY(tdl_buffer_create_parts(ctx, size, access, "weights", &m->buffer));
    if (access == TDL_BUFFER_UPLOAD)
        write_blocks(w, blocks, count, w->count, m->buffer, size);
    else
        TRY(upload(ctx, w, blocks, count, m->buffer, size));
    tdl_buffer_loosen(m->buffer); /* the CPU's worker may be the last to use it */
    m->next = ctx->weights.first;
    ctx->weights.first = m;
    use(w, m);
    return TDL_OK;
fail:
    tdl_buffer_destroy(&m->buffer);
    free(m);
    return r;
}

/* ------------------------------------------------------------------------ both */

/* `own`: in memory of one's own. */
static enum tdl_result share(struct tdl_context *ctx, const struct tdl_weights_block *blocks,
                             uint32_t count, enum tdl_buffer_access access, bool own,
                             struct tdl_weights *out)
{
    struct tdl_weights_table *table = &ctx->weights;
    struct entry *wanted = calloc(count + (size_t)1, sizeof(*wanted));
    enum tdl_result r = TDL_OK;
    *out = (struct tdl_weights){.places = calloc(count + (size_t)1, sizeof(*out->places))};
    if (!wanted || !out->places) {
        r = out_of_memory();
        goto fail;
    }
    for (uint32_t i = 0; i < count; i++) {
        out->places[i].buffer = NOWHERE;
        wanted[i].size = blocks[i].size;
        wanted[i].digest = tdl_digest_bytes(&table->key, blocks[i].data, blocks[i].size);
    }
    /* Held until the upload is in the queue: another graph may use it from then on. */
    pthread_mutex_lock(&table->lock);
    if (own || take_of_others(table, wanted, count, out))
        r = add_rest(ctx, blocks, wanted, count, access, out);
    pthread_mutex_unlock(&table->lock);
fail:
    free(wanted);
    if (r != TDL_OK)
        tdl_weights_release(ctx, out);
    return r;
}

enum tdl_result tdl_weights_share(struct tdl_context *ctx, const struct tdl_weights_block *blocks,
                                  uint32_t count, enum tdl_buffer_access access,
                                  struct tdl_weights *out)
{
    return share(ctx, blocks, count, access, false, out);
}

enum tdl_result tdl_weights_hold(struct tdl_context *ctx, const struct tdl_weights_block *block,
                                 enum tdl_buffer_access access, struct tdl_weights *out)
{
    return share(ctx, block, 1, access, true, out);
}

/* With the lock held: out of the list if nobody has it any more. */
static struct tdl_weights_memory *let_go(struct tdl_weights_table *table,
                                         struct tdl_weights_memory *m)
{
    struct tdl_weights_memory **at = &table->first;
    if (--m->users)
        return NULL;
    while (*at != m)
        at = &(*at)->next;
    *at = m->next;
    return m;
}

void tdl_weights_release(struct tdl_context *ctx, struct tdl_weights *w)
{
    struct tdl_weights_memory *gone[TDL_MAX_WEIGHTS];
    pthread_mutex_lock(&ctx->weights.lock);
    for (uint32_t i = 0; i < w->count; i++)
        gone[i] = let_go(&ctx->weights, w->memories[i]);
    pthread_mutex_unlock(&ctx->weights.lock);
    for (uint32_t i = 0; i < w->count; i++) {
        if (gone[i])
            tdl_buffer_destroy(&gone[i]->buffer);
        free(gone[i]);
    }
    free(w->places);
    *w = (struct tdl_weights){0};
}

void tdl_weights_table_init(struct tdl_weights_table *table)
{
    pthread_mutex_init(&table->lock, NULL);
    table->key = tdl_digest_key();
}

void tdl_weights_table_finish(struct tdl_weights_table *table)
{
    pthread_mutex_destroy(&table->lock);
}
