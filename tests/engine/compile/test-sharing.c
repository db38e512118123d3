/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Constants that several operators read lie on the device once, for each layout
 * that a kernel wants; and those that differ in anything do not.
 */
#include "subject.h"

#include <ops/ops.h>

typedef struct tdl_operand *O;

static struct tdl_context *ctx;

/* Filter and bias as the caller has them: the same, or others. */
struct weights {
    O filter, bias;
};

struct kind {
    const char *name;
    uint32_t out, kernel, in;         /* size of the filter */
    uint32_t channels;                /* channels of the images */
    O (*apply)(struct tdl_builder *b, O x, struct weights w);
    const char *algorithm;            /* algorithm of conv2d, or NULL */
    const char *fused;                /* kernel, as for a GPU, or NULL */
};

/* ------------------------------------------------------------------- operators */

static O conv(struct tdl_builder *b, O x, struct weights w)
{
    return tdl_builder_conv2d(b, x, w.filter,
                              &(struct tdl_conv2d_params){.padding = TDL_PADDING_SAME_UPPER,
                                                          .bias = w.bias});
}

static O depthwise(struct tdl_builder *b, O x, struct weights w)
{
    return tdl_builder_conv2d(b, x, w.filter,
                              &(struct tdl_conv2d_params){.padding = TDL_PADDING_SAME_UPPER,
                                                          .groups = 8,
                                                          .bias = w.bias});
}

static O grouped(struct tdl_builder *b, O x, struct weights w)
{
    return tdl_builder_conv2d(b, x, w.filter,
                              &(struct tdl_conv2d_params){.padding = TDL_PADDING_SAME_UPPER,
                                                          .groups = 2,
                                                          .bias = w.bias});
}

static O transposed(struct tdl_builder *b, O x, struct weights w)
{
    return tdl_builder_conv_transpose2d(
        b, x, w.filter,
        &(struct tdl_conv_transpose2d_params){.stride = {2, 2}, .bias = w.bias});
}

static O gate(struct tdl_builder *b, O x, struct weights w)
{
    O mean = tdl_builder_global_average_pool(b, x);
    return tdl_builder_mul(b, x, tdl_builder_activation(b, conv(b, mean, w),
                                                        TDL_ACTIVATION_SIGMOID));
}

/* 1×1, then a depthwise one of its own, and the same for all. */
static O expand(struct tdl_builder *b, O x, struct weights w)
{
    static const float filter[8 * 9] = {0.5f, -1, 2, 0.25f}, bias[8] = {1, 2, 3};
    const struct tdl_tensor_params f = {.rank = 4, .shape = {8, 3, 3, 1}},
                                   v = {.rank = 1, .shape = {8}};
    struct weights own = {tdl_builder_constant(b, &f, filter, sizeof(filter)),
                          tdl_builder_constant(b, &v, bias, sizeof(bias))};
    return depthwise(b, conv(b, x, w), own);
}

/* A value a channel, like a bias; the filter decides over nothing. */
static O batch(struct tdl_builder *b, O x, struct weights w)
{
    static const float spread[8] = {1, 2, 0.5f, 4, 1, 3, 0.25f, 1};
    const struct tdl_tensor_params v = {.rank = 1, .shape = {8}};
    return tdl_builder_batch_normalization(
        b, x, w.bias, tdl_builder_constant(b, &v, spread, sizeof(spread)), NULL);
}

static O instance(struct tdl_builder *b, O x, struct weights w)
{
    return tdl_builder_instance_normalization(
        b, x, &(struct tdl_instance_normalization_params){.bias = w.bias});
}

static O layer(struct tdl_builder *b, O x, struct weights w)
{
    return tdl_builder_layer_normalization(
        b, x, &(struct tdl_layer_normalization_params){.axes = {3}, .axis_count = 1,
                                                       .scale = w.bias});
}

