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

// Words of a row per invocation, of plane 0 and of the chroma plane.
const uint ROW_WORDS = TARGET == F_I420 ? TARGET_WIDE
                       : TARGET == F_RGB || TARGET == F_BGR ? 3u * TARGET_WIDE
                       : TARGET_RGB ? 4u * TARGET_WIDE
                       : TARGET_422 || TARGET == F_P010 ? 2u * TARGET_WIDE : TARGET_WIDE;
const uint CHROMA_WORDS = TARGET == F_P010 ? 2u * TARGET_WIDE : TARGET_WIDE;
const bool STAGED = !FEW && ROW_WORDS > 1u;

// A workgroup of 32×4 invocations at most: BLOCK_X and BLOCK_Y in
// engine/frame/compose_plan.c.
const uint STAGE_ROWS = 8u;
const uint STAGE_WORDS = 128u;
shared uint staged[STAGE_ROWS * STAGE_WORDS];
shared uint staged_chroma[STAGE_ROWS / 2u * STAGE_WORDS / 2u];

// The words that a row of plane 0 has.
uint words_in_row(uint width)
{
    uint words = (width + 3u) / 4u;
    if (TARGET_422 || TARGET == F_P010)
        words = (width + 1u) / 2u;
    else if (TARGET == F_RGB || TARGET == F_BGR)
        words = (3u * width + 3u) / 4u;
    else if (TARGET_RGB)
        words = width;
    return words;
}

// Put word `i` of row `y` of plane 0, if the row has it.
void put(uint y, uint i, uint width, uint word)
{
    if (STAGED) {
        const uint first = gl_WorkGroupID.x * gl_WorkGroupSize.x * ROW_WORDS;
        staged[y % STAGE_ROWS * STAGE_WORDS + i - first] = word;
    } else if (i < words_in_row(width)) {
        target0[target_word(0u, y) + i] = word;
    }
}

void write_rgb_row(uint x, uint y, uint width, vec4 r, vec4 g, vec4 b, vec4 a)
{
    const bool bgr = TARGET == F_BGRA || TARGET == F_BGRX || TARGET == F_BGR;
    const uvec4 p = codes_of(bgr ? b : r), q = codes_of(g), s = codes_of(bgr ? r : b);
    if (TARGET == F_RGB || TARGET == F_BGR) {
        const uint at = x / 4u * 3u;
        put(y, at, width, p.x | q.x << 8 | s.x << 16 | p.y << 24);
        put(y, at + 1u, width, q.y | s.y << 8 | p.z << 16 | q.z << 24);
        put(y, at + 2u, width, s.z | p.w << 8 | q.w << 16 | s.w << 24);
    } else {
        const bool has_alpha = TARGET == F_RGBA || TARGET == F_BGRA;
        const uvec4 words = p | q << 8 | s << 16 | (has_alpha ? codes_of(a) : uvec4(255u)) << 24;
        for (uint k = 0u; k < 4u; k++)
            put(y, x + k, width, words[k]);
    }
}

// One row of the part of the block that plane 0 holds; `x` is its first pixel.
void write_row(uint x, uint y, uint width, Block b, uint r)
{
    if (TARGET_RGB) {
        write_rgb_row(x, y, width, b.c0[r], b.c1[r], b.c2[r], b.alpha[r]);
    } else if (TARGET_422) {
        const uvec4 luma = codes_of(b.c0[r]), u = codes_of(b.c1[r]), v = codes_of(b.c2[r]);
        const uvec4 first = uvec4(luma.x, u.x, luma.y, v.x);
        const uvec4 second = uvec4(luma.z, u.y, luma.w, v.y);
        put(y, x / 2u, width, pack_bytes(TARGET == F_YUY2 ? first : first.yxwz));
        put(y, x / 2u + 1u, width, pack_bytes(TARGET == F_YUY2 ? second : second.yxwz));
    } else if (TARGET == F_P010) {
        const uvec4 c = codes_of(b.c0[r]) << 6;
        put(y, x / 2u, width, c.x | c.y << 16);
        put(y, x / 2u + 1u, width, c.z | c.w << 16);
    } else {
        put(y, x / 4u, width, pack_bytes(codes_of(b.c0[r])));
    }
}

// The chroma of one block (4:2:0). I420 collects two blocks' bytes in `held`
// and writes with the second, or with the first when there is no second.
void write_chroma(uint x, uint y, uint width, Block b, inout uvec2 held)
{
    const uvec4 cb = codes_of(b.c1[0]), cr = codes_of(b.c2[0]);
    const uint row = y / 2u;
    if (TARGET == F_NV12) {
        target1[target_word(1u, row) + x / 4u] = cb.x | cr.x << 8 | cb.y << 16 | cr.y << 24;
    } else if (TARGET == F_P010) {
        const uvec2 words = (cb.xy | cr.xy << 16) << 6;
        if (STAGED) {
            const uint first = gl_WorkGroupID.x * gl_WorkGroupSize.x * CHROMA_WORDS;
            const uint at = row % (STAGE_ROWS / 2u) * (STAGE_WORDS / 2u) + x / 2u - first;
            staged_chroma[at] = words.x;
            staged_chroma[at + 1u] = words.y;
        } else {
            const uint at = target_word(1u, row) + x / 2u;
            target1[at] = words.x;
            if (x + 2u < width)
                target1[at + 1u] = words.y;
        }
    } else {
        const uvec2 bytes = uvec2(cb.x | cb.y << 8, cr.x | cr.y << 8);
        const bool second = (x & 4u) != 0u;
        held = second ? held | bytes << 16 : bytes;
        if (second || x + 4u >= width) {
            target1[target_word(1u, row) + x / 8u] = held.x;
            target2[target_word(2u, row) + x / 8u] = held.y;
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

// Every invocation calls it once, after its last block.
void write_staged(uint width, uint height)
{
    if (!STAGED)
        return;
    barrier();
    const uint step = gl_WorkGroupSize.x * gl_WorkGroupSize.y;
    const uint words = gl_WorkGroupSize.x * ROW_WORDS, rows = 2u * gl_WorkGroupSize.y;
    for (uint i = gl_LocalInvocationIndex; i < words * rows; i += step) {
        const uint row = i / words, at = gl_WorkGroupID.x * words + i % words;
        const uint y = gl_WorkGroupID.y * rows + row;
        if (y < height && at < words_in_row(width))
            target0[target_word(0u, y) + at] = staged[row * STAGE_WORDS + i % words];
    }
    if (TARGET != F_P010)
        return;
    const uint pairs = gl_WorkGroupSize.x * CHROMA_WORDS;
    for (uint i = gl_LocalInvocationIndex; i < pairs * rows / 2u; i += step) {
        const uint row = i / pairs, at = gl_WorkGroupID.x * pairs + i % pairs;
        const uint y = gl_WorkGroupID.y * rows / 2u + row;
        if (y < (height + 1u) / 2u && at < (width + 1u) / 2u)
            target1[target_word(1u, y) + at] = staged_chroma[row * (STAGE_WORDS / 2u) + i % pairs];
    }
}

#endif
