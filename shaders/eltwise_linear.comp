// SPDX-License-Identifier: LGPL-2.1-or-later
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
// Element-wise on linear memory, with broadcasting: out = activate(a), or of
// a + b, a · b. The shapes come with neighbouring dimensions joined where both
// inputs allow it.
#include "common/linear.glsl"
#include "common/activation.glsl"

layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;
layout(constant_id = 3) const uint OPERATION = 0; // 0 a, 1 a + b, 2 a · b
layout(constant_id = 4) const uint ACTIVATION = 0; // of floats
layout(constant_id = 5) const uint TYPE = 0;
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

LINEAR_IN(0, a)
LINEAR_IN(1, b)
LINEAR_OUT(2, result)

ELEMENT value(uint i)
{
    uint at_a = 0, at_b = 0;
#define STEP(SIZE, A, B)                                                                           \
    at_a += i % SIZE * A;                                                                          \
    at_b += i % SIZE * B;                                                                          \
    i /= SIZE;
    if (RANK > 1) { STEP(SIZE0, A0, B0) }
    if (RANK > 2) { STEP(SIZE1, A1, B1) }
    if (RANK > 3) { STEP(SIZE2, A2, B2) }
    if (RANK > 4) { STEP(SIZE3, A3, B3) }
    if (RANK > 5) { STEP(SIZE4, A4, B4) }
    const uint LAST_A = RANK > 5 ? A5 : RANK > 4 ? A4 : RANK > 3 ? A3 : RANK > 2 ? A2 : RANK > 1 ? A1 : A0;
    const uint LAST_B = RANK > 5 ? B5 : RANK > 4 ? B4 : RANK > 3 ? B3 : RANK > 2 ? B2 : RANK > 1 ? B1 : B0;
    at_a += i * LAST_A;
    at_b += i * LAST_B;
    ELEMENT x = a_at(TYPE, at_a);
    if (OPERATION != 0) {
        ELEMENT y = b_at(TYPE, at_b);
        x = OPERATION == 1 ? x + y : x * y;
    }
#ifdef TDL_FLOAT
    x = activate(ACTIVATION, vec4(x)).x;
#endif
    return x;
}

void main()
{
    LINEAR_MAIN(result, TYPE, COUNT, value)
}
