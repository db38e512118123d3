// SPDX-License-Identifier: LGPL-2.1-or-later
// Reading a block of 4×2 source pixels and turning it into the target's codes,
// each plane at the target's sampling. What lies outside the frame repeats the
// last column and row, so padding bytes never matter.
//
// Chroma, between samplings: up is linear with samples on the left pixel of a
// pair and half-way between two rows; down is (1 2 1)/4 round the left pixel
// and the mean of two rows. Equal samplings pass untouched.
//
// The including shader has declared, in `push`:
//     vec4 matrix[3];     rows: source codes → target codes
#ifndef FRAME_BLOCK_GLSL
#define FRAME_BLOCK_GLSL
#include "frame_source.glsl"
#include "frame_codes.glsl"

// Source and target are YUV of different matrices: luma needs chroma.
layout(constant_id = 6) const bool REMATRIX = false;

// Source codes → target codes. A shader whose source has the target's codes defines it
// as the identity, and needs no `matrix`.
#ifndef BLOCK_MATRIX
#define BLOCK_MATRIX(row) push.matrix[row]
#endif

const bool SOURCE_420 = FORMAT_420(SOURCE);
const bool SOURCE_RGB = FORMAT_HAS(SOURCE, T_RGB);
const bool SOURCE_FULL = FORMAT_HAS(SOURCE, T_FULL);
const bool SOURCE_CHROMA = FORMAT_HAS(SOURCE, T_CHROMA);
const bool SOURCE_16 = FORMAT_HAS(SOURCE, T_WIDE);
const bool SOURCE_PAIRED = FORMAT_HAS(SOURCE, T_PAIRED);

// Repeats the last pixel inside the frame; `inside` ≥ 1 pixels are inside.
vec4 repeat_last(vec4 v, uint inside)
{
    if (inside < 2u)
        v.y = v.x;
    if (inside < 3u)
        v.z = v.y;
    if (inside < 4u)
        v.w = v.z;
    return v;
}

vec4 source_luma(uint x, uint y, uint inside)
{
    const uint row = source_row_0(y);
    vec4 v;
    if (SOURCE_16) {
        v.xy = wides_of(source_load_0(row + 2u * x), SOURCE);
        v.zw = inside > 2u ? wides_of(source_load_0(row + 2u * x + 4u), SOURCE) : v.yy;
    } else if (SOURCE_PAIRED) {
        const vec4 p = bytes_of(source_load_0(row + 2u * x));
        const vec4 q = inside > 2u ? bytes_of(source_load_0(row + 2u * x + 4u)) : p;
        v = FORMAT_HAS(SOURCE, T_LUMA_SECOND) ? vec4(p.yw, q.yw) : vec4(p.xz, q.xz);
    } else {
        v = bytes_of(source_load_0(row + x));
    }
    return repeat_last(v, inside);
}

vec4 source_rgba(uint x, uint y)
{
    const uint row = source_row_0(y);
    vec4 p;
    if (FORMAT_HAS(SOURCE, T_BYTES3)) {
        p = bytes_of(source_load_any_0(row + 3u * x));
        if (FORMAT_BGR(SOURCE))
            p = p.zyxw;
    } else {
        p = rgba_of(source_load_0(row + 4u * x), SOURCE);
    }
    if (!FORMAT_HAS(SOURCE, T_ALPHA))
        p.w = 255.0;
    return p;
}

// Four samples of a row of plane 1 and 2, which have one for every pixel.
void source_444_row(uint x, uint y, uint inside, out vec4 cb, out vec4 cr)
{
    const uint at = SOURCE_16 ? 2u * x : x;
    const uint u = source_load_1(source_row_1(y) + at), v = source_load_2(source_row_2(y) + at);
    if (SOURCE_16) {
        cb.xy = wides_of(u, SOURCE);
        cr.xy = wides_of(v, SOURCE);
        cb.zw = cb.yy;
        cr.zw = cr.yy;
        if (inside > 2u) {
            cb.zw = wides_of(source_load_1(source_row_1(y) + at + 4u), SOURCE);
            cr.zw = wides_of(source_load_2(source_row_2(y) + at + 4u), SOURCE);
        }
    } else {
        cb = bytes_of(u);
        cr = bytes_of(v);
    }
    cb = repeat_last(cb, inside);
    cr = repeat_last(cr, inside);
}

