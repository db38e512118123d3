/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Attributes of the node that is being added, found when they are asked for. */
#include "onnx.h"

#include <string.h>

bool onnx_attribute(const struct onnx_import *im, const char *name, struct tdl_pb *out)
{
    struct tdl_pb node = im->node.message;
    struct tdl_pb_field f, g;

    while (tdl_pb_next(&node, &f)) {
        struct tdl_pb attribute = f.in;

        if (f.number != ONNX_NODE_ATTRIBUTE)
            continue;
        while (tdl_pb_next(&attribute, &g)) {
            if (g.number == ONNX_ATTRIBUTE_NAME && tdl_pb_is(&g.in, name)) {
                *out = f.in;
                return onnx_resolve_attribute(im, out);
            }
        }
    }
    return false;
}

bool onnx_has(const struct onnx_import *im, const char *name)
{
    struct tdl_pb attribute;

    return onnx_attribute(im, name, &attribute);
}

/* The schema's name of a kind, by the number of the field with its value. */
static const struct {
    uint32_t field, kind;
    const char *name;
} kinds[] = {
    {ONNX_ATTRIBUTE_FLOAT, 1, "a number"},          {ONNX_ATTRIBUTE_INT, 2, "an integer"},
    {ONNX_ATTRIBUTE_STRING, 3, "a text"},           {ONNX_ATTRIBUTE_TENSOR, 4, "a tensor"},
    {ONNX_ATTRIBUTE_GRAPH, 5, "a graph"},           {ONNX_ATTRIBUTE_FLOATS, 6, "a list of numbers"},
    {ONNX_ATTRIBUTE_INTS, 7, "a list of integers"}, {ONNX_ATTRIBUTE_STRINGS, 8, "a list of texts"},
};

/* The attribute, if the node has it and it is of the kind that field `number` has; of
 * another one the builder is in error. Very old files say no kinds. */
static bool attribute_of(const struct onnx_import *im, const char *name, uint32_t number,
                         struct tdl_pb *out)
{
    struct tdl_pb attribute;
    struct tdl_pb_field f;
    uint32_t row = 0;

    if (!onnx_attribute(im, name, out))
        return false;
    while (kinds[row].field != number)
        row++;
    attribute = *out;
    while (tdl_pb_next(&attribute, &f)) {
        if (f.number == ONNX_ATTRIBUTE_KIND && f.value != 0 && f.value != kinds[row].kind) {
            tdl_builder_fail(im->builder, TDL_ERROR_INVALID_MODEL,
                             "the attribute %s is of kind %llu instead of %s", name,
                             (unsigned long long)f.value, kinds[row].name);
            return false;
        }
    }
    return true;
}

/* Field `number` of the attribute; the last, if there are several. A zero may be left
 * out (proto3). */
static bool attribute_field(const struct onnx_import *im, const char *name, uint32_t number,
                            struct tdl_pb_field *out)
{
    struct tdl_pb attribute;
    struct tdl_pb_field f;

    *out = (struct tdl_pb_field){0};
    if (!attribute_of(im, name, number, &attribute))
        return false;
    while (tdl_pb_next(&attribute, &f))
        if (f.number == number)
            *out = f;
    return true;
}

int64_t onnx_int(const struct onnx_import *im, const char *name, int64_t fallback)
{
    struct tdl_pb_field f;

    return attribute_field(im, name, ONNX_ATTRIBUTE_INT, &f) ? (int64_t)f.value : fallback;
}

float onnx_float(const struct onnx_import *im, const char *name, float fallback)
{
    struct tdl_pb_field f;
    uint32_t bits;
    float value;

    if (!attribute_field(im, name, ONNX_ATTRIBUTE_FLOAT, &f))
        return fallback;
    bits = (uint32_t)f.value;
    memcpy(&value, &bits, sizeof(value));
    return value;
}

bool onnx_string(const struct onnx_import *im, const char *name, struct tdl_pb *out)
{
    struct tdl_pb_field f;

    if (!attribute_field(im, name, ONNX_ATTRIBUTE_STRING, &f))
        return false;
    *out = f.in;
    return true;
}

bool onnx_string_is(const struct onnx_import *im, const char *name, const char *value)
{
    struct tdl_pb_field f;

    return attribute_field(im, name, ONNX_ATTRIBUTE_STRING, &f) && tdl_pb_is(&f.in, value);
}

