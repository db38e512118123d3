/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "hostile-models.h"
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { ADD = 0, CONV = 3, DEPTHWISE = 4, DEQUANTIZE = 6, MUL = 18, TANH = 28, PAD = 34, EXP = 47,
       SLICE = 65, RESIZE_NEAREST = 97 };
enum { CHANNELS = 512, WEIGHTS = CHANNELS * CHANNELS };

/* A model that grows: `base` has the codes (an operator that computes each) and
 * the first tensors. */
struct growing {
    struct writer_model base;
    struct writer_tensor *tensors;
    struct writer_op *ops;
    int tensor_count, op_count;
};

static const float zeros[WEIGHTS];
static const float scale[CHANNELS] = {2, 3, 5};

static void start(struct growing *g, int n)
{
    *g = (struct growing){
        .base = {.identifier = "TFL3", .version = 3, .subgraphs = 1, .input_count = 1,
                 .output_count = 1},
        .tensors = calloc((size_t)n * 3 + 1, sizeof(*g->tensors)),
        .ops = calloc((size_t)n * 3 + 1, sizeof(*g->ops)),
    };
    if (!g->tensors || !g->ops)
        abort();
}

/* A tensor whose description is that of an earlier one. */
static int tensor_like(struct growing *g, int like)
{
    g->tensors[g->tensor_count++].table = like + 1;
    return g->base.tensor_count + g->tensor_count - 1;
}

static int tensor_of(struct growing *g, struct writer_tensor tensor)
{
    g->tensors[g->tensor_count++] = tensor;
    return g->base.tensor_count + g->tensor_count - 1;
}

/* Adds a copy of operator `code` of `base` on other tensors; returns `out`. */
static int add_op(struct growing *g, int code, int a, int b, int c, int out)
{
    struct writer_op *op = &g->ops[g->op_count++];

    *op = g->base.ops[code];
    op->code_index = code;
    op->inputs[0] = a;
    op->inputs[1] = b;
    op->inputs[2] = c;
    op->outputs[0] = out;
    return out;
}

static uint8_t *finish(struct growing *g, int output, size_t *out_size)
{
    uint8_t *data;

    g->base.outputs[0] = output;
    g->base.more_tensors = g->tensors;
    g->base.more_ops = g->ops;
    g->base.more_tensor_count = g->tensor_count;
    g->base.more_op_count = g->op_count;
    data = write_tflite(&g->base, out_size);
    free(g->tensors);
    free(g->ops);
    return data;
}

/* ------------------------------------------------------- nothing but constants */

static const int32_t border[8] = {0, 0, 0, 63, 0, 255, 0, 0};

/* [1,64,256,4] from four numbers: the most that is made a constant. */
static void start_constants(struct growing *g, int n)
{
    start(g, n);
    g->base.tensor_count = 6;
    g->base.tensors[0] = (struct writer_tensor){"in", 0, 4, {1, 1, 1, 4}};
    g->base.tensors[1] = (struct writer_tensor){"c", 0, 4, {1, 1, 1, 4}, zeros, 16};
    g->base.tensors[2] = (struct writer_tensor){"p", 2, 2, {4, 2}, border, sizeof(border)};
    g->base.tensors[3] = (struct writer_tensor){"large", 0, 4, {1, 64, 256, 4}};
    g->base.tensors[4] = (struct writer_tensor){"exp", 0, 4, {1, 64, 256, 4}};
    g->base.tensors[5] = (struct writer_tensor){"sum", 0, 4, {1, 64, 256, 4}};
    g->base.op_count = 3;
    g->base.ops[0] = (struct writer_op){.code = PAD, .input_count = 2, .inputs = {1, 2},
                                        .output_count = 1, .outputs = {3}};
    g->base.ops[1] = (struct writer_op){.code = EXP, .input_count = 1, .inputs = {3},
                                        .output_count = 1, .outputs = {4}};
    g->base.ops[2] = (struct writer_op){.code = ADD, .input_count = 2, .inputs = {0, 4},
                                        .output_count = 1, .outputs = {5}};
}

