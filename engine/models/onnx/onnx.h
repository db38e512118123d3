/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Between the files of the ONNX reader. onnx.c walks the graph, values.c knows what
 * each name stands for, tensor.c reads constants, ops_*.c turn nodes into builder
 * calls.
 *
 * A value is an operand, or it has no elements, as lists in computations of shapes
 * often have. What depends on constants only is computed at once if it is small
 * (tdl_builder_evaluate()), so that shapes, sizes and axes are numbers when an
 * operator asks for them. Operators on channels are told where ONNX has them
 * (TDL_LAYOUT_NCHW); to all others a value is a shape.
 */
#ifndef TDL_ONNX_H
#define TDL_ONNX_H

#include "map.h"
#include "models/kit/kit.h"
#include "protobuf.h"
#include "schema.h"

/* What the file says of a constant. */
struct onnx_tensor {
    struct tdl_pb message;
    struct tdl_pb name;
    int32_t type;                  /* enum onnx_type */
    struct tdl_tensor_params desc; /* as libtdl holds it; dimensions may be 0 */
    uint64_t count;                /* elements */
    struct tdl_pb raw;             /* raw_data */
    bool external;                 /* the bytes are in another file */
    struct tdl_pb location;
    uint64_t offset, length;
    bool movable; /* nobody reads the message again: its bytes may be moved */
};

#define ONNX_WIDE 16 /* dimensions that a value may have between operators */

struct onnx_wide {
    uint32_t rank, shape[ONNX_WIDE];
};

struct onnx_counts;
struct onnx_trial;

/* A list of tensors: their places among the values. */
struct onnx_list {
    uint32_t count;
    uint64_t places[];
};

/* What a name stands for. */
struct onnx_value {
    struct tdl_pb name;
    struct tdl_pb initializer;        /* the message, until it is read first */
    struct tdl_operand *operand;      /* NULL: none yet, or without elements */
    uint64_t alias;                   /* 1 + the place of the value that it is another name of */
    bool omitted;                     /* an input of a function that the call left out */
    bool again;                       /* its initializer's message is read again: another call */
    bool given;                       /* is known: was written, or read from the file */
    const struct onnx_counts *counts; /* elements that exist; NULL: all */
    struct tdl_operand *range[2];     /* sizes that depend on counts: at the largest, and at none */
    const struct onnx_list *list;     /* it is one of tensors, and has no operand */
    const struct onnx_wide *wide;     /* its dimensions; the operand has one */
    uint32_t readers;                 /* nodes that read it, as far as is known */
    struct tdl_operand *turned;       /* it as a filter, whose bytes were turned where they lie */
    const void *bytes;                /* of what was turned */
    const void *stored;               /* the halves that the file has of an initializer */
    bool kept;                        /* its numbers may be in the builder in fewer bits */
    struct tdl_tensor_params empty;   /* of one without elements */
};

/* The node that is being added. */
struct onnx_node {
    struct tdl_pb message, type, domain, name, overload;
    struct tdl_pb *inputs, *outputs; /* names; an empty one is left out */
    uint32_t input_count, output_count;
    const struct onnx_row *row;
    const struct onnx_function *function; /* of the file's own, in the row's place */
    struct tdl_operand *instead[3];       /* of inputs, masked; NULL: as they are */
};

struct onnx_import {
    struct tdl_kit kit;
    struct tdl_builder *builder; /* the kit's */
    struct onnx_value *values;
    uint32_t value_count, value_capacity;
    struct tdl_map names;          /* places in `values` by name */
    uint64_t seed;                 /* of names' keys: no file can know which of them collide */
    struct tdl_pb graph;           /* the model's own */
    struct tdl_pb *declared;       /* messages that say a value's shape, once they were wanted */
    struct tdl_map declared_names; /* places there */
    uint64_t opset;                /* of the operators without a domain */
    uint32_t depth;                /* graphs within graphs */
    struct onnx_function *functions;
    struct tdl_map function_names; /* places there */
    const struct onnx_call *call;  /* of a function, whose nodes are being added */
    uint64_t inlined, walked;      /* nodes and bytes of functions, over all calls */
    uint64_t looped, loop_bytes;   /* iterations and bytes of bodies, over all loops */
    bool again;                    /* nodes of a loop's body are being added */
    uint32_t node_number;
    /* onnx.c's: operators may hold graphs, and the files below add the nodes of these by it. */
    bool (*add_node)(struct onnx_import *im, const struct tdl_pb *message);
    bool has_counts;          /* some value has them */
    struct onnx_trial *trial; /* what the node is added for; NULL: the graph */
    uint64_t steps;           /* of recurrent networks, each of them operators of its own */
    struct onnx_node node;
    struct onnx_file *files; /* beside the source's */
    struct tdl_map file_names;
    uint32_t file_count;
};

