/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "integers.h"

/* Each with the type's own size, at any address. */
#define EACH_TYPE(dtype, ONE)                                                                      \
    switch (dtype) {                                                                               \
    case TDL_INT8:                                                                                 \
        ONE(int8_t) break;                                                                         \
    case TDL_UINT8:                                                                                \
        ONE(uint8_t) break;                                                                        \
    case TDL_INT32:                                                                                \
        ONE(int32_t) break;                                                                        \
    case TDL_UINT32:                                                                               \
        ONE(uint32_t) break;                                                                       \
    case TDL_INT64:                                                                                \
        ONE(int64_t) break;                                                                        \
    case TDL_UINT64:                                                                               \
        ONE(uint64_t) break;                                                                       \
    default:                                                                                       \
        break;                                                                                     \
    }

void tdl_cpu_load_integers(enum tdl_dtype dtype, const void *from, int64_t *restrict out, size_t n)
{
#define LOAD(type)                                                                                 \
    for (size_t i = 0; i < n; i++)                                                                 \
        out[i] = (int64_t)((const type *)from)[i];
    EACH_TYPE(dtype, LOAD)
}

void tdl_cpu_store_integers(enum tdl_dtype dtype, const int64_t *restrict from, void *out, size_t n)
{
#define STORE(type)                                                                                \
    for (size_t i = 0; i < n; i++)                                                                 \
        ((type *)out)[i] = (type)from[i];
    EACH_TYPE(dtype, STORE)
}

int64_t tdl_cpu_integer(enum tdl_dtype dtype, const void *element)
{
    int64_t value = 0;
    tdl_cpu_load_integers(dtype, element, &value, 1);
    return value;
}

void tdl_cpu_integers_to_floats(enum tdl_dtype dtype, const void *from, float *restrict out,
                                size_t n)
{
#define CONVERT(type)                                                                              \
    for (size_t i = 0; i < n; i++)                                                                 \
        out[i] = (float)((const type *)from)[i];
    EACH_TYPE(dtype, CONVERT)
}

void tdl_cpu_floats_to_integers(enum tdl_dtype dtype, const float *from, void *out, size_t n)
{
#define CUT(type)                                                                                  \
    for (size_t i = 0; i < n; i++)                                                                 \
        ((type *)out)[i] = (type)tdl_double_to_integer(dtype, (double)from[i]);
    EACH_TYPE(dtype, CUT)
}

/* --------------------------------------------------------------- arithmetic */

static uint64_t magnitude(int64_t x, bool has_sign)
{
    return has_sign && x < 0 ? 0 - (uint64_t)x : (uint64_t)x;
}

/* Towards zero; by nothing is nothing. */
static uint64_t divide(int64_t x, int64_t y, bool has_sign)
{
    const uint64_t q = y ? magnitude(x, has_sign) / magnitude(y, has_sign) : 0;
    return has_sign && (x < 0) != (y < 0) ? 0 - q : q;
}

static uint64_t raise(int64_t x, int64_t y, bool has_sign)
{
    uint64_t p = 1;
    if (has_sign && y < 0)
        return x == 1 ? 1 : x == -1 ? (y & 1 ? (uint64_t)x : 1) : 0;
    for (uint64_t base = (uint64_t)x, left = (uint64_t)y; left; left >>= 1, base *= base)
        p *= left & 1 ? base : 1;
    return p;
}

static bool less(int64_t x, int64_t y, bool has_sign)
{
    return has_sign ? x < y : (uint64_t)x < (uint64_t)y;
}

#define EACH(result)                                                                               \
    for (size_t i = 0; i < n; i++) {                                                               \
        const int64_t x = list->x[list->x_one ? 0 : i], y = list->y[list->y_one ? 0 : i];          \
        (void)y;                                                                                   \
        out[i] = (int64_t)(result);                                                                \
    }                                                                                              \
    break

static void compute_one(const struct tdl_cpu_integers *list, int64_t *restrict out, size_t n)
{
    const int64_t least = list->bounds[0], most = list->bounds[1];
    const bool s = list->has_sign;
    switch (list->function) {
    case TDL_RELU:
        EACH(s && x < 0 ? 0 : x);
    case TDL_CLAMP:
        EACH(less(x, least, s) ? least : less(most, x, s) ? most : x);
    case TDL_ABS:
        EACH(magnitude(x, s));
    case TDL_NEG:
        EACH(0 - (uint64_t)x);
    case TDL_SIGN:
        EACH(s && x < 0 ? -1 : x != 0);
    case TDL_LOGICAL_NOT:
        EACH(!x);
    default:
        EACH(x);
    }
}

static void compare(const struct tdl_cpu_integers *list, int64_t *restrict out, size_t n)
{
    const bool s = list->has_sign;
    switch (list->function) {
    case TDL_EQUAL:
        EACH(x == y);
    case TDL_NOT_EQUAL:
        EACH(x != y);
    case TDL_GREATER:
        EACH(less(y, x, s));
    case TDL_GREATER_OR_EQUAL:
        EACH(!less(x, y, s));
    case TDL_LESSER:
        EACH(less(x, y, s));
    case TDL_LESSER_OR_EQUAL:
        EACH(!less(y, x, s));
    case TDL_LOGICAL_AND:
        EACH(x && y);
    case TDL_LOGICAL_OR:
        EACH(x || y);
    default:
        EACH(!x != !y);
    }
}

void tdl_cpu_compute_integers(const struct tdl_cpu_integers *list, int64_t *restrict out, size_t n)
{
    const bool s = list->has_sign;
    switch (list->function) {
    case TDL_ADD:
        EACH((uint64_t)x + (uint64_t)y);
    case TDL_SUB:
        EACH((uint64_t)x - (uint64_t)y);
    case TDL_MUL:
        EACH((uint64_t)x * (uint64_t)y);
    case TDL_DIV:
        EACH(divide(x, y, s));
    case TDL_MAX_OF:
        EACH(less(x, y, s) ? y : x);
    case TDL_MIN_OF:
        EACH(less(x, y, s) ? x : y);
    case TDL_POW:
        EACH(raise(x, y, s));
    case TDL_PRELU:
        EACH(s && x < 0 ? (uint64_t)x * (uint64_t)y : (uint64_t)x);
    case TDL_BITWISE_AND:
        EACH(x & y);
    case TDL_BITWISE_OR:
        EACH(x | y);
    case TDL_BITWISE_XOR:
        EACH(x ^ y);
    default:
        if (list->function < TDL_ADD)
            compute_one(list, out, n);
        else
            compare(list, out, n);
    }
}
