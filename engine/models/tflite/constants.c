/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Operands of the constants of a TensorFlow Lite file.
 *
 * Quantized tensors stand for real values, scale · (number − zero point), and
 * are float32 operands: large constants of 8 bits and less are handed to the builder
 * as they are, others are computed once, for all operators that read the same bytes
 * by the same scales.
 */
#include "tflite.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Budget for constants that are made, in sizes of the file: int8 weights four times, and
 * once more for depthwise convolutions; twice that where there is int4. */
#define MADE_TIMES 8
#define SPARSE_TIMES 8 /* one of a dozen numbers is there */

/* Different constants have different bytes, but nothing in the format says
 * so; and the same ones can be read in many shapes. */
static bool spend(struct tflite_import *im, uint64_t bytes)
{
    const int times = MADE_TIMES * (im->has_sparse ? SPARSE_TIMES : im->has_int4 ? 2 : 1);

    im->made_bytes += bytes;
    return im->made_bytes <= (uint64_t)times * im->fb.size ||
           tdl_kit_damaged(
               &im->kit,
               "the model file is damaged: its constants overlap, and together are more "
               "than %d times the file",
               times);
}

void *tflite_make(struct tflite_import *im, const struct tflite_made *key, bool *out_found)
{
    const uint64_t *found = tdl_map_find(&im->made, key, sizeof(*key));
    void *memory;

    im->has_int4 |= key->type == TFLITE_INT4;
    *out_found = found != NULL;
    if (found)
        return (void *)(uintptr_t)*found;
    if (!spend(im, key->bytes))
        return NULL;
    memory = malloc(key->bytes);
    if (memory)
        tdl_builder_own(im->builder, memory, free);
    if (!memory || !tdl_map_add(&im->made, key, sizeof(*key), (uintptr_t)memory)) {
        tdl_kit_fail(&im->kit, TDL_ERROR_OUT_OF_MEMORY, "no memory for a constant of %llu bytes",
                     (unsigned long long)key->bytes);
        return NULL;
    }
    return memory;
}

/* With its sign. */
static int64_t integer_at(const struct tflite_tensor *tensor, uint64_t i)
{
    if (tensor->type == TFLITE_INT4) {
        const int half = tensor->data[i / 2] >> (i % 2 * 4) & 15;

        return half < 8 ? half : half - 16;
    }
    const uint32_t size = tflite_type_size(tensor->type);
    uint64_t bits = tdl_kit_bits(tensor->data + i * size, size);
    int64_t value;

    if (tensor->type != TFLITE_UINT8 && tensor->type != TFLITE_UINT32 &&
        tensor->type != TFLITE_BOOL && size < 8 && bits >> (8 * size - 1))
        bits |= ~UINT64_C(0) << (8 * size);
    memcpy(&value, &bits, sizeof(value));
    return value;
}

bool tflite_integers(const struct tflite_tensor *constant, int64_t *out)
{
    if (constant->type == TFLITE_FLOAT32 || constant->type == TFLITE_FLOAT16)
        return false;
    for (uint64_t i = 0; i < constant->elements; i++)
        out[i] = integer_at(constant, i);
    return true;
}

/* Elements that follow each other and have one scale. */
static uint64_t run_of_scale(const struct tflite_tensor *t)
{
    uint64_t inner = 1;

    if (t->scales.count == 1)
        return t->elements;
    for (uint32_t i = t->axis + 1; i < t->rank; i++)
        inner *= t->shape[i];
    return inner;
}

/* scale · (number − zero point), by the scales along one dimension. */
static bool compute_reals(struct tflite_import *im, const struct tflite_tensor *t, float *out)
{
    const uint32_t scales = t->scales.count;
    const uint64_t inner = run_of_scale(t);

    for (uint32_t s = 0; s < scales; s++) {
        const float scale = tdl_fb_vector_f32(&im->fb, &t->scales, s);
        const uint32_t z = t->zeros.count > 1 ? s : 0;
        const int64_t zero = t->zeros.count ? tdl_fb_vector_i64(&im->fb, &t->zeros, z) : 0;

        if (!isfinite(scale))
            return tdl_kit_damaged(
                &im->kit,
                "the model file is damaged: tensor '%.80s' has a scale that is no "
                "number",
                t->name);
        for (uint64_t run = s * inner; run < t->elements; run += scales * inner)
            for (uint64_t i = run; i < run + inner; i++)
                out[i] = scale * ((float)integer_at(t, i) - (float)zero);
    }
    return tflite_check(im);
}

