/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Errors of the ONNX reader: a table of small models, each with the result and a part of the text.
 * One model is cut short at every byte and has bytes changed, which may only fail with a text. Odd
 * but valid models have rows without a text.
 */
#include "onnx-writer.h"

#include <tdl/models.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FLOATS(...) ((const float[]){__VA_ARGS__})
#define DIMS(...) ((const int64_t[]){__VA_ARGS__})
#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
enum { FLOAT = 1, UINT8 = 2, INT32 = 6, INT64 = 7, STRING = 8, BOOL = 9 };

typedef struct onnx_bytes bytes;

struct row {
    const char *name;
    void (*write)(bytes *graph);
    enum tdl_result result;
    const char *text; /* part of the error */
    const struct tdl_model_params *params;
    int64_t opset; /* 0: 17 */
};

static int failures;

#define FAIL(...)                                                                                  \
    do {                                                                                           \
        printf("FAIL ");                                                                           \
        printf(__VA_ARGS__);                                                                       \
        printf("\n");                                                                              \
        failures++;                                                                                \
    } while (0)

/* -------------------------------------------------------------------- pieces */

/* x, [1,3,4,4], to y. */
static void ends(bytes *g)
{
    onnx_input(g, "x", FLOAT, 4, DIMS(1, 3, 4, 4));
    onnx_output(g, "y");
}

static void with_node(bytes *g, const char *type, const char *inputs, bytes *attributes)
{
    ends(g);
    onnx_node(g, type, inputs, "y", attributes);
}

/* x and a constant of three numbers that is said to have these dimensions. */
static void with_constant(bytes *g, int type, size_t rank, const int64_t *dims, size_t size)
{
    static const float data[16];

    onnx_initializer(g, "c", type, rank, dims, data, size);
    with_node(g, "Add", "x c", NULL);
}

/* ---------------------------------------------------------------------- names */

static void unknown_operator(bytes *g)
{
    onnx_node(g, "Relu", "x", "r", NULL);
    bytes a = {0};
    onnx_put_text(&a, 3, "last one");
    with_node(g, "Frobnicate", "r", &a);
}

static void list_of_tensors(bytes *g)
{
    with_node(g, "SequenceMap", "x x", NULL);
}

static void random_numbers(bytes *g)
{
    with_node(g, "Multinomial", "x", NULL);
}

static void of_domain(bytes *g, const char *domain)
{
    bytes a = {0};

    onnx_put_text(&a, 7, domain);
    with_node(g, "Op", "x", &a);
}

static void aten(bytes *g)
{
    of_domain(g, "org.pytorch.aten");
}

static void extensions(bytes *g)
{
    of_domain(g, "com.microsoft.extensions");
}

static void strange_operator(bytes *g)
{
    with_node(g, "evil\x1b[2J\xff", "x", NULL);
}

static void unknown_domain(bytes *g)
{
    bytes a = {0};

    onnx_put_text(&a, 7, "com.microsoft");
    with_node(g, "MoE", "x", &a);
}

static void for_a_processor(bytes *g)
{
    bytes a = {0};

    onnx_put_text(&a, 7, "com.microsoft.nchwc");
    with_node(g, "Conv", "x", &a);
}

/* Weights that their sizes do not fit. */
static void few_bits(bytes *g)
{
    static const int64_t dims[] = {1, 2, 8};
    bytes a = {0};

    onnx_initializer(g, "w", 2, 3, dims, "0123456789abcde", 16);
    onnx_initializer(g, "s", 1, 1, (const int64_t[]){2}, (const float[]){1, 1}, 8);
    onnx_put_text(&a, 7, "com.microsoft");
    onnx_attr_int(&a, "N", 2);
    onnx_attr_int(&a, "K", 32);
    onnx_attr_int(&a, "bits", 4);
    onnx_attr_int(&a, "block_size", 16);
    with_node(g, "MatMulNBits", "x w s", &a);
}

static void strange_activation(bytes *g)
{
    bytes a = {0};

    onnx_put_text(&a, 7, "com.microsoft");
    onnx_attr_text(&a, "activation", "Sine");
    with_node(g, "FusedMatMul", "x x", &a);
}

static void known_domain(bytes *g)
{
    bytes a = {0};

    onnx_put_text(&a, 7, "ai.onnx");
    with_node(g, "Relu", "x", &a);
}

static void relu(bytes *g)
{
    with_node(g, "Relu", "x", NULL);
}

static void two_names(bytes *g)
{
    onnx_node(g, "Relu", "x", "y", NULL);
    with_node(g, "Relu", "x", NULL);
}

static void two_constants(bytes *g)
{
    onnx_int64s(g, "c", 1, DIMS(1));
    onnx_int64s(g, "c", 1, DIMS(1));
    relu(g);
}

static void input_overwritten(bytes *g)
{
    onnx_node(g, "Relu", "y", "x", NULL);
    ends(g);
}

static void cycle(bytes *g)
{
    onnx_node(g, "Add", "x c", "a", NULL);
    onnx_node(g, "Relu", "a", "b", NULL);
    onnx_node(g, "Relu", "b", "c", NULL);
    with_node(g, "Relu", "c", NULL);
}

static void own_output(bytes *g)
{
    with_node(g, "Relu", "y", NULL);
}

static void unknown_name(bytes *g)
{
    with_node(g, "Add", "x nobody", NULL);
}

static void left_out(bytes *g)
{
    with_node(g, "Add", "x -", NULL);
}

static void too_few_inputs(bytes *g)
{
    with_node(g, "Add", "x", NULL);
}

static void no_outputs(bytes *g)
{
    onnx_node(g, "Relu", "x", "y", NULL);
    onnx_input(g, "x", FLOAT, 1, DIMS(4));
}

static void node_without_output(bytes *g)
{
    relu(g);
    onnx_node(g, "Relu", "x", "", NULL);
}

static void output_not_written(bytes *g)
{
    ends(g);
}

static void more_outputs(bytes *g)
{
    ends(g);
    onnx_node(g, "Relu", "x", "y z", NULL);
}

static void unsorted(bytes *g)
{
    with_node(g, "Relu", "b", NULL);
    onnx_node(g, "Relu", "a", "b", NULL);
    onnx_node(g, "Relu", "x", "a", NULL);
}

