/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Values that a graph stores: a picture is stored and read again, unchanged by the operator
 * between.
 */
#include "check.h"

#include <core/device.h>

#include <math.h>

enum { PACKS = 64, SIZE = 4 * PACKS };

static struct tdl_context *ctx;

static void through(enum tdl_precision precision, const float in[SIZE], float out[SIZE])
{
    const struct tdl_tensor_params p = {
        .rank = 4, .shape = {1, PACKS, 1, 4}, .usage = TDL_TENSOR_READABLE | TDL_TENSOR_WRITABLE};
    struct tdl_tensor *x, *y;
    struct tdl_builder *b;
    struct tdl_graph *g;
    OK(check_builder(ctx, &b));
    struct tdl_operand *v = tdl_builder_average_pool2d(
        b, tdl_builder_input(b, "x", &p), &(struct tdl_pool2d_params){.window = {1, 1}});
    OK(tdl_builder_output(b, "y", v));
    OK(tdl_builder_build(b, &(struct tdl_build_params){.precision = precision}, &g));
    OK(tdl_tensor_create(ctx, &p, &x));
    OK(tdl_tensor_create(ctx, &p, &y));
    OK(tdl_tensor_write(x, in, SIZE * sizeof(*in), NULL));
    OK(tdl_graph_dispatch(g, &(struct tdl_binding){"x", x}, 1, &(struct tdl_binding){"y", y}, 1,
                          NULL));
    OK(tdl_tensor_read(y, out, SIZE * sizeof(*out)));
    tdl_tensor_destroy(&x);
    tdl_tensor_destroy(&y);
    tdl_graph_destroy(&g);
    tdl_builder_destroy(&b);
}

/* Values that are hard to round, and the halves that they become. */
static const struct {
    float in, half;
} hard[] = {
    {1000, 1000},
    {0.02f, 0x1.47cp-6f},
    {-0.02f, -0x1.47cp-6f},
    {1, 1},
    {INFINITY, INFINITY},
    {1, 1},
    {-1, -1},
    {-INFINITY, -INFINITY},
    {NAN, NAN},
    {3, 3},
    {65504, 65504},
    {65519, 65504},
    {-65519, -65504},
    {65520, INFINITY},
    {-65520, -INFINITY},
    {1e30f, INFINITY},
    {-3e38f, -INFINITY},
    {0, 0},
    {0x1p-14f, 0x1p-14f},
    {-0x1p-14f, -0x1p-14f},
    {2049, 2048},
    {2051, 2052},
    {-2049, -2048},
    {-2051, -2052}, /* ties */
    {0x1.001p0f, 1},
    {0x1.002002p0f, 0x1.004p0f},
    {0x1.ffep0f, 2},
    {0x1.ffdffep0f, 0x1.ffcp0f},
};

/* Channels whose scales lie up to four decades apart, after those. */
static void hard_values(struct rng *rng, float in[SIZE])
{
    float scales[4];
    for (int c = 0; c < 4; c++)
        scales[c] = powf(10, rng_float(rng, -2, 2));
    for (int i = 0; i < SIZE; i++)
        in[i] = rng_float(rng, -1, 1) * scales[i % 4];
    for (size_t i = 0; i < COUNT(hard); i++)
        in[i] = hard[i].in;
}

static bool is_same(float a, float b)
{
    return a == b || (isnan(a) && isnan(b));
}

/* Nothing is lost that nobody has given up. */
static void test_auto(void)
{
    static const enum tdl_device_type types[] = {TDL_DEVICE_DISCRETE_GPU, TDL_DEVICE_INTEGRATED_GPU,
                                                 TDL_DEVICE_VIRTUAL_GPU, TDL_DEVICE_SOFTWARE};
    const enum tdl_device_type own = ctx->info.type;
    struct rng rng = {7};
    float in[SIZE], out[SIZE];
    for (size_t t = 0; t < COUNT(types); t++) {
        check_begin("auto, on a device of type %d", types[t]);
        ctx->info.type = types[t];
        hard_values(&rng, in);
        through(TDL_PRECISION_AUTO, in, out);
        for (int i = 0; i < SIZE; i++)
            if (!CHECK(is_same(out[i], in[i]), "%d: %g instead of %g", i, (double)out[i],
                       (double)in[i]))
                break;
    }
    ctx->info.type = own;
}

/* As tdl.h promises: whatever the neighbours are. */
static void test_fp16(void)
{
    struct rng rng = {8};
    float in[SIZE], out[SIZE];
    hard_values(&rng, in);
    check_begin("fp16");
    through(TDL_PRECISION_FP16, in, out);
    for (size_t i = 0; i < COUNT(hard); i++)
        CHECK(is_same(out[i], hard[i].half), "%a is kept as %a, not %a", (double)in[i],
              (double)out[i], (double)hard[i].half);
    for (int i = COUNT(hard); i < SIZE; i++) {
        float small = fabsf(in[i]) < 0x1p-14f ? 0x1p-14f : 0; /* may be 0 */
        CHECK(fabsf(out[i] - in[i]) <= fmaxf(0x1p-11f * fabsf(in[i]), small), "%g instead of %g",
              (double)out[i], (double)in[i]);
    }
}

int main(void)
{
    ctx = check_context_open();
    test_auto();
    if (ctx->on->wants_steps) /* a device without kernels computes in fp32 */
        test_fp16();
    check_context_close(ctx);
    return check_result();
}
