// SPDX-License-Identifier: LGPL-2.1-or-later
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_memory_scope_semantics : require
#extension GL_KHR_cooperative_matrix : require
#pragma use_vulkan_memory_model
// conv2d on cooperative matrices: a workgroup keeps the patch of the picture that its tile
// needs, with all channels or a chunk of them, in shared memory. All taps read it from
// there, so nothing waits between them; weights come from memory as fragments, which lie
// there as they are used. SHARES subgroups take turns at the steps of a sum and add up at
// the end, so that small pictures, which have few tiles, keep many subgroups at work.
//
// A fragment has FRAG_M neighbours of a row of pixels. Loops over fragments are not nested:
// of nested ones whose bounds are specialization constants, drivers unroll none, and keep
// no matrix in registers.
#include "common/storage.glsl"
#include "common/activation.glsl"
#include "common/resample.glsl"

layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;
#include "common/window.glsl"
layout(constant_id = 15) const uint IN_PACKS = 1;
layout(constant_id = 16) const uint OUT_PACKS = 1;
layout(constant_id = 17) const uint TILE_W = 16; // pixels, a multiple of FRAG_M
layout(constant_id = 18) const uint TILE_H = 1;
layout(constant_id = 19) const uint TILE_N = 16; // channels
layout(constant_id = 20) const uint CHUNK = 4;   // packs in shared memory at once, even
layout(constant_id = 21) const uint CHUNKS = 1;
layout(constant_id = 22) const uint GRID_M = 1; // subgroups that share the tile's pixels
layout(constant_id = 23) const uint SHARES = 1; // subgroups that share the steps of a sum
layout(constant_id = 24) const uint STEPS = 1;  // steps of a share and chunk, a multiple of AHEAD
layout(constant_id = 25) const uint AHEAD = 1;  // steps whose fragments are read at once
layout(constant_id = 26) const uint CELLS = 1;  // cells of the patch that are read at once
layout(constant_id = 27) const uint STAGED = 1; // fragments that are added up at once
layout(constant_id = 28) const uint FRAG_M = 16;
layout(constant_id = 29) const uint FRAG_N = 16;
layout(constant_id = 30) const uint FRAG_K = 16;
layout(constant_id = 31) const uint ACTIVATION = 0;
layout(constant_id = 32) const uint RESIDUAL = 0; // 1: add it, 2: go from it to the sum by `gate`
layout(constant_id = 33) const uint GATED = 0; // multiply the input by a gate
layout(constant_id = 34) const uint LAST_CHANNELS = 4;
layout(constant_id = 35) const uint FIRST = 1; // packs of the first input; behind it comes another
layout(constant_id = 36) const uint FACTOR = 0; // by which that one is multiplied
layout(constant_id = 37) const uint LOW_W = 0; // width of the first input, where that is resampled
layout(constant_id = 38) const uint LOW_H = 0;
layout(constant_id = 39) const uint COORDINATES = 0;

layout(std430, set = 0, binding = 0) readonly buffer In { uvec2 x[]; };
// [columns of a tile][chunk][step][share][FRAG_N][FRAG_K] halves.
layout(std430, set = 0, binding = 1) readonly buffer Weights { uvec4 weights[]; };
layout(std430, set = 0, binding = 2) readonly buffer Bias { vec4 bias[]; };
// A gate of the input's channels, or what the sum is blended by.
layout(std430, set = 0, binding = 3) readonly buffer Gate { uvec2 gate[]; };
layout(std430, set = 0, binding = 4) readonly buffer Residual { PACK residual[]; };
layout(std430, set = 0, binding = 5) writeonly buffer Out { PACK result[]; };
layout(std430, set = 0, binding = 6) readonly buffer Second { uvec2 second[]; };
layout(std430, set = 0, binding = 7) readonly buffer Factor { uvec2 factor[]; };

const uint THREADS = gl_WorkGroupSize.x;
const uint PATCH_W = (TILE_W - 1) * STRIDE_W + (KERNEL_W - 1) * DILATION_W + 1;
const uint PATCH_H = (TILE_H - 1) * STRIDE_H + (KERNEL_H - 1) * DILATION_H + 1;
const uint PATCH = PATCH_W * PATCH_H;
const uint PITCH = CHUNK / 2 + 1; // a gap that spreads pixels over the banks
const uint CELL_COUNT = PATCH * (CHUNK / 2);
const uint ACROSS = TILE_W / FRAG_M;
const uint OWN_M = ACROSS * TILE_H / GRID_M; // fragments of a subgroup
const uint OWN_N = TILE_N / FRAG_N;
const uint DEEP = CHUNK * 4 / FRAG_K;
const uint WORK = KERNEL_W * KERNEL_H * DEEP; // steps of a chunk
const uint FRAG_SIZE = FRAG_N * FRAG_K / 8;
const uint WIDTH = FRAG_N / 4;
const uint STAGE_PITCH = WIDTH + 1;
const uint STAGE = FRAG_M * STAGE_PITCH;
const uint COLUMNS = (OUT_W + TILE_W - 1) / TILE_W; // tiles in a row

