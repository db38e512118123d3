/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The element-wise functions from their definitions, in C's own arithmetic. */
#include "element.h"

#include <math.h>

static double unary(enum tdl_function f, double x, double a, double b)
{
    switch (f) {
    case TDL_RELU:
        return x < 0 ? 0 : x;
    case TDL_CLAMP:
        return x < a ? a : x > b ? b : x;
    case TDL_SIGMOID:
        return 1 / (1 + exp(-x));
    case TDL_HARD_SWISH:
        return x * (x < -3 ? 0 : x > 3 ? 6 : x + 3) / 6;
    case TDL_TANH:
        return tanh(x);
    case TDL_LEAKY_RELU:
        return x < 0 ? a * x : x;
    case TDL_ELU:
        return x < 0 ? a * expm1(x) : x;
    case TDL_GELU:
        return 0.5 * x * erfc(-x / sqrt(2)); /* 1 + erf of the negative */
    case TDL_HARD_SIGMOID:
        x = a * x + b;
        return x < 0 ? 0 : x > 1 ? 1 : x;
    case TDL_SOFTPLUS:
        return x > 30 ? x : log1p(exp(x));
    case TDL_SOFTSIGN:
        return x / (1 + fabs(x));
    case TDL_LINEAR:
        return a * x + b;
    case TDL_ABS:
        return fabs(x);
    case TDL_CEIL:
        return ceil(x);
    case TDL_FLOOR:
        return floor(x);
    case TDL_ROUND_EVEN:
        return nearbyint(x);
    case TDL_EXP:
        return exp(x);
    case TDL_LOG:
        return log(x);
    case TDL_NEG:
        return -x;
    case TDL_SQRT:
        return sqrt(x);
    case TDL_RECIPROCAL:
        return 1 / x;
    case TDL_ERF:
        return erf(x);
    case TDL_SIN:
        return sin(x);
    case TDL_COS:
        return cos(x);
    case TDL_TAN:
        return tan(x);
    case TDL_SIGN:
        return isnan(x) ? x : (x > 0) - (x < 0);
    case TDL_DIV_BY:
        return x / a;
    case TDL_DIV_OF:
        return a / x;
    case TDL_POW_BY:
        return pow(x, a);
    case TDL_POW_OF:
        return pow(a, x);
    case TDL_SWISH:
        return x / (1 + exp(-a * x));
    default:
        return x;
    }
}

static double binary(enum tdl_function f, double x, double y)
{
    switch (f) {
    case TDL_ADD:
        return x + y;
    case TDL_SUB:
        return x - y;
    case TDL_MUL:
        return x * y;
    case TDL_DIV:
        return x / y;
    case TDL_MAX_OF:
        return isnan(x) || x > y ? x : y;
    case TDL_MIN_OF:
        return isnan(x) || x < y ? x : y;
    case TDL_POW:
        return pow(x, y);
    case TDL_PRELU:
        return x < 0 ? x * y : x;
    default:
        return x;
    }
}

static bool truth(enum tdl_function f, double x, double y)
{
    switch (f) {
    case TDL_EQUAL:
        return x == y;
    case TDL_NOT_EQUAL:
        return x != y;
    case TDL_GREATER:
        return x > y;
    case TDL_GREATER_OR_EQUAL:
        return x >= y;
    case TDL_LESSER:
        return x < y;
    case TDL_LESSER_OR_EQUAL:
        return x <= y;
    case TDL_LOGICAL_AND:
        return x != 0 && y != 0;
    case TDL_LOGICAL_OR:
        return x != 0 || y != 0;
    default:
        return (x != 0) != (y != 0);
    }
}

/* ----------------------------------------------------------------- integers */

/* Values of every integer type: what they are, and if that is negative. */
struct integer {
    uint64_t bits;
    bool negative;
};

static bool is_signed(enum tdl_dtype dtype)
{
    return dtype == TDL_INT8 || dtype == TDL_INT32 || dtype == TDL_INT64;
}

static struct integer load(enum tdl_dtype dtype, const void *data, size_t i)
{
    const uint64_t bits = tdl_element_bits(dtype, data, i);
    return (struct integer){bits, is_signed(dtype) && bits >> 63};
}

static bool less(struct integer x, struct integer y)
{
    return x.negative != y.negative ? x.negative : x.bits < y.bits;
}

static uint64_t magnitude(struct integer x)
{
    return x.negative ? 0 - x.bits : x.bits;
}

static uint64_t divide(struct integer x, struct integer y)
{
    if (!y.bits)
        return 0;
    uint64_t q = magnitude(x) / magnitude(y);
    return x.negative != y.negative ? 0 - q : q;
}

static uint64_t raise(struct integer x, struct integer y)
{
    bool minus_one = x.negative && x.bits == UINT64_MAX;
    uint64_t p = 1;
    if (y.negative)
        return x.bits == 1 ? 1 : minus_one ? (y.bits & 1 ? x.bits : 1) : 0;
    /* Period of the low 64 bits: by squaring, as ever. */
    for (uint64_t base = x.bits, left = y.bits; left; left >>= 1, base *= base)
        p *= left & 1 ? base : 1;
    return p;
}

