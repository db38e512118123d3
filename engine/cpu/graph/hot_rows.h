/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The part of hot.c that goes along rows. */
#ifndef TDL_CPU_HOT_ROWS_H
#define TDL_CPU_HOT_ROWS_H

#include "hot.h"
#include "hot_math.h"

#include <tdl/operators.h>

/* Sums in lanes that are independent of each other. */
enum { LANES = 16 };

static void scale_channels(const float *restrict x, const float *restrict mean,
                           const float *restrict a, const float *restrict b, size_t channels,
                           float *restrict out, size_t n)
{
    const float m = *mean, f = *a, d = *b;
    for (size_t i = 0; channels == 1 && i < n; i++)
        out[i] = (x[i] - m) * f + d;
    for (size_t p = 0; channels > 1 && p + channels <= n; p += channels)
        for (size_t c = 0; c < channels; c++)
            out[p + c] = (x[p + c] - mean[c]) * a[c] + b[c];
}

static void scale(float *x, float factor, size_t n)
{
    for (size_t i = 0; i < n; i++)
        x[i] *= factor;
}

static void mix(const float *restrict x, float a, const float *restrict y, float b,
                float *restrict out, size_t n)
{
    for (size_t i = 0; i < n; i++)
        out[i] = x[i] * a + y[i] * b;
}

static bool all_finite(const float *x, size_t n)
{
    enum { PART = 4096 }; /* between looks at whether there was one */
    const uint32_t exponent = 0x7f800000;
    for (size_t first = 0; first < n; first += PART) {
        const size_t count = n - first < PART ? n - first : PART;
        uint32_t any = 0;
        for (size_t i = 0; i < count; i++) {
            uint32_t bits;
            memcpy(&bits, x + first + i, sizeof(bits));
            any |= (bits & exponent) == exponent;
        }
        if (any)
            return false;
    }
    return true;
}

/* NaN counts for nothing, as in the references. */
static float row_max(const float *x, size_t n)
{
    float most[LANES], result = -HUGE_VALF;
    for (int l = 0; l < LANES; l++)
        most[l] = -HUGE_VALF;
    size_t i = 0;
    for (; i + LANES <= n; i += LANES)
        for (int l = 0; l < LANES; l++)
            most[l] = x[i + (size_t)l] > most[l] ? x[i + (size_t)l] : most[l];
    for (; i < n; i++)
        result = x[i] > result ? x[i] : result;
    for (int l = 0; l < LANES; l++)
        result = most[l] > result ? most[l] : result;
    return result;
}

#define SUM_OF(term)                                                                               \
    double sums[LANES] = {0}, sum = 0;                                                             \
    size_t i = 0;                                                                                  \
    for (; i + LANES <= n; i += LANES)                                                             \
        for (size_t l = 0; l < LANES; l++) {                                                       \
            const size_t at = i + l;                                                               \
            sums[l] += (term);                                                                     \
        }                                                                                          \
    for (size_t at = i; at < n; at++)                                                              \
        sum += (term);                                                                             \
    for (int l = 0; l < LANES; l++)                                                                \
        sum += sums[l];                                                                            \
    return sum

static double row_sum(const float *x, size_t n)
{
    SUM_OF((double)x[at]);
}

static double row_squares(const float *x, float mean, size_t n)
{
    SUM_OF((double)((x[at] - mean) * (x[at] - mean)));
}

static void center(const float *restrict x, float mean, float factor, const float *restrict scale,
                   const float *restrict bias, float *restrict out, size_t n)
{
    for (size_t i = 0; i < n; i++)
        out[i] = (x[i] - mean) * factor;
    for (size_t i = 0; scale && i < n; i++)
        out[i] *= scale[i];
    for (size_t i = 0; bias && i < n; i++)
        out[i] += bias[i];
}

static double row_exp(const float *restrict x, float most, float *restrict out, size_t n)
{
    for (size_t i = 0; i < n; i++)
        out[i] = tdl_hot_exp(x[i] - most);
    return row_sum(out, n);
}

static void add_row(uint32_t reduction, const float *restrict x, const float *restrict most,
                    double *restrict sums, size_t n)
{
#define EACH_SUM(result)                                                                           \
    for (size_t i = 0; i < n; i++)                                                                 \
        sums[i] = (result);                                                                        \
    break
    switch (reduction) {
    case TDL_REDUCE_MAX:
        EACH_SUM((double)x[i] > sums[i] || x[i] != x[i] ? (double)x[i] : sums[i]);
    case TDL_REDUCE_MIN:
        EACH_SUM((double)x[i] < sums[i] || x[i] != x[i] ? (double)x[i] : sums[i]);
    case TDL_REDUCE_PRODUCT:
        EACH_SUM(sums[i] * (double)x[i]);
    case TDL_REDUCE_L1:
        EACH_SUM(sums[i] + (double)fabsf(x[i]));
    case TDL_REDUCE_L2:
    case TDL_REDUCE_SUM_SQUARE:
        EACH_SUM(sums[i] + (double)x[i] * (double)x[i]);
    case TDL_REDUCE_LOG_SUM_EXP:
        EACH_SUM(sums[i] + (double)tdl_hot_exp(x[i] - most[i]));
    default:
        EACH_SUM(sums[i] + (double)x[i]);
    }
}

#endif
