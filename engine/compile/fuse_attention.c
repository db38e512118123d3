/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * attention: softmax(q · kᵀ · scale + mask) · v, as exporters write it, with a product or a
 * quotient for the scale, a sum for the mask, and transpositions before all of it.
 */
#include "fuse.h"

#include "ops/matmul.h"
#include "ops/ops.h"

#include <stdio.h>
#include <string.h>

enum { RANK = 4 };

/* A value as a matrix for each batch and head: sizes and distances of elements. */
struct view {
    struct tdl_operand *of;
    uint32_t size[RANK], step[RANK];
};

/* What has no more dimensions has ones in front. A transposition is other distances. */
static struct view view_of(struct tdl_operand *o)
{
    const struct tdl_node *turn =
        o->producer && o->producer->op == &tdl_op_transpose ? o->producer : NULL;
    struct view v = {.of = turn ? turn->inputs[0] : o, .size = {1, 1, 1, 1}};
    const uint32_t rank = o->desc.rank;
    uint32_t steps[TDL_MAX_RANK], step = 1;
    for (uint32_t d = rank; d-- > 0; step *= v.of->desc.shape[d])
        steps[d] = step;
    for (uint32_t d = 0; d < rank; d++) {
        const uint32_t at = RANK - rank + d;
        v.size[at] = o->desc.shape[d];
        v.step[at] = v.size[at] > 1 ? steps[turn ? turn->attr.transpose.permutation[d] : d] : 0;
    }
    return v;
}

/* Are there as many batches and heads, or one for all? */
static bool broadcasts(const struct view *v, const uint32_t size[2])
{
    return (v->size[0] == size[0] || v->size[0] == 1) && (v->size[1] == size[1] || v->size[1] == 1);
}

static bool is_floats(const struct tdl_operand *o)
{
    return o->desc.dtype == TDL_FLOAT32 && o->desc.rank >= 2 && o->desc.rank <= RANK;
}

/* The node behind the value, if it alone reads it and ends with nothing else. */
static struct tdl_node *before(struct tdl_ir *ir, const struct tdl_node *n, uint32_t slot)
{
    struct tdl_operand *o = n->inputs[slot];
    return o->producer && !o->is_output && tdl_ir_only_user(ir, o) == n && !o->producer->chain.count
               ? o->producer
               : NULL;
}

static bool is_product(const struct tdl_node *n)
{
    return n && n->op == &tdl_op_matmul && n->attr.matmul.activation == TDL_ACTIVATION_NONE &&
           !n->attr.matmul.a_transpose && !n->attr.matmul.b_transpose &&
           (n->input_count <= TDL_MATMUL_C || !n->inputs[TDL_MATMUL_C]);
}

/* Is the product, or its scale, in this slot? */
static bool leads_back(struct tdl_ir *ir, const struct tdl_node *n, uint32_t slot)
{
    const struct tdl_node *b = before(ir, n, slot);
    const enum tdl_function f = b ? tdl_function_of(b) : TDL_FUNCTIONS;
    return is_product(b) || f == TDL_MUL || f == TDL_DIV || f == TDL_LINEAR;
}

struct found {
    struct tdl_node *scores; /* q · kᵀ */
    struct tdl_operand *mask;
    float scale;
};

