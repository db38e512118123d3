/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Random graphs, fused and unfused: both against the references of the graph
 * as it was written; whole bottlenecks behind a convolution of the input; and gates in a row.
 *
 *     test-fused [graphs [seed]]    that many, from that seed on
 */
#include "random-graph.h"

#include <stdlib.h>

/* XNNPACK's, which does not start where it cannot look at the processor. */
int __wrap_xnn_initialize(const void *allocator);
__attribute__((weak)) int __real_xnn_initialize(const void *allocator);
int __wrap_xnn_initialize(const void *allocator)
{
    enum { OUT_OF_MEMORY = 6 }; /* as it says then */
    return getenv("TDL_TEST_NO_XNNPACK") ? OUT_OF_MEMORY : __real_xnn_initialize(allocator);
}

static void run_seed(struct tdl_context *ctx, uint64_t seed)
{
    struct tdl_builder *b;
    struct subject s;
    struct rng rng = {seed};
    OK(check_builder(ctx, &b));
    random_graph(b, seed);
    check_begin("seed %llu", (unsigned long long)seed);
    subject_open(&s, ctx, b, &rng);
    /* Fusions that only save dispatches are for GPUs. */
    subject_pretend_gpu(ctx, seed % 4 != 0);
    check_begin("seed %llu, fused", (unsigned long long)seed);
    bool fine = subject_run(&s, &(struct tdl_build_params){.precision = TDL_PRECISION_FP32});
    /* The unfused one says whose fault it is; else now and then. */
    check_begin("seed %llu, unfused", (unsigned long long)seed);
    if (!fine || seed % 4 == 0)
        subject_run(&s,
                    &(struct tdl_build_params){.precision = TDL_PRECISION_FP32, .no_fuse = true});
    check_begin("seed %llu, fused, fp16", (unsigned long long)seed);
    s.slack = 10; /* roundings add up over the operators */
    if (seed % 2 == 0)
        subject_run(&s, &(struct tdl_build_params){.precision = TDL_PRECISION_FP16});
    subject_close(&s);
}

static struct tdl_operand *conv(struct tdl_builder *b, struct rng *rng, struct tdl_operand *x,
                                uint32_t out, uint32_t k, uint32_t stride, uint32_t groups)
{
    struct tdl_conv2d_params p = {
        .stride = {stride, stride},
        .padding = TDL_PADDING_SAME_UPPER,
        .groups = groups,
        .activation =
            RNG_PICK(rng, TDL_ACTIVATION_NONE, TDL_ACTIVATION_RELU, TDL_ACTIVATION_HARD_SWISH),
        .bias = rng_one_in(rng, 4) ? NULL : subject_bias(b, rng, out),
    };
    const uint32_t in = subject_dims(x).c / groups;
    return tdl_builder_conv2d(b, x, subject_filter(b, rng, out, k, k, in), &p);
}

/* An end of four pixels for one; in packs if others read it so. */
static struct tdl_operand *head(struct tdl_builder *b, struct rng *rng, struct tdl_operand *x,
                                bool in_packs)
{
    const struct tdl_conv_transpose2d_params p = {
        .stride = {2, 2}, .activation = TDL_ACTIVATION_SIGMOID, .bias = subject_bias(b, rng, 1)};
    const struct tdl_pool2d_params pool = {.window = {2, 2}};
    x = tdl_builder_conv_transpose2d(b, x, subject_filter(b, rng, 1, 2, 2, subject_dims(x).c),
                                     &p);
    return in_packs ? tdl_builder_average_pool2d(b, x, &pool) : x;
}

