/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Functions that benchmark.c and tune.c share, and that tests see. */
#ifndef TDL_MEASURE_H
#define TDL_MEASURE_H

#include "tuning.h"

#include <tdl/tdl.h>

/* Sorts the values. All 0 of none. */
struct tdl_times tdl_times_of(double *values, uint32_t count);

/* A measurement by tdl_tune() of an algorithm of a layer. */
struct tdl_tune_result {
    char layer[160], algorithm[48];
    double ratio, ns; /* to the default's time in the same round; of one occurrence */
    bool is_default;
};
/* The choice to keep for each layer: the algorithm with the smallest ratio, or the
 * default if none gains enough on it. False when out of memory. */
bool tdl_tune_choose(const struct tdl_tune_result *results, uint32_t count, struct tdl_tuning *out);

/* A clock that never jumps. */
double tdl_now_ns(void);

#endif
