/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Lists of integers, of whatever type, as 64 bits with their sign extended: arithmetic
 * on these wraps as theirs does. */
#ifndef TDL_CPU_INTEGERS_H
#define TDL_CPU_INTEGERS_H

#include "ops/ops.h"

static inline bool tdl_cpu_has_sign(enum tdl_dtype dtype)
{
    return dtype == TDL_INT8 || dtype == TDL_INT32 || dtype == TDL_INT64;
}
void tdl_cpu_load_integers(enum tdl_dtype dtype, const void *from, int64_t *out, size_t n);
/* The low bits. */
void tdl_cpu_store_integers(enum tdl_dtype dtype, const int64_t *from, void *out, size_t n);
int64_t tdl_cpu_integer(enum tdl_dtype dtype, const void *element);
void tdl_cpu_integers_to_floats(enum tdl_dtype dtype, const void *from, float *out, size_t n);
/* As tdl_double_to_integer(). */
void tdl_cpu_floats_to_integers(enum tdl_dtype dtype, const float *from, void *out, size_t n);

/* One list or two, each the same number for all (`one`) or not. */
struct tdl_cpu_integers {
    enum tdl_function function;
    bool has_sign;
    int64_t bounds[2]; /* clamp's bounds */
    const int64_t *x, *y;
    bool x_one, y_one;
};
void tdl_cpu_compute_integers(const struct tdl_cpu_integers *list, int64_t *out, size_t n);

#endif
