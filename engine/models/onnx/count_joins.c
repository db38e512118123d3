/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Counts (counts.c) where elements are joined: those that do not exist are masked before. */
#include "count_rules.h"

#include <string.h>

/* The dimensions that a reduction takes together, as bits. */
static bool reduced(struct onnx_import *im, uint32_t rank, uint32_t *out)
{
    const bool arg = !strncmp(im->node.row->name, "Arg", 3);
    int64_t axes[TDL_MAX_RANK];
    uint32_t count, axis = 0;

    if (arg) {
        const bool ok = onnx_read_axis(im, 0, rank, &axis);
        *out = 1u << axis;
        return ok;
    }
    if (!onnx_ints_of(im, "axes", 1, axes, TDL_MAX_RANK, &count))
        return false;
    if (count)
        return tdl_kit_axis_bits(&im->kit, axes, count, rank, out);
    *out = onnx_int(im, "noop_with_empty_axes", 0) ? 0 : (1u << rank) - 1;
    return true;
}

static double neutral(struct onnx_import *im)
{
    const char *name = im->node.row->name;

    if (!strcmp(name, "ReduceProd"))
        return 1;
    if (!strcmp(name, "ReduceMax") || !strcmp(name, "ArgMax") || !strcmp(name, "ReduceLogSumExp"))
        return onnx_extreme(im, 0, false);
    return !strcmp(name, "ReduceMin") || !strcmp(name, "ArgMin") ? onnx_extreme(im, 0, true) : 0;
}

static bool prepare_reduce(struct onnx_import *im)
{
    struct tdl_tensor_params desc;
    uint32_t bits;

    return onnx_desc(im, 0, &desc) && reduced(im, desc.rank, &bits) &&
           onnx_mask_input(im, 0, bits, neutral(im));
}

/* A mean of the largest size as one of what exists. */
static struct tdl_operand *scale_mean(struct onnx_import *im, struct tdl_operand *y, uint32_t size,
                                      struct tdl_operand *count)
{
    struct tdl_builder *b = im->builder;

    count = tdl_builder_max(b, count, onnx_count_number(im, 1));
    count = tdl_builder_cast(b, onnx_reshape(im, count, 0, NULL), tdl_kit_desc(y)->dtype);
    return tdl_builder_div(b, tdl_builder_mul(b, y, tdl_kit_like(&im->kit, y, size)), count);
}

static bool follow_reduce(struct onnx_import *im)
{
    const bool mean = !strcmp(im->node.row->name, "ReduceMean");
    struct onnx_counts counts = {{NULL}};
    struct onnx_value *v = onnx_output_value(im, 0);
    struct tdl_tensor_params desc;
    uint32_t bits, to = 0;
    struct onnx_sizes in;

    if (!v || !onnx_read_sizes(im, 0, &desc, &in) || !reduced(im, in.rank, &bits))
        return !v;
    for (uint32_t d = 0; d < in.rank; d++) {
        if (bits >> d & 1) {
            if (mean && in.counts.of[d])
                v->operand = scale_mean(im, v->operand, in.shape[d], in.counts.of[d]);
            to += onnx_int(im, "keepdims", 1) != 0;
        } else {
            counts.of[to++] = in.counts.of[d];
        }
    }
    return v->operand && onnx_set_counts(im, 0, &counts);
}

/* Before opset 13 all dimensions from the axis on are one. */
static bool prepare_softmax(struct onnx_import *im)
{
    struct tdl_tensor_params desc;
    struct onnx_sizes in;
    uint32_t axis;

    if (!onnx_read_sizes(im, 0, &desc, &in) ||
        !onnx_read_axis(im, im->opset < 13 ? 1 : -1, in.rank, &axis))
        return false;
    for (uint32_t d = axis; im->opset < 13 && axis + 1 < in.rank && d < in.rank; d++)
        if (in.counts.of[d])
            return onnx_refuse_count(im, 0, onnx_uncountable);
    return onnx_mask_input(im, 0, 1u << axis, (double)-__builtin_inff());
}

/* All elements that are normalized together must exist. */
static bool follow_normalized(struct onnx_import *im)
{
    struct tdl_tensor_params desc;
    struct onnx_sizes in;
    uint32_t axis;

    if (!onnx_read_sizes(im, 0, &desc, &in) || !onnx_read_axis(im, -1, in.rank, &axis))
        return false;
    for (uint32_t d = axis; d < in.rank; d++)
        if (in.counts.of[d])
            return onnx_refuse_count(im, 0, onnx_uncountable);
    return onnx_set_counts(im, 0, &in.counts);
}

/* The axis that a vector is of may end early. */
static bool prepare_length(struct onnx_import *im)
{
    struct tdl_tensor_params desc;
    uint32_t axis;

    return onnx_desc(im, 0, &desc) && onnx_read_axis(im, -1, desc.rank, &axis) &&
           onnx_mask_input(im, 0, 1u << axis, 0);
}

