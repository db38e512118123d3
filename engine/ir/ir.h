/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The graph between builder and plan: operands (values) and nodes (operators)
 * in topological order. Nothing here, nor in the passes up to fuse, knows of
 * Vulkan. Shapes are read through tdl_operand_dims(), so NHWC and NCHW
 * are the same to every pass. Before the pass labels only operators know where channels are
 * (struct tdl_told).
 */
#ifndef TDL_IR_H
#define TDL_IR_H

#include "shape.h"

struct tdl_plan;

#define TDL_MAX_NODE_INPUTS 10

/* How a value lies in memory inside a graph. */
enum tdl_storage {
    /* NC4HW4: rank 4, float32 semantics (16 bits a value in precision FP16).
     * What fills up the last pack of channels is zero: whoever writes packs
     * leaves it so, whatever it computes, and whoever reads may rely on it. */
    TDL_STORAGE_PACKED = 0,
    /* Row-major in the order of desc.shape, elements of desc.dtype without
     * gaps; the size is rounded up to 16 bytes. What the last word holds behind
     * the last element is of no meaning, and may be written. */
    TDL_STORAGE_LINEAR,
    /* For operators only: inputs and output in the one or in the other. */
    TDL_STORAGE_EITHER,
};

enum tdl_operand_kind {
    TDL_OPERAND_VALUE, /* made by a node */
    TDL_OPERAND_INPUT, /* given at dispatch */
    TDL_OPERAND_CONSTANT,
};

struct tdl_use;

/* The fewer bits in which a constant of float32 was given. */
struct tdl_compact {
    const void *data;     /* borrowed; need not be aligned */
    enum tdl_dtype dtype; /* int8, uint8, float16; float32, of which a copy is put off */
    /* Element i of `data` stands for (it − zeros[k]) · scales[k], k = i / stride % count;
     * both NULL: for itself. */
    const float *scales, *zeros;
    size_t count, stride;
    /* The constant's elements in their order are those of `data` at
     * i · step[0] + j · step[1] + k · step[2], the last index the fastest. */
    size_t size[3], step[3];
};
/* Constants of no more elements are floats at once. */
#define TDL_COMPACT_LEAST 4096

struct tdl_operand {
    struct tdl_ir *ir;
    uint32_t id; /* index in ir->operands */
    enum tdl_operand_kind kind;
    struct tdl_tensor_params desc;
    const char *name; /* name of inputs and outputs, else "": tdl_operand_set_name() */
    bool is_output;
    const void *data; /* constants: borrowed */
    bool evaluated;   /* a constant that was computed of others */
    /* For constants that were given in fewer bits: `data` is there while
     * tdl_operand_expand() has made it. Memory of the IR that it came with. */
    const struct tdl_compact *compact;
    void *expanded;
    uint32_t readers; /* slots that tdl_node_shrink() was not told of yet */
    /* Of rank 4: where it has its channels, since the pass labels; 0 before. */
    enum tdl_layout layout;
    /* Of inputs: the builder's layout when they were added, for what no operator says. */
    enum tdl_layout usual;
    struct tdl_node *producer;
    struct tdl_use *uses; /* while the IR is indexed: see tdl_ir_index() */

    /* Set by layout and plan. Values lie in the arena; `external` ones are
     * bound at dispatch to tensors like `bound`, and constants that linear
     * operators read lie among the weights. */
    enum tdl_storage storage;
    bool wide; /* in packs it is float32, whatever the graph's are; set before fuse */
    bool external;
    struct tdl_tensor_params bound;
    int32_t binding;          /* external: index among inputs, or inputs + outputs */
    struct tdl_operand *twin; /* this value in the other storage, or NULL */
    /* The operand whose bytes these are, too, or NULL. lower() may set it for its
     * output, as long as that has none and is not external. */
    struct tdl_operand *alias;
    /* The operand of which its bytes are a part, and where that begins; or NULL. */
    struct tdl_operand *part_of;
    uint64_t part_offset;
    uint64_t size;   /* bytes of storage */
    uint64_t offset; /* in the arena, or among the weights */
    uint32_t first_step, last_step;
};

