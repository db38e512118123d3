/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * ONNX files: from the protocol buffer to builder calls.
 *
 * A graph is a list of nodes in an order in which they can run, with values by
 * name: the graph's inputs, its initializers, outputs of nodes. Initializers become
 * operands when a node first reads them, so unused ones cost nothing.
 *
 * Nothing in the file is believed: protobuf.c checks lengths, this file nodes,
 * graph.c names, tensor.c sizes of constants, ops_*.c attributes, the builder shapes.
 */
#include "onnx.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --------------------------------------------------------------------- nodes */

static const void *const tables[] = {
    onnx_rows_activations,
    onnx_rows_attention,
    onnx_rows_detect,
    onnx_rows_elements,
    onnx_rows_fourier,
    onnx_rows_image,
    onnx_rows_indices,
    onnx_rows_linear,
    onnx_rows_losses,
    onnx_rows_moving,
    onnx_rows_normalize,
    onnx_rows_quantize,
    onnx_rows_random,
    onnx_rows_recurrent,
    onnx_rows_regions,
    onnx_rows_sequence,
    onnx_rows_shape,
    onnx_rows_microsoft,
    onnx_rows_microsoft_attention,
    onnx_rows_microsoft_quantized,
};
enum { TABLES = sizeof(tables) / sizeof(tables[0]), MICROSOFT = 3 }; /* of these, the last ones */
static const struct tdl_kit_tables operators = {tables, TABLES, sizeof(struct onnx_row)};
static const struct tdl_kit_tables own = {tables, TABLES - MICROSOFT, sizeof(struct onnx_row)};

static const char *operator_name(uint32_t index)
{
    return tdl_kit_row_name(&operators, index);
}

/* An input of the function that its caller left out is left out here, too, as is an optional
 * value without one. */
static bool is_omitted(struct onnx_import *im, const struct tdl_pb *name)
{
    const struct onnx_value *v = name->size > 0 ? onnx_find(im, name) : NULL;

    return v && v->omitted;
}

/* Counts first, so that two lists of the right size hold the names. */
static bool read_node(struct onnx_import *im, const struct tdl_pb *message, struct onnx_node *n)
{
    struct tdl_pb m = *message;
    struct tdl_pb_field f;

    *n = (struct onnx_node){.message = *message};
    while (tdl_pb_next(&m, &f)) {
        n->input_count += f.number == ONNX_NODE_INPUT;
        n->output_count += f.number == ONNX_NODE_OUTPUT;
        if (f.number == ONNX_NODE_TYPE)
            n->type = f.in;
        else if (f.number == ONNX_NODE_DOMAIN)
            n->domain = f.in;
        else if (f.number == ONNX_NODE_NAME)
            n->name = f.in;
        else if (f.number == ONNX_NODE_OVERLOAD)
            n->overload = f.in;
    }
    if (m.broken)
        return onnx_fail_damaged(im, "a node");
    n->inputs = calloc((size_t)n->input_count + n->output_count + 1, sizeof(*n->inputs));
    if (!n->inputs)
        return tdl_kit_fail_memory(&im->kit);
    n->outputs = n->inputs + n->input_count;
    m = *message;
    for (uint32_t in = 0, out = 0; tdl_pb_next(&m, &f);) {
        if (f.number == ONNX_NODE_INPUT)
            n->inputs[in++] = is_omitted(im, &f.in) ? (struct tdl_pb){0} : f.in;
        else if (f.number == ONNX_NODE_OUTPUT)
            n->outputs[out++] = f.in;
    }
    return true;
}

static void set_label(const struct onnx_import *im, const struct onnx_node *n)
{
    const struct tdl_pb *function = onnx_function_name(im);
    char type[48], name[40], of[48], label[180];
    int length;

    tdl_pb_text(&n->type, type, sizeof(type));
    tdl_pb_text(&n->name, name, sizeof(name));
    if (!*name && n->output_count) /* by which it is found in a viewer, too */
        tdl_pb_text(&n->outputs[0], name, sizeof(name));
    length = snprintf(label, sizeof(label), *name ? "node %u %s '%s'" : "node %u %s",
                      im->node_number, type, name);
    if (function)
        snprintf(label + length, sizeof(label) - (size_t)length, " of function '%s'",
                 tdl_pb_text(function, of, sizeof(of)));
    tdl_builder_set_label(im->builder, label);
}

