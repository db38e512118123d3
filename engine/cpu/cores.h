/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How many threads of this process can run at once. */
#ifndef TDL_CPU_CORES_H
#define TDL_CPU_CORES_H

#include <stdint.h>

/* Cores that the process may use: those of its affinity mask, and no more than its
 * control groups give it time for. At least 1. */
uint32_t tdl_cpu_cores(void);
/* The part of the control groups, in cores' worth of time, which need not be whole; 0:
 * they set no limit. `root` is put before /proc and /sys, "" for those of the system. */
double tdl_cpu_quota(const char *root);

#endif
