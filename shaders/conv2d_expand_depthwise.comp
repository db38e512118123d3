// SPDX-License-Identifier: LGPL-2.1-or-later
#version 430
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
// conv2d 1×1 and the depthwise conv2d behind it, the two halves of an inverted
// bottleneck. A workgroup makes a tile of output pixels of GROUP packs: first
// the 1×1 values of the tile and its border, kept in shared memory, then the
// depthwise taps from there. The wide tensor in between is never stored.
#include "common/storage.glsl"
#include "common/activation.glsl"
#include "common/resample.glsl"
layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;
#include "common/gate.glsl"
#include "common/expand.glsl"
layout(constant_id = 19) const uint OUT_W = 1;
layout(constant_id = 20) const uint OUT_H = 1;
layout(constant_id = 21) const uint KERNEL_W = 1;
layout(constant_id = 22) const uint KERNEL_H = 1;
layout(constant_id = 23) const uint STRIDE_W = 1;
layout(constant_id = 24) const uint STRIDE_H = 1;
layout(constant_id = 25) const uint PAD_LEFT = 0;
layout(constant_id = 26) const uint PAD_TOP = 0;
layout(constant_id = 27) const uint OUT_PACKS = 1; // a multiple of GROUP
layout(constant_id = 28) const uint GROUP = 1;
layout(constant_id = 29) const uint TILE_W = 1;
layout(constant_id = 30) const uint TILE_H = 1;
layout(constant_id = 31) const uint ACTIVATION1 = 0; // after the 1×1 convolution
layout(constant_id = 32) const uint ACTIVATION2 = 0; // after the depthwise convolution
layout(constant_id = 33) const uint RESIDUAL = 0; // add: 1 a tensor, 2 the 1×1's own value
layout(constant_id = 34) const uint LAST_CHANNELS = 4;
layout(constant_id = 35) const uint MEANS = 0; // also write a mean for each tile
layout(constant_id = 36) const uint AHEAD = 1; // packs whose reads are under way at once

// Weights per group of packs: [channel read][pack], bias[pack], then [tap][pack], bias[pack].
layout(std430, set = 0, binding = 4) readonly buffer Residual { PACK residual[]; };
layout(std430, set = 0, binding = 5) writeonly buffer Out { PACK result[]; };

const uint SPAN_W = (TILE_W - 1) * STRIDE_W + KERNEL_W;
const uint SPAN_H = (TILE_H - 1) * STRIDE_H + KERNEL_H;
const uint EXPAND = (READ_PACKS * 4 + 1) * GROUP; // vec4 of the 1×1 weights
const uint TAPS = KERNEL_W * KERNEL_H;
const uint COUNT = EXPAND + (TAPS + 1) * GROUP;

shared vec4 w[COUNT];
shared vec4 wide[SPAN_W * SPAN_H * GROUP];
vec4 sum[GROUP];
const uint MEANS_PACKS = GROUP;
const uint MEANS_WRITERS =
    gl_WorkGroupSize.x < TILE_W * TILE_H ? gl_WorkGroupSize.x : TILE_W * TILE_H;
#include "common/means.glsl"

// The group's weights, of which those of gated channels are multiplied.
vec4 gated_weight(uint i)
{
    vec4 v = weights[GATE_WEIGHTS + gl_WorkGroupID.y * COUNT + i];
    uint c = i / GROUP;
    if (PRE == 1 && c < IN_PACKS * 4)
        v *= gate_of(gl_WorkGroupID.z, c / 4)[c % 4];
    return v;
}

void multiply(uint k, vec4 v)
{
    [[unroll]] for (uint g = 0; g < GROUP; g++) {
        uint n = k * 4 * GROUP + g;
        sum[g] = fma(v.xxxx, w[n], sum[g]);
        sum[g] = fma(v.yyyy, w[n + GROUP], sum[g]);
        sum[g] = fma(v.zzzz, w[n + 2 * GROUP], sum[g]);
        sum[g] = fma(v.wwww, w[n + 3 * GROUP], sum[g]);
    }
}

// The 1×1 at one pixel of the tile or its border; zero outside the image,
// which is what the depthwise pads with.
void expand(uint at, ivec2 position, bool used)
{
    bool inside = all(greaterThanEqual(position, ivec2(0))) &&
                  all(lessThan(position, ivec2(IN_W, IN_H)));
    uint pixel = inside ? uint(position.y) * IN_W + uint(position.x) : 0;
    bilinear near;
    if (RESAMPLED != 0)
        near = low_near(pixel);
    [[unroll]] for (uint g = 0; g < GROUP; g++)
        sum[g] = w[READ_PACKS * 4 * GROUP + g];
    [[unroll]] for (uint first = 0; first < READ_PACKS; first += AHEAD) {
        vec4 v[AHEAD];
        [[unroll]] for (uint j = 0; j < AHEAD; j++)
            if (first + j < READ_PACKS)
                v[j] = load(first + j, pixel, near);
        [[unroll]] for (uint j = 0; j < AHEAD; j++)
            if (first + j < READ_PACKS)
                multiply(first + j, v[j]);
    }
    if (used) {
        [[unroll]] for (uint g = 0; g < GROUP; g++)
            wide[g * SPAN_W * SPAN_H + at] = inside ? activate(ACTIVATION1, sum[g]) : vec4(0.0);
    }
}

