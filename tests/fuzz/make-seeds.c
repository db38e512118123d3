/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The fuzzer's first inputs, written to a folder: small models that use every
 * operator of the importer, some that ask for much, and pieces of the model
 * files that are given.
 *
 *   make-seeds FOLDER [MODEL.tflite…]
 */
#include "hostile-models.h"
#include "tflite-rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *folder;
static unsigned written;

static void write_seed(const uint8_t *data, size_t size)
{
    char path[1024];
    FILE *file;

    snprintf(path, sizeof(path), "%s/seed-%03u", folder, written++);
    file = fopen(path, "wb");
    if (!file || fwrite(data, 1, size, file) != size || fclose(file) != 0) {
        perror(path);
        exit(1);
    }
}

static void write_model(const struct writer_model *model)
{
    size_t size;
    uint8_t *data = write_tflite(model, &size);

    write_seed(data, size);
    free(data);
}

/* One operator on [1,4,6,3]; `more` are the inputs after the picture. */
static void write_one(struct writer_op op, const struct writer_tensor *more, int count,
                      int height, int width, int channels)
{
    struct writer_model model = {
        .identifier = "TFL3", .version = 3, .subgraphs = 1, .tensor_count = 2 + count,
        .tensors = {{"in", 0, 4, {1, 4, 6, 3}}, {"out", 0, 4, {1, height, width, channels}}},
        .op_count = 1, .input_count = 1, .inputs = {0}, .output_count = 1, .outputs = {1}};

    op.version = 1;
    op.input_count = 1 + count;
    op.output_count = 1;
    op.outputs[0] = 1;
    for (int i = 0; i < count; i++) {
        model.tensors[2 + i] = more[i];
        op.inputs[1 + i] = 2 + i;
    }
    model.ops[0] = op;
    write_model(&model);
}

static void write_operators(void)
{
    static const int activations[] = {8,  14, 19, 21, 28,  47,  59,  66,
                                      73, 75, 98, 101, 104, 108, 111, 117};
    static const int binaries[] = {41, 42, 54, 55, 57, 78};
    static const float values[256] = {0.25f, -1.0f, 3.0f};
    static const int32_t shape[4] = {1, 8, 12, 2};
    const struct writer_tensor scalar = {"s", 0, 0, {0}, values, 4};
    const struct writer_tensor vector = {"v", 0, 1, {3}, values, 12};
    const struct writer_tensor filters[2] = {{"f", 0, 4, {1, 3, 3, 6}, values, 216},
                                             {"b", 0, 1, {6}, values, 24}};
    const struct writer_tensor bias[2] = {{"f", 0, 4, {2, 2, 2, 3}, values, 96},
                                          {"b", 0, 1, {2}, values, 8}};

    for (size_t i = 0; i < sizeof(activations) / sizeof(activations[0]); i++)
        write_one((struct writer_op){.code = activations[i]}, NULL, 0, 4, 6, 3);
    for (size_t i = 0; i < sizeof(binaries) / sizeof(binaries[0]); i++)
        write_one((struct writer_op){.code = binaries[i]}, &vector, 1, 4, 6, 3);
    write_one((struct writer_op){.code = 0, .options_type = 11, .options = {{0, 1, 1}}}, &scalar,
              1, 4, 6, 3);
    write_one((struct writer_op){.code = 18, .options_type = 21, .options = {{0, 1, 3}}}, &vector,
              1, 4, 6, 3);
    write_one((struct writer_op){.code = 1, .options_type = 5,
                                 .options = {{1, 4, 2}, {2, 4, 2}, {3, 4, 3}, {4, 4, 2}}},
              NULL, 0, 2, 3, 3);
    write_one((struct writer_op){.code = 1, .options_type = 5,
                                 .options = {{0, 1, 1}, {1, 4, 1}, {2, 4, 1}, {3, 4, 6},
                                             {4, 4, 4}}},
              NULL, 0, 1, 1, 3);
    write_one((struct writer_op){.code = 4, .options_type = 2,
                                 .options = {{1, 4, 2}, {2, 4, 2}, {3, 4, 2}, {4, 1, 3}}},
              filters, 2, 2, 3, 6);
    write_one((struct writer_op){.code = 32, .custom = "Convolution2DTransposeBias",
                                 .custom_options = "\1\0\0\0\2\0\0\0\2\0\0\0",
                                 .custom_size = 12},
              bias, 2, 8, 12, 2);
    {
        struct writer_model model = {
            .identifier = "TFL3", .version = 3, .subgraphs = 1, .tensor_count = 5,
            .tensors = {{"in", 0, 4, {1, 4, 6, 3}}, {"out", 0, 4, {1, 8, 12, 2}}, bias[0],
                        bias[1], {"n", 2, 1, {4}, shape, 16}},
            .op_count = 1,
            .ops = {{.code = 67, .version = 3, .input_count = 4, .inputs = {4, 2, 0, 3},
                     .output_count = 1, .outputs = {1}, .options_type = 49,
                     .options = {{1, 4, 2}, {2, 4, 2}}}},
            .input_count = 1, .inputs = {0}, .output_count = 1, .outputs = {1}};

        write_model(&model);
    }
}

