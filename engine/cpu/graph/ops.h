/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The operators that have code of their own here, each with its kernel, tdl_cpu_…; of several
 * the first that takes the node. The others run by their references.
 */
#ifndef TDL_CPU_OPS_H
#define TDL_CPU_OPS_H

#include "graph.h"

/* clang-format off */
#define TDL_CPU_OPS(OP)                                                                            \
    OP(arg_max, arg_max)                                                                           \
    OP(arg_min, arg_min)                                                                           \
    OP(average_pool2d, average_rows)                                                               \
    OP(average_pool2d, average_pool)                                                               \
    OP(batch_normalization, batch_normalization)                                                   \
    OP(cast, cast)                                                                                 \
    OP(concat, concat)                                                                             \
    OP(conv2d, depthwise_pixels)                                                                   \
    OP(conv2d, depthwise)                                                                          \
    OP(conv2d, winograd)                                                                           \
    OP(conv2d, few_taps)                                                                           \
    OP(conv2d, pointwise)                                                                          \
    OP(conv2d, implicit)                                                                           \
    OP(conv2d, conv)                                                                               \
    OP(conv_transpose2d, conv_transpose)                                                           \
    OP(cumulative_sum, cumulative_sum)                                                             \
    OP(depth_to_space, depth_to_space)                                                             \
    OP(gemm, product)                                                                              \
    OP(gemm, matmul)                                                                               \
    OP(gather, gather)                                                                             \
    OP(gather_elements, gather_elements)                                                           \
    OP(grid_sample, grid_sample)                                                                   \
    OP(im2col, im2col)                                                                             \
    OP(instance_normalization, instance_normalization)                                             \
    OP(l2_pool2d, l2_pool)                                                                         \
    OP(layer_normalization, layer_normalization)                                                   \
    OP(matmul, product)                                                                            \
    OP(matmul, matmul)                                                                             \
    OP(max_pool2d, max_pool_bytes)                                                                 \
    OP(max_pool2d, max_rows)                                                                       \
    OP(max_pool2d, max_pool)                                                                       \
    OP(pad, pad)                                                                                   \
    OP(quantized, quantized)                                                                       \
    OP(reduce, reduce)                                                                             \
    OP(repack, repack)                                                                             \
    OP(resample2d, resample)                                                                       \
    OP(slice, slice)                                                                               \
    OP(softmax, softmax)                                                                           \
    OP(space_to_depth, space_to_depth)                                                             \
    OP(tile, tile)                                                                                 \
    OP(top_k, top_k)                                                                               \
    OP(transpose, transpose)
/* clang-format on */

#define TDL_CPU_KERNEL(op, kernel) extern const struct tdl_cpu_kernel tdl_cpu_##kernel;
TDL_CPU_OPS(TDL_CPU_KERNEL)
#undef TDL_CPU_KERNEL
extern const struct tdl_cpu_kernel tdl_cpu_eltwise; /* of all functions of values */

/* What prepare.c adds. */
struct tdl_cpu_made {
    const struct tdl_op *cast, *repack, *reshape, *transpose;
    const struct tdl_op *eltwise; /* by enum tdl_function */
};
extern const struct tdl_cpu_made tdl_cpu_made;

#endif
