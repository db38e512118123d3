/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Our operators in XNNPACK's words. */
#include "xnn_define.h"

#include "ops/conv/conv.h"
#include "ops/matmul.h"
#include "ops/ops.h"

#include <math.h>

struct tdl_cpu_xnn_bounds tdl_cpu_xnn_bounds_of(enum tdl_activation activation)
{
    switch (activation) {
    case TDL_ACTIVATION_RELU:
        return (struct tdl_cpu_xnn_bounds){0, INFINITY};
    case TDL_ACTIVATION_RELU6:
        return (struct tdl_cpu_xnn_bounds){0, 6};
    default:
        return (struct tdl_cpu_xnn_bounds){-INFINITY, INFINITY};
    }
}

/* A constant that is packed. */
static enum tdl_result define_constant(struct tdl_cpu_xnn_making *m, uint32_t rank,
                                       const size_t *dims, const float *data, uint32_t *out_id)
{
    *out_id = XNN_INVALID_VALUE_ID;
    if (!data)
        return TDL_OK;
    return tdl_cpu_xnn_check(xnn_define_tensor_value(m->subgraph, xnn_datatype_fp32, rank, dims,
                                                     data, XNN_INVALID_VALUE_ID, 0, out_id),
                             "defining a constant");
}

static enum tdl_result define_bias(struct tdl_cpu_xnn_making *m, const struct tdl_operand *bias,
                                   size_t count, uint32_t *out_id)
{
    return define_constant(m, 1, &count, bias ? bias->data : NULL, out_id);
}

/* -------------------------------------------------------------- convolutions */

static bool is_depthwise(const struct tdl_conv_geometry *g)
{
    return g->p->groups > 1 && g->in_per_group == 1;
}

/* [out, kh, kw, 1] as [kh, kw, out]. */
static const float *turn_depthwise(struct tdl_cpu_xnn_making *m, const struct tdl_conv_geometry *g,
                                   const float *filter)
{
    const size_t taps = tdl_conv_taps(g);
    float *turned = tdl_cpu_xnn_memory(m, taps * g->out.c);
    for (size_t i = 0; turned && i < taps * g->out.c; i++)
        turned[i % taps * g->out.c + i / taps] = filter[i];
    return turned;
}

static enum tdl_result define_conv(struct tdl_cpu_xnn_making *m, const struct tdl_node *n)
{
    const float *filter = n->inputs[TDL_CONV_FILTER]->data;
    const struct tdl_window *w = &n->window;
    const uint32_t *pad = w->pad;
    struct tdl_conv_geometry g = {0};
    uint32_t x, f, b, y;
    enum tdl_result r;
    tdl_conv_describe(n, &g);
    const struct tdl_cpu_xnn_bounds bounds = tdl_cpu_xnn_bounds_of(g.p->activation);
    const bool depthwise = is_depthwise(&g);
    const size_t dims[2][4] = {{g.out.c, w->kernel[0], w->kernel[1], g.in_per_group},
                               {1, w->kernel[0], w->kernel[1], g.out.c}};
    if (depthwise && !(filter = turn_depthwise(m, &g, filter)))
        return TDL_ERROR_OUT_OF_MEMORY;
    TRY(tdl_cpu_xnn_value(m, n->inputs[TDL_CONV_INPUT], false, &x));
    TRY(tdl_cpu_xnn_value(m, n->output, true, &y));
    TRY(define_constant(m, 4, dims[depthwise], filter, &f));
    TRY(define_bias(m, n->inputs[TDL_CONV_BIAS], g.out.c, &b));
    if (depthwise)
        return tdl_cpu_xnn_check(xnn_define_depthwise_convolution_2d(
                                     m->subgraph, pad[0], pad[3], pad[1], pad[2], w->kernel[0],
                                     w->kernel[1], w->stride[0], w->stride[1], w->dilation[0],
                                     w->dilation[1], g.out_per_group, g.in.c, bounds.least,
                                     bounds.most, x, f, b, y, 0),
                                 n->label);
    return tdl_cpu_xnn_check(xnn_define_convolution_2d(m->subgraph, pad[0], pad[3], pad[1], pad[2],
                                                       w->kernel[0], w->kernel[1], w->stride[0],
                                                       w->stride[1], w->dilation[0], w->dilation[1],
                                                       g.p->groups, g.in_per_group, g.out_per_group,
                                                       bounds.least, bounds.most, x, f, b, y, 0),
                             n->label);
fail:
    return r;
}

