#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: LGPL-2.1-or-later
// Source frame and mask → target frame. Colours are blended in the target's
// own codes: blending is affine, so it gives what blending in RGB would, and
// where source and target agree no pixel is converted at all.
layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;

layout(push_constant) uniform Push {
    vec4 matrix[3];      // rows: source codes → target codes
    vec4 color;          // in the target's codes; w: alpha
    uvec4 source, target;
    uint source_size;
    uint mask_size;
    float mask_scale, mask_offset;
    float opacity;
    uint blur_size;      // of the blurred picture, as source_size
    float blur_step;     // blurred pixels per frame pixel
} push;

#include "../common/frame_block.glsl"
#include "../common/frame_mask.glsl"

// Values mirror enum kernel_mode in engine/frame/compose.c.
const uint MASK = 0u;
const uint OVERLAY = 1u;
const uint BLUR = 2u;
const uint COLOR = 3u;
const uint PICTURE = 4u;
const uint ALPHA = 5u;
const uint CONVERT = 6u;
layout(constant_id = 8) const uint MODE = 0u;

// The replacement picture in the target's format and size, rows padded to
// words, plane behind plane; or the blurred picture, 11 + 11 + 10 bits.
layout(std430, set = 0, binding = 7) restrict readonly buffer Backdrop { uint backdrop[]; };

// Weight of the mask at the chroma samples: the mean of the pixels they span.
void chroma_weights(vec4 w[2], out vec2 pairs[2])
{
    for (uint r = 0u; r < 2u; r++)
        pairs[r] = 0.5 * (w[r].xz + w[r].yw);
    if (TARGET_420)
        pairs[0] = 0.5 * (pairs[0] + pairs[1]);
}

// a · (1 - w) + b · w, each plane at its own sampling.
Block blend(Block a, Block b, vec4 w[2])
{
    vec2 pairs[2];
    Block block;
    chroma_weights(w, pairs);
    for (uint r = 0u; r < 2u; r++) {
        const vec4 c = TARGET_RGB ? w[r] : pairs[r].xyxy;
        block.c0[r] = mix(a.c0[r], b.c0[r], w[r]);
        block.c1[r] = mix(a.c1[r], b.c1[r], c);
        block.c2[r] = mix(a.c2[r], b.c2[r], c);
        block.alpha[r] = mix(a.alpha[r], b.alpha[r], w[r]);
    }
    return block;
}

Block color_block()
{
    Block block;
    for (uint r = 0u; r < 2u; r++) {
        block.c0[r] = vec4(push.color.x);
        block.c1[r] = vec4(push.color.y);
        block.c2[r] = vec4(push.color.z);
        block.alpha[r] = vec4(push.color.w);
    }
    return block;
}

// Words per row of plane 0 of the replacement picture.
uint picture_row_words(uint width)
{
    if (TARGET_RGB)
        return format_is_packed24(TARGET) ? (3u * width + 3u) / 4u : width;
    return TARGET_422 || TARGET == F_P010 ? (width + 1u) / 2u : (width + 3u) / 4u;
}

// Reads past the block's last pixel stay inside the buffer: they are clamped.
uint picture_word(uint i)
{
    return backdrop[min(i, uint(backdrop.length()) - 1u)];
}

void picture_row(uint at, inout Block block, uint r)
{
    const uint w = picture_word(at);
    if (TARGET_RGB) {
        vec4 p = bytes_of(w), q = bytes_of(picture_word(at + 1u));
        vec4 s = bytes_of(picture_word(at + 2u));
        vec4 t = vec4(0.0);
        if (format_is_packed24(TARGET)) {
            t = vec4(s.yzw, 255.0);
            s = vec4(q.zw, s.x, 255.0);
            q = vec4(p.w, q.xy, 255.0);
            p.w = 255.0;
        } else {
            t = bytes_of(picture_word(at + 3u));
        }
        const vec4 red = vec4(p.x, q.x, s.x, t.x), blue = vec4(p.z, q.z, s.z, t.z);
        block.c0[r] = format_is_bgr(TARGET) ? blue : red;
        block.c1[r] = vec4(p.y, q.y, s.y, t.y);
        block.c2[r] = format_is_bgr(TARGET) ? red : blue;
        block.alpha[r] = format_has_alpha(TARGET) ? vec4(p.w, q.w, s.w, t.w) : vec4(255.0);
    } else if (TARGET_422) {
        const vec4 p = bytes_of(w), q = bytes_of(picture_word(at + 1u));
        const bool yuy2 = TARGET == F_YUY2;
        block.c0[r] = yuy2 ? vec4(p.xz, q.xz) : vec4(p.yw, q.yw);
        block.c1[r].xy = yuy2 ? vec2(p.y, q.y) : vec2(p.x, q.x);
        block.c2[r].xy = yuy2 ? vec2(p.w, q.w) : vec2(p.z, q.z);
    } else if (TARGET == F_P010) {
        block.c0[r] = vec4(tens_of(w), tens_of(picture_word(at + 1u)));
    } else {
        block.c0[r] = bytes_of(w);
    }
}

