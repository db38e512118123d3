/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The nodes of a graph model, in the order in which their inputs are there. Of branches
 * whose condition is known (Switch, Merge) only the one that is taken becomes operators.
 */
#include "tfjs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------- reading */

static bool is_control(const char *reference)
{
    return reference[0] == '^';
}

static bool read_node(struct tfjs_import *im, json_t *json, struct tfjs_node *n)
{
    n->json = json;
    n->name = json_string_value(json_object_get(json, "name"));
    n->type = json_string_value(json_object_get(json, "op"));
    n->inputs = json_object_get(json, "input");
    if (!n->name || !*n->name || !n->type)
        return tdl_kit_damaged(&im->kit,
                               "the model file is damaged: a node without a name or an operator");
    for (size_t i = 0; i < json_array_size(n->inputs); i++) {
        const char *reference = json_string_value(json_array_get(n->inputs, i));

        if (!reference)
            return tdl_kit_damaged(&im->kit,
                                   "the model file is damaged: input %zu of '%.200s' is no name", i,
                                   n->name);
        if (!is_control(reference) && n->data_inputs == i)
            n->data_inputs++;
    }
    if (json_object_get(im->node_names, n->name))
        return tdl_kit_damaged(&im->kit, "the model file is damaged: two nodes are named '%.200s'",
                               n->name);
    return json_object_set_new(im->node_names, n->name, json_integer(n - im->nodes)) == 0 ||
           tdl_kit_fail_memory(&im->kit);
}

bool tfjs_read_nodes(struct tfjs_import *im, json_t *nodes)
{
    const size_t count = json_array_size(nodes);

    if (count == 0)
        return tdl_kit_damaged(&im->kit, "the model file has no nodes");
    im->nodes = calloc(count, sizeof(*im->nodes));
    im->node_names = json_object();
    if (!im->nodes || !im->node_names)
        return tdl_kit_fail_memory(&im->kit);
    im->node_count = (uint32_t)count;
    for (size_t i = 0; i < count; i++)
        if (!read_node(im, json_array_get(nodes, i), &im->nodes[i]))
            return false;
    return true;
}

void tfjs_forget_values(struct tfjs_import *im)
{
    for (uint32_t i = 0; i < im->node_count; i++) {
        struct tfjs_node *n = &im->nodes[i];

        free(n->values);
        n->values = NULL;
        n->value_count = n->looked_at = 0;
        n->state = TFJS_WAITING;
        n->dead = false;
    }
}

/* -------------------------------------------------------------------- adding */

/* A value of a branch that is not taken. */
static bool is_dead(const struct tfjs_node *from, uint32_t index)
{
    return from->dead || (!strcmp(from->type, "Switch") &&
                          (index >= from->value_count || !from->values[index].given));
}

/* The first of its inputs that is there, and which it is. */
static bool add_merge(struct tfjs_import *im)
{
    for (uint32_t i = 0; i < im->node->data_inputs; i++) {
        uint32_t index;
        const struct tfjs_node *from =
            tfjs_find_node(im, json_string_value(json_array_get(im->node->inputs, i)), &index);

        if (is_dead(from, index))
            continue;
        const struct tfjs_value *v = tfjs_in_value(im, i);
        return v && tfjs_give_value(im, 0, v) &&
               tfjs_give_at(im, 1, tdl_kit_number(&im->kit, TDL_INT32, i));
    }
    im->node->dead = true;
    return true;
}

/* The node's condition chooses one of two outputs. */
static bool add_switch(struct tfjs_import *im)
{
    const struct tfjs_value *v = tfjs_in_value(im, 0);
    struct tdl_operand *condition = v ? tfjs_operand(im, 1) : NULL;
    int64_t taken;

    if (!condition)
        return false;
    if (!tdl_kit_is_known(&im->kit, condition))
        return tdl_kit_refuse(&im->kit, "the branch to be taken depends on what the graph is run "
                                        "with; libtdl takes one when the model is loaded: bind "
                                        "the input that decides to a number");
    return tfjs_int_at(im, 1, &taken) && tfjs_give_value(im, taken != 0, v);
}

/* The needs of layers beside their weights are in the node itself. */
static bool add_own_constant(struct tfjs_import *im)
{
    const json_t *numbers = json_object_get(im->node->json, "numbers");
    const json_t *number = json_object_get(im->node->json, "number");
    int32_t list[2 * TDL_MAX_RANK];
    const size_t count = json_array_size(numbers);

    if (json_is_number(number))
        return tfjs_give(im, tdl_kit_number(&im->kit, TDL_FLOAT32, json_number_value(number)));
    if (count < 1 || count > 2 * TDL_MAX_RANK)
        return tdl_kit_damaged(&im->kit,
                               "the model file is damaged: there are no weights of that name");
    for (size_t i = 0; i < count; i++)
        list[i] = (int32_t)json_integer_value(json_array_get(numbers, i));
    return tfjs_give(im, tdl_kit_int_list(&im->kit, list, (uint32_t)count));
}

