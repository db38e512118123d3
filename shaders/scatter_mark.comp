// SPDX-License-Identifier: LGPL-2.1-or-later
#version 430
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
// scatterND, scatterElements: the last update of each place, counted from 1.
#include "common/linear.glsl"
#include "common/places.glsl"
layout(constant_id = 25) const uint TUPLES = 1;
layout(std430, set = 0, binding = 2) buffer Owners { uint owners[]; };

void main()
{
    const uint t = linear_word();
    if (t < TUPLES)
        atomicMax(owners[place(t)], t + 1);
}