static const struct onnx_row *find_own(const struct onnx_node *n)
{
    return tdl_kit_find_row(&own, (const char *)n->type.data, n->type.size);
}

/* Rows of ONNX Runtime's domain are named by it, too; without a function they are as ONNX's. */
static const struct onnx_row *find_microsoft(const struct onnx_node *n)
{
    static const char domain[] = "com.microsoft.";
    const struct onnx_row *row;
    char name[80];
    const size_t length = sizeof(domain) - 1 + n->type.size;

    if (n->type.size == 0 || length > sizeof(name))
        return NULL;
    memcpy(name, domain, sizeof(domain) - 1);
    memcpy(name + sizeof(domain) - 1, n->type.data, n->type.size);
    row = tdl_kit_find_row(&operators, name, length);
    return row && !row->add ? find_own(n) : row;
}

static bool check_node(struct onnx_import *im, struct onnx_node *n)
{
    const bool onnx = n->domain.size == 0 || tdl_pb_is(&n->domain, "ai.onnx");

    set_label(im, n);
    /* As in ONNX Runtime, functions do not take the place of operators. */
    n->row = onnx ? find_own(n) : tdl_pb_is(&n->domain, "com.microsoft") ? find_microsoft(n) : NULL;
    n->function = n->row ? NULL : onnx_find_function(im, n);
    if (n->function)
        return n->output_count > 0 || tdl_kit_damaged(&im->kit, "it has no output");
    if (!n->row)
        return onnx ? onnx_refuse_operator(im, n) : onnx_refuse_domain(im, n);
    if (!onnx_check_opset(im))
        return false;
    if (n->input_count < n->row->least ||
        (n->row->most != TDL_KIT_MANY && n->input_count > n->row->most))
        return tdl_kit_damaged(&im->kit, "%u inputs instead of %u to %u", n->input_count,
                               n->row->least, n->row->most);
    if (n->output_count == 0)
        return tdl_kit_damaged(&im->kit, "it has no output");
    return true;
}

static bool add_row(struct onnx_import *im)
{
    if (!im->has_counts)
        return im->node.row->add(im);
    return onnx_prepare_counts(im) && onnx_add_counted(im) && onnx_follow_counts(im);
}

static bool add_node(struct onnx_import *im, const struct tdl_pb *message)
{
    const struct onnx_node outer = im->node;
    char text[64];
    bool ok;

    if (!read_node(im, message, &im->node)) {
        im->node = outer;
        return false;
    }
    ok = check_node(im, &im->node) &&
         (im->node.function ? onnx_add_call(im, im->node.function) : add_row(im)) &&
         tdl_builder_status(im->builder) == TDL_OK;
    for (uint32_t i = 0; ok && i < im->node.output_count; i++)
        if (onnx_wanted(im, i) && !onnx_find(im, &im->node.outputs[i]))
            ok = tdl_kit_lacks(&im->kit, "output %u, '%s', is not supported", i,
                               tdl_pb_text(&im->node.outputs[i], text, sizeof(text)));
    free(im->node.inputs);
    im->node = outer;
    return ok;
}

/* -------------------------------------------------------------------- models */

static bool read_model(struct onnx_import *im, struct tdl_pb *graph)
{
    const struct tdl_pb model = {.data = im->kit.source->data, .size = im->kit.source->size};
    struct tdl_pb m = model;
    struct tdl_pb_field f;

    *graph = (struct tdl_pb){0};
    while (tdl_pb_next(&m, &f))
        if (f.number == ONNX_MODEL_GRAPH)
            *graph = f.in;
    if (m.broken)
        return onnx_fail_damaged(im, "the model");
    if (!graph->data)
        return tdl_kit_damaged(&im->kit,
                               "the model file is damaged: it has no graph; get the file again");
    return onnx_read_functions(im, &model) && onnx_read_opsets(im, &model, ONNX_MODEL_OPSET);
}

static uint64_t element_type(const struct tdl_pb *message)
{
    struct tdl_pb type = *message;
    struct tdl_pb_field f, g;

    while (tdl_pb_next(&type, &f))
        while (f.number == ONNX_TYPE_TENSOR && tdl_pb_next(&f.in, &g))
            if (g.number == ONNX_TENSOR_TYPE_ELEMENT)
                return g.value;
    return 0;
}

