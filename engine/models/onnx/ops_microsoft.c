/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Operators of ONNX Runtime's own domain that its optimizer puts in the place of several:
 * a convolution or product with what follows it, normalizations of sums, gates. Formulas are
 * those of ONNX Runtime's documentation of contrib operators. A row without a function is
 * ONNX's own operator of that name.
 */
#include "onnx.h"

#include <string.h>

/* --------------------------------------------------------------- activations */

/* Without numbers, or with up to three, in whose place ONNX has others where they are left out. */
struct activation {
    const char *name;
    tdl_kit_one *one;
    struct tdl_operand *(*of)(struct tdl_builder *b, struct tdl_operand *x, const float p[3]);
    float otherwise[3];
};

static struct tdl_operand *leaky_relu(struct tdl_builder *b, struct tdl_operand *x,
                                      const float p[3])
{
    return tdl_builder_leaky_relu(b, x, p[0]);
}

static struct tdl_operand *elu(struct tdl_builder *b, struct tdl_operand *x, const float p[3])
{
    return tdl_builder_linear(b, tdl_builder_elu(b, x, p[0]), p[2], 0);
}

static struct tdl_operand *hard_sigmoid(struct tdl_builder *b, struct tdl_operand *x,
                                        const float p[3])
{
    return tdl_builder_hard_sigmoid(b, x, p[0], p[1]);
}

static struct tdl_operand *clip(struct tdl_builder *b, struct tdl_operand *x, const float p[3])
{
    return tdl_builder_clamp(b, x, &p[0], &p[1]);
}

static const struct activation activations[] = {
    {"Clip", .of = clip, .otherwise = {-3.4028235e38f, 3.4028235e38f}},
    {"Elu", .of = elu, .otherwise = {1, 0, 1}},
    {"HardSigmoid", .of = hard_sigmoid, .otherwise = {0.2f, 0.5f}},
    {"HardSwish", tdl_builder_hard_swish},
    {"LeakyRelu", .of = leaky_relu, .otherwise = {0.01f}},
    {"Relu", tdl_builder_relu},
    {"Selu", .of = elu, .otherwise = {1.67326324f, 0, 1.05070102f}},
    {"Sigmoid", tdl_builder_sigmoid},
    {"Softplus", tdl_builder_softplus},
    {"Softsign", tdl_builder_softsign},
    {"Tanh", tdl_builder_tanh},
};

/* The node's activation, whose numbers are a list, or attributes of their own. */
static struct tdl_operand *activate(struct onnx_import *im, struct tdl_operand *x)
{
    static const char *const names[] = {"activation_alpha", "activation_beta", "activation_gamma"};
    float numbers[3];
    struct tdl_pb type;
    uint32_t count;
    char text[48];

    if (!x || !onnx_string(im, "activation", &type) || type.size == 0)
        return x;
    for (size_t i = 0; i < sizeof(activations) / sizeof(activations[0]); i++) {
        const struct activation *a = &activations[i];

        if (!tdl_pb_is(&type, a->name))
            continue;
        for (uint32_t k = 0; k < 3; k++)
            numbers[k] = onnx_float(im, names[k], a->otherwise[k]);
        if (!onnx_float_list(im, "activation_params", numbers, 3, &count))
            return NULL;
        return a->one ? a->one(im->builder, x) : a->of(im->builder, x, numbers);
    }
    return tdl_kit_lacks_none(&im->kit, "the activation '%s'",
                              tdl_pb_text(&type, text, sizeof(text)));
}

/* -------------------------------------------------------------- convolutions */

struct tdl_operand *onnx_channels_first(struct onnx_import *im, struct tdl_operand *x)
{
    if (!x || tdl_kit_rank(x) == 4)
        return tdl_builder_transpose(im->builder, x, (const uint32_t[]){0, 3, 1, 2});
    return tdl_kit_lacks_none(&im->kit, "channels in the last of %u dimensions", tdl_kit_rank(x));
}

