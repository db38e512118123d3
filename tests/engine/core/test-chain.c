/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Chained inference: outputs are the next dispatch's inputs, in linear memory
 * of integers, and nobody waits in between.
 */
#include "check.h"

#include <core/device.h>

static struct tdl_tensor *tensor_of(struct tdl_context *ctx, enum tdl_dtype dtype, uint32_t count)
{
    struct tdl_tensor *t;
    OK(tdl_tensor_create(ctx,
                         &(struct tdl_tensor_params){
                             .dtype = dtype,
                             .rank = 1,
                             .shape = {count},
                             .usage = TDL_TENSOR_READABLE | TDL_TENSOR_WRITABLE,
                         },
                         &t));
    return t;
}

static uint64_t waits_of(struct tdl_context *ctx)
{
    struct tdl_context_stats stats;
    tdl_context_get_stats(ctx, &stats);
    return stats.waits;
}

/* c = a + b over three tensors that take turns: after `n` dispatches the
 * newest holds F(n + 1), with F(0) = 0 and F(1) = 1. */
static void check_fibonacci(struct tdl_context *ctx, enum tdl_dtype dtype, int n)
{
    const struct tdl_tensor_params one = {.dtype = dtype, .rank = 1, .shape = {1}};
    struct tdl_builder *b;
    struct tdl_graph *graph;
    struct tdl_tensor *t[3];
    uint64_t first = 1, want[2] = {0, 1}, got = 0;
    check_begin("Fibonacci in %s, N = %d", tdl_dtype_name(dtype), n);
    OK(check_builder(ctx, &b));
    tdl_builder_output(b, "c",
                       tdl_builder_add(b, tdl_builder_input(b, "a", &one),
                                       tdl_builder_input(b, "b", &one)));
    OK(tdl_builder_build(b, NULL, &graph));
    tdl_builder_destroy(&b);
    struct tdl_graph_stats stats;
    tdl_graph_get_stats(graph, &stats);
    CHECK(stats.steps == 1 && !stats.arena_bytes,
          "%u steps and %llu bytes for one addition in place", stats.steps,
          (unsigned long long)stats.arena_bytes);
    for (int i = 0; i < 3; i++)
        t[i] = tensor_of(ctx, dtype, 1);
    OK(tdl_tensor_write(t[1], &first, tdl_dtype_size(dtype), NULL));
    uint64_t waits = waits_of(ctx);
    for (int i = 0; i < n; i++) {
        const struct tdl_binding in[] = {{"a", t[i % 3]}, {"b", t[(i + 1) % 3]}};
        const struct tdl_binding out = {"c", t[(i + 2) % 3]};
        OK(tdl_graph_dispatch(graph, in, 2, &out, 1, NULL));
        uint64_t sum = want[0] + want[1];
        want[0] = want[1];
        want[1] = sum;
    }
    CHECK(waits_of(ctx) == waits, "somebody waited");
    OK(tdl_tensor_read(t[(n + 1) % 3], &got, tdl_dtype_size(dtype)));
    CHECK(got == want[1], "F(%d) is %llu instead of %llu", n + 1, (unsigned long long)got,
          (unsigned long long)want[1]);
    for (int i = 0; i < 3; i++)
        tdl_tensor_destroy(&t[i]);
    tdl_graph_destroy(&graph);
}

/* A recurrent graph: h' = h · a + x in wrapping integers, for so many steps,
 * with two states that take turns on the device. */
static void check_recurrent(struct tdl_context *ctx, int steps)
{
    enum { SIZE = 37 };
    const struct tdl_tensor_params state = {.dtype = TDL_UINT32, .rank = 1, .shape = {SIZE}};
    const struct tdl_tensor_params scalar = {.dtype = TDL_UINT32, .rank = 0};
    static const uint32_t factor = 1664525;
    struct tdl_builder *b;
    struct tdl_graph *graph;
    struct tdl_tensor *h[2], *x;
    uint32_t want[SIZE], values[SIZE], got[SIZE];
    struct rng rng = {7};
    check_begin("a recurrent graph, %d steps", steps);
    OK(check_builder(ctx, &b));
    struct tdl_operand *a = tdl_builder_constant(b, &scalar, &factor, sizeof(factor));
    struct tdl_operand *product = tdl_builder_mul(b, tdl_builder_input(b, "h", &state), a);
    tdl_builder_output(b, "next",
                       tdl_builder_add(b, product, tdl_builder_input(b, "x", &state)));
    OK(tdl_builder_build(b, NULL, &graph));
    tdl_builder_destroy(&b);
    for (int i = 0; i < SIZE; i++) {
        want[i] = (uint32_t)rng_next(&rng);
        values[i] = (uint32_t)rng_next(&rng);
    }
    h[0] = tensor_of(ctx, TDL_UINT32, SIZE);
    h[1] = tensor_of(ctx, TDL_UINT32, SIZE);
    x = tensor_of(ctx, TDL_UINT32, SIZE);
    OK(tdl_tensor_write(h[0], want, sizeof(want), NULL));
    OK(tdl_tensor_write(x, values, sizeof(values), NULL));
    uint64_t waits = waits_of(ctx);
    for (int i = 0; i < steps; i++) {
        const struct tdl_binding in[] = {{"h", h[i % 2]}, {"x", x}};
        const struct tdl_binding out = {"next", h[(i + 1) % 2]};
        OK(tdl_graph_dispatch(graph, in, 2, &out, 1, NULL));
        for (int k = 0; k < SIZE; k++)
            want[k] = want[k] * factor + values[k];
    }
    /* As long as the queue has room: 256, says tdl.h. */
    CHECK(waits_of(ctx) - waits <= (uint64_t)(steps > 256 ? steps - 256 : 0), "somebody waited");
    OK(tdl_tensor_read(h[steps % 2], got, sizeof(got)));
    CHECK(!memcmp(got, want, sizeof(got)), "the state is not what it should be");
    tdl_tensor_destroy(&h[0]);
    tdl_tensor_destroy(&h[1]);
    tdl_tensor_destroy(&x);
    tdl_graph_destroy(&graph);
}

/* Without the feature, the 64-bit types are refused with its name. */
static void check_without_int64(struct tdl_context *ctx)
{
    const struct tdl_tensor_params p = {.dtype = TDL_INT64, .rank = 1, .shape = {2}};
    const bool has = ctx->info.shader_int64;
    struct tdl_builder *b;
    struct tdl_tensor *t;
    check_begin("no shaderInt64");
    ctx->info.shader_int64 = false;
    FAILS(tdl_tensor_create(ctx, &p, &t), TDL_ERROR_UNSUPPORTED, "needs shaderInt64");
    OK(check_builder(ctx, &b));
    tdl_builder_input(b, "x", &p);
    CHECK(tdl_builder_status(b) == TDL_ERROR_UNSUPPORTED &&
              strstr(tdl_builder_error(b), "needs shaderInt64"),
          "\"%s\"", tdl_builder_error(b));
    tdl_builder_destroy(&b);
    ctx->info.shader_int64 = has;
}

int main(void)
{
    struct tdl_context *ctx = check_context_open();
    check_fibonacci(ctx, TDL_INT32, 40);
    check_fibonacci(ctx, TDL_UINT8, 11);
    if (tdl_context_device(ctx)->shader_int64)
        check_fibonacci(ctx, TDL_INT64, 80);
    else
        printf("no shaderInt64: no Fibonacci in int64\n");
    check_recurrent(ctx, 1000);
    check_without_int64(ctx);
    check_context_close(ctx);
    return check_result();
}
