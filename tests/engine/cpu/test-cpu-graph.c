/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Graphs on the CPU: what their plans show, that NaN and infinities come through what
 * is computed in vectors, that a graph may go while its runs are queued, and the
 * convolutions of builds without XNNPACK, in all builds.
 */
#include "subject.h"

#include <sys/resource.h>
#include <unistd.h>

#include <cpu/batch.h>
#include <cpu/graph/graph.h>
#include <cpu/graph/hot.h>
#include <cpu/graph/ops.h>
#include <cpu/memory.h>
#include <ops/ops.h>

#include <math.h>

static struct tdl_context *ctx;

enum { SIDE = 12, CHANNELS = 6, VALUES = SIDE * SIDE * CHANNELS };

/* conv → relu → conv → add → softmax; 5 operators */
static struct tdl_graph *build(bool no_fuse)
{
    struct rng rng = {3};
    struct tdl_builder *b;
    struct tdl_graph *g;
    OK(check_builder(ctx, &b));
    struct tdl_operand *x =
        subject_input(b, "x", subject_image(TDL_LAYOUT_NHWC, 1, SIDE, SIDE, CHANNELS));
    struct tdl_operand *filter = subject_filter(b, &rng, CHANNELS, 1, 1, CHANNELS);
    struct tdl_operand *y = tdl_builder_relu(b, tdl_builder_conv2d(b, x, filter, NULL));
    y = tdl_builder_add(b, tdl_builder_conv2d(b, y, filter, NULL), x);
    tdl_builder_output(b, "y", tdl_builder_softmax(b, y, 3));
    OK(tdl_builder_build(b, &(struct tdl_build_params){.no_fuse = no_fuse}, &g));
    tdl_builder_destroy(&b);
    return g;
}

/* Each step has a kernel, and what it computes; the profile has times. */
static void check_plan(bool no_fuse)
{
    const uint64_t macs = 2ull * SIDE * SIDE * CHANNELS * CHANNELS;
    struct tdl_graph *g = build(no_fuse);
    struct tdl_binding x, y;
    struct tdl_graph_stats stats;
    const struct tdl_graph_step *s;
    uint64_t ns = 0;
    uint32_t count = 0;
    check_begin("plan%s", no_fuse ? " without fusions" : "");
    tdl_graph_get_stats(g, &stats);
    CHECK(stats.macs == macs, "%llu multiply-accumulates", (unsigned long long)stats.macs);
    CHECK(no_fuse ? stats.steps == 5 : stats.steps <= 4, "%u steps", stats.steps);
    CHECK(stats.arena_bytes && stats.arena_bytes <= stats.tensor_bytes, "an arena of %llu bytes",
          (unsigned long long)stats.arena_bytes);
    check_bind(ctx, g, &x, &y);
    OK(tdl_graph_profile(g, &x, 1, &y, 1));
    for (; (s = tdl_graph_get_step(g, count)); count++) {
        CHECK(!strcmp(s->kernel, "xnnpack") || !strncmp(s->kernel, "cpu: ", 5), "a kernel %s",
              s->kernel);
        CHECK(*s->label && s->bytes, "step %u: \"%s\", %llu bytes", count, s->label,
              (unsigned long long)s->bytes);
        ns += s->gpu_ns;
    }
    CHECK(count == stats.steps && ns, "%u of %u steps, %llu ns", count, stats.steps,
          (unsigned long long)ns);
    check_unbind(&x, &y);
    tdl_graph_destroy(&g);
}

enum { CHAIN_ROWS = 7, CHAIN_WIDE = 431, CHAIN_VALUES = 3 * CHAIN_ROWS * CHAIN_WIDE };

/* Eleven functions one behind the other, some of which read values from before the chain. */
static struct tdl_graph *build_chain(bool no_fuse)
{
    static float rows[CHAIN_WIDE], columns[CHAIN_ROWS];
    struct rng rng = {4};
    struct tdl_builder *b;
    struct tdl_graph *g;
    OK(check_builder(ctx, &b));
    struct tdl_operand *x = tdl_builder_softmax(
        b, subject_input(b, "x", SUBJECT_SHAPE(TDL_FLOAT32, 3, CHAIN_ROWS, CHAIN_WIDE)), 2);
    for (int i = 0; i < CHAIN_WIDE; i++)
        rows[i] = rng_float(&rng, -1, 1);
    for (int i = 0; i < CHAIN_ROWS; i++)
        columns[i] = rng_float(&rng, -1, 1);
    struct tdl_operand *row = subject_constant(b, 1, (uint32_t[]){CHAIN_WIDE}, rows);
    struct tdl_operand *column = subject_constant(b, 2, (uint32_t[]){CHAIN_ROWS, 1}, columns);
    struct tdl_operand *y = tdl_builder_tanh(b, x);
    for (int i = 0; i < 2; i++) {
        y = tdl_builder_add(b, y, row);
        y = tdl_builder_mul(b, y, x);
        y = tdl_builder_sub(b, x, y);
        y = tdl_builder_mul(b, column, y);
        y = tdl_builder_exp(b, y);
    }
    tdl_builder_output(b, "y", y);
    OK(tdl_builder_build(b, &(struct tdl_build_params){.no_fuse = no_fuse}, &g));
    tdl_builder_destroy(&b);
    return g;
}

/* They give what they give one by one, bit for bit, in fewer steps, and what is between them has
 * no memory. */
static void check_chains(void)
{
    static float values[CHAIN_VALUES], got[2][CHAIN_VALUES];
    struct tdl_graph_stats stats[2];
    struct rng rng = {5};
    check_begin("chains of functions");
    for (int i = 0; i < CHAIN_VALUES; i++)
        values[i] = rng_float(&rng, -1, 1);
    for (int fused = 0; fused < 2; fused++) {
        struct tdl_graph *g = build_chain(!fused);
        struct tdl_binding x, y;
        check_bind(ctx, g, &x, &y);
        tdl_graph_get_stats(g, &stats[fused]);
        OK(tdl_tensor_write(x.tensor, values, sizeof(values), NULL));
        OK(tdl_graph_dispatch(g, &x, 1, &y, 1, NULL));
        OK(tdl_tensor_read(y.tensor, got[fused], sizeof(got[fused])));
        CHECK(!fused || !strcmp(tdl_graph_get_step(g, 1)->kernel, "cpu: chain"), "a kernel %s",
              tdl_graph_get_step(g, 1)->kernel);
        check_unbind(&x, &y);
        tdl_graph_destroy(&g);
    }
    CHECK(stats[0].steps == 12 && stats[1].steps == 3, "%u and %u steps", stats[0].steps,
          stats[1].steps);
    CHECK(stats[1].tensor_bytes < stats[0].tensor_bytes / 2, "values of %llu bytes instead of %llu",
          (unsigned long long)stats[1].tensor_bytes, (unsigned long long)stats[0].tensor_bytes);
    for (int i = 0; i < CHAIN_VALUES; i++)
        if (!CHECK(!memcmp(&got[0][i], &got[1][i], sizeof(float)), "%d: %g instead of %g", i,
                   (double)got[1][i], (double)got[0][i]))
            break;
}

