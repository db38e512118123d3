#version 430
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: LGPL-2.1-or-later
// Source frame and mask → target frame, with the background blurred.
layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;

#include "../common/frame_compose.glsl"

#include "../common/frame_small.glsl"

// The blurred picture, 11 + 11 + 10 bits, at least four times smaller.
layout(std430, set = 0, binding = 7) restrict readonly buffer Blurred { uint blurred[]; };

vec4 small_at(uint x, uint y, uvec2 size, uint part)
{
    const uint w = blurred[y * size.x + x];
    return vec4(vec3(uvec3(w, w >> 11, w >> 22) & uvec3(2047u, 2047u, 1023u)) *
                    (TARGET_MAX / vec3(2047.0, 2047.0, 1023.0)), 0.0);
}

Block compose_block(uint x, uint y, uvec2 frame, inout Window window)
{
    vec4 guide[2], mask[2];
    const Block block = source_block(x, y, true, guide);
    block_mask(x, y, frame, guide, window, mask);
    for (uint r = 0u; r < 2u; r++)
        mask[r] = 1.0 - push.blur_share * (1.0 - mask[r]);
    const uvec2 size = uvec2(push.blur_size & 65535u, push.blur_size >> 16);
    Block result = blend(small_block(x, y, size, push.blur_step, 0u), block, mask);
    result.alpha = block.alpha;
    return result;
}

void main()
{
    compose_all();
}
