/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One builder, graphs of several sizes: they compute what graphs do whose builders never
 * knew another size, and have the weights in common; where an operator's options were made
 * for a size, that is an error, and nothing has changed.
 */
#include "subject.h"

#include <math.h>

typedef struct tdl_operand *O;

enum { CHANNELS = 8, MOST = 4 * 32 * 32 * CHANNELS };

static struct tdl_context *ctx;

struct size {
    uint32_t n, h, w;
};

static O conv(struct tdl_builder *b, struct rng *rng, O x, uint32_t stride)
{
    O f = subject_filter(b, rng, CHANNELS, 3, 3, CHANNELS), c = subject_bias(b, rng, CHANNELS);
    return tdl_builder_conv2d(b, x, f,
                              &(struct tdl_conv2d_params){.stride = {stride, stride},
                                                          .padding = TDL_PADDING_SAME_UPPER,
                                                          .bias = c,
                                                          .activation = TDL_ACTIVATION_RELU});
}

/* Down, a gate by the means of the whole image, up by a scale, and what was there. */
static O network(struct tdl_builder *b, O x)
{
    struct rng rng = {11};
    O down = conv(b, &rng, x, 2);
    down = tdl_builder_max_pool2d(
        b, down, &(struct tdl_pool2d_params){.window = {2, 2}, .stride = {2, 2}});
    O gate = tdl_builder_sigmoid(b, conv(b, &rng, tdl_builder_average_pool2d(b, down, NULL), 1));
    O up = tdl_builder_resample2d(
        b, tdl_builder_mul(b, down, gate),
        &(struct tdl_resample2d_params){.mode = TDL_RESAMPLE_LINEAR, .scale = {4, 4}});
    O both = tdl_builder_concat(b, (O[]){up, x}, 2, 3);
    O f = subject_filter(b, &rng, CHANNELS, 2, 2, 2 * CHANNELS);
    O y = tdl_builder_conv_transpose2d(
        b, both, f, &(struct tdl_conv_transpose2d_params){.stride = {2, 2}});
    const struct tdl_reduce_params mean = {
        .axes = {1, 2}, .axis_count = 2, .keep_dimensions = true};
    y = tdl_builder_sub(b, y, tdl_builder_reduce(b, y, TDL_REDUCE_MEAN, &mean));
    return tdl_builder_softmax(b, tdl_builder_transpose(b, y, (const uint32_t[]){0, 3, 1, 2}), 1);
}

static struct tdl_builder *open(struct size s)
{
    struct tdl_builder *b;
    OK(check_builder(ctx, &b));
    O x = subject_input(b, "x", subject_image(TDL_LAYOUT_NHWC, s.n, s.h, s.w, CHANNELS));
    OK(tdl_builder_output(b, "y", network(b, x)));
    return b;
}

static enum tdl_result resize(struct tdl_builder *b, struct size s)
{
    return tdl_builder_resize(b, &(struct tdl_input_size){"x", {s.n, s.h, s.w, CHANNELS}}, 1);
}

/* The graph of random pictures; how many bytes there are of them. */
static size_t run(struct tdl_builder *b, float *out)
{
    static float values[MOST];
    struct rng rng = {5};
    struct tdl_graph *g;
    OK(tdl_builder_build(b, NULL, &g));
    const size_t count = tdl_tensor_params_size(tdl_graph_input(g, 0, NULL)) / sizeof(float);
    const size_t bytes = tdl_tensor_params_size(tdl_graph_output(g, 0, NULL));
    REQUIRE(count <= MOST && bytes <= 4 * MOST * sizeof(float), "too large");
    for (size_t i = 0; i < count; i++)
        values[i] = rng_float(&rng, -1, 1);
    check_dispatch(ctx, g, values, out);
    tdl_graph_destroy(&g);
    return bytes;
}

static float *want, *got;

static void check_run(struct tdl_builder *b, struct size s)
{
    struct tdl_builder *fresh = open(s);
    const size_t bytes = run(fresh, want);
    check_begin("resize: %ux%ux%u", s.n, s.h, s.w);
    CHECK(run(b, got) == bytes && !memcmp(want, got, bytes), "other results");
    tdl_builder_destroy(&fresh);
}

