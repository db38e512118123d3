/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Sparse constants, as SparsityParameters in TensorFlow Lite's schema has them. Their
 * numbers lie in the order of a walk over the dimensions, of which some list what is there
 * of them (compressed rows); blocks of a dimension are walked over behind those. All else
 * is 0.
 */
#include "tflite.h"

#include <string.h>

#define MOST_LEVELS (2 * TDL_MAX_RANK)

/* Whole numbers of 1, 2 or 4 bytes; damaged ones are larger than any list. */
struct list {
    const uint8_t *data;
    uint32_t count, size;
};

struct level {
    bool sparse;
    uint32_t size;   /* of the dimension, or the block */
    uint64_t stride; /* of one step of it, in elements of the dense constant */
    struct list segments, indices;
};

struct walk {
    struct level levels[MOST_LEVELS];
    uint32_t count;
    const uint8_t *from;
    uint8_t *to;
    size_t element;
    uint64_t numbers, steps; /* those that are there; that may still be taken */
};

static bool fail_damaged(struct tflite_import *im, const struct tflite_tensor *t)
{
    return tflite_check(im) &&
           tdl_kit_damaged(&im->kit,
                           "the model file is damaged: what the sparse tensor '%.80s' has does not "
                           "fit its shape",
                           t->name);
}

/* --------------------------------------------------------------- the levels */

/* A union of tables with one vector each: fields for its kind and for the table. */
static struct list read_list(struct tflite_import *im, const struct tdl_fb_table *table,
                             uint32_t field)
{
    static const uint8_t sizes[] = {0, 4, 2, 1};
    const uint8_t kind = tdl_fb_u8(&im->fb, table, field, 0);
    const struct tdl_fb_table values = tdl_fb_sub_table(&im->fb, table, field + 1);
    struct tdl_fb_vector v;

    if (kind == 0 || kind >= sizeof(sizes))
        return (struct list){0};
    v = tdl_fb_vector_of(&im->fb, &values, 0, sizes[kind]);
    return (struct list){im->fb.data + v.pos, v.count, sizes[kind]};
}

static uint32_t number_at(const struct list *l, uint64_t i)
{
    uint32_t value = 0;

    if (i >= l->count)
        return UINT32_MAX;
    for (uint32_t byte = 0; byte < l->size; byte++)
        value |= (uint32_t)l->data[i * l->size + byte] << (8 * byte);
    return value;
}

static void read_level(struct tflite_import *im, const struct tdl_fb_vector *metadata, uint32_t i,
                       struct level *out)
{
    const struct tdl_fb_table dim = tdl_fb_vector_table(&im->fb, metadata, i);
    const int32_t size = tdl_fb_i32(&im->fb, &dim, TFLITE_DIMENSION_DENSE_SIZE, 0);

    *out = (struct level){
        .sparse = tdl_fb_u8(&im->fb, &dim, TFLITE_DIMENSION_FORMAT, 0) != 0,
        .size = size > 0 ? (uint32_t)size : 0,
        .segments = read_list(im, &dim, TFLITE_DIMENSION_SEGMENTS_TYPE),
        .indices = read_list(im, &dim, TFLITE_DIMENSION_INDICES_TYPE),
    };
}

/* The last levels are blocks of dimensions, which have what remains of them. */
static bool place_levels(struct walk *w, const struct tflite_tensor *t, const uint32_t *dimension)
{
    uint32_t rest[TDL_MAX_RANK], seen = 0;
    uint64_t stride[TDL_MAX_RANK], inner = 1;

    memcpy(rest, t->shape, sizeof(rest));
    for (uint32_t d = t->rank; d-- > 0; inner *= t->shape[d])
        stride[d] = inner;
    for (uint32_t i = w->count; i-- > 0;) {
        struct level *l = &w->levels[i];
        const uint32_t d = dimension[i];

        if (i < t->rank) {
            if (seen >> d & 1 || (!l->sparse && l->size != rest[d]))
                return false;
            seen |= 1u << d;
            l->size = rest[d];
        } else if (l->sparse || !l->size || rest[d] % l->size) {
            return false;
        }
        l->stride = stride[d];
        stride[d] *= l->size;
        rest[d] /= l->size;
    }
    return true;
}

