/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * project: what is left of an inverted bottleneck that has no gate, the 1×1 behind its
 * depthwise convolution, is computed where that is; so is the head of a mask, a transposed
 * convolution to blocks of pixels.
 */
#include "fuse.h"

#include "ops/ops.h"

#include <stdio.h>
#include <string.h>

static bool is_end(const struct tdl_node *n)
{
    if (n->op == &tdl_op_conv2d)
        return tdl_fuse_is_pointwise(n) && n->attr.conv.pre == TDL_PRE_NONE;
    return tdl_conv_transpose2d_is_block(n) && tdl_fuse_has_constants(n);
}

/* The expandDepthwise that only `n` reads, if one kernel can compute both. */
static struct tdl_node *find_expansion(struct tdl_ir *ir, const struct tdl_node *n)
{
    struct tdl_operand *narrow = n->inputs[TDL_CONV_INPUT];
    struct tdl_node *e = narrow->producer;
    if (!e || e->op != &tdl_op_expand_depthwise || tdl_ir_only_user(ir, narrow) != n || e->means ||
        e->inputs[TDL_CONV_RESIDUAL] || (e->chain.count && n->chain.count) ||
        !tdl_bottleneck_fits(e, n))
        return NULL;
    return e;
}

bool tdl_fuse_project(struct tdl_ir *ir, struct tdl_node *n)
{
    struct tdl_node *e = is_end(n) ? find_expansion(ir, n) : NULL;
    if (!e)
        return false;
    const bool block = n->op == &tdl_op_conv_transpose2d;
    struct tdl_operand *inputs[TDL_MAX_NODE_INPUTS] = {0};
    struct tdl_bottleneck_attr attr;
    char label[sizeof(n->label)];
    memset(&attr, 0, sizeof(attr)); /* padding between members counts, too: nodes are compared */
    attr.expand = e->attr.expand;
    attr.activation = block ? n->attr.conv_transpose.activation : n->attr.conv.p.activation;
    attr.block = block;
    memcpy(inputs, e->inputs, e->input_count * sizeof(*inputs));
    if (!block && n->input_count > TDL_CONV_RESIDUAL)
        inputs[TDL_CONV_RESIDUAL] = n->inputs[TDL_CONV_RESIDUAL];
    inputs[TDL_BOTTLENECK_FILTER] = n->inputs[TDL_CONV_FILTER];
    inputs[TDL_BOTTLENECK_BIAS] = n->inputs[TDL_CONV_BIAS];
    snprintf(label, sizeof(label), "%s", n->label);
    snprintf(n->label, sizeof(n->label), "%.44s + %.44s", e->label, label);
    n->op = &tdl_op_bottleneck;
    n->attr.bottleneck = attr;
    n->window = e->window;
    if (e->chain.count)
        n->chain = e->chain;
    n->input_count = TDL_BOTTLENECK_BIAS + 1;
    for (uint32_t i = 0; i < n->input_count; i++)
        tdl_ir_set_input(ir, n, i, inputs[i]);
    e->dead = true;
    return true;
}
