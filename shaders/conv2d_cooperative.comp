// SPDX-License-Identifier: LGPL-2.1-or-later
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
#extension GL_EXT_shader_16bit_storage : require
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_memory_scope_semantics : require
#extension GL_KHR_cooperative_matrix : require
#pragma use_vulkan_memory_model
// conv2d as a product of cooperative matrices: as conv2d_gemm.comp, but whole
// subgroups multiply fragments of FRAG_M × FRAG_K pixels × channels by FRAG_K ×
// FRAG_N channels × channels, halves with float32 sums. A workgroup makes
// TILE_M pixels × TILE_N channels with GRID_M × GRID_N subgroups.
//
// Halves go from memory into the tiles as they are. Two tiles take turns: while one is
// multiplied, the next one comes.
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
layout(constant_id = 15) const uint IN_PACKS = 1;
layout(constant_id = 16) const uint OUT_PACKS = 1;
layout(constant_id = 17) const uint TILE_M = 16;
layout(constant_id = 18) const uint TILE_N = 16;
layout(constant_id = 19) const uint STEP = 4;      // packs of input a step
layout(constant_id = 20) const uint GRID_M = 1;
layout(constant_id = 21) const uint GRID_N = 1;
layout(constant_id = 22) const uint FRAG_M = 16;
layout(constant_id = 23) const uint FRAG_N = 16;
layout(constant_id = 24) const uint FRAG_K = 16;
layout(constant_id = 25) const uint A_LOADS = 1;   // packs of a step an invocation brings
layout(constant_id = 26) const uint B_LOADS = 1;
layout(constant_id = 27) const uint STEPS = 1;
layout(constant_id = 28) const uint COLUMNS = 4;   // packs of a row of weights
layout(constant_id = 29) const uint ACTIVATION = 0;
layout(constant_id = 30) const uint RESIDUAL = 0;
layout(constant_id = 31) const uint LANES = 32;    // invocations of a subgroup
layout(constant_id = 32) const uint LAST_CHANNELS = 4;
layout(constant_id = 33) const uint PARTS = 1;     // of the steps, by workgroups of their own

layout(std430, set = 0, binding = 0) readonly buffer In { f16vec4 x[]; };
// [tap][in channel][COLUMNS] packs of halves, steps filled up with zeros.
layout(std430, set = 0, binding = 1) readonly buffer Weights { f16vec4 weights[]; };
layout(std430, set = 0, binding = 2) readonly buffer Bias { vec4 bias[]; };
layout(std430, set = 0, binding = 4) readonly buffer Residual { PACK residual[]; };
layout(std430, set = 0, binding = 5) writeonly buffer Out { PACK result[]; };
// [part][image][pack][pixel], for conv2d_parts.comp.
layout(std430, set = 0, binding = 6) writeonly buffer Sums { vec4 sums[]; };

const uint TAPS = KERNEL_W * KERNEL_H;
const uint PIXELS = OUT_W * OUT_H;
// Rows in packs, with a gap that spreads them over the banks.
const uint A_ROW = STEP + 2;
const uint B_ROW = TILE_N / 4 + 2;
const uint OWN_M = TILE_M / GRID_M / FRAG_M; // fragments of a subgroup
const uint OWN_N = TILE_N / GRID_N / FRAG_N;

const uint A_SIZE = TILE_M * A_ROW, B_SIZE = STEP * 4 * B_ROW;

shared f16vec4 a_tile[2 * A_SIZE];
shared f16vec4 b_tile[2 * B_SIZE];
shared vec4 stage[GRID_M * GRID_N * FRAG_M * FRAG_N / 4];

f16vec4 a_next[A_LOADS], b_next[B_LOADS];

// Where a step lies within one tap, that is the same for all invocations.
void load_step(uint s, uint plane)
{
    const bool one_tap = IN_PACKS % STEP == 0;
    [[unroll]] for (uint i = 0; i < A_LOADS; i++) {
        uint e = gl_LocalInvocationIndex + i * gl_WorkGroupSize.x;
        uint k = s * STEP + e / TILE_M;
        uint tap = (one_tap ? s * STEP : k) / IN_PACKS, c = k - tap * IN_PACKS;
        uint pixel = gl_WorkGroupID.x * TILE_M + e % TILE_M;
        ivec2 at = ivec2(pixel % OUT_W, pixel / OUT_W) * ivec2(STRIDE_W, STRIDE_H) -
                   ivec2(PAD_LEFT, PAD_TOP) +
                   ivec2(tap % KERNEL_W * DILATION_W, tap / KERNEL_W * DILATION_H);
        bool inside = pixel < PIXELS && (one_tap || tap < TAPS) && uint(at.x) < IN_W &&
                      uint(at.y) < IN_H;
        a_next[i] = f16vec4(0.0);
        if (inside)
            a_next[i] = x[((plane + c) * IN_H + uint(at.y)) * IN_W + uint(at.x)];
    }
    [[unroll]] for (uint i = 0; i < B_LOADS; i++) {
        uint e = gl_LocalInvocationIndex + i * gl_WorkGroupSize.x;
        b_next[i] = weights[(s * STEP * 4 + e / (TILE_N / 4)) * COLUMNS +
                            gl_WorkGroupID.y * (TILE_N / 4) + e % (TILE_N / 4)];
    }
}

