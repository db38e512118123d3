/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "conv/conv.h"
#include "conv2d_dynamic.h"

#include <stdio.h>

struct geometry {
    struct tdl_dims in, out;
    struct tdl_window window;
    uint32_t groups, in_per_group, out_per_group;
};

static void resolve(struct tdl_node *n)
{
    const struct tdl_conv_transpose2d_params *p = &n->attr.conv_transpose;
    const struct tdl_dims f = tdl_operand_dims(n->inputs[TDL_CONV_FILTER]);
    const struct tdl_window_options options = {
        .kernel = {f.h, f.w},
        .stride = p->stride,
        .dilation = p->dilation,
        .pad = p->pad,
        .padding = p->padding,
        .output_size = p->output_size,
        .output_padding = p->output_padding,
        .transposed = true,
    };
    tdl_window_resolve(&n->window, tdl_operand_dims(n->inputs[TDL_CONV_INPUT]), &options);
}

static struct geometry geometry_of(const struct tdl_node *n)
{
    const struct tdl_dims in = tdl_operand_dims(n->inputs[TDL_CONV_INPUT]);
    const struct tdl_dims f = tdl_operand_dims(n->inputs[TDL_CONV_FILTER]);
    const uint32_t groups = n->attr.conv_transpose.groups;
    return (struct geometry){
        .in = in,
        .out = {in.n, n->window.out[0], n->window.out[1], f.n * groups},
        .window = n->window,
        .groups = groups,
        .in_per_group = in.c / groups,
        .out_per_group = f.n,
    };
}

static enum tdl_result infer(const struct tdl_node *n, struct tdl_tensor_params *out)
{
    const struct tdl_operand *x = n->inputs[TDL_CONV_INPUT], *f = n->inputs[TDL_CONV_FILTER];
    const struct tdl_operand *bias = n->inputs[TDL_CONV_BIAS];
    const uint32_t groups = n->attr.conv_transpose.groups;
    if (x->desc.rank != 4 || f->desc.rank != 4)
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT,
                        "convTranspose2d: input %s and filter %s must have rank 4",
                        tdl_operand_text(x), tdl_operand_text(f));
    if (tdl_operand_dims(f).c != tdl_operand_dims(x).c || tdl_operand_dims(x).c % groups != 0)
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT,
                        "convTranspose2d: a filter from %u channels does not fit input %s with %u "
                        "groups",
                        tdl_operand_dims(f).c, tdl_operand_text(x), groups);
    if (bias &&
        (bias->desc.rank != 1 || bias->desc.shape[0] != (uint64_t)tdl_operand_dims(f).n * groups))
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT,
                        "convTranspose2d: bias %s does not fit %llu output channels",
                        tdl_operand_text(bias), (unsigned long long)tdl_operand_dims(f).n * groups);
    if (!tdl_window_fits(&n->window) || (uint64_t)tdl_operand_dims(f).n * groups > INT32_MAX)
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT,
                        "convTranspose2d: strides, padding and output size leave no output, or "
                        "too large a one, of input %s and a window of %ux%u",
                        tdl_operand_text(x), tdl_operand_dims(f).h, tdl_operand_dims(f).w);
    *out = tdl_desc_like(x, geometry_of(n).out);
    return TDL_OK;
}

static uint64_t macs(const struct tdl_node *n)
{
    const struct geometry g = geometry_of(n);
    return (uint64_t)g.in.n * g.in.h * g.in.w * g.in.c * g.out_per_group * g.window.kernel[0] *
           g.window.kernel[1];
}

/* One tap of one input pixel `px` into the output pixel `to`. */
static void stamp(const struct geometry *g, const float *px, const float *f, uint32_t tap,
                  float *to)
{
    uint32_t taps = g->window.kernel[0] * g->window.kernel[1];
    for (uint32_t o = 0; o < g->out.c; o++) {
        uint32_t first = o / g->out_per_group * g->in_per_group;
        const float *w = f + ((size_t)(o % g->out_per_group) * taps + tap) * g->in.c;
        for (uint32_t i = first; i < first + g->in_per_group; i++)
            to[o] += px[i] * w[i];
    }
}

