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
    return o && o->desc.rank == 4 && whole == 4 && o->desc.layout != x->desc.layout
               ? tdl_builder_relabel(b, o, x->desc.layout)
               : o;
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

struct tdl_operand *tdl_builder_dequantize_linear(struct tdl_builder *b, O input, O scale,
                                                  O zero_point)
{
    const char *name = "dequantizeLinear";
    if (!check(b, name, input, scale, zero_point, scale, input))
        return NULL;
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
