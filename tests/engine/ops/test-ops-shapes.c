/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Views of the same elements: reshape, flatten, expand, and outputs that are copies; without a
 * dispatch where possible. Also operators that are given the place of the channels. test-ops-shapes
 * [seed]
 */
#include "subject.h"

#include <ops/ops.h>

typedef struct tdl_operand *O;

static struct tdl_context *ctx;
static uint64_t seed = 1;

/* Outputs that are inputs, constants, or outputs already: copies. */
static void check_copies(void)
{
    static const int32_t numbers[] = {1, -2, 3};
    const struct tdl_tensor_params p = {.dtype = TDL_INT32, .rank = 1, .shape = {3}};
    struct rng rng = {seed++};
    struct subject s;
    struct tdl_builder *b;
    check_begin("copies");
    OK(check_builder(ctx, &b));
    O x = tdl_builder_input(b, "x", &p), y = tdl_builder_neg(b, x);
    tdl_builder_output(b, "input", x);
    tdl_builder_output(b, "constant", subject_typed_constant(b, &p, numbers));
    tdl_builder_output(b, "once", y);
    tdl_builder_output(b, "twice", y);
    subject_open(&s, ctx, b, &rng);
    subject_run(&s, &(struct tdl_build_params){0});
    CHECK(!memcmp(s.plain[0], s.inputs[0], 12) && !memcmp(s.plain[1], numbers, 12) &&
              !memcmp(s.plain[2], s.plain[3], 12),
          "a copy differs");
    subject_close(&s);
}

static O flat(struct tdl_builder *b, O x) { return tdl_builder_flatten(b, x, 1); }
static O image(struct tdl_builder *b, O x)
{
    return tdl_builder_reshape(b, x, 4, (uint32_t[]){2, 3, 5, 4});
}
static O conv(struct tdl_builder *b, O x)
{
    struct rng rng = {1};
    return tdl_builder_conv2d(b, x, subject_filter(b, &rng, 4, 1, 1, 4), NULL);
}

/* Graphs over x = int-like floats [2,3,5,4]; how many dispatches they take. */
static O g_view(struct tdl_builder *b, O x) { return tdl_builder_neg(b, flat(b, x)); }
static O g_copy(struct tdl_builder *b, O x) { return flat(b, x); }
static O g_in_place(struct tdl_builder *b, O x) { return flat(b, tdl_builder_neg(b, x)); }
static O g_twice(struct tdl_builder *b, O x) { return image(b, flat(b, tdl_builder_neg(b, x))); }
static O g_two_readers(struct tdl_builder *b, O x)
{
    O n = tdl_builder_neg(b, x), v = image(b, tdl_builder_abs(b, flat(b, n)));
    return tdl_builder_add(b, v, n);
}
static O g_both_bound(struct tdl_builder *b, O x)
{
    O n = tdl_builder_neg(b, x);
    tdl_builder_output(b, "before", n);
    return flat(b, n);
}
static O g_from_packs(struct tdl_builder *b, O x) { return flat(b, conv(b, x)); }
static O g_into_packs(struct tdl_builder *b, O x)
{
    return conv(b, image(b, tdl_builder_neg(b, flat(b, x))));
}
static O g_constant(struct tdl_builder *b, O x)
{
    static const float numbers[20] = {1, 2, 3, 4, 5};
    O c = subject_constant(b, 1, (uint32_t[]){20}, numbers);
    return tdl_builder_add(b, x, tdl_builder_reshape(b, c, 2, (uint32_t[]){5, 4}));
}

