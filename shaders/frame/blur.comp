#version 430
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: LGPL-2.1-or-later
// One direction of a Gaussian over weighted colours. The last direction
// divides by the weight and packs the colour in 11 + 11 + 10 bits, or of means
// (frame_spill.glsl) in bytes. Light (frame_light.glsl) keeps its weight. Pictures may lie
// one behind the other. One invocation makes RUN results in a row along its direction: they
// share most of what they read.
layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;

#include "../common/frame_formats.glsl"

layout(constant_id = 8) const uint PASS = 0u;
const bool LAST = PASS > 0u; // vertical, else horizontal
const bool BYTES = PASS > 1u;
layout(constant_id = 12) const uint LIGHT = 0u; // number of the picture, from 1 on

layout(push_constant) uniform Push {
    uint size;
    int radius;
    float exponent;  // -log2(e) / 2σ²
    float scale;     // 1 / sum of the weights
} push;

layout(std430, set = 0, binding = 0) restrict readonly buffer In { uvec2 values[]; };
layout(std430, set = 0, binding = 1) restrict writeonly buffer Out { uint results[]; };

const int RUN = FEW ? 4 : 1;

void store(ivec2 at, ivec2 size, vec4 sum)
{
    const uint i = gl_GlobalInvocationID.z * uint(size.x * size.y) + uint(at.y * size.x + at.x);
    if (any(greaterThanEqual(at, size)))
        return;
    sum *= push.scale;
    if (LAST && gl_GlobalInvocationID.z + 1u == LIGHT) {
        results[i] = packUnorm4x8(sum);
    } else if (LAST) {
        const vec3 c = clamp(sum.xyz / max(sum.w, 1e-6), 0.0, 1.0);
        if (BYTES) {
            results[i] = packUnorm4x8(vec4(c, 0.0));
            return;
        }
        const uvec3 q = uvec3(c * vec3(2047.0, 2047.0, 1023.0) + 0.5);
        results[i] = q.x | q.y << 11 | q.z << 22;
    } else {
        results[2u * i] = packHalf2x16(sum.xy);
        results[2u * i + 1u] = packHalf2x16(sum.zw);
    }
}

void main()
{
    const ivec2 along = LAST ? ivec2(0, 1) : ivec2(1, 0);
    const ivec2 size = ivec2(push.size & 65535u, push.size >> 16);
    const ivec2 at = ivec2(gl_GlobalInvocationID.xy) * (1 + (RUN - 1) * along);
    vec4 sum[RUN];
    if (any(greaterThanEqual(at, size)))
        return;
    for (int i = 0; i < RUN; i++)
        sum[i] = vec4(0.0);
    const int first_value = int(gl_GlobalInvocationID.z) * size.x * size.y;
    const int first = LAST ? at.y : at.x, end = LAST ? size.y : size.x;
    // Outside the picture there is nothing, with no weight.
    for (int k = max(first - push.radius, 0); k < min(first + RUN + push.radius, end); k++) {
        const ivec2 from = at + (k - first) * along;
        const uvec2 v = values[first_value + from.y * size.x + from.x];
        const vec4 value = vec4(unpackHalf2x16(v.x), unpackHalf2x16(v.y));
        for (int i = 0; i < RUN; i++) {
            const float distance = float(k - first - i);
            if (abs(k - first - i) <= push.radius)
                sum[i] += exp2(push.exponent * distance * distance) * value;
        }
    }
    for (int i = 0; i < RUN; i++)
        store(at + i * along, size, sum[i]);
}
