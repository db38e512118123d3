// SPDX-License-Identifier: LGPL-2.1-or-later
#version 430
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
// The end of a convolution whose channels and taps were summed in parts: their sum, with
// bias, activation and residual. The parts come as [part][pack of the output].
#include "common/storage.glsl"
#include "common/activation.glsl"

layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;
layout(constant_id = 3) const uint PIXELS = 1;
layout(constant_id = 4) const uint PACKS = 1; // packs of an image
layout(constant_id = 5) const uint COUNT = 1; // packs of all images' pixels
layout(constant_id = 6) const uint PARTS = 1;
layout(constant_id = 7) const uint ACTIVATION = 0;
layout(constant_id = 8) const uint RESIDUAL = 0;
layout(constant_id = 9) const uint LAST_CHANNELS = 4;

layout(std430, set = 0, binding = 1) readonly buffer Bias { vec4 bias[]; };
layout(std430, set = 0, binding = 4) readonly buffer Residual { PACK residual[]; };
layout(std430, set = 0, binding = 5) writeonly buffer Out { PACK result[]; };
layout(std430, set = 0, binding = 6) readonly buffer Sums { vec4 sums[]; };

void main()
{
    uint o = gl_GlobalInvocationID.x;
    if (o >= COUNT)
        return;
    uint n = o / PIXELS % PACKS;
    vec4 v = bias[n];
    [[unroll]] for (uint i = 0; i < PARTS; i++)
        v += sums[i * COUNT + o];
    v = filled_up(activate(ACTIVATION, v), n == PACKS - 1, LAST_CHANNELS);
    if (RESIDUAL != 0)
        v += unpack(residual[o]);
    result[o] = pack(v);
}
