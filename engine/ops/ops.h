/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The operators of list.h, and what their files share. */
#ifndef TDL_OPS_H
#define TDL_OPS_H

#include "ir/ir.h"
#include "ir/plan.h"

#define TDL_OP(name, file) extern const struct tdl_op tdl_op_##name;
#include "list.h"
extern const struct tdl_op tdl_op_eltwise[]; /* by enum tdl_function, eltwise.h */
#define tdl_op_add tdl_op_eltwise[TDL_ADD]
#define tdl_op_mul tdl_op_eltwise[TDL_MUL]

/* Shared by the operators' files. */

/* For tdl_op.renumber(): of a number for each axis; of axes, a bit each; and whether these
 * stay in their order. */
void tdl_renumber_list(uint32_t list[4], const uint32_t place[4]);
uint32_t tdl_renumber_axes(uint32_t axes, const uint32_t place[4]);
bool tdl_renumber_keeps_order(uint32_t axes, const uint32_t place[4]);
/* The options say nothing of axes. */
bool tdl_renumber_freely(struct tdl_node *node, const uint32_t place[4]);

/* The activation's value at x, from its definition. */
float tdl_activate(enum tdl_activation activation, float x);
const char *tdl_activation_name(enum tdl_activation activation);

/* What a function with a window is told; NULL stands for zeros. */
struct tdl_window_options {
    uint32_t kernel[2];
    const uint32_t *stride, *dilation, *pad; /* 2, 2 and 4 of them */
    enum tdl_padding padding;
    enum tdl_rounding rounding;
    const uint32_t *output_size, *output_padding; /* 2 each; the latter of transposed ones */
    bool transposed;
};
/* For tdl_op.resolve(): the numbers that this is, for inputs of that size. An output of 0
 * along an axis: no window fits there. */
void tdl_window_resolve(struct tdl_window *window, struct tdl_dims in,
                        const struct tdl_window_options *options);
static inline bool tdl_window_fits(const struct tdl_window *window)
{
    return window->out[0] && window->out[1];
}
/* A window of one pixel, as many as `out` has. */
static inline struct tdl_window tdl_window_pixel(struct tdl_dims out)
{
    return (struct tdl_window){
        .kernel = {1, 1}, .stride = {1, 1}, .dilation = {1, 1}, .out = {out.h, out.w}};
}

/* The shape that two linear values broadcast to, with `a`'s data type; false if they do
 * not. */
bool tdl_broadcast_shapes(const struct tdl_tensor_params *a, const struct tdl_tensor_params *b,
                          struct tdl_tensor_params *out);
/* How far apart the elements of inputs lie that broadcast to an output.
 * Dimensions from the last one; neighbours are joined where all inputs allow
 * it, so that values of one shape have rank 1. */
#define TDL_MAX_BROADCAST 3
struct tdl_broadcast {
    uint32_t rank; /* ≥ 1 */
    uint32_t size[TDL_MAX_RANK], stride[TDL_MAX_BROADCAST][TDL_MAX_RANK];
};
void tdl_broadcast_resolve(const struct tdl_tensor_params *out,
                           const struct tdl_tensor_params *const *inputs, uint32_t count,
                           struct tdl_broadcast *broadcast);
/* The element of the input that element `i` of the output reads: for references. */
size_t tdl_broadcast_index(const struct tdl_tensor_params *out, const struct tdl_tensor_params *in,
                           size_t i);

/* A params struct of the given dims in the layout and data type of `like`. */
struct tdl_tensor_params tdl_desc_like(const struct tdl_operand *like, struct tdl_dims dims);

/* Is it a float32 constant? */
bool tdl_is_known(const struct tdl_operand *operand);
/* The data of one, else NULL; also where it was given in fewer bits, but while what reads it
 * is lowered (tdl_operand_expand()). */
const float *tdl_constant_data(const struct tdl_operand *operand);
/* A parameter that has to be a float32 constant: one of float16 through a cast, which folds. */
struct tdl_operand *tdl_parameter(struct tdl_builder *b, struct tdl_operand *operand);

/* Is it, or will it be when kernels are chosen, a constant? So is NULL, and what is wrong in
 * another way. */
