// SPDX-License-Identifier: LGPL-2.1-or-later
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
#extension GL_EXT_shader_16bit_storage : require
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_vote : require
#extension GL_KHR_shader_subgroup_shuffle : require
#extension GL_KHR_memory_scope_semantics : require
#extension GL_KHR_cooperative_matrix : require
#pragma use_vulkan_memory_model
// attention on cooperative matrices: a subgroup has FRAG_M rows of q and of the result in
// registers, and all subgroups of a workgroup read one tile of keys and values. Scores go
// through shared memory: only there is it known which is whose.
#include "common/linear.glsl"
#include "common/attention.glsl"
layout(constant_id = 31) const uint TILE = 64; // keys that are here at once
layout(constant_id = 32) const uint SUBGROUPS = 4;
layout(constant_id = 33) const uint LANES = 32;
layout(constant_id = 34) const uint FRAG_M = 16;
layout(constant_id = 35) const uint FRAG_N = 16;
layout(constant_id = 36) const uint FRAG_K = 16;

// k and v again, read in words of 16 bytes.
layout(std430, set = 0, binding = 1) readonly buffer KWide { uvec4 k_wide[]; };
layout(std430, set = 0, binding = 2) readonly buffer VWide { uvec4 v_wide[]; };
layout(std430, set = 0, binding = 4) writeonly buffer OutHalf { float16_t result_half[]; };
layout(std430, set = 0, binding = 4) writeonly buffer OutWide { uvec4 result_wide[]; };

const uint SIZE = SUBGROUPS * LANES;
const uint DEEP = (DEPTH + FRAG_K - 1) / FRAG_K * FRAG_K; // with zeros behind
const uint WIDE = (WIDTH + FRAG_N - 1) / FRAG_N * FRAG_N;
const uint TEAM = LANES / FRAG_M; // invocations that share a row
// Lines have a gap behind them that spreads them over the banks.
const uint K_PITCH = DEEP / 8 + 1, V_PITCH = WIDE / 8 + 1;
const uint S_PITCH = TILE / 4 + TEAM, P_PITCH = TILE / 4 + 2;
const uint K_FRAGS = DEEP / FRAG_K, S_FRAGS = TILE / FRAG_N;
const uint P_FRAGS = TILE / FRAG_K, O_FRAGS = WIDE / FRAG_N;
const uint EACH = TILE / 4 / TEAM; // four scores each
// A row's sums are scaled down only where its scores grew by so much more, in powers of two:
// weights are halves, which end at 65,504.
const float GROWTH = 8.0;
const float LOG2_E = 1.4426950408889634;
const bool K_WIDE = K3 == 1 && DEPTH % 8 == 0 && (K0 | K1 | K2) % 8 == 0;
const bool V_WIDE = V3 == 1 && WIDTH % 8 == 0 && (V0 | V1 | V2) % 8 == 0;
const bool K_TURNED = K3 != 1; // its lines are neighbours in memory

shared uvec4 k_tile[TILE * K_PITCH];
shared uvec4 v_tile[TILE * V_PITCH];
shared vec4 s_tile[SUBGROUPS * FRAG_M * S_PITCH];
shared uvec2 p_tile[SUBGROUPS * FRAG_M * P_PITCH];

uvec2 halves(vec4 f) { return uvec2(packFloat2x16(f16vec2(f.xy)), packFloat2x16(f16vec2(f.zw))); }

uvec4 halves(uvec4 low, uvec4 high)
{
    return uvec4(halves(uintBitsToFloat(low)), halves(uintBitsToFloat(high)));
}

// Eight values of a line from column `c` on, with zeros behind the last.
#define GATHER(NAME, BASE, STEP, COUNT, C)                                                         \
    float f[8];                                                                                    \
    [[unroll]] for (uint j = 0; j < 8; j++) {                                                      \
        f[j] = NAME##_at(TYPE, BASE + min(C + j, COUNT - 1) * STEP);                               \
        f[j] = C + j < COUNT ? f[j] : 0.0;                                                         \
    }                                                                                              \
    cell = uvec4(halves(vec4(f[0], f[1], f[2], f[3])), halves(vec4(f[4], f[5], f[6], f[7])));

