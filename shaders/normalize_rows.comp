// SPDX-License-Identifier: LGPL-2.1-or-later
#version 430
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
// The first step of layerNormalization on linear memory: mean and 1 / √(σ² + ε)
// of each row, which is all elements that differ in the axes only. A workgroup
// a row, or an invocation, where rows are short.
#include "common/linear.glsl"
#include "common/normalize_rows.glsl"

layout(constant_id = 14) const float EPSILON = 1e-5;
layout(constant_id = 15) const uint TEAM = 1; // 1, or the workgroup

LINEAR_IN(0, x)
layout(std430, set = 0, binding = 1) writeonly buffer Out { vec2 stats[]; };

shared float partial[gl_WorkGroupSize.x];

float total(float v)
{
    if (TEAM == 1)
        return v;
    uint local = gl_LocalInvocationID.x;
    barrier();
    partial[local] = v;
    for (uint step = gl_WorkGroupSize.x / 2; step > 0; step /= 2) {
        barrier();
        if (local < step)
            partial[local] += partial[local + step];
    }
    barrier();
    return partial[0];
}

void main()
{
    uint group = gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
    uint wanted = TEAM > 1 ? group : group * gl_WorkGroupSize.x + gl_LocalInvocationID.x;
    uint member = TEAM > 1 ? gl_LocalInvocationID.x : 0;
    uint base = start_of_row(min(wanted, ROWS - 1));
    float sum = 0.0;
    [[dont_unroll]] for (uint i = member; i < LENGTH; i += TEAM)
        sum += x_at(TYPE, base + place_in_row(i));
    float mean = total(sum) / float(LENGTH);
    sum = 0.0;
    [[dont_unroll]] for (uint i = member; i < LENGTH; i += TEAM) {
        float d = x_at(TYPE, base + place_in_row(i)) - mean;
        sum += d * d;
    }
    float variance = total(sum) / float(LENGTH);
    if (wanted < ROWS && member == 0)
        stats[wanted] = vec2(mean, inversesqrt(variance + EPSILON));
}
