/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The operators that are computed here: rows of the table in ops.c. */
#ifndef TDL_CPU_OPS_H
#define TDL_CPU_OPS_H

#include "graph.h"

extern const struct tdl_cpu_kernel tdl_cpu_cast;
extern const struct tdl_cpu_kernel tdl_cpu_eltwise;
extern const struct tdl_cpu_kernel tdl_cpu_pool;
extern const struct tdl_cpu_kernel tdl_cpu_repack;
extern const struct tdl_cpu_kernel tdl_cpu_resample;

#endif
