#version 430
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: LGPL-2.1-or-later
// First step at mask resolution: take the guide, a small luma picture of the
// source, and smooth the mask over time. One invocation, SIDE×SIDE mask pixels.
//
// A camera's noise makes a network waver where it is unsure, above all along
// the outline. So the mask before weighs as much as `keep` where the picture
// stands still, and nothing where the picture has changed or the network has
// changed its mind for good. What the picture is held against is smoothed with
// the same weight: noise averages out of it, and slow movement adds up to a
// difference.
layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;

const uint REUSE = 1u; // no new mask, the one before stands
const uint LOOK = 2u;  // the guide is needed
const uint PAIRS = 4u; // guide and mask go out; else the coefficients (0, mask)
const uint INVERTED = 8u; // background is what the mask is 1 at

layout(push_constant) uniform Push {
    uvec4 source;
    uint source_size;
    uint mask_size;
    float keep;     // weight of the mask before
    uint flags;
    uint tensor_size; // size of the mask as the network makes it
    int part_x, part_y; // corner of its part that covers the frame
} push;

#include "../common/frame_filter.glsl"

layout(std430, set = 0, binding = 3) restrict readonly buffer Mask { float mask[]; };
// Guide and mask of the last frame that had a new mask, smoothed.
layout(std430, set = 0, binding = 4) restrict buffer State { uint state[]; };
layout(std430, set = 0, binding = 5) restrict writeonly buffer Pairs { uint pairs[]; };

// Differences of luma, 0…1, between which the picture passes from still to
// moving: noise of 8 of 255 leaves about 4 in a mask pixel of a 640×480 frame.
const vec2 MOVING = vec2(0.025, 0.075);
// Changes of the mask between which it passes from wavering to sure.
const vec2 SURE = vec2(0.1, 0.3);

// The new mask's value; outside of it there is background. What is no number, or has become
// infinite, is what becomes background: the network does not know.
float mask_at(uvec2 pixel)
{
    const uvec2 size = uvec2(push.tensor_size & 65535u, push.tensor_size >> 16);
    const uvec2 at = uvec2(ivec2(pixel) + ivec2(push.part_x, push.part_y));
    const float value = all(lessThan(at, size)) ? mask[at.y * size.x + at.x] : 0.0;
    const bool known = (floatBitsToUint(value) & 0x7f800000u) != 0x7f800000u;
    return known ? value : (push.flags & INVERTED) != 0u ? 1.0 : 0.0;
}

float smooth_mask(uvec2 pixel, uint i, inout float guide)
{
    const vec2 before = unpackUnorm2x16(state[i]);
    if ((push.flags & REUSE) != 0u)
        return before.y;
    vec2 now = vec2(guide, clamp(mask_at(pixel), 0.0, 1.0));
    if (push.keep > 0.0) {
        const vec2 change = abs(now - before);
        now = mix(now, before, push.keep * (1.0 - smoothstep(MOVING.x, MOVING.y, change.x)) *
                                   (1.0 - smoothstep(SURE.x, SURE.y, change.y)));
    }
    state[i] = packUnorm2x16(now);
    guide = now.x;
    return now.y;
}

void main()
{
    const uvec2 at = gl_GlobalInvocationID.xy * uint(SIDE);
    const uvec2 size = uvec2(push.mask_size & 65535u, push.mask_size >> 16);
    if (any(greaterThanEqual(at, size)))
        return;
    vec4 guide = vec4(0.0);
    if ((push.flags & LOOK) != 0u) {
        const uvec2 frame = uvec2(source_width(), source_height());
        const vec2 cell = vec2(frame) / vec2(size);
        vec4 codes[3];
        // A triangle of three quarters of a mask pixel: enough against
        // aliasing, and it reads a quarter of what the usual width would.
        filter_source((vec2(at) + 0.5) * cell, cell, 0.375 * cell, ivec2(0), ivec2(frame) - 1,
                      false, codes);
        guide = guide_of(codes);
    }
    for (uint k = 0u; k < uint(SIDE * SIDE); k++) {
        const uvec2 pixel = at + uvec2(k & 1u, k >> 1);
        if (any(greaterThanEqual(pixel, size)))
            continue;
        const uint i = pixel.y * size.x + pixel.x;
        float g = guide[k];
        const float value = smooth_mask(pixel, i, g);
        pairs[i] = (push.flags & PAIRS) != 0u ? packUnorm2x16(vec2(g, value))
                                              : packSnorm2x16(vec2(0.0, value / 16.0));
    }
}
