/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The clock that only goes forward. */
#ifndef TDL_CLOCK_H
#define TDL_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline uint64_t tdl_clock_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

#endif
