// SPDX-License-Identifier: LGPL-2.1-or-later
#version 430
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
// averagePool2d, maxPool2d, l2Pool2d: the mean, the largest value or the root
// of the sum of squares over the part of a window that is inside the image.
// TEAM invocations share one output: 1 for small windows, a workgroup for
// large ones, whose partial results are joined in a fixed order.
#include "common/storage.glsl"
#include "common/activation.glsl"

layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;
layout(constant_id = 3) const uint KIND = 0; // enum tdl_pool_kind
layout(constant_id = 4) const uint TEAM = 1;
layout(constant_id = 5) const uint IN_W = 1;
layout(constant_id = 6) const uint IN_H = 1;
layout(constant_id = 7) const uint OUT_W = 1;
layout(constant_id = 8) const uint OUT_H = 1;
layout(constant_id = 9) const uint WINDOW_W = 1;
layout(constant_id = 10) const uint WINDOW_H = 1;
layout(constant_id = 11) const uint STRIDE_W = 1;
layout(constant_id = 12) const uint STRIDE_H = 1;
layout(constant_id = 13) const uint DILATION_W = 1;
layout(constant_id = 14) const uint DILATION_H = 1;
layout(constant_id = 15) const uint PAD_LEFT = 0;
layout(constant_id = 16) const uint PAD_TOP = 0;
layout(constant_id = 17) const uint PAD_RIGHT = 0;
layout(constant_id = 18) const uint PAD_BOTTOM = 0;
layout(constant_id = 19) const uint COUNT_PAD = 0; // padding counts in the mean
layout(constant_id = 20) const uint ACTIVATION = 0;
layout(constant_id = 21) const uint PACKS = 1;
layout(constant_id = 22) const uint LAST_CHANNELS = 4;
layout(constant_id = 23) const uint FULL = 0;   // every window lies inside the image
layout(constant_id = 24) const uint UNROLL = 0; // a window of few pixels

layout(std430, set = 0, binding = 0) readonly buffer In { PACK x[]; };
layout(std430, set = 0, binding = 1) writeonly buffer Out { PACK result[]; };

const uint MEAN = 0, LARGEST = 1, ROOT = 2;

shared vec4 partial[gl_WorkGroupSize.x];

vec4 join(vec4 a, vec4 b)
{
    return KIND == LARGEST ? max(a, b) : a + b;
}

vec4 value(uint at)
{
    vec4 v = unpack(x[at]);
    return KIND == ROOT ? v * v : v;
}

void main()
{
    const vec4 NOTHING = vec4(KIND == LARGEST ? -uintBitsToFloat(0x7f800000) : 0.0);
    const ivec2 WINDOW = ivec2(WINDOW_W, WINDOW_H);
    ivec2 size = ivec2(IN_W, IN_H);
    const ivec2 DILATION = ivec2(DILATION_W, DILATION_H);
    uint local = gl_LocalInvocationID.x, member = TEAM > 1 ? local : 0;
    uint o = TEAM > 1 ? gl_WorkGroupID.x : gl_GlobalInvocationID.x;
    uint plane = gl_WorkGroupID.z * PACKS + gl_WorkGroupID.y;
    uint base = plane * IN_W * IN_H;
    bool inside = o < OUT_W * OUT_H;
    uint clamped = min(o, OUT_W * OUT_H - 1);
    ivec2 start = ivec2(clamped % OUT_W, clamped / OUT_W) * ivec2(STRIDE_W, STRIDE_H) -
                  ivec2(PAD_LEFT, PAD_TOP);
    // The taps of the window that are inside.
    ivec2 low = FULL != 0 ? ivec2(0) : (max(-start, 0) + DILATION - 1) / DILATION;
    ivec2 high = FULL != 0 ? WINDOW : min(WINDOW, (size - start + DILATION - 1) / DILATION);
    // A constant width makes the division below cheap.
    uint w = FULL != 0 ? WINDOW_W : uint(high.x - low.x);
    uint count = FULL != 0 ? WINDOW_W * WINDOW_H : w * uint(high.y - low.y);
    vec4 sum = NOTHING;
    if (UNROLL != 0) {
        // Loads outside of branches: pixels beyond the border are read, but not used.
        [[unroll]] for (uint i = 0; i < WINDOW_W * WINDOW_H; i++) {
            ivec2 at = start + ivec2(i % WINDOW_W, i / WINDOW_W) * DILATION;
            ivec2 near = FULL != 0 ? at : clamp(at, ivec2(0), size - 1);
            vec4 v = value(base + uint(near.y) * IN_W + uint(near.x));
            sum = join(sum, near == at ? v : NOTHING);
        }
    } else {
        [[dont_unroll]] for (uint i = member; i < count && inside; i += TEAM) {
            ivec2 at = start + (low + ivec2(i % w, i / w)) * DILATION;
            sum = join(sum, value(base + uint(at.y) * IN_W + uint(at.x)));
        }
    }
    if (TEAM > 1) {
        partial[local] = sum;
        for (uint step = gl_WorkGroupSize.x / 2; step > 0; step /= 2) {
            barrier();
            if (local < step)
                partial[local] = join(partial[local], partial[local + step]);
        }
        barrier();
        sum = partial[0];
    }
    if (!inside || member != 0)
        return;
    if (KIND == MEAN) {
        if (COUNT_PAD != 0) {
            ivec2 end = size + ivec2(PAD_RIGHT, PAD_BOTTOM);
            ivec2 counted = min(WINDOW, (end - start + DILATION - 1) / DILATION);
            count = uint(counted.x) * uint(counted.y);
        }
        sum /= float(count);
    } else if (KIND == ROOT) {
        sum = sqrt(sum);
    }
    vec4 v = activate(ACTIVATION, sum);
    v = filled_up(v, gl_WorkGroupID.y == PACKS - 1, LAST_CHANNELS);
    result[plane * OUT_W * OUT_H + o] = pack(v);
}
