/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * ONNX's operators on quantized numbers, computed in floats: a number of eight bits
 * stands for (x − zero point) · scale. Sums of products of such numbers are exact in
 * float32 up to 2^24, and beyond within half of its last bit.
 */
#include "onnx.h"

#include <string.h>

/* A scale or zero point for each element along an axis, in shape to be spread. */
struct tdl_operand *onnx_spread(struct onnx_import *im, struct tdl_operand *o, uint32_t rank,
                                uint32_t axis)
{
    uint32_t shape[TDL_MAX_RANK];

    if (!o || tdl_kit_rank(o) == 0)
        return o;
    if (tdl_kit_rank(o) != 1) {
        tdl_kit_lacks(&im->kit, "scales of %u dimensions; libtdl has one, or one for each channel",
                      tdl_kit_rank(o));
        return NULL;
    }
    for (uint32_t i = 0; i < rank; i++)
        shape[i] = i == axis ? tdl_kit_shape(o)[0] : 1;
    return tdl_kit_shape(o)[0] == 1 ? onnx_reshape(im, o, 0, NULL)
                                    : onnx_reshape(im, o, rank, shape);
}

static struct tdl_operand *to_float(struct onnx_import *im, struct tdl_operand *o)
{
    return o && tdl_kit_desc(o)->dtype != TDL_FLOAT32
               ? tdl_builder_cast(im->builder, o, TDL_FLOAT32)
               : o;
}

/* A constant that broadcasts to elements along one axis at most. */
struct along {
    const uint8_t *data;
    enum tdl_dtype dtype;
    size_t size, stride; /* element i of the whole has number i / stride % size */
};

/* Of an operand that is onnx_spread() over x, or NULL, which stands for `otherwise`. False
 * also where it does not broadcast to x: the builder's operators then say so. */
static bool take_along(struct onnx_import *im, struct tdl_operand *o, const struct tdl_operand *x,
                       struct along *out)
{
    const uint32_t rank = tdl_kit_rank(o), whole = tdl_kit_rank(x);

    *out = (struct along){.size = 1, .stride = 1};
    if (!o)
        return true;
    for (uint32_t i = 0; i < rank && rank <= whole; i++) {
        const uint32_t size = tdl_kit_shape(o)[i], axis = whole - rank + i;

        if (size == 1)
            continue;
        if (out->size > 1 || size != tdl_kit_shape(x)[axis])
            return false;
        out->size = size;
        for (uint32_t k = axis + 1; k < whole; k++)
            out->stride *= tdl_kit_shape(x)[k];
    }
    out->data = rank <= whole ? tdl_builder_evaluate(im->builder, o) : NULL;
    out->dtype = tdl_kit_desc(o)->dtype;
    return out->data && (out->dtype == TDL_FLOAT32 || out->dtype == TDL_UINT8 ||
                         out->dtype == TDL_INT8 || out->dtype == TDL_INT32);
}

static float value_at(enum tdl_dtype dtype, const uint8_t *data, size_t i)
{
    float real;
    int32_t whole;

    if (dtype == TDL_UINT8)
        return data[i];
    if (dtype == TDL_INT8)
        return (int8_t)data[i];
    memcpy(&real, data + 4 * i, 4);
    memcpy(&whole, data + 4 * i, 4);
    return dtype == TDL_FLOAT32 ? real : (float)whole;
}

static float along_at(const struct along *a, size_t i, float otherwise)
{
    return a->data ? value_at(a->dtype, a->data, i / a->stride % a->size) : otherwise;
}

/* Weights that the builder keeps in 8 bits: where constants are large, and what they are
 * taken off and multiplied by is known. They count as the floats that they will be. False,
 * and nothing made, else. */
static bool keep_small(struct onnx_import *im, struct tdl_operand *x, struct tdl_operand *scale,
                       struct tdl_operand *zero, struct tdl_operand **out)
{
    enum { LEAST = 4096 };
    const struct tdl_tensor_params *desc = tdl_kit_desc(x);
    struct along scales, zeros;

