#version 430
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: LGPL-2.1-or-later
// Source frame and mask → target frame, with the background blurred.
layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;

#include "../common/frame_compose.glsl"

// The blurred picture, 11 + 11 + 10 bits, at least four times smaller.
layout(std430, set = 0, binding = 7) restrict readonly buffer Blurred { uint blurred[]; };

// A column of the blurred picture at the block's rows. They lie between the
// same two of its rows: there is no border between pixel rows 2k and 2k + 1.
struct Column {
    vec3 row[2];
};

vec3 blurred_at(uint x, uint y, uvec2 size)
{
    const uint w = blurred[min(y, size.y - 1u) * size.x + min(x, size.x - 1u)];
    return vec3(uvec3(w, w >> 11, w >> 22) & uvec3(2047u, 2047u, 1023u)) *
           (TARGET_MAX / vec3(2047.0, 2047.0, 1023.0));
}

Column blurred_column(uint x, uint y, vec2 down, uvec2 size)
{
    const vec3 p = blurred_at(x, y, size), q = blurred_at(x, y + 1u, size);
    Column c;
    c.row[0] = mix(p, q, down.x);
    c.row[1] = mix(p, q, down.y);
    return c;
}

// Four pixels touch three columns at most.
Block blurred_block(uint x, uint y)
{
    const uvec2 size = uvec2(push.blur_size & 65535u, push.blur_size >> 16);
    const vec4 u = clamp((float(x) + vec4(0.5, 1.5, 2.5, 3.5)) * push.blur_step - 0.5, 0.0,
                         float(size.x - 1u));
    const vec2 v = clamp((float(y) + vec2(0.5, 1.5)) * push.blur_step - 0.5, 0.0,
                         float(size.y - 1u));
    const uint i = uint(u.x), j = uint(v.x);
    const vec2 down = v - float(j);
    const vec4 near = min(u - float(i), 1.0), far = max(u - float(i) - 1.0, 0.0);
    const Column a = blurred_column(i, j, down, size), b = blurred_column(i + 1u, j, down, size);
    const Column c = blurred_column(i + 2u, j, down, size);
    Block block = color_block();
    for (uint r = 0u; r < 2u; r++) {
        const vec3 first = b.row[r] - a.row[r], second = c.row[r] - b.row[r];
        block.c0[r] = a.row[r].x + first.x * near + second.x * far;
        block.c1[r] = a.row[r].y + first.y * near + second.y * far;
        block.c2[r] = a.row[r].z + first.z * near + second.z * far;
        if (!TARGET_FULL) {
            block.c1[r].xy = 0.5 * (block.c1[r].xz + block.c1[r].yw);
            block.c2[r].xy = 0.5 * (block.c2[r].xz + block.c2[r].yw);
        }
    }
    if (TARGET_420) {
        block.c1[0] = 0.5 * (block.c1[0] + block.c1[1]);
        block.c2[0] = 0.5 * (block.c2[0] + block.c2[1]);
    }
    return block;
}

Block compose_block(uint x, uint y, uvec2 frame, inout Window window)
{
    vec4 guide[2], mask[2];
    const Block block = source_block(x, y, true, guide);
    block_mask(x, y, frame, guide, window, mask);
    for (uint r = 0u; r < 2u; r++)
        mask[r] = 1.0 - push.blur_share * (1.0 - mask[r]);
    Block result = blend(blurred_block(x, y), block, mask);
    result.alpha = block.alpha;
    return result;
}

void main()
{
    compose_all();
}
