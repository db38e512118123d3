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

/* Pieces of a job that one thread begins with, at lines of the cache. */
struct range {
    _Alignas(64) atomic_size_t taken;
    size_t end;
};

struct tdl_cpu_threads {
    struct tdl_cpu_threads *next;
    uint32_t wanted, count, refs; /* the list's */
    unsigned forks;               /* forks before the threads were made */

    pthread_mutex_t lock; /* of who begins jobs, and of who sleeps */
    pthread_cond_t came, left;
    pthread_t helpers[MAX_HELPERS];
    uint32_t helper_count;
    atomic_bool ending;
    atomic_bool awake, waits; /* helpers look out for the next job; who began one sleeps */
    /* The job's number, how many helpers are at it, and whether who comes may join it. The
     * job's fields change only while it is closed and nobody is at it. */
    atomic_uint_fast64_t gate;
    void (*task)(void *data, size_t begin, size_t end);
    void *data;
    size_t least, grain;                  /* pieces of a part: at first, and at most */
    const atomic_bool *stop;              /* or NULL */
    struct range ranges[MAX_HELPERS + 1]; /* the caller's, and those of helpers */
    atomic_uint born;                     /* helpers so far */
    atomic_uint_fast64_t alone_until;     /* little work is not shared before that time, in ns */

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

/* First those of its own range, as in the job before, whose results are still in its cache; then
 * what others have left. */
static void take_parts(struct tdl_cpu_threads *t, uint32_t self)
{
    size_t part = t->stop ? TDL_MIN(t->least, t->grain) : t->grain;
    for (uint32_t i = 0; i < t->count; i++) {
        struct range *r = &t->ranges[(self + i) % t->count];
        for (size_t begin;
             !tdl_is_stopped(t->stop) && (begin = atomic_fetch_add(&r->taken, part)) < r->end;) {
            const uint64_t start = part < t->grain ? tdl_clock_ns() : 0;
            t->task(t->data, begin, begin + TDL_MIN(part, r->end - begin));
            part = next_part(part, t->grain, start);
        }
    }
}

static void share_out(struct tdl_cpu_threads *t, size_t count)
{
    for (uint32_t i = 0; i < t->count; i++) {
        atomic_store(&t->ranges[i].taken, count * i / t->count);
        t->ranges[i].end = count * (i + 1) / t->count;
    }
}

/* Parts of the gate. */
#define OPEN ((uint_fast64_t)1)
#define HELPER ((uint_fast64_t)2)
#define JOB ((uint_fast64_t)256) /* 127 helpers below it */

static uint_fast64_t helpers_in(uint_fast64_t gate)
{
    return gate % JOB / HELPER;
}

static inline void relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/* Go in to a job that is open, and another than number `*seen`. */
static bool join(struct tdl_cpu_threads *t, uint_fast64_t *seen)
{
    uint_fast64_t gate = atomic_load(&t->gate);
    do
        if (!(gate & OPEN) || gate / JOB == *seen) {
            *seen = gate / JOB; /* what has closed meanwhile needs no look */
            return false;
        }
    while (!atomic_compare_exchange_weak(&t->gate, &gate, gate + HELPER));
    *seen = gate / JOB;
    return true;
}

static void leave(struct tdl_cpu_threads *t)
{
    if (helpers_in(atomic_fetch_sub(&t->gate, HELPER)) > 1 || !atomic_load(&t->waits))
        return;
    pthread_mutex_lock(&t->lock);
    pthread_cond_signal(&t->left);
    pthread_mutex_unlock(&t->lock);
}

/* Longer than between two steps of a network; waking a thread takes some 50 µs. */
enum { LOOK_OUT_NS = 100000 };

/* Spin until the gate is not in that state any more: false, if that takes too long, or `awake`
 * falls. */
static bool look_out(struct tdl_cpu_threads *t, bool (*is_so)(uint_fast64_t gate, uint_fast64_t of),
                     uint_fast64_t of, const atomic_bool *awake)
{
    const uint64_t start = tdl_clock_ns();
    do
        for (int i = 0; i < 32; i++) {
            if (!is_so(atomic_load_explicit(&t->gate, memory_order_acquire), of))
                return true;
            relax();
        }
    while (tdl_clock_ns() - start < LOOK_OUT_NS && (!awake || atomic_load(awake)));
    return false;
}

static bool is_number(uint_fast64_t gate, uint_fast64_t number)
{
    return gate / JOB == number;
}

static bool has_helpers(uint_fast64_t gate, uint_fast64_t unused)
{
    (void)unused;
    return helpers_in(gate) > 0;
}

static void sleep_until_job(struct tdl_cpu_threads *t, uint_fast64_t seen)
{
    pthread_mutex_lock(&t->lock);
    while (!atomic_load(&t->ending) && is_number(atomic_load(&t->gate), seen))
        pthread_cond_wait(&t->came, &t->lock);
    pthread_mutex_unlock(&t->lock);
}

static void *help(void *data)
{
    struct tdl_cpu_threads *t = data;
    const uint32_t self = atomic_fetch_add(&t->born, 1) + 1;
    uint_fast64_t seen = 0;
    do {
        while (join(t, &seen)) {
            take_parts(t, self);
            leave(t);
        }
        if (!look_out(t, is_number, seen, &t->awake))
            sleep_until_job(t, seen);
    } while (!atomic_load(&t->ending));
    return NULL;
}

/* False: the team works for somebody else just now. */
static bool begin_job(struct tdl_cpu_threads *t, void (*task)(void *data, size_t begin, size_t end),
                      void *data, size_t count, size_t least, size_t grain)
{
    pthread_mutex_lock(&t->lock);
    const uint_fast64_t gate = atomic_load(&t->gate);
    const bool free_now = !(gate & OPEN) && !helpers_in(gate);
    if (free_now) {
        t->task = task;
        t->data = data;
        t->least = least;
        t->grain = grain;
        t->stop = tdl_heeded();
        share_out(t, count);
        atomic_store(&t->awake, true);
        atomic_store(&t->gate, gate + JOB + OPEN);
        pthread_cond_broadcast(&t->came);
    }
    pthread_mutex_unlock(&t->lock);
    return free_now;
}

/* A helper was kept from its part: neighbours have the cores. Little work is not worth the risk
 * for a while. */
static void note_late(struct tdl_cpu_threads *t, uint64_t waited)
{
    enum { WHILE_NS = 20000000, TIMES = 4 };
    const uint64_t part = (uint64_t)(t->grain / t->least + 1) * TDL_CPU_LEAST_NS;
    if (waited > LOOK_OUT_NS + TIMES * part)
        atomic_store(&t->alone_until, tdl_clock_ns() + WHILE_NS);
}

static bool is_for_one(struct tdl_cpu_threads *t, size_t count, size_t least)
{
    enum { LITTLE_NS = 1000000 };
    const uint64_t until = atomic_load(&t->alone_until);
    return until && count / least * TDL_CPU_LEAST_NS < LITTLE_NS && tdl_clock_ns() < until;
}

static void end_job(struct tdl_cpu_threads *t)
{
    atomic_fetch_sub(&t->gate, OPEN);
    if (look_out(t, has_helpers, 0, NULL))
        return;
    const uint64_t start = tdl_clock_ns();
    pthread_mutex_lock(&t->lock);
    atomic_store(&t->waits, true);
    while (helpers_in(atomic_load(&t->gate)))
        pthread_cond_wait(&t->left, &t->lock);
    atomic_store(&t->waits, false);
    note_late(t, tdl_clock_ns() - start);
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
    if (!threads || !threads->helper_count || count <= grain || is_for_one(threads, count, least) ||
        !begin_job(threads, task, data, count, least, grain)) {
        do_alone(task, data, count, least);
        return;
    }
    take_parts(threads, 0);
    end_job(threads);
}

/* ----------------------------------------------------------------------- life */

/* As many helpers as the system gives. */
static struct tdl_cpu_threads *create(uint32_t wanted)
{
    void *memory = NULL;
    if (posix_memalign(&memory, 64, sizeof(struct tdl_cpu_threads)))
        return NULL;
    struct tdl_cpu_threads *t = memset(memory, 0, sizeof(*t));
    const uint32_t cores = tdl_cpu_cores();
    /* More than cores only wait for each other: XNNPACK's, spinning, for minutes. */
    const uint32_t count = wanted ? TDL_MIN(wanted, cores) : cores;
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
    atomic_store(&t->ending, true);
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
    atomic_store(&threads->awake, false);
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
    atomic_store(&threads->awake, false);
}
#endif
