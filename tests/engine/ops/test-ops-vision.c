/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Operators over images on the device against their plain C references, in
 * both layouts and both precisions, and references against results worked out
 * by hand: convTranspose2d in full, pools, resample2d, normalizations, and what
 * convolutions and pools take in of their neighbours.
 *
 *     test-ops-vision [cases [seed]]    that many random cases a family
 */
#include "condition.h"
#include "subject.h"

#include <ops/ops.h>

/* A family adds one operator of random params to `x`; `text` says which. */
struct family {
    const char *name;
    struct tdl_operand *(*add)(struct tdl_builder *b, struct rng *rng, struct tdl_operand *x,
                               char text[256]);
    bool halves; /* takes float16 images, too */
};

static uint32_t random_size(struct rng *rng)
{
    return RNG_PICK(rng, 1, 2, 3, 5, 7, 8, 9, 15, 16, 17, 31, 33);
}

static uint32_t random_channels(struct rng *rng)
{
    return RNG_PICK(rng, 1, 3, 4, 5, 8, 16, 17);
}

/* ---------------------------------------------------------- convTranspose2d */

static struct tdl_operand *add_transpose(struct tdl_builder *b, struct rng *rng,
                                         struct tdl_operand *x, char text[256])
{
    struct tdl_dims d = subject_dims(x);
    uint32_t groups = rng_one_in(rng, 3) ? d.c : rng_one_in(rng, 2) && d.c % 2 == 0 ? 2 : 1;
    uint32_t of_group = groups == d.c ? RNG_PICK(rng, 1, 1, 2) : random_channels(rng), k[2];
    struct tdl_conv_transpose2d_params p = {.groups = groups};
    for (int i = 0; i < 2; i++) {
        k[i] = RNG_PICK(rng, 1, 2, 3, 3, 4, 5);
        p.stride[i] = RNG_PICK(rng, 1, 2, 2, 3, 4);
        p.dilation[i] = RNG_PICK(rng, 1, 1, 1, 2, 3, 4);
        p.output_padding[i] = rng_below(rng, p.stride[i]);
        for (int side = 0; side < 2; side++)
            p.pad[2 * i + side] = rng_below(rng, (k[i] - 1) * p.dilation[i] / 2 + 1);
        uint32_t smallest = ((i ? d.w : d.h) - 1) * p.stride[i] + (k[i] - 1) * p.dilation[i] + 1 -
                            p.pad[2 * i] - p.pad[2 * i + 1];
        if (rng_one_in(rng, 3))
            p.output_size[i] = smallest + rng_below(rng, p.stride[i]);
    }
    p.bias = rng_one_in(rng, 4) ? NULL : subject_bias(b, rng, of_group * groups);
    p.activation = RNG_PICK(rng, TDL_ACTIVATION_NONE, TDL_ACTIVATION_RELU, TDL_ACTIVATION_SIGMOID);
    snprintf(text, 256,
             "-> %u groups %u kernel %ux%u stride %ux%u dilation %ux%u pad %u,%u,%u,%u output "
             "padding %ux%u size %ux%u%s",
             of_group * groups, groups, k[0], k[1], p.stride[0], p.stride[1], p.dilation[0],
             p.dilation[1], p.pad[0], p.pad[1], p.pad[2], p.pad[3], p.output_padding[0],
             p.output_padding[1], p.output_size[0], p.output_size[1], p.bias ? "" : " no bias");
    return tdl_builder_conv_transpose2d(b, x, subject_filter(b, rng, of_group, k[0], k[1], d.c),
                                        &p);
}