static void unused(bytes *g)
{
    relu(g);
    onnx_input(g, "nobody_wants", FLOAT, 4, DIMS(1, 3, 4, 4));
    onnx_initializer(g, "nor_this", STRING, 1, DIMS(4), NULL, 0);
}

static void listed_constant(bytes *g)
{
    with_constant(g, FLOAT, 3, DIMS(3, 1, 1), 12);
    onnx_input(g, "c", FLOAT, 3, DIMS(3, 1, 1));
}

/* ----------------------------------------------------------------- attributes */

static void conv_with(bytes *g, bytes *attributes)
{
    static const float filter[2 * 3 * 3 * 3];

    onnx_initializer(g, "f", FLOAT, 4, DIMS(2, 3, 3, 3), filter, sizeof(filter));
    with_node(g, "Conv", "x f", attributes);
}

static void strides_as_int(bytes *g)
{
    bytes a = {0};

    onnx_attr_int(&a, "strides", 2);
    conv_with(g, &a);
}

static void groups_of_some(bytes *g)
{
    bytes a = {0};

    onnx_attr_int(&a, "group", 2);
    conv_with(g, &a);
}

static void groups_of_computed(bytes *g)
{
    bytes a = {0};

    onnx_attr_int(&a, "group", 3);
    with_node(g, "Conv", "x x", &a);
}

static void group_as_float(bytes *g)
{
    bytes a = {0};

    onnx_attr_float(&a, "group", 1);
    conv_with(g, &a);
}

static void axis_as_text(bytes *g)
{
    bytes a = {0};

    onnx_attr_text(&a, "axis", "1");
    with_node(g, "Softmax", "x", &a);
}

static void mode_as_int(bytes *g)
{
    bytes a = {0};

    onnx_attr_int(&a, "mode", 1);
    onnx_int64s(g, "s", 4, DIMS(1, 3, 8, 8));
    with_node(g, "Resize", "x - - s", &a);
}

static void many_strides(bytes *g)
{
    bytes a = {0};

    onnx_attr_ints(&a, "strides", DIMS(1, 1, 1), 3);
    conv_with(g, &a);
}

static void zero_stride(bytes *g)
{
    bytes a = {0};

    onnx_attr_ints(&a, "strides", DIMS(1, 0), 2);
    conv_with(g, &a);
}

static void negative_pad(bytes *g)
{
    bytes a = {0};

    onnx_attr_ints(&a, "pads", DIMS(0, 0, -1, 0), 4);
    conv_with(g, &a);
}

static void groups(bytes *g)
{
    bytes a = {0};

    onnx_attr_int(&a, "group", INT64_MIN);
    conv_with(g, &a);
}

static void far_axis(bytes *g)
{
    bytes a = {0};

    onnx_attr_int(&a, "axis", INT64_MAX);
    with_node(g, "Softmax", "x", &a);
}

/* A proto3 writer leaves zeros out. */
static void zero_left_out(bytes *g)
{
    bytes a = {0}, axis = {0};

    onnx_put_text(&axis, 1, "axis");
    onnx_put_int(&axis, 20, 2);
    onnx_put_message(&a, 5, &axis);
    onnx_node(g, "Softmax", "x", "s", &a);
    with_node(g, "Relu", "s", NULL);
}

static void constant_of_nothing(bytes *g)
{
    onnx_node(g, "Constant", "", "c", NULL);
    with_node(g, "Add", "x c", NULL);
}

static void constant_of_text(bytes *g)
{
    bytes a = {0};

    onnx_attr_text(&a, "value", "1");
    onnx_node(g, "Constant", "", "c", &a);
    with_node(g, "Add", "x c", NULL);
}

/* ---------------------------------------------------------------------- tensors */

static void negative_dimension(bytes *g)
{
    with_constant(g, FLOAT, 1, DIMS(-3), 12);
}

static void huge_dimension(bytes *g)
{
    with_constant(g, FLOAT, 1, DIMS(INT64_MAX), 12);
}

static void huge_product(bytes *g)
{
    with_constant(g, FLOAT, 3, DIMS(65536, 65536, 65536), 12);
}

static void many_dimensions(bytes *g)
{
    with_constant(g, FLOAT, 7, DIMS(1, 1, 1, 1, 1, 1, 3), 12);
}

static void few_bytes(bytes *g)
{
    with_constant(g, FLOAT, 3, DIMS(3, 1, 1), 11);
}

static void many_bytes(bytes *g)
{
    with_constant(g, FLOAT, 3, DIMS(3, 1, 1), 16);
}

static void no_bytes(bytes *g)
{
    onnx_initializer(g, "c", FLOAT, 3, DIMS(3, 1, 1), NULL, 0);
    with_node(g, "Add", "x c", NULL);
}

static void huge_without_bytes(bytes *g)
{
    onnx_initializer(g, "c", FLOAT, 1, DIMS(1 << 28), NULL, 0);
    with_node(g, "Add", "x c", NULL);
}

static void strings(bytes *g)
{
    with_constant(g, STRING, 1, DIMS(3), 12);
}

static void unknown_type(bytes *g)
{
    with_constant(g, 4000, 1, DIMS(3), 12);
}

static void no_elements(bytes *g)
{
    with_constant(g, FLOAT, 1, DIMS(0), 0);
}

static void integers(bytes *g)
{
    with_constant(g, INT32, 3, DIMS(3, 1, 1), 12);
}

/* Puts `count` numbers into float_data for three elements. */
static void listed(bytes *g, int count)
{
    bytes t = {0};

    onnx_tensor_message(&t, "c", FLOAT, 1, DIMS(3), NULL, 0);
    onnx_put_numbers(&t, 4, FLOATS(1, 2, 3, 4), 4 * (size_t)count, 4);
    onnx_put_message(g, 5, &t);
    with_node(g, "Mul", "x c", NULL);
}

static void few_numbers(bytes *g)
{
    listed(g, 2);
}

static void many_numbers(bytes *g)
{
    listed(g, 4);
}

static void broken_numbers(bytes *g)
{
    bytes t = {0};

    onnx_tensor_message(&t, "c", FLOAT, 1, DIMS(3), NULL, 0);
    onnx_put_numbers(&t, 4, FLOATS(1, 2, 3), 11, 4);
    onnx_put_message(g, 5, &t);
    with_node(g, "Mul", "x c", NULL);
}

