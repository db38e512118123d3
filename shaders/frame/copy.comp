#version 430
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

void main()
{
    const uvec3 at = gl_GlobalInvocationID;
    if (4u * at.x >= push.row_bytes[at.z] || at.y >= push.rows[at.z])
        return;
    if (at.z == 0u)
        target0[target_word(0u, at.y) + at.x] = source_load_0(source_row_0(at.y) + 4u * at.x);
    else if (at.z == 1u)
        target1[target_word(1u, at.y) + at.x] = source_load_1(source_row_1(at.y) + 4u * at.x);
    else
        target2[target_word(2u, at.y) + at.x] = source_load_2(source_row_2(at.y) + 4u * at.x);
}
