/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Graphs of quantized values on the CPU, which computes them in eight bits: random ones against
 * the references of the operators that they were made of, to the last bit, and convolutions
 * within one step. That they are computed so is seen in the plan.
 */
#include "subject.h"

#include <compile/passes.h>
#include <cpu/graph/graph.h>
#include <ops/ops.h>

#include <math.h>

typedef struct tdl_operand *O;

static struct tdl_context *ctx;

static O number(struct tdl_builder *b, float x)
{
    return subject_constant(b, 0, NULL, &x);
}

/* A way to quantize. */
struct way {
    enum tdl_dtype dtype;
    float scale;
    int zero;
};

static struct way draw_way(struct rng *rng)
{
    struct way w = {.dtype = rng_one_in(rng, 2) ? TDL_INT8 : TDL_UINT8,
                    .scale = rng_float(rng, 0.01f, 0.2f)};
    w.zero = rng_one_in(rng, 4) ? 0 : (int)rng_below(rng, 200) - (w.dtype == TDL_INT8 ? 100 : 0);
    return w;
}

static O zero_of(struct tdl_builder *b, const struct way *w)
{
    const int8_t byte = (int8_t)w->zero;
    return subject_typed_constant(b, &(struct tdl_tensor_params){.dtype = w->dtype}, &byte);
}

static O quantize(struct tdl_builder *b, O x, const struct way *w)
{
    return tdl_builder_quantize_linear(b, x, number(b, w->scale), zero_of(b, w));
}

static O dequantize(struct tdl_builder *b, O q, const struct way *w)
{
    return tdl_builder_dequantize_linear(b, q, number(b, w->scale), zero_of(b, w));
}

/* What floats on all machines compute alike. */
static O exact(struct tdl_builder *b, struct rng *rng, O x, O y)
{
    const float low = -1, high = 1.5f;
    switch (rng_below(rng, 9)) {
    case 0:
        return tdl_builder_relu(b, x);
    case 1:
        return tdl_builder_abs(b, tdl_builder_neg(b, x));
    case 2:
        return tdl_builder_clamp(b, x, &low, rng_one_in(rng, 2) ? &high : NULL);
    case 3:
        return tdl_builder_leaky_relu(b, x, 0.125f);
    case 4:
        return tdl_builder_add(b, x, y);
    case 5:
        return tdl_builder_sub(b, y, x);
    case 6:
        return tdl_builder_mul(b, x, rng_one_in(rng, 2) ? y : x);
    case 7:
        return tdl_builder_max(b, x, number(b, 0.25f));
    default:
        return tdl_builder_min(b, x, y);
    }
}

/* What is computed of one byte alone, and so is a table. */
static O inexact(struct tdl_builder *b, struct rng *rng, O x)
{
    switch (rng_below(rng, 4)) {
    case 0:
        return tdl_builder_sigmoid(b, x);
    case 1:
        return tdl_builder_tanh(b, x);
    case 2:
        return tdl_builder_hard_swish(b, x);
    default:
        return tdl_builder_exp(b, tdl_builder_identity(b, x));
    }
}

/* Moves there and back, so that all values have one shape. */
static O moved(struct tdl_builder *b, struct rng *rng, O x)
{
    static const uint32_t there[] = {0, 3, 1, 2}, back[] = {0, 2, 3, 1};
    const struct tdl_dims d = subject_dims(x);
    const uint32_t shape[] = {d.n, d.h, d.w, d.c}, flat[] = {d.n * d.h, d.w * d.c};
    const uint32_t starts[4] = {0}, sizes[] = {d.n, d.h, d.w, (d.c + 1) / 2};
    const uint32_t rest[] = {0, 0, 0, sizes[3]}, others[] = {d.n, d.h, d.w, d.c - sizes[3]};
    switch (rng_below(rng, d.c > 1 ? 4 : 3)) {
    case 0:
        return tdl_builder_transpose(b, tdl_builder_transpose(b, x, there), back);
    case 1:
        return tdl_builder_reshape(b, tdl_builder_reshape(b, x, 2, flat), 4, shape);
    case 2: {
        const uint32_t size = RNG_PICK(rng, 2, 3, 5), pad = size - 1;
        const struct tdl_pool2d_params p = {
            .window = {size, 3}, .stride = {1, 1}, .pad = {pad / 2, pad - pad / 2, 1, 1}};
        return tdl_builder_max_pool2d(b, x, &p);
    }
    default:
        return tdl_builder_concat(
            b,
            (const O[]){
                tdl_builder_slice(b, x, &(struct tdl_slice_params){
                    .start = {rest[0], rest[1], rest[2], rest[3]},
                    .size = {others[0], others[1], others[2], others[3]}}),
                tdl_builder_slice(b, x, &(struct tdl_slice_params){
                    .start = {starts[0], starts[1], starts[2], starts[3]},
                    .size = {sizes[0], sizes[1], sizes[2], sizes[3]}})},
            2, 3);
    }
}

