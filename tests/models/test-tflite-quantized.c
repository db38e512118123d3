/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * TensorFlow Lite files of several operators: quantized tensors, whose real values
 * are worked out here from numbers, scales and zero points; shapes that operators
 * compute; a dilated convolution as converters write it. Computed by the operators'
 * references; no device is needed.
 *
 *     test-tflite-quantized [FOLDER]    keeps the files there, to look at
 */
#include "tflite-writer.h"

#include <tdl/models.h>

#include <core/graph.h>
#include <ops/ops.h>

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures;
static const char *folder;

#define FAIL(...)                                                                                  \
    do {                                                                                           \
        printf("FAIL ");                                                                           \
        printf(__VA_ARGS__);                                                                       \
        printf("\n");                                                                              \
        failures++;                                                                                \
    } while (0)

static void keep(const char *name, const uint8_t *data, size_t size)
{
    char path[512];
    FILE *f;

    snprintf(path, sizeof(path), "%s/%s.tflite", folder, name);
    f = fopen(path, "wb");
    if (!f || fwrite(data, 1, size, f) != size || fclose(f) != 0)
        FAIL("%s is not written", path);
}

/* Input and output are float32, however the file has them. */
static const struct tdl_model_params *params;

static void check(const char *name, const struct writer_model *m, const float *input,
                  const float *want, size_t count)
{
    struct tdl_builder *b = NULL;
    struct tdl_ir *ir = NULL;
    void **values = NULL;
    size_t size;
    uint8_t *data = write_tflite(m, &size);

    if (folder)
        keep(name, data, size);
    if (tdl_builder_create(NULL, &b) != TDL_OK ||
        tdl_model_import(b, data, size, params) != TDL_OK) {
        FAIL("%s: %s", name, tdl_last_error());
        goto end;
    }
    ir = tdl_builder_ir(b);
    values = calloc(ir->operand_count + 1, sizeof(*values));
    if (!values || tdl_ir_run_reference(ir, (const void *const[]){input}, values) != TDL_OK)
        FAIL("%s: %s", name, tdl_last_error());
    else if (ir->outputs[0]->desc.dtype != TDL_FLOAT32 ||
             tdl_operand_count(ir->outputs[0]) != count)
        FAIL("%s: the output is %s", name, tdl_operand_text(ir->outputs[0]));
    else
        for (size_t i = 0; i < count; i++) {
            const float got = ((const float *)values[ir->outputs[0]->id])[i];

            if (!(fabsf(got - want[i]) <= 1e-5f * (1 + fabsf(want[i]))))
                FAIL("%s: element %zu is %g instead of %g", name, i, (double)got,
                     (double)want[i]);
        }
end:
    for (uint32_t i = 0; values && i < ir->operand_count; i++)
        free(values[i]);
    free(values);
    tdl_builder_destroy(&b);
    free(data);
}

/* ------------------------------------------------------------- quantized ones */

enum { PIXELS = 6, IN = 3, OUT = 2 };

static const float half = 0.5f, tenth = 0.1f;
static const int64_t ten = 10;
static const float scales[OUT] = {0.25f, 2};
static const int64_t zeros[OUT] = {0, 0};
static const int8_t weights[OUT * IN] = {1, -2, 3, 127, -128, 4};
static const int32_t bias[OUT] = {8, -3};
static const float bias_scales[OUT] = {0.125f, 1};

/* A pointwise convolution from int8 weights, with a scale for each channel. */
static void wanted(const float *input, bool relu, float *out)
{
    for (int p = 0; p < PIXELS; p++)
        for (int o = 0; o < OUT; o++) {
            double sum = (double)bias[o] * (double)bias_scales[o];

            for (int i = 0; i < IN; i++)
                sum += (double)input[p * IN + i] * weights[o * IN + i] * (double)scales[o];
            out[p * OUT + o] = relu && sum < 0 ? 0 : (float)sum;
        }
}

