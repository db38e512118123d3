// SPDX-License-Identifier: LGPL-2.1-or-later
// For kernels that move elements of linear memory without looking at them. An
// element is one part of SIZE = 1, 2 or 4 bytes, or, if it has 8, PARTS = 2 of
// 4. An invocation writes one word of the output.
//
//     LINEAR_IN(0, x)             // the node's inputs, from binding 0 on
//     uint source(uint i) {…}     // the bits of part `i` of the output, as
//                                 // x_bits(SIZE, part of x, 0) has them
//     MOVE_PARTS                  // defines main()
#include "linear.glsl"
layout(constant_id = 3) const uint SIZE = 4;
layout(constant_id = 4) const uint PARTS = 1; // parts of an element
layout(constant_id = 5) const uint COUNT = 1; // parts of the output
const uint PER_WORD = 4 / SIZE;

LINEAR_OUT(7, result)

#define MOVE_PARTS                                                                                 \
    void main()                                                                                    \
    {                                                                                              \
        const uint word = linear_word();                                                           \
        uint bits = 0;                                                                             \
        if (word * PER_WORD >= COUNT)                                                              \
            return;                                                                                \
        [[unroll]] for (uint j = 0; j < PER_WORD; j++)                                             \
            bits |= source(min(word * PER_WORD + j, COUNT - 1)) << j * SIZE * 8;                   \
        result_words[word] = bits;                                                                 \
    }
