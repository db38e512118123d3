/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* add, mul and the activations: one shape of work, one kernel. */
#include "../graph/builder.h"
#include "ops.h"

#include <string.h>

enum operation { COPY = 0, ADD, MUL };

static enum operation operation_of(const struct tdl_node *n)
{
    return n->op == &tdl_op_add ? ADD : n->op == &tdl_op_mul ? MUL : COPY;
}

static enum tdl_result infer(const struct tdl_node *n, struct tdl_tensor_params *out)
{
    const struct tdl_operand *a = n->inputs[0], *b = n->inputs[n->input_count - 1];
    bool is_float = a->desc.dtype == TDL_FLOAT32 || a->desc.dtype == TDL_FLOAT16;
    if (a->desc.dtype != b->desc.dtype || !tdl_broadcast_shapes(&a->desc, &b->desc, out))
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT,
                        "%s: %s and %s do not broadcast (one data type; images of one layout)",
                        n->op->name, tdl_operand_text(a), tdl_operand_text(b));
    if (n->op == &tdl_op_activation && !is_float)
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT, "activation: %s is not float32 or float16",
                        tdl_operand_text(a));
    return TDL_OK;
}

static float combine_float(const struct tdl_node *n, float x, float y)
{
    float v = n->op == &tdl_op_add ? x + y : n->op == &tdl_op_mul ? x * y : x;
    return tdl_activate(n->attr.eltwise.activation, v);
}

/* Sums and products of integers wrap: the low bits do not depend on the sign. */
static uint64_t combine_integer(const struct tdl_node *n, uint64_t x, uint64_t y)
{
    return n->op == &tdl_op_add ? x + y : n->op == &tdl_op_mul ? x * y : x;
}

static uint64_t integer_at(const void *data, size_t size, size_t i)
{
    uint64_t v = 0;
    memcpy(&v, (const uint8_t *)data + i * size, size); /* little-endian */
    return v;
}

static void reference(const struct tdl_node *n, const void *const *inputs, void *output)
{
    const struct tdl_tensor_params *out = &n->output->desc, *da = &n->inputs[0]->desc;
    const struct tdl_tensor_params *db = &n->inputs[n->input_count - 1]->desc;
    const void *a = inputs[0], *b = inputs[n->input_count - 1];
    size_t size = tdl_dtype_size(out->dtype), count = tdl_operand_count(n->output);
    for (size_t i = 0; i < count; i++) {
        size_t x = tdl_broadcast_index(out, da, i), y = tdl_broadcast_index(out, db, i);
        if (out->dtype == TDL_FLOAT32) {
            ((float *)output)[i] = combine_float(n, ((const float *)a)[x], ((const float *)b)[y]);
        } else if (out->dtype == TDL_FLOAT16) {
            ((uint16_t *)output)[i] = tdl_float_to_half(
                combine_float(n, tdl_half_to_float(((const uint16_t *)a)[x]),
                              tdl_half_to_float(((const uint16_t *)b)[y])));
        } else {
            uint64_t v = combine_integer(n, integer_at(a, size, x), integer_at(b, size, y));
            memcpy((uint8_t *)output + i * size, &v, size);
        }
    }
}

/* The bits of shaders/eltwise.comp's BROADCAST. */
static uint32_t broadcast_mask(struct tdl_dims in, struct tdl_dims out)
{
    return (in.n < out.n ? 1u : 0) | (in.c < out.c ? 2u : 0) | (in.h < out.h ? 4u : 0) |
           (in.w < out.w ? 8u : 0);
}

