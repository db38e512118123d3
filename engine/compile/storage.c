/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which operators work on packs of four channels. Packs spread from those that have nothing
 * else over all that can have them, up and down. Where operators that have only linear memory
 * lie between, that may cost more conversions than it saves: the cheapest choice is a cut
 * through the graph. Of choices that cost the same that with the most packs is taken.
 */
#include "layout.h"
#include "ops/ops.h"
#include "passes.h"

#include <stdlib.h>

/* Costs for each element: of a conversion, and of an operator in linear memory, of which two
 * in a row are not joined, and where 16 bits are 32. */
enum { CONVERSION = 8, LINEAR = 1 };

static enum tdl_result out_of_memory(void)
{
    return tdl_fail(TDL_ERROR_OUT_OF_MEMORY, "out of memory in the layout pass");
}

/* ---------------------------------------------------------- what nodes do */

struct tdl_operand *tdl_layout_value(const struct tdl_node *n, uint32_t slot)
{
    struct tdl_operand *o = n->inputs[slot];
    bool weight = o && o->kind == TDL_OPERAND_CONSTANT && n->op->weight_slots & 1u << slot;
    return weight ? NULL : o;
}

bool tdl_layout_reads_other(const struct tdl_node *n, uint32_t slot, enum tdl_storage storage,
                            const char *algorithm)
{
    if (storage == TDL_STORAGE_PACKED)
        return n->op->reads_packs && n->op->reads_packs(n, slot);
    return n->op->reads_linear && n->op->reads_linear(n, slot, algorithm);
}

static bool can_pack(const struct tdl_node *n)
{
    if (n->op->storage != TDL_STORAGE_EITHER || n->output->desc.rank != 4 ||
        !tdl_is_float(n->output->desc.dtype))
        return false;
    for (uint32_t i = 0; i < n->input_count; i++) {
        const struct tdl_operand *o = tdl_layout_value(n, i);
        if (o && (!tdl_is_float(o->desc.dtype) || o->desc.rank > 4 ||
                  (o->desc.rank == 4 && o->layout != n->output->layout && !n->op->relabels)))
            return false;
    }
    return !n->op->can_pack || n->op->can_pack(n);
}

/* Is the operand in packs, as far as is known? */
static bool in_packs(const struct tdl_operand *o)
{
    return o->producer ? o->producer->storage == TDL_STORAGE_PACKED
                       : o->bound.packing == TDL_PACKING_C4;
}

/* The nodes whose neighbours are still to be asked: each comes here once, when
 * it is said to have packs. */
struct spreading {
    struct tdl_node **list;
    uint32_t count;
};

static void spread_to(struct spreading *s, struct tdl_node *n)
{
    if (!n || n->storage == TDL_STORAGE_PACKED || !can_pack(n))
        return;
    n->storage = TDL_STORAGE_PACKED;
    s->list[s->count++] = n;
}

/* Does the node read the value as one that layout may convert? */
static bool reads_value(const struct tdl_node *n, const struct tdl_operand *o)
{
    for (uint32_t j = 0; j < n->input_count; j++)
        if (tdl_layout_value(n, j) == o)
            return true;
    return false;
}

static void spread_to_readers(struct spreading *s, const struct tdl_operand *o)
{
    const struct tdl_use *state = NULL;
    struct tdl_node *reader;
    while ((reader = tdl_ir_next_reader(o, &state)))
        if (reads_value(reader, o))
            spread_to(s, reader);
}

/* Packs spread from the operators that have nothing else, over those that can
 * have them, up and down; the rest is linear. */
static enum tdl_result spread_packs(struct tdl_ir *ir)
{
    struct spreading s = {.list = calloc(ir->node_count + (size_t)1, sizeof(*s.list))};
    tdl_ir_index(ir);
    if (!s.list || !ir->indexed) {
        free(s.list);
        return out_of_memory();
    }
    for (uint32_t i = 0; i < ir->node_count; i++) {
        struct tdl_node *n = ir->nodes[i];
        bool packs = n->op->storage == TDL_STORAGE_PACKED;
        n->storage = packs ? TDL_STORAGE_PACKED : TDL_STORAGE_LINEAR;
        if (packs)
            s.list[s.count++] = n;
    }
    for (uint32_t i = 0; i < ir->input_count; i++)
        if (in_packs(ir->inputs[i]))
            spread_to_readers(&s, ir->inputs[i]);
    while (s.count) {
        struct tdl_node *n = s.list[--s.count];
        spread_to_readers(&s, n->output);
        for (uint32_t j = 0; j < n->input_count; j++)
            if (tdl_layout_value(n, j))
                spread_to(&s, n->inputs[j]->producer);
    }
    free(s.list);
    return TDL_OK;
}

/* ----------------------------------------------------------- the cheapest cut */

/* First side: packs. Second: linear memory. Behind the ends a place for each operand, which is
 * that of the node that makes it, and two for what its conversions cost. */
