#version 430
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: LGPL-2.1-or-later
// Shrinks the source for the blur, 4, 8 or 16 times, in the target's colour
// space. Only what is clearly background counts, and its weight goes along:
// the blur divides by it at the end, so no foreground colour reaches the
// background around it. For means of either (frame_spill.glsl) what is clearly
// foreground is summed likewise. The weight is taken once per block of 4×2 pixels.
layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;

layout(push_constant) uniform Push {
    vec4 matrix[3];      // rows: source codes → target codes
    uvec4 source;
    uint source_size;
    uint mask_size;
    float mask_scale, mask_offset;
    uint blur_size;
    uint factor;
} push;

layout(constant_id = 8) const bool BOTH = false; // the foreground, too

#include "../common/frame_block.glsl"
#include "../common/frame_mask.glsl"

// Colour · weight and weight, as halves; of the foreground behind.
layout(std430, set = 0, binding = 3) restrict writeonly buffer Sums { uvec2 sums[]; };

// Small enough to matter only where there is no background at all.
const float LEAST_WEIGHT = 1.0 / 8192.0;

// Weights of background and of foreground.
vec2 weights_at(uint x, uint y, uvec2 frame, float guide)
{
    const float mask = middle_mask(x, y, frame, guide);
    return max(vec2(1.0 - 2.0 * mask, 2.0 * mask - 1.0), 0.0) + LEAST_WEIGHT;
}

// Colour · weight and weight of the block at (x, y), added up over its pixels.
void add_block(uint x, uint y, uvec2 frame, inout vec4 back, inout vec4 front)
{
    vec4 guide[2];
    const Block b = source_block(x, y, true, guide);
    vec4 inside, below;
    block_inside(x, y, frame, inside, below);
    const float count = dot(inside + below, vec4(1.0));
    vec4 c1[2] = b.c1, c2[2] = b.c2;
    for (uint r = 0u; r < 2u; r++) {
        const uint pair_row = TARGET_420 ? 0u : r;
        if (!TARGET_RGB && !TARGET_CHROMA) {
            c1[r] = c2[r] = vec4(FORMAT_NEUTRAL(TARGET));
        } else if (!TARGET_FULL) {
            c1[r] = b.c1[pair_row].xxyy;
            c2[r] = b.c2[pair_row].xxyy;
        }
    }
    const vec3 color = vec3(dot(inside, b.c0[0]) + dot(below, b.c0[1]),
                            dot(inside, c1[0]) + dot(below, c1[1]),
                            dot(inside, c2[0]) + dot(below, c2[1])) / TARGET_MAX;
    const float mean_guide = (dot(inside, guide[0]) + dot(below, guide[1])) / count;
    const vec2 weights = weights_at(x, y, frame, mean_guide);
    back += weights.x * vec4(color, count);
    front += weights.y * vec4(color, count);
}

void main()
{
    const uvec2 frame = uvec2(source_width(), source_height()), at = gl_GlobalInvocationID.xy;
    const uvec2 size = uvec2(push.blur_size & 65535u, push.blur_size >> 16);
    if (any(greaterThanEqual(at, size)))
        return;
    const uvec2 end = min((at + 1u) * push.factor, frame);
    vec4 back = vec4(0.0), front = vec4(0.0);
    for (uint y = at.y * push.factor; y < end.y; y += 2u)
        for (uint x = at.x * push.factor; x < end.x; x += 4u)
            add_block(x, y, frame, back, front);
    const float share = 1.0 / float(push.factor * push.factor);
    const uint i = at.y * size.x + at.x;
    back *= share;
    front *= share;
    sums[i] = uvec2(packHalf2x16(back.xy), packHalf2x16(back.zw));
    if (BOTH)
        sums[size.x * size.y + i] = uvec2(packHalf2x16(front.xy), packHalf2x16(front.zw));
}