// Pixel after pixel of the image; what is outside of it takes no turn.
void expand_inside(ivec2 origin)
{
    uvec2 start = uvec2(max(-origin, 0));
    uvec2 end = uvec2(min(ivec2(SPAN_W, SPAN_H), ivec2(IN_W, IN_H) - origin));
    uvec2 count = end - start;
    uint local = gl_LocalInvocationID.x, size = gl_WorkGroupSize.x;
    [[dont_unroll]] for (uint i = local; i < SPAN_W * SPAN_H; i += size) {
        uvec2 at = uvec2(i % SPAN_W, i / SPAN_W);
        if (any(lessThan(at, start)) || any(greaterThanEqual(at, end)))
            [[unroll]] for (uint g = 0; g < GROUP; g++)
                wide[g * SPAN_W * SPAN_H + i] = vec4(0.0);
    }
    [[dont_unroll]] for (uint i = local; i < count.x * count.y; i += size) {
        uvec2 at = start + uvec2(i % count.x, i / count.x);
        expand(at.y * SPAN_W + at.x, origin + ivec2(at), true);
    }
}

void depthwise(uvec2 inner, uvec2 tile, bool used)
{
    uvec2 position = tile + inner;
    used = used && position.x < OUT_W && position.y < OUT_H;
    uint corner = inner.y * STRIDE_H * SPAN_W + inner.x * STRIDE_W;
    [[unroll]] for (uint g = 0; g < GROUP; g++) {
        vec4 v = w[EXPAND + TAPS * GROUP + g];
        [[unroll]] for (uint tap = 0; tap < TAPS; tap++) {
            uint n = g * SPAN_W * SPAN_H + corner + tap / KERNEL_W * SPAN_W + tap % KERNEL_W;
            v = fma(wide[n], w[EXPAND + tap * GROUP + g], v);
        }
        uint pack_index = gl_WorkGroupID.y * GROUP + g;
        uint plane = gl_WorkGroupID.z * OUT_PACKS + pack_index;
        uint o = (plane * OUT_H + position.y) * OUT_W + position.x;
        v = activate(ACTIVATION2, v);
        if (RESIDUAL == 1)
            v += unpack(residual[used ? o : 0]);
        if (RESIDUAL == 2)
            v += wide[g * SPAN_W * SPAN_H + corner + PAD_TOP * SPAN_W + PAD_LEFT];
        v = filled_up(v, pack_index == OUT_PACKS - 1, LAST_CHANNELS);
        if (used) {
            result[o] = pack(v);
            total[g] += v;
        }
    }
}

void main()
{
    const uint COLUMNS = (OUT_W + TILE_W - 1) / TILE_W;
    uint local = gl_LocalInvocationID.x, size = gl_WorkGroupSize.x;
    uvec2 tile = uvec2(gl_WorkGroupID.x % COLUMNS, gl_WorkGroupID.x / COLUMNS) *
                 uvec2(TILE_W, TILE_H);
    ivec2 origin = ivec2(tile * uvec2(STRIDE_W, STRIDE_H)) - ivec2(PAD_LEFT, PAD_TOP);
    [[unroll]] for (uint g = 0; g < GROUP; g++)
        total[g] = vec4(0.0);
    if (GATE_INSIDE)
        gate_compute(gl_WorkGroupID.z);
    for (uint i = local; i < COUNT; i += size)
        w[i] = gated_weight(i);
    barrier();
    // With an invocation for each there is no loop: drivers unroll better.
    if (size >= SPAN_W * SPAN_H) {
        uint i = min(local, SPAN_W * SPAN_H - 1);
        expand(i, origin + ivec2(i % SPAN_W, i / SPAN_W), local < SPAN_W * SPAN_H);
    } else {
        expand_inside(origin);
    }
    barrier();
    if (size >= TILE_W * TILE_H) {
        uint i = min(local, TILE_W * TILE_H - 1);
        depthwise(uvec2(i % TILE_W, i / TILE_W), tile, local < TILE_W * TILE_H);
    } else {
        [[dont_unroll]] for (uint i = local; i < TILE_W * TILE_H; i += size)
            depthwise(uvec2(i % TILE_W, i / TILE_W), tile, true);
    }
    if (MEANS != 0)
        write_means(COLUMNS * ((OUT_H + TILE_H - 1) / TILE_H), OUT_W * OUT_H);
}
