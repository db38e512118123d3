// SPDX-License-Identifier: LGPL-2.1-or-later
// Reading the planes of the source frame. A plane is a run of bytes with any
// offset and stride, seen through words; so every read is one word where the
// frame is word-aligned and two otherwise.
//
// The including shader has declared, in `push`:
//     uvec4 source;       x: first bytes of planes 0, 1, 2 (8 bits each)
//                         yzw: their strides in bytes
//     uint source_size;   width | height << 16
#ifndef FRAME_SOURCE_GLSL
#define FRAME_SOURCE_GLSL
#include "frame_formats.glsl"

layout(constant_id = 3) const uint SOURCE = 1u;
// Offsets and strides of all planes are multiples of four.
layout(constant_id = 4) const bool SOURCE_ALIGNED = true;

layout(std430, set = 0, binding = 0) restrict readonly buffer Source0 { uint source0[]; };
layout(std430, set = 0, binding = 1) restrict readonly buffer Source1 { uint source1[]; };
layout(std430, set = 0, binding = 2) restrict readonly buffer Source2 { uint source2[]; };

uint source_width() { return push.source_size & 65535u; }
uint source_height() { return push.source_size >> 16; }

// For plane n:
// source_row_n(y)            byte address of a row
// source_load_any_n(address) four bytes from any address on; those behind the
//                            plane's end are undefined
// source_load_n(address)     the same, where the address is a multiple of four
//                            bytes from its row's start
// source_load_end_n(address) the same, where it may lie behind the plane's end
//
// (Macros, and single returns: what a plane does not need never reaches the
// driver's compiler, which would inline it a hundred times.)
#define SOURCE_PLANE(n, stride)                                                                    \
    uint source_row_##n(uint y)                                                                    \
    {                                                                                              \
        return ((push.source.x >> (8 * n)) & 255u) + y * push.source.stride;                       \
    }                                                                                              \
    uint source_load_any_##n(uint address)                                                         \
    {                                                                                              \
        const uint i = address >> 2, shift = (address & 3u) << 3;                                  \
        uint word = source##n[i];                                                                  \
        if (shift != 0u)                                                                           \
            word = (word >> shift) |                                                               \
                   (source##n[min(i + 1u, uint(source##n.length()) - 1u)] << (32u - shift));       \
        return word;                                                                               \
    }                                                                                              \
    uint source_load_##n(uint address)                                                             \
    {                                                                                              \
        uint word;                                                                                 \
        if (SOURCE_ALIGNED)                                                                        \
            word = source##n[address >> 2];                                                        \
        else                                                                                       \
            word = source_load_any_##n(address);                                                   \
        return word;                                                                               \
    }                                                                                              \
    uint source_load_end_##n(uint address)                                                         \
    {                                                                                              \
        uint word = 0u;                                                                            \
        if (address >> 2 < uint(source##n.length()))                                               \
            word = source_load_##n(address);                                                       \
        return word;                                                                               \
    }

SOURCE_PLANE(0, y)
SOURCE_PLANE(1, z)
SOURCE_PLANE(2, w)

#endif
