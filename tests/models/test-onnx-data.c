/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Constants of ONNX files: the same numbers in every type and every list, in files
 * beside the model, and filters that are turned where they lie. Looks at the graph
 * that the reader makes, so it takes the engine with its inner interfaces.
 */
#include "file-order.h"
#include "onnx-writer.h"

#include <tdl/models.h>

#include <compile/passes.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct onnx_bytes bytes;
enum { FLOAT = 1, UINT8, INT8, UINT16, INT16, INT32, INT64, BOOL = 9, FLOAT16, DOUBLE, UINT32,
       UINT64, BFLOAT16 = 16 };

static char folder[] = "/tmp/tdl-onnx-XXXXXX";
static int failures;

#define FAIL(...)                                                                                  \
    do {                                                                                           \
        printf("FAIL ");                                                                           \
        printf(__VA_ARGS__);                                                                       \
        printf("\n");                                                                              \
        failures++;                                                                                \
    } while (0)

static const char *path_of(const char *name)
{
    static char path[256];

    snprintf(path, sizeof(path), "%s/%s", folder, name);
    return path;
}

static void write_file(const char *name, const void *data, size_t size)
{
    FILE *file = fopen(path_of(name), "wb");

    if (!file || fwrite(data, 1, size, file) != size || fclose(file) != 0)
        abort();
}

/* The builder of a graph that was loaded from a file. */
static struct tdl_builder *load(bytes *graph, enum tdl_result expected, const char *text)
{
    struct tdl_builder *builder = NULL;
    size_t size;
    uint8_t *data = onnx_model(graph, 13, &size);

    write_file("model.onnx", data, size);
    free(data);
    if (tdl_builder_create(NULL, &builder) != TDL_OK)
        abort();
    if (tdl_model_load(builder, path_of("model.onnx"), NULL) != expected ||
        !strstr(tdl_builder_error(builder), text))
        FAIL("%d \"%s\", expected %d \"%s\"", tdl_builder_status(builder),
             tdl_builder_error(builder), expected, text);
    return builder;
}

/* The operand that the last node of a kind reads in a slot. */
static const struct tdl_operand *read_by(struct tdl_builder *builder, const char *op, uint32_t slot)
{
    const struct tdl_ir *ir = tdl_builder_ir(builder);

    for (uint32_t i = ir->node_count; i-- > 0;)
        if (!strcmp(ir->nodes[i]->op->name, op))
            return ir->nodes[i]->inputs[slot];
    return NULL;
}

/* ------------------------------------------------------------------------ types */

static const struct type {
    const char *name;
    int type;
    size_t size;
    uint64_t bits[3]; /* bits of 1, 0 and 3 */
    uint32_t list;    /* the field for its numbers */
} types[] = {
    {"float", FLOAT, 4, {0x3f800000, 0, 0x40400000}, 4},
    {"uint8", UINT8, 1, {1, 0, 3}, 5},
    {"int8", INT8, 1, {1, 0, 3}, 5},
    {"uint16", UINT16, 2, {1, 0, 3}, 5},
    {"int16", INT16, 2, {1, 0, 3}, 5},
    {"int32", INT32, 4, {1, 0, 3}, 5},
    {"int64", INT64, 8, {1, 0, 3}, 7},
    {"float16", FLOAT16, 2, {0x3c00, 0, 0x4200}, 5},
    {"double", DOUBLE, 8, {0x3ff0000000000000, 0, 0x4008000000000000}, 10},
    {"uint32", UINT32, 4, {1, 0, 3}, 11},
    {"uint64", UINT64, 8, {1, 0, 3}, 11},
    {"bfloat16", BFLOAT16, 2, {0x3f80, 0, 0x4040}, 5},
};
#define TYPES (sizeof(types) / sizeof(types[0]))

static size_t raw_bytes(const struct type *t, uint8_t *out)
{
    for (size_t i = 0; i < 3; i++)
        for (size_t b = 0; b < t->size; b++)
            out[i * t->size + b] = (uint8_t)(t->bits[i] >> 8 * b);
    return 3 * t->size;
}

