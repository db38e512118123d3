/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * ncnn's layers as the reader understands them (ncnn-rows.h), computed by the operators'
 * references, so that no device is needed; and what it says to files that are wrong:
 * cut short at every byte, with numbers changed, with names that are not there.
 */
#include "ncnn-rows.h"

#include <tdl/models.h>

#include <core/graph.h>
#include <models/format.h>
#include <ops/ops.h>

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static char folder[] = "/tmp/tdl-ncnn-XXXXXX", path[64], param[80], bin[80];
static int failures;

#define FAIL(...)                                                                                  \
    do {                                                                                           \
        printf("FAIL ");                                                                           \
        printf(__VA_ARGS__);                                                                       \
        printf("\n");                                                                              \
        failures++;                                                                                \
    } while (0)

static void run(const struct ncnn_test *test, struct tdl_builder *b)
{
    struct tdl_ir *ir = tdl_builder_ir(b);
    void **values = calloc(ir->operand_count + 1, sizeof(*values));
    const struct tdl_operand *out = ir->outputs[0];
    float input[64];

    for (int i = 0; i < 64; i++)
        input[i] = (float)(i + test->from);
    if (!values || tdl_ir_run_reference(ir, (const void *const[]){input}, values) != TDL_OK)
        FAIL("%s: %s", test->name, tdl_last_error());
    else if (ir->output_count != 1 || tdl_operand_count(out) != (size_t)test->want_count)
        FAIL("%s: the output is %s", test->name, tdl_operand_text(out));
    else
        for (int i = 0; i < test->want_count; i++) {
            const float got = ((const float *)values[out->id])[i], want = test->want[i];

            if (!(fabsf(got - want) <= 1e-5f * (1 + fabsf(want))))
                FAIL("%s: element %d is %g instead of %g", test->name, i, (double)got,
                     (double)want);
        }
    for (uint32_t i = 0; values && i < ir->operand_count; i++)
        free(values[i]);
    free(values);
}

static void test_row(const struct ncnn_test *test)
{
    struct tdl_builder *b = NULL;

    ncnn_test_write(path, test);
    if (tdl_builder_create(NULL, &b) != TDL_OK || tdl_model_load(b, param, NULL) != TDL_OK)
        FAIL("%s: %s", test->name, tdl_last_error());
    else
        run(test, b);
    tdl_builder_destroy(&b);
}

/* -------------------------------------------------------------------- errors */

static enum tdl_result load(const char *text, size_t size, const void *weights, size_t bytes,
                            const struct tdl_model_params *params, char *error)
{
    struct tdl_builder *b = NULL;
    enum tdl_result r;

    ncnn_write_files(path, text, size, weights, bytes);
    if (tdl_builder_create(NULL, &b) != TDL_OK)
        abort();
    r = tdl_model_load(b, param, params);
    snprintf(error, 600, "%s", tdl_builder_error(b));
    if (r != tdl_builder_status(b) || (r != TDL_OK && !*error))
        FAIL("%d, but the builder has %d \"%s\"", r, tdl_builder_status(b), error);
    tdl_builder_destroy(&b);
    return r;
}

#define START "7767517\n"
#define INPUT START "2 2\nInput in 0 1 data 0=2 1=2 2=1\n"

