/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Layers models, which are Keras's, as graph models: a layer becomes nodes that do the
 * same (layers.c walks them, layers_rows.c has the kinds). */
#ifndef TDL_TFJS_LAYERS_H
#define TDL_TFJS_LAYERS_H

#include "tfjs.h"

#define TFJS_LAYER_INPUTS 64

struct tfjs_lower {
    struct tfjs_import *im;
    json_t *nodes;        /* of the graph */
    const char *name;     /* of the layer */
    const char *prefix;   /* of its nodes, each call its own */
    const json_t *config; /* of the layer */
    const char *inputs[TFJS_LAYER_INPUTS];
    uint32_t input_count;
    uint32_t made; /* nodes of this layer */
    json_t *used;  /* names of weights that are nodes already, as layers can be shared */
    const struct tfjs_layer_row *row;
};

/* How a layer becomes nodes: the name of the last; NULL with the builder in error. */
struct tfjs_layer_row {
    const char *type;
    const char *(*add)(struct tfjs_lower *l);
    const char *op; /* detail of functions that several rows have */
};
extern const struct tfjs_layer_row tfjs_layers[];

/* A node of two inputs, or one where `b` is NULL, with attributes that are taken over, or
 * NULL. Its name; NULL with the builder in error, as where `a` is. */
const char *tfjs_lower_node(struct tfjs_lower *l, const char *op, const char *a, const char *b,
                            json_t *attributes);
/* Adds a node of three to five inputs. */
const char *tfjs_lower_many(struct tfjs_lower *l, const char *op, const char *const *inputs,
                            uint32_t count, json_t *attributes);
/* Constants: int32 of rank 1, and a float32 scalar. */
const char *tfjs_lower_ints(struct tfjs_lower *l, const int64_t *list, uint32_t count);
const char *tfjs_lower_number(struct tfjs_lower *l, double value);
/* The layer's weights of that name ("kernel"), as a constant; NULL without an error where
 * there are none. */
const char *tfjs_lower_weights(struct tfjs_lower *l, const char *what);
/* Applies an activation of Keras's. */
const char *tfjs_lower_activation(struct tfjs_lower *l, const char *activation, const char *x);
/* For what is not to be had: NULL for convenience. */
const char *tfjs_lower_fail(struct tfjs_lower *l, const char *what);

#endif
