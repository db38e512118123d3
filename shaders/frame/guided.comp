#version 450
// SPDX-License-Identifier: LGPL-2.1-or-later
// The guided filter's two passes at mask resolution (He, Sun, Tang, "Guided
// Image Filtering", PAMI 2013; He, Sun, "Fast Guided Filter", 2015):
// fit:  in every window, the line mask ≈ a · guide + b, by least squares with
//       a penalty on a²
// mean: the mean of the lines of all windows that hold a pixel
// A window is cut off at the picture's borders. One invocation does a column
// of STRIP pixels, so that the sums over rows are shared.
layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;

layout(constant_id = 3) const bool FIT = true;
layout(constant_id = 4) const int RADIUS = 2; // 1 to 4

layout(push_constant) uniform Push {
    uint mask_size;
    float penalty;
} push;

layout(std430, set = 0, binding = 0) restrict readonly buffer In { vec2 values[]; };
layout(std430, set = 0, binding = 1) restrict writeonly buffer Out { vec2 results[]; };

const int STRIP = 4;
const int MAX_ROWS = STRIP + 2 * 4;

vec4 row_sum(int x, int y, ivec2 size)
{
    vec4 sum = vec4(0.0);
    if (y < 0 || y >= size.y)
        return sum;
    for (int k = -RADIUS; k <= RADIUS; k++) {
        const int column = x + k;
        const vec2 v = values[y * size.x + clamp(column, 0, size.x - 1)];
        const vec4 term = FIT ? vec4(v, v.x * v.y, v.x * v.x) : vec4(v, 0.0, 0.0);
        sum += column >= 0 && column < size.x ? term : vec4(0.0);
    }
    return sum;
}

int inside(int at, int size)
{
    return min(at + RADIUS, size - 1) - max(at - RADIUS, 0) + 1;
}

void main()
{
    const ivec2 size = ivec2(push.mask_size & 65535u, push.mask_size >> 16);
    const int x = int(gl_GlobalInvocationID.x), y = STRIP * int(gl_GlobalInvocationID.y);
    vec4 rows[MAX_ROWS];
    if (x >= size.x || y >= size.y)
        return;
    for (int i = 0; i < STRIP + 2 * RADIUS; i++)
        rows[i] = row_sum(x, y - RADIUS + i, size);
    for (int i = 0; i < STRIP; i++) {
        if (y + i >= size.y)
            return;
        vec4 mean = vec4(0.0);
        for (int k = 0; k <= 2 * RADIUS; k++)
            mean += rows[i + k];
        mean /= float(inside(x, size.x) * inside(y + i, size.y));
        vec2 result = mean.xy;
        if (FIT) {
            const float a =
                (mean.z - mean.x * mean.y) / (max(mean.w - mean.x * mean.x, 0.0) + push.penalty);
            result = vec2(a, mean.y - a * mean.x);
        }
        results[(y + i) * size.x + x] = result;
    }
}
