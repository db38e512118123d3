// SPDX-License-Identifier: LGPL-2.1-or-later
// Filtered samples of the source frame: a triangle as wide as the shrinking
// asks, never narrower than one pixel (then it is bilinear interpolation).
//
// The conversion to RGB is affine, so each plane is filtered in its own grid
// and the caller converts once. Chroma samples sit on the left pixel of their
// pair and, in 4:2:0, half-way between two rows.
#ifndef FRAME_FILTER_GLSL
#define FRAME_FILTER_GLSL
#include "frame_source.glsl"

// One call makes SIDE×SIDE neighbouring samples: they share most of what they
// read, and reads are what a CPU's time goes into. A GPU has one each.
const int SIDE = FEW ? 2 : 1;

// The taps of one axis for two neighbouring samples: pixel k weighs
// 1 - |k + ½ - centre| / support.
struct Taps {
    vec2 centre;
    float inverse;
    ivec2 first, last;
};

Taps taps_of(float centre, float next, float scale, int low, int high)
{
    const float support = max(scale, 1.0);
    Taps t;
    t.centre = vec2(centre, centre + next) - 0.5;
    t.inverse = 1.0 / support;
    // Rounding may lose a tap at the very foot of the triangle: weight ~ 0.
    t.first = clamp(ivec2(ceil(t.centre - support)), low, high);
    t.last = clamp(ivec2(floor(t.centre + support)), low, high);
    return t;
}
int first_of(Taps t) { return t.first.x; }
int last_of(Taps t) { return SIDE == 2 ? t.last.y : t.last.x; }

// The weights of tap k in both samples.
vec2 tap_weight(Taps t, int k)
{
    return max(vec2(0.0), 1.0 - abs(float(k) - t.centre) * t.inverse);
}

// Weights of `count` pixels from k on in one sample; those outside the taps
// are zero.
vec4 tap_weights(Taps t, int sample_index, int k, int count)
{
    const vec4 at = float(k) + vec4(0.0, 1.0, 2.0, 3.0);
    const vec4 w = max(vec4(0.0), 1.0 - abs(at - t.centre[sample_index]) * t.inverse);
    const vec4 end = vec4(min(t.last[sample_index], k + count - 1));
    return w * step(vec4(float(t.first[sample_index])), at) * step(at, end);
}

vec2 total_weight(Taps t)
{
    vec2 total = vec2(0.0);
    for (int k = first_of(t); k <= last_of(t); k++)
        total += tap_weight(t, k);
    return total;
}

// One quantity of the samples: (0,0), (1,0), (0,1), (1,1).
vec4 spread(vec2 across, vec2 down)
{
    return across.xyxy * down.xxyy;
}

// Pixels of luma per word.
int luma_group()
{
    return FORMAT_HAS(SOURCE, T_WIDE | T_PAIRED) ? 2 : 4;
}

vec4 luma_group_at(uint row, int x)
{
    if (FORMAT_HAS(SOURCE, T_WIDE))
        return vec4(wides_of(source_load_0(row + 2u * uint(x)), SOURCE), 0.0, 0.0);
    if (!FORMAT_HAS(SOURCE, T_PAIRED))
        return bytes_of(source_load_0(row + uint(x)));
    const vec4 word = bytes_of(source_load_0(row + 2u * uint(x)));
    return vec4(FORMAT_HAS(SOURCE, T_LUMA_SECOND) ? word.yw : word.xz, 0.0, 0.0);
}

vec4 filter_luma(Taps tx, Taps ty)
{
    const int group = luma_group();
    vec4 sum = vec4(0.0);
    for (int x = first_of(tx) & ~(group - 1); x <= last_of(tx); x += group) {
        const vec4 w = tap_weights(tx, 0, x, group);
        const vec4 next = SIDE == 2 ? tap_weights(tx, 1, x, group) : w;
        for (int y = first_of(ty); y <= last_of(ty); y++) {
            const vec4 v = luma_group_at(source_row_0(uint(y)), x);
            sum += spread(vec2(dot(w, v), SIDE == 2 ? dot(next, v) : 0.0), tap_weight(ty, y));
        }
    }
    return sum / spread(total_weight(tx), total_weight(ty));
}

