/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Writes small TensorFlow Lite files from a description in C, for tests and
 * for the fuzzer's first inputs. Written from the format, not from the
 * importer: the numbers below are those of the public schema (schema.fbs).
 * Every description can be made wrong on purpose.
 */
#ifndef TFLITE_WRITER_H
#define TFLITE_WRITER_H

#include <stddef.h>
#include <stdint.h>

/* Sparse encoding of a constant. `width` of lists: 1 int32, 2 uint16, 3 uint8, as in the union. */
struct writer_sparsity {
    int order_count, order[8], block_count, blocks[4], dim_count;
    struct writer_dimension {
        int format, size, width;
        int segment_count, segments[8], index_count, indices[16];
    } dims[8];
};

struct writer_tensor {
    const char *name;     /* NULL: no name stored */
    int type;             /* TensorType: 0 float32, 1 float16, 2 int32, 3 uint8, 4 int64,
                             6 bool, 7 int16, 9 int8 */
    int rank, shape[8];
    const void *data;     /* NULL: not constant */
    size_t data_size;     /* bytes */
    int buffer;           /* number of another buffer, 0: its own or none */
    int variable, sparse; /* flags */
    const float *scales;  /* scales of quantization, along a dimension if several */
    const int64_t *zeros;
    int scale_count, zero_count, axis;
    int open;             /* bits of dimensions that the signature says are not known */
    const struct writer_sparsity *sparsity;
    int table;            /* 1 + number of an earlier tensor, whose table serves; 0: its own */
};

/* One scalar, or one list of int32, in an options table. */
struct writer_option {
    int field;
    int size; /* bytes, 1 or 4, or numbers of the list; 0 ends the options */
    int value;
    const int *list;
};

struct writer_op {
    int code;            /* BuiltinOperator, 32 for a custom one */
    const char *custom;
    int version;         /* 0: not stored */
    int input_count, inputs[10];
    int output_count, outputs[4];
    int options_type;    /* member of BuiltinOptions; 0: no options */
    struct writer_option options[8];
    const void *custom_options;
    size_t custom_size;
    int code_index;      /* added to the right index of its operator code */
};

struct writer_model {
    char identifier[5];
    int version, subgraphs;
    int tensor_count;
    struct writer_tensor tensors[12];
    int op_count;
    struct writer_op ops[8];
    int input_count, inputs[4];
    int output_count, outputs[4];
    /* Further tensors without data, and further operators whose code_index is a number of `ops`:
     * for models of any size. */
    const struct writer_tensor *more_tensors;
    const struct writer_op *more_ops;
    int more_tensor_count, more_op_count;
    /* Further buffers behind the others. Each begins a word further inside the first constant's
     * data, whose words there give the sizes. */
    int overlaps;
};

/* The file in malloc'ed memory (aligned for any type). */
uint8_t *write_tflite(const struct writer_model *model, size_t *out_size);

/* A valid model, [1,4,6,3] → [1,8,12,5], which uses float16 weights through
 * DEQUANTIZE, CONV_2D, ADD with a constant of lower rank, MEAN and
 * RESIZE_BILINEAR; static data only. */
struct writer_model writer_example(void);

#endif
