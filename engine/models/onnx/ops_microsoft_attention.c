/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Attention of ONNX Runtime's own domain: softmax(Q · Kᵀ · scale + masks) · V for each head,
 * where the projections, or their bias, are part of the operator. Formulas are those of
 * ONNX Runtime's documentation of contrib operators.
 */
#include "onnx.h"

#include <math.h>
#include <string.h>

enum { Q, K, V };

/* Where a node has its inputs, 0 where its kind has none such; and what is made of them. */
struct attention {
    uint32_t mask, bias, past_key, past_value; /* inputs */
    struct tdl_operand *in[3];                 /* [batches, heads, length, depth] */
    uint32_t past;                             /* elements of K that were there before */
};

/* -------------------------------------------------------------------- masks */

/* 0, 1, …, as many as K has elements, by their places in [1, 1, 1, length]. */
static struct tdl_operand *places(struct onnx_import *im, uint32_t length)
{
    return onnx_reshape(im, onnx_sequence(im, TDL_INT32, length, 0, 1), 4,
                        (const uint32_t[]){1, 1, 1, length});
}

/* Part `i` of numbers for each of `batches`. */
static struct tdl_operand *of_batches(struct onnx_import *im, struct tdl_operand *mask, uint32_t i,
                                      uint32_t batches)
{
    const struct tdl_slice_params p = {.start = {i * batches}, .size = {batches}};

    return onnx_reshape(im, tdl_builder_slice(im->builder, mask, &p), 4,
                        (const uint32_t[]){batches, 1, 1, 1});
}

/* 1 for what is seen: from a start, if there is one, to an end in each batch. */
static struct tdl_operand *seen_between(struct onnx_import *im, struct tdl_operand *mask,
                                        uint32_t batches, uint32_t length)
{
    const uint32_t count = tdl_kit_shape(mask)[0];
    struct tdl_builder *b = im->builder;
    struct tdl_operand *at = places(im, length), *seen;

    if (count != batches && count != 2 * batches)
        return tdl_kit_lacks_none(&im->kit, "a mask of %u numbers for %u batches", count, batches);
    seen = tdl_builder_lesser(b, at, of_batches(im, mask, 0, batches));
    if (count == batches)
        return seen;
    return tdl_builder_logical_and(
        b, seen, tdl_builder_greater_or_equal(b, at, of_batches(im, mask, 1, batches)));
}

/* 1 for what is seen, in four dimensions to be spread over queries by elements. */
static struct tdl_operand *seen(struct onnx_import *im, struct tdl_operand *mask,
                                const struct attention *a)
{
    const uint32_t *s = tdl_kit_shape(mask), rank = tdl_kit_rank(mask);

    if (rank == 1)
        return seen_between(im, mask, tdl_kit_shape(a->in[Q])[0], tdl_kit_shape(a->in[K])[2]);
    if (rank == 2)
        mask = onnx_reshape(im, mask, 4, (const uint32_t[]){s[0], 1, 1, s[1]});
    else if (rank == 3)
        mask = onnx_reshape(im, mask, 4, (const uint32_t[]){s[0], 1, s[1], s[2]});
    else
        return tdl_kit_lacks_none(&im->kit, "a mask of %u dimensions", rank);
    return mask ? tdl_builder_greater(im->builder, mask, tdl_kit_like(&im->kit, mask, 0)) : NULL;
}

static struct tdl_operand *add_masks(struct onnx_import *im, const struct attention *a,
                                     struct tdl_operand *x)
{
    const double filter = (double)onnx_float(im, "mask_filter_value", -10000);
    struct tdl_builder *b = im->builder;
    struct tdl_operand *mask, *bias;

    if (!x || !onnx_optional(im, a->mask, &mask) ||
        (bias = NULL, a->bias && !onnx_optional(im, a->bias, &bias)))
        return NULL;
    if (bias)
        x = tdl_builder_add(b, x, bias);
    if (x && mask) {
        mask = seen(im, mask, a);
        mask = mask ? tdl_builder_where(b, mask, tdl_kit_like(&im->kit, x, 0),
                                        tdl_kit_like(&im->kit, x, filter))
                    : NULL;
        x = mask ? tdl_builder_add(b, x, mask) : NULL;
    }
    if (!x || !onnx_int(im, "unidirectional", 0))
        return x;
    mask = onnx_causal_mask(im, a->in[Q], a->in[K], a->past);
    return mask ? tdl_builder_add(b, x, mask) : NULL;
}

