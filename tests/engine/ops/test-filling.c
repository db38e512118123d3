/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The last pack of channels is filled up with zeros in every value in packs (enum tdl_storage);
 * subject_run() checks all that a run leaves behind. Every operator on packs makes such values
 * here, with a function that is not 0 at 0 where it can, and an operator that reads over channels
 * follows.
 */
#include "subject.h"

#include <math.h>
#include <ops/ops.h>

typedef struct tdl_operand *O;
enum { CHANNELS = 5 };

static O value_of(struct tdl_builder *b, float value)
{
    return subject_constant(b, 0, NULL, &value);
}

/* A bias of `count` channels without zeros. */
static O bias(struct tdl_builder *b, uint32_t count)
{
    float values[64];
    for (uint32_t i = 0; i < count; i++)
        values[i] = 1 + (float)i / 8;
    return subject_constant(b, 1, &count, values);
}

static O conv(struct tdl_builder *b, struct rng *rng, O x, uint32_t out, uint32_t kernel,
              uint32_t groups)
{
    const uint32_t in = subject_dims(x).c;
    return tdl_builder_conv2d(
        b, x, subject_filter(b, rng, out, kernel, kernel, in / groups),
        &(struct tdl_conv2d_params){.padding = TDL_PADDING_SAME_UPPER, .groups = groups,
                                    .bias = bias(b, out), .activation = TDL_ACTIVATION_SIGMOID});
}

/* ---------------------------------------------------------------- operators */

#define MAKE(name) static O name(struct tdl_builder *b, struct rng *rng, O x)
#define UNUSED (void)rng

MAKE(conv2d) { return conv(b, rng, x, 6, 3, 1); }
MAKE(conv2d_pointwise) { return conv(b, rng, x, 7, 1, 1); }
MAKE(conv2d_depthwise) { return conv(b, rng, x, CHANNELS, 3, CHANNELS); }
MAKE(conv2d_grouped) { return conv(b, rng, conv(b, rng, x, 6, 1, 1), 9, 3, 3); }
MAKE(conv2d_residual) { return tdl_builder_add(b, conv(b, rng, x, CHANNELS, 3, 1), x); }

/* Stages of its kernel, none of which is 0 at 0. */
MAKE(conv2d_chain)
{
    const struct tdl_conv2d_params p = {.groups = CHANNELS};
    x = tdl_builder_softplus(b, conv(b, rng, x, CHANNELS, 1, 1));
    x = tdl_builder_conv2d(b, x, subject_filter(b, rng, CHANNELS, 1, 1, 1), &p);
    return tdl_builder_cos(b, tdl_builder_exp(b, x));
}

/* The fusion of expand, depthwise and project, with a gate. */
MAKE(bottleneck)
{
    O wide = conv(b, rng, x, 6, 1, 1), deep = conv(b, rng, wide, 6, 3, 6);
    O gate = conv(b, rng, tdl_builder_global_average_pool(b, deep), 3, 1, 1);
    deep = tdl_builder_mul(b, deep, conv(b, rng, gate, 6, 1, 1));
    return tdl_builder_add(b, x, conv(b, rng, deep, CHANNELS, 1, 1));
}

MAKE(gate)
{
    return conv(b, rng, conv(b, rng, tdl_builder_global_average_pool(b, x), 3, 1, 1), 7, 1, 1);
}

static O transposed(struct tdl_builder *b, struct rng *rng, O x, uint32_t out, uint32_t kernel,
                    uint32_t groups)
{
    const uint32_t in = subject_dims(x).c;
    return tdl_builder_conv_transpose2d(
        b, x, subject_filter(b, rng, out / groups, kernel, kernel, in),
        &(struct tdl_conv_transpose2d_params){.stride = {2, 2}, .groups = groups,
                                              .bias = bias(b, out),
                                              .activation = TDL_ACTIVATION_SIGMOID});
}
MAKE(conv_transpose2d) { return transposed(b, rng, x, 6, 3, 1); }
MAKE(conv_transpose2d_block) { return transposed(b, rng, x, 1, 2, 1); }
MAKE(conv_transpose2d_depthwise) { return transposed(b, rng, x, CHANNELS, 3, CHANNELS); }

static const struct tdl_pool2d_params window = {.window = {3, 3}, .stride = {2, 1},
                                                .activation = TDL_ACTIVATION_SIGMOID};