/* Convolutions that have the channels of one picture in two places. */
static O g_relabelled(struct tdl_builder *b, O x)
{
    struct rng rng = {2};
    O y = conv(b, tdl_builder_abs(b, x)), z; /* three channels of 5 x 4 */
    z = tdl_builder_conv2d(b, y, subject_filter(b, &rng, 6, 1, 1, 3),
                           &(struct tdl_conv2d_params){.input_layout = TDL_LAYOUT_NCHW});
    CHECK(!z || (tdl_operand_get_layout(y) == TDL_LAYOUT_NHWC &&
                 tdl_operand_get_layout(z) == TDL_LAYOUT_NCHW &&
                 tdl_operand_get_desc(z)->shape[3] == 4),
          "an operator's layout is not that of what it makes");
    return tdl_builder_neg(b, z);
}

/* Values that outlive the name they were made under: the arena must keep them. */
static O g_long_life(struct tdl_builder *b, O x)
{
    O n = tdl_builder_neg(b, x), v = flat(b, n), y = x;
    for (int i = 0; i < 4; i++) /* two readers each, so that nothing is fused */
        y = tdl_builder_add(b, tdl_builder_sin(b, y), tdl_builder_cos(b, y));
    return tdl_builder_add(b, image(b, v), y);
}

static void check_reshape(void)
{
    static const struct {
        const char *name;
        O (*build)(struct tdl_builder *, O);
        uint32_t steps, conversions; /* on devices with kernels */
    } rows[] = {
        {"a view of an input", g_view, 1, 0},
        {"from tensor to tensor", g_copy, 1, 0},
        {"written in place", g_in_place, 1, 0},
        {"two views", g_twice, 1, 0},
        {"two readers", g_two_readers, 3, 0},
        {"both bound", g_both_bound, 2, 0},
        {"from packs", g_from_packs, 1, 2}, /* convert, convolution, convert */
        {"into packs", g_into_packs, 2, 2}, /* neg, convert, convolution, convert */
        {"of a constant", g_constant, 1, 0},
        {"relabelled", g_relabelled, 6, 2}, /* on the CPU, too, two turn the picture round */
        {"a long life", g_long_life, 14, 0},
    };
    static const uint32_t shape[] = {2, 3, 5, 4};
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct rng rng = {seed++};
        struct subject s;
        struct tdl_builder *b;
        check_begin("reshape: %s", rows[i].name);
        OK(check_builder(ctx, &b));
        tdl_builder_output(
            b, "result",
            rows[i].build(b, subject_input(b, "x", subject_shape(TDL_FLOAT32, 4, shape))));
        subject_open(&s, ctx, b, &rng);
        subject_run(&s, &(struct tdl_build_params){.precision = TDL_PRECISION_FP32});
        subject_run(&s,
                    &(struct tdl_build_params){.precision = TDL_PRECISION_FP32, .no_fuse = true});
        uint32_t steps = subject_steps(b, true, "");
        const uint32_t want =
            rows[i].steps + (subject_has_kernels(ctx) ? rows[i].conversions : 0);
        CHECK(steps == want, "%u dispatches instead of %u", steps, want);
        subject_close(&s);
    }
}

/* Operators on pictures, too; and what is made may be many times what was given. */
static void check_evaluate_weights(void)
{
    enum { COUNT = 3 << 20 };
    static const float row[] = {1, 2, 3, 5, 5, 5};
    const struct tdl_tensor_params picture = {
        .rank = 4, .shape = {1, 2, 1, 3}};
    const struct tdl_tensor_params many = {.rank = 1, .shape = {COUNT}};
    float *weights = calloc(COUNT, sizeof(*weights));
    struct tdl_builder *b;
    check_begin("evaluate weights");
    REQUIRE(weights, "out of memory");
    OK(tdl_builder_create(ctx, &b));
    O x = tdl_builder_instance_normalization(
        b, tdl_builder_constant(b, &picture, row, sizeof(row)),
        &(struct tdl_instance_normalization_params){.epsilon = 1e-9f,
                                                    .input_layout = TDL_LAYOUT_NCHW});
    const float *value = tdl_builder_evaluate(b, x);
    if (CHECK(value, "a normalized constant is known"))
        CHECK(value[0] < -1.2247f && value[0] > -1.2248f && value[1] == 0 &&
                  value[2] == -value[0] && value[4] == 0,
              "%g %g %g, %g", (double)value[0], (double)value[1], (double)value[2],
              (double)value[4]);
    weights[COUNT - 1] = 1;
    x = tdl_builder_constant(b, &many, weights, COUNT * sizeof(*weights));
    for (int i = 0; i < 5; i++) { /* of each 12 MiB */
        x = tdl_builder_linear(b, x, 2, 1);
        value = tdl_builder_evaluate(b, x);
        CHECK(value && value[COUNT - 1] == (float)((4 << i) - 1), "result %d is not known", i);
    }
    tdl_builder_destroy(&b);
    free(weights);
}

