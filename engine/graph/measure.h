/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What benchmark.c and tune.c share. */
#ifndef TDL_MEASURE_H
#define TDL_MEASURE_H

#include "graph.h"

/* Sorts the values. All 0 of none. */
struct tdl_times tdl_times_of(double *values, uint32_t count);

/* A clock that never jumps. */
double tdl_now_ns(void);

#endif
