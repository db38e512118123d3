/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* conv2d. How it is computed is chosen from a table: conv/conv.h. */
#include "conv2d_dynamic.h"
#include "ops/conv/conv.h"

#include <stdlib.h>
#include <string.h>

static void resolve(struct tdl_node *n)
{
    const struct tdl_conv2d_params *p = &n->attr.conv.p;
    const struct tdl_dims f = tdl_operand_dims(n->inputs[TDL_CONV_FILTER]);
    const struct tdl_window_options options = {
        .kernel = {f.h, f.w},
        .stride = p->stride,
        .dilation = p->dilation,
        .pad = p->pad,
        .padding = p->padding,
    };
    tdl_window_resolve(&n->window, tdl_operand_dims(n->inputs[TDL_CONV_INPUT]), &options);
}

static enum tdl_result infer(const struct tdl_node *n, struct tdl_tensor_params *out)
{
    const struct tdl_operand *x = n->inputs[TDL_CONV_INPUT], *f = n->inputs[TDL_CONV_FILTER];
    const struct tdl_operand *bias = n->inputs[TDL_CONV_BIAS];
    if (x->desc.rank != 4 || f->desc.rank != 4)
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT,
                        "conv2d: input %s and filter %s must have rank 4, the filter as ohwi",
                        tdl_operand_text(x), tdl_operand_text(f));
    struct tdl_dims d = tdl_operand_dims(x), k = tdl_operand_dims(f);
    uint32_t groups = n->attr.conv.p.groups;
    if (d.c % groups || k.n % groups || k.c != d.c / groups)
        return tdl_fail(
            TDL_ERROR_INVALID_ARGUMENT,
            "conv2d: a filter of %u outputs from %u channels does not fit input %s with "
            "%u groups",
            k.n, k.c, tdl_operand_text(x), groups);
    if (bias && (bias->desc.rank != 1 || bias->desc.shape[0] != k.n))
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT,
                        "conv2d: bias %s does not fit %u output channels", tdl_operand_text(bias),
                        k.n);
    if (!tdl_window_fits(&n->window))
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT,
                        "conv2d: a window of %ux%u does not fit into the padded input %s", k.h, k.w,
                        tdl_operand_text(x));
    *out = tdl_desc_like(x, (struct tdl_dims){d.n, n->window.out[0], n->window.out[1], k.n});
    return TDL_OK;
}

static uint64_t macs(const struct tdl_node *n)
{
    struct tdl_conv_geometry g;
    tdl_conv_describe(n, &g);
    return (uint64_t)tdl_conv_pixels(&g) * g.out.n * g.out.c * tdl_conv_taps(&g) * g.in_per_group;
}

static void reference(const struct tdl_node *n, const float *const *inputs, float *output)
{
    const float *x = inputs[TDL_CONV_INPUT], *f = inputs[TDL_CONV_FILTER];
    const float *bias = inputs[TDL_CONV_BIAS];
    struct tdl_conv_geometry g;
    tdl_conv_describe(n, &g);
    for (uint32_t b = 0; b < g.out.n; b++)
        for (uint32_t oy = 0; oy < g.out.h; oy++)
            for (uint32_t ox = 0; ox < g.out.w; ox++)
                for (uint32_t o = 0; o < g.out.c; o++) {
                    double sum = bias ? bias[o] : 0;
                    uint32_t first = o / g.out_per_group * g.in_per_group;
                    for (uint32_t ky = 0; ky < g.window.kernel[0]; ky++)
                        for (uint32_t kx = 0; kx < g.window.kernel[1]; kx++) {
                            int64_t y = (int64_t)oy * g.window.stride[0] +
                                        ky * g.window.dilation[0] - g.window.pad[0];
                            int64_t c = (int64_t)ox * g.window.stride[1] +
                                        kx * g.window.dilation[1] - g.window.pad[2];
                            if (y < 0 || c < 0 || y >= g.in.h || c >= g.in.w)
                                continue;
                            const float *px =
                                x +
                                (((size_t)b * g.in.h + (size_t)y) * g.in.w + (size_t)c) * g.in.c;
                            const float *w =
                                f +
                                (((size_t)o * g.window.kernel[0] + ky) * g.window.kernel[1] + kx) *
                                    g.in_per_group;
                            for (uint32_t i = 0; i < g.in_per_group; i++)
                                sum += (double)px[first + i] * w[i];
                        }
                    output[(((size_t)b * g.out.h + oy) * g.out.w + ox) * g.out.c + o] =
                        tdl_activate(g.p->activation, (float)sum);
                }
}

