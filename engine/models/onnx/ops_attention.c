/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* ONNX's Attention, by its definition in Operators.md: softmax(Q · Kᵀ · scale + mask) · V for
 * each head, with what earlier runs left of K and V in front. */
#include "onnx.h"

#include <math.h>

enum { AFTER_PRODUCT, AFTER_MASK, AFTER_CAP, AFTER_SOFTMAX };

struct attention {
    struct tdl_operand *q, *k, *v; /* [batches, heads, length, depth] */
    uint32_t past;                 /* elements of k that were there before */
    bool flat;                     /* heads are in the last dimension of the file's */
};

static struct tdl_operand *to_shape(struct onnx_import *im, struct tdl_operand *o, uint32_t a,
                                    uint32_t b, uint32_t c, uint32_t d)
{
    return onnx_reshape(im, o, 4, (const uint32_t[]){a, b, c, d});
}

static struct tdl_operand *swap(struct onnx_import *im, struct tdl_operand *o, uint32_t i,
                                uint32_t j)
{
    uint32_t permutation[] = {0, 1, 2, 3};

    permutation[i] = j;
    permutation[j] = i;
    return tdl_builder_transpose(im->builder, o, permutation);
}

struct tdl_operand *onnx_by_heads(struct onnx_import *im, struct tdl_operand *x, int64_t heads)
{
    const uint32_t *s = tdl_kit_shape(x);

    if (!x || tdl_kit_rank(x) == 4)
        return x;
    if (tdl_kit_rank(x) != 3 || heads < 1 || heads > s[2] || s[2] % heads) {
        tdl_kit_damaged(&im->kit, "%u dimensions and %lld heads", tdl_kit_rank(x),
                        (long long)heads);
        return NULL;
    }
    x = to_shape(im, x, s[0], s[1], (uint32_t)heads, s[2] / (uint32_t)heads);
    return swap(im, x, 1, 2);
}

struct tdl_operand *onnx_from_heads(struct onnx_import *im, struct tdl_operand *x)
{
    const uint32_t *s = tdl_kit_shape(x);

    return x ? onnx_reshape(im, swap(im, x, 1, 2), 3, (const uint32_t[]){s[0], s[2], s[1] * s[3]})
             : NULL;
}

/* Input `i` by heads. */
static struct tdl_operand *by_heads(struct onnx_import *im, uint32_t i, const char *attribute)
{
    return onnx_by_heads(im, onnx_operand(im, i), onnx_int(im, attribute, 0));
}

/* Behind what input `past` has, which output `present` is then, and each head so often
 * that there are as many as queries. */
static struct tdl_operand *extend(struct onnx_import *im, struct tdl_operand *x, uint32_t past,
                                  uint32_t present, uint32_t heads)
{
    struct tdl_builder *b = im->builder;
    struct tdl_operand *parts[] = {NULL, x};

    if (!x || !onnx_optional(im, past, &parts[0]))
        return NULL;
    if (parts[0])
        x = tdl_builder_concat(b, parts, 2, 2);
    if (!x || (onnx_wanted(im, present) && !onnx_give_at(im, present, x)))
        return NULL;
    const uint32_t *s = tdl_kit_shape(x), n = s[0], own = s[1], length = s[2], depth = s[3];
    if (own == heads)
        return x;
    if (heads % own) {
        tdl_kit_damaged(&im->kit, "%u heads for %u queries", own, heads);
        return NULL;
    }
    x = onnx_reshape(im, x, 5, (const uint32_t[]){n, own, 1, length, depth});
    x = tdl_builder_expand(b, x, 5, (const uint32_t[]){n, own, heads / own, length, depth});
    return to_shape(im, x, n, heads, length, depth);
}

