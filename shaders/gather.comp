// SPDX-License-Identifier: LGPL-2.1-or-later
#version 430
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
// gather: out[o][j][i] = x[o][index j][i].
#include "common/move.glsl"
#include "common/index.glsl"
layout(constant_id = 6) const uint INDEX_TYPE = 0;
layout(constant_id = 7) const uint LENGTH = 1;  // elements along the axis
layout(constant_id = 8) const uint INDICES = 1; // their number
layout(constant_id = 9) const uint INNER = 1;   // parts behind the axis

LINEAR_IN(0, x)

uint source(uint i)
{
    uint inner = i % INNER, j = i / INNER % INDICES, outer = i / (INNER * INDICES);
    return x_bits(SIZE, (outer * LENGTH + index_at(INDEX_TYPE, j, LENGTH)) * INNER + inner, 0);
}

MOVE_PARTS