static void expect_numbers(bytes *g, const char *what)
{
    static const float expected[] = {1, 0, 3};
    bytes a = {0};
    struct tdl_builder *builder;
    const struct tdl_operand *o;

    onnx_attr_int(&a, "to", FLOAT);
    onnx_node(g, "Cast", "c", "f", &a);
    onnx_node(g, "Add", "x f", "y", NULL);
    onnx_input(g, "x", FLOAT, 1, (const int64_t[]){3});
    onnx_output(g, "y");
    builder = load(g, TDL_OK, "");
    o = read_by(builder, "add", 1);
    if (!o || !o->data || o->desc.dtype != TDL_FLOAT32 || memcmp(o->data, expected, 12) != 0)
        FAIL("%s: other numbers", what);
    tdl_builder_destroy(&builder);
}

static void put_list(bytes *t, const struct type *type, bool packed)
{
    bytes list = {0};

    for (size_t i = 0; i < 3; i++) {
        if (type->list == 5 || type->list == 7 || type->list == 11)
            onnx_put_varint(&list, type->bits[i]);
        if (!packed && list.size)
            onnx_put_int(t, type->list, (int64_t)type->bits[i]);
    }
    if (packed && list.size)
        onnx_put_bytes(t, type->list, list.data, list.size);
    if (!list.size) {
        uint8_t raw[24];

        onnx_put_bytes(t, type->list, raw, raw_bytes(type, raw));
    }
    free(list.data);
}

static void test_type(const struct type *type)
{
    uint8_t raw[24], numbers[24];
    const size_t size = raw_bytes(type, raw);
    bytes g = {0}, t = {0};

    to_file_order(numbers, raw, size, type->size); /* and back */
    onnx_initializer(&g, "c", type->type, 1, (const int64_t[]){3}, numbers, size);
    expect_numbers(&g, type->name);
    for (int packed = 0; packed < 2; packed++) {
        onnx_tensor_message(&t, "c", type->type, 1, (const int64_t[]){3}, NULL, 0);
        put_list(&t, type, packed);
        onnx_put_message(&g, 5, &t);
        expect_numbers(&g, type->name);
    }
}

/* ------------------------------------------------------------------- other files */

static void put_entry(bytes *t, const char *key, const char *value)
{
    bytes e = {0};

    onnx_put_text(&e, 1, key);
    onnx_put_text(&e, 2, value);
    onnx_put_message(t, 13, &e);
}

static void put_external(bytes *g, const char *name, const char *location, const char *offset,
                         const char *length)
{
    bytes t = {0};

    onnx_tensor_message(&t, name, FLOAT, 1, (const int64_t[]){3}, NULL, 0);
    put_entry(&t, "location", location);
    if (offset)
        put_entry(&t, "offset", offset);
    if (length)
        put_entry(&t, "length", length);
    onnx_put_int(&t, 14, 1);
    onnx_put_message(g, 5, &t);
}

static const struct external {
    const char *location, *offset, *length;
    enum tdl_result result;
    const char *text;
} externals[] = {
    {"weights.bin", "8", "12", TDL_OK, ""},
    {"./weights.bin", "8", NULL, TDL_OK, ""},
    {"missing.bin", NULL, NULL, TDL_ERROR_IO, "missing.bin': No such file"},
    {"../weights.bin", "8", "12", TDL_ERROR_INVALID_MODEL, "put both into one folder"},
    {"/etc/passwd", NULL, NULL, TDL_ERROR_INVALID_MODEL, "put both into one folder"},
    {"..", NULL, NULL, TDL_ERROR_INVALID_MODEL, "put both into one folder"},
    {"", NULL, NULL, TDL_ERROR_INVALID_MODEL, "put both into one folder"},
    {"weights.bin", "12", "12", TDL_ERROR_INVALID_MODEL,
     "'c' lies at 12 with 12 bytes in a file of 20"},
    {"weights.bin", "24", NULL, TDL_ERROR_INVALID_MODEL, "'c' lies at 24"},
    {"weights.bin", "-8", NULL, TDL_ERROR_INVALID_MODEL, "'c' lies at"},
    {"weights.bin", "18446744073709551615", "2", TDL_ERROR_INVALID_MODEL, "'c' lies at"},
    {"weights.bin", "8", "18446744073709551615", TDL_ERROR_INVALID_MODEL, "'c' lies at"},
    {"weights.bin", "0", "16", TDL_ERROR_INVALID_MODEL, "'c' has 16 bytes instead of 12"},
};