static const struct {
    const char *text;
    enum tdl_result result;
    const char *error;
} errors[] = {
    {START, TDL_ERROR_INVALID_MODEL, "its second line has no numbers"},
    {START "-1 2\n", TDL_ERROR_INVALID_MODEL, "its second line has no numbers"},
    {START "1e9 2\n", TDL_ERROR_INVALID_MODEL, "its second line has no numbers"},
    {START "3 3\nInput in 0 1 data 0=1\n", TDL_ERROR_INVALID_MODEL, "it ends at layer 1 of 3"},
    {START "0 0\n", TDL_ERROR_INVALID_MODEL, "of which the layers read 0"},
    {INPUT "Clip\n", TDL_ERROR_INVALID_MODEL, "line 4 is no layer"},
    {INPUT "Clip c 1 99 data out\n", TDL_ERROR_INVALID_MODEL, "line 4 is no layer"},
    {INPUT "Clip c 1 1 other out\n", TDL_ERROR_INVALID_MODEL,
     "blob 'other' in line 4 is read before a layer writes it"},
    {INPUT "Clip c 1 1 out out\n", TDL_ERROR_INVALID_MODEL, "blob 'out' in line 4 is read before"},
    {INPUT "Clip c 1 1 data data\n", TDL_ERROR_INVALID_MODEL,
     "blob 'data' in line 4 is written twice"},
    {INPUT "Clip c 1 1 data\n", TDL_ERROR_INVALID_MODEL, "blob '' in line 4 is no name"},
    {INPUT "Clip c 1 1 data out 0\n", TDL_ERROR_INVALID_MODEL, "'0' in line 4 is no parameter"},
    {INPUT "Clip c 1 1 data out 0=x\n", TDL_ERROR_INVALID_MODEL, "'0=x' in line 4"},
    {INPUT "Clip c 1 1 data out 0=1e99999\n", TDL_ERROR_INVALID_MODEL, "in line 4 is no parameter"},
    {INPUT "Clip c 1 1 data out 32=1\n", TDL_ERROR_INVALID_MODEL, "'32=1' in line 4"},
    {INPUT "Clip c 1 1 data out 1=1 1=2\n", TDL_ERROR_INVALID_MODEL, "'1=2' in line 4"},
    {INPUT "Clip c 1 1 data out -23300=3,1,2\n", TDL_ERROR_INVALID_MODEL, "in line 4 is no"},
    {INPUT "Clip c 1 1 data out 0=2 1=1\n", TDL_ERROR_INVALID_MODEL,
     "layer 1 Clip 'c': a clip from 2 to 1"},
    {INPUT "Clip c 1 2 data out more\n", TDL_ERROR_INVALID_MODEL, "1 bottoms and 2 tops"},
    {INPUT "Own l 1 1 data out\n", TDL_ERROR_UNSUPPORTED,
     "layer 1 Own 'l': libtdl has no layer of this type"},
    {INPUT "Yolov3DetectionOutput y 1 1 data out 0=80\n", TDL_ERROR_UNSUPPORTED,
     "cut the model at 'data', which are outputs"},
    {INPUT "Pooling3D p 1 1 data out\n", TDL_ERROR_UNSUPPORTED, "volumes are not supported"},
    {INPUT "LSTM l 1 1 data out 0=1 1=4\n", TDL_ERROR_INVALID_MODEL, "a blob of 4 dimensions"},
    {INPUT "CopyTo c 2 1 data data out 0=1\n", TDL_ERROR_INVALID_MODEL,
     "2 elements from 1 on, of 2"},
    {INPUT "Evil\x1b[2J l 1 1 data out\n", TDL_ERROR_UNSUPPORTED, "layer 1 Evil?[2J 'l'"},
    {INPUT "Convolution c 1 1 data out 0=1 1=3 6=8\n", TDL_ERROR_INVALID_MODEL,
     "layer 1 Convolution 'c': 8 weights for 1 outputs of 3x3 from 1 inputs"},
    {INPUT "Convolution c 1 1 data out 0=1 1=0 6=1\n", TDL_ERROR_INVALID_MODEL, "kernel 0"},
    {INPUT "Convolution c 1 1 data out 0=1 1=1 3=70000 6=1\n", TDL_ERROR_INVALID_MODEL,
     "stride 70000"},
    {INPUT "Convolution c 1 1 data out 0=1 1=1 4=-7 6=1\n", TDL_ERROR_INVALID_MODEL, "padding -7"},
    {INPUT "Convolution c 1 1 data out 0=40000 1=1 5=1 6=40000\n", TDL_ERROR_INVALID_MODEL,
     "the file of weights ends: 160000 bytes are wanted at byte 4 of 64"},
    {INPUT "Convolution c 1 1 data out 0=1 1=1 6=1 9=77\n", TDL_ERROR_UNSUPPORTED,
     "the fused activation 77"},
    {INPUT "Convolution c 1 1 data out 0=1 1=1 6=1\n", TDL_ERROR_INVALID_MODEL,
     "has 64 bytes, of which the layers read 8: it is another model's"},
    {INPUT "Deconvolution d 1 1 data out 0=1 1=1 4=-233 6=1\n", TDL_ERROR_UNSUPPORTED,
     "an output of 0x0 px with padding of kind -233"},
    {INPUT "Deconvolution d 1 1 data out 0=1 1=1 6=1 20=2 21=2\n", TDL_ERROR_UNSUPPORTED,
     "an output of 2x2 px with padding of kind 0"},
    {INPUT "Deconvolution d 1 1 data out 0=1 1=1 4=-234 6=1 20=9 21=9\n", TDL_ERROR_INVALID_MODEL,
     "do not reach over an output of 9x9 px"},
    {INPUT "InnerProduct i 1 1 data out 0=2 2=3\n", TDL_ERROR_INVALID_MODEL,
     "3 weights for 2 outputs from 4 inputs"},
    {INPUT "InnerProduct i 1 1 data out 0=2000000000 2=1\n", TDL_ERROR_INVALID_MODEL,
     "outputs 2000000000"},
    {INPUT "PReLU p 1 1 data out 0=2\n", TDL_ERROR_INVALID_MODEL, "2 numbers for 1 channels"},
    {INPUT "BinaryOp b 1 1 data out 0=0\n", TDL_ERROR_INVALID_MODEL, "nothing to compute with"},
    {INPUT "BinaryOp b 1 1 data out 0=19 1=1\n", TDL_ERROR_UNSUPPORTED, "the kind 19"},
    {INPUT "UnaryOp u 1 1 data out 0=28\n", TDL_ERROR_UNSUPPORTED, "the kind 28"},
    {INPUT "Interp i 1 1 data out 0=4 1=3 2=3 6=1\n", TDL_ERROR_INVALID_MODEL,
     "the kind 4 is none of 1 to 3"},
    {INPUT "Interp i 1 1 data out 0=1 9=\"0w,0h,0c\"\n", TDL_ERROR_INVALID_MODEL,
     "'0w,0h,0c' is no list of sizes"},
    {INPUT "Reshape r 1 1 data out 6=\"*(0w)\"\n", TDL_ERROR_INVALID_MODEL,
     "'*(0w)' is no list of sizes"},
    {INPUT "Reshape r 1 1 data out 6=\"1w,-1\"\n", TDL_ERROR_INVALID_MODEL, "'1w,-1' is no list"},
    {INPUT "Reshape r 1 1 data out 6=\"/(0w,0)\"\n", TDL_ERROR_INVALID_MODEL,
     "is no list of sizes"},
    {INPUT "Reshape r 1 1 data out 6=\"0w\n", TDL_ERROR_INVALID_MODEL, "in line 4 is no parameter"},
    {INPUT "Convolution c 1 1 data out 0=1 1=1 6=1 8=2\n", TDL_ERROR_INVALID_MODEL,
     "of which the layers read 16"},
    {INPUT "Pooling1D p 1 1 data out 0=0 1=2\n", TDL_ERROR_UNSUPPORTED,
     "4 dimensions instead of 2"},
    {INPUT "Reorg r 1 1 data out 0=3\n", TDL_ERROR_INVALID_MODEL, "blocks of 3 in 2x2 px"},
    {INPUT "Padding p 1 1 data out 0=1 4=3\n", TDL_ERROR_INVALID_MODEL, "padding of kind 3"},
    {START "3 3\nInput in 0 1 data 0=2 1=2 2=1\nInterp i 1 1 data m 0=3 3=5 4=60000\n"
           "Interp j 1 1 m out 0=3 3=5 4=40001\n",
     TDL_ERROR_UNSUPPORTED, "layer 2 Interp 'j': bicubic from 60000 to 40001 px"},
    {INPUT "Interp i 1 1 data out 0=1 1=1e9 2=3\n", TDL_ERROR_INVALID_MODEL, "size -1"},
    {INPUT "Slice s 1 2 data a b -23300=2,1,3 1=2\n", TDL_ERROR_INVALID_MODEL,
     "layer 1 Slice 's': part 1 has 3 elements, from 1 on, of 2"},
    {INPUT "Tile t 1 1 data out -23302=5,1,1,1,1,2\n", TDL_ERROR_INVALID_MODEL,
     "a blob of 5 dimensions"},
    {INPUT "ExpandDims e 1 1 data out -23303=1,4\n", TDL_ERROR_INVALID_MODEL, "axis 4"},
    {INPUT "ExpandDims e 1 1 data out -23303=2,0,1\n", TDL_ERROR_INVALID_MODEL,
     "a blob of 5 dimensions"},
    {INPUT "Reduction r 1 1 data out 0=11\n", TDL_ERROR_INVALID_MODEL,
     "kind 11 is none of 0 to 10"},
    {INPUT "Reduction r 1 1 data out 0=0 1=0 -23303=1,1\n", TDL_ERROR_UNSUPPORTED,
     "axes that count a batch"},
    {INPUT "ShuffleChannel s 1 1 data out 0=2\n", TDL_ERROR_INVALID_MODEL,
     "1 channels in 2 groups"},
    {INPUT "LayerNorm n 1 1 data out 0=3\n", TDL_ERROR_INVALID_MODEL, "3 numbers for 4 elements"},
    {INPUT "Gemm g 1 1 data out 5=1 8=2 9=2\n", TDL_ERROR_UNSUPPORTED, "a product of 3 dimensions"},
    {INPUT "Gemm g 1 1 data out 18=1\n", TDL_ERROR_UNSUPPORTED, "quantized products of matrices"},
    {INPUT "MultiHeadAttention m 1 1 data out 0=4 1=3 2=16\n", TDL_ERROR_INVALID_MODEL,
     "16 weights for an embedding of 4 in 3 heads"},
    {INPUT "MultiHeadAttention m 1 1 data out 0=4 1=2 2=16 7=1\n", TDL_ERROR_UNSUPPORTED,
     "attention with a cache"},
    {INPUT "Embed e 1 1 data out 0=2 1=2 3=5\n", TDL_ERROR_INVALID_MODEL,
     "5 weights for 2 rows of 2"},
    {INPUT "Crop c 1 1 data out 0=2 3=1\n", TDL_ERROR_INVALID_MODEL,
     "layer 1 Crop 'c': 0 elements from 2 on, of 2"},
    {INPUT "Crop c 1 1 data out -23309=1,1 -23310=1,1e9 -23311=1,9\n", TDL_ERROR_INVALID_MODEL,
     "a place from 1 to 1e+09 along 9"},
    {INPUT "Reshape r 1 1 data out 0=3\n", TDL_ERROR_INVALID_MODEL, "no parts of 3"},
    {INPUT "Reshape r 1 1 data out 0=3 1=-1\n", TDL_ERROR_INVALID_MODEL,
     "4 elements are no parts of 3"},
    {INPUT "Permute p 1 1 data out 0=6\n", TDL_ERROR_INVALID_MODEL, "there is no order 6"},
    {INPUT "Softmax s 1 1 data out 0=3\n", TDL_ERROR_INVALID_MODEL, "there is no axis 3"},
    {INPUT "Pooling p 1 1 data out 0=2\n", TDL_ERROR_INVALID_MODEL, "pooling of kind 2"},
    {INPUT "Pooling p 1 1 data out 7=1 8=3\n", TDL_ERROR_UNSUPPORTED,
     "adaptive pooling of 2x2 px to 3x3"},
    {INPUT "MemoryData m 0 1 out 0=60000 1=60000 2=60000\n", TDL_ERROR_INVALID_MODEL,
     "too many numbers"},
    {START "1 1\nInput in 0 1 data\n", TDL_ERROR_UNSUPPORTED,
     "leaves 3 sizes of its inputs open: give each by its name, which are 'data:1', 'data:2', "
     "'data:3' (tdl_model_params)"},
    {START "2 2\nInput in 0 1 data\nYoloV5Focus f 1 1 data out\n", TDL_ERROR_UNSUPPORTED,
     "leaves 2 sizes of its inputs open: give each by its name, which are 'data:2', 'data:3'"},
    {START "1 1\nInput in 0 1 data 2=3\n", TDL_ERROR_UNSUPPORTED,
     "leaves 2 sizes of its inputs open: give each by its name, which are 'data:2', 'data:3'"},
    {START "1 1\nInput in 0 1 data 1=2 2=3\n", TDL_ERROR_UNSUPPORTED,
     "leaves dimension 3 of its input 'data' open: give it a size by the name 'data:3'"},
};

