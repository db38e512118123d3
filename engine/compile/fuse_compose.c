/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * compose: E(P(x · gate) + r) = (E · P)(x · gate) + E r + (E · b): where nothing but
 * channels is mixed between the end of one bottleneck and the expansion of the next,
 * that expansion reads what the end reads. The two then need not wait for each other;
 * the end is computed for whoever else reads it, and not at all if nobody does. A decoder's
 * merge, E(x · gate + resample(P z)), does the same with P: it and resampling commute, and
 * the weights of a resampled pixel sum to 1, so the bias passes through.
 */
#include "fuse.h"

#include "ops/ops.h"

#include <stdlib.h>
#include <string.h>

/* Work that a device does meanwhile, where a dispatch costs more than work done twice:
 * multiply-accumulates more than before, and that for few pixels. */
enum { MOST_MORE = 12 << 20, MOST_PIXELS = 1 << 14, MOST_READ = 256 };

static bool only_mixes(const struct tdl_node *n)
{
    return n && tdl_fuse_is_pointwise(n) && !n->chain.count &&
           n->attr.conv.p.activation == TDL_ACTIVATION_NONE;
}

static bool expands(const struct tdl_node *n)
{
    return n->op == &tdl_op_expand_depthwise || n->op == &tdl_op_bottleneck;
}

/* The 1×1 that makes what `n` reads, if it can be composed with `n`'s own. */
static struct tdl_node *find_end(const struct tdl_node *n)
{
    struct tdl_operand *middle = n->inputs[TDL_CONV_INPUT];
    struct tdl_node *end = middle->producer;
    if (!expands(n) || n->attr.expand.joined || n->attr.expand.conv.pre != TDL_PRE_NONE ||
        n->inputs[TDL_CONV_RESIDUAL] == middle || !only_mixes(end) ||
        end->attr.conv.pre == TDL_PRE_MERGE)
        return NULL;
    return end;
}

static bool is_worth(const struct tdl_node *n, struct tdl_dims x, uint32_t middle, uint32_t joined)
{
    const uint64_t pixels = (uint64_t)x.n * x.h * x.w,
                   out = tdl_operand_dims(n->inputs[TDL_CONV_FILTER]).n;
    const uint32_t read = x.c + joined;
    if (n->op == &tdl_op_bottleneck && !tdl_bottleneck_reads(read))
        return false;
    return read <= MOST_READ && pixels <= MOST_PIXELS &&
           (read <= middle || pixels * (read - middle) * out <= MOST_MORE);
}

/* Row `o` of E · P, and behind it, or before it, what of E reads `joined` channels. */
static void compose_row(const float *e, const float *p, uint32_t in, uint32_t middle,
                        uint32_t joined, bool before, double *sums, float *out)
{
    memset(sums, 0, in * sizeof(*sums));
    for (uint32_t m = 0; m < middle; m++)
        for (uint32_t i = 0; i < in; i++)
            sums[i] += (double)e[m] * p[(size_t)m * in + i];
    for (uint32_t i = 0; i < in; i++)
        out[i + (before ? joined : 0)] = (float)sums[i];
    memcpy(out + (before ? 0 : in), e, joined * sizeof(*out));
}

/* False when out of memory. */
static bool have_data(struct tdl_operand *filter, struct tdl_operand *bias)
{
    return tdl_operand_expand(filter) && (!bias || tdl_operand_expand(bias));
}

static void let_go(struct tdl_operand *filter, struct tdl_operand *bias)
{
    tdl_operand_shrink(filter);
    if (bias)
        tdl_operand_shrink(bias);
}

/* Only for a known `filter` and `bias`. */
static bool fill(struct tdl_operand *filter, struct tdl_operand *bias, const struct tdl_node *end,
                 uint32_t joined, bool before, float *values, float *biases)
{
    const struct tdl_operand *end_bias = end->inputs[TDL_CONV_BIAS];
    const uint32_t in = tdl_operand_dims(end->inputs[TDL_CONV_INPUT]).c;
    const uint32_t middle = tdl_operand_dims(end->output).c, out = tdl_operand_dims(filter).n;
    const float *b = bias ? tdl_constant_data(bias) : NULL;
    const float *end_b = end_bias ? tdl_constant_data(end_bias) : NULL;
    double *sums = malloc(in * sizeof(*sums));
    for (uint32_t o = 0; sums && o < out; o++) {
        const float *e = tdl_constant_data(filter) + (size_t)o * middle;
        double sum = b ? b[o] : 0;
        compose_row(e, tdl_constant_data(end->inputs[TDL_CONV_FILTER]), in, middle, joined, before,
                    sums, values + (size_t)o * (in + joined));
        for (uint32_t m = 0; m < middle && end_b; m++)
            sum += (double)e[m] * end_b[m];
        biases[o] = (float)sum;
    }
    free(sums);
    return sums;
}

