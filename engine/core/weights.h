/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Weights on the device, which graphs of one context have in common where they are the
 * same bytes: built at several sizes, a network has them once.
 *
 * A graph takes what it finds in the memory of others, and has one piece of memory for
 * the rest. Memory stays until its last graph has gone, so a graph takes only of such of
 * which it needs half: a few equal zeros do not keep another network's weights alive.
 */
#ifndef TDL_WEIGHTS_H
#define TDL_WEIGHTS_H

#include "device.h"

/* Bytes that kernels read at one place. */
struct tdl_weights_block {
    const void *data;
    uint64_t size;
};

/* Pieces of memory that one graph reads, its own among them. */
#define TDL_MAX_WEIGHTS 8

struct tdl_weights_memory;

struct tdl_weights {
    struct tdl_buffer *buffers[TDL_MAX_WEIGHTS]; /* theirs */
    struct tdl_weights_memory *memories[TDL_MAX_WEIGHTS];
    uint32_t count;
    struct tdl_weights_place { /* by block */
        uint64_t offset;       /* a multiple of TDL_PLAN_ALIGNMENT */
        uint32_t buffer;
    } * places;
};

/* Have the blocks on the device. In memory of `access` TDL_BUFFER_UPLOAD they are there
 * at once, else before what is submitted later. Thread-safe. After a failure there is
 * nothing to release. */
enum tdl_result tdl_weights_share(struct tdl_context *ctx, const struct tdl_weights_block *blocks,
                                  uint32_t count, enum tdl_buffer_access access,
                                  struct tdl_weights *out);
/* Have one block on the device, at the beginning of memory of its own, of which graphs take it. As
 * above. */
enum tdl_result tdl_weights_hold(struct tdl_context *ctx, const struct tdl_weights_block *block,
                                 enum tdl_buffer_access access, struct tdl_weights *out);
/* The memory goes with its last graph, when the timeline has passed its last use. Zeroed
 * ones are accepted. */
void tdl_weights_release(struct tdl_context *ctx, struct tdl_weights *weights);

/* Each context has one table. */
void tdl_weights_table_init(struct tdl_weights_table *table);
void tdl_weights_table_finish(struct tdl_weights_table *table);

#endif