Block picture_block(uint x, uint y, uvec2 frame)
{
    const uint row = picture_row_words(frame.x), below = min(y + 1u, frame.y - 1u);
    const uint pixel = x / 4u * (TARGET_RGB ? (format_is_packed24(TARGET) ? 3u : 4u)
                                 : TARGET_422 || TARGET == F_P010 ? 2u : 1u);
    Block block = color_block();
    picture_row(y * row + pixel, block, 0u);
    picture_row(below * row + pixel, block, 1u);
    const uint chroma = frame.y * row, rows = (frame.y + 1u) / 2u;
    if (TARGET == F_NV12) {
        const vec4 c = bytes_of(picture_word(chroma + y / 2u * row + pixel));
        block.c1[0].xy = c.xz;
        block.c2[0].xy = c.yw;
    } else if (TARGET == F_P010) {
        const uint at = chroma + y / 2u * row + pixel;
        const vec2 c = tens_of(picture_word(at)), d = tens_of(picture_word(at + 1u));
        block.c1[0].xy = vec2(c.x, d.x);
        block.c2[0].xy = vec2(c.y, d.y);
    } else if (TARGET == F_I420) {
        const uint words = ((frame.x + 1u) / 2u + 3u) / 4u;
        const uint at = chroma + y / 2u * words + x / 8u, shift = (x & 4u) * 4u;
        const uint u = picture_word(at) >> shift, v = picture_word(at + rows * words) >> shift;
        block.c1[0].xy = vec2(uvec2(u, u >> 8) & 255u);
        block.c2[0].xy = vec2(uvec2(v, v >> 8) & 255u);
    }
    return block;
}

vec3 blurred_at(uint x, uint y, uvec2 size)
{
    const uint w = backdrop[min(y, size.y - 1u) * size.x + min(x, size.x - 1u)];
    return vec3(uvec3(w, w >> 11, w >> 22) & uvec3(2047u, 2047u, 1023u)) *
           (TARGET_MAX / vec3(2047.0, 2047.0, 1023.0));
}

// The blurred picture is at least twice smaller, so 4 pixels touch 4 columns.
Block blurred_block(uint x, uint y, uvec2 frame)
{
    const uvec2 size = uvec2(push.blur_size & 65535u, push.blur_size >> 16);
    const vec4 u = clamp((float(x) + vec4(0.5, 1.5, 2.5, 3.5)) * push.blur_step - 0.5, 0.0,
                         float(size.x - 1u));
    const vec2 v = clamp((float(y) + vec2(0.5, 1.5)) * push.blur_step - 0.5, 0.0,
                         float(size.y - 1u));
    const uint i = uint(u.x), j = uint(v.x);
    const vec4 along = u - float(i);
    const vec2 down = v - float(j);
    Block block = color_block();
    vec3 before[2];
    for (uint k = 0u; k < 4u; k++) {
        if (k == 3u && push.blur_step < 0.3)
            break; // at a quarter of the size or less, three columns do
        const vec3 p = blurred_at(i + k, j, size), q = blurred_at(i + k, j + 1u, size);
        const vec3 s = blurred_at(i + k, j + 2u, size);
        const vec4 part = clamp(along - (float(k) - 1.0), 0.0, 1.0);
        for (uint r = 0u; r < 2u; r++) {
            const vec3 c = p + (q - p) * min(down[r], 1.0) + (s - q) * max(down[r] - 1.0, 0.0);
            const vec3 d = k == 0u ? c : c - before[r];
            block.c0[r] = k == 0u ? vec4(c.x) : block.c0[r] + d.x * part;
            block.c1[r] = k == 0u ? vec4(c.y) : block.c1[r] + d.y * part;
            block.c2[r] = k == 0u ? vec4(c.z) : block.c2[r] + d.z * part;
            before[r] = c;
        }
    }
    for (uint r = 0u; r < 2u; r++)
        block.alpha[r] = vec4(255.0);
    if (!TARGET_RGB) {
        for (uint r = 0u; r < 2u; r++) {
            block.c1[r].xy = 0.5 * (block.c1[r].xz + block.c1[r].yw);
            block.c2[r].xy = 0.5 * (block.c2[r].xz + block.c2[r].yw);
        }
        if (TARGET_420) {
            block.c1[0] = 0.5 * (block.c1[0] + block.c1[1]);
            block.c2[0] = 0.5 * (block.c2[0] + block.c2[1]);
        }
    }
    return block;
}

Block compose(uint x, uint y, uvec2 frame)
{
    vec4 guide[2], mask[2];
    Block block = source_block(x, y, MODE != MASK, guide);
    if (MODE == CONVERT)
        return block;
    block_mask(x, y, frame, guide, mask);
    if (MODE == MASK) {
        for (uint r = 0u; r < 2u; r++)
            block.c0[r] = 255.0 * mask[r];
    } else if (MODE == ALPHA) {
        for (uint r = 0u; r < 2u; r++)
            block.alpha[r] = 255.0 * mask[r];
    } else if (MODE == OVERLAY) {
        Block color = color_block();
        for (uint r = 0u; r < 2u; r++) {
            mask[r] *= push.opacity;
            color.alpha[r] = block.alpha[r];
        }
        block = blend(block, color, mask);
    } else if (MODE == BLUR) {
        const vec4 alpha[2] = block.alpha;
        block = blend(blurred_block(x, y, frame), block, mask);
        block.alpha = alpha;
    } else if (MODE == COLOR) {
        block = blend(color_block(), block, mask);
    } else {
        block = blend(picture_block(x, y, frame), block, mask);
    }
    return block;
}

void main()
{
    const uvec2 frame = uvec2(source_width(), source_height());
    const uint y = 2u * gl_GlobalInvocationID.y;
    uvec2 held = uvec2(0u);
    if (y >= frame.y)
        return;
    for (uint part = 0u; part < TARGET_WIDE; part++) {
        const uint x = 4u * (TARGET_WIDE * gl_GlobalInvocationID.x + part);
        if (x < frame.x)
            write_block(x, y, frame.x, frame.y, compose(x, y, frame), part, held);
    }
}