/* Shapes that are computed from constants are numbers before anything is built. */
static void check_evaluate(void)
{
    static const int64_t sizes[] = {2, 3, 5}, one = 1;
    const struct tdl_tensor_params three = {.dtype = TDL_INT64, .rank = 1, .shape = {3}};
    const struct tdl_tensor_params scalar = {.dtype = TDL_INT64};
    const uint32_t shape[] = {3};
    struct tdl_builder *b;
    check_begin("evaluate");
    OK(check_builder(ctx, &b));
    O c = tdl_builder_constant(b, &three, sizes, sizeof(sizes));
    O sum = tdl_builder_add(b, c, tdl_builder_constant(b, &scalar, &one, sizeof(one)));
    O product = tdl_builder_mul(b, sum, c);
    const int64_t *value = tdl_builder_evaluate(b, product); /* and what it reads */
    CHECK(value && value[0] == 6 && value[1] == 12 && value[2] == 30, "the product");
    value = tdl_builder_evaluate(b, sum);
    CHECK(value && value[0] == 3 && value[1] == 4 && value[2] == 6, "the sum");
    value = tdl_builder_evaluate(b, product);
    CHECK(value == tdl_builder_evaluate(b, product), "once more it is the same memory");
    CHECK(tdl_builder_evaluate(b, c) == sizes, "a constant is what was given");
    O x = tdl_builder_input(b, "x", &(struct tdl_tensor_params){.rank = 1, .shape = {3}});
    CHECK(!tdl_builder_evaluate(b, x) && !tdl_builder_evaluate(b, tdl_builder_neg(b, x)) &&
              !tdl_builder_evaluate(b, NULL) && tdl_builder_status(b) == TDL_OK,
          "what depends on an input has no value, and that is no error");
    /* A constant of many bytes costs the graph its bytes, not the import's time. */
    O large = tdl_builder_expand(b, c, 3, (uint32_t[]){1000, 100, 3});
    CHECK(large && !tdl_builder_evaluate(b, large), "large ones are left to the device");
    O deep = c;
    for (int i = 0; i < 40; i++)
        deep = tdl_builder_add(b, deep, c);
    CHECK(deep && !tdl_builder_evaluate(b, deep), "as are those far behind each other");
    O part = tdl_builder_reduce(b, tdl_builder_cast(b, large, TDL_FLOAT32), TDL_REDUCE_MAX,
                                &(struct tdl_reduce_params){0});
    CHECK(part && !tdl_builder_evaluate(b, part), "and what comes from large ones");
    /* The product becomes a constant: the graph is one addition. */
    tdl_builder_output(b, "y", tdl_builder_add(b, x, tdl_builder_cast(b, product, TDL_FLOAT32)));
    struct tdl_graph *graph;
    OK(tdl_builder_build(b, NULL, &graph));
    struct tdl_tensor *in, *out;
    struct tdl_tensor_params p = {.rank = 1, .usage = TDL_TENSOR_READABLE | TDL_TENSOR_WRITABLE};
    float numbers[] = {1, 2, 3};
    p.shape[0] = shape[0];
    OK(tdl_tensor_create(ctx, &p, &in));
    OK(tdl_tensor_create(ctx, &p, &out));
    OK(tdl_tensor_write(in, numbers, sizeof(numbers), NULL));
    OK(tdl_graph_dispatch(graph, &(struct tdl_binding){"x", in}, 1,
                          &(struct tdl_binding){"y", out}, 1, NULL));
    OK(tdl_tensor_read(out, numbers, sizeof(numbers)));
    CHECK(numbers[0] == 7 && numbers[1] == 14 && numbers[2] == 33, "%g %g %g",
          (double)numbers[0], (double)numbers[1], (double)numbers[2]);
    tdl_tensor_destroy(&in);
    tdl_tensor_destroy(&out);
    tdl_graph_destroy(&graph);
    tdl_builder_destroy(&b);
}