/* Filters as large as their stride, on matrix units. */
static void check_blocks(struct tdl_context *ctx, uint64_t seed)
{
    struct rng rng = {seed};
    struct tdl_builder *b;
    struct subject s;
    const uint32_t in = random_channels(&rng), out = random_channels(&rng);
    const uint32_t kernel[] = {RNG_PICK(&rng, 1, 2, 2, 3), RNG_PICK(&rng, 2, 2, 4)};
    const struct tdl_tensor_params d = subject_image(
        TDL_LAYOUT_NHWC, RNG_PICK(&rng, 1, 2), 1 + rng_below(&rng, 9), 1 + rng_below(&rng, 9), in);
    if (!tdl_context_device(ctx)->cooperative_matrix[0] || (out == 1 && kernel[0] == 2))
        return; /* another kernel has this */
    check_begin("seed %llu: convTranspose2d on matrix units, %ux%ux%ux%u -> %u kernel %ux%u",
                (unsigned long long)seed, d.shape[0], d.shape[1], d.shape[2], in, out, kernel[0],
                kernel[1]);
    OK(check_builder(ctx, &b));
    const struct tdl_conv_transpose2d_params p = {
        .stride = {kernel[0], kernel[1]},
        .bias = rng_one_in(&rng, 4) ? NULL : subject_bias(b, &rng, out),
        .activation = rng_below(&rng, TDL_ACTIVATION_TANH + 1),
    };
    subject_output(b, tdl_builder_conv_transpose2d(
                          b, tdl_builder_input(b, "x", &d),
                          subject_filter(b, &rng, out, kernel[0], kernel[1], in), &p));
    subject_open(&s, ctx, b, &rng);
    subject_run(&s, &(struct tdl_build_params){
                        .precision = TDL_PRECISION_FP16,
                        .conv2d_algorithm = "cooperative",
                        .output_packing = seed % 2 ? TDL_PACKING_C4 : TDL_PACKING_NONE,
                    });
    subject_close(&s);
}

/* Pixels of an invocation that tuning chooses from. Matrix units have a test of their own. */
static void check_shares(struct tdl_context *ctx, uint64_t seed)
{
    static const enum tdl_layout layouts[] = {TDL_LAYOUT_NHWC, TDL_LAYOUT_NCHW};
    struct rng rng = {seed};
    struct tdl_builder *b;
    struct subject s;
    char text[256];
    const struct tdl_tensor_params d =
        subject_image(layouts[seed % 2], 2, 1 + rng_below(&rng, 5), 4 + rng_below(&rng, 9),
                      random_channels(&rng));
    OK(check_builder(ctx, &b));
    tdl_builder_set_input_layout(b, layouts[seed % 2]);
    subject_output(b, add_transpose(b, &rng, tdl_builder_input(b, "x", &d), text));
    subject_open(&s, ctx, b, &rng);
    s.candidate = 1;
    do {
        check_begin("seed %llu: convTranspose2d %s, way %u", (unsigned long long)seed, text,
                    s.candidate);
        subject_run(&s, &(struct tdl_build_params){.precision = TDL_PRECISION_FP32});
    } while (s.more && s.candidate++ < 3);
    subject_close(&s);
}

/* -------------------------------------------------------------------- pools */

typedef struct tdl_operand *(*add_pool_fn)(struct tdl_builder *, struct tdl_operand *,
                                           const struct tdl_pool2d_params *);

static struct tdl_operand *add_pool(struct tdl_builder *b, struct rng *rng, struct tdl_operand *x,
                                    char text[256])
{
    static const add_pool_fn kinds[] = {tdl_builder_average_pool2d, tdl_builder_max_pool2d,
                                        tdl_builder_l2_pool2d};
    struct tdl_dims d = subject_dims(x);
    uint32_t kind = rng_below(rng, 3);
    struct tdl_pool2d_params p = {.rounding = rng_below(rng, 2)};
    p.count_include_pad = rng_one_in(rng, 2);
    p.padding = rng_one_in(rng, 4) ? TDL_PADDING_SAME_UPPER : TDL_PADDING_EXPLICIT;
    for (int i = 0; i < 2; i++) {
        uint32_t in = i ? d.w : d.h, window = RNG_PICK(rng, 1, 2, 3, 3, 5, 9);
        uint32_t dilation = RNG_PICK(rng, 1, 1, 2, 3);
        p.window[i] = TDL_MIN(window, in);
        if (p.window[i] > 1 && (p.window[i] - 1) * dilation < in)
            p.dilation[i] = dilation;
        p.stride[i] = RNG_PICK(rng, 1, 2, 2, 3, 5);
        for (int side = 0; side < 2; side++) /* any window sees a pixel then */
            p.pad[2 * i + side] = p.dilation[i] > 1 && in < (p.window[i] - 1) * p.dilation[i]
                                      ? 0
                                      : rng_below(rng, p.window[i]);
        if (p.padding == TDL_PADDING_SAME_UPPER) /* SAME has no explicit padding */
            p.dilation[i] = 1, p.pad[2 * i] = p.pad[2 * i + 1] = 0;
    }
    if (rng_one_in(rng, 4)) /* global */
        p = (struct tdl_pool2d_params){0};
    p.activation = RNG_PICK(rng, TDL_ACTIVATION_NONE, TDL_ACTIVATION_TANH);
    snprintf(text, 256, "kind %u window %ux%u stride %ux%u dilation %ux%u pad %u,%u,%u,%u%s%s%s",
             kind, p.window[0], p.window[1], p.stride[0], p.stride[1], p.dilation[0], p.dilation[1],
             p.pad[0], p.pad[1], p.pad[2], p.pad[3], p.padding ? " same" : "",
             p.rounding ? " ceil" : "", p.count_include_pad ? " padding counts" : "");
    return kinds[kind](b, x, &p);
}

