// SPDX-License-Identifier: LGPL-2.1-or-later
// A block of 4×2 pixels out of a picture that is at least four times smaller, between
// whose pixels it lies. The including shader defines small_at(): colours in the target's
// codes, and a fourth value.
#ifndef FRAME_SMALL_GLSL
#define FRAME_SMALL_GLSL

vec4 small_at(uint x, uint y, uvec2 size, uint part);

// A column of the small picture at the block's rows. They lie between the
// same two of its rows: there is no border between pixel rows 2k and 2k + 1.
struct Column {
    vec4 row[2];
};

Column small_column(uint x, uint y, vec2 down, uvec2 size, uint part)
{
    x = min(x, size.x - 1u);
    const vec4 p = small_at(x, y, size, part);
    const vec4 q = small_at(x, min(y + 1u, size.y - 1u), size, part);
    Column c;
    c.row[0] = mix(p, q, down.x);
    c.row[1] = mix(p, q, down.y);
    return c;
}

// Four pixels touch three columns at most. The fourth value is in `alpha`.
Block small_block(uint x, uint y, uvec2 size, float scale, uint part)
{
    const vec4 u = clamp((float(x) + vec4(0.5, 1.5, 2.5, 3.5)) * scale - 0.5, 0.0,
                         float(size.x - 1u));
    const vec2 v = clamp((float(y) + vec2(0.5, 1.5)) * scale - 0.5, 0.0, float(size.y - 1u));
    const uint i = uint(u.x), j = uint(v.x);
    const vec2 down = v - float(j);
    const vec4 near = min(u - float(i), 1.0), far = max(u - float(i) - 1.0, 0.0);
    const Column a = small_column(i, j, down, size, part);
    const Column b = small_column(i + 1u, j, down, size, part);
    const Column c = small_column(i + 2u, j, down, size, part);
    Block block;
    for (uint r = 0u; r < 2u; r++) {
        const vec4 first = b.row[r] - a.row[r], second = c.row[r] - b.row[r];
        block.c0[r] = a.row[r].x + first.x * near + second.x * far;
        block.c1[r] = a.row[r].y + first.y * near + second.y * far;
        block.c2[r] = a.row[r].z + first.z * near + second.z * far;
        block.alpha[r] = a.row[r].w + first.w * near + second.w * far;
        if (!TARGET_FULL) {
            block.c1[r].xy = 0.5 * (block.c1[r].xz + block.c1[r].yw);
            block.c2[r].xy = 0.5 * (block.c2[r].xz + block.c2[r].yw);
        }
    }
    if (TARGET_420) {
        block.c1[0] = 0.5 * (block.c1[0] + block.c1[1]);
        block.c2[0] = 0.5 * (block.c2[0] + block.c2[1]);
    }
    return block;
}

#endif