static void test_external(const struct external *e)
{
    static const float data[] = {7, 7, 1, 0, 3};
    uint8_t file[sizeof(data)];
    bytes g = {0};
    struct tdl_builder *builder;

    to_file_order(file, data, sizeof(data), sizeof(*data));
    write_file("weights.bin", file, sizeof(file));
    put_external(&g, "c", e->location, e->offset, e->length);
    if (e->result == TDL_OK) {
        expect_numbers(&g, e->location);
        return;
    }
    onnx_node(&g, "Relu", "c", "y", NULL);
    onnx_output(&g, "y");
    builder = load(&g, e->result, e->text);
    tdl_builder_destroy(&builder);
}

/* As memory, a model has no folder; but what nobody reads is not looked for. */
static void test_external_memory(void)
{
    for (int read = 0; read < 2; read++) {
        struct tdl_builder *builder = NULL;
        bytes g = {0};
        size_t size;
        uint8_t *data;

        put_external(&g, "c", "weights.bin", NULL, NULL);
        onnx_input(&g, "x", FLOAT, 1, (const int64_t[]){3});
        onnx_node(&g, "Add", read ? "x c" : "x x", "y", NULL);
        onnx_output(&g, "y");
        data = onnx_model(&g, 13, &size);
        if (tdl_builder_create(NULL, &builder) != TDL_OK)
            abort();
        if (tdl_model_import(builder, data, size, NULL) !=
                (read ? TDL_ERROR_UNSUPPORTED : TDL_OK) ||
            (read && !strstr(tdl_builder_error(builder), "load it by its path")))
            FAIL("external data of memory: \"%s\"", tdl_builder_error(builder));
        tdl_builder_destroy(&builder);
        free(data);
    }
}

/* ----------------------------------------------------------------------- filters */

enum { OUT = 5, IN = 3, H = 3, W = 2 };

/* Filter element (o, i, y, x) has a number of its own. */
static float number_of(int o, int i, int y, int x)
{
    return (float)(((o * IN + i) * H + y) * W + x);
}

static void put_filter(bytes *g, bool half, bool flat)
{
    float wide[OUT * IN * H * W];
    uint16_t narrow[OUT * IN * H * W];

    for (int k = 0; k < OUT * IN * H * W; k++) {
        const int exponent = k < 2 ? 0 : 31 - __builtin_clz((unsigned)k);

        wide[k] = (float)k;
        narrow[k] = k == 0 ? 0
                           : (uint16_t)((exponent + 15) << 10 |
                                        ((k << (10 - exponent)) & 0x3ff)); /* exact */
    }
    onnx_initializer(g, "f", half ? FLOAT16 : FLOAT, flat ? 3 : 4,
                     flat ? (const int64_t[]){OUT, IN, H * W} : (const int64_t[]){OUT, IN, H, W},
                     half ? (void *)narrow : wide, half ? sizeof(narrow) : sizeof(wide));
}

static void check_filter(struct tdl_builder *builder, bool flat, const char *what)
{
    const struct tdl_operand *f = read_by(builder, "conv2d", 1);
    const float *data =
        f ? tdl_builder_evaluate(builder, (struct tdl_operand *)(uintptr_t)f) : NULL;

    if (!data) {
        FAIL("%s: no filter", what);
        return;
    }
    for (int k = 0; k < OUT * H * W * IN; k++) {
        const int o = k / (H * W * IN), y = k / (W * IN) % H, x = k / IN % W, i = k % IN;

        if (data[k] != number_of(o, i, y, x)) {
            FAIL("%s: element %d of the filter is %g", what, k, (double)data[k]);
            return;
        }
    }
    if (f->desc.shape[1] != (flat ? 1 : H))
        FAIL("%s: the filter is %u high", what, f->desc.shape[1]);
}

