/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Between the files of the TensorFlow.js reader. tfjs.c opens the file, weights.c its
 * shards, inputs.c names what goes in and out, graph.c walks the nodes, values.c knows what
 * they gave, ops_*.c turn them into builder calls.
 *
 * All operands are in TensorFlow's order: of four dimensions the last is the channels
 * (NHWC). Integers are int32, bool is uint8 of 0 and 1, as TensorFlow.js has them.
 */
#ifndef TDL_TFJS_H
#define TDL_TFJS_H

#include "models/kit/kit.h"

#include <jansson.h>

/* Kinds of a node's output. */
struct tfjs_value {
    struct tdl_operand *operand; /* NULL: without elements */
    bool given;
    struct tdl_tensor_params empty; /* shape of one without elements */
    const void *data;               /* the elements of a constant of the file */
    /* Not 0: the value is SpaceToBatchND of the operand by this block, which a convolution
     * and BatchToSpaceND behind it turn into a dilation. */
    uint32_t block[2];
};

struct tfjs_node {
    json_t *json;
    const char *name, *type;
    json_t *inputs; /* an array, or NULL */
    uint32_t data_inputs;
    enum { TFJS_WAITING, TFJS_BEGUN, TFJS_DONE } state;
    uint32_t looked_at; /* inputs whose nodes are done */
    bool dead;          /* belongs to a branch that is not taken */
    struct tfjs_value *values;
    uint32_t value_count;
};

/* A tensor of the weights, as the manifest describes it. */
struct tfjs_weight {
    const char *name;
    enum tdl_dtype dtype;
    struct tdl_tensor_params desc; /* dimensions may be 0 */
    uint64_t count;                /* elements */
    uint32_t stored;               /* bytes of one in the file */
    bool halves, affine;           /* the file has float16, or scale · number + min */
    double scale, min;
    const uint8_t *data;
};

/* An input that is an output of the run before, by the names of the signature. */
struct tfjs_state {
    const char *input, *output, *reference; /* the last: of the output's value */
    bool open;     /* the file does not say its shape, nor does the caller */
    bool any_rank; /* nor how many dimensions it has */
    bool known;    /* `shape` is that of its output */
    struct tdl_tensor_params shape;
};

struct tfjs_import {
    struct tdl_kit kit;
    struct tdl_builder *builder; /* the kit's */
    json_t *file;
    json_t *signature;                 /* or NULL */
    json_t *own_signature, *own_nodes; /* of layers, which became nodes */
    struct tfjs_node *nodes;
    uint32_t node_count;
    json_t *node_names; /* places in `nodes` */
    struct tfjs_weight *weights;
    uint32_t weight_count;
    json_t *weight_names; /* places in `weights` */
    struct tfjs_state *states;
    uint32_t state_count;
    bool trial;             /* only shapes are of interest */
    struct tfjs_node *node; /* the node being added */
    const struct tfjs_row *row;
};

/* `add` ends in tfjs_give(). */
struct tfjs_row {
    TDL_KIT_ROW(bool (*add)(struct tfjs_import *im));
};

/* Tables of rows, each ends with an empty one. */
extern const struct tfjs_row tfjs_rows_conv[], tfjs_rows_elements[], tfjs_rows_image[],
    tfjs_rows_indices[], tfjs_rows_linear[], tfjs_rows_moving[], tfjs_rows_shape[];
/* rows.c: the row of an operator, or NULL. */
const struct tfjs_row *tfjs_find_row(const char *type);
/* The name of operator `index`: what the walk itself does, then the rows'; NULL behind the
 * last. */
const char *tfjs_operator_name(uint32_t index);
/* Why an operator is refused that a graph of fixed shapes cannot have; NULL: it is not one. */
const char *tfjs_reason(const char *type);

/* -------------------------------------------------------------- weights.c */

/* Reads the manifest and the shards. */
bool tfjs_read_weights(struct tfjs_import *im, json_t *manifest);
/* The elements as libtdl has them, valid as long as the builder; NULL with the builder in
 * error. */
const void *tfjs_weight_data(struct tfjs_import *im, const struct tfjs_weight *weight);

/* --------------------------------------------------------------- inputs.c */

/* Placeholders become operands, what is left open in their shapes bound. */
bool tfjs_add_inputs(struct tfjs_import *im);
/* Adds the nodes that outputs need, and names these. */
bool tfjs_add_outputs(struct tfjs_import *im);

/* The name as people write it: without ":0", and what a terminal would obey. */
void tfjs_copy_name(const char *from, char to[TDL_KIT_NAME]);

