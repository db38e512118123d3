/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Meaning of TensorFlow Lite's operators: files of one operator each (tflite-rows.c), computed by
 * the operators' references; no device is needed.
 */
#include "tflite-rows.h"

#include <tdl/models.h>

#include <core/graph.h>
#include <ops/ops.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures;

static void fail(const struct tflite_row *row, const char *text)
{
    printf("%s: %s\n", row->name, text);
    failures++;
}

static double element(const struct tdl_operand *o, const void *data, size_t i)
{
    switch (o->desc.dtype) {
    case TDL_FLOAT32:
        return (double)((const float *)data)[i];
    case TDL_INT32:
        return ((const int32_t *)data)[i];
    case TDL_INT64:
        return (double)((const int64_t *)data)[i];
    case TDL_INT8:
        return ((const int8_t *)data)[i];
    default:
        return ((const uint8_t *)data)[i];
    }
}

static const float *compare(const struct tflite_row *row, const struct tdl_operand *o,
                            const void *got, const float *want)
{
    char text[128];

    for (size_t i = 0; i < tdl_operand_count(o); i++)
        if (!(fabs(element(o, got, i) - (double)want[i]) <= 1e-5)) {
            snprintf(text, sizeof(text), "%s: element %zu is %g instead of %g",
                     tdl_operand_text(o), i, element(o, got, i), (double)want[i]);
            fail(row, text);
            break;
        }
    return want + tdl_operand_count(o);
}

/* from, from + 1, … in the input's type. */
static void fill(const struct tflite_row *row, enum tdl_dtype dtype, void *out)
{
    for (int i = 0; i < 64; i++)
        switch (dtype) {
        case TDL_FLOAT32:
            ((float *)out)[i] = (float)(i + row->from);
            break;
        case TDL_INT32:
            ((int32_t *)out)[i] = i + row->from;
            break;
        case TDL_INT64:
            ((int64_t *)out)[i] = i + row->from;
            break;
        default:
            ((uint8_t *)out)[i] = (uint8_t)(i + row->from);
        }
}

static void run(const struct tflite_row *row, struct tdl_builder *b)
{
    struct tdl_ir *ir = tdl_builder_ir(b);
    const float *want = row->want;
    int64_t input[64];
    void **values = calloc(ir->operand_count + 1, sizeof(*values));

    fill(row, ir->inputs[0]->desc.dtype, input);
    if (!values || tdl_ir_run_reference(ir, (const void *const[]){input}, values) != TDL_OK)
        fail(row, tdl_last_error());
    else
        for (uint32_t i = 0; i < ir->output_count; i++)
            want = compare(row, ir->outputs[i], values[ir->outputs[i]->id], want);
    for (uint32_t i = 0; values && i < ir->operand_count; i++)
        free(values[i]);
    free(values);
}

static void test_row(const struct tflite_row *row)
{
    const struct writer_model m = tflite_row_model(row);
    struct tdl_builder *b;
    size_t size;
    uint8_t *data = write_tflite(&m, &size);

    if (tdl_builder_create(NULL, &b) != TDL_OK || tdl_model_import(b, data, size, NULL) != TDL_OK)
        fail(row, tdl_last_error());
    else
        run(row, b);
    tdl_builder_destroy(&b);
    free(data);
}

int main(void)
{
    for (size_t i = 0; i < tflite_row_count; i++)
        test_row(&tflite_rows[i]);
    printf("%zu rows, %d failures\n", tflite_row_count, failures);
    return failures ? EXIT_FAILURE : EXIT_SUCCESS;
}
