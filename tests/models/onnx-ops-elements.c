/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Operators on each element. */
#include "onnx-net.h"

#include <string.h>

static struct tdl_operand *add_binary(struct onnx_net *net)
{
    struct tdl_operand *a = onnx_operand(net, 0), *b = onnx_operand(net, 1);
    return !strcmp(net->node->op_type, "Mul") ? tdl_builder_mul(net->builder, a, b)
                                              : tdl_builder_add(net->builder, a, b);
}

static struct tdl_operand *add_activation(struct onnx_net *net)
{
    static const struct {
        const char *type;
        enum tdl_activation activation;
    } activations[] = {
        {"Relu", TDL_ACTIVATION_RELU},
        {"Sigmoid", TDL_ACTIVATION_SIGMOID},
        {"HardSwish", TDL_ACTIVATION_HARD_SWISH},
        {"Tanh", TDL_ACTIVATION_TANH},
    };
    size_t i = 0;
    while (strcmp(activations[i].type, net->node->op_type) != 0)
        i++;
    return tdl_builder_activation(net->builder, onnx_operand(net, 0), activations[i].activation);
}

const struct onnx_operator onnx_operators_elements[] = {
    {"Add", add_binary},      {"HardSwish", add_activation}, {"Mul", add_binary},
    {"Relu", add_activation}, {"Sigmoid", add_activation},   {"Tanh", add_activation},
    {0},
};