/* Others that read the filter: a branch, which is looked into later, and the graph's
 * outputs. They see it as the file has it. */
static void add_reader(bytes *g, const char *reader)
{
    bytes a = {0}, inner = {0};

    if (!strcmp(reader, "branch")) {
        onnx_node(&inner, "Relu", "f", "r", NULL);
        onnx_output(&inner, "r");
        onnx_attr_message(&a, "then_branch", 6, &inner);
        onnx_initializer(g, "true", BOOL, 0, NULL, "\1", 1);
        onnx_node(g, "If", "true", "z", &a);
        onnx_output(g, "z");
    } else if (!strcmp(reader, "node")) {
        onnx_node(g, "Relu", "f", "z", NULL);
        onnx_output(g, "z");
    } else if (!strcmp(reader, "output")) {
        onnx_output(g, "f");
    }
}

static void check_reader(struct tdl_builder *builder, const char *what)
{
    const struct tdl_ir *ir = tdl_builder_ir(builder);
    const struct tdl_operand *z = ir->output_count > 1 ? ir->outputs[1] : NULL;
    const float *data;

    while (z && !z->data && z->producer)
        z = z->producer->inputs[0];
    data = z ? z->data : NULL;
    for (int k = 0; k < OUT * IN * H * W && data && z->desc.dtype == TDL_FLOAT32; k++)
        if (data[k] != (float)k) {
            FAIL("%s: element %d is %g to its other reader", what, k, (double)data[k]);
            return;
        }
    if (!data)
        FAIL("%s: nothing for its other reader", what);
}

static void test_filter(bool half, bool flat, const char *reader)
{
    char what[64];
    bytes g = {0};
    struct tdl_builder *builder;

    snprintf(what, sizeof(what), "filter of %s%s, %s", half ? "halves" : "floats",
             flat ? ", one dimension" : "", reader);
    put_filter(&g, half, flat);
    onnx_input(&g, "x", FLOAT, flat ? 3 : 4,
               flat ? (const int64_t[]){1, IN, 40} : (const int64_t[]){1, IN, 8, 8});
    onnx_node(&g, "Conv", "x f", "y", NULL);
    onnx_output(&g, "y");
    add_reader(&g, reader);
    builder = load(&g, TDL_OK, "");
    check_filter(builder, flat, what);
    if (*reader)
        check_reader(builder, what);
    tdl_builder_destroy(&builder);
}

/* The first dimension is the input's there, so that [OUT, IN] is [in, out]. */
static void test_transposed_filter(bool half)
{
    bytes g = {0};
    struct tdl_builder *builder;

    put_filter(&g, half, false);
    onnx_input(&g, "x", FLOAT, 4, (const int64_t[]){1, OUT, 8, 8});
    onnx_node(&g, "ConvTranspose", "x f", "y", NULL);
    onnx_output(&g, "y");
    builder = load(&g, TDL_OK, "");
    const struct tdl_operand *f = read_by(builder, "convTranspose2d", 1);
    const float *data =
        f ? tdl_builder_evaluate(builder, (struct tdl_operand *)(uintptr_t)f) : NULL;
    for (int k = 0; k < OUT * H * W * IN && data; k++) {
        const int o = k / (H * W * OUT), y = k / (W * OUT) % H, x = k / OUT % W, i = k % OUT;

        if (data[k] != number_of(i, o, y, x)) {
            FAIL("transposed: element %d is %g", k, (double)data[k]);
            break;
        }
    }
    if (!data)
        FAIL("transposed: no filter");
    tdl_builder_destroy(&builder);
}

