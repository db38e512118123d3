// SPDX-License-Identifier: LGPL-2.1-or-later
// What the kernels of gemm and matmul share: matrices by strides, in elements,
// and up to four dimensions of a batch.
layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;
layout(constant_id = 3) const uint TYPE = 0;     // data type of a, b and c
layout(constant_id = 4) const uint OUT_TYPE = 0;
layout(constant_id = 5) const uint M = 1;
layout(constant_id = 6) const uint N = 1;
layout(constant_id = 7) const uint K = 1;
layout(constant_id = 8) const uint A_ROW = 1;
layout(constant_id = 9) const uint A_COLUMN = 1;
layout(constant_id = 10) const uint B_ROW = 1;
layout(constant_id = 11) const uint B_COLUMN = 1;
layout(constant_id = 12) const uint C_ROW = 0;
layout(constant_id = 13) const uint C_COLUMN = 0;
layout(constant_id = 14) const uint WITH_C = 0;
layout(constant_id = 15) const float ALPHA = 1.0;
layout(constant_id = 16) const float BETA = 1.0;
layout(constant_id = 17) const uint ACTIVATION = 0;
layout(constant_id = 18) const uint BATCHES = 1;
// The last dimension of the batch first, and the first one by its strides only.
layout(constant_id = 19) const uint SIZE0 = 1;
layout(constant_id = 20) const uint SIZE1 = 1;
layout(constant_id = 21) const uint SIZE2 = 1;
layout(constant_id = 22) const uint A_STEP0 = 0;
layout(constant_id = 23) const uint A_STEP1 = 0;
layout(constant_id = 24) const uint A_STEP2 = 0;
layout(constant_id = 25) const uint A_STEP3 = 0;
layout(constant_id = 26) const uint B_STEP0 = 0;
layout(constant_id = 27) const uint B_STEP1 = 0;
layout(constant_id = 28) const uint B_STEP2 = 0;
layout(constant_id = 29) const uint B_STEP3 = 0;
LINEAR_IN(0, a)
LINEAR_IN(1, b)
LINEAR_IN(2, c)
LINEAR_OUT(3, result)

uint a_of_batch(uint batch)
{
    return batch % SIZE0 * A_STEP0 + batch / SIZE0 % SIZE1 * A_STEP1 +
           batch / (SIZE0 * SIZE1) % SIZE2 * A_STEP2 + batch / (SIZE0 * SIZE1 * SIZE2) * A_STEP3;
}

uint b_of_batch(uint batch)
{
    return batch % SIZE0 * B_STEP0 + batch / SIZE0 % SIZE1 * B_STEP1 +
           batch / (SIZE0 * SIZE1) % SIZE2 * B_STEP2 + batch / (SIZE0 * SIZE1 * SIZE2) * B_STEP3;
}

// Four columns, of which those past the end are as the last one.
vec4 finished(vec4 sums, uint row, uint column)
{
    sums *= ALPHA;
    if (WITH_C != 0)
        [[unroll]] for (uint j = 0; j < 4; j++)
            sums[j] += BETA * c_at(TYPE, row * C_ROW + min(column + j, N - 1) * C_COLUMN);
    return activate(ACTIVATION, sums);
}

float finished(float sum, uint row, uint column)
{
    sum *= ALPHA;
    if (WITH_C != 0)
        sum += BETA * c_at(TYPE, row * C_ROW + column * C_COLUMN);
    return activate(ACTIVATION, vec4(sum)).x;
}