MAKE(average_pool2d) { UNUSED; return tdl_builder_average_pool2d(b, x, &window); }
MAKE(max_pool2d) { UNUSED; return tdl_builder_max_pool2d(b, x, &window); }
MAKE(l2_pool2d) { UNUSED; return tdl_builder_l2_pool2d(b, x, &window); }
MAKE(global_pool) { UNUSED; return tdl_builder_cos(b, tdl_builder_global_max_pool(b, x)); }

MAKE(resample2d)
{
    UNUSED;
    return tdl_builder_resample2d(b, x, &(struct tdl_resample2d_params){
                                            .mode = TDL_RESAMPLE_LINEAR, .size = {9, 7}});
}
MAKE(resample2d_nearest)
{
    UNUSED;
    return tdl_builder_resample2d(b, x, &(struct tdl_resample2d_params){.size = {9, 7}});
}

MAKE(grid_sample)
{
    UNUSED;
    const struct tdl_tensor_params *d = tdl_operand_get_desc(x);
    const struct tdl_tensor_params grid = SUBJECT_SHAPE(TDL_FLOAT32, d->shape[0], 9, 7, 2);
    return tdl_builder_grid_sample(b, x, tdl_builder_input(b, "grid", &grid), NULL);
}

MAKE(batch_normalization)
{
    UNUSED;
    return tdl_builder_batch_normalization(
        b, x, bias(b, CHANNELS), bias(b, CHANNELS),
        &(struct tdl_batch_normalization_params){.bias = bias(b, CHANNELS), .epsilon = 1e-3f,
                                                 .activation = TDL_ACTIVATION_SIGMOID});
}
MAKE(instance_normalization)
{
    UNUSED;
    return tdl_builder_instance_normalization(
        b, x,
        &(struct tdl_instance_normalization_params){.bias = bias(b, CHANNELS), .epsilon = 1e-3f,
                                                    .activation = TDL_ACTIVATION_SIGMOID});
}
MAKE(layer_normalization)
{
    UNUSED;
    return tdl_builder_layer_normalization(
        b, x,
        &(struct tdl_layer_normalization_params){.axes = {3}, .axis_count = 1, .epsilon = 1e-3f,
                                                 .bias = bias(b, CHANNELS),
                                                 .activation = TDL_ACTIVATION_SIGMOID});
}
MAKE(layer_normalization_image)
{
    UNUSED;
    return tdl_builder_layer_normalization(
        b, x,
        &(struct tdl_layer_normalization_params){.axes = {1, 2, 3}, .axis_count = 3,
                                                 .epsilon = 1e-3f,
                                                 .activation = TDL_ACTIVATION_SIGMOID});
}

MAKE(slice)
{
    UNUSED;
    return tdl_builder_slice(b, x, &(struct tdl_slice_params){.start = {0, 1, 0, 1}});
}
MAKE(slice_steps)
{
    UNUSED;
    const struct tdl_slice_params p = {.start = {1, 5, 0, 4}, .step = {-1, -2, 3, -1}};
    return tdl_builder_slice(b, x, &p);
}
MAKE(slice_aligned)
{
    UNUSED;
    return tdl_builder_slice(b, x, &(struct tdl_slice_params){.size = {0, 0, 0, 3}});
}
MAKE(pad)
{
    UNUSED;
    return tdl_builder_pad(b, x, &(struct tdl_pad_params){
                                     .before = {0, 1}, .after = {0, 0, 1, 2}, .value = 7});
}
MAKE(pad_image)
{
    UNUSED;
    return tdl_builder_pad(b, x, &(struct tdl_pad_params){.before = {0, 1, 2}, .value = 7});
}
MAKE(concat)
{
    UNUSED;
    return tdl_builder_concat(b, (O[]){x, tdl_builder_exp(b, x)}, 2, 3);
}
MAKE(concat_even)
{
    O six = conv(b, rng, x, 6, 1, 1);
    return tdl_builder_concat(b, (O[]){six, x}, 2, 3);
}
MAKE(concat_aligned)
{
    O four = conv(b, rng, x, 4, 1, 1);
    return tdl_builder_concat(b, (O[]){four, x}, 2, 3);
}
MAKE(space_to_depth) { UNUSED; return tdl_builder_space_to_depth(b, x, 3, 0); }
MAKE(depth_to_space)
{
    return tdl_builder_depth_to_space(b, conv(b, rng, x, 4 * CHANNELS, 1, 1), 2, 0);
}
MAKE(im2col)
{
    UNUSED;
    return tdl_builder_im2col(b, x, &(struct tdl_im2col_params){.kernel = {3, 3}});
}