static void test_errors(void)
{
    static const float weights[16];
    char error[600];

    for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
        const enum tdl_result r =
            load(errors[i].text, strlen(errors[i].text), weights, sizeof(weights), NULL, error);

        /* Shapes are the builder's business. */
        if ((r != errors[i].result && r != TDL_ERROR_INVALID_ARGUMENT) ||
            !strstr(error, errors[i].error))
            FAIL("\"%s\" gives %d \"%s\" instead of %d \"…%s…\"", errors[i].text, r, error,
                 errors[i].result, errors[i].error);
    }
}

/* All types of layers that ncnn has, as it was in July 2026. */
static const char *const types[] = {
    "AbsVal",
    "ArgMax",
    "BatchNorm",
    "Bias",
    "BinaryOp",
    "BNLL",
    "Cast",
    "CELU",
    "Clip",
    "Concat",
    "Convolution",
    "Convolution1D",
    "Convolution3D",
    "ConvolutionDepthWise",
    "ConvolutionDepthWise1D",
    "ConvolutionDepthWise3D",
    "CopyTo",
    "Crop",
    "CumulativeSum",
    "Deconvolution",
    "Deconvolution1D",
    "Deconvolution3D",
    "DeconvolutionDepthWise",
    "DeconvolutionDepthWise1D",
    "DeconvolutionDepthWise3D",
    "DeepCopy",
    "DeformableConv2D",
    "Dequantize",
    "DetectionOutput",
    "Diag",
    "Dropout",
    "Einsum",
    "Eltwise",
    "ELU",
    "Embed",
    "Erf",
    "Exp",
    "ExpandDims",
    "Flatten",
    "Flip",
    "Fold",
    "GELU",
    "Gemm",
    "GLU",
    "GridSample",
    "GroupNorm",
    "GRU",
    "HardSigmoid",
    "HardSwish",
    "InnerProduct",
    "Input",
    "InstanceNorm",
    "Interp",
    "InverseSpectrogram",
    "LayerNorm",
    "Log",
    "LRN",
    "LSTM",
    "MatMul",
    "MemoryData",
    "Mish",
    "MultiHeadAttention",
    "MVN",
    "Noop",
    "Normalize",
    "Packing",
    "Padding",
    "Permute",
    "PixelShuffle",
    "Pooling",
    "Pooling1D",
    "Pooling3D",
    "Power",
    "PReLU",
    "PriorBox",
    "Proposal",
    "PSROIPooling",
    "Quantize",
    "Reduction",
    "ReLU",
    "Reorg",
    "Requantize",
    "Reshape",
    "RMSNorm",
    "RNN",
    "ROIAlign",
    "ROIPooling",
    "RotaryEmbed",
    "Scale",
    "SDPA",
    "SELU",
    "Shrink",
    "ShuffleChannel",
    "Sigmoid",
    "Slice",
    "Softmax",
    "Softplus",
    "Spectrogram",
    "Split",
    "SPP",
    "Squeeze",
    "StatisticsPooling",
    "Swish",
    "TanH",
    "Threshold",
    "Tile",
    "UnaryOp",
    "Unfold",
    "YoloDetectionOutput",
    "Yolov3DetectionOutput",
};

