#version 430
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: LGPL-2.1-or-later
// First step at mask resolution: smooth the mask over time, and take the
// guide, a small luma picture of the source. One invocation, SIDE×SIDE mask
// pixels.
layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;

layout(push_constant) uniform Push {
    uvec4 source;
    uint source_size;
    uint mask_size;
    float keep;     // weight of the mask before
    uint reuse;     // 1: no new mask, the one before stands
} push;

#include "../common/frame_filter.glsl"

layout(constant_id = 7) const bool GUIDED = true;

layout(std430, set = 0, binding = 3) restrict readonly buffer Mask { float mask[]; };
layout(std430, set = 0, binding = 4) restrict buffer State { float state[]; };
// Guide and mask, 0…1, to be fitted; or, unguided, the coefficients (0, mask).
layout(std430, set = 0, binding = 5) restrict writeonly buffer Pairs { uint pairs[]; };

float smooth_mask(uint i)
{
    if (push.reuse != 0u)
        return clamp(state[i], 0.0, 1.0);
    float value = clamp(mask[i], 0.0, 1.0);
    if (push.keep > 0.0)
        value = mix(value, clamp(state[i], 0.0, 1.0), push.keep);
    state[i] = value;
    return value;
}

void main()
{
    const uvec2 at = gl_GlobalInvocationID.xy * uint(SIDE);
    const uvec2 size = uvec2(push.mask_size & 65535u, push.mask_size >> 16);
    if (any(greaterThanEqual(at, size)))
        return;
    vec4 guide = vec4(0.0);
    if (GUIDED) {
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
        const float value = smooth_mask(i);
        pairs[i] = GUIDED ? packUnorm2x16(vec2(guide[k], value))
                          : packSnorm2x16(vec2(0.0, value / 16.0));
    }
}
