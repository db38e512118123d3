/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The thread of a context that calls back: read tensors, and the loss of the device. */
#ifndef TDL_NOTIFIER_H
#define TDL_NOTIFIER_H

#include "core.h"

/* A tensor on its way to the caller's memory. */
struct tdl_read {
    struct tdl_read *next;
    uint64_t point;
    struct tdl_buffer *staging; /* without a reference of the context */
    void *out_data;
    size_t size;
    tdl_read_fn done;
    void *done_data;
};

/* Room for one more read: waits for it, or is TDL_ERROR_BUSY. Starts the thread. */
enum tdl_result tdl_notifier_reserve(struct tdl_context *ctx);
/* The read that was reserved; NULL: there is none after all. It takes `read` over. */
void tdl_notifier_add(struct tdl_context *ctx, struct tdl_read *read);
/* The last reference of the context has gone: call back what is under way, and end.
 * False on the thread itself, which then goes on to tdl_context_end(). */
bool tdl_notifier_end(struct tdl_context *ctx);

#endif
