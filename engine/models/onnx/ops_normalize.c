/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* ONNX's normalizations. Formulas are those of ONNX's Operators.md. */
#include "onnx.h"

#include <string.h>

static struct tdl_operand *float_constant(struct onnx_import *im, uint32_t i)
{
    struct tdl_operand *o = onnx_operand(im, i);

    if (o && tdl_kit_desc(o)->dtype == TDL_FLOAT16) {
        o = tdl_builder_cast(im->builder, o, TDL_FLOAT32);
        if (o)
            tdl_builder_evaluate(im->builder, o);
    }
    return o;
}

/* Rank 4, as the builder's operators on channels want it: space is flattened, or a
 * dimension of 1 added. */
static struct tdl_operand *to_rank_4(struct onnx_import *im, struct tdl_operand *x)
{
    uint32_t shape[4] = {1, 1, 1, 1};

    if (tdl_kit_rank(x) == 4)
        return x;
    if (tdl_kit_rank(x) < 2) {
        tdl_kit_damaged(&im->kit, "%u dimensions have no channels", tdl_kit_rank(x));
        return NULL;
    }
    for (uint32_t i = 0; i < tdl_kit_rank(x); i++)
        shape[i < 3 ? i : 3] *= tdl_kit_shape(x)[i];
    return onnx_reshape(im, x, 4, shape);
}

/* old · momentum + now · (1 − momentum), of which a momentum of 1 leaves input `i`. */
static bool give_running(struct onnx_import *im, uint32_t i, struct tdl_operand *x,
                         struct tdl_operand *(*now)(struct onnx_import *im, struct tdl_operand *x))
{
    struct tdl_builder *b = im->builder;
    const float momentum = onnx_float(im, "momentum", 0.9f);
    struct tdl_operand *old = onnx_wanted(im, i - 2) ? onnx_operand(im, i) : NULL;

    if (!onnx_wanted(im, i - 2))
        return true;
    if (!old || momentum == 1)
        return onnx_give_at(im, i - 2, old);
    old = tdl_builder_linear(b, old, momentum, 0);
    return onnx_give_at(
        im, i - 2, tdl_builder_add(b, old, tdl_builder_linear(b, now(im, x), 1 - momentum, 0)));
}

/* Over all of x, [images, channels, height, width], but the channels. */
static struct tdl_operand *channel_mean(struct onnx_import *im, struct tdl_operand *x)
{
    const struct tdl_reduce_params p = {.axes = {0, 2, 3}, .axis_count = 3};

    return tdl_builder_reduce(im->builder, x, TDL_REDUCE_MEAN, &p);
}

static struct tdl_operand *channel_variance(struct onnx_import *im, struct tdl_operand *x)
{
    const struct tdl_reduce_params p = {
        .axes = {0, 2, 3}, .axis_count = 3, .keep_dimensions = true};
    struct tdl_operand *d =
        tdl_builder_sub(im->builder, x, tdl_builder_reduce(im->builder, x, TDL_REDUCE_MEAN, &p));

    return channel_mean(im, tdl_builder_mul(im->builder, d, d));
}

/* By the moments of x itself, as weights are standardised: the instance normalization of all
 * images as one. */
static bool add_training(struct onnx_import *im, struct tdl_operand *x)
{
    struct tdl_builder *b = im->builder;
    struct tdl_instance_normalization_params p = {.epsilon = onnx_float(im, "epsilon", 1e-5f),
                                                  .scale = float_constant(im, 1),
                                                  .bias = float_constant(im, 2),
                                                  .input_layout = TDL_LAYOUT_NCHW};
    const uint32_t swap[] = {1, 0, 2, 3};
    uint32_t s[4];

    if (!x || !p.scale || !p.bias)
        return false;
    memcpy(s, tdl_kit_shape(x), sizeof(s));
    struct tdl_operand *y = s[0] > 1 ? tdl_builder_transpose(b, x, swap) : x;
    y = onnx_reshape(im, y, 4, (const uint32_t[]){1, s[1], s[0] * s[2], s[3]});
    y = tdl_builder_instance_normalization(b, y, &p);
    y = onnx_reshape(im, y, 4,
                     (const uint32_t[]){s[0] > 1 ? s[1] : 1, s[0] > 1 ? s[0] : s[1], s[2], s[3]});
    return give_running(im, 3, x, channel_mean) && give_running(im, 4, x, channel_variance) &&
           onnx_give_like_input(im, s[0] > 1 ? tdl_builder_transpose(b, y, swap) : y);
}

