// SPDX-License-Identifier: LGPL-2.1-or-later
#version 430
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
// transpose, tile, slice and the like on linear memory:
// out[c0, …, c6] = x[OFFSET + Σ (ci mod PERIODi) · STRIDEi], in parts, modulo 2³².
#include "common/move.glsl"
layout(constant_id = 6) const uint OFFSET = 0;
// Sizes of the output's dimensions, the last one first; 1 past the first one.
layout(constant_id = 7) const uint SIZE0 = 1;
layout(constant_id = 8) const uint SIZE1 = 1;
layout(constant_id = 9) const uint SIZE2 = 1;
layout(constant_id = 10) const uint SIZE3 = 1;
layout(constant_id = 11) const uint SIZE4 = 1;
layout(constant_id = 12) const uint SIZE5 = 1;
layout(constant_id = 13) const uint SIZE6 = 1;
layout(constant_id = 14) const uint PERIOD0 = 1;
layout(constant_id = 15) const uint PERIOD1 = 1;
layout(constant_id = 16) const uint PERIOD2 = 1;
layout(constant_id = 17) const uint PERIOD3 = 1;
layout(constant_id = 18) const uint PERIOD4 = 1;
layout(constant_id = 19) const uint PERIOD5 = 1;
layout(constant_id = 20) const uint PERIOD6 = 1;
layout(constant_id = 21) const uint STRIDE0 = 1;
layout(constant_id = 22) const uint STRIDE1 = 1;
layout(constant_id = 23) const uint STRIDE2 = 1;
layout(constant_id = 24) const uint STRIDE3 = 1;
layout(constant_id = 25) const uint STRIDE4 = 1;
layout(constant_id = 26) const uint STRIDE5 = 1;
layout(constant_id = 27) const uint STRIDE6 = 1;

LINEAR_IN(0, x)

#define TAKE(d)                                       \
    if (SIZE##d > 1) {                                \
        at += i % SIZE##d % PERIOD##d * STRIDE##d;    \
        i /= SIZE##d;                                 \
    }

uint source(uint i)
{
    uint at = OFFSET;
    TAKE(0)
    TAKE(1)
    TAKE(2)
    TAKE(3)
    TAKE(4)
    TAKE(5)
    TAKE(6)
    return x_bits(SIZE, at, 0);
}

MOVE_PARTS