static void endless_number(bytes *g)
{
    bytes t = {0};

    onnx_tensor_message(&t, "c", INT64, 1, DIMS(3), NULL, 0);
    onnx_put_bytes(&t, 7, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 13);
    onnx_put_message(g, 5, &t);
    with_node(g, "Mul", "x c", NULL);
}

static void sparse(bytes *g)
{
    bytes t = {0}, s = {0};

    onnx_tensor_message(&t, "c", FLOAT, 1, DIMS(3), FLOATS(1, 2, 3), 12);
    onnx_put_message(&s, 1, &t);
    onnx_put_message(g, 15, &s);
    relu(g);
}

/* ---------------------------------------------------------------------- inputs */

static void sequence(bytes *g)
{
    bytes value = {0}, kind = {0}, inner = {0};

    onnx_put_message(&kind, 4, &inner);
    onnx_put_text(&value, 1, "s");
    onnx_put_message(&value, 2, &kind);
    onnx_put_message(g, 11, &value);
    relu(g);
}

static void open_input(bytes *g, size_t rank, const int64_t *dims)
{
    onnx_input(g, "x", FLOAT, rank, dims);
    onnx_node(g, "Relu", "x", "y", NULL);
    onnx_output(g, "y");
}

static void open_length(bytes *g)
{
    open_input(g, 2, DIMS(-1, -1));
}

static void open_by_name(bytes *g)
{
    open_input(g, 2, DIMS(-1, -2));
}

static void open_picture(bytes *g)
{
    open_input(g, 4, DIMS(-2, 3, -3, -4));
}

static void open_square(bytes *g)
{
    open_input(g, 4, DIMS(-2, 3, -3, -3));
}

static void open_square_behind(bytes *g)
{
    open_input(g, 4, DIMS(-2, -3, -3, 3));
}

static void seven_dimensions(bytes *g)
{
    open_input(g, 7, DIMS(1, 1, 1, 1, 1, 1, 1));
}

static void wide_input(bytes *g)
{
    open_input(g, 1, DIMS(INT64_MAX));
}

static void text_input(bytes *g)
{
    onnx_input(g, "x", STRING, 1, DIMS(3));
    onnx_node(g, "Relu", "x", "y", NULL);
    onnx_output(g, "y");
}

/* Shapes that come from an input, n, which may become a number. */
static void number_input(bytes *g)
{
    onnx_input(g, "n", INT64, 1, DIMS(1));
    onnx_int64s(g, "three", 1, DIMS(3));
    bytes a = {0};
    onnx_attr_int(&a, "axis", 0);
    onnx_node(g, "Concat", "three n", "shape", &a);
    with_node(g, "Reshape", "x shape", NULL);
}

static const struct tdl_model_params bind_name = {
    .dimensions = (const struct tdl_model_dimension[]){{"d0", 5}}, .dimension_count = 1};
static const struct tdl_model_params bind_place = {
    .dimensions = (const struct tdl_model_dimension[]){{"x:1", 5}}, .dimension_count = 1};
static const struct tdl_model_params bind_nothing = {
    .dimensions = (const struct tdl_model_dimension[]){{"batch", 5}}, .dimension_count = 1};
static const struct tdl_model_params bind_size = {.size = {32, 48}};
static const struct tdl_model_params bind_square = {.size = {32, 32}};
static const struct tdl_model_params bind_sides = {
    .dimensions = (struct tdl_model_dimension[]){{"x:2", 32}, {"x:3", 48}},
    .dimension_count = 2,
    .size = {8, 24},
};

/* Replaces an input by half of it, or by an operand that does not fit. */
static struct tdl_operand *replace(void *data, struct tdl_builder *b, const char *name,
                                   const struct tdl_tensor_params *params)
{
    struct tdl_operand *x = tdl_builder_input(b, name, params);

    if (!strcmp(data, "flat"))
        return x ? tdl_builder_reshape(b, x, 1, (const uint32_t[]){3 * 32 * 48}) : NULL;
    return !strcmp(data, "bytes") ? tdl_builder_cast(b, x, TDL_UINT8)
                                  : tdl_builder_linear(b, x, 0.5f, 0);
}

static const struct tdl_model_params own_input = {
    .size = {32, 48}, .input = replace, .input_data = ""};
static const struct tdl_model_params own_flat = {
    .size = {32, 48}, .input = replace, .input_data = "flat"};
static const struct tdl_model_params own_bytes = {
    .size = {32, 48}, .input = replace, .input_data = "bytes"};
static const struct tdl_model_params bind_number = {
    .numbers = (const struct tdl_model_number[]){{"n", 16}}, .number_count = 1};
static const struct tdl_model_params bind_no_input = {
    .numbers = (const struct tdl_model_number[]){{"m", 16}}, .number_count = 1};

/* -------------------------------------------------------------------- branches */

/* y as the branch says; both read x. */
static void branch(bytes *attributes, const char *name, const char *type)
{
    bytes g = {0};
    char output[40];

    snprintf(output, sizeof(output), "%s_y", name);
    onnx_node(&g, type, "x", output, NULL);
    onnx_output(&g, output);
    onnx_attr_message(attributes, name, 6, &g);
}

static void known_if(bytes *g)
{
    bytes a = {0};

    branch(&a, "then_branch", "Relu");
    branch(&a, "else_branch", "Frobnicate");
    onnx_initializer(g, "true", BOOL, 0, NULL, "\1", 1);
    with_node(g, "If", "true", &a);
}

static void unknown_if(bytes *g)
{
    bytes a = {0};

    branch(&a, "then_branch", "Relu");
    branch(&a, "else_branch", "Abs");
    onnx_input(g, "c", BOOL, 0, NULL);
    with_node(g, "If", "c", &a);
}

static void unlike_if(bytes *g)
{
    bytes a = {0};

    branch(&a, "then_branch", "Relu");
    branch(&a, "else_branch", "Shape");
    onnx_input(g, "c", BOOL, 0, NULL);
    with_node(g, "If", "c", &a);
}

static void if_without_branch(bytes *g)
{
    onnx_initializer(g, "true", BOOL, 0, NULL, "\1", 1);
    with_node(g, "If", "true", NULL);
}

