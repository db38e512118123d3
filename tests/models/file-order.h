/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Files of models have the lowest byte of a number first, whatever machine writes them. */
#ifndef FILE_ORDER_H
#define FILE_ORDER_H

#include <stddef.h>
#include <stdint.h>

/* Which byte of a list in memory, of numbers of `width` bytes, comes as the i-th into a
 * file. What is left behind the last whole number stays where it is. */
static inline size_t file_order(size_t i, size_t width, size_t size)
{
    const size_t first = i - i % width;

    return __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ && first + width <= size
               ? first + width - 1 - i % width
               : i;
}

/* The list as a file has it. */
static inline void to_file_order(uint8_t *to, const void *list, size_t size, size_t width)
{
    for (size_t i = 0; i < size; i++)
        to[i] = ((const uint8_t *)list)[file_order(i, width, size)];
}

#endif
