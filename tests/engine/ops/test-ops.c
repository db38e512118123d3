/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Every operator on the device against its plain C reference: a table of the
 * shapes where kernels go wrong, random cases, and, for the references
 * themselves, results worked out by hand.
 *
 *     test-ops [cases [seed]]    that many random cases, from that seed on
 */
#include "subject.h"

#include <ops/ops.h>

enum kind { CONV, TRANSPOSE, POOL, RESAMPLE, ADD, MUL, ACTIVATION, KINDS };
static const char *const kind_names[] = {"conv2d", "convTranspose2d", "averagePool2d",
                                         "resample2d", "add", "mul", "activation"};

/* Zero means 1 for sizes, strides, dilations, groups; `depthwise` is the
 * channel multiplier. `once` has a bit (n 1, h 2, w 4, c 8) for each dimension
 * in which an operand of add and mul is broadcast. */
struct op_case {
    enum kind kind;
    uint32_t n, h, w, c, out;
    uint32_t kernel[2], stride[2], dilation[2], pad[4];
    bool same, no_bias;
    uint32_t groups, depthwise, activation, size[2], coordinates, once[2];
    enum tdl_layout layout;  /* NCHW, or else NHWC */
    bool packed;             /* inputs given as NC4HW4 */
    const float *filter, *bias; /* NULL: random */
};

static uint32_t or_one(uint32_t v)
{
    return v ? v : 1;
}

static const char *describe(const struct op_case *t, char *text, size_t size)
{
    snprintf(text, size,
             "%s %ux%ux%ux%u -> %u kernel %ux%u stride %ux%u dilation %ux%u pad %u,%u,%u,%u%s "
             "groups %u depthwise %u %s%s size %ux%u coordinates %u once %u,%u %s%s",
             kind_names[t->kind], or_one(t->n), t->h, t->w, t->c, t->out, t->kernel[0],
             t->kernel[1], t->stride[0], t->stride[1], t->dilation[0], t->dilation[1], t->pad[0],
             t->pad[1], t->pad[2], t->pad[3], t->same ? " same" : "", t->groups, t->depthwise,
             tdl_activation_name(t->activation), t->no_bias ? " no bias" : "", t->size[0],
             t->size[1], t->coordinates, t->once[0], t->once[1],
             t->layout == TDL_LAYOUT_NCHW ? "NCHW" : "NHWC", t->packed ? " packed" : "");
    return text;
}

/* ------------------------------------------------------------------ builders */

static struct tdl_operand *filter_of(struct tdl_builder *b, const struct op_case *t,
                                     struct rng *rng, uint32_t out, uint32_t in)
{
    const uint32_t shape[] = {out, or_one(t->kernel[0]), or_one(t->kernel[1]), in};
    return t->filter ? subject_constant(b, 4, shape, t->filter)
                     : subject_filter(b, rng, out, shape[1], shape[2], in);
}

static struct tdl_operand *bias_of(struct tdl_builder *b, const struct op_case *t, struct rng *rng,
                                   uint32_t out)
{
    if (t->no_bias)
        return NULL;
    return t->bias ? subject_constant(b, 1, &out, t->bias) : subject_bias(b, rng, out);
}

static struct tdl_operand *build_conv(struct tdl_builder *b, const struct op_case *t,
                                      struct rng *rng, struct tdl_operand *x)
{
    uint32_t groups = t->depthwise ? t->c : or_one(t->groups);
    uint32_t out = t->depthwise ? t->c * t->depthwise : t->out;
    struct tdl_conv2d_params p = {
        .stride = {t->stride[0], t->stride[1]},
        .dilation = {t->dilation[0], t->dilation[1]},
        .pad = {t->pad[0], t->pad[1], t->pad[2], t->pad[3]},
        .padding = t->same ? TDL_PADDING_SAME_UPPER : TDL_PADDING_EXPLICIT,
        .groups = groups,
        .activation = t->activation,
        .bias = bias_of(b, t, rng, out),
    };
    return tdl_builder_conv2d(b, x, filter_of(b, t, rng, out, t->c / groups), &p);
}

static struct tdl_operand *build_transpose(struct tdl_builder *b, const struct op_case *t,
                                           struct rng *rng, struct tdl_operand *x)
{
    struct tdl_conv_transpose2d_params p = {
        .stride = {t->stride[0], t->stride[1]},
        .pad = {t->pad[0], t->pad[1], t->pad[2], t->pad[3]},
        .padding = t->same ? TDL_PADDING_SAME_UPPER : TDL_PADDING_EXPLICIT,
        .activation = t->activation,
        .bias = bias_of(b, t, rng, t->out),
    };
    return tdl_builder_conv_transpose2d(b, x, filter_of(b, t, rng, t->out, t->c), &p);
}

