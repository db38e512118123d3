/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ncnn-rows.h"

#include "file-order.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The weight of the pixel 7/6 px away. */
#define BICUBIC_SIXTH -0.086805556f

const struct ncnn_test ncnn_rows[] = {
    {"Convolution", "0=3 1=2 2=1", "Convolution c 1 1 data out 0=1 1=2 11=1 5=1 6=2\n",
     LIST(TAG, 1, 10, 0.5f), LIST(10.5f, 21.5f, 43.5f, 54.5f)},
    {"Convolution of two channels", "0=1 1=1 2=2", "Convolution c 1 1 data out 0=2 1=1 6=4\n",
     LIST(TAG, 1, 2, 3, 4), LIST(8, 18), 2},
    {"Convolution with leaky ReLU", "0=2 1=1 2=1",
     "Convolution c 1 1 data out 0=1 1=1 6=1 9=2 -23310=1,5.000000e-01\n", LIST(TAG, 1),
     LIST(-0.5f, 0), -1},
    {"Convolution with a clip", "0=4 1=1 2=1",
     "Convolution c 1 1 data out 0=1 1=1 6=1 9=3 -23310=2,1,2\n", LIST(TAG, 1), LIST(1, 1, 2, 2)},
    {"Convolution with SAME padding", "0=3 1=1 2=1",
     "Convolution c 1 1 data out 0=1 1=2 11=1 4=-233 6=2\n", LIST(TAG, 1, 10), LIST(21, 32, 3), 1},
    {"Convolution with SAME padding before", "0=3 1=1 2=1",
     "Convolution c 1 1 data out 0=1 1=2 11=1 4=-234 6=2\n", LIST(TAG, 1, 10), LIST(10, 21, 32),
     1},
    {"Convolution, padded at one side", "0=2 1=1 2=1",
     "Convolution c 1 1 data out 0=1 1=2 11=1 4=1 15=0 14=0 16=0 6=2\n", LIST(TAG, 1, 10),
     LIST(10, 21), 1},
    {"Convolution of a vector", "0=1 1=1 2=2",
     "Pooling p 1 1 data v 0=1 4=1\nConvolution c 1 1 v out 0=1 1=1 5=1 6=2\n",
     LIST(TAG, 2, 3, 1), LIST(14), 2},
    {"ConvolutionDepthWise", "0=1 1=1 2=2",
     "ConvolutionDepthWise c 1 1 data out 0=2 1=1 6=2 7=2\n", LIST(TAG, 10, 100), LIST(20, 300),
     2},
    /* Halves and their tag: 1 and 2. */
    {"halves", "0=1 1=1 2=2", "Convolution c 1 1 data out 0=1 1=1 6=2\n",
     LIST(0x1.60d68e0000000p-125f, 0x1.0078000000000p+1f), LIST(8), 2},
    {"Deconvolution", "0=2 1=1 2=1", "Deconvolution d 1 1 data out 0=1 1=2 11=1 3=2 13=1 6=2\n",
     LIST(TAG, 1, 10), LIST(1, 10, 2, 20), 1},
    {"Deconvolution of two outputs", "0=1 1=1 2=2",
     "Deconvolution d 1 1 data out 0=2 1=1 5=1 6=4\n", LIST(TAG, 1, 2, 3, 4, 0.5f, -0.5f),
     LIST(8.5f, 17.5f), 2},
    {"DeconvolutionDepthWise, cut", "0=2 1=1 2=1",
     "DeconvolutionDepthWise d 1 1 data out 0=1 1=3 11=1 4=1 14=0 6=3 7=1\n",
     LIST(TAG, 1, 10, 100), LIST(12, 120), 1},
    {"Deconvolution to a size", "0=2 1=1 2=1",
     "Deconvolution d 1 1 data out 0=1 1=3 11=1 4=-233 6=3 20=1 21=1\n", LIST(TAG, 1, 10, 100),
     LIST(12), 1},
    {"Deconvolution to a size, cut before", "0=2 1=1 2=1",
     "Deconvolution d 1 1 data out 0=1 1=3 11=1 4=-234 6=3 20=1 21=1\n", LIST(TAG, 1, 10, 100),
     LIST(120), 1},
    {"InnerProduct", "0=2 1=1 2=1", "InnerProduct i 1 1 data out 0=2 1=1 2=4 9=1\n",
     LIST(TAG, 1, 2, -3, -4, 1, 2), LIST(6, 0), 1},
    {"PReLU", "0=1 1=1 2=2", "PReLU p 1 1 data out 0=2\n", LIST(0.5f, 0.25f), LIST(-1, -0.25f), -2},
    {"ReLU", "0=3", "ReLU r 1 1 data out\n", NONE, LIST(0, 0, 1), -1},
    {"ReLU with a slope", "0=3", "ReLU r 1 1 data out 0=0.1\n", NONE, LIST(-0.1f, 0, 1), -1},
    {"BatchNorm", "0=1 1=1 2=2", "BatchNorm b 1 1 data out 0=2 1=1\n",
     LIST(2, 3, 1, 1, 3, 8, 10, 20), LIST(11, 22), 2},
    {"Scale", "0=1 1=1 2=2", "Scale s 1 1 data out 0=2 1=1\n", LIST(2, 3, 10, 20), LIST(14, 29), 2},
    {"Scale by a blob", "0=1 1=1 2=2",
     "Split s 1 2 data a b\nPooling p 1 1 b v 0=0 4=1\nScale m 2 1 a v out 0=-233\n", NONE,
     LIST(4, 9), 2},
    {"BinaryOp", "0=2", "Split s 1 2 data a b\nBinaryOp o 2 1 a b out 0=2\n", NONE, LIST(4, 9), 2},
    {"BinaryOp with a number, exchanged", "0=2", "BinaryOp o 1 1 data out 0=7 1=1 2=10\n", NONE,
     LIST(8, 7), 2},
    {"BinaryOp of channels", "0=2 1=1 2=2",
     "Split s 1 2 data a b\nPooling p 1 1 b v 0=0 4=1\nBinaryOp o 2 1 v a out 0=1\n", NONE,
     LIST(1, 0, 1, 0)},
    {"UnaryOp", "0=2", "UnaryOp u 1 1 data out 0=4\n", NONE, LIST(4, 9), 2},
    {"UnaryOp 15", "0=2", "UnaryOp u 1 1 data out 0=15\n", NONE, LIST(0.5f, 1 / 3.0f), 2},
    {"Eltwise", "0=2", "Split s 1 2 data a b\nEltwise e 2 1 a b out 0=1 -23301=2,2.0,-0.5\n", NONE,
     LIST(3, 4.5f), 2},
    {"Eltwise product of three", "0=2", "Split s 1 3 data a b c\nEltwise e 3 1 a b c out 0=0\n",
     NONE, LIST(8, 27), 2},
    {"Clip", "0=3", "Clip c 1 1 data out 0=0 1=0.5\n", NONE, LIST(0, 0, 0.5f), -1},
    {"HardSwish", "0=2", "HardSwish h 1 1 data out 0=0.5 1=0.25\n", NONE, LIST(0, 0.75f)},
    {"HardSigmoid", "0=2", "HardSigmoid h 1 1 data out\n", NONE, LIST(0.5f, 0.7f)},
    {"Swish", "0=2", "Swish s 1 1 data out\n", NONE, LIST(0, 0.73105858f)},
    {"Mish", "0=2", "Mish m 1 1 data out\n", NONE, LIST(0, 0.86509839f)},
    {"GELU", "0=2", "GELU g 1 1 data out\n", NONE, LIST(0, 0.84134475f)},
    {"Sigmoid", "0=2", "Sigmoid s 1 1 data out\n", NONE, LIST(0.5f, 0.73105858f)},
    {"TanH", "0=2", "TanH t 1 1 data out\n", NONE, LIST(0, 0.76159416f)},
    {"ELU", "0=2", "ELU e 1 1 data out 0=2\n", NONE, LIST(-1.26424112f, 0), -1},
    {"Softplus", "0=1", "Softplus s 1 1 data out\n", NONE, LIST(0.69314718f)},
    {"Dropout", "0=2", "Dropout d 1 1 data m 0=0.5\nNoop n 1 1 m out\n", NONE, LIST(1, 1.5f), 2},
    {"Softmax of channels", "0=1 1=1 2=2", "Softmax s 1 1 data out 0=0 1=1\n", NONE,
     LIST(0.26894142f, 0.73105858f)},
    {"PixelShuffle", "0=1 1=1 2=4", "PixelShuffle p 1 1 data out 0=2\n", NONE, LIST(0, 1, 2, 3)},
    {"PixelShuffle of two channels", "0=1 1=1 2=8",
     "PixelShuffle p 1 1 data m 0=2\nCrop c 1 1 m out -23309=1,1 -23310=1,-233 -23311=1,0\n", NONE,
     LIST(4, 5, 6, 7)},
    {"PixelShuffle, pixels first", "0=1 1=1 2=8",
     "PixelShuffle p 1 1 data m 0=2 1=1\nCrop c 1 1 m out -23309=1,1 -23310=1,-233 -23311=1,0\n",
     NONE, LIST(1, 3, 5, 7)},
    /* At (0, 1): the middle of the row, and the lower edge. */
    {"GridSample", "0=1 1=1 2=2", "Split s 1 2 data a b\nGridSample g 2 1 a b out 3=1\n", NONE,
     LIST(0, 0.5f)},
    {"GridSample, corners", "0=1 1=1 2=2",
     "Split s 1 2 data a b\nGridSample g 2 1 a b out 0=3 2=1 3=1\n", NONE, LIST(0, 1)},
    {"GridSample, side by side", "0=2 1=1 2=1",
     "Split s 1 2 data a b\nGridSample g 2 1 a b out 0=1 1=2\n", NONE, LIST(0.5f)},
    {"GridSample, nearest", "0=2 1=1 2=1",
     "Split s 1 2 data a b\nGridSample g 2 1 a b out 0=2 1=3 2=1\n", NONE, LIST(0)},
    /* No layer of ncnn's own. */
    {"YoloV5Focus", "0=4 1=2 2=2", "YoloV5Focus f 1 1 data out\n", NONE,
     LIST(0, 2, 8, 10, 4, 6, 12, 14, 1, 3, 9, 11, 5, 7, 13, 15)},
    {"Interp, nearest", "0=2 1=1 2=1", "Interp i 1 1 data out 0=1 1=1 2=2\n", NONE,
     LIST(0, 0, 1, 1)},
    {"Interp, bilinear", "0=2 1=1 2=1", "Interp i 1 1 data out 0=2 1=1 2=2\n", NONE,
     LIST(0, 0.25f, 0.75f, 1)},
    {"Interp, bilinear with corners", "0=2 1=1 2=1", "Interp i 1 1 data out 0=2 3=1 4=3 6=1\n",
     NONE, LIST(0, 0.5f, 1)},
    /* −3/32, 19/32, 19/32, −3/32 of 0 0 1 2, 1 2 3 4 and 3 4 5 5 */
    {"Interp, bicubic to half", "0=6 1=1 2=1", "Interp i 1 1 data out 0=3 3=1 4=3\n", NONE,
     LIST(0.40625f, 2.5f, 4.59375f)},
    /* The middle ones. */
    {"Interp, bicubic to a third", "0=6 1=1 2=1", "Interp i 1 1 data out 0=3 3=1 4=2\n", NONE,
     LIST(1, 4)},
    {"Interp, bicubic to a quarter", "0=8 1=1 2=1", "Interp i 1 1 data out 0=3 3=1 4=2\n", NONE,
     LIST(1.5f, 5.5f)},
    /* Bicubic by matrices: the height is no dimension of its own. */
    {"Interp, bicubic to half and to more", "0=6 1=1 2=1", "Interp i 1 1 data out 0=3 3=2 4=3\n",
     NONE, LIST(0.40625f, 2.5f, 4.59375f, 0.40625f, 2.5f, 4.59375f)},
    /* At 1/6 and so on: Keys' weights with a = -3/4, of 0 0 0 1 and so on. */
    {"Interp, bicubic to three halves", "0=2 1=1 2=1", "Interp i 1 1 data out 0=3 3=1 4=3\n", NONE,
     LIST(BICUBIC_SIXTH, 0.5f, 1 - BICUBIC_SIXTH)},
    {"Pooling", "0=4 1=1 2=1", "Pooling p 1 1 data out 0=0 1=2 11=1 2=2 12=1 5=1\n", NONE,
     LIST(1, 3)},
    {"Pooling that ends outside", "0=3 1=1 2=1",
     "Pooling p 1 1 data out 0=0 1=2 11=1 2=2 12=1\n", NONE, LIST(1, 2)},
    {"Pooling of means with padding", "0=2 1=1 2=1",
     "Pooling p 1 1 data out 0=1 1=2 11=1 2=2 12=1 3=1 14=1 13=0 15=0 5=1 6=1\n", NONE,
     LIST(1, 1.5f), 2},
    {"Pooling, adaptive", "0=4 1=2 2=1", "Pooling p 1 1 data out 0=1 7=1 8=2 18=1\n", NONE,
     LIST(2.5f, 4.5f)},
    {"Padding", "0=2 1=1 2=1", "Padding p 1 1 data out 0=0 1=1 2=1 3=0 4=0 5=9\n", NONE,
     LIST(9, 0, 1, 9, 9, 9)},
    {"Padding by the edge", "0=2 1=1 2=1", "Padding p 1 1 data out 2=1 3=2 4=1\n", NONE,
     LIST(0, 0, 1, 1, 1)},
    {"Concat", "0=1 1=1 2=2", "Split s 1 2 data a b\nConcat c 2 1 a b out 0=0\n", NONE,
     LIST(0, 1, 0, 1)},
    {"Concat of the last axis", "0=2 1=2", "Split s 1 2 data a b\nConcat c 2 1 a b out 0=-1\n",
     NONE, LIST(0, 1, 0, 1, 2, 3, 2, 3)},
    {"Crop", "0=3 1=2 2=2", "Crop c 1 1 data out 0=1 1=1 2=1 3=-233 4=-233 5=-233\n", NONE,
     LIST(10, 11)},
    {"Crop to another", "0=3 1=1 2=1",
     "Split s 1 2 data a b\nCrop d 1 1 b e 0=0 3=2 4=1 5=1\nCrop c 2 1 a e out 0=1\n", NONE,
     LIST(1, 2)},
    {"Crop from both ends", "0=5", "Crop c 1 1 data out -23309=1,1 -23310=1,-1 -23311=1,0\n", NONE,
     LIST(1, 2, 3)},
    {"Reshape", "0=2 1=1 2=2", "Reshape r 1 1 data out 0=4 1=-1\n", NONE, LIST(0, 1, 2, 3)},
    {"Reshape to a picture", "0=4",
     "Reshape r 1 1 data m 0=1 1=2 2=-1\nPooling p 1 1 m out 0=1 4=1\n", NONE, LIST(0.5f, 2.5f)},
    {"Permute", "0=2 1=1 2=2", "Permute p 1 1 data out 0=4\n", NONE, LIST(0, 2, 1, 3)},
    {"Permute of a matrix", "0=2 1=2", "Permute p 1 1 data out 0=1\n", NONE, LIST(0, 2, 1, 3)},
    {"Permute and pool", "0=3 1=1 2=2", "Permute p 1 1 data m 0=3\nPooling g 1 1 m out 0=1 4=1\n",
     NONE, LIST(2.5f)},
    {"Flatten", "0=2 1=1 2=2", "Flatten f 1 1 data out\n", NONE, LIST(0, 1, 2, 3)},
    {"MemoryData", "0=2 1=1 2=2", "MemoryData m 0 1 c 0=1 1=1 2=2\nBinaryOp b 2 1 data c out 0=0\n",
     LIST(10, 20), LIST(10, 11, 22, 23)},
};
const size_t ncnn_row_count = sizeof(ncnn_rows) / sizeof(ncnn_rows[0]);

