#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: LGPL-2.1-or-later
// Frame → tensor: unpack, crop, stretch, convert to RGB, normalise. One
// invocation makes one pixel of the tensor.
layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;

layout(push_constant) uniform Push {
    vec4 to_rgb[3];      // rows: codes → colour, 0…1
    uvec4 source;
    uint source_size;
    uint crop_origin;    // x | y << 16
    uint crop_size;
    uint tensor_size;
    float scale[3], bias[3];
} push;

#include "../common/frame_filter.glsl"

layout(constant_id = 5) const bool PACKED4 = false; // NC4HW4, else NHWC

#ifdef TDL_FP16
layout(std430, set = 0, binding = 3) restrict writeonly buffer Tensor { uvec2 tensor[]; };
#else
layout(std430, set = 0, binding = 3) restrict writeonly buffer Tensor { float tensor[]; };
#endif

void main()
{
    const uvec2 at = gl_GlobalInvocationID.xy;
    const uvec2 size = uvec2(push.tensor_size & 65535u, push.tensor_size >> 16);
    if (any(greaterThanEqual(at, size)))
        return;
    const uvec2 origin = uvec2(push.crop_origin & 65535u, push.crop_origin >> 16);
    const uvec2 crop = uvec2(push.crop_size & 65535u, push.crop_size >> 16);
    const vec2 step_size = vec2(crop) / vec2(size);
    const vec2 centre = vec2(origin) + (vec2(at) + 0.5) * step_size;

    const vec4 codes = vec4(filter_source(centre, step_size, ivec2(origin),
                                          ivec2(origin + crop) - 1, true), 1.0);
    vec3 rgb = vec3(dot(push.to_rgb[0], codes), dot(push.to_rgb[1], codes),
                    dot(push.to_rgb[2], codes));
    rgb = clamp(rgb, 0.0, 1.0) * vec3(push.scale[0], push.scale[1], push.scale[2]) +
          vec3(push.bias[0], push.bias[1], push.bias[2]);

    const uint i = at.y * size.x + at.x;
#ifdef TDL_FP16
    tensor[i] = uvec2(packHalf2x16(rgb.xy), packHalf2x16(vec2(rgb.z, 0.0)));
#else
    const uint first = i * (PACKED4 ? 4u : 3u);
    tensor[first] = rgb.x;
    tensor[first + 1u] = rgb.y;
    tensor[first + 2u] = rgb.z;
    if (PACKED4)
        tensor[first + 3u] = 0.0;
#endif
}
