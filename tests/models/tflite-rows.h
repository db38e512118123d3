/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Files of one operator of TensorFlow Lite each, and results worked out by hand from
 * TensorFlow's definitions, which differ from WebNN's and ONNX's in defaults. */
#ifndef TFLITE_ROWS_H
#define TFLITE_ROWS_H

#include "tflite-writer.h"

struct tflite_row {
    const char *name;
    struct writer_op op; /* inputs: 0 the picture 0, 1, 2, …, then the others */
    int rank, in[6], out[6];
    struct writer_tensor more[3]; /* other inputs */
    const float *want;
    int type, out_type;           /* types of the file's tensors */
    int from;                     /* the first number of the picture */
    int place;                    /* the picture's among the inputs */
    int more_rank;                /* dimensions that the output has more than the input */
    int outputs;                  /* one behind the other in `want`; 0: one */
};

extern const struct tflite_row tflite_rows[];
extern const size_t tflite_row_count;

struct writer_model tflite_row_model(const struct tflite_row *row);

#endif