static char *read_text(const char *name)
{
    FILE *f = fopen(name, "rb");
    char *text = calloc(1, 1 << 20);

    if (!f || !text || fread(text, 1, (1 << 20) - 1, f) == 0)
        abort();
    fclose(f);
    return text;
}

/* Input is no row of the reader's tables. */
static bool is_row(const char *type)
{
    const char *name;

    for (uint32_t i = 0; (name = tdl_model_ncnn.operator_name(i)); i++)
        if (!strcmp(name, type))
            return true;
    return !strcmp(type, "Input");
}

/* A name as a word of the text. */
static bool has_word(const char *text, const char *end, const char *name)
{
    const size_t length = strlen(name);

    for (const char *at = text; (at = strstr(at, name)) && at < end; at += length)
        if (!isalnum((unsigned char)at[-1]) && !isalnum((unsigned char)at[length]))
            return true;
    return false;
}

/* The page names each type once: with those that are read, or with those that are not. */
static void test_types(const char *page)
{
    char error[600], text[200], layers[40] = "", *doc = read_text(page);
    char *known = strstr(doc, "## ncnn's layers"), *refused, *end;
    unsigned reads = 0;

    refused = known ? strstr(known, "The others are refused") : NULL;
    end = refused ? strstr(refused, "Weights of int8") : NULL;
    if (!end) {
        FAIL("%s has no such section", page);
        free(doc);
        return;
    }
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        snprintf(text, sizeof(text), INPUT "%s l 1 1 data out\n", types[i]);
        load(text, strlen(text), NULL, 0, NULL, error);
        const bool reads_it = is_row(types[i]);

        reads += reads_it;
        if (strstr(error, "libtdl has no layer of this type"))
            FAIL("%s: neither read nor refused by name", types[i]);
        if (!reads_it && !strstr(error, "not supported") && !strstr(error, "convert the model") &&
            !strstr(error, "take"))
            FAIL("%s: '%s' does not say what to do", types[i], error);
        if (has_word(known, refused, types[i]) != reads_it ||
            has_word(refused, end, types[i]) == reads_it)
            FAIL("%s is %s, which the page says otherwise", types[i],
                 reads_it ? "read" : "refused");
    }
    snprintf(layers, sizeof(layers), "reads %u of them", reads);
    if (!strstr(known, layers))
        FAIL("the page does not say that libtdl %s", layers);
    free(doc);
}