/* Without sentinels values share the arena, so lifetimes count. */
static void check_lifetime(void)
{
    static const uint32_t shape[] = {2, 3, 5, 4};
    struct rng rng = {seed++};
    struct subject s;
    struct tdl_builder *b;
    struct tdl_graph *graph;
    struct tdl_tensor *in, *out;
    float got[120];
    check_begin("reshape: lifetimes in the arena");
    OK(check_builder(ctx, &b));
    tdl_builder_output(b, "result",
                       g_long_life(b, subject_input(b, "x", subject_shape(TDL_FLOAT32, 4, shape))));
    subject_open(&s, ctx, b, &rng);
    OK(tdl_builder_build(b, NULL, &graph));
    struct tdl_tensor_params p = *tdl_graph_input(graph, 0, NULL);
    p.usage = TDL_TENSOR_READABLE | TDL_TENSOR_WRITABLE;
    OK(tdl_tensor_create(ctx, &p, &in));
    OK(tdl_tensor_create(ctx, &p, &out));
    OK(tdl_tensor_write(in, s.inputs[0], sizeof(got), NULL));
    OK(tdl_graph_dispatch(graph, &(struct tdl_binding){"x", in}, 1,
                          &(struct tdl_binding){"result", out}, 1, NULL));
    OK(tdl_tensor_read(out, got, sizeof(got)));
    subject_compare("result", &s.ir->outputs[0]->desc, s.values[s.ir->outputs[0]->id], got, false,
                    1);
    tdl_tensor_destroy(&in);
    tdl_tensor_destroy(&out);
    tdl_graph_destroy(&graph);
    subject_close(&s);
}

static void check_expand(void)
{
    static const struct {
        enum tdl_dtype dtype;
        uint32_t from_rank, from[3], rank, to[5];
    } rows[] = {
        {TDL_FLOAT32, 1, {5}, 3, {2, 3, 5}},
        {TDL_UINT8, 3, {3, 1, 5}, 5, {2, 1, 3, 7, 5}},
        {TDL_FLOAT16, 0, {0}, 2, {3, 3}},
        {TDL_INT32, 2, {4, 1}, 2, {4, 9}},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct rng rng = {seed++};
        struct subject s;
        struct tdl_builder *b;
        check_begin("expand %zu", i);
        OK(check_builder(ctx, &b));
        O x = subject_input(b, "x", subject_shape(rows[i].dtype, rows[i].from_rank, rows[i].from));
        tdl_builder_output(b, "result", tdl_builder_expand(b, x, rows[i].rank, rows[i].to));
        subject_open(&s, ctx, b, &rng);
        subject_run(&s, &(struct tdl_build_params){0});
        subject_close(&s);
    }
}

/* In packs: from one pixel of one image to all. */
static void check_expand_packed(void)
{
    struct rng rng = {seed++};
    struct subject s;
    struct tdl_builder *b;
    struct tdl_tensor_params p = subject_image(TDL_LAYOUT_NCHW, 1, 4, 4, 5);
    check_begin("expand in packs");
    OK(check_builder(ctx, &b));
    tdl_builder_set_input_layout(b, TDL_LAYOUT_NCHW);
    O x = tdl_builder_global_average_pool(b, tdl_builder_input(b, "x", &p));
    tdl_builder_output(b, "result", tdl_builder_expand(b, x, 4, (uint32_t[]){2, 5, 3, 4}));
    subject_open(&s, ctx, b, &rng);
    subject_run(&s, &(struct tdl_build_params){.precision = TDL_PRECISION_FP32});
    CHECK(tdl_operand_get_layout(s.ir->outputs[0]) == TDL_LAYOUT_NCHW, "the layout is lost");
    subject_close(&s);
}

