/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "pool2d.h"
#include "rows.h"

/* A window that sees no pixel has no largest value, and no mean. Behind the
 * windows that start before the image, all that start inside it see one; of
 * those before it, the first reaches least far, but any may step over an image
 * that is smaller than its gaps. */
static bool sees_pixels(const struct tdl_window *w, int axis, uint32_t in)
{
    enum { MOST = 1 << 20 }; /* windows looked at; nobody pads that much */
    const uint64_t pad = w->pad[2 * axis], dilation = w->dilation[axis];
    if (dilation > in && pad / w->stride[axis] > MOST)
        return false;
    for (uint64_t o = 0; o < w->out[axis] && o * w->stride[axis] < pad; o++) {
        if (o && dilation <= in)
            break;
        uint64_t before = pad - o * w->stride[axis], tap = TDL_DIV_UP(before, dilation);
        if (tap >= w->kernel[axis] || tap * dilation - before >= in)
            return false;
    }
    return (uint64_t)(w->out[axis] - 1) * w->stride[axis] < pad + in;
}

void tdl_pool2d_resolve(struct tdl_node *n)
{
    const struct tdl_pool2d_params *p = &n->attr.pool;
    const struct tdl_dims d = tdl_operand_dims(n->inputs[0]);
    const uint32_t in[2] = {d.h, d.w};
    const struct tdl_window_options options = {
        .kernel = {p->window[0] ? p->window[0] : d.h, p->window[1] ? p->window[1] : d.w},
        .stride = p->stride,
        .dilation = p->dilation,
        .pad = p->pad,
        .padding = p->padding,
        .rounding = p->rounding,
        .output_size = p->output_size,
    };
    tdl_window_resolve(&n->window, d, &options);
    for (int i = 0; i < 2; i++)
        if (n->window.out[i] && !sees_pixels(&n->window, i, in[i]))
            n->window.out[i] = 0;
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
    const enum tdl_layout layout = tdl_builder_layout(b, op, p->input_layout);
    p->input_layout = TDL_LAYOUT_DEFAULT;
    return tdl_builder_add_told(b, op, layout, &attr, &input, 1, 1);
}

bool tdl_pool2d_resize(struct tdl_node *n)
{
    const struct tdl_pool2d_params *p = &n->attr.pool;
    return !p->output_size[0] && !p->output_size[1];
}

enum tdl_result tdl_pool2d_infer(const struct tdl_node *n, struct tdl_tensor_params *out)
{
    const struct tdl_window *w = &n->window;
    const struct tdl_operand *x = n->inputs[0];
    const struct tdl_dims in = tdl_operand_dims(x);
    if (x->desc.rank != 4 || !tdl_is_float(x->desc.dtype))
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT,
                        "%s: the input %s is not float32 or float16 of rank 4; cast or reshape it",
                        n->op->name, tdl_operand_text(x));
    if (!tdl_window_fits(w))
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT,
                        "%s: a window of %ux%u does not fit input %s: it is too large, sees "
                        "padding only, or gives another output size than asked",
                        n->op->name, w->kernel[0], w->kernel[1], tdl_operand_text(x));
    *out = tdl_desc_like(x, (struct tdl_dims){in.n, w->out[0], w->out[1], in.c});
    return TDL_OK;
}

/* Pixels that a window takes along an axis of `end` pixels. */
static uint32_t taps_before(const struct tdl_window *w, int axis, uint32_t o, int64_t end)
{
    uint32_t count = 0;
    for (uint32_t k = 0; k < w->kernel[axis]; k++)
        count +=
            (int64_t)o * w->stride[axis] - w->pad[2 * axis] + (int64_t)k * w->dilation[axis] < end;
    return count;
}

static float window_value(const struct tdl_node *n, const struct tdl_pool_definition *d,
                          const float *image, const uint32_t o[2], uint32_t c)
{
    const struct tdl_dims in = tdl_operand_dims(n->inputs[0]);
    const struct tdl_window *w = &n->window;
    double joined = d->start;
    uint32_t count = 0;
    for (uint32_t ky = 0; ky < w->kernel[0]; ky++)
        for (uint32_t kx = 0; kx < w->kernel[1]; kx++) {
            int64_t y = (int64_t)o[0] * w->stride[0] + (int64_t)ky * w->dilation[0] - w->pad[0];
            int64_t x = (int64_t)o[1] * w->stride[1] + (int64_t)kx * w->dilation[1] - w->pad[2];
            if (y < 0 || x < 0 || y >= in.h || x >= in.w)
                continue;
            joined = d->join(joined, image[((size_t)y * in.w + (size_t)x) * in.c + c]);
            count++;
        }
    if (n->attr.pool.count_include_pad)
        count = taps_before(w, 0, o[0], (int64_t)in.h + w->pad[1]) *
                taps_before(w, 1, o[1], (int64_t)in.w + w->pad[3]);
    return tdl_activate(n->attr.pool.activation, (float)d->finish(joined, count));
}

