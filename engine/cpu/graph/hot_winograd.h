/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The part of hot.c for winograd.c: transforms there and back, and what is between. */
#ifndef TDL_CPU_HOT_WINOGRAD_H
#define TDL_CPU_HOT_WINOGRAD_H

#include "hot_windows.h"

enum { SIDE = TDL_CPU_WINOGRAD_SIDE, OUT_SIDE = TDL_CPU_WINOGRAD_OUT };

/* Products of so many rows at once: as many sums as fit into the registers. */
#if defined(__AVX512F__)
enum { PRODUCT_ROWS = 12 };
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

/* A row's sums of a tile, as results: with the bias, and within the bounds; NaN stays. */
static inline void finish_sums(const struct tdl_cpu_product *p, const vector *sums, int vectors,
                               size_t row, size_t column)
{
    const size_t wanted = TDL_MIN(p->wanted - column, (size_t)vectors * VECTOR);
    static const float none[COLUMNS];
    const float *bias = p->bias ? p->bias + column : none, least = p->least, most = p->most;
    float *out = p->out + row * p->out_step + column;
    float done[COLUMNS];
    memcpy(done, sums, (size_t)vectors * sizeof(*sums));
    for (int i = 0; i < vectors * VECTOR; i++)
        done[i] = tdl_hot_clamp(done[i] + bias[i], least, most);
    if (wanted == (size_t)vectors * VECTOR)
        memcpy(out, done, (size_t)vectors * sizeof(*sums));
    else
        memcpy(out, done, wanted * sizeof(*done));
}

/* Some rows, from `row` on, times one or two vectors of columns. */
#define PRODUCT(name, rows, vectors)                                                               \
    static void name(const struct tdl_cpu_product *p, const float *b, size_t row, size_t column)   \
    {                                                                                              \
        const float *a = p->a + row * p->a_step;                                                   \
        float *kept = p->sums ? p->sums + row * p->columns + column : NULL;                        \
        const size_t a_step = p->a_step, depth = p->depth;                                         \
        vector sums[rows][vectors] = {{{0}}};                                                      \
        if (p->add)                                                                                \
            UNROLL for (size_t r = 0; r < (rows); r++) UNROLL for (int v = 0; v < (vectors); v++)  \
                sums[r][v] = load(kept + r * p->columns + v * VECTOR);                             \
        for (size_t k = 0; k < depth; k++, b += (vectors)*VECTOR) {                                \
            vector column_of_b[vectors];                                                           \
            UNROLL for (int v = 0; v < (vectors); v++) column_of_b[v] = load(b + v * VECTOR);      \
            UNROLL for (size_t r = 0; r < (rows); r++) UNROLL for (int v = 0; v < (vectors); v++)  \
                sums[r][v] += a[r * a_step + k] * column_of_b[v];                                  \
        }                                                                                          \
        if (p->out)                                                                                \
            UNROLL for (size_t r = 0; r < (rows); r++)                                             \
                finish_sums(p, sums[r], vectors, row + r, column);                                 \
        else                                                                                       \
            UNROLL for (size_t r = 0; r < (rows); r++) UNROLL for (int v = 0; v < (vectors); v++)  \
                store(kept + r * p->columns + v * VECTOR, sums[r][v]);                             \
    }

/* By count of rows, as a row more or less is another loop. */
#define PRODUCTS(rows) PRODUCT(one_by_##rows, rows, 1) PRODUCT(two_by_##rows, rows, 2)
#define ROW_OF_PRODUCTS(rows) [rows] = {one_by_##rows, two_by_##rows},
#if defined(__AVX512F__)
#define EACH_COUNT(M) M(1) M(2) M(3) M(4) M(5) M(6) M(7) M(8) M(9) M(10) M(11) M(12)
#elif defined(__AVX2__)
#define EACH_COUNT(M) M(1) M(2) M(3) M(4) M(5) M(6)
#else
#define EACH_COUNT(M) M(1) M(2) M(3) M(4)
#endif
EACH_COUNT(PRODUCTS)

static const struct {
    void (*one)(const struct tdl_cpu_product *p, const float *b, size_t row, size_t column);
    void (*two)(const struct tdl_cpu_product *p, const float *b, size_t row, size_t column);
} products[PRODUCT_ROWS + 1] = {EACH_COUNT(ROW_OF_PRODUCTS)};

/* Rows in equal parts: what few of them share, the columns, is read for each part. */
static void product(const struct tdl_cpu_product *p)
{
    const size_t parts = TDL_DIV_UP(p->rows, (size_t)PRODUCT_ROWS);
    const float *b = p->b;
    for (size_t c = 0; c < p->columns; c += COLUMNS, b += p->depth * COLUMNS)
        for (size_t i = 0, r = 0, n; i < parts; i++, r += n) {
            n = (p->rows - r) / (parts - i);
            (p->columns - c >= COLUMNS ? products[n].two : products[n].one)(p, b, r, c);
        }
}

#endif
