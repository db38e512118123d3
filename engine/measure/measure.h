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
    enum tdl_untuned untuned;
};
/* The choice to keep for each layer: the algorithm with the smallest ratio, or the
 * default if none gains enough on it. False when out of memory. */
bool tdl_tune_choose(const struct tdl_tune_result *results, uint32_t count, struct tdl_tuning *out);

/* How long a layer takes in a run, all occurrences. */
struct tdl_tune_load {
    char layer[160];
    double ns;
};
/* Sorts the layers, those that take most time first, and tells how many of them make up that
 * share of the sum; all for a share of 0 or 1. */
uint32_t tdl_tune_select(struct tdl_tune_load *loads, uint32_t count, double share);
enum { TDL_TUNE_WARMUP = 2 }; /* runs of each graph that do not count, in each round */
/* How many graphs, up to `most`, a round of measuring has room for, where a run takes `run_ns`
 * and all is to end in `left_ns`. */
uint32_t tdl_tune_room(double left_ns, double run_ns, uint32_t most);
/* How often each of so many graphs runs in such a round, up to `wanted`, which is 3 or more. */
uint32_t tdl_tune_iterations(double left_ns, double run_ns, uint32_t runs, uint32_t wanted);

/* A clock that never jumps. */
double tdl_now_ns(void);

#endif
