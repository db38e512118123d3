/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Rows of pixels to rows of floats, one for each component, and back: codes as
 * they are stored, 0…255, 0…1023 or 0…65535. Only for files that are compiled for
 * each set of instructions: all of it is inlined there.
 */
#ifndef TDL_CPU_ROWS_H
#define TDL_CPU_ROWS_H

#include "picture.h"

/* Loops that many call, which are compiled once in a file: inlined they would be compiled for
 * every caller, which takes most of the time, and gains nothing for rows of pixels. */
#define TDL_ONCE static __attribute__((noinline, unused))

/* Frames lie at any address. */
typedef uint16_t tdl_wide __attribute__((aligned(1), may_alias));
typedef uint32_t tdl_pixel __attribute__((aligned(1), may_alias));

/* And have the lowest byte of a word first: to and from the machine's order. */
static inline int tdl_wide_of(uint16_t word)
{
    return __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? __builtin_bswap16(word) : word;
}
static inline uint32_t tdl_pixel_of(uint32_t word)
{
    return __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? __builtin_bswap32(word) : word;
}

static inline float tdl_clamp(float v, float low, float high)
{
    v = v > low ? v : low; /* and what is no number is low */
    return v < high ? v : high;
}
static inline int32_t tdl_clamp_int(int32_t v, int32_t low, int32_t high)
{
    return v < low ? low : v > high ? high : v;
}

/* ----------------------------------------------------------------- loading */

TDL_ONCE void tdl_unpack_bytes(const uint8_t *restrict in, int step, int n, float *const out[4])
{
    float *restrict a = out[0], *restrict b = out[1], *restrict c = out[2], *restrict d = out[3];
    if (step == 1)
        for (int i = 0; i < n; i++)
            a[i] = in[i];
    else if (step == 2)
        for (int i = 0; i < n; i++) {
            a[i] = in[2 * i];
            b[i] = in[2 * i + 1];
        }
    else if (step == 3)
        for (int i = 0; i < n; i++) {
            a[i] = in[3 * i];
            b[i] = in[3 * i + 1];
            c[i] = in[3 * i + 2];
        }
    else
        for (int i = 0; i < n; i++) {
            a[i] = in[4 * i];
            b[i] = in[4 * i + 1];
            c[i] = in[4 * i + 2];
            d[i] = in[4 * i + 3];
        }
}

TDL_ONCE void tdl_unpack_wides(const struct tdl_cpu_picture *p, const uint8_t *row, int step, int n,
                               float *const out[4])
{
    const tdl_wide *in = (const tdl_wide *)row;
    const int shift = (int)p->shift, mask = (1 << p->bits) - 1;
    float *restrict a = out[0], *restrict b = out[1];
    if (step == 1)
        for (int i = 0; i < n; i++)
            a[i] = (float)(tdl_wide_of(in[i]) >> shift & mask);
    else
        for (int i = 0; i < n; i++) {
            a[i] = (float)(tdl_wide_of(in[2 * i]) >> shift & mask);
            b[i] = (float)(tdl_wide_of(in[2 * i + 1]) >> shift & mask);
        }
}

/* Repeat a row's first and last sample outside it: `inside` of `n` samples, from `before` on, are
 * there. */
static inline void tdl_repeat_ends(float *out, int n, int before, int inside)
{
    for (int i = 0; i < before; i++)
        out[i] = out[before];
    for (int i = before + inside; i < n; i++)
        out[i] = out[before + inside - 1];
}

/* Samples x … x + n - 1 of row y, of `components` from `first` on that lie side by
 * side in a plane; x may be -1. of
 * three, out[3] may be overwritten. */
