/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Constants of ONNX files: what they are, and their elements. */
#include "onnx.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_ELEMENTS (UINT64_C(1) << 30)
/* Constants that are made, in sizes of the file, and what is free. */
#define MAX_EVALUATED 4096 /* elements */

static const struct {
    int32_t type;
    enum tdl_dtype dtype;
    uint32_t size; /* bytes of an element in raw_data */
    const char *name;
} types[] = {
    {ONNX_FLOAT, TDL_FLOAT32, 4, "float"},
    {ONNX_UINT8, TDL_UINT8, 1, "uint8"},
    {ONNX_INT8, TDL_INT8, 1, "int8"},
    {ONNX_UINT16, TDL_INT32, 2, "uint16"},
    {ONNX_INT16, TDL_INT32, 2, "int16"},
    {ONNX_INT32, TDL_INT32, 4, "int32"},
    {ONNX_INT64, TDL_INT64, 8, "int64"},
    {ONNX_BOOL, TDL_UINT8, 1, "bool"},
    {ONNX_FLOAT16, TDL_FLOAT16, 2, "float16"},
    {ONNX_DOUBLE, TDL_FLOAT32, 8, "double"},
    {ONNX_UINT32, TDL_UINT32, 4, "uint32"},
    {ONNX_UINT64, TDL_UINT64, 8, "uint64"},
    {ONNX_BFLOAT16, TDL_FLOAT32, 2, "bfloat16"},
};
#define TYPES (sizeof(types) / sizeof(types[0]))

static size_t find_type(int64_t type)
{
    size_t i = 0;

    while (i < TYPES && types[i].type != type)
        i++;
    return i;
}

bool onnx_dtype(struct onnx_import *im, int64_t type, enum tdl_dtype *out)
{
    const size_t i = find_type(type);

    if (i == TYPES)
        return tdl_kit_lacks(
            &im->kit,
            "the data type number %lld (%s) is not supported; libtdl has floats of "
            "16 to 64 bits, integers of 8 to 64 bits and bool",
            (long long)type, type == ONNX_STRING ? "string" : "complex, 4 or 8 bits, or unknown");
    /* Halves are computed as float32: that is exact, and every kernel has it. */
    *out = type == ONNX_FLOAT16 ? TDL_FLOAT32 : types[i].dtype;
    return true;
}

bool onnx_fail_damaged(struct onnx_import *im, const char *what)
{
    return tdl_kit_damaged(&im->kit,
                           "the model file is damaged: %s does not end where it should; get the "
                           "file again",
                           what);
}

struct tdl_operand *onnx_constant(struct onnx_import *im, enum tdl_dtype dtype, uint32_t rank,
                                  const uint32_t *shape, const void *data)
{
    struct tdl_tensor_params desc = {.dtype = dtype, .rank = rank};
    void *copy;

    if (rank)
        memcpy(desc.shape, shape, rank * sizeof(*shape));
    copy = tdl_kit_make(&im->kit, tdl_tensor_params_size(&desc));
    if (!copy)
        return NULL;
    memcpy(copy, data, tdl_tensor_params_size(&desc));
    return tdl_builder_constant(im->builder, &desc, copy, tdl_tensor_params_size(&desc));
}

struct tdl_operand *onnx_sequence(struct onnx_import *im, enum tdl_dtype dtype, uint32_t count,
                                  double start, double step)
{
    const bool real = dtype == TDL_FLOAT32 || dtype == TDL_FLOAT16;
    const struct tdl_tensor_params desc = {
        .dtype = real ? TDL_FLOAT32 : TDL_INT64,
        .rank = 1,
        .shape = {count},
    };
    const size_t size = tdl_tensor_params_size(&desc);
    void *data = tdl_kit_make(&im->kit, size);
    struct tdl_operand *o;

    for (uint32_t i = 0; i < count && data; i++) {
        const double value = start + i * step;

        if (real)
            ((float *)data)[i] = (float)value;
        else
            ((int64_t *)data)[i] = fabs(value) < 9e18 ? (int64_t)value : 0;
    }
    o = data ? tdl_builder_constant(im->builder, &desc, data, size) : NULL;
    if (o && dtype != desc.dtype)
        o = tdl_builder_cast(im->builder, o, dtype);
    if (o)
        tdl_builder_evaluate(im->builder, o);
    return o;
}

