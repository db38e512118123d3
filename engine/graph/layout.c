/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * layout: inside the graph everything is in packs of four channels. What is
 * bound at dispatch keeps its own storage, and a convert node stands between,
 * unless the neighbour reads or writes that storage itself.
 */
#include "../ops/ops.h"

#include <stdio.h>
#include <string.h>

static enum tdl_result add_convert(struct tdl_ir *ir, struct tdl_operand *from,
                                   struct tdl_operand *to)
{
    struct tdl_node *n = tdl_ir_add_node(ir, &tdl_op_convert);
    if (!n)
        return tdl_fail(TDL_ERROR_OUT_OF_MEMORY, "out of memory in the layout pass");
    n->inputs[0] = from;
    n->input_count = 1;
    n->output = to;
    to->producer = n;
    snprintf(n->label, sizeof(n->label), "convert %s",
             from->kind == TDL_OPERAND_CONSTANT ? "constant"
             : from->external                   ? from->name
                                                : to->name);
    return TDL_OK;
}

static struct tdl_operand *add_value(struct tdl_ir *ir, const struct tdl_operand *like)
{
    struct tdl_operand *o = tdl_ir_add_operand(ir, TDL_OPERAND_VALUE, &like->desc);
    if (!o)
        tdl_fail(TDL_ERROR_OUT_OF_MEMORY, "out of memory in the layout pass");
    return o;
}

static enum tdl_result place_input(struct tdl_ir *ir, struct tdl_operand *input,
                                   const struct tdl_build_params *params, enum tdl_dtype storage)
{
    input->external = true;
    if (params->input_layout == TDL_LAYOUT_NC4HW4 && input->desc.rank == 4) {
        /* Given in packs: shape as NHWC, whatever the model's order was. */
        struct tdl_dims d = tdl_operand_dims(input);
        input->desc.layout = TDL_LAYOUT_NHWC;
        input->desc = tdl_desc_like(input, d);
        input->desc.layout = TDL_LAYOUT_NC4HW4;
        if (storage == TDL_FLOAT32)
            return TDL_OK; /* the very bytes that the kernels read */
    }
    struct tdl_operand *inside = add_value(ir, input);
    if (!inside)
        return TDL_ERROR_OUT_OF_MEMORY;
    tdl_ir_replace(ir, input, inside);
    return add_convert(ir, input, inside);
}

/* Constants that an operator reads like a value. */
static enum tdl_result place_constants(struct tdl_ir *ir, struct tdl_node *n)
{
    for (uint32_t i = 0; i < n->input_count; i++) {
        struct tdl_operand *o = n->inputs[i];
        if (!o || o->kind != TDL_OPERAND_CONSTANT || n->op->weight_slots & 1u << i)
            continue;
        if (o->desc.dtype != TDL_FLOAT32)
            return tdl_fail(TDL_ERROR_UNSUPPORTED, "%s: the constant %s is not float32", n->label,
                            tdl_operand_text(o));
        n->inputs[i] = add_value(ir, o);
        if (!n->inputs[i] || add_convert(ir, o, n->inputs[i]) != TDL_OK)
            return TDL_ERROR_OUT_OF_MEMORY;
    }
    return TDL_OK;
}

static enum tdl_result place_output(struct tdl_ir *ir, struct tdl_operand *output)
{
    output->external = true;
    if (tdl_ir_use_count(ir, output) == 1 && tdl_conv_transpose2d_writes_linear(output->producer))
        return TDL_OK;
    struct tdl_operand *inside = add_value(ir, output);
    if (!inside)
        return TDL_ERROR_OUT_OF_MEMORY;
    inside->producer = output->producer;
    inside->producer->output = inside;
    tdl_ir_replace(ir, output, inside);
    return add_convert(ir, inside, output);
}

/* Kernels count with 32 bits, and no device's buffers are larger. */
static enum tdl_result find_size(struct tdl_operand *o, enum tdl_dtype storage)
{
    struct tdl_dims d = tdl_operand_dims(o);
    const uint64_t factors[] = {d.n, ((uint64_t)d.c + 3) / 4, d.h, d.w, tdl_dtype_size(storage)};
    uint64_t packed = 4;
    bool fits = true;
    for (size_t i = 0; i < TDL_COUNT(factors) && fits; i++)
        fits = !__builtin_mul_overflow(packed, factors[i], &packed);
    o->size = o->external ? tdl_tensor_params_size(&o->desc) : packed;
    if (!fits || packed > UINT32_MAX || o->size > UINT32_MAX)
        return tdl_fail(TDL_ERROR_UNSUPPORTED, "%s: a value of %s is more than 4 GiB",
                        o->producer ? o->producer->label : o->name, tdl_operand_text(o));
    return TDL_OK;
}

enum tdl_result tdl_pass_layout(struct tdl_ir *ir, const struct tdl_build_params *params,
                                enum tdl_dtype storage)
{
    enum tdl_result r;
    for (uint32_t i = 0, count = ir->node_count; i < count; i++)
        TRY(place_constants(ir, ir->nodes[i]));
    for (uint32_t i = 0; i < ir->input_count; i++) {
        ir->inputs[i]->binding = (int32_t)i;
        TRY(place_input(ir, ir->inputs[i], params, storage));
    }
    for (uint32_t i = 0; i < ir->output_count; i++) {
        ir->outputs[i]->binding = (int32_t)(ir->input_count + i);
        TRY(place_output(ir, ir->outputs[i]));
    }
    TRY(tdl_ir_sort(ir));
    for (uint32_t i = 0; i < ir->node_count; i++) {
        struct tdl_node *n = ir->nodes[i];
        for (uint32_t j = 0; j < n->input_count; j++)
            if (n->inputs[j] && n->inputs[j]->kind != TDL_OPERAND_CONSTANT)
                TRY(find_size(n->inputs[j], storage));
        TRY(find_size(n->output, storage));
    }
    tdl_ir_dump(ir, "layout");
fail:
    return r;
}