MAKE(unary) { UNUSED; return tdl_builder_exp(b, x); }
MAKE(binary) { UNUSED; return tdl_builder_add(b, x, value_of(b, 3)); }
MAKE(binary_quotient) { UNUSED; return tdl_builder_div(b, value_of(b, 1), tdl_builder_exp(b, x)); }
MAKE(softmax_channels) { UNUSED; return tdl_builder_softmax(b, x, 3); }
MAKE(softmax_rows) { UNUSED; return tdl_builder_softmax(b, x, 1); }

static O reduced(struct tdl_builder *b, O x, enum tdl_reduction reduction, uint32_t first)
{
    /* Positive, for logarithms. */
    return tdl_builder_reduce(b, tdl_builder_sigmoid(b, x), reduction,
                              &(struct tdl_reduce_params){.axes = {first, first + 1},
                                                          .axis_count = 2,
                                                          .keep_dimensions = true});
}
MAKE(reduce_log_sum) { UNUSED; return reduced(b, x, TDL_REDUCE_LOG_SUM, 1); }
MAKE(reduce_log_sum_exp) { UNUSED; return reduced(b, x, TDL_REDUCE_LOG_SUM_EXP, 1); }
MAKE(reduce_product) { UNUSED; return reduced(b, x, TDL_REDUCE_PRODUCT, 1); }
MAKE(reduce_min_channels) { UNUSED; return reduced(b, x, TDL_REDUCE_MIN, 2); }
MAKE(reduce_product_channels) { UNUSED; return reduced(b, x, TDL_REDUCE_PRODUCT, 2); }

static const struct {
    const char *name;
    O (*make)(struct tdl_builder *b, struct rng *rng, O x);
} rows[] = {
#define ROW(name) {#name, name}
    ROW(conv2d),
    ROW(conv2d_pointwise),
    ROW(conv2d_depthwise),
    ROW(conv2d_grouped),
    ROW(conv2d_residual),
    ROW(conv2d_chain),
    ROW(bottleneck),
    ROW(gate),
    ROW(conv_transpose2d),
    ROW(conv_transpose2d_block),
    ROW(conv_transpose2d_depthwise),
    ROW(average_pool2d),
    ROW(max_pool2d),
    ROW(l2_pool2d),
    ROW(global_pool),
    ROW(resample2d),
    ROW(resample2d_nearest),
    ROW(grid_sample),
    ROW(batch_normalization),
    ROW(instance_normalization),
    ROW(layer_normalization),
    ROW(layer_normalization_image),
    ROW(slice),
    ROW(slice_steps),
    ROW(slice_aligned),
    ROW(pad),
    ROW(pad_image),
    ROW(concat),
    ROW(concat_even),
    ROW(concat_aligned),
    ROW(space_to_depth),
    ROW(depth_to_space),
    ROW(im2col),
    ROW(unary),
    ROW(binary),
    ROW(binary_quotient),
    ROW(softmax_channels),
    ROW(softmax_rows),
    ROW(reduce_log_sum),
    ROW(reduce_log_sum_exp),
    ROW(reduce_product),
    ROW(reduce_min_channels),
    ROW(reduce_product_channels),
};

/* ------------------------------------------------------------------- graphs */

/* An image in packs, and what `make` does to it; takes sums over channels of
 * that, too. */
static struct tdl_builder *build(struct tdl_context *ctx, struct rng *rng,
                                 O (*make)(struct tdl_builder *b, struct rng *rng, O x))
{
    const struct tdl_tensor_params p = subject_image(TDL_LAYOUT_NHWC, 2, 6, 6, CHANNELS);
    struct tdl_builder *b;
    OK(check_builder(ctx, &b));
    O x = tdl_builder_max_pool2d(b, tdl_builder_input(b, "x", &p),
                                 &(struct tdl_pool2d_params){.window = {1, 1}});
    O y = make(b, rng, x);
    REQUIRE(y, "%s", tdl_builder_error(b));
    tdl_builder_output(b, "y", y);
    tdl_builder_output(b, "mean",
                       tdl_builder_reduce(b, y, TDL_REDUCE_MEAN,
                                          &(struct tdl_reduce_params){.axes = {3}, .axis_count = 1,
                                                                      .keep_dimensions = true}));
    tdl_builder_output(b, "softmax", tdl_builder_softmax(b, y, 3));
    return b;
}

