/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Convolutions, pools and what else works on pictures. */
#include "onnx-net.h"

#include <stdlib.h>
#include <string.h>

/* Strides, dilations, pads and padding as libtdl has them. */
struct window {
    uint32_t kernel[2], stride[2], dilation[2], pad[4];
    enum tdl_padding padding;
};

static void take_list(const struct onnx_net *net, const char *name, uint32_t *out, size_t count)
{
    const Onnx__AttributeProto *a = onnx_attribute(net, name);
    for (size_t i = 0; a && i < count && i < a->n_ints; i++)
        out[i] = (uint32_t)a->ints[i];
}

static bool take_window(struct onnx_net *net, const struct tdl_operand *x, struct window *w)
{
    uint32_t pads[4] = {0};
    *w = (struct window){.stride = {1, 1}, .dilation = {1, 1}};
    if (x && onnx_rank(x) != 4)
        return onnx_lacks(net, "%s of rank %u", net->node->op_type, onnx_rank(x)) != NULL;
    take_list(net, "kernel_shape", w->kernel, 2);
    take_list(net, "strides", w->stride, 2);
    take_list(net, "dilations", w->dilation, 2);
    take_list(net, "pads", pads, 4); /* begins, then ends */
    w->pad[0] = pads[0];
    w->pad[1] = pads[2];
    w->pad[2] = pads[1];
    w->pad[3] = pads[3];
    if (onnx_attribute_is(net, "auto_pad", "SAME_UPPER"))
        w->padding = TDL_PADDING_SAME_UPPER;
    else if (onnx_attribute_is(net, "auto_pad", "SAME_LOWER"))
        return onnx_lacks(net, "%s with SAME_LOWER", net->node->op_type) != NULL;
    return x != NULL;
}

/* The filter, whose first dimensions are `o` and `i`, as an "ohwi" constant. */
static struct tdl_operand *take_filter(struct onnx_net *net, size_t input, bool io)
{
    const Onnx__TensorProto *t = onnx_tensor(net, input);
    struct tdl_tensor_params p, q;
    size_t size;
    if (!t || onnx_tensor_params(t, &p) || p.rank != 4 || p.dtype != TDL_FLOAT32)
        return onnx_lacks(net, "%s with such a filter", net->node->op_type);
    const uint32_t outs = p.shape[io], ins = p.shape[!io], area = p.shape[2] * p.shape[3];
    float *from = onnx_tensor_data(t, &size), *to = malloc(size);
    if (!from || !to)
        abort();
    for (uint32_t o = 0; o < outs; o++)
        for (uint32_t i = 0; i < ins; i++)
            for (uint32_t k = 0; k < area; k++)
                to[((size_t)o * area + k) * ins + i] =
                    from[(io ? (size_t)i * outs + o : (size_t)o * ins + i) * area + k];
    free(from);
    tdl_builder_own(net->builder, to, free);
    q = (struct tdl_tensor_params){
        .rank = 4, .shape = {outs, p.shape[2], p.shape[3], ins}};
    return tdl_builder_constant(net->builder, &q, to, size);
}

static struct tdl_operand *add_conv(struct onnx_net *net)
{
    struct tdl_operand *x = onnx_operand(net, 0);
    struct window w;
    if (!take_window(net, x, &w))
        return NULL;
    struct tdl_operand *filter = take_filter(net, 1, false);
    if (!filter)
        return NULL;
    return tdl_builder_conv2d(net->builder, x, filter,
                              &(struct tdl_conv2d_params){
                                  .stride = {w.stride[0], w.stride[1]},
                                  .dilation = {w.dilation[0], w.dilation[1]},
                                  .pad = {w.pad[0], w.pad[1], w.pad[2], w.pad[3]},
                                  .padding = w.padding,
                                  .groups = (uint32_t)onnx_attribute_int(net, "group", 1),
                                  .bias = onnx_constant(net, 2),
                              });
}

