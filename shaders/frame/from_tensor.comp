#version 430
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: LGPL-2.1-or-later
// Tensor → target frame: stretched, converted from RGB, laid over a source of the
// target's size and coding. One invocation makes the blocks that it owns.
layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;

layout(push_constant) uniform Push {
    vec4 matrix[3];      // rows: R, G, B of 0…1 → target codes
    uvec4 source, target;
    uint source_size;    // size of source and target
    uint tensor_width;
    uint crop_origin;    // x | y << 16
    uint crop_size;
    float scale[3], bias[3];
    float opacity;
} push;

const mat4 IDENTITY = mat4(1.0);
#define BLOCK_MATRIX(row) IDENTITY[row]
#include "../common/frame_block.glsl"
#include "../common/frame_blend.glsl"
#include "../common/frame_target.glsl"

// Channels, and whether they lie in packs of four, and whether there is a source.
layout(constant_id = 8) const uint MODE = 3u;
const uint CHANNELS = MODE & 7u;
const bool PACKED4 = (MODE & 8u) != 0u;
const bool OVER = (MODE & 16u) != 0u;

layout(std430, set = 0, binding = 6) restrict readonly buffer Tensor { float tensor[]; };
layout(std430, set = 0, binding = 6) restrict readonly buffer Tensor4 { vec4 tensor4[]; };

vec4 tensor_pixel(uint x, uint y)
{
    const uint i = y * push.tensor_width + x;
    vec4 v;
    if (PACKED4) {
        v = tensor4[i];
    } else {
        v = vec4(tensor[CHANNELS * i]);
        if (CHANNELS > 1u)
            v.yz = vec2(tensor[CHANNELS * i + 1u], tensor[CHANNELS * i + 2u]);
        if (CHANNELS == 4u)
            v.w = tensor[CHANNELS * i + 3u];
    }
    if (CHANNELS == 4u) { // premultiply: a transparent pixel has no colour to mix
        v.w = clamp(v.w, 0.0, 1.0);
        v.xyz *= v.w;
    }
    return v;
}

// R, G, B and alpha of 0…1 at pixel `at` of the target.
vec4 color_at(uvec2 at)
{
    const vec2 target = vec2(source_width(), source_height());
    const vec2 size = vec2(push.crop_size & 65535u, push.crop_size >> 16);
    const vec2 origin = vec2(push.crop_origin & 65535u, push.crop_origin >> 16);
    const vec2 place = clamp((vec2(at) + 0.5) * size / target - 0.5, vec2(0.0), size - 1.0);
    const uvec2 low = uvec2(place);
    const uvec2 p = uvec2(origin) + low, q = uvec2(origin) + min(low + 1u, uvec2(size) - 1u);
    const vec2 part = place - vec2(low);
    vec4 v = mix(mix(tensor_pixel(p.x, p.y), tensor_pixel(q.x, p.y), part.x),
                 mix(tensor_pixel(p.x, q.y), tensor_pixel(q.x, q.y), part.x), part.y);
    if (CHANNELS == 4u)
        v.xyz /= max(v.w, 1.0 / 1024.0); // below, nothing is seen of it
    if (CHANNELS == 1u)
        v = v.xxxx;
    if (CHANNELS != 4u)
        v.w = 1.0;
    v.xyz = v.xyz * vec3(push.scale[0], push.scale[1], push.scale[2]) +
            vec3(push.bias[0], push.bias[1], push.bias[2]);
    return clamp(v, 0.0, 1.0);
}

vec4 codes_at(vec4 color)
{
    const vec4 rgb = vec4(color.xyz, 1.0);
    return vec4(dot(push.matrix[0], rgb), dot(push.matrix[1], rgb), dot(push.matrix[2], rgb),
                color.w);
}

// The tensor's block in the target's codes; outside the frame its last pixels repeat.
// Chroma is made as from a source of three codes a pixel.
Block tensor_block(uint x, uint y)
{
    const uvec2 end = uvec2(source_width(), source_height()) - 1u;
    Block b;
    for (uint r = 0u; r < 2u; r++) {
        const uint row = min(y + r, end.y);
        vec4 second, third;
        for (uint k = 0u; k < 4u; k++) {
            const vec4 c = codes_at(color_at(uvec2(min(x + k, end.x), row)));
            b.c0[r][k] = c.x;
            second[k] = c.y;
            third[k] = c.z;
            b.alpha[r][k] = 255.0 * c.w;
        }
        b.c1[r] = second;
        b.c2[r] = third;
        if (TARGET_FULL || !TARGET_CHROMA)
            continue;
        const vec4 left = codes_at(color_at(uvec2(max(x, 1u) - 1u, row)));
        b.c1[r] = chroma_down(left.y, second).xyxy;
        b.c2[r] = chroma_down(left.z, third).xyxy;
    }
    if (TARGET_420) {
        b.c1[0] = 0.5 * (b.c1[0] + b.c1[1]);
        b.c2[0] = 0.5 * (b.c2[0] + b.c2[1]);
    }
    return b;
}

Block laid_over(uint x, uint y, Block front)
{
    vec4 guide[2], weight[2];
    const Block behind = source_block(x, y, true, guide);
    for (uint r = 0u; r < 2u; r++) {
        weight[r] = front.alpha[r] * (push.opacity / 255.0);
        front.alpha[r] = behind.alpha[r];
    }
    return blend(behind, front, weight);
}

void main()
{
    const uvec2 size = uvec2(source_width(), source_height());
    const uint y = 2u * gl_GlobalInvocationID.y;
    uvec2 held[2] = uvec2[2](uvec2(0u), uvec2(0u));
    for (uint part = 0u; part < TARGET_WIDE; part++) {
        const uint x = 4u * (TARGET_WIDE * gl_GlobalInvocationID.x + part);
        if (x < size.x && y < size.y) {
            Block block = tensor_block(x, y);
            if (OVER)
                block = laid_over(x, y, block);
            write_block(x, y, size.x, size.y, block, held);
        }
    }
    write_staged(size.x, size.y);
}
