/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Writes small ONNX files, for tests and for the fuzzer's first inputs: functions
 * that append fields to messages. Written from the format, not from the reader: field
 * numbers are those of the public schema (onnx.proto). Nothing is checked, so that
 * everything can be made wrong on purpose.
 */
#ifndef ONNX_WRITER_H
#define ONNX_WRITER_H

#include <stddef.h>
#include <stdint.h>

/* A message that grows; zeroed it is empty. */
struct onnx_bytes {
    uint8_t *data;
    size_t size, capacity;
};

/* Fields: a number, a string, bytes, and a message, which is emptied. */
void onnx_put_int(struct onnx_bytes *m, uint32_t field, int64_t value);
void onnx_put_float(struct onnx_bytes *m, uint32_t field, float value);
void onnx_put_text(struct onnx_bytes *m, uint32_t field, const char *text);
void onnx_put_bytes(struct onnx_bytes *m, uint32_t field, const void *data, size_t size);
/* A list of numbers of `width` bytes in memory, which the file has lowest byte first. */
void onnx_put_numbers(struct onnx_bytes *m, uint32_t field, const void *list, size_t size,
                      size_t width);
void onnx_put_message(struct onnx_bytes *m, uint32_t field, struct onnx_bytes *inner);
/* A varint as it is, for messages that are wrong. */
void onnx_put_varint(struct onnx_bytes *m, uint64_t value);
/* Packed numbers. */
void onnx_put_ints(struct onnx_bytes *m, uint32_t field, const int64_t *list, size_t count);

/* Attributes of a node, to be collected in a message of their own. */
void onnx_attr_int(struct onnx_bytes *attributes, const char *name, int64_t value);
void onnx_attr_float(struct onnx_bytes *attributes, const char *name, float value);
void onnx_attr_text(struct onnx_bytes *attributes, const char *name, const char *value);
void onnx_attr_ints(struct onnx_bytes *attributes, const char *name, const int64_t *list,
                    size_t count);
/* A tensor (field 5) or graph (6), which is emptied. */
void onnx_attr_message(struct onnx_bytes *attributes, const char *name, uint32_t field,
                       struct onnx_bytes *inner);

/* A tensor's message: raw bytes unless `data`, numbers in memory, is NULL. */
void onnx_tensor_message(struct onnx_bytes *t, const char *name, int type, size_t rank,
                         const int64_t *dims, const void *data, size_t size);

/* Parts of a graph. Names are separated by spaces; "-" is one left out. Attributes may
 * be NULL, else they are emptied. */
void onnx_node(struct onnx_bytes *graph, const char *type, const char *inputs,
               const char *outputs, struct onnx_bytes *attributes);
void onnx_initializer(struct onnx_bytes *graph, const char *name, int type, size_t rank,
                      const int64_t *dims, const void *data, size_t size);
/* float32 and int64 lists of rank 1. */
void onnx_int64s(struct onnx_bytes *graph, const char *name, size_t count, const int64_t *list);
/* A dimension of −1 is open without a name, of −2 − k by the name "dk". */
void onnx_input(struct onnx_bytes *graph, const char *name, int type, size_t rank,
                const int64_t *dims);
/* The shape of a value between nodes, as onnx_input() has it. */
void onnx_declare(struct onnx_bytes *graph, const char *name, int type, size_t rank,
                  const int64_t *dims);
void onnx_output(struct onnx_bytes *graph, const char *name);

/* A function of the file's own, in the domain "own": nodes as those of a graph, whose call
 * is a node with the attribute onnx_attr_own(). */
void onnx_function_node(struct onnx_bytes *nodes, const char *type, const char *inputs,
                        const char *outputs, struct onnx_bytes *attributes);
void onnx_function(struct onnx_bytes *functions, const char *name, const char *inputs,
                   const char *outputs, int64_t opset, struct onnx_bytes *nodes);
/* Among the nodes: an attribute of the function that a call may leave out. */
void onnx_function_default(struct onnx_bytes *nodes, const char *name, float value);
void onnx_attr_own(struct onnx_bytes *attributes);
/* The attribute `name` of a function's node is that of the call by the name `of`. */
void onnx_attr_of_call(struct onnx_bytes *attributes, const char *name, int kind, const char *of);

/* The file, in malloc'ed memory; the graph is emptied, and the functions, which may be
 * NULL. */
uint8_t *onnx_model(struct onnx_bytes *graph, int64_t opset, size_t *out_size);
uint8_t *onnx_model_with(struct onnx_bytes *graph, struct onnx_bytes *functions, int64_t opset,
                         size_t *out_size);

/* A network of a convolution, pools, sums and a resize, that imports. */
uint8_t *onnx_example(size_t *out_size);

#endif