/* ----------------------------------------------------------------- resample */

static struct tdl_operand *add_resample(struct tdl_builder *b, struct rng *rng,
                                        struct tdl_operand *x, char text[256])
{
    struct tdl_dims d = subject_dims(x);
    struct tdl_resample2d_params p = {
        .mode = rng_below(rng, 3) ? TDL_RESAMPLE_NEAREST : TDL_RESAMPLE_LINEAR,
        .coordinates = rng_below(rng, 3),
        .rounding = rng_below(rng, 4),
    };
    static const float scales[] = {1, 2, 3, 0.5f, 1.5f, 2.5f, 0.3f, 4};
    bool by_scale = rng_one_in(rng, 2);
    for (int i = 0; i < 2; i++) {
        uint32_t in = i ? d.w : d.h;
        if (by_scale) {
            p.scale[i] = scales[rng_below(rng, COUNT(scales))];
            if (in * p.scale[i] < 1)
                p.scale[i] = 2;
        } else {
            p.size[i] = rng_one_in(rng, 2) ? random_size(rng) : in * (1 + rng_below(rng, 3));
        }
    }
    snprintf(text, 256, "%s size %ux%u scale %gx%g coordinates %u rounding %u",
             p.mode ? "linear" : "nearest", p.size[0], p.size[1], (double)p.scale[0],
             (double)p.scale[1], p.coordinates, p.rounding);
    return tdl_builder_resample2d(b, x, &p);
}

/* ----------------------------------------------------------- normalizations */

static struct tdl_operand *variances(struct tdl_builder *b, struct rng *rng, uint32_t count)
{
    float values[64];
    REQUIRE(count <= COUNT(values), "too many channels");
    for (uint32_t i = 0; i < count; i++)
        values[i] = rng_float(rng, 0.1f, 4);
    return subject_constant(b, 1, &count, values);
}

static struct tdl_operand *parameters(struct tdl_builder *b, struct rng *rng, uint32_t rank,
                                      const uint32_t *shape)
{
    static float values[33 * 33 * 32];
    size_t count = 1;
    if (rng_one_in(rng, 3))
        return NULL;
    for (uint32_t i = 0; i < rank; i++)
        count *= shape[i];
    REQUIRE(count <= COUNT(values), "too many parameters");
    for (size_t i = 0; i < count; i++)
        values[i] = rng_float(rng, -2, 2);
    return subject_constant(b, rank, shape, values);
}

static struct tdl_operand *add_batch_norm(struct tdl_builder *b, struct rng *rng,
                                          struct tdl_operand *x, char text[256])
{
    uint32_t c = subject_dims(x).c;
    struct tdl_batch_normalization_params p = {
        .scale = parameters(b, rng, 1, &c),
        .bias = parameters(b, rng, 1, &c),
        .epsilon = rng_one_in(rng, 2) ? 0.1f : 0,
        .activation = RNG_PICK(rng, TDL_ACTIVATION_NONE, TDL_ACTIVATION_SIGMOID),
    };
    snprintf(text, 256, "%s%s epsilon %g", p.scale ? "scale " : "", p.bias ? "bias" : "",
             (double)p.epsilon);
    return tdl_builder_batch_normalization(b, x, subject_bias(b, rng, c), variances(b, rng, c), &p);
}