// Chroma samples per word: 4 in a plane of its own, 2 interleaved, else 1; of
// 16 bits half as many.
int chroma_group()
{
    if (FORMAT_HAS(SOURCE, T_PAIRED))
        return 1;
    return (FORMAT_HAS(SOURCE, T_MIXED) ? 2 : 4) / (FORMAT_HAS(SOURCE, T_WIDE) ? 2 : 1);
}

// The Cb and Cr samples i, i+1, … of chroma row j.
void chroma_group_at(uint j, int i, out vec4 cb, out vec4 cr)
{
    if (!FORMAT_HAS(SOURCE, T_MIXED | T_PAIRED)) {
        const uint at = uint(i) * (FORMAT_HAS(SOURCE, T_WIDE) ? 2u : 1u);
        const uint u = source_load_1(source_row_1(j) + at), v = source_load_2(source_row_2(j) + at);
        if (FORMAT_HAS(SOURCE, T_WIDE)) {
            cb = vec4(wides_of(u, SOURCE), 0.0, 0.0);
            cr = vec4(wides_of(v, SOURCE), 0.0, 0.0);
        } else {
            cb = bytes_of(u);
            cr = bytes_of(v);
        }
        return;
    }
    vec4 c;
    if (FORMAT_HAS(SOURCE, T_PAIRED)) {
        c = bytes_of(source_load_0(source_row_0(j) + 4u * uint(i)));
        c = FORMAT_HAS(SOURCE, T_LUMA_SECOND) ? c.xzxz : c.ywyw;
    } else if (FORMAT_HAS(SOURCE, T_WIDE)) {
        c = wides_of(source_load_1(source_row_1(j) + 4u * uint(i)), SOURCE).xyxy;
    } else {
        c = bytes_of(source_load_1(source_row_1(j) + 2u * uint(i)));
    }
    if (FORMAT_HAS(SOURCE, T_CR_FIRST))
        c = c.yxwz;
    cb = vec4(c.xz, 0.0, 0.0);
    cr = vec4(c.yw, 0.0, 0.0);
}

void filter_chroma(Taps tx, Taps ty, out vec4 cb, out vec4 cr)
{
    const int group = chroma_group();
    cb = cr = vec4(0.0);
    for (int i = first_of(tx) & ~(group - 1); i <= last_of(tx); i += group) {
        const vec4 w = tap_weights(tx, 0, i, group);
        const vec4 next = SIDE == 2 ? tap_weights(tx, 1, i, group) : w;
        for (int j = first_of(ty); j <= last_of(ty); j++) {
            const vec2 down = tap_weight(ty, j);
            vec4 u, v;
            chroma_group_at(uint(j), i, u, v);
            cb += spread(vec2(dot(w, u), SIDE == 2 ? dot(next, u) : 0.0), down);
            cr += spread(vec2(dot(w, v), SIDE == 2 ? dot(next, v) : 0.0), down);
        }
    }
    const vec4 total = spread(total_weight(tx), total_weight(ty));
    cb /= total;
    cr /= total;
}

// Four pixels from x on, or one where a pixel is a word.
void rgb_group_at(uint row, int x, out vec4 r, out vec4 g, out vec4 b)
{
    if (!FORMAT_HAS(SOURCE, T_BYTES3)) {
        const vec4 p = rgba_of(source_load_0(row + 4u * uint(x)), SOURCE);
        r = vec4(p.x, 0.0, 0.0, 0.0);
        g = vec4(p.y, 0.0, 0.0, 0.0);
        b = vec4(p.z, 0.0, 0.0, 0.0);
    } else {
        const uint at = row + 3u * uint(x);
        const vec4 p = bytes_of(source_load_0(at));
        const vec4 q = bytes_of(source_load_end_0(at + 4u));
        const vec4 s = bytes_of(source_load_end_0(at + 8u));
        r = vec4(p.x, p.w, q.z, s.y);
        g = vec4(p.y, q.x, q.w, s.z);
        b = vec4(p.z, q.y, s.x, s.w);
    }
}