/* `add` ends in onnx_give(). */
struct onnx_row {
    TDL_KIT_ROW(bool (*add)(struct onnx_import *im));
};

/* Tables of rows, each ends with an empty one. */
extern const struct onnx_row onnx_rows_activations[], onnx_rows_attention[], onnx_rows_detect[],
    onnx_rows_elements[], onnx_rows_fourier[], onnx_rows_image[], onnx_rows_indices[],
    onnx_rows_linear[], onnx_rows_losses[], onnx_rows_microsoft[], onnx_rows_microsoft_attention[],
    onnx_rows_microsoft_quantized[], onnx_rows_moving[], onnx_rows_normalize[],
    onnx_rows_quantize[], onnx_rows_random[], onnx_rows_recurrent[], onnx_rows_regions[],
    onnx_rows_sequence[], onnx_rows_shape[];

/* What becomes of a result before it is the node's output; NULL with the builder in error. */
typedef struct tdl_operand *onnx_then(struct onnx_import *im, struct tdl_operand *y);
/* branches.c: If by a condition that is not known. */
bool onnx_add_either(struct onnx_import *im);
/* ops_image.c: the node's convolution, of operands that were made of its inputs; its
 * output is what `then` makes of the result. */
bool onnx_convolve(struct onnx_import *im, struct tdl_operand *x, struct tdl_operand *filter,
                   struct tdl_operand *bias, onnx_then *then);
/* The same of floats, with the node's own filter and bias. `then` may be NULL, as `x`, with the
 * builder in error. */
bool onnx_convolve_floats(struct onnx_import *im, struct tdl_operand *x, onnx_then *then);
/* Likewise the node's pool: of the largest, or of means. */
bool onnx_pool(struct onnx_import *im, struct tdl_operand *x, bool max, onnx_then *then);
/* ops_image.c: where sizes are rounded up, a window larger than its padded picture, of which
 * height and width are `in`, is as large as that. */
void onnx_fit_window(struct tdl_pool2d_params *p, const uint32_t *in);
/* ops_activations.c: x / 2 · (1 + tanh(√(2/π) · (x + 0.044715 · x³))) */
struct tdl_operand *onnx_gelu_by_tanh(struct onnx_import *im, struct tdl_operand *x);
/* ops_einsum.c, ops_sample.c, ops_deform.c, ops_loop.c, ops_max_places.c */
bool onnx_add_einsum(struct onnx_import *im);
bool onnx_add_grid_sample(struct onnx_import *im);
bool onnx_add_loop(struct onnx_import *im);
bool onnx_add_deform_conv(struct onnx_import *im);
bool onnx_add_max_unpool(struct onnx_import *im);
/* ops_paste.c: a Loop of `count` iterations that pastes masks into a picture, if its body is that;
 * whether it was added is in `ok`. */
bool onnx_paste_masks(struct onnx_import *im, const struct tdl_pb *body,
                      const struct tdl_pb *number, struct tdl_operand *count, bool *ok);
/* ops_sample_volume.c: GridSample of rank 5 */
bool onnx_sample_volume(struct onnx_import *im, struct tdl_operand *x, struct tdl_operand *grid,
                        const struct tdl_grid_sample_params *p);
/* ops_rotary.c, ops_unique.c, ops_sample.c */
bool onnx_add_rotary(struct onnx_import *im);
bool onnx_add_unique(struct onnx_import *im);
bool onnx_add_affine_grid(struct onnx_import *im);
/* ops_max_places.c: where the maxima of x, [images, channels, height, width], are in all of it,
 * int64 of the pool's output, whose height and width are `out`. NULL with the builder in error. */
struct tdl_operand *onnx_max_places(struct onnx_import *im, struct tdl_operand *x,
                                    const struct tdl_pool2d_params *p, const uint32_t *out);
/* ops_volume.c: of inputs of rank 5 */
bool onnx_add_volume_pool(struct onnx_import *im, struct tdl_operand *x, bool max, onnx_then *then);
bool onnx_add_volume_conv(struct onnx_import *im, struct tdl_operand *x, onnx_then *then);
bool onnx_add_volume_conv_transpose(struct onnx_import *im, struct tdl_operand *x);
/* ops_quantize.c: a scale or zero point for each element along an axis, of `rank` dimensions,
 * in shape to be spread. All of these take NULL, with the builder in error. */