struct choice {
    struct tdl_ir *ir;
    struct tdl_cut cut;
    const char *algorithm;
};

static uint32_t place_of(const struct tdl_node *n)
{
    if (n->op->storage == TDL_STORAGE_PACKED)
        return TDL_CUT_FIRST;
    return n->storage == TDL_STORAGE_PACKED ? 2 + n->output->id : TDL_CUT_SECOND;
}

/* One conversion is for all readers that want it. */
static void add_conversions(struct choice *c, const struct tdl_operand *o, bool bound,
                            bool bound_packs)
{
    const uint32_t made = o->producer   ? place_of(o->producer)
                          : in_packs(o) ? TDL_CUT_FIRST
                                        : TDL_CUT_SECOND;
    const uint32_t to_linear = 2 + c->ir->operand_count + 2 * o->id, to_packs = to_linear + 1;
    const uint64_t cost = CONVERSION * (uint64_t)tdl_operand_count(o);
    const struct tdl_use *state = NULL;
    const struct tdl_node *n;
    tdl_cut_add(&c->cut, made, to_linear, cost);
    tdl_cut_add(&c->cut, to_packs, made, cost);
    if (bound && bound_packs)
        tdl_cut_add(&c->cut, TDL_CUT_FIRST, to_packs, TDL_CUT_NEVER);
    else if (bound)
        tdl_cut_add(&c->cut, to_linear, TDL_CUT_SECOND, TDL_CUT_NEVER);
    while ((n = tdl_ir_next_reader(o, &state)))
        for (uint32_t j = 0; j < n->input_count; j++) {
            if (tdl_layout_value(n, j) != o)
                continue;
            if (!tdl_layout_reads_other(n, j, TDL_STORAGE_PACKED, c->algorithm))
                tdl_cut_add(&c->cut, to_linear, place_of(n), TDL_CUT_NEVER);
            if (!tdl_layout_reads_other(n, j, TDL_STORAGE_LINEAR, c->algorithm))
                tdl_cut_add(&c->cut, place_of(n), to_packs, TDL_CUT_NEVER);
        }
}

/* In packs a transposition may be another layout's name only, and a slice or a concat of
 * channels part of another value (parts.c); in linear memory they move all that they give. */
static bool moves_if_linear(const struct tdl_node *n)
{
    return n->op->relabels || n->op == &tdl_op_slice || n->op == &tdl_op_concat;
}

static void add_nodes(struct choice *c)
{
    for (uint32_t i = 0; i < c->ir->node_count; i++) {
        const struct tdl_node *n = c->ir->nodes[i];
        const uint64_t each = moves_if_linear(n) ? CONVERSION : LINEAR;
        if (place_of(n) > TDL_CUT_SECOND)
            tdl_cut_add(&c->cut, TDL_CUT_FIRST, place_of(n), each * tdl_operand_count(n->output));
    }
}

static bool is_packed_output(const struct tdl_ir *ir, const struct tdl_operand *o, uint64_t packed)
{
    for (uint32_t i = 0; i < ir->output_count; i++)
        if (ir->outputs[i] == o)
            return packed >> i & 1;
    return false;
}

/* Where the network is too large to be cut, packs stay where they spread to, and the IR says so. */
static void cut_packs(struct choice *c, uint64_t packed_outputs)
{
    struct tdl_ir *ir = c->ir;
    const uint32_t count = 2 + 3 * ir->operand_count;
    bool *second = calloc(count, sizeof(*second));
    ir->uncut = true;
    if (second && tdl_cut_init(&c->cut, count)) {
        for (uint32_t i = 0; i < ir->operand_count; i++) {
            const struct tdl_operand *o = ir->operands[i];
            if (o->kind != TDL_OPERAND_CONSTANT)
                add_conversions(c, o, o->is_output,
                                o->is_output && is_packed_output(ir, o, packed_outputs));
        }
        add_nodes(c);
        ir->uncut = !tdl_cut_solve(&c->cut, second);
        for (uint32_t i = 0; i < ir->node_count; i++)
            if (!ir->uncut && second[place_of(ir->nodes[i])])
                ir->nodes[i]->storage = TDL_STORAGE_LINEAR;
    }
    tdl_cut_finish(&c->cut);
    free(second);
}

enum tdl_result tdl_choose_storages(struct tdl_ir *ir, const char *algorithm,
                                    uint64_t packed_outputs)
{
    struct choice c = {.ir = ir, .algorithm = algorithm};
    const enum tdl_result r = spread_packs(ir);
    bool free_choice = false;
    for (uint32_t i = 0; r == TDL_OK && i < ir->node_count; i++)
        free_choice |= place_of(ir->nodes[i]) > TDL_CUT_SECOND;
    if (free_choice)
        cut_packs(&c, packed_outputs);
    return r;
}