static inline void tdl_load_part(const struct tdl_cpu_picture *p, int first, int components, int y,
                                 int x, int n, float *const out[])
{
    const struct tdl_component at = p->part[first];
    const int samples = (p->width + (1 << at.shift_x) - 1) >> at.shift_x;
    const int begin = x > 0 ? x : 0, end = x + n < samples ? x + n : samples;
    const uint8_t *row = p->plane[at.plane] + (size_t)y * p->stride[at.plane];
    float *places[4] = {NULL}; /* by their order in the plane */
    float *unused = components == 3 ? out[3] + (begin - x) : NULL;
    for (int c = 0; c < components; c++)
        places[p->part[first + c].first] = out[c] + (begin - x);
    for (int c = 0; c < 4; c++)
        if (!places[c])
            places[c] = unused;
    if (tdl_cpu_picture_has(p, TDL_TRAIT_WIDE))
        tdl_unpack_wides(p, row + 2 * (size_t)at.step * (size_t)begin, at.step, end - begin,
                         places);
    else
        tdl_unpack_bytes(row + (size_t)at.step * (size_t)begin, at.step, end - begin, places);
    for (int c = 0; c < components; c++)
        tdl_repeat_ends(out[c], n, begin - x, end - begin);
}

TDL_ONCE void tdl_load_luma(const struct tdl_cpu_picture *p, int y, int x, int n, float *out)
{
    if (!tdl_cpu_picture_has(p, TDL_TRAIT_PAIRED)) {
        tdl_load_part(p, 0, 1, y, x, n, &out);
        return;
    }
    const int begin = x > 0 ? x : 0, end = x + n < p->width ? x + n : p->width;
    const uint8_t *restrict in =
        p->plane[0] + (size_t)y * p->stride[0] + 2 * (size_t)begin + p->part[0].first;
    float *restrict to = out + (begin - x);
    for (int i = 0; i < end - begin; i++)
        to[i] = in[2 * i];
    tdl_repeat_ends(out, n, begin - x, end - begin);
}

TDL_ONCE void tdl_load_chroma(const struct tdl_cpu_picture *p, int y, int x, int n, float *cb,
                              float *cr)
{
    if (tdl_cpu_picture_has(p, TDL_TRAIT_MIXED)) {
        tdl_load_part(p, 1, 2, y, x, n, (float *const[2]){cb, cr});
        return;
    }
    if (!tdl_cpu_picture_has(p, TDL_TRAIT_PAIRED)) {
        tdl_load_part(p, 1, 1, y, x, n, &cb);
        tdl_load_part(p, 2, 1, y, x, n, &cr);
        return;
    }
    const int samples = (p->width + 1) / 2;
    const int begin = x > 0 ? x : 0, end = x + n < samples ? x + n : samples;
    const uint8_t *restrict in =
        p->plane[0] + (size_t)y * p->stride[0] + 4 * (size_t)begin + p->part[1].first;
    float *restrict u = cb + (begin - x), *restrict v = cr + (begin - x);
    for (int i = 0; i < end - begin; i++) {
        u[i] = in[4 * i];
        v[i] = in[4 * i + 2];
    }
    tdl_repeat_ends(cb, n, begin - x, end - begin);
    tdl_repeat_ends(cr, n, begin - x, end - begin);
}

/* Red, green, blue, alpha, this 255 where the format has none. */
static inline void tdl_load_rgb(const struct tdl_cpu_picture *p, int y, int x, int n,
                                float *const out[4])
{
    const bool alpha = tdl_cpu_picture_has(p, TDL_TRAIT_ALPHA);
    tdl_load_part(p, 0, alpha ? 4 : 3, y, x, n, out);
    for (int i = 0; i < n && !alpha; i++)
        out[3][i] = 255;
}

/* ----------------------------------------------------------------- storing */

static inline int tdl_code_of(float v, float max)
{
    return (int)(tdl_clamp(v, 0, max) + 0.5f);
}

TDL_ONCE void tdl_pack_threes(uint8_t *restrict out, int n, const float *const in[3])
{
    enum { PART = 64 };
    uint8_t codes[3][PART];
    for (int first = 0; first < n; first += PART) {
        const int count = n - first < PART ? n - first : PART;
        for (int c = 0; c < 3; c++)
            for (int i = 0; i < count; i++)
                codes[c][i] = (uint8_t)tdl_code_of(in[c][first + i], 255);
        for (int i = 0; i < count; i++)
            for (int c = 0; c < 3; c++)
                out[3 * (first + i) + c] = codes[c][i];
    }
}