static struct writer_model convolution(void)
{
    return (struct writer_model){
        .identifier = "TFL3", .version = 3, .subgraphs = 1, .tensor_count = 4,
        .tensors = {{.name = "in", .type = 9, .rank = 4, .shape = {1, 2, 3, IN},
                     .scales = &half, .scale_count = 1, .zeros = &ten, .zero_count = 1},
                    {.name = "w", .type = 9, .rank = 4, .shape = {OUT, 1, 1, IN},
                     .data = weights, .data_size = sizeof(weights), .scales = scales,
                     .scale_count = OUT, .zeros = zeros, .zero_count = OUT},
                    {.name = "b", .type = 2, .rank = 1, .shape = {OUT}, .data = bias,
                     .data_size = sizeof(bias), .scales = bias_scales, .scale_count = OUT,
                     .zeros = zeros, .zero_count = OUT},
                    {.name = "out", .type = 9, .rank = 4, .shape = {1, 2, 3, OUT},
                     .scales = &tenth, .scale_count = 1, .zeros = &ten, .zero_count = 1}},
        .op_count = 1,
        .ops = {{.code = 3, .version = 3, .input_count = 3, .inputs = {0, 1, 2},
                 .output_count = 1, .outputs = {3}, .options_type = 1,
                 .options = {{1, 4, 1}, {2, 4, 1}, {3, 1, 1}}}},
        .input_count = 1, .inputs = {0}, .output_count = 1, .outputs = {3}};
}

static void test_quantized(void)
{
    struct writer_model m = convolution();
    float input[PIXELS * IN], want[PIXELS * OUT];

    for (int i = 0; i < PIXELS * IN; i++)
        input[i] = 0.5f * (float)(i % 7 - 3);
    wanted(input, true, want);
    check("quantized", &m, input, want, PIXELS * OUT);
    /* Same operator, quantized from float32 and dequantized to it. */
    m.tensor_count = 6;
    m.tensors[4] = (struct writer_tensor){"real in", 0, 4, {1, 2, 3, IN}};
    m.tensors[5] = (struct writer_tensor){"real out", 0, 4, {1, 2, 3, OUT}};
    m.op_count = 3;
    m.ops[1] = m.ops[0];
    m.ops[0] = (struct writer_op){.code = 114, .version = 1, .input_count = 1, .inputs = {4},
                                  .output_count = 1, .outputs = {0}};
    m.ops[2] = (struct writer_op){.code = 6, .version = 2, .input_count = 1, .inputs = {3},
                                  .output_count = 1, .outputs = {5}};
    m.inputs[0] = 4;
    m.outputs[0] = 5;
    check("quantized-between", &m, input, want, PIXELS * OUT);
}

/* Only the weights are: as the operator reads them, and behind a DEQUANTIZE. */
static void test_dynamic_range(void)
{
    struct writer_model m = convolution();
    float input[PIXELS * IN], want[PIXELS * OUT];

    for (int i = 0; i < PIXELS * IN; i++)
        input[i] = 0.37f * (float)(i % 5) - 1;
    wanted(input, true, want);
    m.tensors[0].type = m.tensors[3].type = 0;
    m.tensors[0].scales = m.tensors[3].scales = NULL;
    check("dynamic-range", &m, input, want, PIXELS * OUT);
    m.tensor_count = 5;
    m.tensors[4] = (struct writer_tensor){"real w", 0, 4, {OUT, 1, 1, IN}};
    m.op_count = 2;
    m.ops[1] = m.ops[0];
    m.ops[1].inputs[1] = 4;
    m.ops[0] = (struct writer_op){.code = 6, .version = 2, .input_count = 1, .inputs = {1},
                                  .output_count = 1, .outputs = {4}};
    check("dequantized", &m, input, want, PIXELS * OUT);
}

/* uint8 numbers round a zero point in the middle, scales along the last dimension,
 * for a depthwise convolution of two outputs a channel. */
