// SPDX-License-Identifier: LGPL-2.1-or-later
#version 430
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
// layerNormalization of rows whose elements are neighbours, in one step: a team keeps its row in
// registers, so that it is read once.
#include "common/linear.glsl"
#include "common/activation.glsl"
#include "common/reduce.glsl"
layout(constant_id = 7) const uint TYPE = 0;
layout(constant_id = 8) const uint ROWS = 1;
layout(constant_id = 9) const float EPSILON = 1e-5;
layout(constant_id = 10) const uint ACTIVATION = 0;
layout(constant_id = 11) const uint SCALED = 0; // scale, and bias, are given
layout(constant_id = 12) const uint BIASED = 0;

LINEAR_IN(0, x)
LINEAR_IN(2, scale)
LINEAR_IN(3, bias)
LINEAR_OUT(4, result)

const uint LANES = TYPE == FLOAT16 ? 2 : 1; // elements of a word; a row ends with one
const uint WORDS = COUNT / LANES, EACH = (WORDS + TEAM - 1) / TEAM;

void main()
{
    const uint row = team_of_dispatch(), member = member_of_invocation();
    const uint base = min(row, ROWS - 1) * WORDS;
    float held[EACH * LANES], sum = 0.0;
    [[unroll]] for (uint i = 0; i < EACH * LANES; i++) {
        const uint word = i / LANES * TEAM + member;
        const float v = x_at(TYPE, (base + min(word, WORDS - 1)) * LANES + i % LANES);
        held[i] = word < WORDS ? v : 0.0;
        sum += held[i];
    }
    const float mean = combine_team(SUM, sum) / float(COUNT);
    sum = 0.0;
    [[unroll]] for (uint i = 0; i < EACH * LANES; i++) {
        held[i] -= mean;
        sum += i / LANES * TEAM + member < WORDS ? held[i] * held[i] : 0.0;
    }
    const float factor = inversesqrt(combine_team(SUM, sum) / float(COUNT) + EPSILON);
    if (row >= ROWS)
        return;
    uint bits = 0;
    [[unroll]] for (uint i = 0; i < EACH * LANES; i++) {
        const uint word = i / LANES * TEAM + member, number = word * LANES + i % LANES;
        if (word >= WORDS)
            break;
        float v = held[i] * factor;
        if (SCALED != 0)
            v *= scale_at(TYPE, number);
        if (BIASED != 0)
            v += bias_at(TYPE, number);
        bits |= linear_encode(TYPE, activate(ACTIVATION, vec4(v)).x, i % LANES);
        if (i % LANES == LANES - 1) {
            result_words[base + word] = bits;
            bits = 0;
        }
    }
}
