/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Operators on each element. */
#include "onnx-net.h"

#include <stdlib.h>
#include <string.h>

/* -------------------------------------------------------------- of two inputs */

typedef struct tdl_operand *(*binary_fn)(struct tdl_builder *, struct tdl_operand *,
                                         struct tdl_operand *);

static const struct {
    const char *type;
    binary_fn add;
} binaries[] = {
    {"Add", tdl_builder_add},
    {"And", tdl_builder_logical_and},
    {"Div", tdl_builder_div},
    {"Equal", tdl_builder_equal},
    {"Greater", tdl_builder_greater},
    {"GreaterOrEqual", tdl_builder_greater_or_equal},
    {"Less", tdl_builder_lesser},
    {"LessOrEqual", tdl_builder_lesser_or_equal},
    {"Max", tdl_builder_max},
    {"Min", tdl_builder_min},
    {"Mul", tdl_builder_mul},
    {"Or", tdl_builder_logical_or},
    {"PRelu", tdl_builder_prelu},
    {"Pow", tdl_builder_pow},
    {"Sub", tdl_builder_sub},
    {"Sum", tdl_builder_add},
    {"Xor", tdl_builder_logical_xor},
};

/* Some take any number of inputs, one by one. */
static struct tdl_operand *add_binary(struct onnx_net *net)
{
    struct tdl_operand *o = onnx_operand(net, 0);
    size_t i = 0;
    while (strcmp(binaries[i].type, net->node->op_type) != 0)
        i++;
    if (net->node->n_input < 2)
        return tdl_builder_identity(net->builder, o);
    for (size_t k = 1; k < net->node->n_input; k++) {
        struct tdl_operand *next = onnx_operand(net, k);
        if (!o || !next)
            return NULL;
        if (tdl_operand_get_desc(o)->dtype != tdl_operand_get_desc(next)->dtype)
            return onnx_lacks(net, "%s of two types", net->node->op_type);
        o = binaries[i].add(net->builder, o, next);
    }
    return o;
}

static struct tdl_operand *add_where(struct onnx_net *net)
{
    return tdl_builder_where(net->builder, onnx_operand(net, 0), onnx_operand(net, 1),
                             onnx_operand(net, 2));
}

/* --------------------------------------------------------------- of one input */

typedef struct tdl_operand *(*unary_fn)(struct tdl_builder *, struct tdl_operand *);

static const struct {
    const char *type;
    unary_fn add;
} unaries[] = {
    {"Abs", tdl_builder_abs},         {"Ceil", tdl_builder_ceil},
    {"Cos", tdl_builder_cos},         {"Erf", tdl_builder_erf},
    {"Exp", tdl_builder_exp},         {"Floor", tdl_builder_floor},
    {"HardSwish", tdl_builder_hard_swish}, {"Identity", tdl_builder_identity},
    {"Log", tdl_builder_log},         {"Neg", tdl_builder_neg},
    {"Not", tdl_builder_logical_not}, {"Reciprocal", tdl_builder_reciprocal},
    {"Relu", tdl_builder_relu},       {"Round", tdl_builder_round_even},
    {"Sigmoid", tdl_builder_sigmoid}, {"Sign", tdl_builder_sign},
    {"Sin", tdl_builder_sin},         {"Softplus", tdl_builder_softplus},
    {"Softsign", tdl_builder_softsign}, {"Sqrt", tdl_builder_sqrt},
    {"Tan", tdl_builder_tan},         {"Tanh", tdl_builder_tanh},
};

static struct tdl_operand *add_unary(struct onnx_net *net)
{
    size_t i = 0;
    while (strcmp(unaries[i].type, net->node->op_type) != 0)
        i++;
    return unaries[i].add(net->builder, onnx_operand(net, 0));
}