struct tdl_operand *onnx_channels_last(struct onnx_import *im, struct tdl_operand *x)
{
    return tdl_builder_transpose(im->builder, x, (const uint32_t[]){0, 2, 3, 1});
}

/* A summand, in the result's shape, then the activation. */
static struct tdl_operand *finish_conv(struct onnx_import *im, struct tdl_operand *y)
{
    struct tdl_operand *z;

    if (!y || !onnx_optional(im, 3, &z))
        return NULL;
    if (z && tdl_kit_rank(z) != tdl_kit_rank(y))
        z = onnx_reshape(im, z, tdl_kit_rank(y), tdl_kit_shape(y));
    return activate(im, z ? tdl_builder_add(im->builder, y, z) : y);
}

static struct tdl_operand *finish_nhwc(struct onnx_import *im, struct tdl_operand *y)
{
    return finish_conv(im, onnx_channels_last(im, y));
}

static bool add_fused_conv(struct onnx_import *im)
{
    return onnx_convolve_floats(im, onnx_operand(im, 0), finish_conv);
}

static bool add_nhwc_conv(struct onnx_import *im)
{
    struct tdl_operand *x = onnx_channels_first(im, onnx_operand(im, 0));

    return x && onnx_convolve_floats(im, x, finish_nhwc);
}

static bool add_nhwc_max_pool(struct onnx_import *im)
{
    struct tdl_operand *x = onnx_channels_first(im, onnx_operand(im, 0));

    return x && onnx_pool(im, x, true, onnx_channels_last);
}

/* ------------------------------------------------------------------ products */

static bool add_fused_gemm(struct onnx_import *im)
{
    struct tdl_operand *a = onnx_operand(im, 0), *b = a ? onnx_operand(im, 1) : NULL;
    struct tdl_gemm_params p = {
        .alpha = onnx_float(im, "alpha", 1),
        .beta = onnx_float(im, "beta", 1),
        .a_transpose = onnx_int(im, "transA", 0) != 0,
        .b_transpose = onnx_int(im, "transB", 0) != 0,
    };

    if (!b || (p.beta != 0 && !onnx_optional(im, 2, &p.c)))
        return false;
    if (p.alpha == 0) /* for the builder, 0 is 1 */
        a = tdl_builder_mul(im->builder, a, tdl_kit_like(&im->kit, a, 0));
    return onnx_give(im, activate(im, tdl_builder_gemm(im->builder, a, b, &p)));
}

/* A factor whose first dimension comes behind those of the batch, or whose last two are swapped,
 * or both in this order. */
static struct tdl_operand *turn_factor(struct onnx_import *im, uint32_t i, const char *matrix,
                                       const char *batch)
{
    struct tdl_operand *x = onnx_operand(im, i);
    const bool swapped = onnx_int(im, matrix, 0) != 0, moved = onnx_int(im, batch, 0) != 0;
    uint32_t order[TDL_MAX_RANK], rank = tdl_kit_rank(x);

    if (!x || rank < 2 || (!swapped && !moved))
        return x;
    for (uint32_t k = 0; k < rank; k++)
        order[k] = k;
    for (uint32_t k = 0; moved && k + 1 < rank; k++)
        order[k] = k + 2 < rank ? k + 1 : 0;
    if (swapped) {
        const uint32_t last = order[rank - 1];

        order[rank - 1] = order[rank - 2];
        order[rank - 2] = last;
    }
    x = tdl_builder_transpose(im->builder, x, order);
    return tdl_kit_settle(&im->kit, x);
}

static bool add_fused_matmul(struct onnx_import *im)
{
    struct tdl_operand *a = turn_factor(im, 0, "transA", "transBatchA"), *b;
    const float alpha = onnx_float(im, "alpha", 1);

    if (!a || !(b = turn_factor(im, 1, "transB", "transBatchB")))
        return false;
    if (tdl_kit_rank(a) < 2 || tdl_kit_rank(b) < 2)
        return tdl_kit_lacks(&im->kit, "vectors");
    a = tdl_builder_matmul(im->builder, a, b);
    if (alpha != 1)
        a = tdl_builder_linear(im->builder, a, alpha, 0);
    return onnx_give(im, activate(im, a));
}

