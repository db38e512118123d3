/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The weights of TensorFlow.js models: a manifest of tensors, which lie one behind the
 * other in files (shards) beside the model's own. */
#include "shape.h"
#include "tfjs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAX_ELEMENTS (UINT64_C(1) << 30)

static bool is_dtype(const json_t *spec, const char *dtype)
{
    const char *text = json_string_value(json_object_get(spec, "dtype"));

    return text && !strcmp(text, dtype);
}

static bool read_type(struct tfjs_import *im, json_t *spec, struct tfjs_weight *w)
{
    const char *dtype = json_string_value(json_object_get(spec, "dtype"));

    if (is_dtype(spec, "float32") || is_dtype(spec, "float16")) {
        w->dtype = TDL_FLOAT32;
        w->halves = is_dtype(spec, "float16");
        w->stored = w->halves ? 2 : 4;
    } else if (is_dtype(spec, "int32")) {
        w->dtype = TDL_INT32;
        w->stored = 4;
    } else if (is_dtype(spec, "bool") || is_dtype(spec, "uint8")) {
        w->dtype = is_dtype(spec, "bool") ? TDL_UINT8 : TDL_INT32;
        w->stored = 1;
    } else {
        return tdl_kit_lacks(&im->kit,
                             "the weights '%.200s' are of type %.40s; libtdl takes float32, "
                             "float16, int32, uint8 and bool",
                             w->name, dtype ? dtype : "unknown");
    }
    return true;
}

/* Weights that the converter made smaller: halves, or numbers with a scale. */
static bool read_quantization(struct tfjs_import *im, json_t *spec, struct tfjs_weight *w)
{
    json_t *q = json_object_get(spec, "quantization");
    const json_t *scale = json_object_get(q, "scale"), *min = json_object_get(q, "min");

    if (!q)
        return true;
    if (is_dtype(q, "float16") && w->dtype == TDL_FLOAT32) {
        w->halves = true;
        w->stored = 2;
        return true;
    }
    w->affine = true;
    w->halves = false;
    w->stored = is_dtype(q, "uint16") ? 2 : 1;
    w->scale = json_number_value(scale);
    w->min = json_number_value(min);
    if ((is_dtype(q, "uint8") || is_dtype(q, "uint16")) && json_is_number(scale) &&
        json_is_number(min) && w->dtype != TDL_UINT8)
        return true;
    return tdl_kit_lacks(&im->kit,
                         "the weights '%.200s' are quantized in a way that libtdl does not know; "
                         "it takes float16, and uint8 and uint16 with scale and min",
                         w->name);
}

static bool read_shape(struct tfjs_import *im, json_t *spec, struct tfjs_weight *w)
{
    json_t *shape = json_object_get(spec, "shape");
    const size_t rank = json_array_size(shape);

    if (!json_is_array(shape) || rank > TDL_MAX_RANK)
        return tdl_kit_lacks(&im->kit,
                             "the weights '%.200s' have %zu dimensions; libtdl takes "
                             "up to %d",
                             w->name, rank, TDL_MAX_RANK);
    w->desc = (struct tdl_tensor_params){.dtype = w->dtype, .rank = (uint32_t)rank};
    w->count = 1;
    for (size_t i = 0; i < rank; i++) {
        int64_t size;

        if (!tfjs_json_int(json_array_get(shape, i), &size) || size < 0 ||
            size > (int64_t)MAX_ELEMENTS)
            return tdl_kit_damaged(&im->kit,
                                   "the model file is damaged: the weights '%.200s' "
                                   "have no shape",
                                   w->name);
        w->desc.shape[i] = (uint32_t)size;
        w->count *= (uint64_t)size;
        if (w->count > MAX_ELEMENTS)
            return tdl_kit_damaged(&im->kit,
                                   "the weights '%.200s' have more elements than any "
                                   "model that libtdl reads",
                                   w->name);
    }
    return true;
}

static bool read_spec(struct tfjs_import *im, json_t *spec, struct tfjs_weight *w)
{
    w->name = json_string_value(json_object_get(spec, "name"));
    if (!w->name)
        return tdl_kit_damaged(&im->kit, "the model file is damaged: weights without a name");
    if (json_object_get(im->weight_names, w->name))
        return tdl_kit_damaged(
            &im->kit, "the model file is damaged: the weights '%.200s' come twice", w->name);
    if (json_object_set_new(im->weight_names, w->name, json_integer(im->weight_count)) != 0)
        return tdl_kit_fail_memory(&im->kit);
    im->weight_count++;
    return read_type(im, spec, w) && read_quantization(im, spec, w) && read_shape(im, spec, w);
}

/* --------------------------------------------------------------- the shards */

