/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The control groups of this process (Linux, Documentation/admin-guide/cgroup-v2.rst and
 * cgroup-v1/cgroups.rst): files of the limits that it has. */
#ifndef TDL_CPU_GROUPS_H
#define TDL_CPU_GROUPS_H

#include <stdbool.h>
#include <stdio.h>

/* Call `see` for the folder of each group that the process is in, and of all groups above:
 * those of cgroup v2, and those of v1 with this controller ("cpu"). `root` is put before
 * /proc and /sys, "" for those of the system. */
void tdl_cpu_groups(const char *root, const char *controller,
                    void (*see)(void *data, const char *folder), void *data);

/* A file in a folder, or NULL. */
FILE *tdl_cpu_open(const char *folder, const char *name);
/* Read the first line of a file of the group. */
bool tdl_cpu_read_line(const char *folder, const char *name, char *line, int size);

#endif
