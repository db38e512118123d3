// SPDX-License-Identifier: LGPL-2.1-or-later
#version 430
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
// softmax when a word holds elements of different rows: exp(x - s), where s is
// ln Σ exp x of the row, found before.
#include "common/linear.glsl"
layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;
layout(constant_id = 3) const uint TYPE = 0;
layout(constant_id = 4) const uint COUNT = 1;
layout(constant_id = 5) const uint LENGTH = 1; // elements along the axis
layout(constant_id = 6) const uint INNER = 1;
LINEAR_IN(0, x)
LINEAR_IN(1, log_sum)
LINEAR_OUT(2, result)

float value(uint i)
{
    return exp(x_at(TYPE, i) - log_sum_at(FLOAT32, i / (LENGTH * INNER) * INNER + i % INNER));
}

void main()
{
    LINEAR_MAIN(result, TYPE, COUNT, value)
}
