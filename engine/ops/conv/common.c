/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Helpers of the rows of the convolution table. */
#include "conv.h"

#include <math.h>
#include <stdio.h>

struct tdl_operand *tdl_conv_input(const struct tdl_node *n, uint32_t slot)
{
    return n->input_count > slot ? n->inputs[slot] : NULL;
}

void tdl_conv_describe(const struct tdl_node *n, struct tdl_conv_geometry *g)
{
    struct tdl_dims f = tdl_operand_dims(n->inputs[TDL_CONV_FILTER]);
    g->p = &n->attr.conv.p;
    g->pre = n->attr.conv.pre;
    g->in = tdl_operand_dims(n->inputs[TDL_CONV_INPUT]);
    if (tdl_conv_input(n, TDL_CONV_SECOND))
        g->in.c += tdl_operand_dims(n->inputs[TDL_CONV_SECOND]).c;
    g->resampled = g->pre == TDL_PRE_NONE && tdl_conv_input(n, TDL_CONV_LOW)
                       ? tdl_operand_dims(n->inputs[TDL_CONV_LOW]).c
                       : 0;
    g->in.c += g->resampled;
    g->window = n->window;
    g->residual = tdl_conv_input(n, TDL_CONV_RESIDUAL) != NULL;
    g->mixed = n->attr.conv.blends || tdl_conv_input(n, TDL_CONV_SECOND) || g->resampled;
    g->in_per_group = f.c;
    g->out_per_group = f.n / g->p->groups;
    g->out = (struct tdl_dims){g->in.n, g->window.out[0], g->window.out[1], f.n};
}

struct tdl_conv_geometry tdl_conv_product(const struct tdl_plan *plan, enum tdl_dtype storage,
                                          struct tdl_dims in, uint32_t columns)
{
    static const struct tdl_conv2d_params plain = {.groups = 1};
    return (struct tdl_conv_geometry){
        .in = in,
        .out = {in.n, in.h, in.w, columns},
        .window = tdl_window_pixel(in),
        .p = &plain,
        .in_per_group = in.c,
        .out_per_group = columns,
        .device = plan->device,
        .storage = storage,
    };
}

/* ------------------------------------------------------------------- costs */

double tdl_conv_macs(const struct tdl_conv_geometry *g)
{
    return (double)g->out.n * g->out.h * g->out.w * g->out.c * tdl_conv_taps(g) * g->in_per_group;
}

uint32_t tdl_conv_value_bytes(const struct tdl_conv_geometry *g)
{
    return g->storage == TDL_FLOAT16 ? 2 : 4;
}

double tdl_conv_bytes(const struct tdl_conv_geometry *g)
{
    double in = (double)g->in.n * g->in.h * g->in.w * g->in.c;
    double out = (double)g->out.n * g->out.h * g->out.w * g->out.c * (g->residual ? 2 : 1);
    const double weights = (double)g->out.c * tdl_conv_taps(g) * g->in_per_group;
    return (in + out) * tdl_conv_value_bytes(g) + weights * (g->wide_cells ? 2.0 * g->in.n : 4);
}

double tdl_conv_time(const struct tdl_conv_geometry *g, double macs, double efficiency,
                     double bytes, uint32_t steps, double groups)
{
    const struct tdl_heuristics *t = tdl_conv_heuristics(g);
    const double busy = fmin(1, groups / t->speed.groups);
    return t->speed.dispatch * steps +
           fmax(macs / (t->speed.macs * efficiency * busy), bytes / t->speed.bytes);
}

/* ------------------------------------------------------------------ weights */

uint32_t tdl_conv_divisor(uint32_t value, uint32_t limit)
{
    for (uint32_t d = TDL_MIN(value, limit); d > 1; d--)
        if (value % d == 0)
            return d;
    return 1;
}

float tdl_conv_weight(const struct tdl_conv_geometry *g, const float *f, uint32_t o, uint32_t tap,
                      uint32_t i)
{
    if (o >= g->out.c || i >= g->in_per_group)
        return 0;
    return f[((size_t)o * tdl_conv_taps(g) + tap) * g->in_per_group + i];
}

