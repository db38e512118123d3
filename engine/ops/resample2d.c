/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* WebNN resample2d, linear: https://www.w3.org/TR/webnn/#api-mlgraphbuilder-resample2d-method */
#include "../graph/builder.h"
#include "ops.h"

static struct tdl_dims out_dims(const struct tdl_node *n)
{
    struct tdl_dims d = tdl_operand_dims(n->inputs[0]);
    d.h = n->attr.resample.size[0];
    d.w = n->attr.resample.size[1];
    return d;
}

static enum tdl_result infer(const struct tdl_node *n, struct tdl_tensor_params *out)
{
    struct tdl_dims d = out_dims(n);
    if (n->inputs[0]->desc.rank != 4 || !d.h || !d.w || d.h > INT32_MAX || d.w > INT32_MAX)
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT, "resample2d: %s cannot be resampled to %ux%u",
                        tdl_operand_text(n->inputs[0]), d.h, d.w);
    *out = tdl_desc_like(n->inputs[0], d);
    return TDL_OK;
}

static double coordinate(enum tdl_resample_coordinates kind, uint32_t x, uint32_t in, uint32_t out)
{
    double s = 0;
    if (kind == TDL_RESAMPLE_HALF_PIXEL)
        s = (x + 0.5) * in / out - 0.5;
    else if (kind == TDL_RESAMPLE_ASYMMETRIC)
        s = (double)x * in / out;
    else if (out > 1)
        s = (double)x * (in - 1) / (out - 1);
    return s < 0 ? 0 : s > in - 1 ? in - 1 : s;
}

static void reference(const struct tdl_node *n, const float *const *inputs, float *output)
{
    struct tdl_dims in = tdl_operand_dims(n->inputs[0]), out = out_dims(n);
    for (uint32_t b = 0; b < out.n; b++)
        for (uint32_t y = 0; y < out.h; y++)
            for (uint32_t x = 0; x < out.w; x++) {
                double sy = coordinate(n->attr.resample.coordinates, y, in.h, out.h);
                double sx = coordinate(n->attr.resample.coordinates, x, in.w, out.w);
                uint32_t y0 = (uint32_t)sy, x0 = (uint32_t)sx;
                uint32_t y1 = TDL_MIN(y0 + 1, in.h - 1), x1 = TDL_MIN(x0 + 1, in.w - 1);
                double fy = sy - y0, fx = sx - x0;
                const float *image = inputs[0] + (size_t)b * in.h * in.w * in.c;
#define AT(yy, xx) image[((size_t)(yy) * in.w + (xx)) * in.c + c]
                for (uint32_t c = 0; c < in.c; c++)
                    *output++ = (float)((AT(y0, x0) * (1 - fx) + AT(y0, x1) * fx) * (1 - fy) +
                                        (AT(y1, x0) * (1 - fx) + AT(y1, x1) * fx) * fy);
#undef AT
            }
}

static enum tdl_result lower(struct tdl_plan *plan, struct tdl_node *n)
{
    struct tdl_dims in = tdl_operand_dims(n->inputs[0]), out = out_dims(n);
    uint32_t packs = tdl_packs(in.c), local = 64;
    struct tdl_plan_step *s = tdl_plan_add_step(plan, "resample2d", n, local, 1, 1);
    const uint32_t values[] = {in.w, in.h, out.w, out.h, packs, n->attr.resample.coordinates};
    for (size_t i = 0; i < TDL_COUNT(values); i++)
        tdl_plan_spec(s, values[i]);
    tdl_plan_read(s, 0, n->inputs[0]);
    tdl_plan_write(s, 1, n->output);
    tdl_plan_groups(s, TDL_DIV_UP(out.h * out.w, local), packs, in.n);
    return plan->status;
}

const struct tdl_op tdl_op_resample2d = {
    .name = "resample2d",
    .infer = infer,
    .lower = lower,
    .reference = reference,
};

struct tdl_operand *tdl_builder_resample2d(struct tdl_builder *b, struct tdl_operand *input,
                                           const struct tdl_resample2d_params *params)
{
    if (!params)
        return tdl_builder_fail(b, TDL_ERROR_INVALID_ARGUMENT, "resample2d: no size was given");
    union tdl_attr attr = {.resample = *params};
    if (!tdl_builder_known(b, &tdl_op_resample2d, "way of coordinates", params->coordinates,
                           TDL_RESAMPLE_ASYMMETRIC))
        return NULL;
    return tdl_builder_add_node(b, &tdl_op_resample2d, &attr, &input, 1, 1);
}
