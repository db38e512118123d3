/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How much more memory this process may have, asked before it is touched: the system gives
 * addresses for more than there is, and ends who uses them. */
#ifndef TDL_CPU_MEMORY_H
#define TDL_CPU_MEMORY_H

#include "base.h"

struct tdl_cpu_room {
    uint64_t bytes;  /* UINT64_MAX: nothing is known */
    const char *why; /* sets the bound, for messages; constant */
};

/* The least of what the machine has left, the limits of the process's control groups, and
 * its own. `root` is put before /proc and /sys. Thread-safe. */
struct tdl_cpu_room tdl_cpu_memory_left(const char *root);
/* TDL_OK, or OUT_OF_MEMORY with text: `what` ("the graph") needs more than there is. What is
 * small is not looked at. Thread-safe, never waits. */
enum tdl_result tdl_cpu_memory_check(const char *what, uint64_t bytes);

/* For tests: put before /proc and /sys by tdl_cpu_memory_check(). */
extern const char *tdl_cpu_memory_root;

#endif
