/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The threads that compute: one team for all contexts of the process, however many
 * streams it has, so that they do not fight for the cores. Helpers look out for the next
 * piece of work while a network runs, for a tenth of a millisecond, and sleep then.
 * Whoever has work does not wait for those that did not come: while the team works for one
 * context, or its cores for somebody else, the others go on alone.
 */
#ifndef TDL_CPU_THREADS_H
#define TDL_CPU_THREADS_H

#include "base.h"

struct tdl_cpu_threads;

/* The team of so many threads, the caller's among them; 0: as many as this process
 * may run at once. One more reference of it, if there is one already. */
enum tdl_result tdl_cpu_threads_open(uint32_t count, struct tdl_cpu_threads **out_threads);
void tdl_cpu_threads_close(struct tdl_cpu_threads **threads);
uint32_t tdl_cpu_threads_count(const struct tdl_cpu_threads *threads);
/* The number was given, and not left to us. */
bool tdl_cpu_threads_insisted(const struct tdl_cpu_threads *threads);

/* Work of a part that is worth a thread's while. */
enum { TDL_CPU_LEAST_NS = 8000 };

/* Call task(data, begin, end) for parts of 0 … count, of `grain` pieces at least but for the
 * last, which take TDL_CPU_LEAST_NS or so, on several threads and on this one; returns when all
 * of them are done. What is too little to share is done here. NULL threads: all of it. Where
 * this thread heeds something (stop.h), parts are short, and those not begun are left when it
 * says so: who called asks, too, before anything is made of the result. */
void tdl_cpu_parallel(struct tdl_cpu_threads *threads,
                      void (*task)(void *data, size_t begin, size_t end), void *data, size_t count,
                      size_t grain);

/* XNNPACK's thread pool (pthreadpool_t), made when first asked for; NULL for one thread. Its
 * threads spin while they wait for each other: where a neighbour wants a core, too, everything
 * waits for that (measured on two busy cores: 270 ms a run instead of 2.7). For networks that are
 * worth it, only. */
void *tdl_cpu_threads_pool(struct tdl_cpu_threads *threads);
/* There is nothing more to do for now: threads that spin go to sleep. */
void tdl_cpu_threads_rest(struct tdl_cpu_threads *threads);

#endif
