/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Filters of convolutions, which are most of a model. ONNX has them as [out, in, height,
 * width], the engine wants [out, height, width, in]. Instead of a copy of nearly all
 * of the file, each output channel is turned where it lies.
 *
 * It must be the only one that reads the filter. Where a branch that was not looked into
 * yet reads it, too, onnx_settle() then turns a copy back.
 */
#include "onnx.h"

#include <stdlib.h>
#include <string.h>

/* `rows` rows of `columns` elements become columns. */
static void turn(const uint8_t *from, size_t rows, size_t columns, size_t size, uint8_t *to)
{
    for (size_t c = 0; c < columns; c++)
        for (size_t r = 0; r < rows; r++, to += size)
            memcpy(to, from + (r * columns + c) * size, size);
}

/* Inputs and taps of one output channel. */
struct block {
    size_t channels, inputs, taps, size;
};

static struct block block_of(const struct onnx_tensor *t)
{
    struct block b = {t->desc.shape[0], t->desc.shape[1], t->desc.shape[2],
                      tdl_dtype_size(t->desc.dtype)};

    if (t->desc.rank == 4)
        b.taps *= t->desc.shape[3];
    return b;
}

static bool turn_in_place(struct onnx_import *im, const struct block *b, uint8_t *data)
{
    const size_t bytes = b->inputs * b->taps * b->size;
    uint8_t *copy;

    if (b->inputs == 1 || b->taps == 1)
        return true;
    copy = malloc(bytes);
    if (!copy)
        return tdl_kit_fail_memory(&im->kit);
    for (size_t o = 0; o < b->channels; o++, data += bytes) {
        memcpy(copy, data, bytes);
        turn(copy, b->inputs, b->taps, b->size, data);
    }
    free(copy);
    return true;
}

struct tdl_operand *onnx_turned_back(struct onnx_import *im, const struct onnx_value *v)
{
    /* Of the message the header was written over (onnx_tensor_data()). */
    const struct onnx_tensor t = {.desc = v->empty, .count = 1};
    const struct block b = block_of(&t);
    const size_t bytes = b.inputs * b.taps * b.size;
    uint8_t *copy = tdl_kit_make(&im->kit, b.channels * bytes);

    for (size_t o = 0; o < b.channels && copy; o++)
        turn((const uint8_t *)v->bytes + o * bytes, b.taps, b.inputs, b.size, copy + o * bytes);
    return onnx_tensor_operand_of(im, &t, copy);
}

/* Its bytes lie in our memory, and nobody has seen them. */
static bool can_turn(const struct onnx_import *im, const struct onnx_value *v,
                     const struct onnx_tensor *t, uint32_t rank)
{
    return t->movable && !t->external && t->raw.data && v->readers == 1 &&
           im->kit.source->writable && t->desc.rank == rank && t->count > 0 &&
           (rank == 3 || rank == 4) && (t->type == ONNX_FLOAT || t->type == ONNX_FLOAT16);
}

struct tdl_operand *onnx_turned_filter(struct onnx_import *im, uint32_t i, uint32_t rank)
{
    struct onnx_value *v = onnx_given(im, i) ? onnx_find(im, &im->node.inputs[i]) : NULL;
    struct onnx_tensor t;
    const uint8_t *data;

    if (!v || v->turned || v->given || v->again || !v->initializer.data)
        return NULL;
    if (!onnx_tensor_read(im, &v->initializer, &t))
        return NULL;
    t.movable = true;
    if (!can_turn(im, v, &t, rank) || !(data = onnx_tensor_data(im, &t)))
        return NULL;
    v->bytes = data;
    v->empty = t.desc;
    const struct block b = block_of(&t);
    /* It is in the source's memory, or a copy of ours, both of which may be written. */
    if (!turn_in_place(im, &b, (uint8_t *)(uintptr_t)data))
        return NULL;
    const struct tdl_tensor_params desc = {
        .dtype = t.desc.dtype,
        .rank = 4,
        .shape = {t.desc.shape[0], rank == 4 ? t.desc.shape[2] : 1, t.desc.shape[rank - 1],
                  t.desc.shape[1]},
    };
    v->turned = tdl_builder_constant(im->builder, &desc, data, tdl_tensor_params_size(&desc));
    if (v->turned && desc.dtype == TDL_FLOAT16)
        v->turned = tdl_builder_cast(im->builder, v->turned, TDL_FLOAT32);
    return v->turned;
}