static struct tdl_operand *add_instance_norm(struct tdl_builder *b, struct rng *rng,
                                             struct tdl_operand *x, char text[256])
{
    uint32_t c = subject_dims(x).c;
    struct tdl_instance_normalization_params p = {
        .scale = parameters(b, rng, 1, &c),
        .bias = parameters(b, rng, 1, &c),
        .epsilon = rng_one_in(rng, 2) ? 0.1f : 0,
        .activation = RNG_PICK(rng, TDL_ACTIVATION_NONE, TDL_ACTIVATION_RELU),
    };
    snprintf(text, 256, "%s%s epsilon %g", p.scale ? "scale " : "", p.bias ? "bias" : "",
             (double)p.epsilon);
    return tdl_builder_instance_normalization(b, x, &p);
}

static struct tdl_operand *add_layer_norm(struct tdl_builder *b, struct rng *rng,
                                          struct tdl_operand *x, char text[256])
{
    static const struct {
        uint32_t count, nhwc[3], nchw[3];
    } kinds[] = {{0, {1, 2, 3}, {1, 2, 3}}, {1, {3}, {1}}, {2, {1, 2}, {2, 3}}};
    const struct tdl_tensor_params *d = tdl_operand_get_desc(x);
    uint32_t kind = rng_below(rng, COUNT(kinds)), shape[3], rank = kind ? kinds[kind].count : 3;
    struct tdl_layer_normalization_params p = {.axis_count = kinds[kind].count};
    for (uint32_t i = 0; i < rank; i++) {
        p.axes[i] = x->ir->layout == TDL_LAYOUT_NCHW ? kinds[kind].nchw[i] : kinds[kind].nhwc[i];
        shape[i] = d->shape[p.axes[i]];
    }
    p.scale = parameters(b, rng, rank, shape);
    p.bias = parameters(b, rng, rank, shape);
    p.epsilon = 1e-3f;
    bool packs = rng_below(rng, 3) != 0; /* packs, behind an operator that writes them */
    if (packs)
        x = tdl_builder_max_pool2d(b, x, &(struct tdl_pool2d_params){.window = {1, 1}});
    snprintf(text, 256, "%u axes%s%s%s", rank, p.scale ? " scale" : "", p.bias ? " bias" : "",
             packs ? " packs" : "");
    return tdl_builder_layer_normalization(b, x, &p);
}

/* Linear values of any rank and axes, parameters that are inputs. */
static void run_layer_norm(struct tdl_context *ctx, uint64_t seed)
{
    struct rng rng = {seed * 31 + 7};
    struct tdl_builder *b;
    struct subject s;
    char text[96];
    struct tdl_tensor_params d = {.dtype = rng_below(&rng, 2) ? TDL_FLOAT16 : TDL_FLOAT32}, q;
    struct tdl_layer_normalization_params p = {.epsilon = 0.01f};
    d.rank = 1 + rng_below(&rng, TDL_MAX_RANK);
    q = d;
    q.rank = 0;
    for (uint32_t i = 0; i < d.rank; i++) {
        d.shape[i] = RNG_PICK(&rng, 1, 2, 3, 5, 8);
        if (i + 1 == d.rank && rng_one_in(&rng, 2))
            d.shape[i] = RNG_PICK(&rng, 63, 129, 300);
        if (rng_one_in(&rng, 2)) {
            p.axes[p.axis_count++] = i;
            q.shape[q.rank++] = d.shape[i];
        }
    }
    if (!p.axis_count)
        for (uint32_t i = 1; i < d.rank; i++)
            q.shape[q.rank++] = d.shape[i];
    check_begin("layerNormalization seed %llu: %s, %u axes", (unsigned long long)seed,
                tdl_tensor_params_text(&d, text, sizeof(text)), p.axis_count);
    OK(check_builder(ctx, &b));
    struct tdl_operand *x = tdl_builder_input(b, "x", &d);
    p.scale = rng_one_in(&rng, 2) ? tdl_builder_input(b, "scale", &q) : NULL;
    p.bias = rng_one_in(&rng, 2) ? tdl_builder_input(b, "bias", &q) : NULL;
    tdl_builder_output(b, "y", tdl_builder_layer_normalization(b, x, &p));
    subject_open(&s, ctx, b, &rng);
    subject_run(&s, &(struct tdl_build_params){.precision = TDL_PRECISION_FP32});
    subject_close(&s);
}

/* ------------------------------------------- what convolutions take in of others */

