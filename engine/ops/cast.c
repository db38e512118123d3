/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* cast of constants; the fold pass takes all of them away. */
#include "../graph/builder.h"
#include "ops.h"

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

static void reference(const struct tdl_node *n, const float *const *inputs, float *output)
{
    (void)inputs;
    tdl_cast_constant(n->inputs[0], output,
                      tdl_tensor_params_size(&n->output->desc) / sizeof(float));
}

static enum tdl_result lower(struct tdl_plan *plan, struct tdl_node *n)
{
    (void)plan;
    return tdl_fail(TDL_ERROR_UNSUPPORTED, "%s: cast works on constants only", n->label);
}

const struct tdl_op tdl_op_cast = {
    .name = "cast", .infer = infer, .lower = lower, .reference = reference};

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
