// SPDX-License-Identifier: LGPL-2.1-or-later
#version 430
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
// Converts float32 to the type of the output in a pass of its own: an invocation of the kernel
// before cannot write half a word.
#include "common/linear.glsl"
layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;
layout(constant_id = 3) const uint TYPE = 0;
layout(constant_id = 4) const uint COUNT = 1;
LINEAR_IN(0, x)
LINEAR_OUT(1, result)

float value(uint i)
{
    return x_at(FLOAT32, i);
}

void main()
{
    LINEAR_MAIN(result, TYPE, COUNT, value)
}
