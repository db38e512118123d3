/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* ONNX's operators as calls of a builder: as far as tests go, no importer. */
#ifndef ONNX_NET_H
#define ONNX_NET_H

#include "onnx-file.h"

enum { ONNX_MAX_VALUES = 64 };

struct onnx_value {
    const char *name;
    const Onnx__TensorProto *tensor; /* what is known before running, or NULL */
    struct tdl_operand *operand;     /* made when first used */
    bool constant;                   /* of the graph itself */
    bool fed;                        /* a graph's input that was used as operand */
};

struct onnx_net {
    struct tdl_builder *builder;
    const Onnx__NodeProto *node; /* being added */
    struct onnx_value values[ONNX_MAX_VALUES];
    size_t count;
    /* Of operators with several outputs, set by the row. */
    struct tdl_operand *more[ONNX_MAX_TENSORS];
    char missing[160]; /* why the case is not covered, or "" */
};

/* A row of the tables of operators, which end with an empty one. */
struct onnx_operator {
    const char *type;
    struct tdl_operand *(*add)(struct onnx_net *net); /* the first output */
};
extern const struct onnx_operator onnx_operators_elements[], onnx_operators_image[],
    onnx_operators_linear[], onnx_operators_moving[];

/* Adds the case's graph to the builder: false when libtdl, or this table,
 * lacks something, which `missing` then names. Errors of the builder are the
 * caller's to see. */
bool onnx_net_add(struct onnx_net *net, struct tdl_builder *builder, const struct onnx_case *c);

/* For the rows. */

/* Sets `missing`, if it is the first; NULL for convenience. */
struct tdl_operand *onnx_lacks(struct onnx_net *net, const char *format, ...) TDL_PRINTF(2, 3);
/* The node has an input `i`. */
bool onnx_given(const struct onnx_net *net, size_t i);
/* It as an operand; NULL when it is not given. */
struct tdl_operand *onnx_operand(struct onnx_net *net, size_t i);
/* It as a tensor that is known before running; NULL, with a reason, when it
 * is computed. */
const Onnx__TensorProto *onnx_tensor(struct onnx_net *net, size_t i);
/* It as a constant that the builder owns; NULL when it is not given. */
struct tdl_operand *onnx_constant(struct onnx_net *net, size_t i);
/* NULL when the node has none of that name. */
const Onnx__AttributeProto *onnx_attribute(const struct onnx_net *net, const char *name);
int64_t onnx_attribute_int(const struct onnx_net *net, const char *name, int64_t otherwise);
float onnx_attribute_float(const struct onnx_net *net, const char *name, float otherwise);
/* The string attribute has this value. */
bool onnx_attribute_is(const struct onnx_net *net, const char *name, const char *value);
/* 0 for NULL. */
uint32_t onnx_rank(const struct tdl_operand *o);
/* ONNX counts axes from the end, too. */
uint32_t onnx_axis(int64_t axis, uint32_t rank);

#endif
