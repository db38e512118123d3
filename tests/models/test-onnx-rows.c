/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Small ONNX graphs whose results follow by hand: operators behind others that move their
 * dimensions, functions, sizes that are no whole product, parts without elements, rows that
 * do not exist. The input counts: 0, 1, 2, … Each runs fused and not.
 */
#include "../engine/check.h"
#include "onnx-writer.h"

#include <tdl/models.h>

#include <math.h>
#include <stdlib.h>

typedef struct onnx_bytes bytes;
enum { FLOAT = 1, INT64 = 7, MOST = 64 };
#define DIMS(...) ((const int64_t[]){__VA_ARGS__})

static void floats(bytes *g, const char *name, size_t rank, const int64_t *dims, const float *list)
{
    size_t count = 1;
    for (size_t i = 0; i < rank; i++)
        count *= (size_t)dims[i];
    onnx_initializer(g, name, FLOAT, rank, dims, list, 4 * count);
}
#define FLOATS(g, name, rank, dims, ...)                                                           \
    floats(g, name, rank, dims, (const float[]){__VA_ARGS__})

static void transpose(bytes *g, const char *from, const char *to, size_t rank, const int64_t *order)
{
    bytes a = {0};
    onnx_attr_ints(&a, "perm", order, rank);
    onnx_node(g, "Transpose", from, to, &a);
}

/* A node with one attribute, a number. */
static void node_with(bytes *g, const char *type, const char *inputs, const char *outputs,
                      const char *attribute, int64_t value)
{
    bytes a = {0};
    onnx_attr_int(&a, attribute, value);
    onnx_node(g, type, inputs, outputs, &a);
}

static void same_picture(bytes *g) /* "x" of two channels as "p", in what pictures lie in */
{
    FLOATS(g, "identity", 4, DIMS(2, 2, 1, 1), 1, 0, 0, 1);
    onnx_node(g, "Conv", "x identity", "p", NULL);
}

static void two_transposes(bytes *g)
{
    same_picture(g);
    transpose(g, "p", "t", 4, DIMS(0, 2, 3, 1));
    transpose(g, "t", "y", 4, DIMS(0, 1, 3, 2));
}

/* A transposition in eight dimensions: [1, 3, 4, 1] as 1 3 | 1 2 1 2 1 1 with the halves swapped,
 * and back. */
static void more_dimensions(bytes *g)
{
    onnx_int64s(g, "many", 8, DIMS(1, 3, 1, 2, 1, -1, 1, 1));
    onnx_int64s(g, "few", 3, DIMS(4, -1, 1));
    onnx_node(g, "Reshape", "x many", "r", NULL);
    transpose(g, "r", "t", 8, DIMS(5, 0, 4, 2, 1, 3, 7, 6));
    onnx_node(g, "Reshape", "t few", "y", NULL);
}

static void conv_behind_transpose(bytes *g)
{
    transpose(g, "x", "t", 3, DIMS(0, 2, 1));
    FLOATS(g, "w", 3, DIMS(1, 3, 1), 1, 10, 100);
    onnx_node(g, "Conv", "t w", "y", NULL);
}

static void conv_transpose_behind_transpose(bytes *g)
{
    transpose(g, "x", "t", 3, DIMS(0, 2, 1));
    FLOATS(g, "w", 3, DIMS(3, 1, 1), 1, 10, 100);
    onnx_node(g, "ConvTranspose", "t w", "y", NULL);
}

static void channels(bytes *g, const char *from) /* three channels, times 1, 10, 100 */
{
    char inputs[64];
    bytes a = {0};
    FLOATS(g, "scale", 1, DIMS(3), 1, 10, 100);
    FLOATS(g, "none", 1, DIMS(3), 0, 0, 0);
    FLOATS(g, "one", 1, DIMS(3), 1, 1, 1);
    snprintf(inputs, sizeof(inputs), "%s scale none none one", from);
    onnx_attr_float(&a, "epsilon", 0);
    onnx_node(g, "BatchNormalization", inputs, "y", &a);
}