static enum tdl_result lower_packed(struct tdl_plan *plan, struct tdl_node *n)
{
    struct tdl_dims out = tdl_operand_dims(n->output);
    struct tdl_operand *b = n->inputs[n->input_count - 1];
    uint32_t packs = tdl_packs(out.c), local = 64;
    struct tdl_plan_step *s = tdl_plan_add_step(plan, "eltwise", n, local, 1, 1);
    const uint32_t values[] = {operation_of(n),
                               n->attr.eltwise.activation,
                               packs,
                               out.h,
                               out.w,
                               broadcast_mask(tdl_operand_dims(n->inputs[0]), out),
                               broadcast_mask(tdl_operand_dims(b), out),
                               out.c - (packs - 1) * 4};
    for (size_t i = 0; i < TDL_COUNT(values); i++)
        tdl_plan_spec(s, values[i]);
    tdl_plan_read(s, 0, n->inputs[0]);
    if (operation_of(n) != COPY)
        tdl_plan_read(s, 1, b);
    tdl_plan_write(s, 2, n->output);
    tdl_plan_groups(s, TDL_DIV_UP(out.h * out.w, local), packs, out.n);
    return plan->status;
}

static enum tdl_result lower_linear(struct tdl_plan *plan, struct tdl_node *n)
{
    struct tdl_operand *a = n->inputs[0], *b = n->inputs[n->input_count - 1];
    enum tdl_dtype dtype = n->output->desc.dtype;
    struct tdl_plan_step *s = tdl_plan_add_linear_step(plan, "eltwise_linear", dtype, n, 64, 1, 1);
    struct tdl_broadcast shape;
    tdl_broadcast_resolve(&n->output->desc,
                          (const struct tdl_tensor_params *[]){&a->desc, &b->desc}, 2, &shape);
    const uint32_t values[] = {operation_of(n), n->attr.eltwise.activation, dtype,
                               (uint32_t)tdl_operand_count(n->output), shape.rank};
    for (size_t i = 0; i < TDL_COUNT(values); i++)
        tdl_plan_spec(s, values[i]);
    for (size_t i = 0; i + 1 < TDL_MAX_RANK; i++)
        tdl_plan_spec(s, shape.size[i]);
    for (size_t k = 0; k < 2; k++)
        for (size_t i = 0; i < TDL_MAX_RANK; i++)
            tdl_plan_spec(s, shape.stride[k][i]);
    tdl_plan_read(s, 0, a);
    if (operation_of(n) != COPY)
        tdl_plan_read(s, 1, b);
    tdl_plan_write(s, 2, n->output);
    tdl_plan_linear_groups(s, n->output);
    return plan->status;
}

static enum tdl_result lower(struct tdl_plan *plan, struct tdl_node *n)
{
    return n->storage == TDL_STORAGE_PACKED ? lower_packed(plan, n) : lower_linear(plan, n);
}

#define ELTWISE(text)                                                                              \
    {.name = text,                                                                                 \
     .infer = infer,                                                                               \
     .lower = lower,                                                                               \
     .storage = TDL_STORAGE_EITHER,                                                                \
     .reference_linear = reference}
const struct tdl_op tdl_op_add = ELTWISE("add");
const struct tdl_op tdl_op_mul = ELTWISE("mul");
const struct tdl_op tdl_op_activation = ELTWISE("activation");

struct tdl_operand *tdl_builder_add(struct tdl_builder *b, struct tdl_operand *x,
                                    struct tdl_operand *y)
{
    union tdl_attr attr = {.eltwise.activation = TDL_ACTIVATION_NONE};
    return tdl_builder_add_node(b, &tdl_op_add, &attr, (struct tdl_operand *[]){x, y}, 2, 2);
}

struct tdl_operand *tdl_builder_mul(struct tdl_builder *b, struct tdl_operand *x,
                                    struct tdl_operand *y)
{
    union tdl_attr attr = {.eltwise.activation = TDL_ACTIVATION_NONE};
    return tdl_builder_add_node(b, &tdl_op_mul, &attr, (struct tdl_operand *[]){x, y}, 2, 2);
}

struct tdl_operand *tdl_builder_activation(struct tdl_builder *b, struct tdl_operand *input,
                                           enum tdl_activation activation)
{
    union tdl_attr attr = {.eltwise.activation = activation};
    if (activation == TDL_ACTIVATION_NONE)
        return input;
    if (!tdl_builder_known(b, &tdl_op_activation, "activation", activation, TDL_ACTIVATION_TANH))
        return NULL;
    return tdl_builder_add_node(b, &tdl_op_activation, &attr, &input, 1, 1);
}
