/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Nodes of constants are computed at once, by the operators' references. */
#include "evaluate.h"

#include "builder.h"

#include <stdlib.h>
#include <string.h>

/* Growth is left to the device from here on: a file of a few bytes can ask for
 * gigabytes. */
#define LARGE_ELEMENTS (1u << 16)
/* Lists of sizes and the like cost tdl_builder_evaluate() nothing. */
#define EVALUATED_FREE_BYTES 512
#define EVALUATED_FREE_WORK 4096

/* Bytes that the reference reads and writes. */
uint64_t tdl_node_work(const struct tdl_node *n)
{
    struct tdl_told copy;
    if (n->op->work)
        return n->op->work(tdl_node_told(n, &copy));
    const uint64_t out = tdl_tensor_params_size(&n->output->desc);
    uint64_t in = 0;
    for (uint32_t i = 0; i < n->input_count; i++)
        if (n->inputs[i])
            in += tdl_tensor_params_size(&n->inputs[i]->desc);
    return TDL_MAX(in + out, tdl_node_macs(n) * sizeof(float));
}

bool tdl_node_can_fold(const struct tdl_node *n)
{
    bool all = (n->op->reference_linear || n->op->reference) && !n->output->is_output;
    size_t elements = LARGE_ELEMENTS;
    for (uint32_t i = 0; i < n->input_count && all; i++) {
        all = !n->inputs[i] || n->inputs[i]->kind == TDL_OPERAND_CONSTANT;
        if (n->inputs[i])
            elements = TDL_MAX(elements, tdl_operand_count(n->inputs[i]));
    }
    return all && tdl_operand_count(n->output) <= elements;
}

void tdl_node_make_constant(struct tdl_node *n, const void *data)
{
    n->output->kind = TDL_OPERAND_CONSTANT;
    n->output->data = data;
    n->output->evaluated = true;
    n->output->producer = NULL;
    n->dead = true;
}

enum tdl_result tdl_node_fold(struct tdl_ir *ir, struct tdl_node *n)
{
    if (n->op->renames) {
        n->output->compact = n->inputs[0]->compact;
        tdl_node_make_constant(n, n->inputs[0]->expanded ? NULL : n->inputs[0]->data);
        return TDL_OK;
    }
    if (tdl_node_expand(n) != TDL_OK)
        return TDL_ERROR_OUT_OF_MEMORY;
    const void *inputs[TDL_MAX_NODE_INPUTS] = {0};
    void *copies[TDL_MAX_NODE_INPUTS] = {0};
    void *data = tdl_ir_alloc(ir, tdl_tensor_params_size(&n->output->desc));
    bool ok = data;
    for (uint32_t i = 0; i < n->input_count && ok; i++) {
        const struct tdl_operand *o = n->inputs[i];
        size_t size = o ? tdl_tensor_params_size(&o->desc) : 0;
        inputs[i] = o ? o->data : NULL;
        /* The caller's memory, a file's say, need not be aligned. */
        if (o && (uintptr_t)o->data % tdl_dtype_size(o->desc.dtype)) {
            ok = (inputs[i] = copies[i] = malloc(size));
            if (ok)
                memcpy(copies[i], o->data, size);
        }
    }
    ok = ok && tdl_node_run_reference(n, inputs, data) == TDL_OK;
    if (ok)
        tdl_node_make_constant(n, data);
    for (uint32_t i = 0; i < n->input_count; i++)
        free(copies[i]);
    return ok ? TDL_OK : tdl_fail(TDL_ERROR_OUT_OF_MEMORY, "out of memory while folding constants");
}

/* ------------------------------------------------------------------ builders */

/* The node that has become a constant; most often the last one. */
static void drop_node(struct tdl_ir *ir, struct tdl_node *n)
{
    uint32_t place = ir->node_count;
    while (place > 0 && ir->nodes[place - 1] != n)
        place--;
    memmove(&ir->nodes[place - 1], &ir->nodes[place],
            (ir->node_count - place) * sizeof(struct tdl_node *));
    ir->node_count--;
    free(n);
}

static bool spend(struct tdl_ir *ir, uint64_t bytes, uint64_t work)
{
    return tdl_ir_spend(ir, bytes, work) ||
           (tdl_ir_budget_grow(ir) && tdl_ir_spend(ir, bytes, work));
}

/* The sum of all evaluations is bounded, too. */
static bool pays(struct tdl_builder *b, const struct tdl_node *n)
{
    const uint64_t bytes = tdl_tensor_params_size(&n->output->desc), work = tdl_node_work(n);
    if (bytes <= EVALUATED_FREE_BYTES && work <= EVALUATED_FREE_WORK)
        return true;
    return spend(b->ir, bytes, work);
}

/* Constants that were given in fewer bits are floats from here on. */
static const void *data_of(struct tdl_builder *b, struct tdl_operand *o)
{
    const uint64_t bytes = tdl_tensor_params_size(&o->desc);
    if (o->kind != TDL_OPERAND_CONSTANT || o->data || !o->compact)
        return o->kind == TDL_OPERAND_CONSTANT ? o->data : NULL;
    if (!spend(b->ir, bytes, 0))
        return NULL;
    void *data = tdl_ir_alloc(b->ir, bytes);
    if (!data)
        return tdl_builder_fail(b, TDL_ERROR_OUT_OF_MEMORY, "out of memory in a builder");
    tdl_compact_expand(o->compact, data);
    return o->data = data;
}

/* Bounds of one call: nodes behind each other, and looked at, for lists of sizes and the
 * like. An operator of a file becomes a few, which are all that is not evaluated yet. */
#define EVALUATED_DEPTH 16
#define EVALUATED_NODES 64

/* The operand becomes a constant if all does that it depends on. */
static void evaluate(struct tdl_builder *b, struct tdl_operand *operand, uint32_t depth,
                     uint32_t *left)
{
    if (operand->kind != TDL_OPERAND_VALUE || depth == 0 || *left == 0)
        return;
    struct tdl_node *n = operand->producer;
    const bool small = tdl_tensor_params_size(&operand->desc) <= EVALUATED_FREE_BYTES;
    bool known = true;
    --*left;
    for (uint32_t i = 0; i < n->input_count && known && b->status == TDL_OK; i++) {
        if (n->inputs[i] && small)
            evaluate(b, n->inputs[i], depth - 1, left);
        known = !n->inputs[i] || n->inputs[i]->kind == TDL_OPERAND_CONSTANT;
    }
    if (!known || b->status != TDL_OK || !tdl_node_can_fold(n) || (!n->op->renames && !pays(b, n)))
        return;
    if (tdl_node_fold(b->ir, n) == TDL_OK)
        drop_node(b->ir, n);
    else
        tdl_builder_fail(b, TDL_ERROR_OUT_OF_MEMORY, "out of memory in a builder");
}

const void *tdl_builder_evaluate(struct tdl_builder *b, struct tdl_operand *operand)
{
    uint32_t left = EVALUATED_NODES;
    if (!b || b->status != TDL_OK || !operand || operand->ir != b->ir)
        return NULL;
    evaluate(b, operand, EVALUATED_DEPTH, &left);
    return b->status == TDL_OK ? data_of(b, operand) : NULL;
}
