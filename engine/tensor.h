/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A tensor: a type and a shape on a buffer that views may share. */
#ifndef TDL_TENSOR_H
#define TDL_TENSOR_H

#include "buffer.h"

/* Kernels read and write whole words, so the buffer of a tensor of so many
 * bytes has up to 15 more. */
#define TDL_TENSOR_BYTES(size) TDL_ALIGN(size, 16)

struct tdl_tensor {
    struct tdl_buffer *buffer; /* of TDL_TENSOR_BYTES(size) or more */
    struct tdl_tensor_params params; /* label points into `label` */
    size_t size;                     /* bytes */
    char label[64];
};

/* One that has no buffer yet; NULL with text. */
struct tdl_tensor *tdl_tensor_new(const struct tdl_tensor_params *params);
/* TDL_OK, or what is wrong with the params. */
enum tdl_result tdl_tensor_params_check(const struct tdl_tensor_params *params);
/* "float32[1,256,256,3]" into `text`; returns `text`. */
char *tdl_tensor_params_text(const struct tdl_tensor_params *params, char *text, size_t size);

static inline bool tdl_is_float(enum tdl_dtype dtype)
{
    return dtype == TDL_FLOAT32 || dtype == TDL_FLOAT16;
}

/* A rank-4 shape whatever its layout; lower ranks fill from C, and the first
 * dimensions of higher ones are n together. */
struct tdl_dims {
    uint32_t n, h, w, c;
};
struct tdl_dims tdl_tensor_params_dims(const struct tdl_tensor_params *params);

#endif