struct tdl_operand *onnx_spread(struct onnx_import *im, struct tdl_operand *o, uint32_t rank,
                                uint32_t axis);
/* (x − zero) · scale; both may be NULL, and are left out then. */
struct tdl_operand *onnx_dequantize(struct onnx_import *im, struct tdl_operand *x,
                                    struct tdl_operand *scale, struct tdl_operand *zero);
/* round(x / scale) + zero within the range of the type, int8 or uint8. `zero` may be NULL. */
struct tdl_operand *onnx_quantize(struct onnx_import *im, struct tdl_operand *x,
                                  struct tdl_operand *scale, struct tdl_operand *zero,
                                  enum tdl_dtype dtype);
/* uint8 over the range of x with 0 in it: x so, and the scale and zero point, which are floats. */
struct tdl_operand *onnx_quantize_range(struct onnx_import *im, struct tdl_operand *x,
                                        struct tdl_operand **scale, struct tdl_operand **zero);
/* ops_microsoft.c: a picture's channels from the end, or to it. */
struct tdl_operand *onnx_channels_first(struct onnx_import *im, struct tdl_operand *x);
onnx_then onnx_channels_last;
/* ops_attention.c: [batches, length, heads · depth] as [batches, heads, length, depth], as it is
 * if it is so; and back. */
struct tdl_operand *onnx_by_heads(struct onnx_import *im, struct tdl_operand *x, int64_t heads);
struct tdl_operand *onnx_from_heads(struct onnx_import *im, struct tdl_operand *x);
/* 0 where a query, of them by heads, sees an element of k, else −∞: up to its own place, behind
 * `past` elements that were there before. */
struct tdl_operand *onnx_causal_mask(struct onnx_import *im, const struct tdl_operand *q,
                                     const struct tdl_operand *k, uint32_t past);
/* ops_normalize.c: by the mean and deviation over the last dimension, then `scale` and `bias`,
 * which may be NULL. */
struct tdl_operand *onnx_normalize_last(struct onnx_import *im, struct tdl_operand *x,
                                        struct tdl_operand *scale, struct tdl_operand *bias,
                                        float epsilon);
/* x / √(mean of x² + ε) · scale, over the dimensions from `axis` on. */
struct tdl_operand *onnx_normalize_root(struct onnx_import *im, struct tdl_operand *x,
                                        uint32_t axis, struct tdl_operand *scale, float epsilon);
/* ops_regions.c: flat places of what is not 0, in order, int32 [elements], and how many exist. */
struct tdl_operand *onnx_find_places(struct onnx_import *im, struct tdl_operand *x,
                                     struct tdl_operand **out_count);
/* ops_roi.c */
bool onnx_add_roi_align(struct onnx_import *im);
bool onnx_add_crop_and_resize(struct onnx_import *im);
/* ops_resize.c */
bool onnx_add_resize(struct onnx_import *im);
bool onnx_add_upsample(struct onnx_import *im);

/* ------------------------------------------------------------------ tensor.c */

/* Of a file that is not what its own format asks for: false for convenience. */
bool onnx_fail_damaged(struct onnx_import *im, const char *what);
/* Reads a TensorProto, but for its elements. */
bool onnx_tensor_read(struct onnx_import *im, const struct tdl_pb *message,
                      struct onnx_tensor *out);
/* Its elements as libtdl stores them, aligned and valid as long as the builder;
 * in the file's own memory where that is possible. NULL with the builder in error. */
const void *onnx_tensor_data(struct onnx_import *im, const struct onnx_tensor *tensor);
/* It as an operand; of `data`, where its elements are there already. */
struct tdl_operand *onnx_tensor_operand(struct onnx_import *im, const struct onnx_tensor *tensor);
struct tdl_operand *onnx_tensor_operand_of(struct onnx_import *im, const struct onnx_tensor *tensor,
                                           const void *data);
/* The data type that holds the ONNX type; false with the builder in error. */
bool onnx_dtype(struct onnx_import *im, int64_t type, enum tdl_dtype *out);
/* A constant of `count` elements that are computed here, copied; rank 1 unless
 * `shape` is given. */
struct tdl_operand *onnx_constant(struct onnx_import *im, enum tdl_dtype dtype, uint32_t rank,
                                  const uint32_t *shape, const void *data);