static const struct kind kinds[] = {
    {"pointwise", 8, 1, 8, 8, conv, "pointwise", NULL},
    {"direct", 8, 3, 8, 8, conv, "direct", NULL},
    {"implicit", 8, 3, 8, 8, conv, "implicit", NULL},
    {"winograd23", 8, 3, 8, 8, conv, "winograd23", NULL},
    {"winograd43", 8, 3, 8, 8, conv, "winograd43", NULL},
    {"im2col", 8, 3, 8, 8, conv, "im2col", NULL},
    {"cooperative", 64, 1, 64, 64, conv, "cooperative", NULL},
    {"depthwise", 8, 3, 1, 8, depthwise, "depthwise", NULL},
    {"grouped", 8, 3, 4, 8, grouped, "grouped", NULL},
    {"transposed", 8, 3, 8, 8, transposed, NULL, NULL},
    {"transposed by blocks", 1, 2, 8, 8, transposed, NULL, NULL},
    {"batch normalization", 8, 1, 8, 8, batch, NULL, NULL},
    {"instance normalization", 8, 1, 8, 8, instance, NULL, NULL},
    {"layer normalization", 8, 1, 8, 8, layer, NULL, NULL},
    {"gate", 8, 1, 8, 8, gate, NULL, "squeeze_excite"},
    {"expand", 8, 1, 8, 8, expand, NULL, "conv2d_expand_depthwise"},
};

/* ----------------------------------------------------------------------- graphs */

static O image(struct tdl_builder *b, const char *name, uint32_t size, uint32_t channels)
{
    return subject_input(b, name, subject_image(TDL_LAYOUT_NHWC, 1, size, size, channels));
}

static struct weights random_weights(struct tdl_builder *b, struct rng *rng, const struct kind *k)
{
    return (struct weights){subject_filter(b, rng, k->out, k->kernel, k->kernel, k->in),
                            subject_bias(b, rng, k->out)};
}

static bool build_kind(struct tdl_builder *b, const struct kind *k, struct tdl_graph **out)
{
    enum tdl_result r = tdl_builder_build(
        b, &(struct tdl_build_params){.conv2d_algorithm = k->algorithm}, out);
    if (r == TDL_ERROR_UNSUPPORTED && k->algorithm)
        return false; /* not this device */
    REQUIRE(r == TDL_OK, "%s: %s", k->name, tdl_last_error());
    return true;
}

static uint64_t weight_bytes(struct tdl_graph *g)
{
    struct tdl_graph_stats stats;
    tdl_graph_get_stats(g, &stats);
    tdl_graph_destroy(&g);
    return stats.weight_bytes;
}

/* The bytes of one such operator by itself. 0 if the device has none. */
static uint64_t bytes_of_one(const struct kind *k)
{
    struct rng rng = {5};
    struct tdl_builder *b;
    struct tdl_graph *g;
    OK(check_builder(ctx, &b));
    subject_output(b, k->apply(b, image(b, "x", 8, k->channels), random_weights(b, &rng, k)));
    uint64_t bytes = build_kind(b, k, &g) ? weight_bytes(g) : 0;
    tdl_builder_destroy(&b);
    return bytes;
}

/* Four times the same weights, on images of two sizes, and once each with
 * another filter and with another bias. */