static void check_sizes(void)
{
    static const struct size sizes[] = {{1, 16, 16}, {3, 16, 8}, {1, 24, 32}, {1, 16, 16}};
    struct tdl_builder *b = open(sizes[0]);
    for (size_t i = 0; i < COUNT(sizes); i++) {
        OK(resize(b, sizes[i]));
        check_run(b, sizes[i]);
    }
    check_begin("resize: refused, and as before");
    FAILS(resize(b, (struct size){1, 18, 16}), TDL_ERROR_INVALID_ARGUMENT, "concat");
    FAILS(resize(b, (struct size){0, 16, 16}), TDL_ERROR_INVALID_ARGUMENT, "1 or more");
    FAILS(tdl_builder_resize(b, &(struct tdl_input_size){"z", {1}}, 1), TDL_ERROR_INVALID_ARGUMENT,
          "no input \"z\"");
    OK(tdl_builder_status(b));
    check_run(b, sizes[COUNT(sizes) - 1]);
    tdl_builder_destroy(&b);
}

/* Two inputs that have to change at once; the weights are there once. */
static void check_two(void)
{
    struct tdl_context_stats before, after;
    struct tdl_graph_stats stats;
    struct tdl_graph *g[2];
    struct tdl_builder *b;
    struct rng rng = {3};
    float w[CHANNELS * CHANNELS];
    check_begin("resize: two inputs");
    for (size_t i = 0; i < COUNT(w); i++)
        w[i] = rng_float(&rng, -1, 1);
    OK(check_builder(ctx, &b));
    O x = subject_input(b, "x", SUBJECT_SHAPE(TDL_FLOAT32, 1, 2, CHANNELS));
    O z = subject_input(b, "z", SUBJECT_SHAPE(TDL_FLOAT32, 1, 2, CHANNELS));
    O m = subject_constant(b, 3, (const uint32_t[]){1, CHANNELS, CHANNELS}, w);
    O y = tdl_builder_matmul(b, tdl_builder_add(b, x, z), m);
    OK(tdl_builder_output(b, "y", y));
    OK(tdl_builder_build(b, NULL, &g[0]));
    const struct tdl_input_size sizes[] = {{"x", {1, 7, CHANNELS}}, {"z", {1, 7, CHANNELS}}};
    FAILS(tdl_builder_resize(b, sizes, 1), TDL_ERROR_INVALID_ARGUMENT, "broadcast");
    OK(tdl_builder_resize(b, sizes, 2));
    CHECK(tdl_operand_get_desc(y)->shape[1] == 7, "the output has %u rows",
          tdl_operand_get_desc(y)->shape[1]);
    OK(tdl_context_sync(ctx));
    tdl_context_get_stats(ctx, &before);
    OK(tdl_builder_build(b, NULL, &g[1]));
    OK(tdl_context_sync(ctx));
    tdl_context_get_stats(ctx, &after);
    tdl_graph_get_stats(g[1], &stats);
    CHECK(after.memory_bytes - before.memory_bytes <= stats.arena_bytes + 16, "%llu bytes more",
          (unsigned long long)(after.memory_bytes - before.memory_bytes));
    for (int i = 0; i < 2; i++)
        tdl_graph_destroy(&g[i]);
    tdl_builder_destroy(&b);
}

static O reshape(struct tdl_builder *b, O x)
{
    return tdl_builder_reshape(b, x, 2, (const uint32_t[]){4, 16});
}

static O slice(struct tdl_builder *b, O x)
{
    return tdl_builder_slice(b, x, NULL);
}

static O upscale(struct tdl_builder *b, O x)
{
    return tdl_builder_resample2d(b, x, &(struct tdl_resample2d_params){.size = {8, 8}});
}

static O reduce(struct tdl_builder *b, O x)
{
    return tdl_builder_reduce(b, x, TDL_REDUCE_SUM, &(struct tdl_reduce_params){.axes = {2},
                                                                              .axis_count = 1});
}

