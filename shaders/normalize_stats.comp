// SPDX-License-Identifier: LGPL-2.1-or-later
#version 430
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
// The first step of instanceNormalization, and of layerNormalization over
// whole images: mean and sum of squared distances from it, for each channel of
// each part of each image. A workgroup a part, which it reads twice: sums of
// squares alone would lose the variance of values far from zero.
#include "common/storage.glsl"

layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;
layout(constant_id = 3) const uint PIXELS = 1; // H · W
layout(constant_id = 4) const uint PACKS = 1;
layout(constant_id = 5) const uint PARTS = 1;
layout(constant_id = 6) const uint CHUNK = 1; // pixels of a part; the last may have fewer

layout(std430, set = 0, binding = 0) readonly buffer In { PACK x[]; };
layout(std430, set = 0, binding = 1) writeonly buffer Out { vec4 stats[]; };

shared vec4 partial[gl_WorkGroupSize.x];

vec4 total(uint local, vec4 v)
{
    barrier();
    partial[local] = v;
    for (uint step = gl_WorkGroupSize.x / 2; step > 0; step /= 2) {
        barrier();
        if (local < step)
            partial[local] += partial[local + step];
    }
    barrier();
    return partial[0];
}

void main()
{
    uint local = gl_LocalInvocationID.x, part = gl_WorkGroupID.x;
    uint plane = gl_WorkGroupID.z * PACKS + gl_WorkGroupID.y;
    uint first = part * CHUNK, count = min(CHUNK, PIXELS - first);
    uint base = plane * PIXELS + first;
    vec4 sum = vec4(0.0);
    [[dont_unroll]] for (uint i = local; i < count; i += gl_WorkGroupSize.x)
        sum += unpack(x[base + i]);
    vec4 mean = total(local, sum) / float(count);
    sum = vec4(0.0);
    [[dont_unroll]] for (uint i = local; i < count; i += gl_WorkGroupSize.x) {
        vec4 d = unpack(x[base + i]) - mean;
        sum += d * d;
    }
    vec4 squares = total(local, sum);
    if (local == 0) {
        stats[(plane * PARTS + part) * 2] = mean;
        stats[(plane * PARTS + part) * 2 + 1] = squares;
    }
}
