/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Every way to compute conv2d, forced by name, on every kind of shape that it
 * takes, against the definition in plain C; and that it takes just these.
 *
 *     test-conv [cases [seed]]    that many random cases, from that seed on
 */
#include "subject.h"

#include <ops/conv/conv.h>

/* Zero means 1 for n, strides, dilations and groups. */
struct shape {
    uint32_t n, h, w, c, out;
    uint32_t kernel[2], stride[2], dilation[2], pad[4];
    bool same, no_bias, residual;
    uint32_t groups, activation;
    enum tdl_layout layout; /* NCHW, or else NHWC */
    bool packed;
};

static uint32_t or_one(uint32_t v)
{
    return v ? v : 1;
}

static const char *describe(const struct shape *t, char *text, size_t size)
{
    snprintf(text, size,
             "%ux%ux%ux%u -> %u kernel %ux%u stride %ux%u dilation %ux%u pad %u,%u,%u,%u%s "
             "groups %u %s%s%s %s%s",
             or_one(t->n), t->h, t->w, t->c, t->out, t->kernel[0], t->kernel[1], t->stride[0],
             t->stride[1], t->dilation[0], t->dilation[1], t->pad[0], t->pad[1], t->pad[2],
             t->pad[3], t->same ? " same" : "", or_one(t->groups),
             tdl_activation_name(t->activation), t->no_bias ? " no bias" : "",
             t->residual ? " residual" : "", t->layout == TDL_LAYOUT_NCHW ? "NCHW" : "NHWC",
             t->packed ? " packed" : "");
    return text;
}

/* conv2d, and what is added to it: the input or one of its own. */
static struct tdl_operand *build(struct tdl_builder *b, const struct shape *t, struct rng *rng)
{
    const uint32_t groups = or_one(t->groups);
    if (t->layout)
        tdl_builder_set_input_layout(b, t->layout);
    struct tdl_tensor_params d = subject_image(t->layout, or_one(t->n), t->h, t->w, t->c);
    struct tdl_operand *x = tdl_builder_input(b, "x", &d);
    struct tdl_conv2d_params p = {
        .stride = {t->stride[0], t->stride[1]},
        .dilation = {t->dilation[0], t->dilation[1]},
        .pad = {t->pad[0], t->pad[1], t->pad[2], t->pad[3]},
        .padding = t->same ? TDL_PADDING_SAME_UPPER : TDL_PADDING_EXPLICIT,
        .groups = groups,
        .activation = t->activation,
        .bias = t->no_bias ? NULL : subject_bias(b, rng, t->out),
    };
    struct tdl_operand *filter =
        subject_filter(b, rng, t->out, t->kernel[0], t->kernel[1], t->c / groups);
    struct tdl_operand *y = tdl_builder_conv2d(b, x, filter, &p);
    if (!y || !t->residual)
        return y;
    d = *tdl_operand_get_desc(y);
    return tdl_builder_add(b, y, tdl_builder_input(b, "y", &d));
}

/* ------------------------------------------------------------------ who takes */

static bool is_pointwise(const struct shape *t)
{
    return t->kernel[0] == 1 && t->kernel[1] == 1 && or_one(t->stride[0]) == 1 &&
           or_one(t->stride[1]) == 1 && or_one(t->groups) == 1 && !t->pad[0] && !t->pad[1] &&
           !t->pad[2] && !t->pad[3];
}

static bool is_depthwise(const struct shape *t)
{
    return or_one(t->groups) == t->c && t->out == t->c && t->kernel[0] * t->kernel[1] <= 64;
}

static bool is_3x3(const struct shape *t)
{
    return t->kernel[0] == 3 && t->kernel[1] == 3 && or_one(t->stride[0]) == 1 &&
           or_one(t->stride[1]) == 1 && or_one(t->dilation[0]) == 1 &&
           or_one(t->dilation[1]) == 1 && or_one(t->groups) == 1;
}

static bool is_one_group(const struct shape *t)
{
    return or_one(t->groups) == 1;
}

static bool is_any(const struct shape *t)
{
    (void)t;
    return true;
}

/* Shapes that each row accepts, by its documentation. */
static const struct row {
    const char *name;
    bool (*takes)(const struct shape *t);
    bool needs_units; /* hardware; a device without it takes nothing */
} rows[] = {
    {"pointwise", is_pointwise, false},  {"depthwise", is_depthwise, false},
    {"direct", is_one_group, false},     {"implicit", is_one_group, false},
    {"winograd23", is_3x3, false},       {"winograd43", is_3x3, false},
    {"im2col", is_one_group, false},     {"grouped", is_any, false},
    {"cooperative", is_one_group, true}, {"patch", is_one_group, true},
};