/* Values of several scales in one, of another. */
static O joined(struct tdl_builder *b, O x, O y, const struct way *w)
{
    const struct tdl_dims d = subject_dims(x);
    O both = quantize(b, tdl_builder_concat(b, (const O[]){x, y, x}, 3, 1), w);
    return tdl_builder_slice(b, dequantize(b, both, w),
                             &(struct tdl_slice_params){.start = {0, d.h / 2, 0, 0},
                                                        .size = {d.n, d.h, d.w, d.c}});
}

static void run_case(uint64_t seed)
{
    struct rng rng = {seed * 7919 + 1};
    struct tdl_builder *b;
    struct subject s;
    const uint32_t steps = 1 + rng_below(&rng, 7);
    const struct tdl_tensor_params image =
        subject_image(TDL_LAYOUT_NHWC, RNG_PICK(&rng, 1, 1, 2), RNG_PICK(&rng, 2, 3, 5, 12),
                      RNG_PICK(&rng, 1, 3, 8, 33), RNG_PICK(&rng, 1, 3, 5, 16, 17));
    struct way w = draw_way(&rng);
    OK(check_builder(ctx, &b));
    check_begin("seed %llu: %u steps of %ux%ux%u", (unsigned long long)seed, steps, image.shape[1],
                image.shape[2], image.shape[3]);
    O x = subject_input(b, "x", image), y = x;
    x = dequantize(b, quantize(b, x, &w), &w);
    for (uint32_t i = 0; i < steps; i++) {
        const O before = x;
        const uint32_t kind = rng_below(&rng, 5);
        x = kind < 2    ? exact(b, &rng, x, y)
            : kind == 2 ? inexact(b, &rng, x)
            : kind == 3 ? moved(b, &rng, x)
                        : joined(b, x, y, &w);
        if (kind != 3 || rng_one_in(&rng, 2)) {
            const struct way other = draw_way(&rng);
            w = kind == 3 ? w : other;
            w.zero = rng_one_in(&rng, 8) ? other.zero / 2 : w.zero;
            O q = quantize(b, x, &w);
            if (rng_one_in(&rng, 6))
                subject_output(b, q);
            x = dequantize(b, q, &w);
        }
        y = rng_one_in(&rng, 2) ? before : y;
    }
    subject_output(b, x);
    REQUIRE(tdl_builder_status(b) == TDL_OK, "%s", tdl_builder_error(b));
    CHECK(subject_steps(b, false, "cpu: quantized") > 0, "nothing is quantized");
    CHECK(subject_steps(b, false, "cpu: roundEven") == 0, "rounding is an operator of its own");
    CHECK(subject_steps(b, true, "cpu: quantized") == 0, "fused without fusions");
    subject_open(&s, ctx, b, &rng);
    subject_run(&s, &(struct tdl_build_params){0});
    subject_close(&s);
}

static struct tdl_builder *begin(const char *what, uint32_t channels, O *out_x)
{
    struct tdl_builder *b;
    check_begin("%s", what);
    OK(check_builder(ctx, &b));
    *out_x = subject_input(b, "x", subject_image(TDL_LAYOUT_NHWC, 1, 6, 7, channels));
    return b;
}

static void check_stats(struct tdl_builder *b, uint32_t quantized)
{
    struct tdl_graph_stats stats;
    struct tdl_graph *g;
    OK(tdl_builder_build(b, &(struct tdl_build_params){.defer_compile = true}, &g));
    tdl_graph_get_stats(g, &stats);
    CHECK(stats.quantized_steps == quantized, "%llu steps are counted, and not %u",
          (unsigned long long)stats.quantized_steps, quantized);
    tdl_graph_destroy(&g);
}

