/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Runs a graph by the operators' plain C references: the yardstick of the
 * tests, never a way to compute for users.
 */
#include "../ops/ops.h"

#include <stdlib.h>
#include <string.h>

static size_t element_count(const struct tdl_operand *o)
{
    struct tdl_dims d = tdl_operand_dims(o);
    return (size_t)d.n * d.h * d.w * d.c;
}

static void copy_nchw(struct tdl_dims d, const float *nchw, float *nhwc)
{
    for (uint32_t n = 0; n < d.n; n++)
        for (uint32_t y = 0; y < d.h; y++)
            for (uint32_t x = 0; x < d.w; x++)
                for (uint32_t c = 0; c < d.c; c++)
                    *nhwc++ = nchw[(((size_t)n * d.c + c) * d.h + y) * d.w + x];
}

enum tdl_result tdl_ir_run_reference(const struct tdl_ir *ir, const float *const *inputs,
                                     float **out_values)
{
    memset(out_values, 0, ir->operand_count * sizeof(*out_values));
    for (uint32_t i = 0; i < ir->operand_count; i++) {
        const struct tdl_operand *o = ir->operands[i];
        size_t count = element_count(o);
        const float *source = NULL;
        out_values[i] = calloc(count ? count : 1, sizeof(float));
        if (!out_values[i])
            return tdl_fail(TDL_ERROR_OUT_OF_MEMORY, "out of memory in the reference");
        if (o->kind == TDL_OPERAND_CONSTANT && o->desc.dtype == TDL_FLOAT32)
            source = o->data;
        for (uint32_t j = 0; j < ir->input_count; j++)
            if (ir->inputs[j] == o)
                source = inputs[j];
        if (source == o->data && source && o->desc.rank == 4 && o->desc.layout == TDL_LAYOUT_NCHW)
            copy_nchw(tdl_operand_dims(o), source, out_values[i]);
        else if (source)
            memcpy(out_values[i], source, count * sizeof(float));
    }
    for (uint32_t i = 0; i < ir->node_count; i++) {
        const struct tdl_node *n = ir->nodes[i];
        const float *values[TDL_MAX_NODE_INPUTS] = {0};
        if (!n->op->reference)
            return tdl_fail(TDL_ERROR_UNSUPPORTED, "%s has no reference", n->op->name);
        for (uint32_t j = 0; j < n->input_count; j++)
            values[j] = n->inputs[j] ? out_values[n->inputs[j]->id] : NULL;
        n->op->reference(n, values, out_values[n->output->id]);
    }
    return TDL_OK;
}