/* Runs that are queued hold what they need. */
static void check_destruction(void)
{
    static float values[VALUES];
    struct tdl_graph *g = build(false);
    struct tdl_binding x, y;
    check_begin("a graph that goes before its runs");
    check_bind(ctx, g, &x, &y);
    for (int i = 0; i < 20; i++)
        OK(tdl_graph_dispatch(g, &x, 1, &y, 1, NULL));
    tdl_graph_destroy(&g);
    OK(tdl_tensor_read(y.tensor, values, sizeof(values)));
    for (int i = 0; i < VALUES; i++) /* all of them zero */
        if (!CHECK(fabsf(values[i] - 1.0f / CHANNELS) < 1e-6f, "%d: %g", i, (double)values[i]))
            break;
    check_unbind(&x, &y);
}

static struct tdl_context_stats stats_of(void)
{
    struct tdl_context_stats stats;
    tdl_context_get_stats(ctx, &stats);
    return stats;
}

static bool uses_xnnpack(struct tdl_graph *g)
{
    const struct tdl_graph_step *s;
    for (uint32_t i = 0; (s = tdl_graph_get_step(g, i)); i++)
        if (!strcmp(s->kernel, "xnnpack"))
            return true;
    return false;
}

/* A graph's arena and weights are among the memory of its context, until it and its
 * runs have gone; the filter of its last convolution twice: as XNNPACK has it, and as the
 * loop that computes it anew where there may have been NaN. */
static void check_memory(void)
{
    struct tdl_graph_stats figures;
    struct tdl_binding x, y;
    check_begin("a graph's memory");
    OK(tdl_context_sync(ctx));
    const struct tdl_context_stats before = stats_of();
    struct tdl_graph *g = build(false);
    const struct tdl_context_stats with = stats_of();
    tdl_graph_get_stats(g, &figures);
    CHECK(figures.weight_bytes == CHANNELS * CHANNELS * sizeof(float), "%llu bytes of weights",
          (unsigned long long)figures.weight_bytes);
    const uint64_t more = with.memory_bytes - before.memory_bytes;
    const uint64_t once = figures.arena_bytes + figures.weight_bytes;
    CHECK(more >= once + figures.weight_bytes && more <= once + 4096,
          "%llu bytes are counted for %llu of values and twice %llu of weights",
          (unsigned long long)more, (unsigned long long)figures.arena_bytes,
          (unsigned long long)figures.weight_bytes);
    /* The arena and the loop's filter, and XNNPACK's where the build has it. */
    CHECK(with.allocations == before.allocations + 2 + uses_xnnpack(g), "%llu allocations",
          (unsigned long long)(with.allocations - before.allocations));
    check_bind(ctx, g, &x, &y);
    OK(tdl_graph_dispatch(g, &x, 1, &y, 1, NULL));
    tdl_graph_destroy(&g);
    check_unbind(&x, &y);
    OK(tdl_context_sync(ctx));
    CHECK(stats_of().memory_bytes == before.memory_bytes, "%llu bytes are left",
          (unsigned long long)(stats_of().memory_bytes - before.memory_bytes));
}

typedef struct tdl_operand *(*function)(struct tdl_builder *, struct tdl_operand *);
static struct tdl_operand *clamp(struct tdl_builder *b, struct tdl_operand *x)
{
    static const float least = -1, most = 2;
    return tdl_builder_clamp(b, x, &least, &most);
}

/* As the reference has it, in vectors and in what is left behind them. */
static void check_special_values(void)
{
    static const struct {
        const char *name;
        function apply;
    } rows[] = {
        {"relu", tdl_builder_relu},         {"clamp", clamp},
        {"sigmoid", tdl_builder_sigmoid},   {"hardSwish", tdl_builder_hard_swish},
        {"tanh", tdl_builder_tanh},         {"exp", tdl_builder_exp},
        {"log", tdl_builder_log},           {"sqrt", tdl_builder_sqrt},
        {"softplus", tdl_builder_softplus}, {"erf", tdl_builder_erf},
        {"sign", tdl_builder_sign},         {"gelu", tdl_builder_gelu},
    };
    static const float hard[] = {NAN,  INFINITY, -INFINITY, 0,      -0.0f,  1e30f,
                                 -1e30f, 1e-40f,   -1e-40f,   88.7f,  -87.4f, 3};
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct rng rng = {i};
        struct subject s;
        struct tdl_builder *b;
        check_begin("%s of special values", rows[i].name);
        OK(check_builder(ctx, &b));
        subject_output(b, rows[i].apply(b, subject_input(b, "x", SUBJECT_SHAPE(TDL_FLOAT32, 37))));
        subject_open(&s, ctx, b, &rng);
        for (int k = 0; k < 37; k++)
            ((float *)s.inputs[0])[k] = hard[k % COUNT(hard)];
        for (uint32_t k = 0; k < s.ir->operand_count; k++)
            free(s.values[k]);
        OK(tdl_ir_run_reference(s.ir, (const void *const *)s.inputs, s.values));
        s.slack = 10;
        subject_run(&s, &(struct tdl_build_params){0});
        subject_close(&s);
    }
}

static void run_unguarded(struct subject *s)
{
    const struct tdl_operand *y = s->ir->outputs[0];
    const size_t size = tdl_tensor_params_size(&y->desc);
    struct tdl_graph_stats stats;
    struct tdl_graph *g;
    void *got = malloc(size);
    REQUIRE(got, "out of memory");
    OK(tdl_builder_build(s->builder, &(struct tdl_build_params){.no_fuse = true}, &g));
    tdl_graph_get_stats(g, &stats);
    CHECK(stats.arena_bytes < stats.tensor_bytes / 2, "%llu bytes of %llu: nothing is shared",
          (unsigned long long)stats.arena_bytes, (unsigned long long)stats.tensor_bytes);
    check_dispatch(ctx, g, s->inputs[0], got);
    subject_compare("y", &y->desc, s->values[y->id], got, false, 1);
    tdl_graph_destroy(&g);
    free(got);
}

/* Lifetimes of values: each place is reused after its value was read last, and no operator here can
 * work in the place of its input. Other tests build with guards between values, which prevents
 * sharing. */
