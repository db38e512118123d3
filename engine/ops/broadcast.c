/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Broadcasting of linear values, as numpy has it: shapes are aligned at their
 * last dimensions, and a dimension of 1, or none, is read for all. */
#include "ops.h"

#include <string.h>

/* Dimension `i` of `p` from the last one. */
static uint32_t from_last(const struct tdl_tensor_params *p, uint32_t i)
{
    return i < p->rank ? p->shape[p->rank - 1 - i] : 1;
}

bool tdl_broadcast_shapes(const struct tdl_tensor_params *a, const struct tdl_tensor_params *b,
                          struct tdl_tensor_params *out)
{
    struct tdl_tensor_params p = {.dtype = a->dtype, .rank = TDL_MAX(a->rank, b->rank)};
    for (uint32_t i = 0; i < p.rank; i++) {
        uint32_t x = from_last(a, i), y = from_last(b, i);
        if (x != y && x != 1 && y != 1)
            return false;
        p.shape[p.rank - 1 - i] = x == 1 ? y : x;
    }
    *out = p;
    return true;
}

void tdl_broadcast_resolve(const struct tdl_tensor_params *out,
                           const struct tdl_tensor_params *const *inputs, uint32_t count,
                           struct tdl_broadcast *b)
{
    uint32_t step[TDL_MAX_BROADCAST]; /* elements of an input so far */
    memset(b, 0, sizeof(*b));
    b->rank = 1;
    b->size[0] = 1;
    for (uint32_t k = 0; k < count; k++)
        step[k] = 1;
    for (uint32_t i = 0; i < out->rank; i++) {
        uint32_t size = from_last(out, i), stride[TDL_MAX_BROADCAST], at = b->rank - 1;
        bool joins = true;
        if (size == 1)
            continue;
        for (uint32_t k = 0; k < count; k++) {
            uint32_t own = from_last(inputs[k], i);
            stride[k] = own == 1 ? 0 : step[k];
            step[k] *= own;
            joins &= stride[k] == b->stride[k][at] * b->size[at];
        }
        if (b->size[at] != 1 && joins) {
            b->size[at] *= size;
            continue;
        }
        if (b->size[at] != 1)
            at = b->rank++;
        b->size[at] = size;
        for (uint32_t k = 0; k < count; k++)
            b->stride[k][at] = stride[k];
    }
}

size_t tdl_broadcast_index(const struct tdl_tensor_params *out, const struct tdl_tensor_params *in,
                           size_t i)
{
    size_t at = 0, step = 1;
    for (uint32_t d = 0; d < out->rank; d++) {
        uint32_t size = from_last(out, d), own = from_last(in, d);
        at += own == 1 ? 0 : i % size * step;
        i /= size;
        step *= own;
    }
    return at;
}