static void check_kind(const struct kind *k)
{
    struct rng rng = {7};
    struct tdl_builder *b;
    struct tdl_graph *g;
    struct subject s;
    subject_pretend_gpu(ctx, k->fused);
    check_begin("sharing: %s", k->name);
    const uint64_t one = k->fused && !subject_has_kernels(ctx) ? 0 : bytes_of_one(k);
    if (!one) {
        printf("%s: not on this device\n", k->name);
        return;
    }
    OK(check_builder(ctx, &b));
    O x = image(b, "x", 8, k->channels), y = image(b, "y", 12, k->channels);
    struct weights w = random_weights(b, &rng, k), other = random_weights(b, &rng, k);
    O images[] = {x, y, x, y};
    for (size_t i = 0; i < COUNT(images); i++)
        subject_output(b, k->apply(b, images[i], w));
    subject_output(b, k->apply(b, x, (struct weights){other.filter, w.bias}));
    subject_output(b, k->apply(b, x, (struct weights){w.filter, other.bias}));
    CHECK(!k->fused || subject_steps(b, false, k->fused) == COUNT(images) + 2, "no %s", k->fused);
    subject_open(&s, ctx, b, &rng);
    if (build_kind(b, k, &g)) {
        const uint64_t all = weight_bytes(g);
        CHECK(all < 4 * TDL_ALIGN(one, 256), "%llu bytes for three different weights of %llu each",
              (unsigned long long)all, (unsigned long long)one);
        CHECK(all > one, "%llu bytes for three different weights of %llu each",
              (unsigned long long)all, (unsigned long long)one);
    }
    subject_run(&s, &(struct tdl_build_params){.conv2d_algorithm = k->algorithm});
    subject_close(&s);
}

/* Constants that are the same bytes but not the same operand, in two shapes. */
static void check_plain(void)
{
    enum { ROWS = 40, COLUMNS = 50, TIMES = 12 };
    static float values[ROWS * COLUMNS];
    const uint32_t shapes[2][2] = {{ROWS, COLUMNS}, {1, ROWS *COLUMNS}};
    struct rng rng = {3};
    struct tdl_builder *b;
    struct tdl_graph *g;
    struct subject s;
    check_begin("sharing: constants of linear operators");
    for (size_t i = 0; i < COUNT(values); i++)
        values[i] = rng_float(&rng, -1, 1);
    OK(check_builder(ctx, &b));
    for (uint32_t i = 0; i < 2; i++) {
        const struct tdl_tensor_params p = subject_shape(TDL_FLOAT32, 2, shapes[i]);
        O x = subject_input(b, i ? "flat" : "rows", p);
        CHECK(tdl_builder_constant(b, &p, values, sizeof(values)) ==
                  tdl_builder_constant(b, &p, values, sizeof(values)),
              "a constant is two operands");
        for (int k = 0; k < TIMES; k++)
            x = tdl_builder_add(b, x, tdl_builder_constant(b, &p, values, sizeof(values)));
        subject_output(b, x);
    }
    subject_open(&s, ctx, b, &rng);
    OK(tdl_builder_build(b, &(struct tdl_build_params){0}, &g));
    const uint64_t all = weight_bytes(g);
    CHECK(all >= sizeof(values) && all < sizeof(values) + 1024, "%llu bytes for %zu",
          (unsigned long long)all, sizeof(values));
    subject_run(&s, &(struct tdl_build_params){0});
    subject_close(&s);
}

/* Parameters of each element, whose place depends on the order of the image; and
 * factors that differ by epsilon alone. */
static void check_norms(void)
{
    static const float values[5 * 6] = {2, -1, 0.5f, 4, 3, -2, 1, 0.25f};
    static const float variances[5] = {1, 2, 0.5f, 4, 3};
    const struct tdl_tensor_params p = {.rank = 2, .shape = {5, 6}}, v = {.rank = 1, .shape = {5}};
    struct rng rng = {6};
    struct tdl_builder *b;
    struct tdl_graph *g;
    struct subject s;
    check_begin("sharing: parameters of normalizations");
    OK(check_builder(ctx, &b));
    O scale = tdl_builder_constant(b, &p, values, sizeof(values));
    O mean = tdl_builder_constant(b, &v, values, 5 * sizeof(*values));
    O variance = tdl_builder_constant(b, &v, variances, sizeof(variances));
    O nhwc = subject_input(b, "nhwc", subject_image(TDL_LAYOUT_NHWC, 1, 5, 6, 5));
    O nchw = subject_input(b, "nchw", subject_image(TDL_LAYOUT_NCHW, 1, 5, 6, 5));
    const struct tdl_layer_normalization_params image = {.axes = {1, 2}, .axis_count = 2,
                                                         .scale = scale};
    const struct tdl_layer_normalization_params last = {.axes = {2, 3}, .axis_count = 2,
                                                        .scale = scale};
    for (int i = 0; i < 2; i++) {
        subject_output(b, tdl_builder_layer_normalization(b, nhwc, &image));
        subject_output(b, tdl_builder_layer_normalization(b, nchw, &last));
        subject_output(b, tdl_builder_batch_normalization(
                              b, nhwc, mean, variance,
                              &(struct tdl_batch_normalization_params){.epsilon = 2}));
        subject_output(b, tdl_builder_batch_normalization(
                              b, nhwc, mean, variance,
                              &(struct tdl_batch_normalization_params){.epsilon = 3}));
    }
    subject_open(&s, ctx, b, &rng);
    OK(tdl_builder_build(b, &(struct tdl_build_params){0}, &g));
    CHECK(weight_bytes(g) > 0, "no weights");
    subject_run(&s, &(struct tdl_build_params){0});
    subject_close(&s);
}