/* The scatter of the definition: every input pixel stamps the kernel. */
static void reference(const struct tdl_node *n, const float *const *inputs, float *output)
{
    const float *x = inputs[TDL_CONV_INPUT], *bias = inputs[TDL_CONV_BIAS];
    const struct geometry g = geometry_of(n);
    size_t pixels = (size_t)g.out.n * g.out.h * g.out.w;
    for (size_t i = 0; i < pixels * g.out.c; i++)
        output[i] = bias ? bias[i % g.out.c] : 0;
    for (size_t i = 0; i < (size_t)g.in.n * g.in.h * g.in.w; i++)
        for (uint32_t tap = 0; tap < g.window.kernel[0] * g.window.kernel[1]; tap++) {
            size_t ix = i % g.in.w, iy = i / g.in.w % g.in.h, b = i / g.in.w / g.in.h;
            int64_t oy = (int64_t)iy * g.window.stride[0] - g.window.pad[0] +
                         (int64_t)(tap / g.window.kernel[1]) * g.window.dilation[0];
            int64_t ox = (int64_t)ix * g.window.stride[1] - g.window.pad[2] +
                         (int64_t)(tap % g.window.kernel[1]) * g.window.dilation[1];
            if (oy >= 0 && ox >= 0 && oy < g.out.h && ox < g.out.w)
                stamp(&g, x + i * g.in.c, inputs[TDL_CONV_FILTER], tap,
                      output + ((b * g.out.h + (size_t)oy) * g.out.w + (size_t)ox) * g.out.c);
        }
    for (size_t i = 0; i < pixels * g.out.c; i++)
        output[i] = tdl_activate(n->attr.conv_transpose.activation, output[i]);
}

/* The kernel's weights are kept in shared memory, and its loop is unrolled. */
#define MAX_BLOCK_CHANNELS 256

static bool is_block(const struct geometry *g)
{
    return g->groups == 1 && g->out.c == 1 && g->in.c <= MAX_BLOCK_CHANNELS &&
           g->window.kernel[0] == 2 && g->window.kernel[1] == 2 && g->window.dilation[0] == 1 &&
           g->window.dilation[1] == 1 && g->window.stride[0] == 2 && g->window.stride[1] == 2 &&
           g->out.h == g->in.h * 2 && g->out.w == g->in.w * 2 && !g->window.pad[0] &&
           !g->window.pad[2];
}

bool tdl_conv_transpose2d_is_block(const struct tdl_node *n)
{
    if (n->op != &tdl_op_conv_transpose2d)
        return false;
    const struct geometry g = geometry_of(n);
    return is_block(&g);
}

/* A one-channel float32 tensor, without packs. */
static bool writes_linear(const struct tdl_node *n)
{
    return n->output->desc.dtype == TDL_FLOAT32 && tdl_conv_transpose2d_is_block(n);
}

/* 0 between channels of different groups, and where packs are filled up. */
static float filter_at(const struct geometry *g, const float *f, uint32_t o, uint32_t tap,
                       uint32_t i)
{
    if (o >= g->out.c || i >= g->in.c || i / g->in_per_group != o / g->out_per_group)
        return 0;
    return f[((size_t)(o % g->out_per_group) * g->window.kernel[0] * g->window.kernel[1] + tap) *
                 g->in.c +
             i];
}

static struct tdl_weights_key weights_key(const struct tdl_node *n, const struct geometry *g,
                                          uintptr_t layout, uint32_t group_packs, bool depthwise)
{
    return (struct tdl_weights_key){layout,
                                    {n->inputs[TDL_CONV_FILTER], n->inputs[TDL_CONV_BIAS]},
                                    {g->in.c, g->out.c, g->in_per_group, g->out_per_group,
                                     g->window.kernel[0], g->window.kernel[1], group_packs,
                                     depthwise}};
}

