// SPDX-License-Identifier: LGPL-2.1-or-later
#version 430
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
// concat on linear memory. To it, each input has three dimensions: those before
// the axis, the axis, those behind it.
#include "common/move.glsl"
layout(constant_id = 6) const uint INNER = 1; // parts behind the axis
layout(constant_id = 7) const uint AXIS = 1;  // dimension of the output
layout(constant_id = 8) const uint INPUTS = 1;
// Ends of the inputs along the axis, each in elements from the output's start.
layout(constant_id = 9) const uint END0 = 1;
layout(constant_id = 10) const uint END1 = 1;
layout(constant_id = 11) const uint END2 = 1;
layout(constant_id = 12) const uint END3 = 1;
layout(constant_id = 13) const uint END4 = 1;
layout(constant_id = 14) const uint END5 = 1;
layout(constant_id = 15) const uint END6 = 1;

LINEAR_IN(0, x0)
LINEAR_IN(1, x1)
LINEAR_IN(2, x2)
LINEAR_IN(3, x3)
LINEAR_IN(4, x4)
LINEAR_IN(5, x5)
LINEAR_IN(6, x6)

uint source(uint i)
{
    uint inner = i % INNER, a = i / INNER % AXIS, outer = i / (INNER * AXIS);
#define FIND(NUMBER, START, END)                                                                   \
    if (NUMBER < INPUTS && a < END)                                                                \
        return x##NUMBER##_bits(SIZE, (outer * (END - START) + a - START) * INNER + inner, 0);
    FIND(0, 0, END0)
    FIND(1, END0, END1)
    FIND(2, END1, END2)
    FIND(3, END2, END3)
    FIND(4, END3, END4)
    FIND(5, END4, END5)
    FIND(6, END5, END6)
    return 0;
}

MOVE_PARTS