/* Tables of nearest pixels are made of sizes and ways to count. */
static void check_tables(void)
{
    static const struct tdl_resample2d_params resamples[] = {
        {.mode = TDL_RESAMPLE_NEAREST, .size = {13, 11}},
        {.mode = TDL_RESAMPLE_NEAREST, .size = {13, 11}},
        {.mode = TDL_RESAMPLE_NEAREST, .size = {13, 11},
         .coordinates = TDL_RESAMPLE_ALIGN_CORNERS},
        {.mode = TDL_RESAMPLE_NEAREST, .size = {13, 11}, .rounding = TDL_RESAMPLE_FLOOR},
        {.mode = TDL_RESAMPLE_NEAREST, .scale = {1.625f, 1.375f}},
        {.mode = TDL_RESAMPLE_NEAREST, .size = {11, 13}},
    };
    struct rng rng = {4};
    struct tdl_builder *b;
    struct tdl_graph *g;
    struct subject s;
    check_begin("sharing: tables of nearest pixels");
    OK(check_builder(ctx, &b));
    O x = image(b, "x", 8, 4);
    for (size_t i = 0; i < COUNT(resamples); i++)
        subject_output(b, tdl_builder_resample2d(b, x, &resamples[i]));
    subject_open(&s, ctx, b, &rng);
    OK(tdl_builder_build(b, &(struct tdl_build_params){0}, &g));
    const uint64_t all = weight_bytes(g);
    CHECK(all <= (COUNT(resamples) - 1) * 256, "%llu bytes", (unsigned long long)all);
    subject_run(&s, &(struct tdl_build_params){0});
    subject_close(&s);
}

/* ------------------------------------------------------------- constant tensors */

enum { SIDE = 96 };

static uint64_t memory_now(void)
{
    struct tdl_context_stats stats;
    OK(tdl_context_sync(ctx));
    tdl_context_get_stats(ctx, &stats);
    return stats.memory_bytes;
}

/* y = x + c, which is read as it lies. */
static struct tdl_graph *add_constant(struct tdl_tensor *c)
{
    struct tdl_builder *b;
    struct tdl_graph *g;
    OK(tdl_builder_create(ctx, &b));
    O x = subject_input(b, "x", SUBJECT_SHAPE(TDL_FLOAT32, SIDE, SIDE));
    O y = tdl_builder_add(b, x, tdl_builder_constant_tensor(b, c));
    OK(tdl_builder_output(b, "y", y));
    OK(tdl_builder_build(b, NULL, &g));
    tdl_builder_destroy(&b);
    return g;
}

