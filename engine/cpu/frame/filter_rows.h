/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Filtered rows: a triangle along either axis (shaders/common/frame_filter.glsl).
 * First down, over the samples of a plane as they lie, whatever components they
 * are, then across, each component by itself.
 */
#ifndef TDL_CPU_FILTER_ROWS_H
#define TDL_CPU_FILTER_ROWS_H

#include "kernels.h"
#include "rows.h"

/* Four rows of samples at a time, so that the sum is read and written rarely. */
TDL_ONCE void tdl_add_rows(const struct tdl_cpu_picture *p, const uint8_t *const row[4],
                           const float w[4], size_t first, int n, bool add, float *restrict sum)
{
    if (tdl_cpu_picture_has(p, TDL_TRAIT_WIDE)) {
        const tdl_wide *a = (const tdl_wide *)row[0] + first, *b = (const tdl_wide *)row[1] + first;
        const tdl_wide *c = (const tdl_wide *)row[2] + first, *d = (const tdl_wide *)row[3] + first;
        const int shift = (int)p->shift, mask = (1 << p->bits) - 1;
        for (int i = 0; i < n; i++) {
            const float s = w[0] * (float)(tdl_wide_of(a[i]) >> shift & mask) +
                            w[1] * (float)(tdl_wide_of(b[i]) >> shift & mask) +
                            w[2] * (float)(tdl_wide_of(c[i]) >> shift & mask) +
                            w[3] * (float)(tdl_wide_of(d[i]) >> shift & mask);
            sum[i] = add ? sum[i] + s : s;
        }
        return;
    }
    const uint8_t *a = row[0] + first, *b = row[1] + first, *c = row[2] + first;
    const uint8_t *d = row[3] + first;
    if (add)
        for (int i = 0; i < n; i++)
            sum[i] += w[0] * a[i] + w[1] * b[i] + w[2] * c[i] + w[3] * d[i];
    else
        for (int i = 0; i < n; i++)
            sum[i] = w[0] * a[i] + w[1] * b[i] + w[2] * c[i] + w[3] * d[i];
}

/* Pixels of four bytes over a colour: a transparent one's own does not count. */
static inline void tdl_add_over(const struct tdl_cpu_filter *f, const uint8_t *row, float w, int n,
                                bool add, float *restrict sum)
{
    const struct tdl_component *part = f->source.part;
    for (int i = 0; i < n; i++) {
        const float share = (float)row[4 * i + part[3].first] / 255;
        for (int c = 0; c < 4; c++) {
            const float own = c < 3 ? (float)row[4 * i + part[c].first] : 255;
            const float v = w * (f->color[c] + (own - f->color[c]) * share);
            float *to = &sum[4 * i + part[c].first];
            *to = add ? *to + v : v;
        }
    }
}

/* Result `at` of the axis down, of one plane: samples from that of x->low on. */
static inline void tdl_filter_down(const struct tdl_cpu_filter *f, uint32_t plane, int step,
                                   const struct tdl_cpu_axis *x, const struct tdl_cpu_axis *y,
                                   int at, float *sum)
{
    const struct tdl_cpu_picture *p = &f->source;
    const int n = (x->high - x->low + 1) * step;
    const uint8_t *rows = p->plane[plane] + (size_t)y->first[at] * p->stride[plane];
    for (int t = 0; t < y->taps; t += 4) {
        const uint8_t *row[4];
        float w[4];
        for (int k = 0; k < 4; k++) {
            const int tap = t + k < y->taps ? t + k : t;
            row[k] = rows + (size_t)tap * p->stride[plane];
            w[k] = t + k < y->taps ? y->weight[(size_t)tap * (size_t)y->count + (size_t)at] : 0;
        }
        if (!f->over)
            tdl_add_rows(p, row, w, (size_t)x->low * (size_t)step, n, t > 0, sum);
        for (int k = 0; k < 4 && f->over; k++)
            tdl_add_over(f, row[k] + 4 * (size_t)x->low, w[k], n / 4, t + k > 0, sum);
    }
}

TDL_ONCE void tdl_filter_across(const struct tdl_cpu_axis *x, int step, int first,
                                const float *restrict in, float *restrict out)
{
    enum { BLOCK = 256 };
    for (int begin = 0; begin < x->count; begin += BLOCK) {
        const int end = begin + BLOCK < x->count ? begin + BLOCK : x->count;
        for (int i = begin; i < end; i++)
            out[i] = 0;
        for (int t = 0; t < x->taps; t++) {
            const float *restrict w = x->weight + (size_t)t * (size_t)x->count;
            const int32_t *restrict at = x->first;
            const int offset = (t - x->low) * step + first;
            for (int i = begin; i < end; i++)
                out[i] += w[i] * in[at[i] * step + offset];
        }
    }
}

/* Row `at` of the results: Y, Cb, Cr, or R, G, B, and with `over` alpha. Where chroma
 * is not there, or not needed, its rows are left alone. */
static inline void tdl_filter_row(const struct tdl_cpu_filter *f, int at, float *room,
                                  float *const out[4])
{
    const struct tdl_cpu_picture *p = &f->source;
    const struct tdl_component *part = p->part;
    const bool rgb = tdl_cpu_picture_has(p, TDL_TRAIT_RGB);
    const bool paired = tdl_cpu_picture_has(p, TDL_TRAIT_PAIRED);
    if (paired) { /* luma's samples are every second one of all that lie there */
        struct tdl_cpu_axis pixels = f->x[0];
        pixels.low &= ~1;
        pixels.high |= 1;
        tdl_filter_down(f, 0, 2, &pixels, &f->y[0], at, room);
        tdl_filter_across(&pixels, 2, part[0].first, room, out[0]);
        pixels = f->x[1];
        pixels.low = f->x[0].low >> 1;
        for (int c = 1; c < 3 && f->chroma; c++)
            tdl_filter_across(&pixels, 4, part[c].first, room, out[c]);
        return;
    }
    tdl_filter_down(f, 0, part[0].step, &f->x[0], &f->y[0], at, room);
    for (int c = 0; c < (f->over ? 4 : rgb ? 3 : 1); c++)
        tdl_filter_across(&f->x[0], part[0].step, part[c].first, room, out[c]);
    for (int c = 1; c < 3 && f->chroma; c++) {
        if (c == 1 || part[c].plane != part[1].plane)
            tdl_filter_down(f, part[c].plane, part[c].step, &f->x[1], &f->y[1], at, room);
        tdl_filter_across(&f->x[1], part[c].step, part[c].first, room, out[c]);
    }
}

#endif
