/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Element-wise operators: functions of one value, of two that broadcast, of
 * three. One row each; on packs and on linear memory one kernel does all.
 */
#include "ops.h"

#include <stdio.h>
#include <string.h>

#define BIT(dtype) (1u << (dtype))
#define FLOATS (BIT(TDL_FLOAT32) | BIT(TDL_FLOAT16))
#define SIGNED (FLOATS | BIT(TDL_INT32) | BIT(TDL_INT8) | BIT(TDL_INT64))
#define UNSIGNED (BIT(TDL_UINT32) | BIT(TDL_UINT8) | BIT(TDL_UINT64))
#define ANY (SIGNED | UNSIGNED)
#define LOGICAL BIT(TDL_UINT8)

/* The data types that each row of the table at the end takes. */
static uint32_t dtypes_of(enum tdl_function f)
{
    switch (f) {
    case TDL_RELU:
    case TDL_ABS:
    case TDL_NEG:
    case TDL_SIGN:
    case TDL_PRELU:
        return SIGNED;
    case TDL_IDENTITY:
    case TDL_CLAMP:
        return ANY;
    case TDL_BITWISE_AND:
    case TDL_BITWISE_OR:
    case TDL_BITWISE_XOR:
        return ANY & ~FLOATS;
    case TDL_LOGICAL_NOT:
    case TDL_LOGICAL_AND:
    case TDL_LOGICAL_OR:
    case TDL_LOGICAL_XOR:
        return LOGICAL;
    default:
        return f < TDL_ADD ? FLOATS : ANY;
    }
}

const char *tdl_function_name(enum tdl_function function)
{
    static const char *const constants[] = {"div", "div", "pow", "pow"};
    return function >= TDL_DIV_BY && function <= TDL_POW_OF ? constants[function - TDL_DIV_BY]
                                                            : tdl_op_eltwise[function].name;
}

enum tdl_function tdl_function_of(const struct tdl_node *n)
{
    for (int i = 0; i < TDL_FUNCTIONS; i++)
        if (n->op == &tdl_op_eltwise[i])
            return (enum tdl_function)i;
    return TDL_FUNCTIONS;
}

static bool is_truth(enum tdl_function f)
{
    return f >= TDL_EQUAL && f <= TDL_LOGICAL_XOR;
}

/* ------------------------------------------------------------------- infer */

static enum tdl_result refuse_dtype(enum tdl_function f, const struct tdl_operand *o)
{
    char list[128] = "";
    size_t used = 0;
    for (unsigned i = 0; i <= TDL_UINT64; i++)
        if (dtypes_of(f) & BIT(i))
            used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%s", used ? ", " : "",
                                     tdl_dtype_name((enum tdl_dtype)i));
    return tdl_fail(TDL_ERROR_INVALID_ARGUMENT, "%s: %s is of a data type it does not take (%s)",
                    tdl_function_name(f), tdl_operand_text(o), list);
}

static enum tdl_result infer(const struct tdl_node *n, struct tdl_tensor_params *out)
{
    const enum tdl_function f = tdl_function_of(n);
    const struct tdl_operand *a = n->inputs[0], *b = n->inputs[n->input_count > 1];
    if (!(dtypes_of(f) & BIT(a->desc.dtype)))
        return refuse_dtype(f, a);
    if (a->desc.dtype != b->desc.dtype)
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT,
                        "%s: %s and %s are of two data types: tdl_builder_cast() makes them one",
                        tdl_function_name(f), tdl_operand_text(a), tdl_operand_text(b));
    if (!tdl_broadcast_shapes(&a->desc, &b->desc, out))
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT, "%s: %s and %s do not broadcast",
                        tdl_function_name(f), tdl_operand_text(a), tdl_operand_text(b));
    if (f == TDL_EXPAND) {
        struct tdl_tensor_params to = a->desc;
        to.rank = n->attr.shape.rank;
        memcpy(to.shape, n->attr.shape.size, sizeof(to.shape));
        if (!tdl_broadcast_shapes(&a->desc, &to, out) || out->rank != to.rank ||
            memcmp(out->shape, to.shape, to.rank * sizeof(to.shape[0])) != 0) {
            char text[96];
            return tdl_fail(TDL_ERROR_INVALID_ARGUMENT, "expand: %s does not broadcast to %s",
                            tdl_operand_text(a), tdl_tensor_params_text(&to, text, sizeof(text)));
        }
    }
    if (f == TDL_WHERE) {
        const struct tdl_operand *c = n->inputs[2];
        struct tdl_tensor_params both = *out;
        if (c->desc.dtype != TDL_UINT8)
            return tdl_fail(TDL_ERROR_INVALID_ARGUMENT, "where: the condition %s is not uint8",
                            tdl_operand_text(c));
        if (!tdl_broadcast_shapes(&both, &c->desc, out))
            return tdl_fail(TDL_ERROR_INVALID_ARGUMENT,
                            "where: the condition %s and %s, %s do not broadcast",
                            tdl_operand_text(c), tdl_operand_text(a), tdl_operand_text(b));
    }
    if (is_truth(f))
        out->dtype = TDL_UINT8;
    return TDL_OK;
}

