/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The part of hot.c that turns matrices, of 32 bits each. */
#ifndef TDL_CPU_HOT_TURN_H
#define TDL_CPU_HOT_TURN_H

#include "hot_windows.h"

enum { TURN = 8 };
typedef int32_t eight __attribute__((vector_size(32), aligned(4), may_alias));

/* Rows by pairs, then pairs of pairs, then halves. */
static inline void turn_eight(const uint32_t *from, size_t step, uint32_t *to, size_t to_step)
{
    eight a[TURN], b[TURN];
    UNROLL for (int i = 0; i < TURN; i++) a[i] = *(const eight *)(from + (size_t)i * step);
    UNROLL for (int i = 0; i < TURN; i += 2)
    {
        b[i] = __builtin_shufflevector(a[i], a[i + 1], 0, 8, 1, 9, 4, 12, 5, 13);
        b[i + 1] = __builtin_shufflevector(a[i], a[i + 1], 2, 10, 3, 11, 6, 14, 7, 15);
    }
    UNROLL for (int i = 0; i < TURN; i += 4) UNROLL for (int k = 0; k < 2; k++)
    {
        a[i + 2 * k] = __builtin_shufflevector(b[i + k], b[i + 2 + k], 0, 1, 8, 9, 4, 5, 12, 13);
        a[i + 2 * k + 1] =
            __builtin_shufflevector(b[i + k], b[i + 2 + k], 2, 3, 10, 11, 6, 7, 14, 15);
    }
    UNROLL for (int i = 0; i < 4; i++)
    {
        b[i] = __builtin_shufflevector(a[i], a[i + 4], 0, 1, 2, 3, 8, 9, 10, 11);
        b[i + 4] = __builtin_shufflevector(a[i], a[i + 4], 4, 5, 6, 7, 12, 13, 14, 15);
    }
    UNROLL for (int i = 0; i < TURN; i++) * (eight *)(to + (size_t)i * to_step) = b[i];
}

static inline void turn_by_ones(const uint32_t *from, size_t step, size_t columns, size_t rows,
                                uint32_t *to, size_t to_step)
{
    for (size_t c = 0; c < columns; c++)
        for (size_t r = 0; r < rows; r++)
            to[r * to_step + c] = from[c * step + r];
}

/* Few columns lie side by side in what is written. */
static inline void turn_few(const uint32_t *from, size_t step, size_t columns, size_t rows,
                            uint32_t *to, size_t to_step)
{
    for (size_t r = 0; r < rows; r++)
        for (size_t c = 0; c < columns; c++)
            to[r * to_step + c] = from[c * step + r];
}

static void turn(const uint32_t *from, size_t step, size_t columns, size_t rows, uint32_t *to,
                 size_t to_step)
{
    if (columns == 3) {
        turn_few(from, step, 3, rows, to, to_step);
        return;
    }
    size_t c = 0;
    for (; c + TURN <= columns; c += TURN) {
        const uint32_t *start = from + c * step;
        size_t r = 0;
        for (; r + TURN <= rows; r += TURN)
            turn_eight(start + r, step, to + r * to_step + c, to_step);
        turn_by_ones(start + r, step, TURN, rows - r, to + r * to_step + c, to_step);
    }
    turn_by_ones(from + c * step, step, columns - c, rows, to + c, to_step);
}

#endif
