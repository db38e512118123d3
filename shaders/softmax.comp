// SPDX-License-Identifier: LGPL-2.1-or-later
#version 430
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
// softmax of float32 along an axis: exp(x - max) / Σ exp(x - max). A team of
// invocations takes a row.
#include "common/linear.glsl"
layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;
#include "common/reduce.glsl"
layout(constant_id = 7) const uint ROWS = 1;
layout(constant_id = 8) const uint INNER = 1; // distance of a row's elements

layout(std430, set = 0, binding = 0) readonly buffer In { float x[]; };
layout(std430, set = 0, binding = 1) writeonly buffer Out { float result[]; };

// Short rows stay in registers, and are read once.
const uint EACH = (COUNT + TEAM - 1) / TEAM, MOST = 16;
const bool SHORT = EACH <= MOST;
const uint HELD = SHORT ? EACH : 1;

void keep_row(uint row, uint base, uint member)
{
    float held[HELD], largest = x[base + member * INNER], sum = 0.0;
    [[unroll]] for (uint i = 0; i < HELD; i++) {
        held[i] = x[base + min(member + i * TEAM, COUNT - 1) * INNER];
        largest = max(largest, held[i]);
    }
    largest = combine_team(MAX, largest);
    [[unroll]] for (uint i = 0; i < HELD; i++) {
        held[i] = exp(held[i] - largest);
        sum += member + i * TEAM < COUNT ? held[i] : 0.0;
    }
    const float scale = 1.0 / combine_team(SUM, sum);
    if (row >= ROWS)
        return;
    [[unroll]] for (uint i = 0; i < HELD; i++)
        if (member + i * TEAM < COUNT)
            result[base + (member + i * TEAM) * INNER] = held[i] * scale;
}

void main()
{
    const uint row = team_of_dispatch(), member = member_of_invocation();
    const uint mine = min(row, ROWS - 1);
    const uint base = mine / INNER * COUNT * INNER + mine % INNER;
    if (SHORT) {
        keep_row(row, base, member);
        return;
    }
    float largest = x[base + member * INNER], sum = 0.0;
    for (uint i = member + TEAM; i < COUNT; i += TEAM)
        largest = max(largest, x[base + i * INNER]);
    largest = combine_team(MAX, largest);
    for (uint i = member; i < COUNT; i += TEAM)
        sum += exp(x[base + i * INNER] - largest);
    const float scale = 1.0 / combine_team(SUM, sum);
    if (row >= ROWS)
        return;
    for (uint i = member; i < COUNT; i += TEAM)
        result[base + i * INNER] = exp(x[base + i * INNER] - largest) * scale;
}
