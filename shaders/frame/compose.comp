#version 430
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: LGPL-2.1-or-later
// Source frame and mask → target frame, where the background, if it changes,
// becomes a colour.
layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;

#include "../common/frame_compose.glsl"
#include "../common/frame_foreground.glsl"
#include "../common/frame_light.glsl"

// Values mirror enum tdl_compose_kernel in engine/frame/compose.h.
const uint MASK = 0u;
const uint OVERLAY = 1u;
const uint COLOR = 2u;
const uint ALPHA = 3u;
const uint CONVERT = 4u;
layout(constant_id = 8) const uint MODE = 0u;

Block compose_block(uint x, uint y, uvec2 frame, inout Window window)
{
    vec4 guide[2], mask[2];
    Block block = source_block(x, y, MODE != MASK, guide);
    if (MODE == CONVERT)
        return block;
    block_mask(x, y, frame, guide, window, mask);
    if (FOREGROUND)
        add_differences(x, y, frame, mask, block);
    if (DESPILL)
        remove_spill(x, y, mask, block);
    if (LIGHT > 0u)
        wrap_light(x, y, block);
    if (MODE == MASK) {
        for (uint r = 0u; r < 2u; r++)
            block.c0[r] = push.opacity * mask[r]; // the value of foreground
    } else if (MODE == ALPHA) {
        for (uint r = 0u; r < 2u; r++)
            block.alpha[r] *= mask[r];
    } else if (MODE == OVERLAY) {
        Block color = color_block();
        for (uint r = 0u; r < 2u; r++) {
            mask[r] *= push.opacity;
            color.alpha[r] = block.alpha[r];
        }
        block = blend(block, color, mask);
    } else {
        block = blend(color_block(), block, mask);
    }
    return block;
}

void main()
{
    compose_all();
}
