// SPDX-License-Identifier: LGPL-2.1-or-later
// Element-wise functions of floats; the numbers are enum tdl_function in
// engine/ops/eltwise.h. NaN in gives NaN out (but x ^ 0 and 1 ^ x are 1).
const uint F_IDENTITY = 0, F_RELU = 1, F_CLAMP = 2, F_SIGMOID = 3, F_HARD_SWISH = 4, F_TANH = 5,
           F_LEAKY_RELU = 6, F_ELU = 7, F_GELU = 8, F_HARD_SIGMOID = 9, F_SOFTPLUS = 10,
           F_SOFTSIGN = 11, F_LINEAR = 12, F_ABS = 13, F_CEIL = 14, F_FLOOR = 15, F_ROUND_EVEN = 16,
           F_EXP = 17, F_LOG = 18, F_NEG = 19, F_SQRT = 20, F_RECIPROCAL = 21, F_ERF = 22,
           F_SIN = 23, F_COS = 24, F_TAN = 25, F_SIGN = 26, F_LOGICAL_NOT = 27, F_DIV_BY = 28,
           F_DIV_OF = 29, F_POW_BY = 30, F_POW_OF = 31, F_ADD = 32, F_SUB = 33, F_MUL = 34,
           F_DIV = 35, F_MAX = 36, F_MIN = 37, F_POW = 38, F_PRELU = 39,
           F_BITWISE_AND = 40, F_BITWISE_OR = 41, F_BITWISE_XOR = 42, F_EQUAL = 43,
           F_NOT_EQUAL = 44, F_GREATER = 45, F_GREATER_OR_EQUAL = 46, F_LESSER = 47,
           F_LESSER_OR_EQUAL = 48, F_LOGICAL_AND = 49, F_LOGICAL_OR = 50, F_LOGICAL_XOR = 51,
           F_WHERE = 52, F_ADD_PRODUCT = 64;

const uint NAN_BITS = 0x7fc00000, INFINITY_BITS = 0x7f800000;

// Near 0 differences would lose what matters, so there are series of their own, as in
// engine/cpu/graph/hot_math.h: Abramowitz and Stegun 4.2.1, 4.5.64, 7.1.5.
vec4 expm1_of(vec4 x)
{
    vec4 near = x * (1.0 + x * (0.5 + x * (1.0 / 6.0 + x * (1.0 / 24.0 + x * (1.0 / 120.0)))));
    return mix(exp(x) - 1.0, near, lessThan(abs(x), vec4(0.2)));
}

vec4 tanh_of(vec4 x) // exact where exp() is not finite
{
    vec4 q = x * x, near = x * (1.0 + q * (-1.0 / 3.0 + q * (2.0 / 15.0 + q * (-17.0 / 315.0))));
    vec4 far = sign(x) - sign(x) * 2.0 / (exp(2.0 * abs(x)) + 1.0);
    return mix(mix(far, near, lessThan(abs(x), vec4(0.2))), x, isnan(x));
}

// ln (1 + x) = 2 artanh (x / (2 + x)), 4.1.24 and 4.1.28; of 0 … 1.
vec4 log1p_of(vec4 x)
{
    vec4 s = x / (2.0 + x), q = s * s;
    return 2.0 * s * (1.0 + q * (1.0 / 3.0 + q * (0.2 + q * (1.0 / 7.0 +
                                                             q * (1.0 / 9.0 + q / 11.0)))));
}

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

vec4 erf_of(vec4 x)
{
    vec4 y = 1.0 - erfc_of(abs(x), -x * x);
    y = mix(y, -y, lessThan(x, vec4(0.0)));
    return mix(y, erf_near_0(x), lessThan(abs(x), vec4(0.5)));
}

// x / 2 (1 + erf (x / sqrt (2)))
vec4 gelu_of(vec4 x)
{
    vec4 u = x * 0.70710678, c = 0.5 * erfc_of(abs(u), -0.5 * x * x);
    vec4 far = x * mix(1.0 - c, c, lessThan(x, vec4(0.0)));
    return mix(far, 0.5 * x * (1.0 + erf_near_0(u)), lessThan(abs(u), vec4(0.5)));
}

