/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A graph: its initializers, its inputs, and the nodes in an order in which they can run. */
#include "onnx.h"

#define MAX_DEPTH 8 /* of graphs within graphs */

static bool add_initializer(struct onnx_import *im, const struct tdl_pb *message)
{
    struct tdl_pb m = *message, name = {0};
    struct tdl_pb_field f;
    struct onnx_value *v;

    while (tdl_pb_next(&m, &f))
        if (f.number == ONNX_TENSOR_NAME)
            name = f.in;
    if (m.broken)
        return onnx_fail_damaged(im, "a tensor");
    v = onnx_add_value(im, &name);
    if (v) {
        v->initializer = *message;
        v->again = im->call != NULL || im->again;
    }
    return v != NULL;
}

/* Initializers may stand behind the nodes that read them. */
static bool add_initializers(struct onnx_import *im, const struct tdl_pb *graph)
{
    struct tdl_pb g = *graph;
    struct tdl_pb_field f;

    while (tdl_pb_next(&g, &f)) {
        if (f.number == ONNX_GRAPH_SPARSE_INITIALIZER)
            return tdl_kit_refuse(&im->kit,
                                  "sparse constants are not supported; export dense ones");
        if (f.number == ONNX_GRAPH_INITIALIZER && !add_initializer(im, &f.in))
            return false;
    }
    return !g.broken || onnx_fail_damaged(im, "the graph");
}

bool onnx_add_graph(struct onnx_import *im, const struct tdl_pb *graph)
{
    bool ok;

    if (im->depth == MAX_DEPTH)
        return tdl_kit_lacks(&im->kit, "graphs are nested deeper than %d", MAX_DEPTH);
    im->depth++;
    ok = add_initializers(im, graph) && (im->depth > 1 || onnx_add_inputs(im, graph)) &&
         onnx_add_nodes(im, graph, ONNX_GRAPH_NODE);
    im->depth--;
    return ok;
}