static void check_lifetimes(void)
{
    static const uint32_t turned[] = {1, 2, 0};
    struct rng rng = {7};
    struct subject s;
    struct tdl_builder *b;
    check_begin("values in each other's place");
    OK(check_builder(ctx, &b));
    struct tdl_operand *x = subject_input(b, "x", SUBJECT_SHAPE(TDL_FLOAT32, 5, 6, 7)), *old = x;
    for (int i = 0; i < 9; i++) {
        struct tdl_operand *next = tdl_builder_transpose(b, x, turned);
        if (i % 3 == 2) { /* and something of three steps before */
            next = tdl_builder_add(b, next, old);
            old = next;
        }
        x = next;
    }
    subject_output(b, x);
    subject_open(&s, ctx, b, &rng);
    run_unguarded(&s);
    subject_close(&s);
}

/* ------------------------------------------------------------- convolutions */

/* `channels` in each of the groups, in and out. */
struct conv {
    uint32_t groups, in, out, kernel, stride, dilation;
    enum tdl_activation activation;
    bool transposed;
    uint32_t wide; /* pixels of a row; 0: some */
};

static struct tdl_operand *add_conv(struct tdl_builder *b, const struct conv *c, struct rng *rng,
                                    struct tdl_operand *x)
{
    const uint32_t out = c->groups * c->out;
    struct tdl_operand *bias = subject_bias(b, rng, out);
    if (c->transposed)
        return tdl_builder_conv_transpose2d(
            b, x, subject_filter(b, rng, c->out, c->kernel, c->kernel, c->groups * c->in),
            &(struct tdl_conv_transpose2d_params){.stride = {c->stride, c->stride},
                                                  .groups = c->groups,
                                                  .bias = bias});
    return tdl_builder_conv2d(
        b, x, subject_filter(b, rng, out, c->kernel, c->kernel, c->in),
        &(struct tdl_conv2d_params){.stride = {c->stride, c->stride},
                                    .dilation = {c->dilation, c->dilation},
                                    .padding = TDL_PADDING_SAME_UPPER,
                                    .groups = c->groups,
                                    .activation = c->activation,
                                    .bias = bias});
}

enum { MOST_VALUES = 1 << 16 };

/* The kernel alone, as builds with XNNPACK have it for nothing but what that refuses; `strange`:
 * with values that XNNPACK gets wrong. */
static void check_kernel(const struct tdl_node *n, struct rng *rng, bool strange)
{
    static float from[MOST_VALUES], want[MOST_VALUES], got[MOST_VALUES + 1];
    const struct tdl_cpu_kernel *kernel = tdl_cpu_kernel_of(n);
    const struct tdl_tensor_params *desc = &n->output->desc;
    const size_t count = tdl_tensor_params_size(desc) / sizeof(float);
    const size_t read = tdl_tensor_params_size(&n->inputs[0]->desc) / sizeof(float);
    REQUIRE(kernel && kernel->prepare && count <= COUNT(want) && read <= COUNT(from),
            "no kernel, or too much");
    for (size_t i = 0; i < read; i++)
        from[i] = rng_float(rng, -1, 1);
    for (int i = 0; i < 3 && strange; i++)
        from[rng_below(rng, (uint32_t)read / 20 + 1)] = i ? NAN : -INFINITY;
    const void *inputs[TDL_MAX_NODE_INPUTS] = {from};
    const float *floats[TDL_MAX_NODE_INPUTS] = {from};
    struct tdl_cpu_call call = {.node = n, .inputs = {from}, .output = got};
    for (uint32_t i = 1; i < n->input_count; i++)
        call.inputs[i] = inputs[i] = floats[i] = n->inputs[i] ? n->inputs[i]->data : NULL;
    if (n->op->reference)
        n->op->reference(n, floats, want);
    else
        n->op->reference_linear(n, inputs, want);
    got[count] = 1234; /* a sentinel past the end */
    struct tdl_cpu_prepared made = {0};
    OK(kernel->prepare(n, &made));
    struct tdl_cpu_scratch scratch = {.memory = calloc(1, made.scratch_bytes + 1),
                                      .each = made.scratch_bytes};
    call.scratch = &scratch;
    call.state = made.state;
    call.packed = made.packed;
    kernel->run(&call);
    CHECK(!atomic_load(&scratch.taken), "its memory was not given back");
    free(scratch.memory);
    subject_compare("y", desc, want, got, false, 4);
    CHECK(got[count] == 1234, "%g was written behind the end", (double)got[count]);
    free(made.state);
    free(made.packed);
}

static void check_conv(const struct conv *c, uint64_t seed)
{
    enum { IMAGES = 2, SIZE = 9 };
    const uint32_t wide = c->wide ? c->wide : 11;
    struct rng rng = {seed};
    struct tdl_builder *b;
    check_begin("%sconv of %u groups, %u to %u channels, %ux%u, stride %u, dilation %u",
                c->transposed ? "transposed " : "", c->groups, c->in, c->out, c->kernel,
                c->kernel, c->stride, c->dilation);
    OK(check_builder(ctx, &b));
    struct tdl_operand *x = subject_input(
        b, "x", subject_image(TDL_LAYOUT_NHWC, IMAGES, SIZE, wide, c->groups * c->in));
    struct tdl_operand *y = add_conv(b, c, &rng, x);
    REQUIRE(y, "%s", tdl_last_error());
    check_kernel(y->producer, &rng, !c->activation);
    tdl_builder_destroy(&b);
}

/* Products with a constant matrix that are worth several threads. */
static void check_product(uint32_t rows, uint32_t depth, uint32_t columns, bool transposed,
                          bool with_c)
{
    struct rng rng = {rows};
    struct tdl_builder *b;
    float *values = malloc((size_t)depth * columns * sizeof(*values));
    for (size_t i = 0; i < (size_t)depth * columns; i++)
        values[i] = rng_float(&rng, -1, 1);
    check_begin("product of %ux%u and %ux%u%s%s", rows, depth, depth, columns,
                transposed ? ", transposed" : "", with_c ? ", plus a row" : "");
    OK(check_builder(ctx, &b));
    const uint32_t shape[] = {transposed ? columns : depth, transposed ? depth : columns};
    struct tdl_operand *y = tdl_builder_gemm(
        b, subject_input(b, "x", SUBJECT_SHAPE(TDL_FLOAT32, rows, depth)),
        subject_constant(b, 2, shape, values),
        &(struct tdl_gemm_params){.b_transpose = transposed,
                                  .c = with_c ? subject_bias(b, &rng, columns) : NULL});
    REQUIRE(y, "%s", tdl_last_error());
    CHECK(tdl_cpu_kernel_of(y->producer) == &tdl_cpu_product, "another kernel takes it");
    check_kernel(y->producer, &rng, true);
    tdl_builder_destroy(&b);
    free(values);
}

static void check_products(void)
{
    check_product(1, 601, 900, false, false);
    check_product(7, 601, 900, true, true);
    check_product(61, 301, 349, false, true);
    check_product(83, 107, 759, true, false);
    check_product(50, 800, 160, false, false);
}

