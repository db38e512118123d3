/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Attributes of nodes, as TensorFlow's protobuf has them in JSON. */
#include "tfjs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static json_t *attribute(const struct tfjs_import *im, const char *name, const char *kind)
{
    json_t *a = json_object_get(json_object_get(im->node->json, "attr"), name);

    return json_object_get(a, kind);
}

bool tfjs_json_int(const json_t *json, int64_t *out)
{
    const char *text = json_string_value(json);
    char *end;

    if (json_is_integer(json)) {
        *out = json_integer_value(json);
        return true;
    }
    if (!text || !*text)
        return false;
    errno = 0;
    *out = strtoll(text, &end, 10);
    return *end == '\0' && errno == 0;
}

int64_t tfjs_int(const struct tfjs_import *im, const char *name, int64_t fallback)
{
    int64_t value;

    return tfjs_json_int(attribute(im, name, "i"), &value) ? value : fallback;
}

double tfjs_float(const struct tfjs_import *im, const char *name, double fallback)
{
    const json_t *f = attribute(im, name, "f");

    return json_is_number(f) ? json_number_value(f) : fallback;
}

bool tfjs_bool(const struct tfjs_import *im, const char *name)
{
    return json_is_true(attribute(im, name, "b"));
}

static int digit_of(char c)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *place = c ? strchr(digits, c) : NULL;

    return place ? (int)(place - digits) : -1;
}

/* Protobuf's bytes are base64 in JSON; some writers have a list of characters. */
static const char *decode(const json_t *json, char *text, size_t size)
{
    const char *s = json_string_value(json);
    size_t used = 0, i;
    uint32_t bits = 0;
    int digit;

    for (i = 0; json_is_array(json) && i < json_array_size(json) && used + 1 < size; i++)
        text[used++] = (char)json_integer_value(json_array_get(json, i));
    for (i = 0; s && (digit = digit_of(s[i])) >= 0 && used + 1 < size; i++) {
        bits = bits << 6 | (uint32_t)digit;
        if (i % 4 != 0)
            text[used++] = (char)(bits >> (6 - 2 * (i % 4)) & 0xff);
    }
    text[used] = '\0';
    return text;
}

const char *tfjs_string(const struct tfjs_import *im, const char *name, char *text, size_t size)
{
    return decode(attribute(im, name, "s"), text, size);
}

const char *tfjs_string_of(const struct tfjs_import *im, const char *name, size_t i, char *text,
                           size_t size)
{
    const json_t *list = json_object_get(attribute(im, name, "list"), "s");

    return decode(json_array_get(list, i), text, size);
}

bool tfjs_int_list(struct tfjs_import *im, const char *name, int64_t *list, uint32_t capacity,
                   uint32_t *out_count)
{
    const json_t *numbers = json_object_get(attribute(im, name, "list"), "i");
    const size_t count = json_array_size(numbers);

    *out_count = 0;
    if (count > capacity)
        return tdl_kit_damaged(&im->kit, "%s has %zu numbers; there are up to %u", name, count,
                               capacity);
    for (size_t i = 0; i < count; i++)
        if (!tfjs_json_int(json_array_get(numbers, i), &list[i]))
            return tdl_kit_damaged(&im->kit, "%s is no list of integers", name);
    *out_count = (uint32_t)count;
    return true;
}

/* ------------------------------------------------------------------- types */

/* TensorFlow.js computes in float32, int32 and bool. By name, and by protobuf's number. */
static const struct {
    const char *name;
    int64_t number;
    enum tdl_dtype dtype;
} types[] = {
    {"DT_FLOAT", 1, TDL_FLOAT32}, {"DT_DOUBLE", 2, TDL_FLOAT32}, {"DT_INT32", 3, TDL_INT32},
    {"DT_UINT8", 4, TDL_INT32},   {"DT_INT16", 5, TDL_INT32},    {"DT_INT8", 6, TDL_INT32},
    {"DT_INT64", 9, TDL_INT32},   {"DT_BOOL", 10, TDL_UINT8},    {"DT_HALF", 19, TDL_FLOAT32},
};

bool tfjs_dtype(struct tfjs_import *im, json_t *type, enum tdl_dtype *out)
{
    const char *name = json_string_value(type);

    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
        if (name ? !strcmp(name, types[i].name)
                 : json_is_integer(type) && json_integer_value(type) == types[i].number) {
            *out = types[i].dtype;
            return true;
        }
    return tdl_kit_lacks(&im->kit,
                         "a tensor of type %.40s is not supported; libtdl takes floats, "
                         "integers and bool",
                         name ? name : "unknown");
}

bool tfjs_dtype_of(struct tfjs_import *im, const char *name, enum tdl_dtype *out)
{
    return tfjs_dtype(im, attribute(im, name, "type"), out);
}
