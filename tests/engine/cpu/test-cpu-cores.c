/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How many cores, and how much memory, control groups and the machine leave to a process,
 * over trees of files made for it; that a context has no more threads than cores, and that
 * these do all that they are given. */
#define _GNU_SOURCE /* sched_setaffinity() */
#include "check.h"

#include <cpu/cores.h>
#include <cpu/cpu.h>
#include <cpu/memory.h>
#include <cpu/name.h>
#include <cpu/threads.h>

#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

struct file {
    const char *path, *text; /* below the root */
};
static const struct row {
    const char *name;
    struct file files[8];
    double want;
} rows[] = {
    {"nothing there", {{NULL, NULL}}, 0},
    {"v2 without a limit",
     {{"/proc/self/cgroup", "0::/a\n"}, {"/sys/fs/cgroup/a/cpu.max", "max 100000\n"}},
     0},
    {"v2, of a container", /* with a namespace of its own */
     {{"/proc/self/cgroup", "0::/\n"}, {"/sys/fs/cgroup/cpu.max", "150000 100000\n"}},
     1.5},
    {"v2, of a group above",
     {{"/proc/self/cgroup", "0::/a.slice/b.service\n"},
      {"/sys/fs/cgroup/a.slice/cpu.max", "200000 100000\n"},
      {"/sys/fs/cgroup/a.slice/b.service/cpu.max", "max 100000\n"}},
     2},
    {"v2, the smallest",
     {{"/proc/self/cgroup", "0::/a/b/c\n"},
      {"/sys/fs/cgroup/a/cpu.max", "300000 100000\n"},
      {"/sys/fs/cgroup/a/b/cpu.max", "50000 100000\n"},
      {"/sys/fs/cgroup/a/b/c/cpu.max", "100000 50000\n"}},
     0.5},
    {"v1",
     {{"/proc/self/cgroup", "5:memory:/m\n3:cpuset:/s\n2:cpu,cpuacct:/a/b\n0::/\n"},
      {"/sys/fs/cgroup/cpu,cpuacct/a/b/cpu.cfs_quota_us", "250000\n"},
      {"/sys/fs/cgroup/cpu,cpuacct/a/b/cpu.cfs_period_us", "100000\n"}},
     2.5},
    {"v1 without a limit",
     {{"/proc/self/cgroup", "1:cpu:/\n"},
      {"/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n"},
      {"/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n"}},
     0},
    {"v1, of a container that is told the host's path",
     {{"/proc/self/cgroup", "1:cpu:/docker/1234\n"},
      {"/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "100000\n"},
      {"/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n"}},
     1},
    {"a group out of sight",
     {{"/proc/self/cgroup", "0::/../../x\n"},
      {"/sys/fs/cgroup/cpu.max", "400000 100000\n"},
      {"/sys/x/cpu.max", "100000 100000\n"}},
     4},
    {"not what is expected",
     {{"/proc/self/cgroup", "nonsense\n7\n0::\n1:cpu\n2:cpu:/a\n"},
      {"/sys/fs/cgroup/cpu.max", "\n"},
      {"/sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "100000\n"},
      {"/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "1000"},
      {"/sys/fs/cgroup/cpu/cpu.cfs_period_us", "0"}},
     0},
};

static void write_file(const char *root, const struct file *file)
{
    char path[512];
    snprintf(path, sizeof(path), "%s%s", root, file->path);
    for (char *p = strchr(path + strlen(root) + 1, '/'); p; p = strchr(p + 1, '/')) {
        *p = 0;
        mkdir(path, 0700);
        *p = '/';
    }
    FILE *f = fopen(path, "w");
    REQUIRE(f, "cannot write %s", path);
    fputs(file->text, f);
    fclose(f);
}

static void make_tree(char *root, const struct row *row)
{
    check_begin("%s", row->name);
    REQUIRE(mkdtemp(root), "no folder");
    for (size_t i = 0; i < COUNT(row->files) && row->files[i].path; i++)
        write_file(root, &row->files[i]);
}

static void remove_tree(const char *root)
{
    char command[64];
    snprintf(command, sizeof(command), "rm -r %s", root);
    CHECK(!system(command), "%s", command);
}

static void check_quota(const struct row *row)
{
    char root[] = "/tmp/tdl-cores-XXXXXX";
    make_tree(root, row);
    const double got = tdl_cpu_quota(root);
    CHECK(fabs(got - row->want) < 1e-9, "%g cores; %g expected", got, row->want);
    remove_tree(root);
}

/* ------------------------------------------------------------------- memory */

#define MEMINFO                                                                                    \
    {                                                                                              \
        "/proc/meminfo", "MemTotal: 1000 kB\nMemAvailable:     900 kB\nSwapFree:  24 kB\n"         \
    }
/* In bytes; 0: no bound. */
static const struct row memory_rows[] = {
    {"no memory known", {{NULL, NULL}}, 0},
    {"the machine's memory", {MEMINFO}, 924 * 1024},
    {"v2: memory, without a limit",
     {MEMINFO,
      {"/proc/self/cgroup", "0::/a\n"},
      {"/sys/fs/cgroup/a/memory.max", "max\n"},
      {"/sys/fs/cgroup/a/memory.current", "1000\n"}},
     924 * 1024},
    {"v2: memory, of a group above; files that were read can go",
     {MEMINFO,
      {"/proc/self/cgroup", "0::/a/b\n"},
      {"/sys/fs/cgroup/a/memory.max", "50000\n"},
      {"/sys/fs/cgroup/a/memory.current", "20000\n"},
      {"/sys/fs/cgroup/a/memory.stat", "anon 5000\ninactive_file 3000\nactive_file 4000\n"},
      {"/sys/fs/cgroup/a/b/memory.max", "max\n"}},
     50000 - 13000},
    {"v1: memory",
     {MEMINFO,
      {"/proc/self/cgroup", "4:memory:/m\n0::/\n"},
      {"/sys/fs/cgroup/memory/m/memory.limit_in_bytes", "70000\n"},
      {"/sys/fs/cgroup/memory/m/memory.usage_in_bytes", "60000\n"},
      {"/sys/fs/cgroup/memory/m/memory.stat", "inactive_file 9\ntotal_inactive_file 1000\n"}},
     11000},
    {"a group past its limit",
     {{"/proc/self/cgroup", "0::/\n"},
      {"/sys/fs/cgroup/memory.max", "100\n"},
      {"/sys/fs/cgroup/memory.current", "200\n"}},
     1},
    {"not what is expected of memory",
     {{"/proc/meminfo", "MemTotal\nMemAvailable: x\n"},
      {"/proc/self/cgroup", "0::/\n"},
      {"/sys/fs/cgroup/memory.max", "\n"}},
     0},
};

static void check_memory(const struct row *row)
{
    char root[] = "/tmp/tdl-memory-XXXXXX";
    make_tree(root, row);
    const struct tdl_cpu_room room = tdl_cpu_memory_left(root);
    const uint64_t want = row->want == 0 ? UINT64_MAX : row->want == 1 ? 0 : (uint64_t)row->want;
    CHECK(room.bytes == want, "%" PRIu64 " bytes; %" PRIu64 " expected", room.bytes, want);
    CHECK(!*room.why == (want == UINT64_MAX), "why: %s", room.why);
    remove_tree(root);
}

/* A limit of the address space, in a process of its own. */
static void check_address_limit(void)
{
    const struct row row = {"ulimit -v", {{"/proc/self/statm", "10 9 8\n"}}, 0};
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    char root[] = "/tmp/tdl-memory-XXXXXX";
    struct rlimit before, limit;
    make_tree(root, &row);
    REQUIRE(!getrlimit(RLIMIT_AS, &before), "no limit to read");
    limit = (struct rlimit){.rlim_cur = (rlim_t)1 << 46, .rlim_max = before.rlim_max};
    if (before.rlim_cur == RLIM_INFINITY) {
        REQUIRE(!setrlimit(RLIMIT_AS, &limit), "the limit is not taken");
        const struct tdl_cpu_room room = tdl_cpu_memory_left(root);
        CHECK(room.bytes == limit.rlim_cur - 10 * page, "%" PRIu64 " bytes", room.bytes);
        setrlimit(RLIMIT_AS, &before);
    }
    remove_tree(root);
}

/* An affinity mask of one core bounds the threads of contexts that are made after it. */
static void check_affinity(void)
{
    cpu_set_t all, one;
    struct tdl_cpu_threads *threads;
    check_begin("one core");
    REQUIRE(!sched_getaffinity(0, sizeof(all), &all), "no mask");
    CPU_ZERO(&one);
    for (int i = 0; i < CPU_SETSIZE && !CPU_COUNT(&one); i++)
        if (CPU_ISSET(i, &all))
            CPU_SET(i, &one);
    REQUIRE(!sched_setaffinity(0, sizeof(one), &one), "the mask is not taken");
    CHECK(tdl_cpu_cores() == 1, "%u cores", tdl_cpu_cores());
    OK(tdl_cpu_threads_open(7, &threads));
    CHECK(tdl_cpu_threads_count(threads) == 1, "%u threads", tdl_cpu_threads_count(threads));
    tdl_cpu_threads_close(&threads);
    sched_setaffinity(0, sizeof(all), &all);
    CHECK(tdl_cpu_cores() >= 1 && tdl_cpu_cores() <= (uint32_t)CPU_COUNT(&all), "%u cores of %d",
          tdl_cpu_cores(), CPU_COUNT(&all));
}

enum { MOST_PIECES = 64, JOBS = 3000 };

/* Jobs that one thread gives to a team, and how often each piece of the one that is on was done. */
struct caller {
    pthread_t thread;
    struct tdl_cpu_threads *threads;
    uint32_t seed;
    atomic_uint done[MOST_PIECES];
};

static void do_pieces(void *data, size_t begin, size_t end)
{
    struct caller *c = data;
    for (size_t i = begin; i < end; i++)
        atomic_fetch_add(&c->done[i], 1);
}

static void *give_jobs(void *data)
{
    struct caller *c = data;
    struct rng rng = {c->seed};
    for (int job = 0; job < JOBS; job++) {
        const uint32_t count = rng_below(&rng, MOST_PIECES + 1), grain = rng_below(&rng, 9);
        for (int i = 0; i < MOST_PIECES; i++)
            atomic_store(&c->done[i], 0);
        tdl_cpu_parallel(c->threads, do_pieces, c, count, grain);
        for (uint32_t i = 0; i < MOST_PIECES; i++)
            if (!CHECK(atomic_load(&c->done[i]) == (i < count), "job %d: piece %u of %u: %u times",
                       job, i, count, atomic_load(&c->done[i])))
                return NULL;
        if (job % 1000 == 999) /* helpers are asleep by then */
            tdl_cpu_threads_rest(c->threads);
        if (job % 500 == 499)
            usleep(1000);
    }
    return NULL;
}

/* Every piece is done once, before the call returns, whoever else gives jobs to the team. */
static void check_jobs(void)
{
    struct caller callers[3] = {{.seed = 1}, {.seed = 2}, {.seed = 3}};
    check_begin("jobs of three threads");
    OK(tdl_cpu_threads_open(4, &callers[0].threads));
    for (size_t i = 0; i < COUNT(callers); i++) {
        callers[i].threads = callers[0].threads;
        REQUIRE(!pthread_create(&callers[i].thread, NULL, give_jobs, &callers[i]), "no thread");
    }
    for (size_t i = 0; i < COUNT(callers); i++)
        pthread_join(callers[i].thread, NULL);
    tdl_cpu_threads_close(&callers[0].threads);
}

static const struct name_row {
    struct row row;
    const char *want;
} name_rows[] = {
    {{"nothing is told", {{"/proc/cpuinfo", "processor\t: 0\n"}}, 0}, "CPU"},
    {{"a processor", {{"/proc/cpuinfo", "processor\t: 0\nmodel name\t: A 1 @ 2 GHz\n"}}, 0},
     "CPU A 1 @ 2 GHz"},
    {{"a board", {{"/proc/cpuinfo", "BogoMIPS\t: 108.00\n"},
                  {"/proc/device-tree/model", "Raspberry Pi 5 Model B Rev 1.0"}}, 0},
     "CPU of Raspberry Pi 5 Model B Rev 1.0"},
    {{"both", {{"/proc/cpuinfo", "model name\t: ARMv7 Processor rev 3 (v7l)\n"},
               {"/proc/device-tree/model", "Board\n"}}, 0},
     "CPU ARMv7 Processor rev 3 (v7l) of Board"},
};

static void check_name(const struct name_row *row)
{
    char root[] = "/tmp/tdl-name-XXXXXX", name[256];
    make_tree(root, &row->row);
    tdl_cpu_read_name(root, name, sizeof(name));
    CHECK(!strcmp(name, row->want), "'%s'; '%s' expected", name, row->want);
    remove_tree(root);
}

/* All processors of 64 bits have NEON. */
static void check_extensions(void)
{
    char text[64];
    check_begin("sets of instructions");
    tdl_cpu_extensions(text, sizeof(text));
#ifdef __aarch64__
    CHECK(!strncmp(text, ", NEON", 6), "'%s'", text);
#else
    CHECK(!*text || strstr(text, ", ") == text, "'%s'", text);
#endif
}

int main(void)
{
    for (size_t i = 0; i < COUNT(rows); i++)
        check_quota(&rows[i]);
    for (size_t i = 0; i < COUNT(memory_rows); i++)
        check_memory(&memory_rows[i]);
    for (size_t i = 0; i < COUNT(name_rows); i++)
        check_name(&name_rows[i]);
    check_extensions();
    check_address_limit();
    check_affinity();
    check_jobs();
    return check_result();
}