shared uvec4 patch_cells[PATCH * PITCH];
shared vec4 stage[GRID_M * SHARES * STAGED * STAGE];

uint product(uint a, uint b)
{
    const f16vec2 most = f16vec2(65504.0);
    return packFloat2x16(clamp(unpackFloat2x16(a) * unpackFloat2x16(b), -most, most));
}

uvec2 product(uvec2 a, uvec2 b) { return uvec2(product(a.x, b.x), product(a.y, b.y)); }

uvec2 resampled(uint plane, bilinear near)
{
    uint base = plane * (LOW_W * LOW_H);
    vec4 v = unpack(x[base + near.index.x]) * near.weight.x +
             unpack(x[base + near.index.y]) * near.weight.y +
             unpack(x[base + near.index.z]) * near.weight.z +
             unpack(x[base + near.index.w]) * near.weight.w;
    return uvec2(packHalf2x16(v.xy), packHalf2x16(v.zw));
}

uvec2 read_pack(uint c, uint pixel, bilinear near)
{
    uint image = gl_WorkGroupID.z;
    if (c < FIRST && LOW_W != 0)
        return resampled(image * FIRST + c, near);
    if (c < FIRST) {
        uvec2 v = x[(image * FIRST + c) * (IN_W * IN_H) + pixel];
        return GATED != 0 ? product(v, gate[image * FIRST + c]) : v;
    }
    uint i = (image * (IN_PACKS - FIRST) + c - FIRST) * (IN_W * IN_H) + pixel;
    return FACTOR != 0 ? product(second[i], factor[i]) : second[i];
}

// Two packs of a pixel, zeros outside of the picture.
uvec4 bring(uint chunk, uint e, ivec2 origin)
{
    uint p = e % PATCH, c = chunk * CHUNK + e / PATCH * 2;
    ivec2 at = origin + ivec2(p % PATCH_W, p / PATCH_W);
    bool inside = e < CELL_COUNT && uint(at.x) < IN_W && uint(at.y) < IN_H;
    uint pixel = uint(at.y) * IN_W + uint(at.x);
    uvec4 v = uvec4(0);
    bilinear near;
    if (LOW_W != 0)
        near = bilinear_at(COORDINATES, uvec2(clamp(at, ivec2(0), ivec2(IN_W - 1, IN_H - 1))),
                           uvec2(LOW_W, LOW_H), uvec2(IN_W, IN_H));
    if (inside && c < IN_PACKS)
        v.xy = read_pack(c, pixel, near);
    if (inside && c + 1 < IN_PACKS)
        v.zw = read_pack(c + 1, pixel, near);
    return v;
}

void load_patch(uint chunk, ivec2 origin)
{
    [[dont_unroll]] for (uint first = gl_LocalInvocationIndex; first < CELL_COUNT;
                         first += THREADS * CELLS) {
        uvec4 v[CELLS];
        [[unroll]] for (uint i = 0; i < CELLS; i++)
            v[i] = bring(chunk, first + i * THREADS, origin);
        [[unroll]] for (uint i = 0; i < CELLS; i++) {
            uint e = first + i * THREADS;
            if (e < CELL_COUNT)
                patch_cells[e % PATCH * PITCH + e / PATCH] = v[i];
        }
    }
}

void write(uvec2 at, uint n, vec4 v)
{
    if (at.x >= OUT_W || at.y >= OUT_H || n >= OUT_PACKS)
        return;
    uint o = ((gl_WorkGroupID.z * OUT_PACKS + n) * OUT_H + at.y) * OUT_W + at.x;
    v = filled_up(activate(ACTIVATION, v + bias[n]), n == OUT_PACKS - 1, LAST_CHANNELS);
    if (RESIDUAL == 1)
        v += unpack(residual[o]);
    if (RESIDUAL == 2) {
        vec4 old = unpack(residual[o]);
        v = old + unpack(gate[o]) * (v - old);
    }
    result[o] = pack(v);
}