/* --------------------------------------------------------------------- gates */

/* Inputs 0 and 1, which may be left out, as a sum. */
static struct tdl_operand *with_bias(struct onnx_import *im)
{
    struct tdl_operand *x = onnx_operand(im, 0), *bias;

    if (!x || !onnx_optional(im, 1, &bias))
        return NULL;
    return bias ? tdl_builder_add(im->builder, x, bias) : x;
}

static bool add_bias_gelu(struct onnx_import *im)
{
    struct tdl_operand *x = with_bias(im);

    return x && onnx_give(im, tdl_builder_gelu(im->builder, x));
}

static bool add_fast_gelu(struct onnx_import *im)
{
    struct tdl_operand *x = with_bias(im);

    return x && onnx_give(im, onnx_gelu_by_tanh(im, x));
}

/* x · sigmoid(alpha · x) */
static bool add_quick_gelu(struct onnx_import *im)
{
    struct tdl_builder *b = im->builder;
    struct tdl_operand *x = onnx_operand(im, 0), *gate;

    if (!x)
        return false;
    gate = tdl_builder_linear(b, x, onnx_float(im, "alpha", 1.702f), 0);
    return onnx_give(im, tdl_builder_mul(b, x, tdl_builder_sigmoid(b, gate)));
}

/* The first half of the channels times gelu of the second. */
static bool add_bias_split_gelu(struct onnx_import *im)
{
    struct tdl_builder *b = im->builder;
    struct tdl_operand *x = with_bias(im), *halves[2];

    if (!x || tdl_kit_rank(x) == 0)
        return x && tdl_kit_damaged(&im->kit, "a number has no channels");
    if (tdl_builder_split(b, x, 2, NULL, tdl_kit_rank(x) - 1, halves) != TDL_OK)
        return false;
    return onnx_give(im, tdl_builder_mul(b, halves[0], tdl_builder_gelu(b, halves[1])));
}

/* x + bias + skip */
static bool add_bias_add(struct onnx_import *im)
{
    struct tdl_operand *x = with_bias(im), *skip = x ? onnx_operand(im, 2) : NULL;

    return skip && onnx_give(im, tdl_builder_add(im->builder, x, skip));
}

/* Of all dimensions from the axis on together. */
static bool add_bias_softmax(struct onnx_import *im)
{
    struct tdl_operand *x = with_bias(im), *y;
    uint32_t axis;

    if (!x || !tdl_kit_axis(&im->kit, onnx_int(im, "axis", 1), tdl_kit_rank(x), &axis))
        return false;
    if (axis + 1 == tdl_kit_rank(x))
        return onnx_give(im, tdl_builder_softmax(im->builder, x, axis));
    y = tdl_builder_softmax(im->builder, tdl_builder_flatten(im->builder, x, axis), 1);
    return y && onnx_give(im, onnx_reshape(im, y, tdl_kit_rank(x), tdl_kit_shape(x)));
}

/* ------------------------------------------------------------ normalizations */

/* The sum of inputs 0 and 1 and of input `bias`, which may be left out; output 3 is it, too. */
static struct tdl_operand *skip_sum(struct onnx_import *im, uint32_t bias)
{
    struct tdl_operand *x = with_bias(im), *more;

    if (!x || !onnx_optional(im, bias, &more))
        return NULL;
    if (more)
        x = tdl_builder_add(im->builder, x, more);
    return !onnx_wanted(im, 3) || onnx_give_at(im, 3, x) ? x : NULL;
}

static bool add_skip_normalization(struct onnx_import *im)
{
    struct tdl_operand *x = skip_sum(im, 4), *scale = x ? onnx_operand(im, 2) : NULL, *bias;

    return scale && onnx_optional(im, 3, &bias) &&
           onnx_give(im,
                     onnx_normalize_last(im, x, scale, bias, onnx_float(im, "epsilon", 1e-12f)));
}

