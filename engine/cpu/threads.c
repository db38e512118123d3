/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "threads.h"

#include "core/clock.h"
#include "core/thread.h"
#include "cores.h"
#include "stop.h"

#include <pthread.h>
#include <stdlib.h>

#ifdef TDL_HAVE_PTHREADPOOL
#include <pthreadpool.h>
#endif

enum { MAX_HELPERS = 63 };

struct tdl_cpu_threads {
    struct tdl_cpu_threads *next;
    uint32_t wanted, count, refs; /* the list's */
    unsigned forks;               /* forks before the threads were made */

    pthread_mutex_t lock;
    pthread_cond_t came, left;
    pthread_t helpers[MAX_HELPERS];
    uint32_t helper_count;
    bool ending;
    /* The job, under the lock but for `taken`. Who comes while `open` takes parts. */
    bool open;
    uint64_t number; /* jobs so far */
    uint32_t inside; /* helpers that are at it */
    void (*task)(void *data, size_t begin, size_t end);
    void *data;
    size_t count_of_pieces, least, grain; /* pieces of a part: at first, and at most */
    const atomic_bool *stop;              /* or NULL */
    atomic_size_t taken;

    void *pool; /* pthreadpool_t, or NULL */
};

static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER;
static struct tdl_cpu_threads *list; /* under it */

/* ------------------------------------------------------------------ stopping */

/* Longer than this a part of what may be stopped is not made. */
enum { PATIENCE_NS = 4000000 };

/* Pieces of the next part, after one of `pieces` that began then: nobody knows beforehand how
 * long they take. */
static size_t next_part(size_t pieces, size_t most, uint64_t start)
{
    return pieces < most && tdl_clock_ns() - start < PATIENCE_NS / 2 ? TDL_MIN(2 * pieces, most)
                                                                     : pieces;
}

/* All of it, on this thread. */
static void do_alone(void (*task)(void *data, size_t begin, size_t end), void *data, size_t count,
                     size_t least)
{
    const atomic_bool *stop = tdl_heeded();
    size_t part = stop ? TDL_MIN(least, count) : count;
    for (size_t begin = 0; begin < count && !tdl_is_stopped(stop);) {
        const uint64_t start = part < count ? tdl_clock_ns() : 0;
        const size_t end = begin + TDL_MIN(part, count - begin);
        task(data, begin, end);
        begin = end;
        part = next_part(part, count, start);
    }
}

/* ------------------------------------------------------------------- helpers */

static void take_parts(struct tdl_cpu_threads *t)
{
    size_t part = t->stop ? TDL_MIN(t->least, t->grain) : t->grain;
    for (size_t begin; !tdl_is_stopped(t->stop) &&
                       (begin = atomic_fetch_add(&t->taken, part)) < t->count_of_pieces;) {
        const uint64_t start = part < t->grain ? tdl_clock_ns() : 0;
        t->task(t->data, begin, begin + TDL_MIN(part, t->count_of_pieces - begin));
        part = next_part(part, t->grain, start);
    }
}

static void *help(void *data)
{
    struct tdl_cpu_threads *t = data;
    uint64_t seen = 0;
    pthread_mutex_lock(&t->lock);
    while (!t->ending) {
        if (!t->open || t->number == seen) {
            pthread_cond_wait(&t->came, &t->lock);
            continue;
        }
        seen = t->number;
        t->inside++;
        pthread_mutex_unlock(&t->lock);
        take_parts(t);
        pthread_mutex_lock(&t->lock);
        if (!--t->inside)
            pthread_cond_signal(&t->left);
    }
    pthread_mutex_unlock(&t->lock);
    return NULL;
}

/* False: the team works for somebody else just now. */
static bool begin_job(struct tdl_cpu_threads *t, void (*task)(void *data, size_t begin, size_t end),
                      void *data, size_t count, size_t least, size_t grain)
{
    pthread_mutex_lock(&t->lock);
    const bool free_now = !t->open && !t->inside;
    if (free_now) {
        t->task = task;
        t->data = data;
        t->count_of_pieces = count;
        t->least = least;
        t->grain = grain;
        t->stop = tdl_heeded();
        atomic_store(&t->taken, 0);
        t->number++;
        t->open = true;
        pthread_cond_broadcast(&t->came);
    }
    pthread_mutex_unlock(&t->lock);
    return free_now;
}

static void end_job(struct tdl_cpu_threads *t)
{
    pthread_mutex_lock(&t->lock);
    t->open = false;
    while (t->inside)
        pthread_cond_wait(&t->left, &t->lock);
    pthread_mutex_unlock(&t->lock);
}

