/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The operators that have code of their own here; the others run by their references. */
#include "ops.h"

#include "ops/ops.h"

static const struct {
    const struct tdl_op *op;
    const struct tdl_cpu_kernel *kernel;
} table[] = {
    {&tdl_op_arg_max, &tdl_cpu_arg},
    {&tdl_op_arg_min, &tdl_cpu_arg},
    {&tdl_op_average_pool2d, &tdl_cpu_pool},
    {&tdl_op_batch_normalization, &tdl_cpu_batch_normalization},
    {&tdl_op_cast, &tdl_cpu_cast},
    {&tdl_op_concat, &tdl_cpu_concat},
    {&tdl_op_conv2d, &tdl_cpu_winograd},
    {&tdl_op_conv2d, &tdl_cpu_pointwise},
    {&tdl_op_conv2d, &tdl_cpu_conv},
    {&tdl_op_conv_transpose2d, &tdl_cpu_conv},
    {&tdl_op_cumulative_sum, &tdl_cpu_cumulative_sum},
    {&tdl_op_depth_to_space, &tdl_cpu_blocks},
    {&tdl_op_gemm, &tdl_cpu_matmul},
    {&tdl_op_instance_normalization, &tdl_cpu_instance_normalization},
    {&tdl_op_l2_pool2d, &tdl_cpu_pool},
    {&tdl_op_layer_normalization, &tdl_cpu_layer_normalization},
    {&tdl_op_matmul, &tdl_cpu_matmul},
    {&tdl_op_max_pool2d, &tdl_cpu_pool},
    {&tdl_op_pad, &tdl_cpu_pad},
    {&tdl_op_reduce, &tdl_cpu_reduce},
    {&tdl_op_repack, &tdl_cpu_repack},
    {&tdl_op_resample2d, &tdl_cpu_resample},
    {&tdl_op_slice, &tdl_cpu_slice},
    {&tdl_op_softmax, &tdl_cpu_softmax},
    {&tdl_op_space_to_depth, &tdl_cpu_blocks},
    {&tdl_op_tile, &tdl_cpu_tile},
    {&tdl_op_top_k, &tdl_cpu_top_k},
    {&tdl_op_transpose, &tdl_cpu_transpose},
};

const struct tdl_cpu_kernel *tdl_cpu_kernel_of(const struct tdl_node *n)
{
    for (size_t i = 0; i < TDL_COUNT(table); i++)
        if (table[i].op == n->op && (!table[i].kernel->takes || table[i].kernel->takes(n)))
            return table[i].kernel;
    return tdl_function_of(n) != TDL_FUNCTIONS ? &tdl_cpu_eltwise : NULL;
}
