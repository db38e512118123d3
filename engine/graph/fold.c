/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* fold: what depends on constants only becomes a constant. */
#include "../ops/ops.h"

enum tdl_result tdl_pass_fold(struct tdl_ir *ir)
{
    for (uint32_t i = 0; i < ir->node_count; i++) {
        struct tdl_node *n = ir->nodes[i];
        if (n->op != &tdl_op_cast || n->inputs[0]->kind != TDL_OPERAND_CONSTANT)
            continue;
        if (n->output->is_output)
            return tdl_fail(TDL_ERROR_UNSUPPORTED, "%s: output \"%s\" is a constant", n->label,
                            n->output->name);
        size_t size = tdl_tensor_params_size(&n->output->desc);
        float *data = tdl_ir_alloc(ir, size);
        if (!data)
            return tdl_fail(TDL_ERROR_OUT_OF_MEMORY, "out of memory while folding constants");
        tdl_cast_constant(n->inputs[0], data, size / sizeof(float));
        n->output->kind = TDL_OPERAND_CONSTANT;
        n->output->data = data;
        n->output->producer = NULL;
        n->dead = true;
    }
    tdl_ir_sweep(ir);
    tdl_ir_dump(ir, "fold");
    return TDL_OK;
}