static void normalization_behind_transpose(bytes *g)
{
    transpose(g, "x", "t", 3, DIMS(0, 2, 1));
    channels(g, "t");
}

static void normalization_of_two_dimensions(bytes *g)
{
    FLOATS(g, "identity", 4, DIMS(3, 3, 1, 1), 1, 0, 0, 0, 1, 0, 0, 0, 1);
    onnx_node(g, "Conv", "x identity", "p", NULL);
    onnx_node(g, "Flatten", "p", "f", NULL);
    channels(g, "f");
}

static void pool_behind_gather(bytes *g)
{
    bytes a = {0};
    onnx_int64s(g, "at", 2, DIMS(2, 1));
    node_with(g, "Gather", "x at", "t", "axis", 2);
    onnx_attr_ints(&a, "kernel_shape", DIMS(2), 1);
    onnx_node(g, "AveragePool", "t", "y", &a);
}

static void one_hot_behind_arg_max(bytes *g)
{
    bytes a = {0};
    onnx_attr_int(&a, "axis", 1);
    onnx_attr_int(&a, "keepdims", 0);
    onnx_node(g, "ArgMax", "x", "m", &a);
    onnx_int64s(g, "depth", 1, DIMS(3));
    FLOATS(g, "values", 1, DIMS(2), 0, 1);
    node_with(g, "OneHot", "m depth values", "y", "axis", 1);
}

static void resize(bytes *g, const char *inputs, const char *way, const char *policy)
{
    bytes a = {0};
    onnx_attr_text(&a, "mode", "nearest");
    onnx_attr_text(&a, "nearest_mode", "floor");
    onnx_attr_text(&a, "coordinate_transformation_mode", way);
    if (policy) {
        onnx_attr_text(&a, "keep_aspect_ratio_policy", policy);
        onnx_attr_ints(&a, "axes", DIMS(2, 3), 2);
    }
    onnx_node(g, "Resize", inputs, "y", &a);
}

/* A row's middle, and its ends. */
static void grid_sample(bytes *g, const char *mode, const char *padding, int64_t corners)
{
    bytes a = {0};
    if (mode)
        onnx_attr_text(&a, "mode", mode);
    if (padding)
        onnx_attr_text(&a, "padding_mode", padding);
    onnx_attr_int(&a, "align_corners", corners);
    FLOATS(g, "grid", 4, DIMS(1, 1, 3, 2), 0, 0, -1, 0, 1, 0);
    onnx_node(g, "GridSample", "x grid", "y", &a);
}

static void grid_sample_linear(bytes *g) { grid_sample(g, NULL, NULL, 0); }
static void grid_sample_nearest(bytes *g) { grid_sample(g, "nearest", "border", 1); }
static void grid_sample_cubic(bytes *g) { grid_sample(g, "cubic", "reflection", 1); }

static void resize_by(bytes *g, float height, float width, const char *way)
{
    FLOATS(g, "scales", 1, DIMS(4), 1, 1, height, width);
    resize(g, "x - scales", way, NULL);
}

static void resize_by_two_thirds_more(bytes *g)
{
    resize_by(g, 1, 1.6666666f, "asymmetric"); /* 6 times that: 9.9999996 */
}

/* 6 times 1.66 is 9.96: ten by what the file declares, nine if that is of something else. */
static void resize_to_what_is_declared(bytes *g)
{
    onnx_declare(g, "y", FLOAT, 4, DIMS(-1, 1, 1, 10));
    resize_by(g, 1, 1.66f, "asymmetric");
}

static void resize_to_less_than_is_declared(bytes *g)
{
    onnx_declare(g, "y", FLOAT, 4, DIMS(-1, 1, 2, 10));
    resize_by(g, 1, 1.66f, "asymmetric");
}

static void resize_as_tensorflow(bytes *g)
{
    resize_by(g, 1, 2, "tf_half_pixel_for_nn");
}

static void resize_not_larger(bytes *g)
{
    onnx_int64s(g, "sizes", 2, DIMS(5, 3));
    resize(g, "x - - sizes", "asymmetric", "not_larger"); /* by 1.5: 3 × 3 */
}

