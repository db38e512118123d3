// SPDX-License-Identifier: LGPL-2.1-or-later
#version 430
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
// softmax of packs along an axis. One invocation a row of packs: the four
// channels of a pack are rows of their own, or (ACROSS) lie in the row.
#include "common/storage.glsl"
layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;
layout(constant_id = 3) const uint ROWS = 1;
layout(constant_id = 4) const uint LENGTH = 1; // packs of a row
layout(constant_id = 5) const uint INNER = 1;  // packs from one to the next
layout(constant_id = 6) const uint ACROSS = 0;
layout(constant_id = 7) const uint CHANNELS = 1;
layout(constant_id = 8) const uint PIXELS = 1; // H · W
layout(std430, set = 0, binding = 0) readonly buffer In { PACK x[]; };
layout(std430, set = 0, binding = 1) writeonly buffer Out { PACK result[]; };

const uint PACKS = (CHANNELS + 3) / 4;
const uint LAST = CHANNELS - (PACKS - 1) * 4; // channels of the last pack

bvec4 missing(uint at)
{
    return greaterThanEqual(uvec4(0, 1, 2, 3), uvec4(at / PIXELS % PACKS == PACKS - 1 ? LAST : 4));
}

vec4 value(uint at)
{
    const vec4 v = unpack(x[at]);
    return ACROSS != 0 ? mix(v, v.xxxx, missing(at)) : v;
}

vec4 exponential(uint at, vec4 largest)
{
    return mix(exp(unpack(x[at]) - largest), vec4(0.0), missing(at));
}

void main()
{
    const uint group = gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
    const uint row = group * gl_WorkGroupSize.x + gl_LocalInvocationID.x;
    if (row >= ROWS)
        return;
    const uint base = row / INNER * LENGTH * INNER + row % INNER;
    vec4 largest = value(base), sum = vec4(0.0);
    for (uint i = 1; i < LENGTH; i++)
        largest = max(largest, value(base + i * INNER));
    if (ACROSS != 0)
        largest = vec4(max(max(largest.x, largest.y), max(largest.z, largest.w)));
    for (uint i = 0; i < LENGTH; i++)
        sum += exponential(base + i * INNER, largest);
    if (ACROSS != 0)
        sum = vec4(dot(sum, vec4(1.0)));
    // Rows of channels that are not there have a sum of zero.
    const vec4 scale = 1.0 / max(sum, vec4(1e-30));
    for (uint i = 0; i < LENGTH; i++)
        result[base + i * INNER] = pack(exponential(base + i * INNER, largest) * scale);
}