/* In memory that the builder owns. */
static bool dequantize(struct tflite_import *im, struct tflite_tensor *t)
{
    const struct tflite_made key = {
        .from = (uintptr_t)t->data,
        .size = t->data_size,
        .bytes = t->elements * sizeof(float),
        .kind = TFLITE_MADE_REAL,
        .type = t->type,
        .channels = t->scales.count,
        .inner = run_of_scale(t),
        .scales = t->scales.pos,
        .zeros = t->zeros.pos,
    };
    bool found;
    float *reals = tflite_make(im, &key, &found);

    if (!reals || (!found && !compute_reals(im, t, reals)))
        return false;
    t->type = TFLITE_FLOAT32;
    t->data = (const uint8_t *)reals;
    t->data_size = key.bytes;
    t->scales.count = t->zeros.count = 0;
    return true;
}

/* ---------------------------------------------------------- as they are */

static int64_t zero_at(struct tflite_import *im, const struct tflite_tensor *t, uint32_t i)
{
    return t->zeros.count ? tdl_fb_vector_i64(&im->fb, &t->zeros, t->zeros.count > 1 ? i : 0) : 0;
}

/* Weights that the builder keeps in 8 bits. */
static bool stays_small(struct tflite_import *im, const struct tflite_tensor *t)
{
    enum { LEAST = 4096 };
    const int64_t least = t->type == TFLITE_UINT8 ? 0 : -128;

    if ((t->type != TFLITE_INT8 && t->type != TFLITE_UINT8 && t->type != TFLITE_INT4) ||
        !tflite_is_quantized(t) || t->elements <= LEAST)
        return false;
    for (uint32_t i = 0; i < t->scales.count; i++)
        if (!isfinite(tdl_fb_vector_f32(&im->fb, &t->scales, i)) || zero_at(im, t, i) < least ||
            zero_at(im, t, i) > least + 255)
            return false;
    return true;
}

/* A byte each. */
static bool unpack(struct tflite_import *im, struct tflite_tensor *t)
{
    const struct tflite_made key = {.from = (uintptr_t)t->data,
                                    .size = t->data_size,
                                    .bytes = t->elements,
                                    .kind = TFLITE_MADE_BYTES,
                                    .type = t->type};
    bool found;
    uint8_t *bytes = tflite_make(im, &key, &found);

    for (uint64_t i = 0; i < t->elements && bytes && !found; i++)
        bytes[i] = (uint8_t)integer_at(t, i);
    t->data = bytes;
    t->data_size = t->elements;
    t->type = TFLITE_INT8;
    return bytes != NULL;
}

bool tflite_get_weights(struct tflite_import *im, int32_t index, struct tflite_tensor *out)
{
    if (!tflite_get_constant(im, index, out))
        return false;
    if (!tflite_is_quantized(out))
        return true;
    if (!stays_small(im, out))
        return dequantize(im, out);
    return out->type != TFLITE_INT4 || unpack(im, out);
}

/* The scales, or the zero points (NULL: all are 0), along their dimension. */
static struct tdl_operand *factors(struct tflite_import *im, const struct tflite_tensor *t,
                                   enum tdl_dtype dtype)
{
    const bool scales = dtype == TDL_FLOAT32;
    const uint32_t count = scales ? t->scales.count : t->zeros.count;
    const struct tflite_made key = {.from = scales ? t->scales.pos : t->zeros.pos,
                                    .bytes = (uint64_t)count * sizeof(float),
                                    .kind = TFLITE_MADE_FACTORS,
                                    .type = dtype};
    struct tdl_tensor_params desc = {.dtype = dtype, .rank = count > 1 ? t->rank : 0};
    bool found;
    uint8_t *memory = tflite_make(im, &key, &found);

    for (uint32_t i = 0; i < count && memory && !found; i++) {
        const float scale = scales ? tdl_fb_vector_f32(&im->fb, &t->scales, i) : 0;

        if (scales)
            memcpy(memory + i * sizeof(scale), &scale, sizeof(scale));
        else
            memory[i] = (uint8_t)zero_at(im, t, i);
    }
    for (uint32_t i = 0; i < desc.rank; i++)
        desc.shape[i] = i == t->axis ? count : 1;
    return memory ? tdl_builder_constant(im->builder, &desc, memory, tdl_tensor_params_size(&desc))
                  : NULL;
}

/* Makes a constant of the numbers as they lie there: once, however many tensors are the
 * same constant. */
static struct tdl_operand *scaled(struct tflite_import *im, const struct tflite_tensor *t,
                                  struct tdl_operand *numbers)
{
    const struct tflite_made key = {.from = (uintptr_t)numbers,
                                    .kind = TFLITE_MADE_SCALED,
                                    .scales = t->scales.pos,
                                    .zeros = t->zeros.pos,
                                    .channels = t->axis};
    const uint64_t *found = tdl_map_find(&im->made, &key, sizeof(key));
    struct tdl_operand *scale, *zero = NULL, *real;