static bool add_batch_normalization(struct onnx_import *im)
{
    struct tdl_operand *x = onnx_operand(im, 0), *mean, *variance;
    struct tdl_batch_normalization_params p = {.epsilon = onnx_float(im, "epsilon", 1e-5f),
                                               .input_layout = TDL_LAYOUT_NCHW};

    if (onnx_int(im, "training_mode", 0))
        return x && add_training(im, to_rank_4(im, x));
    if (!x || !(x = to_rank_4(im, x)) || !(p.scale = float_constant(im, 1)) ||
        !(p.bias = float_constant(im, 2)) || !(mean = float_constant(im, 3)) ||
        !(variance = float_constant(im, 4)))
        return false;
    return onnx_give_like_input(
        im, tdl_builder_batch_normalization(im->builder, x, mean, variance, &p));
}

/* [channels] as [channels, 1, …], to be spread over a value of `rank` dimensions. */
static struct tdl_operand *over_channels(struct onnx_import *im, struct tdl_operand *o,
                                         uint32_t rank)
{
    uint32_t shape[TDL_MAX_RANK] = {0};

    if (!o || rank < 2)
        return NULL;
    shape[0] = tdl_kit_shape(o)[0];
    for (uint32_t i = 1; i < rank - 1; i++)
        shape[i] = 1;
    return onnx_reshape(im, o, rank - 1, shape);
}

static struct tdl_operand *scale_and_shift(struct onnx_import *im, struct tdl_operand *x,
                                           struct tdl_operand *scale, struct tdl_operand *bias)
{
    if (scale)
        x = tdl_builder_mul(im->builder, x, scale);
    if (bias)
        x = tdl_builder_add(im->builder, x, bias);
    return x;
}

static bool add_instance_normalization(struct onnx_import *im)
{
    struct tdl_operand *x = onnx_operand(im, 0);
    struct tdl_instance_normalization_params p = {.epsilon = onnx_float(im, "epsilon", 1e-5f),
                                                  .input_layout = TDL_LAYOUT_NCHW};

    if (!x || !(x = to_rank_4(im, x)))
        return false;
    if (onnx_is_constant(im, 1) && onnx_is_constant(im, 2)) {
        if (!(p.scale = float_constant(im, 1)) || !(p.bias = float_constant(im, 2)))
            return false;
        return onnx_give_like_input(im, tdl_builder_instance_normalization(im->builder, x, &p));
    }
    struct tdl_operand *scale = onnx_operand(im, 1), *bias = scale ? onnx_operand(im, 2) : NULL;
    if (!bias)
        return false;
    x = tdl_builder_instance_normalization(im->builder, x, &p);
    return x && onnx_give_like_input(im, scale_and_shift(im, x, over_channels(im, scale, 4),
                                                         over_channels(im, bias, 4)));
}

/* Has it the type of x, and the dimensions that x has from the axis on? ONNX lets scale and
 * bias be of fewer, too, to be spread. */
static bool is_of_axes(const struct tdl_operand *x, uint32_t axis, const struct tdl_operand *o)
{
    return !o ||
           (tdl_kit_desc(o)->dtype == tdl_kit_desc(x)->dtype &&
            tdl_kit_rank(o) == tdl_kit_rank(x) - axis &&
            !memcmp(tdl_kit_shape(o), tdl_kit_shape(x) + axis, tdl_kit_rank(o) * sizeof(uint32_t)));
}

struct tdl_operand *onnx_normalize_last(struct onnx_import *im, struct tdl_operand *x,
                                        struct tdl_operand *scale, struct tdl_operand *bias,
                                        float epsilon)
{
    struct tdl_layer_normalization_params p = {
        .axes = {tdl_kit_rank(x) - 1}, .axis_count = 1, .epsilon = epsilon};

    if (!x || tdl_kit_rank(x) == 0)
        return x;
    if (!is_of_axes(x, p.axes[0], scale) || !is_of_axes(x, p.axes[0], bias))
        return scale_and_shift(im, tdl_builder_layer_normalization(im->builder, x, &p), scale,
                               bias);
    p.scale = scale;
    p.bias = bias;
    return tdl_builder_layer_normalization(im->builder, x, &p);
}

