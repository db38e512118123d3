/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * ONNX graphs whose sizes depend on numbers. Each has an output "y" with its largest shape,
 * masked, and "y.shape" with the sizes of what exists. All results follow by hand.
 */
#include "../engine/check.h"
#include "onnx-writer.h"

#include <tdl/models.h>

#include <math.h>
#include <stdlib.h>

typedef struct onnx_bytes bytes;
enum { FLOAT = 1, INT64 = 7, MOST = 64 };
#define DIMS(...) ((const int64_t[]){__VA_ARGS__})

static void node_with(bytes *g, const char *type, const char *inputs, const char *outputs,
                      const char *attribute, int64_t value)
{
    bytes a = {0};
    onnx_attr_int(&a, attribute, value);
    onnx_node(g, type, inputs, outputs, &a);
}

static void as_float(bytes *g, const char *from)
{
    node_with(g, "Cast", from, "y", "to", FLOAT);
}

static void number(bytes *g, const char *name, float value)
{
    onnx_initializer(g, name, FLOAT, 0, NULL, &value, sizeof(value));
}

/* Elements of x, of one dimension, that are above a number, as "rows". */
static void choose(bytes *g)
{
    number(g, "limit", 0.5f);
    onnx_node(g, "Greater", "x limit", "is", NULL);
    onnx_node(g, "Compress", "x is", "rows", NULL);
}

static void compress(bytes *g)
{
    choose(g);
    onnx_node(g, "Neg", "rows", "y", NULL);
}

static void compress_columns(bytes *g)
{
    onnx_int64s(g, "first", 1, DIMS(0));
    node_with(g, "Gather", "x first", "row", "axis", 0);
    onnx_int64s(g, "three", 1, DIMS(3));
    onnx_node(g, "Reshape", "row three", "flat", NULL);
    node_with(g, "Cast", "flat", "is", "to", 9);
    node_with(g, "Compress", "x is", "y", "axis", 1);
}

static void non_zero(bytes *g)
{
    onnx_node(g, "NonZero", "x", "places", NULL);
    as_float(g, "places");
}

/* As an exporter writes x[x > limit]. */
static void boolean_mask(bytes *g)
{
    bytes a = {0};
    number(g, "limit", 0.5f);
    onnx_node(g, "Greater", "x limit", "is", NULL);
    onnx_node(g, "NonZero", "is", "places", NULL);
    onnx_attr_ints(&a, "perm", DIMS(1, 0), 2);
    onnx_node(g, "Transpose", "places", "tuples", &a);
    onnx_node(g, "GatherND", "x tuples", "y", NULL);
}

static void shape_as_numbers(bytes *g)
{
    choose(g);
    onnx_node(g, "Shape", "rows", "sizes", NULL);
    as_float(g, "sizes");
}

static void joined(bytes *g)
{
    choose(g);
    onnx_node(g, "Neg", "rows", "less", NULL);
    node_with(g, "Concat", "rows x less", "y", "axis", 0);
}

static void reduced(bytes *g, const char *type)
{
    choose(g);
    onnx_node(g, "Neg", "rows", "less", NULL);
    node_with(g, type, "less", "y", "keepdims", 1);
}

static void largest(bytes *g)
{
    reduced(g, "ReduceMax");
}

static void mean(bytes *g)
{
    reduced(g, "ReduceMean");
}

static void product(bytes *g)
{
    reduced(g, "ReduceProd");
}

static void arg_min(bytes *g)
{
    choose(g);
    node_with(g, "ArgMin", "rows", "least", "keepdims", 1);
    as_float(g, "least");
}

static void softmax(bytes *g)
{
    choose(g);
    onnx_node(g, "Sub", "rows rows", "none", NULL);
    node_with(g, "Softmax", "none", "y", "axis", 0);
}

/* All but the last, and the last. */
static void slice_from_end(bytes *g)
{
    choose(g);
    onnx_int64s(g, "zero", 1, DIMS(0));
    onnx_int64s(g, "end", 1, DIMS(-1));
    onnx_node(g, "Slice", "rows zero end", "y", NULL);
}

static void last(bytes *g)
{
    choose(g);
    onnx_int64s(g, "end", 1, DIMS(-1));
    onnx_node(g, "Gather", "rows end", "y", NULL);
}

