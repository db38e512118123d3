/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* ncnn's layers that make one element of several, or sums along an axis. */
#include "ncnn.h"

/* -------------------------------------------------------------------- Reduction */

/* The axes that are summed over: of a vector its only one. False with the builder in error. */
static bool read_axes(struct ncnn_import *im, const struct ncnn_layer *l,
                      const struct tdl_operand *x, struct tdl_reduce_params *out)
{
    const uint32_t batch = ncnn_channel_axis(x), rank = tdl_kit_rank(x);
    uint32_t bits = 0, axis;

    if (ncnn_int(l, 1, 1) != 0 || rank == 1)
        bits = UINT32_MAX;
    else if (ncnn_int(l, 5, 0) == 0 && l->params[3].count > 0)
        return tdl_kit_refuse(
            &im->kit, "axes that count a batch, as files of before 2020 have them; convert the "
                      "model anew");
    for (uint32_t i = 0; bits != UINT32_MAX && i < l->params[3].count; i++) {
        if (!ncnn_axis(im, x, ncnn_int_at(l, 3, i, 0), &axis))
            return false;
        bits |= 1u << axis;
    }
    for (uint32_t i = batch; i < rank; i++)
        if (bits >> i & 1)
            out->axes[out->axis_count++] = i;
    out->keep_dimensions = true;
    return true;
}

/* The blob without the dimensions that were reduced. */
static struct tdl_operand *drop_axes(struct ncnn_import *im, struct tdl_operand *x,
                                     const struct tdl_reduce_params *params)
{
    uint32_t shape[NCNN_MAX_DIMS] = {1}, left = 0, bits = 0;

    for (uint32_t i = 0; i < params->axis_count; i++)
        bits |= 1u << params->axes[i];
    for (uint32_t i = ncnn_channel_axis(x); x && i < tdl_kit_rank(x); i++)
        if (!(bits >> i & 1))
            shape[left++] = tdl_kit_shape(x)[i];
    return ncnn_blob(im, x, left ? left : 1, shape);
}

static struct tdl_operand *add_reduction(struct ncnn_import *im, const struct ncnn_layer *l)
{
    static const enum tdl_reduction kinds[] = {
        TDL_REDUCE_SUM, TDL_REDUCE_L1,      TDL_REDUCE_SUM_SQUARE, TDL_REDUCE_MEAN,
        TDL_REDUCE_MAX, TDL_REDUCE_MIN,     TDL_REDUCE_PRODUCT,    TDL_REDUCE_L1,
        TDL_REDUCE_L2,  TDL_REDUCE_LOG_SUM, TDL_REDUCE_LOG_SUM_EXP};
    struct tdl_operand *x = ncnn_bottom(im, l, 0);
    struct tdl_reduce_params params = {0};
    const int32_t kind = ncnn_int(l, 0, 0), count = sizeof(kinds) / sizeof(kinds[0]);
    const float factor = ncnn_float(l, 2, 1);

    if (x && (kind < 0 || kind >= count))
        return tdl_kit_none(&im->kit, TDL_ERROR_INVALID_MODEL, "the kind %d is none of 0 to %d",
                            kind, count - 1);
    if (!x || !read_axes(im, l, x, &params))
        return NULL;
    if (params.axis_count > 0) /* with none, the builder would take all */
        x = tdl_builder_reduce(im->builder, x, kinds[kind], &params);
    if (factor != 1)
        x = tdl_builder_linear(im->builder, x, factor, 0);
    return ncnn_int(l, 4, 0) ? x : drop_axes(im, x, &params);
}

/* ------------------------------------------------------------------------ others */

/* The place of the largest of all elements. */
static struct tdl_operand *add_arg_max(struct ncnn_import *im, const struct ncnn_layer *l)
{
    static const struct tdl_arg_min_max_params params = {.keep_dimensions = true};
    struct tdl_operand *x = ncnn_bottom(im, l, 0);

    if (!x)
        return NULL;
    if (ncnn_int(l, 0, 0) != 0 || ncnn_int(l, 1, 1) != 1)
        return tdl_kit_lacks_none(&im->kit,
                                  "more than the place of the largest element is not supported");
    x = ncnn_reshape(im, x, 1, (const uint32_t[]){(uint32_t)tdl_kit_elements(x)});
    return tdl_builder_cast(im->builder, tdl_builder_arg_max(im->builder, x, 0, &params),
                            TDL_FLOAT32);
}

static struct tdl_operand *add_cumulative_sum(struct ncnn_import *im, const struct ncnn_layer *l)
{
    struct tdl_operand *x = ncnn_bottom(im, l, 0);
    uint32_t axis = 0;

    if (!x || (tdl_kit_rank(x) > 1 && !ncnn_axis(im, x, ncnn_int(l, 0, 0), &axis)))
        return NULL;
    return tdl_builder_cumulative_sum(im->builder, x, axis, NULL);
}

/* The channels' means, and behind them their deviations. */
static struct tdl_operand *add_statistics_pooling(struct ncnn_import *im,
                                                  const struct ncnn_layer *l)
{
    static const struct tdl_reduce_params row = {
        .axes = {1}, .axis_count = 1, .keep_dimensions = true};
    struct tdl_builder *b = im->builder;
    struct tdl_operand *x = ncnn_picture(im, l, 0), *mean, *d, *parts[2];

    if (!x)
        return NULL;
    const uint32_t channels = tdl_kit_shape(x)[1];
    const uint32_t pixels = (uint32_t)(tdl_kit_elements(x) / channels);
    x = ncnn_reshape(im, x, 2, (const uint32_t[]){channels, pixels});
    mean = tdl_builder_reduce(b, x, TDL_REDUCE_MEAN, &row);
    parts[0] = ncnn_reshape(im, mean, 1, &channels);
    if (!parts[0] || ncnn_int(l, 0, 0) == 0)
        return parts[0];
    d = tdl_builder_sub(b, x, mean);
    d = tdl_builder_reduce(b, tdl_builder_mul(b, d, d), TDL_REDUCE_MEAN, &row);
    parts[1] = ncnn_reshape(im, tdl_builder_sqrt(b, d), 1, &channels);
    return parts[1] ? tdl_builder_concat(b, parts, 2, 0) : NULL;
}

const struct ncnn_row ncnn_rows_reduce[] = {
    {"ArgMax", 1, 1, add_arg_max},
    {"CumulativeSum", 1, 1, add_cumulative_sum},
    {"Reduction", 1, 1, add_reduction},
    {"StatisticsPooling", 1, 1, add_statistics_pooling},
    {0},
};
