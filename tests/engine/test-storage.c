/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What storage inside a graph makes of values, pack for pack: a picture whose
 * values are stored and read again, unchanged by the operator between.
 */
#include "check.h"

#include <core/device.h>

#include <math.h>

enum { PACKS = 64, SIZE = 4 * PACKS };

static struct tdl_context *ctx;

static void through(enum tdl_precision precision, const float in[SIZE], float out[SIZE])
{
    const struct tdl_tensor_params p = {.rank = 4,
                                        .shape = {1, PACKS, 1, 4},
                                        .usage = TDL_TENSOR_READABLE | TDL_TENSOR_WRITABLE};
    struct tdl_tensor *x, *y;
    struct tdl_builder *b;
    struct tdl_graph *g;
    OK(tdl_builder_create(ctx, &b));
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

/* Channels whose scales lie up to four decades apart, and what is known to be hard. */
static void hard_values(struct rng *rng, float in[SIZE])
{
    static const float hard[][4] = {
        {1000, 0.02f, -0.02f, 1}, {INFINITY, 1, -1, 0.5f}, {1, -INFINITY, 2, 0},
        {NAN, 1, 2, 3},           {0x1p-20f, 1, -0x1p-24f, 0x1p-14f},
        {65504, 65505, 1e-3f, 0}, {1e30f, 1, 0, -1e30f},   {0, 0, 0, 0},
    };
    float scales[4];
    for (int c = 0; c < 4; c++)
        scales[c] = powf(10, rng_float(rng, -2, 2));
    for (int i = 0; i < SIZE; i++)
        in[i] = rng_float(rng, -1, 1) * scales[i % 4];
    memcpy(in, hard, sizeof(hard));
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
            if (!CHECK(out[i] == in[i] || (isnan(in[i]) && isnan(out[i])), "%d: %g instead of %g",
                       i, (double)out[i], (double)in[i]))
                break;
    }
    ctx->info.type = own;
}

static void check_finite(const float in[4], const float out[4])
{
    float largest = 0;
    for (int c = 0; c < 4; c++)
        largest = fmaxf(largest, fabsf(in[c]));
    for (int c = 0; c < 4; c++)
        CHECK(fabsf(out[c] - in[c]) <= 0x1p-12f * largest, "%g instead of %g, beside %g",
              (double)out[c], (double)in[c], (double)largest);
}

/* As tdl.h promises. */
static void test_fp16(void)
{
    struct rng rng = {8};
    float in[SIZE], out[SIZE];
    hard_values(&rng, in);
    check_begin("fp16");
    through(TDL_PRECISION_FP16, in, out);
    for (int p = 0; p < PACKS; p++) {
        bool finite = true;
        for (int c = 0; c < 4; c++)
            finite &= isfinite(in[4 * p + c]);
        if (finite) {
            check_finite(&in[4 * p], &out[4 * p]);
            continue;
        }
        for (int i = 4 * p; i < 4 * p + 4; i++)
            CHECK(isinf(in[i]) ? out[i] == in[i] : isnan(out[i]),
                  "%g of %g, beside what is not finite", (double)out[i], (double)in[i]);
    }
}

int main(void)
{
    ctx = check_context_open();
    test_auto();
    if (ctx->on->wants_steps) /* else it is fp32 all the same */
        test_fp16();
    check_context_close(ctx);
    return check_result();
}
