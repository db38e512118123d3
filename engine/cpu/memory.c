/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Files of Linux: /proc/meminfo and /proc/self/statm (proc(5)); memory.max, memory.current and
 * memory.stat of cgroup v2 (Documentation/admin-guide/cgroup-v2.rst), and their older names
 * of v1 (Documentation/admin-guide/cgroup-v1/memory.rst). What groups have in use counts
 * files that were read, which go when memory is wanted.
 */
#include "memory.h"

#include "groups.h"

#include <inttypes.h>
#include <sys/resource.h>
#include <unistd.h>

const char *tdl_cpu_memory_root = "";

static void bound(struct tdl_cpu_room *room, uint64_t bytes, const char *why)
{
    if (bytes < room->bytes)
        *room = (struct tdl_cpu_room){bytes, why};
}

/* "name 12", or "name: 12 kB"; 0: it is not there. */
static uint64_t find(FILE *f, const char *name)
{
    const size_t length = strlen(name);
    uint64_t value = 0;
    char line[256];
    rewind(f);
    while (fgets(line, sizeof(line), f))
        if (!strncmp(line, name, length) && strchr(": ", line[length]))
            sscanf(line + length + 1, "%" SCNu64, &value);
    return value;
}

/* Find the memory that is free, or can be made so, and where else pages may go. */
static void see_machine(struct tdl_cpu_room *room, const char *root)
{
    enum { KIB = 1024 };
    char proc[1024];
    FILE *f = NULL;
    if ((size_t)snprintf(proc, sizeof(proc), "%s/proc", root) < sizeof(proc))
        f = tdl_cpu_open(proc, "meminfo");
    if (!f)
        return;
    if (find(f, "MemTotal"))
        bound(room, (find(f, "MemAvailable") + find(f, "SwapFree")) * KIB,
              "so much memory is left on this machine");
    fclose(f);
}

static bool read_number(const char *folder, const char *name, uint64_t *out)
{
    char line[64];
    return tdl_cpu_read_line(folder, name, line, sizeof(line)) &&
           sscanf(line, "%" SCNu64, out) == 1; /* v2 says "max" where there is none */
}

static void see_group(void *data, const char *folder)
{
    uint64_t limit, used, files = 0;
    const bool v2 = read_number(folder, "memory.max", &limit);
    if (!v2 && !read_number(folder, "memory.limit_in_bytes", &limit))
        return;
    if (!read_number(folder, v2 ? "memory.current" : "memory.usage_in_bytes", &used))
        return;
    FILE *f = tdl_cpu_open(folder, "memory.stat");
    if (f) {
        files = v2 ? find(f, "active_file") + find(f, "inactive_file")
                   : find(f, "total_active_file") + find(f, "total_inactive_file");
        fclose(f);
    }
    used -= TDL_MIN(files, used);
    bound(data, limit - TDL_MIN(used, limit), "the limit of its control group leaves no more");
}

static void see_limit(struct tdl_cpu_room *room, const char *root)
{
    const long page = sysconf(_SC_PAGESIZE);
    uint64_t pages = 0;
    struct rlimit limit;
    char proc[1024];
    if (getrlimit(RLIMIT_AS, &limit) || limit.rlim_cur == RLIM_INFINITY || page <= 0)
        return;
    if ((size_t)snprintf(proc, sizeof(proc), "%s/proc/self", root) < sizeof(proc))
        read_number(proc, "statm", &pages);
    const uint64_t used = pages * (uint64_t)page;
    bound(room, limit.rlim_cur - TDL_MIN(used, limit.rlim_cur),
          "its limit of addresses (ulimit -v) leaves no more");
}

struct tdl_cpu_room tdl_cpu_memory_left(const char *root)
{
    struct tdl_cpu_room room = {UINT64_MAX, ""};
    see_machine(&room, root);
    tdl_cpu_groups(root, "memory", see_group, &room);
    see_limit(&room, root);
    return room;
}

enum tdl_result tdl_cpu_memory_check(const char *what, uint64_t bytes)
{
    enum { SMALL = 16 << 20, MIB = 1 << 20 };
    if (bytes < SMALL)
        return TDL_OK;
    const struct tdl_cpu_room room = tdl_cpu_memory_left(tdl_cpu_memory_root);
    if (bytes <= room.bytes)
        return TDL_OK;
    return tdl_fail(TDL_ERROR_OUT_OF_MEMORY,
                    "%.200s needs %llu MiB of memory, and this process can have %llu MiB: %s. "
                    "Take a smaller model, or smaller inputs for it",
                    what, (unsigned long long)TDL_DIV_UP(bytes, MIB),
                    (unsigned long long)(room.bytes / MIB), room.why);
}
