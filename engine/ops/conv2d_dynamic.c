/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* conv2d by a filter that is computed or bound at dispatch: a product of matrices, from
 * operators that are there (im2col). */
#include "conv2d_dynamic.h"

/* Pixels of the output, taps of the filter, channels of a group in and out. */
struct sizes {
    uint32_t n, pixels, taps, groups, in, out;
};

/* Columns [n, pixels, taps, groups, in] by the filter [groups · out, taps · in], as
 * [n · pixels, groups · out]. */
static struct tdl_operand *multiply(struct tdl_builder *b, struct tdl_operand *columns,
                                    struct tdl_operand *filter, const struct sizes *s)
{
    static const uint32_t groups_first[] = {0, 3, 1, 2, 4}, groups_last[] = {0, 2, 1, 3};
    const uint32_t rows = s->n * s->pixels, depth = s->taps * s->in, all = s->groups * s->out;
    if (s->groups == 1) {
        columns = tdl_builder_reshape(b, columns, 2, (const uint32_t[]){rows, depth});
        filter = tdl_builder_reshape(b, filter, 2, (const uint32_t[]){all, depth});
        return tdl_builder_gemm(b, columns, filter, &(struct tdl_gemm_params){.b_transpose = true});
    }
    columns = tdl_builder_reshape(b, columns, 5,
                                  (const uint32_t[]){s->n, s->pixels, s->taps, s->groups, s->in});
    columns = tdl_builder_transpose(b, columns, groups_first);
    columns =
        tdl_builder_reshape(b, columns, 4, (const uint32_t[]){s->n, s->groups, s->pixels, depth});
    filter = tdl_builder_reshape(b, filter, 3, (const uint32_t[]){s->groups, s->out, depth});
    filter = tdl_builder_transpose(b, filter, (const uint32_t[]){0, 2, 1});
    columns = tdl_builder_matmul(b, columns, filter);
    columns = tdl_builder_transpose(b, columns, groups_last);
    return tdl_builder_reshape(b, columns, 2, (const uint32_t[]){rows, all});
}

/* The filter as "ohwi". */
static struct tdl_operand *turn(struct tdl_builder *b, struct tdl_operand *filter,
                                enum tdl_filter_layout layout)
{
    static const uint32_t permutations[][4] = {
        [TDL_FILTER_OHWI] = {0, 1, 2, 3},
        [TDL_FILTER_OIHW] = {0, 2, 3, 1},
        [TDL_FILTER_HWIO] = {3, 0, 1, 2},
        [TDL_FILTER_IHWO] = {3, 1, 2, 0},
    };
    if (layout == TDL_FILTER_OHWI)
        return filter;
    return tdl_builder_transpose(b, filter, permutations[layout]);
}

struct tdl_operand *tdl_to_nhwc(struct tdl_builder *b, struct tdl_operand *x, enum tdl_layout from)
{
    static const uint32_t to_nhwc[] = {0, 2, 3, 1};
    return from == TDL_LAYOUT_NCHW ? tdl_builder_transpose(b, x, to_nhwc) : x;
}

struct tdl_operand *tdl_from_nhwc(struct tdl_builder *b, struct tdl_operand *x, enum tdl_layout to)
{
    static const uint32_t to_nchw[] = {0, 3, 1, 2};
    return to == TDL_LAYOUT_NCHW ? tdl_builder_transpose(b, x, to_nchw) : x;
}

struct tdl_operand *tdl_add_bias(struct tdl_builder *b, struct tdl_operand *x,
                                 enum tdl_layout layout, struct tdl_operand *bias,
                                 enum tdl_activation activation)
{
    if (!x)
        return NULL;
    const uint32_t channels = tdl_dims_in(&x->desc, layout).c;
    if (bias->desc.rank != 1 || bias->desc.shape[0] != channels)
        return tdl_builder_fail(b, TDL_ERROR_INVALID_ARGUMENT,
                                "%s: bias %s does not fit %u output channels", x->producer->label,
                                tdl_operand_text(bias), channels);
    if (!tdl_is_float(bias->desc.dtype))
        return tdl_builder_fail(b, TDL_ERROR_INVALID_ARGUMENT, "%s: bias %s is no real number",
                                x->producer->label, tdl_operand_text(bias));
    x = tdl_builder_add(b, x, tdl_by_channel(b, bias, x->desc.dtype, layout));
    return tdl_builder_activation(b, x, activation);
}

struct tdl_operand *tdl_conv2d_dynamic(struct tdl_builder *b, struct tdl_operand *x,
                                       struct tdl_operand *filter,
                                       const struct tdl_conv2d_params *p)
{
    const enum tdl_layout layout = (enum tdl_layout)p->input_layout;
    const struct tdl_operand *given = x; /* messages have the caller's order of dimensions */
    x = tdl_to_nhwc(b, x, layout);
    filter = turn(b, filter, p->filter_layout);
    if (!x || !filter)
        return NULL;
    if (filter->desc.dtype != x->desc.dtype || (p->bias && p->bias->desc.dtype != x->desc.dtype))
        return tdl_builder_fail(
            b, TDL_ERROR_INVALID_ARGUMENT,
            "conv2d: filter, of %s, and bias have to be of the type of the input %s: "
            "cast them",
            tdl_dtype_name(filter->desc.dtype), tdl_operand_text(given));
    const uint32_t *k = filter->desc.shape, groups = p->groups, c = x->desc.shape[3];
    if (c % groups || k[0] % groups || k[3] != c / groups)
        return tdl_builder_fail(
            b, TDL_ERROR_INVALID_ARGUMENT,
            "conv2d: a filter of %u outputs from %u channels does not fit input %s "
            "with %u groups",
            k[0], k[3], tdl_operand_text(given), groups);
    if (p->bias && (p->bias->desc.rank != 1 || p->bias->desc.shape[0] != k[0]))
        return tdl_builder_fail(b, TDL_ERROR_INVALID_ARGUMENT,
                                "conv2d: bias %s does not fit %u output channels",
                                tdl_operand_text(p->bias), k[0]);
    const struct tdl_im2col_params window = {
        .kernel = {k[1], k[2]},
        .stride = {p->stride[0], p->stride[1]},
        .dilation = {p->dilation[0], p->dilation[1]},
        .pad = {p->pad[0], p->pad[1], p->pad[2], p->pad[3]},
        .padding = p->padding,
        .input_layout = TDL_LAYOUT_NHWC,
    };
    struct tdl_operand *columns = tdl_builder_im2col(b, x, &window), *y;
    if (!columns)
        return NULL;
    const uint32_t *out = columns->desc.shape;
    const struct sizes s = {out[0], out[1] * out[2], k[1] * k[2],
                            groups, c / groups,      k[0] / groups};
    y = multiply(b, columns, filter, &s);
    if (p->bias)
        y = tdl_builder_add(b, y, p->bias);
    y = tdl_builder_reshape(b, y, 4, (const uint32_t[]){out[0], out[1], out[2], k[0]});
    return tdl_from_nhwc(b, tdl_builder_activation(b, y, p->activation), layout);
}
