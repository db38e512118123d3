/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* WebNN quantizeLinear and dequantizeLinear, computed in float32:
 * https://www.w3.org/TR/webnn/#api-mlgraphbuilder-quantizelinear */
#include "ir/builder.h"
#include "ops.h"

#include <string.h>

typedef struct tdl_operand *O;

/* Each element along an axis `times` times, one behind the other. */
static O repeat(struct tdl_builder *b, O o, uint32_t axis, uint32_t times)
{
    struct tdl_tensor_params p = o->desc;
    const uint32_t size = p.shape[axis];
    uint32_t outer = 1, inner = 1;
    for (uint32_t i = 0; i < p.rank; i++)
        *(i < axis ? &outer : &inner) *= i == axis ? 1 : p.shape[i];
    p.shape[axis] = size * times;
    o = tdl_builder_reshape(b, o, 4, (const uint32_t[]){outer, size, 1, inner});
    o = tdl_builder_expand(b, o, 4, (const uint32_t[]){outer, size, times, inner});
    return tdl_builder_reshape(b, o, p.rank, p.shape);
}

/* A scale or zero point that broadcasts to x, whose elements go in blocks. */
static O spread(struct tdl_builder *b, const char *name, O o, const struct tdl_operand *x)
{
    const uint32_t whole = x->desc.rank, rank = o->desc.rank;
    bool fits = rank <= whole;
    for (uint32_t i = 0; i < rank && fits; i++)
        fits = x->desc.shape[whole - rank + i] % o->desc.shape[i] == 0;
    if (!fits)
        return tdl_builder_fail(b, TDL_ERROR_INVALID_ARGUMENT,
                                "%s: %s for %s; each of its dimensions divides the input's", name,
                                tdl_operand_text(o), tdl_operand_text(x));
    if (o->desc.dtype != TDL_FLOAT32)
        o = tdl_builder_cast(b, o, TDL_FLOAT32);
    for (uint32_t i = 0; i < rank && o; i++) {
        const uint32_t times = x->desc.shape[whole - rank + i] / o->desc.shape[i];
        if (times > 1 && o->desc.shape[i] > 1)
            o = repeat(b, o, i, times);
    }
    return o;
}

static bool is_quantized(enum tdl_dtype dtype)
{
    return dtype == TDL_INT8 || dtype == TDL_UINT8 || dtype == TDL_INT32 || dtype == TDL_UINT32;
}

/* The operands are there, `real` one is a float, the others of one type of integers. */
static bool check(struct tdl_builder *b, const char *name, O x, O scale, O zero, O real, O whole)
{
    if (tdl_builder_status(b) != TDL_OK)
        return false;
    if (!x || !scale || !whole || x->ir != b->ir || scale->ir != b->ir ||
        (zero && zero->ir != b->ir))
        tdl_builder_fail(b, TDL_ERROR_INVALID_ARGUMENT,
                         "%s: an operand is missing or of another builder", name);
    else if (!tdl_is_float(real->desc.dtype) || !tdl_is_float(scale->desc.dtype) ||
             !is_quantized(whole->desc.dtype) || (zero && zero->desc.dtype != whole->desc.dtype))
        tdl_builder_fail(b, TDL_ERROR_INVALID_ARGUMENT,
                         "%s: %s with scale %s and zero point %s; scales are float32 or float16, "
                         "what is quantized and its zero points int8, uint8, int32 or uint32",
                         name, tdl_operand_text(x), tdl_operand_text(scale),
                         zero ? tdl_operand_text(zero) : "none");
    return b->status == TDL_OK;
}

/* ---------------------------------------------------------------- constants */

/* A value that broadcasts to x along one axis at most: element i of x has number i /
 * stride % count. */
static bool lies_along(const struct tdl_operand *o, const struct tdl_operand *x, size_t *count,
                       size_t *stride)
{
    const uint32_t rank = o->desc.rank, before = x->desc.rank - rank;
    *count = *stride = 1;
    if (rank > x->desc.rank)
        return false;
    for (uint32_t i = 0; i < rank; i++) {
        if (o->desc.shape[i] == 1)
            continue;
        if (*count > 1 || o->desc.shape[i] != x->desc.shape[before + i])
            return false;
        *count = o->desc.shape[i];
        for (uint32_t k = before + i + 1; k < x->desc.rank; k++)
            *stride *= x->desc.shape[k];
    }
    return true;
}

