// SPDX-License-Identifier: LGPL-2.1-or-later
// Indices of gather and its like: int32, uint32 or int64, at binding 1.
layout(std430, set = 0, binding = 1) readonly buffer Indices { uint indices[]; };

// Index `i` among `length`: negative ones count from the end, larger ones are clamped. `type` is
// enum tdl_dtype.
uint index_at(uint type, uint i, uint length)
{
    const uint INT32 = 2, INT64 = 6;
    uint low = indices[type == INT64 ? 2 * i : i];
    bool negative = type == INT32 && int(low) < 0;
    if (type == INT64) {
        uint high = indices[2 * i + 1];
        negative = int(high) < 0;
        // Indices that do not fit into 32 bits are clamped to either end.
        if (high != (negative ? 0xffffffffu : 0u))
            return negative ? 0 : length - 1;
    }
    if (negative) // low is 2^32 - n: n from the end
        return 0u - low - 1 >= length ? 0 : length + low;
    return min(low, length - 1);
}
