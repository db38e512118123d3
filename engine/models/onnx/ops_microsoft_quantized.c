/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Operators of ONNX Runtime's own domain on quantized numbers, as its quantizer writes them,
 * computed in floats (ops_quantize.c). Formulas are those of ONNX
 * Runtime's documentation of contrib operators.
 */
#include "onnx.h"

#include <string.h>

/* Input `i` as floats, by the scale and zero point behind it, each a number. */
static struct tdl_operand *take(struct onnx_import *im, uint32_t i)
{
    struct tdl_operand *x = onnx_operand(im, i), *scale = x ? onnx_operand(im, i + 1) : NULL, *zero;

    if (!scale || !onnx_optional(im, i + 2, &zero) || !(scale = onnx_spread(im, scale, 0, 0)) ||
        (zero && !(zero = onnx_spread(im, zero, 0, 0))))
        return NULL;
    return onnx_dequantize(im, x, scale, zero);
}

/* In the scale of input `i` and the zero point behind it, whose type it has; without one it has
 * that of input `like`. */
static struct tdl_operand *put(struct onnx_import *im, struct tdl_operand *y, uint32_t i,
                               uint32_t like)
{
    struct tdl_operand *scale = onnx_operand(im, i), *zero;

    if (!y || !scale || !onnx_optional(im, i + 1, &zero) ||
        !(scale = onnx_spread(im, scale, 0, 0)) || (zero && !(zero = onnx_spread(im, zero, 0, 0))))
        return NULL;
    return onnx_quantize(im, y, scale, zero,
                         tdl_kit_desc(zero ? zero : onnx_operand(im, like))->dtype);
}

/* ----------------------------------------------------------------- elements */

static bool add_two(struct onnx_import *im)
{
    const bool sum = im->node.row->detail;
    struct tdl_operand *a = take(im, 0), *b = a ? take(im, 3) : NULL;

    return b && onnx_give(im, put(im, (sum ? tdl_builder_add : tdl_builder_mul)(im->builder, a, b),
                                  6, 0));
}

static bool add_sigmoid(struct onnx_import *im)
{
    struct tdl_operand *x = take(im, 0);

    return x && onnx_give(im, put(im, tdl_builder_sigmoid(im->builder, x), 3, 0));
}

static bool add_leaky_relu(struct onnx_import *im)
{
    struct tdl_operand *x = take(im, 0);
    const float alpha = onnx_float(im, "alpha", 0.01f);

    return x && onnx_give(im, put(im, tdl_builder_leaky_relu(im->builder, x, alpha), 3, 0));
}

/* Up to opset 12 all dimensions from the axis on are one. */
static bool add_softmax(struct onnx_import *im)
{
    const bool old = onnx_int(im, "opset", 13) < 13;
    struct tdl_operand *x = take(im, 0), *y;
    uint32_t axis;

    if (!x || !tdl_kit_axis(&im->kit, onnx_int(im, "axis", -1), tdl_kit_rank(x), &axis))
        return false;
    y = old ? tdl_builder_softmax(im->builder, tdl_builder_flatten(im->builder, x, axis), 1)
            : tdl_builder_softmax(im->builder, x, axis);
    if (y && old)
        y = onnx_reshape(im, y, tdl_kit_rank(x), tdl_kit_shape(x));
    return onnx_give(im, put(im, y, 3, 0));
}

static bool add_where(struct onnx_import *im)
{
    struct tdl_operand *which = onnx_operand(im, 0), *a = which ? take(im, 1) : NULL;
    struct tdl_operand *b = a ? take(im, 4) : NULL;

    return b && onnx_give(im, put(im, tdl_builder_where(im->builder, which, a, b), 7, 1));
}

/* Parts of any number, each with a scale and zero point behind it. */
static bool add_concat(struct onnx_import *im)
{
    enum { MOST = 256 };
    const uint32_t count = (im->node.input_count - 2) / 3;
    struct tdl_operand *parts[MOST], *y;
    uint32_t axis;

    if (im->node.input_count != 2 + 3 * count || count == 0)
        return tdl_kit_damaged(&im->kit, "%u inputs", im->node.input_count);
    if (count > MOST)
        return tdl_kit_lacks(&im->kit, "%u parts; libtdl joins up to %d", count, MOST);
    for (uint32_t i = 0; i < count; i++)
        if (!(parts[i] = take(im, 2 + 3 * i)))
            return false;
    if (!tdl_kit_axis(&im->kit, onnx_int(im, "axis", 0), tdl_kit_rank(parts[0]), &axis))
        return false;
    y = tdl_builder_concat(im->builder, parts, count, axis);
    return onnx_give(im, put(im, y, 0, 2));
}

