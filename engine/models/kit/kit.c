/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Helpers of every reader: errors, memory, constants, numbers that are known. */
#include "kit.h"
#include "shape.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The memory that a file may cost: a byte of weights becomes a float, and shapes are more
 * than their text. */
#define MADE_TIMES 8
#define MADE_FREE (UINT64_C(16) << 20)

/* ------------------------------------------------------------------ errors */

/* Bytes of the character there; 0: it is not to be shown. */
static size_t character(const char *text)
{
    const uint8_t first = (uint8_t)*text;
    const size_t size = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;

    if (first < 0x20 || first == 0x7f || (first >= 0x80 && first < 0xc2) || first > 0xf4)
        return 0;
    for (size_t i = 1; i < size; i++)
        if (((uint8_t)text[i] & 0xc0) != 0x80)
            return 0;
    return size;
}

static void fail(struct tdl_kit *kit, enum tdl_result result, const char *way, const char *format,
                 va_list args)
{
    char text[1024];

    vsnprintf(text, sizeof(text), format, args);
    for (size_t i = 0, size; text[i]; i += size ? size : 1)
        if (!(size = character(text + i)))
            text[i] = '?';
    tdl_builder_fail(kit->builder, result, *way ? "%s: %s" : "%s%s", text, way);
}

bool tdl_kit_fail(struct tdl_kit *kit, enum tdl_result result, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    fail(kit, result, "", format, args);
    va_end(args);
    return false;
}

bool tdl_kit_lacks(struct tdl_kit *kit, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    fail(kit, TDL_ERROR_UNSUPPORTED, kit->ways->other, format, args);
    va_end(args);
    return false;
}

bool tdl_kit_fail_memory(struct tdl_kit *kit)
{
    return tdl_kit_fail(kit, TDL_ERROR_OUT_OF_MEMORY, "no memory to import the model");
}

/* --------------------------------------------------------------- constants */

bool tdl_kit_spend(struct tdl_kit *kit, uint64_t size)
{
    const uint64_t limit = MADE_TIMES * kit->file_bytes + MADE_FREE;

    if (size > limit - kit->made_bytes)
        return tdl_kit_damaged(kit, "what the model asks for is more than %d times its files",
                               MADE_TIMES);
    kit->made_bytes += size;
    return true;
}

void *tdl_kit_make(struct tdl_kit *kit, uint64_t size)
{
    void *memory;

    if (!tdl_kit_spend(kit, size))
        return NULL;
    memory = calloc(1, size ? (size_t)size : 1);
    if (!memory) {
        tdl_kit_fail_memory(kit);
        return NULL;
    }
    tdl_builder_own(kit->builder, memory, free);
    return tdl_builder_status(kit->builder) == TDL_OK ? memory : NULL;
}

struct tdl_operand *tdl_kit_constant(struct tdl_kit *kit, enum tdl_dtype dtype, uint32_t rank,
                                     const uint32_t *shape, const void *data)
{
    struct tdl_tensor_params desc = {.dtype = dtype, .rank = rank};
    size_t size;
    void *copy;

    if (rank)
        memcpy(desc.shape, shape, rank * sizeof(*shape));
    size = tdl_tensor_params_size(&desc);
    copy = tdl_kit_make(kit, size);
    if (!copy)
        return NULL;
    memcpy(copy, data, size);
    return tdl_builder_constant(kit->builder, &desc, copy, size);
}

struct tdl_operand *tdl_kit_number(struct tdl_kit *kit, enum tdl_dtype dtype, double value)
{
    const bool whole = !tdl_is_float(dtype);
    const double limit = tdl_dtype_size(dtype) == 8 ? 9e18 : 4294967296.0;
    const float real = (float)value;
    uint8_t bits[8];

    if (whole)
        tdl_kit_put_bits(bits, fabs(value) < limit ? (uint64_t)(int64_t)value : 0,
                         tdl_dtype_size(dtype));
    struct tdl_operand *o = tdl_kit_constant(kit, whole ? dtype : TDL_FLOAT32, 0, NULL,
                                             whole ? (const void *)bits : (const void *)&real);

    return tdl_kit_settle(kit,
                          o && dtype == TDL_FLOAT16 ? tdl_builder_cast(kit->builder, o, dtype) : o);
}

struct tdl_operand *tdl_kit_like(struct tdl_kit *kit, const struct tdl_operand *like, double value)
{
    return tdl_kit_number(kit, tdl_kit_desc(like)->dtype, value);
}

struct tdl_operand *tdl_kit_fill(struct tdl_kit *kit, const struct tdl_tensor_params *desc,
                                 double value)
{
    struct tdl_operand *o = tdl_kit_number(kit, desc->dtype, value);

    if (o && desc->rank)
        o = tdl_builder_expand(kit->builder, o, desc->rank, desc->shape);
    return tdl_kit_settle(kit, o);
}