/* ------------------------------------------------------------------- lower */

/* Work of a kernel after FUNCTION: functions of one value are stages. */
static enum tdl_activation prepare_chain(const struct tdl_node *n, struct tdl_chain *chain)
{
    const enum tdl_function f = tdl_function_of(n);
    memset(chain, 0, sizeof(*chain));
    if (f < TDL_ADD && f != TDL_IDENTITY)
        chain->stages[chain->count++] =
            (struct tdl_chain_stage){f, n->attr.eltwise.a, n->attr.eltwise.b};
    for (uint32_t i = 0; i < n->chain.count; i++)
        chain->stages[chain->count++] = n->chain.stages[i];
    return chain->count ? TDL_ACTIVATION_CHAIN : TDL_ACTIVATION_NONE;
}

/* The bits of shaders/eltwise.comp's BROADCAST. */
static uint32_t broadcast_mask(struct tdl_dims in, struct tdl_dims out)
{
    return (in.n < out.n ? 1u : 0) | (in.c < out.c ? 2u : 0) | (in.h < out.h ? 4u : 0) |
           (in.w < out.w ? 8u : 0);
}

static enum tdl_result lower_packed(struct tdl_plan *plan, struct tdl_node *n)
{
    const enum tdl_function f = tdl_function_of(n);
    struct tdl_dims out = tdl_operand_dims(n->output);
    struct tdl_chain chain;
    enum tdl_activation activation = prepare_chain(n, &chain);
    uint32_t packs = tdl_packs(out.c), local = 64;
    struct tdl_plan_step *s = tdl_plan_add_step(plan, "eltwise", n, local, 1, 1);
    const bool two = f >= TDL_ADD && f != TDL_EXPAND;
    struct tdl_operand *b = n->inputs[two];
    const struct tdl_eltwise_spec spec =
        tdl_eltwise_spec(.function = two ? f : TDL_IDENTITY, .activation = activation,
                         .packs = packs, .height = out.h, .width = out.w,
                         .broadcast_a = broadcast_mask(tdl_operand_dims(n->inputs[0]), out),
                         .broadcast_b = broadcast_mask(tdl_operand_dims(b), out),
                         .last_channels = tdl_last_channels(out.c));
    TDL_PLAN_SPECS(s, eltwise, spec);
    tdl_plan_chain(s, &chain);
    tdl_plan_read(s, 0, n->inputs[0]);
    if (two)
        tdl_plan_read(s, 1, b);
    tdl_plan_write(s, 2, n->output);
    for (uint32_t i = TDL_STAGE_OPERAND; i < n->input_count; i++)
        tdl_plan_read(s, 1 + i, n->inputs[i]);
    tdl_plan_groups(s, TDL_DIV_UP(out.h * out.w, local), packs, out.n);
    return plan->status;
}

