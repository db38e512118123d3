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
/* A constant list of `count` int32, such as axes or a size. */
bool tflite_read_ints(struct tflite_import *im, const struct tflite_op *op, uint32_t number,
                      uint32_t count, int32_t *out);
/* Input `number` of the operator as a rank-4 picture. */
struct tdl_operand *tflite_picture(struct tflite_import *im, const struct tflite_op *op,
                                   uint32_t number);

/* ops_eltwise.c */
bool tflite_add_binary(struct tflite_import *im, const struct tflite_op *op);
bool tflite_add_unary(struct tflite_import *im, const struct tflite_op *op);
bool tflite_add_leaky_relu(struct tflite_import *im, const struct tflite_op *op);

/* ops_image.c */
bool tflite_add_average_pool(struct tflite_import *im, const struct tflite_op *op);
bool tflite_add_max_pool(struct tflite_import *im, const struct tflite_op *op);
bool tflite_add_mean(struct tflite_import *im, const struct tflite_op *op);
bool tflite_add_resize(struct tflite_import *im, const struct tflite_op *op);
bool tflite_add_resize_nearest(struct tflite_import *im, const struct tflite_op *op);

/* ops_move.c */
bool tflite_add_blocks(struct tflite_import *im, const struct tflite_op *op);
bool tflite_add_concatenation(struct tflite_import *im, const struct tflite_op *op);
bool tflite_add_pad(struct tflite_import *im, const struct tflite_op *op);
bool tflite_add_slice(struct tflite_import *im, const struct tflite_op *op);
bool tflite_add_softmax(struct tflite_import *im, const struct tflite_op *op);

#endif