static bool attend(struct onnx_import *im, const struct attention *a)
{
    static const uint32_t swapped[] = {0, 1, 3, 2};
    struct tdl_builder *b = im->builder;
    struct tdl_operand *x;
    float scale = onnx_float(im, "scale", 0);

    if (scale == 0)
        scale = 1 / sqrtf((float)tdl_kit_shape(a->in[Q])[3]);
    x = tdl_builder_linear(b, a->in[Q], scale, 0);
    x = tdl_builder_matmul(b, x, tdl_builder_transpose(b, a->in[K], swapped));
    x = add_masks(im, a, x);
    x = x ? tdl_builder_softmax(b, x, 3) : NULL;
    return x && onnx_give(im, onnx_from_heads(im, tdl_builder_matmul(b, x, a->in[V])));
}

/* ------------------------------------------------------- projections inside */

/* Q, K and V are in the last dimension of x, in these sizes or thirds. */
static bool split_projection(struct onnx_import *im, struct tdl_operand *x, struct attention *a)
{
    const uint32_t last = tdl_kit_shape(x)[2];
    const int64_t heads = onnx_int(im, "num_heads", 0);
    int64_t list[3] = {last / 3, last / 3, last / 3};
    uint32_t count, sizes[3];

    if (!onnx_int_list(im, "qkv_hidden_sizes", list, 3, &count))
        return false;
    for (uint32_t i = 0; i < 3; i++) {
        if (list[i] < 1 || list[i] > last)
            return tdl_kit_damaged(&im->kit, "%lld channels of %u", (long long)list[i], last);
        sizes[i] = (uint32_t)list[i];
    }
    if ((count != 0 && count != 3) || sizes[0] + sizes[1] + sizes[2] != last)
        return tdl_kit_damaged(&im->kit, "%u channels for queries, keys and values", last);
    if (tdl_builder_split(im->builder, x, 3, sizes, 2, a->in) != TDL_OK)
        return false;
    for (uint32_t i = 0; i < 3; i++)
        if (!(a->in[i] = onnx_by_heads(im, a->in[i], heads)))
            return false;
    return true;
}

/* K and V, one behind the other: input `i` of those before, and output 1 of all. */
static bool join_past(struct onnx_import *im, struct attention *a, uint32_t i)
{
    struct tdl_builder *b = im->builder;
    struct tdl_operand *past, *parts[2];

    if (!onnx_optional(im, i, &past))
        return false;
    if (past && (tdl_kit_rank(past) != 5 || tdl_kit_shape(past)[0] != 2))
        return tdl_kit_damaged(&im->kit, "what was before is no pair");
    for (uint32_t k = 0; k < 2; k++) {
        const struct tdl_slice_params p = {.start = {k}, .size = {1}};
        const uint32_t *s = tdl_kit_shape(past);

        if (!past)
            break;
        a->past = s[3];
        parts[0] = onnx_reshape(im, tdl_builder_slice(b, past, &p), 4,
                                (const uint32_t[]){s[1], s[2], s[3], s[4]});
        parts[1] = a->in[K + k];
        if (!(a->in[K + k] = tdl_builder_concat(b, parts, 2, 2)))
            return false;
    }
    if (!onnx_wanted(im, 1))
        return true;
    for (uint32_t k = 0; k < 2; k++) {
        const uint32_t *s = tdl_kit_shape(a->in[K + k]);

        parts[k] = onnx_reshape(im, a->in[K + k], 5, (const uint32_t[]){1, s[0], s[1], s[2], s[3]});
    }
    return onnx_give_at(im, 1, tdl_builder_concat(b, parts, 2, 0));
}

static bool check_projection(struct onnx_import *im, const struct tdl_operand *x,
                             const struct tdl_operand *weights)
{
    if (tdl_kit_rank(x) != 3 || tdl_kit_rank(weights) != 2)
        return tdl_kit_damaged(&im->kit, "weights of %u dimensions for an input of %u",
                               tdl_kit_rank(weights), tdl_kit_rank(x));
    if (onnx_int(im, "do_rotary", 0) || onnx_int(im, "past_present_share_buffer", 0))
        return tdl_kit_lacks(&im->kit, "rotated or shared keys");
    return true;
}

static bool project(struct onnx_import *im, struct tdl_operand *x, struct tdl_operand *weights,
                    struct attention *a, uint32_t past)
{
    struct tdl_operand *bias;

    if (!x || !weights || !check_projection(im, x, weights) || !onnx_optional(im, 2, &bias))
        return false;
    x = tdl_builder_matmul(im->builder, x, weights);
    if (bias)
        x = tdl_builder_add(im->builder, x, bias);
    return x && split_projection(im, x, a) && join_past(im, a, past) && attend(im, a);
}

static bool add_attention(struct onnx_import *im)
{
    struct attention a = {.mask = 3, .bias = 5};

    return project(im, onnx_operand(im, 0), onnx_operand(im, 1), &a, 4);
}

