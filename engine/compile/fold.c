/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* fold: what depends on constants only becomes a constant. */
#include "ir/evaluate.h"
#include "ops/ops.h"
#include "passes.h"

/* And what the budget does not reach for. A reshape costs nothing. */
static bool folds(struct tdl_ir *ir, const struct tdl_node *n)
{
    if (!tdl_node_can_fold(n))
        return false;
    bool paid = n->op->renames ||
                tdl_ir_spend(ir, tdl_tensor_params_size(&n->output->desc), tdl_node_work(n));
    ir->budget.declined += !paid;
    return paid;
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
    tdl_node_make_constant(n, NULL);
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
    tdl_node_make_constant(n, NULL);
    return true;
}

enum tdl_result tdl_pass_fold(struct tdl_ir *ir)
{
    for (uint32_t i = 0; i < ir->node_count; i++) {
        if (!folds(ir, ir->nodes[i]) || keep_halves(ir, ir->nodes[i]) ||
            keep_transposed(ir, ir->nodes[i]))
            continue;
        enum tdl_result r = tdl_node_fold(ir, ir->nodes[i]);
        if (r != TDL_OK)
            return r;
    }
    for (uint32_t i = 0; i < ir->operand_count; i++)
        tdl_operand_shrink(ir->operands[i]);
    tdl_ir_sweep(ir);
    tdl_ir_dump(ir, "fold");
    return TDL_OK;
}
