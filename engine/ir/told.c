/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Operators on channels are told where these are, and their values are not: what a builder
 * holds has no layouts. An operator's functions read them off their operands, here of copies.
 */
#include "ir.h"

static struct tdl_operand *label(struct tdl_operand *copy, const struct tdl_operand *o,
                                 enum tdl_layout layout)
{
    *copy = *o;
    copy->layout = layout;
    return copy;
}

const struct tdl_node *tdl_node_told(const struct tdl_node *n, struct tdl_told *copy)
{
    if (!n->layout)
        return n;
    copy->node = *n;
    for (uint32_t i = 0; i < n->input_count; i++)
        if (n->inputs[i] && !((n->op->weight_slots | n->op->nhwc_slots) >> i & 1))
            copy->node.inputs[i] = label(&copy->operands[i], n->inputs[i], n->layout);
    if (n->output)
        copy->node.output = label(&copy->operands[TDL_MAX_NODE_INPUTS], n->output, n->layout);
    return &copy->node;
}

uint64_t tdl_node_macs(const struct tdl_node *n)
{
    struct tdl_told copy;
    return n->op->macs ? n->op->macs(tdl_node_told(n, &copy)) : 0;
}

/* Likewise for functions that change the node: take_back() what they did. */
static struct tdl_node *tell(struct tdl_node *n, struct tdl_told *copy)
{
    return tdl_node_told(n, copy) == n ? n : &copy->node;
}

static void take_back(struct tdl_node *n, const struct tdl_node *told)
{
    if (told == n)
        return;
    n->attr = told->attr;
    n->window = told->window;
}

void tdl_node_resolve(struct tdl_node *n)
{
    struct tdl_told copy;
    struct tdl_node *told = tell(n, &copy);
    if (n->op->resolve)
        n->op->resolve(told);
    take_back(n, told);
}

enum tdl_result tdl_node_infer(struct tdl_node *n, struct tdl_tensor_params *out)
{
    struct tdl_told copy;
    tdl_node_resolve(n);
    return n->op->infer(tdl_node_told(n, &copy), out);
}

bool tdl_node_resize(struct tdl_node *n)
{
    struct tdl_told copy;
    struct tdl_node *told = tell(n, &copy);
    const bool can = n->op->resize && n->op->resize(told);
    take_back(n, told);
    return can;
}

bool tdl_node_stack(struct tdl_node *n, uint32_t stacked)
{
    struct tdl_told copy;
    struct tdl_node *told = tell(n, &copy);
    const bool can = n->op->stack && n->op->stack(told, stacked);
    take_back(n, told);
    return can;
}
