/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Any groups, channel by channel: takes what no other row does. */
#include "conv.h"

#include <string.h>

/* v: workgroup size */
static const struct tdl_conv_variant variants[] = {{"", {64}}, {"128", {128}}};

static bool accepts(const struct tdl_conv_geometry *g, const struct tdl_conv_variant *v)
{
    return g->pre == TDL_PRE_NONE && v->v[0] <= g->device->max_workgroup_invocations;
}

static double cost(const struct tdl_conv_geometry *g, const struct tdl_conv_variant *v)
{
    double groups = (double)TDL_DIV_UP(tdl_conv_pixels(g), v->v[0]) * tdl_packs(g->out.c);
    return tdl_conv_time(g, tdl_conv_macs(g), tdl_conv_heuristics(g)->efficiency.grouped,
                         tdl_conv_bytes(g), 1, groups * g->in.n) *
           (v == variants ? 1 : 1.1);
}

static void lower(struct tdl_plan *plan, struct tdl_node *n, const struct tdl_conv_geometry *g,
                  const struct tdl_conv_variant *v)
{
    const float *f = tdl_constant_data(n->inputs[TDL_CONV_FILTER]);
    const float *bias = tdl_constant_data(n->inputs[TDL_CONV_BIAS]);
    uint64_t count = (uint64_t)g->out.c * tdl_conv_taps(g) * g->in_per_group;
    struct tdl_plan_step *s = tdl_plan_add_step(plan, "conv2d_grouped", n, v->v[0], 1, 1);
    const struct tdl_conv2d_grouped_spec spec =
        tdl_conv2d_grouped_spec(.window = tdl_conv_window(g), .in_packs = tdl_packs(g->in.c),
                                .out_channels = g->out.c, .in_per_group = g->in_per_group,
                                .out_per_group = g->out_per_group, .activation = g->p->activation,
                                .residual = g->residual);
    TDL_PLAN_SPECS(s, conv2d_grouped, spec);
    tdl_conv_bind(s, n);
    const struct tdl_weights_key key =
        tdl_conv_weights_key(g, n, TDL_WEIGHTS_LAYOUT(tdl_conv_grouped), 0, 0, 0);
    float *w = tdl_plan_weights(plan, s, 1, count + g->out.c, &key);
    if (w) {
        memcpy(w, f, count * sizeof(float));
        if (bias)
            memcpy(w + count, bias, g->out.c * sizeof(float));
    }
    tdl_plan_groups(s, TDL_DIV_UP(g->out.h * g->out.w, v->v[0]), tdl_packs(g->out.c), g->in.n);
}

const struct tdl_conv_algorithm tdl_conv_grouped = {
    .name = "grouped",
    .variants = variants,
    .variant_count = TDL_COUNT(variants),
    .accepts = accepts,
    .cost = cost,
    .lower = lower,
};
