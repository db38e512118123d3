/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * labels: where values of four dimensions have their channels. Operators on channels say it of
 * what they make and read; to operators that go by dimensions it means nothing, so that these
 * take the layout of the pictures around them. A transposition that brings channels where
 * another layout has them has one layout before it and the other behind it. What is left has
 * the layout of the graph's inputs, or the builder's. Where two layouts meet, a reshape gives
 * the value the other's name: packs of four channels do not reach across.
 */
#include "labels.h"
#include "passes.h"

#include "ops/ops.h"

#include <stdlib.h>
#include <string.h>

/* Values that have one layout, because operators without channels connect them. */
struct labels {
    const struct tdl_ir *ir;
    uint32_t *parent;        /* by operand: another of its class, or itself, which is the first */
    enum tdl_layout *layout; /* by first operand; 0: nobody has said it yet */
    bool *constant;          /* by operand: it follows from constants alone */
    bool late;               /* those are looked at, too */
    /* Nodes by first operand, each at both its sides: 1 + 2 · its index + side, or 0. */
    uint32_t *first, *next;
    uint32_t *named, named_count; /* first operands that have a layout, in that order */
};

static uint32_t class_of(const struct labels *l, const struct tdl_operand *o)
{
    uint32_t i = o->id;
    while (l->parent[i] != i)
        i = l->parent[i] = l->parent[l->parent[i]];
    return i;
}

/* Constants are no members: they are copied under the layout that they are wanted in. What
 * follows from them comes later, so that it makes no difference whether it was folded. */
static bool is_member(const struct labels *l, const struct tdl_operand *o)
{
    return o && o->desc.rank == 4 && o->kind != TDL_OPERAND_CONSTANT &&
           (l->late || !l->constant[o->id]);
}

/* A weight, or what has its channels last like one. */
static bool is_apart(const struct tdl_node *n, uint32_t slot)
{
    return (n->op->weight_slots | n->op->nhwc_slots) >> slot & 1;
}

/* Does it go by dimensions, and can it have packs if all its pictures are of one layout? */
static bool goes_by_dimensions(const struct tdl_node *n)
{
    return n->op->storage != TDL_STORAGE_LINEAR && !n->op->relabels && !n->layout;
}

static enum tdl_layout layout_of(const struct labels *l, const struct tdl_operand *o)
{
    return l->layout[class_of(l, o)];
}

/* True if nobody had said it. */
static bool name(struct labels *l, const struct tdl_operand *o, enum tdl_layout layout)
{
    enum tdl_layout *of = is_member(l, o) ? &l->layout[class_of(l, o)] : NULL;
    if (!of || *of || !layout)
        return false;
    *of = layout;
    l->named[l->named_count++] = class_of(l, o);
    return true;
}

/* Two that have different layouts stay apart. */
static void join(struct labels *l, const struct tdl_operand *a, const struct tdl_operand *b)
{
    const uint32_t i = class_of(l, a), j = class_of(l, b);
    if (l->layout[i] && l->layout[j] && l->layout[i] != l->layout[j])
        return;
    l->parent[j] = i;
    l->layout[i] = l->layout[i] ? l->layout[i] : l->layout[j];
}

static void find_constants(struct labels *l)
{
    const struct tdl_ir *ir = l->ir;
    for (uint32_t i = 0; i < ir->operand_count; i++)
        l->constant[i] = ir->operands[i]->kind == TDL_OPERAND_CONSTANT;
    for (uint32_t i = 0; i < ir->node_count; i++) {
        const struct tdl_node *n = ir->nodes[i];
        bool all = true;
        for (uint32_t j = 0; j < n->input_count && all; j++)
            all = !n->inputs[j] || l->constant[n->inputs[j]->id];
        l->constant[n->output->id] = all;
    }
}

/* What an operator on channels makes has its layout, and so have those next to it. */
static void join_classes(struct labels *l)
{
    const struct tdl_ir *ir = l->ir;
    for (uint32_t i = 0; i < ir->node_count; i++)
        name(l, ir->nodes[i]->output, ir->nodes[i]->layout);
    for (uint32_t i = 0; i < ir->node_count; i++) {
        const struct tdl_node *n = ir->nodes[i];
        const struct tdl_operand *first = is_member(l, n->output) ? n->output : NULL;
        for (uint32_t j = 0; goes_by_dimensions(n) && j < n->input_count; j++) {
            const struct tdl_operand *o = n->inputs[j];
            if (is_apart(n, j) || !is_member(l, o))
                continue;
            if (first)
                join(l, first, o);
            first = first ? first : o;
        }
    }
}

