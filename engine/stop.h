/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Work that nobody wants any more: long loops ask now and then, and leave it. */
#ifndef TDL_STOP_H
#define TDL_STOP_H

#include <stdatomic.h>
#include <stdbool.h>

/* Sets the flag of the calling thread, until it is called again with NULL: where *stop is
 * true, the thread's results are not wanted. */
void tdl_heed(const atomic_bool *stop);
/* NULL: nobody will say so. */
const atomic_bool *tdl_heeded(void);

static inline bool tdl_is_stopped(const atomic_bool *stop)
{
    return stop && atomic_load_explicit(stop, memory_order_relaxed);
}

#endif