/* Scales and zero points of their own for rows, or for columns, of a constant. */
static void test_scales(int64_t axis)
{
    static const float scales[] = {2, 4, 8};
    static const uint8_t zeros[] = {1, 0, 2}, numbers[] = {1, 2, 3, 4, 5, 6};
    const int64_t count = axis ? 3 : 2;
    bytes g = {0}, a = {0};
    struct tdl_builder *builder;

    onnx_initializer(&g, "q", UINT8, 2, (const int64_t[]){2, 3}, numbers, sizeof(numbers));
    onnx_initializer(&g, "s", FLOAT, 1, &count, scales, 4 * (size_t)count);
    onnx_initializer(&g, "z", UINT8, 1, &count, zeros, (size_t)count);
    onnx_input(&g, "x", FLOAT, 2, (const int64_t[]){2, 3});
    onnx_attr_int(&a, "axis", axis);
    onnx_node(&g, "DequantizeLinear", "q s z", "f", &a);
    onnx_node(&g, "Add", "x f", "y", NULL);
    onnx_output(&g, "y");
    builder = load(&g, TDL_OK, "");
    const struct tdl_operand *o = read_by(builder, "add", 1);
    const float *data = o ? o->data : NULL;
    for (int i = 0; i < 6 && data; i++) {
        const int k = axis ? i % 3 : i / 3;

        if (data[i] != (float)(numbers[i] - zeros[k]) * scales[k])
            FAIL("scales along %d: element %d is %g", (int)axis, i, (double)data[i]);
    }
    if (!data)
        FAIL("scales along %d: not known", (int)axis);
    tdl_builder_destroy(&builder);
}

/* Filters of so many numbers are floats only when their convolution is made ready. */
static void test_small_weights(void)
{
    enum { CHANNELS = 40, INPUTS = 20, TAPS = 9, NUMBERS = CHANNELS * INPUTS * TAPS };
    static int8_t numbers[NUMBERS];
    static float scales[CHANNELS], floats[NUMBERS];
    const int64_t channels = CHANNELS;
    bytes g = {0}, a = {0};
    struct tdl_builder *builder;

    for (int i = 0; i < NUMBERS; i++)
        numbers[i] = (int8_t)(i * 7 % 251 - 125);
    for (int i = 0; i < CHANNELS; i++)
        scales[i] = (float)(i + 1);
    onnx_initializer(&g, "q", INT8, 4, (const int64_t[]){CHANNELS, INPUTS, 3, 3}, numbers,
                     sizeof(numbers));
    onnx_initializer(&g, "s", FLOAT, 1, &channels, scales, sizeof(scales));
    onnx_input(&g, "x", FLOAT, 4, (const int64_t[]){1, INPUTS, 8, 8});
    onnx_attr_int(&a, "axis", 0);
    onnx_node(&g, "DequantizeLinear", "q s", "f", &a);
    onnx_node(&g, "Conv", "x f", "y", NULL);
    onnx_output(&g, "y");
    builder = load(&g, TDL_OK, "");
    const struct tdl_operand *o = read_by(builder, "conv2d", 1);
    if (!o || !o->compact || o->data || o->compact->dtype != TDL_INT8)
        FAIL("weights of 8 bits: not kept");
    else
        tdl_compact_expand(o->compact, floats);
    for (int i = 0; i < NUMBERS; i++) { /* channel, tap, input */
        const int c = i / (INPUTS * TAPS), k = i % INPUTS * TAPS + i / INPUTS % TAPS;

        if (floats[i] != numbers[c * INPUTS * TAPS + k] * scales[c]) {
            FAIL("weights of 8 bits: element %d is %g", i, (double)floats[i]);
            break;
        }
    }
    tdl_builder_destroy(&builder);
}

/* Expected result of a transposed convolution, computed by references. */
static void run_transposed(bytes *g, float *out, size_t count)
{
    static float input[40 * 3 * 3];
    struct tdl_builder *builder;

    for (int i = 0; i < 40 * 3 * 3; i++)
        input[i] = (float)(i % 17 - 8);
    onnx_input(g, "x", FLOAT, 4, (const int64_t[]){1, 40, 3, 3});
    onnx_node(g, "ConvTranspose", "x f", "y", NULL);
    onnx_output(g, "y");
    builder = load(g, TDL_OK, "");
    const struct tdl_ir *ir = tdl_builder_ir(builder);
    void **values = calloc(ir->operand_count + 1, sizeof(*values));
    if (!values || !ir->output_count ||
        tdl_ir_run_reference(ir, (const void *const[]){input}, values) != TDL_OK)
        FAIL("transposed by 8 bits: %s", tdl_last_error());
    else
        memcpy(out, values[ir->outputs[0]->id], count * sizeof(*out));
    for (uint32_t i = 0; values && i < ir->operand_count; i++)
        free(values[i]);
    free(values);
    tdl_builder_destroy(&builder);
}