/* The numbers of a node with a window along height and width. All that was left to zeros, to
 * SAME or to rounding is settled in them: tdl_op.resolve(). */
struct tdl_window {
    uint32_t kernel[2], stride[2], dilation[2]; /* 1 or more */
    uint32_t pad[4];                            /* above, below, left, right */
    uint32_t out[2];                            /* size of the output; 0: there is none */
    uint32_t more[2]; /* of a transposed one, which `pad` is cut off: rows below, columns right */
};

/* A squeeze-and-excite gate: pool, one or two fully connected layers. */
struct tdl_gate_params {
    enum tdl_activation activation[2];
    uint32_t layers;
    bool inside; /* operators that multiply by the gate compute it: no dispatch of its own */
    bool joined; /* the gate's layers read the second mean behind the first, and not their sum */
};

/* Work that a convolution does on its input before multiplying, once fused. */
enum tdl_conv_pre {
    TDL_PRE_NONE = 0,
    TDL_PRE_GATE,  /* x · gate[c] */
    TDL_PRE_MERGE, /* x · gate[c] + resample(low) */
};

struct tdl_conv_attr {
    struct tdl_conv2d_params p; /* bias is in the node's inputs instead */
    enum tdl_conv_pre pre;
    enum tdl_resample_coordinates coordinates; /* of TDL_PRE_MERGE */
    bool plain;  /* its input, which is bound, is NHWC, float32, of up to 4 channels */
    bool blends; /* the result is r + (y − r) · blend, of the residual r and the sum y */
};

/* conv2d 1×1 with the depthwise conv2d that reads it. */
struct tdl_expand_attr {
    struct tdl_conv_attr conv; /* the 1×1 */
    struct tdl_conv2d_params depthwise;
    bool residual_is_own; /* the 1×1's own output is added to the end */
    bool joined;          /* the 1×1 reads TDL_CONV_LOW's channels, too, behind its input's */
};

/* As above, with the 1×1 that reads it, or the convTranspose2d to blocks of one channel. */
struct tdl_bottleneck_attr {
    struct tdl_expand_attr expand; /* first, as attr.expand has it */
    enum tdl_activation activation;
    bool block;
};

/* gemm; matmul is one without c, transposing nothing. */
struct tdl_matmul_attr {
    float alpha, beta;
    bool a_transpose, b_transpose;
    enum tdl_activation activation;
};

/* Matrices of each batch and head; distances of elements by batch, head, row and column. */
struct tdl_attention_attr {
    float scale;
    uint32_t batches, heads, rows, keys, depth, width;
    uint32_t q[4], k[4], v[4], mask[4], out[3];
};

/* A number q of eight bits stands for (q − zero) · scale. */
struct tdl_quantization {
    float scale, zero;
};

/* An element-wise function; those of its operands that are int8 or uint8 are quantized, and
 * the others float32. Inputs have one element, or as many as the output. */
struct tdl_quantized_attr {
    uint32_t function; /* enum tdl_function */
    float a, b;        /* the function's own */
    struct tdl_quantization in[2], out;
};

/* conv2d of int8 to int8: first, as attr.conv has it. */
struct tdl_quantized_conv_attr {
    struct tdl_conv_attr conv;
    struct tdl_quantization in, out;
};

struct tdl_arg_attr {
    uint32_t axis;
    bool keep_dimensions, select_last_index;
    enum tdl_dtype output_dtype;
};

struct tdl_reduce_attr {
    enum tdl_reduction reduction;
    uint32_t axes; /* a bit each */
    bool keep_dimensions;
};