static void end(struct tdl_builder *b, uint32_t quantized)
{
    struct rng rng = {5};
    struct subject s;
    const uint32_t count = subject_steps(b, false, "cpu: quantized");
    CHECK(count == quantized, "%u steps are quantized, and not %u", count, quantized);
    check_stats(b, quantized);
    subject_open(&s, ctx, b, &rng);
    subject_run(&s, &(struct tdl_build_params){0});
    subject_close(&s);
}

/* Quantized, if what it is cut to is a byte's range or more. */
static void check_cut(float least, float most, uint32_t quantized)
{
    O x;
    struct tdl_builder *b = begin("cut", 3, &x);
    x = tdl_builder_round_even(b, tdl_builder_div(b, x, number(b, 0.5f)));
    subject_output(b, tdl_builder_cast(b, tdl_builder_clamp(b, x, &least, &most), TDL_UINT8));
    end(b, quantized);
}

/* Halves that are not of one scale for all, and numbers that are no zero points. */
static void check_left(void)
{
    const struct way w = {TDL_UINT8, 0.05f, 100};
    const float scales[] = {0.1f, 0.2f, 0.3f};
    const uint8_t zeros[] = {1, 2, 3};
    O x;
    struct tdl_builder *b = begin("a scale for each channel", 3, &x);
    O scale = subject_constant(b, 1, (const uint32_t[]){3}, scales);
    const struct tdl_tensor_params three = SUBJECT_SHAPE(TDL_UINT8, 3);
    O zero = subject_typed_constant(b, &three, zeros);
    O q = tdl_builder_quantize_linear(b, x, scale, zero);
    subject_output(b, tdl_builder_dequantize_linear(b, q, scale, zero));
    end(b, 0);
    check_cut(3, 255, 0);
    check_cut(0, 9, 0);
    check_cut(0, 255, 1);
    check_cut(-1, 256, 1);
    b = begin("reals that somebody reads", 3, &x);
    O sum = tdl_builder_add(b, dequantize(b, quantize(b, x, &w), &w), x);
    subject_output(b, sum);
    subject_output(b, quantize(b, sum, &w));
    end(b, 3);
    b = begin("windows with holes", 4, &x);
    x = tdl_builder_max_pool2d(
        b, dequantize(b, quantize(b, x, &w), &w),
        &(struct tdl_pool2d_params){.window = {2, 2}, .dilation = {2, 2}, .stride = {2, 2}});
    subject_output(b, x);
    end(b, 2);
}

/* NaN is 0, and infinities are the range's ends. */
static void fill_special(uint32_t index, const struct tdl_tensor_params *desc, struct rng *rng,
                         void *values)
{
    const float list[] = {NAN, INFINITY, -INFINITY, 1e30f, -1e30f, 2.5f, 3.5f, -0.5f, 0.0f};
    float *x = values;
    (void)index;
    (void)rng;
    for (size_t i = 0; i < tdl_tensor_params_size(desc) / sizeof(*x); i++)
        x[i] = list[i % COUNT(list)];
}

static void check_special(enum tdl_dtype dtype)
{
    const struct way w = {dtype, 1, 5};
    struct rng rng = {1};
    struct subject s;
    O x;
    struct tdl_builder *b = begin("special values", 5, &x);
    subject_output(b, quantize(b, x, &w));
    CHECK(subject_steps(b, false, "cpu: quantized") == 1, "it is not quantized");
    subject_open_filled(&s, ctx, b, &rng, fill_special);
    subject_run(&s, &(struct tdl_build_params){0});
    subject_close(&s);
}

/* ------------------------------------------------------------- convolutions */

struct conv {
    uint32_t in, out, kernel, stride, groups;
    bool bias, relu;
    struct way from, to;
};

/* As readers have it: large ones stay bytes with their scales, small ones are floats. */
static O filter_of(struct tdl_builder *b, struct rng *rng, const struct conv *c)
{
    const uint32_t shape[] = {c->out, c->kernel, c->kernel, c->in / c->groups};
    const struct tdl_tensor_params desc = subject_shape(TDL_INT8, 4, shape);
    const size_t count = tdl_tensor_params_size(&desc), each = count / c->out;
    int8_t *bytes = malloc(count);
    float *floats = malloc(count * sizeof(*floats)), *scales = malloc(c->out * sizeof(*scales));
    REQUIRE(bytes && floats && scales, "out of memory");
    for (size_t i = 0; i < count; i++) {
        bytes[i] = (int8_t)((int)rng_below(rng, 256) - 128);
        if (i % each == 0)
            scales[i / each] = rng_float(rng, 0.5f, 1) / (40 * sqrtf((float)each));
        floats[i] = (float)bytes[i] * scales[i / each];
    }
    O filter = count > TDL_COMPACT_LEAST
                   ? tdl_builder_dequantize_linear(
                         b, subject_typed_constant(b, &desc, bytes),
                         subject_constant(b, 4, (const uint32_t[]){c->out, 1, 1, 1}, scales), NULL)
                   : subject_constant(b, 4, shape, floats);
    free(bytes);
    free(floats);
    free(scales);
    return filter;
}

