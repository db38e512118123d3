#version 430
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: LGPL-2.1-or-later
// The guided filter's two passes at mask resolution (He, Sun, Tang, "Guided
// Image Filtering", PAMI 2013; He, Sun, "Fast Guided Filter", 2015):
// fit:  in every window, the line mask ≈ a · guide + b, by least squares with
//       a penalty on a²
// mean: the mean of the lines of all windows that hold a pixel
// A window is cut off at the picture's borders. One invocation walks down
// STRIP rows of ACROSS pixels and keeps the sums of the last rows.
layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;

#include "../common/frame_formats.glsl"

layout(constant_id = 8) const bool FIT = true;

layout(push_constant) uniform Push {
    uint mask_size;
    float penalty;
} push;

layout(std430, set = 0, binding = 0) restrict readonly buffer In { uint values[]; };
layout(std430, set = 0, binding = 1) restrict writeonly buffer Out { uint results[]; };

const int RADIUS = 2;
const int ACROSS = FEW ? 4 : 1;
const int STRIP = FEW ? 16 : 1;
const int WINDOW = 2 * RADIUS + 1;

// What is summed over a window: four numbers for each of ACROSS pixels.
struct Sums {
    vec4 pixel[4];
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
        for (int i = 0; i < ACROSS; i++)
            s.pixel[i] = vec4(0.0);
        return s;
    }
    for (int i = 0; i < ACROSS + 2 * RADIUS; i++)
        terms[i] = terms_at(x - RADIUS + i, y, size);
    for (int i = 0; i < ACROSS; i++) {
        s.pixel[i] = terms[i];
        for (int k = 1; k < WINDOW; k++)
            s.pixel[i] += terms[i + k];
    }
    return s;
}

float inside(int at, int size)
{
    return float(min(at + RADIUS, size - 1) - max(at - RADIUS, 0) + 1);
}

void store(int x, int y, ivec2 size, vec4 sum)
{
    const vec4 mean = sum / (inside(x, size.x) * inside(y, size.y));
    vec2 result = mean.xy;
    if (FIT) {
        const float a =
            (mean.z - mean.x * mean.y) / (max(mean.w - mean.x * mean.x, 0.0) + push.penalty);
        result = vec2(a, mean.y - a * mean.x) / 16.0;
    }
    results[y * size.x + x] = packSnorm2x16(result);
}

void main()
{
    const ivec2 size = ivec2(push.mask_size & 65535u, push.mask_size >> 16);
    const int x = ACROSS * int(gl_GlobalInvocationID.x), y = STRIP * int(gl_GlobalInvocationID.y);
    if (x >= size.x || y >= size.y)
        return;
    Sums row[WINDOW];
    for (int k = 0; k < WINDOW; k++)
        for (int p = 0; p < ACROSS; p++)
            row[k].pixel[p] = vec4(0.0);
    for (int i = y - 2 * RADIUS; i < min(y + STRIP, size.y); i++) {
        for (int k = 1; k < WINDOW; k++)
            row[k - 1] = row[k];
        row[WINDOW - 1] = row_sums(x, i + RADIUS, size);
        if (i < y)
            continue;
        for (int p = 0; p < ACROSS; p++) {
            vec4 sum = row[0].pixel[p];
            for (int k = 1; k < WINDOW; k++)
                sum += row[k].pixel[p];
            if (x + p < size.x)
                store(x + p, i, size, sum);
        }
    }
}
