// SPDX-License-Identifier: LGPL-2.1-or-later
// Writing the target frame in blocks of 4×2 pixels, so that every word has one
// writer. An invocation owns TARGET_WIDE of them side by side: at least two where,
// as in I420, four chroma bytes span eight pixels. Bytes between a row's last
// pixel and its stride may be overwritten; words wholly behind the row are not.
//
// The including shader has declared, in `push`:
//     uvec4 target;       as `source` in frame_source.glsl
//     uint source_size;   the target has the source's size
#ifndef FRAME_TARGET_GLSL
#define FRAME_TARGET_GLSL
#include "frame_codes.glsl"

layout(std430, set = 0, binding = 3) restrict writeonly buffer Target0 { uint target0[]; };
layout(std430, set = 0, binding = 4) restrict writeonly buffer Target1 { uint target1[]; };
layout(std430, set = 0, binding = 5) restrict writeonly buffer Target2 { uint target2[]; };

const uint TARGET_WIDE = FEW ? 4u : FORMAT_HALF_BYTES(TARGET) ? 2u : 1u;

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
const uint ROW_WORDS = FORMAT_HAS(TARGET, T_BYTES3) ? 3u * TARGET_WIDE
                       : TARGET_RGB ? 4u * TARGET_WIDE
                       : TARGET_PAIRED || TARGET_16 ? 2u * TARGET_WIDE : TARGET_WIDE;
const uint CHROMA_WORDS = TARGET_16 ? 2u * TARGET_WIDE : TARGET_WIDE;
const bool STAGED = !FEW && ROW_WORDS > 1u;
// (One plain operand a side: glslang makes branches of more, which a constant
// cannot hold.)
const uint WIDE_PAIRS = T_WIDE | T_MIXED | T_HALF_Y;
const bool HAS_WIDE_PAIRS = (TARGET & WIDE_PAIRS) == WIDE_PAIRS;
const bool STAGED_CHROMA = STAGED && HAS_WIDE_PAIRS;

// A workgroup of 32×4 invocations at most: BLOCK_X and BLOCK_Y in
// engine/vulkan/frame/compose_plan.c.
const uint STAGE_ROWS = 8u;
const uint STAGE_WORDS = 128u;
shared uint staged[STAGE_ROWS * STAGE_WORDS];
shared uint staged_chroma[STAGE_ROWS / 2u * STAGE_WORDS / 2u];

// The words that a row of plane 0 has.
uint words_in_row(uint width)
{
    uint words = (width + 3u) / 4u;
    if (TARGET_PAIRED || TARGET_16)
        words = (width + 1u) / 2u;
    else if (FORMAT_HAS(TARGET, T_BYTES3))
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
    const uvec4 red = codes_of(r), green = codes_of(g), blue = codes_of(b);
    if (FORMAT_HAS(TARGET, T_BYTES3)) {
        const uvec4 p = FORMAT_BGR(TARGET) ? blue : red, s = FORMAT_BGR(TARGET) ? red : blue;
        const uint at = x / 4u * 3u;
        put(y, at, width, p.x | green.x << 8 | s.x << 16 | p.y << 24);
        put(y, at + 1u, width, green.y | s.y << 8 | p.z << 16 | green.z << 24);
        put(y, at + 2u, width, s.z | p.w << 8 | green.w << 16 | s.w << 24);
    } else {
        const uvec4 alpha = FORMAT_HAS(TARGET, T_ALPHA) ? codes_of(a) : uvec4(255u);
        const uvec4 words =
            red << 8u * FORMAT_BYTE(TARGET, 0u) | green << 8u * FORMAT_BYTE(TARGET, 1u) |
            blue << 8u * FORMAT_BYTE(TARGET, 2u) | alpha << 8u * FORMAT_BYTE(TARGET, 3u);
        for (uint k = 0u; k < 4u; k++)
            put(y, x + k, width, words[k]);
    }
}

// Two words of 16-bit samples.
uvec2 pack_wides(uvec4 c)
{
    return (c.xz | c.yw << 16) << FORMAT_SHIFT(TARGET);
}