union tdl_attr {
    struct tdl_conv_attr conv;
    struct tdl_expand_attr expand;
    struct tdl_bottleneck_attr bottleneck;
    struct tdl_conv_transpose2d_params conv_transpose;
    struct tdl_pool2d_params pool;
    struct tdl_im2col_params im2col;
    struct tdl_resample2d_params resample;
    struct tdl_grid_sample_params grid_sample;
    struct tdl_gate_params gate;
    struct tdl_matmul_attr matmul;
    struct tdl_attention_attr attention;
    struct tdl_quantized_attr quantized;
    struct tdl_quantized_conv_attr quantized_conv;
    struct tdl_arg_attr arg;
    struct tdl_reduce_attr reduce;
    struct tdl_triangular_params triangular;
    struct {
        uint32_t axis;
    } softmax, gather;
    struct {
        uint32_t batch; /* dimensions that go in step with the indices */
    } gather_nd;
    struct {
        uint32_t axis; /* for scatterElements */
        enum tdl_scatter_reduction reduction;
    } scatter;
    struct {
        uint32_t axis;
        struct tdl_top_k_params p;
    } top_k;
    struct {
        float iou_threshold;
    } suppression;
    struct {
        uint32_t axis;
        struct tdl_cumulative_sum_params p;
    } cumulative_sum;
    struct {
        uint32_t permutation[TDL_MAX_RANK];
    } transpose;
    struct {
        uint32_t repetitions[TDL_MAX_RANK];
    } tile;
    struct {
        float epsilon;
        enum tdl_activation activation;
        uint32_t axes; /* bits, of layerNormalization */
    } norm;
    struct tdl_slice_params slice;
    struct tdl_pad_params pad;
    struct {
        uint32_t axis;
    } concat;
    struct {
        uint32_t size;
        enum tdl_block_order order;
    } blocks;
    struct {
        enum tdl_dtype dtype;
    } cast;
    struct {
        uint32_t rank, size[TDL_MAX_RANK];
    } shape; /* for reshape and expand */
    struct {
        float a, b;         /* for functions that have them */
        uint64_t bounds[2]; /* for clamp on integers: elements of the data type */
    } eltwise;
};

/* Input slots of the convolutions; a fused one uses the later ones. */
enum {
    TDL_CONV_INPUT = 0,
    TDL_CONV_FILTER,
    TDL_CONV_BIAS,     /* may be NULL */
    TDL_CONV_RESIDUAL, /* added after the activation */
    TDL_CONV_GATE,
    TDL_CONV_LOW,
    TDL_EXPAND_FILTER2, /* filter of the depthwise half */
    TDL_EXPAND_BIAS2,
    TDL_BOTTLENECK_FILTER, /* filter of the 1×1 that reads the depthwise half */
    TDL_BOTTLENECK_BIAS,
};
/* Of a conv2d that took in what stood around it (mix.c). */
enum {
    TDL_CONV_SECOND = TDL_EXPAND_FILTER2, /* more channels behind the input's; or NULL */
    TDL_CONV_FACTOR,                      /* by which these are multiplied; or NULL */
    TDL_CONV_BLEND,
};
/* Of the gate: means of both inputs are summed; INPUT2 may be NULL. */
enum {
    TDL_GATE_INPUT = 0,
    TDL_GATE_INPUT2,
    TDL_GATE_WEIGHT1,
    TDL_GATE_BIAS1,
    TDL_GATE_WEIGHT2,
    TDL_GATE_BIAS2,
};

/* Of attention; the last may be missing. */
enum { TDL_ATTENTION_Q = 0, TDL_ATTENTION_K, TDL_ATTENTION_V, TDL_ATTENTION_MASK };

/* Functions of one value (enum tdl_function), applied to what a node computes
 * before it is stored: what fuse made of the element-wise nodes behind it. Of an
 * element-wise node on packs, also functions of two (join.c): the second is read from the
 * node's input `a`, and comes first where `b` is 1. */
