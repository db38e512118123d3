/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which operators have code of their own here; the others run by their references. */
#include "ops.h"

#include "ops/ops.h"

static const struct {
    const struct tdl_op *op;
    const struct tdl_cpu_kernel *kernel;
} table[] = {
    {&tdl_op_average_pool2d, &tdl_cpu_pool}, {&tdl_op_cast, &tdl_cpu_cast},
    {&tdl_op_l2_pool2d, &tdl_cpu_pool},      {&tdl_op_max_pool2d, &tdl_cpu_pool},
    {&tdl_op_repack, &tdl_cpu_repack},       {&tdl_op_resample2d, &tdl_cpu_resample},
};

const struct tdl_cpu_kernel *tdl_cpu_kernel_of(const struct tdl_node *n)
{
    for (size_t i = 0; i < TDL_COUNT(table); i++)
        if (table[i].op == n->op && (!table[i].kernel->takes || table[i].kernel->takes(n)))
            return table[i].kernel;
    return tdl_function_of(n) != TDL_FUNCTIONS ? &tdl_cpu_eltwise : NULL;
}
