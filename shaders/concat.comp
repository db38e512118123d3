// SPDX-License-Identifier: LGPL-2.1-or-later
#version 430
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
// concat of channels that do not begin at packs: each of the four channels of
// an output pack is looked for in the inputs. One invocation an output pack.
#include "common/storage.glsl"

layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;
layout(constant_id = 3) const uint PIXELS = 1;
layout(constant_id = 4) const uint INPUTS = 1;
// The channel behind the last of each input.
layout(constant_id = 5) const uint END0 = 1;
layout(constant_id = 6) const uint END1 = 1;
layout(constant_id = 7) const uint END2 = 1;
layout(constant_id = 8) const uint END3 = 1;
layout(constant_id = 9) const uint END4 = 1;
layout(constant_id = 10) const uint END5 = 1;
layout(constant_id = 11) const uint END6 = 1;

layout(std430, set = 0, binding = 0) readonly buffer In0 { PACK x0[]; };
layout(std430, set = 0, binding = 1) readonly buffer In1 { PACK x1[]; };
layout(std430, set = 0, binding = 2) readonly buffer In2 { PACK x2[]; };
layout(std430, set = 0, binding = 3) readonly buffer In3 { PACK x3[]; };
layout(std430, set = 0, binding = 4) readonly buffer In4 { PACK x4[]; };
layout(std430, set = 0, binding = 5) readonly buffer In5 { PACK x5[]; };
layout(std430, set = 0, binding = 6) readonly buffer In6 { PACK x6[]; };
layout(std430, set = 0, binding = 7) writeonly buffer Out { PACK result[]; };

float channel(uint image, uint c, uint pixel)
{
#define FIND(NUMBER, START, END)                                                                   \
    if (NUMBER < INPUTS && c < END) {                                                              \
        uint packs = (END - START + 3) / 4, own = c - START;                                       \
        return unpack(x##NUMBER[(image * packs + own / 4) * PIXELS + pixel])[own & 3];             \
    }
    FIND(0, 0, END0)
    FIND(1, END0, END1)
    FIND(2, END1, END2)
    FIND(3, END2, END3)
    FIND(4, END3, END4)
    FIND(5, END4, END5)
    FIND(6, END5, END6)
    return 0.0; // channels past the last one are zero
}

void main()
{
    uint pixel = gl_GlobalInvocationID.x, k = gl_WorkGroupID.y, image = gl_WorkGroupID.z;
    if (pixel >= PIXELS)
        return;
    vec4 v = vec4(channel(image, k * 4, pixel), channel(image, k * 4 + 1, pixel),
                  channel(image, k * 4 + 2, pixel), channel(image, k * 4 + 3, pixel));
    result[(image * gl_NumWorkGroups.y + k) * PIXELS + pixel] = pack(v);
}
