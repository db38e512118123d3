// SPDX-License-Identifier: LGPL-2.1-or-later
// main() of kernels that move elements of any type: BYTES is the size of one,
// COUNT their number, bits(i, upper) is element i of the output, or a word of
// it. One invocation a word, or an element of two.
void main()
{
    uint at = linear_word(), word = 0;
    if (BYTES == 8) {
        if (at >= COUNT)
            return;
        result_words[2 * at] = bits(at, 0);
        result_words[2 * at + 1] = bits(at, 1);
        return;
    }
    const uint LANES = 4 / min(BYTES, 4);
    if (at * LANES >= COUNT)
        return;
    [[unroll]] for (uint lane = 0; lane < LANES; lane++)
        word |= bits(min(at * LANES + lane, COUNT - 1), 0) << (8 * BYTES * lane & 31);
    result_words[at] = word;
}
