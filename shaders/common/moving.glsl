// SPDX-License-Identifier: LGPL-2.1-or-later
// For kernels that move elements without looking at them: an element is SIZE
// bytes, 1, 2 or 4, and an invocation writes one word, which holds PER_WORD of
// them. (Elements of 8 bytes are two of 4.)
#include "linear.glsl"
layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;
layout(constant_id = 3) const uint SIZE = 4;
layout(constant_id = 4) const uint COUNT = 1; // elements of the output
const uint PER_WORD = 4 / SIZE;

LINEAR_IN(0, x)
LINEAR_OUT(2, result)

// Defines main(): source(i) has the bits of output element i.
#define MOVE_ELEMENTS                                                    \
    void main()                                                          \
    {                                                                    \
        const uint word = linear_word();                                 \
        uint bits = 0;                                                   \
        if (word * PER_WORD >= COUNT)                                    \
            return;                                                      \
        [[unroll]] for (uint j = 0; j < PER_WORD; j++)                   \
            bits |= source(min(word * PER_WORD + j, COUNT - 1)) << j * SIZE * 8; \
        result_words[word] = bits;                                       \
    }
