/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Functions of quantized numbers: a chunk is made real, computed, and made bytes again while
 * it is in the cache. A function of one number of eight bits to another is a table.
 */
#include "hot.h"
#include "ops.h"

#include "ops/ops.h"

#include <stdlib.h>

enum { CHUNK = 512, TABLE = 256 };

static bool is_real(const struct tdl_operand *o)
{
    return o->desc.dtype == TDL_FLOAT32;
}

static bool has_sign(const struct tdl_operand *o)
{
    return o->desc.dtype == TDL_INT8;
}

/* The table's entries, by the operator's definition. */
static enum tdl_result prepare(const struct tdl_node *n, struct tdl_cpu_prepared *made)
{
    uint8_t bytes[TABLE];
    if (n->input_count > 1 || is_real(n->inputs[0]) || is_real(n->output))
        return TDL_OK;
    struct tdl_operand in = *n->inputs[0], out = *n->output;
    struct tdl_node all = *n;
    in.desc.rank = out.desc.rank = 1;
    in.desc.shape[0] = out.desc.shape[0] = TABLE;
    all.inputs[0] = &in;
    all.output = &out;
    made->state = malloc(TABLE);
    if (!made->state)
        return tdl_fail(TDL_ERROR_OUT_OF_MEMORY, "out of memory while building a graph");
    for (uint32_t i = 0; i < TABLE; i++)
        bytes[i] = (uint8_t)i;
    n->op->reference_linear(&all, (const void *const[]){bytes}, made->state);
    return TDL_OK;
}

static void look_up(void *data, size_t begin, size_t end)
{
    const struct tdl_cpu_call *call = data;
    const uint8_t *table = call->state, *x = call->inputs[0];
    uint8_t *out = call->output;
    for (size_t i = begin; i < end; i++)
        out[i] = table[x[i]];
}

struct number {
    const float *data;
    bool one;
};

static struct number load(const struct tdl_cpu_call *call, uint32_t slot, size_t begin, size_t n,
                          float *buffer)
{
    const struct tdl_operand *o = call->node->inputs[slot];
    const struct tdl_quantization *q = &call->node->attr.quantized.in[slot];
    const bool one = tdl_operand_count(o) == 1;
    const size_t at = one ? 0 : begin;
    if (is_real(o))
        return (struct number){(const float *)call->inputs[slot] + at, one};
    tdl_cpu_hot()->dequantize((const uint8_t *)call->inputs[slot] + at, has_sign(o), q->scale,
                              q->zero, buffer, one ? 1 : n);
    return (struct number){buffer, one};
}

/* Where the function's values go: to the output, or to a buffer. */
static void compute(void *data, size_t begin, size_t end)
{
    const struct tdl_cpu_call *call = data;
    const struct tdl_node *node = call->node;
    const struct tdl_quantized_attr *p = &node->attr.quantized;
    const struct tdl_cpu_hot *hot = tdl_cpu_hot();
    const bool real = is_real(node->output);
    float a[CHUNK], b[CHUNK], result[CHUNK];
    for (size_t i = begin, n; i < end; i += n) {
        n = TDL_MIN(end - i, (size_t)CHUNK);
        float *to = real ? (float *)call->output + i : result;
        const bool straight = real && p->function == TDL_IDENTITY;
        struct number x = load(call, 0, i, n, straight ? to : a);
        if (p->function >= TDL_ADD) {
            const struct number y = load(call, 1, i, n, b);
            hot->binary(p->function, x.data, x.one, y.data, y.one, to, n);
            x.data = to;
        } else if (p->function != TDL_IDENTITY || (real && x.data != to)) {
            hot->unary(p->function, p->a, p->b, x.data, to, n);
            x.data = to;
        }
        if (!real)
            hot->quantize(x.data, p->out.scale, p->out.zero, has_sign(node->output),
                          (uint8_t *)call->output + i, n);
    }
}

static void run(const struct tdl_cpu_call *call)
{
    tdl_cpu_parallel(call->threads, call->state ? look_up : compute, (void *)call,
                     tdl_operand_count(call->node->output), tdl_cpu_grain(1));
}

const struct tdl_cpu_kernel tdl_cpu_quantized = {.prepare = prepare, .run = run};