/* start, start + step, …: `count` numbers, rank 1. */
struct tdl_operand *onnx_sequence(struct onnx_import *im, enum tdl_dtype dtype, uint32_t count,
                                  double start, double step);

/* ----------------------------------------------------------------- reasons.c */

/* Refuses an operator that there is no row for, and says what to do; false for convenience. */
bool onnx_refuse_operator(struct onnx_import *im, const struct onnx_node *n);
bool onnx_refuse_domain(struct onnx_import *im, const struct onnx_node *n);

/* ---------------------------------------------------------------- external.c */

/* Finds the bytes of a tensor, `wanted` many unless the file says so, beside the model:
 * they become its raw data. */
bool onnx_read_external(struct onnx_import *im, uint64_t wanted, struct onnx_tensor *t);
void onnx_forget_files(struct onnx_import *im);

/* ----------------------------------------------------------------- filters.c */

/* Input `i`, if it is a constant of that rank that only this node reads, as a filter
 * [out, height, width, in] in the file's own memory; else NULL, which is no error. */
struct tdl_operand *onnx_turned_filter(struct onnx_import *im, uint32_t i, uint32_t rank);
/* The same from a copy, as the file has it, of a value that was turned. NULL with the
 * builder in error. */
struct tdl_operand *onnx_turned_back(struct onnx_import *im, const struct onnx_value *v);

/* ------------------------------------------------------------------ values.c */

/* A key for names in tables. */
struct onnx_name {
    uint64_t hashes[2], size;
};
struct onnx_name onnx_name_key(const struct onnx_import *im, const struct tdl_pb *name);
/* The value of a name, or NULL. */
struct onnx_value *onnx_find(struct onnx_import *im, const struct tdl_pb *name);
/* A new name. NULL with the builder in error, as when there is one already. */
struct onnx_value *onnx_add_value(struct onnx_import *im, const struct tdl_pb *name);
/* A value that only lists name, and its place. False with the builder in error. */
bool onnx_add_nameless(struct onnx_import *im, struct tdl_operand *operand, uint64_t *out_place);
/* Another name for the value at a place. */
bool onnx_add_alias(struct onnx_import *im, const struct tdl_pb *name, uint64_t place);
/* Reads an initializer, if the value is one that nobody has read. */
bool onnx_settle(struct onnx_import *im, struct onnx_value *value);
/* tdl_builder_reshape(); NULL stays NULL. */
struct tdl_operand *onnx_reshape(struct onnx_import *im, struct tdl_operand *o, uint32_t rank,
                                 const uint32_t *shape);

/* The node has an input or output `i`. */
bool onnx_given(const struct onnx_import *im, uint32_t i);
bool onnx_wanted(const struct onnx_import *im, uint32_t i);
/* Input `i` as an operand. NULL with the builder in error, also where it is
 * left out or has no elements. */
struct tdl_operand *onnx_operand(struct onnx_import *im, uint32_t i);
/* The same of an optional one: true and NULL where it is left out. */
bool onnx_optional(struct onnx_import *im, uint32_t i, struct tdl_operand **out);
/* Type and shape of input `i`, which may have no elements. */
bool onnx_desc(struct onnx_import *im, uint32_t i, struct tdl_tensor_params *out);
/* Is it there, and without elements? */
bool onnx_is_empty(struct onnx_import *im, uint32_t i);
/* Input `i` as numbers that are known now: at most `capacity`. False with the
 * builder in error, as where they depend on the graph's inputs. */
bool onnx_ints(struct onnx_import *im, uint32_t i, int64_t *list, uint32_t capacity,
               uint32_t *out_count);
bool onnx_floats(struct onnx_import *im, uint32_t i, double *list, uint32_t capacity,
                 uint32_t *out_count);
/* Is input `i` known now? */
bool onnx_is_constant(struct onnx_import *im, uint32_t i);

/* Makes `operand` (NULL after an error) output 0, or `i`, of the node. */
bool onnx_give(struct onnx_import *im, struct tdl_operand *operand);
bool onnx_give_at(struct onnx_import *im, uint32_t i, struct tdl_operand *operand);
/* The same of what may be weights, and then stays as it is. */
bool onnx_give_weights(struct onnx_import *im, struct tdl_operand *operand);
/* The same of a value that may have no elements: dimensions of 0 in its shape.
 * `operand` if it has. */
bool onnx_give_empty(struct onnx_import *im, uint32_t i, const struct tdl_tensor_params *desc);
/* Output 0 in the shape of input 0, which it was computed from in another one. */
bool onnx_give_like_input(struct onnx_import *im, struct tdl_operand *y);

