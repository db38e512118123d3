/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A container or a service with half of a machine's time still sees all of its cores.
 * More threads than it has time for are stopped in the middle of what the others wait
 * for, until the next period (0.1 s). The limits are those of the process's group and
 * of all groups above it: cpu.max of cgroup v2 (Linux,
 * Documentation/admin-guide/cgroup-v2.rst), cpu.cfs_quota_us of v1
 * (Documentation/scheduler/sched-bwc.rst).
 */
#define _GNU_SOURCE /* sched_getaffinity() */
#include "cores.h"

#include <math.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { MAX_PATH = 1024 };

static bool read_line(const char *folder, const char *name, char *line, int size)
{
    char path[2 * MAX_PATH];
    FILE *f = NULL;
    if ((size_t)snprintf(path, sizeof(path), "%s/%s", folder, name) < sizeof(path))
        f = fopen(path, "re");
    const bool there = f && fgets(line, size, f);
    if (f)
        fclose(f);
    return there;
}

/* Of the two, as they are told: µs in each period of so many µs. 0: no limit, which v2
 * calls "max" and v1 -1. */
static double quota_of_group(const char *folder)
{
    char line[64];
    long long quota = 0, period = 0;
    if (read_line(folder, "cpu.max", line, sizeof(line))) {
        if (sscanf(line, "%lld %lld", &quota, &period) != 2)
            return 0;
    } else if (!read_line(folder, "cpu.cfs_quota_us", line, sizeof(line)) ||
               sscanf(line, "%lld", &quota) != 1 ||
               !read_line(folder, "cpu.cfs_period_us", line, sizeof(line)) ||
               sscanf(line, "%lld", &period) != 1) {
        return 0;
    }
    return quota > 0 && period > 0 ? (double)quota / (double)period : 0;
}

static double smaller(double a, double b)
{
    return a > 0 && (b <= 0 || a < b) ? a : b;
}

/* From the group at `path` below the mount up to the mount itself. In a container the
 * path may be the host's, of which nothing is mounted but the last: at the mount. */
static double quota_of_path(const char *mount, char *path)
{
    char folder[2 * MAX_PATH];
    double quota = 0;
    for (;;) {
        if ((size_t)snprintf(folder, sizeof(folder), "%s%s", mount, path) < sizeof(folder))
            quota = smaller(quota, quota_of_group(folder));
        char *slash = strrchr(path, '/');
        if (!slash)
            return quota;
        *slash = 0;
    }
}

/* "cpu" in "cpu,cpuacct" */
static bool names_cpu(const char *controllers)
{
    const char *end;
    for (; *controllers; controllers = end + (*end == ',')) {
        end = controllers + strcspn(controllers, ",");
        if (end - controllers == 3 && !memcmp(controllers, "cpu", 3))
            return true;
    }
    return false;
}

/* A line is "NUMBER:CONTROLLERS:PATH", of v2 without controllers. */
static double quota_of_line(const char *root, char *line)
{
    char mount[MAX_PATH];
    char *controllers = strchr(line, ':');
    char *path = controllers ? strchr(++controllers, ':') : NULL;
    if (!path)
        return 0;
    *path++ = 0;
    path[strcspn(path, "\n")] = 0;
    if (*controllers && !names_cpu(controllers))
        return 0;
    if (strstr(path, "/..")) /* of a group that is out of sight */
        *path = 0;
    if ((size_t)snprintf(mount, sizeof(mount), "%s/sys/fs/cgroup%s%s", root,
                         *controllers ? "/" : "", controllers) >= sizeof(mount))
        return 0;
    return quota_of_path(mount, path);
}

double tdl_cpu_quota(const char *root)
{
    char path[MAX_PATH], line[MAX_PATH];
    double quota = 0;
    FILE *f = NULL;
    if ((size_t)snprintf(path, sizeof(path), "%s/proc/self/cgroup", root) < sizeof(path))
        f = fopen(path, "re");
    while (f && fgets(line, sizeof(line), f))
        quota = smaller(quota, quota_of_line(root, line));
    if (f)
        fclose(f);
    return quota;
}

uint32_t tdl_cpu_cores(void)
{
    cpu_set_t set;
    const int count = sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : 1;
    const double quota = ceil(tdl_cpu_quota("")); /* what is begun may be used */
    if (count < 2)
        return 1;
    return quota > 0 && quota < count ? (uint32_t)quota : (uint32_t)count;
}
