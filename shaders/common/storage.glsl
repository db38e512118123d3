// SPDX-License-Identifier: LGPL-2.1-or-later
// How a pack of four channels lies in memory: a vec4, or 16 bits a value.
//
// The 16-bit kind is not four halves but four signed 14-bit mantissas under
// the 8-bit exponent of the largest (block floating point): two bits more for
// the values that matter in a sum. Storing each value of the person model as
// a half moves single pixels of its mask by up to 0.06; this moves them by a
// third of that. It needs no 16-bit feature of the device, and rounds the same
// everywhere. The price: a value loses what lies below 2⁻¹³ of the largest of its
// four, so that 0.02 beside 1000 is 0.
//
// Beside infinities and NaN the other mantissas are lost; they are NaN, too. Their
// exponent is 255, and makes ±infinity of mantissas and NaN of 0.
#ifdef TDL_FP16
#extension GL_EXT_shader_integer_mix : require
#define PACK uvec2
vec4 unpack(uvec2 p)
{
    uint exponent = (p.x >> 28) | (p.y >> 28) << 4;
    ivec4 q = ivec4(ivec2(p.x << 18, p.x << 4), ivec2(p.y << 18, p.y << 4)) >> 18;
    // 2^(exponent - 139), or infinity.
    return vec4(q) * (uintBitsToFloat(exponent << 23) * (1.0 / 4096.0));
}
uvec2 pack(vec4 v)
{
    // As numbers: max() of floats may leave NaN out.
    uvec4 a = floatBitsToUint(v) & 0x7fffffff;
    uint exponent = max(max(max(a.x, a.y), max(a.z, a.w)) >> 23, 13u);
    float scale = uintBitsToFloat((266 - exponent) << 23); // 2^(139 - exponent)
    ivec4 mantissas = clamp(ivec4(roundEven(v * scale)), -8191, 8191);
    if (exponent == 255)
        mantissas = mix(ivec4(0), 8191 * (ivec4(1) | floatBitsToInt(v) >> 31),
                        equal(a, uvec4(0x7f800000)));
    uvec4 q = uvec4(mantissas) & 0x3fff;
    return uvec2(q.x | q.y << 14 | exponent << 28, q.z | q.w << 14 | (exponent >> 4) << 28);
}
#else
#define PACK vec4
vec4 unpack(vec4 v) { return v; }
vec4 pack(vec4 v) { return v; }
#endif

// What fills up the last pack of an output's channels is zero, always.
vec4 filled_up(vec4 v, bool is_last, uint last_channels)
{
    if (last_channels < 4 && is_last)
        v = mix(vec4(0.0), v, lessThan(uvec4(0, 1, 2, 3), uvec4(last_channels)));
    return v;
}