static struct tdl_operand *add_normalized(struct tdl_builder *b, struct rng *rng,
                                          struct tdl_operand *x, char text[256])
{
    uint32_t c = subject_dims(x).c, groups = c % 2 == 0 && rng_one_in(rng, 2) ? 2 : 1;
    char norm[256];
    if (rng_one_in(rng, 2)) {
        x = add_transpose(b, rng, x, text);
    } else {
        struct tdl_conv2d_params p = {.padding = TDL_PADDING_SAME_UPPER, .groups = groups};
        uint32_t out = groups * RNG_PICK(rng, 1, 3, 4, 9);
        p.bias = rng_one_in(rng, 2) ? NULL : subject_bias(b, rng, out);
        snprintf(text, 256, "conv2d -> %u groups %u", out, groups);
        x = tdl_builder_conv2d(b, x, subject_filter(b, rng, out, 3, 3, c / groups), &p);
    }
    x = x ? add_batch_norm(b, rng, x, norm) : NULL;
    return x && rng_one_in(rng, 2) ? tdl_builder_activation(b, x, TDL_ACTIVATION_RELU) : x;
}

static struct tdl_operand *add_padded(struct tdl_builder *b, struct rng *rng, struct tdl_operand *x,
                                      char text[256])
{
    const uint32_t h = x->ir->layout == TDL_LAYOUT_NCHW ? 2 : 1, c = subject_dims(x).c;
    uint32_t kind = rng_below(rng, 4);
    struct tdl_pad_params pad = {.value = 0};
    struct tdl_pool2d_params pool = {.window = {2, 3}, .stride = {2, 1}};
    struct tdl_conv2d_params conv = {.stride = {2, 1}, .padding = rng_below(rng, 2)};
    for (uint32_t i = h; i < h + 2; i++) {
        pad.before[i] = 1 + rng_below(rng, 2);
        pad.after[i] = 1 + rng_below(rng, 2);
    }
    pool.rounding = rng_below(rng, 2);
    snprintf(text, 256, "kind %u pad %u,%u,%u,%u%s", kind, pad.before[h], pad.after[h],
             pad.before[h + 1], pad.after[h + 1], conv.padding || pool.rounding ? " same" : "");
    if (kind == 1) /* nothing below 0 */
        x = tdl_builder_average_pool2d(
            b, x, &(struct tdl_pool2d_params){.window = {1, 1}, .activation = TDL_ACTIVATION_RELU});
    x = tdl_builder_pad(b, x, &pad);
    if (kind >= 2)
        return tdl_builder_conv2d(b, x, subject_filter(b, rng, 5, 2, 2, c), &conv);
    return kind ? tdl_builder_max_pool2d(b, x, &pool) : tdl_builder_average_pool2d(b, x, &pool);
}

static const struct family families[] = {
    {"convTranspose2d", add_transpose, true},
    {"pool", add_pool, true},
    {"resample2d", add_resample, true},
    {"batchNormalization", add_batch_norm, true},
    {"instanceNormalization", add_instance_norm, true},
    {"layerNormalization", add_layer_norm, false},
    {"convolution and normalization", add_normalized, false},
    {"pad and window", add_padded, false},
};

static void run_case(struct tdl_context *ctx, const struct family *f, uint64_t seed)
{
    struct rng rng = {seed * 7919 + 1};
    struct subject s;
    struct tdl_builder *b;
    char text[256];
    enum tdl_layout layout = rng_below(&rng, 2) ? TDL_LAYOUT_NCHW : TDL_LAYOUT_NHWC;
    bool half = rng_below(&rng, 2);
    uint32_t n = RNG_PICK(&rng, 1, 1, 2, 3), h = random_size(&rng), w = random_size(&rng);
    uint32_t c = random_channels(&rng);
    struct tdl_tensor_params desc = subject_image(layout, n, h, w, c);
    bool half_input = f->halves && rng_one_in(&rng, 4);
    if (half_input)
        desc.dtype = TDL_FLOAT16;
    subject_pretend_gpu(ctx, rng_below(&rng, 2));
    OK(check_builder(ctx, &b));
    tdl_builder_set_input_layout(b, layout);
    struct tdl_operand *y = f->add(b, &rng, tdl_builder_input(b, "x", &desc), text);
    check_begin("%s seed %llu: %ux%ux%ux%u %s %s %s", f->name, (unsigned long long)seed, n, h, w, c,
                layout == TDL_LAYOUT_NCHW ? "NCHW" : "NHWC", half ? "fp16" : "fp32", text);
    if (half_input)
        check_begin("%s seed %llu: float16 %ux%ux%ux%u %s", f->name, (unsigned long long)seed, n, h,
                    w, c, text);
    REQUIRE(y, "%s", tdl_builder_error(b));
    tdl_builder_output(b, "y", y);
    subject_open(&s, ctx, b, &rng);
    subject_run(&s, &(struct tdl_build_params){
                        .precision = half ? TDL_PRECISION_FP16 : TDL_PRECISION_FP32,
                    });
    subject_close(&s);
}

