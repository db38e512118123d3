// SPDX-License-Identifier: LGPL-2.1-or-later
// Reductions of ELEMENTs, which are scalars or vectors of a class of types.
// The including shader has defined ELEMENT.

layout(constant_id = 3) const uint REDUCTION = 0; // enum tdl_reduction
// Invocations that share one result, 2ⁿ up to the workgroup's size.
layout(constant_id = 4) const uint TEAM = 1;
// Neighbours belong to one team, which suits rows that lie together in memory;
// else neighbours work for neighbouring results.
layout(constant_id = 5) const uint NEIGHBOURS = 0;
layout(constant_id = 6) const uint COUNT = 1; // elements of a result

const uint MEAN = 0, SUM = 1, MAX = 2, MIN = 3, PRODUCT = 4, L1 = 5, L2 = 6, SUM_SQUARE = 7,
           LOG_SUM = 8, LOG_SUM_EXP = 9;

const uint TEAMS = gl_WorkGroupSize.x / TEAM; // teams of a workgroup

uint member_of_invocation()
{
    return NEIGHBOURS != 0 ? gl_LocalInvocationID.x % TEAM : gl_LocalInvocationID.x / TEAMS;
}
uint team_of_invocation()
{
    return NEIGHBOURS != 0 ? gl_LocalInvocationID.x / TEAM : gl_LocalInvocationID.x % TEAMS;
}
// Index of the team in the dispatch. Its groups are in two dimensions, since one dimension may be
// too short for all of them.
uint team_of_dispatch()
{
    uint group = gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
    return group * TEAMS + team_of_invocation();
}

#if !defined TDL_UINT && !defined TDL_U64
#define ABSOLUTE(v) abs(v)
#else
#define ABSOLUTE(v) (v)
#endif

// max() and min() may give the other one for NaN.
#ifdef TDL_FLOAT
#define OR_NAN(v, a, b) mix(mix(v, b, isnan(b)), a, isnan(a))
#else
#define OR_NAN(v, a, b) (v)
#endif

ELEMENT combine(uint reduction, ELEMENT a, ELEMENT b)
{
    return reduction == MAX ? OR_NAN(max(a, b), a, b) : reduction == MIN ? OR_NAN(min(a, b), a, b)
           : reduction == PRODUCT ? a * b : a + b;
}

ELEMENT before(ELEMENT v)
{
    return REDUCTION == L1                               ? ABSOLUTE(v)
           : REDUCTION == L2 || REDUCTION == SUM_SQUARE ? v * v
                                                         : v;
}

shared ELEMENT partial[gl_WorkGroupSize.x];

// Combines the values of a team's members in a fixed order; each member gets the same result.
ELEMENT combine_team(uint reduction, ELEMENT v)
{
    if (TEAM == 1)
        return v;
    const uint member = member_of_invocation(), first = team_of_invocation() * TEAM;
    barrier();
    partial[first + member] = v;
    for (uint step = TEAM / 2; step > 0; step /= 2) {
        barrier();
        if (member < step)
            partial[first + member] =
                combine(reduction, partial[first + member], partial[first + member + step]);
    }
    barrier();
    return partial[first];
}
