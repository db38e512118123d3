/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Elements of any type, for the references. */
#ifndef TDL_ELEMENT_H
#define TDL_ELEMENT_H

#include "ops.h"

#include <string.h>

/* Where a word of 64 bits has its lowest `size` bytes, in the machine's order. */
static inline uint8_t *tdl_element_low(uint64_t *word, size_t size)
{
    return (uint8_t *)word + (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? sizeof(*word) - size : 0);
}

/* The element's memory, integers with their sign extended: arithmetic on it
 * wraps as theirs does. */
static inline uint64_t tdl_element_bits(enum tdl_dtype dtype, const void *data, size_t i)
{
    const uint32_t size = (uint32_t)tdl_dtype_size(dtype), shift = 64 - 8 * size;
    bool has_sign = dtype == TDL_INT8 || dtype == TDL_INT32 || dtype == TDL_INT64;
    uint64_t bits = 0;
    memcpy(tdl_element_low(&bits, size), (const uint8_t *)data + i * size, size);
    return has_sign ? (uint64_t)((int64_t)(bits << shift) >> shift) : bits;
}

static inline void tdl_element_set_bits(enum tdl_dtype dtype, void *data, size_t i, uint64_t bits)
{
    size_t size = tdl_dtype_size(dtype);
    memcpy((uint8_t *)data + i * size, tdl_element_low(&bits, size), size);
}

/* The element's value; the type holds every one exactly. */
static inline long double tdl_element_get(enum tdl_dtype dtype, const void *data, size_t i)
{
    uint64_t bits = tdl_element_bits(dtype, data, i);
    const uint32_t word = (uint32_t)bits;
    float value;
    memcpy(&value, &word, sizeof(value));
    switch (dtype) {
    case TDL_FLOAT32:
        return value;
    case TDL_FLOAT16:
        return tdl_half_to_float((uint16_t)bits);
    case TDL_UINT8:
    case TDL_UINT32:
    case TDL_UINT64:
        return (long double)bits;
    default:
        return (long double)(int64_t)bits;
    }
}

/* The bits of the element that has a value. */
static inline uint64_t tdl_element_of(enum tdl_dtype dtype, long double value)
{
    const float single = (float)value;
    uint32_t word;
    memcpy(&word, &single, sizeof(word));
    if (dtype == TDL_FLOAT32)
        return word;
    if (dtype == TDL_FLOAT16)
        return tdl_float_to_half(single);
    return value < 0 ? (uint64_t)(int64_t)value : (uint64_t)value;
}

static inline void tdl_element_set(enum tdl_dtype dtype, void *data, size_t i, long double value)
{
    tdl_element_set_bits(dtype, data, i, tdl_element_of(dtype, value));
}

#endif