static void test_depthwise(void)
{
    static const uint8_t numbers[4] = {128, 130, 100, 255};
    static const float each[4] = {0.5f, 1, 2, 4};
    static const int64_t middle[4] = {128, 128, 128, 128};
    static const float input[4] = {1, -2, 3, 0.5f};
    struct writer_model m = {
        .identifier = "TFL3", .version = 3, .subgraphs = 1, .tensor_count = 3,
        .tensors = {{"in", 0, 4, {1, 1, 2, 2}},
                    {.name = "w", .type = 3, .rank = 4, .shape = {1, 1, 1, 4}, .data = numbers,
                     .data_size = 4, .scales = each, .scale_count = 4, .zeros = middle,
                     .zero_count = 4, .axis = 3},
                    {"out", 0, 4, {1, 1, 2, 4}}},
        .op_count = 1,
        .ops = {{.code = 4, .version = 3, .input_count = 2, .inputs = {0, 1}, .output_count = 1,
                 .outputs = {2}, .options_type = 2,
                 .options = {{1, 4, 1}, {2, 4, 1}, {3, 4, 2}}}},
        .input_count = 1, .inputs = {0}, .output_count = 1, .outputs = {2}};
    float want[8];

    for (int i = 0; i < 8; i++)
        want[i] = input[i / 2] * each[i % 4] * (float)(numbers[i % 4] - 128);
    check("depthwise", &m, input, want, 8);
}

/* Weights of so many numbers stay in 8 bits; of 4 bits, too, of which two lie in a byte. */
static void test_large(int type)
{
    enum { CHANNELS = 512, TAPS = 9 };
    static uint8_t numbers[CHANNELS * TAPS];
    static float each[CHANNELS], input[CHANNELS * TAPS], want[CHANNELS];
    static int64_t middle[CHANNELS];
    const int bits = type == 17 ? 4 : 8, zero = type == 3 ? 120 : -1;
    struct writer_model m = {
        .identifier = "TFL3", .version = 3, .subgraphs = 1, .tensor_count = 3,
        .tensors = {{"in", 0, 4, {1, 3, 3, CHANNELS}},
                    {.name = "w", .type = type, .rank = 4, .shape = {1, 3, 3, CHANNELS},
                     .data = numbers, .data_size = sizeof(numbers) * (size_t)bits / 8,
                     .scales = each, .scale_count = CHANNELS, .zeros = middle,
                     .zero_count = CHANNELS, .axis = 3},
                    {"out", 0, 4, {1, 1, 1, CHANNELS}}},
        .op_count = 1,
        .ops = {{.code = 4, .version = 3, .input_count = 2, .inputs = {0, 1}, .output_count = 1,
                 .outputs = {2}, .options_type = 2,
                 .options = {{0, 1, 1}, {1, 4, 1}, {2, 4, 1}, {3, 4, 1}}}},
        .input_count = 1, .inputs = {0}, .output_count = 1, .outputs = {2}};

    memset(numbers, 0, sizeof(numbers));
    memset(want, 0, sizeof(want));
    for (int c = 0; c < CHANNELS; c++) {
        each[c] = 0.01f * (float)(1 + c % 5);
        middle[c] = zero;
    }
    for (int i = 0; i < CHANNELS * TAPS; i++) {
        const int whole = bits == 4 ? i * 7 % 16 - 8 : i * 7 % 256 - (type == 3 ? 0 : 128);

        input[i] = (float)(i % 11 - 5);
        numbers[i * bits / 8] |= (uint8_t)((whole & ((1 << bits) - 1)) << i * bits % 8);
        want[i % CHANNELS] += input[i] * (float)(whole - zero) * each[i % CHANNELS];
    }
    check("large", &m, input, want, CHANNELS);
}

/* ----------------------------------------------------------------- sparse weights */