    if (found)
        return (struct tdl_operand *)(uintptr_t)*found;
    if (!spend(im, t->elements * sizeof(float)) || !(scale = factors(im, t, TDL_FLOAT32)) ||
        (t->zeros.count && !(zero = factors(im, t, tdl_kit_desc(numbers)->dtype))))
        return NULL;
    real = tdl_builder_dequantize_linear(im->builder, numbers, scale, zero);
    if (real && !tdl_map_add(&im->made, &key, sizeof(key), (uintptr_t)real)) {
        tdl_kit_fail_memory(&im->kit);
        return NULL;
    }
    return real;
}

/* Kernels read constants through typed pointers. Converters align them; the
 * odd one out, or a file mapped at an odd address, is copied. */
static const void *aligned_data(struct tflite_import *im, const struct tflite_tensor *constant)
{
    const struct tflite_made key = {.from = (uintptr_t)constant->data,
                                    .size = constant->data_size,
                                    .bytes = constant->data_size,
                                    .kind = TFLITE_MADE_ALIGNED};
    const uint32_t size = tflite_type_size(constant->type);
    void *copy;
    bool found;

    if ((uintptr_t)constant->data % (size < 4 ? 4 : size) == 0)
        return constant->data;
    copy = tflite_make(im, &key, &found);
    if (copy && !found)
        memcpy(copy, constant->data, constant->data_size);
    return copy;
}

/* As float32: once, however many tensors are the same constant. */
static struct tdl_operand *widen(struct tflite_import *im, struct tdl_operand *half)
{
    const struct tflite_made key = {.from = (uintptr_t)half, .kind = TFLITE_MADE_WIDE};
    const uint64_t *found = tdl_map_find(&im->made, &key, sizeof(key));
    struct tdl_operand *wide;

    if (found)
        return (struct tdl_operand *)(uintptr_t)*found;
    wide = tdl_builder_cast(im->builder, half, TDL_FLOAT32);
    if (wide && !tdl_map_add(&im->made, &key, sizeof(key), (uintptr_t)wide)) {
        tdl_kit_fail_memory(&im->kit);
        return NULL;
    }
    return wide;
}

struct tdl_operand *tflite_constant_operand(struct tflite_import *im,
                                            const struct tflite_tensor *constant)
{
    const bool half = constant->type == TFLITE_FLOAT16, small = tflite_is_quantized(constant);
    const void *data = aligned_data(im, constant);
    struct tdl_tensor_params desc = {.rank = constant->rank};
    struct tdl_operand *operand;

    if (!data)
        return NULL;
    tflite_dtype(constant, &desc.dtype);
    if (half)
        desc.dtype = TDL_FLOAT16;
    else if (small)
        desc.dtype = constant->type == TFLITE_INT8 ? TDL_INT8 : TDL_UINT8;
    memcpy(desc.shape, constant->shape, sizeof(desc.shape));
    operand = tdl_builder_constant(im->builder, &desc, data, constant->data_size);
    if (operand && small)
        return scaled(im, constant, operand);
    return operand && half ? widen(im, operand) : operand;
}

bool tflite_get_known(struct tflite_import *im, int32_t index, struct tflite_known *out)
{
    struct tflite_tensor tensor;
    struct tflite_value *value;

    if (index < 0 || (uint32_t)index >= im->tensors.count || !tflite_get_tensor(im, index, &tensor))
        return false;
    value = &im->values[index];
    if (value->source || (tensor.type != TFLITE_INT32 && tensor.type != TFLITE_INT64))
        return false;
    if (value->operand)
        return tdl_kit_elements(value->operand) <= TFLITE_MAX_KNOWN &&
               tdl_kit_is_known(&im->kit, value->operand) &&
               tdl_kit_ints(&im->kit, value->operand, "a list", out->numbers, TFLITE_MAX_KNOWN,
                            &out->count);
    if (!tensor.data || tensor.elements > TFLITE_MAX_KNOWN ||
        !tflite_get_constant(im, index, &tensor))
        return false;
    out->count = (uint32_t)tensor.elements;
    return tflite_integers(&tensor, out->numbers);
}

struct tdl_operand *tflite_operand(struct tflite_import *im, int32_t index)
{
    struct tflite_tensor tensor;
    struct tflite_value *value;
    enum tdl_dtype dtype;

    if (!tflite_get_tensor(im, index, &tensor))
        return NULL;
    value = &im->values[index];
    if (value->operand)
        return value->operand;
    if (!value->source && !tensor.data) {
        tdl_kit_damaged(&im->kit,
                        "the model file is damaged: tensor %d '%.80s' is read before an operator "
                        "writes it",
                        index, tensor.name);
        return NULL;
    }
    if (!tflite_dtype(&tensor, &dtype)) {
        tflite_fail_type(im, index, &tensor);
        return NULL;
    }
    if (tflite_get_weights(im, index, &tensor))
        value->operand = tflite_constant_operand(im, &tensor);
    return value->operand;
}