/* No text of a model can be a part of another, but at the end of its last line. */
static void test_damage(void)
{
    static const char text[] = START "4 5\nInput in 0 1 data\nSplit s 1 2 data a b\n"
                                     "Convolution c 1 1 a m 0=2 1=3 4=1 5=1 6=54 9=2 -23310=1,0.1\n"
                                     "Pooling p 1 1 b out 0=1 4=1\n";
    static const float weights[1 + 54 + 2];
    const struct tdl_model_params params = {.size = {4, 6}};
    char changed[sizeof(text)], error[600];
    uint32_t seed = 20;

    if (load(text, strlen(text), weights, sizeof(weights), &params, error) != TDL_OK)
        FAIL("the example: %s", error);
    for (size_t size = 0; size + 12 < strlen(text); size++)
        if (load(text, size, weights, sizeof(weights), &params, error) == TDL_OK)
            FAIL("%zu bytes of %zu are a model", size, strlen(text));
    for (size_t size = 0; size < sizeof(weights); size += 4)
        if (load(text, strlen(text), weights, size, &params, error) == TDL_OK)
            FAIL("%zu bytes of weights of %zu are a model", size, sizeof(weights));
    for (int i = 0; i < 2000; i++) {
        static const char others[] = "0123456789-=, \n.e";

        memcpy(changed, text, sizeof(text));
        for (int n = 0; n < 2; n++) {
            seed = seed * 1664525u + 1013904223u;
            changed[8 + (seed >> 8) % (sizeof(text) - 9)] = others[(seed >> 4) % 17];
        }
        load(changed, strlen(text), weights, sizeof(weights), &params, error);
    }
}