static struct tdl_operand *build_pool(struct tdl_builder *b, const struct op_case *t,
                                      struct tdl_operand *x)
{
    struct tdl_pool2d_params p = {
        .window = {t->kernel[0], t->kernel[1]},
        .stride = {t->stride[0], t->stride[1]},
        .pad = {t->pad[0], t->pad[1], t->pad[2], t->pad[3]},
        .padding = t->same ? TDL_PADDING_SAME_UPPER : TDL_PADDING_EXPLICIT,
        .activation = t->activation,
    };
    return tdl_builder_average_pool2d(b, x, &p);
}

static struct tdl_operand *image_input(struct tdl_builder *b, const struct op_case *t,
                                       const char *name, uint32_t once)
{
    struct tdl_tensor_params d =
        subject_image(t->layout, once & 1 ? 1 : or_one(t->n), once & 2 ? 1 : t->h,
                      once & 4 ? 1 : t->w, once & 8 ? 1 : t->c);
    return tdl_builder_input(b, name, &d);
}

static struct tdl_operand *build_case(struct tdl_builder *b, const struct op_case *t,
                                      struct rng *rng)
{
    if (t->layout)
        tdl_builder_set_input_layout(b, t->layout);
    struct tdl_operand *x = image_input(b, t, "x", t->once[0]);
    switch (t->kind) {
    case CONV:
        return build_conv(b, t, rng, x);
    case TRANSPOSE:
        return build_transpose(b, t, rng, x);
    case POOL:
        return build_pool(b, t, x);
    case RESAMPLE:
        return tdl_builder_resample2d(b, x,
                                      &(struct tdl_resample2d_params){
                                          .mode = TDL_RESAMPLE_LINEAR,
                                          .size = {t->size[0], t->size[1]},
                                          .coordinates = t->coordinates,
                                      });
    case ADD:
        return tdl_builder_add(b, x, image_input(b, t, "y", t->once[1]));
    case MUL:
        return tdl_builder_mul(b, x, image_input(b, t, "y", t->once[1]));
    default:
        return tdl_builder_activation(b, x, t->activation);
    }
}

static void run_case(struct tdl_context *ctx, const struct op_case *t, uint64_t seed, bool half,
                     bool gpu)
{
    struct rng rng = {seed};
    struct subject s;
    struct tdl_builder *b;
    char text[320];
    check_begin("seed %llu: %s%s: %s", (unsigned long long)seed, half ? "fp16" : "fp32",
                gpu ? " as on a GPU" : "", describe(t, text, sizeof(text)));
    subject_pretend_gpu(ctx, gpu);
    OK(check_builder(ctx, &b));
    tdl_builder_output(b, "y", build_case(b, t, &rng));
    subject_open(&s, ctx, b, &rng);
    subject_run(&s, &(struct tdl_build_params){
                        .precision = half ? TDL_PRECISION_FP16 : TDL_PRECISION_FP32,
                        .input_packing = t->packed ? TDL_PACKING_C4 : TDL_PACKING_NONE,
                    });
    subject_close(&s);
}

/* --------------------------------------------------------------- the table */

#define SAME .same = true
#define NCHW .layout = TDL_LAYOUT_NCHW
#define PACKED .packed = true
#define RELU .activation = TDL_ACTIVATION_RELU
#define RELU6 .activation = TDL_ACTIVATION_RELU6
#define SIGMOID .activation = TDL_ACTIVATION_SIGMOID
#define HARD_SWISH .activation = TDL_ACTIVATION_HARD_SWISH
#define TANH .activation = TDL_ACTIVATION_TANH
#define NO_BIAS .no_bias = true
#define HALF_PIXEL .coordinates = TDL_RESAMPLE_HALF_PIXEL
#define CORNERS .coordinates = TDL_RESAMPLE_ALIGN_CORNERS
#define ASYMMETRIC .coordinates = TDL_RESAMPLE_ASYMMETRIC
#define K(h, w) .kernel = {h, w}
#define S(h, w) .stride = {h, w}
#define D(h, w) .dilation = {h, w}
#define P(t, b, l, r) .pad = {t, b, l, r}