static void every_second(bytes *g)
{
    choose(g);
    onnx_int64s(g, "from", 1, DIMS(0));
    onnx_int64s(g, "to", 1, DIMS(INT64_MAX));
    onnx_int64s(g, "by", 1, DIMS(2));
    onnx_int64s(g, "axis", 1, DIMS(0));
    onnx_node(g, "Slice", "rows from to axis by", "y", NULL);
}

/* As an exporter writes topk(min(k, len(rows))). */
static void top_k(bytes *g)
{
    choose(g);
    onnx_node(g, "Neg", "rows", "less", NULL);
    onnx_int64s(g, "three", 1, DIMS(3));
    onnx_node(g, "Shape", "rows", "size", NULL);
    onnx_node(g, "Min", "three size", "k", NULL);
    onnx_node(g, "TopK", "less k", "y places", NULL);
}

/* Numbers 1, 2, … for the rows, in pairs: a list that becomes a table and a list again. */
static void pairs(bytes *g)
{
    int64_t zero = 0, one = 1;
    choose(g);
    onnx_initializer(g, "zero", INT64, 0, NULL, &zero, 8);
    onnx_initializer(g, "one", INT64, 0, NULL, &one, 8);
    onnx_int64s(g, "column", 2, DIMS(-1, 1));
    onnx_int64s(g, "flat", 1, DIMS(-1));
    onnx_int64s(g, "two", 1, DIMS(2));
    onnx_node(g, "Shape", "rows", "sizes", NULL);
    onnx_node(g, "Squeeze", "sizes", "size", NULL);
    onnx_node(g, "Range", "zero size one", "numbers", NULL);
    node_with(g, "Cast", "numbers", "reals", "to", FLOAT);
    onnx_node(g, "Reshape", "reals column", "table", NULL);
    node_with(g, "Concat", "sizes two", "wide", "axis", 0);
    onnx_node(g, "Expand", "table wide", "twice", NULL);
    onnx_node(g, "Reshape", "twice flat", "y", NULL);
}

static void outer_product(bytes *g)
{
    choose(g);
    onnx_int64s(g, "row", 2, DIMS(1, -1));
    onnx_int64s(g, "column", 2, DIMS(-1, 1));
    onnx_node(g, "Reshape", "rows row", "a", NULL);
    onnx_node(g, "Reshape", "rows column", "b", NULL);
    onnx_node(g, "MatMul", "a b", "y", NULL);
}

/* Rows that are put at places: those that do not exist go nowhere. */
static void scatter(bytes *g)
{
    choose(g);
    number(g, "half", 0.5f);
    onnx_node(g, "Sub", "rows half", "before", NULL);
    node_with(g, "Cast", "before", "places", "to", INT64);
    onnx_node(g, "Neg", "rows", "less", NULL);
    node_with(g, "ScatterElements", "x places less", "y", "axis", 0);
}

/* A graph of one node as an attribute, whose output is "out" in every one. */
static void branch(bytes *attributes, const char *name, bytes *nodes)
{
    onnx_output(nodes, "out");
    onnx_attr_message(attributes, name, 6, nodes);
}

/* "y": -rows if the first number of x is above 0, else the others of x. */
static void branches(bytes *g)
{
    bytes then = {0}, other = {0}, a = {0};
    choose(g);
    onnx_int64s(g, "zero", 1, DIMS(0));
    onnx_int64s(g, "one", 1, DIMS(1));
    onnx_int64s(g, "three", 1, DIMS(3));
    onnx_node(g, "Gather", "x zero", "first", NULL);
    node_with(g, "Cast", "first", "some", "to", 9);
    onnx_node(&then, "Neg", "rows", "out", NULL);
    onnx_node(&other, "Slice", "x one three", "out", NULL);
    branch(&a, "then_branch", &then);
    branch(&a, "else_branch", &other);
    onnx_node(g, "If", "some", "y", &a);
}

