/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Functions of float32 without branches, for loops that become vectors. */
#ifndef TDL_CPU_HOT_MATH_H
#define TDL_CPU_HOT_MATH_H

#include <math.h>
#include <stdint.h>
#include <string.h>

static inline int32_t tdl_hot_bits(float x)
{
    int32_t bits;
    memcpy(&bits, &x, sizeof(bits));
    return bits;
}

static inline float tdl_hot_float(int32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof(x));
    return x;
}

/* One comparison after the other: each is one instruction of vectors. NaN stays. */
static inline float tdl_hot_clamp(float x, float least, float most)
{
    x = x < least ? least : x;
    return x > most ? most : x;
}

/* e^x = 2^n · e^r with |r| ≤ ln 2 / 2, and of e^r its series; 1e-7. The power in two
 * halves, so that neither leaves the range. NaN stays. */
static inline float tdl_hot_exp(float x)
{
    const float round = 12582912; /* 1.5 · 2^23: what is added to it is rounded */
    const float y = tdl_hot_clamp(x, -104, 89);
    const float shifted = y * 1.44269504f + round, n = shifted - round;
    const float r = y - n * 0.693145752f - n * 1.42860677e-6f;
    const float p =
        1 + r * (1 + r * (0.5f + r * (1.0f / 6 + r * (1.0f / 24 + r * (1.0f / 120 + r / 720)))));
    const int32_t whole = tdl_hot_bits(shifted) - 0x4b400000, half = whole >> 1;
    return p * tdl_hot_float((int32_t)((uint32_t)(half + 127) << 23)) *
           tdl_hot_float((int32_t)((uint32_t)(whole - half + 127) << 23));
}

/* ln x = e · ln 2 + ln m with √½ ≤ m < √2, and ln m = 2 artanh ((m − 1) / (m + 1)). */
static inline float tdl_hot_log(float x)
{
    const float tiny = x < 1.17549435e-38f ? 1 : 0, scaled = x * (1 + tiny * 8388607);
    const int32_t from = (int32_t)((uint32_t)tdl_hot_bits(scaled) - 0x3f3504f3);
    const float e = (float)(from >> 23) - 23 * tiny;
    const float m = tdl_hot_float((from & 0x7fffff) + 0x3f3504f3);
    const float s = (m - 1) / (m + 1), q = s * s;
    const float ln = 2 * s * (1 + q * (1.0f / 3 + q * (0.2f + q * (1.0f / 7 + q * (1.0f / 9)))));
    const float result = e * 0.693147182f + (ln - e * 1.90465421e-9f);
    return x > 3.40282347e38f || x != x ? x : x < 0 ? NAN : x == 0 ? -HUGE_VALF : result;
}

/* e^x − 1, exact near 0, too. */
static inline float tdl_hot_expm1(float x)
{
    const float near = x * (1 + x * (0.5f + x * (1.0f / 6 + x * (1.0f / 24 + x / 120))));
    return x > -0.2f && x < 0.2f ? near : tdl_hot_exp(x) - 1;
}

static inline float tdl_hot_sigmoid(float x)
{
    return 1 / (1 + tdl_hot_exp(-x));
}

static inline float tdl_hot_tanh(float x)
{
    const float q = x * x;
    const float near = x * (1 + q * (-1.0f / 3 + q * (2.0f / 15 + q * (-17.0f / 315))));
    return x > -0.2f && x < 0.2f ? near : 1 - 2 / (1 + tdl_hot_exp(2 * x));
}

/* ln (1 + x) = 2 artanh (x / (2 + x)), Abramowitz and Stegun 4.1.24 and 4.1.28; of 0 … 1. */
static inline float tdl_hot_log1p(float x)
{
    const float s = x / (2 + x), q = s * s;
    return 2 * s *
           (1 + q * (1.0f / 3 + q * (0.2f + q * (1.0f / 7 + q * (1.0f / 9 + q * (1.0f / 11))))));
}

/* 1 − erf x of 0.3 and more, relative 5e-7: t · P(t) · e^(−x²) with t = 1 / (1 + x / 2); P
 * goes through the function in Chebyshev's nodes from 0.3 to 10. The square is the
 * caller's, who has it more exactly: its error is that of the result. */
static inline float tdl_hot_erfc(float x, float minus_square)
{
    const float t = 1 / (1 + 0.5f * x);
    const float high =
        0.119200379f +
        t * (0.209745944f + t * (-0.131527960f + t * (-0.0613305978f + t * 0.0407425910f)));
    const float p = 0.282181442f + t * (0.280370027f + t * (0.260664344f + t * high));
    return p * t * tdl_hot_exp(minus_square);
}

/* Up to 0.5: Abramowitz and Stegun 7.1.5. */
static inline float tdl_hot_erf_near_0(float x)
{
    const float q = x * x;
    const float high = -0.0268661706f + q * (0.00522397763f - q * 0.000854832703f);
    return x * (1.12837917f + q * (-0.376126389f + q * (0.112837917f + q * high)));
}

static inline float tdl_hot_erf(float x)
{
    const float a = fabsf(x), far = copysignf(1 - tdl_hot_erfc(a, -x * x), x);
    return a < 0.5f ? tdl_hot_erf_near_0(x) : far;
}

/* x / 2 · (1 + erf (x / √2)) */
static inline float tdl_hot_gelu(float x)
{
    const float u = x * 0.707106781f, a = fabsf(u), c = 0.5f * tdl_hot_erfc(a, -0.5f * x * x);
    const float far = x * (x < 0 ? c : 1 - c);
    return a < 0.5f ? 0.5f * x * (1 + tdl_hot_erf_near_0(u)) : far;
}

static inline float tdl_hot_softplus(float x)
{
    return (x > 0 ? x : x != x ? x : 0) + tdl_hot_log1p(tdl_hot_exp(-fabsf(x)));
}

#endif