/* ------------------------------------------------- where an input has channels */

/* A convolution of [2,4,6,4], which has four channels in either place. */
static O told_conv(struct tdl_builder *b, O x, uint64_t layout)
{
    struct rng rng = {3};
    const struct tdl_conv2d_params p = {.padding = TDL_PADDING_SAME_UPPER,
                                        .bias = subject_bias(b, &rng, 5),
                                        .activation = TDL_ACTIVATION_RELU,
                                        .input_layout = layout};
    return tdl_builder_conv2d(b, x, subject_filter(b, &rng, 5, 3, 2, 4), &p);
}
static O told_depthwise(struct tdl_builder *b, O x, uint64_t layout)
{
    struct rng rng = {4};
    const struct tdl_conv2d_params p = {.groups = 4, .input_layout = layout};
    return tdl_builder_conv2d(b, x, subject_filter(b, &rng, 4, 3, 3, 1), &p);
}
static O told_computed_filter(struct tdl_builder *b, O x, uint64_t layout)
{
    static const uint32_t shape[] = {3, 2, 2, 4};
    const struct tdl_conv2d_params p = {.input_layout = layout};
    O filter = subject_input(b, "filter", subject_shape(TDL_FLOAT32, 4, shape));
    return tdl_builder_conv2d(b, x, tdl_builder_neg(b, filter), &p);
}
static O told_transposed(struct tdl_builder *b, O x, uint64_t layout)
{
    struct rng rng = {5};
    const struct tdl_conv_transpose2d_params p = {.stride = {2, 2}, .input_layout = layout};
    return tdl_builder_conv_transpose2d(b, x, subject_filter(b, &rng, 3, 2, 3, 4), &p);
}
static O told_im2col(struct tdl_builder *b, O x, uint64_t layout)
{
    const struct tdl_im2col_params p = {.kernel = {2, 3}, .input_layout = layout};
    return tdl_builder_im2col(b, x, &p);
}
static O told_average(struct tdl_builder *b, O x, uint64_t layout)
{
    const struct tdl_pool2d_params p = {.window = {2, 3}, .input_layout = layout};
    return tdl_builder_average_pool2d(b, x, &p);
}
static O told_max(struct tdl_builder *b, O x, uint64_t layout)
{
    const struct tdl_pool2d_params p = {
        .window = {3, 2}, .stride = {2, 1}, .input_layout = layout};
    return tdl_builder_max_pool2d(b, x, &p);
}
static O told_l2_whole(struct tdl_builder *b, O x, uint64_t layout)
{
    const struct tdl_pool2d_params p = {.input_layout = layout};
    return tdl_builder_l2_pool2d(b, x, &p);
}
static O told_resample(struct tdl_builder *b, O x, uint64_t layout)
{
    const struct tdl_resample2d_params p = {
        .size = {7, 9}, .mode = TDL_RESAMPLE_LINEAR, .input_layout = layout};
    return tdl_builder_resample2d(b, x, &p);
}
static O told_batch(struct tdl_builder *b, O x, uint64_t layout)
{
    static const float mean[] = {1, 2, 3, 4}, variance[] = {4, 3, 2, 1};
    struct rng rng = {6};
    const struct tdl_batch_normalization_params p = {.scale = subject_bias(b, &rng, 4),
                                                     .input_layout = layout};
    return tdl_builder_batch_normalization(b, x,
                                           subject_constant(b, 1, (uint32_t[]){4}, mean),
                                           subject_constant(b, 1, (uint32_t[]){4}, variance), &p);
}
static O told_instance(struct tdl_builder *b, O x, uint64_t layout)
{
    struct rng rng = {7};
    const struct tdl_instance_normalization_params p = {.bias = subject_bias(b, &rng, 4),
                                                        .input_layout = layout};
    return tdl_builder_instance_normalization(b, x, &p);
}

