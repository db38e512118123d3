// SPDX-License-Identifier: LGPL-2.1-or-later
// The new background's light on the foreground's edge: what is seen of the background,
// blurred, over the foreground (frame/light.comp makes it). Its fourth value says how much
// it covers: the brighter the background the more, and nothing that is farther inside than
// the blur reaches.
//
// The including shader has declared, in `push`, what frame_spill.glsl wants, and
//     float blur_share;    how much of the light
#ifndef FRAME_LIGHT_GLSL
#define FRAME_LIGHT_GLSL
#include "frame_spill.glsl"

// Number of the small picture that is read, from 1 on; 0: there is no light.
layout(constant_id = 12) const uint LIGHT = 0u;

void wrap_light(uint x, uint y, inout Block block)
{
    const uvec2 size = uvec2(push.blur_size & 65535u, push.blur_size >> 16);
    const Block light = small_block(x, y, size, push.blur_step, LIGHT - 1u);
    vec4 left[2];
    vec2 pairs[2];
    for (uint r = 0u; r < 2u; r++)
        left[r] = 1.0 - push.blur_share * light.alpha[r];
    chroma_weights(left, pairs);
    for (uint r = 0u; r < 2u; r++) {
        const vec4 c = TARGET_FULL ? left[r] : pairs[r].xyxy;
        block.c0[r] = block.c0[r] * left[r] + push.blur_share * light.c0[r];
        block.c1[r] = block.c1[r] * c + push.blur_share * light.c1[r];
        block.c2[r] = block.c2[r] * c + push.blur_share * light.c2[r];
    }
}

#endif
