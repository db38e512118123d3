// SPDX-License-Identifier: LGPL-2.1-or-later
#version 430
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
// topK: one invocation a candidate. It counts those of its part that come before it,
// and that is its place.
#include "common/linear.glsl"
layout(constant_id = 3) const uint TYPE = 0;
layout(constant_id = 4) const uint LENGTH = 1; // elements of a row of x
layout(constant_id = 5) const uint INNER = 1;
layout(constant_id = 6) const uint ROWS = 1;
layout(constant_id = 7) const uint SMALLEST = 0;
layout(constant_id = 8) const uint LISTED = 0;     // candidates are in `list`, else all
layout(constant_id = 9) const uint CANDIDATES = 1; // candidates of each row
layout(constant_id = 10) const uint PART = 1;      // candidates of a part
layout(constant_id = 11) const uint KEPT = 1;      // results that each part keeps
layout(constant_id = 12) const uint LAST = 1;      // one part: the result, as x lies
LINEAR_IN(0, x)
layout(std430, set = 0, binding = 1) readonly buffer List { uint list[]; };
layout(std430, set = 0, binding = 2) writeonly buffer Out { uint result[]; };

const uint BYTES = TYPE == INT64 || TYPE == UINT64 ? 8 : TYPE == INT8 || TYPE == UINT8 ? 1 : TYPE == FLOAT16 ? 2 : 4;

// Words in whose order, as unsigned numbers, elements are: NaN is the largest, and both
// zeros are one. The upper word is 0 but for elements of 8 bytes.
uvec2 key(uint row, uint i)
{
    const uint at = (row / INNER * LENGTH + i) * INNER + row % INNER;
    uvec2 k = uvec2(x_bits(BYTES, at, 0), BYTES == 8 ? x_bits(BYTES, at, 1) : 0);
    const uint sign = BYTES == 1 ? 0x80 : BYTES == 2 ? 0x8000 : 0x80000000;
    if (TYPE == FLOAT32 || TYPE == FLOAT16) {
        const uint size = k.x & (sign - 1), infinity = TYPE == FLOAT16 ? 0x7c00 : 0x7f800000;
        k.x = size > infinity ? 0xffffffff : k.x < sign ? sign + size : sign - size;
    } else if (TYPE == INT64) {
        k.y ^= sign;
    } else if (TYPE == INT32 || TYPE == INT8) {
        k.x ^= sign;
    }
    return SMALLEST != 0 ? ~k : k;
}

uint candidate(uint row, uint j)
{
    return LISTED != 0 ? list[row * CANDIDATES + j] : j;
}

void main()
{
    const uint number = linear_word(), row = number / CANDIDATES, j = number % CANDIDATES;
    const uint first = j / PART * PART, end = min(first + PART, CANDIDATES);
    uint place = 0;
    if (row >= ROWS)
        return;
    const uint mine = candidate(row, j);
    const uvec2 k = key(row, mine);
    for (uint i = first; i < end; i++) {
        const uint other = candidate(row, i);
        const uvec2 o = key(row, other);
        const bool before = o.y > k.y || (o.y == k.y && o.x > k.x) || (o == k && other < mine);
        place += before ? 1 : 0;
    }
    if (place >= KEPT)
        return;
    const uint parts = CANDIDATES / PART, rest = CANDIDATES % PART;
    if (LAST != 0)
        result[(row / INNER * KEPT + place) * INNER + row % INNER] = mine;
    else
        result[row * (parts * KEPT + min(rest, KEPT)) + j / PART * KEPT + place] = mine;
}
