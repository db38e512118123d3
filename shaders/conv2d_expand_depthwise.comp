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
layout(constant_id = 14) const uint OUT_PACKS = 1; // a multiple of GROUP
layout(constant_id = 15) const uint GROUP = 1;
layout(constant_id = 16) const uint TILE_W = 1;
layout(constant_id = 17) const uint TILE_H = 1;
layout(constant_id = 18) const uint ACTIVATION1 = 0; // of the 1×1
layout(constant_id = 19) const uint ACTIVATION2 = 0; // of the depthwise
layout(constant_id = 20) const uint RESIDUAL = 0;    // add: 1 a tensor, 2 the 1×1's own value
layout(constant_id = 21) const uint PRE = 0;         // enum tdl_conv_pre
layout(constant_id = 22) const uint LOW_W = 1;
layout(constant_id = 23) const uint LOW_H = 1;
layout(constant_id = 24) const uint COORDINATES = 0;
layout(constant_id = 25) const uint LAST_CHANNELS = 4;

layout(std430, set = 0, binding = 0) readonly buffer In { PACK x[]; };
// Per group of packs: [in channel][pack], bias[pack], then [tap][pack], bias[pack].
layout(std430, set = 0, binding = 1) readonly buffer Weights { vec4 weights[]; };
layout(std430, set = 0, binding = 2) readonly buffer Gate { PACK gate[]; };
layout(std430, set = 0, binding = 3) readonly buffer Low { PACK low[]; };
layout(std430, set = 0, binding = 4) readonly buffer Residual { PACK residual[]; };
layout(std430, set = 0, binding = 5) writeonly buffer Out { PACK result[]; };

const uint SPAN_W = (TILE_W - 1) * STRIDE_W + KERNEL_W;
const uint SPAN_H = (TILE_H - 1) * STRIDE_H + KERNEL_H;
const uint EXPAND = (IN_PACKS * 4 + 1) * GROUP; // vec4 of the 1×1 weights
const uint TAPS = KERNEL_W * KERNEL_H;

shared vec4 w[EXPAND + (TAPS + 1) * GROUP];
shared vec4 wide[SPAN_W * SPAN_H * GROUP];
vec4 sum[GROUP];

vec4 load(uint plane, uint pixel, bilinear near)
{
    vec4 v = unpack(x[plane * IN_W * IN_H + pixel]);
    if (PRE != 0)
        v *= unpack(gate[plane]);
    if (PRE == 2) {
        uvec4 i = plane * LOW_W * LOW_H + near.index;
        v += unpack(low[i.x]) * near.weight.x + unpack(low[i.y]) * near.weight.y +
             unpack(low[i.z]) * near.weight.z + unpack(low[i.w]) * near.weight.w;
    }
    return v;
}

// The 1×1 at one pixel of the tile or its border; zero outside the image,
// which is what the depthwise pads with.
void expand(uint at, ivec2 position, bool used)
{
    bool inside = all(greaterThanEqual(position, ivec2(0))) &&
                  all(lessThan(position, ivec2(IN_W, IN_H)));
    uint pixel = inside ? uint(position.y) * IN_W + uint(position.x) : 0;
    bilinear near;
    if (PRE == 2)
        near = bilinear_at(COORDINATES, uvec2(pixel % IN_W, pixel / IN_W), uvec2(LOW_W, LOW_H),
                           uvec2(IN_W, IN_H));
    [[unroll]] for (uint g = 0; g < GROUP; g++)
        sum[g] = w[IN_PACKS * 4 * GROUP + g];
    [[unroll]] for (uint k = 0; k < IN_PACKS; k++) {
        vec4 v = load(gl_WorkGroupID.z * IN_PACKS + k, pixel, near);
        [[unroll]] for (uint g = 0; g < GROUP; g++) {
            uint n = k * 4 * GROUP + g;
            sum[g] = fma(v.xxxx, w[n], sum[g]);
            sum[g] = fma(v.yyyy, w[n + GROUP], sum[g]);
            sum[g] = fma(v.zzzz, w[n + 2 * GROUP], sum[g]);
            sum[g] = fma(v.wwww, w[n + 3 * GROUP], sum[g]);
        }
    }
    if (used) {
        [[unroll]] for (uint g = 0; g < GROUP; g++)
            wide[g * SPAN_W * SPAN_H + at] = inside ? activate(ACTIVATION1, sum[g]) : vec4(0.0);
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
        if (used)
            result[o] = pack(filled_up(v, pack_index == OUT_PACKS - 1, LAST_CHANNELS));
    }
}

void main()
{
    const uint COUNT = EXPAND + (TAPS + 1) * GROUP;
    const uint COLUMNS = (OUT_W + TILE_W - 1) / TILE_W;
    uint local = gl_LocalInvocationID.x, size = gl_WorkGroupSize.x;
    uvec2 tile = uvec2(gl_WorkGroupID.x % COLUMNS, gl_WorkGroupID.x / COLUMNS) *
                 uvec2(TILE_W, TILE_H);
    ivec2 origin = ivec2(tile * uvec2(STRIDE_W, STRIDE_H)) - ivec2(PAD_LEFT, PAD_TOP);
    for (uint i = local; i < COUNT; i += size)
        w[i] = weights[gl_WorkGroupID.y * COUNT + i];
    barrier();
    // With an invocation for each there is no loop: drivers unroll better.
    if (size >= SPAN_W * SPAN_H) {
        uint i = min(local, SPAN_W * SPAN_H - 1);
        expand(i, origin + ivec2(i % SPAN_W, i / SPAN_W), local < SPAN_W * SPAN_H);
    } else {
        [[dont_unroll]] for (uint i = local; i < SPAN_W * SPAN_H; i += size)
            expand(i, origin + ivec2(i % SPAN_W, i / SPAN_W), true);
    }
    barrier();
    if (size >= TILE_W * TILE_H) {
        uint i = min(local, TILE_W * TILE_H - 1);
        depthwise(uvec2(i % TILE_W, i / TILE_W), tile, local < TILE_W * TILE_H);
    } else {
        [[dont_unroll]] for (uint i = local; i < TILE_W * TILE_H; i += size)
            depthwise(uvec2(i % TILE_W, i / TILE_W), tile, true);
    }
}