/* Resizes by scale and by policy, next to a dimension whose size is no whole product. */
static void resize_beside_a_fraction(bytes *g)
{
    resize_by(g, 1.6666666f, 1.25f, "asymmetric");
}

static void resize_not_larger_beside_a_fraction(bytes *g)
{
    onnx_int64s(g, "sizes", 2, DIMS(20, 5));
    resize(g, "x - - sizes", "asymmetric", "not_larger"); /* by 5/3: 3.33 × 5 */
}

/* To four columns, of a size that operators of the file compute. */
static void pad_to_a_multiple(bytes *g)
{
    onnx_node(g, "Shape", "x", "shape", NULL);
    onnx_int64s(g, "one", 1, DIMS(1));
    onnx_int64s(g, "four", 1, DIMS(4));
    onnx_int64s(g, "zeros", 3, DIMS(0, 0, 0));
    onnx_node(g, "Gather", "shape one", "columns", NULL);
    onnx_node(g, "Mod", "columns four", "rest", NULL);
    onnx_node(g, "Sub", "four rest", "more", NULL);
    onnx_node(g, "Mod", "more four", "missing", NULL);
    node_with(g, "Concat", "zeros missing", "pads", "axis", 0);
    onnx_node(g, "Pad", "x pads", "y", NULL);
}

static void split_with_nothing(bytes *g)
{
    onnx_int64s(g, "sizes", 3, DIMS(1, 0, 2));
    node_with(g, "Split", "x sizes", "a b c", "axis", 1);
    node_with(g, "Concat", "c b a", "y", "axis", 1);
}

/* The list `x` without its batch and class; "three" is known behind it. */
static void flat_scores(bytes *g, const char *name)
{
    onnx_int64s(g, "three", 1, DIMS(3));
    onnx_node(g, "Reshape", "x three", name, NULL);
}

/* Two boxes in one place and another: of three "rows" the last does not exist. */
static void suppress(bytes *g)
{
    FLOATS(g, "boxes", 3, DIMS(1, 3, 4), 0, 0, 1, 1, 5, 5, 6, 6, 0, 0, 1, 1);
    onnx_int64s(g, "most", 1, DIMS(3));
    FLOATS(g, "iou", 1, DIMS(1), 0.5f);
    onnx_node(g, "NonMaxSuppression", "boxes x most iou", "rows", NULL);
}

static void scores_of_boxes(bytes *g)
{
    suppress(g);
    onnx_int64s(g, "third", 1, DIMS(2));
    node_with(g, "Gather", "rows third", "column", "axis", 1);
    onnx_int64s(g, "last", 1, DIMS(1));
    onnx_node(g, "Squeeze", "column last", "places", NULL);
    flat_scores(g, "scores");
    onnx_node(g, "Gather", "scores places", "y", NULL);
}

/* Scores gathered by tuples of all three indices. */
static void scores_by_tuples(bytes *g)
{
    suppress(g);
    onnx_node(g, "GatherND", "x rows", "y", NULL);
}

/* A column of the rows that are chosen, by itself. */
static void column(bytes *g, const char *name, int64_t which)
{
    char place[16], two[32];
    snprintf(place, sizeof(place), "%s-at", name);
    snprintf(two, sizeof(two), "rows %s", place);
    onnx_initializer(g, place, 7, 0, NULL, &which, sizeof(which));
    node_with(g, "Gather", two, name, "axis", 1);
}

/* Scores from a flat list in which they are the second time, by batch * 3 + box + 3. */
static void scores_by_arithmetic(bytes *g)
{
    suppress(g);
    column(g, "batch", 0);
    column(g, "box", 2);
    flat_scores(g, "scores");
    onnx_node(g, "Mul", "batch three", "first", NULL);
    onnx_node(g, "Add", "first box", "place", NULL);
    onnx_node(g, "Add", "place three", "second", NULL);
    node_with(g, "Concat", "scores scores", "twice", "axis", 0);
    onnx_node(g, "Gather", "twice second", "y", NULL);
}

