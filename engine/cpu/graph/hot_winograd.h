/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The part of hot.c for winograd.c: transforms there and back, and what is between. */
#ifndef TDL_CPU_HOT_WINOGRAD_H
#define TDL_CPU_HOT_WINOGRAD_H

#include "hot_windows.h"

enum { SIDE = TDL_CPU_WINOGRAD_SIDE, OUT_SIDE = TDL_CPU_WINOGRAD_OUT };
#define UNROLL _Pragma("GCC unroll 16")

/* Products of so many rows at once: as many sums as fit into the registers. */
#if defined(__AVX512F__)
enum { PRODUCT_ROWS = 8 };
#elif defined(__AVX2__)
enum { PRODUCT_ROWS = 6 };
#else
enum { PRODUCT_ROWS = 4 };
#endif

/* Bᵀ d for the points 0, ±1, ±2 and infinity. */
static inline void transform(const vector d[SIDE], vector out[SIDE])
{
    const vector even = d[4] - 4 * d[2], odd = d[3] - 4 * d[1];
    const vector wide_even = d[4] - d[2], wide_odd = 2 * (d[3] - d[1]);
    out[0] = 4 * d[0] + (even - d[2]);
    out[1] = even + odd;
    out[2] = even - odd;
    out[3] = wide_even + wide_odd;
    out[4] = wide_even - wide_odd;
    out[5] = 4 * d[1] - 5 * d[3] + d[5];
}

/* Aᵀ m */
static inline void transform_back(const vector m[SIDE], vector out[OUT_SIDE])
{
    const vector sum = m[1] + m[2], difference = m[1] - m[2];
    const vector wide_sum = m[3] + m[4], wide_difference = m[3] - m[4];
    out[0] = m[0] + sum + wide_sum;
    out[1] = difference + 2 * wide_difference;
    out[2] = sum + 4 * wide_sum;
    out[3] = difference + 8 * wide_difference + m[5];
}

/* The last vector of channels overlaps the one before it: there are as many at least. */
static void winograd_in(const float *const *pixels, size_t channels, float *out, size_t step)
{
    for (size_t c = 0; c < channels; c += VECTOR) {
        const size_t at = c + VECTOR <= channels ? c : channels - VECTOR;
        vector d[SIDE], t[SIDE], rows[SIDE][SIDE];
        UNROLL for (int x = 0; x < SIDE; x++)
        {
            UNROLL for (int y = 0; y < SIDE; y++) d[y] = load(pixels[y * SIDE + x] + at);
            transform(d, t);
            UNROLL for (int y = 0; y < SIDE; y++) rows[y][x] = t[y];
        }
        UNROLL for (int y = 0; y < SIDE; y++)
        {
            transform(rows[y], t);
            UNROLL for (int x = 0; x < SIDE; x++)
                store(out + (size_t)(y * SIDE + x) * step + at, t[x]);
        }
    }
}

static bool winograd_out(const struct tdl_cpu_winograd_tile *tile, float *const *out,
                         size_t channels)
{
    vector strange = {0};
    for (size_t c = 0; c < channels; c += VECTOR) {
        const size_t at = c + VECTOR <= channels ? c : channels - VECTOR;
        const vector bias = load(tile->bias + at);
        vector m[SIDE], t[OUT_SIDE], rows[OUT_SIDE][SIDE];
        UNROLL for (int x = 0; x < SIDE; x++)
        {
            UNROLL for (int y = 0; y < SIDE; y++) m[y] =
                load(tile->products + (size_t)(y * SIDE + x) * tile->step + at);
            transform_back(m, t);
            UNROLL for (int y = 0; y < OUT_SIDE; y++) rows[y][x] = t[y];
        }
        UNROLL for (int y = 0; y < OUT_SIDE; y++)
        {
            transform_back(rows[y], t);
            UNROLL for (int x = 0; x < OUT_SIDE; x++)
            {
                float row[VECTOR];
                if (!out[y * OUT_SIDE + x])
                    continue;
                t[x] += bias;
                strange += t[x] * 0; /* NaN where it is none or infinite */
                memcpy(row, &t[x], sizeof(row));
                for (int i = 0; i < VECTOR; i++)
                    row[i] = tdl_hot_clamp(row[i], tile->least, tile->most);
                memcpy(out[y * OUT_SIDE + x] + at, row, sizeof(row));
            }
        }
    }
    bool finite = true;
    for (int i = 0; i < VECTOR; i++)
        finite &= strange[i] == 0;
    return finite;
}

/* Rows of a times columns, one or two vectors of them; `add`: to what is in `out`. */
#define PRODUCT(name, rows, vectors)                                                               \
    static inline void name(const float *restrict a, size_t a_step, const float *restrict b,       \
                            size_t depth, float *restrict out, size_t out_step, bool add)          \
    {                                                                                              \
        vector sums[rows][vectors] = {{{0}}};                                                      \
        if (add)                                                                                   \
            UNROLL for (size_t r = 0; r < (rows); r++) UNROLL for (int v = 0; v < (vectors); v++)  \
                sums[r][v] = load(out + r * out_step + v * VECTOR);                                \
        for (size_t k = 0; k < depth; k++, b += (vectors)*VECTOR) {                                \
            vector column[vectors];                                                                \
            UNROLL for (int v = 0; v < (vectors); v++) column[v] = load(b + v * VECTOR);           \
            UNROLL for (size_t r = 0; r < (rows); r++) UNROLL for (int v = 0; v < (vectors); v++)  \
                sums[r][v] += a[r * a_step + k] * column[v];                                       \
        }                                                                                          \
        UNROLL for (size_t r = 0; r < (rows); r++) UNROLL for (int v = 0; v < (vectors); v++)      \
            store(out + r * out_step + v * VECTOR, sums[r][v]);                                    \
    }
PRODUCT(product_of_one, PRODUCT_ROWS, 1)
PRODUCT(product_of_two, PRODUCT_ROWS, 2)
PRODUCT(four_of_one, 4, 1)
PRODUCT(four_of_two, 4, 2)
PRODUCT(two_of_one, 2, 1)
PRODUCT(two_of_two, 2, 2)
PRODUCT(row_of_one, 1, 1)
PRODUCT(row_of_two, 1, 2)

/* As many rows of the rest as there is a loop for. */
static const struct {
    size_t rows;
    void (*one)(const float *a, size_t a_step, const float *b, size_t depth, float *out,
                size_t out_step, bool add);
    void (*two)(const float *a, size_t a_step, const float *b, size_t depth, float *out,
                size_t out_step, bool add);
} products[] = {{PRODUCT_ROWS, product_of_one, product_of_two},
                {4, four_of_one, four_of_two},
                {2, two_of_one, two_of_two},
                {1, row_of_one, row_of_two}};

static void product(const float *a, size_t a_step, const float *b, size_t depth, float *out,
                    size_t columns, size_t rows, bool add)
{
    for (size_t c = 0; c < columns; c += COLUMNS, b += depth * COLUMNS)
        for (size_t r = 0, i = 0; r < rows; r += products[i].rows) {
            while (products[i].rows > rows - r)
                i++;
            (columns - c >= COLUMNS ? products[i].two : products[i].one)(
                a + r * a_step, a_step, b, depth, out + r * columns + c, columns, add);
        }
}

/* With the bias and within the bounds; NaN stays. */
static void finish(const float *restrict sums, const float *restrict bias, float least, float most,
                   float *restrict out, size_t n)
{
    for (size_t i = 0; i < n; i++)
        out[i] = tdl_hot_clamp(sums[i] + bias[i], least, most);
}

#endif