/* -------------------------------------------------------------------- pools */

static bool is_channels_last(const struct onnx_import *im)
{
    return onnx_int(im, "channels_last", 0) != 0;
}

static struct tdl_operand *put_pool(struct onnx_import *im, struct tdl_operand *y)
{
    y = put(im, y, 3, 0);
    return y && is_channels_last(im) ? onnx_channels_last(im, y) : y;
}

static bool add_average_pool(struct onnx_import *im)
{
    struct tdl_operand *x = take(im, 0);

    if (x && is_channels_last(im))
        x = onnx_channels_first(im, x);
    return x && onnx_pool(im, x, false, put_pool);
}

static bool add_global_average_pool(struct onnx_import *im)
{
    struct tdl_operand *x = take(im, 0);
    struct tdl_reduce_params p = {.keep_dimensions = true};
    const uint32_t first = is_channels_last(im) ? 1 : 2;

    if (x && tdl_kit_rank(x) < 3)
        return tdl_kit_damaged(&im->kit, "%u dimensions have none of space", tdl_kit_rank(x));
    for (uint32_t i = 2; i < tdl_kit_rank(x); i++)
        p.axes[p.axis_count++] = first + i - 2;
    return x &&
           onnx_give(im, put(im, tdl_builder_reduce(im->builder, x, TDL_REDUCE_MEAN, &p), 3, 0));
}

static bool add_reduce_mean(struct onnx_import *im)
{
    struct tdl_reduce_params p = {.keep_dimensions = onnx_int(im, "keepdims", 1) != 0};
    struct tdl_operand *x = take(im, 0);
    int64_t axes[TDL_MAX_RANK];
    uint32_t count;

    return x && onnx_int_list(im, "axes", axes, TDL_MAX_RANK, &count) &&
           tdl_kit_reduce_axes(&im->kit, axes, count, tdl_kit_rank(x), &p) &&
           onnx_give(im, put(im, tdl_builder_reduce(im->builder, x, TDL_REDUCE_MEAN, &p), 3, 0));
}

/* ----------------------------------------------------------------- products */

/* Weights of rank 2 or more as floats: a scale and zero point, which may be left out, for all, or
 * for each number along an axis. */
static struct tdl_operand *take_weights(struct onnx_import *im, uint32_t i, uint32_t scale_at,
                                        uint32_t zero_at, bool by_rows)
{
    struct tdl_operand *w = onnx_operand(im, i), *scale = w ? onnx_operand(im, scale_at) : NULL;
    struct tdl_operand *zero;
    const uint32_t rank = tdl_kit_rank(w), axis = rank - (by_rows ? 2 : 1);

    if (!scale || !onnx_optional(im, zero_at, &zero))
        return NULL;
    if (rank < 2)
        return tdl_kit_lacks_none(&im->kit, "vectors");
    if (!(scale = onnx_spread(im, scale, rank, axis)) ||
        (zero && !(zero = onnx_spread(im, zero, rank, axis))))
        return NULL;
    return onnx_dequantize(im, w, scale, zero);
}

/* The product and bias `i`, which may be left out. */
static bool give_product(struct onnx_import *im, struct tdl_operand *a, struct tdl_operand *b,
                         uint32_t i)
{
    struct tdl_operand *bias;

    if (!a || !b || !onnx_optional(im, i, &bias))
        return false;
    if (tdl_kit_rank(a) < 2)
        return tdl_kit_lacks(&im->kit, "vectors");
    a = tdl_builder_matmul(im->builder, a, b);
    return onnx_give(im, bias ? tdl_builder_add(im->builder, a, bias) : a);
}

/* Factors of eight bits, and floats as the result. */
static bool add_matmul_to_float(struct onnx_import *im)
{
    struct tdl_operand *a = take_weights(im, 0, 2, 4, true);
    struct tdl_operand *b = a ? take_weights(im, 1, 3, 5, false) : NULL;

    return give_product(im, a, b, 6);
}