/* What operators on channels read, if what has made it does not say. */
static void name_inputs(struct labels *l)
{
    for (uint32_t i = 0; i < l->ir->node_count; i++) {
        const struct tdl_node *n = l->ir->nodes[i];
        for (uint32_t j = 0; n->layout && j < n->input_count; j++)
            name(l, n->inputs[j], is_apart(n, j) ? TDL_LAYOUT_NHWC : n->layout);
    }
}

/* A transposition that brings channels where another layout has them costs nothing in packs, if
 * its sides are called so. */
static bool turns(const struct tdl_node *n, enum tdl_layout *from, enum tdl_layout *to)
{
    static const uint32_t to_nchw[] = {0, 3, 1, 2}, to_nhwc[] = {0, 2, 3, 1};
    const uint32_t *permutation = n->attr.transpose.permutation;
    if (n->op != &tdl_op_transpose || n->output->desc.rank != 4)
        return false;
    const bool nchw = !memcmp(permutation, to_nchw, sizeof(to_nchw));
    *from = nchw ? TDL_LAYOUT_NHWC : TDL_LAYOUT_NCHW;
    *to = nchw ? TDL_LAYOUT_NCHW : TDL_LAYOUT_NHWC;
    return nchw || !memcmp(permutation, to_nhwc, sizeof(to_nhwc));
}

static bool settle_transpose(struct labels *l, const struct tdl_node *n)
{
    enum tdl_layout from, to;
    if (!is_member(l, n->inputs[0]) || !is_member(l, n->output) || !turns(n, &from, &to))
        return false;
    const enum tdl_layout in = layout_of(l, n->inputs[0]), out = layout_of(l, n->output);
    return (in == from && name(l, n->output, to)) || (out == to && name(l, n->inputs[0], from));
}

/* Other operators pass a layout on where nobody says more; it is of no use to them. */
static bool settle_other(struct labels *l, const struct tdl_node *n)
{
    enum tdl_layout from, to;
    if (n->layout || !n->input_count || !is_member(l, n->inputs[0]) || !is_member(l, n->output) ||
        turns(n, &from, &to))
        return false;
    return name(l, n->output, layout_of(l, n->inputs[0])) ||
           name(l, n->inputs[0], layout_of(l, n->output));
}

/* Have the nodes by the classes that they may name. */
static void link_nodes(struct labels *l)
{
    const struct tdl_ir *ir = l->ir;
    memset(l->first, 0, ir->operand_count * sizeof(*l->first));
    for (uint32_t i = ir->node_count; i-- > 0;) {
        const struct tdl_node *n = ir->nodes[i];
        if (n->layout || !n->input_count || !is_member(l, n->inputs[0]) || !is_member(l, n->output))
            continue;
        const uint32_t sides[] = {class_of(l, n->inputs[0]), class_of(l, n->output)};
        for (uint32_t side = 0; side < 2; side++) {
            l->next[2 * i + side] = l->first[sides[side]];
            l->first[sides[side]] = 1 + 2 * i + side;
        }
    }
}

/* To neighbours, along the graph and against it. */
static void spread(struct labels *l, bool others)
{
    const struct tdl_ir *ir = l->ir;
    l->named_count = 0;
    for (uint32_t i = 0; i < ir->operand_count; i++)
        if (l->layout[i] && l->parent[i] == i)
            l->named[l->named_count++] = i;
    for (uint32_t at = 0; at < l->named_count; at++)
        for (uint32_t i = l->first[l->named[at]]; i; i = l->next[i - 1]) {
            const struct tdl_node *n = ir->nodes[(i - 1) / 2];
            if (!settle_transpose(l, n) && others)
                settle_other(l, n);
        }
}

/* Where nobody has said anything. */
static void name_rest(struct labels *l)
{
    const struct tdl_ir *ir = l->ir;
    for (uint32_t i = 0; i < ir->input_count; i++)
        name(l, ir->inputs[i], ir->inputs[i]->usual);
    spread(l, true);
    for (uint32_t i = 0; i < ir->node_count; i++) {
        const struct tdl_node *n = ir->nodes[i];
        if (!settle_transpose(l, n) && !settle_other(l, n))
            name(l, n->output, ir->layout);
    }
}

static void find(struct labels *l)
{
    join_classes(l);
    name_inputs(l);
    link_nodes(l);
    spread(l, false);
    spread(l, true);
}

static void finish(struct labels *l)
{
    free(l->parent);
    free(l->layout);
    free(l->constant);
    free(l->first);
    free(l->next);
    free(l->named);
}

/* False when out of memory. */
static bool init(struct labels *l, const struct tdl_ir *ir)
{
    const size_t count = ir->operand_count + (size_t)1;
    *l = (struct labels){
        .ir = ir,
        .parent = calloc(count, sizeof(*l->parent)),
        .layout = calloc(count, sizeof(*l->layout)),
        .constant = calloc(count, sizeof(*l->constant)),
        .first = calloc(count, sizeof(*l->first)),
        .next = calloc(2 * (ir->node_count + (size_t)1), sizeof(*l->next)),
        .named = calloc(count, sizeof(*l->named)),
    };
    if (!l->parent || !l->layout || !l->constant || !l->first || !l->next || !l->named)
        return false;
    for (uint32_t i = 0; i < ir->operand_count; i++)
        l->parent[i] = i;
    find_constants(l);
    return true;
}