#define TDL_CHAIN_STAGES 6
/* Their inputs begin behind a node's own two, and are at most so many. */
#define TDL_STAGE_OPERAND 2u
#define TDL_STAGE_OPERANDS 3u
/* The product of inputs `a` and `a` + 1 is added. */
#define TDL_STAGE_ADD_PRODUCT 64u
struct tdl_chain {
    uint32_t count;
    struct tdl_chain_stage {
        uint32_t function;
        float a, b;
    } stages[TDL_CHAIN_STAGES];
};
/* Activations of kernels that fuse alone makes: x · sigmoid(x), and gelu. */
#define TDL_ACTIVATION_SWISH ((enum tdl_activation)6)
#define TDL_ACTIVATION_GELU ((enum tdl_activation)7)
/* The node's chain, where an operator has an activation. */
#define TDL_ACTIVATION_CHAIN ((enum tdl_activation)64)

struct tdl_node {
    const struct tdl_op *op;
    union tdl_attr attr;
    struct tdl_operand *inputs[TDL_MAX_NODE_INPUTS]; /* slots, may be NULL */
    uint32_t input_count;
    struct tdl_operand *output;
    /* For an expandDepthwise or bottleneck, or NULL: values of which the mean is the
     * output's, one for each of its tiles. How many, lower() says. */
    struct tdl_operand *means;
    struct tdl_chain chain;
    struct tdl_window window;
    /* Where an operator on channels was told that it has them, until the pass labels has
     * said so of its operands; else 0. */
    enum tdl_layout layout;
    enum tdl_storage storage; /* PACKED or LINEAR, set by layout */
    bool wide;                /* the packs that the node reads and writes are wide */
    char label[96];
    bool dead;
};

struct tdl_ir {
    struct tdl_operand **operands;
    uint32_t operand_count, operand_capacity;
    struct tdl_node **nodes;
    uint32_t node_count, node_capacity;
    uint32_t labels;        /* given by tdl_builder_set_label(): a file's operators */
    enum tdl_layout layout; /* of values of which no operator says one */
    struct tdl_operand *inputs[TDL_MAX_INPUTS], *outputs[TDL_MAX_OUTPUTS];
    uint32_t input_count, output_count;
    void **owned; /* memory of constants that passes made */
    uint32_t owned_count, owned_capacity;
    bool indexed;
    /* For tests: fuse without the index; count the reads that it should have
     * been told of. */
    bool no_index, watch_index;
    bool whole_attention; /* for tests: in one kernel even where that does not pay */
    uint32_t unlisted;
    const struct tdl_device_info *units; /* the device, if its matrix units compute products */
    bool uncut; /* conversions between packs and linear memory may be more than need be */
    struct tdl_use_chunk *use_chunks;
    /* Budget of passes for constants: see tdl_ir_budget_init(). */
    struct tdl_ir_budget {
        uint64_t given;            /* bytes of constants that came from outside */
        uint64_t made, made_limit; /* bytes of constants that passes made */
        uint64_t work, work_limit; /* bytes read and written meanwhile */
        uint32_t counted;          /* operands, when `given` was found while there is a builder */
        uint32_t declined;         /* operators on constants that folding left for it */
    } budget;
};

