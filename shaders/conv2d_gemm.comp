// SPDX-License-Identifier: LGPL-2.1-or-later
#version 430
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
// conv2d as a matrix product: a workgroup makes TILE_M pixels × TILE_N packs.
// Step by step, STEP packs of the left side (gathered from the image, tap after
// tap) and of the weights come into shared memory, while the registers already
// load the next ones; an invocation keeps PX × PACKS sums.
//
// BATCHED: gl_WorkGroupID.z is a product of its own, with its own weights;
// else it is the image. WIDE: float32 in and out, nothing added (Winograd).
#include "common/storage.glsl"
#include "common/activation.glsl"
#include "common/plain.glsl"

layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;
#include "common/window.glsl"
layout(constant_id = 15) const uint IN_PACKS = 1;
layout(constant_id = 16) const uint OUT_PACKS = 1;
layout(constant_id = 17) const uint PX = 1;
layout(constant_id = 18) const uint PACKS = 1;
layout(constant_id = 19) const uint STEP = 1;
layout(constant_id = 20) const uint TILE_M = 1;   // invocations in x · PX
layout(constant_id = 21) const uint TILE_N = 1;   // invocations in y · PACKS
layout(constant_id = 22) const uint A_LOADS = 1;  // values of a step an invocation brings
layout(constant_id = 23) const uint B_LOADS = 1;
layout(constant_id = 24) const uint STEPS = 1;
layout(constant_id = 25) const uint COLUMNS = 1;  // packs of a row of weights
layout(constant_id = 26) const uint BATCHED = 0;
layout(constant_id = 27) const uint WIDE = 0;
layout(constant_id = 28) const uint ACTIVATION = 0;
layout(constant_id = 29) const uint RESIDUAL = 0;
layout(constant_id = 30) const uint LAST_CHANNELS = 4;
layout(constant_id = 31) const uint PLAIN = 0; // channels of an input that is no packs

layout(std430, set = 0, binding = 0) readonly buffer In { PACK x[]; };
// Per product: [tap][in channel][COLUMNS], steps filled up with zeros; then the
// biases.
layout(std430, set = 0, binding = 1) readonly buffer Weights { vec4 weights[]; };
layout(std430, set = 0, binding = 4) readonly buffer Residual { PACK residual[]; };
layout(std430, set = 0, binding = 5) writeonly buffer Out { PACK result[]; };
layout(std430, set = 0, binding = 6) readonly buffer WideIn { vec4 wide_x[]; };
layout(std430, set = 0, binding = 7) writeonly buffer WideOut { vec4 wide_result[]; };

const uint TAPS = KERNEL_W * KERNEL_H;
const uint PIXELS = OUT_W * OUT_H;

shared vec4 a_tile[STEP * TILE_M];
shared vec4 b_tile[STEP * 4 * TILE_N];

vec4 a_next[A_LOADS], b_next[B_LOADS];
vec4 sum[PX * PACKS];

// Input pack k of the column of the pixel whose window starts at `corner`.
vec4 fetch(uint plane, uint k, ivec2 corner, bool used)
{
    uint tap = k / IN_PACKS, c = k % IN_PACKS;
    ivec2 at = corner + ivec2(tap % KERNEL_W * DILATION_W, tap / KERNEL_W * DILATION_H);
    bool inside = used && k < TAPS * IN_PACKS && all(greaterThanEqual(at, ivec2(0))) &&
                  all(lessThan(at, ivec2(IN_W, IN_H)));
    uint n = inside ? ((plane + c) * IN_H + uint(at.y)) * IN_W + uint(at.x) : 0;
    vec4 v;
    if (WIDE != 0)
        v = wide_x[n];
    else if (PLAIN != 0)
        v = plain_pixel(n, PLAIN);
    else
        v = unpack(x[n]);
    return inside ? v : vec4(0.0);
}

