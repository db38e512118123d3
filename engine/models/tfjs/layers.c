/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The layers of a model, in whatever order, as the nodes of a graph. */
#include "layers.h"

#include <stdio.h>
#include <string.h>

const char *tfjs_lower_fail(struct tfjs_lower *l, const char *what)
{
    tdl_kit_lacks(&l->im->kit, "layer '%.200s': %s is not supported", l->name, what);
    return NULL;
}

/* -------------------------------------------------------------------- nodes */

/* Adds a node, which is taken over. */
static const char *append(struct tfjs_lower *l, json_t *node)
{
    enum { NODE = 512 }; /* bytes, roughly, beside its names */
    const char *name = json_string_value(json_object_get(node, "name"));

    if (name && !tdl_kit_spend(&l->im->kit, NODE + 2 * strlen(name))) {
        json_decref(node);
        return NULL;
    }
    if (!node || json_array_append_new(l->nodes, node) != 0) {
        tdl_kit_fail_memory(&l->im->kit);
        return NULL;
    }
    return name;
}

const char *tfjs_lower_many(struct tfjs_lower *l, const char *op, const char *const *inputs,
                            uint32_t count, json_t *attributes)
{
    json_t *list = json_array(), *attr = attributes ? attributes : json_object();
    char name[TDL_KIT_NAME];
    bool there = true;

    snprintf(name, sizeof(name), "%.4000s/%s_%u", l->prefix, op, l->made++);
    for (uint32_t i = 0; i < count; i++) {
        there = there && inputs[i];
        json_array_append_new(list, json_string(inputs[i] ? inputs[i] : ""));
    }
    if (!there) {
        json_decref(list);
        json_decref(attr);
        return NULL;
    }
    return append(
        l, json_pack("{s:s, s:s, s:o, s:o}", "name", name, "op", op, "input", list, "attr", attr));
}

const char *tfjs_lower_node(struct tfjs_lower *l, const char *op, const char *a, const char *b,
                            json_t *attributes)
{
    const char *const inputs[] = {a, b};

    return tfjs_lower_many(l, op, inputs, b ? 2 : 1, attributes);
}

static const char *add_constant(struct tfjs_lower *l, const char *key, json_t *value)
{
    char name[TDL_KIT_NAME];

    snprintf(name, sizeof(name), "%.4000s/Const_%u", l->prefix, l->made++);
    return append(l, json_pack("{s:s, s:s, s:o}", "name", name, "op", "Const", key, value));
}

const char *tfjs_lower_ints(struct tfjs_lower *l, const int64_t *list, uint32_t count)
{
    json_t *numbers = json_array();

    for (uint32_t i = 0; i < count; i++)
        json_array_append_new(numbers, json_integer(list[i]));
    return add_constant(l, "numbers", numbers);
}

const char *tfjs_lower_number(struct tfjs_lower *l, double value)
{
    return add_constant(l, "number", json_real(value));
}

/* "layer/kernel". */
const char *tfjs_lower_weights(struct tfjs_lower *l, const char *what)
{
    char name[TDL_KIT_NAME];
    const char *there;

    snprintf(name, sizeof(name), "%.4000s/%s", l->name, what);
    if (!json_object_get(l->im->weight_names, name))
        return NULL;
    there = json_string_value(json_object_get(l->used, name));
    if (there)
        return there;
    there = append(l, json_pack("{s:s, s:s}", "name", name, "op", "Const"));
    if (there && json_object_set_new(l->used, name, json_string(there)) != 0)
        tdl_kit_fail_memory(&l->im->kit);
    return there ? json_string_value(json_object_get(l->used, name)) : NULL;
}

/* ------------------------------------------------------------------- layers */

static const struct tfjs_layer_row *find_row(const char *type)
{
    for (const struct tfjs_layer_row *row = tfjs_layers; type && row->type; row++)
        if (!strcmp(row->type, type))
            return row;
    return NULL;
}

/* The name of call `call` of a layer; the first has the layer's own name. */
static void output_name(const char *layer, int64_t call, char to[TDL_KIT_NAME])
{
    if (call == 0)
        snprintf(to, TDL_KIT_NAME, "%.4000s", layer);
    else
        snprintf(to, TDL_KIT_NAME, "%.4000s/call_%lld", layer, (long long)call);
}