static void check_convs(void)
{
    static const struct conv rows[] = {
        {1, 1, 1, 1, 1, 1, 0, false},  {1, 1, 1, 3, 1, 1, 0, false},
        {1, 16, 1, 1, 1, 1, 0, false}, {1, 17, 1, 3, 2, 1, TDL_ACTIVATION_RELU, false},
        {1, 5, 1, 5, 1, 2, 0, false},  {1, 3, 17, 3, 2, 1, TDL_ACTIVATION_RELU6, false},
        {3, 2, 1, 3, 1, 1, 0, false},  {3, 2, 5, 3, 1, 2, 0, false},
        {7, 1, 1, 3, 2, 1, 0, false},  {5, 1, 2, 3, 1, 1, 0, false},
        {1, 16, 1, 2, 2, 1, 0, true},  {1, 1, 1, 3, 2, 1, 0, true},
        {1, 5, 33, 3, 1, 1, 0, true},  {3, 4, 1, 3, 3, 1, 0, true},
        {1, 16, 16, 3, 1, 1, 0, false}, {1, 17, 37, 3, 1, 1, 0, false},
        {1, 33, 20, 3, 1, 1, TDL_ACTIVATION_RELU, false},
        {1, 20, 49, 3, 1, 1, TDL_ACTIVATION_RELU6, false},
        {1, 64, 256, 3, 1, 1, TDL_ACTIVATION_RELU, false},
        {37, 1, 1, 7, 1, 1, 0, false},  {16, 1, 1, 7, 2, 1, TDL_ACTIVATION_RELU, false},
        {5, 1, 1, 9, 1, 2, 0, false},   {33, 1, 1, 31, 1, 1, TDL_ACTIVATION_RELU6, false},
        {17, 1, 1, 6, 3, 1, 0, false},  {17, 1, 1, 5, 1, 1, 0, false, 150},
        {20, 1, 1, 7, 2, 3, 0, false, 150}, {3, 1, 1, 8, 5, 4, 0, false, 1},
        {1, 110, 113, 3, 2, 1, 0, false}, {1, 61, 67, 3, 1, 2, TDL_ACTIVATION_RELU, false},
        {1, 33, 50, 5, 1, 1, 0, false}, {1, 3, 210, 7, 1, 1, TDL_ACTIVATION_RELU6, false},
        {1, 605, 901, 1, 1, 1, 0, false, 1}, {1, 333, 197, 3, 2, 2, 0, false, 3},
        {37, 1, 1, 3, 1, 1, TDL_ACTIVATION_RELU6, false}, {16, 1, 1, 3, 2, 1, 0, false},
        {33, 1, 1, 5, 2, 1, TDL_ACTIVATION_RELU, false}, {40, 1, 1, 5, 1, 1, 0, false, 2},
        {19, 1, 1, 3, 1, 1, 0, false, 1},
        {1, 40, 61, 3, 1, 12, 0, false}, {1, 20, 33, 5, 1, 4, TDL_ACTIVATION_RELU, false},
        {1, 256, 150, 1, 1, 1, 0, false}, {1, 1024, 200, 1, 1, 1, 0, false, 1},
        {1, 190, 170, 1, 1, 1, 0, false}, {1, 170, 197, 1, 1, 1, TDL_ACTIVATION_RELU6, false},
    };
    for (size_t i = 0; i < COUNT(rows); i++)
        check_conv(&rows[i], i);
}

/* The mean of the pixels of a window that are inside. */
/* Windows that follow each other without a stride along rows. */
static void check_pool(const struct tdl_pool2d_params *p, bool mean, uint32_t channels,
                       uint64_t seed)
{
    struct rng rng = {seed};
    struct tdl_builder *b;
    check_begin("%s pool of %ux%u, stride %u, dilation %u, %u channels", mean ? "average" : "max",
                p->window[0], p->window[1], p->stride[0], p->dilation[1], channels);
    OK(check_builder(ctx, &b));
    struct tdl_operand *x =
        subject_input(b, "x", subject_image(TDL_LAYOUT_NHWC, 2, 9, 13, channels));
    struct tdl_operand *y =
        mean ? tdl_builder_average_pool2d(b, x, p) : tdl_builder_max_pool2d(b, x, p);
    REQUIRE(y, "%s", tdl_last_error());
    CHECK(tdl_cpu_kernel_of(y->producer) == (mean ? &tdl_cpu_average_rows : &tdl_cpu_max_rows),
          "another kernel takes it");
    check_kernel(y->producer, &rng, false);
    tdl_builder_destroy(&b);
}

static void check_pools(void)
{
    static const struct tdl_pool2d_params rows[] = {
        {.window = {3, 3}, .stride = {1, 1}, .padding = TDL_PADDING_SAME_UPPER},
        {.window = {9, 9}, .stride = {1, 1}, .pad = {4, 4, 4, 4}},
        {.window = {1, 4}, .stride = {2, 1}, .pad = {0, 0, 3, 1}},
        {.window = {5, 1}, .stride = {3, 1}},
        {.window = {2, 3}, .stride = {1, 1}, .dilation = {3, 5}, .pad = {2, 2, 7, 5}},
        {.window = {2, 2}, .stride = {1, 1}, .pad = {1, 1, 1, 1}, .count_include_pad = true},
    };
    static const uint32_t channels[] = {1, 3, 16, 37};
    for (size_t i = 0; i < COUNT(rows); i++)
        for (size_t c = 0; c < COUNT(channels); c++)
            for (int mean = 0; mean < 2; mean++)
                check_pool(&rows[i], mean, channels[c], i);
}

/* Of all counts of rows and columns round those that are turned at once. */
static void check_turns(void)
{
    enum { MOST = 19, STEP = MOST + 3 };
    uint32_t from[MOST * STEP], to[MOST * STEP];
    check_begin("turned matrices");
    for (uint32_t i = 0; i < MOST * STEP; i++)
        from[i] = i + 1;
    for (uint32_t rows = 1; rows <= MOST; rows++)
        for (uint32_t columns = 1; columns <= MOST; columns++) {
            memset(to, 0, sizeof(to));
            tdl_cpu_hot()->turn(from, STEP, columns, rows, to, STEP);
            for (uint32_t i = 0; i < MOST * STEP; i++) {
                const uint32_t r = i / STEP, c = i % STEP;
                const uint32_t want = r < rows && c < columns ? from[c * STEP + r] : 0;
                if (!CHECK(to[i] == want, "%ux%u: [%u, %u] is %u instead of %u", rows, columns, r,
                           c, to[i], want))
                    return;
            }
        }
}

