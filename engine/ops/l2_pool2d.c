/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "pool2d.h"

#include <math.h>

static double add_square(double so_far, double pixel)
{
    return so_far + pixel * pixel;
}

static double root(double joined, uint32_t count)
{
    (void)count;
    return sqrt(joined);
}

static void reference(const struct tdl_node *n, const float *const *inputs, float *output)
{
    tdl_pool2d_reference(n, &(struct tdl_pool_definition){0, add_square, root}, inputs[0], output);
}

static enum tdl_result lower(struct tdl_plan *plan, struct tdl_node *n)
{
    return tdl_pool2d_lower(plan, n, TDL_POOL_L2);
}

static bool widen(struct tdl_node *n, const uint32_t border[4], bool never_negative)
{
    (void)never_negative;
    return tdl_pool2d_widen(n, border, false);
}

const struct tdl_op tdl_op_l2_pool2d = {
    .name = "l2Pool2d",
    .resolve = tdl_pool2d_resolve,
    .infer = tdl_pool2d_infer,
    .resize = tdl_pool2d_resize,
    .stack = tdl_stack_first,
    .lower = lower,
    .reference = reference,
    .activation = tdl_pool2d_activation,
    .widen = widen,
};

struct tdl_operand *tdl_builder_l2_pool2d(struct tdl_builder *b, struct tdl_operand *input,
                                          const struct tdl_pool2d_params *params)
{
    TDL_BUILDER_NEED_KNOWN(b, params);
    return tdl_pool2d_add(b, &tdl_op_l2_pool2d, input, params);
}

struct tdl_operand *tdl_builder_global_l2_pool(struct tdl_builder *b, struct tdl_operand *input)
{
    return tdl_builder_l2_pool2d(b, input, NULL);
}
