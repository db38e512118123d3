#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: LGPL-2.1-or-later
// First step at mask resolution: smooth the mask over time, and take the
// guide, a small luma picture of the source. One invocation, one mask pixel.
layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;

layout(push_constant) uniform Push {
    uvec4 source;
    uint source_size;
    uint mask_size;
    float keep;     // weight of the mask before
    uint reuse;     // 1: no new mask, the one before stands
} push;

#include "../common/frame_filter.glsl"

layout(constant_id = 5) const bool GUIDED = true;

layout(std430, set = 0, binding = 3) restrict readonly buffer Mask { float mask[]; };
layout(std430, set = 0, binding = 4) restrict buffer State { float state[]; };
// (guide, mask) to be fitted; or, unguided, the coefficients (0, mask).
layout(std430, set = 0, binding = 5) restrict writeonly buffer Pairs { vec2 pairs[]; };

void main()
{
    const uvec2 at = gl_GlobalInvocationID.xy;
    const uvec2 size = uvec2(push.mask_size & 65535u, push.mask_size >> 16);
    if (any(greaterThanEqual(at, size)))
        return;
    const uint i = at.y * size.x + at.x;
    float value;
    if (push.reuse != 0u) {
        value = state[i];
    } else {
        value = clamp(mask[i], 0.0, 1.0);
        if (push.keep > 0.0)
            value = mix(value, state[i], push.keep);
        state[i] = value;
    }
    float guide = 0.0;
    if (GUIDED) {
        const uvec2 frame = uvec2(source_width(), source_height());
        const vec2 cell = vec2(frame) / vec2(size);
        // Half the usual width: the triangle spans one mask pixel.
        guide = guide_of(filter_source((vec2(at) + 0.5) * cell, 0.5 * cell, ivec2(0),
                                       ivec2(frame) - 1, false));
    }
    pairs[i] = vec2(guide, value);
}