// The pixel left of a block of which every pixel has three codes, or its first.
vec3 source_left(uint x, uint y)
{
    if (SOURCE_RGB)
        return source_rgba(max(x, 1u) - 1u, y).xyz;
    vec4 luma, cb, cr;
    const uint before = max(x, 4u) - 4u;
    luma = source_luma(before, y, min(source_width() - before, 4u));
    source_444_row(before, y, min(source_width() - before, 4u), cb, cr);
    return x > 0u ? vec3(luma.w, cb.w, cr.w) : vec3(luma.x, cb.x, cr.x);
}

void source_rgb_row(uint x, uint y, uint inside, out vec4 r, out vec4 g, out vec4 b, out vec4 a)
{
    a = vec4(255.0);
    if (FORMAT_HAS(SOURCE, T_BYTES3)) {
        const uint at = source_row_0(y) + 3u * x;
        const vec4 p = bytes_of(source_load_0(at));
        const vec4 q = inside > 1u ? bytes_of(source_load_0(at + 4u)) : p;
        const vec4 s = inside > 2u ? bytes_of(source_load_0(at + 8u)) : q;
        r = repeat_last(vec4(p.x, p.w, q.z, s.y), inside);
        g = repeat_last(vec4(p.y, q.x, q.w, s.z), inside);
        b = repeat_last(vec4(p.z, q.y, s.x, s.w), inside);
        if (FORMAT_BGR(SOURCE)) {
            const vec4 t = r;
            r = b;
            b = t;
        }
        return;
    }
    const vec4 p = source_rgba(x, y), q = source_rgba(x + min(1u, inside - 1u), y);
    const vec4 s = source_rgba(x + min(2u, inside - 1u), y);
    const vec4 t = source_rgba(x + min(3u, inside - 1u), y);
    r = vec4(p.x, q.x, s.x, t.x);
    g = vec4(p.y, q.y, s.y, t.y);
    b = vec4(p.z, q.z, s.z, t.z);
    if (FORMAT_HAS(SOURCE, T_ALPHA))
        a = vec4(p.w, q.w, s.w, t.w);
}

// The two Cb and Cr pairs of the block whose first pixel is x, in chroma row j.
void source_chroma2(uint x, uint j, out vec2 cb, out vec2 cr)
{
    const bool both = x + 2u < source_width();
    vec4 c;
    if (SOURCE_PAIRED) {
        const uint at = source_row_0(j) + 2u * x;
        const vec4 p = bytes_of(source_load_0(at));
        const vec4 q = both ? bytes_of(source_load_0(at + 4u)) : p;
        c = FORMAT_HAS(SOURCE, T_LUMA_SECOND) ? vec4(p.xz, q.xz) : vec4(p.yw, q.yw);
    } else if (SOURCE_16 && FORMAT_HAS(SOURCE, T_MIXED)) {
        c.xy = wides_of(source_load_1(source_row_1(j) + 2u * x), SOURCE);
        c.zw = both ? wides_of(source_load_1(source_row_1(j) + 2u * x + 4u), SOURCE) : c.xy;
    } else if (SOURCE_16) {
        c.xz = wides_of(source_load_1(source_row_1(j) + x), SOURCE);
        c.yw = wides_of(source_load_2(source_row_2(j) + x), SOURCE);
    } else if (FORMAT_HAS(SOURCE, T_MIXED)) {
        c = bytes_of(source_load_1(source_row_1(j) + x));
    } else {
        // Half a word: the pairs begin at an even byte.
        const uint at = x / 2u, shift = (at & 2u) * 8u;
        const uint u = source_load_1(source_row_1(j) + (at & ~3u)) >> shift;
        const uint v = source_load_2(source_row_2(j) + (at & ~3u)) >> shift;
        c = vec4(uvec4(u, v, u >> 8, v >> 8) & 255u);
    }
    if (!both)
        c.zw = c.xy;
    if (FORMAT_HAS(SOURCE, T_MIXED) && FORMAT_HAS(SOURCE, T_CR_FIRST))
        c = c.yxwz;
    cb = c.xz;
    cr = c.yw;
}

