/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Windows over images, and normalizations: see calls.c. */
#include "calls.h"

/* WebNN's "inputLayout" or "layout", whose default is NCHW. */
static enum tdl_layout layout_named(const struct at *a, const char *key)
{
    return call_is(a->call, key, "nhwc") ? TDL_LAYOUT_NHWC : TDL_LAYOUT_NCHW;
}

/* -------------------------------------------------------------------- windows */

static O conv2d(const struct at *a)
{
    struct tdl_conv2d_params p = {
        .filter_layout = call_is(a->call, "filterLayout", "ohwi")   ? TDL_FILTER_OHWI
                         : call_is(a->call, "filterLayout", "hwio") ? TDL_FILTER_HWIO
                         : call_is(a->call, "filterLayout", "ihwo") ? TDL_FILTER_IHWO
                                                                    : TDL_FILTER_OIHW,
        .groups = at_natural(a, "groups", 0, 1),
        .bias = at_operand(a, "bias"),
        .input_layout = layout_named(a, "inputLayout"),
    };
    at_naturals(a, "strides", p.stride, 2, 1);
    at_naturals(a, "dilations", p.dilation, 2, 1);
    at_naturals(a, "padding", p.pad, 4, 0);
    return tdl_builder_conv2d(a->b, at_operand(a, "input"), at_operand(a, "filter"), &p);
}

static O conv_transpose2d(const struct at *a)
{
    static const uint32_t from_iohw[] = {1, 2, 3, 0}, from_hwoi[] = {2, 0, 1, 3};
    struct tdl_conv_transpose2d_params p = {.groups = at_natural(a, "groups", 0, 1),
                                            .bias = at_operand(a, "bias"),
                                            .input_layout = layout_named(a, "inputLayout")};
    O filter = at_operand(a, "filter");
    at_naturals(a, "strides", p.stride, 2, 1);
    at_naturals(a, "dilations", p.dilation, 2, 1);
    at_naturals(a, "padding", p.pad, 4, 0);
    at_naturals(a, "outputPadding", p.output_padding, 2, 0);
    at_naturals(a, "outputSizes", p.output_size, 2, 0);
    if (!call_is(a->call, "filterLayout", "ohwi"))
        filter = tdl_builder_transpose(
            a->b, filter, call_is(a->call, "filterLayout", "hwoi") ? from_hwoi : from_iohw);
    return tdl_builder_conv_transpose2d(a->b, at_operand(a, "input"), filter, &p);
}

static O pool2d(const struct at *a)
{
    struct tdl_pool2d_params p = {.rounding = call_is(a->call, "outputShapeRounding", "ceil")
                                                  ? TDL_ROUNDING_CEIL
                                                  : TDL_ROUNDING_FLOOR,
                                  .input_layout = layout_named(a, "layout")};
    at_naturals(a, "windowDimensions", p.window, 2, 0);
    at_naturals(a, "strides", p.stride, 2, 1);
    at_naturals(a, "dilations", p.dilation, 2, 1);
    at_naturals(a, "outputSizes", p.output_size, 2, 0);
    if (at_length(a, "outputSizes") < 0) /* outputSizes takes the place of padding */
        at_naturals(a, "padding", p.pad, 4, 0);
    return (*a->call->name == 'a'   ? tdl_builder_average_pool2d
            : *a->call->name == 'l' ? tdl_builder_l2_pool2d
                                    : tdl_builder_max_pool2d)(a->b, at_operand(a, "input"), &p);
}

static O resample2d(const struct at *a)
{
    const O x = at_operand(a, "input");
    struct tdl_resample2d_params p = {
        .mode = call_is(a->call, "mode", "linear") ? TDL_RESAMPLE_LINEAR : TDL_RESAMPLE_NEAREST};
    for (uint32_t i = 0; x && i < 2; i++) {
        const uint32_t axis = at_natural(a, "axes", i, 2 + i),
                       other = at_natural(a, "axes", !i, 3 - i);
        const uint32_t to = axis > other; /* rising */
        const double size =
            tdl_operand_get_desc(x)->shape[axis] * call_number(a->call, "scales", i, 1);
        p.axes[to] = axis;
        p.size[to] = at_natural(a, "sizes", i, (uint32_t)size);
    }
    return tdl_builder_resample2d(a->b, x, &p);
}

