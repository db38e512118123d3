/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Normalizations by parameters that are no constants. */
#include "normalize.h"

typedef struct tdl_operand *O;

bool tdl_norm_is_dynamic(struct tdl_builder *b, const struct tdl_operand *x, O const *inputs,
                         uint32_t count)
{
    bool known = true;
    if (tdl_builder_status(b) != TDL_OK || !x || x->ir != b->ir || !tdl_is_float(x->desc.dtype))
        return false;
    for (uint32_t i = TDL_NORM_SCALE; i < count; i++) {
        if (inputs[i] && inputs[i]->ir != b->ir)
            return false; /* an error, found further on */
        known = known && tdl_becomes_known(b, inputs[i]);
    }
    return !known;
}

/* Are the operands what the operator takes? */
static bool check(struct tdl_builder *b, const struct tdl_op *op, enum tdl_layout layout,
                  O const *inputs, uint32_t count)
{
    struct tdl_node n = {.op = op, .layout = layout, .input_count = count};
    struct tdl_told copy;
    for (uint32_t i = 0; i < count; i++)
        n.inputs[i] = inputs[i];
    const enum tdl_result r = tdl_norm_check(tdl_node_told(&n, &copy), TDL_NORM_SCALE, count - 1);
    if (r != TDL_OK)
        tdl_builder_fail(b, r, "%s", tdl_last_error());
    return r == TDL_OK;
}

O tdl_norm_compose(struct tdl_builder *b, const struct tdl_op *op, enum tdl_layout layout,
                   O const *inputs, uint32_t count, const union tdl_attr *attr)
{
    O values[TDL_NORM_VARIANCE + 1] = {NULL}, factor;
    if (!check(b, op, layout, inputs, count))
        return NULL;
    /* Halves only at the end, as in the kernels. */
    O x = tdl_builder_cast(b, inputs[TDL_NORM_INPUT], TDL_FLOAT32);
    for (uint32_t i = TDL_NORM_SCALE; x && i < count; i++)
        values[i] = inputs[i] ? tdl_by_channel(b, inputs[i], TDL_FLOAT32, layout) : NULL;
    factor = values[TDL_NORM_SCALE];
    if (values[TDL_NORM_VARIANCE]) {
        const float epsilon = attr->norm.epsilon > 0 ? attr->norm.epsilon : 1e-5f;
        O deviation =
            tdl_builder_sqrt(b, tdl_builder_linear(b, values[TDL_NORM_VARIANCE], 1, epsilon));
        factor =
            factor ? tdl_builder_div(b, factor, deviation) : tdl_builder_reciprocal(b, deviation);
        x = tdl_builder_sub(b, x, values[TDL_NORM_MEAN]);
    }
    if (factor)
        x = tdl_builder_mul(b, x, factor);
    if (values[TDL_NORM_BIAS])
        x = tdl_builder_add(b, x, values[TDL_NORM_BIAS]);
    x = tdl_builder_activation(b, x, attr->norm.activation);
    return x ? tdl_builder_cast(b, x, inputs[TDL_NORM_INPUT]->desc.dtype) : NULL;
}