bool tdl_becomes_known(struct tdl_builder *b, struct tdl_operand *operand);
/* Values by channel, of that type, as they broadcast to images of that layout. */
struct tdl_operand *tdl_by_channel(struct tdl_builder *b, struct tdl_operand *values,
                                   enum tdl_dtype dtype, enum tdl_layout layout);

/* True if there is a kernel for both in one. */
bool tdl_expand_depthwise_fits(const struct tdl_node *expand, const struct tdl_node *depthwise);
/* The number of many invocations, about: what the fuse pass weighs work that each repeats
 * by. */
uint64_t tdl_expand_depthwise_groups(const struct tdl_node *n);
/* True if there is a kernel for an expandDepthwise and what reads it in one; and for one
 * that reads so many channels. */
bool tdl_bottleneck_fits(const struct tdl_node *expand, const struct tdl_node *end);
bool tdl_bottleneck_reads(uint32_t channels);
/* How many workgroups it has, about. */
uint64_t tdl_bottleneck_groups(const struct tdl_node *n);
/* True for a transpose that moves each dimension to its place in the output's layout: in packs,
 * which have no order of dimensions, nothing moves. */
bool tdl_transpose_renames(const struct tdl_node *n);
/* reshape.c: the input's storage as the output's, word by word, whatever the type. */
void tdl_copy_words(struct tdl_plan *plan, struct tdl_node *n, uint32_t words);
/* True for a convTranspose2d whose outputs are blocks of 2×2 pixels, one channel. */
bool tdl_conv_transpose2d_is_block(const struct tdl_node *n);
/* True if one workgroup of any device can hold a gate of so many channels;
 * `middle` is 0 for one layer. */
bool tdl_squeeze_excite_fits(uint32_t in, uint32_t middle, uint32_t out);

/* Pixels of which a kernel that works by pixels makes one mean for a gate, at most. */
enum { TDL_GATE_PIXELS = 256 };

/* Of a repack: between packs of float32 and of the graph's own width, neither of which is
 * bound. */
bool tdl_is_between_widths(const struct tdl_node *n);

/* A gate within the kernel that multiplies by it: constants of shaders/common/gate.glsl,
 * all 0 where the gate is another dispatch's. */
struct tdl_gate_part tdl_gate_inside(const struct tdl_operand *gate);
/* Bytes of shared memory that it declares, for a workgroup of `local` invocations. */
uint64_t tdl_gate_shared(const struct tdl_gate_part *spec, uint32_t local);
/* Bindings 2 and 7: the gate, or what it is made of. */
void tdl_gate_bind(struct tdl_plan_step *step, struct tdl_operand *gate);
/* As tdl_plan_weights() for `count` floats of a kernel at binding 1, behind those of the gate
 * where the kernel makes it. NULL is no gate. */
float *tdl_gate_plan_weights(struct tdl_plan *plan, struct tdl_plan_step *step,
                             const struct tdl_operand *gate, uint64_t count,
                             const struct tdl_weights_key *key);
/* True if there is a kernel for attention of so many rows, `depth` and `width` numbers of a key
 * and of a value, and it pays. `units` is as in struct tdl_ir. */
bool tdl_attention_fits(const struct tdl_device_info *units, enum tdl_dtype type, uint32_t rows,
                        uint32_t depth, uint32_t width);
/* True for a linear resample2d to a size, as shaders/common/resample.glsl has it. */
bool tdl_resample2d_is_linear(const struct tdl_node *n);
/* (x − mean) · a + b for each channel is what the node computes before its activation; with
 * NULL for means x · a + b, which is less exact where x is about the mean. An error if its
 * parameters are not constant. */
enum tdl_result tdl_batch_normalization_factors(const struct tdl_node *n, float *a, float *b,
                                                float *means);
/* True for a pool of one window that is the whole image. */
bool tdl_pool2d_is_global(const struct tdl_node *pool);
/* Places of gridSample that lie further out are as far. */
#define TDL_GRID_FAR 16777216.0f
/* `work` of operators that read no more than they write. */
uint64_t tdl_output_work(const struct tdl_node *n);

#include "eltwise.h"

#endif