// One row of the part of the block that plane 0 holds; `x` is its first pixel.
void write_row(uint x, uint y, uint width, Block b, uint r)
{
    if (TARGET_RGB) {
        write_rgb_row(x, y, width, b.c0[r], b.c1[r], b.c2[r], b.alpha[r]);
        return;
    }
    const uvec4 luma = codes_of(b.c0[r]);
    if (TARGET_PAIRED) {
        const uvec4 u = codes_of(b.c1[r]), v = codes_of(b.c2[r]);
        const uvec4 first = uvec4(luma.x, u.x, luma.y, v.x);
        const uvec4 second = uvec4(luma.z, u.y, luma.w, v.y);
        const bool swap = FORMAT_HAS(TARGET, T_LUMA_SECOND);
        put(y, x / 2u, width, pack_bytes(swap ? first.yxwz : first));
        put(y, x / 2u + 1u, width, pack_bytes(swap ? second.yxwz : second));
    } else if (TARGET_16) {
        const uvec2 words = pack_wides(luma);
        put(y, x / 2u, width, words.x);
        put(y, x / 2u + 1u, width, words.y);
    } else {
        put(y, x / 4u, width, pack_bytes(luma));
    }
}

// Cb and Cr in one plane: two pairs of them.
void write_mixed_chroma(uint x, uint row, uint width, uvec4 cb, uvec4 cr)
{
    const bool swap = FORMAT_HAS(TARGET, T_CR_FIRST);
    const uvec4 c = swap ? uvec4(cr.x, cb.x, cr.y, cb.y) : uvec4(cb.x, cr.x, cb.y, cr.y);
    if (!TARGET_16) {
        target1[target_word(1u, row) + x / 4u] = pack_bytes(c);
        return;
    }
    const uvec2 words = pack_wides(c);
    if (STAGED_CHROMA) {
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
}

// Row `row` of the block's chroma, the block's row `r` of it, where chroma has
// planes of its own. Where a word spans two blocks, their bytes are collected in
// `held` and written with the second, or with the first when there is no second.
void write_chroma(uint x, uint row, uint width, Block b, uint r, inout uvec2 held)
{
    const uvec4 cb = codes_of(b.c1[r]), cr = codes_of(b.c2[r]);
    if (FORMAT_HAS(TARGET, T_MIXED)) {
        write_mixed_chroma(x, row, width, cb, cr);
    } else if (FORMAT_HALF_BYTES(TARGET)) {
        const uvec2 bytes = uvec2(cb.x | cb.y << 8, cr.x | cr.y << 8);
        const bool second = (x & 4u) != 0u;
        held = second ? held | bytes << 16 : bytes;
        if (second || x + 4u >= width) {
            target1[target_word(1u, row) + x / 8u] = held.x;
            target2[target_word(2u, row) + x / 8u] = held.y;
        }
    } else if (!TARGET_16) {
        target1[target_word(1u, row) + x / 4u] = pack_bytes(cb);
        target2[target_word(2u, row) + x / 4u] = pack_bytes(cr);
    } else {
        const uvec2 u = pack_wides(cb), v = pack_wides(cr);
        const uint at = TARGET_FULL ? x / 2u : x / 4u;
        target1[target_word(1u, row) + at] = u.x;
        target2[target_word(2u, row) + at] = v.x;
        if (TARGET_FULL && x + 2u < width) {
            target1[target_word(1u, row) + at + 1u] = u.y;
            target2[target_word(2u, row) + at + 1u] = v.y;
        }
    }
}

// `held` is the invocation's, zero at first.
void write_block(uint x, uint y, uint width, uint height, Block b, inout uvec2 held[2])
{
    const bool two = y + 1u < height;
    write_row(x, y, width, b, 0u);
    if (two)
        write_row(x, y + 1u, width, b, 1u);
    if (!TARGET_CHROMA || TARGET_PAIRED)
        return;
    write_chroma(x, TARGET_420 ? y / 2u : y, width, b, 0u, held[0]);
    if (!TARGET_420 && two)
        write_chroma(x, y + 1u, width, b, 1u, held[1]);
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
    if (!STAGED_CHROMA)
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