/* As exporters write an index that may count from the end. */
static void scores_from_the_end(bytes *g)
{
    suppress(g);
    onnx_int64s(g, "two", 1, DIMS(2));
    flat_scores(g, "scores");
    onnx_int64s(g, "one", 1, DIMS(1));
    onnx_int64s(g, "zero", 1, DIMS(0));
    onnx_node(g, "Slice", "rows two three one", "last", NULL);
    onnx_node(g, "Squeeze", "last one", "box", NULL);
    onnx_node(g, "Add", "box three", "later", NULL);
    onnx_node(g, "Less", "box zero", "below", NULL);
    onnx_node(g, "Where", "below later box", "place", NULL);
    node_with(g, "Cast", "place", "small", "to", 6);
    onnx_node(g, "Gather", "scores small", "y", NULL);
}

static void scores_by_joined_tuples(bytes *g)
{
    suppress(g);
    onnx_int64s(g, "zero", 1, DIMS(0));
    onnx_int64s(g, "one", 1, DIMS(1));
    onnx_int64s(g, "two", 1, DIMS(2));
    onnx_int64s(g, "three", 1, DIMS(3));
    onnx_node(g, "Slice", "rows zero two one", "list", NULL);
    onnx_node(g, "Slice", "rows two three one", "box", NULL);
    node_with(g, "Concat", "list box", "tuples", "axis", 1);
    onnx_node(g, "GatherND", "x tuples", "y", NULL);
}

/* Boxes that were chosen before: which, and then their scores, of which none is 0. */
static void scores_by_indices_of_indices(bytes *g)
{
    suppress(g);
    column(g, "box", 2);
    onnx_int64s(g, "chosen", 3, DIMS(0, 1, 2));
    onnx_node(g, "Gather", "chosen box", "place", NULL);
    flat_scores(g, "flat");
    FLOATS(g, "more", 1, DIMS(1), 1);
    onnx_node(g, "Add", "flat more", "scores", NULL);
    onnx_node(g, "Gather", "scores place", "y", NULL);
}

/* Two rows of three, and two more: behind each other, 2 * (box, score - 10). */
static void numbers_beside_indices(bytes *g)
{
    suppress(g);
    column(g, "box", 2);
    flat_scores(g, "scores");
    onnx_node(g, "Gather", "scores box", "score", NULL);
    FLOATS(g, "ten", 1, DIMS(1), 10);
    FLOATS(g, "two", 1, DIMS(1), 2);
    onnx_node(g, "Sub", "score ten", "low", NULL);
    node_with(g, "Cast", "box", "number", "to", FLOAT);
    node_with(g, "Concat", "number low", "both", "axis", 0);
    onnx_node(g, "Mul", "both two", "y", NULL);
}

static bytes functions; /* functions of the row that is being written */

/* F(x, b, slope = 10): of opset 10, in which scales are a resize's second input, and by
 * another function; names in them are others outside. */
static void two_calls(bytes *g)
{
    bytes nodes = {0}, a = {0};
    FLOATS(g, "b", 1, DIMS(2), 1, 2);
    onnx_attr_own(&a);
    onnx_attr_float(&a, "slope", 100);
    onnx_node(g, "F", "x b", "p", &a);
    onnx_attr_own(&a);
    onnx_node(g, "F", "x b", "q", &a);
    onnx_node(g, "Sub", "p q", "y", NULL);

    onnx_attr_own(&a);
    onnx_attr_of_call(&a, "alpha", 1, "slope");
    onnx_function_node(&nodes, "G", "x", "y", &a);
    onnx_function_node(&nodes, "Resize", "y b", "p", NULL);
    onnx_function_default(&nodes, "slope", 10);
    onnx_function(&functions, "F", "x b", "p", 10, &nodes);
    onnx_attr_of_call(&a, "alpha", 1, "alpha");
    onnx_function_node(&nodes, "Neg", "b", "x", NULL);
    onnx_function_node(&nodes, "LeakyRelu", "x", "a", &a);
    onnx_function(&functions, "G", "b", "a", 18, &nodes);
}