static struct tdl_operand *add_conv_transpose(struct onnx_net *net)
{
    struct tdl_operand *x = onnx_operand(net, 0);
    struct window w;
    if (!take_window(net, x, &w))
        return NULL;
    struct tdl_conv_transpose2d_params p = {
        .stride = {w.stride[0], w.stride[1]},
        .dilation = {w.dilation[0], w.dilation[1]},
        .pad = {w.pad[0], w.pad[1], w.pad[2], w.pad[3]},
        .padding = w.padding,
        .groups = (uint32_t)onnx_attribute_int(net, "group", 1),
        .bias = onnx_constant(net, 2),
    };
    take_list(net, "output_padding", p.output_padding, 2);
    if (onnx_attribute(net, "output_shape")) {
        if (!onnx_attribute(net, "pads") && !onnx_attribute(net, "auto_pad"))
            return onnx_lacks(net, "ConvTranspose whose pads follow from its output's shape");
        take_list(net, "output_shape", p.output_size, 2);
    }
    struct tdl_operand *filter = take_filter(net, 1, true);
    return filter ? tdl_builder_conv_transpose2d(net->builder, x, filter, &p) : NULL;
}

static struct tdl_operand *add_pool(struct onnx_net *net)
{
    struct tdl_operand *x = onnx_operand(net, 0);
    struct window w;
    if (!take_window(net, x, &w))
        return NULL;
    const struct tdl_pool2d_params p = {
        .window = {w.kernel[0], w.kernel[1]},
        .stride = {w.stride[0], w.stride[1]},
        .dilation = {w.dilation[0], w.dilation[1]},
        .pad = {w.pad[0], w.pad[1], w.pad[2], w.pad[3]},
        .padding = w.padding,
        .rounding = onnx_attribute_int(net, "ceil_mode", 0) ? TDL_ROUNDING_CEIL
                                                            : TDL_ROUNDING_FLOOR,
        .count_include_pad = onnx_attribute_int(net, "count_include_pad", 0),
    };
    if (tdl_operand_get_desc(x)->dtype != TDL_FLOAT32)
        return onnx_lacks(net, "%s of %s", net->node->op_type,
                          tdl_dtype_name(tdl_operand_get_desc(x)->dtype));
    if (!strcmp(net->node->op_type, "MaxPool"))
        return tdl_builder_max_pool2d(net->builder, x, &p);
    return tdl_builder_average_pool2d(net->builder, x, &p);
}

static struct tdl_operand *add_global_pool(struct onnx_net *net)
{
    struct tdl_operand *x = onnx_operand(net, 0);
    if (onnx_rank(x) != 4)
        return onnx_lacks(net, "%s of rank %u", net->node->op_type, onnx_rank(x));
    return !strcmp(net->node->op_type, "GlobalMaxPool")
               ? tdl_builder_global_max_pool(net->builder, x)
               : tdl_builder_global_average_pool(net->builder, x);
}

static struct tdl_operand *add_batch_normalization(struct onnx_net *net)
{
    struct tdl_operand *x = onnx_operand(net, 0);
    if (onnx_rank(x) != 4 || onnx_attribute_int(net, "training_mode", 0))
        return onnx_lacks(net, "BatchNormalization of rank %u, or in training", onnx_rank(x));
    return tdl_builder_batch_normalization(net->builder, x, onnx_constant(net, 3),
                                           onnx_constant(net, 4),
                                           &(struct tdl_batch_normalization_params){
                                               .scale = onnx_constant(net, 1),
                                               .bias = onnx_constant(net, 2),
                                               .epsilon = onnx_attribute_float(net, "epsilon", 0),
                                           });
}