/* As exporters write what there is to do for no boxes: nothing. */
static void branch_of_nothing(bytes *g)
{
    bytes then = {0}, other = {0}, a = {0};
    int64_t zero = 0;
    choose(g);
    onnx_int64s(g, "empty", 1, DIMS(0));
    onnx_initializer(g, "zero", INT64, 0, NULL, &zero, 8);
    onnx_node(g, "Size", "rows", "size", NULL);
    onnx_node(g, "Equal", "size zero", "is-empty", NULL);
    onnx_node(&then, "ConstantOfShape", "empty", "out", NULL);
    onnx_node(&other, "Neg", "rows", "out", NULL);
    branch(&a, "then_branch", &then);
    branch(&a, "else_branch", &other);
    onnx_node(g, "If", "is-empty", "y", &a);
}

static void none(bytes *g)
{
    number(g, "limit", 9);
    onnx_node(g, "Greater", "x limit", "is", NULL);
    onnx_node(g, "Compress", "x is", "y", NULL);
}

static const struct row {
    const char *name;
    void (*write)(bytes *g);
    int64_t dims[3];
    uint32_t rank;
    float x[8];
    uint32_t y_rank, most[3], shape[3]; /* most: 0 where there is no y.shape */
    float expected[MOST];
} rows[] = {
    {"Compress", compress, {5}, 1, {0, 3, 0, 2, 1}, 1, {5}, {3}, {-3, -2, -1}},
    {"Compress of columns", compress_columns, {2, 3}, 2, {0, 3, 1, 7, 8, 9}, 2, {2, 3}, {2, 2},
     {3, 1, 0, 8, 9, 0}},
    {"NonZero", non_zero, {2, 3}, 2, {0, 3, 0, 2, 0, 1}, 2, {2, 6}, {2, 3},
     {0, 1, 1, 0, 0, 0, 1, 0, 2}},
    {"boolean mask", boolean_mask, {2, 3}, 2, {0, 3, 0, 2, 0, 1}, 1, {6}, {3}, {3, 2, 1}},
    {"Shape", shape_as_numbers, {5}, 1, {0, 3, 0, 2, 1}, 1, {0}, {1}, {3}},
    {"Concat", joined, {3}, 1, {0, 3, 2}, 1, {9}, {7}, {3, 2, 0, 3, 2, -3, -2}},
    {"ReduceMax", largest, {5}, 1, {0, 3, 0, 2, 1}, 1, {0}, {1}, {-1}},
    {"ReduceMean", mean, {5}, 1, {0, 3, 0, 2, 1}, 1, {0}, {1}, {-2}},
    {"ReduceProd", product, {5}, 1, {0, 3, 0, 2, 1}, 1, {0}, {1}, {-6}},
    {"ArgMin", arg_min, {5}, 1, {0, 3, 0, 2, 1}, 1, {0}, {1}, {2}},
    {"Softmax", softmax, {5}, 1, {0, 3, 0, 2, 0}, 1, {5}, {2}, {0.5f, 0.5f}},
    {"Slice to the last", slice_from_end, {5}, 1, {0, 3, 0, 2, 1}, 1, {4}, {2}, {3, 2}},
    {"every second", every_second, {5}, 1, {0, 3, 0, 2, 1}, 1, {3}, {2}, {3, 1}},
    {"Gather of the last", last, {5}, 1, {0, 3, 0, 2, 1}, 1, {0}, {1}, {1}},
    {"TopK of more", top_k, {6}, 1, {0, 3, 4, 2, 1, 5}, 1, {3}, {3}, {-1, -2, -3}},
    {"TopK of fewer", top_k, {6}, 1, {0, 3, 0, 2, 0, 0}, 1, {3}, {2}, {-2, -3}},
    {"Range, Expand and Reshape", pairs, {4}, 1, {0, 3, 2, 1}, 1, {8}, {6}, {0, 0, 1, 1, 2, 2}},
    {"MatMul", outer_product, {4}, 1, {0, 3, 2, 1}, 2, {0}, {1, 1}, {14}},
    {"ScatterElements", scatter, {4}, 1, {0, 3, 1, 0}, 1, {0}, {4}, {-1, 3, -3, 0}},
    {"If, one way", branches, {4}, 1, {1, 3, 2, 0}, 1, {4}, {3}, {-1, -3, -2}},
    {"If, the other way", branches, {4}, 1, {0, 3, 2, 0}, 1, {4}, {2}, {3, 2}},
    {"If there are some", branch_of_nothing, {4}, 1, {0, 3, 2, 0}, 1, {4}, {2}, {-3, -2}},
    {"If there are none", branch_of_nothing, {4}, 1, {0, 0, 0, 0}, 1, {4}, {0}, {0}},
    {"none", none, {4}, 1, {0, 3, 1, 0}, 1, {4}, {0}, {0}},
};

