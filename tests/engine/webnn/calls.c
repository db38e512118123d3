/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Calls of WebNN's graph builder as calls of libtdl's: what a user agent on libtdl would do,
 * with the defaults of the specification, and the few shapes and orders that libtdl takes
 * otherwise.
 */
#include "calls.h"

#include <math.h>
#include <shape.h>

O at_operand(const struct at *a, const char *key)
{
    return call_operand(a->c, a->call, key, 0);
}

double at_number(const struct at *a, const char *key, double otherwise)
{
    return call_number(a->call, key, 0, otherwise);
}

uint32_t at_natural(const struct at *a, const char *key, uint32_t i, uint32_t otherwise)
{
    return (uint32_t)call_number(a->call, key, i, otherwise);
}

int32_t at_length(const struct at *a, const char *key)
{
    const struct argument *argument = call_argument(a->call, key);
    return argument ? (int32_t)argument->count : -1;
}

void at_naturals(const struct at *a, const char *key, uint32_t *out, uint32_t count,
                 uint32_t otherwise)
{
    for (uint32_t i = 0; i < count; i++)
        out[i] = at_natural(a, key, i, otherwise);
}

uint32_t rank_of(O x)
{
    return x ? tdl_operand_get_desc(x)->rank : 0;
}

enum tdl_dtype dtype_named(const char *name)
{
    enum tdl_dtype dtype = TDL_FLOAT32;
    while (dtype < TDL_UINT64 && strcmp(tdl_dtype_name(dtype), name))
        dtype++;
    return dtype;
}

void at_result(const struct at *a, uint32_t i, O o)
{
    const struct argument *names = call_argument(a->call, "outputs");
    struct value *v;
    REQUIRE(names && i < names->count, "%s: no name for a result", a->c->name);
    v = case_value(a->c, names->names[i]);
    if (!v) {
        v = &a->c->values[a->c->value_count++];
        REQUIRE(a->c->value_count <= MOST_TENSORS, "%s: more values", a->c->name);
        *v = (struct value){.role = INNER};
        memcpy(v->name, names->names[i], NAME);
    }
    v->operand = o;
}

O with_one(const struct at *a, O x)
{
    uint32_t shape[TDL_MAX_RANK] = {1}, rank = rank_of(x);
    for (uint32_t i = 0; i < rank; i++)
        shape[i] = tdl_operand_get_desc(x)->shape[i];
    if (rank == TDL_MAX_RANK)
        return tdl_builder_fail(a->b, TDL_ERROR_UNSUPPORTED, "no rank is left");
    shape[rank] = 1;
    return x ? tdl_builder_reshape(a->b, x, rank + 1, shape) : NULL;
}

/* ------------------------------------------------------- functions of elements */

static const struct {
    const char *name;
    O (*build)(struct tdl_builder *b, O x);
} unary[] = {
    {"abs", tdl_builder_abs},
    {"ceil", tdl_builder_ceil},
    {"cos", tdl_builder_cos},
    {"erf", tdl_builder_erf},
    {"exp", tdl_builder_exp},
    {"floor", tdl_builder_floor},
    {"gelu", tdl_builder_gelu},
    {"hardSwish", tdl_builder_hard_swish},
    {"identity", tdl_builder_identity},
    {"isInfinite", tdl_builder_is_infinite},
    {"isNaN", tdl_builder_is_nan},
    {"log", tdl_builder_log},
    {"logicalNot", tdl_builder_logical_not},
    {"neg", tdl_builder_neg},
    {"reciprocal", tdl_builder_reciprocal},
    {"relu", tdl_builder_relu},
    {"roundEven", tdl_builder_round_even},
    {"sigmoid", tdl_builder_sigmoid},
    {"sign", tdl_builder_sign},
    {"sin", tdl_builder_sin},
    {"softplus", tdl_builder_softplus},
    {"softsign", tdl_builder_softsign},
    {"sqrt", tdl_builder_sqrt},
    {"tan", tdl_builder_tan},
    {"tanh", tdl_builder_tanh},
};

static const struct {
    const char *name;
    O (*build)(struct tdl_builder *b, O x, O y);
} binary[] = {
    {"add", tdl_builder_add},
    {"div", tdl_builder_div},
    {"equal", tdl_builder_equal},
    {"greater", tdl_builder_greater},
    {"greaterOrEqual", tdl_builder_greater_or_equal},
    {"lesser", tdl_builder_lesser},
    {"lesserOrEqual", tdl_builder_lesser_or_equal},
    {"logicalAnd", tdl_builder_logical_and},
    {"logicalOr", tdl_builder_logical_or},
    {"logicalXor", tdl_builder_logical_xor},
    {"matmul", tdl_builder_matmul},
    {"max", tdl_builder_max},
    {"min", tdl_builder_min},
    {"mul", tdl_builder_mul},
    {"notEqual", tdl_builder_not_equal},
    {"pow", tdl_builder_pow},
    {"sub", tdl_builder_sub},
};

