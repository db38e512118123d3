// SPDX-License-Identifier: LGPL-2.1-or-later
// The frame of the kernels that make the target at full size, one per kind of
// background. Colours are blended in the target's own codes: blending is
// affine, so it gives what blending in RGB would, and where source and target
// agree no pixel is converted at all.
//
// The including shader defines compose_block() and calls compose_all().
#ifndef FRAME_COMPOSE_GLSL
#define FRAME_COMPOSE_GLSL

layout(push_constant) uniform Push {
    vec4 matrix[3];      // rows: source codes → target codes
    vec4 color;          // in the target's codes; w: alpha
    uvec4 source, target;
    uint source_size;
    uint mask_size;
    float mask_scale, mask_offset;
    float opacity;       // value of foreground in a mask
    uint blur_size;      // size of the blurred picture, packed as source_size
    float blur_step;     // blurred pixels per frame pixel
    float blur_share;    // share of the blurred picture, or of the light, in the background
} push;

#include "frame_blend.glsl"
#include "frame_block.glsl"
#include "frame_color.glsl"
#include "frame_mask.glsl"
#include "frame_target.glsl"

Block compose_block(uint x, uint y, uvec2 frame, inout Window window);

void compose_all()
{
    const uvec2 frame = uvec2(source_width(), source_height());
    const uint y = 2u * gl_GlobalInvocationID.y;
    Window window = window_new();
    uvec2 held[2] = uvec2[2](uvec2(0u), uvec2(0u));
    for (uint part = 0u; part < TARGET_WIDE; part++) {
        const uint x = 4u * (TARGET_WIDE * gl_GlobalInvocationID.x + part);
        if (x < frame.x && y < frame.y)
            write_block(x, y, frame.x, frame.y, compose_block(x, y, frame, window), held);
    }
    write_staged(frame.x, frame.y);
}

#endif