/* Everything the engine knows of an operator. One file in ops/ each. */
struct tdl_op {
    const char *name;
    /* Write node->window, of what the node was told and of its inputs' shapes, whatever their
     * ranks are. Everybody else reads it there, infer() first. NULL: it has no window. */
    void (*resolve)(struct tdl_node *node);
    /* Output description from inputs and attributes, or an error with text. */
    enum tdl_result (*infer)(const struct tdl_node *node, struct tdl_tensor_params *out);
    /* Append the dispatches that compute the node. */
    enum tdl_result (*lower)(struct tdl_plan *plan, struct tdl_node *node);
    /* Storage that lower() reads and writes: inputs (but constants in weight slots) and
     * output. EITHER: layout picks packs where a neighbour has them and output and inputs
     * are images of floats (inputs of lower rank are made rank 4), and says so in
     * node->storage. */
    enum tdl_storage storage;
    /* For an EITHER: can this node work in packs? NULL: it can. */
    bool (*can_pack)(const struct tdl_node *node);
    bool relabels; /* in packs, too, its output may have another layout than its inputs */
    /* For a LINEAR one: can it read this input in packs, too? NULL: no. operand->storage
     * then tells lower(). */
    bool (*reads_packs)(const struct tdl_node *node, uint32_t slot);
    /* For a PACKED one: can it read this input in linear memory, too, by this algorithm
     * (tdl_build_params.conv2d_algorithm)? NULL: no. */
    bool (*reads_linear)(const struct tdl_node *node, uint32_t slot, const char *algorithm);
    /* Plain C from the definition, `inputs` by slot. Of PACKED operators:
     * NHWC float32. */
    void (*reference)(const struct tdl_node *node, const float *const *inputs, float *output);
    /* For LINEAR and EITHER ones: row-major in desc.shape's order, elements of desc.dtype
     * (float16 as bits in uint16_t). */
    void (*reference_linear)(const struct tdl_node *node, const void *const *inputs, void *output);
    /* Take anew what the builder's function took from the inputs' shapes, which have changed;
     * what it was told holds for those, too (else false). NULL: it may not. */
    bool (*resize)(struct tdl_node *node);
    /* The first dimension, which was 1, of the inputs in these slots (bits) has become another:
     * change options that say 1 of it. True if each result along the output's first dimension
     * then depends on what has the same place in these inputs alone. NULL: it may not. */
    bool (*stack)(struct tdl_node *node, uint32_t stacked);
    uint64_t (*macs)(const struct tdl_node *node); /* may be NULL: 0 */
    /* Bytes that the reference goes through. NULL: inputs and output, or four for
     * each of macs(). */
    uint64_t (*work)(const struct tdl_node *node);
    /* Bits of the slots whose constants `lower` takes itself; constants in
     * others reach it as values in packs. */
    uint32_t weight_slots;
    /* Bits of the slots whose values have their channels last, wherever the pictures have them.
     * So have those in weight slots. */
    uint32_t nhwc_slots;

    /* Questions of devices that run operators as they are, on values in the order of
     * their shapes. */

    /* The operator computes in float32, whatever floats its inputs and output are: so may
     * they be. True of all that have `reference`. */
    bool floats;
    /* Axis i of its images, all of rank 4, becomes axis place[i]: let the options say what they
     * say now. False, and nothing changed, where they cannot. NULL: they never can. */
    bool (*renumber)(struct tdl_node *node, const uint32_t place[4]);

    /* Questions of passes. */

    /* The output is the input under another shape: nothing moves. */
    bool renames;
    /* The activation that the node ends with, which other functions behind it may
     * take the place of, or NULL while it has no room for one. NULL: it never has. */
    enum tdl_activation *(*activation)(struct tdl_node *node);
    /* The output channel that element `i` of its filter, slot TDL_CONV_FILTER, works
     * for: what scales channels behind it goes into filter and bias. NULL: it is
     * linear in no filter. */
    uint32_t (*filter_channel)(const struct tdl_node *node, size_t i);
    /* Count zeros around its input, above, below, left and right, as padding.
     * `never_negative`: no element of the input is less than they. False, and
     * nothing changed, if it cannot. NULL: it has no padding. */
    bool (*widen)(struct tdl_node *node, const uint32_t border[4], bool never_negative);
    /* For a PACKED one: can it write its output in linear memory? NULL: no. */
    bool (*writes_linear)(const struct tdl_node *node);
};

struct tdl_ir *tdl_ir_create(void);
void tdl_ir_destroy(struct tdl_ir **ir);
/* A copy to work on; constants' data are shared with the original. */
struct tdl_ir *tdl_ir_clone(const struct tdl_ir *ir);