/* exp(exp(exp(… c))). */
static uint8_t *write_nested(int n, size_t *out_size)
{
    struct growing g;
    int x = 4;

    start_constants(&g, n);
    for (int i = 0; i < n; i++)
        x = add_op(&g, 1, x, 0, 0, tensor_like(&g, 3));
    return finish(&g, add_op(&g, 2, 0, x, 0, tensor_like(&g, 3)), out_size);
}

/* All of them at once, as they are summed at the end. */
static uint8_t *write_constants(int n, size_t *out_size)
{
    struct growing g;
    int sum = 5;

    start_constants(&g, n);
    for (int i = 0; i < n; i++)
        add_op(&g, 1, 3, 0, 0, tensor_like(&g, 3));
    for (int i = 0; i < n; i++)
        sum = add_op(&g, 2, sum, 6 + i, 0, tensor_like(&g, 3));
    return finish(&g, sum, out_size);
}

/* Small pieces of a large constant. */
static uint8_t *write_pieces(int n, size_t *out_size)
{
    static const int32_t first[2] = {0, 0}, size[2] = {1, 4};
    struct growing g;
    int sum = 5;

    start(&g, n);
    g.base.tensor_count = 6;
    g.base.tensors[0] = (struct writer_tensor){"in", 0, 2, {1, 4}};
    g.base.tensors[1] =
        (struct writer_tensor){"c", 0, 2, {CHANNELS, CHANNELS}, zeros, sizeof(zeros)};
    g.base.tensors[2] = (struct writer_tensor){"first", 2, 1, {2}, first, sizeof(first)};
    g.base.tensors[3] = (struct writer_tensor){"size", 2, 1, {2}, size, sizeof(size)};
    g.base.tensors[4] = (struct writer_tensor){"piece", 0, 2, {1, 4}};
    g.base.tensors[5] = (struct writer_tensor){"sum", 0, 2, {1, 4}};
    g.base.op_count = 2;
    g.base.ops[0] = (struct writer_op){.code = SLICE, .input_count = 3, .inputs = {1, 2, 3},
                                       .output_count = 1, .outputs = {4}};
    g.base.ops[1] = (struct writer_op){.code = ADD, .input_count = 2, .inputs = {0, 4},
                                       .output_count = 1, .outputs = {5}};
    for (int i = 0; i < n; i++) {
        const int piece = add_op(&g, 0, 1, 2, 3, tensor_like(&g, 4));

        sum = add_op(&g, 1, sum, piece, 0, tensor_like(&g, 5));
    }
    return finish(&g, sum, out_size);
}

/* ------------------------------------------------------------------ operators */

/* x + x + x …: as long as the file. */
static uint8_t *write_deep(int n, size_t *out_size)
{
    struct growing g;
    int x = 1;

    start(&g, n);
    g.base.tensor_count = 2;
    g.base.tensors[0] = (struct writer_tensor){"in", 0, 4, {1, 1, 1, 4}};
    g.base.tensors[1] = (struct writer_tensor){"sum", 0, 4, {1, 1, 1, 4}};
    g.base.op_count = 1;
    g.base.ops[0] = (struct writer_op){.code = ADD, .input_count = 2, .inputs = {0, 0},
                                       .output_count = 1, .outputs = {1}};
    for (int i = 0; i < n; i++)
        x = add_op(&g, 0, x, x, 0, tensor_like(&g, 1));
    return finish(&g, x, out_size);
}