static uint64_t integer_unary(const struct tdl_node *n, enum tdl_function f, enum tdl_dtype dtype,
                              struct integer x)
{
    struct integer least = load(dtype, &n->attr.eltwise.bounds[0], 0);
    struct integer most = load(dtype, &n->attr.eltwise.bounds[1], 0);
    switch (f) {
    case TDL_RELU:
        return x.negative ? 0 : x.bits;
    case TDL_CLAMP:
        x = less(x, least) ? least : x;
        return less(most, x) ? most.bits : x.bits;
    case TDL_ABS:
        return magnitude(x);
    case TDL_NEG:
        return 0 - x.bits;
    case TDL_SIGN:
        return x.negative ? UINT64_MAX : x.bits != 0;
    case TDL_LOGICAL_NOT:
        return !x.bits;
    default:
        return x.bits;
    }
}

static uint64_t integer_binary(enum tdl_function f, struct integer x, struct integer y)
{
    switch (f) {
    case TDL_ADD:
        return x.bits + y.bits;
    case TDL_SUB:
        return x.bits - y.bits;
    case TDL_MUL:
        return x.bits * y.bits;
    case TDL_DIV:
        return divide(x, y);
    case TDL_MAX_OF:
        return less(x, y) ? y.bits : x.bits;
    case TDL_MIN_OF:
        return less(x, y) ? x.bits : y.bits;
    case TDL_POW:
        return raise(x, y);
    case TDL_PRELU:
        return x.negative ? x.bits * y.bits : x.bits;
    case TDL_BITWISE_AND:
        return x.bits & y.bits;
    case TDL_BITWISE_OR:
        return x.bits | y.bits;
    case TDL_BITWISE_XOR:
        return x.bits ^ y.bits;
    default:
        /* Only the order counts: three small numbers have it, too. */
        return truth(f, less(y, x) ? 1 : less(x, y) ? -1 : 0, 0);
    }
}

static uint64_t integer_logic(enum tdl_function f, struct integer x, struct integer y)
{
    return truth(f, x.bits != 0, y.bits != 0);
}

/* -------------------------------------------------------------------- nodes */

/* The bits of one element of the output. */
static uint64_t element(const struct tdl_node *n, enum tdl_function f, const void *const *inputs,
                        const size_t at[3])
{
    const enum tdl_dtype dtype = n->inputs[0]->desc.dtype;
    if (f == TDL_WHERE) {
        bool first = ((const uint8_t *)inputs[2])[at[2]] != 0;
        return load(dtype == TDL_FLOAT32   ? TDL_UINT32
                    : dtype == TDL_FLOAT16 ? TDL_FLOAT16
                                           : dtype,
                    inputs[!first], at[!first])
            .bits;
    }
    if (f == TDL_EXPAND && dtype != TDL_FLOAT32)
        return load(dtype, inputs[0], at[0]).bits;
    if (tdl_is_float(dtype)) {
        double x = (double)tdl_element_get(dtype, inputs[0], at[0]);
        if (f < TDL_ADD || f == TDL_EXPAND)
            return tdl_element_of(
                dtype, unary(f, x, (double)n->attr.eltwise.a, (double)n->attr.eltwise.b));
        double y = (double)tdl_element_get(dtype, inputs[1], at[1]);
        return f < TDL_EQUAL ? tdl_element_of(dtype, binary(f, x, y)) : truth(f, x, y);
    }
    struct integer x = load(dtype, inputs[0], at[0]);
    if (f < TDL_ADD)
        return integer_unary(n, f, dtype, x);
    struct integer y = load(dtype, inputs[1], at[1]);
    return f < TDL_LOGICAL_AND ? integer_binary(f, x, y) : integer_logic(f, x, y);
}

/* How many elements in a row have those of each input in a row, too, or one of it for all: what
 * to go on by in each. */
static size_t find_row(const struct tdl_node *n, size_t step[3])
{
    const struct tdl_tensor_params *out = &n->output->desc;
    size_t row = 1;
    for (uint32_t d = 0; d < out->rank; d++) {
        const uint32_t size = out->shape[out->rank - 1 - d];
        for (uint32_t k = 0; k < n->input_count && size > 1; k++) {
            const struct tdl_tensor_params *in = &n->inputs[k]->desc;
            const size_t own = d < in->rank && in->shape[in->rank - 1 - d] > 1;
            if (row > 1 && own != step[k])
                return row;
            step[k] = own;
        }
        row *= size;
    }
    return row;
}

void tdl_eltwise_reference(const struct tdl_node *n, const void *const *inputs, void *output)
{
    const enum tdl_function f = tdl_function_of(n);
    const struct tdl_tensor_params *out = &n->output->desc;
    size_t step[3] = {0};
    const size_t row = find_row(n, step);
    for (size_t i = 0, count = tdl_operand_count(n->output); i < count; i += row) {
        size_t at[3] = {0};
        for (uint32_t k = 0; k < n->input_count; k++)
            at[k] = tdl_broadcast_index(out, &n->inputs[k]->desc, i);
        for (size_t j = i; j < i + row; j++) {
            tdl_element_set_bits(out->dtype, output, j, element(n, f, inputs, at));
            for (uint32_t k = 0; k < n->input_count; k++)
                at[k] += step[k];
        }
    }
}