// As above with the first pair right of the block, for interpolation. (Loops
// where calls would do keep the kernel small before the driver unrolls them.)
void source_chroma3(uint x, uint j, out vec3 cb, out vec3 cr)
{
    vec2 u[2], v[2];
    for (uint k = 0u; k < 2u; k++) {
        u[k] = u[0].yy;
        v[k] = v[0].yy;
        if (x + 4u * k < source_width())
            source_chroma2(x + 4u * k, j, u[k], v[k]);
    }
    cb = vec3(u[0], u[1].x);
    cr = vec3(v[0], v[1].x);
}

// Chroma rows round the block: in 4:2:0 the block's own and those above and
// below it, else those of its two pixel rows.
const uint CHROMA_ROWS = SOURCE_420 ? 3u : 2u;
uint chroma_row(uint y, uint k)
{
    const uint bottom = source_height() - 1u;
    if (SOURCE_420)
        return min(max(y / 2u + k, 1u) - 1u, bottom / 2u);
    return min(y + k, bottom);
}

vec4 chroma_up(vec3 c)
{
    return vec4(c.x, 0.5 * (c.x + c.y), c.y, 0.5 * (c.y + c.z));
}

// Chroma of the source, per pixel of the block.
void source_chroma_pixels(uint x, uint y, out vec4 cb[2], out vec4 cr[2])
{
    vec3 u[3], v[3];
    for (uint k = 0u; k < CHROMA_ROWS; k++)
        source_chroma3(x, chroma_row(y, k), u[k], v[k]);
    if (SOURCE_420) {
        for (uint k = 0u; k < 2u; k++) {
            u[k] = k == 0u ? 0.25 * u[0] + 0.75 * u[1] : 0.75 * u[1] + 0.25 * u[2];
            v[k] = k == 0u ? 0.25 * v[0] + 0.75 * v[1] : 0.75 * v[1] + 0.25 * v[2];
        }
    }
    for (uint k = 0u; k < 2u; k++) {
        cb[k] = chroma_up(u[k]);
        cr[k] = chroma_up(v[k]);
    }
}

// Chroma of the source at the pairs of both rows: YUV to YUV.
void source_chroma_pairs(uint x, uint y, out vec2 cb[2], out vec2 cr[2])
{
    vec2 u[3], v[3];
    for (uint k = 0u; k < CHROMA_ROWS; k++)
        if (!SOURCE_420 || !TARGET_420 || k == 1u)
            source_chroma2(x, chroma_row(y, k), u[k], v[k]);
    for (uint k = 0u; k < 2u; k++) {
        cb[k] = u[SOURCE_420 ? 1u : k];
        cr[k] = v[SOURCE_420 ? 1u : k];
        if (SOURCE_420 && !TARGET_420) {
            cb[k] = 0.75 * u[1] + 0.25 * u[2u * k];
            cr[k] = 0.75 * v[1] + 0.25 * v[2u * k];
        }
    }
}

vec4 apply(uint row, vec4 a, vec4 b, vec4 c)
{
    const vec4 m = BLOCK_MATRIX(row);
    return m.x * a + m.y * b + m.z * c + m.w;
}
vec4 apply_one(uint row, vec4 v)
{
    return BLOCK_MATRIX(row)[row] * v + BLOCK_MATRIX(row).w;
}

// (1 2 1)/4 round pixels 0 and 2, per row; `left` is the pixel left of pixel 0.
vec2 chroma_down(float left, vec4 v)
{
    return 0.25 * (vec2(left, v.y) + 2.0 * v.xz + v.yw);
}

