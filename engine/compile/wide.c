/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * wide: which values stay float32 where the rest of a graph is kept in 16 bits.
 *
 * A variance, the mean of squares without the square of the mean, is a small difference of
 * large parts: with 11 bits each, nothing is left of it, or less than nothing. Who divides by
 * it gets infinities or NaN. So do what comes to such a difference of products, and what is
 * divided by it: from there back over sums, products and means, and on over what the quotient
 * is multiplied by, until it is added to a value that is not wide.
 */
#include "passes.h"

#include "ops/eltwise.h"
#include "ops/ops.h"

#include <stdlib.h>

enum { MOST_TERMS = 64 }; /* looked at in one sum */

static bool is_constant(const struct tdl_operand *o)
{
    return o->kind == TDL_OPERAND_CONSTANT;
}

/* --------------------------------------------------- differences of products */

struct terms {
    uint32_t plus, minus, products, seen;
};

/* A function of one value that a sum keeps its terms through. */
static bool passes(enum tdl_function f)
{
    return f == TDL_IDENTITY || f == TDL_RELU || f == TDL_CLAMP || f == TDL_LINEAR ||
           f == TDL_ABS || f == TDL_SQRT || f == TDL_EXPAND;
}

/* The other input of a function of two, one of which is a constant; else NULL. */
static struct tdl_operand *beside_constant(const struct tdl_node *n)
{
    return is_constant(n->inputs[0])   ? n->inputs[1]
           : is_constant(n->inputs[1]) ? n->inputs[0]
                                       : NULL;
}

static void collect(const struct tdl_operand *o, bool negative, struct terms *t)
{
    const struct tdl_node *n = o->producer;
    const enum tdl_function f = n ? tdl_function_of(n) : TDL_FUNCTIONS;
    if (is_constant(o) || t->seen++ >= MOST_TERMS)
        return;
    if (f == TDL_ADD || f == TDL_SUB) {
        collect(n->inputs[0], negative, t);
        collect(n->inputs[1], negative != (f == TDL_SUB), t);
        return;
    }
    const bool scales = f == TDL_MUL || f == TDL_DIV || f == TDL_MAX_OF || f == TDL_MIN_OF;
    const struct tdl_operand *inside = passes(f) || f == TDL_NEG ? n->inputs[0]
                                       : scales                  ? beside_constant(n)
                                                                 : NULL;
    if (inside) {
        collect(inside, negative != (f == TDL_NEG), t);
        return;
    }
    t->products += f == TDL_MUL || f == TDL_POW;
    *(negative ? &t->minus : &t->plus) += 1;
}

/* The node's divisor; NULL: none. */
static struct tdl_operand *divisor(const struct tdl_node *n)
{
    const enum tdl_function f = tdl_function_of(n);
    return f == TDL_DIV                                                         ? n->inputs[1]
           : f == TDL_RECIPROCAL || (f == TDL_POW && is_constant(n->inputs[1])) ? n->inputs[0]
                                                                                : NULL;
}

static bool is_small_difference(const struct tdl_operand *o)
{
    struct terms t = {0};
    collect(o, false, &t);
    return t.plus && t.minus && t.products;
}

/* ------------------------------------------------------------------ spreading */

static bool is_arithmetic(enum tdl_function f)
{
    return f == TDL_IDENTITY || f == TDL_LINEAR || f == TDL_ABS || f == TDL_NEG || f == TDL_SQRT ||
           f == TDL_RECIPROCAL || f == TDL_EXPAND || f == TDL_ADD || f == TDL_SUB || f == TDL_MUL ||
           f == TDL_DIV || f == TDL_MAX_OF || f == TDL_MIN_OF || f == TDL_POW || f == TDL_CLAMP;
}

/* Mixes pixels of a channel, or takes some of them. */
static bool is_mean(const struct tdl_node *n)
{
    if (n->op == &tdl_op_conv2d)
        return n->attr.conv.p.groups > 1 &&
               n->attr.conv.p.groups == tdl_operand_dims(n->inputs[TDL_CONV_INPUT]).c &&
               n->attr.conv.p.activation == TDL_ACTIVATION_NONE;
    return n->op == &tdl_op_average_pool2d || n->op == &tdl_op_reduce ||
           n->op == &tdl_op_resample2d || n->op == &tdl_op_slice || n->op == &tdl_op_reshape;
}

/* The value, and what it is computed from; up to what is bound, or computed otherwise, which
 * each of its readers sees as it was rounded once. `list` has room for all values. */
static void widen(struct tdl_operand *o, struct tdl_operand **list)
{
    uint32_t count = 0;
    list[count++] = o;
    while (count) {
        o = list[--count];
        const struct tdl_node *n = o->producer;
        if (o->wide || !n || o->desc.dtype != TDL_FLOAT32 ||
            (!is_arithmetic(tdl_function_of(n)) && !is_mean(n)))
            continue;
        o->wide = true;
        for (uint32_t i = 0; i < n->input_count; i++)
            if (n->inputs[i] && !n->inputs[i]->wide && n->inputs[i]->producer)
                list[count++] = n->inputs[i];
    }
}

/* A factor of one over a small difference may be such a one itself. */
static void widen_factors(const struct tdl_node *n, struct tdl_operand **list)
{
    if (tdl_function_of(n) != TDL_MUL || n->inputs[0]->wide == n->inputs[1]->wide)
        return;
    struct tdl_operand *other = n->inputs[n->inputs[0]->wide];
    if (is_small_difference(other))
        widen(other, list);
}

/* Does what it computes from wide values stay wide? */
static bool goes_on(const struct tdl_node *n)
{
    const enum tdl_function f = tdl_function_of(n);
    bool any = false, all = true;
    for (uint32_t i = 0; i < n->input_count; i++)
        if (n->inputs[i] && !is_constant(n->inputs[i])) {
            any |= n->inputs[i]->wide;
            all &= n->inputs[i]->wide;
        }
    return (f == TDL_MUL && any) || (all && any && (is_arithmetic(f) || is_mean(n)));
}

enum tdl_result tdl_pass_widen(struct tdl_ir *ir)
{
    /* A value is listed once for each slot that reads it. */
    struct tdl_operand **list =
        calloc((size_t)ir->node_count * TDL_MAX_NODE_INPUTS + 1, sizeof(struct tdl_operand *));
    bool any = false;
    if (!list)
        return tdl_fail(TDL_ERROR_OUT_OF_MEMORY, "out of memory while building a graph");
    for (uint32_t i = 0; i < ir->node_count; i++) {
        struct tdl_node *n = ir->nodes[i];
        struct tdl_operand *by = n->dead ? NULL : divisor(n);
        if (!by || !is_small_difference(by))
            continue;
        widen(n->output, list);
        any = true;
    }
    for (uint32_t i = 0; any && i < ir->node_count; i++) {
        struct tdl_node *n = ir->nodes[i];
        if (n->dead || n->output->desc.dtype != TDL_FLOAT32)
            continue;
        widen_factors(n, list);
        n->output->wide |= goes_on(n);
    }
    free(list);
    tdl_ir_dump(ir, "widen");
    return TDL_OK;
}