/* Two functions of one name, of which calls say which they mean: -x, and 2 x. */
static void overloads(bytes *g)
{
    enum { CALLED = 8, DEFINED = 13 };
    bytes nodes = {0}, a = {0};
    onnx_attr_own(&a);
    onnx_node(g, "F", "x", "p", &a);
    onnx_attr_own(&a);
    onnx_put_text(&a, CALLED, "two");
    onnx_node(g, "F", "x", "q", &a);
    onnx_node(g, "Sub", "p q", "y", NULL);

    onnx_function_node(&nodes, "Add", "x x", "y", NULL);
    onnx_put_text(&nodes, DEFINED, "two");
    onnx_function(&functions, "F", "x", "y", 18, &nodes);
    onnx_function_node(&nodes, "Neg", "x", "y", NULL);
    onnx_function(&functions, "F", "x", "y", 18, &nodes);
}

static void layer_normalization(bytes *g)
{
    FLOATS(g, "scale", 1, DIMS(2), 2, 3);
    FLOATS(g, "bias", 1, DIMS(2), 10, 20);
    onnx_node(g, "LayerNormalization", "x scale bias", "y", NULL);
}

static void layer_normalization_of_one_scale(bytes *g)
{
    FLOATS(g, "scale", 1, DIMS(1), 2);
    FLOATS(g, "bias", 1, DIMS(2), 10, 20);
    onnx_node(g, "LayerNormalization", "x scale bias", "y", NULL);
}

