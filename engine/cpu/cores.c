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

#include "groups.h"

#include <math.h>
#include <sched.h>

/* Cores that a control group grants: µs in each period of so many µs. 0: no limit, which v2 calls
 * "max" and v1 -1. */
static double quota_of_group(const char *folder)
{
    char line[64];
    long long quota = 0, period = 0;
    if (tdl_cpu_read_line(folder, "cpu.max", line, sizeof(line))) {
        if (sscanf(line, "%lld %lld", &quota, &period) != 2)
            return 0;
    } else if (!tdl_cpu_read_line(folder, "cpu.cfs_quota_us", line, sizeof(line)) ||
               sscanf(line, "%lld", &quota) != 1 ||
               !tdl_cpu_read_line(folder, "cpu.cfs_period_us", line, sizeof(line)) ||
               sscanf(line, "%lld", &period) != 1) {
        return 0;
    }
    return quota > 0 && period > 0 ? (double)quota / (double)period : 0;
}

static double smaller(double a, double b)
{
    return a > 0 && (b <= 0 || a < b) ? a : b;
}

static void see(void *data, const char *folder)
{
    double *quota = data;
    *quota = smaller(*quota, quota_of_group(folder));
}

double tdl_cpu_quota(const char *root)
{
    double quota = 0;
    tdl_cpu_groups(root, "cpu", see, &quota);
    return quota;
}

uint32_t tdl_cpu_cores(void)
{
    cpu_set_t set;
    const int count = sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : 1;
    const double quota = ceil(tdl_cpu_quota("")); /* a begun core may be used */
    if (count < 2)
        return 1;
    return quota > 0 && quota < count ? (uint32_t)quota : (uint32_t)count;
}
