// SPDX-License-Identifier: LGPL-2.1-or-later
#version 430
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
// scatterND, scatterElements: no update has been seen.
#include "common/linear.glsl"
layout(constant_id = 3) const uint COUNT = 1;
layout(std430, set = 0, binding = 2) writeonly buffer Owners { uint owners[]; };

void main()
{
    const uint i = linear_word();
    if (i < COUNT)
        owners[i] = 0;
}
