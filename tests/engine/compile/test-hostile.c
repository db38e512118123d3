/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Graphs that nobody means well with: valid step by step, absurd as a whole.
 * Each ends with an error that names the culprit, or compiles in good time.
 */
#include "check.h"

#include <math.h>

#define SLOW_IF_CUBIC 20000 /* operators: seconds if quadratic, hours if cubic */

static struct tdl_context *ctx;

static struct tdl_builder *open_builder(void)
{
    struct tdl_builder *b;
    OK(check_builder(ctx, &b));
    return b;
}

static struct tdl_operand *input(struct tdl_builder *b, uint32_t c)
{
    return tdl_builder_input(
        b, "input",
        &(struct tdl_tensor_params){.dtype = TDL_FLOAT32, .rank = 4, .shape = {1, 1, 1, c}});
}

static void refused(struct tdl_builder *b, struct tdl_operand *output, enum tdl_result expected,
                    const char *text)
{
    struct tdl_graph *g;
    OK(tdl_builder_output(b, "output", output));
    for (int no_fuse = 0; no_fuse < 2; no_fuse++)
        FAILS(tdl_builder_build(b, &(struct tdl_build_params){.no_fuse = no_fuse}, &g), expected,
              text);
    tdl_builder_destroy(&b);
}

/* Nothing to compute, and somebody wants it all the same. */
static void test_constant_output(void)
{
    static const uint16_t half[4] = {0x3c00, 0, 0xc000};
    static const float want[4] = {1, 0, -2};
    for (int no_fuse = 0; no_fuse < 2; no_fuse++) {
        struct tdl_builder *b = open_builder();
        struct tdl_graph *g;
        struct tdl_tensor *t;
        float got[4];
        check_begin("an output that is a constant");
        struct tdl_operand *o = tdl_builder_constant(
            b, &(struct tdl_tensor_params){.dtype = TDL_FLOAT16, .rank = 4, .shape = {1, 1, 1, 4}},
            half, sizeof(half));
        OK(tdl_builder_output(b, "output", tdl_builder_cast(b, o, TDL_FLOAT32)));
        OK(tdl_builder_build(b, &(struct tdl_build_params){.no_fuse = no_fuse}, &g));
        struct tdl_tensor_params p = *tdl_graph_output(g, 0, NULL);
        p.usage = TDL_TENSOR_READABLE;
        OK(tdl_tensor_create(ctx, &p, &t));
        OK(tdl_graph_dispatch(g, NULL, 0, &(struct tdl_binding){"output", t}, 1, NULL));
        OK(tdl_tensor_read(t, got, sizeof(got)));
        CHECK(!memcmp(got, want, sizeof(want)), "%g %g %g %g", (double)got[0], (double)got[1],
              (double)got[2], (double)got[3]);
        tdl_tensor_destroy(&t);
        tdl_graph_destroy(&g);
        tdl_builder_destroy(&b);
    }
}

/* Values of 2⁶⁰ pixels: bytes overflow 64 bits only in packs of four floats. The ends are small, so
 * that no tensor is refused first. */
static void test_huge_values(void)
{
    for (uint32_t log = 15; log <= 30; log += 5) {
        const uint32_t side = 1u << log;
        struct tdl_builder *b = open_builder();
        check_begin("%ux%u px in the middle", side, side);
        struct tdl_operand *x = tdl_builder_resample2d(
            b, input(b, 1),
            &(struct tdl_resample2d_params){.mode = TDL_RESAMPLE_LINEAR, .size = {side, side}});
        refused(b, tdl_builder_global_average_pool(b, x), TDL_ERROR_UNSUPPORTED, "4 GiB");
    }
}

