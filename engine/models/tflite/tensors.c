/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The tensors of a TensorFlow Lite file: what it says about them, and the bytes
 * of constants. */
#include "tflite.h"

#include <string.h>

/* Elements of one tensor; more would not fit the 32-bit sizes of kernels. */
#define MAX_ELEMENTS (UINT64_C(1) << 30)

/* ----------------------------------------------------------------- errors */

bool tflite_check(struct tflite_import *im)
{
    if (!im->fb.error)
        return true;
    return tdl_kit_damaged(
        &im->kit, "the model file is damaged: %s (byte %llu of %llu); get the file again",
        im->fb.error, (unsigned long long)im->fb.error_pos, (unsigned long long)im->fb.size);
}

/* ---------------------------------------------------------------- tensors */

static bool read_shape(struct tflite_import *im, const struct tdl_fb_table *table, int32_t index,
                       struct tflite_tensor *out)
{
    const struct tdl_fb_vector shape = tdl_fb_vector_of(&im->fb, table, TFLITE_TENSOR_SHAPE, 4);

    const struct tdl_fb_vector signature =
        tdl_fb_vector_of(&im->fb, table, TFLITE_TENSOR_SHAPE_SIGNATURE, 4);

    if (!tflite_check(im))
        return false;
    if (shape.count > TDL_MAX_RANK)
        return tdl_kit_lacks(&im->kit, "tensor %d '%.80s' has %u dimensions; libtdl takes up to %u",
                             index, out->name, shape.count, TDL_MAX_RANK);
    out->rank = shape.count;
    out->elements = 1;
    for (uint32_t i = 0; i < shape.count; i++) {
        const int32_t size = tdl_fb_vector_i32(&im->fb, &shape, i);

        if (size < 1)
            return tdl_kit_refuse(
                &im->kit,
                "tensor %d '%.80s' has size %d in dimension %u; convert the model "
                "with fixed shapes",
                index, out->name, size, i);
        out->shape[i] = (uint32_t)size;
        if (signature.count == shape.count)
            out->open[i] = tdl_fb_vector_i32(&im->fb, &signature, i) < 0;
        out->elements *= (uint32_t)size; /* ≤ 2^30 · 2^31 */
        if (out->elements > MAX_ELEMENTS)
            return tdl_kit_lacks(&im->kit, "tensor %d '%.80s' has more than 2^30 elements", index,
                                 out->name);
    }
    return tflite_check(im);
}

/* Scales that fit the tensor, or none. */
static bool read_quantization(struct tflite_import *im, const struct tdl_fb_table *table,
                              int32_t index, struct tflite_tensor *out)
{
    const struct tdl_fb_table q = tdl_fb_sub_table(&im->fb, table, TFLITE_TENSOR_QUANTISATION);
    const uint8_t details = tdl_fb_u8(&im->fb, &q, TFLITE_QUANTISATION_DETAILS_TYPE, 0);
    const int32_t axis = tdl_fb_i32(&im->fb, &q, TFLITE_QUANTISATION_DIMENSION, 0);

    if (out->type == TFLITE_FLOAT32 || out->type == TFLITE_FLOAT16) /* what it was once */
        return tflite_check(im);
    out->scales = tdl_fb_vector_of(&im->fb, &q, TFLITE_QUANTISATION_SCALE, 4);
    out->zeros = tdl_fb_vector_of(&im->fb, &q, TFLITE_QUANTISATION_ZERO_POINT, 8);
    if (!tflite_check(im))
        return false;
    if (out->scales.count == 0 && details == 0)
        return true;
    if (details != 0)
        return tdl_kit_refuse(
            &im->kit,
            "tensor %d '%.80s' is quantized in a way of its own (%u); convert the "
            "model with scales and zero points",
            index, out->name, details);
    out->axis = (uint32_t)axis;
    if (out->scales.count > 1 &&
        (axis < 0 || out->axis >= out->rank || out->shape[out->axis] != out->scales.count))
        return tdl_kit_damaged(&im->kit,
                               "the model file is damaged: tensor %d '%.80s' has %u scales along "
                               "dimension %d",
                               index, out->name, out->scales.count, axis);
    if (out->zeros.count > 1 && out->zeros.count != out->scales.count)
        return tdl_kit_damaged(
            &im->kit,
            "the model file is damaged: tensor %d '%.80s' has %u scales and %u zero "
            "points",
            index, out->name, out->scales.count, out->zeros.count);
    return true;
}

