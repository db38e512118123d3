/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The part of hot.c for depthwise.c: pixels of one vector of channels, which lie in a panel. */
#ifndef TDL_CPU_HOT_DEPTHWISE_H
#define TDL_CPU_HOT_DEPTHWISE_H

#include "hot_windows.h"

enum { PANEL_PIXELS = TDL_CPU_PANEL_PIXELS };

/* Pixels that lie `step` floats apart, a vector of each. */
static void panel_fill(const float *from, size_t step, size_t pixels, size_t channels, float *to)
{
    if (channels == VECTOR) {
        for (size_t p = 0; p < pixels; p++)
            store(to + p * VECTOR, load(from + p * step));
        return;
    }
    for (size_t p = 0; p < pixels; p++) {
        memset(to + p * VECTOR, 0, VECTOR * sizeof(*to));
        memcpy(to + p * VECTOR, from + p * step, channels * sizeof(*to));
    }
}

/* As many sums at once as hide how long one takes; each pixel has a pointer of its own, so that
 * they lie anywhere. */
static void panel_depthwise(const struct tdl_cpu_panel *p)
{
    const float least = p->least, most = p->most;
    const float *const x0 = p->pixels[0], *const x1 = p->pixels[1], *const x2 = p->pixels[2],
                       *const x3 = p->pixels[3], *const x4 = p->pixels[4], *const x5 = p->pixels[5],
                       *const x6 = p->pixels[6], *const x7 = p->pixels[7];
    const vector bias = load(p->bias);
    vector s0 = bias, s1 = bias, s2 = bias, s3 = bias, s4 = bias, s5 = bias, s6 = bias, s7 = bias;
    for (size_t y = 0; y < p->high; y++) {
        const float *w = p->weights + y * p->weights_row;
        size_t at = y * p->row;
        for (size_t x = 0; x < p->wide; x++, w += VECTOR, at += p->column) {
            const vector weight = load(w);
            s0 += load(x0 + at) * weight;
            s1 += load(x1 + at) * weight;
            s2 += load(x2 + at) * weight;
            s3 += load(x3 + at) * weight;
            s4 += load(x4 + at) * weight;
            s5 += load(x5 + at) * weight;
            s6 += load(x6 + at) * weight;
            s7 += load(x7 + at) * weight;
        }
    }
    const vector sums[PANEL_PIXELS] = {s0, s1, s2, s3, s4, s5, s6, s7};
    for (size_t i = 0; i < p->count; i++) {
        float row[VECTOR];
        memcpy(row, &sums[i], sizeof(row));
        for (int c = 0; c < VECTOR; c++)
            row[c] = tdl_hot_clamp(row[c], least, most);
        if (p->channels == VECTOR)
            memcpy(p->out[i], row, sizeof(row));
        else
            memcpy(p->out[i], row, p->channels * sizeof(*row));
    }
}

/* A vector of four pixels' sums, by rows of the window: what is under it is loaded once. */
static inline __attribute__((always_inline)) void sum_four(const struct tdl_cpu_four *f, size_t at,
                                                           int kernel, int stride)
{
    enum { FOUR = TDL_CPU_FOUR };
    const int columns = (FOUR - 1) * stride + kernel;
    const float *w = f->weights + at;
    const float *const *pixels = f->pixels;
    const vector bias = load(f->bias + at);
    vector sums[FOUR] = {bias, bias, bias, bias};
    for (uint32_t y = 0; y < f->rows; y++, pixels += columns) {
        vector under[TDL_CPU_MOST_COLUMNS];
        UNROLL for (int c = 0; c < columns; c++) under[c] = load(pixels[c] + at);
        UNROLL for (int k = 0; k < kernel; k++, w += f->channels)
        {
            const vector weight = load(w);
            UNROLL for (int i = 0; i < FOUR; i++) sums[i] += under[i * stride + k] * weight;
        }
    }
    for (size_t i = 0; i < f->count; i++) {
        float row[VECTOR];
        memcpy(row, &sums[i], sizeof(row));
        for (int c = 0; c < VECTOR; c++)
            row[c] = tdl_hot_clamp(row[c], f->least, f->most);
        memcpy(f->out + i * f->channels + at, row, sizeof(row));
    }
}

/* The last vector of channels overlaps the one before it. */
static void four_depthwise(const struct tdl_cpu_four *f)
{
#define EACH(kernel, stride)                                                                       \
    for (size_t c = 0; c < f->channels; c += VECTOR)                                               \
    sum_four(f, c + VECTOR <= f->channels ? c : f->channels - VECTOR, kernel, stride)
    if (f->kernel == 3 && f->stride == 1)
        EACH(3, 1);
    else if (f->kernel == 3)
        EACH(3, 2);
    else if (f->stride == 1)
        EACH(5, 1);
    else
        EACH(5, 2);
#undef EACH
}

#endif
