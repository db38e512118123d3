/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Values of more dimensions than operands have, between a Reshape and a Transpose as in pixel
 * shuffles and partitions into windows, or a sum as in attention by relative places. The operand
 * is flat; a Transpose takes dimensions of 1 away, and those together that stay neighbours. A
 * function of two elements takes those together along which each operand is repeated, or is not.
 */
#include "onnx.h"

#include <string.h>

bool onnx_takes_wide(const struct onnx_import *im)
{
    static const char *const moves[] = {"Reshape", "Squeeze", "Transpose", "Unsqueeze"};

    for (size_t i = 0; im->node.row && i < sizeof(moves) / sizeof(*moves); i++)
        if (!strcmp(im->node.row->name, moves[i]))
            return true;
    return im->node.row && (im->node.row->one || im->node.row->two) &&
           strcmp(im->node.row->name, "Mean") != 0; /* which divides their sum */
}

bool onnx_refuse_wide(struct onnx_import *im, const struct onnx_value *v)
{
    char text[64];

    return !v->wide ||
           tdl_kit_refuse(&im->kit,
                          "'%s' has %u dimensions; libtdl takes up to %d, and more only between "
                          "Reshape and Transpose, or in sums and the like: export the model with "
                          "fewer (one picture, without "
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

bool onnx_has_wide(struct onnx_import *im)
{
    for (uint32_t i = 0; i < im->node.input_count; i++)
        if (onnx_wide(im, i))
            return true;
    return false;
}

bool onnx_dims(struct onnx_import *im, uint32_t i, struct onnx_wide *out)
{
    const struct onnx_wide *wide = onnx_wide(im, i);
    struct tdl_tensor_params desc;

    if (!onnx_desc(im, i, &desc))
        return false;
    *out = (struct onnx_wide){.rank = desc.rank};
    memcpy(out->shape, desc.shape, desc.rank * sizeof(*desc.shape));
    if (wide)
        *out = *wide;
    return true;
}

/* Of dimension `d` of `rank`, which are aligned at the last. */
static uint32_t size_at(const struct onnx_wide *w, uint32_t rank, uint32_t d)
{
    return d + w->rank >= rank ? w->shape[d + w->rank - rank] : 1;
}

/* Dimensions of both in few: neighbours are one where none or the same operand is repeated.
 * Gives how many there are, and the result's own; 0 with the builder in error. */
static uint32_t join(struct onnx_import *im, const struct onnx_wide in[2], struct onnx_wide *out,
                     uint32_t few[2][ONNX_WIDE])
{
    uint32_t count = 0, kind = 0;

    *out = (struct onnx_wide){.rank = in[0].rank > in[1].rank ? in[0].rank : in[1].rank};
    few[0][0] = few[1][0] = 1;
    for (uint32_t d = 0; d < out->rank; d++) {
        const uint32_t a = size_at(&in[0], out->rank, d), b = size_at(&in[1], out->rank, d);
        const uint32_t now = (a > 1) + 2 * (b > 1);

        if (a != b && a != 1 && b != 1)
            return tdl_kit_damaged(&im->kit, "dimension %u is %u and %u", d, a, b);
        out->shape[d] = a > b ? a : b;
        if (now == 0)
            continue;
        if (now != kind) {
            few[0][count] = few[1][count] = 1;
            count++;
        }
        few[0][count - 1] *= a;
        few[1][count - 1] *= b;
        kind = now;
    }
    return count ? count : 1;
}

bool onnx_add_elements_wide(struct onnx_import *im)
{
    struct tdl_operand *x = onnx_operand(im, 0), *y = NULL;
    struct onnx_wide in[2], out;
    uint32_t few[2][ONNX_WIDE], count;

    if (!x || !onnx_dims(im, 0, &in[0]))
        return false;
    if (im->node.input_count == 1 && im->node.row->one)
        return onnx_give_wide(im, im->node.row->one(im->builder, x), in[0].rank, in[0].shape);
    if (im->node.input_count != 2)
        return tdl_kit_lacks(&im->kit, "%u inputs of so many dimensions", im->node.input_count);
    if (!(y = onnx_operand(im, 1)) || !onnx_dims(im, 1, &in[1]) ||
        !(count = join(im, in, &out, few)))
        return false;
    if (count > TDL_MAX_RANK)
        return tdl_kit_refuse(&im->kit,
                              "it repeats elements along %u dimensions; libtdl does along up to %d",
                              count, TDL_MAX_RANK);
    x = onnx_reshape(im, x, count, few[0]);
    return onnx_give_wide(im, im->node.row->two(im->builder, x, onnx_reshape(im, y, count, few[1])),
                          out.rank, out.shape);
}