/* Of pictures whose sums are made of several parts. */
static void check_instances(void)
{
    static const uint32_t shapes[][3] = {{150, 131, 1}, {83, 50, 5}, {31, 17, 37}};
    for (size_t i = 0; i < COUNT(shapes); i++) {
        const uint32_t *s = shapes[i];
        struct rng rng = {i};
        struct tdl_builder *b;
        check_begin("instanceNormalization of %ux%u, %u channels", s[0], s[1], s[2]);
        OK(check_builder(ctx, &b));
        struct tdl_operand *y = tdl_builder_instance_normalization(
            b, subject_input(b, "x", subject_image(TDL_LAYOUT_NHWC, 2, s[0], s[1], s[2])),
            &(struct tdl_instance_normalization_params){.scale = subject_bias(b, &rng, s[2]),
                                                        .bias = subject_bias(b, &rng, s[2])});
        REQUIRE(y, "%s", tdl_last_error());
        check_kernel(y->producer, &rng, false);
        tdl_builder_destroy(&b);
    }
}

static double mean_at(const float *x, int wide, int channels, const int window[2], const int at[3])
{
    double sum = 0;
    int count = 0;
    for (int y = at[0]; y < at[0] + window[0]; y++)
        for (int k = at[1]; k < at[1] + window[1]; k++)
            if (y >= 0 && k >= 0 && y < wide && k < wide) {
                sum += x[(y * wide + k) * channels + at[2]];
                count++;
            }
    return sum / count;
}

/* Small windows of few channels are computed along rows: beside padding, and over it. */
static void check_few_channels(int channels, int high, int wide, int stride, int pad)
{
    enum { SIZE = 13, MOST = 5 };
    const int window[2] = {high, wide};
    const struct tdl_pool2d_params p = {
        .window = {(uint32_t)high, (uint32_t)wide},
        .stride = {(uint32_t)stride, (uint32_t)stride},
        .pad = {(uint32_t)pad, (uint32_t)pad, (uint32_t)pad, (uint32_t)pad}};
    struct rng rng = {11};
    struct tdl_builder *b;
    struct tdl_graph *g;
    struct tdl_binding x, y;
    float in[SIZE * SIZE * MOST], got[(SIZE + 2) * (SIZE + 2) * MOST];
    for (int i = 0; i < SIZE * SIZE * channels; i++)
        in[i] = rng_float(&rng, -1, 1);
    OK(check_builder(ctx, &b));
    struct tdl_operand *o = subject_input(
        b, "x", subject_image(TDL_LAYOUT_NHWC, 1, SIZE, SIZE, (uint32_t)channels));
    OK(tdl_builder_output(b, "y", tdl_builder_average_pool2d(b, o, &p)));
    OK(tdl_builder_build(b, NULL, &g));
    check_bind(ctx, g, &x, &y);
    const int rows = (SIZE + 2 * pad - high) / stride + 1;
    const int row = (SIZE + 2 * pad - wide) / stride + 1;
    const int count = rows * row * channels;
    OK(tdl_tensor_write(x.tensor, in, sizeof(*in) * (size_t)(SIZE * SIZE * channels), NULL));
    OK(tdl_graph_dispatch(g, &x, 1, &y, 1, NULL));
    OK(tdl_tensor_read(y.tensor, got, sizeof(*got) * (size_t)count));
    for (int i = 0; i < count; i++) {
        const int at[3] = {i / channels / row * stride - pad, i / channels % row * stride - pad,
                           i % channels};
        const double want = mean_at(in, SIZE, channels, window, at);
        CHECK(fabs((double)got[i] - want) < 1e-6,
              "%d channels, %dx%d, step %d, element %d: %g, not %g", channels, high, wide, stride,
              i, (double)got[i], want);
    }
    check_unbind(&x, &y);
    tdl_graph_destroy(&g);
    tdl_builder_destroy(&b);
}

static void check_small_windows(void)
{
    check_begin("small windows of few channels");
    for (int channels = 1; channels <= 5; channels++)
        for (int stride = 1; stride <= 3; stride++)
            for (int pad = 0; pad <= 1; pad++) {
                check_few_channels(channels, 2, 2, stride, pad);
                check_few_channels(channels, 3, 2, stride, pad);
                check_few_channels(channels, 2, 5, stride, pad);
            }
}

/* A compiled graph has the memory that its first run works in: the system is asked for
 * far fewer pages than lie in the arena. */
static void check_first_run(void)
{
    enum { SIZE = 512, DEPTH = 4, PAGE = 4096 };
    static float pixels[SIZE * SIZE * DEPTH];
    struct rng rng = {8};
    struct tdl_graph_stats stats;
    struct tdl_builder *b;
    struct tdl_graph *g;
    struct tdl_binding x, y;
    struct rusage before, after;
    float mean[DEPTH];
    check_begin("the first run");
    OK(check_builder(ctx, &b));
    struct tdl_operand *o =
        subject_input(b, "x", subject_image(TDL_LAYOUT_NHWC, 1, SIZE, SIZE, DEPTH));
    for (int i = 0; i < 2; i++)
        o = tdl_builder_conv2d(b, o, subject_filter(b, &rng, DEPTH, 3, 3, DEPTH), NULL);
    OK(tdl_builder_output(b, "y", tdl_builder_average_pool2d(b, o, NULL)));
    OK(tdl_builder_build(b, NULL, &g));
    check_bind(ctx, g, &x, &y);
    OK(tdl_tensor_write(x.tensor, pixels, sizeof(pixels), NULL));
    OK(tdl_tensor_read(y.tensor, mean, sizeof(mean)));
    tdl_graph_get_stats(g, &stats);
    getrusage(RUSAGE_SELF, &before);
    OK(tdl_graph_dispatch(g, &x, 1, &y, 1, NULL));
    OK(tdl_tensor_read(y.tensor, mean, sizeof(mean)));
    getrusage(RUSAGE_SELF, &after);
#if !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__) /* have pages, too */
    CHECK((uint64_t)(after.ru_minflt - before.ru_minflt) < stats.arena_bytes / PAGE / 2,
          "%ld pages, the arena has %llu", after.ru_minflt - before.ru_minflt,
          (unsigned long long)(stats.arena_bytes / PAGE));
#endif
    check_unbind(&x, &y);
    tdl_graph_destroy(&g);
    tdl_builder_destroy(&b);
}

/* ------------------------------------------------------------- too little memory */

enum { LARGE = 2048 * 4096 }; /* floats: 32 MiB */

/* x → sin → softmax → sin → softmax of so many floats: an arena of two of them at most. */
static struct tdl_graph *build_large(uint32_t count, const struct tdl_build_params *params,
                                     enum tdl_result expected, const char *words)
{
    const struct tdl_tensor_params shape = {.rank = 2, .shape = {count / 4096, 4096}};
    struct tdl_builder *b;
    struct tdl_graph *g = NULL;
    OK(check_builder(ctx, &b));
    struct tdl_operand *o = tdl_builder_input(b, "x", &shape);
    for (int i = 0; i < 2; i++)
        o = tdl_builder_softmax(b, tdl_builder_sin(b, o), 1);
    OK(tdl_builder_output(b, "y", o));
    const enum tdl_result r = tdl_builder_build(b, params, &g);
    CHECK(r == expected, "build: %d: %s", (int)r, tdl_last_error());
    CHECK(!words || strstr(tdl_last_error(), words), "\"%s\" not in: %s", words, tdl_last_error());
    tdl_builder_destroy(&b);
    return g;
}

