// SPDX-License-Identifier: LGPL-2.1-or-later
#version 430
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
// Linear floats in NHWC, NCHW or NC4HW4 to or from the graph's own packs. One
// invocation a pack; of halves that are written, one a word.
#include "common/storage.glsl"

layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;
layout(constant_id = 3) const uint TO_PACKS = 1;
layout(constant_id = 4) const uint CHANNELS = 1;
layout(constant_id = 5) const uint PIXELS = 1; // H · W
layout(constant_id = 6) const uint CHANNEL_STRIDE = 1;
layout(constant_id = 7) const uint PIXEL_STRIDE = 1;
layout(constant_id = 8) const uint GROUP_STRIDE = 1; // elements to the next four channels
layout(constant_id = 9) const uint IMAGE_STRIDE = 1;
layout(constant_id = 10) const uint HALF = 0; // the linear side is float16
layout(constant_id = 11) const uint COUNT = 1; // elements in all

layout(std430, set = 0, binding = 0) readonly buffer PlainIn { uint plain[]; };
layout(std430, set = 0, binding = 1) readonly buffer PacksIn { PACK packs[]; };
layout(std430, set = 0, binding = 2) writeonly buffer PlainOut { uint plain_out[]; };
layout(std430, set = 0, binding = 3) writeonly buffer PacksOut { PACK packs_out[]; };

const uint PACKS = (CHANNELS + 3) / 4;

float read_plain(uint at)
{
    if (HALF != 0)
        return unpackHalf2x16(plain[at / 2] >> 16 * (at & 1)).x;
    return uintBitsToFloat(plain[at]);
}

// Element `i` in the order of the linear side.
float element(uint i)
{
    uint c = PIXEL_STRIDE == 1 ? i / PIXELS % CHANNELS : i % CHANNELS;
    uint pixel = PIXEL_STRIDE == 1 ? i % PIXELS : i / CHANNELS % PIXELS;
    uint image = i / (PIXELS * CHANNELS);
    vec4 v = unpack(packs[(image * PACKS + c / 4) * PIXELS + pixel]);
    return v[c % 4];
}

void write_halves()
{
    uint word = gl_GlobalInvocationID.x +
                gl_GlobalInvocationID.y * gl_NumWorkGroups.x * gl_WorkGroupSize.x;
    uint first = word * 2;
    if (first >= COUNT)
        return;
    plain_out[word] = packHalf2x16(vec2(element(first), element(min(first + 1, COUNT - 1))));
}

void main()
{
    if (TO_PACKS == 0 && HALF != 0) {
        write_halves();
        return;
    }
    uint pixel = gl_GlobalInvocationID.x, group = gl_WorkGroupID.y, image = gl_WorkGroupID.z;
    if (pixel >= PIXELS)
        return;
    uint base = image * IMAGE_STRIDE + pixel * PIXEL_STRIDE + group * GROUP_STRIDE;
    uint at = (image * PACKS + group) * PIXELS + pixel;
    uint count = min(4, CHANNELS - group * 4);
    if (TO_PACKS != 0) {
        vec4 v = vec4(0.0);
        for (uint c = 0; c < count; c++)
            v[c] = read_plain(base + c * CHANNEL_STRIDE);
        packs_out[at] = pack(v);
    } else {
        vec4 v = unpack(packs[at]);
        // Four channels a pixel: whole packs, or NHWC without a rest.
        if (PIXEL_STRIDE == 4 && CHANNEL_STRIDE == 1)
            count = 4;
        for (uint c = 0; c < count; c++)
            plain_out[base + c * CHANNEL_STRIDE] = floatBitsToUint(v[c]);
    }
}