/* --------------------------------------------------------------------- a case */

static void check_steps(struct tdl_builder *b, const struct tdl_build_params *params)
{
    const struct tdl_graph_step *s;
    struct tdl_graph *graph;
    uint32_t forced = 0;
    uint64_t macs = 0;
    OK(tdl_builder_build(b, params, &graph));
    for (uint32_t i = 0; (s = tdl_graph_get_step(graph, i)); i++) {
        macs += s->macs;
        if (s->choice != TDL_CHOICE_FORCED)
            continue;
        forced++;
        CHECK(!strncmp(s->algorithm, params->conv2d_algorithm, strlen(params->conv2d_algorithm)),
              "step %u is computed by %s", i, s->algorithm);
    }
    CHECK(forced > 0, "no step says that it was forced");
    for (uint32_t i = 0; i < tdl_builder_ir(b)->node_count; i++)
        if (!strcmp(tdl_builder_ir(b)->nodes[i]->op->name, "conv2d"))
            CHECK(macs == tdl_node_macs(tdl_builder_ir(b)->nodes[i]),
                  "the steps count %llu multiply-accumulates", (unsigned long long)macs);
    tdl_graph_destroy(&graph);
}

/* `takes`: whether the build has to succeed. */
static void run(struct tdl_context *ctx, const struct shape *t, const char *algorithm, bool takes,
                bool half, uint64_t seed)
{
    struct rng rng = {seed + 1};
    struct tdl_builder *b;
    struct tdl_graph *graph = NULL;
    struct subject s;
    char text[320];
    const struct tdl_build_params params = {
        .precision = half ? TDL_PRECISION_FP16 : TDL_PRECISION_FP32,
        .input_packing = t->packed ? TDL_PACKING_C4 : TDL_PACKING_NONE,
        .conv2d_algorithm = algorithm,
    };
    /* A device without kernels has one way. */
    struct tdl_build_params any_way = params;
    any_way.conv2d_algorithm = NULL;
    check_begin("seed %llu: %s %s: %s", (unsigned long long)seed, algorithm, half ? "fp16" : "fp32",
                describe(t, text, sizeof(text)));
    OK(check_builder(ctx, &b));
    tdl_builder_output(b, "y", build(b, t, &rng));
    const bool kernels = subject_has_kernels(ctx);
    if (takes) {
        if (kernels)
            check_steps(b, &params);
        else
            FAILS(tdl_builder_build(b, &params, &graph), TDL_ERROR_UNSUPPORTED, algorithm);
        subject_open(&s, ctx, b, &rng);
        subject_run(&s, kernels ? &params : &any_way);
        subject_close(&s);
        return;
    }
    enum tdl_result r = tdl_builder_build(b, &params, &graph);
    CHECK(r == TDL_ERROR_UNSUPPORTED, "%s although the shape is not for it",
          r == TDL_OK ? "it was built" : tdl_last_error());
    CHECK(r == TDL_OK || strstr(tdl_last_error(), algorithm), "the error does not name it: %s",
          tdl_last_error());
    tdl_graph_destroy(&graph);
    tdl_builder_destroy(&b);
}

/* ------------------------------------------------------------------ the tables */

#define SAME .same = true
#define NCHW .layout = TDL_LAYOUT_NCHW
#define PACKED .packed = true
#define RELU .activation = TDL_ACTIVATION_RELU
#define HARD_SWISH .activation = TDL_ACTIVATION_HARD_SWISH
#define NO_BIAS .no_bias = true
#define RESIDUAL .residual = true
#define K(h, w) .kernel = {h, w}
#define S(h, w) .stride = {h, w}
#define D(h, w) .dilation = {h, w}
#define P(t, b, l, r) .pad = {t, b, l, r}

static const struct shape shapes[] = {
    {1, 1, 1, 1, 1, K(1, 1)},
    {2, 5, 7, 5, 6, K(1, 1), RELU, RESIDUAL, NCHW},
    {1, 9, 13, 68, 33, K(1, 1), PACKED},
    {1, 1, 1, 3, 2, K(3, 3), P(1, 1, 1, 1), NCHW},
    {3, 6, 5, 7, 9, K(3, 3), SAME, RELU, RESIDUAL},
    {1, 4, 4, 4, 4, K(3, 3)},
    {2, 9, 11, 17, 20, K(3, 3), P(2, 0, 1, 3), HARD_SWISH, NCHW},
    {1, 3, 3, 33, 12, K(3, 3), NO_BIAS, PACKED},
    {2, 8, 9, 5, 9, K(3, 3), S(2, 2), SAME, RELU},
    {1, 11, 7, 6, 5, K(5, 3), S(1, 2), D(1, 2), P(2, 1, 0, 3), RESIDUAL, NCHW},
    {2, 6, 6, 8, 8, K(3, 3), SAME, .groups = 8, RELU, RESIDUAL},
    {2, 5, 6, 6, 9, K(3, 3), SAME, .groups = 3, NCHW},
    {1, 7, 5, 5, 5, K(5, 5), S(2, 2), SAME, .groups = 5, PACKED},
};

