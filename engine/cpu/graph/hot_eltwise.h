/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The element-wise part of hot.c. */
#ifndef TDL_CPU_HOT_ELTWISE_H
#define TDL_CPU_HOT_ELTWISE_H

#include "hot_math.h"

#include "ops/eltwise.h"

#define EACH(result)                                                                               \
    for (size_t i = 0; i < n; i++)                                                                 \
        out[i] = (result);                                                                         \
    break

/* As the references of ops/eltwise_reference.c have them: NaN stays. */
static void unary(uint32_t function, float a, float b, const float *restrict x, float *restrict out,
                  size_t n)
{
    switch (function) {
    case TDL_RELU:
        EACH(x[i] < 0 ? 0 : x[i]);
    case TDL_CLAMP:
        EACH(tdl_hot_clamp(x[i], a, b));
    case TDL_SIGMOID:
        EACH(tdl_hot_sigmoid(x[i]));
    case TDL_HARD_SWISH:
        EACH(x[i] * (tdl_hot_clamp(x[i] + 3, 0, 6) / 6));
    case TDL_TANH:
        EACH(tdl_hot_tanh(x[i]));
    case TDL_LEAKY_RELU:
        EACH(x[i] < 0 ? a * x[i] : x[i]);
    case TDL_ELU:
        EACH(x[i] < 0 ? a * tdl_hot_expm1(x[i]) : x[i]);
    case TDL_GELU:
        EACH(tdl_hot_gelu(x[i]));
    case TDL_HARD_SIGMOID:
        EACH(tdl_hot_clamp(a * x[i] + b, 0, 1));
    case TDL_SOFTPLUS:
        EACH(tdl_hot_softplus(x[i]));
    case TDL_SOFTSIGN:
        EACH(x[i] / (1 + fabsf(x[i])));
    case TDL_LINEAR:
        EACH(a * x[i] + b);
    case TDL_ABS:
        EACH(fabsf(x[i]));
    case TDL_CEIL:
        EACH(ceilf(x[i]));
    case TDL_FLOOR:
        EACH(floorf(x[i]));
    case TDL_ROUND_EVEN:
        EACH(nearbyintf(x[i]));
    case TDL_EXP:
        EACH(tdl_hot_exp(x[i]));
    case TDL_LOG:
        EACH(tdl_hot_log(x[i]));
    case TDL_NEG:
        EACH(-x[i]);
    case TDL_SQRT:
        EACH(sqrtf(x[i]));
    case TDL_RECIPROCAL:
        EACH(1 / x[i]);
    case TDL_ERF:
        EACH(tdl_hot_erf(x[i]));
    case TDL_SIN:
        EACH(sinf(x[i]));
    case TDL_COS:
        EACH(cosf(x[i]));
    case TDL_TAN:
        EACH(tanf(x[i]));
    case TDL_SWISH:
        EACH(x[i] * tdl_hot_sigmoid(a * x[i]));
    case TDL_SIGN:
        EACH(x[i] != x[i] ? x[i] : x[i] > 0 ? 1.0f : x[i] < 0 ? -1.0f : 0.0f);
    default:
        EACH(x[i]);
    }
}

#define OF_TWO(name, type, result)                                                                 \
    static void name(const float *restrict x, bool x_one, const float *restrict y, bool y_one,     \
                     type *restrict out, size_t n)                                                 \
    {                                                                                              \
        if (x_one) {                                                                               \
            const float u = *x;                                                                    \
            for (size_t i = 0; i < n; i++) {                                                       \
                const float v = y[y_one ? 0 : i];                                                  \
                out[i] = (result);                                                                 \
            }                                                                                      \
        } else if (y_one) {                                                                        \
            const float v = *y;                                                                    \
            for (size_t i = 0; i < n; i++) {                                                       \
                const float u = x[i];                                                              \
                out[i] = (result);                                                                 \
            }                                                                                      \
        } else {                                                                                   \
            for (size_t i = 0; i < n; i++) {                                                       \
                const float u = x[i], v = y[i];                                                    \
                out[i] = (result);                                                                 \
            }                                                                                      \
        }                                                                                          \
    }
