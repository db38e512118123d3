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
    const Onnx__AttributeProto *a = onnx_attribute(net, "auto_pad");
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
    if (a && a->s.len == 10 && !memcmp(a->s.data, "SAME_UPPER", 10))
        w->padding = TDL_PADDING_SAME_UPPER;
    else if (a && a->s.len == 10 && !memcmp(a->s.data, "SAME_LOWER", 10))
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

/* A vector, as a constant; NULL when it is not given. */
static struct tdl_operand *take_vector(struct onnx_net *net, size_t input)
{
    const Onnx__TensorProto *t = onnx_given(net, input) ? onnx_tensor(net, input) : NULL;
    struct tdl_tensor_params p;
    size_t size;
    if (!t || onnx_tensor_params(t, &p))
        return NULL;
    void *data = onnx_tensor_data(t, &size);
    tdl_builder_own(net->builder, data, free);
    return tdl_builder_constant(net->builder, &p, data, size);
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
                                  .bias = take_vector(net, 2),
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
        .bias = take_vector(net, 2),
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

const struct onnx_operator onnx_operators_image[] = {
    {"AveragePool", add_pool},
    {"Conv", add_conv},
    {"ConvTranspose", add_conv_transpose},
    {"GlobalAveragePool", add_global_pool},
    {"GlobalMaxPool", add_global_pool},
    {"MaxPool", add_pool},
    {0},
};
