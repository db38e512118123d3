// SPDX-License-Identifier: LGPL-2.1-or-later
#version 430
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
// scatterND, scatterElements: elements from the updates that own them, else from x.
#include "common/move.glsl"
layout(constant_id = 6) const uint INNER = 1; // parts that lie together

LINEAR_IN(0, x)
layout(std430, set = 0, binding = 1) readonly buffer Owners { uint owners[]; };
LINEAR_IN(2, updates)

uint source(uint i)
{
    const uint owner = owners[i / INNER];
    return owner == 0 ? x_bits(SIZE, i, 0) : updates_bits(SIZE, (owner - 1) * INNER + i % INNER, 0);
}

MOVE_PARTS