/* A long chain that ends in nothing, beside a short one that does not. */
static void test_dead_chain(void)
{
    struct tdl_builder *b = open_builder();
    struct tdl_operand *x = input(b, 4), *y = x;
    struct tdl_graph *g;
    check_begin("%d operators for nothing", SLOW_IF_CUBIC);
    for (int i = 0; i < SLOW_IF_CUBIC; i++)
        y = tdl_builder_activation(b, y, TDL_ACTIVATION_TANH);
    OK(tdl_builder_output(b, "output", tdl_builder_activation(b, x, TDL_ACTIVATION_RELU)));
    OK(tdl_builder_build(b, NULL, &g));
    struct tdl_graph_stats stats;
    tdl_graph_get_stats(g, &stats);
    CHECK(stats.steps <= 3, "%u steps for one operator", stats.steps);
    tdl_graph_destroy(&g);
    tdl_builder_destroy(&b);
}

/* Each pad makes an image of another size, and needs another kernel. */
static void test_many_kernels(void)
{
    enum { KERNELS = 2100 };
    struct tdl_builder *b = open_builder();
    struct tdl_operand *x = input(b, 4);
    check_begin("%d kernels", KERNELS);
    if (tdl_context_device(ctx)->type == TDL_DEVICE_CPU) { /* the CPU has any number of them */
        tdl_builder_destroy(&b);
        return;
    }
    for (int i = 0; i < KERNELS; i++)
        x = tdl_builder_pad(b, x, &(struct tdl_pad_params){.after = {0, 1}});
    refused(b, x, TDL_ERROR_UNSUPPORTED, "different kernels");
}

static void run_wide_graph(struct tdl_graph *g, int width)
{
    static const float in[4] = {0, 0.5f, -1, 3};
    struct tdl_tensor *tensors[2];
    float out[4];
    for (int i = 0; i < 2; i++) {
        struct tdl_tensor_params p =
            *(i ? tdl_graph_output(g, 0, NULL) : tdl_graph_input(g, 0, NULL));
        p.usage = TDL_TENSOR_READABLE | TDL_TENSOR_WRITABLE;
        OK(tdl_tensor_create(ctx, &p, &tensors[i]));
    }
    OK(tdl_tensor_write(tensors[0], in, sizeof(in), NULL));
    OK(tdl_graph_dispatch(g, &(struct tdl_binding){"input", tensors[0]}, 1,
                          &(struct tdl_binding){"output", tensors[1]}, 1, NULL));
    OK(tdl_tensor_read(tensors[1], out, sizeof(out)));
    for (int i = 0; i < 4; i++) {
        const double want = width * tanh((double)in[i]);
        CHECK(fabs((double)out[i] - want) <= 1e-4 * width, "element %d is %g instead of %g", i,
              (double)out[i], want);
    }
    for (int i = 0; i < 2; i++)
        tdl_tensor_destroy(&tensors[i]);
}

/* Values that all live at once are placed one behind the other. So many run side
 * by side that there is a barrier between them that none of them needs. */
static void test_wide_graph(void)
{
    enum { WIDTH = 600 };
    struct tdl_builder *b = open_builder();
    struct tdl_operand *x = input(b, 4), *values[WIDTH], *sum;
    struct tdl_graph_stats stats;
    struct tdl_graph *g;
    check_begin("%d values at once", WIDTH);
    for (int i = 0; i < WIDTH; i++)
        values[i] = tdl_builder_activation(b, x, TDL_ACTIVATION_TANH);
    sum = values[0];
    for (int i = 1; i < WIDTH; i++)
        sum = tdl_builder_add(b, sum, values[i]);
    OK(tdl_builder_output(b, "output", sum));
    OK(tdl_builder_build(b, &(struct tdl_build_params){.no_fuse = true}, &g));
    tdl_graph_get_stats(g, &stats);
    CHECK(stats.arena_bytes >= (WIDTH - 1) * 256, "%llu bytes for %d values",
          (unsigned long long)stats.arena_bytes, WIDTH);
    run_wide_graph(g, WIDTH);
    tdl_graph_destroy(&g);
    tdl_builder_destroy(&b);
}

int main(void)
{
    ctx = check_context_open();
    test_constant_output();
    test_huge_values();
    test_dead_chain();
    test_wide_graph();
    test_many_kernels();
    check_context_close(ctx);
    return check_result();
}
