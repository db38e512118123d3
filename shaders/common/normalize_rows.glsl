// SPDX-License-Identifier: LGPL-2.1-or-later
// A linear value as rows along some of its dimensions (AXES, bits; both count
// from the last dimension), for layerNormalization.
layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;
layout(constant_id = 3) const uint TYPE = 0;
layout(constant_id = 4) const uint ROWS = 1;
layout(constant_id = 5) const uint LENGTH = 1;
layout(constant_id = 6) const uint AXES = 1;
layout(constant_id = 7) const uint RANK = 1;
layout(constant_id = 8) const uint SIZE0 = 1;
layout(constant_id = 9) const uint SIZE1 = 1;
layout(constant_id = 10) const uint SIZE2 = 1;
layout(constant_id = 11) const uint SIZE3 = 1;
layout(constant_id = 12) const uint SIZE4 = 1;
layout(constant_id = 13) const uint SIZE5 = 1;

// Offset of element `i`, which counts along the dimensions of `mask`.
uint place(uint mask, uint i)
{
    uint at = 0, stride = 1;
#define STEP(NUMBER, SIZE)                                                                         \
    if (NUMBER < RANK) {                                                                           \
        if ((mask >> NUMBER & 1) != 0) {                                                           \
            at += i % SIZE * stride;                                                               \
            i /= SIZE;                                                                             \
        }                                                                                          \
        stride *= SIZE;                                                                            \
    }
    STEP(0, SIZE0)
    STEP(1, SIZE1)
    STEP(2, SIZE2)
    STEP(3, SIZE3)
    STEP(4, SIZE4)
    STEP(5, SIZE5)
#undef STEP
    return at;
}

uint start_of_row(uint row) { return place(~AXES, row); }
uint place_in_row(uint i) { return place(AXES, i); }

// The row that element `at` belongs to, and its number in it.
uvec2 row_and_number(uint at)
{
    uint row = 0, row_stride = 1, number = 0, number_stride = 1;
#define STEP(NUMBER, SIZE)                                                                         \
    if (NUMBER < RANK) {                                                                           \
        if ((AXES >> NUMBER & 1) != 0) {                                                           \
            number += at % SIZE * number_stride;                                                   \
            number_stride *= SIZE;                                                                 \
        } else {                                                                                   \
            row += at % SIZE * row_stride;                                                         \
            row_stride *= SIZE;                                                                    \
        }                                                                                          \
        at /= SIZE;                                                                                \
    }
    STEP(0, SIZE0)
    STEP(1, SIZE1)
    STEP(2, SIZE2)
    STEP(3, SIZE3)
    STEP(4, SIZE4)
    STEP(5, SIZE5)
#undef STEP
    return uvec2(row, number);
}
