// SPDX-License-Identifier: LGPL-2.1-or-later
// The foreground without the background that shines through its outline (Forte,
// "Approximate Fast Foreground Colour Estimation", ICIP 2021): a pixel of colour C with
// the mask m is m · F + (1 - m) · B. The means of what is clearly foreground or
// background round it say what F and B are likely; what they leave of C, F takes as far
// as the mask says so. Where the mask is 1 that is C.
//
// The including shader has declared, in `push`:
//     uint blur_size;      of the means, width | height << 16
//     float blur_step;     their pixels per frame pixel
// and what frame_mask.glsl wants.
#ifndef FRAME_SPILL_GLSL
#define FRAME_SPILL_GLSL
#include "frame_blend.glsl"
#include "frame_mask.glsl"
#include "frame_small.glsl"

layout(constant_id = 11) const bool DESPILL = false;

// Small pictures one behind the other, four bytes a pixel: the means of the background and of
// the foreground, and light (frame_light.glsl). They lie behind the coefficients and as many
// differences (frame_foreground.glsl), at a multiple of 256 bytes: a buffer of their own would
// be the ninth of compose_picture.comp, and some GPUs allow eight.
uint small_first()
{
    const uint pixels = (push.mask_size & 65535u) * (push.mask_size >> 16);
    return (2u * pixels + 63u) & ~63u;
}

vec4 small_at(uint x, uint y, uvec2 size, uint part)
{
    const uint i = part * size.x * size.y + y * size.x + x;
    return unpackUnorm4x8(coefficients[small_first() + i]) * vec4(vec3(TARGET_MAX), 1.0);
}

vec4 without_spill(vec4 color, vec4 back, vec4 front, vec4 mask)
{
    return limited(front + mask * (color - mix(back, front, mask)), color);
}

void remove_spill(uint x, uint y, vec4 mask[2], inout Block block)
{
    const uvec2 size = uvec2(push.blur_size & 65535u, push.blur_size >> 16);
    const Block back = small_block(x, y, size, push.blur_step, 0u);
    const Block front = small_block(x, y, size, push.blur_step, 1u);
    vec2 pairs[2];
    chroma_weights(mask, pairs);
    for (uint r = 0u; r < 2u; r++) {
        const vec4 c = TARGET_FULL ? mask[r] : pairs[r].xyxy;
        block.c0[r] = without_spill(block.c0[r], back.c0[r], front.c0[r], mask[r]);
        block.c1[r] = without_spill(block.c1[r], back.c1[r], front.c1[r], c);
        block.c2[r] = without_spill(block.c2[r], back.c2[r], front.c2[r], c);
    }
}

#endif
