/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Chains: element-wise functions behind a node become stages of that node,
 * which its kernel applies before it stores. Seven of them are activations that
 * kernels know by number; the others, and further ones, are told by constants
 * (struct tdl_chain).
 */
#include "fuse.h"

#include "ops/ops.h"

#include <math.h>
#include <string.h>

bool tdl_fuse_scalar_of(const struct tdl_operand *o, float *out)
{
    uint16_t half;
    if (!o || o->kind != TDL_OPERAND_CONSTANT || !tdl_is_float(o->desc.dtype) ||
        tdl_operand_count(o) != 1)
        return false;
    if (o->desc.dtype == TDL_FLOAT32) {
        memcpy(out, o->data, sizeof(*out));
    } else {
        memcpy(&half, o->data, sizeof(half));
        *out = tdl_half_to_float(half);
    }
    return true;
}

/* x ∘ c, or c ∘ x, as a function of x. */
static bool stage_with_constant(enum tdl_function f, float c, bool first,
                                struct tdl_chain_stage *out)
{
    const struct {
        enum tdl_function f;
        struct tdl_chain_stage by, of;
    } table[] = {
        {TDL_ADD, {TDL_LINEAR, 1, c}, {TDL_LINEAR, 1, c}},
        {TDL_SUB, {TDL_LINEAR, 1, -c}, {TDL_LINEAR, -1, c}},
        {TDL_MUL, {TDL_LINEAR, c, 0}, {TDL_LINEAR, c, 0}},
        {TDL_DIV, {TDL_DIV_BY, c, 0}, {TDL_DIV_OF, c, 0}},
        {TDL_MAX_OF, {TDL_CLAMP, c, INFINITY}, {TDL_CLAMP, c, INFINITY}},
        {TDL_MIN_OF, {TDL_CLAMP, -INFINITY, c}, {TDL_CLAMP, -INFINITY, c}},
        {TDL_POW, {TDL_POW_BY, c, 0}, {TDL_POW_OF, c, 0}},
    };
    for (size_t i = 0; i < TDL_COUNT(table); i++)
        if (table[i].f == f) {
            *out = first ? table[i].of : table[i].by;
            return !isnan(c);
        }
    *out = (struct tdl_chain_stage){TDL_LEAKY_RELU, c, 0};
    return f == TDL_PRELU && !first && !isnan(c);
}

/* The node as a function of one of its inputs. */
static bool stage_of(const struct tdl_node *n, struct tdl_operand **out_input,
                     struct tdl_chain_stage *out)
{
    const enum tdl_function f = tdl_function_of(n);
    float c;
    if (f == TDL_FUNCTIONS || f >= TDL_EQUAL || !tdl_is_float(n->output->desc.dtype) ||
        !tdl_is_float(n->inputs[0]->desc.dtype))
        return false;
    *out_input = n->inputs[0];
    *out = (struct tdl_chain_stage){f, n->attr.eltwise.a, n->attr.eltwise.b};
    if (f < TDL_ADD)
        return f != TDL_IDENTITY;
    for (int i = 0; i < 2; i++)
        if (tdl_fuse_scalar_of(n->inputs[i], &c)) {
            *out_input = n->inputs[!i];
            return stage_with_constant(f, c, i == 0, out);
        }
    return false;
}

/* The activation that is the same function, or NONE. */
static enum tdl_activation activation_like(const struct tdl_chain_stage *s)
{
    switch (s->function) {
    case TDL_RELU:
        return TDL_ACTIVATION_RELU;
    case TDL_CLAMP:
        return s->a == 0 && s->b == 6 ? TDL_ACTIVATION_RELU6 : TDL_ACTIVATION_NONE;
    case TDL_SIGMOID:
        return TDL_ACTIVATION_SIGMOID;
    case TDL_HARD_SWISH:
        return TDL_ACTIVATION_HARD_SWISH;
    case TDL_TANH:
        return TDL_ACTIVATION_TANH;
    case TDL_SWISH:
        return s->a == 1 ? TDL_ACTIVATION_SWISH : TDL_ACTIVATION_NONE;
    case TDL_GELU:
        return TDL_ACTIVATION_GELU;
    default:
        return TDL_ACTIVATION_NONE;
    }
}