/* The files of a group as one: where there is just one, it as it is. */
static bool read_shards(struct tfjs_import *im, json_t *paths, const uint8_t **out_data,
                        uint64_t *out_size)
{
    const size_t count = json_array_size(paths);
    uint8_t *whole = NULL;

    *out_data = NULL;
    *out_size = 0;
    for (size_t i = 0; i < count; i++) {
        const char *path = json_string_value(json_array_get(paths, i));
        const void *data;
        size_t size;

        if (!path)
            return tdl_kit_damaged(&im->kit, "the model file is damaged: a file of its weights "
                                             "has no name");
        if (!tdl_model_read_companion(im->builder, im->kit.source, path, &data, &size))
            return false;
        im->kit.file_bytes += size;
        if (count == 1) {
            *out_data = data;
            *out_size = size;
            return true;
        }
        uint8_t *more = realloc(whole, *out_size + size + 1);
        if (!more) {
            free(whole);
            return tdl_kit_fail_memory(&im->kit);
        }
        whole = more;
        memcpy(whole + *out_size, data, size);
        *out_size += size;
    }
    *out_data = whole;
    if (whole)
        tdl_builder_own(im->builder, whole, free);
    return tdl_builder_status(im->builder) == TDL_OK;
}

static bool check_size(struct tfjs_import *im, json_t *paths, uint64_t wanted, uint64_t size)
{
    const char *path = json_string_value(json_array_get(paths, 0));
    const size_t files = json_array_size(paths);

    if (wanted == size)
        return true;
    if (files == 0)
        return tdl_kit_damaged(&im->kit,
                               "the model file is damaged: it names no file for its weights");
    return tdl_kit_damaged(
        &im->kit,
        "the model has %llu bytes of weights, and '%.200s'%s %llu: %s; fetch model and weights "
        "again, from one place",
        (unsigned long long)wanted, path ? path : "",
        files > 1 ? " with the files behind it has" : " has", (unsigned long long)size,
        size < wanted ? "it is cut off, or another model's" : "it is another model's");
}

static bool read_group(struct tfjs_import *im, json_t *group)
{
    json_t *specs = json_object_get(group, "weights"), *paths = json_object_get(group, "paths");
    const uint32_t first = im->weight_count;
    uint64_t size, wanted = 0;
    const uint8_t *data;

    for (size_t i = 0; i < json_array_size(specs); i++) {
        struct tfjs_weight *w = &im->weights[im->weight_count];

        if (!read_spec(im, json_array_get(specs, i), w))
            return false;
        wanted += w->count * w->stored;
    }
    if (!read_shards(im, paths, &data, &size) || !check_size(im, paths, wanted, size))
        return false;
    for (uint32_t i = first; data && i < im->weight_count; i++) {
        im->weights[i].data = data;
        data += im->weights[i].count * im->weights[i].stored;
    }
    return true;
}

bool tfjs_read_weights(struct tfjs_import *im, json_t *manifest)
{
    size_t count = 0;

    for (size_t i = 0; i < json_array_size(manifest); i++)
        count += json_array_size(json_object_get(json_array_get(manifest, i), "weights"));
    im->weights = calloc(count + 1, sizeof(*im->weights));
    im->weight_names = json_object();
    if (!im->weights || !im->weight_names)
        return tdl_kit_fail_memory(&im->kit);
    for (size_t i = 0; i < json_array_size(manifest); i++)
        if (!read_group(im, json_array_get(manifest, i)))
            return false;
    return true;
}

/* ------------------------------------------------------------- their elements */

static double affine(const struct tfjs_weight *w, uint64_t i)
{
    const uint64_t number = tdl_kit_file_bits(w->data + w->stored * i, w->stored);

    return (double)number * w->scale + w->min;
}

static void widen(const struct tfjs_weight *w, void *to)
{
    for (uint64_t i = 0; i < w->count; i++) {
        if (w->affine && w->dtype == TDL_FLOAT32) {
            ((float *)to)[i] = (float)affine(w, i);
        } else if (w->affine) {
            ((int32_t *)to)[i] =
                (int32_t)tdl_double_to_integer(TDL_INT32, floor(affine(w, i) + 0.5));
        } else if (w->halves) {
            ((float *)to)[i] = tdl_half_to_float((uint16_t)tdl_kit_file_bits(w->data + 2 * i, 2));
        } else if (w->dtype == TDL_INT32) {
            ((int32_t *)to)[i] = w->data[i];
        } else {
            ((uint8_t *)to)[i] = w->data[i] != 0;
        }
    }
}

const void *tfjs_weight_data(struct tfjs_import *im, const struct tfjs_weight *w)
{
    const size_t size = w->count * tdl_dtype_size(w->dtype);
    const bool same = !w->affine && !w->halves && w->stored == 4;
    void *to;

    if (w->count == 0)
        return "";
    if (same && !TDL_KIT_SWAPS && (uintptr_t)w->data % 4 == 0)
        return w->data;
    to = tdl_kit_make(&im->kit, size);
    if (to && same)
        tdl_kit_from_file(to, w->data, w->count, w->stored);
    else if (to)
        widen(w, to);
    return to;
}