/* The chain's end decides how all of it lies in memory. */
static uint8_t *write_chain(int n, size_t *out_size)
{
    struct growing g;
    int x = 1;

    start(&g, n);
    g.base.tensor_count = 4;
    g.base.tensors[0] = (struct writer_tensor){"in", 0, 4, {1, 1, 1, 4}};
    g.base.tensors[1] = (struct writer_tensor){"tanh", 0, 4, {1, 1, 1, 4}};
    g.base.tensors[2] = (struct writer_tensor){"f", 0, 4, {4, 1, 1, 4}, zeros, 64};
    g.base.tensors[3] = (struct writer_tensor){"unused", 0, 4, {1, 1, 1, 4}};
    g.base.op_count = 2;
    g.base.ops[0] = (struct writer_op){.code = TANH, .input_count = 1, .inputs = {0},
                                       .output_count = 1, .outputs = {1}};
    g.base.ops[1] = (struct writer_op){.code = CONV, .input_count = 2, .inputs = {0, 2},
                                       .output_count = 1, .outputs = {3}, .options_type = 1,
                                       .options = {{1, 4, 1}, {2, 4, 1}}};
    for (int i = 0; i < n; i++)
        x = add_op(&g, 0, x, 0, 0, tensor_like(&g, 1));
    return finish(&g, add_op(&g, 1, x, 2, 0, tensor_like(&g, 1)), out_size);
}

/* Each makes the image a pixel larger, and needs a kernel of its own. */
static uint8_t *write_kernels(int n, size_t *out_size)
{
    static const int32_t one[8] = {0, 0, 0, 1, 0, 0, 0, 0};
    struct growing g;
    int x = 1;

    start(&g, n);
    g.base.tensor_count = 3;
    g.base.tensors[0] = (struct writer_tensor){"in", 0, 4, {1, 1, 1, 4}};
    g.base.tensors[1] = (struct writer_tensor){"padded", 0, 4, {1, 2, 1, 4}};
    g.base.tensors[2] = (struct writer_tensor){"p", 2, 2, {4, 2}, one, sizeof(one)};
    g.base.op_count = 1;
    g.base.ops[0] = (struct writer_op){.code = PAD, .input_count = 2, .inputs = {0, 2},
                                       .output_count = 1, .outputs = {1}};
    for (int i = 0; i < n; i++)
        x = add_op(&g, 0, x, 2, 0,
                   tensor_of(&g, (struct writer_tensor){.rank = 4, .shape = {1, 3 + i, 1, 4}}));
    return finish(&g, x, out_size);
}

/* A few bytes that ask for a table of many. */
static uint8_t *write_table(int n, size_t *out_size)
{
    static const int32_t size[2] = {16383, 16383};
    struct growing g;
    int x = 1;

    start(&g, n);
    g.base.tensor_count = 3;
    g.base.tensors[0] = (struct writer_tensor){"in", 0, 4, {1, 16382, 16382, 1}};
    g.base.tensors[1] = (struct writer_tensor){"out", 0, 4, {1, 16383, 16383, 1}};
    g.base.tensors[2] = (struct writer_tensor){"n", 2, 1, {2}, size, sizeof(size)};
    g.base.op_count = 1;
    g.base.ops[0] = (struct writer_op){.code = RESIZE_NEAREST, .input_count = 2, .inputs = {0, 2},
                                       .output_count = 1, .outputs = {1}};
    for (int i = 0; i < n; i++)
        x = add_op(&g, 0, 0, 2, 0, tensor_like(&g, 1));
    return finish(&g, x, out_size);
}

/* -------------------------------------------------------------- shared weights */

static void start_shared(struct growing *g, int n, bool depthwise)
{
    start(g, n);
    g->base.tensor_count = 6;
    g->base.tensors[0] = (struct writer_tensor){"in", 0, 4, {1, 1, 1, CHANNELS}};
    g->base.tensors[1] = (struct writer_tensor){"out", 0, 4, {1, 1, 1, CHANNELS}};
    g->base.tensors[2] = (struct writer_tensor){
        "f", 0, 4, {CHANNELS, 1, 1, CHANNELS}, zeros, sizeof(zeros)};
    if (depthwise) {
        g->base.tensors[2].shape[0] = 1;
        g->base.tensors[2].shape[1] = 16;
        g->base.tensors[2].shape[2] = CHANNELS / 16;
    }
    g->base.tensors[3] = (struct writer_tensor){"b", 0, 1, {CHANNELS}, zeros, 4 * CHANNELS};
    g->base.tensors[4] =
        (struct writer_tensor){"scale", 0, 1, {CHANNELS}, scale, 4 * CHANNELS};
    g->base.tensors[5] = (struct writer_tensor){"unused", 0, 4, {1, 1, 1, CHANNELS}};
    g->base.op_count = 2;
    g->base.ops[0] = (struct writer_op){
        .code = depthwise ? DEPTHWISE : CONV, .input_count = 3, .inputs = {0, 2, 3},
        .output_count = 1, .outputs = {1}, .options_type = depthwise ? 2 : 1,
        .options = {{1, 4, 1}, {2, 4, 1}}};
    g->base.ops[1] = (struct writer_op){.code = MUL, .input_count = 2, .inputs = {0, 4},
                                        .output_count = 1, .outputs = {5}};
}