static void test_small_transposed(void)
{
    enum { INS = 40, OUTS = 20, NUMBERS = INS * OUTS * 9, RESULTS = OUTS * 5 * 5 };
    static const int64_t shape[] = {INS, OUTS, 3, 3};
    static int8_t numbers[NUMBERS];
    static float floats[NUMBERS], results[2][RESULTS];
    const float scale = 0.25f;
    bytes g = {0};

    for (int i = 0; i < NUMBERS; i++) {
        numbers[i] = (int8_t)(i * 7 % 251 - 125);
        floats[i] = numbers[i] * scale;
    }
    onnx_initializer(&g, "f", FLOAT, 4, shape, floats, sizeof(floats));
    run_transposed(&g, results[0], RESULTS);
    onnx_initializer(&g, "q", INT8, 4, shape, numbers, sizeof(numbers));
    onnx_initializer(&g, "s", FLOAT, 0, NULL, &scale, sizeof(scale));
    onnx_node(&g, "DequantizeLinear", "q s", "f", NULL);
    run_transposed(&g, results[1], RESULTS);
    if (memcmp(results[0], results[1], sizeof(results[0])) != 0)
        FAIL("transposed by 8 bits: other results than by floats");
}

/* ---------------------------------------------------------------------- layouts */

/* [1, h, w, channels] to a convolution; the transposition that a file with the channels
 * last begins with is none to the engine. */
static void expect_layout(int64_t h, int64_t w, int64_t channels)
{
    static const float filter[8 * 4];
    bytes g = {0}, a = {0};
    struct tdl_builder *builder;

    onnx_input(&g, "x", FLOAT, 4, (const int64_t[]){1, h, w, channels});
    onnx_attr_ints(&a, "perm", (const int64_t[]){0, 3, 1, 2}, 4);
    onnx_node(&g, "Transpose", "x", "t", &a);
    onnx_initializer(&g, "f", FLOAT, 4, (const int64_t[]){4, channels, 1, 1}, filter,
                     16 * (size_t)channels);
    onnx_node(&g, "Conv", "t f", "c", NULL);
    onnx_attr_ints(&a, "perm", (const int64_t[]){0, 2, 3, 1}, 4);
    onnx_node(&g, "Transpose", "c", "y", &a);
    onnx_output(&g, "y");
    builder = load(&g, TDL_OK, "");
    const struct tdl_ir *ir = tdl_builder_ir(builder);
    if (tdl_operand_get_layout(ir->inputs[0]) != TDL_LAYOUT_NHWC)
        FAIL("[1,%d,%d,%d]: the input is not NHWC", (int)h, (int)w, (int)channels);
    if (tdl_operand_get_layout(ir->outputs[0]) != TDL_LAYOUT_NHWC)
        FAIL("the output is not NHWC");
    struct tdl_ir *copy = tdl_ir_clone(ir);
    const struct tdl_build_params params = {0};
    if (!copy || tdl_pass_fold(copy) != TDL_OK || tdl_pass_labels(copy) != TDL_OK ||
        tdl_pass_fuse(copy, false) != TDL_OK ||
        tdl_pass_layout(copy, &params, TDL_FLOAT32) != TDL_OK)
        FAIL("passes: %s", tdl_last_error());
    for (uint32_t i = 0; copy && i < copy->node_count; i++)
        if (!strcmp(copy->nodes[i]->op->name, "transpose") &&
            copy->nodes[i]->storage != TDL_STORAGE_PACKED) /* there it is another name */
            FAIL("[1,%d,%d,%d]: %s moves elements", (int)h, (int)w, (int)channels,
                 copy->nodes[i]->label);
    tdl_ir_destroy(&copy);
    tdl_builder_destroy(&builder);
}