/* [out / groups, kh, kw, in] as [out, kh, kw, in / groups]. */
static const float *split_groups(struct tdl_cpu_xnn_making *m, struct tdl_dims f, uint32_t groups,
                                 const float *filter)
{
    const size_t taps = (size_t)f.h * f.w, per_group = f.c / groups;
    float *split = groups > 1 ? tdl_cpu_xnn_memory(m, f.n * taps * f.c) : NULL;
    for (size_t i = 0; split && i < f.n * taps * f.c; i++) {
        const size_t c = i % f.c, tap = i / f.c % taps, o = i / f.c / taps;
        split[((c / per_group * f.n + o) * taps + tap) * per_group + c % per_group] = filter[i];
    }
    return groups > 1 ? split : filter;
}

static enum tdl_result define_transposed(struct tdl_cpu_xnn_making *m, const struct tdl_node *n)
{
    const struct tdl_conv_transpose2d_params *p = &n->attr.conv_transpose;
    const struct tdl_dims f = tdl_operand_dims(n->inputs[TDL_CONV_FILTER]);
    const struct tdl_cpu_xnn_bounds bounds = tdl_cpu_xnn_bounds_of(p->activation);
    const struct tdl_window *w = &n->window;
    const uint32_t *pad = w->pad, groups = p->groups;
    const size_t dims[] = {(size_t)f.n * groups, f.h, f.w, f.c / groups};
    const float *filter = split_groups(m, f, groups, n->inputs[TDL_CONV_FILTER]->data);
    uint32_t x, k, b, y;
    enum tdl_result r;
    if (!filter)
        return TDL_ERROR_OUT_OF_MEMORY;
    TRY(tdl_cpu_xnn_value(m, n->inputs[TDL_CONV_INPUT], false, &x));
    TRY(tdl_cpu_xnn_value(m, n->output, true, &y));
    TRY(define_constant(m, 4, dims, filter, &k));
    TRY(define_bias(m, n->inputs[TDL_CONV_BIAS], dims[0], &b));
    return tdl_cpu_xnn_check(
        xnn_define_deconvolution_2d(m->subgraph, pad[0], pad[3], pad[1], pad[2], w->more[0],
                                    w->more[1], w->kernel[0], w->kernel[1], w->stride[0],
                                    w->stride[1], w->dilation[0], w->dilation[1], groups, dims[3],
                                    f.n, bounds.least, bounds.most, x, k, b, y, 0),
        n->label);
fail:
    return r;
}

/* ----------------------------------------------------------------- products */

/* activation(x · constant + constant), of any count of rows. */
static bool is_fully_connected(const struct tdl_node *n)
{
    const struct tdl_matmul_attr *p = &n->attr.matmul;
    const struct tdl_operand *b = n->inputs[TDL_MATMUL_B];
    const struct tdl_operand *c = n->input_count > TDL_MATMUL_C ? n->inputs[TDL_MATMUL_C] : NULL;
    const uint32_t columns = n->output->desc.shape[n->output->desc.rank - 1];
    return !p->a_transpose && p->alpha == 1 && b->desc.rank == 2 && tdl_is_known(b) &&
           n->output->desc.rank <= XNN_MAX_TENSOR_DIMS &&
           (!c || (p->beta == 1 && tdl_is_known(c) && tdl_operand_count(c) == columns &&
                   c->desc.rank > 0 && c->desc.shape[c->desc.rank - 1] == columns));
}

