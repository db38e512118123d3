// SPDX-License-Identifier: LGPL-2.1-or-later
#version 430
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
// attention of float32, whose products are never stored. A workgroup has 32 rows of q.
#include "common/linear.glsl"
#include "common/attention.glsl"

const uint SIDE = 32; // rows of q, keys of a tile, and columns of both that are here at once
const uint TEAM = 8;  // invocations that share rows; as many teams
const uint EACH = SIDE / TEAM; // an invocation's rows: every TEAMth, and likewise its keys
const uint SUMS = (WIDTH + TEAM - 1) / TEAM;
const uint PITCH = SIDE + 1;
shared float rows[SIDE * PITCH];
shared float keys[SIDE * PITCH];
shared float weights[SIDE * PITCH];

// Columns from `d` on of rows of q and of keys; where there are none, of the last ones.
void load(uint d, uint q_base, uint first_row, uint k_base, uint first_key)
{
    for (uint i = gl_LocalInvocationID.x; i < SIDE * SIDE; i += TEAM * TEAM) {
        const uint column = min(d + i % SIDE, DEPTH - 1), at = i / SIDE * PITCH + i % SIDE;
        const uint row = min(first_row + i / SIDE, ROWS_IN_ALL - 1);
        const uint key = min(first_key + i / SIDE, KEYS - 1);
        rows[at] = q_at(FLOAT32, q_base + row * Q2 + column * Q3) * SCALE;
        keys[at] = k_at(FLOAT32, k_base + key * K2 + column * K3);
    }
}

void main()
{
    const uint TILES = (ROWS_IN_ALL + SIDE - 1) / SIDE;
    const uint group = gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
    const uint local = gl_LocalInvocationID.x, team = local / TEAM, member = local % TEAM;
    const uint first_row = group % TILES * SIDE, matrix = group / TILES;
    const uint batch = matrix / HEADS, head = matrix % HEADS;
    if (matrix >= MATRICES) // the same for all of the workgroup
        return;
    float sums[EACH * SUMS], most[EACH], total[EACH];
    for (uint c = 0; c < EACH * SUMS; c++)
        sums[c] = 0.0;
    [[unroll]] for (uint i = 0; i < EACH; i++) {
        most[i] = -INFINITE;
        total[i] = 0.0;
    }
    for (uint first = 0; first < KEYS; first += SIDE) {
        const uint count = min(SIDE, KEYS - first);
        float scores[EACH * EACH];
        [[unroll]] for (uint i = 0; i < EACH * EACH; i++)
            scores[i] = 0.0;
        for (uint d = 0; d < DEPTH; d += SIDE) {
            barrier();
            load(d, batch * Q0 + head * Q1, first_row, batch * K0 + head * K1, first);
            barrier();
            for (uint c = 0; c < min(SIDE, DEPTH - d); c++) {
                float factors[EACH];
                [[unroll]] for (uint j = 0; j < EACH; j++)
                    factors[j] = keys[(j * TEAM + member) * PITCH + c];
                [[unroll]] for (uint i = 0; i < EACH; i++) {
                    const float factor = rows[(i * TEAM + team) * PITCH + c];
                    [[unroll]] for (uint j = 0; j < EACH; j++)
                        scores[i * EACH + j] += factor * factors[j];
                }
            }
        }
        [[unroll]] for (uint i = 0; i < EACH; i++) {
            const uint row = min(first_row + i * TEAM + team, ROWS_IN_ALL - 1);
            [[unroll]] for (uint j = 0; j < EACH; j++) {
                const uint key = j * TEAM + member;
                if (MASKED && key < count)
                    scores[i * EACH + j] +=
                        mask_at(FLOAT32, batch * M0 + head * M1 + row * M2 + (first + key) * M3);
                weights[(i * TEAM + team) * PITCH + key] = scores[i * EACH + j];
            }
        }
        barrier();
        [[unroll]] for (uint i = 0; i < EACH; i++) {
            float larger = most[i];
            for (uint key = 0; key < count; key++)
                larger = max(larger, weights[(i * TEAM + team) * PITCH + key]);
            const float scale = most[i] == larger ? 1.0 : exp(most[i] - larger);
            most[i] = larger;
            total[i] *= scale;
            for (uint c = 0; c < SUMS; c++)
                sums[i * SUMS + c] *= scale;
        }
        barrier();
        [[unroll]] for (uint i = 0; i < EACH; i++)
            [[unroll]] for (uint j = 0; j < EACH; j++) // where all is -infinity, nothing is summed
                weights[(i * TEAM + team) * PITCH + j * TEAM + member] =
                    most[i] == -INFINITE ? 0.0 : exp(scores[i * EACH + j] - most[i]);
        barrier();
        for (uint key = 0; key < count; key++) {
            const uint at = batch * V0 + head * V1 + (first + key) * V2;
            float factors[EACH];
            [[unroll]] for (uint i = 0; i < EACH; i++) {
                factors[i] = weights[(i * TEAM + team) * PITCH + key];
                total[i] += factors[i];
            }
            for (uint c = 0; c < SUMS; c++) {
                const float value = v_at(FLOAT32, at + min(c * TEAM + member, WIDTH - 1) * V3);
                [[unroll]] for (uint i = 0; i < EACH; i++)
                    sums[i * SUMS + c] += factors[i] * value;
            }
        }
    }
    [[unroll]] for (uint i = 0; i < EACH; i++) {
        const uint row = first_row + i * TEAM + team;
        const uint at = batch * O0 + head * O1 + row * O2;
        for (uint c = member; row < ROWS_IN_ALL && c < WIDTH; c += TEAM)
            result_words[at + c] = floatBitsToUint(sums[i * SUMS + c / TEAM] / total[i]);
    }
}
