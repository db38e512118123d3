// SPDX-License-Identifier: LGPL-2.1-or-later
#version 430
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
// gatherElements: out[o][j][i] = x[o][indices[o][j][i]][i].
#include "common/move.glsl"
#include "common/index.glsl"
layout(constant_id = 6) const uint INDEX_TYPE = 0;
layout(constant_id = 7) const uint LENGTH = 1;     // elements along the axis in x
layout(constant_id = 8) const uint OUT_LENGTH = 1; // and in the output
layout(constant_id = 9) const uint INNER = 1;

LINEAR_IN(0, x)

uint source(uint part)
{
    uint i = part / PARTS, inner = i % INNER, outer = i / (INNER * OUT_LENGTH);
    uint at = (outer * LENGTH + index_at(INDEX_TYPE, i, LENGTH)) * INNER + inner;
    return x_bits(SIZE, at * PARTS + part % PARTS, 0);
}

MOVE_PARTS