struct tdl_operand *tdl_kit_range(struct tdl_kit *kit, enum tdl_dtype dtype, uint32_t count,
                                  double start, double step)
{
    const struct tdl_tensor_params desc = {
        .dtype = dtype == TDL_FLOAT32 ? TDL_FLOAT32 : TDL_INT32, .rank = 1, .shape = {count}};
    const size_t size = tdl_tensor_params_size(&desc);
    void *data = tdl_kit_make(kit, size);

    for (uint32_t i = 0; i < count && data; i++) {
        const double value = start + i * step;

        if (desc.dtype == TDL_FLOAT32)
            ((float *)data)[i] = (float)value;
        else
            ((int32_t *)data)[i] = (int32_t)(fabs(value) < 2147483648.0 ? value : 0);
    }
    return data ? tdl_builder_constant(kit->builder, &desc, data, size) : NULL;
}

struct tdl_operand *tdl_kit_int_list(struct tdl_kit *kit, const int32_t *list, uint32_t count)
{
    return tdl_kit_constant(kit, TDL_INT32, 1, &count, list);
}

/* ------------------------------------------------------- what is known now */

struct tdl_operand *tdl_kit_settle(struct tdl_kit *kit, struct tdl_operand *operand)
{
    if (operand)
        tdl_builder_evaluate(kit->builder, operand);
    return operand;
}

bool tdl_kit_is_known(struct tdl_kit *kit, struct tdl_operand *operand)
{
    return operand && tdl_builder_evaluate(kit->builder, operand) != NULL;
}

const struct tdl_tensor_params *tdl_kit_desc(const struct tdl_operand *operand)
{
    static const struct tdl_tensor_params nothing = {.shape = {1, 1, 1, 1, 1, 1}};
    const struct tdl_tensor_params *desc = operand ? tdl_operand_get_desc(operand) : NULL;

    return desc ? desc : &nothing;
}

uint64_t tdl_kit_elements(const struct tdl_operand *operand)
{
    const struct tdl_tensor_params *desc = tdl_kit_desc(operand);
    uint64_t count = 1;

    for (uint32_t d = 0; d < desc->rank; d++)
        count *= desc->shape[d];
    return count;
}

/* The elements, and how many; NULL with the builder in error. */
static const uint8_t *known(struct tdl_kit *kit, struct tdl_operand *operand, const char *what,
                            uint32_t capacity, uint32_t *out_count)
{
    const uint64_t count = tdl_kit_elements(operand);
    const void *data = operand ? tdl_builder_evaluate(kit->builder, operand) : NULL;

    *out_count = 0;
    if (!data)
        tdl_kit_refuse(kit,
                       "%s depends on what the graph is run with; libtdl needs sizes, axes and "
                       "the like when the model is loaded: bind the inputs that they come from to "
                       "numbers, or export the model with fixed shapes%s",
                       what, kit->ways->fixed);
    else if (count > capacity)
        tdl_kit_lacks(kit, "%s has %llu numbers; libtdl takes up to %u", what,
                      (unsigned long long)count, capacity);
    else
        *out_count = (uint32_t)count;
    return *out_count ? data : NULL;
}

int64_t tdl_kit_int_at(enum tdl_dtype dtype, const void *data, size_t i)
{
    const size_t size = tdl_dtype_size(dtype), shift = 64 - 8 * size;
    const uint64_t bits = tdl_kit_bits((const uint8_t *)data + i * size, size);

    return dtype == TDL_UINT8 || dtype == TDL_UINT32 || dtype == TDL_UINT64
               ? (int64_t)bits
               : (int64_t)(bits << shift) >> shift;
}

bool tdl_kit_ints(struct tdl_kit *kit, struct tdl_operand *operand, const char *what, int64_t *list,
                  uint32_t capacity, uint32_t *out_count)
{
    const uint8_t *data = known(kit, operand, what, capacity, out_count);
    const enum tdl_dtype dtype = tdl_kit_desc(operand)->dtype;

    if (data && tdl_is_float(dtype))
        return tdl_kit_damaged(kit, "%s is %s instead of integers", what, tdl_dtype_name(dtype));
    for (uint32_t i = 0; data && i < *out_count; i++)
        list[i] = tdl_kit_int_at(dtype, data, i);
    return data != NULL;
}

bool tdl_kit_floats(struct tdl_kit *kit, struct tdl_operand *operand, const char *what,
                    double *list, uint32_t capacity, uint32_t *out_count)
{
    const uint8_t *data = known(kit, operand, what, capacity, out_count);
    const enum tdl_dtype dtype = tdl_kit_desc(operand)->dtype;

    for (uint32_t i = 0; data && i < *out_count; i++) {
        uint16_t half;
        float single;

        if (dtype == TDL_FLOAT32) {
            memcpy(&single, data + 4 * (size_t)i, sizeof(single));
            list[i] = (double)single;
        } else if (dtype == TDL_FLOAT16) {
            memcpy(&half, data + 2 * (size_t)i, sizeof(half));
            list[i] = (double)tdl_half_to_float(half);
        } else {
            list[i] = (double)tdl_kit_int_at(dtype, data, i);
        }
    }
    return data != NULL;
}