static bool follow_mean_variance(struct onnx_import *im)
{
    int64_t axes[TDL_MAX_RANK] = {0, 2, 3};
    struct tdl_tensor_params desc;
    uint32_t count, bits;

    if (!onnx_desc(im, 0, &desc) || !onnx_int_list(im, "axes", axes, TDL_MAX_RANK, &count) ||
        !tdl_kit_axis_bits(&im->kit, axes, count ? count : 3, desc.rank, &bits))
        return false;
    return onnx_allow_counts(im, 0, ~bits) && onnx_follow_first(im);
}

/* 0 is in the range of all numbers in any case. */
static bool prepare_range(struct onnx_import *im)
{
    return onnx_mask_input(im, 0, ~0u, 0);
}

/* From the end on, it begins with elements that do not exist. */
static bool prepare_cumulative_sum(struct onnx_import *im)
{
    struct tdl_tensor_params desc;
    uint32_t count, axis;
    int64_t given;

    return onnx_desc(im, 0, &desc) && onnx_ints(im, 1, &given, 1, &count) &&
           tdl_kit_axis(&im->kit, given, desc.rank, &axis) &&
           onnx_mask_input(im, 0, onnx_int(im, "reverse", 0) ? 1u << axis : 0, 0);
}

/* The dimension of factor `i` of a product that is summed over. */
static uint32_t summed(struct onnx_import *im, uint32_t i, uint32_t rank)
{
    const bool turned = onnx_int(im, i ? "transB" : "transA", 0) != 0;

    return rank < 2 ? 0 : (i == 0) != turned ? rank - 1 : rank - 2;
}

/* The second factor's input. */
static uint32_t second_factor(const struct onnx_import *im)
{
    return !strcmp(im->node.row->name, "QLinearMatMul") ? 3 : 1;
}

static bool prepare_product(struct onnx_import *im)
{
    struct tdl_tensor_params desc;

    for (uint32_t i = 0; i < 2; i++)
        if (!onnx_desc(im, i, &desc) ||
            (onnx_int(im, i ? "transBatchB" : "transBatchA", 0) && !onnx_allow_counts(im, i, 0)) ||
            !onnx_mask_input(im, i, 1u << summed(im, i, desc.rank), 0))
            return false;
    return true;
}

/* Integers have a zero point: all that are summed must exist. */
static bool prepare_whole_product(struct onnx_import *im)
{
    const uint32_t inputs[] = {0, second_factor(im)};
    struct tdl_tensor_params desc;

    for (uint32_t i = 0; i < 2; i++)
        if (!onnx_desc(im, inputs[i], &desc) ||
            !onnx_allow_counts(im, inputs[i], ~(1u << summed(im, i, desc.rank))))
            return false;
    return true;
}

static bool follow_product(struct onnx_import *im)
{
    const uint32_t inputs[] = {0, second_factor(im)};
    const struct onnx_value *v = onnx_output_value(im, 0);
    struct onnx_counts counts = {{NULL}};
    struct tdl_tensor_params desc;
    struct onnx_sizes in;

    for (uint32_t i = 0; v && i < 2; i++) {
        const uint32_t rank = tdl_kit_rank(v->operand);

        if (!onnx_read_sizes(im, inputs[i], &desc, &in))
            return false;
        if (in.rank < 2 && onnx_counts(im, inputs[i]))
            return onnx_refuse_count(im, inputs[i], onnx_uncountable);
        const uint32_t gone = summed(im, i, in.rank);
        for (uint32_t d = 0; d < in.rank && in.rank > 1; d++) {
            const bool row = d + 2 >= in.rank;
            const uint32_t to = row ? rank - 2 + i : d + rank - in.rank;

            if (d != gone && in.counts.of[d] && to < rank && !counts.of[to])
                counts.of[to] = in.counts.of[d];
        }
    }
    return !v || onnx_set_counts(im, 0, &counts);
}

/* MatMulNBits: rows of the first input, by weights. */
static bool follow_rows_of_first(struct onnx_import *im)
{
    struct tdl_tensor_params desc;

    return onnx_desc(im, 0, &desc) && desc.rank > 0 &&
           onnx_allow_counts(im, 0, ~(1u << (desc.rank - 1))) && onnx_follow_first(im);
}

/* --------------------------------------------------------------------- Einsum */

/* Letters of a term of the equation from `at` on, one for each dimension; false where it is
 * none of letters alone. */
static bool read_term(const struct tdl_pb *equation, size_t *at, char *letters, uint32_t *count)
{
    const char *text = (const char *)equation->data;

    for (*count = 0; *at < equation->size && text[*at] != ',' && text[*at] != '-'; ++*at) {
        if (text[*at] == ' ')
            continue;
        if (text[*at] == '.' || *count == TDL_MAX_RANK)
            return false;
        letters[(*count)++] = text[*at];
    }
    return true;
}

