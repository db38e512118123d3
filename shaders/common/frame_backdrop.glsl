// SPDX-License-Identifier: LGPL-2.1-or-later
// Blocks of the picture that is behind.
#ifndef FRAME_BACKDROP_GLSL
#define FRAME_BACKDROP_GLSL
#include "frame_color.glsl"

// The picture in the target's format and size, rows padded to words, plane
// behind plane.
layout(std430, set = 0, binding = 7) restrict readonly buffer Backdrop { uint backdrop[]; };

// Words per row of plane 0 of the picture.
uint picture_row_words(uint width)
{
    if (TARGET_RGB)
        return FORMAT_HAS(TARGET, T_BYTES3) ? (3u * width + 3u) / 4u : width;
    return TARGET_PAIRED || TARGET_16 ? (width + 1u) / 2u : (width + 3u) / 4u;
}

// Reads past the block's last pixel stay inside the buffer: they are clamped.
uint picture_word(uint i)
{
    return backdrop[min(i, uint(backdrop.length()) - 1u)];
}

void picture_rgb_row(uint at, inout Block block, uint r)
{
    vec4 p, q, s, t;
    if (FORMAT_HAS(TARGET, T_BYTES3)) {
        const vec4 u = bytes_of(picture_word(at)), v = bytes_of(picture_word(at + 1u));
        const vec4 w = bytes_of(picture_word(at + 2u));
        p = vec4(u.xyz, 255.0);
        q = vec4(u.w, v.xy, 255.0);
        s = vec4(v.zw, w.x, 255.0);
        t = vec4(w.yzw, 255.0);
    } else {
        p = rgba_of(picture_word(at), TARGET);
        q = rgba_of(picture_word(at + 1u), TARGET);
        s = rgba_of(picture_word(at + 2u), TARGET);
        t = rgba_of(picture_word(at + 3u), TARGET);
    }
    const bool swap = FORMAT_HAS(TARGET, T_BYTES3) && FORMAT_BGR(TARGET);
    const vec4 red = vec4(p.x, q.x, s.x, t.x), blue = vec4(p.z, q.z, s.z, t.z);
    block.c0[r] = swap ? blue : red;
    block.c1[r] = vec4(p.y, q.y, s.y, t.y);
    block.c2[r] = swap ? red : blue;
    block.alpha[r] = FORMAT_HAS(TARGET, T_ALPHA) ? vec4(p.w, q.w, s.w, t.w) : vec4(255.0);
}

void picture_row(uint at, inout Block block, uint r)
{
    if (TARGET_RGB) {
        picture_rgb_row(at, block, r);
    } else if (TARGET_PAIRED) {
        const vec4 p = bytes_of(picture_word(at)), q = bytes_of(picture_word(at + 1u));
        const bool second = FORMAT_HAS(TARGET, T_LUMA_SECOND);
        block.c0[r] = second ? vec4(p.yw, q.yw) : vec4(p.xz, q.xz);
        block.c1[r].xy = second ? vec2(p.x, q.x) : vec2(p.y, q.y);
        block.c2[r].xy = second ? vec2(p.z, q.z) : vec2(p.w, q.w);
    } else if (TARGET_16) {
        block.c0[r] = vec4(wides_of(picture_word(at), TARGET),
                           wides_of(picture_word(at + 1u), TARGET));
    } else {
        block.c0[r] = bytes_of(picture_word(at));
    }
}

// The samples of pixels x to x + 3, or of their two pairs, in the row of a plane
// of its own that begins at `word`.
vec4 picture_samples(uint word, uint x)
{
    if (TARGET_FULL && TARGET_16)
        return vec4(wides_of(picture_word(word + x / 2u), TARGET),
                    wides_of(picture_word(word + x / 2u + 1u), TARGET));
    if (TARGET_16)
        return wides_of(picture_word(word + x / 4u), TARGET).xyxy;
    if (TARGET_FULL)
        return bytes_of(picture_word(word + x / 4u));
    return bytes_of(picture_word(word + x / 8u) >> (x & 4u) * 4u);
}

// The block's row `r` of chroma in row `row` of the planes that begin at word
// `chroma`.
void picture_chroma(uint chroma, uint x, uint row, uvec2 frame, inout Block block, uint r)
{
    const uint pairs = (frame.x + 1u) / 2u;
    if (FORMAT_HAS(TARGET, T_MIXED)) {
        const uint words = TARGET_16 ? pairs : (2u * pairs + 3u) / 4u;
        const uint at = chroma + row * words + (TARGET_16 ? x / 2u : x / 4u);
        vec4 c = bytes_of(picture_word(at));
        if (TARGET_16)
            c = vec4(wides_of(picture_word(at), TARGET), wides_of(picture_word(at + 1u), TARGET));
        if (FORMAT_HAS(TARGET, T_CR_FIRST))
            c = c.yxwz;
        block.c1[r].xy = c.xz;
        block.c2[r].xy = c.yw;
        return;
    }
    const uint samples = TARGET_FULL ? frame.x : pairs;
    const uint words = TARGET_16 ? (samples + 1u) / 2u : (samples + 3u) / 4u;
    const uint rows = TARGET_420 ? (frame.y + 1u) / 2u : frame.y;
    const vec4 first = picture_samples(chroma + row * words, x);
    const vec4 second = picture_samples(chroma + (rows + row) * words, x);
    block.c1[r] = FORMAT_HAS(TARGET, T_CR_FIRST) ? second : first;
    block.c2[r] = FORMAT_HAS(TARGET, T_CR_FIRST) ? first : second;
}

Block picture_block(uint x, uint y, uvec2 frame)
{
    const uint row = picture_row_words(frame.x), below = min(y + 1u, frame.y - 1u);
    const uint pixel = x / 4u * (TARGET_RGB ? (FORMAT_HAS(TARGET, T_BYTES3) ? 3u : 4u)
                                 : TARGET_PAIRED || TARGET_16 ? 2u : 1u);
    Block block = color_block();
    picture_row(y * row + pixel, block, 0u);
    picture_row(below * row + pixel, block, 1u);
    if (!TARGET_CHROMA || TARGET_PAIRED)
        return block;
    picture_chroma(frame.y * row, x, TARGET_420 ? y / 2u : y, frame, block, 0u);
    if (!TARGET_420)
        picture_chroma(frame.y * row, x, below, frame, block, 1u);
    return block;
}

#endif