static float zero_at(const struct tdl_operand *zero, size_t i)
{
    const uint8_t *data = zero->data;
    return zero->desc.dtype == TDL_INT8 ? (int8_t)data[i] : data[i];
}

/* The scales, and as many zero points; NULL with the builder in error. */
static const float *copy_factors(struct tdl_builder *b, O scale, O zero, size_t count)
{
    const size_t scales = tdl_operand_count(scale), zeros = zero ? tdl_operand_count(zero) : 1;
    float *out = tdl_ir_alloc(b->ir, 2 * count * sizeof(*out));
    if (!out) {
        tdl_builder_fail(b, TDL_ERROR_OUT_OF_MEMORY, "out of memory in a builder");
        return NULL;
    }
    for (size_t i = 0; i < count; i++) {
        memcpy(&out[i], (const float *)scale->data + (scales > 1 ? i : 0), sizeof(*out));
        out[count + i] = zero ? zero_at(zero, zeros > 1 ? i : 0) : 0;
    }
    return out;
}

/* Weights stay as they were given. NULL if they are none, or the builder failed. */
static O keep_compact(struct tdl_builder *b, O input, O scale, O zero)
{
    const bool small = input->desc.dtype == TDL_INT8 || input->desc.dtype == TDL_UINT8;
    struct tdl_compact c = {.data = input->data, .dtype = input->desc.dtype};
    struct tdl_tensor_params desc = input->desc;
    size_t zeros = 1, stride = 1;
    if (!small || input->kind != TDL_OPERAND_CONSTANT || scale->desc.dtype != TDL_FLOAT32 ||
        tdl_operand_count(input) <= TDL_COMPACT_LEAST ||
        !lies_along(scale, input, &c.count, &c.stride) ||
        (zero && !lies_along(zero, input, &zeros, &stride)) ||
        (c.count > 1 && zeros > 1 && c.stride != stride) || !tdl_builder_evaluate(b, scale) ||
        (zero && !tdl_builder_evaluate(b, zero)))
        return NULL;
    if (zeros > c.count) {
        c.count = zeros;
        c.stride = stride;
    }
    desc.dtype = TDL_FLOAT32;
    c.scales = copy_factors(b, scale, zero, c.count);
    O o = c.scales ? tdl_ir_add_operand(b->ir, TDL_OPERAND_CONSTANT, &desc) : NULL;
    struct tdl_compact *kept = o ? tdl_ir_alloc(b->ir, sizeof(*kept)) : NULL;
    if (!kept)
        return tdl_builder_fail(b, TDL_ERROR_OUT_OF_MEMORY, "out of memory in a builder");
    c.zeros = c.scales + c.count;
    tdl_compact_order(&c, tdl_operand_count(input));
    *kept = c;
    o->compact = kept;
    return o;
}

struct tdl_operand *tdl_builder_dequantize_linear(struct tdl_builder *b, O input, O scale,
                                                  O zero_point)
{
    const char *name = "dequantizeLinear";
    if (!check(b, name, input, scale, zero_point, scale, input))
        return NULL;
    O known = keep_compact(b, input, scale, zero_point);
    if (known || b->status != TDL_OK)
        return known;
    O x = tdl_builder_cast(b, input, TDL_FLOAT32), factor = spread(b, name, scale, input);
    if (zero_point)
        x = tdl_builder_sub(b, x, spread(b, name, zero_point, input));
    x = tdl_builder_mul(b, x, factor);
    return scale->desc.dtype == TDL_FLOAT32 ? x : tdl_builder_cast(b, x, scale->desc.dtype);
}

struct tdl_operand *tdl_builder_quantize_linear(struct tdl_builder *b, O input, O scale,
                                                O zero_point)
{
    const char *name = "quantizeLinear";
    if (!check(b, name, input, scale, zero_point, input, zero_point))
        return NULL;
    O x = input->desc.dtype == TDL_FLOAT32 ? input : tdl_builder_cast(b, input, TDL_FLOAT32);
    x = tdl_builder_round_even(b, tdl_builder_div(b, x, spread(b, name, scale, input)));
    x = tdl_builder_add(b, x, spread(b, name, zero_point, input));
    return tdl_builder_cast(b, x, zero_point->desc.dtype); /* which saturates */
}