static O convolve(struct tdl_builder *b, struct rng *rng, const struct conv *c, O x)
{
    const uint32_t pad = c->kernel / 2;
    const struct tdl_conv2d_params p = {
        .stride = {c->stride, c->stride},
        .pad = {pad, pad, c->kernel > 1 ? 1 : 0, pad},
        .groups = c->groups,
        .activation = c->relu ? TDL_ACTIVATION_RELU : TDL_ACTIVATION_NONE,
        .bias = c->bias ? subject_bias(b, rng, c->out) : NULL,
    };
    x = dequantize(b, quantize(b, x, &c->from), &c->from);
    x = tdl_builder_conv2d(b, x, filter_of(b, rng, c), &p);
    return dequantize(b, quantize(b, x, &c->to), &c->to);
}

static bool takes_all(const struct tdl_node *conv)
{
    (void)conv;
    return true;
}

/* The largest difference, in steps of the output. */
static float steps_between(const float *a, const float *b, size_t count, float scale)
{
    float most = 0;
    for (size_t i = 0; i < count; i++)
        most = fmaxf(most, fabsf(a[i] - b[i]) / scale);
    return most;
}

static void check_xnnpack(struct tdl_node *n, void **values)
{
    const size_t in = tdl_operand_count(n->inputs[0]), out = tdl_operand_count(n->output);
    int8_t *x = calloc(1, in + 256), *y = calloc(1, out + 256), *want = values[n->output->id];
    void *was = values[n->inputs[0]->id];
    struct tdl_cpu_xnn *xnn = NULL;
    int most = 0;
    OK(tdl_node_expand(n));
    const enum tdl_result r = tdl_cpu_xnn_create(&n, 1, 1, tdl_cpu(ctx)->threads, &xnn);
    tdl_node_shrink(n);
    if (r == TDL_ERROR_UNSUPPORTED && strstr(tdl_last_error(), "this build has no XNNPACK"))
        goto done;
    OK(r);
    memcpy(x, was, in);
    values[n->inputs[0]->id] = x;
    values[n->output->id] = y;
    OK(tdl_cpu_xnn_run(xnn, values));
    values[n->inputs[0]->id] = was;
    values[n->output->id] = want;
    for (size_t i = 0; i < out; i++)
        most = abs(y[i] - want[i]) > most ? abs(y[i] - want[i]) : most;
    CHECK(most <= 1, "XNNPACK's result is %d steps away", most);
done:
    tdl_cpu_xnn_destroy(&xnn);
    free(x);
    free(y);
}

/* The operator's reference against that of what it was made of, and XNNPACK against it. */
static void check_operator(struct subject *s, const struct conv *c)
{
    struct tdl_ir *ir = tdl_ir_clone(s->ir);
    struct tdl_node *conv = NULL;
    REQUIRE(ir, "out of memory");
    OK(tdl_pass_fold(ir));
    OK(tdl_pass_labels(ir));
    OK(tdl_pass_absorb(ir));
    OK(tdl_pass_quantize(ir, takes_all));
    for (uint32_t i = 0; i < ir->node_count; i++)
        conv = ir->nodes[i]->op == &tdl_op_quantized_conv2d ? ir->nodes[i] : conv;
    void **values = calloc(ir->operand_count, sizeof(*values));
    if (CHECK(conv && values, "it is not computed in eight bits")) {
        const void *inputs[] = {s->inputs[0]};
        OK(tdl_ir_run_reference(ir, inputs, values));
        const struct tdl_operand *y = ir->outputs[0];
        const float most = steps_between(values[y->id], s->values[s->ir->outputs[0]->id],
                                         tdl_operand_count(y), c->to.scale);
        CHECK(most < 1.01f, "the result is %g steps away", (double)most);
        check_xnnpack(conv, values);
    }
    for (uint32_t i = 0; values && i < ir->operand_count; i++)
        free(values[i]);
    free(values);
    tdl_ir_destroy(&ir);
}

