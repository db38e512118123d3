/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A signal to the process goes to any thread that does not block it. A program that blocks
 * one to read it from a signalfd, or that has handlers which belong to its threads, knows
 * nothing of ours: they take none. A thread begins with the mask of the one that starts it.
 */
#define _GNU_SOURCE
#include "thread.h"

#include <stdatomic.h>

static atomic_uint forks;
static pthread_once_t forks_watched = PTHREAD_ONCE_INIT;

void tdl_signals_block(sigset_t *out_before)
{
    /* Signals for a thread's own faults come to that thread, and end the process if blocked. */
    static const int own[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS};
    sigset_t all;
    sigfillset(&all);
    for (unsigned i = 0; i < sizeof(own) / sizeof(own[0]); i++)
        sigdelset(&all, own[i]);
    pthread_sigmask(SIG_BLOCK, &all, out_before);
}

void tdl_signals_restore(const sigset_t *before)
{
    pthread_sigmask(SIG_SETMASK, before, NULL);
}

int tdl_thread_start(pthread_t *out_thread, const char *name, void *(*function)(void *data),
                     void *data)
{
    sigset_t before;
    tdl_signals_block(&before);
    const int error = pthread_create(out_thread, NULL, function, data);
    tdl_signals_restore(&before);
    if (!error && name)
        pthread_setname_np(*out_thread, name);
    return error;
}

static void count_fork(void)
{
    atomic_fetch_add(&forks, 1);
}

static void watch_forks(void)
{
    pthread_atfork(NULL, NULL, count_fork);
}

unsigned tdl_forks(void)
{
    pthread_once(&forks_watched, watch_forks);
    return atomic_load(&forks);
}
