/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* pad: rows along the last dimension that gets any; what is behind it moves as one. */
#include "ops.h"

#include "ops/element.h"
#include "ops/ops.h"

struct work {
    const struct tdl_pad_params *p;
    const struct tdl_tensor_params *in, *out;
    const uint8_t *from;
    uint8_t *to;
    uint32_t last;  /* dimension */
    size_t unit;    /* bytes of what moves as one */
    size_t element; /* bytes */
    uint64_t value; /* an element of them */
};

/* The input's index that is at `at`, or −1. */
static int64_t source(const struct tdl_pad_params *p, int64_t at, uint32_t d, int64_t size)
{
    const int64_t i = at - p->before[d];
    if (i >= 0 && i < size)
        return i;
    if (p->mode == TDL_PAD_EDGE)
        return i < 0 ? 0 : size - 1;
    if (p->mode == TDL_PAD_REFLECTION)
        return i < 0 ? -i : 2 * (size - 1) - i;
    return -1;
}

static void fill(const struct work *w, uint8_t *to, size_t bytes)
{
    if (!w->value) {
        memset(to, 0, bytes);
        return;
    }
    for (size_t i = 0; i < bytes; i += w->element)
        memcpy(to + i, &w->value, w->element);
}

static void pad_row(const struct work *w, const uint8_t *from, uint8_t *to)
{
    const int64_t in = w->in->shape[w->last], out = w->out->shape[w->last];
    const int64_t before = w->p->before[w->last];
    memcpy(to + (size_t)before * w->unit, from, (size_t)in * w->unit);
    for (int64_t x = before ? 0 : in; x < out; x += x + 1 == before ? in + 1 : 1) {
        const int64_t i = source(w->p, x, w->last, in);
        if (i < 0)
            fill(w, to + (size_t)x * w->unit, w->unit);
        else
            memcpy(to + (size_t)x * w->unit, from + (size_t)i * w->unit, w->unit);
    }
}

static void pad_rows(void *data, size_t begin, size_t end)
{
    const struct work *w = data;
    const size_t in_row = w->in->shape[w->last] * w->unit,
                 out_row = w->out->shape[w->last] * w->unit;
    for (size_t row = begin; row < end; row++) {
        size_t at = 0, stride = 1, rest = row;
        bool inside = true;
        for (uint32_t d = w->last; d-- > 0; rest /= w->out->shape[d]) {
            const int64_t i = source(w->p, (int64_t)(rest % w->out->shape[d]), d, w->in->shape[d]);
            inside &= i >= 0;
            at += inside ? (size_t)i * stride : 0;
            stride *= w->in->shape[d];
        }
        if (inside)
            pad_row(w, w->from + at * in_row, w->to + row * out_row);
        else
            fill(w, w->to + row * out_row, out_row);
    }
}

static uint64_t value_of(const struct tdl_node *n)
{
    const enum tdl_dtype dtype = n->output->desc.dtype;
    uint64_t bits = 0;
    if (tdl_is_float(dtype))
        tdl_element_set(dtype, &bits, 0, (long double)n->attr.pad.value);
    else
        tdl_element_set_bits(dtype, &bits, 0, tdl_double_to_integer(dtype, n->attr.pad.value));
    return bits;
}

static void run(const struct tdl_cpu_call *call)
{
    const struct tdl_node *n = call->node;
    const struct tdl_pad_params *p = &n->attr.pad;
    struct work w = {.p = p,
                     .in = &n->inputs[0]->desc,
                     .out = &n->output->desc,
                     .from = call->inputs[0],
                     .to = call->output,
                     .element = tdl_dtype_size(n->output->desc.dtype),
                     .value = value_of(n)};
    w.unit = w.element;
    if (!w.out->rank) {
        memcpy(call->output, call->inputs[0], w.element);
        return;
    }
    for (w.last = w.out->rank - 1; w.last && !p->before[w.last] && !p->after[w.last]; w.last--)
        w.unit *= w.out->shape[w.last];
    const size_t row = w.out->shape[w.last] * w.unit;
    tdl_cpu_parallel(call->threads, pad_rows, &w, tdl_tensor_params_size(w.out) / row,
                     tdl_cpu_grain(10 + (double)row / 16));
}

const struct tdl_cpu_kernel tdl_cpu_pad = {.run = run};
