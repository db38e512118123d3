/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Functions that models write as several.
 *
 * hardSwish, x · clamp(x + 3, 0, 6) / 6, gelu, x · (1 + erf(x / √2)) / 2, and swish,
 * x · sigmoid(a · x), as models write them that have no operator for it: the sixth or the half
 * may stand before x, before the gate or behind the product, each product and sum in either
 * order, and the clamp may be a hardSigmoid or a minimum of a maximum.
 */
#include "fuse.h"

#include "ops/ops.h"

#include <math.h>

enum { MOST_NODES = 6 }; /* between the product and what it is a function of */

static bool near(double a, double b)
{
    return fabs(a - b) <= 1e-6 * fabs(b);
}

/* The slot of a node of two that is a constant of one element, or -1. */
static int scalar_slot(const struct tdl_node *n, float *out)
{
    for (int i = 0; i < 2; i++)
        if (tdl_fuse_scalar_of(n->inputs[i], out))
            return i;
    return -1;
}

struct product {
    double scale; /* of the constants among its factors */
    struct tdl_operand *factors[2];
    uint32_t count;
};

static bool take_factor(struct tdl_ir *ir, struct tdl_operand *o, const struct tdl_node *reader,
                        uint32_t depth, struct product *p);

/* The factors of a product, or of a quotient by a constant. */
static bool take_factors(struct tdl_ir *ir, const struct tdl_node *n, uint32_t depth,
                         struct product *p)
{
    const enum tdl_function f = tdl_function_of(n);
    float c;
    if (n->chain.count || (f != TDL_MUL && f != TDL_DIV))
        return false;
    if (f == TDL_MUL)
        return take_factor(ir, n->inputs[0], n, depth, p) &&
               take_factor(ir, n->inputs[1], n, depth, p);
    if (!tdl_fuse_scalar_of(n->inputs[1], &c))
        return false;
    p->scale /= (double)c;
    return take_factor(ir, n->inputs[0], n, depth, p);
}

/* Products that nobody else reads are taken apart. */
static bool take_factor(struct tdl_ir *ir, struct tdl_operand *o, const struct tdl_node *reader,
                        uint32_t depth, struct product *p)
{
    const struct product before = *p;
    float c;
    if (tdl_fuse_scalar_of(o, &c)) {
        p->scale *= (double)c;
        return true;
    }
    if (depth && o->producer && tdl_ir_only_user(ir, o) == reader &&
        take_factors(ir, o->producer, depth - 1, p))
        return true;
    *p = before;
    if (p->count == TDL_COUNT(p->factors))
        return false;
    p->factors[p->count++] = o;
    return true;
}

/* The clamped operand, and its bounds; NULL if `o` is nothing of the kind. */
static const struct tdl_operand *clamped(const struct tdl_operand *o, double bounds[2])
{
    bounds[0] = -HUGE_VAL;
    bounds[1] = HUGE_VAL;
    for (int i = 0; i < 2 && o->producer && !o->producer->chain.count; i++) {
        const struct tdl_node *n = o->producer;
        const enum tdl_function f = tdl_function_of(n);
        double least = -HUGE_VAL, most = HUGE_VAL;
        float c;
        int slot = 1;
        if (f == TDL_CLAMP) {
            least = (double)n->attr.eltwise.a;
            most = (double)n->attr.eltwise.b;
        } else if (f == TDL_RELU) {
            least = 0;
        } else if ((f == TDL_MAX_OF || f == TDL_MIN_OF) && (slot = scalar_slot(n, &c)) >= 0) {
            *(f == TDL_MAX_OF ? &least : &most) = (double)c;
        } else {
            break;
        }
        bounds[0] = TDL_MAX(bounds[0], least);
        bounds[1] = TDL_MIN(bounds[1], most);
        o = n->inputs[!slot];
    }
    return isinf(bounds[0]) || isinf(bounds[1]) ? NULL : o;
}

/* Back from `o`, which is a · x + b of what is returned: `x`, or what a node of function
 * `stop` makes, or where the sums and products with constants end. */