/* ------------------------------------------------------------- normalizations */

/* Over any axis of any rank: as the channels of an image [before, channels, behind, 1]. */
static O batch_normalization(const struct at *a)
{
    const O x = at_operand(a, "input");
    const uint32_t axis = at_natural(a, "axis", 0, 1), rank = rank_of(x);
    const struct tdl_batch_normalization_params p = {
        .scale = at_operand(a, "scale"),
        .bias = at_operand(a, "bias"),
        .epsilon = (float)at_number(a, "epsilon", 0),
        .input_layout = rank == 4 && axis == 3 ? TDL_LAYOUT_NHWC : TDL_LAYOUT_NCHW,
    };
    if (rank == 4 && (axis == 1 || axis == 3))
        return tdl_builder_batch_normalization(a->b, x, at_operand(a, "mean"),
                                               at_operand(a, "variance"), &p);
    uint32_t image[] = {1, 1, 1, 1}, shape[TDL_MAX_RANK];
    for (uint32_t i = 0; i < rank; i++) {
        shape[i] = tdl_operand_get_desc(x)->shape[i];
        image[i < axis ? 0 : i == axis ? 1 : 2] *= shape[i];
    }
    O y = tdl_builder_batch_normalization(a->b, tdl_builder_reshape(a->b, x, 4, image),
                                          at_operand(a, "mean"), at_operand(a, "variance"), &p);
    return tdl_builder_reshape(a->b, y, rank, shape);
}

static O instance_normalization(const struct at *a)
{
    const struct tdl_instance_normalization_params p = {
        .scale = at_operand(a, "scale"),
        .bias = at_operand(a, "bias"),
        .epsilon = (float)at_number(a, "epsilon", 0),
        .input_layout = layout_named(a, "layout"),
    };
    return tdl_builder_instance_normalization(a->b, at_operand(a, "input"), &p);
}

static O without_one(const struct at *a, O x)
{
    const struct tdl_tensor_params *p = x ? tdl_operand_get_desc(x) : NULL;
    return p ? tdl_builder_reshape(a->b, x, p->rank - 1, p->shape) : NULL;
}

/* The axes may come in any order, which is that of the dimensions of scale and bias. */
static O layer_normalization(const struct at *a)
{
    O x = at_operand(a, "input"), pair[] = {at_operand(a, "scale"), at_operand(a, "bias")};
    const int32_t count = at_length(a, "axes");
    struct tdl_layer_normalization_params p = {.epsilon = (float)at_number(a, "epsilon", 0)};
    uint32_t order[TDL_MAX_RANK] = {0};
    for (int32_t i = 0; i < count; i++) {
        const uint32_t axis = at_natural(a, "axes", (uint32_t)i, 0);
        uint32_t place = 0;
        for (int32_t k = 0; k < count; k++)
            place += at_natural(a, "axes", (uint32_t)k, 0) < axis;
        p.axes[place] = axis;
        order[place] = (uint32_t)i;
    }
    p.axis_count = count > 0 ? (uint32_t)count : 0;
    for (int i = 0; i < 2; i++)
        if (pair[i] && count > 1)
            pair[i] = tdl_builder_transpose(a->b, pair[i], order);
    if (count == 0 || (count < 0 && rank_of(x) < 2)) {
        p.axes[0] = rank_of(x);
        p.axis_count = 1;
        for (int i = 0; i < 2; i++)
            pair[i] = pair[i] ? with_one(a, pair[i]) : NULL;
        x = with_one(a, x);
    }
    p.scale = pair[0];
    p.bias = pair[1];
    O y = tdl_builder_layer_normalization(a->b, x, &p);
    return rank_of(y) > rank_of(at_operand(a, "input")) ? without_one(a, y) : y;
}

const struct webnn_row webnn_images[] = {
    {"averagePool2d", pool2d, NULL},
    {"batchNormalization", batch_normalization, NULL},
    {"conv2d", conv2d, NULL},
    {"convTranspose2d", conv_transpose2d, NULL},
    {"instanceNormalization", instance_normalization, NULL},
    {"l2Pool2d", pool2d, NULL},
    {"layerNormalization", layer_normalization, NULL},
    {"maxPool2d", pool2d, NULL},
    {"resample2d", resample2d, NULL},
    {NULL, NULL, NULL},
};
