// SPDX-License-Identifier: LGPL-2.1-or-later
#version 430
#extension GL_EXT_shader_integer_mix : require
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
// Moves elements of images without computing: slice, pad, concat, depthToSpace, spaceToDepth. Each
// element of the output's region at OFFSET is read from its place in the input. An invocation
// writes one pack, and reads a whole one where channels stay together (ALIGNED).
#include "common/storage.glsl"

layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;
layout(constant_id = 3) const uint KIND = 0; // enum tdl_move_kind
layout(constant_id = 4) const uint MODE = 0; // enum tdl_pad_mode
layout(constant_id = 5) const uint IN_N = 1;
layout(constant_id = 6) const uint IN_C = 1;
layout(constant_id = 7) const uint IN_H = 1;
layout(constant_id = 8) const uint IN_W = 1;
layout(constant_id = 9) const uint OUT_PACKS = 1;
layout(constant_id = 10) const uint OUT_H = 1;
layout(constant_id = 11) const uint OUT_W = 1;
layout(constant_id = 12) const uint REGION_C = 1;
layout(constant_id = 13) const uint REGION_H = 1;
layout(constant_id = 14) const uint REGION_W = 1;
layout(constant_id = 15) const uint OFFSET_N = 0;
layout(constant_id = 16) const uint OFFSET_PACKS = 0;
layout(constant_id = 17) const uint OFFSET_Y = 0;
layout(constant_id = 18) const uint OFFSET_X = 0;
// WINDOW: element i of a dimension is START + i · STEP of the input.
layout(constant_id = 19) const int START_N = 0;
layout(constant_id = 20) const int START_C = 0;
layout(constant_id = 21) const int START_Y = 0;
layout(constant_id = 22) const int START_X = 0;
layout(constant_id = 23) const int STEP_N = 1;
layout(constant_id = 24) const int STEP_C = 1;
layout(constant_id = 25) const int STEP_Y = 1;
layout(constant_id = 26) const int STEP_X = 1;
layout(constant_id = 27) const float VALUE = 0.0; // outside of the input
layout(constant_id = 28) const uint BLOCK = 1;
layout(constant_id = 29) const uint COLUMN_FIRST = 0; // enum tdl_block_order
layout(constant_id = 30) const uint ALIGNED = 1;

layout(std430, set = 0, binding = 0) readonly buffer In { PACK x[]; };
layout(std430, set = 0, binding = 1) writeonly buffer Out { PACK result[]; };

const uint WINDOW = 0, DEPTH_TO_SPACE = 1, SPACE_TO_DEPTH = 2;
const uint CONSTANT = 0, EDGE = 1, REFLECTION = 2;

// n, c, y, x of the input's element for that of the region.
ivec4 source(ivec4 at)
{
    const int B = int(BLOCK);
    if (KIND == WINDOW)
        return ivec4(START_N, START_C, START_Y, START_X) +
               at * ivec4(STEP_N, STEP_C, STEP_Y, STEP_X);
    if (KIND == DEPTH_TO_SPACE) {
        int place = at.z % B * B + at.w % B;
        int c = COLUMN_FIRST != 0 ? at.y * B * B + place : place * int(REGION_C) + at.y;
        return ivec4(at.x, c, at.z / B, at.w / B);
    }
    int place = COLUMN_FIRST != 0 ? at.y % (B * B) : at.y / int(IN_C);
    int c = COLUMN_FIRST != 0 ? at.y / (B * B) : at.y % int(IN_C);
    return ivec4(at.x, c, at.z * B + place / B, at.w * B + place % B);
}

// The value of lane `lane` of `at`, or, if channels stay together, of all.
vec4 value(ivec4 at, bool all)
{
    ivec4 size = ivec4(IN_N, IN_C, IN_H, IN_W);
    ivec4 s = source(at);
    if (MODE == REFLECTION) {
        s = abs(s);
        s = mix(s, 2 * (size - 1) - s, greaterThanEqual(s, size));
    }
    ivec4 near = clamp(s, ivec4(0), size - 1);
    uint plane = uint(near.x) * ((IN_C + 3) / 4) + uint(near.y) / 4;
    vec4 v = unpack(x[(plane * IN_H + uint(near.z)) * IN_W + uint(near.w)]);
    if (!all)
        v = vec4(v[uint(near.y) & 3]);
    return MODE == CONSTANT && near != s ? vec4(VALUE) : v;
}

void main()
{
    uint pixel = gl_GlobalInvocationID.x, k = gl_WorkGroupID.y, image = gl_WorkGroupID.z;
    if (pixel >= REGION_H * REGION_W)
        return;
    ivec4 at = ivec4(image, k * 4, pixel / REGION_W, pixel % REGION_W);
    vec4 v;
    if (ALIGNED != 0) {
        v = value(at, true);
    } else {
        v.x = value(at, false).x;
        v.y = value(at + ivec4(0, 1, 0, 0), false).x;
        v.z = value(at + ivec4(0, 2, 0, 0), false).x;
        v.w = value(at + ivec4(0, 3, 0, 0), false).x;
    }
    v = mix(vec4(0.0), v, lessThan(uvec4(k * 4) + uvec4(0, 1, 2, 3), uvec4(REGION_C)));
    uint plane = (image + OFFSET_N) * OUT_PACKS + k + OFFSET_PACKS;
    result[(plane * OUT_H + uint(at.z) + OFFSET_Y) * OUT_W + uint(at.w) + OFFSET_X] = pack(v);
}
