// SPDX-License-Identifier: LGPL-2.1-or-later
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
// conv2d with one filter a channel. An invocation makes PX neighbouring pixels
// of one pack, so that a row of the input is read once for all of them.
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
layout(constant_id = 11) const uint DILATION_W = 1;
layout(constant_id = 12) const uint DILATION_H = 1;
layout(constant_id = 13) const uint PAD_LEFT = 0;
layout(constant_id = 14) const uint PAD_TOP = 0;
layout(constant_id = 15) const uint PACKS = 1;
layout(constant_id = 16) const uint PX = 1;
layout(constant_id = 17) const uint ACTIVATION = 0;
layout(constant_id = 18) const uint RESIDUAL = 0;

layout(std430, set = 0, binding = 0) readonly buffer In { PACK x[]; };
// Per pack: the taps row by row, then the bias.
layout(std430, set = 0, binding = 1) readonly buffer Weights { vec4 weights[]; };
layout(std430, set = 0, binding = 4) readonly buffer Residual { PACK residual[]; };
layout(std430, set = 0, binding = 5) writeonly buffer Out { PACK result[]; };

const uint TAPS = KERNEL_W * KERNEL_H;
const uint SPAN = (PX - 1) * STRIDE_W + (KERNEL_W - 1) * DILATION_W + 1;
const uint COLUMNS = (OUT_W + PX - 1) / PX;

shared vec4 w[TAPS + 1];

void main()
{
    uint group = gl_WorkGroupID.y, plane = gl_WorkGroupID.z * PACKS + group;
    for (uint i = gl_LocalInvocationID.x; i <= TAPS; i += gl_WorkGroupSize.x)
        w[i] = weights[group * (TAPS + 1) + i];
    barrier();
    uint item = gl_GlobalInvocationID.x;
    if (item >= COLUMNS * OUT_H)
        return;
    uint x0 = item % COLUMNS * PX, y0 = item / COLUMNS;
    ivec2 corner = ivec2(x0 * STRIDE_W, y0 * STRIDE_H) - ivec2(PAD_LEFT, PAD_TOP);
    vec4 sum[PX];
    [[unroll]] for (uint p = 0; p < PX; p++)
        sum[p] = w[TAPS];
    [[unroll]] for (uint ky = 0; ky < KERNEL_H; ky++) {
        int y = corner.y + int(ky * DILATION_H);
        bool row = y >= 0 && y < int(IN_H);
        vec4 v[SPAN];
        [[unroll]] for (uint i = 0; i < SPAN; i++) {
            int column = corner.x + int(i);
            bool inside = row && column >= 0 && column < int(IN_W);
            uint n = inside ? (plane * IN_H + uint(y)) * IN_W + uint(column) : 0;
            vec4 u = unpack(x[n]);
            v[i] = inside ? u : vec4(0.0);
        }
        [[unroll]] for (uint kx = 0; kx < KERNEL_W; kx++)
            [[unroll]] for (uint p = 0; p < PX; p++)
                sum[p] = fma(v[p * STRIDE_W + kx * DILATION_W], w[ky * KERNEL_W + kx], sum[p]);
    }
    [[unroll]] for (uint p = 0; p < PX; p++) {
        if (x0 + p >= OUT_W)
            continue;
        uint o = (plane * OUT_H + y0) * OUT_W + x0 + p;
        vec4 u = activate(ACTIVATION, sum[p]);
        if (RESIDUAL != 0)
            u += unpack(residual[o]);
        result[o] = pack(u);
    }
}