/* The first factor is rounded to uint8 over its own range, as ONNX Runtime does. */
static bool add_dynamic_matmul(struct onnx_import *im)
{
    struct tdl_operand *a = onnx_operand(im, 0), *b, *scale, *zero;

    if (!a || !(b = take_weights(im, 1, 2, 3, false)) ||
        !(a = onnx_quantize_range(im, a, &scale, &zero)))
        return false;
    return give_product(im, onnx_dequantize(im, a, scale, zero), b, 4);
}

/* Numbers along rows of [N, K], several to a byte from its low bits on, in blocks that share a
 * scale. Bytes of a row are whole. */
struct packed {
    uint32_t n, k, bits, block, blocks;
    const uint8_t *data, *zeros; /* NULL: half the range */
    const float *scales, *real_zeros;
};

static uint32_t unpack(const uint8_t *row, uint32_t bits, uint32_t i)
{
    const uint32_t per = 8 / bits;

    return row[i / per] >> bits * (i % per) & ((1u << bits) - 1);
}

/* Input `i` of that type and size; NULL with the builder in error. */
static const void *known(struct onnx_import *im, uint32_t i, enum tdl_dtype dtype, uint64_t size)
{
    struct tdl_operand *o = onnx_operand(im, i);
    const void *data;

    if (o && dtype == TDL_FLOAT32 && tdl_kit_desc(o)->dtype == TDL_FLOAT16)
        o = tdl_builder_cast(im->builder, o, TDL_FLOAT32);
    if (!o)
        return NULL;
    if (tdl_kit_desc(o)->dtype != dtype || tdl_kit_elements(o) != size)
        return tdl_kit_none(&im->kit, TDL_ERROR_INVALID_MODEL, "input %u has %llu %s, not %llu %s",
                            i, (unsigned long long)tdl_kit_elements(o),
                            tdl_dtype_name(tdl_kit_desc(o)->dtype), (unsigned long long)size,
                            tdl_dtype_name(dtype));
    data = tdl_builder_evaluate(im->builder, o);
    return data ? data : tdl_kit_lacks_none(&im->kit, "input %u, which is no constant", i);
}

static bool read_zeros(struct onnx_import *im, struct packed *p)
{
    const uint64_t bytes = ((uint64_t)p->blocks * p->bits + 7) / 8;
    struct tdl_tensor_params desc;

    if (!onnx_given(im, 3))
        return true;
    if (!onnx_desc(im, 3, &desc))
        return false;
    if (desc.dtype == TDL_UINT8)
        return (p->zeros = known(im, 3, TDL_UINT8, p->n * bytes)) != NULL;
    return (p->real_zeros = known(im, 3, TDL_FLOAT32, (uint64_t)p->n * p->blocks)) != NULL;
}

static bool read_packed(struct onnx_import *im, struct packed *p)
{
    const int64_t n = onnx_int(im, "N", 0), k = onnx_int(im, "K", 0),
                  bits = onnx_int(im, "bits", 4), block = onnx_int(im, "block_size", 0);

    if (n < 1 || n > INT32_MAX || k < 1 || k > INT32_MAX)
        return tdl_kit_damaged(&im->kit, "weights of %lldx%lld", (long long)n, (long long)k);
    if ((bits != 2 && bits != 4 && bits != 8) || block < 8 || block > 1 << 16 || block % 8)
        return tdl_kit_lacks(&im->kit, "%lld bits in blocks of %lld", (long long)bits,
                             (long long)block);
    if (onnx_given(im, 4) || onnx_int(im, "weight_prepacked", 0))
        return tdl_kit_lacks(&im->kit, "weights in another order");
    *p = (struct packed){(uint32_t)n, (uint32_t)k, (uint32_t)bits, (uint32_t)block};
    p->blocks = (p->k + p->block - 1) / p->block;
    p->data =
        known(im, 1, TDL_UINT8, (uint64_t)p->n * p->blocks * ((uint64_t)p->block * p->bits / 8));
    p->scales = p->data ? known(im, 2, TDL_FLOAT32, (uint64_t)p->n * p->blocks) : NULL;
    return p->scales && read_zeros(im, p);
}