static struct writer_model fully_connected(const struct writer_sparsity *s, const void *data,
                                           size_t size, int type, const float *scale)
{
    return (struct writer_model){
        .identifier = "TFL3", .version = 3, .subgraphs = 1, .tensor_count = 4,
        .tensors = {{"in", 0, 2, {1, 6}},
                    {.name = "w", .type = type, .rank = 2, .shape = {4, 6}, .data = data,
                     .data_size = size, .sparsity = s, .scales = scale, .scale_count = !!scale},
                    {.name = "dense", .type = type, .rank = 2, .shape = {4, 6}, .scales = scale,
                     .scale_count = !!scale},
                    {"out", 0, 2, {1, 4}}},
        .op_count = 2,
        .ops = {{.code = 124, .version = 1, .input_count = 1, .inputs = {1}, .output_count = 1,
                 .outputs = {2}},
                {.code = 9, .version = 1, .input_count = 2, .inputs = {0, 2}, .output_count = 1,
                 .outputs = {3}}},
        .input_count = 1, .inputs = {0}, .output_count = 1, .outputs = {3}};
}

/* Rows, columns of rows, and blocks of two columns of pairs of rows. */
static const struct writer_sparsity by_rows = {
    2, {0, 1}, 0, {0}, 2,
    {{.size = 4},
     {1, 0, 3, 5, {0, 2, 2, 3, 5}, 5, {0, 5, 2, 1, 4}}}};
static const struct writer_sparsity by_columns = {
    2, {1, 0}, 0, {0}, 2,
    {{1, 0, 1, 2, {0, 3}, 3, {0, 2, 5}},
     {1, 0, 2, 4, {0, 2, 3, 5}, 5, {0, 3, 2, 0, 1}}}};
static const struct writer_sparsity by_blocks = {
    4, {0, 1, 2, 3}, 2, {0, 1}, 4,
    {{.size = 2},
     {1, 0, 2, 3, {0, 1, 3}, 3, {2, 0, 1}},
     {.size = 2},
     {.size = 2}}};

/* Each number of the file in its place: row, column. */
static void expect_sparse(const char *name, const struct writer_sparsity *s, int count,
                          const int (*places)[2])
{
    static const float scale = 0.5f;
    const float input[6] = {1, 10, 100, 1000, 10000, 100000};
    float numbers[12], real[4] = {0}, scaled[4] = {0};
    int8_t small[12];
    struct writer_model m;

    for (int i = 0; i < count; i++) {
        small[i] = (int8_t)(i + 1);
        numbers[i] = (float)(i + 1);
        real[places[i][0]] += numbers[i] * input[places[i][1]];
        scaled[places[i][0]] += numbers[i] * input[places[i][1]] * scale;
    }
    m = fully_connected(s, numbers, sizeof(*numbers) * (size_t)count, 0, NULL);
    check(name, &m, input, real, 4);
    m = fully_connected(s, small, (size_t)count, 9, &scale);
    check(name, &m, input, scaled, 4);
}

static void test_sparse(void)
{
    expect_sparse("sparse-rows", &by_rows, 5,
                  (const int[][2]){{0, 0}, {0, 5}, {2, 2}, {3, 1}, {3, 4}});
    expect_sparse("sparse-columns", &by_columns, 5,
                  (const int[][2]){{0, 0}, {3, 0}, {2, 2}, {0, 5}, {1, 5}});
    expect_sparse("sparse-blocks", &by_blocks, 12,
                  (const int[][2]){{0, 4}, {0, 5}, {1, 4}, {1, 5}, {2, 0}, {2, 1}, {3, 0}, {3, 1},
                                   {2, 2}, {2, 3}, {3, 2}, {3, 3}});
}