void load_step(uint s, uint plane, uint base)
{
    const uint SIZE = gl_WorkGroupSize.x * gl_WorkGroupSize.y;
    uint first = gl_WorkGroupID.x * TILE_M;
    [[unroll]] for (uint i = 0; i < A_LOADS; i++) {
        uint e = gl_LocalInvocationIndex + i * SIZE, pixel = first + e % TILE_M;
        ivec2 corner = ivec2(pixel % OUT_W, pixel / OUT_W) * ivec2(STRIDE_W, STRIDE_H) -
                       ivec2(PAD_LEFT, PAD_TOP);
        a_next[i] = fetch(plane, s * STEP + e / TILE_M, corner, pixel < PIXELS);
    }
    [[unroll]] for (uint i = 0; i < B_LOADS; i++) {
        uint e = gl_LocalInvocationIndex + i * SIZE;
        b_next[i] = weights[base + (s * STEP * 4 + e / TILE_N) * COLUMNS + e % TILE_N];
    }
}

void store_step()
{
    const uint SIZE = gl_WorkGroupSize.x * gl_WorkGroupSize.y;
    [[unroll]] for (uint i = 0; i < A_LOADS; i++)
        a_tile[gl_LocalInvocationIndex + i * SIZE] = a_next[i];
    [[unroll]] for (uint i = 0; i < B_LOADS; i++)
        b_tile[gl_LocalInvocationIndex + i * SIZE] = b_next[i];
}

void multiply()
{
    [[unroll]] for (uint k = 0; k < STEP; k++) {
        vec4 a[PX];
        [[unroll]] for (uint p = 0; p < PX; p++)
            a[p] = a_tile[k * TILE_M + gl_LocalInvocationID.x + p * gl_WorkGroupSize.x];
        [[unroll]] for (uint o = 0; o < PACKS; o++) {
            uint n = k * 4 * TILE_N + gl_LocalInvocationID.y + o * gl_WorkGroupSize.y;
            vec4 b0 = b_tile[n], b1 = b_tile[n + TILE_N], b2 = b_tile[n + 2 * TILE_N],
                 b3 = b_tile[n + 3 * TILE_N];
            [[unroll]] for (uint p = 0; p < PX; p++) {
                vec4 v = sum[p * PACKS + o];
                v = fma(a[p].xxxx, b0, v);
                v = fma(a[p].yyyy, b1, v);
                v = fma(a[p].zzzz, b2, v);
                sum[p * PACKS + o] = fma(a[p].wwww, b3, v);
            }
        }
    }
}

void write(uint plane, uint pixel, uint pack_index, vec4 v)
{
    uint o = (plane + pack_index) * PIXELS + pixel;
    if (WIDE != 0) {
        wide_result[o] = v;
    } else {
        v = filled_up(activate(ACTIVATION, v), pack_index == OUT_PACKS - 1, LAST_CHANNELS);
        if (RESIDUAL != 0)
            v += unpack(residual[o]);
        result[o] = pack(v);
    }
}

void main()
{
    uint z = gl_WorkGroupID.z, first_pack = gl_WorkGroupID.y * TILE_N;
    uint base = (BATCHED != 0 ? z * STEPS * STEP * 4 * COLUMNS : 0) + first_pack;
    uint bias = (BATCHED != 0 ? gl_NumWorkGroups.z : 1) * STEPS * STEP * 4 * COLUMNS + first_pack;
    [[unroll]] for (uint o = 0; o < PACKS; o++) {
        vec4 v = weights[bias + gl_LocalInvocationID.y + o * gl_WorkGroupSize.y];
        [[unroll]] for (uint p = 0; p < PX; p++)
            sum[p * PACKS + o] = v;
    }
    load_step(0, z * IN_PACKS, base);
    [[dont_unroll]] for (uint s = 0; s < STEPS; s++) {
        barrier();
        store_step();
        barrier();
        if (s + 1 < STEPS)
            load_step(s + 1, z * IN_PACKS, base);
        multiply();
    }
    [[unroll]] for (uint p = 0; p < PX; p++) {
        uint pixel = gl_WorkGroupID.x * TILE_M + gl_LocalInvocationID.x + p * gl_WorkGroupSize.x;
        [[unroll]] for (uint o = 0; o < PACKS; o++) {
            uint n = first_pack + gl_LocalInvocationID.y + o * gl_WorkGroupSize.y;
            if (pixel < PIXELS && n < OUT_PACKS)
                write(z * OUT_PACKS, pixel, n, sum[p * PACKS + o]);
        }
    }
}