static bool read_levels(struct tflite_import *im, const struct tdl_fb_table *sparsity,
                        const struct tflite_tensor *t, struct walk *w)
{
    const struct tdl_fb_vector order =
        tdl_fb_vector_of(&im->fb, sparsity, TFLITE_SPARSITY_TRAVERSAL_ORDER, 4);
    const struct tdl_fb_vector blocks =
        tdl_fb_vector_of(&im->fb, sparsity, TFLITE_SPARSITY_BLOCK_MAP, 4);
    const struct tdl_fb_vector metadata =
        tdl_fb_vector_of(&im->fb, sparsity, TFLITE_SPARSITY_DIM_METADATA, 4);
    uint32_t dimension[MOST_LEVELS];

    if (!tflite_check(im) || order.count > MOST_LEVELS || order.count < t->rank ||
        order.count - t->rank != blocks.count || metadata.count != order.count)
        return fail_damaged(im, t);
    w->count = order.count;
    for (uint32_t i = 0; i < w->count; i++) {
        uint32_t d = (uint32_t)tdl_fb_vector_i32(&im->fb, &order, i);

        if ((i < t->rank) != (d < t->rank) || d >= w->count)
            return fail_damaged(im, t);
        if (i >= t->rank)
            d = (uint32_t)tdl_fb_vector_i32(&im->fb, &blocks, d - t->rank);
        if (d >= t->rank)
            return fail_damaged(im, t);
        dimension[i] = d;
        read_level(im, &metadata, i, &w->levels[i]);
    }
    return tflite_check(im) && (place_levels(w, t, dimension) || fail_damaged(im, t));
}

/* ------------------------------------------------------------------ the walk */

/* From the level on; `before`: the place among what the level before has. */
static bool walk(struct walk *w, uint32_t level, uint64_t before, uint64_t at)
{
    const struct level *l = &w->levels[level];

    if (w->steps-- == 0)
        return false;
    if (level == w->count) {
        if (before >= w->numbers)
            return false;
        memcpy(w->to + at * w->element, w->from + before * w->element, w->element);
        return true;
    }
    for (uint32_t i = 0; i < l->size && !l->sparse; i++)
        if (!walk(w, level + 1, before * l->size + i, at + i * l->stride))
            return false;
    if (!l->sparse)
        return true;
    const uint32_t end = number_at(&l->segments, before + 1);
    if (end > l->indices.count)
        return false;
    for (uint32_t i = number_at(&l->segments, before); i < end; i++) {
        const uint32_t index = number_at(&l->indices, i);

        if (index >= l->size || !walk(w, level + 1, i, at + index * l->stride))
            return false;
    }
    return true;
}

bool tflite_densify(struct tflite_import *im, const struct tdl_fb_table *sparsity,
                    struct tflite_tensor *t)
{
    const size_t element = tflite_type_size(t->type);
    struct tflite_made key = {.from = (uintptr_t)t->data,
                              .size = t->data_size,
                              .bytes = t->elements * element,
                              .kind = TFLITE_MADE_DENSE,
                              .scales = sparsity->pos};
    struct walk w = {.from = t->data, .element = element};
    bool found;

    if (t->type == TFLITE_INT4 || element == 0)
        return tdl_kit_refuse(
            &im->kit, "tensor '%.80s' is sparse and %s; convert the model with dense weights",
            t->name, tflite_type_name(t->type));
    im->has_sparse = true;
    if (!read_levels(im, sparsity, t, &w) || !(w.to = tflite_make(im, &key, &found)))
        return false;
    w.numbers = t->data_size / element;
    w.steps = (t->elements + 1) * (w.count + 1);
    if (!found) {
        memset(w.to, 0, key.bytes);
        if (!walk(&w, 0, 0, 0))
            return fail_damaged(im, t);
    }
    t->data = w.to;
    t->data_size = key.bytes;
    return true;
}