void tdl_pool2d_reference(const struct tdl_node *n, const struct tdl_pool_definition *definition,
                          const float *input, float *output)
{
    const struct tdl_dims in = tdl_operand_dims(n->inputs[0]);
    for (uint32_t b = 0; b < in.n; b++)
        for (uint32_t oy = 0; oy < n->window.out[0]; oy++)
            for (uint32_t ox = 0; ox < n->window.out[1]; ox++)
                for (uint32_t c = 0; c < in.c; c++)
                    *output++ = window_value(n, definition, input + (size_t)b * in.h * in.w * in.c,
                                             (const uint32_t[2]){oy, ox}, c);
}

static bool lies_inside(const struct tdl_window *w, int axis, uint32_t in)
{
    return !w->pad[2 * axis] && (uint64_t)(w->out[axis] - 1) * w->stride[axis] +
                                        (uint64_t)(w->kernel[axis] - 1) * w->dilation[axis] <
                                    in;
}

/* Invocations that share an output: a workgroup, if it has work and there are
 * not too many. */
static uint32_t team_of(const struct tdl_plan *plan, uint64_t taps, uint64_t outputs)
{
    if (taps < 64 || outputs > TDL_LEAST_GROUPS)
        return 1;
    bool wide = tdl_heuristics_of(plan->device)->team >= 256 && taps >= 1024 &&
                plan->device->max_workgroup_invocations >= 256;
    return wide ? 256 : 64;
}

enum tdl_result tdl_pool2d_lower(struct tdl_plan *plan, struct tdl_node *n, enum tdl_pool_kind kind)
{
    const struct tdl_pool2d_params *p = &n->attr.pool;
    const struct tdl_window *w = &n->window;
    const struct tdl_dims in = tdl_operand_dims(n->inputs[0]);
    const uint64_t taps = (uint64_t)w->kernel[0] * w->kernel[1];
    uint32_t packs = tdl_packs(in.c), outputs = w->out[0] * w->out[1];
    uint32_t team = team_of(plan, taps, outputs), local = TDL_MAX(team, 64);
    bool full = lies_inside(w, 0, in.h) && lies_inside(w, 1, in.w);
    bool unroll = taps <= 16;
    struct tdl_plan_step *s = tdl_plan_add_step(plan, "pool2d", n, local, 1, 1);
    const struct tdl_pool2d_spec spec =
        tdl_pool2d_spec(.kind = kind, .team = team, .in_w = in.w, .in_h = in.h, .out_w = w->out[1],
                        .out_h = w->out[0], .window_w = w->kernel[1], .window_h = w->kernel[0],
                        .stride_w = w->stride[1], .stride_h = w->stride[0],
                        .dilation_w = w->dilation[1], .dilation_h = w->dilation[0],
                        .pad_left = w->pad[2], .pad_top = w->pad[0], .pad_right = w->pad[3],
                        .pad_bottom = w->pad[1], .count_pad = p->count_include_pad,
                        .activation = p->activation, .packs = packs,
                        .last_channels = tdl_last_channels(in.c), .full = full, .unroll = unroll);
    TDL_PLAN_SPECS(s, pool2d, spec);
    tdl_plan_read(s, 0, n->inputs[0]);
    tdl_plan_write(s, 1, n->output);
    tdl_plan_shared(s, (uint64_t)local * 16);
    tdl_plan_groups(s, team > 1 ? outputs : TDL_DIV_UP(outputs, local), packs, in.n);
    return plan->status;
}

bool tdl_pool2d_is_global(const struct tdl_node *n)
{
    const struct tdl_window *w = &n->window;
    const struct tdl_dims in = tdl_operand_dims(n->inputs[0]);
    return w->out[0] == 1 && w->out[1] == 1 && w->kernel[0] == in.h && w->kernel[1] == in.w &&
           !w->pad[0] && !w->pad[2];
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
    memcpy(p->window, n->window.kernel, sizeof(p->window)); /* the whole image was the padded one */
    memcpy(p->pad, border, sizeof(p->pad));
    p->count_include_pad = counts;
    return true;
}
