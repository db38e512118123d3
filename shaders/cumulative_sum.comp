// SPDX-License-Identifier: LGPL-2.1-or-later
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
// cumulativeSum: each member of a team sums its share of a row, then goes over
// it again from the sum of the shares before.
#include "common/linear.glsl"
layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;
layout(constant_id = 3) const uint TYPE = 0;     // data type of the input
layout(constant_id = 4) const uint OUT_TYPE = 0; // 32 or 64 bits
layout(constant_id = 5) const uint TEAM = 1;
layout(constant_id = 6) const uint LENGTH = 1;
layout(constant_id = 7) const uint INNER = 1;
layout(constant_id = 8) const uint ROWS = 1;
layout(constant_id = 9) const uint EXCLUSIVE = 0;
layout(constant_id = 10) const uint REVERSED = 0;
LINEAR_IN(0, x)
LINEAR_OUT(1, result)

const uint TEAMS = gl_WorkGroupSize.x / TEAM;
const uint SHARE = (LENGTH + TEAM - 1) / TEAM;
shared ELEMENT share_sum[gl_WorkGroupSize.x];

void main()
{
    const uint team = gl_LocalInvocationID.x % TEAMS, member = gl_LocalInvocationID.x / TEAMS;
    const uint row = (gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x) * TEAMS + team;
    const uint mine = min(row, ROWS - 1), base = mine / INNER * LENGTH * INNER + mine % INNER;
    const uint from = member * SHARE, end = min(from + SHARE, LENGTH);
    ELEMENT sum = ELEMENT(0);
    if (TEAM > 1) {
        for (uint i = from; i < end; i++) {
            const uint k = REVERSED != 0 ? LENGTH - 1 - i : i;
            sum += x_at(TYPE, base + k * INNER);
        }
        share_sum[member * TEAMS + team] = sum;
        barrier();
        sum = ELEMENT(0);
        for (uint j = 0; j < member; j++)
            sum += share_sum[j * TEAMS + team];
    }
    if (row >= ROWS)
        return;
    for (uint i = from; i < end; i++) {
        const uint at = base + (REVERSED != 0 ? LENGTH - 1 - i : i) * INNER;
        const ELEMENT v = x_at(TYPE, at);
        LINEAR_PUT(result, OUT_TYPE, at, EXCLUSIVE != 0 ? sum : sum + v)
        sum += v;
    }
}