// As C's pow(), F.10.4.4 of its standard: GLSL's knows no negative base.
vec4 power(vec4 x, vec4 y)
{
    const vec4 infinity = uintBitsToFloat(uvec4(INFINITY_BITS)), one = vec4(1.0);
    vec4 p = exp2(y * log2(abs(x)));
    p = mix(p, one, equal(abs(x), one)); // to the power of infinity, too
    p = mix(p, mix(vec4(0.0), infinity, lessThan(y, vec4(0.0))), equal(x, vec4(0.0)));
    // From 2^24 on numbers are even, and so is infinity.
    bvec4 odd = equal(y - 2.0 * floor(y * 0.5), one);
    bvec4 minus = notEqual(floatBitsToUint(x) & uvec4(0x80000000), uvec4(0)); // -0, too
    p = mix(p, mix(p, -p, odd), minus);
    // There are no roots of negative numbers.
    vec4 root = mix(p, uintBitsToFloat(uvec4(NAN_BITS)), notEqual(floor(y), y));
    p = mix(p, mix(root, p, equal(x, -infinity)), lessThan(x, vec4(0.0)));
    p = mix(mix(p, x, isnan(x)), y, isnan(y));
    return mix(mix(p, one, equal(x, one)), one, equal(y, vec4(0.0)));
}

vec4 eltwise_unary(uint function, vec4 x, float a, float b)
{
    const vec4 zero = vec4(0.0);
    switch (function) {
    // A comparison that selects becomes max() with some compilers, which gives the
    // bound for NaN: so NaN is asked for.
    case F_RELU:
        return mix(max(x, zero), x, isnan(x));
    case F_CLAMP:
        return mix(clamp(x, vec4(a), vec4(b)), x, isnan(x));
    case F_SIGMOID:
        return 1.0 / (1.0 + exp(-x));
    case F_HARD_SWISH:
        return x * clamp(x * (1.0 / 6.0) + 0.5, 0.0, 1.0);
    case F_TANH:
        return tanh_of(x);
    case F_LEAKY_RELU:
        return mix(x, a * x, lessThan(x, zero));
    case F_ELU:
        return mix(x, a * expm1_of(x), lessThan(x, zero));
    case F_GELU:
        return gelu_of(x);
    case F_HARD_SIGMOID:
        x = a * x + b;
        return mix(clamp(x, 0.0, 1.0), x, isnan(x));
    case F_SOFTPLUS:
        return mix(max(x, zero), x, isnan(x)) + log1p_of(exp(-abs(x)));
    case F_SOFTSIGN:
        return x / (1.0 + abs(x));
    case F_LINEAR:
        return a * x + b;
    case F_ABS:
        return abs(x);
    case F_CEIL:
        return ceil(x);
    case F_FLOOR:
        return floor(x);
    case F_ROUND_EVEN:
        return roundEven(x);
    case F_EXP:
        return exp(x);
    case F_LOG:
        return mix(mix(log(x), -uintBitsToFloat(uvec4(INFINITY_BITS)), equal(x, zero)),
                   uintBitsToFloat(uvec4(NAN_BITS)), lessThan(x, zero));
    case F_NEG:
        return -x;
    case F_SQRT:
        return mix(sqrt(x), uintBitsToFloat(uvec4(NAN_BITS)), lessThan(x, zero));
    case F_RECIPROCAL:
        return 1.0 / x;
    case F_ERF:
        return erf_of(x);
    case F_SIN:
        return sin(x);
    case F_COS:
        return cos(x);
    case F_TAN:
        return tan(x);
    case F_SIGN:
        return mix(sign(x), x, isnan(x));
    case F_DIV_BY:
        return x / a;
    case F_DIV_OF:
        return a / x;
    case F_POW_BY:
        return power(x, vec4(a));
    case F_POW_OF:
        return power(vec4(a), x);
    default:
        return x;
    }
}

vec4 eltwise_binary(uint function, vec4 x, vec4 y)
{
    switch (function) {
    case F_ADD:
        return x + y;
    case F_SUB:
        return x - y;
    case F_MUL:
        return x * y;
    case F_DIV:
        return x / y;
    case F_MAX:
        return mix(mix(y, x, greaterThan(x, y)), x, isnan(x));
    case F_MIN:
        return mix(mix(y, x, lessThan(x, y)), x, isnan(x));
    case F_POW:
        return power(x, y);
    case F_PRELU:
        return mix(x, x * y, lessThan(x, vec4(0.0)));
    default:
        return x;
    }
}