static bool add_placeholder(struct tfjs_lower *l, const char *name, const json_t *config)
{
    const json_t *shape = json_object_get(config, "batch_input_shape");
    const char *dtype = json_string_value(json_object_get(config, "dtype"));
    json_t *dims = json_array(), *proto;
    bool ok;

    shape = shape ? shape : json_object_get(config, "batch_shape");
    for (size_t i = 0; i < json_array_size(shape); i++) {
        const json_t *size = json_array_get(shape, i);

        json_array_append_new(
            dims, json_pack("{s:I}", "size",
                            json_is_integer(size) ? json_integer_value(size) : (json_int_t)-1));
    }
    proto = shape ? json_pack("{s:o}", "dim", dims) : json_pack("{s:b}", "unknownRank", 1);
    if (!shape)
        json_decref(dims);
    ok = append(l, json_pack("{s:s, s:s, s:{s:{s:s}, s:{s:o}}}", "name", name, "op", "Placeholder",
                             "attr", "dtype", "type",
                             dtype && !strcmp(dtype, "int32") ? "DT_INT32" : "DT_FLOAT", "shape",
                             "shape", proto)) != NULL;
    return ok;
}

/* One call of a layer: from its inputs to the node that bears its name. */
static bool add_call(struct tfjs_lower *l, const char *type, int64_t call)
{
    const struct tfjs_layer_row *row = find_row(type);
    char name[TDL_KIT_NAME], label[96];
    const char *last;

    snprintf(label, sizeof(label), "layer %.24s '%.60s'", type ? type : "", l->name);
    if (!row)
        return tdl_kit_refuse(&l->im->kit,
                              "%s: this layer is not supported; convert the model to "
                              "a graph model (tensorflowjs_converter "
                              "--output_format=tfjs_graph_model)",
                              label);
    output_name(l->name, call, name);
    l->prefix = name;
    l->made = 0;
    if (l->input_count == 0)
        return tdl_kit_damaged(&l->im->kit, "%s has no inputs", label);
    l->row = row;
    last = row->add(l);
    if (!last)
        return tdl_builder_status(l->im->builder) != TDL_OK
                   ? false
                   : tdl_kit_damaged(&l->im->kit, "%s lacks weights or options", label);
    return append(l, json_pack("{s:s, s:s, s:[s]}", "name", name, "op", "Identity", "input",
                               last)) != NULL;
}

/* [layer, call, output, …], or a list of one of those; only layers of one output are there. */
static const char *read_reference(struct tfjs_lower *l, const json_t *reference, json_t *keep)
{
    const char *layer = json_string_value(json_array_get(reference, 0));
    const json_int_t call = json_integer_value(json_array_get(reference, 1));
    char name[TDL_KIT_NAME];
    json_t *text;

    if (!layer || json_integer_value(json_array_get(reference, 2)) != 0) {
        tdl_kit_lacks(&l->im->kit,
                      "layer '%.200s': inputs that are not the only output of a layer "
                      "are not supported",
                      l->name);
        return NULL;
    }
    output_name(layer, call, name);
    text = json_string(name);
    if (!text || json_array_append_new(keep, text) != 0) {
        tdl_kit_fail_memory(&l->im->kit);
        return NULL;
    }
    return json_string_value(text);
}

static bool add_functional(struct tfjs_lower *l, const json_t *layer, json_t *keep)
{
    const json_t *calls = json_object_get(layer, "inbound_nodes");
    const char *type = json_string_value(json_object_get(layer, "class_name"));

    if (type && !strcmp(type, "InputLayer"))
        return add_placeholder(l, l->name, l->config);
    for (size_t k = 0; k < json_array_size(calls); k++) {
        const json_t *call = json_array_get(calls, k);

        l->input_count = 0;
        for (size_t i = 0; i < json_array_size(call); i++) {
            if (i >= TFJS_LAYER_INPUTS)
                return tdl_kit_lacks(&l->im->kit, "layer '%.200s' has more than %d inputs", l->name,
                                     TFJS_LAYER_INPUTS);
            l->inputs[l->input_count] = read_reference(l, json_array_get(call, i), keep);
            if (!l->inputs[l->input_count++])
                return false;
        }
        if (!add_call(l, type, (int64_t)k))
            return false;
    }
    return true;
}

