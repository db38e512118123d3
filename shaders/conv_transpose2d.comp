// SPDX-License-Identifier: LGPL-2.1-or-later
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
// convTranspose2d of any stride, as a gather: each output pixel collects the
// taps that reach it. One invocation an output pack.
#include "common/storage.glsl"
#include "common/activation.glsl"

layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;
layout(constant_id = 3) const uint IN_W = 1;
layout(constant_id = 4) const uint IN_H = 1;
layout(constant_id = 5) const uint OUT_W = 1;
layout(constant_id = 6) const uint OUT_H = 1;
layout(constant_id = 7) const uint KERNEL_W = 1;
layout(constant_id = 8) const uint KERNEL_H = 1;
layout(constant_id = 9) const uint STRIDE_W = 1;
layout(constant_id = 10) const uint STRIDE_H = 1;
layout(constant_id = 11) const uint PAD_LEFT = 0;
layout(constant_id = 12) const uint PAD_TOP = 0;
layout(constant_id = 13) const uint IN_PACKS = 1;
layout(constant_id = 14) const uint OUT_PACKS = 1;
layout(constant_id = 15) const uint ACTIVATION = 0;
layout(constant_id = 16) const uint LAST_CHANNELS = 4;

layout(std430, set = 0, binding = 0) readonly buffer In { PACK x[]; };
// Per output pack: [tap][in channel], then the bias.
layout(std430, set = 0, binding = 1) readonly buffer Weights { vec4 weights[]; };
layout(std430, set = 0, binding = 5) writeonly buffer Out { PACK result[]; };

void main()
{
    const uint GROUP = KERNEL_W * KERNEL_H * IN_PACKS * 4 + 1;
    uint pixel = gl_GlobalInvocationID.x, image = gl_WorkGroupID.z;
    if (pixel >= OUT_W * OUT_H)
        return;
    uint base = gl_WorkGroupID.y * GROUP;
    vec4 sum = weights[base + GROUP - 1];
    [[dont_unroll]] for (uint tap = 0; tap < KERNEL_W * KERNEL_H; tap++) {
        int y = int(pixel / OUT_W + PAD_TOP) - int(tap / KERNEL_W);
        int column = int(pixel % OUT_W + PAD_LEFT) - int(tap % KERNEL_W);
        if (y < 0 || column < 0 || y % int(STRIDE_H) != 0 || column % int(STRIDE_W) != 0)
            continue;
        uint in_y = uint(y) / STRIDE_H, in_x = uint(column) / STRIDE_W;
        if (in_y >= IN_H || in_x >= IN_W)
            continue;
        [[dont_unroll]] for (uint k = 0; k < IN_PACKS; k++) {
            vec4 v = unpack(x[((image * IN_PACKS + k) * IN_H + in_y) * IN_W + in_x]);
            uint at = base + (tap * IN_PACKS + k) * 4;
            sum += v.x * weights[at] + v.y * weights[at + 1] + v.z * weights[at + 2] +
                   v.w * weights[at + 3];
        }
    }
    vec4 v = activate(ACTIVATION, sum);
    if (gl_WorkGroupID.y == OUT_PACKS - 1)
        v = mix(vec4(0.0), v, lessThan(uvec4(0, 1, 2, 3), uvec4(LAST_CHANNELS)));
    result[(image * OUT_PACKS + gl_WorkGroupID.y) * OUT_W * OUT_H + pixel] = pack(v);
}