/* ------------------------------------------------------------- descriptions */

static bool read_shape(struct onnx_import *im, const int64_t *dims, size_t rank,
                       struct onnx_tensor *t)
{
    char text[64];

    if (rank > TDL_MAX_RANK)
        return tdl_kit_lacks(&im->kit, "the tensor '%s' has %zu dimensions; libtdl takes up to %d",
                             tdl_pb_text(&t->name, text, sizeof(text)), rank, TDL_MAX_RANK);
    t->desc.rank = (uint32_t)rank;
    t->count = 1;
    for (size_t i = 0; i < rank; i++) {
        if (dims[i] < 0 || dims[i] > (int64_t)MAX_ELEMENTS ||
            (t->count *= (uint64_t)dims[i]) > MAX_ELEMENTS)
            return tdl_kit_damaged(
                &im->kit,
                "the tensor '%s' has %lld elements in dimension %zu; at most 2^30 in "
                "all are possible",
                tdl_pb_text(&t->name, text, sizeof(text)), (long long)dims[i], i);
        t->desc.shape[i] = (uint32_t)dims[i];
    }
    return true;
}

/* The place of the bytes if they are in another file. */
static void read_external(const struct tdl_pb *message, struct onnx_tensor *t)
{
    struct tdl_pb entry = *message, key = {0}, value = {0};
    struct tdl_pb_field f;
    char text[24];

    while (tdl_pb_next(&entry, &f)) {
        if (f.number == ONNX_ENTRY_KEY)
            key = f.in;
        else if (f.number == ONNX_ENTRY_VALUE)
            value = f.in;
    }
    if (tdl_pb_is(&key, "location"))
        t->location = value;
    else if (tdl_pb_is(&key, "offset"))
        t->offset = strtoull(tdl_pb_text(&value, text, sizeof(text)), NULL, 10);
    else if (tdl_pb_is(&key, "length"))
        t->length = strtoull(tdl_pb_text(&value, text, sizeof(text)), NULL, 10);
}

bool onnx_tensor_read(struct onnx_import *im, const struct tdl_pb *message, struct onnx_tensor *out)
{
    struct tdl_pb m = *message;
    struct tdl_pb_field f;
    int64_t dims[TDL_MAX_RANK];
    size_t rank = 0;

    *out = (struct onnx_tensor){.message = *message};
    while (tdl_pb_next(&m, &f)) {
        switch (f.number) {
        case ONNX_TENSOR_DIMS:
            if (!tdl_pb_varints(&f, dims, TDL_MAX_RANK, &rank))
                m.broken = true;
            break;
        case ONNX_TENSOR_DATA_TYPE:
            out->type = (int32_t)f.value;
            break;
        case ONNX_TENSOR_NAME:
            out->name = f.in;
            break;
        case ONNX_TENSOR_RAW_DATA:
            out->raw = f.in;
            break;
        case ONNX_TENSOR_EXTERNAL_DATA:
            read_external(&f.in, out);
            break;
        case ONNX_TENSOR_DATA_LOCATION:
            out->external = f.value == 1;
            break;
        }
    }
    if (m.broken)
        return onnx_fail_damaged(im, "a tensor");
    if (!onnx_dtype(im, out->type, &out->desc.dtype) || !read_shape(im, dims, rank, out))
        return false;
    if (out->type == ONNX_FLOAT16) /* as they lie in the file, until they are read */
        out->desc.dtype = TDL_FLOAT16;
    return true;
}

/* ------------------------------------------------------------------ elements */

/* Element `i` of the lists for types of their own, in the order of their fields. */
struct lists {
    uint8_t *to;
    size_t count, filled, element;
    int32_t type;
};