static const struct op_case table[] = {
    /* Pointwise: tiles of packs and of pixels, ± 1. */
    {CONV, 1, 1, 1, 1, 1},
    {CONV, 1, 1, 1, 17, 5, SIGMOID},
    {CONV, 1, 1, 1, 64, 32, RELU, PACKED},
    {CONV, 1, 7, 9, 3, 17, RELU, NCHW},
    {CONV, 2, 8, 8, 16, 16, HARD_SWISH},
    {CONV, 1, 3, 21, 5, 15, TANH},
    {CONV, 1, 8, 16, 17, 20, RELU6, PACKED},
    {CONV, 2, 1, 65, 33, 31, NO_BIAS},
    {CONV, 1, 1, 127, 4, 4},
    {CONV, 1, 129, 1, 8, 3, SIGMOID, NCHW},
    {CONV, 1, 4, 5, 132, 13},
    {CONV, 1, 16, 17, 72, 63},
    {CONV, 1, 2, 3, 5, 68, PACKED},
    /* 1×1 that is not pointwise: strides, padding, groups. */
    {CONV, 1, 9, 8, 5, 6, S(2, 3)},
    {CONV, 1, 4, 4, 3, 4, P(1, 0, 0, 2), RELU},
    {CONV, 1, 5, 5, 12, 8, .groups = 4},
    /* k×k, one group. */
    {CONV, 1, 1, 1, 1, 1, K(3, 3), P(1, 1, 1, 1)},
    {CONV, 1, 3, 3, 1, 1, K(3, 3)},
    {CONV, 1, 15, 17, 3, 16, K(3, 3), S(2, 2), SAME, HARD_SWISH},
    {CONV, 1, 16, 16, 3, 8, K(3, 3), S(2, 2), SAME, PACKED},
    {CONV, 2, 9, 10, 5, 5, K(3, 3), P(1, 1, 1, 1), RELU, NCHW},
    {CONV, 1, 6, 31, 17, 17, K(3, 3), SAME, NO_BIAS},
    {CONV, 1, 12, 5, 4, 9, K(2, 2), SAME},
    {CONV, 1, 7, 7, 6, 20, K(5, 5), P(2, 2, 2, 2), RELU6},
    {CONV, 1, 11, 12, 8, 7, K(7, 7), S(3, 2), SAME},
    {CONV, 1, 14, 13, 3, 5, K(3, 3), D(2, 3), P(2, 2, 3, 3)},
    {CONV, 1, 9, 9, 20, 3, K(1, 5), P(0, 0, 4, 0), SIGMOID},
    {CONV, 1, 10, 6, 7, 4, K(5, 1), S(1, 2), D(2, 1)},
    {CONV, 1, 8, 8, 36, 12, K(3, 3), SAME, TANH},
    {CONV, 1, 5, 4, 68, 4, K(2, 3), P(0, 1, 2, 0)},
    {CONV, 1, 4, 6, 2, 2, K(3, 3), P(5, 4, 3, 6)},
    /* Depthwise, with and without a multiplier. */
    {CONV, 1, 1, 1, 1, K(3, 3), P(1, 1, 1, 1), .depthwise = 1},
    {CONV, 1, 8, 8, 16, K(3, 3), SAME, .depthwise = 1, HARD_SWISH},
    {CONV, 2, 9, 7, 5, K(3, 3), S(2, 2), SAME, .depthwise = 1, RELU},
    {CONV, 1, 13, 33, 17, K(5, 5), SAME, .depthwise = 1, NCHW},
    {CONV, 1, 15, 16, 12, K(5, 5), S(2, 2), SAME, .depthwise = 1, PACKED},
    {CONV, 1, 6, 63, 4, K(7, 7), P(3, 3, 3, 3), .depthwise = 1, RELU6},
    {CONV, 1, 10, 11, 8, K(3, 3), D(4, 4), P(4, 4, 4, 4), .depthwise = 1, NO_BIAS},
    {CONV, 1, 5, 6, 3, K(2, 1), S(3, 2), .depthwise = 1},
    {CONV, 1, 4, 65, 8, K(1, 3), S(1, 11), SAME, .depthwise = 1},
    {CONV, 1, 9, 20, 3, K(9, 9), SAME, .depthwise = 1},
    {CONV, 1, 7, 8, 5, K(3, 3), SAME, .depthwise = 2, RELU},
    {CONV, 1, 6, 6, 1, K(3, 3), SAME, .depthwise = 5},
    /* Groups. */
    {CONV, 1, 7, 7, 6, 9, K(3, 3), SAME, .groups = 3, SIGMOID},
    {CONV, 2, 5, 8, 8, 8, K(3, 3), P(1, 1, 1, 1), .groups = 2, NCHW},
    {CONV, 1, 6, 5, 15, 5, K(2, 2), S(2, 1), .groups = 5, NO_BIAS},
    /* Transposed: the mask head's block, and every other. */
    {TRANSPOSE, 1, 1, 1, 1, 1, K(2, 2), S(2, 2)},
    {TRANSPOSE, 1, 8, 9, 16, 1, K(2, 2), S(2, 2), SIGMOID},
    {TRANSPOSE, 2, 9, 7, 5, 1, K(2, 2), S(2, 2), SAME},
    {TRANSPOSE, 1, 6, 7, 3, 1, K(2, 2), S(2, 2), NCHW, PACKED, TANH},
    {TRANSPOSE, 1, 5, 5, 4, 3, K(2, 2), S(2, 2), RELU},
    {TRANSPOSE, 1, 4, 7, 17, 5, K(3, 3), S(2, 2), P(1, 1, 1, 1)},
    {TRANSPOSE, 2, 5, 4, 3, 8, K(4, 4), S(2, 2), P(1, 1, 1, 1), NCHW},
    {TRANSPOSE, 1, 3, 3, 5, 6, K(3, 3), NO_BIAS},
    {TRANSPOSE, 1, 6, 4, 2, 4, K(2, 3), S(3, 4), SIGMOID},
    {TRANSPOSE, 1, 4, 4, 8, 5, K(5, 5), S(2, 2), SAME},
    {TRANSPOSE, 1, 5, 3, 3, 3, K(2, 2), S(3, 3), SAME},
    {TRANSPOSE, 1, 5, 6, 1, 1, K(2, 2), S(2, 2), P(1, 0, 0, 1)},
    /* Pools: global ones of a workgroup and of one invocation, windows. */
    {POOL, 1, 1, 1, 1},
    {POOL, 1, 16, 16, 16},
    {POOL, 2, 7, 9, 5, NCHW},
    {POOL, 1, 8, 8, 17, RELU, PACKED},
    {POOL, 1, 31, 33, 3, SIGMOID},
    {POOL, 1, 9, 8, 3, K(2, 2), S(2, 2)},
    {POOL, 2, 9, 9, 5, K(3, 3), S(2, 2), SAME},
    {POOL, 1, 10, 7, 17, K(3, 2), S(1, 1), P(1, 2, 1, 0), NCHW, HARD_SWISH},
    {POOL, 1, 20, 20, 4, K(9, 9), S(5, 4), P(4, 4, 4, 4)},
    {POOL, 1, 3, 65, 1, K(1, 64)},
    /* Resampling: up, down, one pixel, in each way of coordinates. */
    {RESAMPLE, 1, 1, 1, 1, .size = {1, 1}},
    {RESAMPLE, 1, 1, 1, 5, .size = {4, 7}, CORNERS},
    {RESAMPLE, 1, 4, 4, 16, .size = {8, 8}},
    {RESAMPLE, 2, 5, 7, 3, .size = {10, 14}, NCHW},
    {RESAMPLE, 1, 9, 5, 17, .size = {9, 16}, CORNERS},
    {RESAMPLE, 1, 8, 8, 5, .size = {16, 16}, ASYMMETRIC, PACKED},
    {RESAMPLE, 1, 17, 15, 4, .size = {5, 4}},
    {RESAMPLE, 1, 16, 33, 1, .size = {7, 11}, CORNERS},
    {RESAMPLE, 2, 9, 9, 6, .size = {4, 3}, ASYMMETRIC},
    {RESAMPLE, 1, 6, 6, 3, .size = {1, 1}},
    {RESAMPLE, 1, 3, 2, 8, .size = {31, 65}, CORNERS},
    {RESAMPLE, 1, 2, 3, 4, .size = {63, 17}},
    /* Element-wise. */
    {ADD, 1, 1, 1, 1},
    {ADD, 2, 7, 9, 17, NCHW},
    {MUL, 1, 16, 16, 16, PACKED},
    {MUL, 1, 16, 15, 5, .once = {0, 6}},
    {ADD, 1, 8, 9, 3, .once = {0, 8}, NCHW},
    {ACTIVATION, 1, 5, 7, 3, RELU},
    {ACTIVATION, 2, 3, 21, 5, RELU6},
    {ACTIVATION, 1, 8, 8, 17, SIGMOID, NCHW},
    {ACTIVATION, 1, 1, 65, 1, HARD_SWISH},
    {ACTIVATION, 1, 4, 16, 4, TANH, PACKED},
};

