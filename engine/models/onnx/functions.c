/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Functions that a file defines itself: operators that are graphs of others. Exporters
 * write modules of a network, or compositions of operators, so.
 *
 * A call adds the function's nodes in its place. Names in a function are its own: they
 * are in a table of their own, in which the function's inputs are other names for the
 * caller's values; its outputs become such for the caller. Attributes of its nodes may
 * refer to those of the call. A call may be repeated, so nothing of a function's message
 * is moved in the file's memory.
 */
#include "onnx.h"

#include <stdlib.h>

#define MAX_CALLS 32         /* of functions in functions */
#define MAX_INLINED 100000   /* nodes of functions, over all calls */
#define MAX_WALKED (1 << 26) /* bytes of functions, over all calls */

struct onnx_function {
    struct tdl_pb message, domain, type, overload;
};

struct onnx_call {
    const struct onnx_function *function;
    const struct onnx_node *node; /* that calls it */
    const struct onnx_call *outer;
};

/* ------------------------------------------------------------------------ table */

struct key {
    struct onnx_name domain, type, overload;
};

static struct key key_of(const struct onnx_import *im, const struct tdl_pb *domain,
                         const struct tdl_pb *type, const struct tdl_pb *overload)
{
    static const struct tdl_pb none = {0};
    const bool own = tdl_pb_is(domain, "ai.onnx"); /* which may be left out */

    return (struct key){
        onnx_name_key(im, own ? &none : domain),
        onnx_name_key(im, type),
        onnx_name_key(im, overload),
    };
}

static bool read_function(struct onnx_import *im, const struct tdl_pb *message,
                          struct onnx_function *out)
{
    struct tdl_pb m = *message;
    struct tdl_pb_field f;
    char text[64];

    *out = (struct onnx_function){.message = *message};
    while (tdl_pb_next(&m, &f)) {
        if (f.number == ONNX_FUNCTION_NAME)
            out->type = f.in;
        else if (f.number == ONNX_FUNCTION_DOMAIN)
            out->domain = f.in;
        else if (f.number == ONNX_FUNCTION_OVERLOAD)
            out->overload = f.in;
    }
    if (m.broken)
        return onnx_fail_damaged(im, "a function");
    const struct key key = key_of(im, &out->domain, &out->type, &out->overload);
    if (tdl_map_find(&im->function_names, &key, sizeof(key)))
        return tdl_kit_damaged(&im->kit, "the model file is damaged: two functions are named '%s'",
                               tdl_pb_text(&out->type, text, sizeof(text)));
    return tdl_map_add(&im->function_names, &key, sizeof(key), (uint64_t)(out - im->functions)) ||
           tdl_kit_fail_memory(&im->kit);
}

bool onnx_read_functions(struct onnx_import *im, const struct tdl_pb *model)
{
    struct tdl_pb m = *model;
    struct tdl_pb_field f;
    size_t count = 0;

    while (tdl_pb_next(&m, &f))
        count += f.number == ONNX_MODEL_FUNCTION;
    if (count == 0)
        return true;
    im->functions = calloc(count, sizeof(*im->functions));
    if (!im->functions)
        return tdl_kit_fail_memory(&im->kit);
    count = 0;
    for (m = *model; tdl_pb_next(&m, &f);)
        if (f.number == ONNX_MODEL_FUNCTION && !read_function(im, &f.in, &im->functions[count++]))
            return false;
    return true;
}

void onnx_forget_functions(struct onnx_import *im)
{
    free(im->functions);
    tdl_map_finish(&im->function_names);
}

const struct onnx_function *onnx_find_function(const struct onnx_import *im,
                                               const struct onnx_node *node)
{
    if (!im->functions)
        return NULL;
    const struct key key = key_of(im, &node->domain, &node->type, &node->overload);
    const uint64_t *place = tdl_map_find(&im->function_names, &key, sizeof(key));

    return place ? &im->functions[*place] : NULL;
}

const struct tdl_pb *onnx_function_name(const struct onnx_import *im)
{
    return im->call ? &im->call->function->type : NULL;
}

/* ------------------------------------------------------------------- attributes */

/* The attribute of that name among those of a message, in its field `number`. */
static bool find_attribute(struct tdl_pb message, uint32_t number, const struct tdl_pb *name,
                           struct tdl_pb *out)
{
    struct tdl_pb_field f, g;

    while (tdl_pb_next(&message, &f)) {
        struct tdl_pb attribute = f.in;

        while (f.number == number && tdl_pb_next(&attribute, &g))
            if (g.number == ONNX_ATTRIBUTE_NAME && tdl_pb_equal(&g.in, name)) {
                *out = f.in;
                return true;
            }
    }
    return false;
}

/* What an attribute's field of that number holds; false where it has none. */
static bool find_field(struct tdl_pb attribute, uint32_t number, struct tdl_pb *out)
{
    struct tdl_pb_field f;

    while (tdl_pb_next(&attribute, &f))
        if (f.number == number) {
            *out = f.in;
            return true;
        }
    return false;
}

bool onnx_resolve_attribute(const struct onnx_import *im, struct tdl_pb *attribute)
{
    const struct onnx_call *call = im->call;
    struct tdl_pb name, graph;
    bool referred = false;

    while (find_field(*attribute, ONNX_ATTRIBUTE_REFERENCE, &name) && name.size > 0) {
        if (!call) {
            tdl_builder_fail(im->builder, TDL_ERROR_INVALID_MODEL,
                             "the model file is damaged: an attribute refers to one of a function, "
                             "and the node is in none");
            return false;
        }
        referred = true;
        if (!find_attribute(call->node->message, ONNX_NODE_ATTRIBUTE, &name, attribute))
            return find_attribute(call->function->message, ONNX_FUNCTION_DEFAULT, &name, attribute);
        call = call->outer;
    }
    /* The names in it would be the caller's. */
    if (!referred || !find_field(*attribute, ONNX_ATTRIBUTE_GRAPH, &graph))
        return true;
    tdl_builder_fail(im->builder, TDL_ERROR_UNSUPPORTED,
                     "graphs as attributes of functions are not supported; inline the functions "
                     "(onnx.inliner.inline_local_functions)");
    return false;
}

