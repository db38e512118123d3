#version 430
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: LGPL-2.1-or-later
// What the network's colours of the foreground differ by from the picture that it saw, in
// shares of the target's codes, at mask resolution (common/frame_foreground.glsl). A pixel that
// is a of the foreground F and 1 - a of the background B differs from F by (1 - a) · (F - B):
// by no more than 1 - a, and where the mask is 1 not at all. What the network says beyond that
// would tint the foreground.
layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;

layout(push_constant) uniform Push {
    vec4 matrix[3];      // rows: differences of the tensors' channels → shares
    float scale[3], offset[3]; // map the picture's channels to 0…1
    uvec2 foreground, picture; // words from pixel to pixel, and from channel to channel: 0
                               // where the channels are halves
    uint mask_size;      // size of the part that covers the frame
    uint tensor_size;
    int part_x, part_y;  // corner of that part
} push;

layout(std430, set = 0, binding = 0) restrict readonly buffer Foreground { uint foreground[]; };
layout(std430, set = 0, binding = 1) restrict readonly buffer Picture { uint picture[]; };
// Guide and mask of the last frame that had a new mask (frame/guide.comp).
layout(std430, set = 0, binding = 3) restrict readonly buffer State { uint state[]; };
layout(std430, set = 0, binding = 2) restrict writeonly buffer Out { uint coefficients[]; };

uint word(bool front, uint i)
{
    return front ? foreground[i] : picture[i];
}

vec3 channels(bool front, uvec2 steps, uint pixel)
{
    const uint i = pixel * steps.x;
    if (steps.y == 0u)
        return vec3(unpackHalf2x16(word(front, i)), unpackHalf2x16(word(front, i + 1u)).x);
    return uintBitsToFloat(uvec3(word(front, i), word(front, i + steps.y),
                                 word(front, i + 2u * steps.y)));
}

bool known(vec3 v)
{
    return !any(equal(floatBitsToUint(v) & 0x7f800000u, uvec3(0x7f800000u)));
}

// Nothing where a channel is no number, or infinite, outside the tensor, and where the mask is 1.
vec3 difference_at(ivec2 at, uvec2 size, float mask)
{
    if (any(greaterThanEqual(uvec2(at), size)) || mask >= 1.0)
        return vec3(0.0);
    const uint pixel = uint(at.y) * size.x + uint(at.x);
    const vec3 front = channels(true, push.foreground, pixel);
    const vec3 seen = channels(false, push.picture, pixel);
    if (!known(front) || !known(seen))
        return vec3(0.0);
    const vec3 color = seen * vec3(push.scale[0], push.scale[1], push.scale[2]) +
                       vec3(push.offset[0], push.offset[1], push.offset[2]);
    const vec3 d = clamp(clamp(front, 0.0, 1.0) - clamp(color, 0.0, 1.0), mask - 1.0, 1.0 - mask);
    return vec3(dot(push.matrix[0].xyz, d), dot(push.matrix[1].xyz, d),
                dot(push.matrix[2].xyz, d));
}

void main()
{
    const uvec2 at = gl_GlobalInvocationID.xy;
    const uvec2 size = uvec2(push.mask_size & 65535u, push.mask_size >> 16);
    const uvec2 tensor = uvec2(push.tensor_size & 65535u, push.tensor_size >> 16);
    if (any(greaterThanEqual(at, size)))
        return;
    const uint i = at.y * size.x + at.x;
    const vec3 d = difference_at(ivec2(at) + ivec2(push.part_x, push.part_y), tensor,
                                 unpackUnorm2x16(state[i]).y);
    const ivec3 q = ivec3(round(clamp(d, -1.0, 1.0) * vec3(1023.0, 1023.0, 511.0)));
    coefficients[size.x * size.y + i] =
        uint(q.x & 2047) | uint(q.y & 2047) << 11 | uint(q.z & 1023) << 22;
}