static bool add_skip_root(struct onnx_import *im)
{
    struct tdl_operand *x = skip_sum(im, 3), *scale = x ? onnx_operand(im, 2) : NULL;

    return scale && tdl_kit_rank(x) > 0 &&
           onnx_give(im, onnx_normalize_root(im, x, tdl_kit_rank(x) - 1, scale,
                                             onnx_float(im, "epsilon", 1e-12f)));
}

/* Rows of a table by their numbers, joined to `sum`, which may be NULL. */
static struct tdl_operand *add_rows(struct onnx_import *im, struct tdl_operand *sum, uint32_t table,
                                    struct tdl_operand *numbers)
{
    struct tdl_operand *rows = numbers ? onnx_operand(im, table) : NULL;

    rows = rows ? tdl_builder_gather(im->builder, rows, numbers, 0) : NULL;
    return rows && sum ? tdl_builder_add(im->builder, sum, rows) : rows;
}

/* How many of each batch's words the mask lets through, int32; 0 without a mask. */
static bool give_mask_index(struct onnx_import *im, const struct tdl_operand *words)
{
    static const struct tdl_reduce_params over = {{1}, 1};
    struct tdl_operand *mask;
    const struct tdl_tensor_params none = {TDL_INT32, 1, {tdl_kit_shape(words)[0]}};

    if (!onnx_wanted(im, 1))
        return true;
    if (!onnx_optional(im, 7, &mask))
        return false;
    return onnx_give_at(im, 1,
                        mask ? tdl_builder_reduce(im->builder,
                                                  tdl_builder_cast(im->builder, mask, TDL_INT32),
                                                  TDL_REDUCE_SUM, &over)
                             : tdl_kit_fill(&im->kit, &none, 0));
}

/* Words, places and segments as rows of tables, whose sum is normalized. */
static bool add_embedding(struct onnx_import *im)
{
    struct tdl_operand *words = onnx_operand(im, 0), *segments, *places, *sum, *scale, *bias;

    if (!words || !onnx_optional(im, 1, &segments) || !onnx_optional(im, 8, &places))
        return false;
    if (tdl_kit_rank(words) != 2)
        return tdl_kit_damaged(&im->kit, "words in %u dimensions", tdl_kit_rank(words));
    if (!places)
        places = tdl_kit_range(&im->kit, TDL_INT32, tdl_kit_shape(words)[1], 0, 1);
    sum = add_rows(im, add_rows(im, NULL, 2, words), 3, places);
    sum = sum && segments ? add_rows(im, sum, 4, segments) : sum;
    scale = sum ? onnx_operand(im, 5) : NULL;
    bias = scale ? onnx_operand(im, 6) : NULL;
    if (!bias || !give_mask_index(im, words) || (onnx_wanted(im, 2) && !onnx_give_at(im, 2, sum)))
        return false;
    return onnx_give(im,
                     onnx_normalize_last(im, sum, scale, bias, onnx_float(im, "epsilon", 1e-12f)));
}

/* Groups of the channels of `x`, in NCHW, each by its mean and deviation. */
static struct tdl_operand *normalize_groups(struct onnx_import *im, struct tdl_operand *x)
{
    const struct tdl_layer_normalization_params p = {
        .axes = {2}, .axis_count = 1, .epsilon = onnx_float(im, "epsilon", 1e-5f)};
    const int64_t groups = onnx_int(im, "groups", 0);
    const uint32_t *s = tdl_kit_shape(x);
    struct tdl_operand *y;

    if (tdl_kit_rank(x) != 4 || groups < 1 || groups > s[1] || s[1] % groups)
        return tdl_kit_lacks_none(&im->kit, "%lld groups of channels in %u dimensions",
                                  (long long)groups, tdl_kit_rank(x));
    const uint32_t flat[] = {s[0], (uint32_t)groups, s[1] / (uint32_t)groups * s[2] * s[3]};
    y = tdl_builder_layer_normalization(im->builder, onnx_reshape(im, x, 3, flat), &p);
    return onnx_reshape(im, y, 4, s);
}

/* Input `i`, one number for each channel, to be spread over NCHW. */
static struct tdl_operand *of_channels(struct onnx_import *im, uint32_t i)
{
    struct tdl_operand *o = onnx_operand(im, i);