/* Over the last dimensions, from the axis on; and the mean and 1 / deviation. */
static bool add_layer_normalization(struct onnx_import *im)
{
    struct tdl_builder *b = im->builder;
    struct tdl_operand *x = onnx_operand(im, 0), *scale, *bias, *y;
    struct tdl_layer_normalization_params p = {.epsilon = onnx_float(im, "epsilon", 1e-5f)};
    uint32_t axis;

    if (!x || !(scale = onnx_operand(im, 1)) || !onnx_optional(im, 2, &bias) ||
        !tdl_kit_axis(&im->kit, onnx_int(im, "axis", -1), tdl_kit_rank(x), &axis))
        return false;
    for (uint32_t i = axis; i < tdl_kit_rank(x); i++)
        p.axes[p.axis_count++] = i;
    if (is_of_axes(x, axis, scale) && is_of_axes(x, axis, bias)) {
        p.scale = scale;
        p.bias = bias;
        y = tdl_builder_layer_normalization(b, x, &p);
    } else {
        y = scale_and_shift(im, tdl_builder_layer_normalization(b, x, &p), scale, bias);
    }
    if (onnx_wanted(im, 1) || onnx_wanted(im, 2)) {
        struct tdl_reduce_params r = {.axis_count = p.axis_count, .keep_dimensions = true};

        memcpy(r.axes, p.axes, sizeof(r.axes));
        struct tdl_operand *mean = tdl_builder_reduce(b, x, TDL_REDUCE_MEAN, &r);
        struct tdl_operand *d = tdl_builder_sub(b, x, mean);
        struct tdl_operand *variance =
            tdl_builder_reduce(b, tdl_builder_mul(b, d, d), TDL_REDUCE_MEAN, &r);
        struct tdl_operand *inverse = tdl_builder_reciprocal(
            b, tdl_builder_sqrt(b, tdl_builder_linear(b, variance, 1, p.epsilon)));
        if (!onnx_give_at(im, 1, mean) || !onnx_give_at(im, 2, inverse))
            return false;
    }
    return onnx_give(im, y);
}

struct tdl_operand *onnx_normalize_root(struct onnx_import *im, struct tdl_operand *x,
                                        uint32_t axis, struct tdl_operand *scale, float epsilon)
{
    struct tdl_reduce_params p = {.keep_dimensions = true};
    struct tdl_builder *b = im->builder;
    struct tdl_operand *root;

    for (uint32_t i = axis; i < tdl_kit_rank(x); i++)
        p.axes[p.axis_count++] = i;
    root = tdl_builder_reduce(b, tdl_builder_mul(b, x, x), TDL_REDUCE_MEAN, &p);
    root = tdl_builder_sqrt(b, tdl_builder_linear(b, root, 1, epsilon));
    return tdl_builder_mul(b, tdl_builder_div(b, x, root), scale);
}

static bool add_rms_normalization(struct onnx_import *im)
{
    struct tdl_operand *x = onnx_operand(im, 0), *scale = x ? onnx_operand(im, 1) : NULL;
    uint32_t axis;

    return scale && tdl_kit_axis(&im->kit, onnx_int(im, "axis", -1), tdl_kit_rank(x), &axis) &&
           onnx_give(im, onnx_normalize_root(im, x, axis, scale, onnx_float(im, "epsilon", 1e-5f)));
}

/* Each group of channels by itself, then a scale and bias: for each channel, or, up to
 * opset 20, for each group. */
static bool add_group_normalization(struct onnx_import *im)
{
    struct tdl_builder *b = im->builder;
    struct tdl_operand *x = onnx_operand(im, 0), *scale, *bias, *y;
    struct tdl_layer_normalization_params p = {
        .axes = {2}, .axis_count = 1, .epsilon = onnx_float(im, "epsilon", 1e-5f)};
    const int64_t groups = onnx_int(im, "num_groups", 0);
    uint32_t shape[3] = {0, 0, 1};

    if (!x || !(scale = onnx_operand(im, 1)) || !(bias = onnx_operand(im, 2)))
        return false;
    if (tdl_kit_rank(x) < 2 || groups < 1 || tdl_kit_shape(x)[1] % groups)
        return tdl_kit_damaged(&im->kit, "%lld groups of such channels", (long long)groups);
    for (uint32_t i = 1; i < tdl_kit_rank(x); i++)
        shape[2] *= tdl_kit_shape(x)[i];
    shape[0] = tdl_kit_shape(x)[0];
    shape[1] = (uint32_t)groups;
    shape[2] /= shape[1];
    y = tdl_builder_layer_normalization(b, onnx_reshape(im, x, 3, shape), &p);
    if (im->opset < 21) /* of groups */
        return onnx_give(im, tdl_builder_reshape(b,
                                                 scale_and_shift(im, y, over_channels(im, scale, 3),
                                                                 over_channels(im, bias, 3)),
                                                 tdl_kit_rank(x), tdl_kit_shape(x)));
    y = onnx_reshape(im, y, tdl_kit_rank(x), tdl_kit_shape(x));
    return onnx_give(im, scale_and_shift(im, y, over_channels(im, scale, tdl_kit_rank(x)),
                                         over_channels(im, bias, tdl_kit_rank(x))));
}

/* x / (bias + alpha / size · Σ x² over `size` neighbouring channels)^beta: the sum is a
 * pool along the channels, as rows of a picture. */
