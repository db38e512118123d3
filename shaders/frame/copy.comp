#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: LGPL-2.1-or-later
// Passthrough between equal formats: rows of bytes, whatever they mean. One
// invocation copies one word; z is the plane.
layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;

layout(push_constant) uniform Push {
    uvec4 source, target;
    uint source_size;
    uint row_bytes[3];
    uint rows[3];
} push;

#include "../common/frame_source.glsl"
#include "../common/frame_target.glsl"

void copy(uint plane, uint x, uint y)
{
    if (4u * x >= push.row_bytes[plane] || y >= push.rows[plane])
        return;
    const uint word = source_load(plane, source_row(plane, y) + 4u * x);
    const uint at = target_word(plane, y) + x;
    if (plane == 0u)
        target0[at] = word;
    else if (plane == 1u)
        target1[at] = word;
    else
        target2[at] = word;
}

void main()
{
    const uvec3 at = gl_GlobalInvocationID;
    if (at.z == 0u)
        copy(0u, at.x, at.y);
    else if (at.z == 1u)
        copy(1u, at.x, at.y);
    else
        copy(2u, at.x, at.y);
}
