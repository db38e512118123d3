// SPDX-License-Identifier: LGPL-2.1-or-later
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
// averagePool2d: the mean over the part of a window that is inside the image.
// TEAM invocations share one output: 1 for small windows, a workgroup for
// large ones, whose partial sums are added in a fixed order.
#include "common/storage.glsl"
#include "common/activation.glsl"

layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;
layout(constant_id = 3) const uint TEAM = 1;
layout(constant_id = 4) const uint IN_W = 1;
layout(constant_id = 5) const uint IN_H = 1;
layout(constant_id = 6) const uint OUT_W = 1;
layout(constant_id = 7) const uint OUT_H = 1;
layout(constant_id = 8) const uint WINDOW_W = 1;
layout(constant_id = 9) const uint WINDOW_H = 1;
layout(constant_id = 10) const uint STRIDE_W = 1;
layout(constant_id = 11) const uint STRIDE_H = 1;
layout(constant_id = 12) const uint PAD_LEFT = 0;
layout(constant_id = 13) const uint PAD_TOP = 0;
layout(constant_id = 14) const uint ACTIVATION = 0;
layout(constant_id = 15) const uint PACKS = 1;
layout(constant_id = 16) const uint LAST_CHANNELS = 4;
layout(constant_id = 17) const uint FULL = 0; // every window lies inside the image

layout(std430, set = 0, binding = 0) readonly buffer In { PACK x[]; };
layout(std430, set = 0, binding = 1) writeonly buffer Out { PACK result[]; };

shared vec4 partial[gl_WorkGroupSize.x];

void main()
{
    uint local = gl_LocalInvocationID.x, member = TEAM > 1 ? local : 0;
    uint o = TEAM > 1 ? gl_WorkGroupID.x : gl_GlobalInvocationID.x;
    uint plane = gl_WorkGroupID.z * PACKS + gl_WorkGroupID.y;
    bool inside = o < OUT_W * OUT_H;
    ivec2 start = ivec2(o % OUT_W, o / OUT_W) * ivec2(STRIDE_W, STRIDE_H) -
                  ivec2(PAD_LEFT, PAD_TOP);
    ivec2 low = clamp(start, ivec2(0), ivec2(IN_W, IN_H));
    ivec2 high = clamp(start + ivec2(WINDOW_W, WINDOW_H), ivec2(0), ivec2(IN_W, IN_H));
    // A constant width makes the division below cheap.
    uint w = FULL != 0 ? WINDOW_W : uint(high.x - low.x);
    uint count = !inside ? 0 : FULL != 0 ? WINDOW_W * WINDOW_H : w * uint(high.y - low.y);
    vec4 sum = vec4(0.0);
    for (uint i = member; i < count; i += TEAM) {
        uint at = (uint(low.y) + i / w) * IN_W + uint(low.x) + i % w;
        sum += unpack(x[plane * IN_W * IN_H + at]);
    }
    if (TEAM > 1) {
        partial[local] = sum;
        for (uint step = gl_WorkGroupSize.x / 2; step > 0; step /= 2) {
            barrier();
            if (local < step)
                partial[local] += partial[local + step];
        }
        barrier();
        sum = partial[0];
    }
    if (!inside || member != 0)
        return;
    vec4 v = activate(ACTIVATION, sum / float(max(count, 1)));
    if (gl_WorkGroupID.y == PACKS - 1)
        v = mix(vec4(0.0), v, lessThan(uvec4(0, 1, 2, 3), uvec4(LAST_CHANNELS)));
    result[plane * OUT_W * OUT_H + o] = pack(v);
}