/* Operators that move pixels, and the remaining pools and resizes. */
static void write_moves(void)
{
    static const int32_t border[8] = {0, 0, 1, 0, 2, 1, 0, 0}, size[2] = {8, 12};
    static const int32_t start[4] = {0, 1, 2, 0}, extent[4] = {1, 3, -1, 3};
    static const float values[72] = {0.5f, -2.0f};
    const struct writer_tensor pads[2] = {{"p", 2, 2, {4, 2}, border, 32},
                                          {"v", 0, 0, {0}, values, 4}};
    const struct writer_tensor sizes = {"n", 2, 1, {2}, size, 8};
    const struct writer_tensor same = {"c", 0, 4, {1, 4, 6, 3}, values, 288};
    const struct writer_tensor window[2] = {{"b", 2, 1, {4}, start, 16},
                                            {"e", 2, 1, {4}, extent, 16}};

    write_one((struct writer_op){.code = 17, .options_type = 5,
                                 .options = {{1, 4, 2}, {2, 4, 2}, {3, 4, 3}, {4, 4, 2}}},
              NULL, 0, 2, 3, 3);
    write_one((struct writer_op){.code = 2, .options_type = 10, .options = {{0, 4, -1}}}, &same, 1,
              4, 6, 6);
    write_one((struct writer_op){.code = 34, .options_type = 22}, pads, 1, 5, 9, 3);
    write_one((struct writer_op){.code = 60, .options_type = 43}, pads, 2, 5, 9, 3);
    write_one((struct writer_op){.code = 100, .options_type = 77}, pads, 1, 5, 9, 3);
    write_one((struct writer_op){.code = 26, .options_type = 19, .options = {{0, 4, 2}}}, NULL, 0,
              2, 3, 12);
    write_one((struct writer_op){.code = 5, .options_type = 94, .options = {{0, 4, 1}}}, NULL, 0,
              4, 6, 3);
    write_one((struct writer_op){.code = 97, .options_type = 74, .options = {{1, 1, 1}}}, &sizes,
              1, 8, 12, 3);
    write_one((struct writer_op){.code = 65, .options_type = 48}, window, 2, 3, 4, 3);
    write_one((struct writer_op){.code = 25, .options_type = 9, .options = {{0, 4, 0x3f800000}}},
              NULL, 0, 4, 6, 3);
}

/* Small files that ask for much work or memory. */
static void write_hostile(void)
{
    for (size_t i = 0; i < hostile_model_count; i++) {
        size_t size;
        uint8_t *data = hostile_models[i].write(12, &size);

        /* Large constants are slow to mutate. */
        if (size < 256 * 1024)
            write_seed(data, size);
        free(data);
    }
}

/* The whole file is slow to mutate, so pieces of its beginning too, and the
 * file with a word of its header changed. */
static void write_pieces(const char *path)
{
    uint8_t *data = malloc(1 << 20);
    FILE *file = fopen(path, "rb");
    const size_t size = file && data ? fread(data, 1, 1 << 20, file) : 0;

    if (size < 4096) {
        fprintf(stderr, "%s: cannot be read\n", path);
        exit(1);
    }
    fclose(file);
    write_seed(data, size);
    for (size_t piece = 64; piece < size; piece *= 4)
        write_seed(data, piece);
    for (size_t i = 0; i < 8; i++) {
        data[8 + 4 * i] ^= 0x40;
        write_seed(data, size);
        data[8 + 4 * i] ^= 0x40;
    }
    free(data);
}

int main(int argc, char **argv)
{
    const struct writer_model example = writer_example();

    if (argc < 2) {
        fprintf(stderr, "usage: make-seeds FOLDER [MODEL.tflite...]\n");
        return 2;
    }
    folder = argv[1];
    write_model(&example);
    write_operators();
    write_moves();
    for (size_t i = 0; i < tflite_row_count; i++) {
        const struct writer_model model = tflite_row_model(&tflite_rows[i]);

        write_model(&model);
    }
    write_hostile();
    for (int i = 2; i < argc; i++)
        write_pieces(argv[i]);
    printf("%u seeds\n", written);
    return 0;
}
