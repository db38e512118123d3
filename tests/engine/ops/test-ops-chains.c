/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Element-wise functions that run in the kernel of the operator before them:
 * as without fusion, in fewer dispatches.
 *
 *     test-ops-chains [seed]
 */
#include "subject.h"

#include <ops/ops.h>

typedef struct tdl_operand *O;

static struct tdl_context *ctx;
static uint64_t seed = 1;

static O scalar(struct tdl_builder *b, enum tdl_dtype dtype, float v)
{
    const struct tdl_tensor_params p = {.dtype = dtype};
    uint16_t half = tdl_float_to_half(v);
    return subject_typed_constant(b, &p, dtype == TDL_FLOAT32 ? (const void *)&v : &half);
}

/* A function of one value, or of a value and a constant. */
static O some_stage(struct tdl_builder *b, struct rng *rng, O x)
{
    static const uint16_t half = 0x3800;
    static const float single = 0.5f;
    const enum tdl_dtype dtype = x->desc.dtype;
    O c = scalar(b, dtype, rng_float(rng, 0.5f, 1.5f));
    switch (rng_below(rng, 17)) {
    case 0:
        return tdl_builder_add(b, x, c);
    case 1:
        return tdl_builder_sub(b, c, x);
    case 2:
        return tdl_builder_mul(b, c, x);
    case 3:
        return tdl_builder_div(b, x, c);
    case 4:
        return tdl_builder_max(b, x, c);
    case 5:
        return tdl_builder_min(b, c, x);
    case 6:
        return tdl_builder_prelu(b, x, c);
    case 7:
        return tdl_builder_gelu(b, x);
    case 8:
        return tdl_builder_abs(b, x);
    case 9:
        return tdl_builder_leaky_relu(b, x, 0.2f);
    case 10:
        return tdl_builder_elu(b, x, 0.7f);
    case 11:
        return tdl_builder_softplus(b, x);
    case 12:
        return tdl_builder_hard_swish(b, x);
    case 13:
        return tdl_builder_tanh(b, x);
    case 14:
        return tdl_builder_clamp(b, x, dtype == TDL_FLOAT32 ? (const void *)&single : &half, NULL);
    case 15: /* swish */
        return tdl_builder_mul(b, x, tdl_builder_sigmoid(b, tdl_builder_mul(b, c, x)));
    default:
        return tdl_builder_pow(b, tdl_builder_abs(b, x), c);
    }
}

static O some_producer(struct tdl_builder *b, struct rng *rng, enum tdl_dtype dtype, uint32_t kind)
{
    uint32_t c = RNG_PICK(rng, 4, 5, 17);
    struct tdl_tensor_params p = subject_image(TDL_LAYOUT_NHWC, 1, 6, 7, c);
    p.dtype = dtype;
    O x = tdl_builder_input(b, "x", &p);
    switch (kind) {
    case 0:
        return tdl_builder_add(b, x, x);
    case 1:
        return tdl_builder_conv2d(b, x, subject_filter(b, rng, RNG_PICK(rng, 3, 8), 1, 1, c),
                                  &(struct tdl_conv2d_params){.activation =
                                                                  RNG_PICK(rng, 0, 1, 4)});
    case 2:
        return tdl_builder_conv2d(
            b, x, subject_filter(b, rng, RNG_PICK(rng, 3, 8), 3, 3, c),
            &(struct tdl_conv2d_params){.padding = TDL_PADDING_SAME_UPPER});
    case 3:
        return tdl_builder_average_pool2d(
            b, x, &(struct tdl_pool2d_params){.window = {2, 2}, .activation = RNG_PICK(rng, 0, 5)});
    case 4:
        return tdl_builder_conv_transpose2d(
            b, x, subject_filter(b, rng, 3, 2, 2, c),
            &(struct tdl_conv_transpose2d_params){.stride = {2, 2}});
    default:
        return tdl_builder_sin(b, x);
    }
}

/* Fused and unfused give what the references give, and fused is shorter. */
static void check_chains(void)
{
    uint32_t shorter = 0, tried = 0;
    const uint64_t start = seed, stride = subject_stride(ctx, 3);
    for (uint32_t i = 0; i < 30; i++) {
        if ((start + i / 6) % stride) /* all producers in a row */
            continue;
        struct rng rng = {seed++};
        struct subject s;
        struct tdl_builder *b;
        uint32_t stages = 1 + rng_below(&rng, 4);
        check_begin("seed %llu: a chain of %u behind producer %u", (unsigned long long)seed - 1,
                    stages, i % 6);
        OK(check_builder(ctx, &b));
        O x = some_producer(b, &rng, i % 6 == 3 || i % 5 ? TDL_FLOAT32 : TDL_FLOAT16, i % 6);
        for (uint32_t k = 0; k < stages && x; k++)
            x = some_stage(b, &rng, x);
        REQUIRE(x, "%s", tdl_builder_error(b));
        tdl_builder_output(b, "result", x);
        subject_open(&s, ctx, b, &rng);
        s.slack = 4;
        subject_run(&s, &(struct tdl_build_params){.precision = TDL_PRECISION_FP32});
        subject_run(&s,
                    &(struct tdl_build_params){.precision = TDL_PRECISION_FP32, .no_fuse = true});
        uint32_t fused = subject_steps(b, false, ""), apart = subject_steps(b, true, "");
        CHECK(fused <= apart, "%u dispatches fused, %u unfused", fused, apart);
        shorter += fused < apart;
        tried++;
        subject_close(&s);
    }
    check_begin("chains");
    CHECK(3 * shorter >= 2 * tried || !subject_has_kernels(ctx), "only %u of %u were fused",
          shorter, tried);
}

/* Longest chain of a kernel. */
static void check_lengths(void)
{
    static const struct {
        const char *name;
        uint32_t channels, stages, steps;
    } rows[] = {
        /* convert, convolution, convert */
        {"all in the convolution", 8, 6, 3},
        {"one too many", 8, 7, 4},
        /* softplus(0) is not 0, and 5 channels leave three to fill up */
        {"filled up channels", 5, 6, 3},
    };
    for (size_t i = 0; i < COUNT(rows) && subject_has_kernels(ctx); i++) {
        struct rng rng = {i};
        struct tdl_builder *b;
        check_begin("chain: %s", rows[i].name);
        OK(check_builder(ctx, &b));
        struct tdl_tensor_params p = subject_image(TDL_LAYOUT_NHWC, 1, 6, 7, 8);
        O x = tdl_builder_conv2d(b, tdl_builder_input(b, "x", &p),
                                 subject_filter(b, &rng, rows[i].channels, 1, 1, 8), NULL);
        for (uint32_t k = 0; k < rows[i].stages; k++)
            x = tdl_builder_softplus(b, x);
        tdl_builder_output(b, "result", x);
        CHECK(subject_steps(b, false, "") == rows[i].steps, "%u dispatches instead of %u",
              subject_steps(b, false, ""), rows[i].steps);
        tdl_builder_destroy(&b);
    }
}

int main(int argc, char **argv)
{
    seed = check_seed(argc, argv, 1);
    ctx = check_context_open();
    check_chains();
    check_lengths();
    check_context_close(ctx);
    return check_result();
}