static bool fail_long_list(struct onnx_import *im, const char *name, size_t count,
                           uint32_t capacity)
{
    return tdl_kit_lacks(&im->kit, "the attribute %s has %zu values; libtdl takes up to %u", name,
                         count, capacity);
}

bool onnx_int_list(struct onnx_import *im, const char *name, int64_t *list, uint32_t capacity,
                   uint32_t *out_count)
{
    struct tdl_pb attribute;
    struct tdl_pb_field f;
    size_t count = 0;

    *out_count = 0;
    if (!attribute_of(im, name, ONNX_ATTRIBUTE_INTS, &attribute))
        return tdl_builder_status(im->builder) == TDL_OK;
    while (tdl_pb_next(&attribute, &f))
        if (f.number == ONNX_ATTRIBUTE_INTS && !tdl_pb_varints(&f, list, capacity, &count))
            return onnx_fail_damaged(im, "a list of numbers");
    if (count > capacity)
        return fail_long_list(im, name, count, capacity);
    *out_count = (uint32_t)count;
    return true;
}

bool onnx_steps(struct onnx_import *im, const char *name, uint32_t count, int64_t least,
                uint32_t *out)
{
    int64_t list[ONNX_MOST_STEPS];
    uint32_t got;

    if (!onnx_int_list(im, name, list, count, &got))
        return false;
    if (got && got != count)
        return tdl_kit_damaged(&im->kit, "%u numbers of %s, not %u", got, name, count);
    for (uint32_t i = 0; i < got; i++) {
        if (list[i] < least || list[i] > ONNX_MAX_STEP)
            return tdl_kit_damaged(&im->kit, "%s of %lld", name, (long long)list[i]);
        out[i] = (uint32_t)list[i];
    }
    return true;
}

bool onnx_float_list(struct onnx_import *im, const char *name, float *list, uint32_t capacity,
                     uint32_t *out_count)
{
    struct tdl_pb attribute;
    struct tdl_pb_field f;
    size_t count = 0;

    *out_count = 0;
    if (!attribute_of(im, name, ONNX_ATTRIBUTE_FLOATS, &attribute))
        return tdl_builder_status(im->builder) == TDL_OK;
    while (tdl_pb_next(&attribute, &f))
        if (f.number == ONNX_ATTRIBUTE_FLOATS && !tdl_pb_floats(&f, list, capacity, &count))
            return onnx_fail_damaged(im, "a list of numbers");
    if (count > capacity)
        return fail_long_list(im, name, count, capacity);
    *out_count = (uint32_t)count;
    return true;
}

bool onnx_string_list(struct onnx_import *im, const char *name, struct tdl_pb *list,
                      uint32_t capacity, uint32_t *out_count)
{
    struct tdl_pb attribute;
    struct tdl_pb_field f;
    size_t count = 0;

    *out_count = 0;
    if (!attribute_of(im, name, ONNX_ATTRIBUTE_STRINGS, &attribute))
        return tdl_builder_status(im->builder) == TDL_OK;
    while (tdl_pb_next(&attribute, &f))
        if (f.number == ONNX_ATTRIBUTE_STRINGS && count++ < capacity)
            list[count - 1] = f.in;
    if (count > capacity)
        return fail_long_list(im, name, count, capacity);
    *out_count = (uint32_t)count;
    return true;
}

bool onnx_attribute_tensor(struct onnx_import *im, const char *name, struct onnx_tensor *out)
{
    struct tdl_pb_field f;

    if (!attribute_field(im, name, ONNX_ATTRIBUTE_TENSOR, &f) || !f.in.data)
        return tdl_builder_status(im->builder) == TDL_OK &&
               tdl_kit_damaged(&im->kit, "the attribute %s, a tensor, is missing", name);
    return onnx_tensor_read(im, &f.in, out);
}

enum tdl_kit_same onnx_auto_pad(const struct onnx_import *im)
{
    return onnx_string_is(im, "auto_pad", "SAME_UPPER")   ? TDL_KIT_SAME_UPPER
           : onnx_string_is(im, "auto_pad", "SAME_LOWER") ? TDL_KIT_SAME_LOWER
                                                          : TDL_KIT_AS_GIVEN;
}

bool onnx_ints_of(struct onnx_import *im, const char *attribute, uint32_t i, int64_t *list,
                  uint32_t capacity, uint32_t *out_count)
{
    *out_count = 0;
    if (onnx_given(im, i))
        return onnx_ints(im, i, list, capacity, out_count);
    return onnx_int_list(im, attribute, list, capacity, out_count);
}