/* NULL when out of memory. */
struct tdl_operand *tdl_ir_add_operand(struct tdl_ir *ir, enum tdl_operand_kind kind,
                                       const struct tdl_tensor_params *desc);
/* Copied; once an operand. False when out of memory. */
bool tdl_operand_set_name(struct tdl_operand *operand, const char *name);
struct tdl_node *tdl_ir_add_node(struct tdl_ir *ir, const struct tdl_op *op);
/* Adds a node likewise, placed behind `before`: where two orders are right, the earlier
 * node runs earlier. */
struct tdl_node *tdl_ir_insert_after(struct tdl_ir *ir, const struct tdl_node *before,
                                     const struct tdl_op *op);
/* Memory for a constant that a pass makes; freed with the IR. */
void *tdl_ir_alloc(struct tdl_ir *ir, size_t size);
/* Constants that passes make stay in proportion to those that were given, however often a
 * model of a few bytes asks for it. The limits leave several times what real models need.
 * tdl_ir_clone() does it. False when out of memory. */
bool tdl_ir_budget_init(struct tdl_ir *ir);
/* Raises a builder's limits by what it was given since, but for what was evaluated of that:
 * false where that is nothing. */
bool tdl_ir_budget_grow(struct tdl_ir *ir);
/* Spend on a constant of `bytes`, and on `work` bytes to read and write for it.
 * False, and nothing spent, if that is too much. */
bool tdl_ir_spend(struct tdl_ir *ir, uint64_t bytes, uint64_t work);
/* Have the data of a constant, and let go of it where it was made. False when out of
 * memory. */
bool tdl_operand_expand(struct tdl_operand *operand);
void tdl_operand_shrink(struct tdl_operand *operand);
/* Expands all that a node reads, of a list of nodes made ready in turn: an operand that
 * several read is made once, and goes with the last. */
void tdl_nodes_count_readers(struct tdl_node *const *nodes, uint32_t count);
enum tdl_result tdl_node_expand(const struct tdl_node *node);
void tdl_node_shrink(const struct tdl_node *node);
void tdl_compact_expand(const struct tdl_compact *compact, float *out);
/* The operand's elements lie in the constant's order: have it so; do they? */
void tdl_compact_order(struct tdl_compact *compact, size_t elements);
bool tdl_compact_is_plain(const struct tdl_compact *compact);
/* Let go of the constants' data, borrowed or made, once the device has them. */
void tdl_ir_forget_constants(struct tdl_ir *ir);
/* End what tdl_ir_index() began. */
void tdl_ir_forget_uses(struct tdl_ir *ir);

/* Note who reads each value, so that the questions below need not look through
 * all nodes. From then on, inputs are set by tdl_ir_set_input() only; sweep and
 * sort end it. Without memory for it, questions take longer. */
void tdl_ir_index(struct tdl_ir *ir);
void tdl_ir_set_input(struct tdl_ir *ir, struct tdl_node *node, uint32_t slot,
                      struct tdl_operand *operand);
/* The only node that reads the value, be it in several slots. */
struct tdl_node *tdl_ir_only_reader(struct tdl_ir *ir, struct tdl_operand *operand);
/* The only node that reads the value, if there is just one use. */
struct tdl_node *tdl_ir_only_user(struct tdl_ir *ir, struct tdl_operand *operand);
/* Does any node read the value? */
bool tdl_ir_is_read(const struct tdl_ir *ir, const struct tdl_operand *operand);
/* The readers of a value one after the other, dead ones and repetitions among
 * them: start with *state NULL; ends with NULL. Of an indexed IR. */
struct tdl_node *tdl_ir_next_reader(const struct tdl_operand *operand,
                                    const struct tdl_use **state);