static enum tdl_result lower(struct tdl_plan *plan, struct tdl_node *n)
{
    struct tdl_conv_geometry g = {.device = plan->device, .storage = plan->storage};
    tdl_conv_describe(n, &g);
    if (!tdl_is_known(n->inputs[TDL_CONV_FILTER]) ||
        (n->inputs[TDL_CONV_BIAS] && !tdl_is_known(n->inputs[TDL_CONV_BIAS])))
        return tdl_fail(TDL_ERROR_UNSUPPORTED,
                        "%s: the filter and bias of conv2d must be constants when the graph "
                        "is built, and are not",
                        n->label);
    if (g.pre != TDL_PRE_NONE)
        g.bound = tdl_gate_inside(n->inputs[TDL_CONV_GATE]).gate_packs != 0;
    g.bound |= n->means != NULL;
    g.plain = n->inputs[TDL_CONV_INPUT]->storage == TDL_STORAGE_LINEAR;
    return tdl_conv_lower(plan, n, &g);
}

static bool reads_linear(const struct tdl_node *n, uint32_t slot, const char *algorithm)
{
    return slot == TDL_CONV_INPUT && n->attr.conv.plain && tdl_conv_reads_plain(algorithm);
}

static enum tdl_activation *activation(struct tdl_node *n)
{
    bool residual = n->input_count > TDL_CONV_RESIDUAL && n->inputs[TDL_CONV_RESIDUAL];
    return residual ? NULL : &n->attr.conv.p.activation;
}

static uint32_t filter_channel(const struct tdl_node *n, size_t i)
{
    struct tdl_dims f = tdl_operand_dims(n->inputs[TDL_CONV_FILTER]);
    return (uint32_t)(i / ((size_t)f.h * f.w * f.c));
}

static bool widen(struct tdl_node *n, const uint32_t border[4], bool never_negative)
{
    struct tdl_conv2d_params *p = &n->attr.conv.p;
    (void)never_negative;
    for (int i = 0; i < 4; i++)
        p->pad[i] = n->window.pad[i] + border[i];
    p->padding = TDL_PADDING_EXPLICIT;
    return true;
}

const struct tdl_op tdl_op_conv2d = {
    .name = "conv2d",
    .resolve = resolve,
    .infer = infer,
    .resize = tdl_resize_freely,
    .stack = tdl_stack_first,
    .lower = lower,
    .reference = reference,
    .reads_linear = reads_linear,
    .macs = macs,
    .weight_slots = 1u << TDL_CONV_FILTER | 1u << TDL_CONV_BIAS,
    .activation = activation,
    .filter_channel = filter_channel,
    .widen = widen,
};

/* Element (o, y, x, i) of an "ohwi" filter `d` in another order. */
static size_t index_in(enum tdl_filter_layout layout, struct tdl_dims d, uint32_t o, uint32_t y,
                       uint32_t x, uint32_t i)
{
    switch (layout) {
    case TDL_FILTER_OIHW:
        return (((size_t)o * d.c + i) * d.h + y) * d.w + x;
    case TDL_FILTER_HWIO:
        return (((size_t)y * d.w + x) * d.c + i) * d.n + o;
    case TDL_FILTER_IHWO:
        return (((size_t)i * d.h + y) * d.w + x) * d.n + o;
    default:
        return (((size_t)o * d.h + y) * d.w + x) * d.c + i;
    }
}

static struct tdl_dims ohwi_dims(enum tdl_filter_layout layout, const uint32_t *s)
{
    switch (layout) {
    case TDL_FILTER_OIHW:
        return (struct tdl_dims){s[0], s[2], s[3], s[1]};
    case TDL_FILTER_HWIO:
        return (struct tdl_dims){s[3], s[0], s[1], s[2]};
    case TDL_FILTER_IHWO:
        return (struct tdl_dims){s[3], s[1], s[2], s[0]};
    default:
        return (struct tdl_dims){s[0], s[1], s[2], s[3]};
    }
}

/* A constant in "ohwi" of one that was given in fewer bits, which stay where they are. */
static struct tdl_operand *reorder_compact(struct tdl_builder *b, const struct tdl_compact *given,
                                           enum tdl_filter_layout layout, struct tdl_dims d)
{
    const struct tdl_tensor_params desc = {
        .dtype = TDL_FLOAT32, .rank = 4, .shape = {d.n, d.h, d.w, d.c}};
    struct tdl_operand *o = tdl_ir_add_operand(b->ir, TDL_OPERAND_CONSTANT, &desc);
    struct tdl_compact *c = o ? tdl_ir_alloc(b->ir, sizeof(*c)) : NULL;
    if (!c)
        return tdl_builder_fail(b, TDL_ERROR_OUT_OF_MEMORY, "out of memory in a builder");
    *c = *given;
    /* Rows follow each other in every order. */
    const size_t size[] = {d.n, (size_t)d.h * d.w, d.c};
    const size_t step[] = {index_in(layout, d, 1, 0, 0, 0), index_in(layout, d, 0, 0, 1, 0),
                           index_in(layout, d, 0, 0, 0, 1)};
    memcpy(c->size, size, sizeof(size));
    memcpy(c->step, step, sizeof(step));
    o->compact = c;
    return o;
}