static uint8_t *write_sharing(int n, bool depthwise, bool scaled, size_t *out_size)
{
    struct growing g;
    int x = 1;

    start_shared(&g, n, depthwise);
    for (int i = 0; i < n; i++) {
        x = add_op(&g, 0, x, 2, 3, tensor_like(&g, 1));
        if (scaled)
            x = add_op(&g, 1, x, 4, 0, tensor_like(&g, 1));
    }
    return finish(&g, x, out_size);
}

static uint8_t *write_shared(int n, size_t *out_size)
{
    return write_sharing(n, false, false, out_size);
}

static uint8_t *write_shared_depthwise(int n, size_t *out_size)
{
    return write_sharing(n, true, false, out_size);
}

/* The scale would go into a filter of its own for each. */
static uint8_t *write_shared_scaled(int n, size_t *out_size)
{
    return write_sharing(n, false, true, out_size);
}

/* Tensors of their own with the same bytes. */
static uint8_t *write_shared_buffer(int n, size_t *out_size)
{
    struct growing g;
    int x = 1;

    start_shared(&g, n, false);
    for (int i = 0; i < n; i++)
        x = add_op(&g, 0, x, tensor_like(&g, 2), 3, tensor_like(&g, 1));
    return finish(&g, x, out_size);
}

/* float16 weights behind a DEQUANTIZE for each. */
static uint8_t *write_shared_half(int n, size_t *out_size)
{
    struct growing g;
    int x = 1;

    start_shared(&g, n, false);
    g.base.tensor_count = 8;
    g.base.tensors[6] = g.base.tensors[2];
    g.base.tensors[6].type = 1;
    g.base.tensors[6].data_size /= 2;
    g.base.tensors[7] =
        (struct writer_tensor){"wide", 0, 4, {CHANNELS, 1, 1, CHANNELS}};
    g.base.tensors[2].data = NULL;
    g.base.op_count = 3;
    g.base.ops[2] = g.base.ops[0];
    g.base.ops[0] = (struct writer_op){.code = DEQUANTIZE, .input_count = 1, .inputs = {6},
                                       .output_count = 1, .outputs = {2}};
    for (int i = 0; i < n; i++) {
        const int filter = add_op(&g, 0, 6, 0, 0, tensor_like(&g, 7));

        x = add_op(&g, 2, x, filter, 3, tensor_like(&g, 1));
    }
    return finish(&g, x, out_size);
}

/* Filters of int8 that are one buffer: float32 once, where they have the same scales. */
static uint8_t *write_quantized(int n, bool scales, size_t *out_size)
{
    static const float each[CHANNELS] = {1, 2, 3};
    struct growing g;
    int x = 1;

    start_shared(&g, n, false);
    g.base.tensors[2].type = 9;
    g.base.tensors[2].data_size /= 4;
    g.base.tensors[2].scales = each;
    g.base.tensors[2].scale_count = CHANNELS;
    for (int i = 0; i < n; i++) {
        struct writer_tensor filter = g.base.tensors[2];

        filter.data = NULL;
        filter.buffer = 3; /* buffer of tensor 2 */
        x = add_op(&g, 0, x, scales ? tensor_of(&g, filter) : tensor_like(&g, 2), 3,
                   tensor_like(&g, 1));
    }
    return finish(&g, x, out_size);
}

static uint8_t *write_shared_int8(int n, size_t *out_size)
{
    return write_quantized(n, false, out_size);
}

/* Scales of their own: the same numbers, each time as others. */
static uint8_t *write_rescaled(int n, size_t *out_size)
{
    return write_quantized(n, true, out_size);
}

