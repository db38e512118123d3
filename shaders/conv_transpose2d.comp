// SPDX-License-Identifier: LGPL-2.1-or-later
#version 430
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
// convTranspose2d of any kind, as a gather: an output pixel collects the taps
// that reach it, which are every STEP-th from a first one on. Pixels of a row
// that are a stride apart share their taps and read neighbours of the input:
// an invocation makes SHARE of them, of one pack. Groups: an output pack reads
// GROUP_PACKS input packs, those of other groups among them with zero weights.
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
layout(constant_id = 13) const uint STEP_W = 1; // stride / gcd(stride, dilation)
layout(constant_id = 14) const uint STEP_H = 1;
layout(constant_id = 15) const uint PAD_LEFT = 0;
layout(constant_id = 16) const uint PAD_TOP = 0;
layout(constant_id = 17) const uint IN_PACKS = 1;
layout(constant_id = 18) const uint OUT_PACKS = 1;
layout(constant_id = 19) const uint ACTIVATION = 0;
layout(constant_id = 20) const uint LAST_CHANNELS = 4;
layout(constant_id = 21) const uint GROUP_PACKS = 1;
layout(constant_id = 22) const uint GROUP_IN = 4;  // channels of a group
layout(constant_id = 23) const uint GROUP_OUT = 4;
layout(constant_id = 24) const uint DEPTHWISE = 0; // a channel reads itself only
layout(constant_id = 25) const uint SHARE = 1;     // 1, 2 or 4

layout(std430, set = 0, binding = 0) readonly buffer In { PACK x[]; };
// Per output pack: [tap][in channel] (depthwise: [tap]), then the bias.
layout(std430, set = 0, binding = 1) readonly buffer Weights { vec4 weights[]; };
layout(std430, set = 0, binding = 5) writeonly buffer Out { PACK result[]; };

// Multiples of the stride that keep what is subtracted from being negative.
const uint EXTENT_W = (KERNEL_W - 1) * DILATION_W + 1, EXTENT_H = (KERNEL_H - 1) * DILATION_H + 1;

vec4 pixel(uint row, int column)
{
    vec4 v = unpack(x[row + uint(clamp(column, 0, int(IN_W) - 1))]);
    return column >= 0 && column < int(IN_W) ? v : vec4(0.0);
}

void add(inout vec4 sum, vec4 v, vec4 a, vec4 b, vec4 c, vec4 d)
{
    sum = DEPTHWISE != 0 ? fma(v, a, sum)
                         : fma(v.xxxx, a, fma(v.yyyy, b, fma(v.zzzz, c, fma(v.wwww, d, sum))));
}

void finish(uint column, uint row, vec4 sum)
{
    if (column >= OUT_W)
        return;
    vec4 v = activate(ACTIVATION, sum);
    v = filled_up(v, gl_WorkGroupID.y == OUT_PACKS - 1, LAST_CHANNELS);
    uint plane = gl_WorkGroupID.z * OUT_PACKS + gl_WorkGroupID.y;
    result[(plane * OUT_H + row) * OUT_W + column] = pack(v);
}

void main()
{
    const uint VECTORS = DEPTHWISE != 0 ? 1 : GROUP_PACKS * 4; // weights of a tap
    const uint GROUP = KERNEL_W * KERNEL_H * VECTORS + 1;
    const uint BLOCKS = (OUT_W + STRIDE_W * SHARE - 1) / (STRIDE_W * SHARE);
    const uint ROW = BLOCKS * STRIDE_W;
    uint at = gl_GlobalInvocationID.x, k = gl_WorkGroupID.y;
    uint row = at / ROW, left = at % ROW / STRIDE_W * (STRIDE_W * SHARE) + at % STRIDE_W;
    if (row >= OUT_H)
        return;
    uint first_pack = min(k * 4 / GROUP_OUT * GROUP_IN / 4, IN_PACKS - GROUP_PACKS);
    uint plane = gl_WorkGroupID.z * IN_PACKS + first_pack;
    uint base = k * GROUP;
    vec4 bias = weights[base + GROUP - 1];
    vec4 sum0 = bias, sum1 = bias, sum2 = bias, sum3 = bias;
    // The stride divides (position − tap · dilation) for the taps that reach.
    uint down = row + PAD_TOP + STRIDE_H * EXTENT_H, right = left + PAD_LEFT + STRIDE_W * EXTENT_W;
    uint first_y = 0, first_x = 0;
    [[dont_unroll]] while (first_y < STEP_H && (down - first_y * DILATION_H) % STRIDE_H != 0)
        first_y++;
    [[dont_unroll]] while (first_x < STEP_W && (right - first_x * DILATION_W) % STRIDE_W != 0)
        first_x++;
    first_y = first_y == STEP_H ? KERNEL_H : first_y;
    first_x = first_x == STEP_W ? KERNEL_W : first_x;
    [[dont_unroll]] for (uint ky = first_y; ky < KERNEL_H; ky += STEP_H) {
        int in_y = int((down - ky * DILATION_H) / STRIDE_H) - int(EXTENT_H);
        if (in_y < 0 || in_y >= int(IN_H))
            continue;
        [[dont_unroll]] for (uint kx = first_x; kx < KERNEL_W; kx += STEP_W) {
            int in_x = int((right - kx * DILATION_W) / STRIDE_W) - int(EXTENT_W);
            uint tap = base + (ky * KERNEL_W + kx) * VECTORS;
            uint from = (plane * IN_H + uint(in_y)) * IN_W;
            [[dont_unroll]] for (uint i = 0; i < GROUP_PACKS; i++) {
                vec4 a = weights[tap], b, c, d;
                if (DEPTHWISE == 0) {
                    b = weights[tap + 1];
                    c = weights[tap + 2];
                    d = weights[tap + 3];
                }
                add(sum0, pixel(from, in_x), a, b, c, d);
                if (SHARE > 1)
                    add(sum1, pixel(from, in_x + 1), a, b, c, d);
                if (SHARE > 2) {
                    add(sum2, pixel(from, in_x + 2), a, b, c, d);
                    add(sum3, pixel(from, in_x + 3), a, b, c, d);
                }
                tap += 4;
                from += IN_H * IN_W;
            }
        }
    }
    finish(left, row, sum0);
    if (SHARE > 1)
        finish(left + STRIDE_W, row, sum1);
    if (SHARE > 2) {
        finish(left + 2 * STRIDE_W, row, sum2);
        finish(left + 3 * STRIDE_W, row, sum3);
    }
}