/* Branches within branches; each gives what the next one gives. */
static void deep_if(bytes *g)
{
    char output[16];
    bytes inner = {0};

    onnx_node(&inner, "Relu", "x", "y0", NULL);
    onnx_output(&inner, "y0");
    for (int i = 1; i < 20; i++) {
        bytes a = {0};

        snprintf(output, sizeof(output), "y%d", i);
        onnx_attr_message(&a, "then_branch", 6, &inner);
        onnx_node(&inner, "If", "true", output, &a);
        onnx_output(&inner, output);
    }
    bytes a = {0};
    onnx_attr_message(&a, "then_branch", 6, &inner);
    onnx_initializer(g, "true", BOOL, 0, NULL, "\1", 1);
    with_node(g, "If", "true", &a);
}

/* A branch whose output has no elements, with enough names for the list to move. */
static void empty_branch(bytes *g)
{
    bytes inner = {0}, a = {0};
    char name[16];

    onnx_initializer(&inner, "none", FLOAT, 1, DIMS(0), "", 0);
    onnx_output(&inner, "none");
    onnx_attr_message(&a, "then_branch", 6, &inner);
    onnx_initializer(g, "true", BOOL, 0, NULL, "\1", 1);
    for (int i = 0; i < 252; i++) {
        snprintf(name, sizeof(name), "c%d", i);
        onnx_int64s(g, name, 1, DIMS(1));
    }
    with_node(g, "If", "true", &a);
}

/* -------------------------------------------------------------------- operators */

static void scalar_tuples(bytes *g)
{
    onnx_initializer(g, "i", INT64, 0, NULL, DIMS(1), 8);
    with_node(g, "GatherND", "x i", NULL);
}

/* The last bytes of the file, of which one that thinks of floats reads four times as many. */
static void filter_of_bytes(bytes *g)
{
    static const uint8_t filter[3 * 2 * 64];

    with_node(g, "ConvTranspose", "x f", NULL);
    onnx_initializer(g, "f", UINT8, 4, DIMS(3, 2, 8, 8), filter, sizeof(filter));
}

static void many_scales(bytes *g)
{
    bytes a = {0};

    onnx_initializer(g, "q", UINT8, 1, DIMS(3), "\1\2\3", 3);
    onnx_initializer(g, "s", FLOAT, 1, DIMS(5), FLOATS(1, 2, 3, 4, 5), 20);
    onnx_attr_int(&a, "axis", 0);
    with_node(g, "DequantizeLinear", "q s", &a);
}

static void pads_away(bytes *g)
{
    onnx_int64s(g, "p", 8, DIMS(0, 0, 0, INT64_MIN, 0, 0, 0, 0));
    with_node(g, "Pad", "x p", NULL);
}

static void few_updates(bytes *g)
{
    onnx_initializer(g, "i", INT64, 2, DIMS(1, 1), DIMS(0), 8);
    onnx_initializer(g, "u", FLOAT, 1, DIMS(1), FLOATS(1), 4);
    with_node(g, "ScatterND", "x i u", NULL);
}

/* A network of one unit over a sequence of 48 numbers. */
static void recurrent(bytes *g, const char *inputs, bytes *a)
{
    onnx_int64s(g, "s", 3, DIMS(48, 1, 1));
    onnx_node(g, "Reshape", "x s", "t", NULL);
    onnx_initializer(g, "w", FLOAT, 3, DIMS(1, 3, 1), FLOATS(1, 2, 3), 12);
    with_node(g, "GRU", inputs, a);
}

static void short_sequence(bytes *g)
{
    onnx_initializer(g, "n", INT64, 1, DIMS(1), DIMS(47), 8);
    recurrent(g, "t w w - n", NULL);
}

static void clipped_gates(bytes *g)
{
    bytes a = {0};

    onnx_attr_float(&a, "clip", 1);
    recurrent(g, "t w w", &a);
}

static void sideways(bytes *g)
{
    bytes a = {0};

    onnx_attr_text(&a, "direction", "sideways");
    recurrent(g, "t w w", &a);
}

static void other_hidden_size(bytes *g)
{
    bytes a = {0};

    onnx_attr_int(&a, "hidden_size", 2);
    recurrent(g, "t w w", &a);
}

static void no_names(bytes *g)
{
    bytes a = {0};

    onnx_attr_int(&a, "activations", 2);
    recurrent(g, "t w w", &a);
}

static void plain_recurrent(bytes *g)
{
    recurrent(g, "t w w", NULL);
}

static void odd_bias(bytes *g)
{
    onnx_initializer(g, "b", FLOAT, 2, DIMS(1, 3), FLOATS(1, 2, 3), 12);
    recurrent(g, "t w w b", NULL);
}

static void many_steps(bytes *g)
{
    onnx_int64s(g, "s", 3, DIMS(48, 1, 1));
    onnx_node(g, "Reshape", "x s", "t", NULL);
    onnx_initializer(g, "w", FLOAT, 3, DIMS(1, 3, 1), FLOATS(1, 2, 3), 12);
    for (int i = 0; i < 100; i++) {
        char out[16];

        snprintf(out, sizeof(out), "- h%d", i);
        onnx_node(g, "GRU", "t w w", out, NULL);
    }
    with_node(g, "GRU", "t w w", NULL);
}

/* Regions of x, by an opset's defaults but for one number. */
static void with_regions(bytes *g, const char *name, int64_t value, size_t columns)
{
    bytes a = {0};

    onnx_attr_int(&a, name, value);
    onnx_initializer(g, "r", FLOAT, 2, DIMS(1, (int64_t)columns), FLOATS(0, 0, 2, 2), 4 * columns);
    onnx_initializer(g, "i", INT64, 1, DIMS(1), DIMS(0), 8);
    with_node(g, "RoiAlign", "x r i", &a);
}

static void regions(bytes *g)
{
    with_regions(g, "sampling_ratio", 2, 4);
}

static void unknown_points(bytes *g)
{
    bytes a = {0};

    onnx_attr_text(&a, "mode", "max");
    onnx_initializer(g, "r", FLOAT, 2, DIMS(1, 4), FLOATS(0, 0, 2, 2), 16);
    onnx_initializer(g, "i", INT64, 1, DIMS(1), DIMS(0), 8);
    with_node(g, "RoiAlign", "x r i", &a);
}

static void many_points(bytes *g)
{
    with_regions(g, "sampling_ratio", INT64_MAX, 4);
}

static void odd_regions(bytes *g)
{
    with_regions(g, "sampling_ratio", 2, 3);
}

