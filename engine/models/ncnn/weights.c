/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The weights of ncnn's models: a file without names, in which the layers' numbers
 * follow each other. Each is read once, so that what is made of them is bounded by
 * the file.
 */
#include "ncnn.h"

#include <stdlib.h>
#include <string.h>

/* Before numbers that may be stored in several ways. */
enum {
    TAG_FLOAT32 = 0,
    TAG_FLOAT32_TOO = 0x0002C056,
    TAG_HALF = 0x01306B47,
    TAG_INT8 = 0x000D4B38,
};
#define TABLE 256 /* values that bytes stand for, where there is another tag */

/* The next bytes, and those up to the next word; NULL with the builder in error. */
static const uint8_t *take(struct ncnn_import *im, uint64_t size)
{
    const uint8_t *bytes = im->bin + im->bin_pos;
    const uint64_t padded = (size + 3) / 4 * 4;

    if (padded > im->bin_size - im->bin_pos)
        return tdl_kit_none(
            &im->kit, TDL_ERROR_INVALID_MODEL,
            "the file of weights ends: %llu bytes are wanted at byte %zu of %zu; is it "
            "another model's?",
            (unsigned long long)size, im->bin_pos, im->bin_size);
    im->bin_pos += padded;
    return bytes;
}

static uint32_t word_at(const uint8_t *bytes)
{
    return bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

/* The next numbers of `size` bytes, as this machine has them. */
static const uint8_t *take_native(struct ncnn_import *im, uint64_t count, size_t size)
{
    const uint8_t *bytes = take(im, count * size);
    uint8_t *copy;

    if (!TDL_KIT_SWAPS || !bytes)
        return bytes;
    copy = malloc(count * size + 1);
    if (!copy)
        return tdl_kit_none(&im->kit, TDL_ERROR_OUT_OF_MEMORY, "no memory for weights");
    tdl_builder_own(im->builder, copy, free);
    tdl_kit_from_file(copy, bytes, count, size);
    return copy;
}

/* The next weights; *out_type is float32, or float16 or int8 as they lie in the file. */
static const uint8_t *take_numbers(struct ncnn_import *im, bool tagged, uint64_t count,
                                   enum tdl_dtype *out_type)
{
    const uint8_t *bytes = tagged ? take(im, 4) : NULL;
    const uint32_t tag = bytes ? word_at(bytes) : TAG_FLOAT32;
    float *numbers;

    *out_type = tag == TAG_HALF ? TDL_FLOAT16 : tag == TAG_INT8 ? TDL_INT8 : TDL_FLOAT32;
    if ((tagged && !bytes) || count > UINT32_MAX)
        return NULL;
    if (tag == TAG_FLOAT32 || tag == TAG_FLOAT32_TOO || tag == TAG_HALF || tag == TAG_INT8)
        return take_native(im, count, tdl_dtype_size(*out_type));
    const uint8_t *table = take(im, TABLE * 4);
    bytes = table ? take(im, count) : NULL;
    numbers = bytes ? malloc(count * sizeof(*numbers) + 1) : NULL;
    if (!numbers)
        return bytes ? tdl_kit_none(&im->kit, TDL_ERROR_OUT_OF_MEMORY, "no memory for weights")
                     : NULL;
    tdl_builder_own(im->builder, numbers, free);
    for (uint64_t i = 0; i < count; i++)
        tdl_kit_from_file(&numbers[i], table + 4 * bytes[i], 1, 4);
    return (const uint8_t *)numbers;
}

static struct tdl_operand *read_weights(struct ncnn_import *im, bool tagged, uint32_t rank,
                                        const uint32_t *shape)
{
    struct tdl_tensor_params desc = {.rank = rank};
    struct tdl_operand *operand;
    const uint8_t *bytes;
    uint64_t count = 1;

    for (uint32_t i = 0; i < rank; i++) {
        desc.shape[i] = shape[i];
        count = count > UINT32_MAX ? count : count * shape[i];
    }
    bytes = take_numbers(im, tagged, count, &desc.dtype);
    if (!bytes)
        return tdl_builder_status(im->builder) == TDL_OK
                   ? tdl_kit_none(&im->kit, TDL_ERROR_INVALID_MODEL, "too many weights")
                   : NULL;
    operand = tdl_builder_constant(im->builder, &desc, bytes, count * tdl_dtype_size(desc.dtype));
    return operand && desc.dtype == TDL_FLOAT16
               ? tdl_builder_cast(im->builder, operand, TDL_FLOAT32)
               : operand;
}

static struct tdl_operand *no_bytes(struct ncnn_import *im)
{
    return tdl_kit_none(&im->kit, TDL_ERROR_UNSUPPORTED,
                        "int8 weights are not supported here; convert the model without int8");
}

struct tdl_operand *ncnn_maybe_bytes(struct ncnn_import *im, uint32_t rank, const uint32_t *shape)
{
    return read_weights(im, true, rank, shape);
}

struct tdl_operand *ncnn_weights(struct ncnn_import *im, bool tagged, uint32_t rank,
                                 const uint32_t *shape)
{
    struct tdl_operand *weights = read_weights(im, tagged, rank, shape);

    return weights && tdl_kit_desc(weights)->dtype == TDL_INT8 ? no_bytes(im) : weights;
}

/* A half as a float: IEEE 754-2008, 3.4 and 3.6. */
static float widen(uint16_t half)
{
    const uint32_t sign = (uint32_t)(half & 0x8000) << 16, mantissa = half & 0x3ff;
    const uint32_t exponent = half >> 10 & 0x1f;
    uint32_t bits = sign | (exponent == 31 ? 255 : exponent + 112) << 23 | mantissa << 13;
    float value;

    if (exponent == 0) {
        value = (float)mantissa / 16777216;
        return sign ? -value : value;
    }
    memcpy(&value, &bits, sizeof(value));
    return value;
}

const float *ncnn_floats(struct ncnn_import *im, bool tagged, uint64_t count)
{
    enum tdl_dtype type;
    const uint8_t *bytes = take_numbers(im, tagged, count, &type);
    float *numbers;

    if (bytes && type == TDL_INT8)
        return (const void *)no_bytes(im);
    if (!bytes || type == TDL_FLOAT32)
        return (const float *)(const void *)bytes;
    numbers = malloc(count * sizeof(*numbers) + 1);
    if (!numbers)
        return tdl_kit_none(&im->kit, TDL_ERROR_OUT_OF_MEMORY, "no memory for weights");
    tdl_builder_own(im->builder, numbers, free);
    for (uint64_t i = 0; i < count; i++)
        numbers[i] = widen((uint16_t)tdl_kit_bits(bytes + 2 * i, 2));
    return numbers;
}

struct tdl_operand *ncnn_scaled(struct ncnn_import *im, struct tdl_operand *weights, uint32_t count,
                                bool results)
{
    const uint32_t outputs = weights ? tdl_kit_shape(weights)[0] : 1;
    struct tdl_tensor_params desc = {.dtype = TDL_FLOAT32, .rank = tdl_kit_rank(weights)};
    const float *scales = weights ? ncnn_floats(im, false, count) : NULL;
    float *steps;

    /* One of what comes in, and one of results: in float32 neither is needed. */
    if (!scales || !ncnn_floats(im, false, 1) || (results && !ncnn_floats(im, false, 1)))
        return NULL;
    if (tdl_kit_desc(weights)->dtype != TDL_INT8)
        return weights;
    if (count == 0 || outputs % count)
        return tdl_kit_none(&im->kit, TDL_ERROR_INVALID_MODEL, "%u scales for %u outputs", count,
                            outputs);
    if (!(steps = tdl_kit_make(&im->kit, outputs * sizeof(*steps))))
        return NULL;
    for (uint32_t i = 0; i < outputs; i++) {
        const float scale = scales[i / (outputs / count)];

        steps[i] = scale == 0 ? 0 : 1 / scale;
    }
    for (uint32_t i = 0; i < desc.rank; i++)
        desc.shape[i] = i == 0 ? outputs : 1;
    return tdl_builder_dequantize_linear(
        im->builder, weights,
        tdl_builder_constant(im->builder, &desc, steps, outputs * sizeof(*steps)), NULL);
}

struct tdl_operand *ncnn_per_channel(struct ncnn_import *im, const struct tdl_operand *x,
                                     float *memory, uint32_t count)
{
    const struct tdl_tensor_params *in = tdl_kit_desc(x);
    struct tdl_tensor_params desc = {.dtype = TDL_FLOAT32, .rank = in->rank};
    const uint32_t axis = ncnn_channel_axis(x), channels = in->shape[axis];

    if (!memory)
        return tdl_kit_none(&im->kit, TDL_ERROR_OUT_OF_MEMORY, "no memory for weights");
    tdl_builder_own(im->builder, memory, free);
    if (count != 1 && count != channels)
        return tdl_kit_none(&im->kit, TDL_ERROR_INVALID_MODEL, "%u numbers for %u channels", count,
                            channels);
    for (uint32_t i = 0; i < in->rank; i++)
        desc.shape[i] = 1;
    desc.shape[axis] = count;
    return tdl_builder_constant(im->builder, &desc, memory, count * sizeof(*memory));
}

struct tdl_operand *ncnn_channel_weights(struct ncnn_import *im, const struct tdl_operand *x,
                                         uint32_t count)
{
    const float *numbers = ncnn_floats(im, false, count);
    float *copy = numbers ? malloc(count * sizeof(*copy) + 1) : NULL;

    if (copy)
        memcpy(copy, numbers, count * sizeof(*copy));
    return numbers ? ncnn_per_channel(im, x, copy, count) : NULL;
}
