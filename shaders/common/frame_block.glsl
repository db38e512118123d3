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
#include "frame_target.glsl"

// Source and target are YUV of different matrices: luma needs chroma.
layout(constant_id = 6) const bool REMATRIX = false;

const bool SOURCE_420 = SOURCE == F_NV12 || SOURCE == F_I420 || SOURCE == F_P010;
const bool SOURCE_422 = SOURCE == F_YUY2 || SOURCE == F_UYVY;
const bool SOURCE_RGB = SOURCE >= F_RGBA && SOURCE <= F_BGR;

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
    if (SOURCE == F_P010) {
        v.xy = tens_of(source_load_0(row + 2u * x));
        v.zw = inside > 2u ? tens_of(source_load_0(row + 2u * x + 4u)) : v.yy;
    } else if (SOURCE_422) {
        const vec4 p = bytes_of(source_load_0(row + 2u * x));
        const vec4 q = inside > 2u ? bytes_of(source_load_0(row + 2u * x + 4u)) : p;
        v = SOURCE == F_YUY2 ? vec4(p.xz, q.xz) : vec4(p.yw, q.yw);
    } else {
        v = bytes_of(source_load_0(row + x));
    }
    return repeat_last(v, inside);
}

vec4 source_rgba(uint x, uint y)
{
    const uint row = source_row_0(y);
    vec4 p;
    if (format_is_packed24(SOURCE))
        p = vec4(bytes_of(source_load_any_0(row + 3u * x)).xyz, 255.0);
    else
        p = bytes_of(source_load_0(row + 4u * x));
    if (!format_has_alpha(SOURCE))
        p.w = 255.0;
    return format_is_bgr(SOURCE) ? p.zyxw : p;
}

void source_rgb_row(uint x, uint y, uint inside, out vec4 r, out vec4 g, out vec4 b, out vec4 a)
{
    a = vec4(255.0);
    if (format_is_packed24(SOURCE)) {
        const uint at = source_row_0(y) + 3u * x;
        const vec4 p = bytes_of(source_load_0(at));
        const vec4 q = inside > 1u ? bytes_of(source_load_0(at + 4u)) : p;
        const vec4 s = inside > 2u ? bytes_of(source_load_0(at + 8u)) : q;
        r = repeat_last(vec4(p.x, p.w, q.z, s.y), inside);
        g = repeat_last(vec4(p.y, q.x, q.w, s.z), inside);
        b = repeat_last(vec4(p.z, q.y, s.x, s.w), inside);
        if (format_is_bgr(SOURCE)) {
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
    if (format_has_alpha(SOURCE))
        a = vec4(p.w, q.w, s.w, t.w);
}

// The two Cb and Cr pairs of the block whose first pixel is x, in chroma row j.
void source_chroma2(uint x, uint j, out vec2 cb, out vec2 cr)
{
    const bool both = x + 2u < source_width();
    vec4 c;
    if (SOURCE == F_NV12) {
        c = bytes_of(source_load_1(source_row_1(j) + x));
        if (!both)
            c.zw = c.xy;
    } else if (SOURCE == F_I420) {
        // Half a word: the pairs begin at an even byte.
        const uint at = x / 2u, shift = (at & 2u) * 8u;
        const uint u = source_load_1(source_row_1(j) + (at & ~3u)) >> shift;
        const uint v = source_load_2(source_row_2(j) + (at & ~3u)) >> shift;
        c = vec4(uvec4(u, v, u >> 8, v >> 8) & 255u);
        if (!both)
            c.zw = c.xy;
    } else if (SOURCE == F_P010) {
        c.xy = tens_of(source_load_1(source_row_1(j) + 2u * x));
        c.zw = both ? tens_of(source_load_1(source_row_1(j) + 2u * x + 4u)) : c.xy;
    } else {
        const uint at = source_row_0(j) + 2u * x;
        const vec4 p = bytes_of(source_load_0(at));
        const vec4 q = both ? bytes_of(source_load_0(at + 4u)) : p;
        c = SOURCE == F_YUY2 ? vec4(p.yw, q.yw) : vec4(p.xz, q.xz);
    }
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
        if (!SOURCE_420 || TARGET_422 || k == 1u)
            source_chroma2(x, chroma_row(y, k), u[k], v[k]);
    for (uint k = 0u; k < 2u; k++) {
        cb[k] = u[SOURCE_420 ? 1u : k];
        cr[k] = v[SOURCE_420 ? 1u : k];
        if (SOURCE_420 && TARGET_422) {
            cb[k] = 0.75 * u[1] + 0.25 * u[2u * k];
            cr[k] = 0.75 * v[1] + 0.25 * v[2u * k];
        }
    }
}

vec4 apply(uint row, vec4 a, vec4 b, vec4 c)
{
    const vec4 m = push.matrix[row];
    return m.x * a + m.y * b + m.z * c + m.w;
}
vec4 apply_one(uint row, vec4 v)
{
    return push.matrix[row][row] * v + push.matrix[row].w;
}

// (1 2 1)/4 round pixels 0 and 2, per row; `left` is the pixel left of pixel 0.
vec2 chroma_down(float left, vec4 v)
{
    return 0.25 * (vec2(left, v.y) + 2.0 * v.xz + v.yw);
}

// RGB to subsampled YUV; r, g, b are the block's rows.
void block_from_rgb(uint x, uint y, vec4 r[2], vec4 g[2], vec4 b[2], inout Block block)
{
    vec2 cb[2], cr[2];
    for (uint k = 0u; k < 2u; k++) {
        block.c0[k] = apply(0u, r[k], g[k], b[k]);
        if (TARGET == F_GRAY8)
            continue;
        const vec4 left = vec4(
            source_rgba(max(x, 1u) - 1u, min(y + k, source_height() - 1u)).xyz, 1.0);
        cb[k] = chroma_down(dot(push.matrix[1], left), apply(1u, r[k], g[k], b[k]));
        cr[k] = chroma_down(dot(push.matrix[2], left), apply(2u, r[k], g[k], b[k]));
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

// YUV to YUV; `luma` holds the block's rows.
void block_from_yuv(uint x, uint y, vec4 luma[2], inout Block block)
{
    vec2 cb[2], cr[2];
    const float neutral = SOURCE == F_P010 ? 512.0 : 128.0;
    cb[0] = cb[1] = cr[0] = cr[1] = vec2(neutral);
    if (SOURCE != F_GRAY8 && TARGET != F_GRAY8)
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
    if (SOURCE_422 && TARGET_420) {
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
            guide[k] = first[k] / (SOURCE == F_P010 ? 1023.0 : 255.0);
        }
    }
    if (!colour)
        return block;
    if (SOURCE_RGB && !TARGET_RGB) {
        block_from_rgb(x, y, first, second, third, block);
    } else if (!SOURCE_RGB && !TARGET_RGB) {
        block_from_yuv(x, y, first, block);
    } else {
        if (SOURCE == F_GRAY8) {
            second[0] = second[1] = third[0] = third[1] = vec4(128.0);
        } else if (!SOURCE_RGB) {
            source_chroma_pixels(x, y, second, third);
        }
        for (uint k = 0u; k < 2u; k++) {
            block.c0[k] = apply(0u, first[k], second[k], third[k]);
            block.c1[k] = apply(1u, first[k], second[k], third[k]);
            block.c2[k] = apply(2u, first[k], second[k], third[k]);
        }
    }
    return block;
}

#endif
