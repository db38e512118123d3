// SPDX-License-Identifier: LGPL-2.1-or-later
// Writing the target frame in blocks of 4×2 pixels, so that every word has one
// writer. An invocation owns TARGET_WIDE of them side by side: in I420 at least
// two, because four chroma bytes span eight pixels. Bytes between a row's last pixel and its stride
// may be overwritten; words wholly behind the row are not.
//
// The including shader has declared, in `push`:
//     uvec4 target;       as `source` in frame_source.glsl
//     uint source_size;   the target has the source's size
#ifndef FRAME_TARGET_GLSL
#define FRAME_TARGET_GLSL
#include "frame_formats.glsl"

layout(constant_id = 5) const uint TARGET = 1u;

layout(std430, set = 0, binding = 3) restrict writeonly buffer Target0 { uint target0[]; };
layout(std430, set = 0, binding = 4) restrict writeonly buffer Target1 { uint target1[]; };
layout(std430, set = 0, binding = 5) restrict writeonly buffer Target2 { uint target2[]; };

const uint TARGET_WIDE = FEW ? 4u : TARGET == F_I420 ? 2u : 1u;
const bool TARGET_420 = TARGET == F_NV12 || TARGET == F_I420 || TARGET == F_P010;
const bool TARGET_422 = TARGET == F_YUY2 || TARGET == F_UYVY;
const bool TARGET_RGB = TARGET >= F_RGBA && TARGET <= F_BGR;
const float TARGET_MAX = TARGET == F_P010 ? 1023.0 : 255.0;

// A block of samples in the target's codes. c0 is R or Y. c1 and c2 are G and
// B; or Cb and Cr of two pairs (x, y), one row of them in 4:2:0, two in 4:2:2.
struct Block {
    vec4 c0[2], c1[2], c2[2], alpha[2];
};

uint target_word(uint plane, uint y)
{
    if (plane == 0u)
        return ((push.target.x & 255u) + y * push.target.y) >> 2;
    if (plane == 1u)
        return (((push.target.x >> 8) & 255u) + y * push.target.z) >> 2;
    return (((push.target.x >> 16) & 255u) + y * push.target.w) >> 2;
}

uvec4 codes_of(vec4 v)
{
    return uvec4(clamp(v, 0.0, TARGET_MAX) + 0.5);
}
uint pack_bytes(uvec4 b)
{
    return b.x | b.y << 8 | b.z << 16 | b.w << 24;
}

void write_rgb_row(uint at, uint x, uint width, vec4 r, vec4 g, vec4 b, vec4 a)
{
    const bool bgr = TARGET == F_BGRA || TARGET == F_BGRX || TARGET == F_BGR;
    const uvec4 p = codes_of(bgr ? b : r), q = codes_of(g), s = codes_of(bgr ? r : b);
    if (TARGET == F_RGB || TARGET == F_BGR) {
        const uint bytes = 3u * (width - x);
        target0[at] = p.x | q.x << 8 | s.x << 16 | p.y << 24;
        if (bytes > 4u)
            target0[at + 1u] = q.y | s.y << 8 | p.z << 16 | q.z << 24;
        if (bytes > 8u)
            target0[at + 2u] = s.z | p.w << 8 | q.w << 16 | s.w << 24;
        return;
    }
    const bool has_alpha = TARGET == F_RGBA || TARGET == F_BGRA;
    const uvec4 t = has_alpha ? codes_of(a) : uvec4(255u);
    const uvec4 words = p | q << 8 | s << 16 | t << 24;
    target0[at] = words.x;
    if (x + 1u < width)
        target0[at + 1u] = words.y;
    if (x + 2u < width)
        target0[at + 2u] = words.z;
    if (x + 3u < width)
        target0[at + 3u] = words.w;
}

void write_422_row(uint at, uint x, uint width, vec4 luma, vec4 cb, vec4 cr)
{
    const uvec4 y = codes_of(luma), u = codes_of(cb), v = codes_of(cr);
    const uvec4 first = uvec4(y.x, u.x, y.y, v.x), second = uvec4(y.z, u.y, y.w, v.y);
    target0[at] = pack_bytes(TARGET == F_YUY2 ? first : first.yxwz);
    if (x + 2u < width)
        target0[at + 1u] = pack_bytes(TARGET == F_YUY2 ? second : second.yxwz);
}

// One row of the part of the block that plane 0 holds; `x` is its first pixel.
void write_row(uint x, uint y, uint width, Block b, uint r)
{
    const uint at = target_word(0u, y);
    if (TARGET_RGB) {
        write_rgb_row(at + (TARGET == F_RGB || TARGET == F_BGR ? x / 4u * 3u : x), x, width,
                      b.c0[r], b.c1[r], b.c2[r], b.alpha[r]);
    } else if (TARGET_422) {
        write_422_row(at + x / 2u, x, width, b.c0[r], b.c1[r], b.c2[r]);
    } else if (TARGET == F_P010) {
        const uvec4 c = codes_of(b.c0[r]) << 6;
        target0[at + x / 2u] = c.x | c.y << 16;
        if (x + 2u < width)
            target0[at + x / 2u + 1u] = c.z | c.w << 16;
    } else {
        target0[at + x / 4u] = pack_bytes(codes_of(b.c0[r]));
    }
}

// The chroma of one block (4:2:0). I420 collects two blocks' bytes in `held`
// and writes with the second, or with the first when there is no second.
void write_chroma(uint x, uint y, uint width, Block b, inout uvec2 held)
{
    const uvec4 cb = codes_of(b.c1[0]), cr = codes_of(b.c2[0]);
    if (TARGET == F_NV12) {
        target1[target_word(1u, y / 2u) + x / 4u] = cb.x | cr.x << 8 | cb.y << 16 | cr.y << 24;
    } else if (TARGET == F_P010) {
        const uint at = target_word(1u, y / 2u) + x / 2u;
        target1[at] = cb.x << 6 | cr.x << 22;
        if (x + 2u < width)
            target1[at + 1u] = cb.y << 6 | cr.y << 22;
    } else {
        const uvec2 bytes = uvec2(cb.x | cb.y << 8, cr.x | cr.y << 8);
        const bool second = (x & 4u) != 0u;
        held = second ? held | bytes << 16 : bytes;
        if (second || x + 4u >= width) {
            target1[target_word(1u, y / 2u) + x / 8u] = held.x;
            target2[target_word(2u, y / 2u) + x / 8u] = held.y;
        }
    }
}

void write_block(uint x, uint y, uint width, uint height, Block b, inout uvec2 held)
{
    write_row(x, y, width, b, 0u);
    if (y + 1u < height)
        write_row(x, y + 1u, width, b, 1u);
    if (TARGET_420)
        write_chroma(x, y, width, b, held);
}

#endif
