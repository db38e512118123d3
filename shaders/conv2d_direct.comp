// SPDX-License-Identifier: LGPL-2.1-or-later
#version 430
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
// conv2d k×k, one group: TILE output packs of one pixel an invocation. Small
// kernels are unrolled whole with all weights in shared memory (UNROLL), large
// ones go tap by tap and chunk by chunk.
#include "common/storage.glsl"
#include "common/activation.glsl"
#include "common/plain.glsl"

layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;
#include "common/window.glsl"
layout(constant_id = 15) const uint IN_PACKS = 1; // a multiple of CHUNK
layout(constant_id = 16) const uint OUT_PACKS = 1;
layout(constant_id = 17) const uint TILE = 1;
layout(constant_id = 18) const uint CHUNK = 1;
layout(constant_id = 19) const uint ACTIVATION = 0;
layout(constant_id = 20) const uint RESIDUAL = 0;
layout(constant_id = 21) const uint UNROLL = 0;
layout(constant_id = 22) const uint SHARED = 1;      // vec4 of weights in shared memory
layout(constant_id = 23) const uint IN_CHANNELS = 4; // the rest of the last pack is skipped
layout(constant_id = 24) const uint LAST_CHANNELS = 4;
layout(constant_id = 25) const uint PLAIN = 0; // channels of an input that is no packs

layout(std430, set = 0, binding = 0) readonly buffer In { PACK x[]; };
// Per group of TILE packs: [tap][in channel][TILE], then the TILE packs of bias.
layout(std430, set = 0, binding = 1) readonly buffer Weights { vec4 weights[]; };
layout(std430, set = 0, binding = 4) readonly buffer Residual { PACK residual[]; };
layout(std430, set = 0, binding = 5) writeonly buffer Out { PACK result[]; };

shared vec4 w[SHARED];
vec4 sum[TILE];

void load_weights(uint from, uint count)
{
    barrier();
    for (uint i = gl_LocalInvocationID.x; i < count; i += gl_WorkGroupSize.x)
        w[i] = weights[from + i];
    barrier();
}

vec4 load(uint plane, ivec2 at)
{
    bool inside = all(greaterThanEqual(at, ivec2(0))) && all(lessThan(at, ivec2(IN_W, IN_H)));
    uint n = inside ? plane * IN_W * IN_H + uint(at.y) * IN_W + uint(at.x) : 0;
    vec4 v;
    if (PLAIN != 0)
        v = plain_pixel(n, PLAIN);
    else
        v = unpack(x[n]);
    return inside ? v : vec4(0.0);
}

void multiply(vec4 v, uint from, uint channels)
{
    [[unroll]] for (uint t = 0; t < TILE; t++) {
        sum[t] = fma(v.xxxx, w[from + t], sum[t]);
        if (channels > 1)
            sum[t] = fma(v.yyyy, w[from + TILE + t], sum[t]);
        if (channels > 2)
            sum[t] = fma(v.zzzz, w[from + 2 * TILE + t], sum[t]);
        if (channels > 3)
            sum[t] = fma(v.wwww, w[from + 3 * TILE + t], sum[t]);
    }
}

void main()
{
    const uint GROUP = (KERNEL_W * KERNEL_H * IN_PACKS * 4 + 1) * TILE;
    uint image = gl_WorkGroupID.z, first = gl_WorkGroupID.y * TILE;
    uint base = gl_WorkGroupID.y * GROUP, pixel = gl_GlobalInvocationID.x;
    ivec2 corner = ivec2(pixel % OUT_W, pixel / OUT_W) * ivec2(STRIDE_W, STRIDE_H) -
                   ivec2(PAD_LEFT, PAD_TOP);
    [[unroll]] for (uint t = 0; t < TILE; t++)
        sum[t] = weights[base + GROUP - TILE + t];
    if (UNROLL != 0) {
        load_weights(base, SHARED);
        [[unroll]] for (uint ky = 0; ky < KERNEL_H; ky++)
            [[unroll]] for (uint kx = 0; kx < KERNEL_W; kx++)
                [[unroll]] for (uint k = 0; k < IN_PACKS; k++) {
                    vec4 v = load(image * IN_PACKS + k,
                                  corner + ivec2(kx * DILATION_W, ky * DILATION_H));
                    multiply(v, ((ky * KERNEL_W + kx) * IN_PACKS + k) * 4 * TILE,
                             min(4, IN_CHANNELS - k * 4));
                }
    } else {
        [[dont_unroll]] for (uint tap = 0; tap < KERNEL_W * KERNEL_H; tap++) {
            ivec2 at = corner + ivec2(tap % KERNEL_W * DILATION_W, tap / KERNEL_W * DILATION_H);
            [[dont_unroll]] for (uint c = 0; c < IN_PACKS; c += CHUNK) {
                load_weights(base + (tap * IN_PACKS + c) * 4 * TILE, SHARED);
                [[unroll]] for (uint k = 0; k < CHUNK; k++)
                    multiply(load(image * IN_PACKS + c + k, at), k * 4 * TILE, 4);
            }
        }
    }
    if (pixel >= OUT_W * OUT_H)
        return;
    [[unroll]] for (uint t = 0; t < TILE; t++) {
        if (first + t >= OUT_PACKS)
            continue;
        uint o = (image * OUT_PACKS + first + t) * OUT_W * OUT_H + pixel;
        vec4 v = filled_up(activate(ACTIVATION, sum[t]), first + t == OUT_PACKS - 1, LAST_CHANNELS);
        if (RESIDUAL != 0)
            v += unpack(residual[o]);
        result[o] = pack(v);
    }
}
