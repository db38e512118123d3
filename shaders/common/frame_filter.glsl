// SPDX-License-Identifier: LGPL-2.1-or-later
// A filtered sample of the source frame: a triangle as wide as the shrinking
// asks, never narrower than one pixel (then it is bilinear interpolation).
//
// The conversion to RGB is affine, so each plane is filtered in its own grid
// and the caller converts once. Chroma samples sit on the left pixel of their
// pair and, in 4:2:0, half-way between two rows.
#ifndef FRAME_FILTER_GLSL
#define FRAME_FILTER_GLSL
#include "frame_source.glsl"

// The taps of one axis: pixel k weighs 1 - |k + ½ - centre| / support.
struct Taps {
    float centre, inverse;
    int first, last;
};

Taps taps_of(float centre, float scale, int low, int high)
{
    const float support = max(scale, 1.0);
    Taps t;
    t.centre = centre - 0.5;
    t.inverse = 1.0 / support;
    // Rounding may lose a tap at the very foot of the triangle: weight ~ 0.
    t.first = clamp(int(ceil(t.centre - support)), low, high);
    t.last = clamp(int(floor(t.centre + support)), low, high);
    return t;
}

float tap_weight(Taps t, int k)
{
    return max(0.0, 1.0 - abs(float(k) - t.centre) * t.inverse);
}

// Weights of k … k+3; those outside the taps are zero.
vec4 tap_weights(Taps t, int k)
{
    const vec4 at = float(k) + vec4(0.0, 1.0, 2.0, 3.0);
    const vec4 w = max(vec4(0.0), 1.0 - abs(at - t.centre) * t.inverse);
    return w * step(vec4(float(t.first)), at) * step(at, vec4(float(t.last)));
}

// Pixels of luma per word.
int luma_group()
{
    return SOURCE == F_P010 || format_is_422(SOURCE) ? 2 : 4;
}

vec4 luma_group_at(uint row, int x)
{
    if (SOURCE == F_P010)
        return vec4(tens_of(source_load(0u, row + 2u * uint(x))), 0.0, 0.0);
    if (SOURCE == F_YUY2)
        return vec4(bytes_of(source_load(0u, row + 2u * uint(x))).xz, 0.0, 0.0);
    if (SOURCE == F_UYVY)
        return vec4(bytes_of(source_load(0u, row + 2u * uint(x))).yw, 0.0, 0.0);
    return bytes_of(source_load(0u, row + uint(x)));
}

float filter_luma(Taps tx, Taps ty)
{
    const int group = luma_group();
    float sum = 0.0, weight_x = 0.0, weight_y = 0.0;
    for (int x = tx.first & ~(group - 1); x <= tx.last; x += group) {
        vec4 w = tap_weights(tx, x);
        if (group == 2)
            w.zw = vec2(0.0);
        weight_x += dot(w, vec4(1.0));
        for (int y = ty.first; y <= ty.last; y++)
            sum += tap_weight(ty, y) * dot(w, luma_group_at(source_row(0u, uint(y)), x));
    }
    for (int y = ty.first; y <= ty.last; y++)
        weight_y += tap_weight(ty, y);
    return sum / (weight_x * weight_y);
}

// Chroma samples per word: 4 in a plane of its own, 2 interleaved, else 1.
int chroma_group()
{
    return SOURCE == F_I420 ? 4 : SOURCE == F_NV12 ? 2 : 1;
}

// Weighted sum of the Cb and Cr samples i, i+1, … of chroma row j.
vec2 chroma_group_at(uint j, int i, vec4 w)
{
    if (SOURCE == F_I420)
        return vec2(dot(w, bytes_of(source_load(1u, source_row(1u, j) + uint(i)))),
                    dot(w, bytes_of(source_load(2u, source_row(2u, j) + uint(i)))));
    if (SOURCE == F_NV12) {
        const vec4 c = bytes_of(source_load(1u, source_row(1u, j) + 2u * uint(i)));
        return w.x * c.xy + w.y * c.zw;
    }
    if (SOURCE == F_P010)
        return w.x * tens_of(source_load(1u, source_row(1u, j) + 4u * uint(i)));
    const vec4 c = bytes_of(source_load(0u, source_row(0u, j) + 4u * uint(i)));
    return w.x * (SOURCE == F_YUY2 ? c.yw : c.xz);
}

