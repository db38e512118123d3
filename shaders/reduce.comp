// SPDX-License-Identifier: LGPL-2.1-or-later
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
// Reductions over up to three dimensions that others may lie between. A team
// of invocations computes the results of one word of the output, and looks at
// an element more than once at most where that makes no difference.
layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;
#include "common/linear.glsl"
#include "common/reduce.glsl"
layout(constant_id = 7) const uint RESULTS = 1;
layout(constant_id = 8) const uint IN_TYPE = 0;
layout(constant_id = 9) const uint OUT_TYPE = 0;
// The dimensions, the last one first: those kept, and those reduced.
layout(constant_id = 10) const uint KEPT0 = 1;
layout(constant_id = 11) const uint KEPT1 = 1;
layout(constant_id = 12) const uint KEPT_STRIDE0 = 1;
layout(constant_id = 13) const uint KEPT_STRIDE1 = 1;
layout(constant_id = 14) const uint KEPT_STRIDE2 = 1;
layout(constant_id = 15) const uint REDUCED0 = 1;
layout(constant_id = 16) const uint REDUCED1 = 1;
layout(constant_id = 17) const uint STRIDE0 = 1;
layout(constant_id = 18) const uint STRIDE1 = 1;
layout(constant_id = 19) const uint STRIDE2 = 1;
// A result is the reduction of one of so many slices of a row, for a second
// step to finish.
layout(constant_id = 20) const uint SLICES = 1;
layout(constant_id = 21) const float SCALE = 1.0; // 1 / elements, for MEAN
LINEAR_IN(0, x)
LINEAR_OUT(1, result)

ELEMENT value(uint base, uint i)
{
    uint at = base + i % REDUCED0 * STRIDE0;
    if (COUNT > REDUCED0)
        at += i / REDUCED0 % REDUCED1 * STRIDE1 + i / (REDUCED0 * REDUCED1) * STRIDE2;
    return x_at(IN_TYPE, at);
}

ELEMENT result_of(uint index, uint member)
{
    const uint SHARE = (COUNT + SLICES - 1) / SLICES;
    const uint from = index % SLICES * SHARE, end = min(from + SHARE, COUNT);
    index /= SLICES;
    uint base = index % KEPT0 * KEPT_STRIDE0 + index / KEPT0 % KEPT1 * KEPT_STRIDE1 +
                index / (KEPT0 * KEPT1) * KEPT_STRIDE2;
    ELEMENT sum;
    if (REDUCTION == MAX || REDUCTION == MIN || REDUCTION == LOG_SUM_EXP) {
        const uint extreme = REDUCTION == MIN ? MIN : MAX;
        sum = value(base, min(from + member, COUNT - 1));
        for (uint i = from + member + TEAM; i < end; i += TEAM)
            sum = combine(extreme, sum, value(base, i));
        sum = combine_team(extreme, sum);
        if (REDUCTION != LOG_SUM_EXP)
            return sum;
    }
#ifdef TDL_FLOAT
    if (REDUCTION == LOG_SUM_EXP) {
        // An infinite largest element would make exp(x - largest) NaN.
        const float largest = clamp(sum, -3.0e38, 3.0e38);
        sum = 0.0;
        for (uint i = from + member; i < end; i += TEAM)
            sum += exp(value(base, i) - largest);
        return largest + log(combine_team(SUM, sum));
    }
#endif
    sum = ELEMENT(REDUCTION == PRODUCT ? 1 : 0);
    for (uint i = from + member; i < end; i += TEAM)
        sum = combine(REDUCTION, sum, before(value(base, i)));
    sum = combine_team(REDUCTION, sum);
#ifdef TDL_FLOAT
    if (REDUCTION == MEAN)
        sum *= SCALE;
    else if (REDUCTION == L2)
        sum = sqrt(sum);
    else if (REDUCTION == LOG_SUM)
        sum = log(sum);
#endif
    return sum;
}

void main()
{
    const uint word = team_of_dispatch(), member = member_of_invocation();
    // Teams past the end help nobody, but the others meet them at barriers.
#ifdef TDL_64BIT
    const ELEMENT v = result_of(min(word, RESULTS - 1), member);
    if (member == 0 && word < RESULTS)
        LINEAR_PUT(result, OUT_TYPE, word, v)
#else
    const uint LANES = linear_lanes(OUT_TYPE);
    uint bits = 0;
    [[unroll]] for (uint j = 0; j < LANES; j++)
        bits |= linear_encode(OUT_TYPE, result_of(min(word * LANES + j, RESULTS - 1), member), j);
    if (member == 0 && word * LANES < RESULTS)
        result_words[word] = bits;
#endif
}
