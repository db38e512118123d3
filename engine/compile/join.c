/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * join: element-wise operators on packs that follow one another become one dispatch, which
 * keeps what is between them in registers. What the later ones read besides are operands of
 * stages. It comes after layout, as only packs of one picture lie alike.
 */
#include "passes.h"

#include "fuse.h"
#include "ops/ops.h"

#include <string.h>

static bool same_picture(const struct tdl_operand *a, const struct tdl_operand *b)
{
    const struct tdl_dims p = tdl_operand_dims(a), q = tdl_operand_dims(b);
    return p.n == q.n && p.h == q.h && p.w == q.w && p.c == q.c;
}

static bool is_pack(const struct tdl_operand *o, const struct tdl_node *n)
{
    return o && o->storage == TDL_STORAGE_PACKED && tdl_is_float(o->desc.dtype) &&
           same_picture(o, n->output) && (o->kind == TDL_OPERAND_CONSTANT || o->wide == n->wide);
}

static bool is_joinable(const struct tdl_node *n)
{
    const enum tdl_function f = tdl_function_of(n);
    return !n->dead && f < TDL_EQUAL && n->storage == TDL_STORAGE_PACKED &&
           tdl_is_float(n->output->desc.dtype);
}

/* Functions of two values. */
static bool is_binary(const struct tdl_node *n)
{
    return is_joinable(n) && tdl_function_of(n) >= TDL_ADD;
}

/* The node that made what `n` alone reads in this slot, if that stays in registers. */
static struct tdl_node *maker_of(struct tdl_ir *ir, struct tdl_node *n, uint32_t slot)
{
    struct tdl_operand *o = n->inputs[slot];
    if (!is_pack(o, n) || !o->producer || o->external || o->is_output ||
        !is_joinable(o->producer) || o->producer->wide != n->wide || tdl_ir_only_user(ir, o) != n)
        return NULL;
    return o->producer;
}

static uint32_t stages_of(const struct tdl_node *n)
{
    const enum tdl_function f = tdl_function_of(n);
    return n->chain.count + (f < TDL_ADD && f != TDL_IDENTITY);
}

/* The slot from which further operands are read; 0: no room for as many. */
static uint32_t free_slot(const struct tdl_node *n, uint32_t count)
{
    uint32_t slot = TDL_MAX(n->input_count, TDL_STAGE_OPERAND);
    return slot + count <= TDL_STAGE_OPERAND + TDL_STAGE_OPERANDS ? slot : 0;
}

/* `first` does what `n` did, too. */
static void take(struct tdl_ir *ir, struct tdl_node *first, struct tdl_node *n,
                 struct tdl_chain_stage stage, struct tdl_operand *const *operands, uint32_t count)
{
    const uint32_t slot = free_slot(first, count);
    first->input_count = slot + count;
    for (uint32_t i = 0; i < count; i++)
        tdl_ir_set_input(ir, first, slot + i, operands[i]);
    stage.a = (float)slot;
    first->chain.stages[first->chain.count++] = stage;
    for (uint32_t i = 0; i < n->chain.count; i++)
        first->chain.stages[first->chain.count++] = n->chain.stages[i];
    for (uint32_t i = 0; i < n->input_count; i++)
        tdl_ir_set_input(ir, n, i, NULL);
    tdl_fuse_append_label(first, n);
    first->output = n->output;
    first->output->producer = first;
    n->dead = true;
}

/* x + y · z, of which the product is no one else's. */
static bool join_product(struct tdl_ir *ir, struct tdl_node *n)
{
    for (uint32_t i = 0; i < 2 && n->op == &tdl_op_add; i++) {
        struct tdl_node *first = maker_of(ir, n, i), *product = maker_of(ir, n, !i);
        if (!first || !product || product->op != &tdl_op_mul || product->chain.count ||
            product->input_count > 2 || !is_pack(product->inputs[0], n) ||
            !is_pack(product->inputs[1], n) || !free_slot(first, 2) ||
            stages_of(first) + 1 + n->chain.count > TDL_CHAIN_STAGES)
            continue;
        struct tdl_operand *const factors[] = {product->inputs[0], product->inputs[1]};
        take(ir, first, n, (struct tdl_chain_stage){TDL_STAGE_ADD_PRODUCT, 0, 0}, factors, 2);
        tdl_fuse_append_label(first, product);
        for (uint32_t k = 0; k < 2; k++)
            tdl_ir_set_input(ir, product, k, NULL);
        product->dead = true;
        return true;
    }
    return false;
}

static bool join_two(struct tdl_ir *ir, struct tdl_node *n)
{
    for (uint32_t i = 0; i < 2; i++) {
        struct tdl_node *first = maker_of(ir, n, i);
        if (!first || !is_pack(n->inputs[!i], n) || n->input_count > 2 || !free_slot(first, 1) ||
            stages_of(first) + 1 + n->chain.count > TDL_CHAIN_STAGES)
            continue;
        struct tdl_operand *const other = n->inputs[!i];
        const struct tdl_chain_stage stage = {tdl_function_of(n), 0, (float)i};
        take(ir, first, n, stage, &other, 1);
        return true;
    }
    return false;
}

enum tdl_result tdl_pass_join(struct tdl_ir *ir)
{
    tdl_ir_index(ir);
    for (uint32_t i = 0; i < ir->node_count; i++)
        if (is_binary(ir->nodes[i]) && !join_product(ir, ir->nodes[i]))
            join_two(ir, ir->nodes[i]);
    tdl_ir_sweep(ir);
    enum tdl_result r = tdl_ir_sort(ir);
    tdl_ir_dump(ir, "join");
    return r;
}
