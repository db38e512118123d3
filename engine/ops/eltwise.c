/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* add, mul and the activations: one shape of work, one kernel. */
#include "../graph/builder.h"
#include "ops.h"

enum operation { COPY = 0, ADD, MUL };

static enum operation operation_of(const struct tdl_node *n)
{
    return n->op == &tdl_op_add ? ADD : n->op == &tdl_op_mul ? MUL : COPY;
}

static bool broadcast(uint32_t a, uint32_t b, uint32_t *out)
{
    *out = TDL_MAX(a, b);
    return a == b || a == 1 || b == 1;
}

static enum tdl_result infer(const struct tdl_node *n, struct tdl_tensor_params *out)
{
    const struct tdl_operand *a = n->inputs[0], *b = n->inputs[n->input_count - 1];
    struct tdl_dims da = tdl_operand_dims(a), db = tdl_operand_dims(b), d;
    if (a->desc.rank != 4 || b->desc.rank != 4 || a->desc.layout != b->desc.layout ||
        a->desc.dtype != TDL_FLOAT32 || b->desc.dtype != TDL_FLOAT32 ||
        !broadcast(da.n, db.n, &d.n) || !broadcast(da.h, db.h, &d.h) ||
        !broadcast(da.w, db.w, &d.w) || !broadcast(da.c, db.c, &d.c))
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT,
                        "%s: %s and %s do not broadcast (float32, rank 4, one layout)", n->op->name,
                        tdl_operand_text(a), tdl_operand_text(b));
    *out = tdl_desc_like(a, d);
    return TDL_OK;
}

static float value_at(const float *data, struct tdl_dims d, uint32_t b, uint32_t y, uint32_t x,
                      uint32_t c)
{
    b = d.n == 1 ? 0 : b;
    y = d.h == 1 ? 0 : y;
    x = d.w == 1 ? 0 : x;
    c = d.c == 1 ? 0 : c;
    return data[(((size_t)b * d.h + y) * d.w + x) * d.c + c];
}

static void reference(const struct tdl_node *n, const float *const *inputs, float *output)
{
    struct tdl_dims out = tdl_operand_dims(n->output), a = tdl_operand_dims(n->inputs[0]);
    struct tdl_dims b = tdl_operand_dims(n->inputs[n->input_count - 1]);
    for (uint32_t i = 0; i < out.n; i++)
        for (uint32_t y = 0; y < out.h; y++)
            for (uint32_t x = 0; x < out.w; x++)
                for (uint32_t c = 0; c < out.c; c++) {
                    float v = value_at(inputs[0], a, i, y, x, c);
                    if (n->op == &tdl_op_add)
                        v += value_at(inputs[1], b, i, y, x, c);
                    if (n->op == &tdl_op_mul)
                        v *= value_at(inputs[1], b, i, y, x, c);
                    *output++ = tdl_activate(n->attr.eltwise.activation, v);
                }
}

/* The bits of shaders/eltwise.comp's BROADCAST. */
static uint32_t broadcast_mask(struct tdl_dims in, struct tdl_dims out)
{
    return (in.n < out.n ? 1u : 0) | (in.c < out.c ? 2u : 0) | (in.h < out.h ? 4u : 0) |
           (in.w < out.w ? 8u : 0);
}

static enum tdl_result lower(struct tdl_plan *plan, struct tdl_node *n)
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

const struct tdl_op tdl_op_add = {
    .name = "add", .infer = infer, .lower = lower, .reference = reference};
const struct tdl_op tdl_op_mul = {
    .name = "mul", .infer = infer, .lower = lower, .reference = reference};
const struct tdl_op tdl_op_activation = {
    .name = "activation", .infer = infer, .lower = lower, .reference = reference};

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