/* Letters of the result, and of its terms, which stand before it. */
struct equation {
    char terms[3][TDL_MAX_RANK], result[TDL_MAX_RANK];
    uint32_t ranks[3], rank;
};

static bool read_equation(struct onnx_import *im, struct equation *out)
{
    struct tdl_pb text;
    size_t at = 0;

    *out = (struct equation){.rank = 0};
    if (!onnx_string(im, "equation", &text) || im->node.input_count > 3)
        return false;
    for (uint32_t i = 0; i < im->node.input_count; i++, at++)
        if (!read_term(&text, &at, out->terms[i], &out->ranks[i]))
            return false;
    at++; /* one of "->" is behind already */
    return at < text.size + 1 && at >= 2 && text.data[at - 1] == '>' &&
           read_term(&text, &at, out->result, &out->rank);
}

/* Finds the letter in the result, or gives its rank. */
static uint32_t find_letter(const struct equation *e, char letter)
{
    uint32_t d = 0;

    while (d < e->rank && e->result[d] != letter)
        d++;
    return d;
}

static bool prepare_einsum(struct onnx_import *im)
{
    struct equation e;
    const bool read = read_equation(im, &e);

    for (uint32_t i = 0; i < im->node.input_count; i++) {
        uint32_t bits = 0;

        if (!onnx_counts(im, i))
            continue;
        if (!read)
            return onnx_refuse_count(im, i, onnx_uncountable);
        for (uint32_t d = 0; d < e.ranks[i]; d++)
            bits |= (uint32_t)(find_letter(&e, e.terms[i][d]) == e.rank) << d;
        if (!onnx_mask_input(im, i, bits, 0))
            return false;
    }
    return true;
}

static bool follow_einsum(struct onnx_import *im)
{
    struct onnx_counts counts = {{NULL}};
    struct equation e;

    if (!read_equation(im, &e))
        return false;
    for (uint32_t i = 0; i < im->node.input_count; i++)
        for (uint32_t d = 0; d < e.ranks[i]; d++) {
            const uint32_t to = find_letter(&e, e.terms[i][d]);

            if (to < e.rank && onnx_count(im, i, d))
                counts.of[to] = onnx_count(im, i, d);
        }
    return !onnx_output_value(im, 0) || onnx_set_counts(im, 0, &counts);
}

#define MS "com.microsoft."

const struct onnx_count_rule onnx_counts_joins[] = {
    {"ArgMax", follow_reduce, prepare_reduce, 0},
    {"ArgMin", follow_reduce, prepare_reduce, 0},
    {"CumSum", onnx_follow_first, prepare_cumulative_sum, 2},
    {"DynamicQuantizeLinear", onnx_follow_first, prepare_range, 0},
    {"Einsum", follow_einsum, prepare_einsum, 0},
    {"Gemm", follow_product, prepare_product, 0},
    {"Hardmax", onnx_follow_elements, prepare_softmax, 0},
    {"LayerNormalization", follow_normalized, NULL, 0},
    {"LogSoftmax", onnx_follow_elements, prepare_softmax, 0},
    {"LpNormalization", onnx_follow_first, prepare_length, 0},
    {"MatMul", follow_product, prepare_product, 0},
    {"MatMulInteger", follow_product, prepare_whole_product, 4 | 8},
    {"MeanVarianceNormalization", follow_mean_variance, NULL, 0},
    {"QLinearMatMul", follow_product, prepare_whole_product, 0xf6},
    {"RMSNormalization", follow_normalized, NULL, 2},
    {"ReduceL1", follow_reduce, prepare_reduce, 2},
    {"ReduceL2", follow_reduce, prepare_reduce, 2},
    {"ReduceLogSum", follow_reduce, prepare_reduce, 2},
    {"ReduceLogSumExp", follow_reduce, prepare_reduce, 2},
    {"ReduceMax", follow_reduce, prepare_reduce, 2},
    {"ReduceMean", follow_reduce, prepare_reduce, 2},
    {"ReduceMin", follow_reduce, prepare_reduce, 2},
    {"ReduceProd", follow_reduce, prepare_reduce, 2},
    {"ReduceSum", follow_reduce, prepare_reduce, 2},
    {"ReduceSumSquare", follow_reduce, prepare_reduce, 2},
    {"SimplifiedLayerNormalization", follow_normalized, NULL, 2},
    {"Softmax", onnx_follow_elements, prepare_softmax, 0},
    {MS "FusedGemm", follow_product, prepare_product, 0},
    {MS "FusedMatMul", follow_product, prepare_product, 0},
    {MS "MatMulIntegerToFloat", follow_product, prepare_whole_product, 0xfc},
    {MS "MatMulNBits", follow_rows_of_first, NULL, 0xfe},
    {MS "TransposeMatMul", follow_product, prepare_product, 0},
    {0},
};
