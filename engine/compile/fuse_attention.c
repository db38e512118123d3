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

/* The value that the node multiplies by a number, which `scale` is multiplied by; or NULL. */
static struct tdl_operand *scaled_by(const struct tdl_node *n, float *scale)
{
    const enum tdl_function f = tdl_function_of(n);
    struct tdl_operand *x = n->inputs[0];
    float c;
    if (f == TDL_LINEAR && n->attr.eltwise.b == 0) {
        c = n->attr.eltwise.a;
    } else if (f == TDL_MUL && tdl_fuse_scalar_of(n->inputs[0], &c)) {
        x = n->inputs[1];
    } else if ((f == TDL_MUL || f == TDL_DIV) && tdl_fuse_scalar_of(n->inputs[1], &c)) {
        c = f == TDL_MUL ? c : 1 / c;
    } else {
        return NULL;
    }
    if (x->desc.rank != n->output->desc.rank)
        return NULL;
    *scale *= c;
    return x;
}

/* What has no more dimensions has ones in front. Transpositions are other distances, and what
 * is made of another by a number becomes that one, where `scale` can take the number. */
static struct view view_of(struct tdl_operand *o, float *scale)
{
    struct view v = {.of = o, .size = {1, 1, 1, 1}};
    const uint32_t rank = o->desc.rank;
    uint32_t steps[TDL_MAX_RANK], axis[TDL_MAX_RANK], step = 1;
    for (uint32_t d = 0; d < rank; d++)
        axis[d] = d;
    for (const struct tdl_node *n; (n = v.of->producer) && !n->chain.count;) {
        struct tdl_operand *x = n->inputs[0];
        if (n->op == &tdl_op_transpose)
            for (uint32_t d = 0; d < rank; d++)
                axis[d] = n->attr.transpose.permutation[axis[d]];
        else if (!scale || !(x = scaled_by(n, scale)))
            break;
        v.of = x;
    }
    for (uint32_t d = rank; d-- > 0; step *= v.of->desc.shape[d])
        steps[d] = step;
    for (uint32_t d = 0; d < rank; d++) {
        const uint32_t at = RANK - rank + d;
        v.size[at] = o->desc.shape[d];
        v.step[at] = v.size[at] > 1 ? steps[axis[d]] : 0;
    }
    return v;
}

/* Are there as many batches and heads, or one for all? */
static bool broadcasts(const struct view *v, const uint32_t size[2])
{
    return (v->size[0] == size[0] || v->size[0] == 1) && (v->size[1] == size[1] || v->size[1] == 1);
}

static bool is_floats(const struct tdl_operand *o, enum tdl_dtype type)
{
    return o->desc.dtype == type && o->desc.rank >= 2 && o->desc.rank <= RANK;
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
        if (is_product(n)) {
            f->scores = n;
            return true;
        }
        const enum tdl_function function = n ? tdl_function_of(n) : TDL_FUNCTIONS;
        if (function == TDL_ADD && !f->mask && f->scale == 1) {
            slot = leads_back(ir, n, 0) ? 0 : 1;
            f->mask = n->inputs[1 - slot];
        } else {
            const struct tdl_operand *x = n ? scaled_by(n, &f->scale) : NULL;
            if (!x)
                return false;
            slot = x == n->inputs[1] ? 1 : 0;
        }
        reader = n;
    }
    return false;
}

static bool fits(const struct tdl_ir *ir, const struct view *q, const struct view *k,
                 const struct view *v, const struct view *mask, const struct tdl_operand *out)
{
    const struct view o = view_of((struct tdl_operand *)out, NULL);
    return broadcasts(q, o.size) && broadcasts(k, o.size) && broadcasts(v, o.size) &&
           tdl_attention_fits(ir->units, out->desc.dtype, q->size[2], q->size[3], v->size[3]) &&
           (!mask->of || (broadcasts(mask, o.size) && is_floats(mask->of, out->desc.dtype) &&
                          (mask->size[2] == q->size[2] || mask->size[2] == 1) &&
                          (mask->size[3] == k->size[3] || mask->size[3] == 1)));
}

/* A transposition behind it that leaves rows as they are becomes distances, too. */
static void turn_output(struct tdl_ir *ir, struct tdl_node *n, uint32_t step[3])
{
    struct tdl_node *turn = n->output->is_output ? NULL : tdl_ir_only_user(ir, n->output);
    const uint32_t rank = n->output->desc.rank;
    if (!turn || turn->op != &tdl_op_transpose ||
        turn->attr.transpose.permutation[rank - 1] != rank - 1)
        return;
    memset(step, 0, 3 * sizeof(*step));
    for (uint32_t d = 0, behind = 1; d < rank - 1; d++) {
        const uint32_t at = rank - 2 - d;
        behind *= turn->output->desc.shape[at + 1];
        step[RANK - rank + turn->attr.transpose.permutation[at]] = behind;
    }
    tdl_fuse_take_output(n, turn);
}

/* Without matrix units two products and a softmax are sooner there (by two thirds on an H200), and
 * what it pays for is the memory of scores. */
static bool pays(const struct tdl_ir *ir, const struct tdl_node *scores)
{
    const uint64_t large = 256ull << 20;
    return ir->units || ir->whole_attention ||
           tdl_tensor_params_size(&scores->output->desc) >= large;
}

bool tdl_fuse_attention(struct tdl_ir *ir, struct tdl_node *n)
{
    struct tdl_node *softmax = is_product(n) ? before(ir, n, TDL_MATMUL_A) : NULL;
    struct found f = {0};
    if (!softmax || softmax->op != &tdl_op_softmax ||
        softmax->attr.softmax.axis + 1 != softmax->output->desc.rank ||
        !find_scores(ir, softmax, &f) || !pays(ir, f.scores) ||
        f.scores->output->desc.rank != n->output->desc.rank ||
        (f.mask && f.mask->desc.rank > n->output->desc.rank))
        return false;
    struct tdl_operand *inputs[] = {f.scores->inputs[TDL_MATMUL_A], f.scores->inputs[TDL_MATMUL_B],
                                    n->inputs[TDL_MATMUL_B]};
    const enum tdl_dtype type = n->output->desc.dtype;
    if (!is_floats(inputs[0], type) || !is_floats(inputs[1], type) || !is_floats(inputs[2], type) ||
        n->output->desc.rank > RANK)
        return false;
    const struct view q = view_of(inputs[0], &f.scale), k = view_of(inputs[1], &f.scale);
    const struct view v = view_of(inputs[2], NULL);
    const struct view mask = f.mask ? view_of(f.mask, NULL) : (struct view){0};
    const struct view out = view_of(n->output, NULL);
    if (!fits(ir, &q, &k, &v, &mask, n->output))
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
    memcpy(a.out, out.step, sizeof(a.out));
    tdl_fuse_append_label(n, softmax);
    turn_output(ir, n, a.out);
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
