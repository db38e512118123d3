/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Constants of float32 that were given in fewer bits, and stay so: a model's weights are
 * four times their file as floats, so they are floats one operator at a time, while that is
 * made ready for the device.
 */
#include "ir.h"

#include <stdlib.h>
#include <string.h>

/* Numbers from, from + step, … as they stand there. */
static void load(const struct tdl_compact *c, size_t from, size_t step, size_t count, float *out)
{
    const size_t element = tdl_dtype_size(c->dtype), stride = step * element;
    const uint8_t *at = (const uint8_t *)c->data + from * element;
    if (c->dtype == TDL_INT8)
        for (size_t i = 0; i < count; i++)
            out[i] = (int8_t)at[i * stride];
    else if (c->dtype == TDL_UINT8)
        for (size_t i = 0; i < count; i++)
            out[i] = at[i * stride];
    else if (c->dtype == TDL_FLOAT32 && step == 1)
        memcpy(out, at, count * sizeof(*out));
    else if (c->dtype == TDL_FLOAT32)
        for (size_t i = 0; i < count; i++)
            memcpy(&out[i], at + i * stride, sizeof(*out));
    else
        for (size_t i = 0; i < count; i++) {
            uint16_t half; /* the caller's memory need not be aligned */
            memcpy(&half, at + i * stride, sizeof(half));
            out[i] = tdl_half_to_float(half);
        }
}

/* (x − zero) · scale, of the same numbers. */
static void scale(const struct tdl_compact *c, size_t from, size_t step, size_t count, float *out)
{
    const size_t first = from / c->stride, last = (from + step * (count - 1)) / c->stride;
    if (c->count == 1 || first == last) {
        const float factor = c->scales[first % c->count], zero = c->zeros[first % c->count];
        for (size_t i = 0; i < count; i++)
            out[i] = (out[i] - zero) * factor;
        return;
    }
    for (size_t i = 0; i < count; i++) {
        const size_t k = (from + i * step) / c->stride % c->count;
        out[i] = (out[i] - c->zeros[k]) * c->scales[k];
    }
}

void tdl_compact_expand(const struct tdl_compact *c, float *out)
{
    for (size_t i = 0; i < c->size[0]; i++)
        for (size_t j = 0; j < c->size[1]; j++, out += c->size[2]) {
            const size_t from = i * c->step[0] + j * c->step[1];
            load(c, from, c->step[2], c->size[2], out);
            if (c->scales)
                scale(c, from, c->step[2], c->size[2], out);
        }
}

void tdl_compact_order(struct tdl_compact *c, size_t elements)
{
    const size_t whole =
        c->scales && c->count > 1 ? c->stride > 1 ? c->stride : c->count : elements;
    const size_t size[] = {1, elements / whole, whole}, step[] = {elements, whole, 1};
    memcpy(c->size, size, sizeof(size));
    memcpy(c->step, step, sizeof(step));
}

bool tdl_compact_is_plain(const struct tdl_compact *c)
{
    return c->step[2] == 1 && c->step[1] == c->size[2] && c->step[0] == c->size[1] * c->size[2];
}

bool tdl_operand_expand(struct tdl_operand *o)
{
    enum { SLACK = 64 }; /* XNNPACK reads a little too far */
    if (o->data || !o->compact)
        return true;
    const size_t size = tdl_tensor_params_size(&o->desc);
    o->expanded = malloc(size + SLACK);
    if (!o->expanded)
        return false;
    tdl_compact_expand(o->compact, o->expanded);
    memset((uint8_t *)o->expanded + size, 0, SLACK);
    o->data = o->expanded;
    return true;
}

void tdl_operand_shrink(struct tdl_operand *o)
{
    if (o->expanded && o->data == o->expanded)
        o->data = NULL;
    free(o->expanded);
    o->expanded = NULL;
}

void tdl_nodes_count_readers(struct tdl_node *const *nodes, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t j = 0; j < nodes[i]->input_count; j++)
            if (nodes[i]->inputs[j])
                nodes[i]->inputs[j]->readers = 0;
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t j = 0; j < nodes[i]->input_count; j++)
            if (nodes[i]->inputs[j])
                nodes[i]->inputs[j]->readers += nodes[i]->inputs[j]->compact != NULL;
}

enum tdl_result tdl_node_expand(const struct tdl_node *n)
{
    bool ok = true;
    for (uint32_t i = 0; i < n->input_count; i++)
        ok &= !n->inputs[i] || tdl_operand_expand(n->inputs[i]);
    return ok ? TDL_OK
              : tdl_fail(TDL_ERROR_OUT_OF_MEMORY, "%s: out of memory for its weights", n->label);
}

void tdl_node_shrink(const struct tdl_node *n)
{
    for (uint32_t i = 0; i < n->input_count; i++)
        if (n->inputs[i] && n->inputs[i]->readers && --n->inputs[i]->readers == 0)
            tdl_operand_shrink(n->inputs[i]);
}