/* Operators that were given a size, or computed one, are refused; also behind one that was not. */
static void check_refused(void)
{
    O (*const made[])(struct tdl_builder *, O) = {reshape, slice, upscale, reduce};
    for (size_t i = 0; i < COUNT(made); i++) {
        struct tdl_builder *b;
        check_begin("resize: refused, %zu", i);
        OK(check_builder(ctx, &b));
        O x = subject_input(b, "x", subject_image(TDL_LAYOUT_NHWC, 1, 4, 4, 4));
        O y = made[i](b, tdl_builder_relu(b, x));
        OK(tdl_builder_status(b));
        const struct tdl_input_size size = {"x", {1, 8, 4, 4}};
        FAILS(tdl_builder_resize(b, &size, 1), TDL_ERROR_UNSUPPORTED, "builder of their own");
        CHECK(tdl_operand_get_desc(x)->shape[1] == 4 && y, "the input has changed");
        OK(tdl_builder_resize(b, &(struct tdl_input_size){"x", {1, 4, 4, 4}}, 1)); /* none */
        tdl_builder_fix_sizes(b);
        FAILS(tdl_builder_resize(b, &size, 1), TDL_ERROR_UNSUPPORTED, "tdl_model_params");
        tdl_builder_destroy(&b);
    }
}

/* -------------------------------------------------------------- several pictures */

enum { PICTURES = 3, SIDE = 8 };

/* All that keeps pictures apart, with shapes in the way of models that were read. */
static O apart(struct tdl_builder *b, O x)
{
    struct rng rng = {17};
    const uint32_t rows[] = {1, SIDE * SIDE, CHANNELS}, image[] = {1, SIDE, SIDE, CHANNELS};
    const uint32_t wide[] = {1, SIDE, SIDE, CHANNELS}, thin[] = {1, SIDE, SIDE, 1};
    static const int32_t taken[] = {3, 0, 7, 3, 1, 2, 5, 4};
    float w[CHANNELS * CHANNELS];
    for (size_t i = 0; i < COUNT(w); i++)
        w[i] = rng_float(&rng, -1, 1);
    O y = tdl_builder_resample2d(b, conv(b, &rng, x, 2),
                                 &(struct tdl_resample2d_params){.size = {SIDE, SIDE}});
    O m = tdl_builder_reshape(b, tdl_builder_add(b, x, y), 3, rows);
    m = tdl_builder_matmul(b, m, subject_constant(b, 2, (const uint32_t[]){CHANNELS, CHANNELS}, w));
    m = tdl_builder_layer_normalization(b, m, NULL);
    m = tdl_builder_matmul(b, tdl_builder_softmax(b, m, 2),
                           tdl_builder_matmul(b, tdl_builder_transpose(
                                                     b, m, (const uint32_t[]){0, 2, 1}), m));
    m = tdl_builder_reshape(b, m, 4, image);
    const struct tdl_tensor_params list = {.dtype = TDL_INT32, .rank = 1, .shape = {CHANNELS}};
    m = tdl_builder_gather(b, m, tdl_builder_constant(b, &list, taken, sizeof(taken)), 3);
    const struct tdl_reduce_params mean = {.axes = {3}, .axis_count = 1, .keep_dimensions = true};
    O s = tdl_builder_reduce(b, m, TDL_REDUCE_MEAN, &mean);
    s = tdl_builder_expand(b, tdl_builder_reshape(b, s, 4, thin), 4, wide);
    m = tdl_builder_pad(b, tdl_builder_mul(b, m, s),
                        &(struct tdl_pad_params){.before = {0, 1}, .after = {0, 0, 2}});
    m = tdl_builder_slice(b, m, &(struct tdl_slice_params){.start = {0, 1, 2, 0}});
    return tdl_builder_concat(b, (O[]){m, x}, 2, 3);
}

static struct tdl_builder *open_apart(void)
{
    struct tdl_builder *b;
    OK(check_builder(ctx, &b));
    O x = subject_input(b, "x", subject_image(TDL_LAYOUT_NHWC, 1, SIDE, SIDE, CHANNELS));
    OK(tdl_builder_output(b, "y", apart(b, x)));
    tdl_builder_fix_sizes(b); /* as of a file */
    return b;
}

