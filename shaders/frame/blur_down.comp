#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: LGPL-2.1-or-later
// Shrinks the source for the blur, 2, 4, 8 or 16 times, in the target's colour
// space. Every pixel counts as much as it is background, and that weight goes
// along: the blur divides by it at the end, so no foreground colour reaches
// the background around it.
layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;

layout(push_constant) uniform Push {
    vec4 matrix[3];      // rows: source codes → target codes
    uvec4 source;
    uint source_size;
    uint mask_size;
    float mask_scale, mask_offset;
    uint blur_size;
    uint factor;
    uvec4 target;        // not used; frame_target.glsl names it
} push;

#include "../common/frame_block.glsl"
#include "../common/frame_mask.glsl"

// Colour · weight and weight, as halves.
layout(std430, set = 0, binding = 9) restrict writeonly buffer Sums { uvec2 sums[]; };

// So little that it only matters where there is no background at all.
const float LEAST_WEIGHT = 1.0 / 512.0;

// Sums over the left and the right half of the block at (x, y).
void block_sums(uint x, uint y, uvec2 frame, inout vec4 sum[2])
{
    vec4 guide[2], mask[2];
    Block b = source_block(x, y, true, guide);
    block_mask(x, y, frame, guide, mask);
    if (TARGET_420) {
        b.c1[1] = b.c1[0];
        b.c2[1] = b.c2[0];
    }
    const vec4 inside = step(vec4(x, x + 1u, x + 2u, x + 3u), vec4(frame.x - 1u));
    for (uint r = 0u; r < 2u; r++) {
        vec4 c1 = b.c1[r], c2 = b.c2[r];
        if (TARGET == F_GRAY8) {
            c1 = c2 = vec4(128.0);
        } else if (!TARGET_RGB) {
            c1 = c1.xxyy;
            c2 = c2.xxyy;
        }
        if (y + r >= frame.y)
            continue;
        const vec4 w = inside * (1.0 - mask[r] + LEAST_WEIGHT);
        sum[0] += vec4(dot(w.xy, b.c0[r].xy), dot(w.xy, c1.xy), dot(w.xy, c2.xy), w.x + w.y);
        sum[1] += vec4(dot(w.zw, b.c0[r].zw), dot(w.zw, c1.zw), dot(w.zw, c2.zw), w.z + w.w);
    }
}

void store(uint x, uint y, uvec2 size, vec4 sum)
{
    sum /= float(push.factor * push.factor);
    sum.xyz /= TARGET_MAX;
    if (x < size.x)
        sums[y * size.x + x] = uvec2(packHalf2x16(sum.xy), packHalf2x16(sum.zw));
}

void main()
{
    const uvec2 frame = uvec2(source_width(), source_height()), at = gl_GlobalInvocationID.xy;
    const uvec2 size = uvec2(push.blur_size & 65535u, push.blur_size >> 16);
    const uint wide = max(push.factor, 4u); // pixels per invocation
    vec4 sum[2] = vec4[2](vec4(0.0), vec4(0.0));
    if (at.y >= size.y || at.x * wide >= frame.x)
        return;
    for (uint y = at.y * push.factor; y < min((at.y + 1u) * push.factor, frame.y); y += 2u)
        for (uint x = at.x * wide; x < min((at.x + 1u) * wide, frame.x); x += 4u)
            block_sums(x, y, frame, sum);
    if (push.factor == 2u) {
        store(2u * at.x, at.y, size, sum[0]);
        store(2u * at.x + 1u, at.y, size, sum[1]);
    } else {
        store(at.x, at.y, size, sum[0] + sum[1]);
    }
}
