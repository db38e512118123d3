/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* cast of constants; the fold pass takes all of them away. */
#include "../graph/builder.h"
#include "ops.h"

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

void tdl_cast_constant(const struct tdl_operand *from, float *to, size_t count)
{
    const uint8_t *bytes = from->data; /* files do not promise alignment */
    for (size_t i = 0; i < count; i++) {
        uint16_t half;
        memcpy(&half, bytes + 2 * i, sizeof(half));
        to[i] = tdl_half_to_float(half);
    }
}

static enum tdl_result infer(const struct tdl_node *n, struct tdl_tensor_params *out)
{
    *out = n->inputs[0]->desc;
    out->dtype = TDL_FLOAT32;
    return TDL_OK;
}

static void reference(const struct tdl_node *n, const void *const *inputs, void *output)
{
    (void)inputs;
    tdl_cast_constant(n->inputs[0], output, tdl_operand_count(n->output));
}

static enum tdl_result lower(struct tdl_plan *plan, struct tdl_node *n)
{
    (void)plan;
    return tdl_fail(TDL_ERROR_UNSUPPORTED, "%s: cast works on constants only", n->label);
}

const struct tdl_op tdl_op_cast = {
    .name = "cast",
    .infer = infer,
    .lower = lower,
    .storage = TDL_STORAGE_LINEAR,
    .reference_linear = reference};

struct tdl_operand *tdl_builder_cast(struct tdl_builder *b, struct tdl_operand *input,
                                     enum tdl_dtype dtype)
{
    union tdl_attr attr = {0};
    if (b->status != TDL_OK)
        return NULL;
    if (!input || input->kind != TDL_OPERAND_CONSTANT || input->desc.dtype != TDL_FLOAT16 ||
        dtype != TDL_FLOAT32)
        return tdl_builder_fail(b, TDL_ERROR_UNSUPPORTED,
                                "cast: so far only constants, from float16 to float32");
    return tdl_builder_add_node(b, &tdl_op_cast, &attr, &input, 1, 1);
}