static struct tdl_tensor *tensor_of(struct tdl_context *ctx, const struct tdl_tensor_params *params)
{
    struct tdl_tensor_params p = *params;
    struct tdl_tensor *tensor = NULL;
    p.usage = TDL_TENSOR_WRITABLE | TDL_TENSOR_READABLE;
    OK(tdl_tensor_create(ctx, &p, &tensor));
    return tensor;
}

/* The largest shape, the sizes of what exists, and the numbers, 0 where there is nothing. */
static void check_result_of(const struct row *row, const struct tdl_tensor_params *p,
                            const float *y, const int32_t *shape)
{
    const uint32_t *most = row->most[0] ? row->most : row->shape;
    size_t count = 1;
    CHECK(p->rank == row->y_rank && !memcmp(p->shape, most, 4 * p->rank),
          "the result has another shape");
    for (uint32_t d = 0; d < row->y_rank; d++) {
        count *= most[d];
        CHECK(!shape || (uint32_t)shape[d] == row->shape[d], "size %u is %d instead of %u", d,
              (int)shape[d], row->shape[d]);
    }
    for (size_t i = 0; i < count; i++)
        CHECK(fabsf(y[i] - row->expected[i]) <= 1e-5f, "element %zu is %g instead of %g", i,
              (double)y[i], (double)row->expected[i]);
}

static void run(struct tdl_context *ctx, const struct row *row, bool fused)
{
    struct tdl_binding in = {"x", NULL}, out[2] = {{"y", NULL}, {"y.shape", NULL}};
    const uint32_t outputs = row->most[0] ? 2 : 1;
    struct tdl_builder *b;
    struct tdl_graph *graph = NULL;
    int32_t shape[TDL_MAX_RANK];
    float y[MOST];
    bytes g = {0};
    size_t size;
    check_begin("%s, %s", row->name, fused ? "fused" : "not fused");
    onnx_input(&g, "x", FLOAT, row->rank, row->dims);
    row->write(&g);
    onnx_output(&g, "y");
    uint8_t *model = onnx_model(&g, 18, &size);
    OK(tdl_builder_create(ctx, &b));
    OK(tdl_model_import(b, model, size, &(struct tdl_model_params){.output_shapes = true}));
    OK(tdl_builder_build(
        b, &(struct tdl_build_params){.precision = TDL_PRECISION_FP32, .no_fuse = !fused}, &graph));
    in.tensor = tensor_of(ctx, tdl_graph_input(graph, 0, NULL));
    REQUIRE(!tdl_graph_output(graph, outputs, NULL), "more outputs than %u", outputs);
    for (uint32_t i = 0; i < outputs; i++) {
        const char *name = NULL;
        const struct tdl_tensor_params *p = tdl_graph_output(graph, i, &name);
        REQUIRE(p && !strcmp(name, out[i].name), "output %u has another name", i);
        out[i].tensor = tensor_of(ctx, p);
    }
    const struct tdl_tensor_params p = *tdl_graph_output(graph, 0, NULL);
    OK(tdl_tensor_write(in.tensor, row->x, tdl_tensor_params_size(tdl_graph_input(graph, 0, NULL)),
                        NULL));
    OK(tdl_graph_dispatch(graph, &in, 1, out, outputs, NULL));
    OK(tdl_tensor_read(out[0].tensor, y, tdl_tensor_params_size(&p)));
    if (outputs > 1)
        OK(tdl_tensor_read(out[1].tensor, shape, 4 * p.rank));
    check_result_of(row, &p, y, outputs > 1 ? shape : NULL);
    for (uint32_t i = 0; i < outputs; i++)
        tdl_tensor_destroy(&out[i].tensor);
    tdl_tensor_destroy(&in.tensor);
    tdl_graph_destroy(&graph);
    tdl_builder_destroy(&b);
    free(model);
}

int main(void)
{
    struct tdl_context *ctx = check_context_open();
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        for (int fused = 0; fused < 2; fused++)
            run(ctx, &rows[i], fused);
    check_context_close(ctx);
    return check_result();
}
