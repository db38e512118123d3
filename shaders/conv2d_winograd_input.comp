// SPDX-License-Identifier: LGPL-2.1-or-later
#version 430
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
// Winograd, first step: V = Bᵀ d B of every tile of (M + 2)² input pixels, as
// [position][pack][tile]. Tiles of all images are counted through.
#include "common/storage.glsl"

layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;
#include "common/winograd.glsl"
layout(constant_id = 14) const uint APART = 0; // a workgroup makes one row of its tiles

layout(std430, set = 0, binding = 0) readonly buffer In { PACK x[]; };
layout(std430, set = 0, binding = 7) writeonly buffer Out { vec4 result[]; };

// Bᵀ d of one column.
void transform(const vec4 d[6], out vec4 v[6])
{
    if (M == 2) {
        v[0] = d[0] - d[2];
        v[1] = d[1] + d[2];
        v[2] = d[2] - d[1];
        v[3] = d[1] - d[3];
        v[4] = v[5] = vec4(0.0);
    } else {
        vec4 a = d[4] - 4.0 * d[2], b = d[3] - 4.0 * d[1], c = d[4] - d[2], e = d[3] - d[1];
        v[0] = 4.0 * d[0] - 5.0 * d[2] + d[4];
        v[1] = a + b;
        v[2] = a - b;
        v[3] = c + 2.0 * e;
        v[4] = c - 2.0 * e;
        v[5] = 4.0 * d[1] - 5.0 * d[3] + d[5];
    }
}

// The input's pixel, zero outside the image.
vec4 pixel_at(uint plane, ivec2 at)
{
    bool inside = all(greaterThanEqual(at, ivec2(0))) && all(lessThan(at, ivec2(IN_W, IN_H)));
    vec4 u = unpack(x[inside ? plane + uint(at.y) * IN_W + uint(at.x) : 0]);
    return inside ? u : vec4(0.0);
}

// Of Bᵀ. (Compared with each row, as indices that are no constants cost some drivers memory.)
float part_of(uint row, uint j)
{
    const float two[16] = float[16](1.0, 0.0, -1.0, 0.0, 0.0, 1.0, 1.0, 0.0,
                                    0.0, -1.0, 1.0, 0.0, 0.0, 1.0, 0.0, -1.0);
    const float four[36] = float[36](4.0, 0.0, -5.0, 0.0, 1.0, 0.0, 0.0, -4.0, -4.0, 1.0, 1.0, 0.0,
                                     0.0, 4.0, -4.0, -1.0, 1.0, 0.0, 0.0, -2.0, -1.0, 2.0, 1.0, 0.0,
                                     0.0, 2.0, -1.0, -2.0, 1.0, 0.0, 0.0, 4.0, 0.0, -5.0, 0.0, 1.0);
    float part = 0.0;
    [[unroll]] for (uint r = 0; r < M + 2; r++)
        if (r == row)
            part = M == 2 ? two[r * 4 + j] : four[r * 6 + j];
    return part;
}

// One row of V, in the registers of one row.
void make_row(uint row, ivec2 corner, uint plane, out vec4 v[6])
{
    const uint A = M + 2;
    vec4 d[6];
    [[unroll]] for (uint i = 0; i < 6; i++)
        d[i] = vec4(0.0);
    [[unroll]] for (uint j = 0; j < A; j++) {
        float part = part_of(row, j);
        [[unroll]] for (uint i = 0; i < A; i++)
            d[i] = fma(vec4(part), pixel_at(plane, corner + ivec2(i, j)), d[i]);
    }
    transform(d, v);
}

void main()
{
    const uint A = M + 2;
    bool used = gl_GlobalInvocationID.x < TILES;
    uint tile = min(gl_GlobalInvocationID.x, TILES - 1), pack_index = gl_WorkGroupID.y;
    uint image = tile / (TILES_W * TILES_H), inner = tile % (TILES_W * TILES_H);
    ivec2 corner = ivec2(inner % TILES_W, inner / TILES_W) * int(M) - ivec2(PAD_LEFT, PAD_TOP);
    uint plane = (image * PACKS + pack_index) * IN_H * IN_W;
    if (APART != 0) {
        uint row = gl_WorkGroupID.z;
        vec4 v[6];
        make_row(row, corner, plane, v);
        [[unroll]] for (uint i = 0; i < A; i++)
            if (used)
                result[((row * A + i) * PACKS + pack_index) * TILES + tile] = v[i];
        return;
    }
    vec4 t[36]; // columns transformed
    [[unroll]] for (uint i = 0; i < A; i++) {
        vec4 d[6], v[6];
        [[unroll]] for (uint j = 0; j < 6; j++)
            d[j] = vec4(0.0);
        [[unroll]] for (uint j = 0; j < A; j++)
            d[j] = pixel_at(plane, corner + ivec2(i, j));
        transform(d, v);
        [[unroll]] for (uint j = 0; j < A; j++)
            t[j * 6 + i] = v[j];
    }
    [[unroll]] for (uint j = 0; j < A; j++) {
        vec4 d[6], v[6];
        [[unroll]] for (uint i = 0; i < 6; i++)
            d[i] = i < A ? t[j * 6 + i] : vec4(0.0);
        transform(d, v);
        [[unroll]] for (uint i = 0; i < A; i++)
            if (used)
                result[((j * A + i) * PACKS + pack_index) * TILES + tile] = v[i];
    }
}
