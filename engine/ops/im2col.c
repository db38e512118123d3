/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * im2col: every pixel of a convolution's output with all input values under its
 * window, in the order of "ohwi" filters. conv2d's algorithm of that name has a
 * copy of its own kind, with taps filled up to whole packs (conv/gemm.c).
 */
#include "ir/builder.h"
#include "ops/conv/conv.h"

/* The window's geometry, as of a conv2d with as many outputs as a column. */
static bool resolve(const struct tdl_node *n, struct tdl_conv_geometry *g)
{
    const struct tdl_conv2d_params *p = &n->attr.im2col.p;
    uint32_t extent[2];
    *g = (struct tdl_conv_geometry){.p = p, .in = tdl_operand_dims(n->inputs[0])};
    for (int i = 0; i < 2; i++) {
        g->kernel[i] = n->attr.im2col.kernel[i];
        uint64_t e = (uint64_t)(g->kernel[i] - 1) * p->dilation[i] + 1;
        if (!g->kernel[i] || e > INT32_MAX || p->stride[i] > INT32_MAX)
            return false;
        extent[i] = (uint32_t)e;
    }
    uint64_t column = (uint64_t)g->kernel[0] * g->kernel[1] * g->in.c;
    if (column > INT32_MAX ||
        !tdl_window_resolve(g->in, extent, p->stride, p->pad, p->padding, &g->window))
        return false;
    g->out = (struct tdl_dims){g->in.n, g->window.out_h, g->window.out_w, (uint32_t)column};
    return true;
}

static enum tdl_result infer(const struct tdl_node *n, struct tdl_tensor_params *out)
{
    struct tdl_conv_geometry g;
    if (n->inputs[0]->desc.rank != 4)
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT, "im2col: the input %s must have rank 4",
                        tdl_operand_text(n->inputs[0]));
    if (!resolve(n, &g))
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT,
                        "im2col: a window of %ux%u does not fit into the padded input %s",
                        n->attr.im2col.kernel[0], n->attr.im2col.kernel[1],
                        tdl_operand_text(n->inputs[0]));
    *out = tdl_desc_like(n->inputs[0], g.out);
    return TDL_OK;
}

static void reference(const struct tdl_node *n, const float *const *inputs, float *output)
{
    struct tdl_conv_geometry g;
    if (!resolve(n, &g))
        return;
    for (uint32_t b = 0; b < g.out.n; b++)
        for (uint32_t oy = 0; oy < g.out.h; oy++)
            for (uint32_t ox = 0; ox < g.out.w; ox++)
                for (uint32_t tap = 0; tap < tdl_conv_taps(&g); tap++) {
                    int64_t y = (int64_t)oy * g.p->stride[0] - g.window.pad_top +
                                (int64_t)(tap / g.kernel[1]) * g.p->dilation[0];
                    int64_t x = (int64_t)ox * g.p->stride[1] - g.window.pad_left +
                                (int64_t)(tap % g.kernel[1]) * g.p->dilation[1];
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
    struct tdl_conv_geometry g;
    if (!resolve(n, &g))
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT, "%s: the window does not fit", n->label);
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
    .infer = infer,
    .lower = lower,
    .reference = reference,
};

struct tdl_operand *tdl_builder_im2col(struct tdl_builder *b, struct tdl_operand *input,
                                       const struct tdl_im2col_params *params)
{
    TDL_BUILDER_NEED_KNOWN(b, params);
    union tdl_attr attr = {0};
    if (!params)
        return tdl_builder_fail(b, TDL_ERROR_INVALID_ARGUMENT, "im2col: no window was given");
    if (!tdl_builder_known(b, &tdl_op_im2col, "padding", params->padding, TDL_PADDING_SAME_UPPER) ||
        !tdl_builder_fits_window(b, &tdl_op_im2col, "pad", params->pad, 4) ||
        !tdl_builder_fits_window(b, &tdl_op_im2col, "stride", params->stride, 2))
        return NULL;
    attr.im2col.p.padding = params->padding;
    attr.im2col.p.groups = 1;
    for (int i = 0; i < 2; i++) {
        attr.im2col.kernel[i] = tdl_or_one(params->kernel[i]);
        attr.im2col.p.stride[i] = tdl_or_one(params->stride[i]);
        attr.im2col.p.dilation[i] = tdl_or_one(params->dilation[i]);
        attr.im2col.p.pad[2 * i] = params->pad[2 * i];
        attr.im2col.p.pad[2 * i + 1] = params->pad[2 * i + 1];
    }
    input = tdl_input_as_told(b, &tdl_op_im2col, input, params->input_layout);
    return tdl_builder_add_node(b, &tdl_op_im2col, &attr, &input, 1, 1);
}