    if ((desc->dtype != TDL_UINT8 && desc->dtype != TDL_INT8) ||
        tdl_tensor_params_size(desc) <= LEAST || !tdl_builder_evaluate(im->builder, x) ||
        (scale && tdl_kit_desc(scale)->dtype != TDL_FLOAT32) ||
        (zero && tdl_kit_desc(zero)->dtype != desc->dtype) || !take_along(im, scale, x, &scales) ||
        !take_along(im, zero, x, &zeros))
        return false;
    *out = NULL;
    if (tdl_kit_spend(&im->kit, 4 * (uint64_t)tdl_tensor_params_size(desc)) &&
        (scale || (scale = tdl_kit_number(&im->kit, TDL_FLOAT32, 1))))
        *out = tdl_builder_dequantize_linear(im->builder, x, scale, zero);
    return true;
}

/* Weights become floats here: filters have to be constants. False, and nothing made,
 * if not all is known. */
static bool dequantize_known(struct onnx_import *im, const struct tdl_operand *x,
                             const uint8_t *data, struct tdl_operand *scale,
                             struct tdl_operand *zero, struct tdl_operand **out)
{
    struct tdl_tensor_params desc = *tdl_kit_desc(x);
    const enum tdl_dtype dtype = desc.dtype;
    struct along scales, zeros;
    float *floats;
    size_t count;

    if (!data || (dtype != TDL_UINT8 && dtype != TDL_INT8 && dtype != TDL_INT32) ||
        !take_along(im, scale, x, &scales) || !take_along(im, zero, x, &zeros))
        return false;
    desc.dtype = TDL_FLOAT32;
    count = tdl_tensor_params_size(&desc) / sizeof(*floats);
    floats = tdl_kit_make(&im->kit, tdl_tensor_params_size(&desc));
    for (size_t i = 0; i < count && floats; i++)
        floats[i] = (value_at(dtype, data, i) - along_at(&zeros, i, 0)) * along_at(&scales, i, 1);
    *out = floats ? tdl_builder_constant(im->builder, &desc, floats, tdl_tensor_params_size(&desc))
                  : NULL;
    return true;
}

/* (x − zero) · scale; both may be left out. */
struct tdl_operand *onnx_dequantize(struct onnx_import *im, struct tdl_operand *x,
                                    struct tdl_operand *scale, struct tdl_operand *zero)
{
    struct tdl_operand *known;

    if (x && keep_small(im, x, scale, zero, &known))
        return known;
    if (x && dequantize_known(im, x, tdl_builder_evaluate(im->builder, x), scale, zero, &known))
        return known;
    x = to_float(im, x);
    if (x && zero)
        x = tdl_builder_sub(im->builder, x, to_float(im, zero));
    if (x && scale)
        x = tdl_builder_mul(im->builder, x, to_float(im, scale));
    return x;
}

/* round(x / scale) + zero within the type's range. */
struct tdl_operand *onnx_quantize(struct onnx_import *im, struct tdl_operand *x,
                                  struct tdl_operand *scale, struct tdl_operand *zero,
                                  enum tdl_dtype dtype)
{
    const float least = dtype == TDL_INT8 ? -128 : 0, most = dtype == TDL_INT8 ? 127 : 255;
    struct tdl_builder *b = im->builder;

    if (dtype != TDL_INT8 && dtype != TDL_UINT8) {
        tdl_kit_lacks(&im->kit, "numbers of %s; libtdl quantizes to int8 and uint8",
                      tdl_dtype_name(dtype));
        return NULL;
    }
    x = tdl_builder_round_even(b, tdl_builder_div(b, to_float(im, x), to_float(im, scale)));
    if (zero)
        x = tdl_builder_add(b, x, to_float(im, zero));
    return tdl_builder_cast(b, tdl_builder_clamp(b, x, &least, &most), dtype);
}

static bool take_axis(struct onnx_import *im, const struct tdl_operand *x, uint32_t *axis)
{
    *axis = 0;
    return tdl_kit_rank(x) == 0 ||
           tdl_kit_axis(&im->kit, onnx_int(im, "axis", tdl_kit_rank(x) > 1 ? 1 : 0),
                        tdl_kit_rank(x), axis);
}