static void test_files(void)
{
    static const char text[] = INPUT;
    struct tdl_builder *b = NULL;
    char other[96];

    if (tdl_builder_create(NULL, &b) != TDL_OK ||
        tdl_model_import(b, text, strlen(text), NULL) != TDL_ERROR_UNSUPPORTED ||
        !strstr(tdl_builder_error(b), "load the model by the path"))
        FAIL("from memory: \"%s\"", tdl_builder_error(b));
    tdl_builder_destroy(&b);
    ncnn_write_files(path, text, strlen(text), NULL, 0);
    unlink(bin);
    if (tdl_builder_create(NULL, &b) != TDL_OK || tdl_model_load(b, param, NULL) != TDL_ERROR_IO ||
        !strstr(tdl_builder_error(b), "it.bin': No such file"))
        FAIL("without weights: \"%s\"", tdl_builder_error(b));
    tdl_builder_destroy(&b);
    snprintf(other, sizeof(other), "%s.txt", path);
    if (rename(param, other) != 0 || tdl_builder_create(NULL, &b) != TDL_OK ||
        tdl_model_load(b, other, NULL) != TDL_ERROR_INVALID_MODEL ||
        !strstr(tdl_builder_error(b), "NAME.param and NAME.bin"))
        FAIL("by another name: \"%s\"", tdl_builder_error(b));
    tdl_builder_destroy(&b);
    unlink(other);
}

