// SPDX-License-Identifier: LGPL-2.1-or-later
#version 430
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
// resample2d, linear. One invocation an output pack.
#include "common/storage.glsl"

layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;
layout(constant_id = 3) const uint IN_W = 1;
layout(constant_id = 4) const uint IN_H = 1;
layout(constant_id = 5) const uint OUT_W = 1;
layout(constant_id = 6) const uint OUT_H = 1;
layout(constant_id = 7) const uint PACKS = 1;
// Source coordinate of output pixel x: x · RATIO + START, within the image.
layout(constant_id = 8) const float RATIO_W = 1.0;
layout(constant_id = 9) const float START_W = 0.0;
layout(constant_id = 10) const float RATIO_H = 1.0;
layout(constant_id = 11) const float START_H = 0.0;

layout(std430, set = 0, binding = 0) readonly buffer In { PACK x[]; };
layout(std430, set = 0, binding = 1) writeonly buffer Out { PACK result[]; };

void main()
{
    uint o = gl_GlobalInvocationID.x;
    uint plane = gl_WorkGroupID.z * PACKS + gl_WorkGroupID.y;
    if (o >= OUT_W * OUT_H)
        return;
    vec2 s = vec2(o % OUT_W, o / OUT_W) * vec2(RATIO_W, RATIO_H) + vec2(START_W, START_H);
    s = clamp(s, vec2(0.0), vec2(IN_W - 1, IN_H - 1));
    uvec2 low = uvec2(s), high = min(low + 1, uvec2(IN_W - 1, IN_H - 1));
    vec2 f = s - vec2(low);
    uint top = (plane * IN_H + low.y) * IN_W, bottom = (plane * IN_H + high.y) * IN_W;
    vec4 a = unpack(x[top + low.x]), b = unpack(x[top + high.x]);
    vec4 c = unpack(x[bottom + low.x]), d = unpack(x[bottom + high.x]);
    result[plane * OUT_W * OUT_H + o] = pack(mix(mix(a, b, f.x), mix(c, d, f.x), f.y));
}
