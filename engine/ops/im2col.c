/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * im2col: every pixel of a convolution's output with all input values under its
 * window, in the order of "ohwi" filters. conv2d's algorithm of that name has a
 * copy of its own kind, with taps filled up to whole packs (conv/gemm.c).
 */
#include "ir/builder.h"
#include "ops/conv/conv.h"

static void resolve(struct tdl_node *n)
{
    const struct tdl_im2col_params *p = &n->attr.im2col;
    const struct tdl_window_options options = {
        .kernel = {tdl_or_one(p->kernel[0]), tdl_or_one(p->kernel[1])},
        .stride = p->stride,
        .dilation = p->dilation,
        .pad = p->pad,
        .padding = p->padding,
    };
    tdl_window_resolve(&n->window, tdl_operand_dims(n->inputs[0]), &options);
}

/* As of a conv2d with as many outputs as a column. */
static struct tdl_conv_geometry describe(const struct tdl_node *n)
{
    const struct tdl_dims in = tdl_operand_dims(n->inputs[0]), out = tdl_operand_dims(n->output);
    return (struct tdl_conv_geometry){.in = in, .out = out, .window = n->window};
}

static enum tdl_result infer(const struct tdl_node *n, struct tdl_tensor_params *out)
{
    const struct tdl_dims in = tdl_operand_dims(n->inputs[0]);
    const uint32_t *kernel = n->window.kernel, *size = n->window.out;
    const uint64_t column = (uint64_t)kernel[0] * kernel[1] * in.c;
    if (n->inputs[0]->desc.rank != 4)
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT, "im2col: the input %s must have rank 4",
                        tdl_operand_text(n->inputs[0]));
    if (column > INT32_MAX || !tdl_window_fits(&n->window))
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT,
                        "im2col: a window of %ux%u does not fit into the padded input %s",
                        kernel[0], kernel[1], tdl_operand_text(n->inputs[0]));
    *out = tdl_desc_like(n->inputs[0], (struct tdl_dims){in.n, size[0], size[1], (uint32_t)column});
    return TDL_OK;
}

static void reference(const struct tdl_node *n, const float *const *inputs, float *output)
{
    const struct tdl_conv_geometry g = describe(n);
    for (uint32_t b = 0; b < g.out.n; b++)
        for (uint32_t oy = 0; oy < g.out.h; oy++)
            for (uint32_t ox = 0; ox < g.out.w; ox++)
                for (uint32_t tap = 0; tap < tdl_conv_taps(&g); tap++) {
                    int64_t y = (int64_t)oy * g.window.stride[0] - g.window.pad[0] +
                                (int64_t)(tap / g.window.kernel[1]) * g.window.dilation[0];
                    int64_t x = (int64_t)ox * g.window.stride[1] - g.window.pad[2] +
                                (int64_t)(tap % g.window.kernel[1]) * g.window.dilation[1];
                    bool inside = y >= 0 && x >= 0 && y < g.in.h && x < g.in.w;
                    for (uint32_t c = 0; c < g.in.c; c++)
                        *output++ = inside ? inputs[0][(((size_t)b * g.in.h + (size_t)y) * g.in.w +
                                                        (size_t)x) *
                                                           g.in.c +
                                                       c]
                                           : 0;
                }
}

static enum tdl_result lower(struct tdl_plan *plan, struct tdl_node *n)
{
    const struct tdl_conv_geometry g = describe(n);
    struct tdl_plan_step *s = tdl_plan_add_step(plan, "im2col", n, 64, 1, 1);
    const struct tdl_im2col_spec spec =
        tdl_im2col_spec(.window = tdl_conv_window(&g), .in_packs = tdl_packs(g.in.c),
                        .channels = g.in.c, .out_packs = tdl_packs(g.out.c));
    TDL_PLAN_SPECS(s, im2col, spec);
    tdl_plan_read(s, 0, n->inputs[0]);
    tdl_plan_write(s, 5, n->output);
    tdl_plan_groups(s, TDL_DIV_UP(tdl_conv_pixels(&g), 64), tdl_packs(g.out.c), g.in.n);
    return plan->status;
}

const struct tdl_op tdl_op_im2col = {
    .name = "im2col",
    .resolve = resolve,
    .infer = infer,
    .lower = lower,
    .reference = reference,
};

struct tdl_operand *tdl_builder_im2col(struct tdl_builder *b, struct tdl_operand *input,
                                       const struct tdl_im2col_params *params)
{
    TDL_BUILDER_NEED_KNOWN(b, params);
    if (!params)
        return tdl_builder_fail(b, TDL_ERROR_INVALID_ARGUMENT, "im2col: no window was given");
    if (!tdl_builder_known(b, &tdl_op_im2col, "padding", params->padding, TDL_PADDING_SAME_UPPER) ||
        !tdl_builder_fits_window(b, &tdl_op_im2col, "pad", params->pad, 4) ||
        !tdl_builder_fits_window(b, &tdl_op_im2col, "stride", params->stride, 2))
        return NULL;
    union tdl_attr attr = {.im2col = *params};
    const enum tdl_layout layout = tdl_builder_layout(b, &tdl_op_im2col, params->input_layout);
    attr.im2col.input_layout = TDL_LAYOUT_DEFAULT;
    return tdl_builder_add_told(b, &tdl_op_im2col, layout, &attr, &input, 1, 1);
}