/* ------------------------------------------------------------------------ calls */

/* The function's input `i` is the caller's, or was left out. */
static bool add_input(struct onnx_import *im, struct tdl_map *inside, const struct tdl_pb *name,
                      uint32_t i)
{
    struct tdl_map outside = im->names;
    struct onnx_value *v = onnx_given(im, i) ? onnx_find(im, &im->node.inputs[i]) : NULL;
    char text[64];
    bool ok;

    if (onnx_given(im, i) && !v)
        return tdl_kit_damaged(
            &im->kit,
            "the model file is damaged: input %u, '%s', is no value of the graph "
            "before it",
            i, tdl_pb_text(&im->node.inputs[i], text, sizeof(text)));
    const uint64_t place = v ? (uint64_t)(v - im->values) : 0;
    if (v && v->readers > 0)
        v->readers--; /* the call itself: those that read are in the function */
    im->names = *inside;
    if (v) {
        ok = onnx_add_alias(im, name, place);
    } else {
        v = onnx_add_value(im, name);
        ok = v != NULL;
        if (v)
            v->omitted = true;
    }
    *inside = im->names;
    im->names = outside;
    return ok;
}

/* The function's output `i` is the caller's under the name that the node has for it. */
static bool give_output(struct onnx_import *im, struct tdl_map *inside, const struct tdl_pb *name,
                        uint32_t i)
{
    struct tdl_map outside = im->names;
    struct onnx_value *v;
    char text[64];

    if (!onnx_wanted(im, i))
        return true;
    im->names = *inside;
    v = onnx_find(im, name);
    im->names = outside;
    if (!v || v->omitted)
        return tdl_kit_damaged(&im->kit, "no node of the function writes output '%s'",
                               tdl_pb_text(name, text, sizeof(text)));
    return onnx_add_alias(im, &im->node.outputs[i], (uint64_t)(v - im->values));
}

/* Does so for each name in the function's field `number`. */
static bool each_name(struct onnx_import *im, const struct onnx_function *f, uint32_t number,
                      struct tdl_map *inside)
{
    struct tdl_pb m = f->message;
    struct tdl_pb_field field;
    uint32_t i = 0;

    while (tdl_pb_next(&m, &field))
        if (field.number == number &&
            !(number == ONNX_FUNCTION_INPUT ? add_input : give_output)(im, inside, &field.in, i++))
            return false;
    return true;
}

static bool add_body(struct onnx_import *im, const struct onnx_function *f, struct tdl_map *inside)
{
    const struct onnx_node caller = im->node; /* adding nodes writes over it */
    const struct onnx_call call = {f, &caller, im->call};
    const struct tdl_map outside = im->names;
    const uint32_t number = im->node_number;
    const uint64_t opset = im->opset;
    bool ok;

    im->call = &call;
    im->names = *inside;
    ok = onnx_read_opsets(im, &f->message, ONNX_FUNCTION_OPSET) &&
         onnx_add_nodes(im, &f->message, ONNX_FUNCTION_NODE);
    *inside = im->names;
    im->names = outside;
    im->call = call.outer;
    im->node_number = number;
    im->opset = opset;
    return ok;
}

/* What a call costs in time is the function's length, so functions that call others twice,
 * and these others, are bounded in all. */
static bool check_call(struct onnx_import *im, const struct onnx_function *f)
{
    uint32_t counts[ONNX_FUNCTION_NODE + 1] = {0}, depth = 0;
    struct tdl_pb m = f->message;
    struct tdl_pb_field field;
    char text[64];

    for (const struct onnx_call *c = im->call; c; c = c->outer, depth++)
        if (c->function == f)
            return tdl_kit_damaged(&im->kit, "the function '%s' calls itself",
                                   tdl_pb_text(&f->type, text, sizeof(text)));
    if (depth == MAX_CALLS)
        return tdl_kit_lacks(&im->kit, "functions are nested deeper than %d", MAX_CALLS);
    im->walked += f->message.size;
    while (im->walked <= MAX_WALKED && tdl_pb_next(&m, &field))
        if (field.number <= ONNX_FUNCTION_NODE)
            counts[field.number]++;
    im->inlined += 1 + counts[ONNX_FUNCTION_NODE];
    if (im->inlined > MAX_INLINED || im->walked > MAX_WALKED)
        return tdl_kit_lacks(&im->kit, "the model's functions become more than %d operators",
                             MAX_INLINED);
    if (im->node.input_count > counts[ONNX_FUNCTION_INPUT] ||
        im->node.output_count > counts[ONNX_FUNCTION_OUTPUT])
        return tdl_kit_damaged(&im->kit,
                               "%u inputs and %u outputs of a function that has %u and %u",
                               im->node.input_count, im->node.output_count,
                               counts[ONNX_FUNCTION_INPUT], counts[ONNX_FUNCTION_OUTPUT]);
    return true;
}

bool onnx_add_call(struct onnx_import *im, const struct onnx_function *f)
{
    struct tdl_map inside = {0};
    const bool ok = check_call(im, f) && each_name(im, f, ONNX_FUNCTION_INPUT, &inside) &&
                    add_body(im, f, &inside) && each_name(im, f, ONNX_FUNCTION_OUTPUT, &inside);

    tdl_map_finish(&inside);
    return ok;
}
