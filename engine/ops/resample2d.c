/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* WebNN resample2d: https://www.w3.org/TR/webnn/#api-mlgraphbuilder-resample2d-method;
 * coordinates and roundings as ONNX Resize defines them. */
#include "ir/builder.h"
#include "ops.h"
#include "rows.h"

#include <math.h>
#include <string.h>

/* 0: too large or too small a size. */
static uint32_t out_size(const struct tdl_resample2d_params *p, int axis, uint32_t in)
{
    if (p->size[axis])
        return p->size[axis] <= INT32_MAX ? p->size[axis] : 0;
    double size = floor((double)in * p->scale[axis]);
    return size >= 1 && size <= INT32_MAX ? (uint32_t)size : 0;
}

static void resolve(struct tdl_node *n)
{
    const struct tdl_dims d = tdl_operand_dims(n->inputs[0]);
    n->window.out[0] = out_size(&n->attr.resample, 0, d.h);
    n->window.out[1] = out_size(&n->attr.resample, 1, d.w);
}

static struct tdl_dims out_dims(const struct tdl_node *n)
{
    const struct tdl_dims d = tdl_operand_dims(n->inputs[0]);
    return (struct tdl_dims){d.n, n->window.out[0], n->window.out[1], d.c};
}

static enum tdl_result infer(const struct tdl_node *n, struct tdl_tensor_params *out)
{
    const struct tdl_resample2d_params *p = &n->attr.resample;
    const struct tdl_operand *x = n->inputs[0];
    if (x->desc.rank != 4 || !tdl_is_float(x->desc.dtype))
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT,
                        "resample2d: %s cannot be resampled, it is not float of rank 4",
                        tdl_operand_text(x));
    struct tdl_dims d = out_dims(n);
    if (!d.h || !d.w || !p->size[0] != !p->size[1])
        return tdl_fail(
            TDL_ERROR_INVALID_ARGUMENT, "resample2d: %s cannot be resampled to %ux%u, or by %gx%g",
            tdl_operand_text(x), p->size[0], p->size[1], (double)p->scale[0], (double)p->scale[1]);
    *out = tdl_desc_like(x, d);
    return TDL_OK;
}

bool tdl_resample2d_is_linear(const struct tdl_node *n)
{
    const struct tdl_resample2d_params *p = &n->attr.resample;
    return n->op == &tdl_op_resample2d && p->mode == TDL_RESAMPLE_LINEAR && p->size[0] &&
           p->size[1];
}

/* The place of the centre of output pixel x, from the definition. */
static double coordinate(const struct tdl_resample2d_params *p, int axis, uint32_t x, uint32_t in,
                         uint32_t out)
{
    double scale = p->size[axis] ? (double)out / in : (double)p->scale[axis];
    if (p->coordinates == TDL_RESAMPLE_HALF_PIXEL)
        return (p->size[axis] ? (x + 0.5) * in / out : (x + 0.5) / scale) - 0.5;
    if (p->coordinates == TDL_RESAMPLE_ASYMMETRIC)
        return p->size[axis] ? (double)x * in / out : x / scale;
    return out > 1 ? (double)x * (in - 1) / (out - 1) : 0;
}

static double within(double s, uint32_t in)
{
    return s < 0 ? 0 : s > in - 1 ? in - 1 : s;
}

static uint32_t nearest(const struct tdl_resample2d_params *p, double s, uint32_t in)
{
    switch (p->rounding) {
    case TDL_RESAMPLE_PREFER_FLOOR:
        s = ceil(s - 0.5);
        break;
    case TDL_RESAMPLE_PREFER_CEIL:
        s = floor(s + 0.5);
        break;
    case TDL_RESAMPLE_FLOOR:
        s = floor(s);
        break;
    case TDL_RESAMPLE_CEIL:
        s = ceil(s);
        break;
    }
    return (uint32_t)within(s, in);
}

