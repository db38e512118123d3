// SPDX-License-Identifier: LGPL-2.1-or-later
#version 430
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
// conv2d with one filter a channel. An invocation makes a block of PX × PY
// pixels of one pack, so that each input pixel is read once for all of them.
#include "common/storage.glsl"
#include "common/activation.glsl"

layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;
#include "common/window.glsl"
layout(constant_id = 15) const uint PACKS = 1;
layout(constant_id = 16) const uint PX = 1;
layout(constant_id = 17) const uint ACTIVATION = 0;
layout(constant_id = 18) const uint RESIDUAL = 0;
layout(constant_id = 19) const uint PY = 1;
layout(constant_id = 20) const uint LAST_CHANNELS = 4;

layout(std430, set = 0, binding = 0) readonly buffer In { PACK x[]; };
// Per pack: the taps row by row, then the bias.
layout(std430, set = 0, binding = 1) readonly buffer Weights { vec4 weights[]; };
layout(std430, set = 0, binding = 4) readonly buffer Residual { PACK residual[]; };
layout(std430, set = 0, binding = 5) writeonly buffer Out { PACK result[]; };

const uint TAPS = KERNEL_W * KERNEL_H;
const uint SPAN_W = (PX - 1) * STRIDE_W + (KERNEL_W - 1) * DILATION_W + 1;
const uint SPAN_H = (PY - 1) * STRIDE_H + (KERNEL_H - 1) * DILATION_H + 1;
const uint COLUMNS = (OUT_W + PX - 1) / PX;
const uint ROWS = (OUT_H + PY - 1) / PY;

shared vec4 w[TAPS + 1];
vec4 sum[PX * PY];

// Adds input row `row` of the block to each output row that it reaches.
void add_row(uint row, const vec4 v[SPAN_W])
{
    [[unroll]] for (uint q = 0; q < PY; q++)
        [[unroll]] for (uint ky = 0; ky < KERNEL_H; ky++)
            if (q * STRIDE_H + ky * DILATION_H == row) {
                [[unroll]] for (uint kx = 0; kx < KERNEL_W; kx++)
                    [[unroll]] for (uint p = 0; p < PX; p++)
                        sum[q * PX + p] = fma(v[p * STRIDE_W + kx * DILATION_W],
                                              w[ky * KERNEL_W + kx], sum[q * PX + p]);
            }
}

void main()
{
    uint group = gl_WorkGroupID.y, plane = gl_WorkGroupID.z * PACKS + group;
    for (uint i = gl_LocalInvocationID.x; i <= TAPS; i += gl_WorkGroupSize.x)
        w[i] = weights[group * (TAPS + 1) + i];
    barrier();
    // No early return: llvmpipe reads a constant index once for all invocations
    // only outside of any branch.
    uint item = min(gl_GlobalInvocationID.x, COLUMNS * ROWS - 1);
    bool used = gl_GlobalInvocationID.x < COLUMNS * ROWS;
    uint x0 = item % COLUMNS * PX, y0 = item / COLUMNS * PY;
    ivec2 corner = ivec2(x0 * STRIDE_W, y0 * STRIDE_H) - ivec2(PAD_LEFT, PAD_TOP);
    [[unroll]] for (uint i = 0; i < PX * PY; i++)
        sum[i] = w[TAPS];
    [[unroll]] for (uint row = 0; row < SPAN_H; row++) {
        int y = corner.y + int(row);
        bool row_inside = y >= 0 && y < int(IN_H);
        vec4 v[SPAN_W];
        [[unroll]] for (uint i = 0; i < SPAN_W; i++) {
            int column = corner.x + int(i);
            bool inside = row_inside && column >= 0 && column < int(IN_W);
            uint n = inside ? (plane * IN_H + uint(y)) * IN_W + uint(column) : 0;
            vec4 u = unpack(x[n]);
            v[i] = inside ? u : vec4(0.0);
        }
        add_row(row, v);
    }
    [[unroll]] for (uint q = 0; q < PY; q++)
        [[unroll]] for (uint p = 0; p < PX; p++) {
            if (!used || x0 + p >= OUT_W || y0 + q >= OUT_H)
                continue;
            uint o = (plane * OUT_H + y0 + q) * OUT_W + x0 + p;
            vec4 u = filled_up(activate(ACTIVATION, sum[q * PX + p]), group == PACKS - 1,
                               LAST_CHANNELS);
            if (RESIDUAL != 0)
                u += unpack(residual[o]);
            result[o] = pack(u);
        }
}