static bool read_inputs(struct onnx_import *im, struct attention *a)
{
    struct tdl_operand *k, *v;

    a->flat = (a->q = onnx_operand(im, 0)) && tdl_kit_rank(a->q) == 3;
    if (!(a->q = by_heads(im, 0, "q_num_heads")) || !(k = by_heads(im, 1, "kv_num_heads")) ||
        !(v = by_heads(im, 2, "kv_num_heads")))
        return false;
    if (onnx_given(im, 6))
        return tdl_kit_lacks(&im->kit, "lengths that depend on what the graph is run with");
    a->k = extend(im, k, 4, 1, tdl_kit_shape(a->q)[1]);
    a->v = extend(im, v, 5, 2, tdl_kit_shape(a->q)[1]);
    if (!a->k || !a->v)
        return false;
    a->past = tdl_kit_shape(a->k)[2] - tdl_kit_shape(k)[2];
    return true;
}

struct tdl_operand *onnx_causal_mask(struct onnx_import *im, const struct tdl_operand *q,
                                     const struct tdl_operand *k, uint32_t past)
{
    const uint32_t shape[] = {tdl_kit_shape(q)[2], tdl_kit_shape(k)[2]};
    float *mask = tdl_kit_make(&im->kit, (uint64_t)shape[0] * shape[1] * sizeof(*mask));
    struct tdl_operand *o;

    for (uint32_t i = 0; mask && i < shape[0]; i++)
        for (uint32_t j = past + i + 1; j < shape[1]; j++)
            mask[(size_t)i * shape[1] + j] = -INFINITY;
    o = mask ? onnx_constant(im, TDL_FLOAT32, 2, shape, mask) : NULL;
    return o ? tdl_builder_cast(im->builder, o, tdl_kit_desc(q)->dtype) : NULL;
}

static struct tdl_operand *add_masks(struct onnx_import *im, const struct attention *a,
                                     struct tdl_operand *x)
{
    struct tdl_builder *b = im->builder;
    struct tdl_operand *mask = NULL;

    if (!x || !onnx_optional(im, 3, &mask))
        return NULL;
    if (mask && tdl_kit_desc(mask)->dtype == TDL_UINT8)
        mask = tdl_builder_where(b, mask, tdl_kit_like(&im->kit, x, 0),
                                 tdl_kit_like(&im->kit, x, (double)-INFINITY));
    if (mask)
        x = tdl_builder_add(b, x, mask);
    if (!onnx_int(im, "is_causal", 0))
        return x;
    mask = onnx_causal_mask(im, a->q, a->k, a->past);
    return mask ? tdl_builder_add(b, x, mask) : NULL;
}

/* Where the file asks for what is between the steps. */
static bool give_between(struct onnx_import *im, int64_t step, struct tdl_operand *x)
{
    return x && (!onnx_wanted(im, 3) || onnx_int(im, "qk_matmul_output_mode", 0) != step ||
                 onnx_give_at(im, 3, tdl_builder_identity(im->builder, x)));
}

static bool add_attention(struct onnx_import *im)
{
    struct tdl_builder *b = im->builder;
    const float cap = onnx_float(im, "softcap", 0);
    struct attention a = {0};
    struct tdl_operand *x;

    if (!read_inputs(im, &a))
        return false;
    const float scale = onnx_float(im, "scale", 1 / sqrtf((float)tdl_kit_shape(a.q)[3]));
    x = tdl_builder_matmul(b, tdl_builder_linear(b, a.q, scale, 0), swap(im, a.k, 2, 3));
    if (!give_between(im, AFTER_PRODUCT, x))
        return false;
    x = add_masks(im, &a, x);
    if (!give_between(im, AFTER_MASK, x))
        return false;
    if (cap != 0)
        x = tdl_builder_linear(b, tdl_builder_tanh(b, tdl_builder_linear(b, x, 1 / cap, 0)), cap,
                               0);
    if (!give_between(im, AFTER_CAP, x))
        return false;
    x = tdl_builder_softmax(b, x, 3);
    if (!give_between(im, AFTER_SOFTMAX, x))
        return false;
    x = tdl_builder_matmul(b, x, a.v);
    return onnx_give(im, a.flat ? onnx_from_heads(im, x) : x);
}

const struct onnx_row onnx_rows_attention[] = {
    {"Attention", 3, 7, add_attention},
    {"RotaryEmbedding", 3, 4, onnx_add_rotary, .detail = 3},
    {0},
};
