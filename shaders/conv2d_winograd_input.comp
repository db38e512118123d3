// SPDX-License-Identifier: LGPL-2.1-or-later
#version 430
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
// Winograd, first step: V = Bᵀ d B of every tile of (M + 2)² input pixels, as
// [position][pack][tile]. Tiles of all images are counted through.
#include "common/storage.glsl"

layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;
#include "common/winograd.glsl"

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

void main()
{
    const uint A = M + 2;
    bool used = gl_GlobalInvocationID.x < TILES;
    uint tile = min(gl_GlobalInvocationID.x, TILES - 1), pack_index = gl_WorkGroupID.y;
    uint image = tile / (TILES_W * TILES_H), inner = tile % (TILES_W * TILES_H);
    ivec2 corner = ivec2(inner % TILES_W, inner / TILES_W) * int(M) - ivec2(PAD_LEFT, PAD_TOP);
    uint plane = (image * PACKS + pack_index) * IN_H * IN_W;
    vec4 t[36]; // columns transformed
    [[unroll]] for (uint i = 0; i < A; i++) {
        vec4 d[6], v[6];
        [[unroll]] for (uint j = 0; j < 6; j++)
            d[j] = vec4(0.0);
        [[unroll]] for (uint j = 0; j < A; j++) {
            ivec2 at = corner + ivec2(i, j);
            bool inside = all(greaterThanEqual(at, ivec2(0))) &&
                          all(lessThan(at, ivec2(IN_W, IN_H)));
            vec4 u = unpack(x[inside ? plane + uint(at.y) * IN_W + uint(at.x) : 0]);
            d[j] = inside ? u : vec4(0.0);
        }
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
