// SPDX-License-Identifier: LGPL-2.1-or-later
#version 430
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
// resample2d, nearest neighbour. Which neighbour is nearest is a matter of
// exact arithmetic, so rows and columns come from a table, or from a division
// where each pixel becomes a block. One invocation an output pack, which moves
// as it is.
#include "common/storage.glsl"

layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;
layout(constant_id = 3) const uint IN_W = 1;
layout(constant_id = 4) const uint IN_H = 1;
layout(constant_id = 5) const uint OUT_W = 1;
layout(constant_id = 6) const uint OUT_H = 1;
layout(constant_id = 7) const uint PACKS = 1;
layout(constant_id = 8) const uint BLOCK_W = 0; // 0: by the table
layout(constant_id = 9) const uint BLOCK_H = 0;

layout(std430, set = 0, binding = 0) readonly buffer In { PACK x[]; };
layout(std430, set = 0, binding = 1) readonly buffer Table { uint table[]; }; // columns, rows
layout(std430, set = 0, binding = 2) writeonly buffer Out { PACK result[]; };

void main()
{
    uint o = gl_GlobalInvocationID.x;
    uint plane = gl_WorkGroupID.z * PACKS + gl_WorkGroupID.y;
    if (o >= OUT_W * OUT_H)
        return;
    uvec2 at = uvec2(o % OUT_W, o / OUT_W);
    at = BLOCK_W != 0 ? at / uvec2(BLOCK_W, BLOCK_H) : uvec2(table[at.x], table[OUT_W + at.y]);
    result[plane * OUT_W * OUT_H + o] = x[(plane * IN_H + at.y) * IN_W + at.x];
}
