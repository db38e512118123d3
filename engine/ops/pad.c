/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* WebNN pad: constant, edge, reflection (without the border itself). */
#include "move.h"

#include <math.h>

static enum tdl_result infer(const struct tdl_node *n, struct tdl_tensor_params *out)
{
    const struct tdl_pad_params *p = &n->attr.pad;
    const struct tdl_tensor_params *in = &n->inputs[0]->desc;
    *out = *in;
    for (uint32_t i = 0; i < in->rank; i++) {
        uint64_t size = (uint64_t)in->shape[i] + p->before[i] + p->after[i];
        uint32_t most = p->mode == TDL_PAD_REFLECTION ? in->shape[i] - 1 : INT32_MAX;
        if (size > INT32_MAX || p->before[i] > most || p->after[i] > most)
            return tdl_fail(TDL_ERROR_INVALID_ARGUMENT,
                            "pad: %u and %u more elements are too many for dimension %u of %s%s",
                            p->before[i], p->after[i], i, tdl_operand_text(n->inputs[0]),
                            p->mode == TDL_PAD_REFLECTION ? ", which is reflected" : "");
        out->shape[i] = (uint32_t)size;
    }
    return TDL_OK;
}

/* The value as an element, in the lowest bits. */
static uint64_t value_bits(const struct tdl_node *n)
{
    const enum tdl_dtype dtype = n->output->desc.dtype;
    const double value = n->attr.pad.value;
    const uint64_t bits =
        tdl_is_float(dtype) ? tdl_element_of(dtype, value) : tdl_double_to_integer(dtype, value);
    return bits & UINT64_MAX >> (64 - 8 * tdl_dtype_size(dtype));
}

/* The element of the input that is at `at` of a dimension, or −1. */
static int64_t source(const struct tdl_pad_params *p, int64_t at, uint32_t dimension, int64_t size)
{
    int64_t i = at - p->before[dimension];
    if (i >= 0 && i < size)
        return i;
    if (p->mode == TDL_PAD_EDGE)
        return i < 0 ? 0 : size - 1;
    if (p->mode == TDL_PAD_REFLECTION)
        return i < 0 ? -i : 2 * (size - 1) - i;
    return -1;
}

static void reference(const struct tdl_node *n, const void *const *inputs, void *output)
{
    const struct tdl_tensor_params *in = &n->inputs[0]->desc, *out = &n->output->desc;
    for (size_t i = 0, count = tdl_operand_count(n->output); i < count; i++) {
        int64_t at[TDL_MAX_RANK];
        bool inside = true;
        tdl_move_coordinates(out, i, at);
        for (uint32_t d = 0; d < in->rank; d++) {
            at[d] = source(&n->attr.pad, at[d], d, in->shape[d]);
            inside &= at[d] >= 0;
        }
        tdl_element_set_bits(in->dtype, output, i,
                             inside ? tdl_element_bits(in->dtype, inputs[0], tdl_move_index(in, at))
                                    : value_bits(n));
    }
}

static void lower_linear(struct tdl_plan *plan, struct tdl_node *n)
{
    const struct tdl_pad_params *p = &n->attr.pad;
    const uint32_t rank = n->output->desc.rank;
    const uint64_t value = value_bits(n);
    struct tdl_plan_step *s = tdl_move_step(plan, "pad_linear", n);
    struct tdl_pad_linear_spec spec =
        tdl_pad_linear_spec(.move = tdl_move_parts(n), .mode = p->mode, .value = (uint32_t)value,
                            .value_upper = (uint32_t)(value >> 32), .out = {0}, .in = {0},
                            .before = {0});
    _Static_assert(TDL_COUNT(spec.out) == TDL_MAX_RANK, "dimensions");
    for (uint32_t i = 0; i < TDL_MAX_RANK; i++) {
        const bool has = i < rank;
        const uint32_t d = has ? rank - 1 - i : 0;
        spec.out[i] = has ? n->output->desc.shape[d] : 1;
        spec.in[i] = has ? n->inputs[0]->desc.shape[d] : 1;
        spec.before[i] = has ? (int32_t)p->before[d] : 0;
    }
    TDL_PLAN_SPECS(s, pad_linear, spec);
}

static enum tdl_result lower(struct tdl_plan *plan, struct tdl_node *n)
{
    const struct tdl_pad_params *p = &n->attr.pad;
    struct tdl_move m = {.mode = p->mode,
                         .region = tdl_operand_dims(n->output),
                         .step = {1, 1, 1, 1},
                         .value = (float)p->value};
    if (n->storage == TDL_STORAGE_LINEAR) {
        lower_linear(plan, n);
        return plan->status;
    }
    for (uint32_t i = 0; i < 4; i++)
        m.start[tdl_pack_axis(n->output->layout, i)] = -(int32_t)p->before[i];
    tdl_move_packed(plan, n, n->inputs[0], n->output, &m);
    return plan->status;
}

/* In 16 bits, packs have no infinity. */
static bool can_pack(const struct tdl_node *n)
{
    return isfinite((float)n->attr.pad.value);
}

static bool stack(struct tdl_node *n, uint32_t stacked)
{
    return tdl_stack_first(n, stacked) && !n->attr.pad.before[0] && !n->attr.pad.after[0];
}

static bool renumber(struct tdl_node *n, const uint32_t place[4])
{
    tdl_renumber_list(n->attr.pad.before, place);
    tdl_renumber_list(n->attr.pad.after, place);
    return true;
}

const struct tdl_op tdl_op_pad = {
    .name = "pad",
    .infer = infer,
    .resize = tdl_resize_freely,
    .stack = stack,
    .lower = lower,
    .storage = TDL_STORAGE_EITHER,
    .can_pack = can_pack,
    .reference_linear = reference,
    .renumber = renumber,
};

struct tdl_operand *tdl_builder_pad(struct tdl_builder *b, struct tdl_operand *input,
                                    const struct tdl_pad_params *params)
{
    TDL_BUILDER_NEED_KNOWN(b, params);
    union tdl_attr attr = {.pad = params ? *params : (struct tdl_pad_params){0}};
    if (!tdl_builder_known(b, &tdl_op_pad, "mode", attr.pad.mode, TDL_PAD_REFLECTION))
        return NULL;
    return tdl_builder_add_node(b, &tdl_op_pad, &attr, &input, 1, 1);
}
