// SPDX-License-Identifier: LGPL-2.1-or-later
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
// resample2d, linear. One invocation an output pack.
#include "common/storage.glsl"
#include "common/resample.glsl"

layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;
layout(constant_id = 3) const uint IN_W = 1;
layout(constant_id = 4) const uint IN_H = 1;
layout(constant_id = 5) const uint OUT_W = 1;
layout(constant_id = 6) const uint OUT_H = 1;
layout(constant_id = 7) const uint PACKS = 1;
layout(constant_id = 8) const uint COORDINATES = 0;

layout(std430, set = 0, binding = 0) readonly buffer In { PACK x[]; };
layout(std430, set = 0, binding = 1) writeonly buffer Out { PACK result[]; };

void main()
{
    uint o = gl_GlobalInvocationID.x;
    uint plane = gl_WorkGroupID.z * PACKS + gl_WorkGroupID.y;
    if (o >= OUT_W * OUT_H)
        return;
    bilinear b = bilinear_at(COORDINATES, uvec2(o % OUT_W, o / OUT_W), uvec2(IN_W, IN_H),
                             uvec2(OUT_W, OUT_H));
    uvec4 at = plane * IN_W * IN_H + b.index;
    vec4 v = unpack(x[at.x]) * b.weight.x + unpack(x[at.y]) * b.weight.y +
             unpack(x[at.z]) * b.weight.z + unpack(x[at.w]) * b.weight.w;
    result[plane * OUT_W * OUT_H + o] = pack(v);
}