static void few_crops(bytes *g)
{
    onnx_int64s(g, "s", 1, DIMS(2));
    with_node(g, "CenterCropPad", "x s", NULL);
}

static void huge_crop(bytes *g)
{
    onnx_int64s(g, "s", 4, DIMS(1, 3, 4, INT64_MAX));
    with_node(g, "CenterCropPad", "x s", NULL);
}

static void columns_of(bytes *g, int64_t size)
{
    onnx_int64s(g, "s", 3, DIMS(1, 12, 4));
    onnx_node(g, "Reshape", "x s", "t", NULL);
    onnx_int64s(g, "image", 2, DIMS(2, size));
    onnx_int64s(g, "block", 2, DIMS(1, 2));
    with_node(g, "Col2Im", "t image block", NULL);
}

static void columns(bytes *g)
{
    columns_of(g, 3);
}

static void other_columns(bytes *g)
{
    columns_of(g, 4);
}

static void huge_picture(bytes *g)
{
    columns_of(g, INT64_MAX);
}

static void computed_non_zero(bytes *g)
{
    with_node(g, "NonZero", "x", NULL);
}

static void counts_elsewhere(bytes *g)
{
    ends(g);
    onnx_node(g, "NonZero", "x", "some", NULL);
    onnx_node(g, "Unique", "some", "y", NULL);
}

static void float_bits(bytes *g)
{
    with_node(g, "BitwiseNot", "x", NULL);
}

static void few_lengths(bytes *g)
{
    onnx_int64s(g, "n", 1, DIMS(2));
    with_node(g, "ReverseSequence", "x n", NULL);
}

/* x as a volume of [1, 1, 3, 4, 4], under a filter of so many slices. */
static void with_volume(bytes *g, const char *type, int64_t depth, const char *name, int64_t value)
{
    static const float filter[16];
    bytes a = {0};

    if (name)
        onnx_attr_ints(&a, name, DIMS(value, 1, 1), 3);
    onnx_int64s(g, "s", 5, DIMS(1, 1, 3, 4, 4));
    onnx_node(g, "Reshape", "x s", "t", NULL);
    onnx_initializer(g, "f", FLOAT, 5, DIMS(1, 1, depth, 1, 1), filter, 4 * (size_t)depth);
    with_node(g, type, strcmp(type, "Conv") ? "t" : "t f", &a);
}

static void deep_filter(bytes *g)
{
    with_volume(g, "Conv", 4, NULL, 0);
}

static void far_slices(bytes *g)
{
    with_volume(g, "Conv", 2, "dilations", 16384);
}

static void wide_box(bytes *g)
{
    with_volume(g, "MaxPool", 1, "kernel_shape", INT64_MAX);
}

static void deep_box(bytes *g)
{
    with_volume(g, "AveragePool", 1, "kernel_shape", 4);
}

static void volume(bytes *g)
{
    with_volume(g, "Conv", 3, NULL, 0);
}

static void reshape_to_other(bytes *g)
{
    onnx_int64s(g, "s", 2, DIMS(7, -1));
    with_node(g, "Reshape", "x s", NULL);
}

static void empty_slice(bytes *g)
{
    onnx_int64s(g, "from", 1, DIMS(2));
    onnx_int64s(g, "to", 1, DIMS(1));
    with_node(g, "Slice", "x from to", NULL);
}

static void small_resize(bytes *g)
{
    bytes a = {0};

    onnx_attr_text(&a, "mode", "cubic");
    onnx_attr_text(&a, "keep_aspect_ratio_policy", "not_larger");
    onnx_int64s(g, "s", 4, DIMS(1, 1, 1, 1));
    onnx_input(g, "w", FLOAT, 4, DIMS(1, 1, 1, 1 << 24));
    onnx_node(g, "Resize", "w - - s", "y", &a);
    onnx_output(g, "y");
}

/* ------------------------------------------------------------------ functions */

static bytes functions; /* functions of the row that is being written */

/* A call of `name`, and the function of that name: of one node. */
static void call(bytes *g, const char *name, const char *inputs, const char *outputs)
{
    bytes a = {0};

    onnx_attr_own(&a);
    onnx_node(g, name, inputs, outputs, &a);
}

static void function(const char *name, const char *type, bool own)
{
    bytes nodes = {0}, a = {0};

    if (own)
        onnx_attr_own(&a);
    onnx_function_node(&nodes, type, "a", "b", &a);
    onnx_function(&functions, name, "a", "b", 17, &nodes);
}

static void with_call(bytes *g, const char *inputs, const char *outputs)
{
    ends(g);
    call(g, "F", inputs, outputs);
    function("F", "Relu", false);
}

static void known_function(bytes *g)
{
    with_call(g, "x", "y");
}

static void two_arguments(bytes *g)
{
    with_call(g, "x x", "y");
}

static void two_results(bytes *g)
{
    with_call(g, "x", "y z");
}

static void unknown_argument(bytes *g)
{
    with_call(g, "nobody", "y");
}

static void unknown_function(bytes *g)
{
    ends(g);
    call(g, "G", "x", "y");
    function("F", "Relu", false);
}

static void two_functions(bytes *g)
{
    with_call(g, "x", "y");
    function("F", "Neg", false);
}

static void calls_itself(bytes *g)
{
    ends(g);
    call(g, "F", "x", "y");
    function("F", "G", true);
    function("G", "F", true);
}

static void unknown_in_function(bytes *g)
{
    ends(g);
    call(g, "F", "x", "y");
    function("F", "Frobnicate", false);
}

static void nothing_written(bytes *g)
{
    bytes nodes = {0};

    ends(g);
    call(g, "F", "x", "y");
    onnx_function_node(&nodes, "Relu", "a", "c", NULL);
    onnx_function(&functions, "F", "a", "b", 17, &nodes);
}

static void nothing_given(bytes *g)
{
    bytes nodes = {0};

    ends(g);
    call(g, "F", "x", "y");
    onnx_function_node(&nodes, "Add", "a b", "c", NULL);
    onnx_function(&functions, "F", "a b", "c", 17, &nodes);
}

static void function_of_opset(bytes *g)
{
    bytes nodes = {0};

    ends(g);
    call(g, "F", "x", "y");
    onnx_function_node(&nodes, "Relu", "a", "b", NULL);
    onnx_function(&functions, "F", "a", "b", 99, &nodes);
}