/* A machine with so much memory, in a folder that takes the place of "/". */
static void have_memory(char *root, uint64_t mib)
{
    char path[64];
    REQUIRE(*root || mkdtemp(strcpy(root, "/tmp/tdl-memory-XXXXXX")), "no folder");
    snprintf(path, sizeof(path), "mkdir -p %s/proc", root);
    REQUIRE(!system(path), "%s", path);
    snprintf(path, sizeof(path), "%s/proc/meminfo", root);
    FILE *f = fopen(path, "w");
    REQUIRE(f, "cannot write %s", path);
    fprintf(f, "MemTotal: 99999999 kB\nMemAvailable: %llu kB\n", (unsigned long long)mib << 10);
    fclose(f);
    tdl_cpu_memory_root = root;
}

/* A graph that does not fit into memory is refused with both sizes, before memory is touched. */
static void check_refused(void)
{
    const struct tdl_tensor_params shape = {.rank = 1, .shape = {LARGE}};
    struct tdl_tensor *t = NULL;
    struct tdl_graph *g;
    char root[64] = "", command[80];
    check_begin("more memory than there is");
    have_memory(root, 100); /* the graph: 64 of tensors, and 64 of values at most */
    const struct tdl_context_stats before = stats_of();
    FAILS(tdl_tensor_create(ctx, &(struct tdl_tensor_params){.rank = 1, .shape = {4 * LARGE}}, &t),
          TDL_ERROR_OUT_OF_MEMORY, "needs 128 MiB of memory, and this process can have 100 MiB");
    g = build_large(LARGE, NULL, TDL_ERROR_OUT_OF_MEMORY, "this process can have 100 MiB");
    CHECK(!g && strstr(tdl_last_error(), "the graph needs"), "%s", tdl_last_error());
    CHECK(stats_of().memory_bytes == before.memory_bytes, "memory was taken");
    have_memory(root, 1000);
    OK(tdl_tensor_create(ctx, &shape, &t));
    g = build_large(LARGE, &(struct tdl_build_params){.defer_compile = true}, TDL_OK, NULL);
    have_memory(root, 10); /* the memory is gone meanwhile */
    FAILS(tdl_graph_compile(g, NULL), TDL_ERROR_OUT_OF_MEMORY, "this process can have 10 MiB");
    have_memory(root, 1000);
    OK(tdl_graph_compile(g, NULL));
    tdl_tensor_destroy(&t);
    tdl_graph_destroy(&g);
    tdl_cpu_memory_root = "";
    snprintf(command, sizeof(command), "rm -r %s", root);
    CHECK(!system(command), "%s", command);
}

/* A convolution of so many channels that what its threads work in is large. */
static enum tdl_result build_deep(struct tdl_graph **out)
{
    enum { DEPTH = 65536, OUT = 16, WIDE = 10 };
    struct rng rng = {9};
    struct tdl_builder *b;
    OK(check_builder(ctx, &b));
    struct tdl_operand *o =
        subject_input(b, "x", subject_image(TDL_LAYOUT_NHWC, 1, WIDE, WIDE, DEPTH));
    o = tdl_builder_conv2d(b, o, subject_filter(b, &rng, OUT, 1, 2, DEPTH), NULL);
    OK(tdl_builder_output(b, "y", o));
    const enum tdl_result r =
        tdl_builder_build(b, &(struct tdl_build_params){.defer_compile = true}, out);
    tdl_builder_destroy(&b);
    return r;
}

/* Scratch memory of the threads counts as values do. */
static void check_refused_scratch(void)
{
    enum { MIB = 1 << 20 };
    struct tdl_graph *g = NULL;
    char root[64] = "", command[80];
    check_begin("more memory for threads than there is");
    OK(build_deep(&g));
    const struct tdl_program *p = g->program;
    uint64_t values = p->arena_size, scratch = p->scratch_bytes;
    for (uint32_t i = 0; i < p->ir->operand_count; i++)
        values += p->ir->operands[i]->external ? p->ir->operands[i]->size : 0;
    const bool threads = tdl_cpu_threads_count(p->threads) > 1; /* XNNPACK takes it for one */
    tdl_graph_destroy(&g);
    if (threads) {
        CHECK(scratch >= 16 * MIB, "%llu bytes: less is not looked at",
              (unsigned long long)scratch);
        have_memory(root, (values + scratch / 2) / MIB);
        const enum tdl_result r = build_deep(&g);
        CHECK(r == TDL_ERROR_OUT_OF_MEMORY && strstr(tdl_last_error(), "the graph needs"),
              "build: %d: %s", (int)r, tdl_last_error());
        tdl_graph_destroy(&g);
        have_memory(root, (values + scratch) / MIB + 1);
        OK(build_deep(&g));
        tdl_graph_destroy(&g);
        tdl_cpu_memory_root = "";
        snprintf(command, sizeof(command), "rm -r %s", root);
        CHECK(!system(command), "%s", command);
    }
}

/* --------------------------------------------------------------------- cancelling */

struct asked {
    uint32_t calls, most;
};

static bool ask(void *data, uint32_t done, uint32_t total)
{
    struct asked *a = data;
    CHECK(!done && !total, "%u of %u", done, total);
    return ++a->calls < a->most;
}

/* Before each step is made, too. */
static void check_asked_in_build(void)
{
    struct asked all = {.most = UINT32_MAX};
    struct tdl_build_params params = {.no_fuse = true, .defer_compile = true};
    params.compile = (struct tdl_compile_params){.progress = ask, .progress_data = &all};
    check_begin("building asks whether to go on");
    struct tdl_graph *g = build_large(LARGE / 64, &params, TDL_OK, NULL);
    CHECK(all.calls >= 4, "%u calls for 4 steps", all.calls);
    tdl_graph_destroy(&g);
    for (uint32_t most = 1; most <= 3; most++) {
        struct asked some = {.most = most};
        params.compile.progress_data = &some;
        g = build_large(LARGE / 64, &params, TDL_ERROR_CANCELED, "cancelled");
        CHECK(!g && some.calls == most, "%u calls instead of %u", some.calls, most);
    }
}

