/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Counts (counts.c) of operators whose numbers, or whose pictures, know nothing of each other. */
#include "count_rules.h"

/* Dimensions are aligned at the last: the least size of those of dimension `d` from the end
 * that are not 1. */
static bool least_size(struct onnx_import *im, uint32_t d, uint32_t *out)
{
    struct tdl_tensor_params desc;

    *out = 0;
    for (uint32_t i = 0; i < im->node.input_count; i++) {
        if (!onnx_given(im, i))
            continue;
        if (!onnx_desc(im, i, &desc))
            return false;
        const uint32_t size = d < desc.rank ? desc.shape[desc.rank - 1 - d] : 1;
        *out = size != 1 && (*out == 0 || size < *out) ? size : *out;
    }
    return true;
}

/* Sizes that are equal in truth may have different bounds: all take the least one. */
static bool prepare_elements(struct onnx_import *im)
{
    uint32_t least[TDL_MAX_RANK];
    struct tdl_tensor_params desc;

    for (uint32_t d = 0; d < TDL_MAX_RANK; d++)
        if (!least_size(im, d, &least[d]))
            return false;
    for (uint32_t i = 0; i < im->node.input_count && i < 3; i++) {
        struct tdl_slice_params p = {{0}};
        bool cut = false;

        if (!onnx_given(im, i) || !onnx_desc(im, i, &desc))
            continue;
        for (uint32_t d = 0; d < desc.rank; d++) {
            const uint32_t size = desc.shape[d], to = least[desc.rank - 1 - d];

            p.size[d] = size > 1 && to > 0 && to < size ? to : size;
            cut |= p.size[d] < size;
        }
        struct tdl_operand *x = cut ? onnx_operand(im, i) : NULL;
        if (cut && !(x && (im->node.instead[i] = tdl_builder_slice(im->builder, x, &p))))
            return false;
    }
    return true;
}

bool onnx_follow_elements(struct onnx_import *im)
{
    for (uint32_t o = 0; o < im->node.output_count; o++) {
        struct onnx_value *v = onnx_output_value(im, o);
        struct onnx_counts counts = {{NULL}};
        struct tdl_tensor_params desc;
        struct onnx_sizes in;

        for (uint32_t i = 0; v && i < im->node.input_count; i++) {
            const uint32_t rank = tdl_kit_rank(v->operand);

            if (!onnx_counts(im, i))
                continue;
            if (!onnx_read_sizes(im, i, &desc, &in))
                return false;
            for (uint32_t d = 0; d < in.rank && in.rank <= rank; d++) {
                const uint32_t to = d + rank - in.rank;

                if (in.counts.of[d] && !counts.of[to])
                    counts.of[to] = in.counts.of[d];
            }
        }
        if (v && !onnx_set_counts(im, o, &counts))
            return false;
    }
    return true;
}

bool onnx_follow_first(struct onnx_import *im)
{
    const struct onnx_counts *counts = onnx_counts(im, 0);
    struct tdl_tensor_params desc;

    if (!onnx_desc(im, 0, &desc))
        return false;
    for (uint32_t i = 0; counts && i < im->node.output_count; i++) {
        const struct onnx_value *v = onnx_output_value(im, i);

        if (v && tdl_kit_rank(v->operand) == desc.rank && !onnx_set_counts(im, i, counts))
            return false;
    }
    return true;
}

/* The first dimension is of pictures, or of rows, that know nothing of each other; of these
 * bits' inputs. */
static bool follow_rows(struct onnx_import *im, uint32_t inputs)
{
    struct onnx_counts counts = {{NULL}};

    for (uint32_t i = 0; i < im->node.input_count; i++) {
        if (!onnx_allow_counts(im, i, i < 32 && inputs >> i & 1))
            return false;
        counts.of[0] = counts.of[0] ? counts.of[0] : onnx_count(im, i, 0);
    }
    for (uint32_t i = 0; i < im->node.output_count; i++)
        if (onnx_output_value(im, i) && !onnx_set_counts(im, i, &counts))
            return false;
    return true;
}