static void store(enum tdl_dtype dtype, double value, void *to)
{
    const float f = (float)value;
    const uint16_t half = tdl_float_to_half(f);
    const int64_t i = value >= 0x1p63 ? INT64_MAX : (int64_t)value;
    const uint64_t u = value >= 0x1p63 ? (uint64_t)value : (uint64_t)i;
    if (dtype == TDL_FLOAT32)
        memcpy(to, &f, sizeof(f));
    else if (dtype == TDL_FLOAT16)
        memcpy(to, &half, sizeof(half));
    else /* the low bytes, on the little-endian machines that there are */
        memcpy(to, dtype == TDL_UINT64 ? (const void *)&u : &i, tdl_dtype_size(dtype));
}

static O clamp(const struct at *a)
{
    const O x = at_operand(a, "input");
    uint64_t least = 0, most = 0;
    const bool has_least = !isnan(at_number(a, "minValue", NAN)),
               has_most = !isnan(at_number(a, "maxValue", NAN));
    if (!x)
        return NULL;
    store(tdl_operand_get_desc(x)->dtype, has_least ? at_number(a, "minValue", 0) : 0, &least);
    store(tdl_operand_get_desc(x)->dtype, has_most ? at_number(a, "maxValue", 0) : 0, &most);
    return tdl_builder_clamp(a->b, x, has_least ? &least : NULL, has_most ? &most : NULL);
}

static O elu(const struct at *a)
{
    return tdl_builder_elu(a->b, at_operand(a, "input"), (float)at_number(a, "alpha", 1));
}

static O hard_sigmoid(const struct at *a)
{
    return tdl_builder_hard_sigmoid(a->b, at_operand(a, "input"), (float)at_number(a, "alpha", 0.2),
                                    (float)at_number(a, "beta", 0.5));
}

static O leaky_relu(const struct at *a)
{
    return tdl_builder_leaky_relu(a->b, at_operand(a, "input"), (float)at_number(a, "alpha", 0.01));
}

static O linear(const struct at *a)
{
    return tdl_builder_linear(a->b, at_operand(a, "input"), (float)at_number(a, "alpha", 1),
                              (float)at_number(a, "beta", 0));
}

static O prelu(const struct at *a)
{
    return tdl_builder_prelu(a->b, at_operand(a, "input"), at_operand(a, "slope"));
}

static O where(const struct at *a)
{
    return tdl_builder_where(a->b, at_operand(a, "condition"), at_operand(a, "trueValue"),
                             at_operand(a, "falseValue"));
}

static O cast(const struct at *a)
{
    return tdl_builder_cast(a->b, at_operand(a, "input"),
                            dtype_named(call_argument(a->call, "dataType")->text));
}

static O quantize(const struct at *a)
{
    return tdl_builder_quantize_linear(a->b, at_operand(a, "input"), at_operand(a, "scale"),
                                       at_operand(a, "zeroPoint"));
}

static O dequantize(const struct at *a)
{
    return tdl_builder_dequantize_linear(a->b, at_operand(a, "input"), at_operand(a, "scale"),
                                         at_operand(a, "zeroPoint"));
}

/* ------------------------------------------------------------------ all of them */

static const struct webnn_row others[] = {
    {"cast", cast, NULL},
    {"clamp", clamp, NULL},
    {"dequantizeLinear", dequantize, NULL},
    {"elu", elu, NULL},
    {"hardSigmoid", hard_sigmoid, NULL},
    {"leakyRelu", leaky_relu, NULL},
    {"linear", linear, NULL},
    {"prelu", prelu, NULL},
    {"quantizeLinear", quantize, NULL},
    {"where", where, NULL},
    {NULL, NULL, NULL},
};

static bool build_of(const struct at *a, const struct webnn_row *row)
{
    for (; row->name; row++)
        if (!strcmp(a->call->name, row->name)) {
            if (row->build_all)
                row->build_all(a);
            else
                at_result(a, 0, row->build(a));
            return true;
        }
    return false;
}

bool call_build(struct tdl_builder *b, struct webnn_case *c, const struct call *call)
{
    const struct at a = {b, c, call};
    for (size_t i = 0; i < COUNT(unary); i++)
        if (!strcmp(call->name, unary[i].name)) {
            at_result(&a, 0,
                      unary[i].build(b, at_operand(&a, call_argument(call, "a") ? "a" : "input")));
            return true;
        }
    for (size_t i = 0; i < COUNT(binary); i++)
        if (!strcmp(call->name, binary[i].name)) {
            at_result(&a, 0, binary[i].build(b, at_operand(&a, "a"), at_operand(&a, "b")));
            return true;
        }
    return build_of(&a, others) || build_of(&a, webnn_images) || build_of(&a, webnn_tensors);
}
