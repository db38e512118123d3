/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Our operators in XNNPACK's words. */
#include "xnn_define.h"

#include "ops/conv/conv.h"
#include "ops/matmul.h"
#include "ops/ops.h"

#include <math.h>

struct bounds {
    float least, most;
};

static struct bounds bounds_of(enum tdl_activation activation)
{
    switch (activation) {
    case TDL_ACTIVATION_RELU:
        return (struct bounds){0, INFINITY};
    case TDL_ACTIVATION_RELU6:
        return (struct bounds){0, 6};
    default:
        return (struct bounds){-INFINITY, INFINITY};
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

/* Padding at top, right, bottom, left. */
static void resolve_padding(const struct tdl_conv_geometry *g, uint32_t out[4])
{
    const uint32_t in[2] = {g->in.h, g->in.w}, size[2] = {g->out.h, g->out.w};
    const uint32_t before[2] = {g->window.pad_top, g->window.pad_left};
    uint32_t after[2];
    for (int i = 0; i < 2; i++) {
        const int64_t covered = (int64_t)(size[i] - 1) * g->p->stride[i] +
                                (int64_t)(g->kernel[i] - 1) * g->p->dilation[i] + 1;
        after[i] = (uint32_t)TDL_MAX(covered - in[i] - before[i], 0);
        if (g->p->padding == TDL_PADDING_EXPLICIT)
            after[i] = g->p->pad[2 * i + 1];
    }
    out[0] = before[0];
    out[1] = after[1];
    out[2] = after[0];
    out[3] = before[1];
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
    struct tdl_conv_geometry g = {0};
    uint32_t pad[4], x, f, b, y;
    enum tdl_result r = TDL_ERROR_UNSUPPORTED;
    if (!tdl_conv_resolve(n, &g))
        return tdl_fail(r, "%s: the window does not fit", n->label);
    const struct tdl_conv2d_params *p = g.p;
    const struct bounds bounds = bounds_of(p->activation);
    const bool depthwise = is_depthwise(&g);
    const size_t dims[2][4] = {{g.out.c, g.kernel[0], g.kernel[1], g.in_per_group},
                               {1, g.kernel[0], g.kernel[1], g.out.c}};
    resolve_padding(&g, pad);
    if (depthwise && !(filter = turn_depthwise(m, &g, filter)))
        return TDL_ERROR_OUT_OF_MEMORY;
    TRY(tdl_cpu_xnn_value(m, n->inputs[TDL_CONV_INPUT], false, &x));
    TRY(tdl_cpu_xnn_value(m, n->output, true, &y));
    TRY(define_constant(m, 4, dims[depthwise], filter, &f));
    TRY(define_bias(m, n->inputs[TDL_CONV_BIAS], g.out.c, &b));
    if (depthwise)
        return tdl_cpu_xnn_check(xnn_define_depthwise_convolution_2d(
                                     m->subgraph, pad[0], pad[1], pad[2], pad[3], g.kernel[0],
                                     g.kernel[1], p->stride[0], p->stride[1], p->dilation[0],
                                     p->dilation[1], g.out_per_group, g.in.c, bounds.least,
                                     bounds.most, x, f, b, y, 0),
                                 n->label);
    return tdl_cpu_xnn_check(xnn_define_convolution_2d(m->subgraph, pad[0], pad[1], pad[2], pad[3],
                                                       g.kernel[0], g.kernel[1], p->stride[0],
                                                       p->stride[1], p->dilation[0], p->dilation[1],
                                                       p->groups, g.in_per_group, g.out_per_group,
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

/* Along an axis: what is cut away before and behind, and what is added behind. */
static void resolve_cut(const struct tdl_node *n, int axis, uint32_t out[3])
{
    const struct tdl_conv_transpose2d_params *p = &n->attr.conv_transpose;
    const struct tdl_dims in = tdl_operand_dims(n->inputs[0]), size = tdl_operand_dims(n->output);
    const struct tdl_dims f = tdl_operand_dims(n->inputs[TDL_CONV_FILTER]);
    const int64_t dilation = TDL_MAX(p->dilation[axis], 1), stride = p->stride[axis];
    const int64_t extent = ((axis ? f.w : f.h) - 1) * dilation + 1;
    const int64_t full = ((int64_t)(axis ? in.w : in.h) - 1) * stride + extent;
    int64_t before = p->pad[2 * axis];
    if (p->padding == TDL_PADDING_SAME_UPPER)
        before = tdl_same_padding_transposed((uint64_t)extent, (uint64_t)stride) / 2;
    const int64_t rest = full - before - (axis ? size.w : size.h);
    out[0] = (uint32_t)before;
    out[1] = (uint32_t)TDL_MAX(rest, 0);
    out[2] = (uint32_t)TDL_MAX(-rest, 0);
}

static enum tdl_result define_transposed(struct tdl_cpu_xnn_making *m, const struct tdl_node *n)
{
    const struct tdl_conv_transpose2d_params *p = &n->attr.conv_transpose;
    const struct tdl_dims f = tdl_operand_dims(n->inputs[TDL_CONV_FILTER]);
    const struct bounds bounds = bounds_of(p->activation);
    const uint32_t groups = TDL_MAX(p->groups, 1);
    const size_t dims[] = {(size_t)f.n * groups, f.h, f.w, f.c / groups};
    const float *filter = split_groups(m, f, groups, n->inputs[TDL_CONV_FILTER]->data);
    uint32_t x, k, b, y, v[3], h[3];
    enum tdl_result r;
    if (!filter)
        return TDL_ERROR_OUT_OF_MEMORY;
    resolve_cut(n, 0, v);
    resolve_cut(n, 1, h);
    TRY(tdl_cpu_xnn_value(m, n->inputs[TDL_CONV_INPUT], false, &x));
    TRY(tdl_cpu_xnn_value(m, n->output, true, &y));
    TRY(define_constant(m, 4, dims, filter, &k));
    TRY(define_bias(m, n->inputs[TDL_CONV_BIAS], dims[0], &b));
    return tdl_cpu_xnn_check(
        xnn_define_deconvolution_2d(m->subgraph, v[0], h[1], v[1], h[0], v[2], h[2], f.h, f.w,
                                    p->stride[0], p->stride[1], TDL_MAX(p->dilation[0], 1),
                                    TDL_MAX(p->dilation[1], 1), groups, dims[3], f.n, bounds.least,
                                    bounds.most, x, k, b, y, 0),
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
    const struct tdl_dims d = tdl_operand_dims(n->output);
    const struct tdl_dims f = tdl_operand_dims(n->inputs[TDL_CONV_FILTER]);
    const uint32_t *stride = n->attr.conv_transpose.stride;
    return stride[0] <= TDL_MIN(d.h, f.h) && stride[1] <= TDL_MIN(d.w, f.w);
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
    bool (*takes)(const struct tdl_node *n);
    enum tdl_result (*define)(struct tdl_cpu_xnn_making *m, const struct tdl_node *n);
} table[] = {
    {&tdl_op_conv2d, is_conv, define_conv},
    {&tdl_op_conv_transpose2d, is_conv_transpose, define_transposed},
    {&tdl_op_eltwise[TDL_HARD_SWISH], is_hard_swish, define_hard_swish},
    {&tdl_op_gemm, is_fully_connected, define_fully_connected},
    {&tdl_op_matmul, is_fully_connected, define_fully_connected},
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
    return row && row->takes(n) && tdl_cpu_xnn_starts();
}

enum tdl_result tdl_cpu_xnn_define(struct tdl_cpu_xnn_making *m, const struct tdl_node *n)
{
    return row_of(n)->define(m, n);
}
