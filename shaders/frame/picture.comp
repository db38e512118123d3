#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: LGPL-2.1-or-later
// The replacement picture in the target's format and size: scaled to cover,
// what sticks out cut off evenly. Run once per picture, not per frame.
layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;

layout(push_constant) uniform Push {
    vec4 matrix[3];      // rows: picture's codes → target codes
    uvec4 source, target;
    uint source_size;    // of the picture
    uint target_size;
    float origin[2];     // where the target's corner lies, in picture pixels
    float step_size;     // picture pixels per target pixel
} push;

#include "../common/frame_filter.glsl"
#include "../common/frame_target.glsl"

vec3 picture_at(uint x, uint y)
{
    const vec2 centre =
        vec2(push.origin[0], push.origin[1]) + (vec2(x, y) + 0.5) * push.step_size;
    const vec4 codes =
        vec4(filter_source(centre, vec2(push.step_size), ivec2(0),
                           ivec2(source_width(), source_height()) - 1, true), 1.0);
    return vec3(dot(push.matrix[0], codes), dot(push.matrix[1], codes),
                dot(push.matrix[2], codes));
}

Block picture_block(uint x, uint y)
{
    Block b;
    for (uint i = 0u; i < 8u; i++) {
        const uint r = i >> 2, k = i & 3u;
        const vec3 c = picture_at(x + k, y + r);
        b.c0[r][k] = c.x;
        b.c1[r][k] = c.y;
        b.c2[r][k] = c.z;
    }
    for (uint r = 0u; r < 2u; r++) {
        b.alpha[r] = vec4(255.0);
        if (!TARGET_RGB) {
            b.c1[r].xy = 0.5 * (b.c1[r].xz + b.c1[r].yw);
            b.c2[r].xy = 0.5 * (b.c2[r].xz + b.c2[r].yw);
        }
    }
    if (TARGET_420) {
        b.c1[0] = 0.5 * (b.c1[0] + b.c1[1]);
        b.c2[0] = 0.5 * (b.c2[0] + b.c2[1]);
    }
    return b;
}

void main()
{
    const uvec2 size = uvec2(push.target_size & 65535u, push.target_size >> 16);
    const uint y = 2u * gl_GlobalInvocationID.y;
    uvec2 held = uvec2(0u);
    if (y >= size.y)
        return;
    for (uint part = 0u; part < TARGET_WIDE; part++) {
        const uint x = 4u * (TARGET_WIDE * gl_GlobalInvocationID.x + part);
        if (x < size.x)
            write_block(x, y, size.x, size.y, picture_block(x, y), part, held);
    }
}
