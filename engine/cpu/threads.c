/* SPDX-License-Identifier: LGPL-2.1-or-later */
#define _GNU_SOURCE /* sched_getaffinity() */
#include "threads.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

#ifdef TDL_HAVE_PTHREADPOOL
#include <pthreadpool.h>
#endif

struct tdl_cpu_threads {
    struct tdl_cpu_threads *next;
    uint32_t wanted, count, refs;
    void *pool; /* pthreadpool_t; NULL: one thread */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct tdl_cpu_threads *all; /* under it */

/* Cores that this process may use, which a container or taskset may have made fewer. */
static uint32_t count_cores(void)
{
    cpu_set_t set;
    int count = sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : 1;
    return count > 0 ? (uint32_t)count : 1;
}

#ifdef TDL_HAVE_PTHREADPOOL
static void *create_pool(uint32_t count)
{
    return count > 1 ? pthreadpool_create(count) : NULL;
}
#endif

enum tdl_result tdl_cpu_threads_open(uint32_t wanted, struct tdl_cpu_threads **out_threads)
{
    struct tdl_cpu_threads *t;
    pthread_mutex_lock(&lock);
    for (t = all; t && t->wanted != wanted;)
        t = t->next;
    if (!t && (t = calloc(1, sizeof(*t)))) {
        t->wanted = wanted;
        t->count = wanted ? wanted : count_cores();
#ifdef TDL_HAVE_PTHREADPOOL
        t->pool = create_pool(t->count);
#endif
        if (!t->pool)
            t->count = 1;
        t->next = all;
        all = t;
    }
    if (t)
        t->refs++;
    pthread_mutex_unlock(&lock);
    *out_threads = t;
    return t ? TDL_OK : tdl_fail(TDL_ERROR_OUT_OF_MEMORY, "out of memory while starting threads");
}

void tdl_cpu_threads_close(struct tdl_cpu_threads **threads)
{
    struct tdl_cpu_threads *t = tdl_take(threads);
    if (!t)
        return;
    pthread_mutex_lock(&lock);
    const bool last = !--t->refs;
    for (struct tdl_cpu_threads **p = &all; last && *p; p = &(*p)->next)
        if (*p == t) {
            *p = t->next;
            break;
        }
    pthread_mutex_unlock(&lock);
    if (!last)
        return;
#ifdef TDL_HAVE_PTHREADPOOL
    pthreadpool_destroy(t->pool);
#endif
    free(t);
}

uint32_t tdl_cpu_threads_count(const struct tdl_cpu_threads *threads)
{
    return threads ? threads->count : 1;
}

void *tdl_cpu_threads_pool(struct tdl_cpu_threads *threads)
{
    return threads ? threads->pool : NULL;
}

#ifdef TDL_HAVE_PTHREADPOOL
struct part {
    void (*task)(void *data, size_t begin, size_t end);
    void *data;
};

static void run_part(void *data, size_t begin, size_t size)
{
    const struct part *part = data;
    part->task(part->data, begin, begin + size);
}
#endif

void tdl_cpu_parallel(struct tdl_cpu_threads *threads,
                      void (*task)(void *data, size_t begin, size_t end), void *data, size_t count,
                      size_t grain)
{
    /* More parts than threads: one whose core is taken away leaves its rest to others. */
    enum { PARTS = 4 };
    const size_t parts = (size_t)tdl_cpu_threads_count(threads) * PARTS;
    grain = TDL_MAX(TDL_MAX(grain, TDL_DIV_UP(count, parts)), (size_t)1);
#ifdef TDL_HAVE_PTHREADPOOL
    if (tdl_cpu_threads_pool(threads) && count > grain) {
        pthreadpool_parallelize_1d_tile_1d(threads->pool, run_part, &(struct part){task, data},
                                           count, grain, 0);
        return;
    }
#endif
    if (count)
        task(data, 0, count);
}

#ifdef TDL_HAVE_PTHREADPOOL
static void do_nothing(void *data, size_t i)
{
    (void)data, (void)i;
}
#endif

void tdl_cpu_threads_rest(struct tdl_cpu_threads *threads)
{
#ifdef TDL_HAVE_PTHREADPOOL
    if (tdl_cpu_threads_pool(threads))
        pthreadpool_parallelize_1d(threads->pool, do_nothing, NULL, threads->count,
                                   PTHREADPOOL_FLAG_YIELD_WORKERS);
#else
    (void)threads;
#endif
}