static void reference(const struct tdl_node *n, const float *const *inputs, float *output)
{
    const struct tdl_resample2d_params *p = &n->attr.resample;
    struct tdl_dims in = tdl_operand_dims(n->inputs[0]), out = out_dims(n);
    bool linear = p->mode == TDL_RESAMPLE_LINEAR;
    for (uint32_t b = 0; b < out.n; b++)
        for (uint32_t y = 0; y < out.h; y++)
            for (uint32_t x = 0; x < out.w; x++) {
                double sy = coordinate(p, 0, y, in.h, out.h), sx = coordinate(p, 1, x, in.w, out.w);
                uint32_t y0 = linear ? (uint32_t)within(sy, in.h) : nearest(p, sy, in.h);
                uint32_t x0 = linear ? (uint32_t)within(sx, in.w) : nearest(p, sx, in.w);
                uint32_t y1 = TDL_MIN(y0 + 1, in.h - 1), x1 = TDL_MIN(x0 + 1, in.w - 1);
                double fy = linear ? within(sy, in.h) - y0 : 0;
                double fx = linear ? within(sx, in.w) - x0 : 0;
                const float *image = inputs[0] + (size_t)b * in.h * in.w * in.c;
#define AT(yy, xx) image[((size_t)(yy)*in.w + (xx)) * in.c + c]
                for (uint32_t c = 0; c < in.c; c++)
                    *output++ = (float)((AT(y0, x0) * (1 - fx) + AT(y0, x1) * fx) * (1 - fy) +
                                        (AT(y1, x0) * (1 - fx) + AT(y1, x1) * fx) * fy);
#undef AT
            }
}

static void lower_linear(struct tdl_plan *plan, struct tdl_node *n, struct tdl_dims in,
                         struct tdl_dims out)
{
    const struct tdl_resample2d_params *p = &n->attr.resample;
    uint32_t packs = tdl_packs(in.c), local = 64;
    double start_w = coordinate(p, 1, 0, in.w, out.w), start_h = coordinate(p, 0, 0, in.h, out.h);
    double ratio_w = coordinate(p, 1, 1, in.w, TDL_MAX(out.w, 2)) - start_w;
    double ratio_h = coordinate(p, 0, 1, in.h, TDL_MAX(out.h, 2)) - start_h;
    struct tdl_plan_step *s = tdl_plan_add_step(plan, "resample2d", n, local, 1, 1);
    const struct tdl_resample2d_spec spec =
        tdl_resample2d_spec(.in_w = in.w, .in_h = in.h, .out_w = out.w, .out_h = out.h,
                            .packs = packs, .ratio_w = out.w > 1 ? (float)ratio_w : 0,
                            .start_w = (float)start_w, .ratio_h = out.h > 1 ? (float)ratio_h : 0,
                            .start_h = (float)start_h);
    TDL_PLAN_SPECS(s, resample2d, spec);
    tdl_plan_read(s, 0, n->inputs[0]);
    tdl_plan_write(s, 1, n->output);
    tdl_plan_groups(s, TDL_DIV_UP(out.h * out.w, local), packs, in.n);
}

