// SPDX-License-Identifier: LGPL-2.1-or-later
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
// argMin and argMax: where in each row the extreme lies. A team of invocations
// takes a row.
#include "common/linear.glsl"
layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;
layout(constant_id = 3) const uint TYPE = 0;
layout(constant_id = 4) const uint TEAM = 1;
layout(constant_id = 5) const uint NEIGHBOURS = 0; // as in common/reduce.glsl
layout(constant_id = 6) const uint LENGTH = 1;
layout(constant_id = 7) const uint INNER = 1;
layout(constant_id = 8) const uint ROWS = 1;
layout(constant_id = 9) const uint LARGEST = 1;
layout(constant_id = 10) const uint LAST = 0; // 1: the last of equal elements wins; 0: the first
layout(constant_id = 11) const uint OUT_WORDS = 1; // 2: int64
LINEAR_IN(0, x)
layout(std430, set = 0, binding = 1) writeonly buffer Out { uint result[]; };

const uint TEAMS = gl_WorkGroupSize.x / TEAM;
shared ELEMENT team_best[gl_WorkGroupSize.x];
shared uint team_at[gl_WorkGroupSize.x];

// True if element b at j is to be taken rather than a at i.
bool beats(ELEMENT b, uint j, ELEMENT a, uint i)
{
    return (LARGEST != 0 ? b > a : b < a) || (b == a && (LAST != 0 ? j > i : j < i));
}

void main()
{
    const uint local = gl_LocalInvocationID.x;
    const uint member = NEIGHBOURS != 0 ? local % TEAM : local / TEAMS;
    const uint team = NEIGHBOURS != 0 ? local / TEAM : local % TEAMS;
    const uint row = (gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x) * TEAMS + team;
    const uint mine = min(row, ROWS - 1), base = mine / INNER * LENGTH * INNER + mine % INNER;
    ELEMENT best = x_at(TYPE, base + member * INNER); // a team is no larger than LENGTH
    uint at = member;
    for (uint i = member + TEAM; i < LENGTH; i += TEAM) {
        const ELEMENT v = x_at(TYPE, base + i * INNER);
        const bool better = beats(v, i, best, at);
        best = better ? v : best;
        at = better ? i : at;
    }
    if (TEAM > 1) {
        const uint first = team * TEAM;
        team_best[first + member] = best;
        team_at[first + member] = at;
        for (uint step = TEAM / 2; step > 0; step /= 2) {
            barrier();
            const uint other = first + member + step;
            if (member < step && beats(team_best[other], team_at[other], team_best[first + member],
                                       team_at[first + member])) {
                team_best[first + member] = team_best[other];
                team_at[first + member] = team_at[other];
            }
        }
        at = team_at[first]; // member 0, the one that goes on, wrote it
    }
    if (member != 0 || row >= ROWS)
        return;
    result[row * OUT_WORDS] = at;
    if (OUT_WORDS == 2)
        result[row * 2 + 1] = 0;
}