static void reference_outside(bytes *g)
{
    bytes a = {0};

    onnx_attr_of_call(&a, "alpha", 1, "alpha");
    with_node(g, "LeakyRelu", "x", &a);
}

/* Each calls the next one so many times: F0, F1, … */
static void seven_between(bytes *g)
{
    onnx_input(g, "x", FLOAT, 2, DIMS(2, 64));
    onnx_int64s(g, "s", 7, DIMS(2, 2, 2, 2, 2, 2, 2));
    onnx_node(g, "Reshape", "x s", "r", NULL);
}

static void seven_between_of_softmax(bytes *g)
{
    seven_between(g);
    onnx_node(g, "Softmax", "r", "y", NULL);
    onnx_output(g, "y");
}

static void seven_between_out(bytes *g)
{
    seven_between(g);
    onnx_output(g, "r");
}

static void seven_between_apart(bytes *g)
{
    bytes a = {0};
    seven_between(g);
    onnx_attr_ints(&a, "perm", DIMS(6, 5, 4, 3, 2, 1, 0), 7);
    onnx_node(g, "Transpose", "r", "y", &a);
    onnx_output(g, "y");
}

static void nested(bytes *g, int levels, int calls)
{
    ends(g);
    call(g, "F0", "x", "y");
    for (int i = 0; i < levels; i++) {
        bytes nodes = {0};
        char next[16], from[16], to[16], name[16];

        snprintf(next, sizeof(next), "F%d", i + 1);
        snprintf(name, sizeof(name), "F%d", i);
        for (int k = 0; k < calls; k++) {
            bytes a = {0};

            if (i + 1 < levels)
                onnx_attr_own(&a);
            snprintf(from, sizeof(from), "a%d", k);
            snprintf(to, sizeof(to), "a%d", k + 1);
            onnx_function_node(&nodes, i + 1 < levels ? next : "Relu", from, to, &a);
        }
        snprintf(to, sizeof(to), "a%d", calls);
        onnx_function(&functions, name, "a0", to, 17, &nodes);
    }
}

static void nested_functions(bytes *g)
{
    nested(g, 32, 1);
}

static void deep_functions(bytes *g)
{
    nested(g, 33, 1);
}

static void many_calls(bytes *g)
{
    nested(g, 20, 10);
}

#define OK TDL_OK, ""
#define MODEL TDL_ERROR_INVALID_MODEL
#define LACKS TDL_ERROR_UNSUPPORTED
#define DAMAGED MODEL, "the model file is damaged: "