static void run_bottleneck(struct tdl_context *ctx, uint64_t seed)
{
    static const char *const algorithms[] = {NULL, "implicit", "direct"};
    struct rng rng = {seed};
    const uint32_t n = RNG_PICK(&rng, 1, 2), h = 1 + rng_below(&rng, 20);
    const bool many = rng_one_in(&rng, 3); /* in more than one piece */
    const uint32_t in = many ? 16 : RNG_PICK(&rng, 3, 8, 16, 17);
    const uint32_t wide = many ? 256 : RNG_PICK(&rng, 3, 16, 72), out = RNG_PICK(&rng, 1, 17, in);
    const uint32_t stride = many ? 1 : RNG_PICK(&rng, 1, 2);
    const uint32_t algorithm = rng_below(&rng, subject_has_kernels(ctx) ? 3 : 1);
    const struct tdl_tensor_params image =
        subject_image(TDL_LAYOUT_NHWC, n, h, 1 + rng_below(&rng, 20), 1 + rng_below(&rng, 4));
    struct tdl_builder *b;
    struct subject s;
    check_begin("bottleneck of seed %llu", (unsigned long long)seed);
    subject_pretend_gpu(ctx, true);
    OK(check_builder(ctx, &b));
    struct tdl_operand *x = conv(b, &rng, tdl_builder_input(b, "x", &image), in, 3, 1, 1);
    struct tdl_operand *e = conv(b, &rng, x, wide, 1, 1, 1);
    struct tdl_operand *y = conv(b, &rng, e, wide, many ? 3 : RNG_PICK(&rng, 3, 5), stride, wide);
    if (stride == 1 && rng_one_in(&rng, 2))
        y = tdl_builder_add(b, y, e);
    const bool block = rng_one_in(&rng, 2), in_packs = rng_one_in(&rng, 2);
    y = block ? head(b, &rng, y, in_packs) : conv(b, &rng, y, out, 1, 1, 1);
    if (!block && stride == 1 && out == in)
        y = tdl_builder_add(b, x, y);
    tdl_builder_output(b, "y", y);
    if (subject_has_kernels(ctx)) {
        CHECK(subject_steps(b, false, "conv2d_bottleneck") == 1, "it is not taken in one");
        CHECK(subject_steps(b, false, "repack") == (block && !in_packs ? 0 : 1),
              "the input is repacked");
    }
    subject_open(&s, ctx, b, &rng);
    s.slack = 10;
    subject_run(&s, &(struct tdl_build_params){.precision = seed % 2 ? TDL_PRECISION_FP16
                                                                     : TDL_PRECISION_FP32,
                                               .conv2d_algorithm = algorithms[algorithm]});
    subject_close(&s);
}

static struct tdl_operand *gated(struct tdl_builder *b, struct rng *rng, struct tdl_operand *x,
                                 uint32_t out)
{
    struct tdl_operand *mean = tdl_builder_global_average_pool(b, x);
    struct tdl_operand *gate = conv(b, rng, mean, subject_dims(x).c, 1, 1, 1);
    return conv(b, rng, tdl_builder_mul(b, x, gate), out, 1, 1, 1);
}

/* A product with a gate writes the means for the next gate. */
static void run_gated(struct tdl_context *ctx, uint64_t seed)
{
    struct rng rng = {seed};
    const uint32_t n = RNG_PICK(&rng, 1, 3), h = 18 + 2 * rng_below(&rng, 12);
    const uint32_t w = 18 + 2 * rng_below(&rng, 12), c = RNG_PICK(&rng, 4, 16, 23);
    const struct tdl_tensor_params image = subject_image(TDL_LAYOUT_NHWC, n, h, w, c);
    struct tdl_builder *b;
    struct subject s;
    check_begin("gates of seed %llu", (unsigned long long)seed);
    subject_pretend_gpu(ctx, true);
    OK(check_builder(ctx, &b));
    struct tdl_operand *x = tdl_builder_input(b, "x", &image);
    struct tdl_operand *y = gated(b, &rng, x, RNG_PICK(&rng, 3, 16, 22, c));
    if (subject_dims(y).c == c)
        y = tdl_builder_add(b, y, x);
    tdl_builder_output(b, "y", gated(b, &rng, y, 1 + rng_below(&rng, 9)));
    if (subject_has_kernels(ctx))
        CHECK(subject_steps(b, false, "pool2d") == 0, "the mean is taken by itself");
    subject_open(&s, ctx, b, &rng);
    s.slack = 10;
    subject_run(&s, &(struct tdl_build_params){.precision = seed % 2 ? TDL_PRECISION_FP16
                                                                     : TDL_PRECISION_FP32});
    subject_close(&s);
}

