/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * RotaryEmbedding of ONNX (Operators.md, RotaryEmbedding) and of ONNX Runtime's domain: pairs of
 * numbers of each head are turned by an angle of their place.
 */
#include "onnx.h"

#include <string.h>

typedef struct tdl_operand *O;

struct rotary {
    struct onnx_import *im;
    uint32_t batch, length, heads, depth, turned; /* turned: numbers of each head */
    bool by_heads, neighbours; /* [batch, heads, …]; pairs of neighbours, else of halves */
};

static bool read_rotary(struct onnx_import *im, const struct tdl_operand *x, uint32_t half,
                        struct rotary *r)
{
    const uint32_t *s = tdl_kit_shape(x), rank = tdl_kit_rank(x);
    const int64_t turned = onnx_int(im, "rotary_embedding_dim", 0);
    int64_t heads = onnx_int(im, "num_heads", 0);

    if ((rank != 3 && rank != 4) || !half)
        return tdl_kit_damaged(&im->kit, "an input of %u dimensions", rank);
    if (rank == 3 && !heads && s[2] % (2 * half) == 0)
        heads = s[2] / (2 * half);
    *r = (struct rotary){.im = im, .batch = s[0], .by_heads = rank == 4};
    r->neighbours = onnx_int(im, "interleaved", 0) != 0;
    r->length = s[rank == 4 ? 2 : 1];
    if (rank == 3 && (heads < 1 || s[2] % heads))
        return tdl_kit_damaged(&im->kit, "%u numbers for %lld heads", s[2], (long long)heads);
    r->heads = rank == 4 ? s[1] : (uint32_t)heads;
    r->depth = rank == 4 ? s[3] : s[2] / r->heads;
    r->turned = turned ? (uint32_t)turned : r->depth;
    return (r->turned == 2 * half && r->turned <= r->depth) ||
           tdl_kit_damaged(&im->kit, "angles of %u pairs for %u numbers", half, r->turned);
}

/* The cache's rows of the places, [batch, length, half]; ONNX Runtime gives the first place
 * alone, of which the others follow. */
static O angles(const struct rotary *r, O cache, O places, uint32_t half)
{
    struct onnx_import *im = r->im;
    struct tdl_builder *b = im->builder;
    const uint32_t shape[] = {r->batch, r->length}, spread[] = {r->batch, r->length, 1, 1, 1};
    uint32_t paired[5];

    if (places && tdl_kit_elements(places) == 1 && r->batch * r->length > 1) {
        O step = tdl_kit_range(&im->kit, TDL_INT32, r->length, 0, 1);

        places = onnx_reshape(im, tdl_builder_cast(b, places, TDL_INT32), 1, &(uint32_t){1});
        places = places ? tdl_builder_add(b, places, step) : NULL;
        places = onnx_reshape(im, places, 2, (const uint32_t[]){1, r->length});
        places = places ? tdl_builder_expand(b, places, 2, shape) : NULL;
        if (!places)
            return NULL;
    }
    if (places)
        cache = tdl_builder_gather(b, cache, places, 0);
    memcpy(paired, spread, sizeof(paired));
    paired[r->neighbours ? 3 : 4] = half;
    return onnx_reshape(im, cache, 5, paired);
}

/* Numbers of a pair, each of x's: [batch, length, heads, …] with 1 in place of 2. */
static O one_of_pair(const struct rotary *r, O x, uint32_t i)
{
    struct tdl_slice_params p = {.start = {0}};
    const uint32_t axis = r->neighbours ? 4 : 3;

    memcpy(p.size, tdl_kit_shape(x), 5 * sizeof(*p.size));
    p.start[axis] = i;
    p.size[axis] = 1;
    return tdl_builder_slice(r->im->builder, x, &p);
}

static O turn(const struct rotary *r, O x, O cosine, O sine)
{
    struct tdl_builder *b = r->im->builder;
    const uint32_t half = r->turned / 2, flat[] = {r->batch, r->length, r->heads, r->turned};
    const uint32_t pairs[] = {r->batch, r->length, r->heads, r->neighbours ? half : 2,
                              r->neighbours ? 2 : half};
    O first, second, both[2];

    x = onnx_reshape(r->im, x, 5, pairs);
    if (!x || !cosine || !sine)
        return NULL;
    first = one_of_pair(r, x, 0);
    second = one_of_pair(r, x, 1);
    both[0] =
        tdl_builder_sub(b, tdl_builder_mul(b, cosine, first), tdl_builder_mul(b, sine, second));
    both[1] =
        tdl_builder_add(b, tdl_builder_mul(b, sine, first), tdl_builder_mul(b, cosine, second));
    return onnx_reshape(r->im, tdl_builder_concat(b, both, 2, r->neighbours ? 4 : 3), 4, flat);
}

static bool give_turned(const struct rotary *r, O x, O cosine, O sine)
{
    static const uint32_t swap[] = {0, 2, 1, 3};
    struct tdl_builder *b = r->im->builder;
    const uint32_t shape[] = {r->batch, r->length, r->heads, r->depth};
    const struct tdl_slice_params head = {.size = {r->batch, r->length, r->heads, r->turned}};
    const struct tdl_slice_params tail = {
        .start = {0, 0, 0, r->turned},
        .size = {r->batch, r->length, r->heads, r->depth - r->turned}};
    O all = r->by_heads ? tdl_builder_transpose(b, x, swap) : onnx_reshape(r->im, x, 4, shape);
    O parts[2] = {all};

    if (r->turned < r->depth)
        parts[0] = tdl_builder_slice(b, all, &head);
    parts[0] = turn(r, parts[0], cosine, sine);
    if (parts[0] && r->turned < r->depth) {
        parts[1] = tdl_builder_slice(b, all, &tail);
        parts[0] = tdl_builder_concat(b, parts, 2, 3);
    }
    if (parts[0] && r->by_heads)
        return onnx_give(r->im, tdl_builder_transpose(b, parts[0], swap));
    return parts[0] && onnx_give_like_input(
                           r->im, onnx_reshape(r->im, parts[0], tdl_kit_rank(x), tdl_kit_shape(x)));
}

/* The row's detail is the input of the places, and the caches are before them or behind. */
bool onnx_add_rotary(struct onnx_import *im)
{
    const uint32_t at = (uint32_t)im->node.row->detail, first = at == 1 ? 2 : 1;
    O x = onnx_operand(im, 0), cosine = x ? onnx_operand(im, first) : NULL, places;
    O sine = cosine ? onnx_operand(im, first + 1) : NULL;
    struct rotary r;

    if (!sine || !onnx_optional(im, at, &places))
        return false;
    if (onnx_int(im, "is_packed_batching", 0) || onnx_float(im, "scale", 1) != 1)
        return tdl_kit_lacks(&im->kit, "packed batches, or a scale");
    const uint32_t rank = tdl_kit_rank(cosine), half = tdl_kit_shape(cosine)[rank ? rank - 1 : 0];
    if (!read_rotary(im, x, half, &r))
        return false;
    cosine = angles(&r, cosine, places, half);
    sine = cosine ? angles(&r, sine, places, half) : NULL;
    return sine && give_turned(&r, x, cosine, sine);
}
