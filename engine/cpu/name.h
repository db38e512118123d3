/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What people call the processor, and what it knows. */
#ifndef TDL_CPU_NAME_H
#define TDL_CPU_NAME_H

#include <stddef.h>

/* "CPU", its model where the system tells one, and the board that it is on. `root` is put
 * before /proc, "" for that of the system. */
void tdl_cpu_read_name(const char *root, char *name, size_t size);
/* ", NEON, dotprod": the sets of instructions that not all processors of an architecture
 * have, as its kernel tells them. "" where nothing is told. */
void tdl_cpu_extensions(char *text, size_t size);

#endif
