// SPDX-License-Identifier: LGPL-2.1-or-later
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
// Element-wise on linear memory, with broadcasting. The shapes come with
// neighbouring dimensions joined where all inputs allow it.
#define TDL_CHAIN
#include "common/linear.glsl"
#include "common/activation.glsl"

layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;
layout(constant_id = 3) const uint FUNCTION = 0;
layout(constant_id = 4) const uint ACTIVATION = 0; // for floats only
layout(constant_id = 5) const uint TYPE = 0;       // data type of the values
layout(constant_id = 6) const uint COUNT = 1;
layout(constant_id = 7) const uint RANK = 1;
// Dimensions from the last one on, and how far apart their elements are.
layout(constant_id = 8) const uint SIZE0 = 1;
layout(constant_id = 9) const uint SIZE1 = 1;
layout(constant_id = 10) const uint SIZE2 = 1;
layout(constant_id = 11) const uint SIZE3 = 1;
layout(constant_id = 12) const uint SIZE4 = 1;
layout(constant_id = 13) const uint A0 = 1;
layout(constant_id = 14) const uint A1 = 1;
layout(constant_id = 15) const uint A2 = 1;
layout(constant_id = 16) const uint A3 = 1;
layout(constant_id = 17) const uint A4 = 1;
layout(constant_id = 18) const uint A5 = 1;
layout(constant_id = 19) const uint B0 = 1;
layout(constant_id = 20) const uint B1 = 1;
layout(constant_id = 21) const uint B2 = 1;
layout(constant_id = 22) const uint B3 = 1;
layout(constant_id = 23) const uint B4 = 1;
layout(constant_id = 24) const uint B5 = 1;
layout(constant_id = 25) const uint C0 = 1;
layout(constant_id = 26) const uint C1 = 1;
layout(constant_id = 27) const uint C2 = 1;
layout(constant_id = 28) const uint C3 = 1;
layout(constant_id = 29) const uint C4 = 1;
layout(constant_id = 30) const uint C5 = 1;
// Words of the bounds of clamp on integers.
layout(constant_id = 31) const uint LEAST_LOW = 0;
layout(constant_id = 32) const uint LEAST_HIGH = 0;
layout(constant_id = 33) const uint MOST_LOW = 0;
layout(constant_id = 34) const uint MOST_HIGH = 0;

LINEAR_IN(0, a)
LINEAR_IN(1, b)
LINEAR_IN(2, c)
LINEAR_OUT(3, result)

// Indices of the elements of a, b and c that make element `i`.
uvec3 places(uint i)
{
    uvec3 at = uvec3(0);
#define STEP(N)                                                                                    \
    at += i % SIZE##N * uvec3(A##N, B##N, C##N);                                                   \
    i /= SIZE##N;
    if (RANK > 1) { STEP(0) }
    if (RANK > 2) { STEP(1) }
    if (RANK > 3) { STEP(2) }
    if (RANK > 4) { STEP(3) }
    if (RANK > 5) { STEP(4) }
    const uvec3 last = RANK > 5 ? uvec3(A5, B5, C5) : RANK > 4 ? uvec3(A4, B4, C4)
                     : RANK > 3 ? uvec3(A3, B3, C3) : RANK > 2 ? uvec3(A2, B2, C2)
                     : RANK > 1 ? uvec3(A1, B1, C1) : uvec3(A0, B0, C0);
    return at + i * last;
}

#ifdef TDL_FLOAT
ELEMENT unary(ELEMENT x) { return x; /* a chain of one stage */ }
ELEMENT binary(ELEMENT x, ELEMENT y) { return eltwise_binary(FUNCTION, vec4(x), vec4(y)).x; }
ELEMENT finish(ELEMENT x) { return activate(ACTIVATION, vec4(x)).x; }
#else
#if defined(TDL_I64)
#define BOUND(LOW, HIGH) packInt2x32(ivec2(LOW, HIGH))
#elif defined(TDL_U64)
#define BOUND(LOW, HIGH) packUint2x32(uvec2(LOW, HIGH))
#else
#define BOUND(LOW, HIGH) ELEMENT(LOW)
#endif
#if defined(TDL_INT) || defined(TDL_I64)
#define SIGNED true
#else
#define SIGNED false
#endif
const ELEMENT none = ELEMENT(0), one = ELEMENT(1);