enum tdl_layout tdl_find_layout(const struct tdl_operand *o)
{
    enum tdl_layout layout = TDL_LAYOUT_DEFAULT;
    struct labels l;
    if (init(&l, o->ir)) {
        find(&l);
        if (is_member(&l, o))
            layout = layout_of(&l, o);
    }
    finish(&l);
    return layout;
}

/* ------------------------------------------------------------- the graph's own */

/* The layout that the node's input has to have; 0: any. */
static enum tdl_layout wanted(const struct tdl_node *n, uint32_t slot)
{
    if (is_apart(n, slot))
        return TDL_LAYOUT_NHWC;
    if (n->layout)
        return n->layout;
    return goes_by_dimensions(n) && n->output->desc.rank == 4 ? n->output->layout : 0;
}

/* A constant that others read under the other layout. */
static struct tdl_operand *copy_constant(struct tdl_ir *ir, const struct tdl_operand *o)
{
    struct tdl_operand *copy = tdl_ir_add_operand(ir, TDL_OPERAND_CONSTANT, &o->desc);
    if (!copy)
        return NULL;
    copy->data = o->data == o->expanded ? NULL : o->data;
    copy->compact = o->compact;
    return copy;
}

/* The value under the other layout's name. */
static struct tdl_operand *rename_value(struct tdl_ir *ir, struct tdl_operand *o)
{
    struct tdl_operand *renamed = tdl_ir_add_operand(ir, TDL_OPERAND_VALUE, &o->desc);
    struct tdl_node *n = renamed ? tdl_ir_add_node(ir, &tdl_op_reshape) : NULL;
    if (!n)
        return NULL;
    n->attr.shape.rank = 4;
    memcpy(n->attr.shape.size, o->desc.shape, sizeof(n->attr.shape.size));
    n->input_count = 1;
    tdl_ir_set_input(ir, n, 0, o);
    n->output = renamed;
    renamed->producer = n;
    return renamed;
}

/* The operand with that layout; `others` has, by operand, those that were made. NULL when out
 * of memory. */
static struct tdl_operand *with_layout(struct tdl_ir *ir, struct tdl_operand **others,
                                       struct tdl_operand *o, enum tdl_layout layout)
{
    const bool constant = o->kind == TDL_OPERAND_CONSTANT;
    if (constant && !o->layout)
        o->layout = layout;
    if (o->layout == layout)
        return o;
    if (!others[o->id])
        others[o->id] = constant ? copy_constant(ir, o) : rename_value(ir, o);
    if (others[o->id])
        others[o->id]->layout = layout;
    return others[o->id];
}

static bool apply(struct tdl_ir *ir, struct tdl_operand **others)
{
    const uint32_t count = ir->node_count;
    tdl_ir_index(ir);
    for (uint32_t i = 0; i < count; i++) {
        struct tdl_node *n = ir->nodes[i];
        for (uint32_t j = 0; j < n->input_count; j++) {
            struct tdl_operand *o = n->inputs[j];
            const enum tdl_layout layout = o && o->desc.rank == 4 ? wanted(n, j) : 0;
            if (!layout || o->layout == layout)
                continue;
            if (!(o = with_layout(ir, others, o, layout)))
                return false;
            if (o != n->inputs[j])
                tdl_ir_set_input(ir, n, j, o);
        }
    }
    for (uint32_t i = 0; i < count; i++) /* their operands say it now */
        ir->nodes[i]->layout = 0;
    const bool sorted = ir->node_count == count || tdl_ir_sort(ir) == TDL_OK;
    tdl_ir_sweep(ir);
    return sorted;
}

enum tdl_result tdl_pass_labels(struct tdl_ir *ir)
{
    struct tdl_operand **others = calloc(ir->operand_count + (size_t)1, sizeof(*others));
    struct labels l;
    bool done = init(&l, ir) && others;
    if (done) {
        find(&l);
        name_rest(&l);
        l.late = true;
        find(&l);
        name_rest(&l);
        for (uint32_t i = 0; i < ir->operand_count; i++)
            if (is_member(&l, ir->operands[i]))
                ir->operands[i]->layout = layout_of(&l, ir->operands[i]);
        done = apply(ir, others);
    }
    finish(&l);
    free(others);
    tdl_ir_dump(ir, "labels");
    return done ? TDL_OK : tdl_fail(TDL_ERROR_OUT_OF_MEMORY, "out of memory in the labels pass");
}
