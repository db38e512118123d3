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

// Byte address of row `y` of a plane; `plane` is a literal.
uint source_row(uint plane, uint y)
{
    if (plane == 0u)
        return (push.source.x & 255u) + y * push.source.y;
    if (plane == 1u)
        return ((push.source.x >> 8) & 255u) + y * push.source.z;
    return ((push.source.x >> 16) & 255u) + y * push.source.w;
}

uint source_word(uint plane, uint i)
{
    if (plane == 0u)
        return source0[i];
    if (plane == 1u)
        return source1[i];
    return source2[i];
}

uint source_last_word(uint plane)
{
    if (plane == 0u)
        return uint(source0.length()) - 1u;
    if (plane == 1u)
        return uint(source1.length()) - 1u;
    return uint(source2.length()) - 1u;
}

// Four bytes from any address on. Bytes behind the plane's end are undefined.
uint source_load_any(uint plane, uint address)
{
    const uint i = address >> 2, shift = (address & 3u) << 3;
    const uint low = source_word(plane, i);
    if (shift == 0u)
        return low;
    const uint high = source_word(plane, min(i + 1u, source_last_word(plane)));
    return (low >> shift) | (high << (32u - shift));
}

// As above, for addresses whose distance from the row's start is a multiple
// of four.
uint source_load(uint plane, uint address)
{
    if (SOURCE_ALIGNED)
        return source_word(plane, address >> 2);
    return source_load_any(plane, address);
}

// As above, where the address may lie behind the end of the plane.
uint source_load_clamped(uint plane, uint address)
{
    const uint behind = (source_last_word(plane) + 1u) << 2;
    return address < behind ? source_load(plane, address) : 0u;
}

#endif