static void lower_block(struct tdl_plan *plan, struct tdl_node *n, const struct geometry *g,
                        const float *f, const float *bias)
{
    uint32_t in = tdl_packs(g->in.c), local = 64;
    struct tdl_plan_step *s = tdl_plan_add_step(plan, "conv_transpose2d_block", n, local, 1, 1);
    const bool linear = n->output->storage == TDL_STORAGE_LINEAR;
    const struct tdl_conv_transpose2d_block_spec spec =
        tdl_conv_transpose2d_block_spec(.in_w = g->in.w, .in_h = g->in.h, .in_packs = in,
                                        .activation = n->attr.conv_transpose.activation,
                                        .linear = linear);
    TDL_PLAN_SPECS(s, conv_transpose2d_block, spec);
    tdl_plan_read(s, 0, n->inputs[TDL_CONV_INPUT]);
    tdl_plan_write(s, linear ? 6 : 5, n->output);
    tdl_plan_shared(s, ((uint64_t)in * 4 + 1) * 16);
    const struct tdl_weights_key key = weights_key(n, g, TDL_WEIGHTS_LAYOUT(lower_block), 0, false);
    float *w = tdl_plan_weights(plan, s, 1, ((uint64_t)in * 4 + 1) * 4, &key);
    for (uint32_t i = 0; w && i <= in * 4; i++)
        for (uint32_t tap = 0; tap < 4; tap++)
            *w++ = i < in * 4 ? filter_at(g, f, 0, tap, i) : bias ? bias[0] : 0;
    tdl_plan_groups(s, TDL_DIV_UP(g->in.h * g->in.w, local), 1, g->in.n);
}

static uint32_t first_pack(const struct geometry *g, uint32_t out_pack)
{
    return out_pack * 4 / g->out_per_group * g->in_per_group / 4;
}

/* Input packs that any output pack reads, at most. */
static uint32_t packs_of_group(const struct geometry *g)
{
    uint32_t most = 1;
    for (uint32_t k = 0; k < tdl_packs(g->out.c); k++) {
        uint32_t last = TDL_MIN(k * 4 + 3, g->out.c - 1) / g->out_per_group;
        uint32_t end = tdl_packs((last + 1) * g->in_per_group);
        most = TDL_MAX(most, end - first_pack(g, k));
    }
    return most;
}

static uint32_t step_of(uint32_t stride, uint32_t dilation)
{
    uint32_t a = stride, b = dilation;
    while (b) {
        uint32_t rest = a % b;
        a = b;
        b = rest;
    }
    return stride / a;
}

/* v: pixels of an invocation: each weight is read once for all of them. */
static const struct tdl_conv_variant shares[] = {{"1", {1}}, {"2", {2}}, {"4", {4}}};

static bool shares_fit(const struct geometry *g, uint32_t share)
{
    return share == 1 || (uint32_t)TDL_DIV_UP(g->out.w, g->window.stride[1]) >= share;
}

/* The most of them that leave enough invocations: taken unless others were measured. */
static uint32_t share_of(const struct tdl_plan *plan, const struct geometry *g)
{
    const uint64_t enough = tdl_heuristics_of(plan->device)->busy_alone;
    uint64_t outputs = (uint64_t)g->out.n * g->out.h * g->out.w * tdl_packs(g->out.c);
    return outputs / 4 >= enough && shares_fit(g, 4)   ? 4
           : outputs / 2 >= enough && shares_fit(g, 2) ? 2
                                                       : 1;
}

static void pack_weights(const struct geometry *g, const float *f, const float *bias,
                         uint32_t group_packs, bool depthwise, float *w)
{
    uint32_t in = tdl_packs(g->in.c), out = tdl_packs(g->out.c);
    for (uint32_t k = 0; k < out; k++) {
        uint32_t first = TDL_MIN(first_pack(g, k), in - group_packs) * 4;
        for (uint32_t tap = 0; tap < g->window.kernel[0] * g->window.kernel[1]; tap++)
            for (uint32_t i = 0; i < (depthwise ? 1 : group_packs * 4); i++)
                for (uint32_t o = k * 4; o < k * 4 + 4; o++)
                    *w++ = filter_at(g, f, o, tap, depthwise ? o : first + i);
        for (uint32_t o = k * 4; o < k * 4 + 4; o++)
            *w++ = bias && o < g->out.c ? bias[o] : 0;
    }
}