/* One thing of a good description changed: refused, and nothing read that is not there. */
static void test_sparse_damage(void)
{
    static const float numbers[12];
    struct tdl_builder *b = NULL;

    for (int i = 0; i < 12; i++) {
        struct writer_sparsity s = by_blocks;
        struct writer_model m = fully_connected(&s, numbers, sizeof(numbers), 0, NULL);
        size_t size;
        uint8_t *data;

        switch (i) {
        case 0: s.order_count = 3; break;
        case 1: s.order[1] = 0; break;
        case 2: s.order[0] = 2; break;
        case 3: s.order[3] = -1; break;
        case 4: s.blocks[0] = 2; break;
        case 5: s.dim_count = 3; break;
        case 6: s.dims[0].size = 4; break;
        case 7: s.dims[3].size = 0; break;
        case 8: s.dims[2].size = 3; break;
        case 9: s.dims[1].indices[1] = 3; break;
        case 10: s.dims[1].segments[2] = 4; break;
        default: m.tensors[1].data_size -= 4; break;
        }
        data = write_tflite(&m, &size);
        if (tdl_builder_create(NULL, &b) != TDL_OK ||
            tdl_model_import(b, data, size, NULL) != TDL_ERROR_INVALID_MODEL ||
            !strstr(tdl_builder_error(b), "damaged"))
            FAIL("damage %d to a sparse tensor: \"%s\"", i, tdl_builder_error(b));
        tdl_builder_destroy(&b);
        free(data);
    }
}

/* ------------------------------------------------------------- shapes, patterns */

/* reshape(x, [shape(x)[0], 2 · 3]), whose size was open. */
static void test_shapes(void)
{
    static const int32_t zero = 0, one = 1, two = 2, three = 3;
    static const float input[6] = {1, 2, 3, 4, 5, 6};
    struct writer_model m = {
        .identifier = "TFL3", .version = 3, .subgraphs = 1, .tensor_count = 11,
        .tensors = {{.name = "in", .rank = 3, .shape = {1, 2, 3}, .open = 1},
                    {"shape", 2, 1, {3}},
                    {"0", 2, 1, {1}, &zero, 4},
                    {"1", 2, 1, {1}, &one, 4},
                    {"first", 2, 0, {0}},
                    {"2", 2, 0, {0}, &two, 4},
                    {"3", 2, 0, {0}, &three, 4},
                    {"6", 2, 0, {0}},
                    {"new shape", 2, 1, {2}},
                    {.name = "out", .rank = 2, .shape = {1, 1}, .open = 3},
                    {"negative", 0, 2, {1, 6}}},
        .op_count = 6,
        .ops = {{.code = 77, .input_count = 1, .inputs = {0}, .output_count = 1, .outputs = {1}},
                {.code = 45, .input_count = 4, .inputs = {1, 2, 3, 3}, .output_count = 1,
                 .outputs = {4}, .options_type = 32, .options = {{4, 4, 1}}},
                {.code = 18, .input_count = 2, .inputs = {5, 6}, .output_count = 1,
                 .outputs = {7}, .options_type = 21},
                {.code = 83, .input_count = 2, .inputs = {4, 7}, .output_count = 1,
                 .outputs = {8}, .options_type = 59, .options = {{0, 4, 2}}},
                {.code = 22, .input_count = 2, .inputs = {0, 8}, .output_count = 1,
                 .outputs = {9}, .options_type = 17},
                {.code = 59, .input_count = 1, .inputs = {9}, .output_count = 1,
                 .outputs = {10}}},
        .input_count = 1, .inputs = {0}, .output_count = 1, .outputs = {10}};
    const float want[6] = {-1, -2, -3, -4, -5, -6};

    for (int i = 0; i < m.op_count; i++)
        m.ops[i].version = 1;
    check("shapes", &m, input, want, 6);
}