static const struct tdl_operand *through_linear(const struct tdl_operand *o,
                                                const struct tdl_operand *x, enum tdl_function stop,
                                                double *a, double *b)
{
    *a = 1;
    *b = 0;
    for (int i = 0; o != x && i < MOST_NODES; i++) {
        const struct tdl_node *n = o->producer;
        const enum tdl_function f = n && !n->chain.count ? tdl_function_of(n) : TDL_FUNCTIONS;
        float c = 0;
        if (f == stop)
            break;
        if (f == TDL_LINEAR) {
            *b += *a * (double)n->attr.eltwise.b;
            *a *= (double)n->attr.eltwise.a;
            o = n->inputs[0];
            continue;
        }
        const bool two = f == TDL_ADD || f == TDL_SUB || f == TDL_MUL || f == TDL_DIV;
        const int slot = two ? scalar_slot(n, &c) : -1;
        if (slot < 0 || (f == TDL_DIV && slot == 0))
            break;
        if (f == TDL_ADD || f == TDL_SUB)
            *b += f == TDL_SUB && slot == 1 ? -*a * (double)c : *a * (double)c;
        if (f == TDL_SUB && slot == 0)
            *a = -*a;
        *a *= f == TDL_MUL ? (double)c : f == TDL_DIV ? 1 / (double)c : 1;
        o = n->inputs[!slot];
    }
    return o;
}

/* Is `o` a · x + b? */
static bool is_linear(const struct tdl_operand *o, const struct tdl_operand *x, double *a,
                      double *b)
{
    return through_linear(o, x, TDL_FUNCTIONS, a, b) == x;
}

/* Is `gate` clamp(x + 3, 0, 6) / 6, but for `scale`? */
static bool is_hard(const struct tdl_operand *gate, const struct tdl_operand *x, double scale)
{
    const struct tdl_node *n = gate->producer;
    double bounds[2] = {0, 1}, a, b, more_a = 1, more_b = 0;
    const struct tdl_operand *inner = NULL;
    if (n && !n->chain.count && n->op == &tdl_op_eltwise[TDL_HARD_SIGMOID]) {
        more_a = (double)n->attr.eltwise.a;
        more_b = (double)n->attr.eltwise.b;
        inner = n->inputs[0];
    } else {
        inner = clamped(gate, bounds);
    }
    if (!inner || bounds[0] != 0 || bounds[1] <= 0 || !is_linear(inner, x, &a, &b))
        return false;
    const double most = bounds[1];
    return near(scale * most, 1) && near(6 * more_a * a, most) &&
           near(2 * (more_a * b + more_b), most);
}

/* Is `gate` (1 + erf(x / √2)) / 2, but for `scale`? */
static bool is_normal(const struct tdl_operand *gate, const struct tdl_operand *x, double scale)
{
    const double rounding = x->desc.dtype == TDL_FLOAT16 ? 2e-4 : 1e-6; /* of √½ as written */
    double a, b, c, d;
    const struct tdl_operand *erf = through_linear(gate, x, TDL_ERF, &a, &b);
    return erf != x && erf->producer && tdl_function_of(erf->producer) == TDL_ERF &&
           is_linear(erf->producer->inputs[0], x, &c, &d) && d == 0 &&
           fabs(c - sqrt(0.5)) <= rounding && near(scale * a, 0.5) && near(scale * b, 0.5);
}

/* Is `gate` sigmoid(a · x), but for `scale`? */
static bool is_sigmoid(const struct tdl_operand *gate, const struct tdl_operand *x, double scale,
                       double *a)
{
    const struct tdl_node *n = gate->producer;
    double b;
    return n && !n->chain.count && tdl_function_of(n) == TDL_SIGMOID && near(scale, 1) &&
           is_linear(n->inputs[0], x, a, &b) && b == 0;
}

