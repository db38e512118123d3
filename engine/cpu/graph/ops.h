/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The operators that are computed here: rows of the table in ops.c. */
#ifndef TDL_CPU_OPS_H
#define TDL_CPU_OPS_H

#include "graph.h"

extern const struct tdl_cpu_kernel tdl_cpu_arg;
extern const struct tdl_cpu_kernel tdl_cpu_batch_normalization;
extern const struct tdl_cpu_kernel tdl_cpu_blocks;
extern const struct tdl_cpu_kernel tdl_cpu_cast;
extern const struct tdl_cpu_kernel tdl_cpu_concat;
extern const struct tdl_cpu_kernel tdl_cpu_conv;
extern const struct tdl_cpu_kernel tdl_cpu_cumulative_sum;
extern const struct tdl_cpu_kernel tdl_cpu_eltwise;
extern const struct tdl_cpu_kernel tdl_cpu_instance_normalization;
extern const struct tdl_cpu_kernel tdl_cpu_layer_normalization;
extern const struct tdl_cpu_kernel tdl_cpu_matmul;
extern const struct tdl_cpu_kernel tdl_cpu_pad;
extern const struct tdl_cpu_kernel tdl_cpu_pointwise;
extern const struct tdl_cpu_kernel tdl_cpu_pool;
extern const struct tdl_cpu_kernel tdl_cpu_reduce;
extern const struct tdl_cpu_kernel tdl_cpu_repack;
extern const struct tdl_cpu_kernel tdl_cpu_resample;
extern const struct tdl_cpu_kernel tdl_cpu_slice;
extern const struct tdl_cpu_kernel tdl_cpu_softmax;
extern const struct tdl_cpu_kernel tdl_cpu_tile;
extern const struct tdl_cpu_kernel tdl_cpu_top_k;
extern const struct tdl_cpu_kernel tdl_cpu_transpose;
extern const struct tdl_cpu_kernel tdl_cpu_winograd;

#endif