// Three codes a pixel to subsampled YUV; a, b, c are the block's rows of them.
void block_from_full(uint x, uint y, vec4 a[2], vec4 b[2], vec4 c[2], inout Block block)
{
    vec2 cb[2], cr[2];
    for (uint k = 0u; k < 2u; k++) {
        block.c0[k] = apply(0u, a[k], b[k], c[k]);
        if (!TARGET_CHROMA)
            continue;
        const vec4 left = vec4(source_left(x, min(y + k, source_height() - 1u)), 1.0);
        cb[k] = chroma_down(dot(BLOCK_MATRIX(1), left), apply(1u, a[k], b[k], c[k]));
        cr[k] = chroma_down(dot(BLOCK_MATRIX(2), left), apply(2u, a[k], b[k], c[k]));
    }
    if (TARGET_420) {
        cb[0] = 0.5 * (cb[0] + cb[1]);
        cr[0] = 0.5 * (cr[0] + cr[1]);
    }
    for (uint k = 0u; k < 2u; k++) {
        block.c1[k] = cb[k].xyxy;
        block.c2[k] = cr[k].xyxy;
    }
}

// Subsampled YUV to the like; `luma` holds the block's rows.
void block_from_yuv(uint x, uint y, vec4 luma[2], inout Block block)
{
    vec2 cb[2], cr[2];
    cb[0] = cb[1] = cr[0] = cr[1] = vec2(FORMAT_NEUTRAL(SOURCE));
    if (SOURCE_CHROMA && TARGET_CHROMA)
        source_chroma_pairs(x, y, cb, cr);
    for (uint k = 0u; k < 2u; k++) {
        const vec4 u = cb[k].xyxy, v = cr[k].xyxy;
        if (REMATRIX) {
            block.c0[k] = apply(0u, luma[k], u.xxyy, v.xxyy);
            block.c1[k] = apply(1u, luma[k], u, v);
            block.c2[k] = apply(2u, luma[k], u, v);
        } else {
            block.c0[k] = apply_one(0u, luma[k]);
            block.c1[k] = apply_one(1u, u);
            block.c2[k] = apply_one(2u, v);
        }
    }
    if (SOURCE_CHROMA && !SOURCE_420 && TARGET_420) {
        block.c1[0] = 0.5 * (block.c1[0] + block.c1[1]);
        block.c2[0] = 0.5 * (block.c2[0] + block.c2[1]);
    }
}

// The block at (x, y) in the target's codes, and the guide of its pixels,
// 0…1. `colour` false: the guide alone.
Block source_block(uint x, uint y, bool colour, out vec4 guide[2])
{
    const uint inside = min(source_width() - x, 4u), bottom = source_height() - 1u;
    Block block;
    vec4 first[2], second[2], third[2];
    for (uint k = 0u; k < 2u; k++) {
        const uint row = min(y + k, bottom);
        block.alpha[k] = vec4(255.0);
        if (SOURCE_RGB) {
            source_rgb_row(x, row, inside, first[k], second[k], third[k], block.alpha[k]);
            guide[k] = (0.2126 * first[k] + 0.7152 * second[k] + 0.0722 * third[k]) / 255.0;
        } else {
            first[k] = source_luma(x, row, inside);
            guide[k] = first[k] / FORMAT_MAX(SOURCE);
            if (SOURCE_FULL && colour)
                source_444_row(x, row, inside, second[k], third[k]);
        }
    }
    if (!colour)
        return block;
    if (SOURCE_FULL && !TARGET_FULL) {
        block_from_full(x, y, first, second, third, block);
    } else if (!SOURCE_FULL && !TARGET_FULL) {
        block_from_yuv(x, y, first, block);
    } else {
        if (!SOURCE_CHROMA && !SOURCE_RGB)
            second[0] = second[1] = third[0] = third[1] = vec4(FORMAT_NEUTRAL(SOURCE));
        else if (!SOURCE_FULL)
            source_chroma_pixels(x, y, second, third);
        for (uint k = 0u; k < 2u; k++) {
            block.c0[k] = apply(0u, first[k], second[k], third[k]);
            block.c1[k] = apply(1u, first[k], second[k], third[k]);
            block.c2[k] = apply(2u, first[k], second[k], third[k]);
        }
    }
    return block;
}

#endif