/* A constant in "ohwi" with the values of one in another order. */
static struct tdl_operand *reorder_constant(struct tdl_builder *b, struct tdl_operand *filter,
                                            enum tdl_filter_layout layout)
{
    const size_t size = tdl_tensor_params_size(&filter->desc);
    const size_t element = tdl_dtype_size(filter->desc.dtype);
    struct tdl_dims d = ohwi_dims(layout, filter->desc.shape);
    struct tdl_tensor_params desc = {
        .dtype = filter->desc.dtype, .rank = 4, .shape = {d.n, d.h, d.w, d.c}};
    if (filter->compact && tdl_compact_is_plain(filter->compact))
        return reorder_compact(b, filter->compact, layout, d);
    char *data = malloc(size), *to = data;
    if (!data || !tdl_operand_expand(filter)) {
        free(data);
        return tdl_builder_fail(b, TDL_ERROR_OUT_OF_MEMORY, "out of memory in a builder");
    }
    for (uint32_t o = 0; o < d.n; o++)
        for (uint32_t y = 0; y < d.h; y++)
            for (uint32_t x = 0; x < d.w; x++)
                for (uint32_t i = 0; i < d.c; i++, to += element)
                    memcpy(to,
                           (const char *)filter->data + element * index_in(layout, d, o, y, x, i),
                           element);
    tdl_operand_shrink(filter);
    tdl_builder_own(b, data, free);
    return tdl_builder_constant(b, &desc, data, size);
}

static struct tdl_operand *order_filter(struct tdl_builder *b, struct tdl_operand *filter,
                                        enum tdl_filter_layout layout)
{
    if (layout == TDL_FILTER_OHWI || !filter || tdl_builder_status(b) != TDL_OK ||
        filter->ir != b->ir)
        return filter; /* faults of it are found further on */
    const bool is_cast = filter->producer && filter->producer->op == &tdl_op_cast;
    struct tdl_operand *from = is_cast ? filter->producer->inputs[0] : filter;
    if (from->kind != TDL_OPERAND_CONSTANT || from->desc.rank != 4)
        return tdl_builder_fail(b, TDL_ERROR_UNSUPPORTED,
                                "conv2d: only a constant filter of rank 4 can be given in another "
                                "order than ohwi; %s is none",
                                tdl_operand_text(filter));
    if (is_cast && from->desc.dtype == TDL_FLOAT16 && filter->desc.dtype == TDL_FLOAT32 &&
        tdl_operand_count(from) > TDL_COMPACT_LEAST) {
        const struct tdl_compact halves = {
            .data = from->data, .dtype = TDL_FLOAT16, .count = 1, .stride = 1};
        return reorder_compact(b, &halves, layout, ohwi_dims(layout, from->desc.shape));
    }
    from = reorder_constant(b, from, layout);
    return is_cast && from ? tdl_builder_cast(b, from, filter->desc.dtype) : from;
}

static bool is_dynamic(struct tdl_builder *b, const struct tdl_operand *x,
                       struct tdl_operand *filter)
{
    return x && filter && tdl_builder_status(b) == TDL_OK && x->ir == b->ir &&
           filter->ir == b->ir && x->desc.rank == 4 && filter->desc.rank == 4 &&
           !tdl_becomes_known(b, filter);
}

struct tdl_operand *tdl_builder_conv2d(struct tdl_builder *b, struct tdl_operand *input,
                                       struct tdl_operand *filter,
                                       const struct tdl_conv2d_params *params)
{
    TDL_BUILDER_NEED_KNOWN(b, params);
    union tdl_attr attr = {.conv.p = params ? *params : (struct tdl_conv2d_params){0}};
    struct tdl_conv2d_params *p = &attr.conv.p;
    if (!tdl_builder_known(b, &tdl_op_conv2d, "filter layout", p->filter_layout, TDL_FILTER_IHWO))
        return NULL;
    if (!tdl_builder_known_window(b, &tdl_op_conv2d, p->padding, p->pad, p->activation) ||
        !tdl_builder_fits_window(b, &tdl_op_conv2d, "stride", p->stride, 2) ||
        !tdl_builder_fits_window(b, &tdl_op_conv2d, "dilation", p->dilation, 2))
        return NULL;
    const enum tdl_layout layout = tdl_builder_layout(b, &tdl_op_conv2d, p->input_layout);
    p->input_layout = layout;
    p->groups = tdl_or_one(p->groups);
    if (is_dynamic(b, input, filter))
        return tdl_conv2d_dynamic(b, input, filter, p);
    if (!tdl_becomes_known(b, p->bias)) {
        const struct tdl_conv2d_params all = *p;
        p->bias = NULL;
        p->activation = TDL_ACTIVATION_NONE;
        return tdl_add_bias(b, tdl_builder_conv2d(b, input, filter, p), layout, all.bias,
                            all.activation);
    }
    filter = order_filter(b, filter, p->filter_layout);
    p->input_layout = TDL_LAYOUT_DEFAULT;
    p->filter_layout = TDL_FILTER_OHWI;
    struct tdl_operand *inputs[] = {input, tdl_parameter(b, filter), tdl_parameter(b, p->bias)};
    p->bias = NULL;
    return tdl_builder_add_told(b, &tdl_op_conv2d, layout, &attr, inputs, TDL_COUNT(inputs), 2);
}