/* A shape that is reversed by way of floats, for an output whose size the file leaves open. */
static void test_reversed_shape(void)
{
    static const int32_t zero = 0;
    struct writer_model m = {
        .identifier = "TFL3", .version = 3, .subgraphs = 1, .tensor_count = 8,
        .tensors = {{"in", 0, 2, {2, 3}},
                    {"axis", 2, 1, {1}, &zero, 4},
                    {"shape", 2, 1, {2}},
                    {"reals", 0, 1, {2}},
                    {"backwards", 0, 1, {2}},
                    {"list", 2, 1, {2}},
                    {.name = "turned", .rank = 2, .shape = {1, 1}, .open = 3},
                    {.name = "out", .rank = 2, .shape = {1, 1}, .open = 3}},
        .op_count = 6,
        .ops = {{.code = 77, .input_count = 1, .inputs = {0}, .output_count = 1, .outputs = {2}},
                {.code = 53, .input_count = 1, .inputs = {2}, .output_count = 1, .outputs = {3}},
                {.code = 105, .input_count = 2, .inputs = {3, 1}, .output_count = 1,
                 .outputs = {4}},
                {.code = 53, .input_count = 1, .inputs = {4}, .output_count = 1, .outputs = {5}},
                {.code = 22, .input_count = 2, .inputs = {0, 5}, .output_count = 1,
                 .outputs = {6}},
                {.code = 39, .input_count = 2, .inputs = {6, 7}, .output_count = 1,
                 .outputs = {8}}},
        .input_count = 1, .inputs = {0}, .output_count = 1, .outputs = {8}};
    static const int32_t order[2] = {1, 0};
    const float input[6] = {1, 2, 3, 4, 5, 6}, want[6] = {1, 3, 5, 2, 4, 6};

    m.tensors[8] = m.tensors[7];
    m.tensors[7] = (struct writer_tensor){"order", 2, 1, {2}, order, 8};
    m.tensor_count = 9;
    for (int i = 0; i < m.op_count; i++)
        m.ops[i].version = 1;
    check("reversed shape", &m, input, want, 6);
}

/* x · 2 of any size: as the file has it, by a picture's size, and by a name. */
static void test_open(void)
{
    static const float two = 2;
    static const struct tdl_model_dimension by_name[] = {{"in:2", 3}, {"in:1", 1}};
    static const struct tdl_model_dimension wrong[] = {{"in:3", 1}};
    static const struct tdl_model_params all[] = {
        {.size = {1, 3}}, {.dimensions = by_name, .dimension_count = 2}, {.size = {0, 2}}};
    static const struct tdl_model_number number = {"two", 2};
    static const struct tdl_model_params numbers = {.numbers = &number, .number_count = 1};
    const float input[3] = {1, 2, 3}, want[3] = {2, 4, 6};
    struct writer_model m = {
        .identifier = "TFL3", .version = 3, .subgraphs = 1, .tensor_count = 3,
        .tensors = {{.name = "in", .rank = 4, .shape = {1, 1, 1, 1}, .open = 7},
                    {"two", 0, 0, {0}, &two, 4},
                    {.name = "out", .rank = 4, .shape = {1, 1, 1, 1}, .open = 7}},
        .op_count = 1,
        .ops = {{.code = 18, .version = 1, .input_count = 2, .inputs = {0, 1},
                 .output_count = 1, .outputs = {2}, .options_type = 21}},
        .input_count = 1, .inputs = {0}, .output_count = 1, .outputs = {2}};
    struct tdl_builder *b = NULL;
    size_t size;
    uint8_t *data = write_tflite(&m, &size);

    check("open", &m, input, want, 1);
    for (size_t i = 0; i < 3; i++) {
        params = &all[i];
        check("open-bound", &m, input, want, i < 2 ? 3 : 2);
    }
    params = NULL;
    if (tdl_builder_create(NULL, &b) != TDL_OK ||
        tdl_model_import(b, data, size,
                         &(struct tdl_model_params){.dimensions = wrong, .dimension_count = 1}) !=
            TDL_ERROR_INVALID_ARGUMENT ||
        !strstr(tdl_builder_error(b), "no dimension 'in:3' open"))
        FAIL("a dimension that is not open: \"%s\"", tdl_builder_error(b));
    tdl_builder_destroy(&b);
    free(data);
    /* The factor as an input that the caller has a number for. */
    m.tensors[1] = (struct writer_tensor){.name = "two"};
    m.inputs[m.input_count++] = 1;
    params = &numbers;
    check("number", &m, input, want, 1);
    params = NULL;
}

