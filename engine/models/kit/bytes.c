/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Numbers of files, which are little-endian, on machines that may be big-endian. */
#include "kit.h"

#include <string.h>

uint64_t tdl_kit_file_bits(const void *bytes, size_t size)
{
    const uint8_t *from = bytes;
    uint64_t bits = 0;

    for (size_t i = 0; i < size; i++)
        bits |= (uint64_t)from[i] << (8 * i);
    return bits;
}

/* Where the lowest `size` bytes of 64 bits lie. */
static size_t first_byte(size_t size)
{
    return TDL_KIT_SWAPS ? sizeof(uint64_t) - size : 0;
}

uint64_t tdl_kit_bits(const void *number, size_t size)
{
    uint64_t bits = 0;

    memcpy((uint8_t *)&bits + first_byte(size), number, size);
    return bits;
}

void tdl_kit_put_bits(void *number, uint64_t bits, size_t size)
{
    memcpy(number, (const uint8_t *)&bits + first_byte(size), size);
}

void tdl_kit_from_file(void *to, const void *from, uint64_t count, size_t size)
{
    if (!TDL_KIT_SWAPS || size == 1) {
        memcpy(to, from, count * size);
        return;
    }
    for (uint64_t i = 0; i < count; i++)
        tdl_kit_put_bits((uint8_t *)to + i * size,
                         tdl_kit_file_bits((const uint8_t *)from + i * size, size), size);
}
