/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* ONNX's published test cases: a model, its inputs and the outputs it must give. */
#ifndef ONNX_FILE_H
#define ONNX_FILE_H

#include <tdl/tdl.h>

#include "onnx.pb-c.h"

enum { ONNX_MAX_TENSORS = 8 };

struct onnx_case {
    Onnx__ModelProto *model;
    Onnx__TensorProto *inputs[ONNX_MAX_TENSORS], *outputs[ONNX_MAX_TENSORS];
    size_t input_count, output_count;
};

/* Reads `folder`/model.onnx and its first data set. NULL, or why it cannot be
 * used (it then needs no onnx_case_finish()). */
const char *onnx_case_read(const char *folder, struct onnx_case *out);
void onnx_case_finish(struct onnx_case *c);

/* The tensor's type and shape (rank 4: NCHW), or why libtdl has no such. */
const char *onnx_case_params(const Onnx__TensorProto *t, struct tdl_tensor_params *out);
/* Elements as libtdl stores them, malloc'ed; `size` bytes. */
void *onnx_case_data(const Onnx__TensorProto *t, size_t *out_size);
size_t onnx_case_count(const Onnx__TensorProto *t);

#endif