static const struct row rows[] = {
    {"unknown operator", unknown_operator, LACKS,
     "node 1 Frobnicate 'last one': the operator is not supported"},
    {"strange operator", strange_operator, LACKS, "node 0 evil?[2J? 'y': "},
    {"unknown domain", aten, LACKS, "operators of the domain 'org.pytorch.aten'"},
    {"unknown operator of a domain", unknown_domain, LACKS,
     "MoE 'y': the operator of 'com.microsoft' is not supported"},
    {"what was written for a processor", for_a_processor, LACKS, "ORT_ENABLE_EXTENDED"},
    {"fewer bits than numbers", few_bits, MODEL, "input 1 has 16 uint8, not 32 uint8"},
    {"strange activation", strange_activation, LACKS, "the activation 'Sine'"},
    {"what an optimizer wrote", unknown_domain, LACKS, "ORT_ENABLE_BASIC and QuantFormat.QDQ"},
    {"what was not translated", aten, LACKS, "export the model with dynamo=True"},
    {"what was put round it", extensions, LACKS, "it is of onnxruntime-extensions"},
    {"a list of tensors", list_of_tensors, LACKS,
     "dynamo=True, or simplify the file (onnxsim IN OUT)"},
    {"random numbers", random_numbers, LACKS, "give them to the model as an input"},
    {"ways out of an unknown operator", unknown_operator, LACKS,
     "are: simplify the file (onnxsim IN OUT), or export it with PyTorch's other exporter"},
    {"the domain's own name", known_domain, OK},
    {"old opset", relu, OK, NULL, 6},
    {"older opset", relu, LACKS, "is of version 5, and libtdl knows it from version 7 on", NULL, 5},
    {"new opset", relu, LACKS, "operators are of version 99; libtdl reads", NULL, 99},
    {"negative opset", relu, LACKS, "convert it with", NULL, -1},
    {"a function", known_function, OK},
    {"two arguments for one", two_arguments, MODEL,
     "node 0 F 'y': 2 inputs and 1 outputs of a function that has 1 and 1"},
    {"two results for one", two_results, MODEL,
     "node 0 F 'y': 1 inputs and 2 outputs of a function that has 1 and 1"},
    {"unknown argument", unknown_argument, MODEL, "input 0, 'nobody', is no value of the graph"},
    {"unknown function", unknown_function, LACKS, "operators of the domain 'own'"},
    {"two functions of a name", two_functions, DAMAGED "two functions are named 'F'"},
    {"function of itself", calls_itself, MODEL, "the function 'F' calls itself"},
    {"unknown operator in a function", unknown_in_function, LACKS,
     "node 0 Frobnicate 'b' of function 'F': the operator is not supported"},
    {"result not written", nothing_written, MODEL, "no node of the function writes output 'b'"},
    {"argument left out", nothing_given, MODEL,
     "node 0 Add 'c' of function 'F': input 1 is missing"},
    {"function of a new opset", function_of_opset, LACKS, "operators are of version 99"},
    {"attribute of no function", reference_outside, DAMAGED "an attribute refers to one of a"},
    {"functions in functions", nested_functions, OK},
    {"deep functions", deep_functions, LACKS, "functions are nested deeper than 32"},
    {"ten calls in each of ten", many_calls, LACKS, "functions become more than 100000 operators"},
    {"no graph", NULL, DAMAGED "it has no graph"},
    {"two values of a name", two_names, DAMAGED "two values are named 'y'"},
    {"two constants of a name", two_constants, DAMAGED "two values are named 'c'"},
    {"input overwritten", input_overwritten, MODEL, "'y'"},
    {"cycle", cycle, DAMAGED "node 0 waits for its own output"},
    {"its own output", own_output, DAMAGED "node 0 waits for its own output"},
    {"unknown name", unknown_name, MODEL, "input 1, 'nobody', is no value of the graph"},
    {"input left out", left_out, MODEL, "node 0 Add 'y': input 1 is missing"},
    {"too few inputs", too_few_inputs, MODEL, "1 inputs instead of 2 to 2"},
    {"no outputs", no_outputs, MODEL, "the model has no outputs"},
    {"node without output", node_without_output, MODEL, "node 1 Relu: it has no output"},
    {"output not written", output_not_written, DAMAGED "no node writes the output 'y'"},
    {"more outputs", more_outputs, LACKS, "output 1, 'z', is not supported"},
    {"unsorted", unsorted, OK},
    {"unused inputs and constants", unused, OK},
    {"constant among the inputs", listed_constant, OK},
    {"strides as one number", strides_as_int, MODEL, "node 0 Conv 'y': the attribute strides is"},
    {"groups that do not divide", groups_of_some, TDL_ERROR_INVALID_ARGUMENT,
     "a filter of 2 outputs from 3 channels does not fit input float32[1,3,4,4] with 2 groups"},
    {"groups of a computed filter", groups_of_computed, TDL_ERROR_INVALID_ARGUMENT,
     "a filter of 1 outputs from 3 channels does not fit input float32[1,3,4,4] with 3 groups"},
    {"group as a float", group_as_float, MODEL, "the attribute group is"},
    {"axis as text", axis_as_text, MODEL, "the attribute axis is"},
    {"mode as a number", mode_as_int, MODEL, "the attribute mode is"},
    {"three strides", many_strides, LACKS, "the attribute strides has 3 values"},
    {"zero stride", zero_stride, MODEL, "strides of 0"},
    {"negative padding", negative_pad, MODEL, "padding of -1"},
    {"groups", groups, MODEL, "-9223372036854775808 groups"},
    {"far axis", far_axis, MODEL, "no axis 9223372036854775807"},
    {"zero left out", zero_left_out, OK},
    {"constant of nothing", constant_of_nothing, LACKS, "neither a tensor nor a number"},
    {"constant of text", constant_of_text, MODEL, "the attribute value is"},
    {"negative dimension", negative_dimension, MODEL, "'c' has -3 elements in dimension 0"},
    {"huge dimension", huge_dimension, MODEL, "at most 2^30"},
    {"huge product", huge_product, MODEL, "at most 2^30"},
    {"many dimensions", many_dimensions, LACKS, "'c' has 7 dimensions"},
    {"few bytes", few_bytes, DAMAGED "the tensor 'c' has 11 bytes instead of 12"},
    {"many bytes", many_bytes, DAMAGED "the tensor 'c' has 16 bytes instead of 12"},
    {"no bytes", no_bytes, DAMAGED "the tensor 'c' has 0 numbers instead of 3"},
    {"huge without bytes", huge_without_bytes, DAMAGED "the tensor 'c' has too few numbers"},
    {"strings", strings, LACKS, "the data type number 8 (string)"},
    {"unknown type", unknown_type, LACKS, "the data type number 4000"},
    {"no elements", no_elements, LACKS, "the output 'y' has no elements"},
    {"integers", integers, TDL_ERROR_INVALID_ARGUMENT, "of two data types"},
    {"few numbers", few_numbers, DAMAGED "the tensor 'c' has 2 numbers instead of 3"},
    {"many numbers", many_numbers, DAMAGED "the tensor 'c' has 4 numbers instead of 3"},
    {"broken numbers", broken_numbers, DAMAGED "the tensor 'c'"},
    {"endless number", endless_number, DAMAGED "the tensor 'c'"},
    {"sparse", sparse, LACKS, "sparse constants are not supported"},
    {"sequence", sequence, LACKS, "the input 's' is no tensor"},
    {"open", open_length, LACKS, "dimension 1 of its input 'x' open: give it a size by the name "
                                 "'x:1'"},
    {"open by name", open_by_name, LACKS, "by the name 'd0' ("},
    {"bound by name", open_by_name, OK, &bind_name},
    {"bound by place", open_by_name, OK, &bind_place},
    {"seven between", seven_between_of_softmax, LACKS,
     "'r' has 7 dimensions; libtdl takes up to"},
    {"seven between, out", seven_between_out, LACKS,
     "'r' has 7 dimensions; libtdl takes up to"},
    {"seven between, apart", seven_between_apart, LACKS, "moves 7 dimensions apart"},
    {"bound what is not", open_by_name, TDL_ERROR_UNSUPPORTED,
     "open, and none is called 'batch': give it a size by the name 'd0' (", &bind_nothing},
    {"bound what is closed", relu, TDL_ERROR_INVALID_ARGUMENT, "no dimension 'batch' open",
     &bind_nothing},
    {"open picture", open_picture, LACKS,
     "leaves 2 sizes of its inputs open: give each by its name, which are 'd1', 'd2'"},
    {"picture of a size", open_picture, OK, &bind_size},
    {"square of another size", open_square, LACKS,
     "height and width of the input 'x' are one size, 'd1', and 48x32 px", &bind_size},
    {"the same behind", open_square_behind, LACKS, "as high as wide", &bind_size},
    {"square", open_square, OK, &bind_square},
    {"square by places", open_square, OK, &bind_sides},
    {"own input", open_picture, OK, &own_input},
    {"own input of another shape", open_picture, TDL_ERROR_INVALID_ARGUMENT,
     "for the input 'x' has another shape", &own_flat},
    {"own input of another type", open_picture, TDL_ERROR_INVALID_ARGUMENT, "shape or type",
     &own_bytes},
    {"seven dimensions", seven_dimensions, LACKS, "more than 6 dimensions"},
    {"wide input", wide_input, MODEL, "9223372036854775807 elements in dimension 0"},
    {"input of text", text_input, LACKS, "(string)"},
    {"shape from an input", number_input, LACKS,
     "node 1 Reshape 'y': input 1, 'shape', depends on"},
    {"shape from a number", number_input, OK, &bind_number},
    {"number for nothing", relu, TDL_ERROR_INVALID_ARGUMENT, "no input 'm' that could be a number",
     &bind_no_input},
    {"known condition", known_if, OK},
    {"unknown condition", unknown_if, OK},
    {"unlike branches", unlike_if, LACKS, "output 0 has another rank or type in each branch"},
    {"no branch", if_without_branch, MODEL, "no such branch"},
    {"deep branches", deep_if, LACKS, "nested deeper than 8"},
    {"branch without elements", empty_branch, LACKS, "the output 'y' has no elements"},
    {"scalar as a tuple", scalar_tuples, MODEL, "node 0 GatherND 'y': "},
    {"filter of bytes", filter_of_bytes, LACKS, "node 0 ConvTranspose 'y': a filter of uint8"},
    {"many scales", many_scales, TDL_ERROR_INVALID_ARGUMENT, "node 0 DequantizeLinear 'y': mul: "},
    {"padding", pads_away, MODEL, "node 0 Pad 'y': padding of more than 2^31 elements"},
    {"recurrent", plain_recurrent, OK},
    {"short sequence", short_sequence, LACKS, "a sequence of 47 steps among those of 48"},
    {"clipped gates", clipped_gates, LACKS, "gates that are clipped"},
    {"sideways", sideways, LACKS, "a direction by an unknown name"},
    {"other hidden size", other_hidden_size, MODEL, "a hidden size of 2, and weights for 1"},
    {"activations without names", no_names, MODEL, "the attribute activations is of kind"},
    {"one bias", odd_bias, MODEL, "no pairs of lists"},
    {"many steps", many_steps, LACKS, "4128 steps of recurrent networks; up to 4096"},
    {"regions", regions, OK},
    {"points by the regions' sizes", unknown_points, LACKS, "model with a sampling_ratio"},
    {"many points", many_points, MODEL, "cells of 9223372036854775807 points"},
    {"odd regions", odd_regions, MODEL, "regions are [regions, 4]"},
    {"few crops", few_crops, MODEL, "1 sizes for 4 axes"},
    {"huge crop", huge_crop, LACKS, "a dimension of 9223372036854775807 elements"},
    {"columns", columns, OK},
    {"other columns", other_columns, MODEL, "columns [12, 4] are not those of 6 places"},
    {"huge picture", huge_picture, MODEL, "in a picture of 9223372036854775807"},
    {"computed numbers", computed_non_zero, OK},
    {"what takes no counts", counts_elsewhere, LACKS, "cut the model off at 'some'"},
    {"bits of floats", float_bits, MODEL, "bits of float32"},
    {"few lengths", few_lengths, MODEL, "lengths are missing"},
    {"volume", volume, OK},
    {"deep filter", deep_filter, MODEL, "a window of 4 in a depth of 3"},
    {"far slices", far_slices, MODEL, "a window of 2 in a depth of 3"},
    {"wide box", wide_box, MODEL, "kernel_shape of 9223372036854775807"},
    {"deep box", deep_box, TDL_ERROR_INVALID_ARGUMENT, "node 1 AveragePool 'y': "},
    {"few updates", few_updates, MODEL, "node 0 ScatterND 'y': "},
    {"other number of elements", reshape_to_other, MODEL, "48 elements cannot be divided among 7"},
    {"output without elements", empty_slice, LACKS, "the output 'y' has no elements"},
    {"resize to nothing", small_resize, MODEL, "node 0 Resize 'y': "},
};