/* One pixel or one channel more or less than whole tiles. */
static const struct shape edges[] = {
    {1, 1, 127, 16, 128, K(1, 1)}, {1, 1, 129, 12, 132, K(1, 1), NCHW},
    {1, 3, 21, 20, 60, K(1, 1)},   {1, 5, 13, 17, 65, K(3, 3), SAME},
    {1, 1, 33, 4, 17, K(1, 1)},    {1, 31, 1, 5, 31, K(3, 3), SAME},
};

/* True if the row promises to take the shape on this device. */
static bool takes(struct tdl_context *ctx, const struct row *row, const struct shape *t, bool half)
{
    bool able = !row->needs_units || (tdl_context_device(ctx)->cooperative_matrix[0] && half);
    return able && row->takes(t);
}

/* True unless its workgroup is larger than the device's; else `row` does not take it. */
static bool fits(struct tdl_context *ctx, const struct tdl_conv_algorithm *row,
                 const struct tdl_conv_variant *v)
{
    const uint32_t own = row == &tdl_conv_pointwise    ? v->v[2] * (v->v[3] ? v->v[3] : 1)
                         : row == &tdl_conv_implicit   ? v->v[0] * v->v[1]
                                                       : 1;
    return row == &tdl_conv_cooperative
               ? subject_units_fit(ctx, v)
               : own <= tdl_context_device(ctx)->max_workgroup_invocations;
}

static void check_variants(struct tdl_context *ctx, uint64_t seed)
{
    const uint64_t stride = subject_stride(ctx, 4);
    static const char *const gemms[] = {"implicit", "winograd43", "im2col"};
    char name[64];
    for (uint32_t v = 0; v < TDL_CONV_GEMM_VARIANTS; v++) {
        if ((v + seed) % stride || !fits(ctx, &tdl_conv_implicit, &tdl_conv_gemm_variants[v]))
            continue;
        snprintf(name, sizeof(name), "implicit:%s", tdl_conv_gemm_variants[v].name);
        run(ctx, &edges[v < 2 ? v : v % 2], name, true, v & 1, v);
        if (v > 1) {
            struct shape small = {1, 5, 13, 17, 40 + v, K(3, 3), SAME};
            snprintf(name, sizeof(name), "%s:%s", gemms[v % 3], tdl_conv_gemm_variants[v].name);
            run(ctx, v == 3 ? &(struct shape){1, 5, 13, 17, 65, K(3, 3), SAME} : &small, name, true,
                v >> 1 & 1, v);
        }
    }
    static const struct {
        const struct tdl_conv_algorithm *row;
        struct shape t;
    } others[] = {
        {&tdl_conv_pointwise, {2, 1, 67, 17, 31, K(1, 1), RELU}},
        {&tdl_conv_pointwise, {2, 3, 5, 190, 18, K(1, 1), RELU}},
        {&tdl_conv_direct, {1, 7, 11, 5, 17, K(3, 3), SAME}},
        {&tdl_conv_depthwise, {1, 9, 11, 6, 6, K(3, 3), SAME, .groups = 6}},
        {&tdl_conv_grouped, {2, 5, 7, 6, 4, K(3, 3), SAME, .groups = 2}},
        {&tdl_conv_cooperative, {2, 7, 19, 9, 65, K(3, 3), SAME, RELU}},
        {&tdl_conv_patch, {2, 7, 19, 9, 65, K(3, 3), SAME, RELU}},
    };
    const bool units = tdl_context_device(ctx)->cooperative_matrix[0] > 0;
    if (!units)
        fprintf(stderr, "cooperative: not run, as device or build have no matrix units\n");
    for (size_t i = 0; i < COUNT(others) - (units ? 0 : 2); i++)
        for (uint32_t v = 0; v < others[i].row->variant_count; v++) {
            if ((i + v + seed) % stride ||
                !fits(ctx, others[i].row, &others[i].row->variants[v]))
                continue;
            snprintf(name, sizeof(name), "%s%s%s", others[i].row->name,
                     *others[i].row->variants[v].name ? ":" : "", others[i].row->variants[v].name);
            run(ctx, &others[i].t, name, true, v & 1 || i + 2 >= COUNT(others), v);
        }
}