OF_TWO(add, float, u + v)
OF_TWO(sub, float, u - v)
OF_TWO(mul, float, u *v)
OF_TWO(divide, float, u / v)
OF_TWO(max_of, float, u != u || u > v ? u : v)
OF_TWO(min_of, float, u != u || u < v ? u : v)
OF_TWO(raise, float, powf(u, v))
OF_TWO(prelu, float, u < 0 ? u * v : u)
OF_TWO(equal, uint8_t, u == v)
OF_TWO(not_equal, uint8_t, u != v)
OF_TWO(greater, uint8_t, u > v)
OF_TWO(no_less, uint8_t, u >= v)
OF_TWO(lesser, uint8_t, u < v)
OF_TWO(no_greater, uint8_t, u <= v)

static void binary(uint32_t function, const float *x, bool x_one, const float *y, bool y_one,
                   float *out, size_t n)
{
    void (*const of[])(const float *restrict, bool, const float *restrict, bool, float *restrict,
                       size_t) = {
        [TDL_ADD - TDL_ADD] = add,       [TDL_SUB - TDL_ADD] = sub,
        [TDL_MUL - TDL_ADD] = mul,       [TDL_DIV - TDL_ADD] = divide,
        [TDL_MAX_OF - TDL_ADD] = max_of, [TDL_MIN_OF - TDL_ADD] = min_of,
        [TDL_POW - TDL_ADD] = raise,     [TDL_PRELU - TDL_ADD] = prelu,
    };
    of[function - TDL_ADD](x, x_one, y, y_one, out, n);
}

static void compare(uint32_t function, const float *x, bool x_one, const float *y, bool y_one,
                    uint8_t *out, size_t n)
{
    void (*const of[])(const float *restrict, bool, const float *restrict, bool, uint8_t *restrict,
                       size_t) = {equal, not_equal, greater, no_less, lesser, no_greater};
    of[function - TDL_EQUAL](x, x_one, y, y_one, out, n);
}

/* As tdl_half_to_float(): the exponent is moved by a multiplication, which makes
 * numbers of what was below the least normal one. */
static void widen(const uint16_t *restrict x, float *restrict out, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const int32_t half = x[i], magnitude = half & 0x7fff;
        const float scaled = tdl_hot_float(magnitude << 13) * 0x1p112f;
        const int32_t bits =
            magnitude >= 0x7c00 ? magnitude << 13 | 0x7f800000 : tdl_hot_bits(scaled);
        out[i] = tdl_hot_float(bits | (int32_t)((uint32_t)(half & 0x8000) << 16));
    }
}

static void narrow(const float *restrict x, uint16_t *restrict out, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const int32_t bits = tdl_hot_bits(x[i]);
        const uint32_t magnitude = (uint32_t)bits & 0x7fffffff;
        /* Values below 2^-14 in units of 2^-24: adding 0.5 rounds them. */
        const uint32_t low = (uint32_t)tdl_hot_bits(fabsf(x[i]) + 0.5f) - 0x3f000000;
        const uint32_t normal = (magnitude + 0xfff + (magnitude >> 13 & 1) - 0x38000000) >> 13;
        const uint32_t half = magnitude > 0x7f800000    ? 0x7e00
                              : magnitude >= 0x477ff000 ? 0x7c00
                              : magnitude < 0x38800000  ? low
                                                        : normal;
        out[i] = (uint16_t)(half | ((uint32_t)bits >> 16 & 0x8000));
    }
}

static void widen_bytes(const uint8_t *restrict x, bool has_sign, float *restrict out, size_t n)
{
    if (has_sign)
        for (size_t i = 0; i < n; i++)
            out[i] = (float)(int32_t)(int8_t)x[i];
    else
        for (size_t i = 0; i < n; i++)
            out[i] = (float)(int32_t)x[i];
}

/* As tdl_double_to_integer(). */
static void cut_to_bytes(const float *restrict x, bool has_sign, uint8_t *restrict out, size_t n)
{
    const float least = has_sign ? -128 : 0, most = has_sign ? 127 : 255;

    for (size_t i = 0; i < n; i++) {
        const float number = x[i] == x[i] ? x[i] : 0; /* NaN is none */
        const float high = number > least ? number : least;
        out[i] = (uint8_t)(int32_t)(high < most ? high : most);
    }
}

#endif