/* From the softmax's input back to the product. */
static bool find_scores(struct tdl_ir *ir, const struct tdl_node *softmax, struct found *f)
{
    const struct tdl_node *reader = softmax;
    uint32_t slot = 0;
    f->scale = 1;
    for (uint32_t depth = 0; depth < 3; depth++) {
        struct tdl_node *n = before(ir, reader, slot);
        float c;
        if (is_product(n)) {
            f->scores = n;
            return true;
        }
        const enum tdl_function function = n ? tdl_function_of(n) : TDL_FUNCTIONS;
        if (function == TDL_ADD && !f->mask && f->scale == 1) {
            slot = leads_back(ir, n, 0) ? 0 : 1;
            f->mask = n->inputs[1 - slot];
        } else if (function == TDL_LINEAR && n->attr.eltwise.b == 0) {
            f->scale *= n->attr.eltwise.a;
            slot = 0;
        } else if (function == TDL_MUL || function == TDL_DIV) {
            slot = function == TDL_MUL && tdl_fuse_scalar_of(n->inputs[0], &c) ? 1 : 0;
            if (!tdl_fuse_scalar_of(n->inputs[1 - slot], &c))
                return false;
            f->scale = function == TDL_MUL ? f->scale * c : f->scale / c;
        } else {
            return false;
        }
        reader = n;
    }
    return false;
}

static bool fits(const struct view *q, const struct view *k, const struct view *v,
                 const struct view *mask, const struct tdl_operand *out)
{
    const struct view o = view_of((struct tdl_operand *)out);
    return broadcasts(q, o.size) && broadcasts(k, o.size) && broadcasts(v, o.size) &&
           tdl_attention_fits(q->size[2], v->size[3]) &&
           (!mask->of || (broadcasts(mask, o.size) && is_floats(mask->of) &&
                          (mask->size[2] == q->size[2] || mask->size[2] == 1) &&
                          (mask->size[3] == k->size[3] || mask->size[3] == 1)));
}

bool tdl_fuse_attention(struct tdl_ir *ir, struct tdl_node *n)
{
    struct tdl_node *softmax = is_product(n) ? before(ir, n, TDL_MATMUL_A) : NULL;
    struct found f = {0};
    if (!softmax || softmax->op != &tdl_op_softmax ||
        softmax->attr.softmax.axis + 1 != softmax->output->desc.rank ||
        !find_scores(ir, softmax, &f) || f.scores->output->desc.rank != n->output->desc.rank ||
        (f.mask && f.mask->desc.rank > n->output->desc.rank))
        return false;
    struct tdl_operand *inputs[] = {f.scores->inputs[TDL_MATMUL_A], f.scores->inputs[TDL_MATMUL_B],
                                    n->inputs[TDL_MATMUL_B]};
    if (!is_floats(inputs[0]) || !is_floats(inputs[1]) || !is_floats(inputs[2]) ||
        n->output->desc.rank > RANK)
        return false;
    const struct view q = view_of(inputs[0]), k = view_of(inputs[1]), v = view_of(inputs[2]);
    const struct view mask = f.mask ? view_of(f.mask) : (struct view){0};
    const struct view out = view_of(n->output);
    if (!fits(&q, &k, &v, &mask, n->output))
        return false;
    struct tdl_attention_attr a;
    memset(&a, 0, sizeof(a)); /* padding between members counts, too: nodes are compared */
    a.scale = f.scale;
    a.batches = out.size[0];
    a.heads = out.size[1];
    a.rows = q.size[2];
    a.depth = q.size[3];
    a.keys = k.size[3];
    a.width = v.size[3];
    memcpy(a.q, q.step, sizeof(a.q));
    memcpy(a.k, (const uint32_t[]){k.step[0], k.step[1], k.step[3], k.step[2]}, sizeof(a.k));
    memcpy(a.v, v.step, sizeof(a.v));
    memcpy(a.mask, mask.step, sizeof(a.mask));
    tdl_fuse_append_label(n, softmax);
    n->op = &tdl_op_attention;
    n->attr.attention = a;
    n->input_count = mask.of ? TDL_ATTENTION_MASK + 1 : TDL_ATTENTION_MASK;
    tdl_ir_set_input(ir, n, TDL_ATTENTION_Q, q.of);
    tdl_ir_set_input(ir, n, TDL_ATTENTION_K, k.of);
    tdl_ir_set_input(ir, n, TDL_ATTENTION_V, v.of);
    if (mask.of)
        tdl_ir_set_input(ir, n, TDL_ATTENTION_MASK, mask.of);
    return true;
}
