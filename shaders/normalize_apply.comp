// SPDX-License-Identifier: LGPL-2.1-or-later
#version 430
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
// (x − mean) · a + b with the values of each channel, which batchNormalization is, or
// x · a + b with factor and offset of each channel of each image, the last step of the other
// normalizations; then, for layerNormalization, scale and bias of each element.
#include "common/storage.glsl"
#include "common/activation.glsl"

layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;
layout(constant_id = 3) const uint PIXELS = 1;
layout(constant_id = 4) const uint PACKS = 1;
layout(constant_id = 5) const uint LAST_CHANNELS = 4;
layout(constant_id = 6) const uint EACH_IMAGE = 0;
layout(constant_id = 7) const uint ELEMENTS = 0; // scale and bias of each element are given
layout(constant_id = 8) const uint ACTIVATION = 0;

layout(std430, set = 0, binding = 0) readonly buffer In { PACK x[]; };
layout(std430, set = 0, binding = 1) readonly buffer Factors { vec4 factors[]; };
layout(std430, set = 0, binding = 2) readonly buffer Elements { vec4 elements[]; };
layout(std430, set = 0, binding = 3) writeonly buffer Out { PACK result[]; };

void main()
{
    uint pixel = gl_GlobalInvocationID.x, k = gl_WorkGroupID.y, image = gl_WorkGroupID.z;
    uint coefficient = EACH_IMAGE != 0 ? (image * PACKS + k) * 2 : k * 3;
    vec4 a = factors[coefficient], b = factors[coefficient + 1];
    if (pixel >= PIXELS)
        return;
    uint at = (image * PACKS + k) * PIXELS + pixel;
    vec4 v = unpack(x[at]);
    if (EACH_IMAGE != 0)
        v = v * a + b;
    else // their difference is small where they are alike: no offset in its place
        v = (v - factors[coefficient + 2]) * a + b;
    if (ELEMENTS != 0) {
        uint element = (k * PIXELS + pixel) * 2;
        v = v * elements[element] + elements[element + 1];
    }
    v = activate(ACTIVATION, v);
    result[at] = pack(filled_up(v, k == PACKS - 1, LAST_CHANNELS));
}