/* Reads of values by living nodes that an indexed IR does not know of. Slow. */
uint32_t tdl_ir_count_unlisted(const struct tdl_ir *ir);
/* Let every reader of `from` read `to`. */
void tdl_ir_replace(struct tdl_ir *ir, struct tdl_operand *from, struct tdl_operand *to);
/* Drop dead nodes, and nodes whose results nobody reads. */
void tdl_ir_sweep(struct tdl_ir *ir);
/* Put nodes back into topological order. */
enum tdl_result tdl_ir_sort(struct tdl_ir *ir);
/* Print to stderr if TDL_DUMP names the pass or "all". */
void tdl_ir_dump(const struct tdl_ir *ir, const char *pass);
/* "float32[1,2,3,4]" of an operand's desc; static per-thread ring of texts. */
const char *tdl_operand_text(const struct tdl_operand *operand);

static inline struct tdl_dims tdl_operand_dims(const struct tdl_operand *operand)
{
    return tdl_dims_in(&operand->desc, operand->layout);
}

/* A node as its operator's functions want it, whose operands have layouts: the node itself,
 * or a copy of one that was told its layout, and of its operands. */
struct tdl_told {
    struct tdl_node node;
    struct tdl_operand operands[TDL_MAX_NODE_INPUTS + 1];
};
const struct tdl_node *tdl_node_told(const struct tdl_node *node, struct tdl_told *copy);
/* The operator's functions, of nodes that may have been told. Settle the node's window where
 * its options or its inputs' shapes have changed; and infer its output then. */
void tdl_node_resolve(struct tdl_node *node);
enum tdl_result tdl_node_infer(struct tdl_node *node, struct tdl_tensor_params *out);
uint64_t tdl_node_macs(const struct tdl_node *node);
bool tdl_node_resize(struct tdl_node *node);
bool tdl_node_stack(struct tdl_node *node, uint32_t stacked);

/* Elements of a value. */
static inline size_t tdl_operand_count(const struct tdl_operand *operand)
{
    return tdl_tensor_params_size(&operand->desc) / tdl_dtype_size(operand->desc.dtype);
}

/* The operand whose memory holds the value. */
static inline struct tdl_operand *tdl_operand_root(struct tdl_operand *operand)
{
    while (operand->alias)
        operand = operand->alias;
    return operand;
}

/* Is the value's memory that of the other, from `offset` bytes on? */
static inline bool tdl_operand_lies_in(struct tdl_operand *part, struct tdl_operand *whole,
                                       uint64_t offset)
{
    part = tdl_operand_root(part);
    return part->part_of && part->part_of == tdl_operand_root(whole) && part->part_offset == offset;
}

/* Run the graph by the operators' references. `inputs` in the order of
 * ir->inputs; these and out_values[operand id] are row-major in the order of
 * desc.shape, elements of desc.dtype. The values are malloc'ed by the callee
 * for every operand, and freed by the caller. */
enum tdl_result tdl_ir_run_reference(const struct tdl_ir *ir, const void *const *inputs,
                                     void **out_values);
/* One node's result by its reference, of values likewise. */
enum tdl_result tdl_node_run_reference(const struct tdl_node *node, const void *const *inputs,
                                       void *output);
/* Evaluates likewise, and each value of an operand goes to `change` before others are
 * computed from it: tests round there, as devices do that keep fewer bits. */
typedef void (*tdl_ir_change_fn)(void *data, const struct tdl_operand *operand, void *value);
enum tdl_result tdl_ir_run_changed(const struct tdl_ir *ir, const void *const *inputs,
                                   tdl_ir_change_fn change, void *data, void **out_values);

/* The tdl_op.resize of operators that take nothing from shapes. */
bool tdl_resize_freely(struct tdl_node *node);
/* The tdl_op.stack of operators on one input that keep pictures apart whatever their options,
 * and of functions of elements. */
bool tdl_stack_first(struct tdl_node *node, uint32_t stacked);
bool tdl_stack_broadcast(struct tdl_node *node, uint32_t stacked);

/* The builder's IR, for tools and tests. */
struct tdl_ir *tdl_builder_ir(struct tdl_builder *builder);

#endif