static struct tdl_chain_stage stage_like(enum tdl_activation activation)
{
    static const struct tdl_chain_stage stages[] = {
        [TDL_ACTIVATION_RELU] = {TDL_RELU, 0, 0},
        [TDL_ACTIVATION_RELU6] = {TDL_CLAMP, 0, 6},
        [TDL_ACTIVATION_SIGMOID] = {TDL_SIGMOID, 0, 0},
        [TDL_ACTIVATION_HARD_SWISH] = {TDL_HARD_SWISH, 0, 0},
        [TDL_ACTIVATION_TANH] = {TDL_TANH, 0, 0},
        [TDL_ACTIVATION_SWISH] = {TDL_SWISH, 1, 0},
        [TDL_ACTIVATION_GELU] = {TDL_GELU, 0, 0},
    };
    return stages[activation];
}

/* A value that is both, the input and the whole of the output. */
static bool same_shape(const struct tdl_operand *a, const struct tdl_operand *b)
{
    return a->desc.rank == b->desc.rank && a->desc.dtype == b->desc.dtype &&
           !memcmp(a->desc.shape, b->desc.shape, a->desc.rank * sizeof(a->desc.shape[0]));
}

/* A node of this family that itself is a stage: its own counts. */
static uint32_t stages_used(const struct tdl_node *n, enum tdl_activation activation)
{
    const enum tdl_function f = tdl_function_of(n);
    bool own = f < TDL_ADD && f != TDL_IDENTITY;
    bool simple = activation != TDL_ACTIVATION_NONE && activation != TDL_ACTIVATION_CHAIN;
    return n->chain.count + own + simple;
}

enum tdl_activation tdl_fuse_take_chain(struct tdl_node *n, const struct tdl_chain *chain)
{
    const enum tdl_activation like =
        chain->count == 1 ? activation_like(&chain->stages[0]) : TDL_ACTIVATION_NONE;
    if (like != TDL_ACTIVATION_NONE || !chain->count)
        return like;
    n->chain = *chain;
    return TDL_ACTIVATION_CHAIN;
}

bool tdl_fuse_chain(struct tdl_ir *ir, struct tdl_node *n)
{
    struct tdl_operand *x;
    struct tdl_chain_stage stage;
    if (n->chain.count || !stage_of(n, &x, &stage) || !x->producer || !same_shape(x, n->output))
        return false;
    struct tdl_node *from = x->producer;
    const enum tdl_function f = tdl_function_of(from);
    bool eltwise = f < TDL_EQUAL && tdl_is_float(from->inputs[0]->desc.dtype);
    enum tdl_activation *activation = tdl_fuse_activation_of(from);
    if ((!activation && !eltwise) || tdl_ir_only_user(ir, x) != n)
        return false;
    if (activation && *activation == TDL_ACTIVATION_NONE &&
        activation_like(&stage) != TDL_ACTIVATION_NONE) {
        *activation = activation_like(&stage);
        tdl_fuse_take_output(from, n);
        return true;
    }
    if (stages_used(from, activation ? *activation : TDL_ACTIVATION_NONE) >= TDL_CHAIN_STAGES)
        return false;
    if (activation) {
        if (*activation != TDL_ACTIVATION_NONE && *activation != TDL_ACTIVATION_CHAIN)
            from->chain.stages[from->chain.count++] = stage_like(*activation);
        *activation = TDL_ACTIVATION_CHAIN;
    }
    from->chain.stages[from->chain.count++] = stage;
    tdl_fuse_take_output(from, n);
    return true;
}

/* A constant that broadcasts would be brought into packs by each run. */
bool tdl_fuse_scalar(struct tdl_ir *ir, struct tdl_node *n)
{
    struct tdl_operand *x;
    struct tdl_chain_stage stage;
    if (tdl_function_of(n) < TDL_ADD || n->chain.count == TDL_CHAIN_STAGES ||
        !stage_of(n, &x, &stage) || !same_shape(x, n->output))
        return false;
    memmove(n->chain.stages + 1, n->chain.stages, n->chain.count * sizeof(stage));
    n->chain.stages[0] = stage;
    n->chain.count++;
    n->op = &tdl_op_eltwise[TDL_IDENTITY];
    tdl_ir_set_input(ir, n, 0, x);
    tdl_ir_set_input(ir, n, 1, NULL);
    n->input_count = 1;
    return true;
}