/* --------------------------------------------------------------- states.c */

/* Finds the states, and the shapes of those that are open, by a trial. */
bool tfjs_try_states(struct tfjs_import *im);
/* The state of an input of the signature, or NULL. */
struct tfjs_state *tfjs_find_state(struct tfjs_import *im, const char *key);
/* Call after the outputs: are they what the trial told? */
bool tfjs_check_states(struct tfjs_import *im);

/* --------------------------------------------------------------- layers.c */

/* The layers of Keras's model as nodes, and the signature; NULL with the builder in error. */
json_t *tfjs_lower_layers(struct tfjs_import *im, json_t *topology);

/* ---------------------------------------------------------------- graph.c */

bool tfjs_read_nodes(struct tfjs_import *im, json_t *nodes);
/* Nothing is added yet. */
void tfjs_forget_values(struct tfjs_import *im);
/* The value that "name:1" refers to, its node and all before it added. NULL with the builder
 * in error. */
struct tfjs_value *tfjs_require(struct tfjs_import *im, const char *reference);
/* --------------------------------------------------------------- values.c */

/* Node of a reference, which may say which output, and may begin with '^'. NULL: no such. */
struct tfjs_node *tfjs_find_node(struct tfjs_import *im, const char *reference,
                                 uint32_t *out_index);
/* Input `i` of the node. NULL with the builder in error, also where it has no elements. */
struct tdl_operand *tfjs_operand(struct tfjs_import *im, uint32_t i);
/* Gives the input, whatever it is; NULL with the builder in error. */
struct tfjs_value *tfjs_in_value(struct tfjs_import *im, uint32_t i);
bool tfjs_is_empty(struct tfjs_import *im, uint32_t i);
/* Input `i` as numbers that are known now; none where it has no elements. False with the
 * builder in error. */
bool tfjs_ints(struct tfjs_import *im, uint32_t i, int64_t *list, uint32_t capacity,
               uint32_t *out_count);
bool tfjs_int_at(struct tfjs_import *im, uint32_t i, int64_t *out);
bool tfjs_floats(struct tfjs_import *im, uint32_t i, double *list, uint32_t capacity,
                 uint32_t *out_count);
/* Input `i` as a shape without zeros; false with the builder in error. */
bool tfjs_shape_at(struct tfjs_import *im, uint32_t i, uint32_t *shape, uint32_t *out_rank);

/* Makes `operand` (NULL after an error) output 0, or `i`, of the node. */
bool tfjs_give(struct tfjs_import *im, struct tdl_operand *operand);
bool tfjs_give_at(struct tfjs_import *im, uint32_t i, struct tdl_operand *operand);
/* A value without elements: dimensions of 0 in its shape. */
bool tfjs_give_empty(struct tfjs_import *im, uint32_t i, const struct tdl_tensor_params *desc);
/* Any value, as it is. */
bool tfjs_give_value(struct tfjs_import *im, uint32_t i, const struct tfjs_value *value);

/* tdl_builder_reshape(). NULL for NULL. */
struct tdl_operand *tfjs_reshape(struct tfjs_import *im, struct tdl_operand *x, uint32_t rank,
                                 const uint32_t *shape);

/* ----------------------------------------------------------- attributes.c */

/* Attributes of the node; the fallback where it has none of that name, or another kind. */
int64_t tfjs_int(const struct tfjs_import *im, const char *name, int64_t fallback);
double tfjs_float(const struct tfjs_import *im, const char *name, double fallback);
bool tfjs_bool(const struct tfjs_import *im, const char *name);
/* A string, cut off at the end of `text`; "" where there is none. */
const char *tfjs_string(const struct tfjs_import *im, const char *name, char *text, size_t size);
/* Integers of a list: false, with the builder in error, if there are more than `capacity`. */
bool tfjs_int_list(struct tfjs_import *im, const char *name, int64_t *list, uint32_t capacity,
                   uint32_t *out_count);
/* String `i` of a list, or "". */
const char *tfjs_string_of(const struct tfjs_import *im, const char *name, size_t i, char *text,
                           size_t size);
/* The type that libtdl has for TensorFlow's; false with the builder in error. */
bool tfjs_dtype(struct tfjs_import *im, json_t *type, enum tdl_dtype *out);
bool tfjs_dtype_of(struct tfjs_import *im, const char *name, enum tdl_dtype *out);
/* An integer that JSON has as a number or as text. */
bool tfjs_json_int(const json_t *json, int64_t *out);

#endif