vec2 filter_chroma(Taps tx, Taps ty)
{
    const int group = chroma_group();
    vec2 sum = vec2(0.0);
    float weight_x = 0.0, weight_y = 0.0;
    for (int i = tx.first & ~(group - 1); i <= tx.last; i += group) {
        vec4 w = tap_weights(tx, i);
        if (group < 4)
            w = vec4(w.x, group == 2 ? w.y : 0.0, 0.0, 0.0);
        weight_x += dot(w, vec4(1.0));
        for (int j = ty.first; j <= ty.last; j++)
            sum += tap_weight(ty, j) * chroma_group_at(uint(j), i, w);
    }
    for (int j = ty.first; j <= ty.last; j++)
        weight_y += tap_weight(ty, j);
    return sum / (weight_x * weight_y);
}

vec3 filter_rgb(Taps tx, Taps ty)
{
    vec3 sum = vec3(0.0);
    float weight_x = 0.0, weight_y = 0.0;
    const int group = format_is_packed24(SOURCE) ? 4 : 1;
    for (int x = tx.first & ~(group - 1); x <= tx.last; x += group) {
        vec4 w = tap_weights(tx, x);
        if (group == 1)
            w.yzw = vec3(0.0);
        weight_x += dot(w, vec4(1.0));
        for (int y = ty.first; y <= ty.last; y++) {
            const uint row = source_row(0u, uint(y));
            vec3 c;
            if (group == 1) {
                c = w.x * bytes_of(source_load(0u, row + 4u * uint(x))).xyz;
            } else {
                const uint at = row + 3u * uint(x);
                const vec4 p = bytes_of(source_load(0u, at));
                const vec4 q = bytes_of(source_load_clamped(0u, at + 4u));
                const vec4 r = bytes_of(source_load_clamped(0u, at + 8u));
                c = vec3(dot(w, vec4(p.x, p.w, q.z, r.y)), dot(w, vec4(p.y, q.x, q.w, r.z)),
                         dot(w, vec4(p.z, q.y, r.x, r.w)));
            }
            sum += tap_weight(ty, y) * c;
        }
    }
    for (int y = ty.first; y <= ty.last; y++)
        weight_y += tap_weight(ty, y);
    sum /= weight_x * weight_y;
    return format_is_bgr(SOURCE) ? sum.zyx : sum;
}

// The codes (Y Cb Cr, or R G B) round `centre`, which counts in pixels from
// the frame's corner; `scale` is source pixels per sample; `low` and `high`
// are the first and last pixel that count. Without `chroma`, only what luma
// needs is read.
vec3 filter_source(vec2 centre, vec2 scale, ivec2 low, ivec2 high, bool chroma)
{
    const Taps tx = taps_of(centre.x, scale.x, low.x, high.x);
    const Taps ty = taps_of(centre.y, scale.y, low.y, high.y);
    if (format_is_rgb(SOURCE))
        return filter_rgb(tx, ty);
    vec3 codes = vec3(filter_luma(tx, ty), vec2(SOURCE == F_P010 ? 512.0 : 128.0));
    if (!chroma || SOURCE == F_GRAY8)
        return codes;
    const Taps cx = taps_of(centre.x * 0.5 + 0.25, scale.x * 0.5, low.x >> 1, high.x >> 1);
    if (format_is_420(SOURCE))
        codes.yz = filter_chroma(cx, taps_of(centre.y * 0.5, scale.y * 0.5, low.y >> 1,
                                             high.y >> 1));
    else
        codes.yz = filter_chroma(cx, ty);
    return codes;
}

// What the edge refinement takes as its guide, 0…1.
float guide_of(vec3 codes)
{
    if (format_is_rgb(SOURCE))
        return dot(codes, vec3(0.2126, 0.7152, 0.0722)) / 255.0;
    return codes.x / format_max(SOURCE);
}

#endif
