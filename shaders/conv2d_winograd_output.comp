// SPDX-License-Identifier: LGPL-2.1-or-later
#version 430
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
// Winograd, last step: Y = Aᵀ m A of every tile, M × M output pixels, with
// bias, activation and residual. The products come as [position][pack][tile].
#include "common/storage.glsl"
#include "common/activation.glsl"

layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;
#include "common/winograd.glsl"
layout(constant_id = 14) const uint ACTIVATION = 0;
layout(constant_id = 15) const uint RESIDUAL = 0;
layout(constant_id = 16) const uint LAST_CHANNELS = 4;
layout(constant_id = 17) const uint APART = 0; // a workgroup makes one row of its tiles

layout(std430, set = 0, binding = 1) readonly buffer Bias { vec4 bias[]; };
layout(std430, set = 0, binding = 4) readonly buffer Residual { PACK residual[]; };
layout(std430, set = 0, binding = 5) writeonly buffer Out { PACK result[]; };
layout(std430, set = 0, binding = 6) readonly buffer In { vec4 x[]; };

// Aᵀ m of one column.
void transform(const vec4 m[6], out vec4 y[4])
{
    vec4 a = m[1] + m[2], b = m[1] - m[2];
    if (M == 2) {
        y[0] = m[0] + a;
        y[1] = b - m[3];
        y[2] = y[3] = vec4(0.0);
    } else {
        vec4 c = m[3] + m[4], d = m[3] - m[4];
        y[0] = m[0] + a + c;
        y[1] = b + 2.0 * d;
        y[2] = a + 4.0 * c;
        y[3] = b + 8.0 * d + m[5];
    }
}

// Of Aᵀ, as in conv2d_winograd_input.comp.
float part_of(uint row, uint j)
{
    const float two[8] = float[8](1.0, 1.0, 1.0, 0.0, 0.0, 1.0, -1.0, -1.0);
    const float four[24] =
        float[24](1.0, 1.0, 1.0, 1.0, 1.0, 0.0, 0.0, 1.0, -1.0, 2.0, -2.0, 0.0,
                  0.0, 1.0, 1.0, 4.0, 4.0, 0.0, 0.0, 1.0, -1.0, 8.0, -8.0, 1.0);
    float part = 0.0;
    [[unroll]] for (uint r = 0; r < M; r++)
        if (r == row)
            part = M == 2 ? two[r * 4 + j] : four[r * 6 + j];
    return part;
}

// A row of the outputs of a tile whose values begin at x[first].
void make_row(uint row, uint first, out vec4 y[4])
{
    const uint A = M + 2;
    vec4 m[6];
    [[unroll]] for (uint i = 0; i < 6; i++)
        m[i] = vec4(0.0);
    [[unroll]] for (uint j = 0; j < A; j++) {
        float part = part_of(row, j);
        [[unroll]] for (uint i = 0; i < A; i++)
            m[i] = fma(vec4(part), x[first + (j * A + i) * PACKS * TILES], m[i]);
    }
    transform(m, y);
}

// One row of a tile, whose first pixel is `at`.
void write_row(uvec2 at, uint plane, uint pack_index, vec4 y[4])
{
    [[unroll]] for (uint i = 0; i < M; i++) {
        if (at.x + i >= OUT_W || at.y >= OUT_H)
            continue;
        uint o = (plane * OUT_H + at.y) * OUT_W + at.x + i;
        vec4 v = filled_up(activate(ACTIVATION, y[i] + bias[pack_index]), pack_index == PACKS - 1,
                           LAST_CHANNELS);
        if (RESIDUAL != 0)
            v += unpack(residual[o]);
        result[o] = pack(v);
    }
}

void main()
{
    const uint A = M + 2;
    bool used = gl_GlobalInvocationID.x < TILES;
    uint tile = min(gl_GlobalInvocationID.x, TILES - 1), pack_index = gl_WorkGroupID.y;
    uint image = tile / (TILES_W * TILES_H), inner = tile % (TILES_W * TILES_H);
    uvec2 corner = uvec2(inner % TILES_W, inner / TILES_W) * M;
    uint plane = image * PACKS + pack_index;
    if (APART != 0) {
        uint row = gl_WorkGroupID.z;
        vec4 y[4];
        make_row(row, pack_index * TILES + tile, y);
        if (used)
            write_row(corner + uvec2(0, row), plane, pack_index, y);
        return;
    }
    vec4 t[24]; // columns transformed
    [[unroll]] for (uint i = 0; i < A; i++) {
        vec4 m[6], y[4];
        [[unroll]] for (uint j = 0; j < 6; j++)
            m[j] = vec4(0.0);
        [[unroll]] for (uint j = 0; j < A; j++)
            m[j] = x[((j * A + i) * PACKS + pack_index) * TILES + tile];
        transform(m, y);
        [[unroll]] for (uint j = 0; j < M; j++)
            t[j * 6 + i] = y[j];
    }
    [[unroll]] for (uint j = 0; j < M; j++) {
        vec4 m[6], y[4];
        [[unroll]] for (uint i = 0; i < 6; i++)
            m[i] = i < A ? t[j * 6 + i] : vec4(0.0);
        transform(m, y);
        if (used)
            write_row(corner + uvec2(0, j), plane, pack_index, y);
    }
}