/* -------------------------------------------------------------------- wide.c */

/* False with the builder in error where the value has more dimensions than operands. */
bool onnx_refuse_wide(struct onnx_import *im, const struct onnx_value *v);
/* Does the node take such values? */
bool onnx_takes_wide(const struct onnx_import *im);
/* The dimensions of input `i`, if they are more; else NULL. */
const struct onnx_wide *onnx_wide(struct onnx_import *im, uint32_t i);
/* onnx_give() of the elements of `x` in more dimensions. */
bool onnx_give_wide(struct onnx_import *im, struct tdl_operand *x, uint32_t rank,
                    const uint32_t *shape);
/* An input has more dimensions than operands have. */
bool onnx_has_wide(struct onnx_import *im);
/* The dimensions of input `i`, however many; false with the builder in error. */
bool onnx_dims(struct onnx_import *im, uint32_t i, struct onnx_wide *out);
/* The node's function of the elements of one or two inputs, of which some are wide. */
bool onnx_add_elements_wide(struct onnx_import *im);
/* Of input 0. */
bool onnx_transpose_wide(struct onnx_import *im, const struct onnx_wide *w,
                         const uint32_t *permutation);

/* ------------------------------------------------------------------ counts.c */

/* A graph's output with counts has another one by this name behind its own: int32, its sizes. */
#define ONNX_SHAPE_OUTPUT ".shape"

/* For each dimension an int32 of shape [1]: only so many of its first elements exist. NULL:
 * all do. */
struct onnx_counts {
    struct tdl_operand *of[TDL_MAX_RANK];
};

#define ONNX_TRIED 8 /* outputs of lists of sizes that a node may have */
/* A node of lists of sizes that is evaluated for the largest counts (0), or for none (1). */
struct onnx_trial {
    uint32_t which;
    struct tdl_operand *outputs[ONNX_TRIED];
};

/* Of input `i`, or NULL; and of one dimension. */
const struct onnx_counts *onnx_counts(struct onnx_import *im, uint32_t i);
struct tdl_operand *onnx_count(struct onnx_import *im, uint32_t i, uint32_t axis);
/* Of output `i`, which was given; several, and one, which NULL makes false. */
bool onnx_set_counts(struct onnx_import *im, uint32_t i, const struct onnx_counts *counts);
bool onnx_set_count(struct onnx_import *im, uint32_t i, uint32_t axis, struct tdl_operand *count);
/* A number as a count. */
struct tdl_operand *onnx_count_number(struct onnx_import *im, int64_t number);
/* 1 for each element along an axis of a shape that exists, which broadcasts to the shape. */
struct tdl_operand *onnx_below(struct onnx_import *im, uint32_t rank, const uint32_t *shape,
                               uint32_t axis, struct tdl_operand *count);
/* `x` with that value in place of elements that do not exist. */
struct tdl_operand *onnx_mask(struct onnx_import *im, struct tdl_operand *x,
                              const struct onnx_counts *counts, double value);
/* Refuses an operator because of input `i`, and says where to cut; false for convenience. */
bool onnx_refuse_count(struct onnx_import *im, uint32_t i, const char *why);

/* Input `i` is a list of sizes that depends on counts, whose largest numbers are known. */
bool onnx_is_counted(struct onnx_import *im, uint32_t i);
/* An element of it as a count; NULL where it does not depend on counts. */
struct tdl_operand *onnx_counted_at(struct onnx_import *im, uint32_t i, uint32_t element);
/* Adds the node, be it one of lists of sizes that depend on counts. */
bool onnx_add_counted(struct onnx_import *im);
/* onnx_give() of dimensions `from` to `to` of input 0, which has counts, or their product. */
bool onnx_give_shape(struct onnx_import *im, uint32_t from, uint32_t to, bool product);

/* A value as an output of the graph: 0, and -1 in indices, where elements do not exist. */
struct tdl_operand *onnx_mask_output(struct onnx_import *im, const struct onnx_value *v);
bool onnx_add_shape_output(struct onnx_import *im, const struct tdl_pb *name);

/* ------------------------------------------------------ count_rules.c, count_*.c */

/* Before and behind the node's row: inputs are masked, and counts become those of outputs. */
bool onnx_prepare_counts(struct onnx_import *im);
bool onnx_follow_counts(struct onnx_import *im);
/* Of larger numbers the operator makes larger ones, or it gives conditions. */
bool onnx_keeps_order(struct onnx_import *im);
/* The count of a slice along an axis, by numbers `i` of starts and ends; NULL in `out`: there
 * is none. */
