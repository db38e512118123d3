// SPDX-License-Identifier: LGPL-2.1-or-later
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
// depthToSpace and spaceToDepth on linear memory of elements of any type.
#include "common/linear.glsl"

layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;
layout(constant_id = 3) const uint BYTES = 4; // of an element
layout(constant_id = 4) const uint COUNT = 1;
layout(constant_id = 5) const uint TO_SPACE = 1;
layout(constant_id = 6) const uint COLUMN_FIRST = 0; // enum tdl_block_order
layout(constant_id = 7) const uint NCHW = 0;
layout(constant_id = 8) const uint BLOCK = 1;
layout(constant_id = 9) const uint C = 1; // of the output
layout(constant_id = 10) const uint H = 1;
layout(constant_id = 11) const uint W = 1;

LINEAR_IN(0, x)
LINEAR_OUT(1, result)

uint bits(uint i, uint upper)
{
    const uint B = BLOCK;
    uint c = NCHW != 0 ? i / (W * H) % C : i % C, column = NCHW != 0 ? i % W : i / C % W;
    uint row = NCHW != 0 ? i / W % H : i / (C * W) % H, n = i / (C * H * W);
    uint in_c, in_y, in_x, channels, width, height;
    if (TO_SPACE != 0) {
        uint place = row % B * B + column % B;
        channels = C * B * B;
        height = H / B;
        width = W / B;
        in_c = COLUMN_FIRST != 0 ? c * B * B + place : place * C + c;
        in_y = row / B;
        in_x = column / B;
    } else {
        channels = C / (B * B);
        height = H * B;
        width = W * B;
        uint place = COLUMN_FIRST != 0 ? c % (B * B) : c / channels;
        in_c = COLUMN_FIRST != 0 ? c / (B * B) : c % channels;
        in_y = row * B + place / B;
        in_x = column * B + place % B;
    }
    uint at = NCHW != 0 ? ((n * channels + in_c) * height + in_y) * width + in_x
                        : ((n * height + in_y) * width + in_x) * channels + in_c;
    return x_bits(BYTES, at, upper);
}

#include "common/move.glsl"