static bool add_dequantize(struct onnx_import *im)
{
    struct tdl_operand *x = onnx_operand(im, 0), *scale = x ? onnx_operand(im, 1) : NULL, *zero;
    uint32_t axis;

    if (!scale || !onnx_optional(im, 2, &zero) || !take_axis(im, x, &axis))
        return false;
    if (onnx_int(im, "block_size", 0))
        return onnx_give(im, tdl_builder_dequantize_linear(im->builder, x, scale, zero));
    scale = onnx_spread(im, scale, tdl_kit_rank(x), axis);
    if (!scale || (zero && !(zero = onnx_spread(im, zero, tdl_kit_rank(x), axis))))
        return false;
    return onnx_give_weights(im, onnx_dequantize(im, x, scale, zero));
}

static bool add_quantize(struct onnx_import *im)
{
    struct tdl_operand *x = onnx_operand(im, 0), *scale = x ? onnx_operand(im, 1) : NULL, *zero;
    enum tdl_dtype dtype = TDL_UINT8;
    const int64_t type = onnx_int(im, "output_dtype", 0);
    uint32_t axis;

    if (!scale || !onnx_optional(im, 2, &zero) || !take_axis(im, x, &axis) ||
        (type && !onnx_dtype(im, type, &dtype)))
        return false;
    if (zero)
        dtype = tdl_kit_desc(zero)->dtype;
    if (onnx_int(im, "block_size", 0))
        return onnx_give(
            im, tdl_builder_quantize_linear(im->builder, x, scale,
                                            zero ? zero : tdl_kit_number(&im->kit, dtype, 0)));
    scale = onnx_spread(im, scale, tdl_kit_rank(x), axis);
    if (!scale || (zero && !(zero = onnx_spread(im, zero, tdl_kit_rank(x), axis))))
        return false;
    return onnx_give(im, onnx_quantize(im, x, scale, zero, dtype));
}

struct tdl_operand *onnx_quantize_range(struct onnx_import *im, struct tdl_operand *x,
                                        struct tdl_operand **scale, struct tdl_operand **zero)
{
    static const float none = 0, most = 255;
    struct tdl_builder *b = im->builder;
    struct tdl_operand *low = tdl_builder_reduce(b, x, TDL_REDUCE_MIN, NULL), *high;

    low = tdl_builder_clamp(b, low, NULL, &none);
    high = tdl_builder_clamp(b, tdl_builder_reduce(b, x, TDL_REDUCE_MAX, NULL), &none, NULL);
    *scale = tdl_builder_linear(b, tdl_builder_sub(b, high, low), 1 / 255.0f, 0);
    low = tdl_builder_neg(b, tdl_builder_div(b, low, *scale));
    *zero = tdl_builder_round_even(b, tdl_builder_clamp(b, low, &none, &most));
    return *zero ? onnx_quantize(im, x, *scale, *zero, TDL_UINT8) : NULL;
}

/* Scale and zero point are computed. */
static bool add_dynamic_quantize(struct onnx_import *im)
{
    struct tdl_operand *x = onnx_operand(im, 0), *scale, *zero;

    if (!x || !(x = onnx_quantize_range(im, x, &scale, &zero)))
        return false;
    return onnx_give_at(im, 1, scale) &&
           onnx_give_at(im, 2, tdl_builder_cast(im->builder, zero, TDL_UINT8)) && onnx_give(im, x);
}

static bool add_matmul_integer(struct onnx_import *im)
{
    struct tdl_operand *a = onnx_operand(im, 0), *b = a ? onnx_operand(im, 1) : NULL, *za, *zb;

    if (!b || !onnx_optional(im, 2, &za) || !onnx_optional(im, 3, &zb))
        return false;
    if (tdl_kit_rank(a) < 2 || tdl_kit_rank(b) < 2)
        return tdl_kit_lacks(&im->kit, "vectors");
    if (za)
        za = onnx_spread(im, za, tdl_kit_rank(a), tdl_kit_rank(a) - 2);
    if (zb)
        zb = onnx_spread(im, zb, tdl_kit_rank(b), tdl_kit_rank(b) - 1);
    a = onnx_dequantize(im, a, NULL, za);
    b = onnx_dequantize(im, b, NULL, zb);
    return onnx_give(
        im, tdl_builder_cast(im->builder, tdl_builder_matmul(im->builder, a, b), TDL_INT32));
}

/* ------------------------------------------------------------- convolutions */

