#version 430
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: LGPL-2.1-or-later
// Source frame and mask → target frame, with a picture behind.
layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;

#include "../common/frame_compose.glsl"
#include "../common/frame_backdrop.glsl"
#include "../common/frame_foreground.glsl"
#include "../common/frame_light.glsl"

Block compose_block(uint x, uint y, uvec2 frame, inout Window window)
{
    vec4 guide[2], mask[2];
    Block block = source_block(x, y, true, guide);
    block_mask(x, y, frame, guide, window, mask);
    if (FOREGROUND)
        add_differences(x, y, frame, mask, block);
    if (DESPILL)
        remove_spill(x, y, mask, block);
    if (LIGHT > 0u)
        wrap_light(x, y, block);
    return blend(picture_block(x, y, frame), block, mask);
}

void main()
{
    compose_all();
}