/* ------------------------------------------------------------------------ names */

/* As long as converters make them, in any language, and only their ends differ; no file's
 * names reach a terminal with what that would obey. */
static void test_names(void)
{
#define LONG "StatefulPartitionedCall/model/feature_pyramid_network/box_predictor/stage/"
    static const char x[] = "serving_default_" LONG "in:0", scores[] = LONG "gr\303\266\303\237e:0",
                      boxes[] = LONG "k\303\244sten\033[2J:0", seen[] = LONG "k\303\244sten?[2J:0";
    const struct tdl_model_dimension open = {.name = "serving_default_" LONG "in:0:0", .size = 5};
    const struct tdl_model_params params = {.dimensions = &open, .dimension_count = 1};
    struct tdl_builder *builder = NULL;
    bytes g = {0};
    size_t size;

    onnx_node(&g, "Relu", x, scores, NULL);
    onnx_node(&g, "Exp", x, boxes, NULL);
    onnx_input(&g, x, FLOAT, 1, (const int64_t[]){-1});
    onnx_output(&g, scores);
    onnx_output(&g, boxes);
    uint8_t *file = onnx_model(&g, 13, &size);
    if (tdl_builder_create(NULL, &builder) != TDL_OK)
        abort();
    if (tdl_model_import(builder, file, size, &params) != TDL_OK) {
        FAIL("long names: %s", tdl_builder_error(builder));
    } else {
        const struct tdl_ir *ir = tdl_builder_ir(builder);

        if (strcmp(ir->inputs[0]->name, x) != 0 || strcmp(ir->outputs[0]->name, scores) != 0 ||
            strcmp(ir->outputs[1]->name, seen) != 0)
            FAIL("names: \"%s\", \"%s\", \"%s\"", ir->inputs[0]->name, ir->outputs[0]->name,
                 ir->outputs[1]->name);
        if (ir->inputs[0]->desc.shape[0] != 5)
            FAIL("a dimension of an input with a long name was not bound");
    }
    tdl_builder_destroy(&builder);
    free(file);
}

/* A megabyte is no name; to refuse it costs little. */
static void test_endless_name(void)
{
    enum { ENDLESS = 1 << 20 };
    char *x = malloc(ENDLESS + 1);
    bytes g = {0};
    struct tdl_builder *builder;

    memset(x, 'x', ENDLESS);
    x[ENDLESS] = 0;
    onnx_node(&g, "Relu", x, "y", NULL);
    onnx_input(&g, x, FLOAT, 1, (const int64_t[]){3});
    onnx_output(&g, "y");
    builder = load(&g, TDL_ERROR_INVALID_ARGUMENT, "a name of 1 to 4095 bytes");
    tdl_builder_destroy(&builder);
    free(x);
}

int main(void)
{
    static const char *const readers[] = {"", "branch", "node", "output"};

    setvbuf(stdout, NULL, _IOLBF, 0);
    if (!mkdtemp(folder))
        abort();
    for (size_t i = 0; i < TYPES; i++)
        test_type(&types[i]);
    for (size_t i = 0; i < sizeof(externals) / sizeof(externals[0]); i++)
        test_external(&externals[i]);
    test_external_memory();
    for (size_t i = 0; i < 16; i++)
        test_filter(i & 1, i & 2, readers[i >> 2]);
    test_transposed_filter(false);
    test_transposed_filter(true);
    test_scales(0);
    test_scales(1);
    test_small_weights();
    test_small_transposed();
    test_names();
    test_endless_name();
    expect_layout(16, 24, 3);
    expect_layout(64, 64, 1);
    expect_layout(16, 16, 4);
    expect_layout(15, 64, 3);
    expect_layout(16, 16, 2);
    unlink(path_of("model.onnx"));
    unlink(path_of("weights.bin"));
    rmdir(folder);
    printf("%d failures\n", failures);
    return failures ? 1 : 0;
}
