/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Between data types; and float16 as bits and floats as integers, for all who
 * need them. */
#include "../graph/builder.h"
#include "element.h"

#include <math.h>
#include <string.h>

float tdl_half_to_float(uint16_t half)
{
    /* IEEE 754 binary16, section 3.4. */
    uint32_t sign = (uint32_t)(half & 0x8000) << 16, exponent = (half >> 10) & 0x1f;
    uint32_t fraction = half & 0x3ff, bits;
    float value;
    if (exponent == 31) {
        bits = sign | 0x7f800000 | fraction << 13;
    } else if (exponent) {
        bits = sign | (exponent + 112) << 23 | fraction << 13;
    } else {
        value = (float)fraction * 0x1p-24f;
        return sign ? -value : value;
    }
    memcpy(&value, &bits, sizeof(value));
    return value;
}

uint16_t tdl_float_to_half(float value)
{
    /* Round to nearest, ties to even, as IEEE 754 section 4.3.1. */
    uint32_t bits;
    memcpy(&bits, &value, sizeof(bits));
    uint16_t sign = bits >> 16 & 0x8000;
    bits &= 0x7fffffff;
    if (bits > 0x7f800000) /* a NaN stays one */
        return (uint16_t)(sign | 0x7e00);
    if (bits >= 0x477ff000) /* 65520 and more */
        return (uint16_t)(sign | 0x7c00);
    if (bits < 0x38800000) /* less than 2^-14: in units of 2^-24 */
        return (uint16_t)(sign | (uint32_t)lrintf(fabsf(value) * 0x1p24f));
    bits += 0xfff + (bits >> 13 & 1);
    return (uint16_t)(sign | ((bits - 0x38000000) >> 13));
}

uint64_t tdl_double_to_integer(enum tdl_dtype dtype, double value)
{
    static const struct {
        double limit; /* the first that is too large */
        uint64_t most;
        bool has_sign;
    } ranges[] = {
        [TDL_INT32] = {0x1p31, INT32_MAX, true},   [TDL_UINT32] = {0x1p32, UINT32_MAX, false},
        [TDL_INT8] = {0x1p7, INT8_MAX, true},      [TDL_UINT8] = {0x1p8, UINT8_MAX, false},
        [TDL_INT64] = {0x1p63, INT64_MAX, true},   [TDL_UINT64] = {0x1p64, UINT64_MAX, false},
    };
    double v = trunc(value);
    if (isnan(v))
        return 0;
    if (v >= ranges[dtype].limit)
        return ranges[dtype].most;
    if (v < 0 && !ranges[dtype].has_sign)
        return 0;
    if (v < -ranges[dtype].limit)
        return ~ranges[dtype].most;
    return v < 0 ? 0 - (uint64_t)-v : (uint64_t)v;
}

/* ---------------------------------------------------------------- operator */

static enum tdl_result infer(const struct tdl_node *n, struct tdl_tensor_params *out)
{
    *out = n->inputs[0]->desc;
    out->dtype = n->attr.cast.dtype;
    return TDL_OK;
}

static bool is_wide(enum tdl_dtype dtype)
{
    return dtype == TDL_INT64 || dtype == TDL_UINT64;
}

static uint64_t element(enum tdl_dtype from, enum tdl_dtype to, const void *data, size_t i)
{
    uint64_t bits = tdl_element_bits(from, data, i);
    if (!tdl_is_float(from) && !tdl_is_float(to))
        return bits;
    /* Integers are rounded once, to float32. */
    float x = (float)tdl_element_get(from, data, i);
    if (!tdl_is_float(to))
        return tdl_double_to_integer(to, (double)x);
    tdl_element_set(to, &bits, 0, x);
    return bits;
}

static void reference(const struct tdl_node *n, const void *const *inputs, void *output)
{
    const enum tdl_dtype from = n->inputs[0]->desc.dtype, to = n->attr.cast.dtype;
    for (size_t i = 0, count = tdl_operand_count(n->output); i < count; i++)
        tdl_element_set_bits(to, output, i, element(from, to, inputs[0], i));
}

static enum tdl_result lower(struct tdl_plan *plan, struct tdl_node *n)
{
    const enum tdl_dtype from = n->inputs[0]->desc.dtype, to = n->attr.cast.dtype;
    /* The kernel has two variants: with 64-bit types and without. */
    enum tdl_dtype variant = is_wide(from) || is_wide(to) ? TDL_INT64 : TDL_FLOAT32;
    struct tdl_plan_step *s = tdl_plan_add_linear_step(plan, "cast", variant, n, 64, 1, 1);
    tdl_plan_spec(s, from);
    tdl_plan_spec(s, to);
    tdl_plan_spec(s, (uint32_t)tdl_operand_count(n->output));
    tdl_plan_read(s, 0, n->inputs[0]);
    tdl_plan_write(s, 1, n->output);
    tdl_plan_linear_groups(s, n->output);
    return plan->status;
}

const struct tdl_op tdl_op_cast = {
    .name = "cast",
    .infer = infer,
    .lower = lower,
    .storage = TDL_STORAGE_LINEAR,
    .reference_linear = reference,
};

struct tdl_operand *tdl_builder_cast(struct tdl_builder *b, struct tdl_operand *input,
                                     enum tdl_dtype dtype)
{
    union tdl_attr attr = {.cast.dtype = dtype};
    if (!tdl_builder_known(b, &tdl_op_cast, "data type", dtype, TDL_UINT64))
        return NULL;
    return tdl_builder_add_node(b, &tdl_op_cast, &attr, &input, 1, 1);
}