/* Together as alone; the graph that was there before is as it was. */
static void check_stacked(struct tdl_builder *(*make)(void), size_t in, uint32_t pictures)
{
    struct tdl_builder *b = make();
    struct rng rng = {23};
    float *values = malloc(pictures * in * sizeof(float));
    struct tdl_graph *one, *all;
    REQUIRE(values, "no memory");
    for (size_t i = 0; i < pictures * in; i++)
        values[i] = rng_float(&rng, -1, 1);
    OK(tdl_builder_build(b, NULL, &one));
    OK(tdl_builder_stack(b, pictures));
    OK(tdl_builder_build(b, NULL, &all));
    const struct tdl_tensor_params *p = tdl_graph_output(one, 0, NULL);
    const size_t out = tdl_tensor_params_size(p) / sizeof(float);
    CHECK(tdl_graph_output(all, 0, NULL)->shape[0] == pictures, "not so many pictures");
    REQUIRE(pictures * out <= 4 * MOST, "too large");
    check_dispatch(ctx, all, values, got);
    for (uint32_t i = 0; i < pictures; i++) {
        check_dispatch(ctx, one, values + i * in, want);
        for (size_t k = 0; k < out; k++)
            CHECK(fabsf(want[k] - got[i * out + k]) <= 1e-4f * (1 + fabsf(want[k])),
                  "picture %u, %zu: %g, alone %g", i, k, (double)got[i * out + k],
                  (double)want[k]);
    }
    FAILS(tdl_builder_stack(b, 2), TDL_ERROR_UNSUPPORTED, "has to be 1");
    if (pictures > 1)
        FAILS(tdl_builder_stack(b, 1), TDL_ERROR_UNSUPPORTED, "has to be 1");
    tdl_graph_destroy(&one);
    tdl_graph_destroy(&all);
    tdl_builder_destroy(&b);
    free(values);
}

/* The others that do. */
static O seldom(struct tdl_builder *b, O x)
{
    struct rng rng = {29};
    O mean = subject_bias(b, &rng, CHANNELS), ones;
    O y = tdl_builder_instance_normalization(b, x, NULL);
    float one[CHANNELS], w[4 * CHANNELS];
    for (size_t i = 0; i < COUNT(one); i++)
        one[i] = 1 + (float)i / 8;
    for (size_t i = 0; i < COUNT(w); i++)
        w[i] = rng_float(&rng, -1, 1);
    ones = subject_constant(b, 1, (const uint32_t[]){CHANNELS}, one);
    y = tdl_builder_batch_normalization(b, y, mean, ones, NULL);
    y = tdl_builder_depth_to_space(b, y, 2, TDL_BLOCK_DEPTH_FIRST);
    y = tdl_builder_space_to_depth(b, y, 2, TDL_BLOCK_DEPTH_FIRST);
    y = tdl_builder_cumulative_sum(b, y, 1, NULL);
    O most = tdl_builder_top_k(b, y, 3, &(struct tdl_top_k_params){.count = 2});
    const struct tdl_arg_min_max_params keep = {.keep_dimensions = true};
    O first = tdl_builder_arg_max(b, y, 3, &keep), which = tdl_builder_cast(b, first, TDL_FLOAT32);
    which = tdl_builder_add(b, which, tdl_builder_gather(b, mean, first, 0)); /* row of a table */
    y = tdl_builder_where(b, tdl_builder_greater(b, x, y), x, tdl_builder_add(b, y, which));
    y = tdl_builder_concat(b, (O[]){y, tdl_builder_cast(b, most, TDL_FLOAT32)}, 2, 3);
    y = tdl_builder_tile(b, tdl_builder_triangular(b, y, NULL), (const uint32_t[]){1, 1, 2, 1});
    const struct tdl_reduce_params image = {.axes = {1, 2}, .axis_count = 2};
    y = tdl_builder_slice(b, tdl_builder_reduce(b, y, TDL_REDUCE_MAX, &image),
                          &(struct tdl_slice_params){.size = {0, CHANNELS}});
    return tdl_builder_gemm(b, y, subject_constant(b, 2, (const uint32_t[]){CHANNELS, 4}, w),
                            &(struct tdl_gemm_params){
                                .c = subject_constant(b, 1, (const uint32_t[]){4}, w)});
}

static struct tdl_builder *open_seldom(void)
{
    struct tdl_builder *b;
    OK(check_builder(ctx, &b));
    O x = subject_input(b, "x", subject_image(TDL_LAYOUT_NHWC, 1, SIDE, SIDE, CHANNELS));
    OK(tdl_builder_output(b, "y", seldom(b, x)));
    return b;
}

