// SPDX-License-Identifier: LGPL-2.1-or-later
// The mask at full size. At mask resolution every pixel holds coefficients
// (a, b); between pixel centres they are interpolated, and a pixel whose guide
// is g has the mask value a·g + b. Without refinement a is 0 everywhere.
//
// The including shader has declared, in `push`:
//     uint mask_size;     width | height << 16
//     float mask_scale, mask_offset;   the soft step: value · scale + offset
#ifndef FRAME_MASK_GLSL
#define FRAME_MASK_GLSL

// The coefficients' a is in use.
layout(constant_id = 7) const bool GUIDED = true;
// The mask is at least four times narrower than the frame, and no higher: then
// the columns of coefficients read for one block mostly serve the next one.
layout(constant_id = 9) const bool ROLLING = true;

layout(std430, set = 0, binding = 6) restrict readonly buffer Coefficients { uint coefficients[]; };

// Coefficients lie in ±16, see guided.comp.
vec2 unpack_coefficients(uint w)
{
    return unpackSnorm2x16(w) * 16.0;
}

vec2 coefficients_at(uint x, uint y, uvec2 size)
{
    return unpack_coefficients(coefficients[min(y, size.y - 1u) * size.x + min(x, size.x - 1u)]);
}

// Position of pixel centre x of `from` pixels among the pixel centres of `to`.
float mask_position(uint x, uint from, uint to)
{
    return clamp((float(x) + 0.5) * (float(to) / float(from)) - 0.5, 0.0, float(to - 1u));
}

vec2 coefficients_between(float u, float v, uvec2 size)
{
    const uint x = uint(u), y = uint(v);
    const vec2 top = mix(coefficients_at(x, y, size), coefficients_at(x + 1u, y, size), fract(u));
    const vec2 low =
        mix(coefficients_at(x, y + 1u, size), coefficients_at(x + 1u, y + 1u, size), fract(u));
    return mix(top, low, fract(v));
}

// A column of coefficients interpolated at the block's two pixel rows: a and b
// of the first row, a and b of the second. Two pixel rows lie among three rows
// of the mask at most, and mostly among two.
vec4 mask_column(uint x, uint y, vec2 down, uvec2 size)
{
    const vec2 p = coefficients_at(x, y, size), q = coefficients_at(x, y + 1u, size);
    vec4 c = mix(p.xyxy, q.xyxy, min(down, 1.0).xxyy);
    if (down.y > 1.0)
        c.zw = mix(q, coefficients_at(x, y + 2u, size), down.y - 1.0);
    return c;
}

// Three neighbouring columns, from column `at` on.
struct Window {
    uint at;
    vec4 column[3];
};
// No column is in the window yet.
Window window_new()
{
    Window w;
    w.at = 0xffffffu;
    w.column[0] = w.column[1] = w.column[2] = vec4(0.0);
    return w;
}

void window_move(inout Window w, uint x, uint y, vec2 down, uvec2 size)
{
    if (x == w.at)
        return;
    if (x == w.at + 1u) {
        w.column[0] = w.column[1];
        w.column[1] = w.column[2];
    } else {
        w.column[0] = mask_column(x, y, down, size);
        w.column[1] = mask_column(x + 1u, y, down, size);
    }
    w.column[2] = mask_column(x + 2u, y, down, size);
    w.at = x;
}

// Adds to the broken line through the columns its next segment, as far as it
// lies left of the pixels.
void add_segment(vec4 from, vec4 to, vec4 part, inout vec4 a[2], inout vec4 b[2])
{
    const vec4 d = to - from;
    a[0] += d.x * part;
    b[0] += d.y * part;
    a[1] += d.z * part;
    b[1] += d.w * part;
}

