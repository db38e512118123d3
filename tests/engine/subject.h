/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A graph under test: its operators' plain C references say what must come
 * out, and runs on the device are held against that, with every buffer in a
 * field of sentinels that are NaN when read and noticed when overwritten.
 */
#ifndef TEST_SUBJECT_H
#define TEST_SUBJECT_H

#include "check.h"

#include <core/graph.h>
#include <core/tensor.h>

struct subject {
    struct tdl_context *ctx;
    struct tdl_builder *builder;
    struct tdl_ir *ir;  /* the builder's */
    /* Row-major in the order of desc.shape, elements of desc.dtype. */
    void *inputs[TDL_MAX_INPUTS];
    void **values;      /* results of the references, by operand id */
    void *plain[TDL_MAX_OUTPUTS];    /* outputs of the device */
    double slack;       /* factor on the tolerances; 1 */
    bool unguarded;     /* values share memory, as for everybody else */
    /* 0, or: operators with several ways take that of this number, from 1 on. subject_run()
     * says whether there is one behind it. */
    uint32_t candidate;
    bool more;
};

/* Float32 constants that the builder owns. `shape` is rank 4, or rank 1 for a
 * bias; values in -scale … scale. */
struct tdl_operand *subject_filter(struct tdl_builder *b, struct rng *rng, uint32_t out,
                                   uint32_t kh, uint32_t kw, uint32_t in);
struct tdl_operand *subject_bias(struct tdl_builder *b, struct rng *rng, uint32_t out);
struct tdl_operand *subject_constant(struct tdl_builder *b, uint32_t rank, const uint32_t *shape,
                                     const float *values);
/* A constant of any data type and shape; `bytes` are copied. */
struct tdl_operand *subject_typed_constant(struct tdl_builder *b,
                                           const struct tdl_tensor_params *desc,
                                           const void *bytes);
/* Dimensions of a picture, where the builder's operators have them. */
static inline struct tdl_dims subject_dims(const struct tdl_operand *x)
{
    return tdl_dims_in(&x->desc, x->ir->layout);
}
/* desc of an image in NHWC or NCHW. */
struct tdl_tensor_params subject_image(enum tdl_layout layout, uint32_t n, uint32_t h, uint32_t w,
                                       uint32_t c);

/* Does the device run a plan of dispatches, in a program as Vulkan's? */
bool subject_has_kernels(const struct tdl_context *ctx);
/* As check_stride(), of what compiles kernels for each case; on the CPU all are tried. */
uint64_t subject_stride(const struct tdl_context *ctx, uint64_t n);
/* Arena of the kernels' intermediate values; NULL on a device without kernels. */
struct tdl_buffer *subject_arena(const struct tdl_graph *graph);
/* Up to where its submissions wait for those before them; 0 likewise. */
uint64_t subject_barrier_point(const struct tdl_context *ctx);
/* On a software device: let the compiler choose kernels as for a GPU, or as
 * for what the device is. Real GPUs stay what they are. */
void subject_pretend_gpu(struct tdl_context *ctx, bool gpu);

struct tdl_conv_variant;
/* Is a device with matrix units sure to have the shared memory for this way to use them? */
bool subject_units_fit(const struct tdl_context *ctx, const struct tdl_conv_variant *v);

extern const enum tdl_dtype subject_dtypes[8];
/* desc of a row-major value; SUBJECT_SHAPE(TDL_INT8, 2, 3) is int8[2,3]. */
struct tdl_tensor_params subject_shape(enum tdl_dtype dtype, uint32_t rank, const uint32_t *shape);
#define SUBJECT_SHAPE(dtype, ...)                                                                  \
    subject_shape(dtype, sizeof((uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t),                     \
                  (uint32_t[]){__VA_ARGS__})
struct tdl_operand *subject_input(struct tdl_builder *b, const char *name,
                                  struct tdl_tensor_params desc);
/* An output with a name of its own. */
void subject_output(struct tdl_builder *b, struct tdl_operand *o);
/* How many steps of the graph, in float32, use kernels whose names begin so. */
uint32_t subject_steps(struct tdl_builder *b, bool no_fuse, const char *kernel);

/* Random elements of the desc's type: floats in -4 … 4; integers small or, one
 * in two, any. */
void subject_fill(const struct tdl_tensor_params *desc, struct rng *rng, void *values);
/* Writes the elements of input `index` (desc of its operand). */
typedef void (*subject_fill_fn)(uint32_t index, const struct tdl_tensor_params *desc,
                                struct rng *rng, void *values);
/* Takes the finished builder over, fills the inputs from `rng` and runs the
 * references. */
void subject_open(struct subject *s, struct tdl_context *ctx, struct tdl_builder *builder,
                  struct rng *rng);
/* subject_open() with inputs of the caller's. */
void subject_open_filled(struct subject *s, struct tdl_context *ctx, struct tdl_builder *builder,
                         struct rng *rng, subject_fill_fn fill);
/* Run on the device and compare; false if a check failed. */
bool subject_run(struct subject *s, const struct tdl_build_params *params);
void subject_close(struct subject *s);
/* All of it: open with random inputs, run, close. */
void subject_check(struct tdl_context *ctx, struct tdl_builder *builder, struct rng *rng,
                   bool half);

/* Compares values of the desc's type, integers exactly, NaN with NaN; prints
 * the worst and the first bad index. `half`: computed with 16 bits. */
bool subject_compare(const char *what, const struct tdl_tensor_params *desc, const void *want,
                     const void *got, bool half, double slack);

#endif
