// SPDX-License-Identifier: LGPL-2.1-or-later
#version 430
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
// gemm and matmul by tiles: a workgroup of X × Y invocations computes 4·Y rows
// by 4·X columns, 4 × 4 each, from tiles of a and b that are DEEP deep. With
// two elements a word, N is even.
#include "common/linear.glsl"
#include "common/activation.glsl"
#include "common/matmul.glsl"
layout(constant_id = 30) const uint DEEP = 16;

const uint X = gl_WorkGroupSize.x, Y = gl_WorkGroupSize.y;
// One more a row, so that writing along DEEP meets different banks.
const uint A_PITCH = Y + 1, B_PITCH = X + 1;
shared vec4 a_tile[DEEP * A_PITCH]; // [k][rows / 4]
shared vec4 b_tile[DEEP * B_PITCH]; // [k][columns / 4]

float a_or_zero(uint base, uint row, uint k)
{
    const float v = a_at(TYPE, base + min(row, M - 1) * A_ROW + min(k, K - 1) * A_COLUMN);
    return k < K ? v : 0.0;
}
float b_or_zero(uint base, uint k, uint column)
{
    const float v = b_at(TYPE, base + min(k, K - 1) * B_ROW + min(column, N - 1) * B_COLUMN);
    return k < K ? v : 0.0;
}

// Neighbouring invocations read neighbouring elements, whichever way they lie.
void load_tiles(uint a_base, uint b_base, uint row, uint column, uint first)
{
    for (uint i = gl_LocalInvocationIndex; i < DEEP * Y; i += X * Y) {
        const uint k = A_COLUMN == 1 ? i % DEEP : i / Y, r = A_COLUMN == 1 ? i / DEEP : i % Y;
        vec4 v;
        [[unroll]] for (uint j = 0; j < 4; j++)
            v[j] = a_or_zero(a_base, row + 4 * r + j, first + k);
        a_tile[k * A_PITCH + r] = v;
    }
    for (uint i = gl_LocalInvocationIndex; i < DEEP * X; i += X * Y) {
        const uint k = B_COLUMN == 1 ? i / X : i % DEEP, c = B_COLUMN == 1 ? i % X : i / DEEP;
        vec4 v;
        [[unroll]] for (uint j = 0; j < 4; j++)
            v[j] = b_or_zero(b_base, first + k, column + 4 * c + j);
        b_tile[k * B_PITCH + c] = v;
    }
}

void store_row(uint batch, uint row, uint column, vec4 sum)
{
    const uint PER_WORD = linear_lanes(OUT_TYPE);
    uint bits = 0;
    sum = finished(sum, min(row, M - 1), column);
    [[unroll]] for (uint j = 0; j < 4; j++) {
        const uint c = column + j;
        bits |= linear_encode(OUT_TYPE, sum[j], j % PER_WORD);
        if (j % PER_WORD == PER_WORD - 1) {
            if (row < M && c < N)
                result_words[((batch * M + row) * N + c) / PER_WORD] = bits;
            bits = 0;
        }
    }
}

void main()
{
    const uvec2 me = gl_LocalInvocationID.xy;
    const uint row = gl_WorkGroupID.y * Y * 4, column = gl_WorkGroupID.x * X * 4;
    for (uint batch = gl_WorkGroupID.z; batch < BATCHES; batch += gl_NumWorkGroups.z) {
        const uint a_base = a_of_batch(batch), b_base = b_of_batch(batch);
        vec4 sum0 = vec4(0.0), sum1 = vec4(0.0), sum2 = vec4(0.0), sum3 = vec4(0.0);
        for (uint first = 0; first < K; first += DEEP) {
            load_tiles(a_base, b_base, row, column, first);
            barrier();
            [[unroll]] for (uint k = 0; k < DEEP; k++) {
                const vec4 a = a_tile[k * A_PITCH + me.y], b = b_tile[k * B_PITCH + me.x];
                sum0 += a.x * b;
                sum1 += a.y * b;
                sum2 += a.z * b;
                sum3 += a.w * b;
            }
            barrier();
        }
        store_row(batch, row + 4 * me.y, column + 4 * me.x, sum0);
        store_row(batch, row + 4 * me.y + 1, column + 4 * me.x, sum1);
        store_row(batch, row + 4 * me.y + 2, column + 4 * me.x, sum2);
        store_row(batch, row + 4 * me.y + 3, column + 4 * me.x, sum3);
    }
}
