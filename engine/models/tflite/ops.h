/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Between the files that turn TensorFlow Lite's operators into builder calls:
 * readers of options and inputs, false or NULL with the builder in error; and
 * tables of rows. */
#ifndef TDL_TFLITE_OPS_H
#define TDL_TFLITE_OPS_H

#include "tflite.h"

/* Both within what strides, windows and sizes of image networks are. */
bool tflite_in_step_range(struct tflite_import *im, const char *what, int64_t a, int64_t b);
/* Vertical and horizontal numbers of an options table. */
bool tflite_read_pair(struct tflite_import *im, const struct tflite_op *op, const char *what,
                      uint32_t field_h, uint32_t field_w, int32_t fallback, uint32_t out[2]);
bool tflite_read_padding(struct tflite_import *im, const struct tflite_op *op,
                         enum tdl_padding *out);
bool tflite_read_activation(struct tflite_import *im, const struct tflite_op *op, uint32_t field,
                            enum tdl_activation *out);
/* A known list of `count` numbers, such as a size; or of up to `most`, such as axes. */
bool tflite_read_ints(struct tflite_import *im, const struct tflite_op *op, uint32_t number,
                      uint32_t count, int64_t *out);
bool tflite_read_list(struct tflite_import *im, const struct tflite_op *op, uint32_t number,
                      uint32_t most, int64_t *out, uint32_t *out_count);
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

/* Tables of rows, each ends with an empty one. */
extern const struct tflite_op_row tflite_rows_conv[], tflite_rows_detect[], tflite_rows_eltwise[],
    tflite_rows_image[], tflite_rows_matrix[], tflite_rows_move[], tflite_rows_quantize[],
    tflite_rows_reduce[], tflite_rows_shape[], tflite_rows_slice[], tflite_rows_subgraphs[];

#endif
