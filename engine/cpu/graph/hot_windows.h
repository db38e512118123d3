/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The part of hot.c that sees windows of pixels, and matrices. */
#ifndef TDL_CPU_HOT_WINDOWS_H
#define TDL_CPU_HOT_WINDOWS_H

#include "hot.h"

#include <math.h>
#include <string.h>

enum {
    BLOCK = 64, /* channels whose sums are near */
    FEW = 16    /* channels whose sums are in registers */
};

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

static void between(const float *restrict row, const uint32_t *restrict a,
                    const uint32_t *restrict b, const float *restrict f, size_t pixels,
                    float *restrict out, size_t n)
{
    for (size_t p = 0; p < pixels; p++) {
        const float *restrict x = row + a[p] * n, *restrict y = row + b[p] * n;
        const float g = f[p], e = 1 - g;
        for (size_t c = 0; c < n; c++)
            out[p * n + c] = x[c] * e + y[c] * g;
    }
}

static void depthwise(const struct tdl_cpu_window *w, float *restrict out, size_t n)
{
    const float least = w->least, most = w->most;
    for (size_t first = 0; first < n; first += BLOCK) {
        const size_t count = n - first < BLOCK ? n - first : BLOCK;
        float sum[BLOCK];
        for (size_t c = 0; c < count; c++)
            sum[c] = w->bias ? w->bias[first + c] : 0;
        for (uint32_t t = 0; t < w->taps; t++) {
            const float *restrict x = w->pixels[t] + first, *restrict k = w->weights[t] + first;
            for (size_t c = 0; c < count; c++)
                sum[c] += x[c] * k[c];
        }
        for (size_t c = 0; c < count; c++)
            out[first + c] = sum[c] < least ? least : sum[c] > most ? most : sum[c];
    }
}

/* As many sums as there are registers for. */
#if defined(__AVX512F__)
enum { COLUMNS = 32 };
#elif defined(__AVX2__)
enum { COLUMNS = 16 };
#else
enum { COLUMNS = 8 };
#endif

static void multiply(const struct tdl_cpu_tile *t)
{
    float sum[TDL_CPU_TILE_ROWS][COLUMNS] = {{0}};
    for (uint32_t tap = 0; tap < t->taps; tap++) {
        const float *restrict w = t->weights[tap];
        const float *const *rows = t->rows + (size_t)tap * TDL_CPU_TILE_ROWS;
        const float *restrict r0 = rows[0], *restrict r1 = rows[1];
        const float *restrict r2 = rows[2], *restrict r3 = rows[3];
        for (uint32_t k = 0; k < t->depth; k++, w += COLUMNS)
            for (int c = 0; c < COLUMNS; c++) {
                sum[0][c] += r0[k] * w[c];
                sum[1][c] += r1[k] * w[c];
                sum[2][c] += r2[k] * w[c];
                sum[3][c] += r3[k] * w[c];
            }
    }
    for (int r = 0; r < TDL_CPU_TILE_ROWS; r++) {
        float *restrict out = t->out[r];
        for (uint32_t c = 0; out && c < t->columns; c++) {
            const float v = sum[r][c] * t->alpha + (t->bias ? t->bias[c] : 0);
            out[c] = v < t->least ? t->least : v > t->most ? t->most : v;
        }
    }
}

#endif
