/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The ONNX fuzzer's first inputs, written to a folder: small models of each family of
 * operators, and copies of the files that are given.
 *
 *   make-onnx-seeds FOLDER [MODEL.onnx…]
 */
#include "onnx-writer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FLOAT = 1, UINT8 = 2, INT64 = 7, BOOL = 9 };

static const char *folder;
static unsigned written;

static void write_seed(const uint8_t *data, size_t size)
{
    char path[1024];
    FILE *file;

    snprintf(path, sizeof(path), "%s/seed-%04u", folder, written++);
    file = fopen(path, "wb");
    if (!file || fwrite(data, 1, size, file) != size || fclose(file) != 0) {
        perror(path);
        exit(1);
    }
}

/* One node that may read any of the values below; integers of an attribute in `name`. */
static const struct row {
    const char *type, *inputs, *outputs, *attribute, *text;
    int64_t list[8];
    int count; /* length of the list; 0: one integer, −1: none */
    int opset;
} rows[] = {
    {"Relu", "x", "y", .count = -1},
    {"Add", "x c", "y", .count = -1},
    {"Where", "flags x x", "y", .count = -1},
    {"Cast", "x", "y", "to", .list = {7}},
    {"Clip", "x one three", "y", .count = -1},
    {"Gemm", "m m", "y", "transB", .list = {1}},
    {"MatMul", "m m", "y", .count = -1},
    {"Conv", "x f c1", "y", "pads", .list = {1, 1, 1, 1}, .count = 4},
    {"ConvTranspose", "x f", "y", "strides", .list = {2, 2}, .count = 2},
    {"MaxPool", "x", "y", "kernel_shape", .list = {2, 2}, .count = 2},
    {"AveragePool", "x", "y", "kernel_shape", .list = {3, 3}, .count = 2},
    {"GlobalAveragePool", "x", "y", .count = -1},
    {"BatchNormalization", "x c1 c1 c1 c1", "y", .count = -1},
    {"InstanceNormalization", "x c1 c1", "y", .count = -1},
    {"LayerNormalization", "m c4", "y", .count = -1},
    {"Softmax", "x", "y", "axis", .list = {1}},
    {"ReduceMean", "x axes", "y", "keepdims", .list = {1}, .opset = 18},
    {"ArgMax", "x", "y", "axis", .list = {1}},
    {"CumSum", "x axis", "y", .count = -1},
    {"OneHot", "places depth values", "y", "axis", .list = {0}},
    {"Reshape", "x shape", "y", .count = -1},
    {"Expand", "m big", "y", .count = -1},
    {"Tile", "x sizes", "y", .count = -1},
    {"Pad", "x pads three", "y", "mode", "reflect"},
    {"Slice", "x axes ends axes", "y", .count = -1},
    {"Split", "x", "y z", "axis", .list = {2}},
    {"Concat", "x x", "y", "axis", .list = {1}},
    {"Transpose", "x", "y", "perm", .list = {0, 2, 3, 1}, .count = 4},
    {"DepthToSpace", "deep", "y", "blocksize", .list = {2}},
    {"Resize", "x - - sizes", "y", "mode", "cubic"},
    {"Resize", "x - scales", "y", "mode", "linear"},
    {"Upsample", "x scales", "y", "mode", "nearest", .opset = 9},
    {"Gather", "x places", "y", "axis", .list = {2}},
    {"GatherElements", "m tuples", "y", "axis", .list = {1}},
    {"GatherND", "m tuples", "y", .count = -1},
    {"ScatterND", "m tuples c1", "y", .count = -1},
    {"ScatterElements", "m tuples tuples2", "y", "axis", .list = {0}},
    {"Range", "r0 r9 r1", "y", .count = -1},
    {"ConstantOfShape", "shape", "y", .count = -1},
    {"Shape", "x", "y", .count = -1},
    {"EyeLike", "m", "y", .count = -1},
    {"Trilu", "m", "y", .count = -1},
    {"QuantizeLinear", "x three zero", "y", .count = -1},
    {"MatMulInteger", "bytes bytes", "y", .count = -1},
};