/* ------------------------------------------------------------ random cases */

static uint32_t random_size(struct rng *rng)
{
    return RNG_PICK(rng, 1, 2, 3, 4, 5, 7, 8, 9, 11, 15, 16, 17, 31, 32, 33);
}

static uint32_t random_channels(struct rng *rng)
{
    return RNG_PICK(rng, 1, 2, 3, 4, 5, 8, 12, 15, 16, 17, 24, 31, 32, 33, 63, 64, 65);
}

static void random_window(struct rng *rng, struct op_case *t)
{
    for (int i = 0; i < 2; i++) {
        t->kernel[i] = RNG_PICK(rng, 1, 2, 3, 3, 5, 7);
        t->stride[i] = RNG_PICK(rng, 1, 1, 2, 2, 3);
        t->dilation[i] = t->kind == CONV ? RNG_PICK(rng, 1, 1, 1, 2, 3) : 1;
    }
    t->same = rng_one_in(rng, 2);
    for (int i = 0; i < 4 && !t->same; i++)
        t->pad[i] = t->kind == POOL ? rng_below(rng, t->kernel[i / 2]) : rng_below(rng, 4);
    /* A window that does not fit into a small image becomes SAME. */
    for (int i = 0; i < 2; i++)
        if ((t->kernel[i] - 1) * t->dilation[i] + 1 >
            (i ? t->w : t->h) + t->pad[2 * i] + t->pad[2 * i + 1])
            t->same = true;
    if (t->kind == TRANSPOSE)
        for (int i = 0; i < 4; i++)
            t->pad[i] = t->same ? 0 : rng_below(rng, (t->kernel[i / 2] + 1) / 2);
    if (t->same)
        memset(t->pad, 0, sizeof(t->pad));
}