static void store_int(struct lists *l, size_t i, int64_t value)
{
    /* Halves and bfloat16 lie as bits in int32_data. */
    if (l->type == ONNX_BFLOAT16)
        value = (int64_t)((uint64_t)value << 16);
    tdl_kit_put_bits(l->to + i * l->element, (uint64_t)value, l->element);
}

static bool take_ints(struct lists *l, const struct tdl_pb_field *f)
{
    struct tdl_pb_field rest = *f;
    int64_t chunk[64];
    size_t count = 0;

    /* A chunk at a time: a packed list is as long as it likes. */
    if (f->type != 2) {
        if (!tdl_pb_varints(f, chunk, 1, &count))
            return false;
        if (l->filled < l->count)
            store_int(l, l->filled, chunk[0]);
        l->filled++;
        return true;
    }
    while (rest.in.size > 0) {
        size_t bytes = 0, numbers = 0;

        while (bytes < rest.in.size && numbers < 64)
            numbers += !(rest.in.data[bytes++] & 0x80);
        struct tdl_pb_field part = rest;
        part.in.size = bytes;
        count = 0;
        if (!tdl_pb_varints(&part, chunk, 64, &count) || count != numbers || count == 0)
            return false;
        for (size_t i = 0; i < count; i++, l->filled++)
            if (l->filled < l->count)
                store_int(l, l->filled, chunk[i]);
        rest.in.data += bytes;
        rest.in.size -= bytes;
    }
    return true;
}

/* Fixed numbers of 4 or 8 bytes: floats and doubles. */
static bool take_fixed(struct lists *l, const struct tdl_pb_field *f, size_t size)
{
    const uint8_t *data = f->in.data;
    size_t count = f->in.size / size;
    uint8_t one[8];

    if (f->type != 2) {
        for (size_t i = 0; i < 8; i++)
            one[i] = (uint8_t)(f->value >> (8 * i));
        data = one;
        count = 1;
    } else if (f->in.size % size) {
        return false;
    }
    for (size_t i = 0; i < count; i++, l->filled++) {
        double value;
        float single;

        if (l->filled >= l->count)
            continue;
        tdl_kit_from_file(size == 8 ? (void *)&value : &single, data + i * size, 1, size);
        if (size == 8)
            single = (float)value;
        memcpy(l->to + l->filled * l->element, &single, sizeof(single));
    }
    return true;
}

static bool take_lists(const struct onnx_tensor *t, struct lists *l)
{
    struct tdl_pb m = t->message;
    struct tdl_pb_field f;
    bool ok = true;

    while (ok && tdl_pb_next(&m, &f)) {
        const bool real = t->type == ONNX_FLOAT, wide = t->type == ONNX_DOUBLE;

        if (f.number == ONNX_TENSOR_FLOAT_DATA && real)
            ok = take_fixed(l, &f, 4);
        else if (f.number == ONNX_TENSOR_DOUBLE_DATA && wide)
            ok = take_fixed(l, &f, 8);
        else if (!real && !wide &&
                 (f.number == ONNX_TENSOR_INT32_DATA || f.number == ONNX_TENSOR_INT64_DATA ||
                  f.number == ONNX_TENSOR_UINT64_DATA))
            ok = take_ints(l, &f);
    }
    return ok && !m.broken;
}

/* Raw bytes of types that libtdl keeps in wider ones. */
static void widen(const struct onnx_tensor *t, const uint8_t *from, size_t size, uint8_t *to)
{
    for (uint64_t i = 0; i < t->count; i++) {
        double real = 0;
        float single;
        uint64_t bits = tdl_kit_file_bits(from + i * size, size);

        if (t->type == ONNX_DOUBLE) {
            memcpy(&real, &bits, sizeof(real));
            single = (float)real;
            memcpy(to + 4 * i, &single, 4);
            continue;
        }
        if (t->type == ONNX_BFLOAT16)
            bits <<= 16;
        else if (t->type == ONNX_INT16)
            bits = (uint64_t)(int64_t)(int16_t)bits;
        tdl_kit_put_bits(to + 4 * i, bits, 4);
    }
}

