// SPDX-License-Identifier: LGPL-2.1-or-later
#version 430
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
// gemm and matmul where there is no tile's worth of rows or columns, such as a
// vector by a matrix: a team of invocations shares the sums of one word of the
// output.
#include "common/linear.glsl"
#include "common/activation.glsl"
#include "common/matmul.glsl"
layout(constant_id = 30) const uint TEAM = 1;
layout(constant_id = 31) const uint NEIGHBOURS = 0; // as in common/reduce.glsl

const uint COUNT = BATCHES * M * N;
const uint TEAMS = gl_WorkGroupSize.x / TEAM;
shared vec2 partial[gl_WorkGroupSize.x];

float share_of(uint i, uint member)
{
    const uint column = i % N, row = i / N % M, batch = i / (N * M);
    const uint a = a_of_batch(batch) + row * A_ROW, b = b_of_batch(batch) + column * B_COLUMN;
    float sum = 0.0;
    for (uint k = member; k < K; k += TEAM)
        sum += a_at(TYPE, a + k * A_COLUMN) * b_at(TYPE, b + k * B_ROW);
    return sum;
}

void main()
{
    const uint PER_WORD = linear_lanes(OUT_TYPE);
    const uint local = gl_LocalInvocationID.x;
    const uint member = NEIGHBOURS != 0 ? local % TEAM : local / TEAMS;
    const uint team = NEIGHBOURS != 0 ? local / TEAM : local % TEAMS;
    const uint word = (gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x) * TEAMS + team;
    // Teams past the end help nobody, but the others meet them at barriers.
    const uint i = min(word * PER_WORD, COUNT - 1), j = min(i + 1, COUNT - 1);
    vec2 sum = vec2(share_of(i, member), PER_WORD == 2 ? share_of(j, member) : 0.0);
    if (TEAM > 1) {
        const uint first = team * TEAM;
        partial[first + member] = sum;
        for (uint step = TEAM / 2; step > 0; step /= 2) {
            barrier();
            if (member < step)
                partial[first + member] += partial[first + member + step];
        }
        sum = partial[first]; // member 0, the one that goes on, wrote it
    }
    if (member != 0 || word * PER_WORD >= COUNT)
        return;
    uint bits = linear_encode(OUT_TYPE, finished(sum.x, i / N % M, i % N), 0);
    if (PER_WORD == 2 && j > i)
        bits |= linear_encode(OUT_TYPE, finished(sum.y, j / N % M, j % N), 1);
    result_words[word] = bits;
}
