/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Neighbours that windows over images take in: a normalization behind a convolution goes
 * into its filter, zeros around an image become padding. */
#include "fuse.h"

#include "ops/ops.h"

#include <stdlib.h>
#include <string.h>

struct tdl_operand *tdl_fuse_add_constant(struct tdl_ir *ir, const struct tdl_tensor_params *desc,
                                          float **out_data)
{
    struct tdl_operand *o = NULL;
    *out_data = tdl_ir_alloc(ir, tdl_tensor_params_size(desc));
    if (*out_data)
        o = tdl_ir_add_operand(ir, TDL_OPERAND_CONSTANT, desc);
    if (o)
        o->data = *out_data;
    return o;
}

/* a · (filter ∗ x + bias) + b = (a · filter) ∗ x + (a · bias + b). */
static bool scale_filter(struct tdl_ir *ir, struct tdl_node *conv, const float *a, const float *b)
{
    struct tdl_operand *filter = conv->inputs[TDL_CONV_FILTER], *bias = conv->inputs[TDL_CONV_BIAS];
    struct tdl_tensor_params desc = {.dtype = TDL_FLOAT32, .rank = 1};
    float *values, *biases;
    desc.shape[0] = tdl_operand_dims(conv->output).c;
    const uint64_t size = tdl_tensor_params_size(&filter->desc) + tdl_tensor_params_size(&desc);
    if (!tdl_ir_spend(ir, size, 2 * size))
        return false;
    struct tdl_operand *scaled = tdl_fuse_add_constant(ir, &filter->desc, &values);
    struct tdl_operand *moved = tdl_fuse_add_constant(ir, &desc, &biases);
    if (!scaled || !moved || !tdl_operand_expand(filter) || (bias && !tdl_operand_expand(bias)))
        return false;
    const float *old = tdl_constant_data(filter), *old_bias = tdl_constant_data(bias);
    for (size_t i = 0; i < tdl_operand_count(filter); i++)
        values[i] = old[i] * a[conv->op->filter_channel(conv, i)];
    for (uint32_t c = 0; c < desc.shape[0]; c++)
        biases[c] = (old_bias ? old_bias[c] * a[c] : 0) + b[c];
    tdl_operand_shrink(filter);
    if (bias)
        tdl_operand_shrink(bias);
    tdl_ir_set_input(ir, conv, TDL_CONV_FILTER, scaled);
    tdl_ir_set_input(ir, conv, TDL_CONV_BIAS, moved);
    return true;
}

/* The convolution that makes `o` for `n` alone, if its filter and bias can be
 * scaled; else NULL. */
static struct tdl_node *scalable(struct tdl_ir *ir, const struct tdl_operand *o,
                                 const struct tdl_node *n)
{
    struct tdl_node *conv = o ? o->producer : NULL;
    if (!conv || !conv->op->filter_channel || tdl_ir_only_user(ir, conv->output) != n ||
        conv->input_count > TDL_CONV_BIAS + 1 || !tdl_is_known(conv->inputs[TDL_CONV_FILTER]) ||
        (conv->inputs[TDL_CONV_BIAS] && !tdl_is_known(conv->inputs[TDL_CONV_BIAS])))
        return NULL;
    const enum tdl_activation *a = tdl_fuse_activation_of(conv);
    return a && *a == TDL_ACTIVATION_NONE ? conv : NULL;
}

/* Is it one number, or one a channel of `out`? */
static bool is_per_channel(const struct tdl_operand *o, const struct tdl_operand *out)
{
    const uint32_t axis = out->layout == TDL_LAYOUT_NCHW ? 2 : 0; /* from the last */
    size_t count = tdl_operand_count(o);
    return count == 1 || (count == tdl_operand_dims(out).c && axis < o->desc.rank &&
                          o->desc.shape[o->desc.rank - 1 - axis] == count);
}

/* conv(x) · c, / c, + c, − c with a constant for each channel. */
bool tdl_fuse_channel_constant(struct tdl_ir *ir, struct tdl_node *n)
{
    const enum tdl_function f = tdl_function_of(n);
    if (f != TDL_ADD && f != TDL_SUB && f != TDL_MUL && f != TDL_DIV)
        return false;
    uint32_t slot = scalable(ir, n->inputs[0], n) ? 0 : 1;
    struct tdl_node *conv = scalable(ir, n->inputs[slot], n);
    const float *c = tdl_constant_data(n->inputs[1 - slot]);
    if (!conv || !c || n->chain.count || (slot && (f == TDL_SUB || f == TDL_DIV)) ||
        !is_per_channel(n->inputs[1 - slot], n->output) ||
        tdl_operand_count(conv->output) != tdl_operand_count(n->output))
        return false;
    struct tdl_dims d = tdl_operand_dims(n->output);
    bool one = tdl_operand_count(n->inputs[1 - slot]) == 1;
    float *a = calloc(d.c, 2 * sizeof(*a)), *b = a ? a + d.c : NULL;
    for (uint32_t i = 0; a && i < d.c; i++) {
        float v = c[one ? 0 : i];
        a[i] = f == TDL_MUL ? v : f == TDL_DIV ? 1 / v : 1;
        b[i] = f == TDL_ADD ? v : f == TDL_SUB ? -v : 0;
    }
    bool done = a && scale_filter(ir, conv, a, b);
    free(a);
    if (done)
        tdl_fuse_take_output(conv, n);
    return done;
}

