/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A tensor: a type and a shape on a buffer that views may share. */
#ifndef TDL_TENSOR_H
#define TDL_TENSOR_H

#include "core.h"
#include "weights.h"

/* Kernels read and write whole words, so the buffer of a tensor of so many
 * bytes has up to 15 more. */
#define TDL_TENSOR_BYTES(size) TDL_ALIGN(size, 16)

struct tdl_tensor {
    struct tdl_buffer *buffer;       /* TDL_TENSOR_BYTES(size) or more */
    struct tdl_tensor_params params; /* label points into `label` */
    size_t size;                     /* bytes */
    char label[64];
    /* Constants alone have these: the context, and its weights, of which the buffer is one. */
    struct tdl_context *owner;
    struct tdl_weights constant;
};

/* TDL_OK if the device can hold such a tensor. */
enum tdl_result tdl_tensor_check_params(const struct tdl_context *context,
                                        const struct tdl_tensor_params *params);
/* constant.c: TDL_OK, or that it is one, which is not bound, viewed or written. */
enum tdl_result tdl_tensor_check_no_constant(const struct tdl_tensor *tensor);
/* One that has no buffer yet; NULL with text. */
struct tdl_tensor *tdl_tensor_new(const struct tdl_tensor_params *params);

#endif