/* Text that grows: a megabyte each. Refused or taken, in no time and little memory, which
 * the alarm and the limit below watch. */
static char *grow(const char *layers, int n, size_t *out_size)
{
    const size_t room = (size_t)n * (strlen(layers) + 40) + 200;
    char *text = malloc(room), line[256];
    size_t size;

    if (!text)
        abort();
    size = (size_t)snprintf(text, room, START "%d 1\nInput in 0 1 b0 0=2 1=2 2=1\n", n + 1);
    for (int i = 0; i < n; i++) {
        for (size_t k = 0; k <= strlen(layers); k++)
            line[k] = layers[k];
        size += (size_t)snprintf(text + size, room - size, line, i, i + 1, i);
    }
    *out_size = size;
    return text;
}

static void test_hostile(void)
{
    static const struct {
        const char *layer; /* number, the next one, number */
        int n;
        const char *error; /* NULL: it is a model */
    } rows[] = {
        {"Clip c 1 1 b%d b%d 0=%d 1=99999\n", 20000, NULL},
        {"Input i%d 0 1 x%d\n", 40000, "which are 'x1:1', 'x1:2', 'x1:3'"},
        {"Input i%d 0 1 x%d 0=1\n", 40000, "more than 64 inputs"},
        {"MemoryData m%d 0 1 x%d 0=1\n", 30000, "the file of weights ends"},
        {"Split s 1 2 b%1$d x%1$d b%2$d\n", 20000, "more than 64 outputs"},
        {"Padding p 1 1 b%1$d b%2$d 0=60000 1=60000\n", 20000,
         SIZE_MAX < UINT64_MAX ? "the size fit in memory" : "are too many for dimension 2"},
        {"Interp i 1 1 b%1$d b%2$d 0=3 3=2000 4=2000\n", 20000, NULL},
        {"Interp i 1 1 b%1$d b%2$d 0=3 3=2%1$d 4=2%1$d\n", 20000, "bicubic from"},
        {"PixelShuffle p 1 1 b%1$d b%2$d 0=2\n", 20000, "depthToSpace"},
    };
    struct rlimit limit = {(rlim_t)256 << 20, (rlim_t)256 << 20};
    char error[600];

    if (!getenv("ASAN_OPTIONS") && !getenv("TSAN_OPTIONS"))
        setrlimit(RLIMIT_DATA, &limit);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        size_t size;
        char *text = grow(rows[i].layer, rows[i].n, &size);
        const clock_t start = clock();
        const enum tdl_result r = load(text, size, NULL, 0, NULL, error);

        printf("%zu bytes of \"%.20s…\": %.2f s, %s\n", size, rows[i].layer,
               (double)(clock() - start) / CLOCKS_PER_SEC, r == TDL_OK ? "taken" : error);
        if (rows[i].error ? r == TDL_OK || !strstr(error, rows[i].error) : r != TDL_OK)
            FAIL("\"%s\": %d \"%s\"", rows[i].layer, r, error);
        free(text);
    }
}

