#version 450
// SPDX-License-Identifier: LGPL-2.1-or-later
// One direction of a Gaussian over weighted colours. The last direction
// divides by the weight and packs the colour in 11 + 11 + 10 bits. The taps'
// weights follow from each other: exp(-k²/2σ²) is built by multiplying.
layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;

layout(constant_id = 3) const bool LAST = false; // vertical, else horizontal

layout(push_constant) uniform Push {
    uint size;
    int radius;
    float ratio;   // exp(-1/2σ²)
    float scale;   // 1 / sum of the weights
} push;

layout(std430, set = 0, binding = 0) restrict readonly buffer In { uvec2 values[]; };
layout(std430, set = 0, binding = 1) restrict writeonly buffer Out { uint results[]; };

vec4 value_at(ivec2 at, ivec2 size)
{
    if (any(lessThan(at, ivec2(0))) || any(greaterThanEqual(at, size)))
        return vec4(0.0);
    const uvec2 v = values[at.y * size.x + at.x];
    return vec4(unpackHalf2x16(v.x), unpackHalf2x16(v.y));
}

void main()
{
    const ivec2 at = ivec2(gl_GlobalInvocationID.xy);
    const ivec2 size = ivec2(push.size & 65535u, push.size >> 16);
    const ivec2 along = LAST ? ivec2(0, 1) : ivec2(1, 0);
    if (any(greaterThanEqual(at, size)))
        return;
    vec4 sum = value_at(at, size);
    float weight = 1.0, ratio = push.ratio;
    for (int k = 1; k <= push.radius; k++) {
        weight *= ratio;
        ratio *= push.ratio * push.ratio;
        sum += weight * (value_at(at - k * along, size) + value_at(at + k * along, size));
    }
    sum *= push.scale;
    const uint i = uint(at.y * size.x + at.x);
    if (LAST) {
        const vec3 c = clamp(sum.xyz / max(sum.w, 1e-6), 0.0, 1.0);
        const uvec3 q = uvec3(c * vec3(2047.0, 2047.0, 1023.0) + 0.5);
        results[i] = q.x | q.y << 11 | q.z << 22;
    } else {
        results[2u * i] = packHalf2x16(sum.xy);
        results[2u * i + 1u] = packHalf2x16(sum.zw);
    }
}
