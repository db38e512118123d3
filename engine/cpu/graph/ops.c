/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ops.h"

#include "ops/ops.h"

#define ROW(op, kernel) {&tdl_op_##op, &tdl_cpu_##kernel},
static const struct {
    const struct tdl_op *op;
    const struct tdl_cpu_kernel *kernel;
} table[] = {TDL_CPU_OPS(ROW)};

const struct tdl_cpu_made tdl_cpu_made = {
    .cast = &tdl_op_cast,
    .repack = &tdl_op_repack,
    .reshape = &tdl_op_reshape,
    .transpose = &tdl_op_transpose,
    .eltwise = tdl_op_eltwise,
};

const struct tdl_cpu_kernel *tdl_cpu_kernel_of(const struct tdl_node *n)
{
    for (size_t i = 0; i < TDL_COUNT(table); i++)
        if (table[i].op == n->op && (!table[i].kernel->takes || table[i].kernel->takes(n)))
            return table[i].kernel;
    return tdl_function_of(n) != TDL_FUNCTIONS ? &tdl_cpu_eltwise : NULL;
}
