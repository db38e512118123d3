/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * labels: what values of four dimensions call their channels. Operators on channels, inputs
 * and outputs say it; to operators that go by dimensions it means nothing, so that these take
 * the layout of the pictures around them. A reshape that only gave another layout's name is
 * dropped then, and packs of four channels reach across what was on both sides of it.
 */
#include "passes.h"

#include "ops/ops.h"

#include <stdlib.h>
#include <string.h>

/* Values that have one layout, because operators without channels connect them. */
struct labels {
    struct tdl_ir *ir;
    uint32_t *parent;        /* by operand: another of its class, or itself, which is the first */
    enum tdl_layout *layout; /* by first operand */
    bool *fixed;             /* likewise: somebody has said it */
    /* Nodes by first operand, each at both its sides: 1 + 2 · its index + side, or 0. */
    uint32_t *first, *next;
    uint32_t *named, named_count; /* first operands of what is fixed, in that order */
};

static uint32_t class_of(const struct labels *l, const struct tdl_operand *o)
{
    uint32_t i = o->id;
    while (l->parent[i] != i)
        i = l->parent[i] = l->parent[l->parent[i]];
    return i;
}

/* Constants are no members: they are copied under the layout that they are wanted in. */
static bool is_member(const struct tdl_operand *o)
{
    return o && o->desc.rank == 4 && o->kind != TDL_OPERAND_CONSTANT;
}

static bool is_weight(const struct tdl_node *n, uint32_t slot)
{
    return n->op->weight_slots >> slot & 1;
}

/* Does it go by dimensions, and can it have packs if all its pictures are of one layout? */
static bool goes_by_dimensions(const struct tdl_node *n)
{
    return n->op->storage == TDL_STORAGE_EITHER && !n->op->relabels && !n->op->on_channels;
}

static bool is_relabel(const struct tdl_node *n)
{
    return n->op == &tdl_op_reshape && n->attr.shape.relabels && is_member(n->inputs[0]) &&
           n->inputs[0]->desc.layout != n->output->desc.layout;
}

static void fix(struct labels *l, const struct tdl_operand *o)
{
    if (is_member(o))
        l->fixed[class_of(l, o)] = true;
}

static void join(struct labels *l, const struct tdl_operand *a, const struct tdl_operand *b)
{
    const uint32_t i = class_of(l, a), j = class_of(l, b);
    l->parent[j] = i;
    l->fixed[i] |= l->fixed[j];
}

/* Classes, of which each has one layout: the builder's functions agreed on it. */
static void find_classes(struct labels *l)
{
    const struct tdl_ir *ir = l->ir;
    for (uint32_t i = 0; i < ir->operand_count; i++) {
        l->parent[i] = i;
        l->layout[i] = ir->operands[i]->desc.layout;
        l->fixed[i] = ir->operands[i]->kind == TDL_OPERAND_INPUT || ir->operands[i]->is_output;
    }
    for (uint32_t i = 0; i < ir->node_count; i++) {
        const struct tdl_node *n = ir->nodes[i];
        const bool channels = n->op->storage == TDL_STORAGE_PACKED || n->op->on_channels;
        const struct tdl_operand *first = is_member(n->output) ? n->output : NULL;
        if (channels)
            fix(l, n->output);
        for (uint32_t j = 0; j < n->input_count; j++) {
            const struct tdl_operand *o = n->inputs[j];
            if (channels)
                fix(l, o);
            if (!goes_by_dimensions(n) || is_weight(n, j) || !is_member(o))
                continue;
            if (first && o->desc.layout == first->desc.layout)
                join(l, first, o);
            first = first ? first : o;
        }
    }
}

static void name(struct labels *l, uint32_t class, enum tdl_layout layout)
{
    if (l->fixed[class])
        return;
    l->layout[class] = layout;
    l->fixed[class] = true;
    l->named[l->named_count++] = class;
}

/* A reshape between two layouts, of which one is not fixed. */
static void settle_relabel(struct labels *l, const struct tdl_node *n)
{
    const uint32_t in = class_of(l, n->inputs[0]), out = class_of(l, n->output);
    if (l->layout[in] == l->layout[out] || l->fixed[in] == l->fixed[out])
        return;
    if (l->fixed[in])
        name(l, out, l->layout[in]);
    else
        name(l, in, l->layout[out]);
}

/* A transposition that brings channels where another layout has them costs nothing in packs, if
 * its sides are called so. One of them is a picture for certain. */
static void settle_transpose(struct labels *l, const struct tdl_node *n)
{
    static const uint32_t to_nchw[] = {0, 3, 1, 2}, to_nhwc[] = {0, 2, 3, 1};
    const uint32_t *permutation = n->attr.transpose.permutation;
    const bool nchw = !memcmp(permutation, to_nchw, sizeof(to_nchw));
    if (n->op != &tdl_op_transpose || !is_member(n->inputs[0]) ||
        (!nchw && memcmp(permutation, to_nhwc, sizeof(to_nhwc)) != 0))
        return;
    const enum tdl_layout to = nchw ? TDL_LAYOUT_NCHW : TDL_LAYOUT_NHWC;
    const enum tdl_layout from = nchw ? TDL_LAYOUT_NHWC : TDL_LAYOUT_NCHW;
    const uint32_t in = class_of(l, n->inputs[0]), out = class_of(l, n->output);
    if (in == out || l->fixed[in] == l->fixed[out] || (l->fixed[in] && l->layout[in] != from) ||
        (l->fixed[out] && l->layout[out] != to))
        return;
    name(l, in, from);
    name(l, out, to);
}

