/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Attributes that name axes, from NCHW to NHWC. */
#include "permute.h"

#include "ops/ops.h"

static const uint32_t place_of[4] = {0, 3, 1, 2}; /* place in NHWC of each axis of NCHW */

static void permute_list(uint32_t *list)
{
    uint32_t old[4];
    memcpy(old, list, sizeof(old));
    for (uint32_t i = 0; i < 4; i++)
        list[place_of[i]] = old[i];
}

static uint32_t permute_mask(uint32_t mask)
{
    uint32_t result = 0;
    for (uint32_t i = 0; i < 4; i++)
        result |= (mask >> i & 1) << place_of[i];
    return result;
}

enum { N = 1, C = 2, H = 4, W = 8 }; /* axes of NCHW */

static bool permute_slice(struct tdl_node *n)
{
    uint32_t steps[4];
    memcpy(steps, n->attr.slice.step, sizeof(steps));
    permute_list(n->attr.slice.start);
    permute_list(n->attr.slice.size);
    permute_list(steps);
    memcpy(n->attr.slice.step, steps, sizeof(steps));
    return true;
}

static bool permute_pad(struct tdl_node *n)
{
    permute_list(n->attr.pad.before);
    permute_list(n->attr.pad.after);
    return true;
}

/* Kept axes must stay in their order. */
static bool permute_reduce(struct tdl_node *n)
{
    const uint32_t kept = ~n->attr.reduce.axes & 15;
    if (!n->attr.reduce.keep_dimensions && kept & C && kept & (H | W))
        return false;
    n->attr.reduce.axes = permute_mask(n->attr.reduce.axes);
    return true;
}

static bool permute_arg(struct tdl_node *n)
{
    if (!n->attr.arg.keep_dimensions && n->attr.arg.axis != 1)
        return false;
    n->attr.arg.axis = place_of[n->attr.arg.axis];
    return true;
}

/* Scale and bias are of the axes in their order. */
static bool permute_norm(struct tdl_node *n)
{
    const uint32_t axes = n->attr.norm.axes;
    const bool affine = n->inputs[1] || (n->input_count > 2 && n->inputs[2]);
    if (affine && axes & C && axes & (H | W))
        return false;
    n->attr.norm.axes = permute_mask(axes);
    return true;
}

bool tdl_cpu_permute(struct tdl_node *n)
{
    if (tdl_function_of(n) == TDL_EXPAND) {
        if (n->attr.shape.rank != 4)
            return false;
        permute_list(n->attr.shape.size);
        return true;
    }
    if (tdl_function_of(n) != TDL_FUNCTIONS)
        return n->output->desc.rank == 4;
    if (n->op == &tdl_op_concat || n->op == &tdl_op_softmax) {
        uint32_t *axis = n->op == &tdl_op_concat ? &n->attr.concat.axis : &n->attr.softmax.axis;
        *axis = place_of[*axis];
        return true;
    }
    if (n->op == &tdl_op_arg_max || n->op == &tdl_op_arg_min)
        return permute_arg(n);
    return n->op == &tdl_op_slice    ? permute_slice(n)
           : n->op == &tdl_op_pad    ? permute_pad(n)
           : n->op == &tdl_op_reduce ? permute_reduce(n)
           : n->op == &tdl_op_layer_normalization
               ? permute_norm(n)
               : n->op == &tdl_op_cast || n->op == &tdl_op_depth_to_space ||
                     n->op == &tdl_op_space_to_depth;
}