#define BRING(NAME, FULL, BASE, STEP, COUNT, C)                                                    \
    uvec4 cell;                                                                                    \
    if (FULL) {                                                                                    \
        if (TYPE == FLOAT16)                                                                       \
            cell = NAME##_wide[(BASE + C) / 8];                                                    \
        else                                                                                       \
            cell = halves(NAME##_wide[(BASE + C) / 4], NAME##_wide[(BASE + C) / 4 + 1]);           \
    } else {                                                                                       \
        GATHER(NAME, BASE, STEP, COUNT, C)                                                         \
    }

void load_tile(uint k_base, uint v_base, uint first)
{
    const uint K_CELLS = DEEP / 8, V_CELLS = WIDE / 8;
    for (uint i = gl_LocalInvocationIndex; i < TILE * K_CELLS; i += SIZE) {
        const uint line = K_TURNED ? i % TILE : i / K_CELLS;
        const uint place = K_TURNED ? i / TILE : i % K_CELLS;
        const uint base = k_base + min(first + line, KEYS - 1) * K2;
        BRING(k, K_WIDE, base, K3, DEPTH, place * 8)
        k_tile[line * K_PITCH + place] = cell;
    }
    for (uint i = gl_LocalInvocationIndex; i < TILE * V_CELLS; i += SIZE) {
        const uint line = i / V_CELLS, place = i % V_CELLS;
        const uint base = v_base + min(first + line, KEYS - 1) * V2;
        BRING(v, V_WIDE, base, V3, WIDTH, place * 8)
        v_tile[line * V_PITCH + place] = cell;
    }
}

void subgroup_barrier()
{
    controlBarrier(gl_ScopeSubgroup, gl_ScopeSubgroup, gl_StorageSemanticsShared,
                   gl_SemanticsAcquireRelease);
}

#define MATRIX(TYPE, ROWS, COLUMNS, USE)                                                           \
    coopmat<TYPE, gl_ScopeSubgroup, ROWS, COLUMNS, gl_MatrixUse##USE>

void main()
{
    const uint ROWS = SUBGROUPS * FRAG_M, TILES = (ROWS_IN_ALL + ROWS - 1) / ROWS;
    const uint group = gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
    const uint matrix = group / TILES, batch = matrix / HEADS, head = matrix % HEADS;
    const uint first_row = group % TILES * ROWS + gl_SubgroupID * FRAG_M;
    const uint lane = gl_SubgroupInvocationID, own = lane / TEAM, member = lane % TEAM;
    const uint own_s = gl_SubgroupID * FRAG_M * S_PITCH, my_s = own_s + own * S_PITCH + member;
    const uint own_p = gl_SubgroupID * FRAG_M * P_PITCH, my_p = own_p + own * P_PITCH + member;
    const uint row = min(first_row + own, ROWS_IN_ALL - 1);
    const uint q_base = batch * Q0 + head * Q1;
    const uint mask_base = batch * M0 + head * M1 + row * M2;
    if (matrix >= MATRICES) // the same for all of the workgroup
        return;
    MATRIX(float16_t, FRAG_M, FRAG_K, A) rows[K_FRAGS];
    MATRIX(float, FRAG_M, FRAG_N, Accumulator) sums[O_FRAGS];
    [[unroll]] for (uint i = 0; i < O_FRAGS; i++)
        sums[i] = MATRIX(float, FRAG_M, FRAG_N, Accumulator)(0.0);
    [[unroll]] for (uint i = 0; i < K_FRAGS; i++) {
        subgroup_barrier();
        [[unroll]] for (uint c = member; c < FRAG_K / 4; c += TEAM) {
            vec4 f;
            [[unroll]] for (uint j = 0; j < 4; j++) {
                const uint column = i * FRAG_K + c * 4 + j;
                f[j] = q_at(TYPE, q_base + row * Q2 + min(column, DEPTH - 1) * Q3);
                f[j] = column < DEPTH ? f[j] * (SCALE * LOG2_E) : 0.0;
            }
            p_tile[own_p + own * P_PITCH + c] = halves(f);
        }
        subgroup_barrier();
        coopMatLoad(rows[i], p_tile, own_p, P_PITCH, gl_CooperativeMatrixLayoutRowMajor);
    }
    float most = -INFINITE, total = 0.0;
    [[dont_unroll]] for (uint first = 0; first < KEYS; first += TILE) {
        barrier();
        load_tile(batch * K0 + head * K1, batch * V0 + head * V1, first);
        barrier();
        MATRIX(float, FRAG_M, FRAG_N, Accumulator) scores[S_FRAGS];
        [[unroll]] for (uint i = 0; i < S_FRAGS; i++)
            scores[i] = MATRIX(float, FRAG_M, FRAG_N, Accumulator)(0.0);
        [[unroll]] for (uint i = 0; i < S_FRAGS * K_FRAGS; i++) {
            MATRIX(float16_t, FRAG_K, FRAG_N, B) keys;
            coopMatLoad(keys, k_tile, i % S_FRAGS * FRAG_N * K_PITCH + i / S_FRAGS * FRAG_K / 8,
                        K_PITCH, gl_CooperativeMatrixLayoutColumnMajor);
            scores[i % S_FRAGS] = coopMatMulAdd(rows[i / S_FRAGS], keys, scores[i % S_FRAGS]);
        }
        [[unroll]] for (uint i = 0; i < S_FRAGS; i++)
            coopMatStore(scores[i], s_tile, own_s + i * FRAG_N / 4, S_PITCH,
                         gl_CooperativeMatrixLayoutRowMajor);
        subgroup_barrier();
        vec4 mine[EACH];
        float largest = -INFINITE;
        [[unroll]] for (uint i = 0; i < EACH; i++) {
            mine[i] = s_tile[my_s + i * TEAM];
            const uint key = first + (i * TEAM + member) * 4;
            [[unroll]] for (uint j = 0; j < 4; j++) {
                if (MASKED)
                    mine[i][j] += mask_at(TYPE, mask_base + min(key + j, KEYS - 1) * M3) * LOG2_E;
                if (key + j >= KEYS)
                    mine[i][j] = -INFINITE;
                largest = max(largest, mine[i][j]);
            }
        }
        for (uint i = 1; i < TEAM; i *= 2)
            largest = max(largest, subgroupShuffleXor(largest, i));
        if (subgroupAny(largest > most + GROWTH)) {
            const float next = max(most, largest);
            const float scale = most == next ? 1.0 : exp2(most - next);
            most = next;
            total *= scale;
            [[unroll]] for (uint i = 0; i < O_FRAGS; i++) {
                subgroup_barrier();
                coopMatStore(sums[i], s_tile, own_s, S_PITCH, gl_CooperativeMatrixLayoutRowMajor);
                subgroup_barrier();
                [[unroll]] for (uint c = 0; c < FRAG_N / 4; c += TEAM)
                    s_tile[my_s + c] *= scale;
                subgroup_barrier();
                coopMatLoad(sums[i], s_tile, own_s, S_PITCH, gl_CooperativeMatrixLayoutRowMajor);
            }
        }
        [[unroll]] for (uint i = 0; i < EACH; i++) { // where all is -infinity, nothing is summed
            const vec4 weights = most == -INFINITE ? vec4(0.0) : exp2(mine[i] - most);
            total += dot(weights, vec4(1.0));
            p_tile[my_p + i * TEAM] = halves(weights);
        }
        subgroup_barrier();
        MATRIX(float16_t, FRAG_M, FRAG_K, A) weights[P_FRAGS];
        [[unroll]] for (uint i = 0; i < P_FRAGS; i++)
            coopMatLoad(weights[i], p_tile, own_p + i * FRAG_K / 4, P_PITCH,
                        gl_CooperativeMatrixLayoutRowMajor);
        [[unroll]] for (uint i = 0; i < P_FRAGS * O_FRAGS; i++) {
            MATRIX(float16_t, FRAG_K, FRAG_N, B) values;
            coopMatLoad(values, v_tile, i / O_FRAGS * FRAG_K * V_PITCH + i % O_FRAGS * FRAG_N / 8,
                        V_PITCH, gl_CooperativeMatrixLayoutRowMajor);
            sums[i % O_FRAGS] = coopMatMulAdd(weights[i / O_FRAGS], values, sums[i % O_FRAGS]);
        }
    }
    for (uint i = 1; i < TEAM; i *= 2)
        total += subgroupShuffleXor(total, i);
    const float scale = 1.0 / total;
    [[unroll]] for (uint i = 0; i < O_FRAGS; i++) {
        subgroup_barrier();
        coopMatStore(sums[i], s_tile, own_s, S_PITCH, gl_CooperativeMatrixLayoutRowMajor);
        subgroup_barrier();
        [[unroll]] for (uint c = 0; c < FRAG_N / 4; c += TEAM) {
            const vec4 f = s_tile[my_s + c] * scale;
            const uint column = i * FRAG_N + (c + member) * 4;
            const uint at = batch * O0 + head * O1 + row * O2 + column;
            if (first_row + own >= ROWS_IN_ALL)
                continue;
            if (TYPE == FLOAT32 && (WIDTH | O0 | O1 | O2) % 4 == 0) {
                if (column < WIDTH)
                    result_wide[at / 4] = floatBitsToUint(f);
                continue;
            }
            [[unroll]] for (uint j = 0; j < 4; j++)
                if (column + j < WIDTH) {
                    if (TYPE == FLOAT16)
                        result_half[at + j] = float16_t(f[j]);
                    else
                        result_words[at + j] = floatBitsToUint(f[j]);
                }
        }
    }
}