static void lower_gather(struct tdl_plan *plan, struct tdl_node *n, const struct geometry *g,
                         const float *f, const float *bias, uint32_t share)
{
    bool depthwise = g->in_per_group == 1 && g->out_per_group == 1;
    uint32_t in = tdl_packs(g->in.c), out = tdl_packs(g->out.c), local = 64;
    uint32_t taps = g->window.kernel[0] * g->window.kernel[1], group = packs_of_group(g);
    uint32_t stride_w = g->window.stride[1], stride_h = g->window.stride[0];
    struct tdl_plan_step *s = tdl_plan_add_step(plan, "conv_transpose2d", n, local, 1, 1);
    const struct tdl_conv_transpose2d_spec spec =
        tdl_conv_transpose2d_spec(.in_w = g->in.w, .in_h = g->in.h, .out_w = g->out.w,
                                  .out_h = g->out.h, .kernel_w = g->window.kernel[1],
                                  .kernel_h = g->window.kernel[0], .stride_w = stride_w,
                                  .stride_h = stride_h, .dilation_w = g->window.dilation[1],
                                  .dilation_h = g->window.dilation[0],
                                  .step_w = step_of(stride_w, g->window.dilation[1]),
                                  .step_h = step_of(stride_h, g->window.dilation[0]),
                                  .pad_left = g->window.pad[2], .pad_top = g->window.pad[0],
                                  .in_packs = in, .out_packs = out,
                                  .activation = n->attr.conv_transpose.activation,
                                  .last_channels = tdl_last_channels(g->out.c),
                                  .group_packs = group, .group_in = g->in_per_group,
                                  .group_out = g->out_per_group, .depthwise = depthwise,
                                  .share = share);
    TDL_PLAN_SPECS(s, conv_transpose2d, spec);
    tdl_plan_read(s, 0, n->inputs[TDL_CONV_INPUT]);
    tdl_plan_write(s, 5, n->output);
    uint64_t vectors = (uint64_t)taps * (depthwise ? 1 : group * 4) + 1;
    const struct tdl_weights_key key =
        weights_key(n, g, TDL_WEIGHTS_LAYOUT(pack_weights), group, depthwise);
    float *w = tdl_plan_weights(plan, s, 1, out * vectors * 4, &key);
    if (w)
        pack_weights(g, f, bias, group, depthwise, w);
    uint64_t row = (uint64_t)TDL_DIV_UP(g->out.w, stride_w * share) * stride_w;
    tdl_plan_groups(s, (uint32_t)TDL_DIV_UP(g->out.h * row, local), out, g->in.n);
}

/* Every pixel becomes a block of them, without a neighbour's help. */
static bool is_blocks(const struct geometry *g)
{
    bool blocks = g->groups == 1 && !g->window.pad[0] && !g->window.pad[2];
    for (int i = 0; i < 2; i++)
        blocks &= g->window.kernel[i] == g->window.stride[i] && g->window.dilation[i] == 1;
    return blocks && g->out.h == g->in.h * g->window.kernel[0] &&
           g->out.w == g->in.w * g->window.kernel[1];
}

static bool undivided(const struct tdl_conv_geometry *g, const void *data,
                      const struct tdl_conv_variant *v)
{
    (void)g;
    (void)data;
    return tdl_conv_parts(v) == 1;
}

/* The facts that decide between candidates, in words: the key of the tuning file. */
static void describe(const struct tdl_plan *plan, const struct geometry *g, char *text, size_t size)
{
    snprintf(text, size, "convTranspose2d-%s-%ux%ux%ux%u-%ux%ux%u-k%ux%u-s%ux%u-d%ux%u-p%ux%u-g%u",
             plan->storage == TDL_FLOAT16 ? "f16" : "f32", g->in.n, g->in.h, g->in.w, g->in.c,
             g->out.h, g->out.w, g->out.c, g->window.kernel[0], g->window.kernel[1],
             g->window.stride[0], g->window.stride[1], g->window.dilation[0], g->window.dilation[1],
             g->window.pad[0], g->window.pad[2], g->groups);
}

