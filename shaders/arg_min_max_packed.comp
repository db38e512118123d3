// SPDX-License-Identifier: LGPL-2.1-or-later
#version 430
#extension GL_GOOGLE_include_directive : require
// argMin and argMax over the channels of packs. One invocation a pixel.
#include "common/storage.glsl"
layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;
layout(constant_id = 3) const uint CHANNELS = 1;
layout(constant_id = 4) const uint PIXELS = 1; // H · W
layout(constant_id = 5) const uint IMAGES = 1;
layout(constant_id = 6) const uint LARGEST = 1;
layout(constant_id = 7) const uint LAST = 0; // 1: the last of equal elements wins; 0: the first
layout(constant_id = 8) const uint OUT_WORDS = 1; // 2: int64
layout(std430, set = 0, binding = 0) readonly buffer In { PACK x[]; };
layout(std430, set = 0, binding = 1) writeonly buffer Out { uint result[]; };

const uint PACKS = (CHANNELS + 3) / 4;

#define OFFER(v, c)                                                              \
    {                                                                            \
        const bool better = LARGEST != 0 ? (v) > best : (v) < best;              \
        const bool taken = (better || LAST != 0 && (v) == best) && (c) < CHANNELS; \
        best = taken ? (v) : best;                                               \
        at = taken ? (c) : at;                                                   \
    }

void main()
{
    const uint group = gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
    const uint i = group * gl_WorkGroupSize.x + gl_LocalInvocationID.x;
    if (i >= IMAGES * PIXELS)
        return;
    const uint base = i / PIXELS * PACKS * PIXELS + i % PIXELS;
    float best = unpack(x[base]).x;
    uint at = 0;
    for (uint p = 0; p < PACKS; p++) {
        const vec4 v = unpack(x[base + p * PIXELS]);
        OFFER(v.x, 4 * p)
        OFFER(v.y, 4 * p + 1)
        OFFER(v.z, 4 * p + 2)
        OFFER(v.w, 4 * p + 3)
    }
    result[i * OUT_WORDS] = at;
    if (OUT_WORDS == 2)
        result[i * 2 + 1] = 0;
}