static enum tdl_result import(const uint8_t *data, size_t size,
                              const struct tdl_model_params *params, char *text, size_t text_size)
{
    /* A copy of exactly the right size at an odd address, so that a sanitizer sees reads past the
     * end and misaligned ones. */
    uint8_t *copy = malloc(size + 1);
    struct tdl_builder *builder = NULL;
    enum tdl_result r = tdl_builder_create(NULL, &builder);

    if (!copy || r != TDL_OK)
        abort();
    if (size > 0)
        memcpy(copy + 1, data, size);
    r = tdl_model_import(builder, copy + 1, size, params);
    if (r != tdl_builder_status(builder))
        FAIL("the import returned %d, the builder has %d", r, tdl_builder_status(builder));
    snprintf(text, text_size, "%s", tdl_builder_error(builder));
    tdl_builder_destroy(&builder);
    free(copy);
    return r;
}

static uint8_t *write_row(const struct row *row, size_t *size)
{
    bytes g = {0}, m = {0}, version = {0};

    if (row->write) {
        row->write(&g);
        return onnx_model_with(&g, &functions, row->opset ? row->opset : 17, size);
    }
    onnx_put_int(&m, 1, 8);
    onnx_put_int(&version, 2, 17);
    onnx_put_message(&m, 8, &version);
    *size = m.size;
    return m.data;
}

static void test_row(const struct row *row)
{
    size_t size;
    uint8_t *data = write_row(row, &size);
    char text[600];
    const enum tdl_result r = import(data, size, row->params, text, sizeof(text));

    if (r != row->result || !strstr(text, row->text))
        FAIL("%s: %d \"%s\", expected %d \"…%s…\"", row->name, r, text, row->result, row->text);
    free(data);
}

/* ------------------------------------------------------------ changed bytes */

/* Without its end the file has no opset; without more, no graph. */
static void test_cut(void)
{
    size_t size;
    uint8_t *data = onnx_example(&size);
    char text[600];

    if (import(data, size, NULL, text, sizeof(text)) != TDL_OK)
        FAIL("the example itself: \"%s\"", text);
    for (size_t cut = 0; cut < size; cut++)
        if (import(data, cut, NULL, text, sizeof(text)) == TDL_OK || !text[0])
            FAIL("cut to %zu of %zu bytes: \"%s\"", cut, size, text);
    free(data);
}

/* A changed byte may hit a weight, which nobody can tell. */
static void test_changed(void)
{
    static const uint8_t masks[] = {0xff, 0x80, 0x01, 0x10};
    size_t size, refused = 0;
    uint8_t *data = onnx_example(&size);
    char text[600];

    for (size_t i = 0; i < size * COUNT(masks); i++) {
        data[i / COUNT(masks)] ^= masks[i % COUNT(masks)];
        if (import(data, size, NULL, text, sizeof(text)) != TDL_OK && ++refused && !text[0])
            FAIL("byte %zu changed: an error without a text", i / COUNT(masks));
        data[i / COUNT(masks)] ^= masks[i % COUNT(masks)];
    }
    printf("%zu of %zu changed bytes refused\n", refused, size * COUNT(masks));
    if (refused < size / 2)
        FAIL("few changes were noticed");
    free(data);
}

int main(void)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (size_t i = 0; i < COUNT(rows); i++)
        test_row(&rows[i]);
    test_cut();
    test_changed();
    printf("%zu rows, %d failures\n", COUNT(rows), failures);
    return failures ? 1 : 0;
}
