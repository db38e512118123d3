// SPDX-License-Identifier: LGPL-2.1-or-later
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
// slice and pad on linear memory of elements of any type: element i of a
// dimension is START + i · STEP of the input. Dimensions count from the last.
// One invocation a word of the output.
#include "common/linear.glsl"

layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;
layout(constant_id = 3) const uint BYTES = 4; // of an element
layout(constant_id = 4) const uint COUNT = 1;
layout(constant_id = 5) const uint MODE = 0; // enum tdl_pad_mode
layout(constant_id = 6) const uint VALUE = 0; // the lower word
layout(constant_id = 7) const uint VALUE_UPPER = 0;
layout(constant_id = 8) const uint OUT0 = 1;
layout(constant_id = 9) const uint OUT1 = 1;
layout(constant_id = 10) const uint OUT2 = 1;
layout(constant_id = 11) const uint OUT3 = 1;
layout(constant_id = 12) const uint OUT4 = 1;
layout(constant_id = 13) const uint OUT5 = 1;
layout(constant_id = 14) const uint IN0 = 1;
layout(constant_id = 15) const uint IN1 = 1;
layout(constant_id = 16) const uint IN2 = 1;
layout(constant_id = 17) const uint IN3 = 1;
layout(constant_id = 18) const uint IN4 = 1;
layout(constant_id = 19) const uint IN5 = 1;
layout(constant_id = 20) const int START0 = 0;
layout(constant_id = 21) const int START1 = 0;
layout(constant_id = 22) const int START2 = 0;
layout(constant_id = 23) const int START3 = 0;
layout(constant_id = 24) const int START4 = 0;
layout(constant_id = 25) const int START5 = 0;
layout(constant_id = 26) const int STEP0 = 1;
layout(constant_id = 27) const int STEP1 = 1;
layout(constant_id = 28) const int STEP2 = 1;
layout(constant_id = 29) const int STEP3 = 1;
layout(constant_id = 30) const int STEP4 = 1;
layout(constant_id = 31) const int STEP5 = 1;

LINEAR_IN(0, x)
LINEAR_OUT(1, result)

const uint CONSTANT = 0, EDGE = 1, REFLECTION = 2;

// Moves `at` on by where one dimension is; false if that is outside.
bool step_into(uint i, int start, int step, uint size, uint stride, inout uint at)
{
    int s = start + int(i) * step;
    if (MODE == REFLECTION) {
        s = abs(s);
        s = s >= int(size) ? 2 * (int(size) - 1) - s : s;
    }
    int near = clamp(s, 0, int(size) - 1);
    at += uint(near) * stride;
    return near == s || MODE != CONSTANT;
}

uint bits(uint i, uint upper)
{
    const uint S1 = IN0, S2 = S1 * IN1, S3 = S2 * IN2, S4 = S3 * IN3, S5 = S4 * IN4;
    uint at = 0;
    bool inside = step_into(i % OUT0, START0, STEP0, IN0, 1, at);
    i /= OUT0;
    inside = step_into(i % OUT1, START1, STEP1, IN1, S1, at) && inside;
    i /= OUT1;
    inside = step_into(i % OUT2, START2, STEP2, IN2, S2, at) && inside;
    i /= OUT2;
    inside = step_into(i % OUT3, START3, STEP3, IN3, S3, at) && inside;
    i /= OUT3;
    inside = step_into(i % OUT4, START4, STEP4, IN4, S4, at) && inside;
    i /= OUT4;
    inside = step_into(i, START5, STEP5, IN5, S5, at) && inside;
    uint v = x_bits(BYTES, at, upper);
    return inside ? v : upper != 0 ? VALUE_UPPER : VALUE;
}

#include "common/move.glsl"
