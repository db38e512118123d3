// SPDX-License-Identifier: LGPL-2.1-or-later
// The foreground's own colours, as networks for matting give them (Lin, Yang, Saleemi,
// Sengupta, "Robust High-Resolution Video Matting with Temporal Guidance", WACV 2022). What
// they differ by from the picture that the network saw is stretched to the frame's size and
// added to it, where the mask is above 0. The differences lie behind the coefficients of
// frame_mask.glsl, as many, of 11, 11 and 10 bits with their signs (frame/foreground.comp).
#ifndef FRAME_FOREGROUND_GLSL
#define FRAME_FOREGROUND_GLSL
#include "frame_blend.glsl"
#include "frame_mask.glsl"

layout(constant_id = 13) const bool FOREGROUND = false;

uint difference_at(uint x, uint y, uvec2 size)
{
    return coefficients[size.x * size.y + min(y, size.y - 1u) * size.x + x];
}

vec3 unpack_difference(uint word)
{
    const int w = int(word);
    return vec3(bitfieldExtract(w, 0, 11), bitfieldExtract(w, 11, 11), bitfieldExtract(w, 22, 10)) *
           (TARGET_MAX / vec3(1023.0, 1023.0, 511.0));
}

// Adds what the pixels of a row, at `u` among the columns, have of the difference in column i.
void add_column(uint i, vec3 d, vec4 u, uint r, inout Block block)
{
    const vec4 share = max(1.0 - abs(u - float(i)), 0.0);
    block.c0[r] += d.x * share;
    block.c1[r] += d.y * share;
    block.c2[r] += d.z * share;
}

// The differences at the block's pixels, chroma at the target's sampling; false: there are
// none, as in most of the foreground. Each column that the pixels lie beside is read once.
bool difference_block(uint x, uint y, uvec2 frame, out Block block)
{
    const uvec2 size = uvec2(push.mask_size & 65535u, push.mask_size >> 16);
    const vec2 scale = vec2(size) / vec2(frame);
    const vec4 xs = min(float(x) + vec4(0.0, 1.0, 2.0, 3.0), float(frame.x - 1u));
    const vec2 ys = min(float(y) + vec2(0.0, 1.0), float(frame.y - 1u));
    const vec4 u = clamp((xs + 0.5) * scale.x - 0.5, 0.0, float(size.x - 1u));
    const vec2 v = clamp((ys + 0.5) * scale.y - 0.5, 0.0, float(size.y - 1u));
    const uvec2 top = uvec2(v);
    bool any_there = false;
    for (uint r = 0u; r < 2u; r++)
        block.c0[r] = block.c1[r] = block.c2[r] = block.alpha[r] = vec4(0.0);
    for (uint i = uint(u.x); i <= min(uint(u.w) + 1u, size.x - 1u); i++) {
        uint a = difference_at(i, top.x, size), b = difference_at(i, top.x + 1u, size);
        if ((a | b) != 0u)
            add_column(i, mix(unpack_difference(a), unpack_difference(b), fract(v.x)), u, 0u, block);
        any_there = any_there || (a | b) != 0u;
        if (top.y != top.x) {
            a = difference_at(i, top.y, size);
            b = difference_at(i, top.y + 1u, size);
        }
        if ((a | b) != 0u)
            add_column(i, mix(unpack_difference(a), unpack_difference(b), fract(v.y)), u, 1u, block);
        any_there = any_there || (a | b) != 0u;
    }
    for (uint r = 0u; r < 2u && !TARGET_FULL; r++) {
        block.c1[r].xy = 0.5 * (block.c1[r].xz + block.c1[r].yw);
        block.c2[r].xy = 0.5 * (block.c2[r].xz + block.c2[r].yw);
    }
    if (TARGET_420) {
        block.c1[0] = 0.5 * (block.c1[0] + block.c1[1]);
        block.c2[0] = 0.5 * (block.c2[0] + block.c2[1]);
    }
    return any_there;
}

vec4 with_difference(vec4 color, vec4 difference, vec4 mask)
{
    return mix(color, limited(color + difference, color), greaterThan(mask, vec4(0.0)));
}

void add_differences(uint x, uint y, uvec2 frame, vec4 mask[2], inout Block block)
{
    Block d;
    vec2 pairs[2];
    if (all(equal(mask[0] + mask[1], vec4(0.0))) || !difference_block(x, y, frame, d))
        return;
    chroma_weights(mask, pairs);
    for (uint r = 0u; r < 2u; r++) {
        const vec4 c = TARGET_FULL ? mask[r] : pairs[r].xyxy;
        block.c0[r] = with_difference(block.c0[r], d.c0[r], mask[r]);
        block.c1[r] = with_difference(block.c1[r], d.c1[r], c);
        block.c2[r] = with_difference(block.c2[r], d.c2[r], c);
    }
}

#endif
