/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "pool2d.h"
#include "rows.h"

struct geometry {
    struct tdl_dims in;
    uint32_t out[2], pad[2], end_pad[2]; /* vertical, horizontal */
    uint32_t dilation[2];
};

/* Along one axis, of `in` pixels: false if the window does not fit. */
static bool resolve_axis(const struct tdl_pool2d_params *p, int axis, uint32_t in,
                         struct geometry *g)
{
    const uint64_t stride = p->stride[axis], asked = p->output_size[axis];
    const uint64_t extent = (uint64_t)(p->window[axis] - 1) * g->dilation[axis] + 1;
    if (!p->window[axis] || !stride || extent > INT32_MAX || stride > INT32_MAX)
        return false;
    if (p->padding == TDL_PADDING_SAME_UPPER) {
        uint64_t out = TDL_DIV_UP((uint64_t)in, stride);
        const uint32_t total = tdl_same_padding(in, extent, stride);
        g->pad[axis] = total / 2;
        g->end_pad[axis] = total - total / 2;
        g->out[axis] = (uint32_t)out;
        return !asked || asked == out;
    }
    const uint64_t before = p->pad[2 * axis], padded = in + before + p->pad[2 * axis + 1];
    if (padded > INT32_MAX || extent > padded)
        return false;
    uint64_t low = (padded - extent) / stride + 1;
    uint64_t high = TDL_DIV_UP(padded - extent, stride) + 1;
    /* ONNX: no window starts behind the image. */
    if ((high - 1) * stride >= in + before)
        high = low;
    g->pad[axis] = p->pad[2 * axis];
    g->end_pad[axis] = p->pad[2 * axis + 1];
    g->out[axis] = (uint32_t)(asked ? asked : p->rounding == TDL_ROUNDING_CEIL ? high : low);
    return g->out[axis] == low || g->out[axis] == high;
}

/* A window that sees no pixel has no largest value, and no mean. Behind the
 * windows that start before the image, all that start inside it see one; of
 * those before it, the first reaches least far, but any may step over an image
 * that is smaller than its gaps. */
static bool sees_pixels(const struct tdl_pool2d_params *p, int axis, uint32_t in,
                        const struct geometry *g)
{
    enum { MOST = 1 << 20 }; /* windows looked at; nobody pads that much */
    const uint64_t pad = g->pad[axis], dilation = g->dilation[axis];
    if (dilation > in && pad / p->stride[axis] > MOST)
        return false;
    for (uint64_t o = 0; o < g->out[axis] && o * p->stride[axis] < pad; o++) {
        if (o && dilation <= in)
            break;
        uint64_t before = pad - o * p->stride[axis], tap = TDL_DIV_UP(before, dilation);
        if (tap >= p->window[axis] || tap * dilation - before >= in)
            return false;
    }
    return (uint64_t)(g->out[axis] - 1) * p->stride[axis] < pad + in;
}

static bool resolve(const struct tdl_node *n, struct geometry *g)
{
    const struct tdl_pool2d_params *p = &n->attr.pool;
    *g = (struct geometry){.in = tdl_operand_dims(n->inputs[0])};
    const uint32_t in[2] = {g->in.h, g->in.w};
    for (int i = 0; i < 2; i++) {
        g->dilation[i] = tdl_or_one(p->dilation[i]);
        if (!resolve_axis(p, i, in[i], g) || !sees_pixels(p, i, in[i], g))
            return false;
    }
    return true;
}

