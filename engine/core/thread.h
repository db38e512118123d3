/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Threads of the library's own, and those that others start for it: signals are the program's. */
#ifndef TDL_THREAD_H
#define TDL_THREAD_H

#include <pthread.h>
#include <signal.h>

/* Block all signals but those for a thread's own faults, in threads started from now on. */
void tdl_signals_block(sigset_t *out_before);
void tdl_signals_restore(const sigset_t *before);
/* As pthread_create(), likewise; `name` is for people, 15 bytes at most; NULL: that of the
 * thread that starts it. */
int tdl_thread_start(pthread_t *out_thread, const char *name, void *(*function)(void *data),
                     void *data);

/* How many forks lie between the first call of this and the process: threads of before the
 * last one are another's, and so are locks. Never blocks. */
unsigned tdl_forks(void);

#endif