/* What compilers of GPUs that are not here were seen to spill is not offered there, and the
 * smallest and the default always are. */
static void check_spilled(struct tdl_context *ctx)
{
    static const struct {
        const char *name;
        uint32_t vendor, subgroup, gemm, pointwise; /* bits of the variants that are left */
    } gpus[] = {
        {"GCN", 0x1002, 64, 0xff, 0xfff},
        {"RDNA", 0x1002, 32, 0xff, 0xfdf},
        {"Intel", 0x8086, 8, 0xc0, 0xfdf},
        {"NVIDIA", 0x10de, 32, 0xff, 0xfff},
    };
    const struct tdl_conv2d_params p = {.groups = 1};
    for (size_t i = 0; i < COUNT(gpus); i++) {
        struct tdl_device_info device = *tdl_context_device(ctx);
        struct tdl_conv_geometry g = {.in = {1, 16, 16, 256}, .out = {1, 16, 16, 256}, .p = &p,
                                      .window = {.kernel = {1, 1}, .stride = {1, 1}},
                                      .device = &device};
        uint32_t gemm = 0, pointwise = 0;
        device.type = TDL_DEVICE_DISCRETE_GPU;
        device.vendor_id = gpus[i].vendor;
        device.least_subgroup_size = gpus[i].subgroup;
        device.max_workgroup_invocations = 1024;
        device.max_shared_memory = 65536;
        for (uint32_t v = 0; v < TDL_CONV_GEMM_VARIANTS; v++)
            gemm |= (uint32_t)tdl_conv_gemm_accepts(&g, &tdl_conv_gemm_variants[v]) << v;
        for (uint32_t v = 0; v < tdl_conv_pointwise.variant_count; v++)
            pointwise |= (uint32_t)tdl_conv_pointwise.accepts(&g, &tdl_conv_pointwise.variants[v])
                         << v;
        check_begin("what %s spills", gpus[i].name);
        CHECK(gemm == gpus[i].gemm && pointwise == gpus[i].pointwise, "offered: 0x%x and 0x%x",
              gemm, pointwise);
    }
}

/* ------------------------------------------------------------------- at random */

static struct shape random_shape(struct rng *rng)
{
    struct shape t = {
        .n = RNG_PICK(rng, 1, 1, 2, 3),
        .h = RNG_PICK(rng, 1, 3, 4, 5, 7, 8, 9, 15, 16, 17),
        .w = RNG_PICK(rng, 1, 3, 4, 5, 7, 8, 9, 15, 16, 17),
        .c = RNG_PICK(rng, 1, 3, 4, 5, 8, 15, 16, 17, 33),
        .out = RNG_PICK(rng, 1, 3, 4, 5, 8, 15, 16, 17, 33),
        .same = rng_one_in(rng, 2),
        .no_bias = rng_one_in(rng, 4),
        .residual = rng_one_in(rng, 3),
        .activation = rng_below(rng, TDL_ACTIVATION_TANH + 1),
        .layout = rng_one_in(rng, 2) ? TDL_LAYOUT_NCHW : TDL_LAYOUT_NHWC,
        .packed = rng_one_in(rng, 4),
    };
    bool winograd = rng_one_in(rng, 2);
    for (int i = 0; i < 2; i++) {
        t.kernel[i] = winograd ? 3 : RNG_PICK(rng, 1, 1, 2, 3, 5);
        t.stride[i] = winograd ? 1 : RNG_PICK(rng, 1, 1, 2);
        t.dilation[i] = winograd ? 1 : RNG_PICK(rng, 1, 1, 2);
        if ((t.kernel[i] - 1) * t.dilation[i] + 1 > (i ? t.w : t.h))
            t.same = true;
    }
    for (int i = 0; i < 4 && !t.same; i++)
        t.pad[i] = rng_below(rng, 3);
    return t;
}

/* --------------------------------------------------------------- filter layouts */

