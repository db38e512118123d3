/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Runs a graph by the operators' plain C references: the yardstick of the
 * tests, never a way to compute for users. Values are row-major in the order
 * of desc.shape; for operators on packs they are turned into NHWC float32.
 */
#include "ir.h"

#include <stdlib.h>
#include <string.h>

/* Element of the row-major value that is element `i` in NHWC order. */
static size_t nhwc_index(const struct tdl_operand *o, size_t i)
{
    const struct tdl_dims d = tdl_operand_dims(o);
    if (o->desc.rank != 4 || o->layout != TDL_LAYOUT_NCHW)
        return i;
    size_t c = i % d.c, pixel = i / d.c % ((size_t)d.h * d.w), n = i / ((size_t)d.h * d.w * d.c);
    return (n * d.c + c) * d.h * d.w + pixel;
}

static float *to_nhwc(const struct tdl_operand *o, const void *value)
{
    size_t count = tdl_operand_count(o);
    float *nhwc = calloc(count, sizeof(*nhwc));
    for (size_t i = 0; nhwc && i < count; i++) {
        size_t at = nhwc_index(o, i);
        nhwc[i] = o->desc.dtype == TDL_FLOAT16 ? tdl_half_to_float(((const uint16_t *)value)[at])
                                               : ((const float *)value)[at];
    }
    return nhwc;
}

static void from_nhwc(const struct tdl_operand *o, const float *nhwc, void *value)
{
    for (size_t i = 0, count = tdl_operand_count(o); i < count; i++) {
        size_t at = nhwc_index(o, i);
        if (o->desc.dtype == TDL_FLOAT16)
            ((uint16_t *)value)[at] = tdl_float_to_half(nhwc[i]);
        else
            ((float *)value)[at] = nhwc[i];
    }
}

static enum tdl_result run_packed(const struct tdl_node *n, const void *const *values, void *result)
{
    float *inputs[TDL_MAX_NODE_INPUTS] = {0};
    float *output = calloc(tdl_operand_count(n->output), sizeof(*output));
    bool ok = output;
    for (uint32_t i = 0; i < n->input_count && ok; i++)
        if (n->inputs[i])
            ok = (inputs[i] = to_nhwc(n->inputs[i], values[i]));
    if (ok) {
        n->op->reference(n, (const float *const *)inputs, output);
        from_nhwc(n->output, output, result);
    }
    for (uint32_t i = 0; i < n->input_count; i++)
        free(inputs[i]);
    free(output);
    return ok ? TDL_OK : tdl_fail(TDL_ERROR_OUT_OF_MEMORY, "out of memory in the reference");
}

enum tdl_result tdl_node_run_reference(const struct tdl_node *node, const void *const *inputs,
                                       void *output)
{
    struct tdl_told copy;
    const struct tdl_node *n = tdl_node_told(node, &copy);
    if (n->op->reference)
        return run_packed(n, inputs, output);
    if (!n->op->reference_linear)
        return tdl_fail(TDL_ERROR_UNSUPPORTED, "%s has no reference", n->op->name);
    n->op->reference_linear(n, inputs, output);
    return TDL_OK;
}

static enum tdl_result run_node(const struct tdl_node *n, void *const *values)
{
    const void *inputs[TDL_MAX_NODE_INPUTS] = {0};
    for (uint32_t i = 0; i < n->input_count; i++)
        inputs[i] = n->inputs[i] ? values[n->inputs[i]->id] : NULL;
    return tdl_node_run_reference(n, inputs, values[n->output->id]);
}

static void leave(void *data, const struct tdl_operand *operand, void *value)
{
    (void)data;
    (void)operand;
    (void)value;
}

enum tdl_result tdl_ir_run_reference(const struct tdl_ir *ir, const void *const *inputs,
                                     void **out_values)
{
    return tdl_ir_run_changed(ir, inputs, leave, NULL, out_values);
}

enum tdl_result tdl_ir_run_changed(const struct tdl_ir *ir, const void *const *inputs,
                                   tdl_ir_change_fn change, void *data, void **out_values)
{
    enum tdl_result r = TDL_OK;
    memset(out_values, 0, ir->operand_count * sizeof(*out_values));
    for (uint32_t i = 0; i < ir->operand_count; i++) {
        const struct tdl_operand *o = ir->operands[i];
        size_t size = tdl_tensor_params_size(&o->desc);
        const void *source = o->kind == TDL_OPERAND_CONSTANT ? o->data : NULL;
        out_values[i] = calloc(1, TDL_MAX(size, 1));
        if (!out_values[i])
            return tdl_fail(TDL_ERROR_OUT_OF_MEMORY, "out of memory in the reference");
        for (uint32_t j = 0; j < ir->input_count; j++)
            if (ir->inputs[j] == o)
                source = inputs[j];
        if (source)
            memcpy(out_values[i], source, size);
        else if (o->kind == TDL_OPERAND_CONSTANT && o->compact)
            tdl_compact_expand(o->compact, out_values[i]);
        if (source || o->kind == TDL_OPERAND_CONSTANT)
            change(data, o, out_values[i]);
    }
    for (uint32_t i = 0; i < ir->node_count && r == TDL_OK; i++) {
        r = run_node(ir->nodes[i], out_values);
        if (r == TDL_OK)
            change(data, ir->nodes[i]->output, out_values[ir->nodes[i]->output->id]);
    }
    return r;
}