/* A recurrent cell: halves of a split, gates, and joins of what others read, too. */
static void run_parts(struct tdl_context *ctx, uint64_t seed)
{
    struct rng rng = {seed};
    const enum tdl_layout layout = RNG_PICK(&rng, TDL_LAYOUT_NHWC, TDL_LAYOUT_NCHW);
    const uint32_t axis = layout == TDL_LAYOUT_NCHW ? 1 : 3, half = RNG_PICK(&rng, 4, 6, 8);
    const struct tdl_tensor_params p[] = {subject_image(layout, 1, 4, 8, 5),
                                          subject_image(layout, 1, 4, 8, half)};
    struct tdl_builder *b;
    struct tdl_operand *parts[2], *gates[2];
    struct subject s;
    OK(check_builder(ctx, &b));
    tdl_builder_set_input_layout(b, layout);
    struct tdl_operand *x = tdl_builder_input(b, "x", &p[0]), *h = tdl_builder_input(b, "h", &p[1]);
    struct tdl_operand *both = conv(b, &rng, x, 2 * half, 3, 1, 1);
    OK(tdl_builder_split(b, both, 2, NULL, axis, parts));
    struct tdl_operand *joined =
        tdl_builder_concat(b, (struct tdl_operand *[]){parts[1], h}, 2, axis);
    OK(tdl_builder_split(b, tdl_builder_sigmoid(b, conv(b, &rng, joined, 2 * half, 3, 1, 1)), 2,
                         NULL, axis, gates));
    struct tdl_operand *kept = tdl_builder_mul(b, gates[0], h);
    struct tdl_operand *again =
        tdl_builder_concat(b, (struct tdl_operand *[]){parts[1], kept, parts[1]}, 3, axis);
    struct tdl_operand *next = tdl_builder_add(
        b, tdl_builder_mul(b, gates[1], conv(b, &rng, again, half, 1, 1, 1)),
        tdl_builder_mul(b, tdl_builder_sub(b, subject_constant(b, 0, NULL, &(float){1}), gates[1]),
                        h));
    struct tdl_operand *out = tdl_builder_concat(
        b, (struct tdl_operand *[]){parts[0], next, tdl_builder_exp(b, parts[0])}, 3, axis);
    out = tdl_builder_concat(b, (struct tdl_operand *[]){conv(b, &rng, x, 4, 3, 1, 1), out, next},
                             3, axis);
    OK(tdl_builder_output(b, "next", next));
    OK(tdl_builder_output(b, "out", conv(b, &rng, out, 3, 1, 1, 1)));
    check_begin("seed %llu, parts", (unsigned long long)seed);
    subject_open(&s, ctx, b, &rng);
    s.unguarded = true;
    for (int i = 0; i < 2; i++) {
        subject_pretend_gpu(ctx, i);
        subject_run(&s, &(struct tdl_build_params){.precision = TDL_PRECISION_FP32});
    }
    subject_close(&s);
}

/* A picture that is known when the graph is built. */
static struct tdl_operand *known_picture(struct tdl_builder *b, struct rng *rng,
                                         const struct tdl_tensor_params *image)
{
    float pixels[4 * 8 * 8];
    CHECK(tdl_tensor_params_size(image) <= sizeof(pixels), "the picture is too large");
    for (size_t i = 0; i < sizeof(pixels) / sizeof(*pixels); i++)
        pixels[i] = rng_float(rng, -1, 1);
    return subject_constant(b, 4, image->shape, pixels);
}

/* Constants among the parts of a picture, which lies where its parts are written. */
static void run_known_parts(struct tdl_context *ctx, uint64_t seed)
{
    struct rng rng = {seed};
    const enum tdl_layout layout = RNG_PICK(&rng, TDL_LAYOUT_NHWC, TDL_LAYOUT_NCHW);
    const uint32_t axis = layout == TDL_LAYOUT_NCHW ? 1 : 3;
    const struct tdl_tensor_params image = subject_image(layout, 1, 4, 8, 5);
    const struct tdl_tensor_params known = subject_image(layout, 1, 4, 8, RNG_PICK(&rng, 4, 8));
    struct tdl_operand *parts[4];
    struct tdl_builder *b;
    struct subject s;
    OK(check_builder(ctx, &b));
    tdl_builder_set_input_layout(b, layout);
    struct tdl_operand *x = tdl_builder_input(b, "x", &image);
    for (uint32_t i = 0; i < 4; i++)
        parts[i] = rng_one_in(&rng, 2) ? known_picture(b, &rng, &known)
                                       : conv(b, &rng, x, RNG_PICK(&rng, 4, 8), 3, 1, 1);
    struct tdl_operand *joined = tdl_builder_concat(b, parts, 4, axis);
    OK(tdl_builder_output(b, "y", conv(b, &rng, joined, 4, 3, 1, 1)));
    check_begin("seed %llu, known parts", (unsigned long long)seed);
    subject_open(&s, ctx, b, &rng);
    s.unguarded = true;
    subject_run(&s, &(struct tdl_build_params){.precision = TDL_PRECISION_FP32});
    subject_close(&s);
}

