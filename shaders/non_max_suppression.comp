// SPDX-License-Identifier: LGPL-2.1-or-later
#version 430
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
// nonMaxSuppression: a workgroup takes a row of boxes. One after the other, each that is
// still there removes those behind it that overlap it too much.
#include "common/linear.glsl"
layout(constant_id = 3) const uint BOXES = 1;
layout(constant_id = 4) const uint ROWS = 1;
layout(constant_id = 5) const uint THRESHOLD = 0; // largest overlap, as the bits of a float
layout(std430, set = 0, binding = 0) readonly buffer Boxes { vec4 boxes[]; };
layout(std430, set = 0, binding = 1) writeonly buffer Out { uint result[]; };

// A bit for each box.
shared uint gone[(BOXES + 31) / 32];

bool is_gone(uint i)
{
    return (gone[i / 32] >> (i % 32) & 1) != 0;
}

// Without area it overlaps none, as what is not to take part is given.
bool has_area(vec4 a)
{
    return a.x != a.z && a.y != a.w;
}

bool overlap(vec4 a, vec4 b)
{
    const vec2 a0 = min(a.xy, a.zw), a1 = max(a.xy, a.zw), b0 = min(b.xy, b.zw),
               b1 = max(b.xy, b.zw);
    const vec2 size = max(min(a1, b1) - max(a0, b0), 0.0), x = a1 - a0, y = b1 - b0;
    const float both = size.x * size.y;
    return both > 0.0 && both > uintBitsToFloat(THRESHOLD) * (x.x * x.y + y.x * y.y - both);
}

void main()
{
    const uint row = gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x, first = row * BOXES;
    const uint local = gl_LocalInvocationID.x, step = gl_WorkGroupSize.x;
    if (row >= ROWS)
        return; // all of the workgroup
    for (uint j = local; j < (BOXES + 31) / 32; j += step)
        gone[j] = 0;
    for (uint i = 0; i < BOXES; i++) {
        barrier();
        if (!is_gone(i) && has_area(boxes[first + i]))
            for (uint j = i / step * step + local; j < BOXES; j += step)
                if (j > i && !is_gone(j) && overlap(boxes[first + i], boxes[first + j]))
                    atomicOr(gone[j / 32], 1u << j % 32);
    }
    barrier();
    for (uint j = local; j < BOXES; j += step)
        result[first + j] = is_gone(j) ? 0 : 1;
}
