#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: LGPL-2.1-or-later
// Source frame and mask → target frame, with a picture behind.
layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;

#include "../common/frame_compose.glsl"

// The picture in the target's format and size, rows padded to words, plane
// behind plane.
layout(std430, set = 0, binding = 7) restrict readonly buffer Backdrop { uint backdrop[]; };

// Words per row of plane 0 of the picture.
uint picture_row_words(uint width)
{
    if (TARGET_RGB)
        return format_is_packed24(TARGET) ? (3u * width + 3u) / 4u : width;
    return TARGET_422 || TARGET == F_P010 ? (width + 1u) / 2u : (width + 3u) / 4u;
}

// Reads past the block's last pixel stay inside the buffer: they are clamped.
uint picture_word(uint i)
{
    return backdrop[min(i, uint(backdrop.length()) - 1u)];
}

void picture_row(uint at, inout Block block, uint r)
{
    const uint w = picture_word(at);
    if (TARGET_RGB) {
        vec4 p = bytes_of(w), q = bytes_of(picture_word(at + 1u));
        vec4 s = bytes_of(picture_word(at + 2u));
        vec4 t = vec4(0.0);
        if (format_is_packed24(TARGET)) {
            t = vec4(s.yzw, 255.0);
            s = vec4(q.zw, s.x, 255.0);
            q = vec4(p.w, q.xy, 255.0);
            p.w = 255.0;
        } else {
            t = bytes_of(picture_word(at + 3u));
        }
        const vec4 red = vec4(p.x, q.x, s.x, t.x), blue = vec4(p.z, q.z, s.z, t.z);
        block.c0[r] = format_is_bgr(TARGET) ? blue : red;
        block.c1[r] = vec4(p.y, q.y, s.y, t.y);
        block.c2[r] = format_is_bgr(TARGET) ? red : blue;
        block.alpha[r] = format_has_alpha(TARGET) ? vec4(p.w, q.w, s.w, t.w) : vec4(255.0);
    } else if (TARGET_422) {
        const vec4 p = bytes_of(w), q = bytes_of(picture_word(at + 1u));
        const bool yuy2 = TARGET == F_YUY2;
        block.c0[r] = yuy2 ? vec4(p.xz, q.xz) : vec4(p.yw, q.yw);
        block.c1[r].xy = yuy2 ? vec2(p.y, q.y) : vec2(p.x, q.x);
        block.c2[r].xy = yuy2 ? vec2(p.w, q.w) : vec2(p.z, q.z);
    } else if (TARGET == F_P010) {
        block.c0[r] = vec4(tens_of(w), tens_of(picture_word(at + 1u)));
    } else {
        block.c0[r] = bytes_of(w);
    }
}

Block picture_block(uint x, uint y, uvec2 frame)
{
    const uint row = picture_row_words(frame.x), below = min(y + 1u, frame.y - 1u);
    const uint pixel = x / 4u * (TARGET_RGB ? (format_is_packed24(TARGET) ? 3u : 4u)
                                 : TARGET_422 || TARGET == F_P010 ? 2u : 1u);
    Block block = color_block();
    picture_row(y * row + pixel, block, 0u);
    picture_row(below * row + pixel, block, 1u);
    const uint chroma = frame.y * row, rows = (frame.y + 1u) / 2u;
    if (TARGET == F_NV12) {
        const vec4 c = bytes_of(picture_word(chroma + y / 2u * row + pixel));
        block.c1[0].xy = c.xz;
        block.c2[0].xy = c.yw;
    } else if (TARGET == F_P010) {
        const uint at = chroma + y / 2u * row + pixel;
        const vec2 c = tens_of(picture_word(at)), d = tens_of(picture_word(at + 1u));
        block.c1[0].xy = vec2(c.x, d.x);
        block.c2[0].xy = vec2(c.y, d.y);
    } else if (TARGET == F_I420) {
        const uint words = ((frame.x + 1u) / 2u + 3u) / 4u;
        const uint at = chroma + y / 2u * words + x / 8u, shift = (x & 4u) * 4u;
        const uint u = picture_word(at) >> shift, v = picture_word(at + rows * words) >> shift;
        block.c1[0].xy = vec2(uvec2(u, u >> 8) & 255u);
        block.c2[0].xy = vec2(uvec2(v, v >> 8) & 255u);
    }
    return block;
}

Block compose_block(uint x, uint y, uvec2 frame, inout Window window)
{
    vec4 guide[2], mask[2];
    const Block block = source_block(x, y, true, guide);
    block_mask(x, y, frame, guide, window, mask);
    return blend(picture_block(x, y, frame), block, mask);
}

void main()
{
    compose_all();
}