struct tdl_operand *tdl_pool2d_add(struct tdl_builder *b, const struct tdl_op *op,
                                   struct tdl_operand *input,
                                   const struct tdl_pool2d_params *params)
{
    union tdl_attr attr = {.pool = params ? *params : (struct tdl_pool2d_params){0}};
    struct tdl_pool2d_params *p = &attr.pool;
    if (!tdl_builder_known_window(b, op, p->padding, p->pad, p->activation) ||
        !tdl_builder_fits_window(b, op, "stride", p->stride, 2) ||
        !tdl_builder_known(b, op, "rounding", p->rounding, TDL_ROUNDING_CEIL))
        return NULL;
    uint8_t whole = 0;
    input = tdl_input_as_told(b, op, input, p->input_layout);
    p->input_layout = TDL_INPUT_AS_IT_IS;
    if (tdl_builder_status(b) == TDL_OK && input) {
        struct tdl_dims d = tdl_operand_dims(input);
        for (int i = 0; i < 2; i++) {
            p->stride[i] = tdl_or_one(p->stride[i]);
            p->dilation[i] = tdl_or_one(p->dilation[i]);
            whole |= (uint8_t)(!p->window[i] << i);
            if (!p->window[i])
                p->window[i] = i ? d.w : d.h;
        }
    }
    struct tdl_operand *o = tdl_builder_add_node(b, op, &attr, &input, 1, 1);
    if (o)
        o->producer->whole = whole;
    return o;
}

bool tdl_pool2d_resize(struct tdl_node *n)
{
    struct tdl_pool2d_params *p = &n->attr.pool;
    const struct tdl_dims d = tdl_operand_dims(n->inputs[0]);
    for (int i = 0; i < 2; i++)
        if (n->whole >> i & 1)
            p->window[i] = i ? d.w : d.h;
    return !p->output_size[0] && !p->output_size[1];
}

enum tdl_result tdl_pool2d_infer(const struct tdl_node *n, struct tdl_tensor_params *out)
{
    const struct tdl_pool2d_params *p = &n->attr.pool;
    const struct tdl_operand *x = n->inputs[0];
    struct geometry g;
    if (x->desc.rank != 4 || !tdl_is_float(x->desc.dtype))
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT,
                        "%s: the input %s is not float32 or float16 of rank 4; cast or reshape it",
                        n->op->name, tdl_operand_text(x));
    if (!resolve(n, &g))
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT,
                        "%s: a window of %ux%u does not fit input %s: it is too large, sees "
                        "padding only, or gives another output size than asked",
                        n->op->name, p->window[0], p->window[1], tdl_operand_text(x));
    *out = tdl_desc_like(x, (struct tdl_dims){g.in.n, g.out[0], g.out[1], g.in.c});
    return TDL_OK;
}

/* Pixels that a window takes along an axis of `end` pixels. */
static uint32_t taps_before(const struct tdl_pool2d_params *p, const struct geometry *g, int axis,
                            uint32_t o, int64_t end)
{
    uint32_t count = 0;
    for (uint32_t k = 0; k < p->window[axis]; k++)
        count += (int64_t)o * p->stride[axis] - g->pad[axis] + (int64_t)k * g->dilation[axis] < end;
    return count;
}

static float window_value(const struct tdl_pool2d_params *p, const struct geometry *g,
                          const struct tdl_pool_definition *d, const float *image,
                          const uint32_t o[2], uint32_t c)
{
    double joined = d->start;
    uint32_t count = 0;
    for (uint32_t ky = 0; ky < p->window[0]; ky++)
        for (uint32_t kx = 0; kx < p->window[1]; kx++) {
            int64_t y = (int64_t)o[0] * p->stride[0] + (int64_t)ky * g->dilation[0] - g->pad[0];
            int64_t x = (int64_t)o[1] * p->stride[1] + (int64_t)kx * g->dilation[1] - g->pad[1];
            if (y < 0 || x < 0 || y >= g->in.h || x >= g->in.w)
                continue;
            joined = d->join(joined, image[((size_t)y * g->in.w + (size_t)x) * g->in.c + c]);
            count++;
        }
    if (p->count_include_pad)
        count = taps_before(p, g, 0, o[0], (int64_t)g->in.h + g->end_pad[0]) *
                taps_before(p, g, 1, o[1], (int64_t)g->in.w + g->end_pad[1]);
    return tdl_activate(p->activation, (float)d->finish(joined, count));
}

void tdl_pool2d_reference(const struct tdl_node *n, const struct tdl_pool_definition *definition,
                          const float *input, float *output)
{
    struct geometry g;
    if (!resolve(n, &g))
        return;
    for (uint32_t b = 0; b < g.in.n; b++)
        for (uint32_t oy = 0; oy < g.out[0]; oy++)
            for (uint32_t ox = 0; ox < g.out[1]; ox++)
                for (uint32_t c = 0; c < g.in.c; c++)
                    *output++ = window_value(&n->attr.pool, &g, definition,
                                             input + (size_t)b * g.in.h * g.in.w * g.in.c,
                                             (const uint32_t[2]){oy, ox}, c);
}

