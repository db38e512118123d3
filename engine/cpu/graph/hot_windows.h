/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The part of hot.c that sees windows of pixels, and matrices. */
#ifndef TDL_CPU_HOT_WINDOWS_H
#define TDL_CPU_HOT_WINDOWS_H

#include "hot.h"
#include "hot_math.h"

#include <math.h>
#include <string.h>

enum { FEW = 16 }; /* channels whose sums are in registers */

#define POOL(name, step)                                                                           \
    static void name(const float *restrict x, size_t pixels, size_t stride, float *restrict sums,  \
                     size_t n)                                                                     \
    {                                                                                              \
        size_t first = 0;                                                                          \
        for (; first + FEW <= n; first += FEW) {                                                   \
            float sum[FEW];                                                                        \
            memcpy(sum, sums + first, sizeof(sum));                                                \
            for (size_t p = 0; p < pixels; p++)                                                    \
                for (size_t c = 0; c < FEW; c++) {                                                 \
                    const float v = x[p * stride + first + c];                                     \
                    sum[c] = (step);                                                               \
                }                                                                                  \
            memcpy(sums + first, sum, sizeof(sum));                                                \
        }                                                                                          \
        float *sum = sums + first;                                                                 \
        for (size_t p = 0; p < pixels; p++)                                                        \
            for (size_t c = 0; c < n - first; c++) {                                               \
                const float v = x[p * stride + first + c];                                         \
                sum[c] = (step);                                                                   \
            }                                                                                      \
    }
POOL(pool_sum, sum[c] + v)
POOL(pool_max, v > sum[c] ? v : sum[c])
POOL(pool_squares, sum[c] + v * v)

static void pool(enum tdl_cpu_pool kind, const float *x, size_t pixels, size_t stride, float *sums,
                 size_t n)
{
    if (kind == TDL_CPU_POOL_SUM)
        pool_sum(x, pixels, stride, sums, n);
    else if (kind == TDL_CPU_POOL_MAX)
        pool_max(x, pixels, stride, sums, n);
    else
        pool_squares(x, pixels, stride, sums, n);
}

/* Rows of many pixels by more at once, which read each tap's address less often. */
#define POOL_TAPS(name, first_value, step)                                                         \
    static inline size_t name##_by(const float *const *taps, size_t count, float *restrict out,    \
                                   size_t first, size_t n, size_t most)                            \
    {                                                                                              \
        float sum[4 * FEW];                                                                        \
        for (; first + most <= n; first += most) {                                                 \
            for (size_t c = 0; c < most; c++)                                                      \
                sum[c] = (first_value);                                                            \
            for (size_t t = 0; t < count; t++)                                                     \
                for (size_t c = 0; c < most; c++) {                                                \
                    const float v = taps[t][first + c];                                            \
                    sum[c] = (step);                                                               \
                }                                                                                  \
            memcpy(out + first, sum, most * sizeof(*sum));                                         \
        }                                                                                          \
        return first;                                                                              \
    }                                                                                              \
    static void name(const float *const *taps, size_t count, float *restrict out, size_t n)        \
    {                                                                                              \
        size_t first = name##_by(taps, count, out, 0, n, 4 * FEW);                                 \
        first = name##_by(taps, count, out, first, n, FEW);                                        \
        name##_by(taps, count, out, first, n, 1);                                                  \
    }
POOL_TAPS(max_taps, -HUGE_VALF, v > sum[c] ? v : sum[c])
POOL_TAPS(sum_taps, 0, sum[c] + v)

static inline void mean_window(const float *restrict x, size_t row, size_t high, size_t wide,
                               size_t step, size_t windows, float *restrict out, size_t channels)
{
    const float count = (float)(high * wide);
    for (size_t w = 0; w < windows; w++) {
        float sums[4] = {0};
        for (size_t y = 0; y < high; y++)
            for (size_t k = 0; k < wide; k++)
                for (size_t c = 0; c < channels; c++)
                    sums[c] += x[w * step + y * row + k * channels + c];
        for (size_t c = 0; c < channels; c++)
            out[w * channels + c] = sums[c] / count;
    }
}

/* What halves a picture is worth a loop of its own. */
static void mean_few(const float *restrict x, size_t row, size_t high, size_t wide, size_t step,
                     size_t windows, float *restrict out, size_t channels)
{
    const bool halves = high == 2 && wide == 2;
    if (halves && channels == 1)
        mean_window(x, row, 2, 2, step, windows, out, 1);
    else if (halves && channels == 3)
        mean_window(x, row, 2, 2, step, windows, out, 3);
    else if (halves && channels == 4)
        mean_window(x, row, 2, 2, step, windows, out, 4);
    else
        mean_window(x, row, high, wide, step, windows, out, channels);
}

