/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Threads that wait for points of a context's timeline. */
#ifndef TDL_VULKAN_WAIT_H
#define TDL_VULKAN_WAIT_H

#include <pthread.h>

struct tdl_waiter;

struct tdl_waiters {
    pthread_mutex_t lock;
    pthread_condattr_t monotonic;
    struct tdl_waiter *first; /* in no order */
};

void tdl_waiters_init(struct tdl_waiters *waiters);
/* Nobody may wait any more. */
void tdl_waiters_finish(struct tdl_waiters *waiters);

#endif
