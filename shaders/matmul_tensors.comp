// SPDX-License-Identifier: LGPL-2.1-or-later
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
#extension GL_EXT_shader_16bit_storage : require
#extension GL_KHR_memory_scope_semantics : require
#extension GL_KHR_cooperative_matrix : require
#extension GL_NV_cooperative_matrix2 : require
#pragma use_vulkan_memory_model
// gemm and matmul of halves on matrices that a whole workgroup holds. The driver brings them
// from memory and back, wherever lines begin, and makes zeros of what lies outside.
#include "common/linear.glsl"
#include "common/activation.glsl"
#include "common/matmul.glsl"
layout(constant_id = 30) const uint TILE_M = 64;
layout(constant_id = 31) const uint TILE_N = 64;
layout(constant_id = 32) const uint DEEP = 64; // values of the sums in a step
layout(constant_id = 33) const uint AHEAD = 0; // a step is loaded before the one before it is summed

layout(std430, set = 0, binding = 0) readonly buffer AHalf { float16_t a_half[]; };
layout(std430, set = 0, binding = 1) readonly buffer BHalf { float16_t b_half[]; };
layout(std430, set = 0, binding = 3) writeonly buffer OutHalf { float16_t result_half[]; };

const bool B_TURNED = B_COLUMN != 1; // as its columns, then, come the rows of a matrix
const bool WHOLE = M % TILE_M == 0 && N % TILE_N == 0 && K % DEEP == 0;
const uint STEPS = (K + DEEP - 1) / DEEP;

#define MATRIX(TYPE, ROWS, COLUMNS, USE) coopmat<TYPE, gl_ScopeWorkgroup, ROWS, COLUMNS, USE>
#define A_MATRIX MATRIX(float16_t, TILE_M, DEEP, gl_MatrixUseA)
#define B_MATRIX MATRIX(float16_t, DEEP, TILE_N, gl_MatrixUseB)
#define SUM(TYPE) MATRIX(TYPE, TILE_M, TILE_N, gl_MatrixUseAccumulator)

float finished_at(const in uint row, const in uint column, const in float v)
{
    return finished(v, min(gl_WorkGroupID.x * TILE_M + row, M - 1),
                    min(gl_WorkGroupID.y * TILE_N + column, N - 1));
}

#define LOAD(A, B, K0)                                                                             \
    coopMatLoadTensorNV(A, a_half, 0, sliceTensorLayoutNV(a_all, row, TILE_M, K0, DEEP));          \
    if (B_TURNED)                                                                                  \
        coopMatLoadTensorNV(B, b_half, 0, sliceTensorLayoutNV(b_all, column, TILE_N, K0, DEEP),    \
                            createTensorViewNV(2, false, 1, 0));                                   \
    else                                                                                           \
        coopMatLoadTensorNV(B, b_half, 0, sliceTensorLayoutNV(b_all, K0, DEEP, column, TILE_N));

// Whole tiles have nothing outside the matrix, so their layouts need no clamping.
#define MULTIPLY(OUTSIDE)                                                                          \
    tensorLayoutNV<2, OUTSIDE> a_all = createTensorLayoutNV(2, OUTSIDE);                           \
    tensorLayoutNV<2, OUTSIDE> b_all = createTensorLayoutNV(2, OUTSIDE);                           \
    a_all = setTensorLayoutDimensionNV(a_all, M, K);                                               \
    if (B_TURNED)                                                                                  \
        b_all = setTensorLayoutDimensionNV(b_all, N, K);                                           \
    else                                                                                           \
        b_all = setTensorLayoutDimensionNV(b_all, K, N);                                           \
    A_MATRIX a;                                                                                    \
    B_MATRIX b;                                                                                    \
    if (AHEAD != 0) {                                                                              \
        LOAD(a, b, 0)                                                                              \
        [[dont_unroll]] for (uint s = 1; s < STEPS; s++) {                                         \
            A_MATRIX a_next;                                                                       \
            B_MATRIX b_next;                                                                       \
            LOAD(a_next, b_next, s * DEEP)                                                         \
            sum = coopMatMulAdd(a, b, sum);                                                        \
            a = a_next;                                                                            \
            b = b_next;                                                                            \
        }                                                                                          \
        sum = coopMatMulAdd(a, b, sum);                                                            \
    } else {                                                                                       \
        [[dont_unroll]] for (uint s = 0; s < STEPS; s++) {                                         \
            LOAD(a, b, s * DEEP)                                                                   \
            sum = coopMatMulAdd(a, b, sum);                                                        \
        }                                                                                          \
    }

void main()
{
    const uint row = gl_WorkGroupID.x * TILE_M, column = gl_WorkGroupID.y * TILE_N;
    SUM(float) sum = SUM(float)(0.0);
    if (WHOLE) {
        MULTIPLY(gl_CooperativeMatrixClampModeUndefinedNV)
    } else {
        MULTIPLY(gl_CooperativeMatrixClampModeConstantNV)
    }
    coopMatPerElementNV(sum, sum, finished_at);
    SUM(float16_t) halves = SUM(float16_t)(sum);
    tensorLayoutNV<2, gl_CooperativeMatrixClampModeConstantNV> place =
        createTensorLayoutNV(2, gl_CooperativeMatrixClampModeConstantNV);
    place = setTensorLayoutDimensionNV(place, M, N);
    coopMatStoreTensorNV(halves, result_half, 0,
                         sliceTensorLayoutNV(place, row, TILE_M, column, TILE_N));
}