static bool add_constant(struct tfjs_import *im)
{
    const json_t *place = json_object_get(im->weight_names, im->node->name);
    const struct tfjs_weight *w = place ? &im->weights[json_integer_value(place)] : NULL;
    struct tfjs_value value = {0};

    if (!w)
        return add_own_constant(im);
    if (w->count == 0)
        return tfjs_give_empty(im, 0, &w->desc);
    value.data = tfjs_weight_data(im, w);
    if (value.data)
        value.operand = tdl_builder_constant(im->builder, &w->desc, value.data,
                                             tdl_tensor_params_size(&w->desc));
    return value.operand && tfjs_give_value(im, 0, &value);
}

static bool add_node(struct tfjs_import *im, struct tfjs_node *n)
{
    static const struct tfjs_row own[] = {
        {"Const", 0, 0, add_constant},
        {"Merge", 1, TDL_KIT_MANY, add_merge},
        {"Switch", 2, 2, add_switch},
    };
    char label[96];

    snprintf(label, sizeof(label), "node %.24s '%.60s'", n->type, n->name);
    tdl_builder_set_label(im->builder, label);
    im->node = n;
    im->row = tfjs_find_row(n->type);
    for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
        if (!strcmp(n->type, own[i].name))
            im->row = &own[i];
    if (!strcmp(n->type, "NoOp"))
        return true;
    if (!im->row)
        return tdl_kit_refuse(&im->kit, "this operator is not supported; convert the model without "
                                        "it, or cut it off behind its inputs");
    if (n->data_inputs < im->row->least || n->data_inputs > im->row->most)
        return tdl_kit_damaged(&im->kit, "%u inputs instead of %u to %u", n->data_inputs,
                               im->row->least, im->row->most);
    return im->row->add(im) && tdl_builder_status(im->builder) == TDL_OK;
}

/* --------------------------------------------------------------------- order */

/* Why it cannot be begun, if so; false with the builder in error. */
static bool begin(struct tfjs_import *im, struct tfjs_node *n, uint32_t *stack, uint32_t *depth)
{
    const char *reason = tfjs_reason(n->type);

    if (reason)
        return tdl_kit_lacks(&im->kit, "node %.40s '%.200s': %s", n->type, n->name, reason);
    n->state = TFJS_BEGUN;
    stack[(*depth)++] = (uint32_t)(n - im->nodes);
    return true;
}

/* The next input whose node is to be added before; NULL: none, or the builder in error. */
static struct tfjs_node *next_before(struct tfjs_import *im, struct tfjs_node *n)
{
    while (n->looked_at < json_array_size(n->inputs)) {
        const char *reference = json_string_value(json_array_get(n->inputs, n->looked_at));
        uint32_t index;
        struct tfjs_node *from = tfjs_find_node(im, reference, &index);

        if (!from) {
            tdl_kit_damaged(&im->kit,
                            "the model file is damaged: '%.200s' reads '%.200s', and there is no "
                            "such node",
                            n->name, reference);
            return NULL;
        }
        if (from->state != TFJS_DONE)
            return from;
        n->looked_at++;
        n->dead |= strcmp(n->type, "Merge") != 0 &&
                   (is_control(reference) ? from->dead : is_dead(from, index));
    }
    return NULL;
}

static bool add_behind(struct tfjs_import *im, struct tfjs_node *first, uint32_t *stack)
{
    uint32_t depth = 0;

    if (!begin(im, first, stack, &depth))
        return false;
    while (depth > 0) {
        struct tfjs_node *n = &im->nodes[stack[depth - 1]], *before = next_before(im, n);

        if (before && before->state == TFJS_BEGUN)
            return tdl_kit_damaged(&im->kit,
                                   "the model file is damaged: '%.200s' waits for its own output",
                                   before->name);
        if (before ? !begin(im, before, stack, &depth)
                   : tdl_builder_status(im->builder) != TDL_OK || !(n->dead || add_node(im, n)))
            return false;
        if (!before) {
            tdl_builder_set_label(im->builder, NULL);
            n->state = TFJS_DONE;
            depth--;
        }
    }
    return true;
}

struct tfjs_value *tfjs_require(struct tfjs_import *im, const char *reference)
{
    uint32_t index, *stack;
    struct tfjs_node *n = tfjs_find_node(im, reference, &index);
    bool ok;

    if (!n) {
        tdl_kit_damaged(&im->kit, "the model file is damaged: there is no node '%.200s'",
                        reference);
        return NULL;
    }
    if (n->state != TFJS_DONE) {
        stack = calloc(im->node_count, sizeof(*stack));
        ok = stack ? add_behind(im, n, stack) : tdl_kit_fail_memory(&im->kit);
        free(stack);
        if (!ok)
            return NULL;
    }
    if (index < n->value_count && n->values[index].given)
        return &n->values[index];
    if (n->dead)
        tdl_kit_lacks(&im->kit, "'%.200s' is of a branch that is not taken", reference);
    else
        tdl_kit_damaged(&im->kit, "the model file is damaged: '%.200s' gives no such output",
                        reference);
    return NULL;
}