static enum tdl_result lower_linear(struct tdl_plan *plan, struct tdl_node *n)
{
    const enum tdl_function f = tdl_function_of(n);
    const enum tdl_dtype dtype = n->inputs[0]->desc.dtype;
    const struct tdl_tensor_params *descs[TDL_MAX_BROADCAST];
    struct tdl_plan_step *s = tdl_plan_add_linear_step(plan, "eltwise_linear", dtype, n, 64, 1, 1);
    struct tdl_broadcast shape;
    struct tdl_chain chain;
    enum tdl_activation activation = prepare_chain(n, &chain);
    for (uint32_t i = 0; i < n->input_count; i++)
        descs[i] = &n->inputs[i]->desc;
    tdl_broadcast_resolve(&n->output->desc, descs, n->input_count, &shape);
    const uint64_t *bounds = n->attr.eltwise.bounds;
    struct tdl_eltwise_linear_spec spec =
        tdl_eltwise_linear_spec(.function = f == TDL_EXPAND ? TDL_IDENTITY : f,
                                .activation = activation, .type = dtype,
                                .count = (uint32_t)tdl_operand_count(n->output), .rank = shape.rank,
                                .size = {0}, .a = {0}, .b = {0}, .c = {0},
                                .least_low = (uint32_t)bounds[0],
                                .least_high = (uint32_t)(bounds[0] >> 32),
                                .most_low = (uint32_t)bounds[1],
                                .most_high = (uint32_t)(bounds[1] >> 32));
    _Static_assert(TDL_COUNT(spec.a) == TDL_MAX_RANK, "dimensions");
    memcpy(spec.size, shape.size, sizeof(spec.size));
    memcpy(spec.a, shape.stride[0], sizeof(spec.a));
    memcpy(spec.b, shape.stride[1], sizeof(spec.b));
    memcpy(spec.c, shape.stride[2], sizeof(spec.c));
    TDL_PLAN_SPECS(s, eltwise_linear, spec);
    tdl_plan_chain(s, &chain);
    for (uint32_t i = 0; i < n->input_count; i++)
        tdl_plan_read(s, i, n->inputs[i]);
    tdl_plan_write(s, 3, n->output);
    tdl_plan_linear_groups(s, n->output);
    return plan->status;
}

static enum tdl_result lower(struct tdl_plan *plan, struct tdl_node *n)
{
    return n->storage == TDL_STORAGE_PACKED ? lower_packed(plan, n) : lower_linear(plan, n);
}

static bool resize(struct tdl_node *n)
{
    return tdl_function_of(n) != TDL_EXPAND; /* which was told a shape */
}

static bool stack(struct tdl_node *n, uint32_t stacked)
{
    if (tdl_function_of(n) == TDL_EXPAND) {
        if (n->attr.shape.rank != n->inputs[0]->desc.rank || n->attr.shape.size[0] != 1)
            return false;
        n->attr.shape.size[0] = n->inputs[0]->desc.shape[0];
    }
    return tdl_stack_broadcast(n, stacked);
}

static bool renumber(struct tdl_node *n, const uint32_t place[4])
{
    if (tdl_function_of(n) != TDL_EXPAND)
        return n->output->desc.rank == 4;
    if (n->attr.shape.rank != 4)
        return false;
    tdl_renumber_list(n->attr.shape.size, place);
    return true;
}

#define ROW(function, text)                                                                        \
    [function] = {                                                                                 \
        .name = text,                                                                              \
        .infer = infer,                                                                            \
        .resize = resize,                                                                          \
        .stack = stack,                                                                            \
        .lower = lower,                                                                            \
        .storage = TDL_STORAGE_EITHER,                                                             \
        .reference_linear = tdl_eltwise_reference,                                                 \
        .renumber = renumber,                                                                      \
    },
#define ROW_ONE ROW
#define ROW_TWO ROW
#define ROW_OWN ROW
#define ROW_MADE ROW
#define ROW_INNER(function, text)
const struct tdl_op tdl_op_eltwise[TDL_FUNCTIONS] = {
#define TDL_FUNCTION(kind, function, name, text) ROW_##kind(TDL_##function, text)
#include "list.h"
};