/* batchNormalization(conv(x)). */
bool tdl_fuse_normalization(struct tdl_ir *ir, struct tdl_node *n)
{
    struct tdl_node *conv =
        n->op == &tdl_op_batch_normalization ? scalable(ir, n->inputs[0], n) : NULL;
    if (!conv)
        return false;
    enum tdl_activation *activation = tdl_fuse_activation_of(conv);
    uint32_t channels = tdl_operand_dims(conv->output).c;
    float *factors = calloc(channels, 2 * sizeof(*factors));
    bool done = factors &&
                tdl_batch_normalization_factors(n, factors, factors + channels, NULL) == TDL_OK &&
                scale_filter(ir, conv, factors, factors + channels);
    free(factors);
    if (!done)
        return false;
    *activation = n->attr.norm.activation;
    conv->chain = n->chain;
    tdl_fuse_take_output(conv, n);
    return true;
}

/* relu(conv(x)), and within 0 … 6: the convolution ends with it. */
bool tdl_fuse_clamp(struct tdl_ir *ir, struct tdl_node *n)
{
    const enum tdl_function f = tdl_function_of(n);
    const bool six = f == TDL_CLAMP && n->attr.eltwise.a == 0 && n->attr.eltwise.b == 6;
    struct tdl_node *conv = n->input_count ? n->inputs[0]->producer : NULL;
    enum tdl_activation *a = conv && conv->op->filter_channel ? tdl_fuse_activation_of(conv) : NULL;
    if ((f != TDL_RELU && !six) || n->chain.count || !a || *a != TDL_ACTIVATION_NONE ||
        tdl_ir_only_user(ir, conv->output) != n)
        return false;
    *a = six ? TDL_ACTIVATION_RELU6 : TDL_ACTIVATION_RELU;
    tdl_fuse_take_output(conv, n);
    return true;
}

/* Zeros around the image, and nowhere else: top, bottom, left, right. */
static bool is_zero_border(const struct tdl_node *pad, uint32_t out[4])
{
    const struct tdl_pad_params *p = &pad->attr.pad;
    const bool nchw = pad->output->layout == TDL_LAYOUT_NCHW;
    const uint32_t h = nchw ? 2 : 1, w = h + 1, c = nchw ? 1 : 3;
    if (pad->op != &tdl_op_pad || pad->output->desc.rank != 4 || p->mode != TDL_PAD_CONSTANT ||
        p->value != 0 || p->before[0] || p->after[0] || p->before[c] || p->after[c])
        return false;
    out[0] = p->before[h];
    out[1] = p->after[h];
    out[2] = p->before[w];
    out[3] = p->after[w];
    return true;
}

/* Is no element below 0, so that a 0 among them changes no largest one? */
static bool is_never_negative(const struct tdl_operand *o)
{
    struct tdl_node *n = o->producer;
    const enum tdl_activation *a = n ? tdl_fuse_activation_of(n) : NULL;
    const enum tdl_function f = n && !n->chain.count ? tdl_function_of(n) : TDL_FUNCTIONS;
    if (f == TDL_RELU || f == TDL_SIGMOID || (f == TDL_CLAMP && n->attr.eltwise.a >= 0))
        return true;
    return a && (*a == TDL_ACTIVATION_RELU || *a == TDL_ACTIVATION_RELU6 ||
                 *a == TDL_ACTIVATION_SIGMOID);
}

/* conv(pad(x)), pool(pad(x)). */
bool tdl_fuse_pad(struct tdl_ir *ir, struct tdl_node *n)
{
    struct tdl_node *pad = n->input_count && n->inputs[0] ? n->inputs[0]->producer : NULL;
    const union tdl_attr before = n->attr;
    struct tdl_tensor_params desc;
    uint32_t border[4];
    if (!n->op->widen || !pad || !is_zero_border(pad, border) ||
        tdl_ir_only_user(ir, pad->output) != n ||
        !n->op->widen(n, border, is_never_negative(pad->inputs[0])))
        return false;
    tdl_ir_set_input(ir, n, 0, pad->inputs[0]);
    if (tdl_node_infer(n, &desc) != TDL_OK ||
        memcmp(desc.shape, n->output->desc.shape, 4 * sizeof(desc.shape[0])) != 0) {
        n->attr = before;
        tdl_ir_set_input(ir, n, 0, pad->output);
        tdl_node_resolve(n);
        return false;
    }
    tdl_fuse_append_label(n, pad);
    pad->dead = true;
    return true;
}

/* A slice of everything, a concat of one. */
bool tdl_fuse_whole(struct tdl_ir *ir, struct tdl_node *n)
{
    const struct tdl_tensor_params *in = n->input_count ? &n->inputs[0]->desc : NULL;
    const struct tdl_tensor_params *out = &n->output->desc;
    bool same = (n->op == &tdl_op_slice || (n->op == &tdl_op_concat && n->input_count == 1)) &&
                !n->output->is_output && n->inputs[0]->layout == n->output->layout;
    for (uint32_t d = 0; same && d < out->rank; d++)
        same = in->shape[d] == out->shape[d] &&
               (n->op != &tdl_op_slice || n->attr.slice.step[d] == 1 || out->shape[d] == 1);
    if (!same)
        return false;
    tdl_ir_replace(ir, n->output, n->inputs[0]);
    n->dead = true;
    return true;
}
