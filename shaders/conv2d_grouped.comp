// SPDX-License-Identifier: LGPL-2.1-or-later
#version 430
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
// conv2d with any number of groups, channel by channel: the row of the table
// that takes what no special kernel does. One invocation an output pack.
#include "common/storage.glsl"
#include "common/activation.glsl"

layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;
#include "common/window.glsl"
layout(constant_id = 15) const uint IN_PACKS = 1;
layout(constant_id = 16) const uint OUT_CHANNELS = 1;
layout(constant_id = 17) const uint IN_PER_GROUP = 1;
layout(constant_id = 18) const uint OUT_PER_GROUP = 1;
layout(constant_id = 19) const uint ACTIVATION = 0;
layout(constant_id = 20) const uint RESIDUAL = 0;

layout(std430, set = 0, binding = 0) readonly buffer In { PACK x[]; };
// [out channel][tap][in channel of the group], then the biases.
layout(std430, set = 0, binding = 1) readonly buffer Weights { float weights[]; };
layout(std430, set = 0, binding = 4) readonly buffer Residual { PACK residual[]; };
layout(std430, set = 0, binding = 5) writeonly buffer Out { PACK result[]; };

void main()
{
    const uint OUT_PACKS = (OUT_CHANNELS + 3) / 4, TAPS = KERNEL_W * KERNEL_H;
    uint pixel = gl_GlobalInvocationID.x, image = gl_WorkGroupID.z;
    if (pixel >= OUT_W * OUT_H)
        return;
    ivec2 corner = ivec2(pixel % OUT_W, pixel / OUT_W) * ivec2(STRIDE_W, STRIDE_H) -
                   ivec2(PAD_LEFT, PAD_TOP);
    vec4 sum = vec4(0.0);
    [[dont_unroll]] for (uint i = 0; i < 4; i++) {
        uint o = gl_WorkGroupID.y * 4 + i;
        if (o >= OUT_CHANNELS)
            break;
        uint first = o / OUT_PER_GROUP * IN_PER_GROUP;
        float total = weights[OUT_CHANNELS * TAPS * IN_PER_GROUP + o];
        [[dont_unroll]] for (uint tap = 0; tap < TAPS; tap++) {
            ivec2 at = corner + ivec2(tap % KERNEL_W * DILATION_W, tap / KERNEL_W * DILATION_H);
            if (any(lessThan(at, ivec2(0))) || any(greaterThanEqual(at, ivec2(IN_W, IN_H))))
                continue;
            [[dont_unroll]] for (uint c = 0; c < IN_PER_GROUP; c++) {
                uint channel = first + c;
                uint plane = image * IN_PACKS + channel / 4;
                vec4 v = unpack(x[(plane * IN_H + uint(at.y)) * IN_W + uint(at.x)]);
                total += v[channel % 4] * weights[(o * TAPS + tap) * IN_PER_GROUP + c];
            }
        }
        sum[i] = activate(ACTIVATION, vec4(total)).x;
    }
    uint n = (image * OUT_PACKS + gl_WorkGroupID.y) * OUT_W * OUT_H + pixel;
    if (RESIDUAL != 0)
        sum += unpack(residual[n]);
    result[n] = pack(sum);
}
