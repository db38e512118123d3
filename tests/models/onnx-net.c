/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "onnx-net.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* ----------------------------------------------------- values and attributes */

struct tdl_operand *onnx_lacks(struct onnx_net *net, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    if (!*net->missing)
        vsnprintf(net->missing, sizeof(net->missing), format, args);
    va_end(args);
    return NULL;
}

static struct onnx_value *find(struct onnx_net *net, const char *name)
{
    for (size_t i = net->count; i-- > 0;)
        if (!strcmp(net->values[i].name, name))
            return &net->values[i];
    return NULL;
}

static struct onnx_value *remember(struct onnx_net *net, const char *name)
{
    if (net->count == ONNX_MAX_VALUES)
        return NULL;
    net->values[net->count] = (struct onnx_value){.name = name};
    return &net->values[net->count++];
}

bool onnx_given(const struct onnx_net *net, size_t i)
{
    return i < net->node->n_input && *net->node->input[i];
}

/* Input `i` as an operand; NULL when it is not given. */
struct tdl_operand *onnx_operand(struct onnx_net *net, size_t i)
{
    struct tdl_tensor_params desc;
    struct onnx_value *v = onnx_given(net, i) ? find(net, net->node->input[i]) : NULL;
    if (!v || v->operand)
        return v ? v->operand : NULL;
    const char *why = onnx_tensor_params(v->tensor, &desc);
    if (why)
        return onnx_lacks(net, "%s", why);
    v->fed = true;
    return v->operand = tdl_builder_input(net->builder, v->name, &desc);
}

/* Input `i` as a tensor that is known before running; NULL with a reason. */
const Onnx__TensorProto *onnx_tensor(struct onnx_net *net, size_t i)
{
    struct onnx_value *v = onnx_given(net, i) ? find(net, net->node->input[i]) : NULL;
    if (v && !v->tensor)
        onnx_lacks(net, "%s by a computed input %zu", net->node->op_type, i);
    return v ? v->tensor : NULL;
}

const Onnx__AttributeProto *onnx_attribute(const struct onnx_net *net, const char *name)
{
    for (size_t i = 0; i < net->node->n_attribute; i++)
        if (!strcmp(net->node->attribute[i]->name, name))
            return net->node->attribute[i];
    return NULL;
}

int64_t onnx_attribute_int(const struct onnx_net *net, const char *name, int64_t otherwise)
{
    const Onnx__AttributeProto *a = onnx_attribute(net, name);
    return a ? a->i : otherwise;
}

float onnx_attribute_float(const struct onnx_net *net, const char *name, float otherwise)
{
    const Onnx__AttributeProto *a = onnx_attribute(net, name);
    return a ? a->f : otherwise;
}

uint32_t onnx_rank(const struct tdl_operand *o)
{
    return o ? tdl_operand_get_desc(o)->rank : 0;
}

uint32_t onnx_axis(int64_t axis, uint32_t rank)
{
    return (uint32_t)(axis < 0 ? axis + rank : axis);
}

/* ------------------------------------------------------------------- graphs */

static const struct onnx_operator *const tables[] = {onnx_operators_image,
                                                    onnx_operators_linear};

static bool add_node(struct onnx_net *net)
{
    const Onnx__NodeProto *n = net->node;
    const struct onnx_operator *op = NULL;
    for (size_t i = 0; i < COUNT(tables) && !(op && op->type); i++)
        for (op = tables[i]; op->type && strcmp(op->type, n->op_type) != 0;)
            op++;
    if (!op->type || (n->domain && *n->domain))
        onnx_lacks(net, "no operator %s", n->op_type);
    else if (n->n_output != 1)
        onnx_lacks(net, "%s with %zu outputs", n->op_type, n->n_output);
    if (*net->missing)
        return false;
    struct tdl_operand *o = op->add(net);
    struct onnx_value *v = o ? remember(net, n->output[0]) : NULL;
    if (v)
        v->operand = o;
    return v != NULL;
}

bool onnx_net_add(struct onnx_net *net, struct tdl_builder *builder, const struct onnx_case *c)
{
    const Onnx__GraphProto *g = c->model->graph;
    *net = (struct onnx_net){.builder = builder};
    for (size_t i = 0; i < g->n_input + g->n_initializer; i++) {
        struct onnx_value *v = remember(
            net, i < g->n_input ? g->input[i]->name : g->initializer[i - g->n_input]->name);
        if (v)
            v->tensor = i < g->n_input ? c->inputs[i] : g->initializer[i - g->n_input];
    }
    for (size_t i = 0; i < g->n_node; i++) {
        net->node = g->node[i];
        if (!add_node(net))
            return !*net->missing; /* else the builder has an error */
    }
    for (size_t i = 0; i < g->n_output; i++) {
        struct onnx_value *v = find(net, g->output[i]->name);
        if (!v || !v->operand)
            return onnx_lacks(net, "output %zu is no operator's", i) != NULL;
        tdl_builder_output(builder, v->name, v->operand);
    }
    return true;
}
