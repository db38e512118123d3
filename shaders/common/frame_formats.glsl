// SPDX-License-Identifier: LGPL-2.1-or-later
// The picture formats as the shaders know them. Values mirror enum tdl_format
// (checked by static assertions in engine/frame/format.c).
#ifndef FRAME_FORMATS_GLSL
#define FRAME_FORMATS_GLSL

// Specialization constants, the same in all frame kernels: struct frame_spec
// in engine/frame/format.h. Each is declared where it is used.
//     3 SOURCE  4 SOURCE_ALIGNED  5 TARGET  6 REMATRIX  7 GUIDED  8 MODE
//     9 ROLLING  10 FEW

// Few invocations that each do much, for a CPU; else many that do little.
layout(constant_id = 10) const bool FEW = false;

const uint F_NV12 = 1u;
const uint F_I420 = 2u;
const uint F_YUY2 = 3u;
const uint F_UYVY = 4u;
const uint F_P010 = 5u;
const uint F_RGBA = 6u;
const uint F_BGRA = 7u;
const uint F_RGBX = 8u;
const uint F_BGRX = 9u;
const uint F_RGB = 10u;
const uint F_BGR = 11u;
const uint F_GRAY8 = 12u;

bool format_is_420(uint f) { return f == F_NV12 || f == F_I420 || f == F_P010; }
bool format_is_422(uint f) { return f == F_YUY2 || f == F_UYVY; }
bool format_is_rgb(uint f) { return f >= F_RGBA && f <= F_BGR; }
bool format_has_alpha(uint f) { return f == F_RGBA || f == F_BGRA; }
// Blue in the first byte.
bool format_is_bgr(uint f) { return f == F_BGRA || f == F_BGRX || f == F_BGR; }
bool format_is_packed24(uint f) { return f == F_RGB || f == F_BGR; }
float format_max(uint f) { return f == F_P010 ? 1023.0 : 255.0; }

vec4 bytes_of(uint w)
{
    return vec4(uvec4(w, w >> 8, w >> 16, w >> 24) & 255u);
}
// The two 10-bit samples of a P010 word.
vec2 tens_of(uint w)
{
    return vec2(uvec2(w >> 6, w >> 22) & 1023u);
}

#endif