/* Whoever compiles a large graph is asked all along, and may end it at any time. */
static void check_asked(void)
{
    struct asked all = {.most = UINT32_MAX};
    struct tdl_graph *g;
    check_begin("compiling asks whether to go on");
    g = build_large(LARGE, &(struct tdl_build_params){.defer_compile = true}, TDL_OK, NULL);
    const uint64_t parts = g->program->arena_size >> 24; /* parts of 16 MiB */
    CHECK(parts >= 2, "an arena of %llu bytes", (unsigned long long)g->program->arena_size);
    for (uint32_t most = 1; most <= parts; most++) {
        struct asked some = {.most = most};
        FAILS(tdl_graph_compile(g, &(struct tdl_compile_params){.progress = ask,
                                                                .progress_data = &some}),
              TDL_ERROR_CANCELED, "cancelled");
        CHECK(some.calls == most, "%u calls instead of %u", some.calls, most);
    }
    OK(tdl_graph_compile(g, &(struct tdl_compile_params){.progress = ask, .progress_data = &all}));
    CHECK(all.calls > parts, "%u calls for %llu parts", all.calls, (unsigned long long)parts);
    tdl_graph_destroy(&g);
}

enum long_run { WINDOWS, BOXES, KINDS };

/* Runs of minutes: a window of nearly all of the picture at every place; boxes without area,
 * of which none goes, so that all are compared. */
static struct tdl_graph *build_long(enum long_run kind)
{
    enum { WINDOW = 1000, PICTURE = 2000, LISTS = 3000, MOST_BOXES = 4096 };
    const struct tdl_pool2d_params window = {.window = {WINDOW, WINDOW}};
    const struct tdl_tensor_params boxes = {.rank = 3, .shape = {LISTS, MOST_BOXES, 4}};
    struct tdl_builder *b;
    struct tdl_graph *g;
    struct tdl_operand *x, *y;
    OK(check_builder(ctx, &b));
    if (kind == WINDOWS) {
        x = subject_input(b, "x", subject_image(TDL_LAYOUT_NHWC, 1, PICTURE, PICTURE, 1));
        y = tdl_builder_average_pool2d(b, x, &window);
    } else {
        x = tdl_builder_input(b, "x", &boxes);
        y = tdl_builder_non_max_suppression(b, x, 0.5f);
    }
    OK(tdl_builder_output(b, "y", y));
    OK(tdl_builder_build(b, NULL, &g));
    tdl_builder_destroy(&b);
    return g;
}

/* Until all that was submitted but the last is under way. */
static void wait_for_worker(void)
{
    for (bool begun = false; !begun; usleep(1000)) {
        pthread_mutex_lock(&tdl_cpu(ctx)->lock);
        begun = !tdl_cpu(ctx)->first || !tdl_cpu(ctx)->first->next;
        pthread_mutex_unlock(&tdl_cpu(ctx)->lock);
    }
}

static void *abort_batch(void *batch)
{
    wait_for_worker();
    tdl_batch_abort(batch);
    return NULL;
}

static void note_read(void *data, enum tdl_result r)
{
    *(enum tdl_result *)data = r;
}

/* In the midst of an operator, or before it has begun; of that batch alone, with an error
 * for who reads what it should have made. */
static void check_abort(enum long_run kind, bool begun)
{
    struct tdl_graph *g = build_long(kind), *other = build(false);
    struct tdl_binding x, y, u, v;
    struct tdl_batch *batch;
    struct tdl_buffer *copy;
    const size_t size = tdl_tensor_params_size(tdl_graph_output(g, 0, NULL));
    float *values = malloc(size);
    enum tdl_result later = TDL_OK;
    pthread_t thread;
    uint64_t point;
    check_begin("run %d, which is aborted%s", (int)kind, begun ? "" : " before it begins");
    check_bind(ctx, g, &x, &y);
    check_bind(ctx, other, &u, &v);
    OK(tdl_buffer_create(ctx, size, TDL_BUFFER_READBACK, &copy));
    OK(tdl_batch_create(ctx, &batch));
    tdl_batch_abort(batch); /* nothing was submitted */
    OK(tdl_batch_begin(batch));
    OK(tdl_batch_graph(batch, g, &x, 1, &y, 1));
    tdl_batch_abort(batch); /* not submitted */
    OK(tdl_batch_submit(batch, &point));
    OK(tdl_graph_dispatch(other, &u, 1, &v, 1, NULL));
    if (begun) {
        REQUIRE(!pthread_create(&thread, NULL, abort_batch, batch), "no thread");
        OK(tdl_batch_begin(batch)); /* waits */
        pthread_join(thread, NULL);
        tdl_batch_cancel(batch);
    } else {
        tdl_batch_abort(batch);
    }
    OK(tdl_context_wait(ctx, point, TDL_WAIT_FOREVER));
    FAILS(tdl_tensor_read(y.tensor, values, size), TDL_ERROR_CANCELED, "tdl_batch_abort");
    OK(tdl_tensor_read_async(y.tensor, values, size, note_read, &later, NULL));
    OK(tdl_tensor_read(v.tensor, values, VALUES * sizeof(float)));
    /* Work on a refused tensor is refused, too. */
    OK(tdl_batch_begin(batch));
    OK(tdl_batch_tensor_to_buffer(batch, y.tensor, 0, copy, 0, size));
    OK(tdl_batch_submit(batch, NULL));
    FAILS(tdl_buffer_wait(copy, false), TDL_ERROR_CANCELED, "tdl_batch_abort");
    OK(tdl_tensor_write(y.tensor, memset(values, 0, size), size, NULL));
    OK(tdl_tensor_read(y.tensor, values, size));
    OK(tdl_batch_begin(batch));
    OK(tdl_batch_tensor_to_buffer(batch, y.tensor, 0, copy, 0, size));
    OK(tdl_batch_submit(batch, NULL));
    OK(tdl_buffer_wait(copy, false));
    tdl_batch_abort(batch); /* the batch has finished */
    OK(tdl_buffer_wait(copy, false));
    tdl_batch_destroy(&batch);
    tdl_buffer_destroy(&copy);
    check_unbind(&x, &y);
    check_unbind(&u, &v);
    tdl_graph_destroy(&g);
    tdl_graph_destroy(&other);
    OK(tdl_context_sync(ctx));
    for (int i = 0; i < 5000 && later == TDL_OK; i++)
        usleep(1000);
    CHECK(later == TDL_ERROR_CANCELED, "read later: %d", (int)later);
    free(values);
}

/* -------------------------------------------------------------- in spare time */

/* Minutes of operators that take some ms each. */
static struct tdl_graph *build_slow(void)
{
    enum { WINDOW = 31, PICTURE = 256, LAYERS = 2000 };
    const struct tdl_pool2d_params window = {.window = {WINDOW, WINDOW},
                                             .pad = {WINDOW / 2, WINDOW / 2, WINDOW / 2,
                                                     WINDOW / 2}};
    struct tdl_builder *b;
    struct tdl_graph *g;
    OK(check_builder(ctx, &b));
    struct tdl_operand *o =
        subject_input(b, "x", subject_image(TDL_LAYOUT_NHWC, 1, PICTURE, PICTURE, 1));
    for (int i = 0; i < LAYERS; i++)
        o = tdl_builder_average_pool2d(b, o, &window);
    OK(tdl_builder_output(b, "y", o));
    OK(tdl_builder_build(b, NULL, &g));
    tdl_builder_destroy(&b);
    return g;
}