static struct tdl_operand *as_int32(struct onnx_import *im, struct tdl_operand *y)
{
    return tdl_builder_cast(im->builder, y, TDL_INT32);
}

static bool add_conv_integer(struct onnx_import *im)
{
    struct tdl_operand *x = onnx_operand(im, 0), *filter = x ? onnx_operand(im, 1) : NULL, *zx, *zf;

    if (!filter || !onnx_optional(im, 2, &zx) || !onnx_optional(im, 3, &zf) ||
        (zf && !(zf = onnx_spread(im, zf, tdl_kit_rank(filter), 0))))
        return false;
    x = onnx_dequantize(im, x, NULL, zx);
    filter = x ? onnx_dequantize(im, filter, NULL, zf) : NULL;
    return filter && onnx_convolve(im, x, filter, NULL, as_int32);
}

static struct tdl_operand *as_quantized(struct onnx_import *im, struct tdl_operand *y)
{
    struct tdl_operand *scale = onnx_operand(im, 6), *zero = scale ? onnx_operand(im, 7) : NULL;

    y = zero ? onnx_quantize(im, y, scale, zero, tdl_kit_desc(zero)->dtype) : NULL;
    return y && onnx_int(im, "channels_last", 0) ? onnx_channels_last(im, y) : y;
}

/* Its bias is int32, in units of both scales. ONNX Runtime's of that name may have the channels
 * last. */
static bool add_qlinear_conv(struct onnx_import *im)
{
    struct tdl_operand *in[6], *bias;

    for (uint32_t i = 0; i < 6; i++)
        if (!(in[i] = onnx_operand(im, i)))
            return false;
    if (!onnx_optional(im, 8, &bias))
        return false;
    if (bias) {
        struct tdl_operand *unit = tdl_builder_mul(im->builder, in[1], in[4]);

        if (unit)
            tdl_builder_evaluate(im->builder, unit);
        if (!unit || !(unit = onnx_spread(im, unit, 1, 0)) ||
            !(bias = onnx_dequantize(im, bias, unit, NULL)))
            return false;
    }
    for (uint32_t i = 4; i < 6; i++)
        if (!(in[i] = onnx_spread(im, in[i], tdl_kit_rank(in[3]), 0)))
            return false;
    in[0] = onnx_dequantize(im, in[0], in[1], in[2]);
    if (onnx_int(im, "channels_last", 0))
        in[0] = onnx_channels_first(im, in[0]);
    in[3] = in[0] ? onnx_dequantize(im, in[3], in[4], in[5]) : NULL;
    return in[3] && onnx_convolve(im, in[0], in[3], bias, as_quantized);
}

static bool add_qlinear_matmul(struct onnx_import *im)
{
    struct tdl_operand *in[8];

    for (uint32_t i = 0; i < 8; i++)
        if (!(in[i] = onnx_operand(im, i)))
            return false;
    if (tdl_kit_rank(in[0]) < 2 || tdl_kit_rank(in[3]) < 2)
        return tdl_kit_lacks(&im->kit, "vectors");
    for (uint32_t i = 1; i < 6; i += i == 2 ? 2 : 1) {
        const struct tdl_operand *of = in[i < 3 ? 0 : 3];

        if (!(in[i] = onnx_spread(im, in[i], tdl_kit_rank(of), tdl_kit_rank(of) - (i < 3 ? 2 : 1))))
            return false;
    }
    struct tdl_operand *a = onnx_dequantize(im, in[0], in[1], in[2]);
    struct tdl_operand *b = onnx_dequantize(im, in[3], in[4], in[5]);
    return onnx_give(im, onnx_quantize(im, tdl_builder_matmul(im->builder, a, b), in[6], in[7],
                                       tdl_kit_desc(in[7])->dtype));
}

const struct onnx_row onnx_rows_quantize[] = {
    {"ConvInteger", 2, 4, add_conv_integer},
    {"DequantizeLinear", 2, 3, add_dequantize},
    {"DynamicQuantizeLinear", 1, 1, add_dynamic_quantize},
    {"MatMulInteger", 2, 4, add_matmul_integer},
    {"QLinearConv", 8, 9, add_qlinear_conv},
    {"QLinearMatMul", 8, 8, add_qlinear_matmul},
    {"QuantizeLinear", 2, 3, add_quantize},
    {0},
};