/* The same of quantized numbers. */
static bool add_quantized_attention(struct onnx_import *im)
{
    struct attention a = {.mask = 5};
    struct tdl_operand *x = onnx_operand(im, 0), *weights = x ? onnx_operand(im, 1) : NULL;
    struct tdl_operand *scales[2], *zeros[2];

    for (uint32_t i = 0; i < 2; i++) {
        const uint32_t rank = i ? 2 : 0;

        if (!weights || !(scales[i] = onnx_operand(im, 3 + i)) ||
            !onnx_optional(im, 6 + i, &zeros[i]) ||
            !(scales[i] = onnx_spread(im, scales[i], rank, 1)) ||
            (zeros[i] && !(zeros[i] = onnx_spread(im, zeros[i], rank, 1))))
            return false;
    }
    x = onnx_dequantize(im, x, scales[0], zeros[0]);
    return project(im, x, onnx_dequantize(im, weights, scales[1], zeros[1]), &a, 8);
}

/* ------------------------------------------------------ projections outside */

/* Part `i` of `count` that lie side by side in [batches, length, heads, count, depth]. */
static struct tdl_operand *unpack(struct onnx_import *im, struct tdl_operand *x, uint32_t i,
                                  uint32_t count)
{
    const uint32_t *s = tdl_kit_shape(x);

    if (tdl_kit_rank(x) != 5 || s[3] != count)
        return tdl_kit_lacks_none(&im->kit, "packed inputs of %u dimensions", tdl_kit_rank(x));
    const struct tdl_slice_params p = {.start = {[3] = i}, .size = {[3] = 1}};
    return onnx_reshape(im, tdl_builder_slice(im->builder, x, &p), 3,
                        (const uint32_t[]){s[0], s[1], s[2] * s[4]});
}

static bool read_three(struct onnx_import *im, struct tdl_operand *in[3])
{
    struct tdl_operand *packed;

    for (uint32_t i = 0; i < 3; i++)
        if (!onnx_optional(im, i, &in[i]))
            return false;
    if (!in[Q])
        return tdl_kit_damaged(&im->kit, "there are no queries");
    if (!in[K] != !in[V] || !in[K]) { /* what is left out is in the one before */
        const uint32_t first = in[K] ? K : Q, count = 3 - first;

        packed = in[first];
        for (uint32_t i = 0; i < count; i++)
            if (!(in[first + i] = unpack(im, packed, i, count)))
                return false;
    }
    return true;
}

/* A bias of all three, one behind the other, goes to those that are not by heads yet. */
static bool add_biases(struct onnx_import *im, struct tdl_operand *in[3])
{
    struct tdl_operand *bias, *part;
    uint32_t at = 0, size;

    if (!onnx_optional(im, 3, &bias))
        return false;
    for (uint32_t i = 0; i < 3 && bias; i++, at += size) {
        const bool deep = tdl_kit_rank(in[i]) == 4;
        const uint32_t *s = tdl_kit_shape(in[i]);

        size = deep ? s[1] * s[3] : s[2];
        if (deep)
            continue;
        part = tdl_builder_slice(im->builder, bias,
                                 &(struct tdl_slice_params){.start = {at}, .size = {size}});
        if (!(in[i] = tdl_builder_add(im->builder, in[i], part)))
            return false;
    }
    return true;
}

/* Behind input `past`; it is output `present`, then. */
static bool extend(struct onnx_import *im, struct tdl_operand **x, uint32_t past, uint32_t present)
{
    struct tdl_operand *parts[2] = {NULL, *x};

    if (!onnx_optional(im, past, &parts[0]) ||
        (parts[0] && !(*x = tdl_builder_concat(im->builder, parts, 2, 2))))
        return false;
    return !onnx_wanted(im, present) || onnx_give_at(im, present, *x);
}

static bool add_multi_head_attention(struct onnx_import *im)
{
    const int64_t heads = onnx_int(im, "num_heads", 0);
    struct attention a = {.mask = 4, .bias = 5};

    if (onnx_given(im, 8) || onnx_given(im, 9))
        return tdl_kit_lacks(&im->kit, "shared keys");
    if (!read_three(im, a.in) || !add_biases(im, a.in))
        return false;
    for (uint32_t i = 0; i < 3; i++)
        if (!(a.in[i] = onnx_by_heads(im, a.in[i], heads)))
            return false;
    const uint32_t own = tdl_kit_shape(a.in[K])[2];
    if (!extend(im, &a.in[K], 6, 1) || !extend(im, &a.in[V], 7, 2))
        return false;
    a.past = tdl_kit_shape(a.in[K])[2] - own;
    return attend(im, &a);
}

#define MS "com.microsoft."
const struct onnx_row onnx_rows_microsoft_attention[] = {
    {MS "Attention", 2, 7, add_attention},
    {MS "MultiHeadAttention", 1, 10, add_multi_head_attention},
    {MS "QAttention", 5, 9, add_quantized_attention},
    {MS "RotaryEmbedding", 4, 4, onnx_add_rotary, .detail = 1},
    {0},
};