/* ----------------------------------------------------------- worked by hand */

#define LIST(...)                                                                                  \
    (const float[])                                                                                \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }

static void expect(const char *what, struct tdl_builder *b, struct tdl_operand *y, const float *x,
                   const float *want)
{
    struct tdl_ir *ir = tdl_builder_ir(b);
    check_begin("worked by hand: %s", what);
    REQUIRE(y, "%s", tdl_builder_error(b));
    void **values = calloc(ir->operand_count, sizeof(*values));
    REQUIRE(values, "out of memory");
    OK(tdl_ir_run_reference(ir, (const void *const[]){x}, values));
    subject_compare("the reference", &y->desc, want, values[y->id], false, 1);
    for (uint32_t i = 0; i < ir->operand_count; i++)
        free(values[i]);
    free(values);
    tdl_builder_destroy(&b);
}

/* One row of `w` pixels of `c` channels. */
static struct tdl_operand *row(struct tdl_builder **b, uint32_t w, uint32_t c)
{
    struct tdl_tensor_params d = subject_image(TDL_LAYOUT_NHWC, 1, 1, w, c);
    OK(check_builder(NULL, b));
    return tdl_builder_input(*b, "x", &d);
}

static void check_transpose_goldens(void)
{
    const uint32_t one_to_one[] = {1, 1, 2, 1}, depthwise[] = {1, 1, 2, 2};
    struct tdl_builder *b;
    struct tdl_operand *x = row(&b, 2, 1);
    struct tdl_conv_transpose2d_params p = {
        .stride = {1, 3}, .dilation = {1, 2}, .output_padding = {0, 1}};
    expect("dilation and output padding", b,
           tdl_builder_conv_transpose2d(b, x, subject_constant(b, 4, one_to_one, LIST(1, 10)), &p),
           LIST(1, 2), LIST(1, 0, 10, 2, 0, 20, 0));
    x = row(&b, 1, 2);
    p = (struct tdl_conv_transpose2d_params){.groups = 2};
    expect("groups", b,
           tdl_builder_conv_transpose2d(b, x, subject_constant(b, 4, depthwise, LIST(1, 2, 10, 20)),
                                        &p),
           LIST(3, 5), LIST(3, 10, 30, 100));
}

static void check_pool_goldens(void)
{
    struct tdl_builder *b;
    struct tdl_operand *x = row(&b, 5, 1);
    struct tdl_pool2d_params p = {.window = {1, 2},
                                  .dilation = {1, 2},
                                  .stride = {1, 2},
                                  .pad = {0, 0, 1, 0},
                                  .rounding = TDL_ROUNDING_CEIL};
    /* Taps at -1 and 1, 1 and 3, 3 and 5. */
    expect("maxPool2d", b, tdl_builder_max_pool2d(b, x, &p), LIST(5, -1, 7, -3, 9),
           LIST(-1, -1, -3));
    x = row(&b, 5, 1);
    expect("l2Pool2d", b, tdl_builder_l2_pool2d(b, x, &p), LIST(5, 3, 7, 4, 9), LIST(3, 5, 4));
    x = row(&b, 3, 1);
    p = (struct tdl_pool2d_params){
        .window = {1, 2}, .stride = {1, 2}, .pad = {0, 0, 1, 0}, .count_include_pad = true};
    expect("averagePool2d, padding counts", b, tdl_builder_average_pool2d(b, x, &p), LIST(2, 4, 8),
           LIST(1, 6));
}