// Add up what the shares have of each subgroup's fragments from `first` on.
void finish(uint first, uvec2 tile)
{
    [[dont_unroll]] for (uint e = gl_LocalInvocationIndex;
                         e < GRID_M * STAGED * FRAG_M * WIDTH; e += THREADS) {
        uint y = e % FRAG_M, pack_index = e / FRAG_M % WIDTH;
        uint f = e / (FRAG_M * WIDTH) % STAGED, g = e / (FRAG_M * WIDTH * STAGED);
        uint from = (g * STAGED + f) * STAGE + y * STAGE_PITCH + pack_index;
        vec4 v = vec4(0.0);
        [[unroll]] for (uint s = 0; s < SHARES; s++)
            v += stage[from + s * (GRID_M * STAGED * STAGE)];
        uint m = g * OWN_M + (first + f) / OWN_N, n = (first + f) % OWN_N;
        uvec2 at = tile + uvec2(m % ACROSS * FRAG_M + y, m / ACROSS);
        write(at, gl_WorkGroupID.y * (TILE_N / 4) + n * WIDTH + pack_index, v);
    }
}

// The step's place among weights.
#define LOAD_WEIGHTS(s)                                                                        \
    [[unroll]] for (uint i = 0; i < AHEAD * OWN_N; i++)                                        \
        coopMatLoad(b[i], weights,                                                             \
                    (block + (((s) + i / OWN_N) * SHARES + share) * OWN_N + i % OWN_N) *       \
                        FRAG_SIZE,                                                             \
                    FRAG_K / 8, gl_CooperativeMatrixLayoutColumnMajor);

void main()
{
    coopmat<float, gl_ScopeSubgroup, FRAG_M, FRAG_N, gl_MatrixUseAccumulator> sum[OWN_M * OWN_N];
    coopmat<float16_t, gl_ScopeSubgroup, FRAG_K, FRAG_N, gl_MatrixUseB> b[AHEAD * OWN_N];
    uint share = gl_SubgroupID / GRID_M, own = gl_SubgroupID % GRID_M * OWN_M;
    uvec2 tile = uvec2(gl_WorkGroupID.x % COLUMNS, gl_WorkGroupID.x / COLUMNS) *
                 uvec2(TILE_W, TILE_H);
    ivec2 origin = ivec2(tile * uvec2(STRIDE_W, STRIDE_H)) - ivec2(PAD_LEFT, PAD_TOP);
    [[unroll]] for (uint i = 0; i < OWN_M * OWN_N; i++)
        sum[i] = coopmat<float, gl_ScopeSubgroup, FRAG_M, FRAG_N, gl_MatrixUseAccumulator>(0.0);
    [[dont_unroll]] for (uint chunk = 0; chunk < CHUNKS; chunk++) {
        uint block = (gl_WorkGroupID.y * CHUNKS + chunk) * STEPS * SHARES * OWN_N;
        LOAD_WEIGHTS(0)
        if (chunk > 0)
            barrier();
        load_patch(chunk, origin);
        barrier();
        [[dont_unroll]] for (uint s = 0; s < STEPS; s += AHEAD) {
            coopmat<float16_t, gl_ScopeSubgroup, FRAG_M, FRAG_K, gl_MatrixUseA> a[AHEAD * OWN_M];
            [[unroll]] for (uint i = 0; i < AHEAD * OWN_M; i++) {
                // Weights behind the last step are zeros.
                uint step = min((s + i / OWN_M) * SHARES + share, WORK - 1), tap = step / DEEP;
                uint m = own + i % OWN_M;
                uvec2 at = uvec2(m % ACROSS * FRAG_M, m / ACROSS) * uvec2(STRIDE_W, STRIDE_H) +
                           uvec2(tap % KERNEL_W * DILATION_W, tap / KERNEL_W * DILATION_H);
                coopMatLoad(a[i], patch_cells,
                            (at.y * PATCH_W + at.x) * PITCH + step % DEEP * (FRAG_K / 8),
                            STRIDE_W * PITCH, gl_CooperativeMatrixLayoutRowMajor);
            }
            [[unroll]] for (uint i = 0; i < AHEAD * OWN_M * OWN_N; i++)
                sum[i % (OWN_M * OWN_N)] =
                    coopMatMulAdd(a[i / OWN_N], b[i / (OWN_M * OWN_N) * OWN_N + i % OWN_N],
                                  sum[i % (OWN_M * OWN_N)]);
            if (s + AHEAD < STEPS)
                LOAD_WEIGHTS(s + AHEAD)
        }
    }
    [[unroll]] for (uint i = 0; i < OWN_M * OWN_N; i++) {
        coopMatStore(sum[i], stage, (gl_SubgroupID * STAGED + i % STAGED) * STAGE, STAGE_PITCH,
                     gl_CooperativeMatrixLayoutRowMajor);
        if (i % STAGED == STAGED - 1) {
            barrier();
            finish(i + 1 - STAGED, tile);
            barrier();
        }
    }
}
