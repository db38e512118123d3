#version 430
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: LGPL-2.1-or-later
// The guided filter's two passes at mask resolution (He, Sun, Tang, "Guided
// Image Filtering", PAMI 2013; He, Sun, "Fast Guided Filter", 2015):
// fit:  in every window, the line mask ≈ a · guide + b, by least squares with
//       a penalty on a², and how much of the mask's variance it leaves
// mean: the mean of the lines of all windows that hold a pixel, and of what they
//       miss of its mask, a little blurred, as much as the window round it left
// Where the guide says nothing, as hair before a wall as dark does, the lines alone
// would blur the mask. A window is cut off at the picture's borders. One invocation walks down
// STRIP rows of ACROSS pixels and keeps the sums of the last rows.
layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;

#include "../common/frame_formats.glsl"

layout(constant_id = 8) const bool FIT = true;

layout(push_constant) uniform Push {
    uint mask_size;
    float penalty;
} push;

layout(std430, set = 0, binding = 0) restrict readonly buffer In { uint values[]; };
layout(std430, set = 0, binding = 1) restrict buffer Out { uint results[]; };
// fit: the shares that are left, where the results of `mean` will be, which finds them
// there. mean: guide and mask.
layout(std430, set = 0, binding = 2) restrict buffer Other { uint other[]; };

const int RADIUS = 2;
const int ACROSS = FEW ? 4 : 1;
const int STRIP = FEW ? 16 : 1;
const int WINDOW = 2 * RADIUS + 1;
// A variance of the mask that is as good as none.
const float LEAST = 1e-4;

// Sums over a window, for each of ACROSS pixels: guide, mask, their product, the squares of guide
// and of mask; in the second pass a and b.
struct Sums {
    vec4 pixel[4];
    float square[4];
};

// A value as its terms. The penalty keeps |a| below 1 / 4√penalty, so that
// coefficients, coded in ±16, fit with room.
vec4 terms_at(int x, int y, ivec2 size)
{
    if (x < 0 || x >= size.x)
        return vec4(0.0);
    const uint w = values[y * size.x + x];
    if (!FIT)
        return vec4(unpackSnorm2x16(w), 0.0, 0.0);
    const vec2 v = unpackUnorm2x16(w);
    return vec4(v, v.x * v.y, v.x * v.x);
}

Sums row_sums(int x, int y, ivec2 size)
{
    Sums s;
    vec4 terms[4 + 2 * RADIUS];
    if (y < 0 || y >= size.y) {
        for (int i = 0; i < ACROSS; i++) {
            s.pixel[i] = vec4(0.0);
            s.square[i] = 0.0;
        }
        return s;
    }
    for (int i = 0; i < ACROSS + 2 * RADIUS; i++)
        terms[i] = terms_at(x - RADIUS + i, y, size);
    for (int i = 0; i < ACROSS; i++) {
        s.pixel[i] = terms[i];
        s.square[i] = terms[i].y * terms[i].y;
        for (int k = 1; k < WINDOW; k++) {
            s.pixel[i] += terms[i + k];
            s.square[i] += terms[i + k].y * terms[i + k].y;
        }
    }
    return s;
}

float inside(int at, int size)
{
    return float(min(at + RADIUS, size - 1) - max(at - RADIUS, 0) + 1);
}

// Guide and mask with weights 1 2 1 across and down: what comes back is smooth where the
// network's mask has steps of its own grid. The border repeats.
vec2 blurred_pair(int x, int y, ivec2 size)
{
    vec2 sum = vec2(0.0);
    for (int dy = -1; dy <= 1; dy++) {
        const int row = clamp(y + dy, 0, size.y - 1) * size.x;
        vec2 across = 2.0 * unpackUnorm2x16(other[row + x]);
        across += unpackUnorm2x16(other[row + max(x - 1, 0)]);
        across += unpackUnorm2x16(other[row + min(x + 1, size.x - 1)]);
        sum += across * float(2 - abs(dy));
    }
    return sum / 16.0;
}

void store(int x, int y, ivec2 size, vec4 sum, float square)
{
    const int at = y * size.x + x;
    const float share = 1.0 / (inside(x, size.x) * inside(y, size.y));
    const vec4 mean = sum * share;
    if (FIT) {
        const float both = mean.z - mean.x * mean.y;
        const float a = both / (max(mean.w - mean.x * mean.x, 0.0) + push.penalty);
        const float told = a * both / (max(square * share - mean.y * mean.y, 0.0) + LEAST);
        results[at] = packSnorm2x16(vec2(a, mean.y - a * mean.x) / 16.0);
        other[at] = packSnorm2x16(vec2(1.0 - told, 0.0));
    } else {
        const vec2 pair = blurred_pair(x, y, size);
        const float rest = pair.y / 16.0 - mean.x * pair.x - mean.y;
        const float left = unpackSnorm2x16(results[at]).x;
        results[at] = packSnorm2x16(vec2(mean.x, mean.y + left * rest));
    }
}

void main()
{
    const ivec2 size = ivec2(push.mask_size & 65535u, push.mask_size >> 16);
    const int x = ACROSS * int(gl_GlobalInvocationID.x), y = STRIP * int(gl_GlobalInvocationID.y);
    if (x >= size.x || y >= size.y)
        return;
    Sums row[WINDOW];
    for (int k = 0; k < WINDOW; k++)
        for (int p = 0; p < ACROSS; p++) {
            row[k].pixel[p] = vec4(0.0);
            row[k].square[p] = 0.0;
        }
    for (int i = y - 2 * RADIUS; i < min(y + STRIP, size.y); i++) {
        for (int k = 1; k < WINDOW; k++)
            row[k - 1] = row[k];
        row[WINDOW - 1] = row_sums(x, i + RADIUS, size);
        if (i < y)
            continue;
        for (int p = 0; p < ACROSS; p++) {
            vec4 sum = row[0].pixel[p];
            float square = row[0].square[p];
            for (int k = 1; k < WINDOW; k++) {
                sum += row[k].pixel[p];
                square += row[k].square[p];
            }
            if (x + p < size.x)
                store(x + p, i, size, sum, square);
        }
    }
}