static bool follow_batch(struct onnx_import *im)
{
    return follow_rows(im, 1);
}

/* Several inputs have the rows. */
static bool follow_batches(struct onnx_import *im)
{
    return follow_rows(im, ~0u);
}

/* In training it joins them. */
static bool follow_batch_normalization(struct onnx_import *im)
{
    if (onnx_int(im, "training_mode", 0))
        return onnx_allow_counts(im, 0, 0);
    return follow_batch(im);
}

/* Pictures, and height and width of the grid. */
static bool follow_grid(struct onnx_import *im)
{
    struct onnx_counts counts = {{NULL}};

    if (!onnx_allow_counts(im, 0, 1))
        return false;
    counts.of[0] = onnx_count(im, 0, 0) ? onnx_count(im, 0, 0) : onnx_count(im, 1, 0);
    for (uint32_t d = 1; d + 2 < TDL_MAX_RANK; d++)
        counts.of[1 + d] = onnx_count(im, 1, d);
    return onnx_set_counts(im, 0, &counts);
}

/* RoiAlign: regions are the second input's rows. */
static bool follow_regions(struct onnx_import *im)
{
    return onnx_allow_counts(im, 0, 0) &&
           (!onnx_count(im, 1, 0) || onnx_set_count(im, 0, 0, onnx_count(im, 1, 0)));
}

/* Sequences that know nothing of each other, whose steps all exist. */
static bool follow_recurrent(struct onnx_import *im)
{
    const bool first = onnx_int(im, "layout", 0) != 0;
    struct tdl_operand *count = onnx_count(im, 0, first ? 0 : 1);

    if (!onnx_allow_counts(im, 0, first ? 1 : 2))
        return false;
    for (uint32_t i = 1; i < im->node.input_count; i++)
        if (!onnx_allow_counts(im, i, i == 4 || first ? 1 : i > 4 && i < 7 ? 2 : 0))
            return false;
    for (uint32_t i = 0; count && i < im->node.output_count; i++)
        if (onnx_output_value(im, i) && !onnx_set_count(im, i, first ? 0 : i == 0 ? 2 : 1, count))
            return false;
    return true;
}

/* Dimensions that it cuts or pads must all exist. */
static bool follow_center_crop_pad(struct onnx_import *im)
{
    int64_t axes[TDL_MAX_RANK];
    struct tdl_tensor_params desc;
    uint32_t count, bits = ~0u;

    if (!onnx_desc(im, 0, &desc) || !onnx_int_list(im, "axes", axes, TDL_MAX_RANK, &count) ||
        (count && !tdl_kit_axis_bits(&im->kit, axes, count, desc.rank, &bits)))
        return false;
    return onnx_allow_counts(im, 0, ~bits) && onnx_follow_first(im);
}

#define EACH onnx_follow_elements, prepare_elements, 0
#define FIRST onnx_follow_first, NULL, 0xfe
#define BATCH follow_batch, NULL, 0
#define BATCHES follow_batches, NULL, 0
#define MS "com.microsoft."