/* One behind the other; the first may say the input's shape. */
static bool add_sequential(struct tfjs_lower *l, const json_t *layer, const char **last,
                           json_t *keep)
{
    const char *type = json_string_value(json_object_get(layer, "class_name"));
    char name[TDL_KIT_NAME];
    json_t *text;

    if (!*last) {
        const bool is_input = type && !strcmp(type, "InputLayer");

        snprintf(name, sizeof(name), "%.4000s%s", l->name, is_input ? "" : "_input");
        text = json_string(name);
        if (json_array_append_new(keep, text) != 0 || !add_placeholder(l, name, l->config))
            return tdl_kit_fail_memory(&l->im->kit);
        *last = json_string_value(text);
        if (is_input)
            return true;
    }
    l->inputs[0] = *last;
    l->input_count = 1;
    *last = l->name;
    return add_call(l, type, 0);
}

/* ---------------------------------------------------------------- signature */

static bool add_end(struct tfjs_lower *l, json_t *ends, const char *name)
{
    return json_object_set_new(ends, name, json_pack("{s:s}", "name", name)) == 0 ||
           tdl_kit_fail_memory(&l->im->kit);
}

static bool add_ends(struct tfjs_lower *l, const json_t *list, json_t *ends, json_t *keep)
{
    /* One end may stand without the list round it. */
    if (json_is_string(json_array_get(list, 0))) {
        const char *name = read_reference(l, list, keep);

        return name && add_end(l, ends, name);
    }
    for (size_t i = 0; i < json_array_size(list); i++) {
        const char *name = read_reference(l, json_array_get(list, i), keep);

        if (!name || !add_end(l, ends, name))
            return false;
    }
    return true;
}

static bool add_layers(struct tfjs_lower *l, json_t *config, json_t *layers, bool sequential,
                       json_t *keep)
{
    json_t *inputs = json_object_get(l->im->signature, "inputs");
    json_t *outputs = json_object_get(l->im->signature, "outputs");
    const char *last = NULL;

    for (size_t i = 0; i < json_array_size(layers); i++) {
        json_t *layer = json_array_get(layers, i);

        l->config = json_object_get(layer, "config");
        l->name = json_string_value(json_object_get(layer, "name"));
        if (!l->name)
            l->name = json_string_value(json_object_get(l->config, "name"));
        if (!l->name || !*l->name)
            return tdl_kit_damaged(&l->im->kit, "the model file is damaged: a layer has no name");
        if (sequential ? !add_sequential(l, layer, &last, keep) : !add_functional(l, layer, keep))
            return false;
    }
    l->name = "";
    if (sequential)
        return last ? add_end(l, outputs, last)
                    : tdl_kit_damaged(&l->im->kit, "the model file has no layers");
    return add_ends(l, json_object_get(config, "input_layers"), inputs, keep) &&
           add_ends(l, json_object_get(config, "output_layers"), outputs, keep);
}

json_t *tfjs_lower_layers(struct tfjs_import *im, json_t *topology)
{
    json_t *model = json_object_get(topology, "model_config"), *config, *layers,
           *keep = json_array();
    const char *type;
    struct tfjs_lower l = {.im = im, .nodes = json_array(), .name = "", .used = json_object()};
    bool ok;

    model = model ? model : topology; /* as TensorFlow.js saves it */
    type = json_string_value(json_object_get(model, "class_name"));
    config = json_object_get(model, "config");
    layers = json_is_array(config) ? config : json_object_get(config, "layers");
    im->own_signature = json_pack("{s:{}, s:{}}", "inputs", "outputs");
    im->signature = im->own_signature;
    if (!l.nodes || !l.used || !keep || !im->signature)
        ok = tdl_kit_fail_memory(&im->kit);
    else if (!layers)
        ok = tdl_kit_damaged(&im->kit, "the model file has no layers");
    else
        ok = add_layers(&l, config, layers, type && !strcmp(type, "Sequential"), keep);
    json_decref(keep);
    json_decref(l.used);
    if (ok)
        return l.nodes;
    json_decref(l.nodes);
    return NULL;
}