static void refuse_constant(struct tdl_graph *g, struct tdl_tensor *c, const float *data)
{
    const struct tdl_tensor_params *p = tdl_tensor_get_params(c);
    struct tdl_tensor_params written = *p;
    struct tdl_tensor *other = NULL;
    struct tdl_builder *b;
    struct tdl_binding in = {"x", c}, out = {"y", NULL};
    OK(tdl_tensor_create(ctx, p, &other));
    out.tensor = other;
    FAILS(tdl_graph_dispatch(g, &in, 1, &out, 1, NULL), TDL_ERROR_INVALID_ARGUMENT, "a constant");
    in.tensor = other, out.tensor = c;
    FAILS(tdl_graph_dispatch(g, &in, 1, &out, 1, NULL), TDL_ERROR_INVALID_ARGUMENT, "a constant");
    OK(tdl_builder_create(ctx, &b));
    CHECK(!tdl_builder_constant_tensor(b, other), "a tensor that may change");
    FAILS(tdl_builder_status(b), TDL_ERROR_INVALID_ARGUMENT, "none of tdl_tensor_create_constant");
    tdl_builder_destroy(&b);
    tdl_tensor_destroy(&other);
    FAILS(tdl_tensor_write(c, data, SIDE * SIDE * sizeof(*data), NULL), TDL_ERROR_INVALID_ARGUMENT,
          "WRITABLE");
    FAILS(tdl_tensor_reshape(c, 1, (const uint32_t[]){SIDE * SIDE}, &other),
          TDL_ERROR_INVALID_ARGUMENT, "a constant");
    written.usage = TDL_TENSOR_WRITABLE;
    FAILS(tdl_tensor_create_constant(ctx, &written, data, SIDE * SIDE * sizeof(*data), &other),
          TDL_ERROR_INVALID_ARGUMENT, "read at most");
    FAILS(tdl_tensor_create_constant(ctx, p, data, 4, &other), TDL_ERROR_INVALID_ARGUMENT,
          "given 4 bytes");
}

/* In two graphs, whose memory is the tensor's; and there when it has gone. */
static void check_constant_tensors(void)
{
    static float values[SIDE * SIDE], x[SIDE * SIDE], y[SIDE * SIDE];
    struct tdl_tensor_params p = SUBJECT_SHAPE(TDL_FLOAT32, SIDE, SIDE);
    struct tdl_graph *graphs[2];
    struct tdl_tensor *c;
    struct rng rng = {21};
    check_begin("constant tensors");
    for (size_t i = 0; i < COUNT(values); i++)
        values[i] = rng_float(&rng, -1, 1), x[i] = rng_float(&rng, -1, 1);
    p.usage = TDL_TENSOR_READABLE;
    const uint64_t before = memory_now();
    OK(tdl_tensor_create_constant(ctx, &p, values, sizeof(values), &c));
    OK(tdl_tensor_read(c, y, sizeof(y)));
    CHECK(!memcmp(y, values, sizeof(y)), "not what it was given");
    const uint64_t with = memory_now();
    for (int i = 0; i < 2; i++)
        graphs[i] = add_constant(c);
    const uint64_t built = memory_now();
    CHECK(with - before >= sizeof(values), "it takes %llu bytes",
          (unsigned long long)(with - before));
    CHECK(built - with < sizeof(values) / 4, "graphs take %llu bytes more; the constant has %zu",
          (unsigned long long)(built - with), sizeof(values));
    refuse_constant(graphs[0], c, values);
    tdl_tensor_destroy(&c);
    for (int i = 0; i < 2; i++) {
        memset(y, 0, sizeof(y));
        check_dispatch(ctx, graphs[i], x, y);
        for (size_t k = 0; k < COUNT(y); k++)
            if (!CHECK(y[k] == x[k] + values[k], "%g at %zu", (double)y[k], k))
                break;
        tdl_graph_destroy(&graphs[i]);
    }
    CHECK(memory_now() <= before, "memory that nobody has");
}

int main(void)
{
    ctx = check_context_open();
    for (size_t i = 0; i < COUNT(kinds); i++)
        check_kind(&kinds[i]);
    subject_pretend_gpu(ctx, false);
    check_plain();
    check_norms();
    check_tables();
    check_constant_tensors();
    check_context_close(ctx);
    return check_result();
}