/* Estimates tell whether matrix units are worth it; among the others a rule decides, and what
 * it did not choose waits to be measured. */
static uint32_t collect(const struct tdl_plan *plan, const struct tdl_node *n,
                        const struct geometry *g, const struct tdl_conv_geometry *product,
                        struct tdl_candidate *list)
{
    const uint32_t share = share_of(plan, g);
    const double groups = (double)tdl_packs(g->out.c) * g->out.n * g->out.h * g->out.w / 128;
    const double time = tdl_conv_time(product, (double)macs(n),
                                      tdl_heuristics_of(plan->device)->efficiency.pointwise,
                                      tdl_conv_bytes(product), 1, groups);
    uint32_t count = 0;
    for (uint32_t i = 0; i < TDL_COUNT(shares); i++)
        if (shares_fit(g, shares[i].v[0]))
            list[count++] = (struct tdl_candidate){"gather", shares[i].name,
                                                   shares[i].v[0] == share ? time : 1.01 * time,
                                                   NULL, &shares[i]};
    return is_blocks(g) ? tdl_conv_collect_units(product, undivided, NULL, list, count) : count;
}

static void lower_chosen(struct tdl_plan *plan, struct tdl_node *n, const struct geometry *g,
                         const float *f, const float *bias)
{
    const struct tdl_conv_blocks blocks = {{g->window.kernel[0], g->window.kernel[1]}, g->out.c};
    const uint32_t first = plan->step_count, taps = g->window.kernel[0] * g->window.kernel[1];
    struct tdl_conv_geometry product =
        tdl_conv_product(plan, plan->storage, g->in, taps * tdl_packs(g->out.c) * 4);
    struct tdl_conv2d_params p = *product.p;
    struct tdl_candidate list[TDL_MAX_CANDIDATES];
    char layer[sizeof(plan->steps->layer)];
    enum tdl_choice choice;
    p.activation = n->attr.conv_transpose.activation;
    product.p = &p;
    const uint32_t count = collect(plan, n, g, &product, list);
    describe(plan, g, layer, sizeof(layer));
    const struct tdl_candidate *c = tdl_choose(plan, layer, list, count, &choice);
    if (c->row)
        tdl_conv_cooperative_blocks(plan, n, &product, c->sizes, &blocks);
    else
        lower_gather(plan, n, g, f, bias, c->sizes->v[0]);
    tdl_name_layer(plan, first, c, layer, choice);
}

static enum tdl_result lower(struct tdl_plan *plan, struct tdl_node *n)
{
    const float *f = tdl_constant_data(n->inputs[TDL_CONV_FILTER]);
    const float *bias = tdl_constant_data(n->inputs[TDL_CONV_BIAS]);
    const struct geometry g = geometry_of(n);
    if (!f || (n->inputs[TDL_CONV_BIAS] && !bias))
        return tdl_fail(TDL_ERROR_UNSUPPORTED,
                        "%s: the filter and bias of convTranspose2d must be constants", n->label);
    if (is_block(&g))
        lower_block(plan, n, &g, f, bias);
    else
        lower_chosen(plan, n, &g, f, bias);
    return plan->status;
}

static enum tdl_activation *activation(struct tdl_node *n)
{
    return &n->attr.conv_transpose.activation;
}

/* [out / groups, kh, kw, in]: the group is that of the input channel. */
static uint32_t filter_channel(const struct tdl_node *n, size_t i)
{
    struct tdl_dims f = tdl_operand_dims(n->inputs[TDL_CONV_FILTER]);
    uint32_t groups = n->attr.conv_transpose.groups;
    return (uint32_t)(i % f.c) / (f.c / groups) * f.n + (uint32_t)(i / ((size_t)f.h * f.w * f.c));
}