static bool lies_inside(const struct tdl_pool2d_params *p, const struct geometry *g, int axis,
                        uint32_t in)
{
    return !g->pad[axis] && (uint64_t)(g->out[axis] - 1) * p->stride[axis] +
                                    (uint64_t)(p->window[axis] - 1) * g->dilation[axis] <
                                in;
}

/* Invocations that share an output: a workgroup, if it has work and there are
 * not too many. */
static uint32_t team_of(const struct tdl_plan *plan, const struct tdl_pool2d_params *p,
                        uint64_t outputs)
{
    uint64_t taps = (uint64_t)p->window[0] * p->window[1];
    if (taps < 64 || outputs > TDL_LEAST_GROUPS)
        return 1;
    bool wide = tdl_heuristics_of(plan->device)->team >= 256 && taps >= 1024 &&
                plan->device->max_workgroup_invocations >= 256;
    return wide ? 256 : 64;
}

enum tdl_result tdl_pool2d_lower(struct tdl_plan *plan, struct tdl_node *n, enum tdl_pool_kind kind)
{
    const struct tdl_pool2d_params *p = &n->attr.pool;
    struct geometry g;
    if (!resolve(n, &g))
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT, "%s: the window does not fit", n->label);
    uint32_t packs = tdl_packs(g.in.c), outputs = g.out[0] * g.out[1];
    uint32_t team = team_of(plan, p, outputs), local = TDL_MAX(team, 64);
    bool full = lies_inside(p, &g, 0, g.in.h) && lies_inside(p, &g, 1, g.in.w);
    bool unroll = (uint64_t)p->window[0] * p->window[1] <= 16;
    struct tdl_plan_step *s = tdl_plan_add_step(plan, "pool2d", n, local, 1, 1);
    const struct tdl_pool2d_spec spec =
        tdl_pool2d_spec(.kind = kind, .team = team, .in_w = g.in.w, .in_h = g.in.h,
                        .out_w = g.out[1], .out_h = g.out[0], .window_w = p->window[1],
                        .window_h = p->window[0], .stride_w = p->stride[1],
                        .stride_h = p->stride[0], .dilation_w = g.dilation[1],
                        .dilation_h = g.dilation[0], .pad_left = g.pad[1], .pad_top = g.pad[0],
                        .pad_right = g.end_pad[1], .pad_bottom = g.end_pad[0],
                        .count_pad = p->count_include_pad, .activation = p->activation,
                        .packs = packs, .last_channels = tdl_last_channels(g.in.c), .full = full,
                        .unroll = unroll);
    TDL_PLAN_SPECS(s, pool2d, spec);
    tdl_plan_read(s, 0, n->inputs[0]);
    tdl_plan_write(s, 1, n->output);
    tdl_plan_shared(s, (uint64_t)local * 16);
    tdl_plan_groups(s, team > 1 ? outputs : TDL_DIV_UP(outputs, local), packs, g.in.n);
    return plan->status;
}

bool tdl_pool2d_is_global(const struct tdl_node *n)
{
    const struct tdl_pool2d_params *p = &n->attr.pool;
    struct geometry g;
    return resolve(n, &g) && g.out[0] == 1 && g.out[1] == 1 && p->window[0] == g.in.h &&
           p->window[1] == g.in.w && !g.pad[0] && !g.pad[1];
}

enum tdl_activation *tdl_pool2d_activation(struct tdl_node *n)
{
    return &n->attr.pool.activation;
}

bool tdl_pool2d_widen(struct tdl_node *n, const uint32_t border[4], bool counts)
{
    struct tdl_pool2d_params *p = &n->attr.pool;
    if (p->padding != TDL_PADDING_EXPLICIT || p->pad[0] || p->pad[1] || p->pad[2] || p->pad[3])
        return false;
    memcpy(p->pad, border, sizeof(p->pad));
    p->count_include_pad = counts;
    return true;
}