/* (Whole words, as compilers see no vectors in bytes that lie apart.) */
TDL_ONCE void tdl_pack_bytes(uint8_t *restrict out, int step, int n, const float *const in[4])
{
    const float *restrict a = in[0], *restrict b = in[1], *restrict c = in[2], *restrict d = in[3];
    if (step == 1) {
        for (int i = 0; i < n; i++)
            out[i] = (uint8_t)tdl_code_of(a[i], 255);
    } else if (step == 2) {
        tdl_wide *restrict pairs = (tdl_wide *)out;
        for (int i = 0; i < n; i++)
            pairs[i] = (uint16_t)tdl_wide_of(
                (uint16_t)(tdl_code_of(a[i], 255) | tdl_code_of(b[i], 255) << 8));
    } else if (step == 4) {
        tdl_pixel *restrict pixels = (tdl_pixel *)out;
        for (int i = 0; i < n; i++)
            pixels[i] = tdl_pixel_of(
                (uint32_t)tdl_code_of(a[i], 255) | (uint32_t)tdl_code_of(b[i], 255) << 8 |
                (uint32_t)tdl_code_of(c[i], 255) << 16 | (uint32_t)tdl_code_of(d[i], 255) << 24);
    } else {
        tdl_pack_threes(out, n, in);
    }
}

TDL_ONCE void tdl_pack_wides(const struct tdl_cpu_picture *p, uint8_t *row, int step, int n,
                             const float *const in[4])
{
    const float *restrict a = in[0], *restrict b = in[1];
    const float max = p->max;
    const int shift = (int)p->shift;
    if (step == 1) {
        tdl_wide *restrict out = (tdl_wide *)row;
        for (int i = 0; i < n; i++)
            out[i] = (uint16_t)tdl_wide_of((uint16_t)(tdl_code_of(a[i], max) << shift));
    } else {
        tdl_pixel *restrict out = (tdl_pixel *)row;
        for (int i = 0; i < n; i++)
            out[i] = tdl_pixel_of((uint32_t)tdl_code_of(a[i], max) << shift |
                                  (uint32_t)tdl_code_of(b[i], max) << (shift + 16));
    }
}

/* As tdl_load_part(); all of it lies inside. */
static inline void tdl_store_part(const struct tdl_cpu_picture *p, int first, int components, int y,
                                  int x, int n, const float *const in[])
{
    const struct tdl_component at = p->part[first];
    uint8_t *row = p->plane[at.plane] + (size_t)y * p->stride[at.plane];
    const float *places[4] = {NULL};
    for (int c = 0; c < components; c++)
        places[components > 1 ? p->part[first + c].first : 0] = in[c];
    if (tdl_cpu_picture_has(p, TDL_TRAIT_WIDE))
        tdl_pack_wides(p, row + 2 * (size_t)at.step * (size_t)x, at.step, n, places);
    else
        tdl_pack_bytes(row + (size_t)at.step * (size_t)x, at.step, n, places);
}

/* Red, green, blue, alpha; in a format without, something fills up its place. */
static inline void tdl_store_rgb(const struct tdl_cpu_picture *p, int y, int x, int n,
                                 const float *const in[4])
{
    const struct tdl_component at = p->part[0];
    uint8_t *row = p->plane[0] + (size_t)y * p->stride[0] + (size_t)at.step * (size_t)x;
    const float *places[4] = {NULL};
    for (int c = 0; c < at.step; c++)
        places[p->part[c].first] = in[c];
    tdl_pack_bytes(row, at.step, n, places);
}

/* Luma of n pixels from x on, an even one, with its chroma, where they share words;
 * of an odd width the last pixel is there twice. */
TDL_ONCE void tdl_store_paired(const struct tdl_cpu_picture *p, int y, int x, int n,
                               const float *restrict luma, const float *restrict cb,
                               const float *restrict cr)
{
    uint8_t *row = p->plane[0] + (size_t)y * p->stride[0] + 2 * (size_t)x;
    tdl_pixel *restrict out = (tdl_pixel *)row;
    const int at = 8 * p->part[0].first, beside = 8 - at;
    for (int i = 0; i < (n + 1) / 2; i++)
        out[i] = tdl_pixel_of(
            ((uint32_t)tdl_code_of(luma[2 * i], 255) | (uint32_t)tdl_code_of(luma[2 * i + 1], 255)
                                                           << 16)
                << at |
            ((uint32_t)tdl_code_of(cb[i], 255) | (uint32_t)tdl_code_of(cr[i], 255) << 16)
                << beside);
}

#endif
