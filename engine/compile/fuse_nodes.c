/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the patterns of the fuse pass ask of nodes, and do to them. */
#include "fuse.h"

#include "ops/ops.h"

#include <stdio.h>
#include <string.h>

bool tdl_fuse_has_constants(const struct tdl_node *n)
{
    const struct tdl_operand *bias = n->inputs[TDL_CONV_BIAS];
    return tdl_is_known(n->inputs[TDL_CONV_FILTER]) && (!bias || tdl_is_known(bias));
}

bool tdl_fuse_is_pointwise(const struct tdl_node *n)
{
    if (n->op != &tdl_op_conv2d)
        return false;
    struct tdl_dims f = tdl_operand_dims(n->inputs[TDL_CONV_FILTER]);
    struct tdl_dims x = tdl_operand_dims(n->inputs[TDL_CONV_INPUT]);
    struct tdl_dims o = tdl_operand_dims(n->output);
    return f.h == 1 && f.w == 1 && n->attr.conv.p.groups == 1 && n->window.stride[0] == 1 &&
           n->window.stride[1] == 1 && x.h == o.h && x.w == o.w && tdl_fuse_has_constants(n);
}

enum tdl_activation *tdl_fuse_activation_of(struct tdl_node *n)
{
    return n->op->activation ? n->op->activation(n) : NULL;
}

void tdl_fuse_append_label(struct tdl_node *to, const struct tdl_node *from)
{
    size_t used = strlen(to->label);
    snprintf(to->label + used, sizeof(to->label) - used, " + %s", from->label);
}

void tdl_fuse_take_output(struct tdl_node *n, struct tdl_node *last)
{
    tdl_fuse_append_label(n, last);
    n->output = last->output;
    n->output->producer = n;
    last->dead = true;
    /* `last` must not look like the producer of its old output. */
    last->output = last->inputs[0];
    last->input_count = 0;
}
