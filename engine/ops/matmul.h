/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Code shared by gemm and matmul: one shape of work, the same kernels. */
#ifndef TDL_MATMUL_H
#define TDL_MATMUL_H

#include "rows.h"

/* Input slots. C, which may be NULL, broadcasts from the right: its dimensions
 * before the last two are 1. */
enum { TDL_MATMUL_A = 0, TDL_MATMUL_B, TDL_MATMUL_C };

enum tdl_result tdl_matmul_lower(struct tdl_plan *plan, struct tdl_node *n);
void tdl_matmul_reference(const struct tdl_node *n, const void *const *inputs, void *output);
uint64_t tdl_matmul_macs(const struct tdl_node *n);
enum tdl_activation *tdl_matmul_activation(struct tdl_node *n);

#endif
