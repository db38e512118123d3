// SPDX-License-Identifier: LGPL-2.1-or-later
#version 430
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
// The end of a product whose steps were summed in parts (matmul_cooperative.comp): their
// sums, with what comes behind a sum.
#include "common/linear.glsl"
#include "common/activation.glsl"
#include "common/matmul.glsl"
layout(constant_id = 30) const uint PARTS = 1;
layout(std430, set = 0, binding = 4) readonly buffer Sums { float sums[]; };

const uint COUNT = BATCHES * M * N;

float value(uint i)
{
    float sum = 0.0;
    [[unroll]] for (uint part = 0; part < PARTS; part++)
        sum += sums[part * COUNT + i];
    return finished(sum, i / N % M, i % N);
}

void main()
{
    LINEAR_MAIN(result, OUT_TYPE, COUNT, value)
}
