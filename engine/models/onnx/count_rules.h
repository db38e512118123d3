/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Between the files that know what becomes of counts (counts.c) in each operator: which
 * dimensions of the result they are of, and where elements that do not exist would take part
 * and are masked before.
 */
#ifndef TDL_ONNX_COUNT_RULES_H
#define TDL_ONNX_COUNT_RULES_H

#include "onnx.h"

struct onnx_count_rule {
    const char *name; /* an operator's row has it */
    /* Called behind the row, and before it, which may be NULL; false with the builder in error. */
    bool (*follow)(struct onnx_import *im), (*prepare)(struct onnx_import *im);
    uint8_t fixed; /* bits of inputs that must not depend on counts */
};

/* Tables of rules, each ends with an empty one. */
extern const struct onnx_count_rule onnx_counts_elements[], onnx_counts_indices[],
    onnx_counts_joins[], onnx_counts_shapes[];

/* An input or an output with its counts. */
struct onnx_sizes {
    uint32_t rank;
    const uint32_t *shape;
    struct onnx_counts counts;
};

/* Why, for onnx_refuse_count(). */
extern const char onnx_uncountable[];

/* Reads input `i`, whose shape is in `desc`; false with the builder in error. What has no elements
 * has no counts. */
bool onnx_read_sizes(struct onnx_import *im, uint32_t i, struct tdl_tensor_params *desc,
                     struct onnx_sizes *out);
/* The value of output `i`, or NULL where it is not wanted or has no elements. */
struct onnx_value *onnx_output_value(struct onnx_import *im, uint32_t i);
/* Attribute "axis". */
bool onnx_read_axis(struct onnx_import *im, int64_t fallback, uint32_t rank, uint32_t *out);
/* Input `i` is read with `value` where elements along the dimensions of these bits do not
 * exist. */
bool onnx_mask_input(struct onnx_import *im, uint32_t i, uint32_t bits, double value);
/* The least number of input `i`'s type, or the largest. */
double onnx_extreme(struct onnx_import *im, uint32_t i, bool largest);
/* Refuses input `i` if it has counts at dimensions that are not of these bits. */
bool onnx_allow_counts(struct onnx_import *im, uint32_t i, uint32_t bits);
/* Each output has the counts of all inputs, whose dimensions are aligned at the last; or those
 * of the first alone. */
bool onnx_follow_elements(struct onnx_import *im);
bool onnx_follow_first(struct onnx_import *im);
/* The row has given counts itself, or no list of tensors needs any. */
bool onnx_follow_itself(struct onnx_import *im);

#endif
