/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Helpers of the operators' files. */
#include "ir/builder.h"
#include "ops.h"

#include <math.h>

float tdl_activate(enum tdl_activation activation, float x)
{
    switch (activation) {
    case TDL_ACTIVATION_NONE:
        return x;
    case TDL_ACTIVATION_RELU:
        return x > 0 ? x : 0;
    case TDL_ACTIVATION_RELU6:
        return x < 0 ? 0 : x > 6 ? 6 : x;
    case TDL_ACTIVATION_SIGMOID:
        return 1.0f / (1.0f + expf(-x));
    case TDL_ACTIVATION_HARD_SWISH:
        return x * (x + 3 < 0 ? 0 : x + 3 > 6 ? 6 : x + 3) / 6;
    case TDL_ACTIVATION_TANH:
        return tanhf(x);
    }
    return x;
}

const char *tdl_activation_name(enum tdl_activation activation)
{
    static const char *const names[] = {"none",      "relu", "relu6", "sigmoid",
                                        "hardSwish", "tanh", "swish", "gelu"};
    return (unsigned)activation < TDL_COUNT(names) ? names[activation] : "unknown";
}

struct tdl_tensor_params tdl_desc_like(const struct tdl_operand *like, struct tdl_dims d)
{
    struct tdl_tensor_params p = {.dtype = like->desc.dtype, .rank = 4};
    bool nchw = like->desc.rank == 4 && like->layout == TDL_LAYOUT_NCHW;
    p.shape[0] = d.n;
    p.shape[1] = nchw ? d.c : d.h;
    p.shape[2] = nchw ? d.h : d.w;
    p.shape[3] = nchw ? d.w : d.c;
    return p;
}

bool tdl_is_known(const struct tdl_operand *operand)
{
    return operand && operand->kind == TDL_OPERAND_CONSTANT && operand->desc.dtype == TDL_FLOAT32;
}

const float *tdl_constant_data(const struct tdl_operand *operand)
{
    return tdl_is_known(operand) ? operand->data : NULL;
}

struct tdl_operand *tdl_parameter(struct tdl_builder *b, struct tdl_operand *operand)
{
    return b && operand && operand->ir == b->ir && operand->desc.dtype == TDL_FLOAT16
               ? tdl_builder_cast(b, operand, TDL_FLOAT32)
               : operand;
}

bool tdl_becomes_known(struct tdl_builder *b, struct tdl_operand *operand)
{
    const struct tdl_node *n = operand ? operand->producer : NULL;
    return !operand || tdl_builder_status(b) != TDL_OK || operand->ir != b->ir ||
           operand->kind == TDL_OPERAND_CONSTANT ||
           (n && n->op == &tdl_op_cast && n->inputs[0]->kind == TDL_OPERAND_CONSTANT) ||
           tdl_builder_evaluate(b, operand);
}

struct tdl_operand *tdl_by_channel(struct tdl_builder *b, struct tdl_operand *values,
                                   enum tdl_dtype dtype, enum tdl_layout layout)
{
    const uint32_t shape[] = {values->desc.shape[0], 1, 1};
    if (values->desc.dtype != dtype)
        values = tdl_builder_cast(b, values, dtype);
    return tdl_builder_reshape(b, values, layout == TDL_LAYOUT_NCHW ? 3 : 1, shape);
}

uint64_t tdl_output_work(const struct tdl_node *n)
{
    return tdl_tensor_params_size(&n->output->desc);
}