static float zero_of(const struct packed *p, uint32_t n, uint32_t block)
{
    const size_t bytes = (p->blocks * p->bits + 7) / 8;

    return p->real_zeros ? p->real_zeros[(size_t)n * p->blocks + block]
           : p->zeros    ? (float)unpack(p->zeros + n * bytes, p->bits, block)
                         : (float)(1u << (p->bits - 1));
}

/* [K, N] */
static struct tdl_operand *unpacked(struct onnx_import *im, const struct packed *p)
{
    const struct tdl_tensor_params desc = {.rank = 2, .shape = {p->k, p->n}};
    const size_t bytes = (size_t)p->blocks * (p->block * p->bits / 8);
    float *w = tdl_kit_make(&im->kit, (uint64_t)p->n * p->k * sizeof(*w));

    for (uint32_t n = 0; w && n < p->n; n++)
        for (uint32_t k = 0; k < p->k; k++) {
            const uint32_t block = k / p->block, number = unpack(p->data + n * bytes, p->bits, k);

            w[(size_t)k * p->n + n] =
                ((float)number - zero_of(p, n, block)) * p->scales[(size_t)n * p->blocks + block];
        }
    return w ? tdl_builder_constant(im->builder, &desc, w, tdl_tensor_params_size(&desc)) : NULL;
}

static bool add_matmul_n_bits(struct onnx_import *im)
{
    struct tdl_operand *a = onnx_operand(im, 0);
    struct packed p = {0};

    return a && read_packed(im, &p) && give_product(im, a, unpacked(im, &p), 5);
}

/* alpha · (A · B + C) in units of both scales; quantized where the output has a scale. */
static bool add_gemm(struct onnx_import *im)
{
    const bool b_transpose = onnx_int(im, "transB", 0) != 0;
    struct tdl_gemm_params p = {.alpha = onnx_float(im, "alpha", 1),
                                .a_transpose = onnx_int(im, "transA", 0) != 0,
                                .b_transpose = b_transpose};
    struct tdl_operand *a = take(im, 0), *b = a ? take_weights(im, 3, 4, 5, b_transpose) : NULL, *c;

    if (!b || !onnx_optional(im, 6, &c))
        return false;
    if (c) {
        struct tdl_operand *unit =
            tdl_builder_mul(im->builder, onnx_operand(im, 1), onnx_operand(im, 4));

        unit = unit ? tdl_builder_linear(im->builder, unit, p.alpha, 0) : NULL;
        unit = onnx_spread(im, tdl_kit_settle(&im->kit, unit), tdl_kit_rank(c),
                           tdl_kit_rank(c) ? tdl_kit_rank(c) - 1 : 0);
        if (!unit || !(p.c = onnx_dequantize(im, c, unit, NULL)))
            return false;
    }
    a = tdl_builder_gemm(im->builder, a, b, &p);
    return onnx_give(im, onnx_given(im, 7) ? put(im, a, 7, 0) : a);
}

#define MS "com.microsoft."
const struct onnx_row onnx_rows_microsoft_quantized[] = {
    {MS "DequantizeLinear"},
    {MS "DynamicQuantizeMatMul", 3, 5, add_dynamic_matmul},
    {MS "MatMulIntegerToFloat", 4, 7, add_matmul_to_float},
    {MS "MatMulNBits", 3, 6, add_matmul_n_bits},
    {MS "QGemm", 6, 9, add_gemm},
    {MS "QLinearAdd", 7, 8, add_two, .detail = true},
    {MS "QLinearAveragePool", 4, 5, add_average_pool},
    {MS "QLinearConcat", 5, TDL_KIT_MANY, add_concat},
    {MS "QLinearConv"},
    {MS "QLinearGlobalAveragePool", 5, 5, add_global_average_pool},
    {MS "QLinearLeakyRelu", 4, 5, add_leaky_relu},
    {MS "QLinearMul", 7, 8, add_two},
    {MS "QLinearReduceMean", 4, 5, add_reduce_mean},
    {MS "QLinearSigmoid", 4, 5, add_sigmoid},
    {MS "QLinearSoftmax", 5, 5, add_softmax},
    {MS "QLinearWhere", 9, 9, add_where},
    {MS "QuantizeLinear"},
    {0},
};