static struct tdl_operand *add_with_numbers(struct onnx_net *net)
{
    struct tdl_operand *x = onnx_operand(net, 0);
    if (!strcmp(net->node->op_type, "Elu"))
        return tdl_builder_elu(net->builder, x, onnx_attribute_float(net, "alpha", 1));
    if (!strcmp(net->node->op_type, "LeakyRelu"))
        return tdl_builder_leaky_relu(net->builder, x, onnx_attribute_float(net, "alpha", 0.01f));
    return tdl_builder_hard_sigmoid(net->builder, x, onnx_attribute_float(net, "alpha", 0.2f),
                                    onnx_attribute_float(net, "beta", 0.5f));
}

static struct tdl_operand *add_clip(struct onnx_net *net)
{
    const Onnx__TensorProto *least = onnx_given(net, 1) ? onnx_tensor(net, 1) : NULL;
    const Onnx__TensorProto *most = onnx_given(net, 2) ? onnx_tensor(net, 2) : NULL;
    struct tdl_operand *x = onnx_operand(net, 0);
    size_t size;
    if (*net->missing)
        return NULL;
    void *low = least ? onnx_tensor_data(least, &size) : NULL;
    void *high = most ? onnx_tensor_data(most, &size) : NULL;
    struct tdl_operand *o = tdl_builder_clamp(net->builder, x, low, high);
    free(low);
    free(high);
    return o;
}

static struct tdl_operand *add_cast(struct onnx_net *net)
{
    Onnx__TensorProto like = ONNX__TENSOR_PROTO__INIT;
    struct tdl_tensor_params p;
    like.data_type = (int32_t)onnx_attribute_int(net, "to", 0);
    if (like.data_type == ONNX__TENSOR_PROTO__DATA_TYPE__BOOL || onnx_tensor_params(&like, &p))
        return onnx_lacks(net, "Cast to a data type that libtdl lacks");
    return tdl_builder_cast(net->builder, onnx_operand(net, 0), p.dtype);
}

static struct tdl_operand *add_log_softmax(struct onnx_net *net)
{
    struct tdl_operand *x = onnx_operand(net, 0);
    const uint32_t axis = onnx_axis(onnx_attribute_int(net, "axis", -1), onnx_rank(x));
    const struct tdl_reduce_params p = {{axis}, 1, .keep_dimensions = true};
    return tdl_builder_sub(net->builder, x,
                           tdl_builder_reduce(net->builder, x, TDL_REDUCE_LOG_SUM_EXP, &p));
}

const struct onnx_operator onnx_operators_elements[] = {
    {"Abs", add_unary},
    {"Add", add_binary},
    {"And", add_binary},
    {"Cast", add_cast},
    {"Ceil", add_unary},
    {"Clip", add_clip},
    {"Cos", add_unary},
    {"Div", add_binary},
    {"Elu", add_with_numbers},
    {"Equal", add_binary},
    {"Erf", add_unary},
    {"Exp", add_unary},
    {"Floor", add_unary},
    {"Greater", add_binary},
    {"GreaterOrEqual", add_binary},
    {"HardSigmoid", add_with_numbers},
    {"HardSwish", add_unary},
    {"Identity", add_unary},
    {"LeakyRelu", add_with_numbers},
    {"Less", add_binary},
    {"LessOrEqual", add_binary},
    {"Log", add_unary},
    {"LogSoftmax", add_log_softmax},
    {"Max", add_binary},
    {"Min", add_binary},
    {"Mul", add_binary},
    {"Neg", add_unary},
    {"Not", add_unary},
    {"Or", add_binary},
    {"PRelu", add_binary},
    {"Pow", add_binary},
    {"Reciprocal", add_unary},
    {"Relu", add_unary},
    {"Round", add_unary},
    {"Sigmoid", add_unary},
    {"Sign", add_unary},
    {"Sin", add_unary},
    {"Softplus", add_unary},
    {"Softsign", add_unary},
    {"Sqrt", add_unary},
    {"Sub", add_binary},
    {"Sum", add_binary},
    {"Tan", add_unary},
    {"Tanh", add_unary},
    {"Where", add_where},
    {"Xor", add_binary},
    {0},
};
