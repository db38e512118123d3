// SPDX-License-Identifier: LGPL-2.1-or-later
#version 430
#extension GL_GOOGLE_include_directive : require
// Matrices of words, transposed by tiles through shared memory, so that
// neighbours read and write neighbours. A workgroup has TILE × TILE / 4
// invocations and takes a tile of TILE × TILE.
layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;
layout(constant_id = 3) const uint ROWS = 1;    // rows of the input
layout(constant_id = 4) const uint COLUMNS = 1;
layout(constant_id = 5) const uint BATCHES = 1;

layout(std430, set = 0, binding = 0) readonly buffer In { uint x[]; };
layout(std430, set = 0, binding = 2) writeonly buffer Out { uint result[]; };

const uint TILE = gl_WorkGroupSize.x;
// One more a row: a column then lies in different banks.
shared uint tile[TILE * (TILE + 1)];

void main()
{
    uint column = gl_WorkGroupID.x * TILE, row = gl_WorkGroupID.y * TILE;
    uvec2 me = gl_LocalInvocationID.xy;
    for (uint batch = gl_WorkGroupID.z; batch < BATCHES; batch += gl_NumWorkGroups.z) {
        uint base = batch * ROWS * COLUMNS;
        for (uint j = me.y; j < TILE; j += gl_WorkGroupSize.y)
            if (row + j < ROWS && column + me.x < COLUMNS)
                tile[j * (TILE + 1) + me.x] = x[base + (row + j) * COLUMNS + column + me.x];
        barrier();
        for (uint j = me.y; j < TILE; j += gl_WorkGroupSize.y)
            if (column + j < COLUMNS && row + me.x < ROWS)
                result[base + (column + j) * ROWS + row + me.x] = tile[me.x * (TILE + 1) + j];
        barrier();
    }
}
