/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The reader of TensorFlow.js models: a JSON file, with the weights in others beside it. */
#include "recognise.h"
#include "tfjs.h"

#include <stdlib.h>

static bool parse(struct tfjs_import *im)
{
    json_error_t error;

    im->file = json_loadb(im->kit.source->data, im->kit.source->size, 0, &error);
    if (!im->file)
        return tdl_kit_damaged(&im->kit, "the model file is damaged: line %d of its JSON: %.120s",
                               error.line, error.text);
    if (json_is_object(im->file) && json_object_get(im->file, "modelTopology"))
        return true;
    return tdl_kit_damaged(&im->kit, "this JSON is no TensorFlow.js model: it has no "
                                     "\"modelTopology\"; give the model.json that lies beside the "
                                     "weights");
}

/* Older converters have it among what the user adds. */
static json_t *find_signature(json_t *file)
{
    json_t *signature = json_object_get(file, "signature");

    if (json_object_size(signature) == 0)
        signature = json_object_get(json_object_get(file, "userDefinedMetadata"), "signature");
    return json_is_object(signature) ? signature : NULL;
}

static bool read_model(struct tfjs_import *im)
{
    json_t *topology, *nodes;

    if (!parse(im))
        return false;
    topology = json_object_get(im->file, "modelTopology");
    nodes = json_object_get(topology, "node");
    im->signature = find_signature(im->file);
    if (!tfjs_read_weights(im, json_object_get(im->file, "weightsManifest")))
        return false;
    if (!nodes &&
        (json_object_get(topology, "model_config") || json_object_get(topology, "class_name")))
        nodes = im->own_nodes = tfjs_lower_layers(im, topology);
    else if (!json_is_array(nodes))
        return tdl_kit_damaged(&im->kit, "this JSON is no TensorFlow.js model: its topology has "
                                         "neither nodes nor layers");
    return nodes && tfjs_read_nodes(im, nodes);
}

static const struct tdl_kit_ways ways = {
    .other = "convert the model anew with tensorflowjs_converter, or to ONNX (python -m "
             "tf2onnx.convert --tfjs model.json --output model.onnx)",
    .fixed = " (an input signature of "
             "numbers)",
};

static void import(struct tdl_builder *builder, const struct tdl_model_source *source)
{
    struct tfjs_import im = {.kit = tdl_kit_begin(builder, source, &ways), .builder = builder};

    tdl_builder_set_input_layout(builder, TDL_LAYOUT_NHWC);
    if (read_model(&im) && tfjs_try_states(&im) && tfjs_add_inputs(&im) && tfjs_add_outputs(&im))
        tfjs_check_states(&im);
    tdl_builder_set_label(builder, NULL);
    tfjs_forget_values(&im);
    free(im.states);
    free(im.nodes);
    free(im.weights);
    json_decref(im.own_nodes);
    json_decref(im.own_signature);
    json_decref(im.node_names);
    json_decref(im.weight_names);
    json_decref(im.file);
}

const struct tdl_model_format tdl_model_tfjs = {
    .name = "TensorFlow.js",
    .recognises = tfjs_recognises,
    .operator_name = tfjs_operator_name,
    .import = import,
};