static struct tdl_builder *open_network(void)
{
    return open((struct size){1, 16, 16});
}

static O flatten(struct tdl_builder *b, O x)
{
    return tdl_builder_reshape(b, x, 2, (const uint32_t[]){4, 16});
}

static O first(struct tdl_builder *b, O x)
{
    return tdl_builder_softmax(b, x, 0);
}

static O all_of_it(struct tdl_builder *b, O x)
{
    return tdl_builder_reduce(b, x, TDL_REDUCE_MEAN, NULL);
}

static O swapped(struct tdl_builder *b, O x)
{
    return tdl_builder_transpose(b, x, (const uint32_t[]){1, 0, 2, 3});
}

static O beside(struct tdl_builder *b, O x)
{
    return tdl_builder_concat(b, (O[]){x, x}, 2, 0);
}

static O outer(struct tdl_builder *b, O x)
{
    return tdl_builder_add(b, x, tdl_builder_reshape(b, x, 3, (const uint32_t[]){4, 4, 4}));
}

static O many(struct tdl_builder *b, O x)
{
    float values[3] = {1, 2, 3};
    return tdl_builder_add(b, x, subject_constant(b, 4, (const uint32_t[]){3, 1, 1, 1}, values));
}

/* Operators that mix pictures do not matter outside the graph. */
static void check_unneeded(O (*make)(struct tdl_builder *, O))
{
    struct tdl_builder *b;
    struct tdl_graph *g;
    OK(check_builder(ctx, &b));
    O x = subject_input(b, "x", subject_image(TDL_LAYOUT_NHWC, 1, 4, 4, 4));
    O y = tdl_builder_relu(b, x);
    CHECK(make(b, y) != NULL, "%s", tdl_last_error());
    OK(tdl_builder_output(b, "y", y));
    OK(tdl_builder_stack(b, 2));
    OK(tdl_builder_build(b, NULL, &g));
    CHECK(tdl_graph_output(g, 0, NULL)->shape[0] == 2, "not two pictures");
    tdl_graph_destroy(&g);
    tdl_builder_destroy(&b);
}

/* Operators that mix pictures are refused, and nothing has changed then. */
static void check_mixed(void)
{
    O (*const made[])(struct tdl_builder *, O) = {flatten, first,  all_of_it, swapped,
                                                  beside,  outer, many};
    for (size_t i = 0; i < COUNT(made); i++) {
        struct tdl_builder *b;
        check_begin("stack: refused, %zu", i);
        OK(check_builder(ctx, &b));
        O x = subject_input(b, "x", subject_image(TDL_LAYOUT_NHWC, 1, 4, 4, 4));
        O y = made[i](b, tdl_builder_relu(b, x));
        OK(tdl_builder_output(b, "y", y));
        const struct tdl_tensor_params was = *tdl_operand_get_desc(y);
        FAILS(tdl_builder_stack(b, 2), TDL_ERROR_UNSUPPORTED, "apart");
        FAILS(tdl_builder_stack(b, 0), TDL_ERROR_INVALID_ARGUMENT, "1 or more");
        check_unneeded(made[i]);
        CHECK(tdl_operand_get_desc(x)->shape[0] == 1 &&
                  !memcmp(&was, tdl_operand_get_desc(y), sizeof(was)),
              "something has changed");
        OK(tdl_builder_stack(b, 1));
        tdl_builder_destroy(&b);
    }
}

int main(void)
{
    ctx = check_context_open();
    want = malloc(4 * MOST * sizeof(float));
    got = malloc(4 * MOST * sizeof(float));
    REQUIRE(want && got, "no memory");
    check_sizes();
    check_two();
    check_refused();
    check_begin("stack: a network of shapes");
    check_stacked(open_apart, SIDE * SIDE * CHANNELS, PICTURES);
    check_begin("stack: a network of what is seldom");
    check_stacked(open_seldom, SIDE * SIDE * CHANNELS, PICTURES);
    check_begin("stack: a network of images");
    check_stacked(open_network, (size_t)16 * 16 * CHANNELS, PICTURES);
    check_mixed();
    free(want);
    free(got);
    check_context_close(ctx);
    return check_result();
}
