/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* fold: what depends on constants only becomes a constant. */
#include "ir/builder.h"
#include "passes.h"

#include "ops/ops.h"

#include <stdlib.h>
#include <string.h>

/* Growth is left to the device from here on: a file of a few bytes can ask for
 * gigabytes. */
#define LARGE_ELEMENTS (1u << 16)
/* What tdl_builder_evaluate() may spend in one builder: bytes made, and gone through.
 * References take up to a second for the latter. Lists of sizes and the like are free. */
#define EVALUATED_BYTES ((uint64_t)32 << 20)
#define EVALUATED_WORK ((uint64_t)128 << 20)
#define EVALUATED_FREE_BYTES 512
#define EVALUATED_FREE_WORK 4096

/* Bytes that the reference reads and writes. */
static uint64_t work_of(const struct tdl_node *n)
{
    if (n->op->work)
        return n->op->work(n);
    const uint64_t out = tdl_tensor_params_size(&n->output->desc);
    uint64_t in = 0;
    for (uint32_t i = 0; i < n->input_count; i++)
        if (n->inputs[i])
            in += tdl_tensor_params_size(&n->inputs[i]->desc);
    return TDL_MAX(in + out, n->op->macs ? n->op->macs(n) * sizeof(float) : 0);
}

/* So are results that somebody wants to have. */
static bool can_fold(const struct tdl_node *n)
{
    bool all = n->op->reference_linear && !n->output->is_output;
    size_t elements = LARGE_ELEMENTS;
    for (uint32_t i = 0; i < n->input_count && all; i++) {
        all = !n->inputs[i] || n->inputs[i]->kind == TDL_OPERAND_CONSTANT;
        if (n->inputs[i])
            elements = TDL_MAX(elements, tdl_operand_count(n->inputs[i]));
    }
    return all && tdl_operand_count(n->output) <= elements;
}

/* And what the budget does not reach for. A reshape costs nothing. */
static bool folds(struct tdl_ir *ir, const struct tdl_node *n)
{
    if (!can_fold(n))
        return false;
    bool paid =
        n->op->renames || tdl_ir_spend(ir, tdl_tensor_params_size(&n->output->desc), work_of(n));
    ir->budget.declined += !paid;
    return paid;
}

static void make_constant(struct tdl_node *n, const void *data)
{
    n->output->kind = TDL_OPERAND_CONSTANT;
    n->output->data = data;
    n->output->producer = NULL;
    n->dead = true;
}