/* The bytes of a constant: inside the Buffer table, or (schema 3c) further
 * behind in the file. */
static bool read_buffer(struct tflite_import *im, const struct tdl_fb_table *tensor, int32_t index,
                        struct tflite_tensor *out)
{
    const uint32_t number = (uint32_t)tdl_fb_i32(&im->fb, tensor, TFLITE_TENSOR_BUFFER, 0);
    struct tdl_fb_table buffer;
    struct tdl_fb_vector data;
    uint64_t offset, size;

    if (number == 0) /* by convention the empty one */
        return tflite_check(im);
    buffer = tdl_fb_vector_table(&im->fb, &im->buffers, number);
    data = tdl_fb_vector_of(&im->fb, &buffer, TFLITE_BUFFER_DATA, 1);
    offset = tdl_fb_u64(&im->fb, &buffer, TFLITE_BUFFER_OFFSET, 0);
    size = tdl_fb_u64(&im->fb, &buffer, TFLITE_BUFFER_SIZE, 0);
    if (!tflite_check(im))
        return false;
    if (data.count > 0) {
        out->data = im->fb.data + data.pos;
        out->data_size = data.count;
    } else if (offset > 1) { /* 0 and 1 mean none */
        if (offset > im->fb.size || size > im->fb.size - offset)
            return tdl_kit_damaged(&im->kit,
                                   "the model file is damaged: the data of tensor %d '%.80s' lie "
                                   "outside the file",
                                   index, out->name);
        out->data = size > 0 ? im->fb.data + offset : NULL;
        out->data_size = size;
    }
    return true;
}

bool tflite_get_tensor(struct tflite_import *im, int32_t index, struct tflite_tensor *out)
{
    struct tdl_fb_table table;
    const char *name;

    memset(out, 0, sizeof(*out));
    if (index < 0 || (uint32_t)index >= im->tensors.count)
        return tdl_kit_damaged(&im->kit, "there is no tensor %d, only %u", index,
                               im->tensors.count);
    table = tdl_fb_vector_table(&im->fb, &im->tensors, (uint32_t)index);
    name = tdl_fb_string(&im->fb, &table, TFLITE_TENSOR_NAME);
    out->name = name ? name : "";
    out->type = tdl_fb_u8(&im->fb, &table, TFLITE_TENSOR_TYPE, TFLITE_FLOAT32);
    if (!read_shape(im, &table, index, out))
        return false;
    if (tdl_fb_u8(&im->fb, &table, TFLITE_TENSOR_IS_VARIABLE, 0))
        return tdl_kit_refuse(
            &im->kit,
            "tensor %d '%.80s' is a variable kept between runs; convert the model "
            "with its state as inputs and outputs",
            index, out->name);
    out->sparse = tdl_fb_has(&im->fb, &table, TFLITE_TENSOR_SPARSITY);
    if (!read_quantization(im, &table, index, out) || !read_buffer(im, &table, index, out))
        return false;
    return !out->sparse || out->data ||
           tdl_kit_refuse(&im->kit,
                          "tensor %d '%.80s' is sparse and computed; convert the model with dense "
                          "ones, but for weights",
                          index, out->name);
}

bool tflite_fail_type(struct tflite_import *im, int32_t index, const struct tflite_tensor *tensor)
{
    return tdl_kit_refuse(
        &im->kit,
        "tensor %d '%.80s' is %s; libtdl takes float32, integers as they are or with "
        "scales, and weights of float16 and int4: convert the model to one of these",
        index, tensor->name, tflite_type_name(tensor->type));
}

