// SPDX-License-Identifier: LGPL-2.1-or-later
#version 430
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
// layerNormalization over the channels of each pixel. The y of a workgroup
// shares a pixel's packs; its x are neighbouring pixels.
#include "common/storage.glsl"
#include "common/activation.glsl"

layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;
layout(constant_id = 3) const uint PIXELS = 1;
layout(constant_id = 4) const uint PACKS = 1;
layout(constant_id = 5) const uint CHANNELS = 4;
layout(constant_id = 6) const uint AFFINE = 0;
layout(constant_id = 7) const float EPSILON = 1e-5;
layout(constant_id = 8) const uint ACTIVATION = 0;

layout(std430, set = 0, binding = 0) readonly buffer In { PACK x[]; };
layout(std430, set = 0, binding = 1) readonly buffer Affine { vec4 affine[]; }; // scale, bias
layout(std430, set = 0, binding = 2) writeonly buffer Out { PACK result[]; };

shared float partial[gl_WorkGroupSize.x * gl_WorkGroupSize.y];

float total(uvec2 local, float v)
{
    if (gl_WorkGroupSize.y == 1)
        return v;
    barrier();
    partial[local.y * gl_WorkGroupSize.x + local.x] = v;
    barrier();
    v = 0.0;
    for (uint i = 0; i < gl_WorkGroupSize.y; i++)
        v += partial[i * gl_WorkGroupSize.x + local.x];
    return v;
}

bvec4 there(uint k)
{
    return lessThan(uvec4(k * 4) + uvec4(0, 1, 2, 3), uvec4(CHANNELS));
}

void main()
{
    uvec2 local = gl_LocalInvocationID.xy;
    uint wanted = gl_GlobalInvocationID.x, pixel = min(wanted, PIXELS - 1);
    uint base = gl_WorkGroupID.z * PACKS * PIXELS + pixel;
    vec4 sum = vec4(0.0);
    [[dont_unroll]] for (uint k = local.y; k < PACKS; k += gl_WorkGroupSize.y)
        sum += mix(vec4(0.0), unpack(x[base + k * PIXELS]), there(k));
    float mean = total(local, dot(sum, vec4(1.0))) / float(CHANNELS);
    sum = vec4(0.0);
    [[dont_unroll]] for (uint k = local.y; k < PACKS; k += gl_WorkGroupSize.y) {
        vec4 d = mix(vec4(0.0), unpack(x[base + k * PIXELS]) - mean, there(k));
        sum += d * d;
    }
    float a = inversesqrt(total(local, dot(sum, vec4(1.0))) / float(CHANNELS) + EPSILON);
    if (wanted >= PIXELS)
        return;
    [[dont_unroll]] for (uint k = local.y; k < PACKS; k += gl_WorkGroupSize.y) {
        vec4 v = (unpack(x[base + k * PIXELS]) - mean) * a;
        if (AFFINE != 0)
            v = v * affine[k * 2] + affine[k * 2 + 1];
        v = mix(vec4(0.0), activate(ACTIVATION, v), there(k));
        result[base + k * PIXELS] = pack(v);
    }
}