// Coefficients of the block's pixels: a and b per row.
void block_coefficients(uvec4 xs, uvec2 ys, uvec2 frame, inout Window window, out vec4 a[2],
                        out vec4 b[2])
{
    const uvec2 size = uvec2(push.mask_size & 65535u, push.mask_size >> 16);
    const vec4 u = clamp((vec4(xs) + 0.5) * (float(size.x) / float(frame.x)) - 0.5, 0.0,
                         float(size.x - 1u));
    const vec2 v = clamp((vec2(ys) + 0.5) * (float(size.y) / float(frame.y)) - 0.5, 0.0,
                         float(size.y - 1u));
    const uint x = uint(u.x), y = uint(v.x);
    const vec4 along = u - float(x);
    const vec2 down = v - float(y);

    if (!ROLLING && any(greaterThan(size, frame))) {
        for (uint r = 0u; r < 2u; r++)
            for (uint k = 0u; k < 4u; k++) {
                const vec2 c = coefficients_between(u[k], v[r], size);
                a[r][k] = c.x;
                b[r][k] = c.y;
            }
        return;
    }
    if (ROLLING) {
        window_move(window, x, y, down, size);
    } else {
        window.column[0] = mask_column(x, y, down, size);
        window.column[1] = mask_column(x + 1u, y, down, size);
    }
    const vec4 first = window.column[0];
    a[0] = vec4(first.x);
    b[0] = vec4(first.y);
    a[1] = vec4(first.z);
    b[1] = vec4(first.w);
    add_segment(first, window.column[1], clamp(along, 0.0, 1.0), a, b);
    if (ROLLING) {
        add_segment(window.column[1], window.column[2], max(along - 1.0, 0.0), a, b);
        return;
    }
    // Four pixels lie among at most five columns.
    vec4 before = window.column[1];
    for (uint i = 2u; i < 3u + 3u * size.x / frame.x; i++) {
        const vec4 column = mask_column(x + i, y, down, size);
        add_segment(before, column, clamp(along - float(i - 1u), 0.0, 1.0), a, b);
        before = column;
    }
}

vec4 soft_step(vec4 q)
{
    return clamp(clamp(q, 0.0, 1.0) * push.mask_scale + push.mask_offset, 0.0, 1.0);
}

// The mask after the soft step in the middle of a block whose mean guide is `guide`:
// between pixels 1 and 2 of the first and the second row.
float middle_mask(uint x, uint y, uvec2 frame, float guide)
{
    const uvec2 size = uvec2(push.mask_size & 65535u, push.mask_size >> 16);
    const vec2 centre = (vec2(x, y) + vec2(2.0, 1.0)) * (vec2(size) / vec2(frame)) - 0.5;
    const vec2 at = clamp(centre, vec2(0.0), vec2(size - 1u));
    const vec2 c = coefficients_between(at.x, at.y, size);
    return soft_step(vec4(GUIDED ? c.x * guide + c.y : c.y)).x;
}

// 1 where a pixel of the block at (x, y) is inside the frame, in its rows.
void block_inside(uint x, uint y, uvec2 frame, out vec4 inside, out vec4 below)
{
    inside = step(vec4(x, x + 1u, x + 2u, x + 3u), vec4(frame.x - 1u));
    below = y + 1u < frame.y ? inside : vec4(0.0);
}

// Noise of single pixels, which the coefficients would bring into the outline.
// A block looks at itself alone.
void soften(inout vec4 guide[2])
{
    for (uint r = 0u; r < 2u; r++)
        guide[r] = 0.25 * (guide[r].xxyz + 2.0 * guide[r] + guide[r].yzww);
    const vec4 lean = 0.25 * (guide[1] - guide[0]);
    guide[0] += lean;
    guide[1] -= lean;
}

// The mask of the block's pixels after the soft step, 0…1. Blocks of one row
// from left to right share a window.
void block_mask(uint x, uint y, uvec2 frame, vec4 guide[2], inout Window window, out vec4 mask[2])
{
    vec4 a[2], b[2];
    block_coefficients(min(uvec4(x, x + 1u, x + 2u, x + 3u), frame.x - 1u),
                       min(uvec2(y, y + 1u), frame.y - 1u), frame, window, a, b);
    if (GUIDED)
        soften(guide);
    for (uint r = 0u; r < 2u; r++)
        mask[r] = soft_step(GUIDED ? a[r] * guide[r] + b[r] : b[r]);
}

#endif