/* A size that was asked for is one of an input's. */
static bool resize(struct tdl_node *n)
{
    const uint32_t *size = n->attr.conv_transpose.output_size;
    return !size[0] && !size[1];
}

const struct tdl_op tdl_op_conv_transpose2d = {
    .name = "convTranspose2d",
    .resolve = resolve,
    .infer = infer,
    .resize = resize,
    .stack = tdl_stack_first,
    .lower = lower,
    .reference = reference,
    .macs = macs,
    .weight_slots = 1u << TDL_CONV_FILTER | 1u << TDL_CONV_BIAS,
    .activation = activation,
    .filter_channel = filter_channel,
    .writes_linear = writes_linear,
};

static bool is_dynamic(struct tdl_builder *b, const struct tdl_operand *x,
                       struct tdl_operand *filter, const struct tdl_operand *bias)
{
    return x && filter && tdl_builder_status(b) == TDL_OK && x->ir == b->ir &&
           (!bias || bias->ir == b->ir) && tdl_is_float(x->desc.dtype) &&
           !tdl_becomes_known(b, filter);
}

/* By a filter that is no constant. */
static struct tdl_operand *compose(struct tdl_builder *b, const union tdl_attr *attr,
                                   struct tdl_operand *x, struct tdl_operand *filter,
                                   struct tdl_operand *bias)
{
    struct tdl_conv_transpose2d_params p = attr->conv_transpose;
    struct tdl_node n = {.op = &tdl_op_conv_transpose2d,
                         .attr = *attr,
                         .layout = (enum tdl_layout)p.input_layout,
                         .input_count = 3};
    struct tdl_tensor_params desc;
    n.inputs[TDL_CONV_INPUT] = x;
    n.inputs[TDL_CONV_FILTER] = filter;
    n.inputs[TDL_CONV_BIAS] = p.bias = bias;
    const enum tdl_result r = tdl_node_infer(&n, &desc);
    if (r != TDL_OK)
        return tdl_builder_fail(b, r, "%s", tdl_last_error());
    return tdl_conv_transpose2d_dynamic(b, x, filter, &p, &n.window);
}

struct tdl_operand *tdl_builder_conv_transpose2d(struct tdl_builder *b, struct tdl_operand *input,
                                                 struct tdl_operand *filter,
                                                 const struct tdl_conv_transpose2d_params *params)
{
    TDL_BUILDER_NEED_KNOWN(b, params);
    union tdl_attr attr = {.conv_transpose =
                               params ? *params : (struct tdl_conv_transpose2d_params){0}};
    struct tdl_conv_transpose2d_params *p = &attr.conv_transpose;
    struct tdl_operand *bias = p->bias;
    p->groups = tdl_or_one(p->groups);
    p->bias = NULL;
    if (!tdl_builder_known_window(b, &tdl_op_conv_transpose2d, p->padding, p->pad, p->activation) ||
        !tdl_builder_fits_window(b, &tdl_op_conv_transpose2d, "stride", p->stride, 2) ||
        !tdl_builder_fits_window(b, &tdl_op_conv_transpose2d, "dilation", p->dilation, 2))
        return NULL;
    const enum tdl_layout layout = tdl_builder_layout(b, &tdl_op_conv_transpose2d, p->input_layout);
    p->input_layout = layout;
    if (is_dynamic(b, input, filter, bias))
        return compose(b, &attr, input, filter, bias);
    if (!tdl_becomes_known(b, bias)) {
        const enum tdl_activation activation = p->activation;
        p->activation = TDL_ACTIVATION_NONE;
        return tdl_add_bias(b, tdl_builder_conv_transpose2d(b, input, filter, p), layout, bias,
                            activation);
    }
    p->input_layout = TDL_LAYOUT_DEFAULT;
    struct tdl_operand *inputs[] = {input, tdl_parameter(b, filter), tdl_parameter(b, bias)};
    return tdl_builder_add_told(b, &tdl_op_conv_transpose2d, layout, &attr, inputs,
                                TDL_COUNT(inputs), 2);
}