static const struct row {
    const char *name;
    void (*write)(bytes *g);
    int64_t x[4];
    uint32_t rank, y_rank, y[4];
    float expected[MOST];
    uint32_t operators; /* number of operators in the graph; 0: any */
} rows[] = {
    {"two transposes", two_transposes, {1, 2, 2, 3}, 4, 4, {1, 2, 2, 3},
     {0, 1, 2, 6, 7, 8, 3, 4, 5, 9, 10, 11}},
    {"more dimensions", more_dimensions, {1, 3, 4, 1}, 4, 3, {4, 3, 1},
     {0, 2, 4, 6, 8, 10, 1, 3, 5, 7, 9, 11}},
    {"Conv behind Transpose", conv_behind_transpose, {1, 2, 3}, 3, 3, {1, 1, 2}, {210, 543}},
    {"ConvTranspose behind Transpose", conv_transpose_behind_transpose, {1, 2, 3}, 3, 3,
     {1, 1, 2}, {210, 543}},
    {"BatchNormalization behind Transpose", normalization_behind_transpose, {1, 2, 3}, 3, 3,
     {1, 3, 2}, {0, 3, 10, 40, 200, 500}},
    {"BatchNormalization of [N, C]", normalization_of_two_dimensions, {2, 3, 1, 1}, 4, 2, {2, 3},
     {0, 10, 200, 3, 40, 500}},
    {"AveragePool behind Gather", pool_behind_gather, {1, 2, 3}, 3, 3, {1, 2, 1}, {1.5f, 4.5f}},
    {"OneHot behind ArgMax", one_hot_behind_arg_max, {1, 3, 1, 2}, 4, 4, {1, 3, 1, 2},
     {0, 0, 0, 0, 1, 1}},
    {"Resize by 5/3", resize_by_two_thirds_more, {1, 1, 1, 6}, 4, 4, {1, 1, 1, 10},
     {0, 0, 1, 1, 2, 3, 3, 4, 4, 5}},
    {"Resize to what is declared", resize_to_what_is_declared, {1, 1, 1, 6}, 4, 4, {1, 1, 1, 10},
     {0, 0, 1, 1, 2, 3, 3, 4, 4, 5}},
    {"Resize to less than is declared", resize_to_less_than_is_declared, {1, 1, 1, 6}, 4, 4,
     {1, 1, 1, 9}, {0, 0, 1, 1, 2, 3, 3, 4, 4}},
    {"Resize as TensorFlow", resize_as_tensorflow, {1, 1, 1, 2}, 4, 4, {1, 1, 1, 4}, {0, 0, 1, 1}},
    {"Resize, not larger", resize_not_larger, {1, 1, 2, 2}, 4, 4, {1, 1, 3, 3},
     {0, 0, 1, 0, 0, 1, 2, 2, 3}},
    {"Resize beside a fraction", resize_beside_a_fraction, {1, 1, 6, 1}, 4, 4, {1, 1, 10, 1},
     {0, 0, 1, 1, 2, 3, 3, 4, 4, 5}},
    {"Resize, not larger, beside a fraction", resize_not_larger_beside_a_fraction, {1, 1, 2, 3},
     4, 4, {1, 1, 3, 5}, {0, 0, 1, 1, 2, 0, 0, 1, 1, 2, 3, 3, 4, 4, 5}},
    {"GridSample", grid_sample_linear, {1, 1, 1, 4}, 4, 4, {1, 1, 1, 3}, {1.5f, 0, 1.5f}, 1},
    {"GridSample, nearest", grid_sample_nearest, {1, 1, 1, 4}, 4, 4, {1, 1, 1, 3}, {2, 0, 3}, 1},
    {"GridSample, cubic", grid_sample_cubic, {1, 1, 1, 4}, 4, 4, {1, 1, 1, 3}, {1.5f, 0, 3}, 1},
    {"Pad to a multiple", pad_to_a_multiple, {2, 3}, 2, 2, {2, 4}, {0, 1, 2, 0, 3, 4, 5, 0}},
    {"Split with an empty part", split_with_nothing, {1, 3}, 2, 2, {1, 3}, {1, 2, 0}},
    {"scores of boxes", scores_of_boxes, {1, 1, 3}, 3, 1, {3}, {2, 1, 0}},
    {"two calls of a function", two_calls, {1, 3}, 2, 2, {1, 6}, {0, 0, -90, -90, -180, -180}},
    {"functions of one name", overloads, {1, 3}, 2, 2, {1, 3}, {0, -3, -6}},
    {"scores by tuples", scores_by_tuples, {1, 1, 3}, 3, 1, {3}, {2, 1, 0}},
    {"scores by arithmetic", scores_by_arithmetic, {1, 1, 3}, 3, 1, {3}, {2, 1, 0}},
    {"scores from the end", scores_from_the_end, {1, 1, 3}, 3, 1, {3}, {2, 1, 0}},
    {"scores by joined tuples", scores_by_joined_tuples, {1, 1, 3}, 3, 1, {3}, {2, 1, 0}},
    {"scores by indices of indices", scores_by_indices_of_indices, {1, 1, 3}, 3, 1, {3},
     {3, 2, 0}},
    {"numbers beside indices", numbers_beside_indices, {1, 1, 3}, 3, 1, {6},
     {4, 2, -16, -18}},
    {"LayerNormalization", layer_normalization, {1, 3, 2}, 3, 3, {1, 3, 2},
     {8, 23, 8, 23, 8, 23}, 1},
    {"LayerNormalization of one scale", layer_normalization_of_one_scale, {1, 3, 2}, 3, 3,
     {1, 3, 2}, {8, 22, 8, 22, 8, 22}, 0},
};

