// SPDX-License-Identifier: LGPL-2.1-or-later
#version 430
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
// gatherND: where its tuples point to.
#include "common/linear.glsl"
#include "common/places.glsl"
layout(constant_id = 25) const uint TUPLES = 1;
layout(std430, set = 0, binding = 2) writeonly buffer Places { uint places[]; };

void main()
{
    const uint t = linear_word();
    if (t < TUPLES)
        places[t] = place(t);
}
