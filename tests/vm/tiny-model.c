/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Writes a segmentation model that an emulated processor runs in no time:
 * tiny-model FILE. [1,16,16,3] -> convolution 3x3 -> logistic -> [1,16,16,1].
 * Its mask follows the picture: more red than blue is the person.
 */
#include "tflite-writer.h"

#include <stdio.h>
#include <stdlib.h>

enum { CONV_2D = 3, LOGISTIC = 14, CONV_2D_OPTIONS = 1 };

static struct writer_model tiny_model(void)
{
    /* One output channel, 3 x 3, three input channels: a mean of 3 x 3 pixels. */
    static float filter[1 * 3 * 3 * 3];
    static const float bias[1] = { 0.25f };
    static const float channels[3] = { 4.0f, 1.0f, -4.0f };

    for (int i = 0; i < 27; i++)
        filter[i] = channels[i % 3] / 9;
    return (struct writer_model){
        .identifier = "TFL3",
        .version = 3,
        .subgraphs = 1,
        .tensor_count = 5,
        .tensors = { { "image", 0, 4, { 1, 16, 16, 3 } },
                     { "filter", 0, 4, { 1, 3, 3, 3 }, filter, sizeof(filter) },
                     { "bias", 0, 1, { 1 }, bias, sizeof(bias) },
                     { "conv", 0, 4, { 1, 16, 16, 1 } },
                     { "mask", 0, 4, { 1, 16, 16, 1 } } },
        .op_count = 2,
        .ops = { { .code = CONV_2D, .version = 1, .input_count = 3, .inputs = { 0, 1, 2 },
                   .output_count = 1, .outputs = { 3 }, .options_type = CONV_2D_OPTIONS,
                   .options = { { 1, 4, 1 }, { 2, 4, 1 } } },
                 { .code = LOGISTIC, .version = 1, .input_count = 1, .inputs = { 3 },
                   .output_count = 1, .outputs = { 4 } } },
        .input_count = 1,
        .inputs = { 0 },
        .output_count = 1,
        .outputs = { 4 },
    };
}

int main(int argc, char **argv)
{
    struct writer_model model = tiny_model();
    size_t size;
    uint8_t *data = write_tflite(&model, &size);
    FILE *file = argc == 2 ? fopen(argv[1], "wb") : NULL;

    if (!file || fwrite(data, 1, size, file) != size || fclose(file)) {
        fprintf(stderr, "usage: tiny-model FILE (which must be writable)\n");
        return 1;
    }
    free(data);
    return 0;
}
