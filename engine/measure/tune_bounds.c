/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How far tdl_tune() goes: which layers are worth it, and how many graphs and runs the time
 * that is left has room for. An endless time is INFINITY, and has room for all.
 */
#include "measure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Of the time that is left, a round of measuring gets a third: others shall come. */
#define ROUND_SHARE 3
enum { LEAST_ITERATIONS = 3 };

static int by_time(const void *a, const void *b)
{
    const struct tdl_tune_load *x = a, *y = b;
    return (x->ns < y->ns) - (x->ns > y->ns);
}

uint32_t tdl_tune_select(struct tdl_tune_load *loads, uint32_t count, double share)
{
    double all = 0, sum = 0;
    uint32_t chosen = 0;
    for (uint32_t i = 0; i < count; i++)
        all += loads[i].ns;
    qsort(loads, count, sizeof(*loads), by_time);
    while (chosen < count && (share <= 0 || share >= 1 || sum < share * all))
        sum += loads[chosen++].ns;
    return chosen;
}

uint32_t tdl_tune_room(double left_ns, double run_ns, uint32_t most)
{
    const double one = run_ns * (TDL_TUNE_WARMUP + LEAST_ITERATIONS);
    const double last = one > 0 ? left_ns / one : most; /* and no round behind it */
    return (uint32_t)fmax(0, fmin(fmax(fmin(last, 2), last / ROUND_SHARE), most));
}

uint32_t tdl_tune_iterations(double left_ns, double run_ns, uint32_t runs, uint32_t wanted)
{
    const double turn = run_ns * runs;
    const double room = turn > 0 ? left_ns / ROUND_SHARE / turn - TDL_TUNE_WARMUP : wanted;
    return (uint32_t)fmin(fmax(room, LEAST_ITERATIONS), wanted);
}