void tdl_cpu_parallel(struct tdl_cpu_threads *threads,
                      void (*task)(void *data, size_t begin, size_t end), void *data, size_t count,
                      size_t grain)
{
    /* More parts than threads: who comes late, or is held up, does fewer. */
    enum { PARTS = 4 };
    const size_t parts = (size_t)tdl_cpu_threads_count(threads) * PARTS;
    const size_t least = TDL_MAX(grain, (size_t)1);
    grain = TDL_MAX(TDL_MAX(grain, TDL_DIV_UP(count, parts)), (size_t)1);
    if (!count)
        return;
    if (!threads || !threads->helper_count || count <= grain ||
        !begin_job(threads, task, data, count, least, grain)) {
        do_alone(task, data, count, least);
        return;
    }
    take_parts(threads);
    end_job(threads);
}

/* ----------------------------------------------------------------------- life */

/* As many helpers as the system gives. */
static struct tdl_cpu_threads *create(uint32_t wanted)
{
    struct tdl_cpu_threads *t = calloc(1, sizeof(*t));
    const uint32_t cores = tdl_cpu_cores();
    /* More than cores only wait for each other: XNNPACK's, spinning, for minutes. */
    const uint32_t count = wanted ? TDL_MIN(wanted, cores) : cores;
    if (!t)
        return NULL;
    t->wanted = wanted;
    t->forks = tdl_forks();
    pthread_mutex_init(&t->lock, NULL);
    pthread_cond_init(&t->came, NULL);
    pthread_cond_init(&t->left, NULL);
    while (t->helper_count + 1 < count && t->helper_count < MAX_HELPERS &&
           !tdl_thread_start(&t->helpers[t->helper_count], "tdl-cpu-help", help, t))
        t->helper_count++;
    t->count = t->helper_count + 1;
    return t;
}

static void destroy(struct tdl_cpu_threads *t)
{
    pthread_mutex_lock(&t->lock);
    t->ending = true;
    pthread_cond_broadcast(&t->came);
    pthread_mutex_unlock(&t->lock);
    for (uint32_t i = 0; i < t->helper_count; i++)
        pthread_join(t->helpers[i], NULL);
#ifdef TDL_HAVE_PTHREADPOOL
    pthreadpool_destroy(t->pool);
#endif
    pthread_cond_destroy(&t->came);
    pthread_cond_destroy(&t->left);
    pthread_mutex_destroy(&t->lock);
    free(t);
}

enum tdl_result tdl_cpu_threads_open(uint32_t wanted, struct tdl_cpu_threads **out_threads)
{
    struct tdl_cpu_threads *t;
    pthread_mutex_lock(&list_lock);
    for (t = list; t && (t->wanted != wanted || t->forks != tdl_forks());)
        t = t->next;
    if (!t && (t = create(wanted))) {
        t->next = list;
        list = t;
    }
    if (t)
        t->refs++;
    pthread_mutex_unlock(&list_lock);
    *out_threads = t;
    return t ? TDL_OK : tdl_fail(TDL_ERROR_OUT_OF_MEMORY, "out of memory while starting threads");
}

void tdl_cpu_threads_close(struct tdl_cpu_threads **threads)
{
    struct tdl_cpu_threads *t = tdl_take(threads);
    if (!t)
        return;
    pthread_mutex_lock(&list_lock);
    const bool last = !--t->refs;
    for (struct tdl_cpu_threads **p = &list; last && *p; p = &(*p)->next)
        if (*p == t) {
            *p = t->next;
            break;
        }
    pthread_mutex_unlock(&list_lock);
    if (last)
        destroy(t);
}

uint32_t tdl_cpu_threads_count(const struct tdl_cpu_threads *threads)
{
    return threads ? threads->count : 1;
}

bool tdl_cpu_threads_insisted(const struct tdl_cpu_threads *threads)
{
    return threads && threads->wanted > 0;
}

/* ------------------------------------------------------------------- XNNPACK's */

#ifdef TDL_HAVE_PTHREADPOOL
void *tdl_cpu_threads_pool(struct tdl_cpu_threads *threads)
{
    if (!threads || threads->count < 2)
        return NULL;
    pthread_mutex_lock(&threads->lock);
    if (!threads->pool) {
        sigset_t before;
        tdl_signals_block(&before);
        threads->pool = pthreadpool_create(threads->count);
        tdl_signals_restore(&before);
    }
    void *pool = threads->pool;
    pthread_mutex_unlock(&threads->lock);
    return pool;
}

static void do_nothing(void *data, size_t i)
{
    (void)data, (void)i;
}

void tdl_cpu_threads_rest(struct tdl_cpu_threads *threads)
{
    pthread_mutex_lock(&threads->lock);
    void *pool = threads->pool;
    pthread_mutex_unlock(&threads->lock);
    if (pool)
        pthreadpool_parallelize_1d(pool, do_nothing, NULL, threads->count,
                                   PTHREADPOOL_FLAG_YIELD_WORKERS);
}
#else
void *tdl_cpu_threads_pool(struct tdl_cpu_threads *threads)
{
    (void)threads;
    return NULL;
}

void tdl_cpu_threads_rest(struct tdl_cpu_threads *threads)
{
    (void)threads;
}
#endif