/* The function that x · gate(x) is, and its parameter; TDL_FUNCTIONS: none. */
static enum tdl_function gated_by(const struct tdl_operand *gate, const struct tdl_operand *x,
                                  double scale, double *a)
{
    return is_hard(gate, x, scale)         ? TDL_HARD_SWISH
           : is_normal(gate, x, scale)     ? TDL_GELU
           : is_sigmoid(gate, x, scale, a) ? TDL_SWISH
                                           : TDL_FUNCTIONS;
}

bool tdl_fuse_gated(struct tdl_ir *ir, struct tdl_node *n)
{
    struct product p = {.scale = 1};
    const struct tdl_tensor_params *out = &n->output->desc;
    if (!tdl_is_float(out->dtype) || !take_factors(ir, n, 2, &p) || p.count != 2)
        return false;
    for (int i = 0; i < 2; i++) {
        struct tdl_operand *x = p.factors[i];
        enum tdl_function f;
        double a = 0;
        if (x->desc.rank != out->rank || tdl_operand_count(x) != tdl_operand_count(n->output) ||
            (f = gated_by(p.factors[!i], x, p.scale, &a)) == TDL_FUNCTIONS)
            continue;
        n->op = &tdl_op_eltwise[f];
        n->attr.eltwise.a = (float)a;
        tdl_ir_set_input(ir, n, 0, x);
        tdl_ir_set_input(ir, n, 1, NULL);
        n->input_count = 1;
        return true;
    }
    return false;
}

static bool is_plain(const struct tdl_operand *o, enum tdl_function f,
                     const struct tdl_operand *out)
{
    return o->producer && tdl_function_of(o->producer) == f && !o->producer->chain.count &&
           o->desc.rank == out->desc.rank && tdl_operand_count(o) == tdl_operand_count(out);
}

/* Is `o` 1 − z, and `z` as large as it? */
static bool is_rest(const struct tdl_operand *o, const struct tdl_operand *out)
{
    float c;
    return is_plain(o, TDL_SUB, out) && tdl_fuse_scalar_of(o->producer->inputs[0], &c) && c == 1 &&
           o->producer->inputs[1]->desc.rank == out->desc.rank;
}

/* (1 − z) · x + z · y = x + z · (y − x), as gates of recurrent cells mix: one function less.
 * The nodes of the two products are made the other ones. */
static bool mix(struct tdl_ir *ir, struct tdl_node *n, struct tdl_node *kept,
                struct tdl_node *taken)
{
    for (int i = 0; i < 4; i++) {
        struct tdl_operand *rest = kept->inputs[i & 1], *x = kept->inputs[!(i & 1)];
        struct tdl_operand *z = taken->inputs[i >> 1], *y = taken->inputs[!(i >> 1)];
        if (!is_rest(rest, n->output) || rest->producer->inputs[1] != z || rest == x ||
            tdl_ir_only_user(ir, rest) != kept || x->desc.rank != n->output->desc.rank ||
            y->desc.rank != n->output->desc.rank ||
            tdl_operand_count(x) != tdl_operand_count(n->output) ||
            tdl_operand_count(y) != tdl_operand_count(n->output))
            continue;
        tdl_ir_set_input(ir, rest->producer, 0, y);
        tdl_ir_set_input(ir, rest->producer, 1, x);
        tdl_ir_set_input(ir, kept, 0, z);
        tdl_ir_set_input(ir, kept, 1, rest);
        tdl_ir_set_input(ir, n, 0, x);
        tdl_ir_set_input(ir, n, 1, kept->output);
        return true;
    }
    return false;
}

bool tdl_fuse_mix(struct tdl_ir *ir, struct tdl_node *n)
{
    if (n->op != &tdl_op_add || !tdl_is_float(n->output->desc.dtype))
        return false;
    struct tdl_operand *a = n->inputs[0], *b = n->inputs[1];
    if (a == b || !is_plain(a, TDL_MUL, n->output) || !is_plain(b, TDL_MUL, n->output) ||
        tdl_ir_only_user(ir, a) != n || tdl_ir_only_user(ir, b) != n)
        return false;
    return mix(ir, n, a->producer, b->producer) || mix(ir, n, b->producer, a->producer);
}