static struct attempt {
    struct tdl_graph *graph;
    struct tdl_binding x, y;
    atomic_bool wanted, ended;
    enum tdl_result result;
} attempt;

static bool is_wanted(void *data, uint32_t done, uint32_t total)
{
    (void)data, (void)done, (void)total;
    return atomic_load(&attempt.wanted);
}

static void *try_it(void *data)
{
    const struct tdl_compile_params params = {.progress = is_wanted};
    uint64_t ns;
    (void)data;
    attempt.result = tdl_graph_try(attempt.graph, &attempt.x, 1, &attempt.y, 1, &params, &ns);
    atomic_store(&attempt.ended, true);
    return NULL;
}

/* A trial takes minutes, and the runs of others finish meanwhile. */
static void check_try_beside(void)
{
    struct tdl_graph *other = build(false);
    struct tdl_binding u, v;
    float values[VALUES];
    pthread_t thread;
    check_begin("batches go by what is tried");
    attempt.graph = build_slow();
    atomic_store(&attempt.wanted, true);
    check_bind(ctx, attempt.graph, &attempt.x, &attempt.y);
    check_bind(ctx, other, &u, &v);
    REQUIRE(!pthread_create(&thread, NULL, try_it, NULL), "no thread");
    for (bool begun = false; !begun; usleep(1000)) {
        pthread_mutex_lock(&tdl_cpu(ctx)->lock);
        begun = tdl_cpu(ctx)->spare != NULL;
        pthread_mutex_unlock(&tdl_cpu(ctx)->lock);
    }
    for (int i = 0; i < 10; i++) {
        OK(tdl_graph_dispatch(other, &u, 1, &v, 1, NULL));
        OK(tdl_tensor_read(v.tensor, values, sizeof(values)));
    }
    CHECK(!atomic_load(&attempt.ended), "they waited for its end");
    atomic_store(&attempt.wanted, false);
    pthread_join(thread, NULL);
    CHECK(attempt.result == TDL_ERROR_CANCELED, "it ended with %d", (int)attempt.result);
    FAILS(tdl_tensor_read_part(attempt.y.tensor, 0, values, sizeof(values)), TDL_ERROR_CANCELED,
          "");
    check_unbind(&attempt.x, &attempt.y);
    check_unbind(&u, &v);
    tdl_graph_destroy(&attempt.graph);
    tdl_graph_destroy(&other);
}

static atomic_bool at_work;

static void *dispatch_on(void *graph)
{
    struct tdl_binding x, y;
    float values[VALUES], first[VALUES];
    check_bind(ctx, graph, &x, &y);
    for (int i = 0; atomic_load(&at_work); i++) {
        OK(tdl_graph_dispatch(graph, &x, 1, &y, 1, NULL));
        OK(tdl_tensor_read(y.tensor, i ? values : first, sizeof(values)));
        CHECK(!i || !memcmp(first, values, sizeof(first)), "a run beside it differs");
    }
    check_unbind(&x, &y);
    return NULL;
}

/* A trial of a graph that is also running: both give the right result. */
static void check_try_at_work(void)
{
    struct tdl_graph *g = build(true);
    struct tdl_binding x, y;
    float pixels[VALUES], values[VALUES], expected[VALUES];
    pthread_t thread;
    uint64_t ns;
    check_begin("a graph is tried and at work");
    check_bind(ctx, g, &x, &y);
    for (int i = 0; i < VALUES; i++)
        pixels[i] = (float)(i % 7) - 3;
    OK(tdl_tensor_write(x.tensor, pixels, sizeof(pixels), NULL));
    OK(tdl_graph_dispatch(g, &x, 1, &y, 1, NULL));
    OK(tdl_tensor_read(y.tensor, expected, sizeof(expected)));
    atomic_store(&at_work, true);
    REQUIRE(!pthread_create(&thread, NULL, dispatch_on, g), "no thread");
    for (int i = 0; i < 500; i++) {
        OK(tdl_graph_try(g, &x, 1, &y, 1, NULL, &ns));
        OK(tdl_tensor_read(y.tensor, values, sizeof(values)));
        CHECK(!memcmp(expected, values, sizeof(expected)), "run %d is another", i);
        CHECK(ns, "it took no time");
    }
    atomic_store(&at_work, false);
    pthread_join(thread, NULL);
    check_unbind(&x, &y);
    tdl_graph_destroy(&g);
}

/* Between operators: runs of XNNPACK's end where they would take long. */
static void check_long_runs(void)
{
    enum { SIDE_OF = 256, DEPTH = 128, LAYERS = 4 };
    struct rng rng = {9};
    struct tdl_graph_stats stats;
    struct tdl_builder *b;
    struct tdl_graph *g;
    check_begin("long runs of XNNPACK's");
    OK(check_builder(ctx, &b));
    struct tdl_operand *o =
        subject_input(b, "x", subject_image(TDL_LAYOUT_NHWC, 1, SIDE_OF, SIDE_OF, DEPTH));
    for (int i = 0; i < LAYERS; i++) /* layers of 1.1 billion multiplications */
        o = tdl_builder_relu(
            b, tdl_builder_conv2d(b, o, subject_filter(b, &rng, DEPTH, 1, 1, DEPTH), NULL));
    OK(tdl_builder_output(b, "y", o));
    OK(tdl_builder_build(b, &(struct tdl_build_params){.defer_compile = true}, &g));
    tdl_graph_get_stats(g, &stats);
    for (uint32_t i = 0; i < stats.steps; i++)
        CHECK(tdl_graph_get_step(g, i)->macs <= 2000000000, "a step of %llu",
              (unsigned long long)tdl_graph_get_step(g, i)->macs);
    tdl_graph_destroy(&g);
    tdl_builder_destroy(&b);
}

int main(void)
{
    OK(tdl_context_create(&(struct tdl_context_params){.device = "cpu", .log = check_log}, &ctx));
    check_chains();
    check_plan(false);
    check_plan(true);
    check_memory();
    check_destruction();
    check_special_values();
    check_lifetimes();
    check_convs();
    check_pools();
    check_turns();
    check_instances();
    check_products();
    check_small_windows();
    check_first_run();
    check_refused();
    check_refused_scratch();
    check_asked();
    check_asked_in_build();
    for (int kind = 0; kind < KINDS; kind++) {
        check_abort((enum long_run)kind, false);
        check_abort((enum long_run)kind, true);
    }
    check_long_runs();
    check_try_beside();
    check_try_at_work();
    check_context_close(ctx);
    return check_result();
}