/* Filters in any order give the same graph; the expected order follows from the names alone. */
static void check_filter_layouts(struct tdl_context *ctx)
{
    static const char *const orders[] = {"ohwi", "oihw", "hwio", "ihwo"};
    static const uint32_t sizes[] = {6, 3, 2, 5}; /* o h w i */
    float ohwi[6 * 3 * 2 * 5], other[COUNT(ohwi)];
    struct rng rng = {7};
    for (size_t k = 0; k < COUNT(ohwi); k++)
        ohwi[k] = rng_float(&rng, -1, 1);
    for (uint32_t l = 0; l < COUNT(orders); l++) {
        uint32_t shape[4], at[4], place[4];
        struct tdl_builder *b;
        struct subject s;
        check_begin("filter layout %s", orders[l]);
        for (uint32_t k = 0; k < 4; k++) {
            place[k] = (uint32_t)(strchr("ohwi", orders[l][k]) - "ohwi");
            shape[k] = sizes[place[k]];
        }
        for (uint32_t k = 0; k < COUNT(ohwi); k++) { /* `k` split by the order of `other` */
            uint32_t rest = k;
            for (int d = 3; d >= 0; rest /= shape[d], d--)
                at[place[d]] = rest % shape[d];
            other[k] = ohwi[((at[0] * 3 + at[1]) * 2 + at[2]) * 5 + at[3]];
        }
        OK(check_builder(ctx, &b));
        struct tdl_tensor_params d = subject_image(TDL_LAYOUT_NHWC, 1, 7, 6, 5);
        struct tdl_operand *x = tdl_builder_input(b, "x", &d);
        struct tdl_conv2d_params p = {.filter_layout = (enum tdl_filter_layout)l};
        tdl_builder_output(b, "y",
                           tdl_builder_conv2d(b, x, subject_constant(b, 4, shape, other), &p));
        subject_open(&s, ctx, b, &rng);
        const struct tdl_node *n = s.ir->nodes[s.ir->node_count - 1];
        CHECK(!memcmp(n->inputs[TDL_CONV_FILTER]->data, ohwi, sizeof(ohwi)),
              "the filter was not put into ohwi");
        subject_run(&s, &(struct tdl_build_params){.precision = TDL_PRECISION_FP32});
        subject_close(&s);
    }
}

static const float *dynamic_filter;

static void fill_dynamic(uint32_t index, const struct tdl_tensor_params *desc, struct rng *rng,
                         void *values)
{
    if (index == 0)
        subject_fill(desc, rng, values);
    else
        memcpy(values, dynamic_filter, tdl_tensor_params_size(desc));
}

/* A filter that is an input, and turned into some order, gives what the same as a constant
 * gives. */
static void check_dynamic(struct tdl_context *ctx, const struct shape *t,
                          enum tdl_filter_layout order)
{
    static const uint32_t orders[][4] = {{0, 1, 2, 3}, {0, 3, 1, 2}, {1, 2, 3, 0}, {3, 1, 2, 0}};
    const uint32_t *k = t->kernel, in = t->c / or_one(t->groups);
    struct rng rng = {t->c};
    struct tdl_builder *b;
    struct subject s;
    char text[320];
    check_begin("a filter that is an input: %s", describe(t, text, sizeof(text)));
    OK(check_builder(ctx, &b));
    struct tdl_operand *want = build(b, t, &rng);
    const struct tdl_node *n = want->producer;
    struct tdl_conv2d_params p = n->attr.conv.p;
    p.filter_layout = order;
    p.bias = n->inputs[TDL_CONV_BIAS];
    dynamic_filter = n->inputs[TDL_CONV_FILTER]->data;
    struct tdl_operand *f =
        subject_input(b, "f", SUBJECT_SHAPE(TDL_FLOAT32, t->out, k[0], k[1], in));
    f = order == TDL_FILTER_OHWI ? f : tdl_builder_transpose(b, f, orders[order]);
    struct tdl_operand *got = tdl_builder_conv2d(b, n->inputs[TDL_CONV_INPUT], f, &p);
    const size_t count = tdl_operand_count(want);
    subject_output(b, want);
    subject_output(b, got);
    subject_open_filled(&s, ctx, b, &rng, fill_dynamic);
    if (subject_run(&s, &(struct tdl_build_params){.precision = TDL_PRECISION_FP32}))
        for (size_t i = 0; i < count; i++) {
            const float x = ((const float *)s.plain[0])[i], y = ((const float *)s.plain[1])[i];
            CHECK(x - y < 1e-3f && y - x < 1e-3f, "element %zu is %g instead of %g", i, (double)y,
                  (double)x);
        }
    subject_close(&s);
}

static void check_dynamics(struct tdl_context *ctx)
{
    static const struct shape cases[] = {
        {1, 5, 6, 3, 4, K(3, 3), P(1, 1, 1, 1)},
        {2, 7, 5, 8, 6, K(2, 3), S(2, 1), D(1, 2), P(0, 1, 2, 0), .groups = 2, NCHW},
        {1, 6, 6, 5, 5, K(3, 3), S(2, 2), SAME, .groups = 5},
    };
    for (uint32_t i = 0; i < COUNT(cases); i++)
        check_dynamic(ctx, &cases[i], (i + 1) % 4);
    check_dynamic(ctx, &cases[0], TDL_FILTER_OHWI);
}

