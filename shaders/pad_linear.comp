// SPDX-License-Identifier: LGPL-2.1-or-later
#version 430
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
// pad on linear memory: element i of a dimension is i − BEFORE of the input.
#include "common/move.glsl"
layout(constant_id = 6) const uint MODE = 0;        // enum tdl_pad_mode
layout(constant_id = 7) const uint VALUE = 0;       // outside, in CONSTANT; the lower part
layout(constant_id = 8) const uint VALUE_UPPER = 0; // and the upper one
// Of the dimensions, the last one first; 1, and no padding, past the first one.
layout(constant_id = 9) const uint OUT0 = 1;
layout(constant_id = 10) const uint OUT1 = 1;
layout(constant_id = 11) const uint OUT2 = 1;
layout(constant_id = 12) const uint OUT3 = 1;
layout(constant_id = 13) const uint OUT4 = 1;
layout(constant_id = 14) const uint OUT5 = 1;
layout(constant_id = 15) const uint IN0 = 1;
layout(constant_id = 16) const uint IN1 = 1;
layout(constant_id = 17) const uint IN2 = 1;
layout(constant_id = 18) const uint IN3 = 1;
layout(constant_id = 19) const uint IN4 = 1;
layout(constant_id = 20) const uint IN5 = 1;
layout(constant_id = 21) const int BEFORE0 = 0;
layout(constant_id = 22) const int BEFORE1 = 0;
layout(constant_id = 23) const int BEFORE2 = 0;
layout(constant_id = 24) const int BEFORE3 = 0;
layout(constant_id = 25) const int BEFORE4 = 0;
layout(constant_id = 26) const int BEFORE5 = 0;

LINEAR_IN(0, x)

const uint CONSTANT = 0, EDGE = 1, REFLECTION = 2;

// Moves `at` on by where one dimension is; false if that is outside.
bool step_into(uint i, int before, uint size, uint stride, inout uint at)
{
    int s = int(i) - before;
    if (MODE == REFLECTION) {
        s = abs(s);
        s = s >= int(size) ? 2 * (int(size) - 1) - s : s;
    }
    int near = clamp(s, 0, int(size) - 1);
    at += uint(near) * stride;
    return near == s || MODE != CONSTANT;
}

uint source(uint part)
{
    const uint S1 = IN0, S2 = S1 * IN1, S3 = S2 * IN2, S4 = S3 * IN3, S5 = S4 * IN4;
    uint i = part / PARTS, at = 0;
    bool inside = step_into(i % OUT0, BEFORE0, IN0, 1, at);
    i /= OUT0;
    inside = step_into(i % OUT1, BEFORE1, IN1, S1, at) && inside;
    i /= OUT1;
    inside = step_into(i % OUT2, BEFORE2, IN2, S2, at) && inside;
    i /= OUT2;
    inside = step_into(i % OUT3, BEFORE3, IN3, S3, at) && inside;
    i /= OUT3;
    inside = step_into(i % OUT4, BEFORE4, IN4, S4, at) && inside;
    i /= OUT4;
    inside = step_into(i, BEFORE5, IN5, S5, at) && inside;
    uint v = x_bits(SIZE, at * PARTS + part % PARTS, 0);
    return inside ? v : part % PARTS != 0 ? VALUE_UPPER : VALUE;
}

MOVE_PARTS