void filter_rgb(Taps tx, Taps ty, out vec4 red, out vec4 green, out vec4 blue)
{
    const int group = FORMAT_HAS(SOURCE, T_BYTES3) ? 4 : 1;
    red = green = blue = vec4(0.0);
    for (int x = first_of(tx) & ~(group - 1); x <= last_of(tx); x += group) {
        const vec4 w = tap_weights(tx, 0, x, group);
        const vec4 next = SIDE == 2 ? tap_weights(tx, 1, x, group) : w;
        for (int y = first_of(ty); y <= last_of(ty); y++) {
            const vec2 down = tap_weight(ty, y);
            vec4 r, g, b;
            rgb_group_at(source_row_0(uint(y)), x, r, g, b);
            red += spread(vec2(dot(w, r), SIDE == 2 ? dot(next, r) : 0.0), down);
            green += spread(vec2(dot(w, g), SIDE == 2 ? dot(next, g) : 0.0), down);
            blue += spread(vec2(dot(w, b), SIDE == 2 ? dot(next, b) : 0.0), down);
        }
    }
    const vec4 total = spread(total_weight(tx), total_weight(ty));
    red /= total;
    green /= total;
    blue /= total;
    if (FORMAT_HAS(SOURCE, T_BYTES3) && FORMAT_BGR(SOURCE)) {
        const vec4 swap = red;
        red = blue;
        blue = swap;
    }
}

// The codes (Y Cb Cr, or R G B) round `centre`, which counts in pixels from
// the frame's corner, and, where SIDE is 2, round its neighbours to the right
// and below at a distance of `next`: samples (0,0), (1,0), (0,1), (1,1) of
// every component. `scale` is the width of the triangle's half; `low` and
// `high` are the first and last pixel that count. Without `chroma`, only what
// luma needs is read.
void filter_source(vec2 centre, vec2 next, vec2 scale, ivec2 low, ivec2 high, bool chroma,
                   out vec4 codes[3])
{
    const Taps tx = taps_of(centre.x, next.x, scale.x, low.x, high.x);
    const Taps ty = taps_of(centre.y, next.y, scale.y, low.y, high.y);
    if (FORMAT_HAS(SOURCE, T_RGB)) {
        filter_rgb(tx, ty, codes[0], codes[1], codes[2]);
        return;
    }
    codes[0] = filter_luma(tx, ty);
    codes[1] = codes[2] = vec4(FORMAT_NEUTRAL(SOURCE));
    if (!chroma || !FORMAT_HAS(SOURCE, T_CHROMA))
        return;
    Taps cx = tx, cy = ty;
    if (FORMAT_HAS(SOURCE, T_HALF_X))
        cx = taps_of(centre.x * 0.5 + 0.25, next.x * 0.5, scale.x * 0.5, low.x >> 1, high.x >> 1);
    if (FORMAT_HAS(SOURCE, T_HALF_Y))
        cy = taps_of(centre.y * 0.5, next.y * 0.5, scale.y * 0.5, low.y >> 1, high.y >> 1);
    filter_chroma(cx, cy, codes[1], codes[2]);
}

// Guide of the edge refinement, 0…1.
vec4 guide_of(vec4 codes[3])
{
    if (FORMAT_HAS(SOURCE, T_RGB))
        return (0.2126 * codes[0] + 0.7152 * codes[1] + 0.0722 * codes[2]) / 255.0;
    return codes[0] / FORMAT_MAX(SOURCE);
}

#endif