/* ---------------------------------------------------------------------- im2col */

static void check_im2col(struct tdl_context *ctx)
{
    static const struct shape cases[] = {
        {1, 5, 6, 3, 0, K(3, 3), P(1, 1, 1, 1)},
        {2, 7, 5, 8, 0, K(2, 3), S(2, 1), D(1, 2), P(0, 1, 2, 0), NCHW},
        {1, 6, 6, 5, 0, K(3, 3), S(2, 2), SAME},
        {1, 4, 4, 4, 0, K(1, 1), PACKED},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        const struct shape *t = &cases[i];
        struct rng rng = {i};
        struct tdl_builder *b;
        struct subject s;
        char text[320];
        check_begin("im2col: %s", describe(t, text, sizeof(text)));
        OK(check_builder(ctx, &b));
        if (t->layout)
            tdl_builder_set_input_layout(b, t->layout);
        struct tdl_tensor_params d = subject_image(t->layout, t->n, t->h, t->w, t->c);
        struct tdl_im2col_params p = {
            .kernel = {t->kernel[0], t->kernel[1]},
            .stride = {t->stride[0], t->stride[1]},
            .dilation = {t->dilation[0], t->dilation[1]},
            .pad = {t->pad[0], t->pad[1], t->pad[2], t->pad[3]},
            .padding = t->same ? TDL_PADDING_SAME_UPPER : TDL_PADDING_EXPLICIT,
        };
        /* A 1×1 convolution of the columns is the convolution, too. */
        struct tdl_operand *x = tdl_builder_input(b, "x", &d);
        struct tdl_operand *columns = tdl_builder_im2col(b, x, &p);
        uint32_t k = t->kernel[0] * t->kernel[1] * t->c;
        float filter[5 * 72];
        for (uint32_t j = 0; j < 5 * k; j++)
            filter[j] = rng_float(&rng, -1, 1) / (float)k;
        struct tdl_conv2d_params conv = {
            .stride = {t->stride[0], t->stride[1]},
            .dilation = {t->dilation[0], t->dilation[1]},
            .pad = {t->pad[0], t->pad[1], t->pad[2], t->pad[3]},
            .padding = p.padding,
        };
        tdl_builder_output(b, "columns", columns);
        tdl_builder_output(
            b, "product",
            tdl_builder_conv2d(b, columns, subject_constant(b, 4, (uint32_t[]){5, 1, 1, k}, filter),
                               NULL));
        tdl_builder_output(
            b, "conv",
            tdl_builder_conv2d(
                b, x,
                subject_constant(b, 4, (uint32_t[]){5, t->kernel[0], t->kernel[1], t->c}, filter),
                &conv));
        subject_open(&s, ctx, b, &rng);
        const struct tdl_operand *o = s.ir->outputs[1];
        subject_compare("product and convolution", &o->desc, s.values[s.ir->outputs[2]->id],
                        s.values[o->id], false, 1);
        subject_run(&s, &(struct tdl_build_params){
                            .precision = i & 1 ? TDL_PRECISION_FP16 : TDL_PRECISION_FP32,
                            .input_packing = t->packed ? TDL_PACKING_C4 : TDL_PACKING_NONE});
        subject_close(&s);
    }
}

/* ------------------------------------------------------------------ recurrent gates */

static struct tdl_operand *convolve(struct tdl_builder *b, struct rng *rng, struct tdl_operand *x,
                                    uint32_t in, uint32_t out, uint32_t k,
                                    enum tdl_activation activation)
{
    return tdl_builder_conv2d(b, x, subject_filter(b, rng, out, k, k, in),
                              &(struct tdl_conv2d_params){
                                  .padding = TDL_PADDING_SAME_UPPER,
                                  .activation = activation,
                                  .bias = subject_bias(b, rng, out),
                              });
}

static struct tdl_operand *channels(struct tdl_builder *b, struct tdl_operand *x, uint32_t axis,
                                    uint32_t start, uint32_t count)
{
    struct tdl_slice_params p = {{0}};
    p.start[axis] = start;
    p.size[axis] = count;
    return tdl_builder_slice(b, x, &p);
}

/* A convolution on matrix units with everything that is fused into it (compile/mix.c): a small
 * picture that is resampled and joined with others, a state, and the product of a gate and the
 * state. `c`: channels of the state. Without matrix units the same graph takes other steps. */
