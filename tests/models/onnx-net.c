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
    if (v->constant)
        return v->operand = onnx_constant(net, i);
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

struct tdl_operand *onnx_constant(struct onnx_net *net, size_t i)
{
    const Onnx__TensorProto *t = onnx_given(net, i) ? onnx_tensor(net, i) : NULL;
    struct tdl_tensor_params p;
    size_t size;
    if (!t)
        return NULL;
    const char *why = onnx_tensor_params(t, &p);
    if (why)
        return onnx_lacks(net, "%s", why);
    void *data = onnx_tensor_data(t, &size);
    tdl_builder_own(net->builder, data, free);
    return tdl_builder_constant(net->builder, &p, data, size);
}

bool onnx_attribute_is(const struct onnx_net *net, const char *name, const char *value)
{
    const Onnx__AttributeProto *a = onnx_attribute(net, name);
    return a && a->s.len == strlen(value) && !memcmp(a->s.data, value, a->s.len);
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

static const struct onnx_operator *const tables[] = {
    onnx_operators_elements, onnx_operators_image, onnx_operators_linear, onnx_operators_moving};

static const struct onnx_operator *find_operator(const Onnx__NodeProto *n)
{
    for (size_t i = 0; i < COUNT(tables); i++)
        for (const struct onnx_operator *op = tables[i]; op->type; op++)
            if (!strcmp(op->type, n->op_type) && !(n->domain && *n->domain))
                return op;
    return NULL;
}

/* A node that gives a tensor. */
static bool add_constant_node(struct onnx_net *net)
{
    const Onnx__AttributeProto *a = onnx_attribute(net, "value");
    struct onnx_value *v = a && a->t ? remember(net, net->node->output[0]) : NULL;
    if (!v)
        return onnx_lacks(net, "a Constant without a tensor") != NULL;
    v->tensor = a->t;
    return v->constant = true;
}

static bool add_node(struct onnx_net *net)
{
    const Onnx__NodeProto *n = net->node;
    if (!strcmp(n->op_type, "Constant"))
        return add_constant_node(net);
    const struct onnx_operator *op = find_operator(n);
    if (!op)
        return onnx_lacks(net, "no operator %s", n->op_type) != NULL;
    memset(net->more, 0, sizeof(net->more));
    struct tdl_operand *o = op->add(net);
    for (size_t i = 0; i < n->n_output && o; i++) {
        struct tdl_operand *one = i ? i < ONNX_MAX_TENSORS ? net->more[i] : NULL : o;
        struct onnx_value *v = one ? remember(net, n->output[i]) : NULL;
        if (!v)
            return onnx_lacks(net, "%s with %zu outputs", n->op_type, n->n_output) != NULL;
        v->operand = one;
    }
    return o && !*net->missing;
}

bool onnx_net_add(struct onnx_net *net, struct tdl_builder *builder, const struct onnx_case *c)
{
    const Onnx__GraphProto *g = c->model->graph;
    *net = (struct onnx_net){.builder = builder};
    for (size_t i = 0; i < g->n_input + g->n_initializer; i++) {
        struct onnx_value *v = remember(
            net, i < g->n_input ? g->input[i]->name : g->initializer[i - g->n_input]->name);
        if (!v)
            return onnx_lacks(net, "more values than this table holds") != NULL;
        v->tensor = i < g->n_input ? c->inputs[i] : g->initializer[i - g->n_input];
        v->constant = i >= g->n_input;
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