/* Bytes of raw_data as they are, aligned for what reads them: moved over the end
 * of their own header where the memory is ours, else copied. */
static const void *align(struct onnx_import *im, const struct onnx_tensor *t)
{
    const uint8_t *data = t->raw.data;
    const size_t element = tdl_dtype_size(t->desc.dtype);
    const size_t size = t->raw.size, wanted = element > 4 ? 8 : 4;
    const size_t shift = (uintptr_t)data % wanted;
    void *copy;

    if (TDL_KIT_SWAPS && element > 1) {
        copy = tdl_kit_make(&im->kit, size);
        if (copy)
            tdl_kit_from_file(copy, data, t->count, element);
        return copy;
    }
    if (shift == 0)
        return data;
    /* The tag and a length of two bytes or more stand before. */
    if (t->movable && im->kit.source->writable && !t->external && wanted == 4 && size >= 128) {
        uint8_t *place =
            (uint8_t *)im->kit.source->data + (data - (const uint8_t *)im->kit.source->data);

        return memmove(place - shift, place, size);
    }
    copy = tdl_kit_make(&im->kit, size);
    return copy ? memcpy(copy, data, size) : NULL;
}

const void *onnx_tensor_data(struct onnx_import *im, const struct onnx_tensor *t)
{
    const size_t in_file = types[find_type(t->type)].size;
    const size_t element = tdl_dtype_size(t->desc.dtype);
    struct onnx_tensor found;
    char text[64];
    void *to;

    if (t->external) {
        found = *t;
        t = &found;
        if (!onnx_read_external(im, t->count * in_file, &found))
            return NULL;
    }
    if (t->raw.data && t->raw.size != t->count * in_file) {
        tdl_kit_damaged(&im->kit,
                        "the model file is damaged: the tensor '%s' has %zu bytes instead of %llu",
                        tdl_pb_text(&t->name, text, sizeof(text)), t->raw.size,
                        (unsigned long long)(t->count * in_file));
        return NULL;
    }
    if (t->raw.data && in_file == element && t->type != ONNX_DOUBLE)
        return align(im, t);
    if (!t->raw.data && t->count > t->message.size) { /* a byte a number at least */
        tdl_kit_damaged(&im->kit, "the model file is damaged: the tensor '%s' has too few numbers",
                        tdl_pb_text(&t->name, text, sizeof(text)));
        return NULL;
    }
    to = tdl_kit_make(&im->kit, t->count * element);
    if (to && t->raw.data) {
        widen(t, t->raw.data, in_file, to);
    } else if (to) {
        struct lists l = {.to = to, .count = t->count, .element = element, .type = t->type};

        if (!take_lists(t, &l) || l.filled != t->count) {
            tdl_kit_damaged(
                &im->kit,
                "the model file is damaged: the tensor '%s' has %zu numbers instead of %llu",
                tdl_pb_text(&t->name, text, sizeof(text)), l.filled, (unsigned long long)t->count);
            return NULL;
        }
    }
    return to;
}

struct tdl_operand *onnx_tensor_operand(struct onnx_import *im, const struct onnx_tensor *t)
{
    return onnx_tensor_operand_of(im, t, onnx_tensor_data(im, t));
}

struct tdl_operand *onnx_tensor_operand_of(struct onnx_import *im, const struct onnx_tensor *t,
                                           const void *data)
{
    struct tdl_operand *o =
        data ? tdl_builder_constant(im->builder, &t->desc, data, tdl_tensor_params_size(&t->desc))
             : NULL;

    if (!o || t->desc.dtype != TDL_FLOAT16)
        return o;
    o = tdl_builder_cast(im->builder, o, TDL_FLOAT32);
    if (o && t->count <= MAX_EVALUATED) /* larger ones stay halves until they are used */
        tdl_builder_evaluate(im->builder, o);
    return o;
}