/* What several outputs only come together in leaves each of them to be had. */
static void test_noop(void)
{
    static const char text[] = START "4 5\nInput in 0 1 data 0=2\nSplit s 1 2 data a b\n"
                                     "ReLU r 1 1 b c\nNoop n 2 1 a c out\n";
    struct tdl_builder *b = NULL;

    ncnn_write_files(path, text, strlen(text), NULL, 0);
    if (tdl_builder_create(NULL, &b) != TDL_OK || tdl_model_load(b, param, NULL) != TDL_OK) {
        FAIL("Noop: %s", tdl_last_error());
    } else {
        const struct tdl_ir *ir = tdl_builder_ir(b);

        if (ir->output_count != 2 || strcmp(ir->outputs[0]->name, "c") != 0 ||
            strcmp(ir->outputs[1]->name, "out") != 0)
            FAIL("Noop: %u outputs", ir->output_count);
    }
    tdl_builder_destroy(&b);
}

/* Only the ends differ, and one is what is asked for. */
static void test_names(void)
{
#define LONG "StatefulPartitionedCall/model/feature_pyramid_network/box_predictor/stage/"
    static const char text[] = START "3 4\nInput in 0 1 " LONG "in\nSplit s 1 2 " LONG "in " LONG
                                     "a " LONG "b\nReLU r 1 1 " LONG "a " LONG "c\n";
    const struct tdl_model_dimension sizes[] = {{.name = LONG "in:1", .size = 3},
                                                {.name = LONG "in:2", .size = 2},
                                                {.name = LONG "in:3", .size = 5}};
    const struct tdl_model_params params = {.dimensions = sizes, .dimension_count = 3};
    struct tdl_builder *b = NULL;

    ncnn_write_files(path, text, strlen(text), NULL, 0);
    if (tdl_builder_create(NULL, &b) != TDL_OK)
        abort();
    if (tdl_model_load(b, param, &params) != TDL_OK) {
        FAIL("long names: %s", tdl_builder_error(b));
    } else {
        const struct tdl_ir *ir = tdl_builder_ir(b);

        if (strcmp(ir->inputs[0]->name, LONG "in") != 0 || ir->output_count != 2 ||
            strcmp(ir->outputs[0]->name, LONG "b") != 0 ||
            strcmp(ir->outputs[1]->name, LONG "c") != 0)
            FAIL("long names: \"%s\", \"%s\"", ir->inputs[0]->name, ir->outputs[0]->name);
    }
    tdl_builder_destroy(&b);
}

int main(int argc, char **argv)
{
    size_t rows = 0;

    alarm(300);
    if (!mkdtemp(folder))
        abort();
    snprintf(path, sizeof(path), "%s/it", folder);
    snprintf(param, sizeof(param), "%s.param", path);
    snprintf(bin, sizeof(bin), "%s.bin", path);
    for (; ncnn_test(rows); rows++)
        test_row(ncnn_test(rows));
    test_errors();
    if (argc == 2)
        test_types(argv[1]);
    else
        FAIL("usage: test-ncnn doc/models.md");
    test_damage();
    test_files();
    test_names();
    test_noop();
    test_hostile();
    unlink(param);
    unlink(bin);
    rmdir(folder);
    printf("%zu rows, %d failures\n", rows, failures);
    return failures ? EXIT_FAILURE : EXIT_SUCCESS;
}