/* float16, which is float32 inside, to those who read the graph's outputs. */
static struct tdl_operand *as_declared(struct onnx_import *im, struct tdl_operand *o, uint64_t type)
{
    if (type != ONNX_FLOAT16 || tdl_kit_desc(o)->dtype != TDL_FLOAT32)
        return o;
    return tdl_builder_cast(im->builder, o, TDL_FLOAT16);
}

/* The next output of the graph behind `g`: its name and type; false behind the last. */
static bool next_output(struct tdl_pb *g, struct tdl_pb *name, uint64_t *type)
{
    struct tdl_pb_field f, h;

    while (tdl_pb_next(g, &f)) {
        if (f.number != ONNX_GRAPH_OUTPUT)
            continue;
        *name = (struct tdl_pb){0};
        for (*type = 0; tdl_pb_next(&f.in, &h);) {
            if (h.number == ONNX_VALUE_NAME)
                *name = h.in;
            else if (h.number == ONNX_VALUE_TYPE)
                *type = element_type(&h.in);
        }
        return true;
    }
    return false;
}

static bool add_output(struct onnx_import *im, const struct tdl_pb *name, uint64_t type)
{
    struct onnx_value *v = onnx_find(im, name);
    char text[TDL_KIT_NAME];

    tdl_pb_name(name, text, sizeof(text));
    if (!v)
        return tdl_kit_damaged(
            &im->kit, "the model file is damaged: no node writes the output '%.400s'", text);
    if (!onnx_refuse_wide(im, v) || !onnx_settle(im, v))
        return false;
    if (!v->operand)
        return tdl_kit_lacks(&im->kit, "the output '%.400s' has no elements", text);

    struct tdl_operand *o = onnx_mask_output(im, v);

    return o && tdl_model_output(im->builder, im->kit.source, text, as_declared(im, o, type));
}

/* Sizes that depend on numbers come behind the file's own outputs. */
static bool add_outputs(struct onnx_import *im, const struct tdl_pb *graph)
{
    struct tdl_pb g = *graph, name;
    uint32_t count = 0;
    uint64_t type;

    for (; next_output(&g, &name, &type); count++)
        if (!add_output(im, &name, type))
            return false;
    for (g = *graph; im->kit.params->output_shapes && next_output(&g, &name, &type);)
        if (!onnx_add_shape_output(im, &name))
            return false;
    return count > 0 || tdl_kit_damaged(&im->kit, "the model has no outputs");
}

static const struct tdl_kit_ways ways = {
    .other = "simplify the file (onnxsim IN OUT), or export it with "
             "PyTorch's other exporter (dynamo=True, or False) or another opset_version",
    .fixed = " (torch.onnx.export without dynamic_axes and dynamic_shapes, or onnxsim "
             "--overwrite-input-shape)",
};

static void import(struct tdl_builder *builder, const struct tdl_model_source *source)
{
    struct onnx_import im = {
        .kit = tdl_kit_begin(builder, source, &ways),
        .builder = builder,
        .add_node = add_node,
        /* Where memory lies differs from run to run. */
        .seed = (uint64_t)(uintptr_t)builder * 0x9e3779b97f4a7c15u,
    };
    tdl_builder_set_input_layout(builder, TDL_LAYOUT_NCHW);
    const bool ok = read_model(&im, &im.graph) && onnx_add_graph(&im, &im.graph);

    tdl_builder_set_label(builder, NULL);
    if (ok)
        add_outputs(&im, &im.graph);
    free(im.values);
    tdl_map_finish(&im.names);
    onnx_forget_functions(&im);
    onnx_forget_declared(&im);
    onnx_forget_files(&im);
}

/* There is no identifier; but files begin with the version of the format, and then
 * comes one of the model's other fields: names, numbers, the graph. */
static bool recognises(const void *head, size_t size)
{
    const uint8_t *bytes = head;

    return size >= 4 && bytes[0] == (ONNX_MODEL_IR_VERSION << 3) && bytes[1] >= 3 &&
           bytes[1] < 0x20 &&
           (bytes[2] == 0x12 || bytes[2] == 0x1a || bytes[2] == 0x22 || bytes[2] == 0x28 ||
            bytes[2] == 0x32 || bytes[2] == 0x3a || bytes[2] == 0x42);
}

const struct tdl_model_format tdl_model_onnx = {
    .name = "ONNX",
    .recognises = recognises,
    .operator_name = operator_name,
    .import = import,
};
