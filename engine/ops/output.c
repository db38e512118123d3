/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A graph's output: a value, or a copy of what cannot be bound. */
#include "ir/builder.h"

#include <string.h>

enum tdl_result tdl_builder_output(struct tdl_builder *b, const char *name,
                                   struct tdl_operand *operand)
{
    TDL_NEED(b, "builder");
    if (b->status != TDL_OK)
        return tdl_fail(b->status, "%s", b->error);
    if (!operand || operand->ir != b->ir)
        tdl_builder_fail(b, TDL_ERROR_INVALID_ARGUMENT,
                         "an output must be an operand of this builder");
    else if (tdl_builder_check_name(b, "output", name) &&
             b->ir->output_count == TDL_COUNT(b->ir->outputs))
        tdl_builder_fail(b, TDL_ERROR_UNSUPPORTED, "more than %zu outputs",
                         TDL_COUNT(b->ir->outputs));
    for (uint32_t i = 0; i < b->ir->output_count && b->status == TDL_OK; i++)
        if (!strcmp(b->ir->outputs[i]->name, name))
            tdl_builder_fail(b, TDL_ERROR_INVALID_ARGUMENT,
                             "there are two outputs named \"%.400s\"", name);
    /* A tensor cannot be bound twice: such a value is copied. */
    if (b->status == TDL_OK && (operand->kind != TDL_OPERAND_VALUE || operand->is_output))
        operand = tdl_builder_identity(b, operand);
    if (b->status == TDL_OK && !tdl_operand_set_name(operand, name))
        tdl_builder_fail(b, TDL_ERROR_OUT_OF_MEMORY, "out of memory in a builder");
    if (b->status != TDL_OK)
        return b->status;
    operand->is_output = true;
    b->ir->outputs[b->ir->output_count++] = operand;
    return TDL_OK;
}