/* Constants that linear operators read, under many names. */
static uint8_t *write_shared_addend(int n, size_t *out_size)
{
    struct growing g;
    int x = 1;

    start(&g, n);
    g.base.tensor_count = 3;
    g.base.tensors[0] = (struct writer_tensor){"in", 0, 2, {CHANNELS, CHANNELS}};
    g.base.tensors[1] = (struct writer_tensor){"sum", 0, 2, {CHANNELS, CHANNELS}};
    g.base.tensors[2] =
        (struct writer_tensor){"c", 0, 2, {CHANNELS, CHANNELS}, zeros, sizeof(zeros)};
    g.base.op_count = 1;
    g.base.ops[0] = (struct writer_op){.code = ADD, .input_count = 2, .inputs = {0, 2},
                                       .output_count = 1, .outputs = {1}};
    for (int i = 0; i < n; i++)
        x = add_op(&g, 0, x, tensor_like(&g, 2), 0, tensor_like(&g, 1));
    return finish(&g, x, out_size);
}

/* Constants that overlap: each begins a word further on in one buffer. */
static uint8_t *write_overlapping(int n, size_t *out_size)
{
    enum { BYTES = 3 * WEIGHTS }; /* as the words in it say */
    static uint32_t words[WEIGHTS];
    struct growing g;
    int x = 1;

    for (int i = 0; i < WEIGHTS; i++)
        words[i] = BYTES;
    start(&g, n);
    g.base.tensor_count = 3;
    g.base.tensors[0] = (struct writer_tensor){"in", 0, 2, {CHANNELS, 3 * CHANNELS / 4}};
    g.base.tensors[1] = (struct writer_tensor){"sum", 0, 2, {CHANNELS, 3 * CHANNELS / 4}};
    g.base.tensors[2] =
        (struct writer_tensor){"c", 0, 2, {CHANNELS, CHANNELS}, words, sizeof(words)};
    g.base.overlaps = n;
    g.base.op_count = 1;
    g.base.ops[0] = (struct writer_op){.code = ADD, .input_count = 2, .inputs = {0, 0},
                                       .output_count = 1, .outputs = {1}};
    for (int i = 0; i < n; i++) {
        const int c = tensor_of(&g, (struct writer_tensor){
                                        .rank = 2, .shape = {CHANNELS, 3 * CHANNELS / 4},
                                        .buffer = g.base.tensor_count + 1 + i});

        x = add_op(&g, 0, x, c, 0, tensor_like(&g, 1));
    }
    return finish(&g, x, out_size);
}

/* ---------------------------------------------------------------------- table */

const struct hostile hostile_models[] = {
    {"nested", "functions of functions of a constant", write_nested},
    {"constants", "many functions of one constant", write_constants},
    {"pieces", "small pieces of a large constant", write_pieces},
    {"deep", "sums of sums", write_deep},
    {"chain", "a chain that ends in a convolution", write_chain},
    {"kernels", "no two operators of one size", write_kernels},
    {"table", "a resize to a size that is no multiple", write_table},
    {"shared", "convolutions with one filter", write_shared},
    {"shared-depthwise", "depthwise convolutions with one filter", write_shared_depthwise},
    {"shared-scaled", "convolutions with one filter, and a scale", write_shared_scaled},
    {"shared-buffer", "filters that are one buffer", write_shared_buffer},
    {"shared-half", "float16 filters that are one buffer", write_shared_half},
    {"shared-int8", "int8 filters that are one buffer", write_shared_int8},
    {"rescaled", "int8 filters that are one buffer, with scales of their own", write_rescaled},
    {"shared-addend", "sums with one buffer", write_shared_addend},
    {"overlapping", "sums with buffers that overlap", write_overlapping},
};
const size_t hostile_model_count = sizeof(hostile_models) / sizeof(hostile_models[0]);

const struct hostile *hostile_find(const char *name)
{
    for (size_t i = 0; i < hostile_model_count; i++)
        if (!strcmp(hostile_models[i].name, name))
            return &hostile_models[i];
    return NULL;
}
