#version 430
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: LGPL-2.1-or-later
// Frame → tensor: unpack, crop, stretch, convert to RGB, normalise; grey where the
// picture does not fill it. One invocation makes SIDE×SIDE pixels of the tensor.
layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;

layout(push_constant) uniform Push {
    vec4 to_rgb[3];      // rows: codes → channel, 0…1
    uvec4 source;
    uint source_size;
    uint crop_origin;    // x | y << 16
    uint crop_size;
    uint tensor_size;
    float scale[3], bias[3];
    uint inside_origin;  // corner of the part inside of the tensor
    uint inside_size;
    float pad;
    uint bilinear;       // the narrowest triangle, however far the frame is shrunk
} push;

#include "../common/frame_filter.glsl"

layout(constant_id = 8) const bool PACKED4 = false; // NC4HW4, else NHWC

#ifdef TDL_FP16
layout(std430, set = 0, binding = 3) restrict writeonly buffer Tensor { uvec2 tensor[]; };
#else
layout(std430, set = 0, binding = 3) restrict writeonly buffer Tensor { float tensor[]; };
layout(std430, set = 0, binding = 3) restrict writeonly buffer Tensor4 { vec4 tensor4[]; };
#endif

void store(uint i, vec3 rgb)
{
#ifdef TDL_FP16
    tensor[i] = uvec2(packHalf2x16(rgb.xy), packHalf2x16(vec2(rgb.z, 0.0)));
#else
    if (PACKED4) {
        tensor4[i] = vec4(rgb, 0.0);
    } else {
        tensor[3u * i] = rgb.x;
        tensor[3u * i + 1u] = rgb.y;
        tensor[3u * i + 2u] = rgb.z;
    }
#endif
}

void main()
{
    const uvec2 at = gl_GlobalInvocationID.xy * uint(SIDE);
    const uvec2 size = uvec2(push.tensor_size & 65535u, push.tensor_size >> 16);
    if (any(greaterThanEqual(at, size)))
        return;
    const uvec2 origin = uvec2(push.crop_origin & 65535u, push.crop_origin >> 16);
    const uvec2 crop = uvec2(push.crop_size & 65535u, push.crop_size >> 16);
    const uvec2 first = uvec2(push.inside_origin & 65535u, push.inside_origin >> 16);
    const uvec2 inside = uvec2(push.inside_size & 65535u, push.inside_size >> 16);
    const vec2 next = vec2(crop) / vec2(inside);
    vec4 codes[3], rgb[3];
    // Round the picture there is nothing to read; its border stands there.
    const vec2 here = clamp(vec2(at) - vec2(first), vec2(-1.0), vec2(inside));
    const vec2 support = push.bilinear != 0u ? vec2(1.0) : next;
    filter_source(vec2(origin) + (here + 0.5) * next, next, support, ivec2(origin),
                  ivec2(origin + crop) - 1, true, codes);
    for (uint c = 0u; c < 3u; c++) {
        const vec4 m = push.to_rgb[c];
        rgb[c] = clamp(m.x * codes[0] + m.y * codes[1] + m.z * codes[2] + m.w, 0.0, 1.0) *
                 push.scale[c] + push.bias[c];
    }
    for (uint k = 0u; k < uint(SIDE * SIDE); k++) {
        const uvec2 pixel = at + uvec2(k & 1u, k >> 1);
        const bool padded = any(greaterThanEqual(pixel - first, inside)); // wraps below
        vec3 value = vec3(rgb[0][k], rgb[1][k], rgb[2][k]);
        if (padded)
            for (uint c = 0u; c < 3u; c++)
                value[c] = push.pad * push.scale[c] + push.bias[c];
        if (all(lessThan(pixel, size)))
            store(pixel.y * size.x + pixel.x, value);
    }
}