static inline void between_channels(const float *restrict row, const uint32_t *restrict a,
                                    const uint32_t *restrict b, const float *restrict f,
                                    size_t pixels, float *restrict out, size_t n)
{
    for (size_t p = 0; p < pixels; p++) {
        const float *restrict x = row + a[p] * n, *restrict y = row + b[p] * n;
        const float g = f[p], e = 1 - g;
        for (size_t c = 0; c < n; c++)
            out[p * n + c] = x[c] * e + y[c] * g;
    }
}

/* Loops over few channels are worth it only if their count is known to the compiler. */
static void between(const float *restrict row, const uint32_t *restrict a,
                    const uint32_t *restrict b, const float *restrict f, size_t pixels,
                    float *restrict out, size_t n)
{
    if (n == 1)
        between_channels(row, a, b, f, pixels, out, 1);
    else if (n == 3)
        between_channels(row, a, b, f, pixels, out, 3);
    else if (n == 4)
        between_channels(row, a, b, f, pixels, out, 4);
    else
        between_channels(row, a, b, f, pixels, out, n);
}

/* Two vectors of each of four rows: as many sums as the units work on at once. */
#if defined(__AVX512F__)
typedef float vector __attribute__((vector_size(64), aligned(4), may_alias));
#elif defined(__AVX2__)
typedef float vector __attribute__((vector_size(32), aligned(4), may_alias));
#else
typedef float vector __attribute__((vector_size(16), aligned(4), may_alias));
#endif
enum { VECTOR = sizeof(vector) / sizeof(float), COLUMNS = 2 * VECTOR };

#define UNROLL _Pragma("GCC unroll 16")

/* No memcpy(): of 32 bytes compilers make two halves by way of the stack. */
static inline vector load(const float *from)
{
    return *(const vector *)from;
}

static inline void store(float *to, vector v)
{
    *(vector *)to = v;
}

/* A vector of channels of a window. */
static inline void depthwise_vector(const struct tdl_cpu_window *w, size_t at, size_t first,
                                    float *out)
{
    const float least = w->least, most = w->most;
    vector sum = load(w->bias + first);
    float row[VECTOR];
    for (uint32_t t = 0; t < w->taps; t++)
        sum += load(w->pixels[t] + at + first) * load(w->weights[t] + first);
    memcpy(row, &sum, sizeof(row));
    for (int c = 0; c < VECTOR; c++)
        row[c] = tdl_hot_clamp(row[c], least, most);
    memcpy(out + first, row, sizeof(row));
}

static void depthwise(const struct tdl_cpu_window *w, float *out, size_t n)
{
    for (size_t p = 0; p < w->count; p++, out += n) {
        const size_t at = p * w->step;
        size_t first = 0;
        for (; first + VECTOR <= n; first += VECTOR)
            depthwise_vector(w, at, first, out);
        for (; first < n; first++) {
            float sum = w->bias[first];
            for (uint32_t t = 0; t < w->taps; t++)
                sum += w->pixels[t][at + first] * w->weights[t][first];
            out[first] = tdl_hot_clamp(sum, w->least, w->most);
        }
    }
}

/* Turn a row of products into results. */
static inline void finish_row(const struct tdl_cpu_tile *t, const vector sums[2], float *out)
{
    const float alpha = t->alpha, least = t->least, most = t->most;
    float row[COLUMNS];
    memcpy(row, sums, sizeof(row));
    for (int c = 0; c < COLUMNS; c++)
        row[c] *= alpha;
    for (int c = 0; t->bias && c < COLUMNS; c++)
        row[c] += t->bias[c];
    for (int c = 0; c < COLUMNS; c++)
        row[c] = tdl_hot_clamp(row[c], least, most);
    if (t->columns == COLUMNS)
        memcpy(out, row, sizeof(row));
    else
        memcpy(out, row, t->columns * sizeof(*row));
}

static void multiply(const struct tdl_cpu_tile *t)
{
    vector a[2] = {0}, b[2] = {0}, c[2] = {0}, d[2] = {0};
    for (uint32_t tap = 0; tap < t->taps; tap++) {
        const float *const *rows = t->rows + (size_t)tap * TDL_CPU_TILE_ROWS;
        const float *w = t->weights[tap], *r0 = rows[0], *r1 = rows[1], *r2 = rows[2],
                    *r3 = rows[3];
        for (uint32_t k = 0; k < t->depth; k++, w += COLUMNS) {
            const vector u = load(w), v = load(w + VECTOR);
            a[0] += r0[k] * u;
            a[1] += r0[k] * v;
            b[0] += r1[k] * u;
            b[1] += r1[k] * v;
            c[0] += r2[k] * u;
            c[1] += r2[k] * v;
            d[0] += r3[k] * u;
            d[1] += r3[k] * v;
        }
    }
    const vector *const sums[TDL_CPU_TILE_ROWS] = {a, b, c, d};
    for (int r = 0; r < TDL_CPU_TILE_ROWS; r++)
        if (t->out[r])
            finish_row(t, sums[r], t->out[r]);
}

#endif