static struct tdl_operand *add_instance_normalization(struct onnx_net *net)
{
    struct tdl_operand *x = onnx_operand(net, 0);
    if (onnx_rank(x) != 4)
        return onnx_lacks(net, "InstanceNormalization of rank %u", onnx_rank(x));
    return tdl_builder_instance_normalization(
        net->builder, x,
        &(struct tdl_instance_normalization_params){
            .scale = onnx_constant(net, 1),
            .bias = onnx_constant(net, 2),
            .epsilon = onnx_attribute_float(net, "epsilon", 0),
        });
}

/* Of the list of sizes or scales at input `i`, whether those of the first two
 * dimensions are what the input has. */
static bool keeps_channels(const Onnx__TensorProto *t, bool sizes,
                           const struct tdl_tensor_params *x)
{
    size_t size;
    float *scales = sizes ? NULL : onnx_tensor_data(t, &size);
    bool keeps = onnx_tensor_count(t) == 4;
    for (size_t i = 0; i < 2 && keeps; i++)
        keeps = sizes ? onnx_tensor_int(t, i) == x->shape[i] : scales[i] == 1;
    free(scales);
    return keeps;
}

static bool take_coordinates(const struct onnx_net *net, struct tdl_resample2d_params *p)
{
    static const char *const ways[] = {"half_pixel", "align_corners", "asymmetric"};
    static const char *const roundings[] = {"round_prefer_floor", "round_prefer_ceil", "floor",
                                            "ceil"};
    uint32_t way = 0, rounding = 0;
    if (onnx_attribute(net, "coordinate_transformation_mode"))
        while (way < 3 &&
               !onnx_attribute_is(net, "coordinate_transformation_mode", ways[way]))
            way++;
    if (onnx_attribute(net, "nearest_mode"))
        while (rounding < 4 && !onnx_attribute_is(net, "nearest_mode", roundings[rounding]))
            rounding++;
    p->coordinates = way;
    p->rounding = rounding;
    return way < 3 && rounding < 4;
}

static struct tdl_operand *add_resize(struct onnx_net *net)
{
    struct tdl_operand *x = onnx_operand(net, 0);
    const bool sizes = onnx_given(net, 3);
    const Onnx__TensorProto *t = onnx_tensor(net, sizes ? 3 : 2);
    struct tdl_resample2d_params p = {.mode = TDL_RESAMPLE_NEAREST};
    size_t size;
    if (onnx_attribute_is(net, "mode", "linear"))
        p.mode = TDL_RESAMPLE_LINEAR;
    else if (onnx_attribute_is(net, "mode", "cubic"))
        return onnx_lacks(net, "Resize, cubic");
    if (!x || !t || onnx_rank(x) != 4 || !keeps_channels(t, sizes, tdl_operand_get_desc(x)) ||
        !take_coordinates(net, &p))
        return onnx_lacks(net, "Resize of other axes, or other coordinates");
    float *scales = sizes ? NULL : onnx_tensor_data(t, &size);
    for (size_t i = 0; i < 2; i++) {
        /* ONNX's test then takes the size for (out - 1) unrounded. */
        float out = scales ? scales[2 + i] * (float)tdl_operand_get_desc(x)->shape[2 + i] : 0;
        if (p.coordinates == TDL_RESAMPLE_ALIGN_CORNERS && out != (float)(uint32_t)out)
            onnx_lacks(net, "Resize by a scale to no whole size, with align_corners");
        p.size[i] = sizes ? (uint32_t)onnx_tensor_int(t, 2 + i) : 0;
        p.scale[i] = sizes ? 0 : scales[2 + i];
    }
    free(scales);
    return tdl_builder_resample2d(net->builder, x, &p);
}

const struct onnx_operator onnx_operators_image[] = {
    {"AveragePool", add_pool},
    {"BatchNormalization", add_batch_normalization},
    {"Conv", add_conv},
    {"ConvTranspose", add_conv_transpose},
    {"GlobalAveragePool", add_global_pool},
    {"GlobalMaxPool", add_global_pool},
    {"InstanceNormalization", add_instance_normalization},
    {"MaxPool", add_pool},
    {"Resize", add_resize},
    {0},
};
