/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Between data types. */
#include "ir/builder.h"
#include "element.h"

/* ---------------------------------------------------------------- operator */

static enum tdl_result infer(const struct tdl_node *n, struct tdl_tensor_params *out)
{
    *out = n->inputs[0]->desc;
    out->dtype = n->attr.cast.dtype;
    return TDL_OK;
}

static bool is_wide(enum tdl_dtype dtype)
{
    return dtype == TDL_INT64 || dtype == TDL_UINT64;
}

static uint64_t element(enum tdl_dtype from, enum tdl_dtype to, const void *data, size_t i)
{
    uint64_t bits = tdl_element_bits(from, data, i);
    if (!tdl_is_float(from) && !tdl_is_float(to))
        return bits;
    /* Integers are rounded once, to float32. */
    float x = (float)tdl_element_get(from, data, i);
    if (!tdl_is_float(to))
        return tdl_double_to_integer(to, (double)x);
    return tdl_element_of(to, x);
}

static void reference(const struct tdl_node *n, const void *const *inputs, void *output)
{
    const enum tdl_dtype from = n->inputs[0]->desc.dtype, to = n->attr.cast.dtype;
    const size_t count = tdl_operand_count(n->output);
    if (from == TDL_FLOAT16 && to == TDL_FLOAT32) { /* whole networks' weights are folded so */
        for (size_t i = 0; i < count; i++)
            ((float *)output)[i] = tdl_half_to_float(((const uint16_t *)inputs[0])[i]);
        return;
    }
    for (size_t i = 0; i < count; i++)
        tdl_element_set_bits(to, output, i, element(from, to, inputs[0], i));
}

static enum tdl_result lower(struct tdl_plan *plan, struct tdl_node *n)
{
    const enum tdl_dtype from = n->inputs[0]->desc.dtype, to = n->attr.cast.dtype;
    /* The kernel has two variants: with 64-bit types and without. */
    enum tdl_dtype variant = is_wide(from) || is_wide(to) ? TDL_INT64 : TDL_FLOAT32;
    struct tdl_plan_step *s = tdl_plan_add_linear_step(plan, "cast", variant, n, 64, 1, 1);
    const struct tdl_cast_spec spec =
        tdl_cast_spec(.from = from, .to = to, .count = (uint32_t)tdl_operand_count(n->output));
    TDL_PLAN_SPECS(s, cast, spec);
    tdl_plan_read(s, 0, n->inputs[0]);
    tdl_plan_write(s, 1, n->output);
    tdl_plan_linear_groups(s, n->output);
    return plan->status;
}

const struct tdl_op tdl_op_cast = {
    .name = "cast",
    .infer = infer,
    .resize = tdl_resize_freely,
    .stack = tdl_stack_first,
    .lower = lower,
    .storage = TDL_STORAGE_LINEAR,
    .reference_linear = reference,
    .renumber = tdl_renumber_freely,
};

struct tdl_operand *tdl_builder_cast(struct tdl_builder *b, struct tdl_operand *input,
                                     enum tdl_dtype dtype)
{
    union tdl_attr attr = {.cast.dtype = dtype};
    if (!tdl_builder_known(b, &tdl_op_cast, "data type", dtype, TDL_UINT64))
        return NULL;
    return tdl_builder_add_node(b, &tdl_op_cast, &attr, &input, 1, 1);
}