bool tdl_fuse_compose_filters(struct tdl_ir *ir, struct tdl_operand **filter,
                              struct tdl_operand **bias, const struct tdl_node *end,
                              uint32_t joined, bool before)
{
    struct tdl_operand *end_filter = end->inputs[TDL_CONV_FILTER];
    struct tdl_operand *end_bias = end->inputs[TDL_CONV_BIAS];
    struct tdl_dims d = tdl_operand_dims(*filter);
    const uint64_t products = (uint64_t)d.n * d.c * tdl_operand_dims(end_filter).c;
    d.c = tdl_operand_dims(end_filter).c + joined;
    const struct tdl_tensor_params desc = tdl_desc_like(*filter, d);
    struct tdl_tensor_params flat = {.dtype = TDL_FLOAT32, .rank = 1};
    float *values, *biases;
    flat.shape[0] = d.n;
    if (!tdl_ir_spend(ir, tdl_tensor_params_size(&desc) + tdl_tensor_params_size(&flat),
                      products * sizeof(float)))
        return false;
    struct tdl_operand *composed = tdl_fuse_add_constant(ir, &desc, &values);
    struct tdl_operand *sums = tdl_fuse_add_constant(ir, &flat, &biases);
    const bool ok = composed && sums && have_data(*filter, *bias) &&
                    have_data(end_filter, end_bias) &&
                    fill(*filter, *bias, end, joined, before, values, biases);
    let_go(*filter, *bias);
    let_go(end_filter, end_bias);
    if (!ok)
        return false;
    *filter = composed;
    *bias = sums;
    return true;
}

bool tdl_fuse_compose(struct tdl_ir *ir, struct tdl_node *n)
{
    struct tdl_node *end = find_end(n);
    if (!end)
        return false;
    struct tdl_operand *r =
        end->input_count > TDL_CONV_RESIDUAL ? end->inputs[TDL_CONV_RESIDUAL] : NULL;
    struct tdl_operand *gate = end->input_count > TDL_CONV_GATE ? end->inputs[TDL_CONV_GATE] : NULL;
    struct tdl_operand *x = end->inputs[TDL_CONV_INPUT];
    struct tdl_operand *filter = n->inputs[TDL_CONV_FILTER], *bias = n->inputs[TDL_CONV_BIAS];
    const uint32_t middle = tdl_operand_dims(end->output).c, joined = r ? middle : 0;
    if (!is_worth(n, tdl_operand_dims(x), middle, joined) ||
        !tdl_fuse_compose_filters(ir, &filter, &bias, end, joined, false))
        return false;
    tdl_ir_set_input(ir, n, TDL_CONV_FILTER, filter);
    tdl_ir_set_input(ir, n, TDL_CONV_BIAS, bias);
    tdl_fuse_append_label(n, end);
    n->attr.expand.conv.pre = end->attr.conv.pre;
    n->attr.expand.joined = r != NULL;
    tdl_ir_set_input(ir, n, TDL_CONV_INPUT, x);
    tdl_ir_set_input(ir, n, TDL_CONV_GATE, gate);
    tdl_ir_set_input(ir, n, TDL_CONV_LOW, r);
    return true;
}

bool tdl_fuse_compose_low(struct tdl_ir *ir, struct tdl_node *n)
{
    if (!expands(n) || n->attr.expand.conv.pre != TDL_PRE_MERGE)
        return false;
    struct tdl_node *end = n->inputs[TDL_CONV_LOW]->producer;
    struct tdl_operand *filter = n->inputs[TDL_CONV_FILTER], *bias = n->inputs[TDL_CONV_BIAS];
    struct tdl_dims x = tdl_operand_dims(n->inputs[TDL_CONV_INPUT]);
    const uint32_t middle = x.c;
    if (!only_mixes(end) || end->attr.conv.pre != TDL_PRE_NONE ||
        (end->input_count > TDL_CONV_RESIDUAL && end->inputs[TDL_CONV_RESIDUAL]))
        return false;
    x.c = tdl_operand_dims(end->inputs[TDL_CONV_INPUT]).c;
    if (!is_worth(n, x, middle, middle) ||
        !tdl_fuse_compose_filters(ir, &filter, &bias, end, middle, true))
        return false;
    tdl_fuse_append_label(n, end);
    tdl_ir_set_input(ir, n, TDL_CONV_FILTER, filter);
    tdl_ir_set_input(ir, n, TDL_CONV_BIAS, bias);
    tdl_ir_set_input(ir, n, TDL_CONV_LOW, end->inputs[TDL_CONV_INPUT]);
    n->attr.expand.conv.pre = TDL_PRE_GATE;
    n->attr.expand.joined = true;
    return true;
}
