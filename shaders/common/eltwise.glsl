// SPDX-License-Identifier: LGPL-2.1-or-later
// Element-wise functions of floats; the numbers are enum tdl_function in
// engine/ops/eltwise.h. NaN in gives NaN out (but x ^ 0 and 1 ^ x are 1).
#include "common/gelu.glsl"
const uint F_IDENTITY = 0, F_RELU = 1, F_CLAMP = 2, F_SIGMOID = 3, F_HARD_SWISH = 4, F_TANH = 5,
           F_LEAKY_RELU = 6, F_ELU = 7, F_GELU = 8, F_HARD_SIGMOID = 9, F_SOFTPLUS = 10,
           F_SOFTSIGN = 11, F_LINEAR = 12, F_ABS = 13, F_CEIL = 14, F_FLOOR = 15, F_ROUND_EVEN = 16,
           F_EXP = 17, F_LOG = 18, F_NEG = 19, F_SQRT = 20, F_RECIPROCAL = 21, F_ERF = 22,
           F_SIN = 23, F_COS = 24, F_TAN = 25, F_SIGN = 26, F_LOGICAL_NOT = 27, F_DIV_BY = 28,
           F_DIV_OF = 29, F_POW_BY = 30, F_POW_OF = 31, F_SWISH = 32, F_ADD = 33, F_SUB = 34,
           F_MUL = 35, F_DIV = 36, F_MAX = 37, F_MIN = 38, F_POW = 39, F_PRELU = 40,
           F_BITWISE_AND = 41, F_BITWISE_OR = 42, F_BITWISE_XOR = 43, F_EQUAL = 44,
           F_NOT_EQUAL = 45, F_GREATER = 46, F_GREATER_OR_EQUAL = 47, F_LESSER = 48,
           F_LESSER_OR_EQUAL = 49, F_LOGICAL_AND = 50, F_LOGICAL_OR = 51, F_LOGICAL_XOR = 52,
           F_WHERE = 53, F_ADD_PRODUCT = 64;

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

vec4 erf_of(vec4 x)
{
    vec4 y = 1.0 - erfc_of(abs(x), -x * x);
    y = mix(y, -y, lessThan(x, vec4(0.0)));
    return mix(y, erf_near_0(x), lessThan(abs(x), vec4(0.5)));
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
    case F_SWISH:
        return x / (1.0 + exp(-a * x));
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
