// SPDX-License-Identifier: LGPL-2.1-or-later
#version 430
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
// The second step of layerNormalization on linear memory: (x − μ) / √(σ² + ε) ·
// scale + bias. One invocation a word.
#include "common/linear.glsl"
#include "common/activation.glsl"
#include "common/normalize_rows.glsl"

layout(constant_id = 14) const uint ACTIVATION = 0;
layout(constant_id = 15) const uint SCALED = 0; // scale, and bias, are given
layout(constant_id = 16) const uint BIASED = 0;

LINEAR_IN(0, x)
layout(std430, set = 0, binding = 1) readonly buffer Stats { vec2 stats[]; };
LINEAR_IN(2, scale)
LINEAR_IN(3, bias)
LINEAR_OUT(4, result)

float value(uint i)
{
    uvec2 at = row_and_number(i);
    vec2 s = stats[at.x];
    float v = (x_at(TYPE, i) - s.x) * s.y;
    if (SCALED != 0)
        v *= scale_at(TYPE, at.y);
    if (BIASED != 0)
        v += bias_at(TYPE, at.y);
    return activate(ACTIVATION, vec4(v)).x;
}

void main()
{
    LINEAR_MAIN(result, TYPE, ROWS * LENGTH, value)
}
