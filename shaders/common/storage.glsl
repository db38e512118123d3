// SPDX-License-Identifier: LGPL-2.1-or-later
// How a pack of four channels lies in memory: a vec4, or four halves.
//
// A half has 11 bits from 6e-5 to 65504 whatever its neighbours are, steps of 6e-8
// below (a device may make them 0), and infinity above. It needs no 16-bit feature of
// the device: packHalf2x16() is everywhere. How that rounds, and what it makes of too
// large a value, is the implementation's choice (GLSL.std.450, PackHalf2x16), and some
// cut: so it is given what a half can hold, rounded to the nearest, ties to even.
#ifdef TDL_FP16
#extension GL_EXT_shader_integer_mix : require
#define PACK uvec2
vec4 unpack(uvec2 p) { return vec4(unpackHalf2x16(p.x), unpackHalf2x16(p.y)); }
uvec2 pack(vec4 v)
{
    uvec4 u = floatBitsToUint(v), a = u & 0x7fffffff;
    uvec4 rounded = (u + 0xfff + ((u >> 13) & 1)) & 0xffffe000;
    // From 65520 on, and NaN, whatever else it says.
    rounded = mix(rounded, (u & 0x80000000) | 0x7f800000, greaterThanEqual(a, uvec4(0x477ff000)));
    rounded = mix(rounded, uvec4(0x7fc00000), greaterThan(a, uvec4(0x7f800000)));
    vec4 r = uintBitsToFloat(rounded);
    return uvec2(packHalf2x16(r.xy), packHalf2x16(r.zw));
}
#else
#define PACK vec4
vec4 unpack(vec4 v) { return v; }
vec4 pack(vec4 v) { return v; }
#endif

// Zeroes the channels past an output's last one, as every reader of packs expects.
vec4 filled_up(vec4 v, bool is_last, uint last_channels)
{
    if (last_channels < 4 && is_last)
        v = mix(vec4(0.0), v, lessThan(uvec4(0, 1, 2, 3), uvec4(last_channels)));
    return v;
}