struct tdl_weights_key tdl_conv_weights_key(const struct tdl_conv_geometry *g,
                                            const struct tdl_node *n, uintptr_t layout, uint32_t a,
                                            uint32_t b, uint32_t c)
{
    return (struct tdl_weights_key){
        layout,
        {n->inputs[TDL_CONV_FILTER], n->inputs[TDL_CONV_BIAS]},
        {g->in.c, g->out.c, g->in_per_group, g->window.kernel[0], g->window.kernel[1], a, b, c}};
}

struct tdl_weights_key tdl_conv_bias_key(const struct tdl_node *n)
{
    return (struct tdl_weights_key){
        TDL_WEIGHTS_LAYOUT(tdl_conv_bias_key), {n->inputs[TDL_CONV_BIAS]}, {0}};
}

static void pack_weights(const struct tdl_conv_geometry *g, const struct tdl_node *n, uint32_t tile,
                         float *w)
{
    const float *f = tdl_constant_data(n->inputs[TDL_CONV_FILTER]);
    const float *bias = tdl_constant_data(n->inputs[TDL_CONV_BIAS]);
    uint32_t taps = tdl_conv_taps(g), in = tdl_packs(g->in.c) * 4;
    for (uint32_t first = 0; first < tdl_packs(g->out.c); first += tile) {
        for (uint32_t tap = 0; tap < taps; tap++)
            for (uint32_t i = 0; i < in; i++)
                for (uint32_t o = 0; o < tile * 4; o++)
                    *w++ = tdl_conv_weight(g, f, first * 4 + o, tap, i);
        for (uint32_t o = first * 4; o < (first + tile) * 4; o++)
            *w++ = bias && o < g->out.c ? bias[o] : 0;
    }
}

void tdl_conv_bind_weights(struct tdl_plan *plan, struct tdl_plan_step *s,
                           const struct tdl_conv_geometry *g, const struct tdl_node *n,
                           uint32_t tile)
{
    const struct tdl_weights_key key =
        tdl_conv_weights_key(g, n, TDL_WEIGHTS_LAYOUT(pack_weights), tile, 0, 0);
    uint64_t groups = TDL_DIV_UP(tdl_packs(g->out.c), tile);
    uint64_t rows = (uint64_t)tdl_conv_taps(g) * tdl_packs(g->in.c) * 4 + 1;
    const bool gated = n->attr.conv.pre != TDL_PRE_NONE;
    float *w = tdl_gate_plan_weights(plan, s, gated ? n->inputs[TDL_CONV_GATE] : NULL,
                                     groups * rows * tile * 4, &key);
    if (w)
        pack_weights(g, n, tile, w);
}

/* -------------------------------------------------------------------- steps */

void tdl_conv_bind(struct tdl_plan_step *s, struct tdl_node *n)
{
    const bool plain = n->inputs[TDL_CONV_INPUT]->storage == TDL_STORAGE_LINEAR;
    tdl_plan_read(s, plain ? 2 : 0, n->inputs[TDL_CONV_INPUT]);
    if (n->input_count > TDL_CONV_RESIDUAL && n->inputs[TDL_CONV_RESIDUAL])
        tdl_plan_read(s, 4, n->inputs[TDL_CONV_RESIDUAL]);
    tdl_plan_write(s, 5, n->output);
}

struct tdl_window_part tdl_conv_window(const struct tdl_conv_geometry *g)
{
    return tdl_window_part(.in_w = g->in.w, .in_h = g->in.h, .out_w = g->out.w, .out_h = g->out.h,
                           .kernel_w = g->window.kernel[1], .kernel_h = g->window.kernel[0],
                           .stride_w = g->window.stride[1], .stride_h = g->window.stride[0],
                           .dilation_w = g->window.dilation[1], .dilation_h = g->window.dilation[0],
                           .pad_left = g->window.pad[2], .pad_top = g->window.pad[0]);
}

bool tdl_conv_scratch_fits(const struct tdl_conv_geometry *g, uint64_t bytes)
{
    /* Input and output lie in the same arena. */
    const double others = tdl_conv_bytes(g);
    return (double)bytes + others <= (double)g->device->max_buffer_bytes;
}