uint32_t tflite_type_size(uint8_t type)
{
    switch (type) {
    case TFLITE_INT64:
        return 8;
    case TFLITE_FLOAT32:
    case TFLITE_INT32:
    case TFLITE_UINT32:
        return 4;
    case TFLITE_FLOAT16:
    case TFLITE_INT16:
        return 2;
    case TFLITE_INT4: /* and another one */
    case TFLITE_INT8:
    case TFLITE_UINT8:
    case TFLITE_BOOL:
        return 1;
    default:
        return 0;
    }
}

bool tflite_is_quantized(const struct tflite_tensor *tensor)
{
    if (tensor->scales.count == 0)
        return false;
    switch (tensor->type) {
    case TFLITE_INT8:
    case TFLITE_UINT8:
    case TFLITE_INT16:
        return true;
    case TFLITE_INT4:  /* weights */
    case TFLITE_INT32: /* biases; what is computed, such as shapes, stays as it is */
    case TFLITE_INT64:
        return tensor->data != NULL;
    default:
        return false;
    }
}

bool tflite_dtype(const struct tflite_tensor *tensor, enum tdl_dtype *out)
{
    static const struct {
        uint8_t type;
        enum tdl_dtype dtype;
    } types[] = {{TFLITE_FLOAT32, TDL_FLOAT32}, {TFLITE_INT32, TDL_INT32},
                 {TFLITE_UINT8, TDL_UINT8},     {TFLITE_INT64, TDL_INT64},
                 {TFLITE_BOOL, TDL_UINT8},      {TFLITE_INT8, TDL_INT8},
                 {TFLITE_UINT32, TDL_UINT32}};

    *out = TDL_FLOAT32;
    if (tflite_is_quantized(tensor))
        return true;
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        *out = types[i].dtype;
        if (types[i].type == tensor->type)
            return true;
    }
    return false;
}

static bool densify(struct tflite_import *im, int32_t index, struct tflite_tensor *t)
{
    const struct tdl_fb_table table = tdl_fb_vector_table(&im->fb, &im->tensors, (uint32_t)index);
    const struct tdl_fb_table sparsity = tdl_fb_sub_table(&im->fb, &table, TFLITE_TENSOR_SPARSITY);

    t->sparse = false;
    return tflite_check(im) && tflite_densify(im, &sparsity, t);
}

/* The numbers as this machine has them. */
static bool turn(struct tflite_import *im, struct tflite_tensor *t)
{
    const size_t size = tflite_type_size(t->type);
    const struct tflite_made key = {.from = (uintptr_t)t->data,
                                    .size = t->data_size,
                                    .bytes = t->data_size,
                                    .kind = TFLITE_MADE_NATIVE,
                                    .type = t->type};
    bool found;
    void *memory = tflite_make(im, &key, &found);

    if (memory && !found)
        tdl_kit_from_file(memory, t->data, t->data_size / size, size);
    t->data = memory;
    return memory != NULL;
}

bool tflite_get_constant(struct tflite_import *im, int32_t index, struct tflite_tensor *out)
{
    if (index >= 0 && (uint32_t)index < im->tensors.count && im->values[index].source)
        index = im->values[index].source - 1;
    if (!tflite_get_tensor(im, index, out))
        return false;
    if (!out->data)
        return tdl_kit_lacks(&im->kit, "tensor %d '%.80s' must be constant and is computed", index,
                             out->name);
    if (tflite_type_size(out->type) == 0)
        return tflite_fail_type(im, index, out);
    if (out->sparse && !densify(im, index, out))
        return false;
    const uint64_t needed = out->type == TFLITE_INT4 ? (out->elements + 1) / 2
                                                     : out->elements * tflite_type_size(out->type);
    if (out->data_size != needed)
        return tdl_kit_damaged(
            &im->kit,
            "the model file is damaged: tensor %d '%.80s' has %llu bytes of data "
            "and needs %llu",
            index, out->name, (unsigned long long)out->data_size, (unsigned long long)needed);
    return !TDL_KIT_SWAPS || tflite_type_size(out->type) == 1 || turn(im, out);
}