static void check_gate(struct tdl_context *ctx, uint32_t c, uint32_t k, enum tdl_layout layout,
                       bool half, uint64_t seed)
{
    const uint32_t h = 9, w = 21, axis = layout == TDL_LAYOUT_NCHW ? 1 : 3;
    const float one = 1;
    struct rng rng = {seed + 1};
    struct tdl_builder *b;
    struct subject s;
    check_begin("a gate of %u channels, kernel %u, %s, %s", c, k,
                layout == TDL_LAYOUT_NCHW ? "NCHW" : "NHWC", half ? "fp16" : "fp32");
    OK(check_builder(ctx, &b));
    tdl_builder_set_input_layout(b, layout);
    const struct tdl_tensor_params low = subject_image(layout, 1, 5, 11, 8),
                                   skip = subject_image(layout, 1, h, w, 12),
                                   src = subject_image(layout, 1, h, w, 3),
                                   old = subject_image(layout, 1, h, w, c);
    struct tdl_operand *state = tdl_builder_input(b, "state", &old);
    struct tdl_operand *up = tdl_builder_resample2d(
        b, convolve(b, &rng, tdl_builder_input(b, "low", &low), 8, 8, 1, TDL_ACTIVATION_RELU),
        &(struct tdl_resample2d_params){.mode = TDL_RESAMPLE_LINEAR, .size = {h, w}});
    struct tdl_operand *parts[] = {up, tdl_builder_input(b, "skip", &skip),
                                   tdl_builder_input(b, "src", &src)};
    struct tdl_operand *x =
        convolve(b, &rng, tdl_builder_concat(b, parts, 3, axis), 23, 2 * c, k, TDL_ACTIVATION_RELU);
    struct tdl_operand *a = channels(b, x, axis, 0, c), *y = channels(b, x, axis, c, c);
    struct tdl_operand *both =
        convolve(b, &rng, tdl_builder_concat(b, (struct tdl_operand *[]){y, state}, 2, axis),
                 2 * c, 2 * c, k, TDL_ACTIVATION_SIGMOID);
    struct tdl_operand *r = channels(b, both, axis, 0, c), *z = channels(b, both, axis, c, c);
    struct tdl_operand *kept = tdl_builder_mul(b, r, state);
    struct tdl_operand *made =
        convolve(b, &rng, tdl_builder_concat(b, (struct tdl_operand *[]){y, kept}, 2, axis), 2 * c,
                 c, k, TDL_ACTIVATION_TANH);
    struct tdl_operand *rest = tdl_builder_sub(
        b, subject_constant(b, 0, NULL, &one), z);
    struct tdl_operand *next = tdl_builder_add(b, tdl_builder_mul(b, rest, state),
                                               tdl_builder_mul(b, z, made));
    tdl_builder_output(b, "next", next);
    tdl_builder_output(
        b, "y", convolve(b, &rng, tdl_builder_concat(b, (struct tdl_operand *[]){a, next}, 2, axis),
                         2 * c, 5, 1, TDL_ACTIVATION_NONE));
    subject_open(&s, ctx, b, &rng);
    subject_run(&s, &(struct tdl_build_params){.precision = half ? TDL_PRECISION_FP16
                                                                 : TDL_PRECISION_FP32});
    subject_close(&s);
}

/* A resampled small picture is joined with a constant: alone, so that the convolution reads only a
 * constant besides, and together with another picture. */
static void check_low_beside_constant(struct tdl_context *ctx, bool alone, bool half)
{
    const uint32_t h = 9, w = 21, c = alone ? 16 : 24;
    static float values[9 * 21 * 8];
    struct rng rng = {5};
    struct tdl_builder *b;
    struct subject s;
    check_begin("a constant beside what is resampled, %s, %s", alone ? "alone" : "and a picture",
                half ? "fp16" : "fp32");
    OK(check_builder(ctx, &b));
    const struct tdl_tensor_params low = subject_image(TDL_LAYOUT_NHWC, 1, 5, 11, 8),
                                   skip = subject_image(TDL_LAYOUT_NHWC, 1, h, w, 8);
    for (size_t i = 0; i < COUNT(values); i++)
        values[i] = rng_float(&rng, -1, 1);
    struct tdl_operand *up = tdl_builder_resample2d(
        b, convolve(b, &rng, tdl_builder_input(b, "low", &low), 8, 8, 1, TDL_ACTIVATION_RELU),
        &(struct tdl_resample2d_params){.mode = TDL_RESAMPLE_LINEAR, .size = {h, w}});
    struct tdl_operand *fixed = subject_constant(b, 4, (uint32_t[]){1, h, w, 8}, values);
    struct tdl_operand *picture =
        convolve(b, &rng, tdl_builder_input(b, "skip", &skip), 8, 8, 1, TDL_ACTIVATION_RELU);
    struct tdl_operand *parts[] = {up, fixed, picture};
    struct tdl_operand *x = tdl_builder_concat(b, parts, alone ? 2 : 3, 3);
    x = convolve(b, &rng, x, c, 16, 3, TDL_ACTIVATION_RELU);
    tdl_builder_output(b, "y", convolve(b, &rng, x, 16, 5, 1, TDL_ACTIVATION_NONE));
    if (alone)
        tdl_builder_output(b, "picture", picture);
    subject_open(&s, ctx, b, &rng);
    subject_run(&s, &(struct tdl_build_params){.precision = half ? TDL_PRECISION_FP16
                                                                 : TDL_PRECISION_FP32});
    subject_close(&s);
}