static struct op_case random_case(struct rng *rng)
{
    struct op_case t = {.n = RNG_PICK(rng, 1, 1, 1, 2)};
    t.kind = rng_one_in(rng, 3) ? CONV : rng_below(rng, KINDS);
    t.h = random_size(rng);
    t.w = random_size(rng);
    t.c = random_channels(rng);
    t.out = random_channels(rng);
    t.activation = rng_one_in(rng, 2) || t.kind == ACTIVATION
                       ? 1 + rng_below(rng, TDL_ACTIVATION_TANH)
                       : TDL_ACTIVATION_NONE;
    t.layout = rng_one_in(rng, 3) ? TDL_LAYOUT_NCHW : TDL_LAYOUT_NHWC;
    t.packed = rng_one_in(rng, 3);
    t.no_bias = rng_one_in(rng, 4);
    if (t.kind <= POOL)
        random_window(rng, &t);
    if (t.kind == POOL && rng_one_in(rng, 3))
        t = (struct op_case){POOL, t.n, t.h, t.w, t.c, .layout = t.layout, .packed = t.packed};
    if (t.kind == CONV && rng_one_in(rng, 3))
        t.depthwise = RNG_PICK(rng, 1, 1, 1, 2);
    else if (t.kind == CONV && rng_one_in(rng, 4)) {
        t.groups = RNG_PICK(rng, 2, 3, 4);
        t.c = t.groups * RNG_PICK(rng, 1, 2, 3, 4);
        t.out = t.groups * RNG_PICK(rng, 1, 2, 3, 5);
    } else if (t.kind == CONV && rng_one_in(rng, 3)) {
        t.kernel[0] = t.kernel[1] = t.stride[0] = t.stride[1] = t.dilation[0] = t.dilation[1] = 1;
        memset(t.pad, 0, sizeof(t.pad));
    }
    t.size[0] = random_size(rng);
    t.size[1] = random_size(rng);
    t.coordinates = rng_below(rng, 3);
    if (t.kind == ADD || t.kind == MUL)
        t.once[0] = rng_below(rng, 16), t.once[1] = rng_below(rng, 16);
    return t;
}

/* ------------------------------------------------------------- broadcasting */

/* Every way of add and mul to broadcast: for each mask of the left operand,
 * one graph with all masks of the right one. On kernels an eighth of them in a run. */
