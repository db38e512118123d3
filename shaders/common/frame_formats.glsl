// SPDX-License-Identifier: LGPL-2.1-or-later
// The picture formats as the shaders know them: words of traits, which
// tdl_format_traits() in engine/frame/format.c makes of its table. A new format
// of known traits needs nothing here.
#ifndef FRAME_FORMATS_GLSL
#define FRAME_FORMATS_GLSL

// Specialization constants, of which shaders/specs.py makes the structs that fill them. Each
// is declared where it is used, under the same id everywhere:
//     3 SOURCE  4 SOURCE_ALIGNED  5 TARGET  6 REMATRIX  7 GUIDED  8 the kernel's own
//     9 ROLLING  10 FEW  11 DESPILL  12 LIGHT  13 FOREGROUND

// Few invocations that each do much, for a CPU; else many that do little.
layout(constant_id = 10) const bool FEW = false;

// Traits of a format; SOURCE and TARGET are words of these.
const uint T_RGB = 1u << 0;         // RGB; without it Y, or Y Cb Cr
const uint T_BYTES3 = 1u << 1;      // RGB, a pixel is three bytes, else four
const uint T_PAIRED = 1u << 2;      // two Y, Cb and Cr in a word, else planes of their own
const uint T_LUMA_SECOND = 1u << 3; // Y are bytes 1 and 3 of a T_PAIRED word
const uint T_CHROMA = 1u << 4;      // there is Cb and Cr
const uint T_MIXED = 1u << 5;       // Cb and Cr share a plane
const uint T_CR_FIRST = 1u << 6;    // in it, or of their two planes in memory
const uint T_HALF_X = 1u << 7;      // one chroma sample for two columns
const uint T_HALF_Y = 1u << 8;      // and for two rows
const uint T_WIDE = 1u << 9;        // a sample is 16 bits
const uint T_ALPHA = 1u << 10;
const uint T_FULL = 1u << 11; // every pixel has three codes of its own: RGB, 4:4:4
#define FORMAT_HAS(f, trait) (((f) & (trait)) != 0u)
#define FORMAT_BITS(f) ((f) >> 12 & 31u)
// Lowest bit of a sample in its 16.
#define FORMAT_SHIFT(f) ((f) >> 17 & 15u)
// The byte of a word that holds red (0), green, blue, alpha.
#define FORMAT_BYTE(f, c) ((f) >> (21u + 2u * (c)) & 3u)
#define FORMAT_MAX(f)                                                                              \
    (FORMAT_BITS(f) == 8u ? 255.0 : FORMAT_BITS(f) == 10u ? 1023.0 : 65535.0)
#define FORMAT_NEUTRAL(f)                                                                          \
    (FORMAT_BITS(f) == 8u ? 128.0 : FORMAT_BITS(f) == 10u ? 512.0 : 32768.0)
#define FORMAT_420(f) FORMAT_HAS(f, T_HALF_Y)
// Planes of chroma bytes that two pixels share: a word of them spans eight.
#define FORMAT_HALF_BYTES(f)                                                                       \
    (((f) & (T_PAIRED | T_CHROMA | T_MIXED | T_HALF_X | T_WIDE)) == (T_CHROMA | T_HALF_X))
// Blue in the first byte of three.
#define FORMAT_BGR(f) (FORMAT_BYTE(f, 0u) == 2u)

vec4 bytes_of(uint w)
{
    return vec4(uvec4(w, w >> 8, w >> 16, w >> 24) & 255u);
}
// The two 16-bit samples in a word.
vec2 wides_of(uint w, uint format)
{
    return vec2((uvec2(w, w >> 16) & 65535u) >> FORMAT_SHIFT(format) &
                ((1u << FORMAT_BITS(format)) - 1u));
}
// A pixel of four bytes; alpha too where the format has none.
vec4 rgba_of(uint w, uint format)
{
    return vec4((uvec4(w) >> (8u * uvec4(FORMAT_BYTE(format, 0u), FORMAT_BYTE(format, 1u),
                                         FORMAT_BYTE(format, 2u), FORMAT_BYTE(format, 3u)))) & 255u);
}

#endif
