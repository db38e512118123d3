// SPDX-License-Identifier: LGPL-2.1-or-later
#version 430
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
// Reductions of packs to packs; dimensions that are reduced stay, as 1. A team
// of invocations computes one pack.
#include "common/storage.glsl"
#define TDL_FLOAT
#define ELEMENT vec4
layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;
#include "common/reduce.glsl"
layout(constant_id = 7) const uint RESULTS = 1; // packs
// The dimensions in packs, the last one first: those kept, and those reduced.
layout(constant_id = 8) const uint KEPT0 = 1;
layout(constant_id = 9) const uint KEPT1 = 1;
layout(constant_id = 10) const uint KEPT_STRIDE0 = 1;
layout(constant_id = 11) const uint KEPT_STRIDE1 = 1;
layout(constant_id = 12) const uint KEPT_STRIDE2 = 1;
layout(constant_id = 13) const uint REDUCED0 = 1;
layout(constant_id = 14) const uint REDUCED1 = 1;
layout(constant_id = 15) const uint STRIDE0 = 1;
layout(constant_id = 16) const uint STRIDE1 = 1;
layout(constant_id = 17) const uint STRIDE2 = 1;
layout(constant_id = 18) const uint CHANNELS = 1;  // channels of the input
layout(constant_id = 19) const uint ACROSS = 0;    // channels are reduced, too
layout(constant_id = 20) const uint PIXELS = 1;     // H · W of the input
layout(constant_id = 21) const uint OUT_PIXELS = 1; // and of the output
layout(constant_id = 22) const float SHARE = 1.0;   // 1 / elements of a result
layout(std430, set = 0, binding = 0) readonly buffer In { PACK x[]; };
layout(std430, set = 0, binding = 1) writeonly buffer Out { PACK result[]; };

const uint PACKS = (CHANNELS + 3) / 4;
const uint LAST = CHANNELS - (PACKS - 1) * 4; // channels of the last pack

bvec4 missing(uint pack_index)
{
    return greaterThanEqual(uvec4(0, 1, 2, 3), uvec4(pack_index == PACKS - 1 ? LAST : 4));
}

// The pack, with `neutral` where it has no channel that counts.
vec4 value(uint base, uint i, vec4 neutral, bool repeat)
{
    uint at = base + i % REDUCED0 * STRIDE0;
    if (COUNT > REDUCED0)
        at += i / REDUCED0 % REDUCED1 * STRIDE1 + i / (REDUCED0 * REDUCED1) * STRIDE2;
    const vec4 v = unpack(x[at]);
    return ACROSS != 0 ? mix(v, repeat ? v.xxxx : neutral, missing(at / PIXELS % PACKS)) : v;
}

vec4 combine_channels(uint reduction, vec4 v)
{
    if (ACROSS != 0)
        v = combine(reduction, combine(reduction, v.xxxx, v.yyyy),
                    combine(reduction, v.zzzz, v.wwww));
    return v;
}

vec4 result_of(uint index, uint member)
{
    const uint base = index % KEPT0 * KEPT_STRIDE0 + index / KEPT0 % KEPT1 * KEPT_STRIDE1 +
                      index / (KEPT0 * KEPT1) * KEPT_STRIDE2;
    const vec4 neutral = vec4(REDUCTION == PRODUCT ? 1.0 : 0.0);
    vec4 sum = neutral, largest = vec4(0.0);
    if (REDUCTION == MAX || REDUCTION == MIN || REDUCTION == LOG_SUM_EXP) {
        const uint extreme = REDUCTION == MIN ? MIN : MAX;
        sum = value(base, member, neutral, true); // a team is no larger than COUNT
        for (uint i = member + TEAM; i < COUNT; i += TEAM)
            sum = combine(extreme, sum, value(base, i, neutral, true));
        sum = combine_channels(extreme, combine_team(extreme, sum));
        if (REDUCTION != LOG_SUM_EXP)
            return sum;
        // An infinite largest element would make exp(x - largest) NaN.
        largest = clamp(sum, -3.0e38, 3.0e38);
        sum = vec4(0.0);
        for (uint i = member; i < COUNT; i += TEAM)
            sum += exp(value(base, i, vec4(-3.4e38), false) - largest);
        return largest + log(combine_channels(SUM, combine_team(SUM, sum)));
    }
    for (uint i = member; i < COUNT; i += TEAM)
        sum = combine(REDUCTION, sum, before(value(base, i, neutral, false)));
    sum = combine_channels(REDUCTION, combine_team(REDUCTION, sum));
    if (REDUCTION == MEAN)
        sum *= SHARE;
    else if (REDUCTION == L2)
        sum = sqrt(sum);
    else if (REDUCTION == LOG_SUM)
        sum = log(sum);
    return sum;
}

void main()
{
    const uint index = team_of_dispatch(), member = member_of_invocation();
    // Teams past the end help nobody, but the others meet them at barriers.
    vec4 v = result_of(min(index, RESULTS - 1), member);
    if (member != 0 || index >= RESULTS)
        return;
    // Channels past the last one stay zero.
    const bvec4 none = ACROSS != 0 ? bvec4(false, true, true, true)
                                   : missing(index / OUT_PIXELS % PACKS);
    result[index] = pack(mix(v, vec4(0.0), none));
}