// Towards zero; by zero 0. Processors trap on what does not fit.
ELEMENT quotient(ELEMENT x, ELEMENT y)
{
    bool minus = SIGNED && y == none - one;
    ELEMENT q = x / (y == none || minus ? one : y);
    return y == none ? none : minus ? none - x : q;
}

// Wraps; 0 where the result is between -1 and 1 or infinite.
ELEMENT whole_power(ELEMENT x, ELEMENT y)
{
    ELEMENT p = one, base = x, left = y;
    for (uint k = 0; k < 64 && left > none; k++) {
        p *= (left & one) != none ? base : one;
        base *= base;
        left >>= 1;
    }
    if (SIGNED && y < none)
        p = x == one ? one : x != none - one ? none : (y & one) != none ? x : one;
    return p;
}

ELEMENT unary(ELEMENT x)
{
    switch (FUNCTION) {
    case F_RELU:
        return max(x, none);
    case F_CLAMP:
        return min(max(x, BOUND(LEAST_LOW, LEAST_HIGH)), BOUND(MOST_LOW, MOST_HIGH));
    case F_ABS:
        return SIGNED && x < none ? none - x : x;
    case F_NEG:
        return none - x;
    case F_SIGN:
        return x == none ? none : SIGNED && x < none ? none - one : one;
    case F_LOGICAL_NOT:
        return x == none ? one : none;
    default:
        return x;
    }
}

ELEMENT binary(ELEMENT x, ELEMENT y)
{
    switch (FUNCTION) {
    case F_ADD:
        return x + y;
    case F_SUB:
        return x - y;
    case F_MUL:
        return x * y;
    case F_DIV:
        return quotient(x, y);
    case F_MAX:
        return max(x, y);
    case F_MIN:
        return min(x, y);
    case F_POW:
        return whole_power(x, y);
    case F_PRELU:
        return SIGNED && x < none ? x * y : x;
    case F_BITWISE_AND:
        return x & y;
    case F_BITWISE_OR:
        return x | y;
    case F_BITWISE_XOR:
        return x ^ y;
    default:
        return x;
    }
}
ELEMENT finish(ELEMENT x) { return x; }
#endif

ELEMENT value(uint i)
{
    uvec3 at = places(i);
    ELEMENT x = a_at(TYPE, at.x);
    if (FUNCTION == F_WHERE) {
        // The condition comes last, and is loaded like the others.
        ELEMENT y = b_at(TYPE, at.y);
        x = c_uint(UINT8, at.z) != 0 ? x : y;
    } else if (FUNCTION >= F_ADD) {
        x = binary(x, b_at(TYPE, at.y));
    } else {
        x = unary(x);
    }
    return finish(x);
}

// Comparisons and logic give 0 or 1.
uint truth(uint i)
{
    uvec3 at = places(i);
    ELEMENT x = a_at(TYPE, at.x), y = b_at(TYPE, at.y);
    const ELEMENT zero = ELEMENT(0);
    bool is = FUNCTION == F_EQUAL              ? x == y
              : FUNCTION == F_NOT_EQUAL        ? x != y
              : FUNCTION == F_GREATER          ? x > y
              : FUNCTION == F_GREATER_OR_EQUAL ? x >= y
              : FUNCTION == F_LESSER           ? x < y
              : FUNCTION == F_LESSER_OR_EQUAL  ? x <= y
              : FUNCTION == F_LOGICAL_AND      ? x != zero && y != zero
              : FUNCTION == F_LOGICAL_OR       ? x != zero || y != zero
                                               : (x != zero) != (y != zero);
    return uint(is);
}

void main()
{
    if (FUNCTION >= F_EQUAL && FUNCTION <= F_LOGICAL_XOR) {
        LINEAR_MAIN_32(result, UINT8, COUNT, truth)
    } else {
        LINEAR_MAIN(result, TYPE, COUNT, value)
    }
}