typedef O (*told_fn)(struct tdl_builder *, O, uint64_t);

/* Between other operators, so that there is something to fuse. */
static void open_told(struct subject *s, told_fn add, enum tdl_layout usual, uint64_t told)
{
    static const uint32_t shape[] = {2, 4, 6, 4};
    struct tdl_tensor_params p = subject_shape(TDL_FLOAT32, 4, shape);
    struct rng rng = {seed};
    struct tdl_builder *b;
    OK(check_builder(ctx, &b));
    tdl_builder_set_input_layout(b, usual);
    O x = tdl_builder_relu(b, tdl_builder_input(b, "x", &p));
    O y = add(b, x, told);
    REQUIRE(y, "%s", tdl_builder_error(b));
    tdl_builder_output(b, "result", tdl_builder_linear(b, tdl_builder_sigmoid(b, y), 2, -1));
    subject_open(s, ctx, b, &rng);
}

/* The layout that an operator is given counts, and without one the builder's. */
static void check_told(void)
{
    static const struct {
        const char *name;
        told_fn add;
    } rows[] = {
        {"conv2d", told_conv},
        {"conv2d, depthwise", told_depthwise},
        {"conv2d, a computed filter", told_computed_filter},
        {"convTranspose2d", told_transposed},
        {"im2col", told_im2col},
        {"averagePool2d", told_average},
        {"maxPool2d", told_max},
        {"l2Pool2d of all", told_l2_whole},
        {"resample2d", told_resample},
        {"batchNormalization", told_batch},
        {"instanceNormalization", told_instance},
    };
    for (size_t i = 0; i < COUNT(rows) * 4; i++) {
        const uint64_t told = i % 2 ? TDL_LAYOUT_NHWC : TDL_LAYOUT_NCHW;
        const enum tdl_layout same = i % 2 ? TDL_LAYOUT_NHWC : TDL_LAYOUT_NCHW;
        const enum tdl_layout usual = i / 2 % 2 ? TDL_LAYOUT_NHWC : TDL_LAYOUT_NCHW;
        struct subject s, want;
        check_begin("seed %llu: %s in a builder of %s, told %s", (unsigned long long)seed,
                    rows[i / 4].name, tdl_layout_name(usual), tdl_layout_name(same));
        open_told(&s, rows[i / 4].add, usual, told);
        open_told(&want, rows[i / 4].add, same, TDL_LAYOUT_DEFAULT);
        const struct tdl_operand *y = s.ir->outputs[0], *z = want.ir->outputs[0];
        const size_t size = tdl_tensor_params_size(&z->desc);
        CHECK(!memcmp(y->desc.shape, z->desc.shape, sizeof(z->desc.shape)), "another shape: %s",
              tdl_operand_text(y));
        CHECK(tdl_tensor_params_size(&y->desc) == size &&
                  !memcmp(s.values[y->id], want.values[z->id], size),
              "another result");
        for (int plain = 0; plain < 2; plain++)
            subject_run(&s, &(struct tdl_build_params){.precision = TDL_PRECISION_FP32,
                                                       .no_fuse = plain});
        subject_close(&want);
        subject_close(&s);
    }
    seed++;
}

int main(int argc, char **argv)
{
    seed = check_seed(argc, argv, 1);
    ctx = check_context_open();
    check_copies();
    check_reshape();
    check_evaluate();
    check_evaluate_weights();
    check_lifetime();
    check_expand();
    check_expand_packed();
    check_told();
    check_context_close(ctx);
    return check_result();
}
