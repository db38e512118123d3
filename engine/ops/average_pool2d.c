/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "../graph/builder.h"
#include "ops.h"

static bool resolve(const struct tdl_node *n, struct tdl_dims *in, struct tdl_window *w)
{
    const struct tdl_pool2d_params *p = &n->attr.pool;
    *in = tdl_operand_dims(n->inputs[0]);
    for (int i = 0; i < 2; i++)
        if (!p->window[i] || p->window[i] > INT32_MAX || p->stride[i] > INT32_MAX)
            return false;
    return tdl_window_resolve(*in, p->window, p->stride, p->pad, p->padding, w);
}

static enum tdl_result infer(const struct tdl_node *n, struct tdl_tensor_params *out)
{
    struct tdl_dims in;
    struct tdl_window w;
    const struct tdl_pool2d_params *p = &n->attr.pool;
    if (n->inputs[0]->desc.rank != 4 || !resolve(n, &in, &w) ||
        /* every window must see at least one pixel of the image */
        p->pad[0] >= p->window[0] || p->pad[1] >= p->window[0] || p->pad[2] >= p->window[1] ||
        p->pad[3] >= p->window[1])
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT,
                        "averagePool2d: a window of %ux%u does not fit input %s", p->window[0],
                        p->window[1], tdl_operand_text(n->inputs[0]));
    *out = tdl_desc_like(n->inputs[0], (struct tdl_dims){in.n, w.out_h, w.out_w, in.c});
    return TDL_OK;
}

static void reference(const struct tdl_node *n, const float *const *inputs, float *output)
{
    const struct tdl_pool2d_params *p = &n->attr.pool;
    struct tdl_dims in;
    struct tdl_window w;
    if (!resolve(n, &in, &w))
        return;
    for (uint32_t b = 0; b < in.n; b++)
        for (uint32_t oy = 0; oy < w.out_h; oy++)
            for (uint32_t ox = 0; ox < w.out_w; ox++)
                for (uint32_t c = 0; c < in.c; c++) {
                    double sum = 0;
                    uint32_t count = 0;
                    for (uint32_t ky = 0; ky < p->window[0]; ky++)
                        for (uint32_t kx = 0; kx < p->window[1]; kx++) {
                            int64_t y = (int64_t)oy * p->stride[0] + ky - w.pad_top;
                            int64_t x = (int64_t)ox * p->stride[1] + kx - w.pad_left;
                            if (y < 0 || x < 0 || y >= in.h || x >= in.w)
                                continue;
                            sum += inputs[0][(((size_t)b * in.h + (size_t)y) * in.w + (size_t)x) *
                                                 in.c +
                                             c];
                            count++;
                        }
                    *output++ = tdl_activate(p->activation, (float)(sum / (count ? count : 1)));
                }
}

static enum tdl_result lower(struct tdl_plan *plan, struct tdl_node *n)
{
    const struct tdl_pool2d_params *p = &n->attr.pool;
    struct tdl_dims in;
    struct tdl_window w;
    if (!resolve(n, &in, &w))
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT, "%s: the window does not fit", n->label);
    uint32_t packs = tdl_packs(in.c), local = 64, outputs = w.out_h * w.out_w;
    /* A workgroup an output, if it has work and there are not too many. */
    bool large = (uint64_t)p->window[0] * p->window[1] >= 64;
    uint32_t team = large && outputs <= TDL_LEAST_GROUPS ? local : 1;
    bool full = !w.pad_top && !w.pad_left && (w.out_h - 1) * p->stride[0] + p->window[0] <= in.h &&
                (w.out_w - 1) * p->stride[1] + p->window[1] <= in.w;
    struct tdl_plan_step *s = tdl_plan_add_step(plan, "average_pool2d", n, local, 1, 1);
    const uint32_t values[] = {team,         in.w,         in.h,         w.out_w,     w.out_h,
                               p->window[1], p->window[0], p->stride[1], p->stride[0], w.pad_left,
                               w.pad_top,    p->activation, packs,       in.c - (packs - 1) * 4, full};
    for (size_t i = 0; i < TDL_COUNT(values); i++)
        tdl_plan_spec(s, values[i]);
    tdl_plan_read(s, 0, n->inputs[0]);
    tdl_plan_write(s, 1, n->output);
    tdl_plan_shared(s, (uint64_t)local * 16);
    tdl_plan_groups(s, team > 1 ? outputs : TDL_DIV_UP(outputs, local), packs, in.n);
    return plan->status;
}

const struct tdl_op tdl_op_average_pool2d = {
    .name = "averagePool2d",
    .infer = infer,
    .lower = lower,
    .reference = reference,
};

struct tdl_operand *tdl_builder_average_pool2d(struct tdl_builder *b, struct tdl_operand *input,
                                               const struct tdl_pool2d_params *params)
{
    union tdl_attr attr = {.pool = params ? *params : (struct tdl_pool2d_params){0}};
    if (!tdl_builder_known_window(b, &tdl_op_average_pool2d, attr.pool.padding,
                                  attr.pool.activation))
        return NULL;
    if (b->status == TDL_OK && input)
        for (int i = 0; i < 2; i++) {
            struct tdl_dims d = tdl_operand_dims(input);
            attr.pool.stride[i] = tdl_or_one(attr.pool.stride[i]);
            if (!attr.pool.window[i])
                attr.pool.window[i] = i ? d.w : d.h;
        }
    return tdl_builder_add_node(b, &tdl_op_average_pool2d, &attr, &input, 1, 1);
}

struct tdl_operand *tdl_builder_global_average_pool(struct tdl_builder *b,
                                                    struct tdl_operand *input)
{
    return tdl_builder_average_pool2d(b, input, NULL);
}