static enum tdl_result fold_node(struct tdl_ir *ir, struct tdl_node *n)
{
    if (n->op->renames) {
        n->output->compact = n->inputs[0]->compact;
        make_constant(n, n->inputs[0]->expanded ? NULL : n->inputs[0]->data);
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
    if (ok) {
        n->op->reference_linear(n, inputs, data);
        make_constant(n, data);
    }
    for (uint32_t i = 0; i < n->input_count; i++)
        free(copies[i]);
    return ok ? TDL_OK : tdl_fail(TDL_ERROR_OUT_OF_MEMORY, "out of memory while folding constants");
}

/* Halves stay halves until what reads them is made ready for the device. */
static bool keep_halves(struct tdl_ir *ir, struct tdl_node *n)
{
    const struct tdl_operand *from = n->inputs[0];
    const size_t count = tdl_operand_count(n->output);
    if (n->op != &tdl_op_cast || from->desc.dtype != TDL_FLOAT16 ||
        n->output->desc.dtype != TDL_FLOAT32 || count <= TDL_COMPACT_LEAST)
        return false;
    struct tdl_compact *c = tdl_ir_alloc(ir, sizeof(*c));
    if (!c)
        return false;
    *c = (struct tdl_compact){.data = from->data, .dtype = TDL_FLOAT16, .count = 1, .stride = 1};
    tdl_compact_order(c, count);
    n->output->compact = c;
    make_constant(n, NULL);
    return true;
}

/* The order of a transposition, as three dimensions and the steps between them; false: it
 * takes more. */
static bool order_transposed(const struct tdl_node *n, struct tdl_compact *c)
{
    const struct tdl_tensor_params *p = &n->inputs[0]->desc;
    size_t stride[TDL_MAX_RANK], inner = 1, size[3] = {1, 1, 1}, step[3] = {0};
    uint32_t count = 0;
    for (uint32_t d = p->rank; d-- > 0; inner *= p->shape[d])
        stride[d] = inner;
    for (uint32_t i = 0; i < p->rank; i++) {
        const uint32_t d = n->attr.transpose.permutation[i];
        if (p->shape[d] == 1)
            continue;
        if (!count || step[count - 1] != stride[d] * p->shape[d]) {
            if (count == 3)
                return false;
            size[count++] = 1;
        }
        size[count - 1] *= p->shape[d];
        step[count - 1] = stride[d];
    }
    for (uint32_t i = 3; i-- > 0;) {
        const bool there = i + count >= 3;
        c->size[i] = there ? size[i + count - 3] : 1;
        c->step[i] = there ? step[i + count - 3] : i < 2 ? c->size[i + 1] * c->step[i + 1] : 1;
    }
    return true;
}

/* Transposed, fewer bits stay fewer bits. */
static bool keep_transposed(struct tdl_ir *ir, struct tdl_node *n)
{
    const struct tdl_operand *from = n->inputs[0];
    if (n->op != &tdl_op_transpose || !from->compact || !tdl_compact_is_plain(from->compact))
        return false;
    struct tdl_compact c = *from->compact, *kept;
    if (!order_transposed(n, &c) || !(kept = tdl_ir_alloc(ir, sizeof(*kept))))
        return false;
    *kept = c;
    n->output->compact = kept;
    make_constant(n, NULL);
    return true;
}

enum tdl_result tdl_pass_fold(struct tdl_ir *ir)
{
    for (uint32_t i = 0; i < ir->node_count; i++) {
        if (!folds(ir, ir->nodes[i]) || keep_halves(ir, ir->nodes[i]) ||
            keep_transposed(ir, ir->nodes[i]))
            continue;
        enum tdl_result r = fold_node(ir, ir->nodes[i]);
        if (r != TDL_OK)
            return r;
    }
    for (uint32_t i = 0; i < ir->operand_count; i++)
        tdl_operand_shrink(ir->operands[i]);
    tdl_ir_sweep(ir);
    tdl_ir_dump(ir, "fold");
    return TDL_OK;
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

/* What one evaluation after the other makes is bounded, too. */
static bool pays(struct tdl_builder *b, const struct tdl_node *n)
{
    const uint64_t bytes = tdl_tensor_params_size(&n->output->desc), work = work_of(n);
    if (bytes <= EVALUATED_FREE_BYTES && work <= EVALUATED_FREE_WORK)
        return true;
    if (bytes > EVALUATED_BYTES - b->evaluated || work > EVALUATED_WORK - b->evaluated_work)
        return false;
    b->evaluated += bytes;
    b->evaluated_work += work;
    return true;
}

/* What was given in fewer bits is floats from here on. */
static const void *data_of(struct tdl_builder *b, struct tdl_operand *o)
{
    const uint64_t bytes = tdl_tensor_params_size(&o->desc);
    if (o->kind != TDL_OPERAND_CONSTANT || o->data || !o->compact)
        return o->kind == TDL_OPERAND_CONSTANT ? o->data : NULL;
    if (bytes > EVALUATED_BYTES - b->evaluated)
        return NULL;
    void *data = tdl_ir_alloc(b->ir, bytes);
    if (!data)
        return tdl_builder_fail(b, TDL_ERROR_OUT_OF_MEMORY, "out of memory in a builder");
    b->evaluated += bytes;
    tdl_compact_expand(o->compact, data);
    return o->data = data;
}

/* Of one call: nodes behind each other, and looked at, for lists of sizes and the like. An
 * operator of a file becomes a few, which are all that is not evaluated yet. */
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
    if (!known || b->status != TDL_OK || !can_fold(n) || (!n->op->renames && !pays(b, n)))
        return;
    if (fold_node(b->ir, n) == TDL_OK)
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