void store_step(uint s)
{
    uint a_at = s % 2 * A_SIZE, b_at = s % 2 * B_SIZE;
    [[unroll]] for (uint i = 0; i < A_LOADS; i++) {
        uint e = gl_LocalInvocationIndex + i * gl_WorkGroupSize.x;
        a_tile[a_at + e % TILE_M * A_ROW + e / TILE_M] = a_next[i];
    }
    [[unroll]] for (uint i = 0; i < B_LOADS; i++) {
        uint e = gl_LocalInvocationIndex + i * gl_WorkGroupSize.x;
        b_tile[b_at + e / (TILE_N / 4) * B_ROW + e % (TILE_N / 4)] = b_next[i];
    }
}

void write(uint pixel, uint n, vec4 v)
{
    if (pixel >= PIXELS || n >= OUT_PACKS)
        return;
    uint o = (gl_WorkGroupID.z / PARTS * OUT_PACKS + n) * PIXELS + pixel;
    if (PARTS > 1) {
        uint images = gl_NumWorkGroups.z / PARTS;
        sums[gl_WorkGroupID.z % PARTS * images * OUT_PACKS * PIXELS + o] = v;
        return;
    }
    v = filled_up(activate(ACTIVATION, v + bias[n]), n == OUT_PACKS - 1, LAST_CHANNELS);
    if (RESIDUAL != 0)
        v += unpack(residual[o]);
    result[o] = pack(v);
}

void main()
{
    coopmat<float, gl_ScopeSubgroup, FRAG_M, FRAG_N, gl_MatrixUseAccumulator> sum[OWN_M * OWN_N];
    uint plane = gl_WorkGroupID.z / PARTS * IN_PACKS, part = gl_WorkGroupID.z % PARTS;
    uint first = part * STEPS / PARTS, end = (part + 1) * STEPS / PARTS;
    uint row = gl_SubgroupID % GRID_M * (TILE_M / GRID_M);
    uint column = gl_SubgroupID / GRID_M * (TILE_N / GRID_N);
    [[unroll]] for (uint i = 0; i < OWN_M * OWN_N; i++)
        sum[i] = coopmat<float, gl_ScopeSubgroup, FRAG_M, FRAG_N, gl_MatrixUseAccumulator>(0.0);
    load_step(first, plane);
    store_step(first);
    barrier();
    [[dont_unroll]] for (uint s = first; s < end; s++) {
        uint a_at = s % 2 * A_SIZE, b_at = s % 2 * B_SIZE;
        if (s + 1 < end)
            load_step(s + 1, plane);
        [[unroll]] for (uint k = 0; k < STEP * 4; k += FRAG_K) {
            coopmat<float16_t, gl_ScopeSubgroup, FRAG_M, FRAG_K, gl_MatrixUseA> a[OWN_M];
            coopmat<float16_t, gl_ScopeSubgroup, FRAG_K, FRAG_N, gl_MatrixUseB> b[OWN_N];
            [[unroll]] for (uint m = 0; m < OWN_M; m++)
                coopMatLoad(a[m], a_tile, a_at + (row + m * FRAG_M) * A_ROW + k / 4, A_ROW,
                            gl_CooperativeMatrixLayoutRowMajor);
            [[unroll]] for (uint n = 0; n < OWN_N; n++)
                coopMatLoad(b[n], b_tile, b_at + k * B_ROW + (column + n * FRAG_N) / 4, B_ROW,
                            gl_CooperativeMatrixLayoutRowMajor);
            [[unroll]] for (uint i = 0; i < OWN_M * OWN_N; i++)
                sum[i] = coopMatMulAdd(a[i / OWN_N], b[i % OWN_N], sum[i]);
        }
        if (s + 1 < end)
            store_step(s + 1);
        barrier();
    }
    // Fragment by fragment through shared memory: only there is it known which
    // value is whose.
    uint own = gl_SubgroupID * (FRAG_M * FRAG_N / 4);
    [[unroll]] for (uint i = 0; i < OWN_M * OWN_N; i++) {
        uint m = i / OWN_N, n = i % OWN_N;
        coopMatStore(sum[i], stage, own, FRAG_N / 4, gl_CooperativeMatrixLayoutRowMajor);
        controlBarrier(gl_ScopeSubgroup, gl_ScopeSubgroup, gl_StorageSemanticsShared,
                       gl_SemanticsAcquireRelease);
        [[unroll]] for (uint e = gl_SubgroupInvocationID; e < FRAG_M * FRAG_N / 4; e += LANES)
            write(gl_WorkGroupID.x * TILE_M + row + m * FRAG_M + e % FRAG_M,
                  (gl_WorkGroupID.y * TILE_N + column + n * FRAG_N) / 4 + e / FRAG_M,
                  stage[own + e % FRAG_M * (FRAG_N / 4) + e / FRAG_M]);
        controlBarrier(gl_ScopeSubgroup, gl_ScopeSubgroup, gl_StorageSemanticsShared,
                       gl_SemanticsAcquireRelease);
    }
}
