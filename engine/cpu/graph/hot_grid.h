/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The part of hot.c that takes pixels from places which a grid names. */
#ifndef TDL_CPU_HOT_GRID_H
#define TDL_CPU_HOT_GRID_H

#include "hot.h"
#include "hot_math.h"

#include <tdl/operators.h>

#include <math.h>
#include <string.h>

static inline float grid_place(const struct tdl_cpu_grid_axis *a, float grid)
{
    const float most = grid < a->far ? grid : a->far;
    const float g = grid > -a->far ? most : -a->far; /* of NaN, too */
    const float one = (float)a->size - 1;
    return a->align ? (g + 1) * 0.5f * one : ((g + 1) * (float)a->size - 1) * 0.5f;
}

/* Mirrored at both ends, by turns of twice the span. */
static inline float grid_mirror(const struct tdl_cpu_grid_axis *a, float at)
{
    const float rest = fabsf(at - a->low);
    const float turned = rest - floorf(rest * a->turns) * 2 * a->span;
    /* One turn more or less, where the product was rounded up to a whole one. */
    const float turn = turned < 0 ? -turned : turned;
    return a->low + (turn > a->span ? 2 * a->span - turn : turn);
}

/* Keys' cubic with a = −¾ of taps −1, 0, 1, 2, `f` behind the second. */
static inline float grid_cubic(int tap, float f)
{
    const float a = -0.75f, d = tap == 0 ? 1 + f : tap == 1 ? f : tap == 2 ? 1 - f : 2 - f;
    return tap == 1 || tap == 2 ? ((a + 2) * d - (a + 3)) * d * d + 1
                                : ((a * d - 5 * a) * d + 8 * a) * d - 4 * a;
}

static inline void grid_tap(const struct tdl_cpu_grid_axis *a, uint32_t taps, int tap,
                            uint32_t padding, const float *restrict grid, size_t n,
                            uint32_t *restrict pixels, float *restrict weights)
{
    const float last = (float)a->size - 1;
    for (size_t i = 0; i < n; i++) {
        const float at = grid_place(a, grid[2 * i]);
        const float first = taps == 1 ? rintf(at) : floorf(at), f = at - first;
        float pixel = first + (float)(taps == 4 ? tap - 1 : tap);
        const float weight = taps == 1 ? 1 : taps == 4 ? grid_cubic(tap, f) : tap ? f : 1 - f;
        const bool counts = padding != TDL_GRID_ZEROS || (pixel >= 0 && pixel <= last);
        if (padding == TDL_GRID_REFLECTION)
            pixel = grid_mirror(a, pixel);
        pixels[i] = (uint32_t)(int32_t)tdl_hot_clamp(pixel, 0, last);
        weights[i] = counts ? weight : 0;
    }
}

static inline void grid_taps(const struct tdl_cpu_grid_axis *a, uint32_t taps, uint32_t padding,
                             const float *grid, size_t n, struct tdl_cpu_grid_taps *out)
{
    for (int tap = 0; tap < (int)taps; tap++)
        grid_tap(a, taps, tap, padding, grid, n, out->pixels[tap], out->weights[tap]);
}

static void grid_axis(const struct tdl_cpu_grid_axis *a, const float *grid, size_t n,
                      struct tdl_cpu_grid_taps *out)
{
#define TAPS(count)                                                                                \
    do {                                                                                           \
        if (a->padding == TDL_GRID_ZEROS)                                                          \
            grid_taps(a, count, TDL_GRID_ZEROS, grid, n, out);                                     \
        else if (a->padding == TDL_GRID_BORDER)                                                    \
            grid_taps(a, count, TDL_GRID_BORDER, grid, n, out);                                    \
        else                                                                                       \
            grid_taps(a, count, TDL_GRID_REFLECTION, grid, n, out);                                \
    } while (0)
    if (a->taps == 1)
        TAPS(1);
    else if (a->taps == 2)
        TAPS(2);
    else
        TAPS(4);
#undef TAPS
}

/* A tap of all pixels of few channels. */
static inline void grid_add(const float *restrict x, uint32_t width, const uint32_t *restrict rows,
                            const float *restrict row_weights, const uint32_t *restrict columns,
                            const float *restrict weights, size_t n, float *restrict out,
                            size_t channels)
{
    for (size_t p = 0; p < n; p++) {
        const float weight = row_weights[p] * weights[p];
        const size_t at = (size_t)(rows[p] * width + columns[p]) * channels;
        for (size_t c = 0; c < channels; c++)
            out[p * channels + c] += weight != 0 ? weight * x[at + c] : 0;
    }
}

static inline void grid_few(const float *x, uint32_t width, uint32_t taps,
                            const struct tdl_cpu_grid_taps *y,
                            const struct tdl_cpu_grid_taps *across, size_t n, float *out,
                            size_t channels)
{
    memset(out, 0, n * channels * sizeof(*out));
    for (uint32_t i = 0; i < taps; i++)
        for (uint32_t j = 0; j < taps; j++)
            grid_add(x, width, y->pixels[i], y->weights[i], across->pixels[j], across->weights[j],
                     n, out, channels);
}

/* The sum of `taps` pixels, whose channels are many. */
static inline void grid_pixel(const float *const *from, const float *weights, uint32_t taps,
                              float *restrict out, size_t channels)
{
    enum { FEW_AT_ONCE = 16 };
    size_t first = 0;
    for (; first + FEW_AT_ONCE <= channels; first += FEW_AT_ONCE) {
        float sum[FEW_AT_ONCE] = {0};
        for (uint32_t t = 0; t < taps; t++)
            for (size_t c = 0; c < FEW_AT_ONCE; c++)
                sum[c] += weights[t] * from[t][first + c];
        memcpy(out + first, sum, sizeof(sum));
    }
    for (size_t c = first; c < channels; c++) {
        float sum = 0;
        for (uint32_t t = 0; t < taps; t++)
            sum += weights[t] * from[t][c];
        out[c] = sum;
    }
}

static void grid_many(const float *x, uint32_t width, uint32_t taps,
                      const struct tdl_cpu_grid_taps *y, const struct tdl_cpu_grid_taps *across,
                      size_t n, float *out, size_t channels)
{
    for (size_t p = 0; p < n; p++) {
        const float *from[TDL_CPU_GRID_TAPS * TDL_CPU_GRID_TAPS];
        float weights[TDL_CPU_GRID_TAPS * TDL_CPU_GRID_TAPS];
        uint32_t count = 0;
        for (uint32_t i = 0; i < taps; i++)
            for (uint32_t j = 0; j < taps; j++) {
                const float weight = y->weights[i][p] * across->weights[j][p];
                if (weight == 0)
                    continue;
                from[count] =
                    x + ((size_t)y->pixels[i][p] * width + across->pixels[j][p]) * channels;
                weights[count++] = weight;
            }
        grid_pixel(from, weights, count, out + p * channels, channels);
    }
}

static void grid_sum(const float *x, uint32_t width, uint32_t taps,
                     const struct tdl_cpu_grid_taps *y, const struct tdl_cpu_grid_taps *across,
                     size_t n, float *out, size_t channels)
{
    if (channels == 1)
        grid_few(x, width, taps, y, across, n, out, 1);
    else if (channels == 2)
        grid_few(x, width, taps, y, across, n, out, 2);
    else if (channels == 3)
        grid_few(x, width, taps, y, across, n, out, 3);
    else if (channels == 4)
        grid_few(x, width, taps, y, across, n, out, 4);
    else
        grid_many(x, width, taps, y, across, n, out, channels);
}

#endif
