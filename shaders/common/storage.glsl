// SPDX-License-Identifier: LGPL-2.1-or-later
// How a pack of four channels lies in memory: a vec4, or four halves in a
// uvec2. Packing by unpackHalf2x16 needs no 16-bit feature of the device.
#ifdef TDL_FP16
#define PACK uvec2
vec4 unpack(uvec2 v) { return vec4(unpackHalf2x16(v.x), unpackHalf2x16(v.y)); }
// Rounded to nearest here: packHalf2x16 may round either way, and llvmpipe
// truncates, which adds up over a network.
uvec2 pack(vec4 v)
{
    v = uintBitsToFloat((floatBitsToUint(v) + 0x1000u) & 0xffffe000u);
    return uvec2(packHalf2x16(v.xy), packHalf2x16(v.zw));
}
#else
#define PACK vec4
vec4 unpack(vec4 v) { return v; }
vec4 pack(vec4 v) { return v; }
#endif
