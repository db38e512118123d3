/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Graphs of a file behind the first, which is the one that runs, as in TensorFlow Lite's
 * interpreter. A STABLEHLO_COMPOSITE is some operators under a name: those of another
 * graph, which are added in its place.
 */
#include "ops.h"

#include <stdlib.h>

/* Graphs within graphs, and operators that are added so in all: a small file could ask for
 * any number of them. */
#define MAX_DEPTH 32
#define MAX_INLINED 1000000 /* operators and tensors */

static bool count_inlined(struct tflite_import *im, uint64_t count)
{
    im->inlined += im->depth ? count : 0;
    return im->inlined <= MAX_INLINED ||
           tdl_kit_refuse(&im->kit,
                          "the model's graphs become more than %d operators and tensors: "
                          "convert it without composites",
                          MAX_INLINED);
}

bool tflite_open_subgraph(struct tflite_import *im, uint32_t index)
{
    struct tdl_fb_table subgraph;

    if (index >= im->subgraphs.count)
        return tdl_kit_damaged(&im->kit, "the model file is damaged: there is no graph %u, only %u",
                               index, im->subgraphs.count);
    subgraph = tdl_fb_vector_table(&im->fb, &im->subgraphs, index);
    im->tensors = tdl_fb_vector_of(&im->fb, &subgraph, TFLITE_SUBGRAPH_TENSORS, 4);
    im->inputs = tdl_fb_vector_of(&im->fb, &subgraph, TFLITE_SUBGRAPH_INPUTS, 4);
    im->outputs = tdl_fb_vector_of(&im->fb, &subgraph, TFLITE_SUBGRAPH_OUTPUTS, 4);
    im->operators = tdl_fb_vector_of(&im->fb, &subgraph, TFLITE_SUBGRAPH_OPERATORS, 4);
    if (!tflite_check(im) || !count_inlined(im, im->tensors.count + (uint64_t)im->operators.count))
        return false;
    im->graph = index;
    im->values = calloc((size_t)im->tensors.count + 1, sizeof(*im->values));
    if (!im->values)
        return tdl_kit_fail(&im->kit, TDL_ERROR_OUT_OF_MEMORY, "no memory for %u tensors",
                            im->tensors.count);
    return true;
}

/* Output `number` of the graph; NULL with the builder in error. */
static struct tdl_operand *result(struct tflite_import *im, uint32_t number)
{
    return tflite_operand(im, tdl_fb_vector_i32(&im->fb, &im->outputs, number));
}

/* The graph's operators, of these inputs; its outputs in their places. */
static bool add_graph(struct tflite_import *im, uint32_t index, struct tdl_operand *const *inputs,
                      struct tdl_operand **outputs, const struct tflite_op *op)
{
    if (!tflite_open_subgraph(im, index))
        return false;
    if (im->inputs.count != op->input_count || im->outputs.count != op->output_count)
        return tdl_kit_damaged(&im->kit, "%u inputs and %u outputs of a graph that has %u and %u",
                               op->input_count, op->output_count, im->inputs.count,
                               im->outputs.count);
    for (uint32_t i = 0; i < op->input_count; i++) {
        const int32_t place = tdl_fb_vector_i32(&im->fb, &im->inputs, i);
        struct tflite_tensor tensor;

        if (!tflite_get_tensor(im, place, &tensor) || !tflite_is_new(im, place, &tensor))
            return false;
        im->values[place].operand = inputs[i];
    }
    for (uint32_t i = 0; i < im->operators.count; i++)
        if (!im->add_operator(im, i))
            return false;
    for (uint32_t i = 0; i < op->output_count; i++)
        if (!(outputs[i] = result(im, i)))
            return false;
    return true;
}

static bool add_composite(struct tflite_import *im, const struct tflite_op *op)
{
    const int32_t index = tdl_fb_i32(&im->fb, &op->options, TFLITE_COMPOSITE_SUBGRAPH, 0);
    const struct tflite_import outer = *im;
    struct tdl_operand *inputs[TFLITE_MAX_ARGS], *outputs[TFLITE_MAX_ARGS];

    for (uint32_t i = 0; i < op->input_count; i++)
        if (!(inputs[i] = tflite_operand(im, op->inputs[i])))
            return false;
    if (!tflite_check(im))
        return false;
    if (im->depth >= MAX_DEPTH)
        return tdl_kit_refuse(&im->kit,
                              "graphs are nested deeper than %d: convert the model "
                              "without composites",
                              MAX_DEPTH);
    im->depth++;
    im->values = NULL;
    const bool ok = add_graph(im, (uint32_t)index, inputs, outputs, op);
    free(im->values);
    im->tensors = outer.tensors;
    im->inputs = outer.inputs;
    im->outputs = outer.outputs;
    im->operators = outer.operators;
    im->values = outer.values;
    im->depth = outer.depth;
    im->graph = outer.graph;
    for (uint32_t i = 0; ok && i < op->output_count; i++)
        if (!tflite_give_at(im, op, i, outputs[i]))
            return false;
    return ok;
}

const struct tflite_op_row tflite_rows_subgraphs[] = {
    TFLITE_OP(STABLEHLO_COMPOSITE, 1, 0, TFLITE_MAX_ARGS, add_composite,
              .options2 = TFLITE_COMPOSITE_OPTIONS, .outputs = TFLITE_MAX_ARGS),
    {0},
};