static void check_broadcasting(struct tdl_context *ctx, uint64_t seed)
{
    static const char digits[] = "0123456789abcdef";
    const struct op_case t = {ADD, 2, 3, 5, 6};
    const uint32_t step = (uint32_t)subject_stride(ctx, 8);
    for (uint32_t left = (uint32_t)(seed % step); left < 16; left += step) {
        struct rng rng = {left};
        struct tdl_operand *x[16];
        struct tdl_builder *b;
        struct subject s;
        check_begin("broadcasting, mask %u on the left", left);
        OK(check_builder(ctx, &b));
        for (uint32_t i = 0; i < 16; i++)
            x[i] = image_input(b, &t, (char[]){'x', digits[i], 0}, i);
        for (uint32_t i = 0; i < 16; i++)
            tdl_builder_output(b, (char[]){'y', digits[i], 0},
                               (left ^ i) & 1 ? tdl_builder_add(b, x[left], x[i])
                                              : tdl_builder_mul(b, x[left], x[i]));
        subject_open(&s, ctx, b, &rng);
        subject_run(&s, &(struct tdl_build_params){.precision = TDL_PRECISION_FP32});
        subject_close(&s);
    }
}

/* ---------------------------------------------------------------- constants */

static struct tdl_operand *image_constant(struct tdl_builder *b, struct rng *rng,
                                          struct tdl_tensor_params p)
{
    size_t size = tdl_tensor_params_size(&p);
    float *values = malloc(size);
    REQUIRE(values, "out of memory");
    for (size_t i = 0; i < size / sizeof(float); i++)
        values[i] = rng_float(rng, -2, 2);
    tdl_builder_own(b, values, free);
    return tdl_builder_constant(b, &p, values, size);
}

/* Constants where values are expected, and two constants with each other. */
static void check_constants(struct tdl_context *ctx, enum tdl_layout layout, bool half, bool fuse)
{
    const struct op_case t = {CONV, 1, 5, 7, 6, 5, .layout = layout};
    struct rng rng = {1};
    struct tdl_builder *b;
    struct subject s;
    check_begin("constants as values, %s, %s%s", layout == TDL_LAYOUT_NCHW ? "NCHW" : "NHWC",
                half ? "fp16" : "fp32", fuse ? ", fused" : "");
    OK(check_builder(ctx, &b));
    tdl_builder_set_input_layout(b, layout);
    struct tdl_operand *x = image_input(b, &t, "x", 0);
    struct tdl_operand *whole = image_constant(b, &rng, subject_image(layout, 1, 5, 7, 6));
    struct tdl_operand *vector = image_constant(b, &rng, subject_image(layout, 1, 1, 1, 6));
    struct tdl_operand *low = image_constant(b, &rng, subject_image(layout, 1, 2, 3, 6));
    struct tdl_resample2d_params up = {.mode = TDL_RESAMPLE_LINEAR, .size = {5, 7}};
    tdl_builder_output(b, "sum", tdl_builder_add(b, x, whole));
    tdl_builder_output(b, "product", tdl_builder_mul(b, vector, x));
    tdl_builder_output(b, "both", tdl_builder_add(b, whole, vector));
    tdl_builder_output(b, "pool", tdl_builder_global_average_pool(b, whole));
    tdl_builder_output(b, "conv", build_conv(b, &t, &rng, whole));
    tdl_builder_output(b, "gated", build_conv(b, &t, &rng, tdl_builder_mul(b, x, vector)));
    tdl_builder_output(b, "merged",
                       build_conv(b, &t, &rng,
                                  tdl_builder_add(b, tdl_builder_mul(b, x, vector),
                                                  tdl_builder_resample2d(b, low, &up))));
    subject_open(&s, ctx, b, &rng);
    subject_run(&s, &(struct tdl_build_params){
                        .precision = half ? TDL_PRECISION_FP16 : TDL_PRECISION_FP32,
                        .no_fuse = !fuse,
                    });
    subject_close(&s);
}

/* ----------------------------------------------------------- worked by hand */

#define LIST(...) (const float[]){__VA_ARGS__}

