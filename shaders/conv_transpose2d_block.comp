// SPDX-License-Identifier: LGPL-2.1-or-later
#version 430
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
// convTranspose2d 2×2, stride 2, to one channel: no outputs overlap, so it is
// a pointwise convolution to four values that are one 2×2 block. The mask head
// of segmentation nets. LINEAR writes plain floats, the layout of a mask.
#include "common/storage.glsl"
#include "common/activation.glsl"

layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;
layout(constant_id = 3) const uint IN_W = 1;
layout(constant_id = 4) const uint IN_H = 1;
layout(constant_id = 5) const uint IN_PACKS = 1;
layout(constant_id = 6) const uint ACTIVATION = 0;
layout(constant_id = 7) const uint LINEAR = 0;

layout(std430, set = 0, binding = 0) readonly buffer In { PACK x[]; };
// [in channel] of the block's (0,0) (0,1) (1,0) (1,1), then the bias.
layout(std430, set = 0, binding = 1) readonly buffer Weights { vec4 weights[]; };
layout(std430, set = 0, binding = 5) writeonly buffer Out { PACK result[]; };
layout(std430, set = 0, binding = 6) writeonly buffer Linear { vec2 pairs[]; };

shared vec4 w[IN_PACKS * 4 + 1];

void main()
{
    for (uint i = gl_LocalInvocationID.x; i <= IN_PACKS * 4; i += gl_WorkGroupSize.x)
        w[i] = weights[i];
    barrier();
    // No early return before the weights: see conv2d_depthwise.comp.
    uint pixel = min(gl_GlobalInvocationID.x, IN_W * IN_H - 1), image = gl_WorkGroupID.z;
    vec4 sum = w[IN_PACKS * 4];
    [[unroll]] for (uint k = 0; k < IN_PACKS; k++) {
        vec4 v = unpack(x[(image * IN_PACKS + k) * IN_W * IN_H + pixel]);
        sum = fma(v.xxxx, w[k * 4], sum);
        sum = fma(v.yyyy, w[k * 4 + 1], sum);
        sum = fma(v.zzzz, w[k * 4 + 2], sum);
        sum = fma(v.wwww, w[k * 4 + 3], sum);
    }
    sum = activate(ACTIVATION, sum);
    if (gl_GlobalInvocationID.x >= IN_W * IN_H)
        return;
    uint y = pixel / IN_W, column = pixel % IN_W;
    uint top = (image * IN_H * 2 + y * 2) * IN_W + column; // in pairs
    if (LINEAR != 0) {
        pairs[top] = sum.xy;
        pairs[top + IN_W] = sum.zw;
    } else {
        result[top * 2] = pack(vec4(sum.x, 0.0, 0.0, 0.0));
        result[top * 2 + 1] = pack(vec4(sum.y, 0.0, 0.0, 0.0));
        result[(top + IN_W) * 2] = pack(vec4(sum.z, 0.0, 0.0, 0.0));
        result[(top + IN_W) * 2 + 1] = pack(vec4(sum.w, 0.0, 0.0, 0.0));
    }
}