static void check_gates(struct tdl_context *ctx)
{
    for (int i = 0; i < 4; i++)
        check_low_beside_constant(ctx, i & 1, i & 2);
    check_gate(ctx, 8, 3, TDL_LAYOUT_NHWC, true, 1);
    check_gate(ctx, 20, 3, TDL_LAYOUT_NCHW, true, 2);
    check_gate(ctx, 6, 1, TDL_LAYOUT_NHWC, true, 3); /* the state begins within a pack */
    check_gate(ctx, 8, 3, TDL_LAYOUT_NHWC, false, 4);
}

/* ------------------------------------------------------------------ wrong names */

static void check_names(struct tdl_context *ctx)
{
    static const char *const wrong[] = {"", "winograd", "direct:", "implicit:7x7",
                                        "pointwise:4x2x"};
    const struct shape t = {1, 4, 4, 4, 4, K(3, 3)};
    struct tdl_graph *graph = NULL;
    struct tdl_builder *b;
    struct rng rng = {1};
    check_begin("names that there are not");
    OK(check_builder(ctx, &b));
    tdl_builder_output(b, "y", build(b, &t, &rng));
    for (size_t i = 0; i < COUNT(wrong); i++) {
        enum tdl_result r =
            tdl_builder_build(b, &(struct tdl_build_params){.conv2d_algorithm = wrong[i]}, &graph);
        CHECK(r == TDL_ERROR_INVALID_ARGUMENT && !graph, "\"%s\" was taken", wrong[i]);
        CHECK(strstr(tdl_last_error(), "winograd43"), "the error has no list: %s",
              tdl_last_error());
    }
    tdl_builder_destroy(&b);
    for (uint32_t i = 0; i < COUNT(rows); i++) {
        bool found = false;
        for (uint32_t k = 0; tdl_conv2d_algorithm_name(k); k++)
            found |= !strcmp(tdl_conv2d_algorithm_name(k), rows[i].name);
        CHECK(found, "there is no row %s", rows[i].name);
    }
    for (uint32_t k = 0; tdl_conv2d_algorithm_name(k); k++) {
        bool found = false;
        for (uint32_t i = 0; i < COUNT(rows); i++)
            found |= !strcmp(tdl_conv2d_algorithm_name(k), rows[i].name);
        CHECK(found, "the row %s is not tested", tdl_conv2d_algorithm_name(k));
    }
}

int main(int argc, char **argv)
{
    uint64_t seed = check_seed(argc, argv, 2);
    struct tdl_context *ctx = check_context_open();
    const long random = check_cases(argc, argv, subject_has_kernels(ctx) ? 1 : 3);
    const uint64_t stride = subject_stride(ctx, 6);
    check_names(ctx);
    check_filter_layouts(ctx);
    check_dynamics(ctx);
    check_im2col(ctx);
    check_gates(ctx);
    check_spilled(ctx);
    for (size_t i = 0; i < COUNT(shapes) && argc <= 2; i++)
        for (size_t r = 0; r < COUNT(rows); r++) {
            const bool half = (i ^ r) & 1 || rows[r].needs_units;
            const bool taken = takes(ctx, &rows[r], &shapes[i], half);
            if (!taken || (i + r + seed) % stride == 0) /* to be refused costs nothing */
                run(ctx, &shapes[i], rows[r].name, taken, half, i);
        }
    if (argc <= 2)
        check_variants(ctx, seed);
    for (long i = 0; i < random; i++, seed++) {
        struct rng rng = {seed};
        struct shape t = random_shape(&rng);
        for (size_t r = 0; r < COUNT(rows); r++)
            if (takes(ctx, &rows[r], &t, seed & 1))
                run(ctx, &t, rows[r].name, true, seed & 1, seed);
    }
    check_context_close(ctx);
    return check_result();
}