static const struct golden {
    struct op_case op;
    const float *x, *y, *want;
} goldens[] = {
    /* 1 + 2·2 + 3·4 + 4·5 + 10 = 47: a correlation, not mirrored. */
    {{CONV, 1, 3, 3, 1, 1, K(2, 2), .filter = LIST(1, 2, 3, 4), .bias = LIST(10)},
     LIST(1, 2, 3, 4, 5, 6, 7, 8, 9), NULL, LIST(47, 57, 77, 87)},
    /* ohwi: the input channels of an output channel lie together. */
    {{CONV, 1, 1, 1, 2, 2, NO_BIAS, .filter = LIST(1, 2, 3, 4)}, LIST(3, 5), NULL, LIST(13, 29)},
    {{CONV, 1, 1, 1, 2, 2, RELU, .filter = LIST(1, 2, 3, 4), .bias = LIST(-14, -28)},
     LIST(3, 5), NULL, LIST(0, 1)},
    /* SAME puts the odd pixel at the end. */
    {{CONV, 1, 1, 4, 1, 1, K(1, 3), S(1, 2), SAME, NO_BIAS, .filter = LIST(1, 10, 100)},
     LIST(1, 2, 3, 4), NULL, LIST(321, 43)},
    {{CONV, 1, 4, 1, 1, 1, K(2, 1), SAME, NO_BIAS, .filter = LIST(1, 10)},
     LIST(1, 2, 3, 4), NULL, LIST(21, 32, 43, 4)},
    {{CONV, 1, 1, 5, 1, 1, K(1, 2), D(1, 3), NO_BIAS, .filter = LIST(1, 10)},
     LIST(1, 2, 3, 4, 5), NULL, LIST(41, 52)},
    {{CONV, 1, 1, 1, 1, 1, K(2, 1), P(1, 0, 0, 0), NO_BIAS, .filter = LIST(1, 10)},
     LIST(7), NULL, LIST(70)},
    {{CONV, 1, 1, 1, 1, 1, K(1, 2), P(0, 0, 0, 1), NO_BIAS, .filter = LIST(1, 10)},
     LIST(7), NULL, LIST(7)},
    {{CONV, 1, 1, 1, 4, 2, NO_BIAS, .groups = 2, .filter = LIST(1, 10, 100, 1000)},
     LIST(1, 2, 3, 4), NULL, LIST(21, 4300)},
    {{CONV, 1, 1, 1, 2, NO_BIAS, .depthwise = 2, .filter = LIST(1, 2, 10, 20)},
     LIST(3, 5), NULL, LIST(3, 6, 50, 100)},
    /* Each input pixel stamps the kernel: 100·1 + 1·2 where two meet. */
    {{TRANSPOSE, 1, 1, 2, 1, 1, K(1, 3), S(1, 2), NO_BIAS, .filter = LIST(1, 10, 100)},
     LIST(1, 2), NULL, LIST(1, 10, 102, 20, 200)},
    {{TRANSPOSE, 1, 1, 2, 1, 1, K(1, 3), S(1, 2), P(0, 0, 1, 1), .filter = LIST(1, 10, 100),
      .bias = LIST(5)},
     LIST(1, 2), NULL, LIST(15, 107, 25)},
    {{TRANSPOSE, 1, 2, 1, 1, 1, K(3, 1), S(2, 1), SAME, NO_BIAS, .filter = LIST(1, 10, 100)},
     LIST(1, 2), NULL, LIST(1, 10, 102, 20)},
    {{TRANSPOSE, 1, 1, 1, 2, 2, NO_BIAS, .filter = LIST(1, 2, 3, 4)},
     LIST(3, 5), NULL, LIST(13, 29)},
    /* Padding does not count: the last window has one pixel. */
    {{POOL, 1, 1, 3, 1, K(1, 2), P(0, 0, 0, 1)}, LIST(1, 2, 6), NULL, LIST(1.5f, 4, 6)},
    {{POOL, 1, 3, 1, 1, K(2, 1), S(2, 1), SAME}, LIST(1, 2, 6), NULL, LIST(1.5f, 6)},
    {{POOL, 1, 2, 2, 2}, LIST(1, 10, 2, 20, 3, 30, 6, 60), NULL, LIST(3, 30)},
    {{RESAMPLE, 1, 1, 2, 1, .size = {1, 4}}, LIST(0, 10), NULL, LIST(0, 2.5f, 7.5f, 10)},
    {{RESAMPLE, 1, 1, 2, 1, .size = {1, 4}, CORNERS},
     LIST(0, 9), NULL, LIST(0, 3, 6, 9)},
    {{RESAMPLE, 1, 1, 2, 1, .size = {1, 4}, ASYMMETRIC}, LIST(0, 10), NULL, LIST(0, 5, 10, 10)},
    {{RESAMPLE, 1, 1, 4, 1, .size = {1, 2}}, LIST(1, 2, 4, 8), NULL, LIST(1.5f, 6)},
    {{RESAMPLE, 1, 2, 1, 1, .size = {3, 1}}, LIST(0, 10), NULL, LIST(0, 5, 10)},
    {{ADD, 1, 1, 2, 2, .once = {0, 4}}, LIST(1, 2, 3, 4), LIST(10, 20), LIST(11, 22, 13, 24)},
    {{MUL, 1, 1, 2, 2, .once = {0, 4}}, LIST(1, 2, 3, 4), LIST(10, 20), LIST(10, 40, 30, 80)},
    {{MUL, 1, 1, 2, 2, .once = {0, 8}}, LIST(1, 2, 3, 4), LIST(10, 20), LIST(10, 20, 60, 80)},
    {{ACTIVATION, 1, 1, 6, 1, RELU}, LIST(-4, -1, 0, 1, 4, 8), NULL, LIST(0, 0, 0, 1, 4, 8)},
    {{ACTIVATION, 1, 1, 6, 1, RELU6}, LIST(-4, -1, 0, 1, 4, 8), NULL, LIST(0, 0, 0, 1, 4, 6)},
    {{ACTIVATION, 1, 1, 6, 1, SIGMOID}, LIST(-4, -1, 0, 1, 4, 8), NULL,
     LIST(0.01798621f, 0.26894142f, 0.5f, 0.73105858f, 0.98201379f, 0.99966465f)},
    {{ACTIVATION, 1, 1, 6, 1, HARD_SWISH}, LIST(-4, -1, 0, 1, 4, 8), NULL,
     LIST(0, -0.33333333f, 0, 0.66666667f, 4, 8)},
    {{ACTIVATION, 1, 1, 6, 1, TANH}, LIST(-4, -1, 0, 1, 4, 8), NULL,
     LIST(-0.99932930f, -0.76159416f, 0, 0.76159416f, 0.99932930f, 0.99999977f)},
};