    return o ? onnx_reshape(im, o, 3, (const uint32_t[]){(uint32_t)tdl_kit_elements(o), 1, 1})
             : NULL;
}

/* What comes to x first: of its shape, or a number for each channel of each picture. */
static struct tdl_operand *add_skip(struct onnx_import *im, struct tdl_operand *x, bool last)
{
    struct tdl_operand *skip = onnx_operand(im, 3), *bias;

    if (!skip || !onnx_optional(im, 4, &bias))
        return NULL;
    const uint32_t *s = tdl_kit_shape(skip), channels = tdl_kit_shape(x)[last ? 3 : 1];
    const uint32_t each[] = {s[0], last ? 1 : channels, 1, last ? channels : 1};
    if (tdl_kit_rank(skip) == 2)
        skip = onnx_reshape(im, skip, 4, each);
    x = tdl_builder_add(im->builder, x, skip);
    if (bias)
        x = tdl_builder_add(im->builder, x,
                            onnx_reshape(im, bias, last ? 1 : 3, last ? &channels : each + 1));
    return !onnx_wanted(im, 1) || onnx_give_at(im, 1, x) ? x : NULL;
}

static bool add_group_norm(struct onnx_import *im)
{
    const bool last = onnx_int(im, "channels_last", 1) != 0, skips = onnx_given(im, 3);
    struct tdl_operand *x = onnx_operand(im, 0), *scale, *bias;
    struct tdl_builder *b = im->builder;

    if (x && tdl_kit_rank(x) != 4)
        return tdl_kit_lacks(&im->kit, "%u dimensions", tdl_kit_rank(x));
    if (x && skips)
        x = add_skip(im, x, last);
    if (x && last)
        x = onnx_channels_first(im, x);
    if (!x || !(scale = of_channels(im, 1)) || !(bias = of_channels(im, 2)) ||
        !(x = normalize_groups(im, x)))
        return false;
    x = tdl_builder_add(b, tdl_builder_mul(b, x, scale), bias);
    if (onnx_int(im, "activation", 0))
        x = tdl_builder_mul(b, x, tdl_builder_sigmoid(b, x));
    return onnx_give(im, last ? onnx_channels_last(im, x) : x);
}

#define MS "com.microsoft."
const struct onnx_row onnx_rows_microsoft[] = {
    {MS "BiasAdd", 3, 3, add_bias_add},
    {MS "BiasGelu", 2, 2, add_bias_gelu},
    {MS "BiasSoftmax", 2, 2, add_bias_softmax},
    {MS "BiasSplitGelu", 2, 2, add_bias_split_gelu},
    {MS "CropAndResize", 4, 4, onnx_add_crop_and_resize},
    {MS "EmbedLayerNormalization", 7, 9, add_embedding},
    {MS "FastGelu", 1, 2, add_fast_gelu},
    {MS "FusedConv", 2, 4, add_fused_conv},
    {MS "FusedGemm", 2, 3, add_fused_gemm},
    {MS "FusedMatMul", 2, 2, add_fused_matmul},
    {MS "FusedMatMulActivation", 2, 2, add_fused_matmul},
    {MS "Gelu"},
    {MS "GridSample"},
    {MS "GroupNorm", 3, 3, add_group_norm},
    {MS "NhwcConv", 2, 3, add_nhwc_conv},
    {MS "NhwcFusedConv", 2, 4, add_nhwc_conv},
    {MS "NhwcMaxPool", 1, 1, add_nhwc_max_pool},
    {MS "Pad"},
    {MS "QuickGelu", 1, 1, add_quick_gelu},
    {MS "SkipGroupNorm", 4, 5, add_group_norm},
    {MS "SkipLayerNormalization", 3, 5, add_skip_normalization},
    {MS "SkipSimplifiedLayerNormalization", 3, 4, add_skip_root},
    {MS "TransposeMatMul", 2, 2, add_fused_matmul},
    {MS "Trilu"},
    {0},
};
