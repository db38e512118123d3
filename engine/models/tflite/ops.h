/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Between the files that turn TensorFlow Lite's operators into builder calls:
 * readers of options and inputs, false or NULL with the builder in error; and
 * functions of rows. */
#ifndef TDL_TFLITE_OPS_H
#define TDL_TFLITE_OPS_H

#include "tflite.h"

/* Both within what strides, windows and sizes of image networks are. */
bool tflite_in_step_range(struct tflite_import *im, const char *what, int32_t a, int32_t b);
/* Vertical and horizontal numbers of an options table. */
bool tflite_read_pair(struct tflite_import *im, const struct tflite_op *op, const char *what,
                      uint32_t field_h, uint32_t field_w, int32_t fallback, uint32_t out[2]);
bool tflite_read_padding(struct tflite_import *im, const struct tflite_op *op,
                         enum tdl_padding *out);
bool tflite_read_activation(struct tflite_import *im, const struct tflite_op *op, uint32_t field,
                            enum tdl_activation *out);
/* A known list of `count` numbers, such as a size; or of up to `most`, such as axes. */
bool tflite_read_ints(struct tflite_import *im, const struct tflite_op *op, uint32_t number,
                      uint32_t count, int32_t *out);
bool tflite_read_list(struct tflite_import *im, const struct tflite_op *op, uint32_t number,
                      uint32_t most, int32_t *out, uint32_t *out_count);
/* An axis, counted from the end where it is below 0. */
bool tflite_axis(struct tflite_import *im, int32_t axis, uint32_t rank, uint32_t *out);
/* Input `number` of the operator as a rank-4 picture. */
struct tdl_operand *tflite_picture(struct tflite_import *im, const struct tflite_op *op,
                                   uint32_t number);
/* Input `number` of the operator as a rank-4 filter of a sane window. */
struct tdl_operand *tflite_filter(struct tflite_import *im, const struct tflite_op *op,
                                  uint32_t number);
/* The optional bias; false only on error. */
bool tflite_read_bias(struct tflite_import *im, const struct tflite_op *op, uint32_t number,
                      struct tdl_operand **out);
/* A scalar 0. */
struct tdl_operand *tflite_zero(struct tflite_import *im, enum tdl_dtype dtype);
/* tdl_builder_transpose() that leaves the layout as it is. */
struct tdl_operand *tflite_transpose(struct tflite_import *im, struct tdl_operand *x,
                                     const uint32_t *permutation);

/* Functions of rows. */
#define TFLITE_ROW(name) bool tflite_add_##name(struct tflite_import *, const struct tflite_op *)
/* ops_conv.c */
TFLITE_ROW(conv2d);
TFLITE_ROW(depthwise);
TFLITE_ROW(transpose_conv);
TFLITE_ROW(transpose_conv_bias);
/* ops_matrix.c */
TFLITE_ROW(batch_matmul);
TFLITE_ROW(fully_connected);
/* ops_eltwise.c */
TFLITE_ROW(activation);
TFLITE_ROW(binary);
TFLITE_ROW(gelu);
TFLITE_ROW(leaky_relu);
TFLITE_ROW(select);
TFLITE_ROW(sum_of_many);
TFLITE_ROW(unary);
/* ops_image.c */
TFLITE_ROW(average_pool);
TFLITE_ROW(max_pool);
TFLITE_ROW(resize);
TFLITE_ROW(resize_nearest);
/* ops_move.c */
TFLITE_ROW(blocks);
TFLITE_ROW(concatenation);
TFLITE_ROW(pack);
TFLITE_ROW(pad);
TFLITE_ROW(split);
TFLITE_ROW(transpose);
TFLITE_ROW(unpack);
/* ops_quantise.c */
TFLITE_ROW(cast);
TFLITE_ROW(densify);
TFLITE_ROW(dequantize);
TFLITE_ROW(quantize);
/* ops_reduce.c */
TFLITE_ROW(arg);
TFLITE_ROW(cumulative_sum);
TFLITE_ROW(l2_normalization);
TFLITE_ROW(reduce);
TFLITE_ROW(softmax);
/* ops_shape.c */
TFLITE_ROW(broadcast_to);
TFLITE_ROW(expand_dims);
TFLITE_ROW(fill);
TFLITE_ROW(only_known);
TFLITE_ROW(reshape);
TFLITE_ROW(squeeze);
TFLITE_ROW(tile);
TFLITE_ROW(zeros_like);
/* ops_slice.c */
TFLITE_ROW(batches_of_blocks);
TFLITE_ROW(gather);
TFLITE_ROW(gather_nd);
TFLITE_ROW(one_hot);
TFLITE_ROW(reverse);
TFLITE_ROW(scatter_nd);
TFLITE_ROW(slice);
TFLITE_ROW(strided_slice);
TFLITE_ROW(top_k);
#undef TFLITE_ROW

#endif
