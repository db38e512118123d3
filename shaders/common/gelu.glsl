// SPDX-License-Identifier: LGPL-2.1-or-later
// gelu, and what erf shares with it.
#ifndef TDL_GELU
#define TDL_GELU

// 1 - erf (x) of 0.3 and more, relative 5e-7: t P(t) exp (-x^2) with t = 1 / (1 + x / 2); P goes
// through the function in Chebyshev's nodes from 0.3 to 10.
vec4 erfc_of(vec4 x, vec4 minus_square) // the square as exactly as the caller has it
{
    vec4 t = 1.0 / (1.0 + 0.5 * x);
    vec4 p = 0.0407425910 * t - 0.0613305978;
    p = ((p * t - 0.131527960) * t + 0.209745944) * t + 0.119200379;
    p = ((p * t + 0.260664344) * t + 0.280370027) * t + 0.282181442;
    return p * t * exp(minus_square);
}

vec4 erf_near_0(vec4 x)
{
    vec4 q = x * x;
    return x * (1.12837917 + q * (-0.376126389 + q * (0.112837917 + q * (-0.0268661706 +
                              q * (0.00522397763 - q * 0.000854832703)))));
}

// x / 2 (1 + erf (x / sqrt (2)))
vec4 gelu_of(vec4 x)
{
    vec4 u = x * 0.70710678, c = 0.5 * erfc_of(abs(u), -0.5 * x * x);
    vec4 far = x * mix(1.0 - c, c, lessThan(x, vec4(0.0)));
    return mix(far, 0.5 * x * (1.0 + erf_near_0(u)), lessThan(abs(u), vec4(0.5)));
}
#endif