static int64_t floor_div(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

/* The nearest input pixel, in whole numbers where the ratio is of sizes. */
static uint32_t nearest_exactly(const struct tdl_resample2d_params *p, int axis, int64_t x,
                                int64_t in, int64_t out)
{
    int64_t num = x * in, den = out, s;
    if (!p->size[axis] && p->coordinates != TDL_RESAMPLE_ALIGN_CORNERS)
        return nearest(p, coordinate(p, axis, (uint32_t)x, (uint32_t)in, (uint32_t)out),
                       (uint32_t)in);
    if (p->coordinates == TDL_RESAMPLE_HALF_PIXEL) {
        num = (2 * x + 1) * in - out;
        den = 2 * out;
    } else if (p->coordinates == TDL_RESAMPLE_ALIGN_CORNERS) {
        num = x * (in - 1);
        den = TDL_MAX(out - 1, 1);
    }
    if (p->rounding == TDL_RESAMPLE_PREFER_FLOOR)
        s = -floor_div(den - 2 * num, 2 * den);
    else if (p->rounding == TDL_RESAMPLE_PREFER_CEIL)
        s = floor_div(2 * num + den, 2 * den);
    else
        s = p->rounding == TDL_RESAMPLE_FLOOR ? floor_div(num, den) : -floor_div(-num, den);
    return (uint32_t)(s < 0 ? 0 : s > in - 1 ? in - 1 : s);
}

static void fill_table(const struct tdl_resample2d_params *p, struct tdl_dims in,
                       struct tdl_dims out, float *table)
{
    for (uint32_t i = 0; i < out.w + out.h; i++) {
        uint32_t at = i < out.w ? nearest_exactly(p, 1, i, in.w, out.w)
                                : nearest_exactly(p, 0, i - out.w, in.h, out.h);
        memcpy(&table[i], &at, sizeof(at));
    }
}

/* Each pixel a block: what the table would say. */
static bool is_block(const struct tdl_resample2d_params *p, int axis, uint32_t in, uint32_t out)
{
    if (out % in != 0)
        return false;
    for (uint32_t x = 0; x < out; x++)
        if (nearest_exactly(p, axis, x, in, out) != x / (out / in))
            return false;
    return true;
}

static void lower_nearest(struct tdl_plan *plan, struct tdl_node *n, struct tdl_dims in,
                          struct tdl_dims out)
{
    const struct tdl_resample2d_params *p = &n->attr.resample;
    uint32_t packs = tdl_packs(in.c), local = 64;
    bool block = is_block(p, 0, in.h, out.h) && is_block(p, 1, in.w, out.w);
    struct tdl_plan_step *s = tdl_plan_add_step(plan, "resample2d_nearest", n, local, 1, 1);
    const struct tdl_resample2d_nearest_spec spec =
        tdl_resample2d_nearest_spec(.in_w = in.w, .in_h = in.h, .out_w = out.w, .out_h = out.h,
                                    .packs = packs, .block_w = block ? out.w / in.w : 0,
                                    .block_h = block ? out.h / in.h : 0);
    TDL_PLAN_SPECS(s, resample2d_nearest, spec);
    tdl_plan_read(s, 0, n->inputs[0]);
    tdl_plan_write(s, 2, n->output);
    struct tdl_weights_key key = {
        .layout = TDL_WEIGHTS_LAYOUT(fill_table),
        .params = {in.w, in.h, out.w, out.h, p->mode, p->rounding, p->coordinates}};
    memcpy(&key.params[7], p->scale, sizeof(p->scale));
    memcpy(&key.params[9], p->size, sizeof(p->size));
    float *table = block ? NULL : tdl_plan_weights(plan, s, 1, (uint64_t)out.w + out.h, &key);
    if (table)
        fill_table(p, in, out, table);
    tdl_plan_groups(s, TDL_DIV_UP(out.h * out.w, local), packs, in.n);
}

static enum tdl_result lower(struct tdl_plan *plan, struct tdl_node *n)
{
    struct tdl_dims in = tdl_operand_dims(n->inputs[0]), out = out_dims(n);
    if (n->attr.resample.mode == TDL_RESAMPLE_LINEAR)
        lower_linear(plan, n, in, out);
    else
        lower_nearest(plan, n, in, out);
    return plan->status;
}

static bool resize(struct tdl_node *n)
{
    return !n->attr.resample.size[0] && !n->attr.resample.size[1];
}

const struct tdl_op tdl_op_resample2d = {
    .name = "resample2d",
    .resolve = resolve,
    .infer = infer,
    .resize = resize,
    .stack = tdl_stack_first,
    .lower = lower,
    .reference = reference,
};

/* Dimensions that are no neighbours become the middle ones for a while. */
static struct tdl_operand *resample_apart(struct tdl_builder *b, struct tdl_operand *x,
                                          struct tdl_resample2d_params *p)
{
    uint32_t order[4] = {0, p->axes[0], p->axes[1], 0}, back[4], place = 0;
    for (uint32_t i = 0; i < 4; i++)
        if (i != p->axes[0] && i != p->axes[1])
            order[3 * place++] = i;
    for (uint32_t i = 0; i < 4; i++)
        back[order[i]] = i;
    p->axes[0] = p->axes[1] = 0;
    p->input_layout = TDL_LAYOUT_NHWC;
    x = tdl_builder_resample2d(b, tdl_builder_transpose(b, x, order), p);
    return tdl_builder_transpose(b, x, back);
}

/* Along any dimensions: under shape and layout that make height and width of them. */
static struct tdl_operand *resample_along(struct tdl_builder *b, struct tdl_operand *x,
                                          const struct tdl_resample2d_params *p)
{
    const uint32_t *s = x->desc.shape, first = p->axes[0];
    struct tdl_resample2d_params inner = *p;
    if (x->desc.rank != 4 || p->axes[1] > 3 || p->axes[1] <= first)
        return tdl_builder_fail(b, TDL_ERROR_INVALID_ARGUMENT,
                                "resample2d: axes %u and %u of %s; they rise, of rank 4", first,
                                p->axes[1], tdl_operand_text(x));
    if (p->axes[1] != first + 1)
        return resample_apart(b, x, &inner);
    inner.axes[0] = inner.axes[1] = 0;
    inner.input_layout = first == 2 ? TDL_LAYOUT_NCHW : TDL_LAYOUT_NHWC;
    if (first > 0)
        return tdl_builder_resample2d(b, x, &inner);
    const uint32_t rest[] = {s[2], s[3]};
    x = tdl_builder_reshape(b, x, 4, (const uint32_t[]){1, s[0], s[1], s[2] * s[3]});
    x = tdl_builder_resample2d(b, x, &inner);
    if (!x)
        return NULL;
    return tdl_builder_reshape(
        b, x, 4, (const uint32_t[]){x->desc.shape[1], x->desc.shape[2], rest[0], rest[1]});
}

struct tdl_operand *tdl_builder_resample2d(struct tdl_builder *b, struct tdl_operand *input,
                                           const struct tdl_resample2d_params *params)
{
    TDL_BUILDER_NEED_KNOWN(b, params);
    union tdl_attr attr = {.resample = params ? *params : (struct tdl_resample2d_params){0}};
    struct tdl_resample2d_params *p = &attr.resample;
    if (!p->size[0] && !p->size[1] && p->scale[0] == 0 && p->scale[1] == 0)
        return tdl_builder_fail(b, TDL_ERROR_INVALID_ARGUMENT,
                                "resample2d: neither a size nor a scale was given");
    if (!tdl_builder_known(b, &tdl_op_resample2d, "mode", p->mode, TDL_RESAMPLE_LINEAR) ||
        !tdl_builder_known(b, &tdl_op_resample2d, "rounding", p->rounding, TDL_RESAMPLE_CEIL) ||
        !tdl_builder_known(b, &tdl_op_resample2d, "way of coordinates", p->coordinates,
                           TDL_RESAMPLE_ASYMMETRIC))
        return NULL;
    const enum tdl_layout layout = tdl_builder_layout(b, &tdl_op_resample2d, p->input_layout);
    p->input_layout = TDL_LAYOUT_DEFAULT;
    if (tdl_builder_status(b) == TDL_OK && input && (p->axes[0] || p->axes[1]))
        return resample_along(b, input, p);
    for (int i = 0; i < 2; i++)
        if (p->scale[i] == 0)
            p->scale[i] = 1;
    return tdl_builder_add_told(b, &tdl_op_resample2d, layout, &attr, &input, 1, 1);
}