static bool add_lrn(struct onnx_import *im)
{
    struct tdl_builder *b = im->builder;
    struct tdl_operand *x = onnx_operand(im, 0), *y;
    const int64_t size = onnx_int(im, "size", 0);
    uint32_t shape[4] = {0, 1, 0, 1};

    if (!x)
        return false;
    if (tdl_kit_rank(x) < 2 || size < 1 || size > 16384)
        return tdl_kit_damaged(&im->kit, "a size of %lld", (long long)size);
    shape[0] = tdl_kit_shape(x)[0];
    shape[2] = tdl_kit_shape(x)[1];
    for (uint32_t i = 2; i < tdl_kit_rank(x); i++)
        shape[3] *= tdl_kit_shape(x)[i];
    const struct tdl_pool2d_params p = {
        .window = {(uint32_t)size, 1},
        .pad = {(uint32_t)(size - 1) / 2, (uint32_t)size / 2, 0, 0},
        .count_include_pad = true,
        .input_layout = TDL_LAYOUT_NCHW,
    };
    y = onnx_reshape(im, tdl_builder_mul(b, x, x), 4, shape);
    y = tdl_builder_average_pool2d(b, y, &p);
    y = tdl_builder_linear(b, y, onnx_float(im, "alpha", 1e-4f), onnx_float(im, "bias", 1));
    if (!y)
        return false;
    y = tdl_builder_pow(b, y, tdl_kit_like(&im->kit, y, (double)onnx_float(im, "beta", 0.75f)));
    return onnx_give(im,
                     tdl_builder_div(b, x, onnx_reshape(im, y, tdl_kit_rank(x), tdl_kit_shape(x))));
}

/* (x − mean) / (√variance + 1e-9) */
static bool add_mean_variance(struct onnx_import *im)
{
    struct tdl_builder *b = im->builder;
    struct tdl_operand *x = onnx_operand(im, 0), *d, *root;
    struct tdl_reduce_params p = {.keep_dimensions = true};
    int64_t axes[TDL_MAX_RANK] = {0, 2, 3};
    uint32_t count;

    if (!x || !onnx_int_list(im, "axes", axes, TDL_MAX_RANK, &count))
        return false;
    if (!tdl_kit_reduce_axes(&im->kit, axes, count ? count : 3, tdl_kit_rank(x), &p))
        return false;
    d = tdl_builder_sub(b, x, tdl_builder_reduce(b, x, TDL_REDUCE_MEAN, &p));
    root =
        tdl_builder_sqrt(b, tdl_builder_reduce(b, tdl_builder_mul(b, d, d), TDL_REDUCE_MEAN, &p));
    return onnx_give(im, tdl_builder_div(b, d, tdl_builder_linear(b, root, 1, 1e-9f)));
}

/* x / its norm along an axis; 0 where that is 0. */
static bool add_lp_normalization(struct onnx_import *im)
{
    struct tdl_builder *b = im->builder;
    struct tdl_operand *x = onnx_operand(im, 0), *norm;
    struct tdl_reduce_params p = {.axis_count = 1, .keep_dimensions = true};
    const int64_t power = onnx_int(im, "p", 2);

    if (!x || !tdl_kit_axis(&im->kit, onnx_int(im, "axis", -1), tdl_kit_rank(x), &p.axes[0]))
        return false;
    if (power != 1 && power != 2)
        return tdl_kit_lacks(&im->kit, "p of %lld; libtdl has 1 and 2", (long long)power);
    norm = tdl_builder_reduce(b, x, power == 1 ? TDL_REDUCE_L1 : TDL_REDUCE_L2, &p);
    if (!norm)
        return false;
    struct tdl_operand *zero = tdl_kit_like(&im->kit, x, 0), *one = tdl_kit_like(&im->kit, x, 1);
    norm = tdl_builder_where(b, tdl_builder_equal(b, norm, zero), one, norm);
    return onnx_give(im, tdl_builder_div(b, x, norm));
}

const struct onnx_row onnx_rows_normalize[] = {
    {"BatchNormalization", 5, 5, add_batch_normalization},
    {"GroupNormalization", 3, 3, add_group_normalization},
    {"InstanceNormalization", 3, 3, add_instance_normalization},
    {"LRN", 1, 1, add_lrn},
    {"LayerNormalization", 2, 3, add_layer_normalization},
    {"LpNormalization", 1, 1, add_lp_normalization},
    {"MeanVarianceNormalization", 1, 1, add_mean_variance},
    {"RMSNormalization", 2, 2, add_rms_normalization},
    {"SimplifiedLayerNormalization", 2, 2, add_rms_normalization}, /* ONNX Runtime's name for it */
    {0},
};