static void permutation_of(uint32_t number, uint32_t out[4])
{
    uint32_t left[4] = {0, 1, 2, 3};
    for (uint32_t i = 0; i < 4; number /= 4 - i, i++) {
        const uint32_t k = number % (4 - i);
        out[i] = left[k];
        memmove(left + k, left + k + 1, (3 - k) * sizeof(*left));
    }
}

/* Two transposes in a row behind a picture, and before one or at the end: 24 by 24 of them. */
static void run_transposes(struct tdl_context *ctx, uint32_t pair, uint64_t seed)
{
    struct rng rng = {seed};
    const enum tdl_layout layout = RNG_PICK(&rng, TDL_LAYOUT_NHWC, TDL_LAYOUT_NCHW);
    const struct tdl_tensor_params image = subject_image(layout, 2, 3, 5, 4);
    uint32_t permutation[2][4];
    struct tdl_builder *b;
    struct subject s;
    check_begin("pair %u of transposes, seed %llu", pair, (unsigned long long)seed);
    permutation_of(pair % 24, permutation[0]);
    permutation_of(pair / 24, permutation[1]);
    subject_pretend_gpu(ctx, rng_one_in(&rng, 2));
    OK(check_builder(ctx, &b));
    tdl_builder_set_input_layout(b, layout);
    struct tdl_operand *x = tdl_builder_input(b, "x", &image);
    x = conv(b, &rng, x, 7, 1, 1, 1);
    x = tdl_builder_transpose(b, x, permutation[0]);
    if (rng_one_in(&rng, 3))
        tdl_builder_set_input_layout(b, RNG_PICK(&rng, TDL_LAYOUT_NHWC, TDL_LAYOUT_NCHW));
    x = tdl_builder_transpose(b, x, permutation[1]);
    if (rng_one_in(&rng, 2))
        x = conv(b, &rng, x, 3, 1, 1, 1);
    tdl_builder_output(b, "y", x);
    subject_open(&s, ctx, b, &rng);
    subject_run(&s, &(struct tdl_build_params){.precision = TDL_PRECISION_FP32});
    subject_close(&s);
}

int main(int argc, char **argv)
{
    uint64_t seed = check_seed(argc, argv, 2);
    struct tdl_context *ctx = check_context_open();
    if (getenv("TDL_TEST_NO_XNNPACK"))
        CHECK(strstr(tdl_context_device(ctx)->driver, "XNNPACK does not start"), "%s",
              tdl_context_device(ctx)->driver);
    const long count = check_cases(argc, argv, subject_has_kernels(ctx) ? 3 : 8);
    for (long i = 0; i < count; i++)
        run_seed(ctx, seed + (uint64_t)i);
    for (long i = 0; i < count; i++)
        run_bottleneck(ctx, seed + (uint64_t)i);
    for (long i = 0; i < count; i++)
        run_gated(ctx, seed + (uint64_t)i);
    for (long i = 0; i < count; i++)
        run_parts(ctx, seed + (uint64_t)i);
    for (long i = 0; i < count; i++)
        run_known_parts(ctx, seed + (uint64_t)i);
    /* All of them where nothing is compiled for it. */
    for (uint32_t i = 0; i < 576; i++)
        if (!subject_has_kernels(ctx) || count >= 100 || (i + seed) % 48 == 0)
            run_transposes(ctx, i, seed + i);
    check_context_close(ctx);
    return check_result();
}