const struct onnx_count_rule onnx_counts_elements[] = {
    {"Abs", EACH},
    {"Acos", EACH},
    {"Acosh", EACH},
    {"Add", EACH},
    {"And", EACH},
    {"AffineGrid", BATCH},
    {"Asin", EACH},
    {"Asinh", EACH},
    {"Atan", EACH},
    {"Atanh", EACH},
    {"Attention", BATCHES},
    {"AveragePool", BATCH},
    {"BatchNormalization", follow_batch_normalization, NULL, 0xfe},
    {"Bernoulli", FIRST},
    {"BitShift", EACH},
    {"BitwiseAnd", EACH},
    {"BitwiseNot", EACH},
    {"BitwiseOr", EACH},
    {"BitwiseXor", EACH},
    {"Cast", EACH},
    {"CastLike", EACH},
    {"Ceil", EACH},
    {"Celu", EACH},
    {"CenterCropPad", follow_center_crop_pad, NULL, 2},
    {"Clip", EACH},
    {"Col2Im", BATCH},
    {"Conv", BATCH},
    {"ConvInteger", BATCH},
    {"ConvTranspose", BATCH},
    {"Cos", EACH},
    {"Cosh", EACH},
    {"DeformConv", BATCHES},
    {"DepthToSpace", BATCH},
    {"DequantizeLinear", FIRST},
    {"Div", EACH},
    {"Dropout", EACH},
    {"Elu", EACH},
    {"Equal", EACH},
    {"Erf", EACH},
    {"Exp", EACH},
    {"EyeLike", FIRST},
    {"Floor", EACH},
    {"GRU", follow_recurrent, NULL, 0},
    {"Gelu", EACH},
    {"GlobalAveragePool", BATCH},
    {"GlobalLpPool", BATCH},
    {"GlobalMaxPool", BATCH},
    {"Greater", EACH},
    {"GreaterOrEqual", EACH},
    {"GridSample", follow_grid, NULL, 0},
    {"GroupNormalization", BATCH},
    {"HardSigmoid", EACH},
    {"HardSwish", EACH},
    {"Identity", EACH},
    {"InstanceNormalization", BATCH},
    {"IsInf", EACH},
    {"IsNaN", EACH},
    {"LRN", BATCH},
    {"LSTM", follow_recurrent, NULL, 0},
    {"LeakyRelu", EACH},
    {"Less", EACH},
    {"LessOrEqual", EACH},
    {"Log", EACH},
    {"LpPool", BATCH},
    {"Max", EACH},
    {"MaxPool", BATCH},
    {"MaxUnpool", BATCHES},
    {"Mean", EACH},
    {"Min", EACH},
    {"Mish", EACH},
    {"Mod", EACH},
    {"Mul", EACH},
    {"Neg", EACH},
    {"Not", EACH},
    {"Or", EACH},
    {"PRelu", EACH},
    {"Pow", EACH},
    {"QLinearConv", BATCH},
    {"QuantizeLinear", FIRST},
    {"RNN", follow_recurrent, NULL, 0},
    {"RandomNormalLike", FIRST},
    {"RandomUniformLike", FIRST},
    {"Reciprocal", EACH},
    {"Relu", EACH},
    {"Resize", follow_batch, NULL, 4 | 8},
    {"ReverseSequence", onnx_follow_first, NULL, 0},
    {"RoiAlign", follow_regions, NULL, 1},
    {"Round", EACH},
    {"Selu", EACH},
    {"Shrink", EACH},
    {"Sigmoid", EACH},
    {"Sign", EACH},
    {"Sin", EACH},
    {"Sinh", EACH},
    {"Softplus", EACH},
    {"Softsign", EACH},
    {"SpaceToDepth", BATCH},
    {"Sqrt", EACH},
    {"Sub", EACH},
    {"Sum", EACH},
    {"Swish", EACH},
    {"Tan", EACH},
    {"Tanh", EACH},
    {"ThresholdedRelu", EACH},
    {"Trilu", FIRST},
    {"Upsample", follow_batch, NULL, 2},
    {"Where", EACH},
    {"Xor", EACH},
    {MS "BiasGelu", EACH},
    {MS "FastGelu", EACH},
    {MS "FusedConv", BATCH},
    {MS "GroupNorm", BATCH},
    {MS "MultiHeadAttention", BATCHES},
    {MS "NhwcConv", BATCH},
    {MS "NhwcFusedConv", BATCH},
    {MS "NhwcMaxPool", BATCH},
    {MS "QLinearAveragePool", BATCH},
    {MS "QLinearGlobalAveragePool", BATCH},
    {MS "QLinearLeakyRelu", FIRST},
    {MS "QLinearSigmoid", FIRST},
    {MS "QuickGelu", EACH},
    {MS "SkipGroupNorm", BATCH},
    {0},
};
