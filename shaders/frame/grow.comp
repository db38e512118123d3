#version 430
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: LGPL-2.1-or-later
// Grows the mask, or shrinks it, at mask resolution: the greatest value in an
// ellipse round each pixel, or the least. The ellipse is a circle of the frame;
// its half axes are fractions of a mask pixel often, so where the way to a pixel
// leaves the ellipse at most a pixel and a half before its end, the mask is
// interpolated there. An ellipse of nothing leaves the mask as it is.
layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;

layout(push_constant) uniform Push {
    uint mask_size;
    float across, down; // half axes, mask pixels
    uint shrink;        // 1: the least value
    uint coefficients;  // 1: what goes out are the coefficients (0, mask)
} push;

layout(std430, set = 0, binding = 0) restrict readonly buffer Pairs { uint pairs[]; };
layout(std430, set = 0, binding = 1) restrict writeonly buffer Out { uint results[]; };

float value_at(ivec2 p, ivec2 size)
{
    p = clamp(p, ivec2(0), size - 1);
    const float value = float(pairs[p.y * size.x + p.x] >> 16) / 65535.0;
    return push.shrink != 0u ? 1.0 - value : value;
}

float value_between(vec2 p, ivec2 size)
{
    const ivec2 i = ivec2(floor(p));
    const vec2 f = p - vec2(i);
    return mix(mix(value_at(i, size), value_at(i + ivec2(1, 0), size), f.x),
               mix(value_at(i + ivec2(0, 1), size), value_at(i + ivec2(1, 1), size), f.x), f.y);
}

float greatest_round(ivec2 at, ivec2 size)
{
    const vec2 axes = vec2(push.across, push.down);
    const ivec2 reach = ivec2(ceil(axes));
    float greatest = value_at(at, size);
    if (greatest >= 1.0 || axes.x <= 0.0)
        return greatest;
    for (int y = -reach.y; y <= reach.y; y++)
        for (int x = -reach.x; x <= reach.x; x++) {
            const vec2 way = vec2(x, y);
            const float out_of = length(way / axes); // the ellipse, where it is above 1
            if (out_of <= 1.0)
                greatest = max(greatest, value_at(at + ivec2(x, y), size));
            else if (length(way) * (1.0 - 1.0 / out_of) < 1.5)
                greatest = max(greatest, value_between(vec2(at) + way / out_of, size));
        }
    return greatest;
}

void main()
{
    const ivec2 size = ivec2(push.mask_size & 65535u, push.mask_size >> 16);
    const ivec2 at = ivec2(gl_GlobalInvocationID.xy);
    if (any(greaterThanEqual(at, size)))
        return;
    const uint i = uint(at.y * size.x + at.x);
    const float greatest = greatest_round(at, size);
    const float value = push.shrink != 0u ? 1.0 - greatest : greatest;
    results[i] = push.coefficients != 0u
                     ? packSnorm2x16(vec2(0.0, value / 16.0))
                     : packUnorm2x16(vec2(unpackUnorm2x16(pairs[i]).x, value));
}
