#version 430
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: LGPL-2.1-or-later
// The replacement picture in the target's format and size: scaled to cover,
// what sticks out cut off evenly, over a colour where it is transparent. Run
// once per picture, not per frame.
layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;

layout(push_constant) uniform Push {
    vec4 matrix[3];      // rows: picture's codes → target codes
    uvec4 source, target;
    uint source_size;    // size of the picture
    uint target_size;
    float origin[2];     // position of the target's corner, in picture pixels
    float step_x, step_y; // picture pixels per target pixel
    float color[4];      // in the picture's codes, and alpha
} push;

#include "../common/frame_filter.glsl"
#include "../common/frame_target.glsl"

// As filter_source(), of pixels over the colour: a transparent one's own does
// not count. With alpha.
void filter_over(vec2 centre, vec2 next, ivec2 last, out vec4 codes[4])
{
    const Taps tx = taps_of(centre.x, next.x, push.step_x, 0, last.x);
    const Taps ty = taps_of(centre.y, next.y, push.step_y, 0, last.y);
    const vec4 color = vec4(push.color[0], push.color[1], push.color[2], push.color[3]);
    for (uint c = 0u; c < 4u; c++)
        codes[c] = vec4(0.0);
    for (int y = first_of(ty); y <= last_of(ty); y++) {
        for (int x = first_of(tx); x <= last_of(tx); x++) {
            const vec4 p = rgba_of(source_load_0(source_row_0(uint(y)) + 4u * uint(x)), SOURCE);
            const vec4 over = mix(color, vec4(p.xyz, 255.0), p.w / 255.0);
            const vec4 weight = spread(tap_weight(tx, x), tap_weight(ty, y));
            for (uint c = 0u; c < 4u; c++)
                codes[c] += over[c] * weight;
        }
    }
    for (uint c = 0u; c < 4u; c++)
        codes[c] /= spread(total_weight(tx), total_weight(ty));
}

// A square of 2×2 pixels; where SIDE is 1, made one by one. Outside the target
// its last pixels repeat.
void picture_square(uint x, uint y, out vec4 color[4])
{
    const vec2 origin = vec2(push.origin[0], push.origin[1]);
    const vec2 step_size = vec2(push.step_x, push.step_y);
    const ivec2 last = ivec2(source_width(), source_height()) - 1;
    const uvec2 end = uvec2(push.target_size & 65535u, push.target_size >> 16) - 1u;
    vec4 codes[4];
    for (uint k = 0u; k < (SIDE == 2 ? 1u : 4u); k++) {
        const uvec2 at = min(uvec2(x + (k & 1u), y + (k >> 1)), end);
        const vec2 next = vec2(lessThan(at, end)) * step_size;
        const vec2 centre = origin + (vec2(at) + 0.5) * step_size;
        vec4 part[4], opaque[3];
        if (FORMAT_HAS(SOURCE, T_ALPHA)) {
            filter_over(centre, next, last, part);
        } else {
            filter_source(centre, next, step_size, ivec2(0), last, true, opaque);
            part = vec4[4](opaque[0], opaque[1], opaque[2], vec4(255.0));
        }
        for (uint c = 0u; c < 4u; c++) {
            if (SIDE == 2)
                codes[c] = part[c];
            else
                codes[c][k] = part[c].x;
        }
    }
    for (uint c = 0u; c < 3u; c++) {
        const vec4 m = push.matrix[c];
        color[c] = m.x * codes[0] + m.y * codes[1] + m.z * codes[2] + m.w;
    }
    color[3] = codes[3];
}

Block picture_block(uint x, uint y)
{
    Block b;
    vec4 left[4], right[4];
    picture_square(x, y, left);
    picture_square(x + 2u, y, right);
    b.c0[0] = vec4(left[0].xy, right[0].xy);
    b.c0[1] = vec4(left[0].zw, right[0].zw);
    b.c1[0] = vec4(left[1].xy, right[1].xy);
    b.c1[1] = vec4(left[1].zw, right[1].zw);
    b.c2[0] = vec4(left[2].xy, right[2].xy);
    b.c2[1] = vec4(left[2].zw, right[2].zw);
    b.alpha[0] = vec4(left[3].xy, right[3].xy);
    b.alpha[1] = vec4(left[3].zw, right[3].zw);
    for (uint r = 0u; r < 2u; r++) {
        if (!TARGET_FULL) {
            b.c1[r].xy = 0.5 * (b.c1[r].xz + b.c1[r].yw);
            b.c2[r].xy = 0.5 * (b.c2[r].xz + b.c2[r].yw);
        }
    }
    if (TARGET_420) {
        b.c1[0] = 0.5 * (b.c1[0] + b.c1[1]);
        b.c2[0] = 0.5 * (b.c2[0] + b.c2[1]);
    }
    return b;
}

void main()
{
    const uvec2 size = uvec2(push.target_size & 65535u, push.target_size >> 16);
    const uint y = 2u * gl_GlobalInvocationID.y;
    uvec2 held[2] = uvec2[2](uvec2(0u), uvec2(0u));
    for (uint part = 0u; part < TARGET_WIDE; part++) {
        const uint x = 4u * (TARGET_WIDE * gl_GlobalInvocationID.x + part);
        if (x < size.x && y < size.y)
            write_block(x, y, size.x, size.y, picture_block(x, y), held);
    }
    write_staged(size.x, size.y);
}
