// SPDX-License-Identifier: LGPL-2.1-or-later
// Element-wise functions of floats; the numbers are enum tdl_function in
// engine/ops/eltwise.h. NaN in gives NaN out (but x ^ 0 is 1).
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
           F_WHERE = 52;

const uint NAN_BITS = 0x7fc00000, INFINITY_BITS = 0x7f800000;

// Abramowitz and Stegun, 7.1.26: within 1.5e-7.
vec4 erf_of(vec4 x)
{
    vec4 t = 1.0 / (1.0 + 0.3275911 * abs(x));
    vec4 p = ((((1.061405429 * t - 1.453152027) * t + 1.421413741) * t - 0.284496736) * t +
              0.254829592) * t;
    vec4 y = 1.0 - p * exp(-x * x);
    return mix(y, -y, lessThan(x, vec4(0.0)));
}

// As C's pow(): GLSL's knows no negative base.
vec4 power(vec4 x, vec4 y)
{
    vec4 p = exp2(y * log2(abs(x)));
    bvec4 whole = equal(floor(y), y);
    vec4 odd = y - 2.0 * floor(y * 0.5);
    bvec4 negative = lessThan(x, vec4(0.0));
    p = mix(p, mix(vec4(0.0), uintBitsToFloat(uvec4(INFINITY_BITS)), lessThan(y, vec4(0.0))),
            equal(x, vec4(0.0)));
    vec4 signed_p = mix(uintBitsToFloat(uvec4(NAN_BITS)), mix(p, -p, equal(odd, vec4(1.0))), whole);
    p = mix(p, signed_p, negative);
    p = mix(p, x + y, isnan(x + y));
    return mix(p, vec4(1.0), equal(y, vec4(0.0)));
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
    case F_TANH: // exact where exp() is not finite
        return mix(sign(x) - sign(x) * 2.0 / (exp(2.0 * abs(x)) + 1.0), x, isnan(x));
    case F_LEAKY_RELU:
        return mix(x, a * x, lessThan(x, zero));
    case F_ELU:
        return mix(x, a * (exp(x) - 1.0), lessThan(x, zero));
    case F_GELU:
        return 0.5 * x * (1.0 + erf_of(x * 0.70710678));
    case F_HARD_SIGMOID:
        x = a * x + b;
        return mix(clamp(x, 0.0, 1.0), x, isnan(x));
    case F_SOFTPLUS:
        return mix(max(x, zero), x, isnan(x)) + log(1.0 + exp(-abs(x)));
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
