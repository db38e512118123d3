// SPDX-License-Identifier: LGPL-2.1-or-later
#version 430
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
// triangular: zero on the other side of a diagonal.
#include "common/move.glsl"
layout(constant_id = 6) const uint ROWS = 1;
layout(constant_id = 7) const uint COLUMNS = 1;
layout(constant_id = 8) const uint LOWER = 0;
layout(constant_id = 9) const int DIAGONAL = 0; // −ROWS … COLUMNS

LINEAR_IN(0, x)

uint source(uint part)
{
    uint i = part / PARTS;
    int above = int(i % COLUMNS) - int(i / COLUMNS % ROWS);
    bool kept = LOWER != 0 ? above <= DIAGONAL : above >= DIAGONAL;
    uint bits = x_bits(SIZE, part, 0);
    return kept ? bits : 0;
}

MOVE_PARTS
