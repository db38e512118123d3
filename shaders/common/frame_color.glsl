// SPDX-License-Identifier: LGPL-2.1-or-later
// A block of one colour. The including shader has declared, in `push`:
//     vec4 color;         in the target's codes; w: alpha
#ifndef FRAME_COLOR_GLSL
#define FRAME_COLOR_GLSL
#include "frame_codes.glsl"

Block color_block()
{
    Block block;
    for (uint r = 0u; r < 2u; r++) {
        block.c0[r] = vec4(push.color.x);
        block.c1[r] = vec4(push.color.y);
        block.c2[r] = vec4(push.color.z);
        block.alpha[r] = vec4(push.color.w);
    }
    return block;
}

#endif