static void check_resample_goldens(void)
{
    static const struct {
        struct tdl_resample2d_params p;
        uint32_t w;
        float want[4];
    } table[] = {
        {{.size = {1, 4}}, 2, {0, 0, 1, 1}},
        {{.scale = {1, 2}}, 2, {0, 0, 1, 1}},
        {{.size = {1, 2}}, 4, {0, 2}}, /* ½ and 2½: down */
        {{.size = {1, 2}, .rounding = TDL_RESAMPLE_PREFER_CEIL}, 4, {1, 3}},
        {{.size = {1, 2}, .rounding = TDL_RESAMPLE_CEIL}, 4, {1, 3}},
        {{.size = {1, 3}, .coordinates = TDL_RESAMPLE_ALIGN_CORNERS}, 2, {0, 0, 1}},
        {{.size = {1, 3}, .coordinates = TDL_RESAMPLE_ASYMMETRIC}, 2, {0, 1, 1}},
        {{.size = {1, 3}, .coordinates = TDL_RESAMPLE_ASYMMETRIC, .rounding = TDL_RESAMPLE_FLOOR},
         2,
         {0, 0, 1}},
        /* floor(2 · 1.8) = 3 pixels, 1 / 1.8 apart. */
        {{.mode = TDL_RESAMPLE_LINEAR, .scale = {1, 1.8f}, .coordinates = TDL_RESAMPLE_ASYMMETRIC},
         2,
         {0, 0.5555556f, 1}},
    };
    for (size_t i = 0; i < COUNT(table); i++) {
        struct tdl_builder *b;
        char what[32];
        struct tdl_operand *x = row(&b, table[i].w, 1);
        snprintf(what, sizeof(what), "resample2d %zu", i);
        expect(what, b, tdl_builder_resample2d(b, x, &table[i].p), LIST(0, 1, 2, 3), table[i].want);
    }
}

/* ------------------------------------------------------------ close together */

enum { CLOSE = 3 * 64 };
static float close_values[CLOSE];

static void fill_close(uint32_t index, const struct tdl_tensor_params *desc, struct rng *rng,
                       void *values)
{
    (void)index;
    (void)desc;
    (void)rng;
    memcpy(values, close_values, sizeof(close_values));
}

/* Three channels so close together that normalizing makes much of a half's rounding: that may be
 * off by it, and three that are apart may not. */
static void check_close(struct tdl_context *ctx, float apart)
{
    struct rng rng = {7};
    struct tdl_builder *b;
    struct subject s;
    double *room;
    double most = 0;
    const struct tdl_tensor_params d = subject_image(TDL_LAYOUT_NHWC, 1, 8, 8, 3);
    for (uint32_t i = 0; i < CLOSE; i++)
        close_values[i] = 3 + apart * ((float)(i % 3) - 1) + rng_float(&rng, 0, apart / 3);
    check_begin("layerNormalization of values %g apart", (double)apart);
    OK(check_builder(ctx, &b));
    struct tdl_operand *x = tdl_builder_max_pool2d(
        b, tdl_builder_input(b, "x", &d), &(struct tdl_pool2d_params){.window = {1, 1}});
    tdl_builder_output(b, "y", tdl_builder_layer_normalization(
                                   b, x,
                                   &(struct tdl_layer_normalization_params){
                                       .axes = {3}, .axis_count = 1, .epsilon = 1e-6f}));
    subject_open_filled(&s, ctx, b, &rng, fill_close);
    subject_run(&s, &(struct tdl_build_params){.precision = TDL_PRECISION_FP16});
    OK(condition_rooms(s.ir, (const void *const *)s.inputs, s.values, true, &room));
    for (uint32_t i = 0; i < CLOSE; i++)
        most = room[i] > most ? room[i] : most;
    CHECK(apart < 0.1f ? most > 0.1 : most < 0.01, "%g is allowed", most);
    free(room);
    subject_close(&s);
}

int main(int argc, char **argv)
{
    const long cases = check_cases(argc, argv, 4);
    uint64_t seed = check_seed(argc, argv, 2);
    check_transpose_goldens();
    check_pool_goldens();
    check_resample_goldens();
    struct tdl_context *ctx = check_context_open();
    check_close(ctx, 0.01f);
    check_close(ctx, 1.5f);
    for (size_t f = 0; f < COUNT(families); f++)
        for (long i = 0; i < cases; i++)
            run_case(ctx, &families[f], seed + (uint64_t)i);
    for (long i = 0; i < cases; i++)
        run_layer_norm(ctx, seed + (uint64_t)i);
    for (long i = 0; i < cases; i++) {
        check_blocks(ctx, seed + (uint64_t)i);
        if (subject_has_kernels(ctx))
            check_shares(ctx, seed + (uint64_t)i);
    }
    check_context_close(ctx);
    return check_result();
}
