// SPDX-License-Identifier: LGPL-2.1-or-later
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
// Between any two data types; those of 64 bits in the variant for them. Floats
// are cut towards zero and kept in the range of the integer (NaN: 0), integers
// keep their low bits.
#include "common/linear.glsl"

layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;
layout(constant_id = 3) const uint FROM = 0;
layout(constant_id = 4) const uint TO = 0;
layout(constant_id = 5) const uint COUNT = 1;

LINEAR_IN(0, a)
LINEAR_OUT(1, result)

const bool FROM_FLOAT = FROM == FLOAT32 || FROM == FLOAT16;
const bool FROM_SIGNED = FROM == INT32 || FROM == INT8 || FROM == INT64;
const bool FROM_WIDE = FROM == INT64 || FROM == UINT64;
const bool TO_WIDE = TO == INT64 || TO == UINT64;

float as_float(uint i)
{
#ifdef TDL_64BIT
    if (FROM == INT64)
        return float(a_at(FROM, i));
    if (FROM == UINT64)
        return float(uint64_t(a_at(FROM, i)));
#endif
    return FROM_FLOAT ? a_float(FROM, i) : FROM_SIGNED ? float(a_int(FROM, i)) : float(a_uint(FROM, i));
}

// A float as an integer of 32 bits or fewer.
uint cut(float x)
{
    if (isnan(x))
        return 0;
    if (TO == INT8)
        return uint(int(clamp(x, -128.0, 127.0)));
    if (TO == UINT8)
        return uint(clamp(x, 0.0, 255.0));
    if (TO == INT32)
        return x >= 2147483648.0 ? 0x7fffffff : x <= -2147483648.0 ? 0x80000000 : uint(int(x));
    return x >= 4294967296.0 ? 0xffffffff : x <= 0.0 ? 0 : uint(x);
}

uint as_integer(uint i)
{
    if (FROM_FLOAT)
        return cut(a_float(FROM, i));
    if (FROM_WIDE)
        return a_bits(8, i, 0);
    return FROM_SIGNED ? uint(a_int(FROM, i)) : a_uint(FROM, i);
}

#ifdef TDL_64BIT
uvec2 as_wide(uint i)
{
    if (FROM_WIDE)
        return uvec2(a_bits(8, i, 0), a_bits(8, i, 1));
    if (!FROM_FLOAT) {
        uint low = as_integer(i);
        return uvec2(low, FROM_SIGNED && int(low) < 0 ? 0xffffffff : 0);
    }
    float x = a_float(FROM, i);
    const float limit = TO == INT64 ? 9223372036854775808.0 : 18446744073709551616.0;
    const float least = TO == INT64 ? -9223372036854775808.0 : 0.0;
    if (isnan(x))
        return uvec2(0);
    if (x >= limit)
        return uvec2(0xffffffff, TO == INT64 ? 0x7fffffff : 0xffffffff);
    if (x <= least)
        return uvec2(0, TO == INT64 ? 0x80000000 : 0);
    return TO == INT64 ? uvec2(unpackInt2x32(int64_t(x))) : unpackUint2x32(uint64_t(x));
}
#endif

void main()
{
    if (TO_WIDE) {
#ifdef TDL_64BIT
        uint at = linear_word();
        if (at >= COUNT)
            return;
        uvec2 words = as_wide(at);
        result_words[2 * at] = words.x;
        result_words[2 * at + 1] = words.y;
#endif
    } else if (TO == FLOAT32 || TO == FLOAT16) {
        LINEAR_MAIN_32(result, TO, COUNT, as_float)
    } else {
        LINEAR_MAIN_32(result, TO, COUNT, as_integer)
    }
}
