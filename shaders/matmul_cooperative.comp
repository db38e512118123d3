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
// gemm and matmul on cooperative matrices (common/cooperative.glsl). Matrices come eight
// values at once where all of their lines begin at a multiple of them, else one by one; floats
// become halves on their way.
#include "common/linear.glsl"
#include "common/activation.glsl"
#include "common/matmul.glsl"
layout(constant_id = 30) const uint TILE_M = 16;
layout(constant_id = 31) const uint TILE_N = 16;
layout(constant_id = 32) const uint STEP = 4; // as conv2d_cooperative.comp, four values of K
layout(constant_id = 33) const uint GRID_M = 1;
layout(constant_id = 34) const uint GRID_N = 1;
layout(constant_id = 35) const uint FRAG_M = 16;
layout(constant_id = 36) const uint FRAG_N = 16;
layout(constant_id = 37) const uint FRAG_K = 16;
layout(constant_id = 38) const uint LANES = 32;
layout(constant_id = 39) const uint PARTS = 1; // shares of the steps, each by workgroups of its own

// a and b again, read in words of 16 bytes.
layout(std430, set = 0, binding = 0) readonly buffer AWide { uvec4 a_wide[]; };
layout(std430, set = 0, binding = 1) readonly buffer BWide { uvec4 b_wide[]; };
layout(std430, set = 0, binding = 3) writeonly buffer OutHalf { float16_t result_half[]; };
layout(std430, set = 0, binding = 3) writeonly buffer OutPairs { uvec2 result_pairs[]; };
layout(std430, set = 0, binding = 3) writeonly buffer OutWide { vec4 result_wide[]; };
// [part] of all that comes out, for matmul_parts.comp; by fours where lines are as long.
layout(std430, set = 0, binding = 4) writeonly buffer Sums { float sums[]; };
layout(std430, set = 0, binding = 4) writeonly buffer SumsWide { vec4 sums_wide[]; };

#define CELL uvec4
const uint CELL_HALVES = 8, DEEP = STEP * 4;
const uint STEPS = (K + DEEP - 1) / DEEP;
const bool A_TURNED = A_COLUMN != 1, B_TURNED = B_COLUMN != 1, ALONG_ROWS = true;
const uint A_CELLS = TILE_M * DEEP / 8 / gl_WorkGroupSize.x;
const uint B_CELLS = TILE_N * DEEP / 8 / gl_WorkGroupSize.x;
#include "common/cooperative.glsl"

const bool A_WIDE = (A_TURNED ? M : K) % 8 == 0 &&
                    (A_TURNED ? A_COLUMN : A_ROW) % 8 == 0 &&
                    (A_STEP0 | A_STEP1 | A_STEP2 | A_STEP3) % 8 == 0;
const bool B_WIDE = (B_TURNED ? K : N) % 8 == 0 &&
                    (B_TURNED ? B_COLUMN : B_ROW) % 8 == 0 &&
                    (B_STEP0 | B_STEP1 | B_STEP2 | B_STEP3) % 8 == 0;

uvec2 halves(uvec4 floats)
{
    const vec4 f = uintBitsToFloat(floats);
    return uvec2(packFloat2x16(f16vec2(f.xy)), packFloat2x16(f16vec2(f.zw)));
}

// Eight values from `AT` on, a multiple of eight.
#define BRING(NAME, AT)                                                                            \
    if (TYPE == FLOAT16)                                                                           \
        v = NAME##_wide[(AT) / 8];                                                                 \
    else                                                                                           \
        v = uvec4(halves(NAME##_wide[(AT) / 4]), halves(NAME##_wide[(AT) / 4 + 1]));

// Eight values of a line from `from` on, which ends at `end`: zeros past it.
#define GATHER(NAME, BASE, FROM, END)                                                              \
    float f[8];                                                                                    \
    [[unroll]] for (uint j = 0; j < 8; j++) {                                                      \
        f[j] = NAME##_at(TYPE, BASE + min(FROM + j, END - 1));                                     \
        f[j] = FROM + j < END ? f[j] : 0.0;                                                        \
    }                                                                                              \
    v = uvec4(packFloat2x16(f16vec2(f[0], f[1])), packFloat2x16(f16vec2(f[2], f[3])),              \
              packFloat2x16(f16vec2(f[4], f[5])), packFloat2x16(f16vec2(f[6], f[7])));

CELL bring_a(uint s, uint line, uint place)
{
    const uint tile = gl_WorkGroupID.x * TILE_M;
    const uint row = tile + (A_TURNED ? place * 8 : line);
    const uint k = s * DEEP + (A_TURNED ? line : place * 8);
    const uint base = a_of_batch(gl_WorkGroupID.z / PARTS) + (A_TURNED ? k * A_COLUMN : row * A_ROW);
    uvec4 v = uvec4(0);
    if (row < M && k < K) {
        if (A_WIDE) {
            BRING(a, base + (A_TURNED ? row : k))
        } else {
            GATHER(a, base, (A_TURNED ? row : k), (A_TURNED ? M : K))
        }
    }
    return v;
}

CELL bring_b(uint s, uint line, uint place)
{
    const uint tile = gl_WorkGroupID.y * TILE_N;
    const uint column = tile + (B_TURNED ? line : place * 8);
    const uint k = s * DEEP + (B_TURNED ? place * 8 : line);
    const uint base = b_of_batch(gl_WorkGroupID.z / PARTS) + (B_TURNED ? column * B_COLUMN : k * B_ROW);
    uvec4 v = uvec4(0);
    if (column < N && k < K) {
        if (B_WIDE) {
            BRING(b, base + (B_TURNED ? k : column))
        } else {
            GATHER(b, base, (B_TURNED ? k : column), (B_TURNED ? K : N))
        }
    }
    return v;
}

void write(uint row, uint column, vec4 v)
{
    if (row >= M || column >= N)
        return;
    const uint at = (gl_WorkGroupID.z / PARTS * M + row) * N + column;
    if (PARTS > 1) {
        const uint part = gl_WorkGroupID.z % PARTS * (BATCHES * M * N);
        if (N % 4 == 0)
            sums_wide[(part + at) / 4] = v;
        else
            [[unroll]] for (uint j = 0; j < 4; j++)
                if (column + j < N)
                    sums[part + at + j] = v[j];
        return;
    }
    v = finished(v, row, column);
    if (OUT_TYPE == FLOAT32 && N % 4 == 0) {
        result_wide[at / 4] = v;
        return;
    }
    if (OUT_TYPE == FLOAT16 && N % 4 == 0) {
        result_pairs[at / 4] = uvec2(packFloat2x16(f16vec2(v.xy)), packFloat2x16(f16vec2(v.zw)));
        return;
    }
    [[unroll]] for (uint j = 0; j < 4; j++)
        if (column + j < N) {
            if (OUT_TYPE == FLOAT16)
                result_half[at + j] = float16_t(v[j]);
            else
                result_words[at + j] = floatBitsToUint(v[j]);
        }
}
