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

layout(std430, set = 0, binding = 6) restrict readonly buffer Coefficients { vec2 coefficients[]; };

// Where pixel centre x of `from` pixels lies among the pixel centres of `to`.
float mask_position(uint x, uint from, uint to)
{
    return clamp((float(x) + 0.5) * (float(to) / float(from)) - 0.5, 0.0, float(to - 1u));
}

vec2 coefficients_at(uint x, uint y, uvec2 size)
{
    return coefficients[min(y, size.y - 1u) * size.x + min(x, size.x - 1u)];
}

vec2 coefficients_between(float u, float v, uvec2 size)
{
    const uint x = uint(u), y = uint(v);
    const vec2 top = mix(coefficients_at(x, y, size), coefficients_at(x + 1u, y, size), fract(u));
    const vec2 low =
        mix(coefficients_at(x, y + 1u, size), coefficients_at(x + 1u, y + 1u, size), fract(u));
    return mix(top, low, fract(v));
}

// Coefficients of the block's pixels: a and b per row.
void block_coefficients(uvec4 xs, uvec2 ys, uvec2 frame, out vec4 a[2], out vec4 b[2])
{
    const uvec2 size = uvec2(push.mask_size & 65535u, push.mask_size >> 16);
    vec4 u;
    vec2 v;
    for (uint k = 0u; k < 4u; k++)
        u[k] = mask_position(xs[k], frame.x, size.x);
    for (uint k = 0u; k < 2u; k++)
        v[k] = mask_position(ys[k], frame.y, size.y);

    if (any(greaterThan(size, frame))) {
        for (uint r = 0u; r < 2u; r++) {
            for (uint k = 0u; k < 4u; k++) {
                const vec2 c = coefficients_between(u[k], v[r], size);
                a[r][k] = c.x;
                b[r][k] = c.y;
            }
        }
        return;
    }
    // Four pixels lie among at most five columns, two among three rows. The
    // interpolation is a broken line through the columns: the first one plus
    // the part of each segment that lies left of the pixel.
    const uint columns = 3u + 3u * size.x / frame.x;
    const uint x = uint(u.x), y = uint(v.x);
    const vec4 along = u - float(x);
    const vec2 down = v - float(y);
    vec2 before[2];
    for (uint i = 0u; i < columns; i++) {
        const vec2 p = coefficients_at(x + i, y, size), q = coefficients_at(x + i, y + 1u, size);
        const vec2 s = coefficients_at(x + i, y + 2u, size);
        for (uint r = 0u; r < 2u; r++) {
            const vec2 c = p + (q - p) * min(down[r], 1.0) + (s - q) * max(down[r] - 1.0, 0.0);
            if (i == 0u) {
                a[r] = vec4(c.x);
                b[r] = vec4(c.y);
            } else {
                const vec4 part = clamp(along - float(i - 1u), 0.0, 1.0);
                a[r] += (c.x - before[r].x) * part;
                b[r] += (c.y - before[r].y) * part;
            }
            before[r] = c;
        }
    }
}

// The mask of the block's pixels after the soft step, 0…1.
void block_mask(uint x, uint y, uvec2 frame, vec4 guide[2], out vec4 mask[2])
{
    vec4 a[2], b[2];
    block_coefficients(min(uvec4(x, x + 1u, x + 2u, x + 3u), frame.x - 1u),
                       min(uvec2(y, y + 1u), frame.y - 1u), frame, a, b);
    for (uint r = 0u; r < 2u; r++) {
        const vec4 q = GUIDED ? a[r] * guide[r] + b[r] : b[r];
        mask[r] = clamp(clamp(q, 0.0, 1.0) * push.mask_scale + push.mask_offset, 0.0, 1.0);
    }
}

#endif
