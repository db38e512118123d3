/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The numbers of TensorFlow Lite's file format that the importer needs: field
 * numbers of tables and values of enums, from the public schema (version 3,
 * tensorflow/compiler/mlir/lite/schema/schema.fbs).
 */
#ifndef TDL_TFLITE_SCHEMA_H
#define TDL_TFLITE_SCHEMA_H

#define TFLITE_IDENTIFIER "TFL3"
#define TFLITE_VERSION 3

/* table Model */
enum {
    TFLITE_MODEL_VERSION = 0,
    TFLITE_MODEL_OPERATOR_CODES = 1,
    TFLITE_MODEL_SUBGRAPHS = 2,
    TFLITE_MODEL_BUFFERS = 4,
};

/* table OperatorCode; the code is the larger of the two, since the first is
 * only a byte and stops at 127 */
enum {
    TFLITE_OPCODE_DEPRECATED_CODE = 0,
    TFLITE_OPCODE_CUSTOM_CODE = 1,
    TFLITE_OPCODE_VERSION = 2,
    TFLITE_OPCODE_CODE = 3,
};

/* table SubGraph */
enum {
    TFLITE_SUBGRAPH_TENSORS = 0,
    TFLITE_SUBGRAPH_INPUTS = 1,
    TFLITE_SUBGRAPH_OUTPUTS = 2,
    TFLITE_SUBGRAPH_OPERATORS = 3,
};

/* table Tensor */
enum {
    TFLITE_TENSOR_SHAPE = 0,
    TFLITE_TENSOR_TYPE = 1,
    TFLITE_TENSOR_BUFFER = 2,
    TFLITE_TENSOR_NAME = 3,
    TFLITE_TENSOR_IS_VARIABLE = 5,
    TFLITE_TENSOR_SPARSITY = 6,
    TFLITE_TENSOR_SHAPE_SIGNATURE = 7,
};

/* table Buffer; `offset` and `size` are for data behind the FlatBuffer */
enum {
    TFLITE_BUFFER_DATA = 0,
    TFLITE_BUFFER_OFFSET = 1,
    TFLITE_BUFFER_SIZE = 2,
};

/* table Operator */
enum {
    TFLITE_OPERATOR_CODE_INDEX = 0,
    TFLITE_OPERATOR_INPUTS = 1,
    TFLITE_OPERATOR_OUTPUTS = 2,
    TFLITE_OPERATOR_OPTIONS_TYPE = 3,
    TFLITE_OPERATOR_OPTIONS = 4,
    TFLITE_OPERATOR_CUSTOM_OPTIONS = 5,
};

/* enum TensorType */
enum tflite_type {
    TFLITE_FLOAT32 = 0,
    TFLITE_FLOAT16 = 1,
    TFLITE_INT32 = 2,
};

/* enum BuiltinOperator */
enum tflite_code {
    TFLITE_ADD = 0,
    TFLITE_AVERAGE_POOL_2D = 1,
    TFLITE_CONV_2D = 3,
    TFLITE_DEPTHWISE_CONV_2D = 4,
    TFLITE_DEQUANTIZE = 6,
    TFLITE_LOGISTIC = 14,
    TFLITE_MUL = 18,
    TFLITE_RELU = 19,
    TFLITE_RELU6 = 21,
    TFLITE_RESIZE_BILINEAR = 23,
    TFLITE_TANH = 28,
    TFLITE_CUSTOM = 32,
    TFLITE_MEAN = 40,
    TFLITE_TRANSPOSE_CONV = 67,
    TFLITE_HARD_SWISH = 117,
};

/* union BuiltinOptions */
enum {
    TFLITE_CONV_2D_OPTIONS = 1,
    TFLITE_DEPTHWISE_CONV_2D_OPTIONS = 2,
    TFLITE_POOL_2D_OPTIONS = 5,
    TFLITE_ADD_OPTIONS = 11,
    TFLITE_RESIZE_BILINEAR_OPTIONS = 15,
    TFLITE_MUL_OPTIONS = 21,
    TFLITE_REDUCER_OPTIONS = 27,
    TFLITE_TRANSPOSE_CONV_OPTIONS = 49,
};

/* enum Padding */
enum { TFLITE_PADDING_SAME = 0, TFLITE_PADDING_VALID = 1 };

/* enum ActivationFunctionType */
enum {
    TFLITE_ACTIVATION_NONE = 0,
    TFLITE_ACTIVATION_RELU = 1,
    TFLITE_ACTIVATION_RELU6 = 3,
    TFLITE_ACTIVATION_TANH = 4,
};

/* Options; convolution, depthwise, pooling and transposed convolution begin alike. */
enum {
    TFLITE_WINDOW_PADDING = 0,
    TFLITE_WINDOW_STRIDE_W = 1,
    TFLITE_WINDOW_STRIDE_H = 2,

    TFLITE_CONV_ACTIVATION = 3,
    TFLITE_CONV_DILATION_W = 4,
    TFLITE_CONV_DILATION_H = 5,

    TFLITE_DEPTHWISE_ACTIVATION = 4,
    TFLITE_DEPTHWISE_DILATION_W = 5,
    TFLITE_DEPTHWISE_DILATION_H = 6,

    TFLITE_POOL_WIDTH = 3,
    TFLITE_POOL_HEIGHT = 4,
    TFLITE_POOL_ACTIVATION = 5,

    TFLITE_TRANSPOSE_CONV_ACTIVATION = 3,

    TFLITE_BINARY_ACTIVATION = 0, /* Add and Mul */
    TFLITE_REDUCER_KEEP_DIMS = 0,
    TFLITE_RESIZE_ALIGN_CORNERS = 2,
    TFLITE_RESIZE_HALF_PIXEL = 3,
};

#endif