static void run(struct tdl_context *ctx, const struct row *row, bool fused)
{
    struct tdl_binding in = {"x", NULL}, out = {"y", NULL};
    struct tdl_builder *b;
    struct tdl_graph *graph = NULL;
    float x[MOST], got[MOST];
    bytes g = {0};
    size_t size, count = 1;
    check_begin("%s, %s", row->name, fused ? "fused" : "not fused");
    onnx_input(&g, "x", FLOAT, row->rank, row->x);
    row->write(&g);
    onnx_output(&g, "y");
    uint8_t *model = onnx_model_with(&g, &functions, 18, &size);
    OK(tdl_builder_create(ctx, &b));
    OK(tdl_model_import(b, model, size, NULL));
    OK(tdl_builder_build(b,
                         &(struct tdl_build_params){.precision = TDL_PRECISION_FP32,
                                                    .no_fuse = !fused},
                         &graph));
    struct tdl_graph_stats stats;
    tdl_graph_get_stats(graph, &stats);
    CHECK(!row->operators || stats.operators == row->operators, "%u operators", stats.operators);
    struct tdl_tensor_params p = *tdl_graph_input(graph, 0, NULL);
    struct tdl_tensor_params q = *tdl_graph_output(graph, 0, NULL);
    p.usage = TDL_TENSOR_WRITABLE;
    q.usage = TDL_TENSOR_READABLE;
    OK(tdl_tensor_create(ctx, &p, &in.tensor));
    OK(tdl_tensor_create(ctx, &q, &out.tensor));
    for (int i = 0; i < MOST; i++)
        x[i] = (float)i;
    OK(tdl_tensor_write(in.tensor, x, tdl_tensor_params_size(&p), NULL));
    OK(tdl_graph_dispatch(graph, &in, 1, &out, 1, NULL));
    bool same = q.rank == row->y_rank && q.dtype == TDL_FLOAT32;
    for (uint32_t i = 0; i < row->y_rank; i++) {
        same = same && q.shape[i] == row->y[i];
        count *= row->y[i];
    }
    if (CHECK(same, "the result has another shape")) {
        OK(tdl_tensor_read(out.tensor, got, tdl_tensor_params_size(&q)));
        for (size_t i = 0; i < count; i++)
            CHECK(fabsf(got[i] - row->expected[i]) <= 1e-4f * (1 + fabsf(row->expected[i])),
                  "element %zu is %g instead of %g", i, (double)got[i], (double)row->expected[i]);
    }
    tdl_tensor_destroy(&in.tensor);
    tdl_tensor_destroy(&out.tensor);
    tdl_graph_destroy(&graph);
    tdl_builder_destroy(&b);
    free(model);
}

/* An input of which the file says nothing but that it is a tensor of floats. */
static void check_without_shape(struct tdl_context *ctx)
{
    const struct tdl_model_dimension places[] = {{.name = "x:0", .size = 2},
                                                 {.name = "x:1", .size = 5}};
    const struct {
        struct tdl_model_params params;
        enum tdl_result result;
        uint32_t rank, shape[4];
        const char *text;
    } cases[] = {
        {.result = TDL_ERROR_UNSUPPORTED, .text = "'x:2', 'x:3'"},
        {.params = {.size = {6, 7}}, .rank = 4, .shape = {1, 3, 6, 7}, .text = ""},
        {.params = {.dimensions = places, .dimension_count = 2},
         .rank = 2,
         .shape = {2, 5},
         .text = ""},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        bytes g = {0}, value = {0}, type = {0}, tensor = {0};
        struct tdl_builder *b;
        size_t size;
        check_begin("an input without a shape, %zu", i);
        onnx_put_int(&tensor, 1, FLOAT);
        onnx_put_message(&type, 1, &tensor);
        onnx_put_text(&value, 1, "x");
        onnx_put_message(&value, 2, &type);
        onnx_put_message(&g, 11, &value);
        onnx_node(&g, "Relu", "x", "y", NULL);
        onnx_output(&g, "y");
        uint8_t *model = onnx_model(&g, 18, &size);
        OK(tdl_builder_create(ctx, &b));
        const enum tdl_result r = tdl_model_import(b, model, size, &cases[i].params);
        CHECK(r == cases[i].result && strstr(tdl_builder_error(b), cases[i].text), "%d: %s", r,
              tdl_builder_error(b));
        if (r == TDL_OK) {
            struct tdl_graph *graph = NULL;
            OK(tdl_builder_build(b, NULL, &graph));
            const struct tdl_tensor_params *p = tdl_graph_input(graph, 0, NULL);
            CHECK(p->rank == cases[i].rank && !memcmp(p->shape, cases[i].shape, 4 * p->rank),
                  "another shape");
            tdl_graph_destroy(&graph);
        }
        tdl_builder_destroy(&b);
        free(model);
    }
}

int main(void)
{
    struct tdl_context *ctx = check_context_open();
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        for (int fused = 0; fused < 2; fused++)
            run(ctx, &rows[i], fused);
    check_without_shape(ctx);
    check_context_close(ctx);
    return check_result();
}
