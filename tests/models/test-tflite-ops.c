/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What operators of TensorFlow Lite mean, as the importer understands them: a
 * file of one operator each, and results worked out by hand from
 * TensorFlow's definitions, which differ from WebNN's and ONNX's in defaults.
 * Computed by the operators' references; no device is needed.
 */
#include "tflite-writer.h"

#include <tdl/models.h>

#include <core/graph.h>
#include <ops/ops.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct row {
    const char *name;
    struct writer_op op; /* inputs: 0 the picture 0, 1, 2, …, then the others */
    int rank, in[4], out[4];
    struct writer_tensor more[2]; /* other inputs */
    const float *want;
};

#define WANT(...) (const float[]){__VA_ARGS__}
#define LIST(...) (const int32_t[]){__VA_ARGS__}, sizeof((const int32_t[]){__VA_ARGS__})
/* int32 of this rank, and of one or two dimensions. */
#define INTS(rank, a, b, ...) {"n", 2, rank, {a, b}, LIST(__VA_ARGS__)}

static int failures;

static void fail(const struct row *row, const char *text)
{
    printf("%s: %s\n", row->name, text);
    failures++;
}

static void compare(const struct row *row, const struct tdl_operand *o, const float *got)
{
    char text[128];
    for (size_t i = 0; i < tdl_operand_count(o); i++)
        if (!(fabsf(got[i] - row->want[i]) <= 1e-5f)) {
            snprintf(text, sizeof(text), "element %zu is %g instead of %g", i, (double)got[i],
                     (double)row->want[i]);
            fail(row, text);
            return;
        }
}

static void run(const struct row *row, struct tdl_builder *b)
{
    struct tdl_ir *ir = tdl_builder_ir(b);
    float input[64];
    void **values = calloc(ir->operand_count + 1, sizeof(*values));
    for (int i = 0; i < 64; i++)
        input[i] = (float)i;
    if (!values || tdl_ir_run_reference(ir, (const void *const[]){input}, values) != TDL_OK)
        fail(row, tdl_last_error());
    else
        compare(row, ir->outputs[0], values[ir->outputs[0]->id]);
    for (uint32_t i = 0; values && i < ir->operand_count; i++)
        free(values[i]);
    free(values);
}