static void check_goldens(void)
{
    for (size_t i = 0; i < COUNT(goldens); i++) {
        const struct golden *g = &goldens[i];
        struct rng rng = {0};
        struct tdl_builder *b;
        char text[320];
        void **values;
        check_begin("worked by hand: %s", describe(&g->op, text, sizeof(text)));
        OK(check_builder(NULL, &b));
        struct tdl_operand *o = build_case(b, &g->op, &rng);
        REQUIRE(o, "%s", tdl_builder_error(b));
        struct tdl_ir *ir = tdl_builder_ir(b);
        values = calloc(ir->operand_count, sizeof(*values));
        REQUIRE(values, "out of memory");
        OK(tdl_ir_run_reference(ir, (const void *const[]){g->x, g->y}, values));
        subject_compare("the reference", &o->desc, g->want, values[o->id], false, 1);
        for (uint32_t k = 0; k < ir->operand_count; k++)
            free(values[k]);
        free(values);
        tdl_builder_destroy(&b);
    }
}

/* float16 constants: the values of IEEE 754 binary16. */
static void check_cast(void)
{
    static const uint16_t halves[] = {0x0000, 0x3c00, 0xc000, 0x3555,
                                      0x7bff, 0x0400, 0x0001, 0x83ff};
    static const float want[] = {0,     1,        -2,       0.333251953125f,
                                 65504, 0x1p-14f, 0x1p-24f, -1023 * 0x1p-24f};
    check_begin("cast");
    for (size_t i = 0; i < COUNT(halves); i++)
        CHECK(tdl_half_to_float(halves[i]) == want[i], "%#06x is %g instead of %g", halves[i],
              (double)tdl_half_to_float(halves[i]), (double)want[i]);
    CHECK(tdl_half_to_float(0x7c00) > 65504 && tdl_half_to_float(0xfc00) < -65504 &&
              tdl_half_to_float(0x7e00) != tdl_half_to_float(0x7e00),
          "infinities and NaN are lost");
}

int main(int argc, char **argv)
{
    uint64_t seed = check_seed(argc, argv, 2);
    check_goldens();
    check_cast();
    struct tdl_context *ctx = check_context_open();
    const long random = check_cases(argc, argv, subject_has_kernels(ctx) ? 6 : 16);
    const uint64_t stride = subject_stride(ctx, 3);
    if (argc <= 2)
        for (size_t i = 0; i < COUNT(table); i++)
            for (int half = 0; half < 2; half++)
                if ((2 * i + (size_t)half + seed) % stride == 0)
                    run_case(ctx, &table[i], i, half, (i ^ half) & 1);
    if (argc <= 2) {
        check_broadcasting(ctx, seed);
        check_constants(ctx, TDL_LAYOUT_NHWC, false, false);
        check_constants(ctx, TDL_LAYOUT_NCHW, false, true);
        check_constants(ctx, TDL_LAYOUT_NHWC, true, true);
    }
    for (long i = 0; i < random; i++, seed++) {
        struct rng rng = {seed};
        struct op_case t = random_case(&rng);
        run_case(ctx, &t, seed, seed & 1, seed & 2);
    }
    check_context_close(ctx);
    return check_result();
}
