/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Made by the pass quantize: an element-wise function whose inputs or output are quantized.
 * A number q of eight bits stands for (q − zero) · scale; a real number r is kept as
 * round(r / scale) + zero within the type's range, a half rounded to even:
 * https://www.w3.org/TR/webnn/#api-mlgraphbuilder-quantizelinear
 */
#include "element.h"

#include <math.h>

static float real_of(const struct tdl_operand *o, const struct tdl_quantization *q,
                     const void *data, size_t i)
{
    const float x = (float)tdl_element_get(o->desc.dtype, data, i);
    return o->desc.dtype == TDL_FLOAT32 ? x : (x - q->zero) * q->scale;
}

/* Of numbers without dimensions. */
static float call_function(const struct tdl_node *n, const float *x)
{
    const struct tdl_quantized_attr *p = &n->attr.quantized;
    struct tdl_operand number = {.desc = {.dtype = TDL_FLOAT32}};
    struct tdl_node call = {.op = &tdl_op_eltwise[p->function],
                            .inputs = {&number, &number},
                            .input_count = n->input_count,
                            .output = &number};
    float result;
    call.attr.eltwise.a = p->a;
    call.attr.eltwise.b = p->b;
    tdl_eltwise_reference(&call, (const void *const[]){&x[0], &x[1]}, &result);
    return result;
}

static void reference(const struct tdl_node *n, const void *const *inputs, void *output)
{
    const struct tdl_quantized_attr *p = &n->attr.quantized;
    const enum tdl_dtype dtype = n->output->desc.dtype;
    for (size_t i = 0, count = tdl_operand_count(n->output); i < count; i++) {
        float x[2] = {0};
        for (uint32_t k = 0; k < n->input_count; k++)
            x[k] = real_of(n->inputs[k], &p->in[k], inputs[k],
                           tdl_operand_count(n->inputs[k]) > 1 ? i : 0);
        const float y = call_function(n, x);
        if (dtype == TDL_FLOAT32)
            memcpy((uint8_t *)output + i * sizeof(y), &y, sizeof(y));
        else
            tdl_element_set_bits(
                dtype, output, i,
                tdl_double_to_integer(dtype, (double)(rintf(y / p->out.scale) + p->out.zero)));
    }
}

const struct tdl_op tdl_op_quantized = {
    .name = "quantized",
    .storage = TDL_STORAGE_LINEAR,
    .reference_linear = reference,
};