static enum tdl_result define_fully_connected(struct tdl_cpu_xnn_making *m,
                                              const struct tdl_node *n)
{
    const struct tdl_operand *w = n->inputs[TDL_MATMUL_B];
    const struct tdl_operand *c = n->input_count > TDL_MATMUL_C ? n->inputs[TDL_MATMUL_C] : NULL;
    const size_t dims[] = {w->desc.shape[0], w->desc.shape[1]};
    const bool transposed = n->attr.matmul.b_transpose;
    uint32_t x, k, b, y;
    enum tdl_result r;
    TRY(tdl_cpu_xnn_value(m, n->inputs[TDL_MATMUL_A], false, &x));
    TRY(tdl_cpu_xnn_value(m, n->output, true, &y));
    TRY(define_constant(m, 2, dims, w->data, &k));
    TRY(define_bias(m, c, dims[!transposed], &b));
    return tdl_cpu_xnn_check(
        xnn_define_fully_connected(m->subgraph, -INFINITY, INFINITY, x, k, b, y,
                                   transposed ? 0 : XNN_FLAG_TRANSPOSE_WEIGHTS),
        n->label);
fail:
    return r;
}

/* ---------------------------------------------------------------- all of them */

static bool is_hard_swish(const struct tdl_node *n)
{
    return n->output->desc.dtype == TDL_FLOAT32 && n->output->desc.rank > 0 &&
           n->output->desc.rank <= XNN_MAX_TENSOR_DIMS;
}

static bool is_conv(const struct tdl_node *n)
{
    return n->attr.conv.pre == TDL_PRE_NONE;
}

/* Strides larger than the output make releases of 2022 read beyond the input; strides larger than
 * the filter leave wrong numbers between. */
static bool is_conv_transpose(const struct tdl_node *n)
{
    const struct tdl_window *w = &n->window;
    return w->stride[0] <= TDL_MIN(w->out[0], w->kernel[0]) &&
           w->stride[1] <= TDL_MIN(w->out[1], w->kernel[1]);
}

bool tdl_cpu_xnn_packs(const struct tdl_node *n, uint32_t slot)
{
    return slot > 0 && n->input_count > 1;
}

/* Later releases have one function for all functions of one value beside this one,
 * which earlier releases do not have. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
static enum tdl_result define_hard_swish(struct tdl_cpu_xnn_making *m, const struct tdl_node *n)
{
    enum tdl_result r;
    uint32_t x, y;
    TRY(tdl_cpu_xnn_value(m, n->inputs[0], false, &x));
    TRY(tdl_cpu_xnn_value(m, n->output, true, &y));
    return tdl_cpu_xnn_check(xnn_define_hardswish(m->subgraph, x, y, 0), n->label);
fail:
    return r;
}
#pragma GCC diagnostic pop

/* The operators that XNNPACK computes; the others are computed here. */
static const struct row {
    const struct tdl_op *op;
    bool (*takes)(const struct tdl_node *n); /* NULL: all */
    enum tdl_result (*define)(struct tdl_cpu_xnn_making *m, const struct tdl_node *n);
} table[] = {
    {&tdl_op_conv2d, is_conv, define_conv},
    {&tdl_op_conv_transpose2d, is_conv_transpose, define_transposed},
    {&tdl_op_eltwise[TDL_HARD_SWISH], is_hard_swish, define_hard_swish},
    {&tdl_op_gemm, is_fully_connected, define_fully_connected},
    {&tdl_op_matmul, is_fully_connected, define_fully_connected},
    {&tdl_op_quantized_conv2d, NULL, tdl_cpu_xnn_define_quantized},
};

static const struct row *row_of(const struct tdl_node *n)
{
    for (size_t i = 0; i < TDL_COUNT(table); i++)
        if (table[i].op == n->op)
            return &table[i];
    return NULL;
}

bool tdl_cpu_xnn_takes(const struct tdl_node *n)
{
    const struct row *row = row_of(n);
    return row && (!row->takes || row->takes(n)) && tdl_cpu_xnn_starts();
}

enum tdl_result tdl_cpu_xnn_define(struct tdl_cpu_xnn_making *m, const struct tdl_node *n)
{
    return row_of(n)->define(m, n);
}