static void add_constants(struct onnx_bytes *g)
{
    static const float values[256] = {0.25f, -1, 3};
    static const int64_t four[] = {4}, two[] = {2}, m[] = {4, 4};

    onnx_initializer(g, "c", FLOAT, 3, (const int64_t[]){4, 1, 1}, values, 16);
    onnx_initializer(g, "c1", FLOAT, 1, four, values, 16);
    onnx_initializer(g, "c4", FLOAT, 1, four, values, 16);
    onnx_initializer(g, "f", FLOAT, 4, (const int64_t[]){4, 4, 3, 3}, values, 4 * 144);
    onnx_initializer(g, "one", FLOAT, 0, NULL, values, 4);
    onnx_initializer(g, "three", FLOAT, 0, NULL, values + 2, 4);
    onnx_initializer(g, "values", FLOAT, 1, two, values, 8);
    onnx_initializer(g, "tuples2", FLOAT, 2, (const int64_t[]){4, 2}, values, 32);
    onnx_initializer(g, "flags", BOOL, 1, four, "\1\0\1\0", 4);
    onnx_initializer(g, "bytes", UINT8, 2, m, values, 16);
    onnx_initializer(g, "zero", UINT8, 0, NULL, "\3", 1);
    onnx_initializer(g, "scales", FLOAT, 1, four, (const float[]){1, 1, 2, 1.5f}, 16);
    onnx_int64s(g, "shape", 2, (const int64_t[]){-1, 4});
    onnx_int64s(g, "big", 3, (const int64_t[]){3, 4, 4});
    onnx_int64s(g, "sizes", 4, (const int64_t[]){1, 4, 7, 5});
    onnx_int64s(g, "pads", 8, (const int64_t[]){0, 0, 1, 2, 0, 0, 2, 1});
    onnx_int64s(g, "axes", 2, (const int64_t[]){1, 2});
    onnx_int64s(g, "ends", 2, (const int64_t[]){3, -1});
    onnx_int64s(g, "places", 2, (const int64_t[]){2, 0});
    onnx_initializer(g, "tuples", INT64, 2, (const int64_t[]){4, 2},
                     (const int64_t[]){0, 1, 3, 2, 1, 1, 2, 0}, 64);
    onnx_initializer(g, "axis", INT64, 0, NULL, (const int64_t[]){2}, 8);
    onnx_initializer(g, "depth", INT64, 0, NULL, (const int64_t[]){5}, 8);
    onnx_initializer(g, "r0", INT64, 0, NULL, (const int64_t[]){0}, 8);
    onnx_initializer(g, "r1", INT64, 0, NULL, (const int64_t[]){2}, 8);
    onnx_initializer(g, "r9", INT64, 0, NULL, (const int64_t[]){9}, 8);
}

static void write_row(const struct row *row)
{
    struct onnx_bytes g = {0}, a = {0};
    size_t size;
    uint8_t *data;

    if (row->text)
        onnx_attr_text(&a, row->attribute, row->text);
    else if (row->count > 0)
        onnx_attr_ints(&a, row->attribute, row->list, (size_t)row->count);
    else if (row->count == 0)
        onnx_attr_int(&a, row->attribute, row->list[0]);
    add_constants(&g);
    onnx_input(&g, "x", FLOAT, 4, (const int64_t[]){1, 4, 6, 4});
    onnx_input(&g, "m", FLOAT, 2, (const int64_t[]){4, 4});
    onnx_input(&g, "deep", FLOAT, 4, (const int64_t[]){1, 8, 3, 3});
    onnx_node(&g, row->type, row->inputs, row->outputs, &a);
    onnx_output(&g, "y");
    data = onnx_model(&g, row->opset ? row->opset : 13, &size);
    write_seed(data, size);
    free(data);
}

/* A branch, and shapes that are computed. */
static void write_branch(void)
{
    struct onnx_bytes g = {0}, inner = {0}, a = {0};
    size_t size;
    uint8_t *data;

    add_constants(&g);
    onnx_node(&inner, "Relu", "x", "r", NULL);
    onnx_output(&inner, "r");
    onnx_attr_message(&a, "then_branch", 6, &inner);
    onnx_node(&inner, "Abs", "x", "n", NULL);
    onnx_output(&inner, "n");
    onnx_attr_message(&a, "else_branch", 6, &inner);
    onnx_node(&g, "Shape", "x", "s", NULL);
    onnx_node(&g, "Gather", "s depth0", "width", NULL);
    onnx_node(&g, "Equal", "width r9", "is", NULL);
    onnx_node(&g, "If", "is", "y", &a);
    onnx_initializer(&g, "depth0", INT64, 0, NULL, (const int64_t[]){3}, 8);
    onnx_input(&g, "x", FLOAT, 4, (const int64_t[]){-1, 4, -2, 4});
    onnx_output(&g, "y");
    data = onnx_model(&g, 17, &size);
    write_seed(data, size);
    free(data);
}

static void copy_file(const char *path)
{
    uint8_t data[65536];
    FILE *file = fopen(path, "rb");
    size_t size;

    if (!file) {
        perror(path);
        exit(1);
    }
    size = fread(data, 1, sizeof(data), file);
    fclose(file);
    write_seed(data, size);
}

int main(int argc, char **argv)
{
    size_t size;
    uint8_t *data;

    if (argc < 2) {
        fprintf(stderr, "usage: make-onnx-seeds FOLDER [MODEL.onnx...]\n");
        return 2;
    }
    folder = argv[1];
    data = onnx_example(&size);
    write_seed(data, size);
    free(data);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        write_row(&rows[i]);
    write_branch();
    for (int i = 2; i < argc; i++)
        copy_file(argv[i]);
    return 0;
}