static void settle(struct labels *l, const struct tdl_node *n)
{
    if (is_relabel(n))
        settle_relabel(l, n);
    else
        settle_transpose(l, n);
}

/* Have the nodes by the classes that they may name. */
static void link_nodes(struct labels *l)
{
    for (uint32_t i = l->ir->node_count; i-- > 0;) {
        const struct tdl_node *n = l->ir->nodes[i];
        if ((!is_relabel(n) && n->op != &tdl_op_transpose) || !is_member(n->inputs[0]))
            continue;
        const uint32_t sides[] = {class_of(l, n->inputs[0]), class_of(l, n->output)};
        for (uint32_t side = 0; side < 2; side++) {
            l->next[2 * i + side] = l->first[sides[side]];
            l->first[sides[side]] = 1 + 2 * i + side;
        }
    }
}

/* From what is fixed to its neighbours, along the graph and against it. */
static void spread(struct labels *l)
{
    const struct tdl_ir *ir = l->ir;
    link_nodes(l);
    for (uint32_t i = 0; i < ir->operand_count; i++)
        if (l->fixed[i] && l->parent[i] == i)
            l->named[l->named_count++] = i;
    for (uint32_t at = 0; at < l->named_count; at++)
        for (uint32_t i = l->first[l->named[at]]; i; i = l->next[i - 1])
            settle(l, ir->nodes[(i - 1) / 2]);
    for (uint32_t i = 0; i < ir->node_count; i++) { /* where nobody has said anything */
        const struct tdl_node *n = ir->nodes[i];
        if (is_relabel(n) && !l->fixed[class_of(l, n->inputs[0])] &&
            !l->fixed[class_of(l, n->output)])
            join(l, n->inputs[0], n->output);
    }
}

/* Constants beside pictures under their layout; one that others read, too, as a copy. */
static bool name_constants(struct labels *l, struct tdl_node *n)
{
    for (uint32_t i = 0; goes_by_dimensions(n) && i < n->input_count; i++) {
        struct tdl_operand *o = n->inputs[i];
        if (!o || o->kind != TDL_OPERAND_CONSTANT || o->desc.rank != 4 || is_weight(n, i) ||
            n->output->desc.rank != 4 || o->desc.layout == n->output->desc.layout)
            continue;
        struct tdl_tensor_params desc = o->desc;
        desc.layout = n->output->desc.layout;
        struct tdl_operand *copy = tdl_ir_add_operand(l->ir, TDL_OPERAND_CONSTANT, &desc);
        if (!copy)
            return false;
        copy->data = o->data == o->expanded ? NULL : o->data;
        copy->compact = o->compact;
        tdl_ir_set_input(l->ir, n, i, copy);
    }
    return true;
}

static bool apply(struct labels *l)
{
    struct tdl_ir *ir = l->ir;
    const uint32_t count = ir->operand_count;
    tdl_ir_index(ir);
    for (uint32_t i = 0; i < count; i++)
        if (is_member(ir->operands[i]))
            ir->operands[i]->desc.layout = l->layout[class_of(l, ir->operands[i])];
    for (uint32_t i = 0; i < ir->node_count; i++) {
        struct tdl_node *n = ir->nodes[i];
        const struct tdl_operand *x = n->inputs[0];
        if (!name_constants(l, n))
            return false;
        if (n->op != &tdl_op_reshape || !n->attr.shape.relabels || !is_member(x) ||
            x->desc.layout != n->output->desc.layout || n->output->is_output)
            continue;
        tdl_ir_replace(ir, n->output, n->inputs[0]);
        n->dead = true;
    }
    tdl_ir_sweep(ir);
    return true;
}

enum tdl_result tdl_pass_labels(struct tdl_ir *ir)
{
    const size_t count = ir->operand_count + (size_t)1;
    struct labels l = {
        .ir = ir,
        .parent = calloc(count, sizeof(*l.parent)),
        .layout = calloc(count, sizeof(*l.layout)),
        .fixed = calloc(count, sizeof(*l.fixed)),
        .first = calloc(count, sizeof(*l.first)),
        .next = calloc(2 * (ir->node_count + (size_t)1), sizeof(*l.next)),
        .named = calloc(count, sizeof(*l.named)),
    };
    bool done = l.parent && l.layout && l.fixed && l.first && l.next && l.named;
    if (done) {
        find_classes(&l);
        spread(&l);
        done = apply(&l);
    }
    free(l.parent);
    free(l.layout);
    free(l.fixed);
    free(l.first);
    free(l.next);
    free(l.named);
    tdl_ir_dump(ir, "labels");
    return done ? TDL_OK : tdl_fail(TDL_ERROR_OUT_OF_MEMORY, "out of memory in the labels pass");
}
