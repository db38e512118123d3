// SPDX-License-Identifier: LGPL-2.1-or-later
// What the kernels of attention share: softmax(q · kᵀ · scale + mask) · v of matrices by strides,
// in elements. They go along the keys, a tile at a time; what they have summed is scaled down
// where a larger score comes (Milakov and Gimelshein 2018, "Online normalizer calculation for
// softmax").
layout(constant_id = 3) const uint TYPE = 0;
layout(constant_id = 4) const uint ROWS_IN_ALL = 1; // of q, in a batch
layout(constant_id = 5) const uint KEYS = 1;
layout(constant_id = 6) const uint DEPTH = 1;
layout(constant_id = 7) const uint WIDTH = 1; // of v
layout(constant_id = 8) const uint HEADS = 1; // the last dimension of the batch
layout(constant_id = 9) const float SCALE = 1.0;
layout(constant_id = 10) const bool MASKED = false;
// Elements from one to the next: batch, head, row, column.
layout(constant_id = 11) const uint Q0 = 0;
layout(constant_id = 12) const uint Q1 = 0;
layout(constant_id = 13) const uint Q2 = 0;
layout(constant_id = 14) const uint Q3 = 0;
layout(constant_id = 15) const uint K0 = 0;
layout(constant_id = 16) const uint K1 = 0;
layout(constant_id = 17) const uint K2 = 0;
layout(constant_id = 18) const uint K3 = 0;
layout(constant_id = 19) const uint V0 = 0;
layout(constant_id = 20) const uint V1 = 0;
layout(constant_id = 21) const uint V2 = 0;
layout(constant_id = 22) const uint V3 = 0;
layout(constant_id = 23) const uint M0 = 0;
layout(constant_id = 24) const uint M1 = 0;
layout(constant_id = 25) const uint M2 = 0;
layout(constant_id = 26) const uint M3 = 0;
// The result, whose columns are neighbours.
layout(constant_id = 27) const uint O0 = 0;
layout(constant_id = 28) const uint O1 = 0;
layout(constant_id = 29) const uint O2 = 0;
layout(constant_id = 30) const uint MATRICES = 1; // heads of all batches
LINEAR_IN(0, q)
LINEAR_IN(1, k)
LINEAR_IN(2, v)
LINEAR_IN(3, mask)
LINEAR_OUT(4, result)

#define INFINITE uintBitsToFloat(0x7f800000u)