/* On kernels every row one of the two ways, in the next run the other one. */
static void check_operators(struct tdl_context *ctx, uint64_t seed)
{
    static const struct {
        const char *name;
        bool half, gpu, no_fuse, packs_out;
    } ways[] = {
        {"fp32, packs out", false, false, true, true},
        {"fp16, fused, as on a GPU", true, true, false, false},
    };
    const uint64_t stride = subject_stride(ctx, COUNT(ways));
    for (size_t i = 0; i < COUNT(rows); i++)
        for (size_t w = 0; w < COUNT(ways); w++) {
            if ((i + w + seed) % stride)
                continue;
            struct rng rng = {i};
            struct subject s;
            check_begin("%s, %s", rows[i].name, ways[w].name);
            subject_pretend_gpu(ctx, ways[w].gpu);
            subject_open(&s, ctx, build(ctx, &rng, rows[i].make), &rng);
            s.slack = ways[w].half ? 8 : 1;
            subject_run(&s, &(struct tdl_build_params){
                                .precision = ways[w].half ? TDL_PRECISION_FP16
                                                          : TDL_PRECISION_FP32,
                                .no_fuse = ways[w].no_fuse,
                                .output_packing = ways[w].packs_out ? TDL_PACKING_C4
                                                                   : TDL_PACKING_NONE,
                            });
            subject_close(&s);
        }
    subject_pretend_gpu(ctx, false);
}

/* Every way to compute a convolution; the CPU has no choice of them. */
static void check_algorithms(struct tdl_context *ctx, uint64_t seed)
{
    const uint64_t stride = subject_stride(ctx, 2);
    for (uint32_t i = 0; subject_has_kernels(ctx) && tdl_conv2d_algorithm_name(i); i++) {
        const char *name = tdl_conv2d_algorithm_name(i);
        const bool units = !strcmp(name, "cooperative") || !strcmp(name, "patch");
        if (units && !tdl_context_device(ctx)->cooperative_matrix[0])
            continue;
        for (int half = units; half < 2; half++) {
            if ((i + (uint32_t)half + seed) % stride)
                continue;
            struct rng rng = {i};
            struct subject s;
            check_begin("%s, fp%d", name, half ? 16 : 32);
            subject_open(&s, ctx,
                         build(ctx, &rng,
                               !strcmp(name, "pointwise")   ? conv2d_pointwise
                               : !strcmp(name, "depthwise") ? conv2d_depthwise
                               : !strcmp(name, "grouped")   ? conv2d_grouped
                                                            : conv2d),
                         &rng);
            s.slack = half ? 8 : 1;
            subject_run(&s, &(struct tdl_build_params){
                                .precision = half ? TDL_PRECISION_FP16 : TDL_PRECISION_FP32,
                                .conv2d_algorithm = name,
                                .output_packing = TDL_PACKING_C4,
                            });
            subject_close(&s);
        }
    }
}

/* Channel 2 is infinite. */
static void fill_infinite(uint32_t index, const struct tdl_tensor_params *desc, struct rng *rng,
                          void *values)
{
    (void)index;
    subject_fill(desc, rng, values);
    for (size_t i = 2; i < tdl_tensor_params_size(desc) / 4; i += CHANNELS)
        ((float *)values)[i] = INFINITY;
}

/* 0 · ∞ is NaN in what fills up a pack, too, and NaN · 0 all over the next
 * convolution. Its own channels are infinite or, after relu6, 0 or 6. */
MAKE(two_convolutions)
{
    x = tdl_builder_conv2d(b, x, subject_filter(b, rng, 6, 1, 1, CHANNELS),
                           &(struct tdl_conv2d_params){.activation = TDL_ACTIVATION_RELU6});
    return conv(b, rng, x, 6, 3, 1);
}

static void check_infinity(struct tdl_context *ctx)
{
    for (int gpu = 0; gpu < 2; gpu++) {
        struct rng rng = {gpu};
        struct subject s;
        check_begin("an infinite channel%s", gpu ? ", as on a GPU" : "");
        subject_pretend_gpu(ctx, gpu);
        subject_open_filled(&s, ctx, build(ctx, &rng, two_convolutions), &rng, fill_infinite);
        subject_run(&s, &(struct tdl_build_params){.precision = TDL_PRECISION_FP32});
        subject_close(&s);
    }
    subject_pretend_gpu(ctx, false);
}

int main(int argc, char **argv)
{
    const uint64_t seed = check_seed(argc, argv, 1);
    struct tdl_context *ctx = check_context_open();
    check_operators(ctx, seed);
    check_algorithms(ctx, seed);
    check_infinity(ctx);
    check_context_close(ctx);
    return check_result();
}