/* SPACE_TO_BATCH_ND, CONV_2D, BATCH_TO_SPACE_ND: three taps, two pixels apart. */
static void test_dilated(void)
{
    static const int32_t block[2] = {1, 2}, pads[4] = {0, 0, 2, 2}, crops[4] = {0};
    static const float taps[3] = {1, 10, 100};
    const float input[6] = {1, 2, 3, 4, 5, 6};
    float want[6] = {0};
    struct writer_model m = {
        .identifier = "TFL3", .version = 3, .subgraphs = 1, .tensor_count = 8,
        .tensors = {{"in", 0, 4, {1, 1, 6, 1}},
                    {"block", 2, 1, {2}, block, 8},
                    {"pads", 2, 2, {2, 2}, pads, 16},
                    {"crops", 2, 2, {2, 2}, crops, 16},
                    {"batches", 0, 4, {2, 1, 5, 1}},
                    {"w", 0, 4, {1, 1, 3, 1}, taps, 12},
                    {"sums", 0, 4, {2, 1, 3, 1}},
                    {"out", 0, 4, {1, 1, 6, 1}}},
        .op_count = 3,
        .ops = {{.code = 38, .version = 1, .input_count = 3, .inputs = {0, 1, 2},
                 .output_count = 1, .outputs = {4}},
                {.code = 3, .version = 1, .input_count = 2, .inputs = {4, 5}, .output_count = 1,
                 .outputs = {6}, .options_type = 1,
                 .options = {{0, 1, 1}, {1, 4, 1}, {2, 4, 1}}},
                {.code = 37, .version = 1, .input_count = 3, .inputs = {6, 1, 3},
                 .output_count = 1, .outputs = {7}}},
        .input_count = 1, .inputs = {0}, .output_count = 1, .outputs = {7}};

    for (int x = 0; x < 6; x++)
        for (int t = 0; t < 3; t++)
            if (x + 2 * t - 2 >= 0 && x + 2 * t - 2 < 6)
                want[x] += taps[t] * input[x + 2 * t - 2];
    check("dilated", &m, input, want, 6);
}

/* Whole, however long. */
static void test_names(void)
{
#define LONG "StatefulPartitionedCall/model/feature_pyramid_network/box_predictor/stage/"
    struct writer_model m = convolution();
    struct tdl_builder *b = NULL;
    uint8_t *file;
    size_t size;

    m.tensors[0].name = LONG "in";
    m.tensors[3].name = LONG "out";
    file = write_tflite(&m, &size);
    if (tdl_builder_create(NULL, &b) != TDL_OK)
        abort();
    if (tdl_model_import(b, file, size, NULL) != TDL_OK)
        FAIL("long names: %s", tdl_builder_error(b));
    else if (strcmp(tdl_builder_ir(b)->inputs[0]->name, LONG "in") != 0 ||
             strcmp(tdl_builder_ir(b)->outputs[0]->name, LONG "out") != 0)
        FAIL("long names: \"%s\"", tdl_builder_ir(b)->inputs[0]->name);
    tdl_builder_destroy(&b);
    free(file);
}

int main(int argc, char **argv)
{
    folder = argc > 1 ? argv[1] : NULL;
    test_quantized();
    test_dynamic_range();
    test_depthwise();
    test_large(3);
    test_large(9);
    test_large(17);
    test_sparse();
    test_sparse_damage();
    test_shapes();
    test_reversed_shape();
    test_open();
    test_dilated();
    test_names();
    printf("%d failures\n", failures);
    return failures ? EXIT_FAILURE : EXIT_SUCCESS;
}
