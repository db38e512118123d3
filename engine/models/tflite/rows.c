/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The operators of TensorFlow Lite that libtdl has. */
#include "ops.h"

#include <string.h>

static const void *const tables[] = {
    tflite_rows_conv,  tflite_rows_eltwise,   tflite_rows_image,  tflite_rows_matrix,
    tflite_rows_move,  tflite_rows_quantize,  tflite_rows_reduce, tflite_rows_shape,
    tflite_rows_slice, tflite_rows_subgraphs, tflite_rows_detect,
};
#define TABLES (sizeof(tables) / sizeof(tables[0]))
static const struct tdl_kit_tables operators = {tables, TABLES, sizeof(struct tflite_op_row)};

const char *tflite_row_name(uint32_t index)
{
    return tdl_kit_row_name(&operators, index);
}

const struct tflite_op_row *tflite_find_row(int32_t code, const char *custom)
{
    for (size_t t = 0; t < TABLES; t++)
        for (const struct tflite_op_row *row = tables[t]; row->name; row++)
            if (row->code == code &&
                (code != TFLITE_CUSTOM || (custom && strcmp(custom, row->name) == 0)))
                return row;
    return NULL;
}