bool onnx_slice_count(struct onnx_import *im, uint32_t i, uint32_t axis, int64_t start, int64_t end,
                      int64_t step, struct tdl_operand **out);

/* ------------------------------------------------------------------ inputs.c */

/* Inputs of the graph become operands, what is left open in their shapes bound. */
bool onnx_add_inputs(struct onnx_import *im, const struct tdl_pb *graph);
/* The sizes that the file declares for the node's output 0, with 0 for what it leaves open;
 * false where it says nothing of `rank` dimensions. */
bool onnx_declared_shape(struct onnx_import *im, uint32_t rank, uint32_t *shape);
void onnx_forget_declared(struct onnx_import *im);

/* ------------------------------------------------------------------ graph.c */

/* Initializers, inputs of the outermost graph, nodes. */
bool onnx_add_graph(struct onnx_import *im, const struct tdl_pb *graph);

/* opset.c: the version of the operators, from a message's field `number`. */
bool onnx_read_opsets(struct onnx_import *im, const struct tdl_pb *message, uint32_t number);
/* Is it one that libtdl reads? False with the builder in error. */
bool onnx_check_opset(struct onnx_import *im);
/* order.c: all nodes of the graph, or function, which are in its field `number`. */
bool onnx_add_nodes(struct onnx_import *im, const struct tdl_pb *graph, uint32_t number);

/* ------------------------------------------------------------------ functions.c */

/* The functions that the model defines itself. */
bool onnx_read_functions(struct onnx_import *im, const struct tdl_pb *model);
void onnx_forget_functions(struct onnx_import *im);
/* The one that a node calls, or NULL. */
const struct onnx_function *onnx_find_function(const struct onnx_import *im,
                                               const struct onnx_node *node);
/* Adds its nodes in the place of the current one. */
bool onnx_add_call(struct onnx_import *im, const struct onnx_function *function);
/* The name of the function whose nodes are being added, or NULL. */
const struct tdl_pb *onnx_function_name(const struct onnx_import *im);
/* An attribute that refers to one of the call becomes that one. False where the call has
 * none and the function no default, or with the builder in error. */
bool onnx_resolve_attribute(const struct onnx_import *im, struct tdl_pb *attribute);

/* ------------------------------------------------------------------ attributes.c */

/* Attributes of the node; the fallback where it has none of that name. One of another
 * kind is an error. */
bool onnx_attribute(const struct onnx_import *im, const char *name, struct tdl_pb *out);
int64_t onnx_int(const struct onnx_import *im, const char *name, int64_t fallback);
float onnx_float(const struct onnx_import *im, const char *name, float fallback);
/* The string attribute; false where there is none. */
bool onnx_string(const struct onnx_import *im, const char *name, struct tdl_pb *out);
/* It has this value. */
bool onnx_string_is(const struct onnx_import *im, const char *name, const char *value);
bool onnx_has(const struct onnx_import *im, const char *name);
/* False, with the builder in error, if there are more than `capacity`. */
bool onnx_int_list(struct onnx_import *im, const char *name, int64_t *list, uint32_t capacity,
                   uint32_t *out_count);
/* Strides, windows, dilations or pads: `count` numbers from `least` to ONNX_MAX_STEP, or none,
 * which leaves `out` as it was. */
enum { ONNX_MAX_STEP = 16384, ONNX_MOST_STEPS = 6 };
bool onnx_steps(struct onnx_import *im, const char *name, uint32_t count, int64_t least,
                uint32_t *out);
bool onnx_float_list(struct onnx_import *im, const char *name, float *list, uint32_t capacity,
                     uint32_t *out_count);
bool onnx_string_list(struct onnx_import *im, const char *name, struct tdl_pb *list,
                      uint32_t capacity, uint32_t *out_count);
/* The tensor, or graph, of an attribute. */
bool onnx_attribute_tensor(struct onnx_import *im, const char *name, struct onnx_tensor *out);
/* The side of SAME in attribute auto_pad. */
enum tdl_kit_same onnx_auto_pad(const struct onnx_import *im);
/* Numbers that are an attribute up to some opset, and input `i` from then on. */
bool onnx_ints_of(struct onnx_import *im, const char *attribute, uint32_t i, int64_t *list,
                  uint32_t capacity, uint32_t *out_count);

#endif
