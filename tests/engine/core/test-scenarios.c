/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Promises of the MLTensor explainer that no other test shows by itself: one input for several
 * graphs without a barrier between them, and weights that the host does not keep.
 */
#include "line.h"

static struct tdl_context *ctx;

static void run_all(struct tdl_graph *const graphs[3], struct tdl_tensor *image,
                    struct tdl_tensor *const results[3])
{
    for (int i = 0; i < 3; i++)
        OK(dispatch(graphs[i], image, results[i]));
}

/* "Buffer reuse": written once, read by three graphs, which wait for the write
 * and not for each other. */
static void check_buffer_reuse(void)
{
    struct tdl_graph *graphs[3];
    struct tdl_tensor *image = tensor_of(ctx, WRITE), *results[3];
    check_begin("buffer reuse");
    for (int i = 0; i < 3; i++) {
        graphs[i] = line_graph(ctx, (float)i + 1, 10);
        results[i] = tensor_of(ctx, READ);
    }
    write_all(image, 1);
    run_all(graphs, image, results); /* records, and orders the creation of everything */

    write_all(image, 2);
    struct tdl_context_stats before = stats_of(ctx);
    OK(dispatch(graphs[0], image, results[0]));
    uint64_t barrier = subject_barrier_point(ctx);
    OK(dispatch(graphs[1], image, results[1]));
    OK(dispatch(graphs[2], image, results[2]));
    CHECK(subject_barrier_point(ctx) == barrier, "the graphs wait for each other");
    struct tdl_context_stats after = stats_of(ctx);
    CHECK(after.waits == before.waits, "the CPU waited");
    CHECK(after.submits == before.submits + 3, "%llu submissions for three graphs",
          (unsigned long long)(after.submits - before.submits));
    for (int i = 0; i < 3; i++)
        expect_all(results[i], (float)(i + 1) * 2 + 10);

    check_begin("buffer reuse: a graph that writes what another one reads waits");
    OK(dispatch(graphs[0], image, results[0]));
    barrier = subject_barrier_point(ctx);
    OK(dispatch(graphs[1], results[0], results[1]));
    CHECK(subject_barrier_point(ctx) != barrier || !subject_has_kernels(ctx), "no barrier");
    expect_all(results[1], (2 + 10) * 2 + 10);

    tdl_tensor_destroy(&image);
    for (int i = 0; i < 3; i++) {
        tdl_tensor_destroy(&results[i]);
        tdl_graph_destroy(&graphs[i]);
    }
}

/* Halves become floats on the way to the device; neither stays on the host. */
static void check_constants_not_kept(void)
{
    enum { SIDE = 512, WEIGHTS = SIDE * SIDE };
    struct tdl_tensor_params image = {.rank = 4, .shape = {1, 2, 2, SIDE}};
    const struct tdl_tensor_params filter = {
        .dtype = TDL_FLOAT16, .rank = 4, .shape = {SIDE, 1, 1, SIDE}};
    uint16_t *halves = calloc(WEIGHTS, sizeof(*halves));
    struct tdl_builder *b;
    struct tdl_graph *graph;
    struct tdl_graph_stats stats;
    check_begin("weights are not kept on the host");
    REQUIRE(halves, "no memory");
    OK(check_builder(ctx, &b));
    struct tdl_operand *x = tdl_builder_input(b, "x", &image);
    struct tdl_operand *w =
        tdl_builder_constant(b, &filter, halves, WEIGHTS * sizeof(*halves));
    tdl_builder_output(b, "y",
                       tdl_builder_conv2d(b, x, tdl_builder_cast(b, w, TDL_FLOAT32), NULL));
    OK(tdl_builder_build(b, NULL, &graph));
    tdl_builder_destroy(&b);
    tdl_graph_get_stats(graph, &stats);
    CHECK(stats.weight_bytes >= WEIGHTS * sizeof(float), "%llu bytes of weights on the device",
          (unsigned long long)stats.weight_bytes);
    CHECK(!graph->plan.weights, "the host keeps the weights");
    CHECK(!graph->plan.ir->owned_count, "the host keeps %u converted constants",
          graph->plan.ir->owned_count);
    for (uint32_t i = 0; i < graph->plan.ir->operand_count; i++)
        CHECK(!graph->plan.ir->operands[i]->data, "constant %u can still be reached", i);
    free(halves);
    tdl_graph_destroy(&graph);
}

int main(void)
{
    ctx = check_context_open();
    check_buffer_reuse();
    check_constants_not_kept();
    check_begin("%s", "");
    check_context_close(ctx);
    return check_result();
}