static void check_on_device(struct subject *s, const struct conv *c)
{
    const struct tdl_operand *y = s->ir->outputs[0];
    float *got = calloc(tdl_operand_count(y), sizeof(*got));
    struct tdl_graph *g;
    REQUIRE(got, "out of memory");
    OK(tdl_builder_build(s->builder, NULL, &g));
    check_dispatch(ctx, g, s->inputs[0], got);
    const float most =
        steps_between(got, s->values[y->id], tdl_operand_count(y), c->to.scale);
    CHECK(most < 1.01f, "the device's result is %g steps away", (double)most);
    tdl_graph_destroy(&g);
    free(got);
}

static void check_conv(uint64_t seed)
{
    struct rng rng = {seed * 7919 + 2};
    struct tdl_builder *b;
    struct subject s;
    const bool depthwise = rng_one_in(&rng, 3);
    struct conv c = {.in = RNG_PICK(&rng, 1, 3, 8, 17, 130),
                     .kernel = RNG_PICK(&rng, 1, 3, 3, 5),
                     .stride = RNG_PICK(&rng, 1, 1, 2),
                     .bias = rng_one_in(&rng, 2),
                     .relu = rng_one_in(&rng, 3),
                     .from = draw_way(&rng),
                     .to = draw_way(&rng)};
    c.out = depthwise ? c.in : RNG_PICK(&rng, 1, 5, 16, 33);
    c.groups = depthwise ? c.in : 1;
    OK(check_builder(ctx, &b));
    check_begin("seed %llu: conv2d of %u to %u channels, %ux%u, stride %u, %u groups",
                (unsigned long long)seed, c.in, c.out, c.kernel, c.kernel, c.stride, c.groups);
    O x = subject_input(b, "x", subject_image(TDL_LAYOUT_NHWC, RNG_PICK(&rng, 1, 2), 7, 9, c.in));
    subject_output(b, convolve(b, &rng, &c, x));
    REQUIRE(tdl_builder_status(b) == TDL_OK, "%s", tdl_builder_error(b));
    subject_open(&s, ctx, b, &rng);
    check_operator(&s, &c);
    check_on_device(&s, &c);
    subject_close(&s);
}

/* Filters that are no bytes, and sums that are looked at before they are quantized. */
static void check_floats(bool whole)
{
    const struct way w = {TDL_INT8, 0.05f, 3};
    struct rng rng = {3};
    struct conv c = {.in = 8, .out = 8, .kernel = 1, .stride = 1, .groups = 1, .from = w, .to = w};
    O x;
    struct tdl_builder *b = begin(whole ? "sums that are read" : "any filter", 8, &x);
    x = dequantize(b, quantize(b, x, &w), &w);
    x = tdl_builder_conv2d(
        b, x, whole ? filter_of(b, &rng, &c) : subject_filter(b, &rng, 8, 1, 1, 8), NULL);
    if (whole)
        subject_output(b, x);
    subject_output(b, dequantize(b, quantize(b, x, &w), &w));
    struct tdl_ir *ir = tdl_ir_clone(tdl_builder_ir(b));
    REQUIRE(ir, "out of memory");
    OK(tdl_pass_fold(ir));
    OK(tdl_pass_labels(ir));
    OK(tdl_pass_quantize(ir, takes_all));
    for (uint32_t i = 0; i < ir->node_count; i++)
        CHECK(ir->nodes[i]->op != &tdl_op_quantized_conv2d, "it is computed in eight bits");
    tdl_ir_destroy(&ir);
    tdl_builder_destroy(&b);
}

int main(int argc, char **argv)
{
    OK(tdl_context_create(&(struct tdl_context_params){.device = "cpu", .log = check_log}, &ctx));
    const uint64_t seed = check_seed(argc, argv, 2);
    const long cases = check_cases(argc, argv, 60);
    check_left();
    check_special(TDL_INT8);
    check_special(TDL_UINT8);
    check_floats(false);
    check_floats(true);
    for (long i = 0; i < cases; i++)
        run_case(seed + (uint64_t)i);
    for (long i = 0; i < cases; i++)
        check_conv(seed + (uint64_t)i);
    check_context_close(ctx);
    return check_result();
}
