/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Numbers of eight bits and what they stand for; sizes are what a vector of bytes holds. */
#ifndef TDL_CPU_HOT_QUANTIZED_H
#define TDL_CPU_HOT_QUANTIZED_H

#include <math.h>

static void dequantize(const uint8_t *restrict x, bool has_sign, float scale, float zero,
                       float *restrict out, size_t n)
{
    if (has_sign)
        for (size_t i = 0; i < n; i++)
            out[i] = ((float)(int32_t)(int8_t)x[i] - zero) * scale;
    else
        for (size_t i = 0; i < n; i++)
            out[i] = ((float)(int32_t)x[i] - zero) * scale;
}

/* As round_even(), and then cut_to_bytes(): numbers beyond 2^22 are cut whatever they are
 * rounded to, and NaN is 0. */
static void quantize(const float *restrict x, float scale, float zero, bool has_sign,
                     uint8_t *restrict out, size_t n)
{
    const float least = has_sign ? -128 : 0, most = has_sign ? 127 : 255;
    const float far = 2097152, round = 12582912; /* 1.5 · 2^23: what is added to it is rounded */

    for (size_t i = 0; i < n; i++) {
        const float number = x[i] / scale;
        const float high = number > -far ? number : -far;
        const float near = (high < far ? high : far) + round - round + zero;
        const float cut = near > least ? near : least;
        const int32_t whole = (int32_t)(cut < most ? cut : most);
        out[i] = (uint8_t)(number == number ? whole : 0);
    }
}

#define MAX_BYTES(type)                                                                            \
    static void max_##type(const uint8_t *const *taps, size_t count, uint8_t *out, size_t n)       \
    {                                                                                              \
        enum { BYTES = 16 };                                                                       \
        size_t first = 0;                                                                          \
        for (; first + BYTES <= n; first += BYTES) {                                               \
            type most[BYTES];                                                                      \
            memcpy(most, taps[0] + first, sizeof(most));                                           \
            for (size_t t = 1; t < count; t++)                                                     \
                for (size_t c = 0; c < BYTES; c++) {                                               \
                    const type v = (type)taps[t][first + c];                                       \
                    most[c] = v > most[c] ? v : most[c];                                           \
                }                                                                                  \
            memcpy(out + first, most, sizeof(most));                                               \
        }                                                                                          \
        for (; first < n; first++) {                                                               \
            type most = (type)taps[0][first];                                                      \
            for (size_t t = 1; t < count; t++)                                                     \
                most = (type)taps[t][first] > most ? (type)taps[t][first] : most;                  \
            out[first] = (uint8_t)most;                                                            \
        }                                                                                          \
    }
MAX_BYTES(uint8_t)
MAX_BYTES(int8_t)
#undef MAX_BYTES

static void max_bytes(const uint8_t *const *taps, size_t count, bool has_sign, uint8_t *out,
                      size_t n)
{
    (has_sign ? max_int8_t : max_uint8_t)(taps, count, out, n);
}

#endif
