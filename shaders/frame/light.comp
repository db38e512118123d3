#version 430
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: LGPL-2.1-or-later
// Shrinks what will be seen of the new background, for its light on the foreground
// (frame_light.glsl), 4, 8 or 16 times: as much of it as the mask leaves, and the more the
// brighter it is. Mask and brightness are taken once per block of 4×2 pixels.
layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;

layout(push_constant) uniform Push {
    vec4 color;          // background colour in the target's codes; w: alpha
    uvec4 source;
    uint source_size;
    uint mask_size;
    float mask_scale, mask_offset;
    uint blur_size;
    uint factor;
    float luma_scale, luma_offset; // map the target's luma of 0…TARGET_MAX to 0…1
    uint first;          // sum
} push;

layout(constant_id = 8) const bool PICTURE = false; // is behind, not the colour

// The guide alone is wanted of the source.
#define BLOCK_MATRIX(row) vec4(0.0)
#include "../common/frame_block.glsl"
#include "../common/frame_backdrop.glsl"
#include "../common/frame_mask.glsl"

// Colour · weight and weight, as halves.
layout(std430, set = 0, binding = 3) restrict writeonly buffer Sums { uvec2 sums[]; };

float luma_of(vec3 color)
{
    const float luma = TARGET_RGB ? dot(color, vec3(0.2126, 0.7152, 0.0722)) : color.x;
    return clamp(luma * push.luma_scale + push.luma_offset, 0.0, 1.0);
}

// Sum over the pixels of the block at (x, y).
vec4 block_light(uint x, uint y, uvec2 frame)
{
    vec4 inside, below, guide[2];
    block_inside(x, y, frame, inside, below);
    const float count = dot(inside + below, vec4(1.0));
    float mean_guide = 0.0;
    if (GUIDED) {
        source_block(x, y, false, guide);
        mean_guide = (dot(inside, guide[0]) + dot(below, guide[1])) / count;
    }
    Block b = color_block();
    if (PICTURE)
        b = picture_block(x, y, frame);
    vec4 c1[2] = b.c1, c2[2] = b.c2;
    for (uint r = 0u; r < 2u; r++) {
        const uint pair_row = TARGET_420 ? 0u : r;
        if (!TARGET_FULL && TARGET_CHROMA) {
            c1[r] = b.c1[pair_row].xxyy;
            c2[r] = b.c2[pair_row].xxyy;
        }
    }
    const vec3 color = vec3(dot(inside, b.c0[0]) + dot(below, b.c0[1]),
                            dot(inside, c1[0]) + dot(below, c1[1]),
                            dot(inside, c2[0]) + dot(below, c2[1])) / TARGET_MAX;
    float weight = (1.0 - middle_mask(x, y, frame, mean_guide)) * luma_of(color / count);
    if (FORMAT_HAS(TARGET, T_ALPHA))
        weight *= (dot(inside, b.alpha[0]) + dot(below, b.alpha[1])) / (255.0 * count);
    return weight * vec4(color, count);
}

void main()
{
    const uvec2 frame = uvec2(source_width(), source_height()), at = gl_GlobalInvocationID.xy;
    const uvec2 size = uvec2(push.blur_size & 65535u, push.blur_size >> 16);
    if (any(greaterThanEqual(at, size)))
        return;
    const uvec2 end = min((at + 1u) * push.factor, frame);
    vec4 sum = vec4(0.0);
    for (uint y = at.y * push.factor; y < end.y; y += 2u)
        for (uint x = at.x * push.factor; x < end.x; x += 4u)
            sum += block_light(x, y, frame);
    sum /= float(push.factor * push.factor);
    sums[push.first + at.y * size.x + at.x] = uvec2(packHalf2x16(sum.xy), packHalf2x16(sum.zw));
}
