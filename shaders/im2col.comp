// SPDX-License-Identifier: LGPL-2.1-or-later
#version 430
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
// Every pixel of the output gets, as its channels, the input under its window:
// tap after tap, CHANNELS values of each. With whole packs a tap (what conv2d
// uses) it is a copy, pack by pack.
#include "common/storage.glsl"

layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;
#include "common/window.glsl"
layout(constant_id = 15) const uint IN_PACKS = 1;
layout(constant_id = 16) const uint CHANNELS = 4;
layout(constant_id = 17) const uint OUT_PACKS = 1;

layout(std430, set = 0, binding = 0) readonly buffer In { PACK x[]; };
layout(std430, set = 0, binding = 5) writeonly buffer Out { PACK result[]; };

vec4 fetch(uint tap, uint c, ivec2 corner)
{
    ivec2 at = corner + ivec2(tap % KERNEL_W * DILATION_W, tap / KERNEL_W * DILATION_H);
    bool inside = tap < KERNEL_W * KERNEL_H && all(greaterThanEqual(at, ivec2(0))) &&
                  all(lessThan(at, ivec2(IN_W, IN_H)));
    uint plane = gl_WorkGroupID.z * IN_PACKS + c;
    vec4 v = unpack(x[inside ? (plane * IN_H + uint(at.y)) * IN_W + uint(at.x) : 0]);
    return inside ? v : vec4(0.0);
}

void main()
{
    uint pixel = gl_GlobalInvocationID.x, k = gl_WorkGroupID.y;
    if (pixel >= OUT_W * OUT_H)
        return;
    ivec2 corner = ivec2(pixel % OUT_W, pixel / OUT_W) * ivec2(STRIDE_W, STRIDE_H) -
                   ivec2(PAD_LEFT, PAD_TOP);
    vec4 v = vec4(0.0);
    if (CHANNELS % 4 == 0) {
        v = fetch(k * 4 / CHANNELS, k * 4 % CHANNELS / 4, corner);
    } else {
        [[unroll]] for (uint i = 0; i < 4; i++) {
            uint j = k * 4 + i, c = j % CHANNELS;
            v[i] = fetch(j / CHANNELS, c / 4, corner)[c % 4];
        }
    }
    result[(gl_WorkGroupID.z * OUT_PACKS + k) * OUT_W * OUT_H + pixel] = pack(v);
}