static void test_row(const struct row *row)
{
    struct writer_model m = {.identifier = "TFL3", .version = 3, .subgraphs = 1, .tensor_count = 2,
                             .tensors = {{"in", 0, row->rank, {0}}, {"out", 0, row->rank, {0}}},
                             .op_count = 1, .ops = {row->op}, .input_count = 1, .inputs = {0},
                             .output_count = 1, .outputs = {1}};
    struct tdl_builder *b;
    size_t size;
    memcpy(m.tensors[0].shape, row->in, sizeof(row->in));
    memcpy(m.tensors[1].shape, row->out, sizeof(row->out));
    m.ops[0].version = 1;
    m.ops[0].input_count = 1;
    m.ops[0].output_count = 1;
    m.ops[0].outputs[0] = 1;
    for (int i = 0; i < 2 && row->more[i].name; i++) {
        m.tensors[m.tensor_count] = row->more[i];
        m.ops[0].inputs[m.ops[0].input_count++] = m.tensor_count++;
    }
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
    static const int32_t beta = 0x3f800000; /* 1.0f */
    const struct row rows[] = {
        /* SAME pads at the end, and padding is no pixel. */
        {"MAX_POOL_2D",
         {17, .options_type = 5, .options = {{1, 4, 2}, {2, 4, 2}, {3, 4, 2}, {4, 4, 1}}},
         4, {1, 1, 5, 1}, {1, 1, 3, 1}, .want = WANT(1, 3, 4)},
        {"CONCATENATION", {2, .options_type = 10, .options = {{0, 4, -1}}},
         2, {2, 1}, {2, 3}, {{"c", 0, 2, {2, 2}, WANT(5, 6, 7, 8), 16}},
         WANT(0, 5, 6, 1, 7, 8)},
        {"CONCATENATION with RELU6", {2, .options_type = 10, .options = {{0, 4, 0}, {1, 1, 3}}},
         1, {2}, {4}, {{"c", 0, 1, {2}, WANT(-5, 9), 8}}, WANT(0, 1, 0, 6)},
        {"PAD", {34, .options_type = 22}, 2, {1, 2}, {2, 4}, {INTS(2, 2, 2, 0, 1, 2, 0)},
         WANT(0, 0, 0, 1, 0, 0, 0, 0)},
        {"PADV2", {60, .options_type = 43}, 1, {2}, {4},
         {INTS(2, 1, 2, 1, 1), {"v", 0, 0, {0}, WANT(-3), 4}}, WANT(-3, 0, 1, -3)},
        {"MIRROR_PAD", {100, .options_type = 77}, 1, {3}, {6}, {INTS(2, 1, 2, 2, 1)},
         WANT(2, 1, 0, 1, 2, 1)},
        {"SLICE", {65, .options_type = 48}, 2, {2, 3}, {1, 2},
         {INTS(1, 2, 0, 1, 1), INTS(1, 2, 0, 1, -1)}, WANT(4, 5)},
        {"DEPTH_TO_SPACE", {5, .options_type = 94, .options = {{0, 4, 2}}},
         4, {1, 1, 1, 8}, {1, 2, 2, 2}, .want = WANT(0, 1, 2, 3, 4, 5, 6, 7)},
        {"SPACE_TO_DEPTH", {26, .options_type = 19, .options = {{0, 4, 2}}},
         4, {1, 2, 4, 1}, {1, 1, 2, 4}, .want = WANT(0, 1, 4, 5, 2, 3, 6, 7)},
        /* floor(x · 4 / 6) */
        {"RESIZE_NEAREST_NEIGHBOR", {97, .options_type = 74},
         4, {1, 1, 4, 1}, {1, 1, 6, 1}, {INTS(1, 2, 0, 1, 6)}, WANT(0, 0, 1, 2, 2, 3)},
        /* floor((x + ½) · 4 / 6) */
        {"RESIZE_NEAREST_NEIGHBOR of centres", {97, .options_type = 74, .options = {{1, 1, 1}}},
         4, {1, 1, 4, 1}, {1, 1, 6, 1}, {INTS(1, 2, 0, 1, 6)}, WANT(0, 1, 1, 2, 3, 3)},
        /* round(x · 3 / 2): 1½ is rounded up */
        {"RESIZE_NEAREST_NEIGHBOR of corners", {97, .options_type = 74, .options = {{0, 1, 1}}},
         4, {1, 1, 4, 1}, {1, 1, 3, 1}, {INTS(1, 2, 0, 1, 3)}, WANT(0, 2, 3)},
        {"SUB with RELU", {41, .options_type = 28, .options = {{0, 1, 1}}}, 1, {3}, {3},
         {{"c", 0, 1, {3}, WANT(1, 1, 0.5f), 12}}, WANT(0, 0, 1.5f)},
        {"DIV", {42, .options_type = 29}, 1, {3}, {3}, {{"c", 0, 1, {3}, WANT(1, 2, 4), 12}},
         WANT(0, 0.5f, 0.5f)},
        {"MAXIMUM", {55, .options_type = 39}, 1, {3}, {3}, {{"c", 0, 0, {0}, WANT(1), 4}},
         WANT(1, 1, 2)},
        {"MINIMUM", {57, .options_type = 39}, 1, {3}, {3}, {{"c", 0, 0, {0}, WANT(1), 4}},
         WANT(0, 1, 1)},
        {"PRELU", {54}, 1, {3}, {3}, {{"c", 0, 1, {3}, WANT(9, 9, 9), 12}}, WANT(0, 1, 2)},
        {"LEAKY_RELU", {98, .options_type = 75, .options = {{0, 4, 0x3f000000}}}, 1, {2}, {2},
         .want = WANT(0, 1)},
        {"NEG", {59}, 1, {3}, {3}, .want = WANT(0, -1, -2)},
        {"EXP", {47}, 1, {2}, {2}, .want = WANT(1, 2.7182818f)},
        {"SQRT", {75}, 1, {5}, {5}, .want = WANT(0, 1, 1.4142136f, 1.7320508f, 2)},
        {"SOFTMAX", {25, .options_type = 9, .options = {{0, 4, beta}}},
         2, {1, 2}, {1, 2}, .want = WANT(0.26894142f, 0.73105858f)},
    };
    const size_t count = sizeof(rows) / sizeof(rows[0]);
    for (size_t i = 0; i < count; i++)
        test_row(&rows[i]);
    printf("%zu rows, %d failures\n", count, failures);
    return failures ? EXIT_FAILURE : EXIT_SUCCESS;
}