const struct ncnn_test *ncnn_test(size_t i)
{
    return i < ncnn_row_count                      ? &ncnn_rows[i]
           : i < ncnn_row_count + ncnn_result_count ? &ncnn_results[i - ncnn_row_count]
                                                    : NULL;
}

static void write_file(const char *path, const char *end, const void *data, size_t size)
{
    char name[512];
    FILE *f;

    snprintf(name, sizeof(name), "%s%s", path, end);
    f = fopen(name, "wb");
    if (!f || (size && fwrite(data, 1, size, f) != size) || fclose(f) != 0) {
        perror(name);
        exit(1);
    }
}

void ncnn_write_files(const char *path, const void *param, size_t param_size, const void *bin,
                      size_t bin_size)
{
    write_file(path, ".param", param, param_size);
    write_file(path, ".bin", bin, bin_size);
}

static void write_text(const struct ncnn_test *test, char text[2048])
{
    int lines = 1;

    for (const char *c = test->layers; *c; c++)
        lines += *c == '\n';
    snprintf(text, 2048, "7767517\n%d %d\nInput in 0 1 data %s\n%s", lines, lines, test->input,
             test->layers);
}

static size_t file_bin(const struct ncnn_test *test, uint8_t bin[2048])
{
    const size_t size = 4 * (size_t)test->bin_count;

    if (size > 2048)
        abort();
    to_file_order(bin, test->bin, size, 4);
    return size;
}

void ncnn_test_write(const char *path, const struct ncnn_test *test)
{
    char text[2048];
    uint8_t bin[2048];
    const size_t size = file_bin(test, bin);

    write_text(test, text);
    ncnn_write_files(path, text, strlen(text), bin, size);
}

int ncnn_test_seed(FILE *f, const struct ncnn_test *test)
{
    char text[2048];
    uint8_t bin[2048];
    const size_t size = file_bin(test, bin);

    write_text(test, text);
    return fwrite(text, 1, strlen(text) + 1, f) == strlen(text) + 1 &&
                   fwrite(bin, 1, size, f) == size
               ? 0
               : -1;
}
