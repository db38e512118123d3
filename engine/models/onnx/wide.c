/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Values of more dimensions than operands have, between a Reshape and a Transpose as in pixel
 * shuffles and partitions into windows. The operand is flat; a Transpose takes dimensions of
 * 1 away, and those together that stay neighbours.
 */
#include "onnx.h"

#include <string.h>

bool onnx_refuse_wide(struct onnx_import *im, const struct onnx_value *v)
{
    char text[64];

    return !v->wide ||
           tdl_kit_refuse(
               &im->kit,
               "'%s' has %u dimensions; libtdl takes up to %d, and more only between "
               "Reshape and Transpose: export the model with fewer (one picture, without "
               "dimensions of 1)",
               tdl_pb_text(&v->name, text, sizeof(text)), v->wide->rank, TDL_MAX_RANK);
}

const struct onnx_wide *onnx_wide(struct onnx_import *im, uint32_t i)
{
    const struct onnx_value *v = onnx_given(im, i) ? onnx_find(im, &im->node.inputs[i]) : NULL;

    return v ? v->wide : NULL;
}

bool onnx_give_wide(struct onnx_import *im, struct tdl_operand *x, uint32_t rank,
                    const uint32_t *shape)
{
    struct onnx_wide *wide = tdl_kit_make(&im->kit, sizeof(*wide));
    uint64_t count = 1, elements = 1;

    for (uint32_t i = 0; i < rank && count <= INT32_MAX; i++)
        count *= shape[i];
    for (uint32_t i = 0; x && i < tdl_kit_rank(x); i++)
        elements *= tdl_kit_shape(x)[i];
    if (!wide || !x)
        return false;
    if (count != elements)
        return tdl_kit_damaged(&im->kit, "%llu elements become %llu", (unsigned long long)elements,
                               (unsigned long long)count);
    *wide = (struct onnx_wide){.rank = rank};
    memcpy(wide->shape, shape, rank * sizeof(*shape));
    if (!onnx_give(im, onnx_reshape(im, x, 1, &(uint32_t){(uint32_t)count})))
        return false;
    if (onnx_wanted(im, 0))
        onnx_find(im, &im->node.outputs[0])->wide = wide;
    return true;
}

/* The dimension behind `i` that is not 1. */
static uint32_t next(const struct onnx_wide *w, uint32_t i)
{
    do
        i++;
    while (i < w->rank && w->shape[i] == 1);
    return i;
}

/* Runs of dimensions that a permutation leaves together: for each, in the result's order, its
 * first dimension and how many elements it has. */
static uint32_t find_runs(const struct onnx_wide *w, const uint32_t *permutation, uint32_t *first,
                          uint32_t *size)
{
    uint32_t count = 0, expected = 0;

    for (uint32_t i = 0; i < w->rank; i++) {
        const uint32_t d = permutation[i];

        if (w->shape[d] == 1)
            continue;
        if (count == 0 || d != expected) {
            first[count] = d;
            size[count++] = 1;
        }
        size[count - 1] *= w->shape[d];
        expected = next(w, d);
    }
    return count;
}

bool onnx_transpose_wide(struct onnx_import *im, const struct onnx_wide *w,
                         const uint32_t *permutation)
{
    uint32_t first[ONNX_WIDE], size[ONNX_WIDE], from[TDL_MAX_RANK], order[TDL_MAX_RANK];
    uint32_t shape[ONNX_WIDE];
    struct tdl_operand *x = onnx_operand(im, 0);
    const uint32_t count = find_runs(w, permutation, first, size);

    if (count > TDL_MAX_RANK)
        return tdl_kit_refuse(&im->kit,
                              "it moves %u dimensions apart; libtdl moves up to %d: split it into "
                              "two, of fewer dimensions each",
                              count, TDL_MAX_RANK);
    for (uint32_t i = 0; i < w->rank; i++)
        shape[i] = w->shape[permutation[i]];
    for (uint32_t i = 0; i < count; i++) {
        order[i] = 0;
        for (uint32_t k = 0; k < count; k++)
            order[i] += first[k] < first[i];
        from[order[i]] = size[i];
    }
    if (count > 1)
        x = tdl_builder_transpose(im->builder, onnx_reshape(im, x, count, from), order);
    return onnx_give_wide(im, x, w->rank, shape);
}
