/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One graph, tensors of many sizes: each run computes what a graph does that was built for that
 * size alone. Plans are bounded, and what is queued of one that goes runs to its end; what
 * cannot be made leaves the others as they are.
 */
#include "../../models/onnx-writer.h"
#include "subject.h"

#include <tdl/batch.h>
#include <tdl/models.h>

#include <pthread.h>
#include <unistd.h>

typedef struct tdl_operand *O;

enum { CHANNELS = 8, MOST = 3 * 48 * 48 * CHANNELS, FLOAT = 1 };

static struct tdl_context *ctx;

struct size {
    uint32_t n, h, w;
};
static const struct size first_size = {1, 16, 16};

/* --------------------------------------------------------------------- networks */

static O conv(struct tdl_builder *b, struct rng *rng, O x, uint32_t stride)
{
    O f = subject_filter(b, rng, CHANNELS, 3, 3, CHANNELS), c = subject_bias(b, rng, CHANNELS);
    return tdl_builder_conv2d(b, x, f,
                              &(struct tdl_conv2d_params){.stride = {stride, stride},
                                                          .padding = TDL_PADDING_SAME_UPPER,
                                                          .bias = c,
                                                          .activation = TDL_ACTIVATION_RELU});
}

/* Down, up by a scale, and what was there: of sizes that four divides. */
static void add_network(struct tdl_builder *b, struct size s, bool nchw)
{
    struct rng rng = {11};
    tdl_builder_set_input_layout(b, nchw ? TDL_LAYOUT_NCHW : TDL_LAYOUT_NHWC);
    const enum tdl_layout layout = nchw ? TDL_LAYOUT_NCHW : TDL_LAYOUT_NHWC;
    O x = subject_input(b, "x", subject_image(layout, s.n, s.h, s.w, CHANNELS));
    O down = conv(b, &rng, conv(b, &rng, x, 2), 2);
    O gate = tdl_builder_sigmoid(b, conv(b, &rng, tdl_builder_average_pool2d(b, down, NULL), 1));
    O up = tdl_builder_resample2d(
        b, tdl_builder_mul(b, down, gate),
        &(struct tdl_resample2d_params){.mode = TDL_RESAMPLE_LINEAR, .scale = {4, 4}});
    O both = tdl_builder_concat(b, (O[]){up, x}, 2, nchw ? 1 : 3);
    OK(tdl_builder_output(b, "y", tdl_builder_softmax(b, both, nchw ? 1 : 3)));
}

static struct tdl_builder *open_fixed(struct size s, bool nchw)
{
    struct tdl_builder *b;
    OK(tdl_builder_create(ctx, &b));
    add_network(b, s, nchw);
    return b;
}

static const struct tdl_dynamic_dimension count = {.name = "count", .max = 3},
                                          height = {.name = "height", .min = 8, .max = 48},
                                          width = {.name = "width"};

/* The builder has gone by the time that other sizes come. */
static struct tdl_graph *open_dynamic(const struct tdl_build_params *params, bool nchw)
{
    struct tdl_builder *b = open_fixed(first_size, nchw);
    struct tdl_graph *g;
    OK(tdl_builder_set_dynamic(b, "x", 0, &count));
    OK(tdl_builder_set_dynamic(b, "x", nchw ? 2 : 1, &height));
    OK(tdl_builder_set_dynamic(b, "x", nchw ? 3 : 2, &width));
    OK(tdl_builder_build(b, params, &g));
    tdl_builder_destroy(&b);
    return g;
}

/* ------------------------------------------------------------------------- runs */

static struct tdl_tensor *create(const struct tdl_tensor_params *like)
{
    struct tdl_tensor_params p = *like;
    struct tdl_tensor *t;
    p.usage = TDL_TENSOR_READABLE | TDL_TENSOR_WRITABLE;
    OK(tdl_tensor_create(ctx, &p, &t));
    return t;
}

static struct tdl_tensor_params input_of(const struct tdl_graph *g, struct size s)
{
    struct tdl_tensor_params p = *tdl_graph_input(g, 0, NULL);
    const bool first = p.shape[1] == CHANNELS;
    const uint32_t nchw[] = {s.n, CHANNELS, s.h, s.w}, nhwc[] = {s.n, s.h, s.w, CHANNELS};
    memcpy(p.shape, first ? nchw : nhwc, sizeof(nhwc));
    return p;
}

static struct tdl_input_size size_of(const struct tdl_graph *g, struct size s)
{
    const struct tdl_tensor_params p = input_of(g, s);
    struct tdl_input_size size = {.name = "x"};
    memcpy(size.shape, p.shape, sizeof(size.shape));
    return size;
}

/* A run's tensors, of random numbers. */
struct ends {
    struct tdl_binding in, out;
    size_t bytes;
};

static struct ends ends_open(struct tdl_graph *g, struct size s)
{
    const struct tdl_tensor_params in = input_of(g, s);
    const struct tdl_input_size size = size_of(g, s);
    const size_t bytes = tdl_tensor_params_size(&in);
    float *values = malloc(bytes);
    struct tdl_tensor_params out;
    struct rng rng = {5};
    REQUIRE(values, "out of memory");
    for (size_t i = 0; i < bytes / sizeof(*values); i++)
        values[i] = rng_float(&rng, -1, 1);
    OK(tdl_graph_compute_shapes(g, &size, 1, &out, 1));
    struct ends e = {{"x", create(&in)}, {"y", create(&out)}, tdl_tensor_params_size(&out)};
    OK(tdl_tensor_write(e.in.tensor, values, bytes, NULL));
    free(values);
    return e;
}

static void ends_close(struct ends *e)
{
    tdl_tensor_destroy(&e->in.tensor);
    tdl_tensor_destroy(&e->out.tensor);
}

static enum tdl_result dispatch(struct tdl_graph *g, const struct ends *e)
{
    return tdl_graph_dispatch(g, &e->in, 1, &e->out, 1, NULL);
}

static void *read_output(const struct ends *e)
{
    void *data = malloc(e->bytes);
    REQUIRE(data, "out of memory");
    OK(tdl_tensor_read(e->out.tensor, data, e->bytes));
    return data;
}

/* What a graph of that size alone computes of the same numbers. */
static void check_output(const struct ends *got, struct size s, const struct tdl_build_params *how,
                         bool nchw)
{
    struct tdl_builder *b = open_fixed(s, nchw);
    struct tdl_graph *g;
    OK(tdl_builder_build(b, how, &g));
    struct ends want = ends_open(g, s);
    OK(dispatch(g, &want));
    const struct tdl_tensor_params *a = tdl_tensor_get_params(got->out.tensor),
                                   *w = tdl_tensor_get_params(want.out.tensor);
    void *x = read_output(got), *y = read_output(&want);
    CHECK(a->rank == w->rank && !memcmp(a->shape, w->shape, sizeof(a->shape)) &&
              got->bytes == want.bytes && !memcmp(x, y, want.bytes),
          "%ux%ux%u: other results than of a graph of this size", s.n, s.h, s.w);
    free(x);
    free(y);
    ends_close(&want);
    tdl_graph_destroy(&g);
    tdl_builder_destroy(&b);
}

static void check_run(struct tdl_graph *g, struct size s, const struct tdl_build_params *how,
                      bool nchw)
{
    struct ends e = ends_open(g, s);
    check_begin("dynamic: %ux%ux%u", s.n, s.h, s.w);
    OK(dispatch(g, &e));
    check_output(&e, s, how, nchw);
    ends_close(&e);
}

static struct tdl_plan_stats stats_of(struct tdl_graph *g)
{
    struct tdl_plan_stats stats;
    tdl_graph_get_plan_stats(g, &stats);
    return stats;
}

/* ------------------------------------------------------------------------ sizes */

static const struct size sizes[] = {
    {1, 16, 16}, {1, 24, 12}, {3, 12, 16}, {1, 24, 12}, {1, 16, 16}};

static void check_sizes(void)
{
    static const struct tdl_build_params packs = {.input_packing = TDL_PACKING_C4,
                                                  .output_packing = TDL_PACKING_C4};
    for (int i = 0; i < 3; i++) {
        const struct tdl_build_params *how = i == 2 ? &packs : NULL;
        const bool nchw = i > 0;
        struct tdl_graph *g = open_dynamic(how, nchw);
        for (size_t k = 0; k < COUNT(sizes); k++)
            check_run(g, sizes[k], how, nchw);
        const struct tdl_plan_stats stats = stats_of(g);
        check_begin("dynamic: plans");
        CHECK(stats.plans == 3 && stats.made == 3 && !stats.dropped && !stats.failed &&
                  stats.max_plans == 4 && stats.made_ns,
              "%u plans, %llu made, %llu dropped", stats.plans, (unsigned long long)stats.made,
              (unsigned long long)stats.dropped);
        tdl_graph_destroy(&g);
    }
}

static void check_names(void)
{
    struct tdl_graph *g = open_dynamic(NULL, false);
    const struct tdl_dynamic_dimension *d = tdl_graph_input_dimension(g, 0, 1);
    check_begin("dynamic: names");
    CHECK(d && !strcmp(d->name, "height") && d->min == 8 && d->max == 48, "not as it was said");
    d = tdl_graph_input_dimension(g, 0, 2);
    CHECK(d && !strcmp(d->name, "width") && d->min == 1 && d->max == INT32_MAX, "no defaults");
    CHECK(!tdl_graph_input_dimension(g, 0, 3) && !tdl_graph_input_dimension(g, 1, 0) &&
              !tdl_graph_input_dimension(g, 0, 77),
          "dimensions that are not dynamic");
    tdl_graph_destroy(&g);
}

/* Any bytes as names: what graphs have of them is short, and nothing that a terminal obeys. */
static void check_any_names(uint64_t seed)
{
    enum { ROUNDS = 40, LONGEST = 400 };
    struct rng rng = {seed};
    for (int i = 0; i < ROUNDS; i++) {
        char name[LONGEST + 1] = "";
        struct tdl_dynamic_dimension d = {.name = name, .min = 1 + rng_below(&rng, 20)};
        const uint32_t length = rng_below(&rng, LONGEST);
        struct tdl_builder *b;
        struct tdl_graph *g;
        for (uint32_t k = 0; k < length; k++)
            name[k] = (char)(1 + rng_below(&rng, 255));
        d.max = rng_one_in(&rng, 3) ? 0 : rng_below(&rng, 40);
        const bool right = (!d.max || d.max >= d.min) && d.min <= 4 && (!d.max || d.max >= 4);
        check_begin("dynamic: any name, %u bytes, %u to %u", length, d.min, d.max);
        OK(tdl_builder_create(ctx, &b));
        O x = subject_input(b, "x", SUBJECT_SHAPE(TDL_FLOAT32, 4, 3));
        OK(tdl_builder_output(b, "y", tdl_builder_relu(b, x)));
        CHECK((tdl_builder_set_dynamic(b, "x", 0, &d) == TDL_OK) == right, "%s", tdl_last_error());
        if (right) {
            OK(tdl_builder_build(b, NULL, &g));
            const char *had = tdl_graph_input_dimension(g, 0, 0)->name;
            CHECK(strlen(had) == (length < 200 ? length : 200), "%zu bytes", strlen(had));
            for (const char *c = had; *c; c++)
                CHECK((unsigned char)*c >= 0x20 && *c != 0x7f, "a byte of %d", *c);
            tdl_graph_destroy(&g);
        }
        tdl_builder_destroy(&b);
    }
}

/* ----------------------------------------------------------------------- errors */

static void check_ranges(void)
{
    struct tdl_graph *g = open_dynamic(NULL, false);
    struct ends low = ends_open(g, first_size), high = ends_open(g, first_size);
    struct tdl_tensor_params p = input_of(g, (struct size){1, 52, 16}), out[2];
    const struct tdl_input_size fixed = {.name = "x", .shape = {1, 16, 16, CHANNELS + 1}},
                                stranger = {.name = "z", .shape = {1, 16, 16, CHANNELS}};
    check_begin("dynamic: sizes that are refused");
    tdl_tensor_destroy(&high.in.tensor);
    high.in.tensor = create(&p);
    FAILS(dispatch(g, &high), TDL_ERROR_INVALID_ARGUMENT,
          "dimension 1, \"height\", is 52; the graph takes 8 to 48");
    p.shape[1] = 4;
    tdl_tensor_destroy(&low.in.tensor);
    low.in.tensor = create(&p);
    FAILS(dispatch(g, &low), TDL_ERROR_INVALID_ARGUMENT, "\"height\", is 4; the graph takes 8");
    FAILS(tdl_graph_prepare(g, &fixed, 1, NULL), TDL_ERROR_INVALID_ARGUMENT,
          "dimension 3 is 9; it is fixed, and 8");
    FAILS(tdl_graph_compute_shapes(g, &stranger, 1, out, 1), TDL_ERROR_INVALID_ARGUMENT,
          "no input \"z\"");
    FAILS(tdl_graph_compute_shapes(g, &fixed, 1, out, 2), TDL_ERROR_INVALID_ARGUMENT, "1 outputs");
    /* what an operator says of the size, and what the device has no memory for */
    const struct tdl_input_size odd = size_of(g, (struct size){1, 18, 16}),
                                huge = size_of(g, (struct size){1, 48, 1u << 30});
    FAILS(tdl_graph_prepare(g, &odd, 1, NULL), TDL_ERROR_INVALID_ARGUMENT, "concat");
    FAILS(tdl_graph_compute_shapes(g, &odd, 1, out, 1), TDL_ERROR_INVALID_ARGUMENT, "concat");
    CHECK(tdl_graph_prepare(g, &huge, 1, NULL) != TDL_OK && *tdl_last_error(), "such a plan");
    CHECK(stats_of(g).plans == 1 && stats_of(g).failed == 2, "%u plans, %llu failed",
          stats_of(g).plans, (unsigned long long)stats_of(g).failed);
    ends_close(&low);
    ends_close(&high);
    check_run(g, (struct size){1, 24, 12}, NULL, false); /* and goes on */
    check_run(g, first_size, NULL, false);
    tdl_graph_destroy(&g);
}

/* Dimensions of one name, in two inputs. */
static void check_two(void)
{
    const struct tdl_dynamic_dimension rows = {.name = "rows"};
    struct tdl_tensor_params out;
    struct tdl_builder *b;
    struct tdl_graph *g;
    check_begin("dynamic: two inputs");
    OK(tdl_builder_create(ctx, &b));
    O x = subject_input(b, "x", SUBJECT_SHAPE(TDL_FLOAT32, 4, 3));
    O y = subject_input(b, "y", SUBJECT_SHAPE(TDL_FLOAT32, 4, 3));
    OK(tdl_builder_output(b, "z", tdl_builder_add(b, x, y)));
    OK(tdl_builder_set_dynamic(b, "x", 0, &rows));
    OK(tdl_builder_set_dynamic(b, "y", 0, &rows));
    OK(tdl_builder_build(b, NULL, &g));
    tdl_builder_destroy(&b);
    /* the other one follows by its name */
    const struct tdl_input_size seven[] = {{.name = "y", .shape = {7, 3}},
                                           {.name = "x", .shape = {6, 3}}};
    OK(tdl_graph_compute_shapes(g, seven, 1, &out, 1));
    CHECK(out.rank == 2 && out.shape[0] == 7 && out.shape[1] == 3, "[%u,%u]", out.shape[0],
          out.shape[1]);
    FAILS(tdl_graph_prepare(g, seven, 2, NULL), TDL_ERROR_INVALID_ARGUMENT,
          "one name has one size");
    tdl_graph_destroy(&g);
}

static void check_builders(void)
{
    const struct tdl_dynamic_dimension backwards = {.min = 3, .max = 2}, later = {.min = 17};
    static const struct tdl_build_params one = {.max_plans = 1};
    const char *const texts[] = {"no input \"z\"", "none of number 4", "no sizes from 3 to 2",
                                 "is 16; the graph takes 17"};
    struct tdl_graph *g;
    for (int i = 0; i < 4; i++) {
        struct tdl_builder *b = open_fixed(first_size, false);
        check_begin("dynamic: told wrongly, %d", i);
        FAILS(tdl_builder_set_dynamic(b, i ? "x" : "z", i == 1 ? 4 : 1,
                                      i == 2   ? &backwards
                                      : i == 3 ? &later
                                               : NULL),
              TDL_ERROR_INVALID_ARGUMENT, texts[i]);
        FAILS(tdl_builder_status(b), TDL_ERROR_INVALID_ARGUMENT, texts[i]);
        tdl_builder_destroy(&b);
    }
    check_begin("dynamic: builders that have one size");
    struct tdl_builder *b = open_fixed(first_size, false);
    OK(tdl_builder_set_dynamic(b, "x", 1, &height));
    FAILS(tdl_builder_build(b, &one, &g), TDL_ERROR_INVALID_ARGUMENT, "max_plans is 1");
    tdl_builder_fix_sizes(b);
    FAILS(tdl_builder_build(b, NULL, &g), TDL_ERROR_UNSUPPORTED, "tdl_builder_set_remake");
    tdl_builder_destroy(&b);
    OK(tdl_builder_create(ctx, &b));
    O x = subject_input(b, "x", SUBJECT_SHAPE(TDL_FLOAT32, 4, 3));
    OK(tdl_builder_output(b, "y", tdl_builder_reshape(b, x, 1, (const uint32_t[]){12})));
    OK(tdl_builder_set_dynamic(b, "x", 0, NULL));
    FAILS(tdl_builder_build(b, NULL, &g), TDL_ERROR_UNSUPPORTED, "reshape");
    tdl_builder_destroy(&b);
}

/* ------------------------------------------------------------------------ bounds */

static void check_bound(void)
{
    static const struct tdl_build_params two = {.max_plans = 2};
    static const struct size turns[] = {{1, 16, 12}, {1, 12, 16}};
    struct tdl_graph *g = open_dynamic(&two, false);
    struct tdl_context_stats before, after;
    check_begin("dynamic: two plans at most");
    for (int i = 0; i < 8; i++) {
        struct ends e = ends_open(g, turns[i % 2]);
        OK(dispatch(g, &e));
        free(read_output(&e));
        ends_close(&e);
        OK(tdl_context_sync(ctx));
        tdl_context_get_stats(ctx, i < 2 ? &before : &after);
    }
    const struct tdl_plan_stats stats = stats_of(g);
    CHECK(stats.plans == 2 && stats.made == 9 && stats.dropped == 7,
          "%u plans, %llu made, %llu dropped", stats.plans, (unsigned long long)stats.made,
          (unsigned long long)stats.dropped);
    CHECK(after.memory_bytes <= before.memory_bytes, "%llu bytes more after more plans",
          (unsigned long long)(after.memory_bytes - before.memory_bytes));
    check_run(g, turns[1], NULL, false);
    CHECK(stats_of(g).made == 9, "a plan that was there was made anew");
    tdl_graph_destroy(&g);
}

/* The plan that was used longest ago goes, though made last. */
static void check_oldest(void)
{
    static const struct tdl_build_params three = {.max_plans = 3};
    static const struct size turns[] = {
        {1, 16, 12}, {1, 12, 16}, {1, 16, 12}, {1, 12, 12}, {1, 16, 12}};
    struct tdl_graph *g = open_dynamic(&three, false);
    check_begin("dynamic: the oldest goes");
    for (size_t i = 0; i < COUNT(turns); i++) {
        const struct tdl_input_size size = size_of(g, turns[i]);
        OK(tdl_graph_prepare(g, &size, 1, NULL));
    }
    CHECK(stats_of(g).made == 4 && stats_of(g).dropped == 1, "%llu made, %llu dropped",
          (unsigned long long)stats_of(g).made, (unsigned long long)stats_of(g).dropped);
    tdl_graph_destroy(&g);
}

/* What is in a batch that is not submitted yet runs, though its plan has gone, and the graph. */
static void check_queued(void)
{
    static const struct tdl_build_params two = {.max_plans = 2};
    struct tdl_graph *g = open_dynamic(&two, false);
    struct ends e = ends_open(g, (struct size){1, 24, 12});
    struct tdl_batch *batch;
    check_begin("dynamic: a plan that is queued");
    OK(tdl_batch_create(ctx, &batch));
    OK(tdl_batch_begin(batch));
    OK(tdl_batch_graph(batch, g, &e.in, 1, &e.out, 1));
    check_run(g, (struct size){1, 12, 24}, NULL, false);
    check_run(g, (struct size){1, 12, 16}, NULL, false);
    CHECK(stats_of(g).dropped == 2, "%llu dropped", (unsigned long long)stats_of(g).dropped);
    tdl_graph_destroy(&g);
    OK(tdl_batch_submit(batch, NULL));
    check_output(&e, (struct size){1, 24, 12}, NULL, false);
    tdl_batch_destroy(&batch);
    ends_close(&e);
}

/* The second size costs its arena, and no weights. */
static void check_weights(void)
{
    enum { WIDE = 256 };
    static float w[WIDE * WIDE];
    struct tdl_context_stats before, after;
    struct tdl_graph_stats stats;
    struct rng rng = {7};
    struct tdl_builder *b;
    struct tdl_graph *g;
    if (tdl_context_device(ctx)->type == TDL_DEVICE_CPU) /* XNNPACK packs for itself */
        return;
    check_begin("dynamic: weights");
    for (size_t i = 0; i < COUNT(w); i++)
        w[i] = rng_float(&rng, -1, 1);
    OK(tdl_builder_create(ctx, &b));
    O x = subject_input(b, "x", SUBJECT_SHAPE(TDL_FLOAT32, 4, WIDE));
    O m = subject_constant(b, 2, (const uint32_t[]){WIDE, WIDE}, w);
    OK(tdl_builder_output(b, "y", tdl_builder_matmul(b, x, m)));
    OK(tdl_builder_set_dynamic(b, "x", 0, NULL));
    OK(tdl_builder_build(b, NULL, &g));
    tdl_builder_destroy(&b);
    tdl_graph_get_stats(g, &stats);
    tdl_context_get_stats(ctx, &before);
    OK(tdl_graph_prepare(g, &(struct tdl_input_size){.name = "x", .shape = {5, WIDE}}, 1, NULL));
    OK(tdl_context_sync(ctx));
    tdl_context_get_stats(ctx, &after);
    CHECK(stats.weight_bytes >= sizeof(w) &&
              after.memory_bytes - before.memory_bytes < sizeof(w) / 4,
          "%llu bytes more for a second size, of %zu of weights",
          (unsigned long long)(after.memory_bytes - before.memory_bytes), sizeof(w));
    tdl_graph_destroy(&g);
}

/* ----------------------------------------------------------------------- threads */

static struct tdl_graph *shared;

static void *run_sizes(void *data)
{
    const size_t from = (size_t)(uintptr_t)data;
    for (size_t i = 0; i < COUNT(sizes); i++) {
        struct ends e = ends_open(shared, sizes[(from + i) % COUNT(sizes)]);
        if (dispatch(shared, &e) != TDL_OK)
            check_fail(__FILE__, __LINE__, "%s", tdl_last_error());
        else
            check_output(&e, sizes[(from + i) % COUNT(sizes)], NULL, false);
        ends_close(&e);
    }
    return NULL;
}

static void check_threads(void)
{
    static const struct tdl_build_params two = {.max_plans = 2};
    enum { THREADS = 3 };
    pthread_t threads[THREADS];
    check_begin("dynamic: threads");
    shared = open_dynamic(&two, false);
    for (uintptr_t i = 0; i < THREADS; i++)
        REQUIRE(!pthread_create(&threads[i], NULL, run_sizes, (void *)i), "no thread");
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    CHECK(stats_of(shared).plans <= 2, "%u plans", stats_of(shared).plans);
    tdl_graph_destroy(&shared);
}

static void check_background(void)
{
    static const struct tdl_build_params behind = {.plans_in_background = 1};
    struct tdl_graph *g = open_dynamic(&behind, false);
    const struct size s = {1, 24, 12}, odd = {1, 18, 16};
    const struct tdl_input_size size = size_of(g, s);
    struct ends e = ends_open(g, s);
    struct tdl_tensor_params wrong = input_of(g, odd);
    enum tdl_result r;
    check_begin("dynamic: in the background");
    FAILS(dispatch(g, &e), TDL_ERROR_BUSY, "dispatch again later");
    OK(tdl_graph_prepare(g, &size, 1, NULL)); /* waits for the other thread */
    CHECK(stats_of(g).made == 2, "%llu made", (unsigned long long)stats_of(g).made);
    OK(dispatch(g, &e));
    check_output(&e, s, NULL, false);
    check_run(g, first_size, NULL, false);
    /* why it cannot be made is told to the next who asks */
    struct tdl_binding in = {"x", create(&wrong)};
    while ((r = tdl_graph_dispatch(g, &in, 1, &e.out, 1, NULL)) == TDL_ERROR_BUSY)
        usleep(1000);
    FAILS(r, TDL_ERROR_INVALID_ARGUMENT, "concat");
    tdl_tensor_destroy(&in.tensor);
    OK(dispatch(g, &e));
    /* the graph goes while one is being made */
    wrong = input_of(g, (struct size){1, 12, 24});
    in.tensor = create(&wrong);
    FAILS(tdl_graph_dispatch(g, &in, 1, &e.out, 1, NULL), TDL_ERROR_BUSY, "being made");
    tdl_graph_destroy(&g);
    tdl_tensor_destroy(&in.tensor);
    ends_close(&e);
}

/* ------------------------------------------------------------------- model files */

/* A picture [d0, 3, d1, d2] through a convolution of stride 2, and back to its size, which is
 * computed by the file; its mean over all pixels, as a reshape has them. */
static uint8_t *write_model(size_t *out_size)
{
    static const int64_t three[] = {3, 3}, two[] = {2, 2}, one[] = {1, 1, 1, 1},
                         rows[] = {0, 2, -1}, picture[] = {-2, 3, -3, -4}, last[] = {2};
    float filter[2 * 3 * 3 * 3];
    struct onnx_bytes g = {0}, a = {0};
    struct rng rng = {3};
    for (size_t i = 0; i < COUNT(filter); i++)
        filter[i] = rng_float(&rng, -1, 1);
    onnx_attr_ints(&a, "kernel_shape", three, 2);
    onnx_attr_ints(&a, "strides", two, 2);
    onnx_attr_ints(&a, "pads", one, 4);
    onnx_node(&g, "Conv", "image filter", "half", &a);
    onnx_node(&g, "Shape", "image", "shape", NULL);
    onnx_node(&g, "Slice", "shape from to", "sides", NULL);
    onnx_node(&g, "Shape", "half", "half_shape", NULL);
    onnx_node(&g, "Slice", "half_shape zero from", "front", NULL);
    onnx_attr_int(&a, "axis", 0);
    onnx_node(&g, "Concat", "front sides", "whole", &a);
    onnx_attr_text(&a, "mode", "linear");
    onnx_node(&g, "Resize", "half - - whole", "mask", &a);
    onnx_node(&g, "Reshape", "mask rows", "list", NULL);
    onnx_attr_ints(&a, "axes", last, 1);
    onnx_node(&g, "ReduceMean", "list", "mean", &a);
    onnx_initializer(&g, "filter", FLOAT, 4, (const int64_t[]){2, 3, 3, 3}, filter, sizeof(filter));
    onnx_int64s(&g, "zero", 1, (const int64_t[]){0});
    onnx_int64s(&g, "from", 1, (const int64_t[]){2});
    onnx_int64s(&g, "to", 1, (const int64_t[]){4});
    onnx_int64s(&g, "rows", 3, rows);
    onnx_input(&g, "image", FLOAT, 4, picture);
    onnx_output(&g, "mask");
    onnx_output(&g, "mean");
    return onnx_model(&g, 13, out_size);
}

static uint8_t *model;
static size_t model_size;
static char path[] = "/tmp/tdl-dynamic-XXXXXX";

static void write_file(void)
{
    FILE *file = fopen(path, "wb");
    REQUIRE(file && fwrite(model, 1, model_size, file) == model_size && !fclose(file), "no file");
}

/* From memory, or else from the file. */
static struct tdl_graph *read_model(const struct tdl_model_params *params, bool from_memory)
{
    struct tdl_builder *b;
    struct tdl_graph *g;
    OK(tdl_builder_create(ctx, &b));
    OK(from_memory ? tdl_model_import(b, model, model_size, params)
                   : tdl_model_load(b, path, params));
    OK(tdl_builder_build(b, NULL, &g));
    tdl_builder_destroy(&b);
    return g;
}

static enum tdl_result run_model(struct tdl_graph *g, struct size s, float *out)
{
    enum { OUTPUTS = 2 };
    const struct tdl_input_size size = {.name = "image", .shape = {s.n, 3, s.h, s.w}};
    struct tdl_tensor_params in = *tdl_graph_input(g, 0, NULL), p[OUTPUTS];
    struct tdl_binding image = {"image", NULL}, outputs[OUTPUTS] = {{"mask", NULL}, {"mean", NULL}};
    static float values[MOST];
    struct rng rng = {9};
    memcpy(in.shape, size.shape, sizeof(in.shape));
    const size_t bytes = tdl_tensor_params_size(&in);
    REQUIRE(bytes <= sizeof(values), "too large");
    for (size_t i = 0; i < bytes / sizeof(*values); i++)
        values[i] = rng_float(&rng, -1, 1);
    enum tdl_result r = tdl_graph_compute_shapes(g, &size, 1, p, OUTPUTS);
    if (r != TDL_OK)
        return r;
    image.tensor = create(&in);
    OK(tdl_tensor_write(image.tensor, values, bytes, NULL));
    for (int i = 0; i < OUTPUTS; i++)
        outputs[i].tensor = create(&p[i]);
    r = tdl_graph_dispatch(g, &image, 1, outputs, OUTPUTS, NULL);
    for (int i = 0; i < OUTPUTS; i++) {
        const size_t size_out = tdl_tensor_params_size(&p[i]);
        if (r == TDL_OK)
            OK(tdl_tensor_read(outputs[i].tensor, out, size_out));
        out += size_out / sizeof(*out);
        tdl_tensor_destroy(&outputs[i].tensor);
    }
    tdl_tensor_destroy(&image.tensor);
    return r;
}

static void check_model_size(struct tdl_graph *g, struct size s, bool from_memory)
{
    static float got[MOST], want[MOST];
    const struct tdl_model_dimension dimensions[] = {
        {"d0", s.n, false}, {"d1", s.h, false}, {"d2", s.w, false}};
    struct tdl_graph *fixed = read_model(
        &(struct tdl_model_params){.dimensions = dimensions, .dimension_count = 3}, from_memory);
    const size_t floats = (size_t)s.n * 2 * s.h * s.w + (size_t)s.n * 2;
    check_begin("dynamic: a model of %ux%ux%u", s.n, s.h, s.w);
    memset(got, 0, sizeof(got));
    OK(run_model(g, s, got));
    OK(run_model(fixed, s, want));
    CHECK(!memcmp(got, want, floats * sizeof(*got)) && (got[0] != 0 || got[1] != 0),
          "other results than of the model at this size");
    tdl_graph_destroy(&fixed);
}

static void check_models(void)
{
    static const struct tdl_dynamic_dimension ranges[] = {{.name = "d1", .min = 4, .max = 40},
                                                          {.name = "image:0", .max = 2}};
    static const struct tdl_model_more all = {
        .dynamic = true, .ranges = ranges, .range_count = COUNT(ranges)};
    static const struct size of_model[] = {{1, 20, 12}, {2, 9, 31}, {1, 4, 4}};
    static float out[MOST];
    for (int from_memory = 0; from_memory < 2; from_memory++) {
        struct tdl_graph *g =
            read_model(&(struct tdl_model_params){.more = &all, .size = {16, 16}}, from_memory);
        const struct tdl_dynamic_dimension *d = tdl_graph_input_dimension(g, 0, 2);
        check_begin("dynamic: a model");
        CHECK(d && !strcmp(d->name, "d1") && d->min == 4 && d->max == 40, "d1");
        d = tdl_graph_input_dimension(g, 0, 0);
        CHECK(d && !strcmp(d->name, "d0") && d->max == 2, "d0");
        CHECK(!tdl_graph_input_dimension(g, 0, 1), "channels");
        for (size_t i = 0; i < COUNT(of_model); i++)
            check_model_size(g, of_model[i], from_memory);
        check_begin("dynamic: a model's range");
        FAILS(run_model(g, (struct size){1, 41, 8}, out), TDL_ERROR_INVALID_ARGUMENT,
              "\"d1\", is 41; the graph takes 4 to 40");
        tdl_graph_destroy(&g);
    }
}

/* Only what has a range, which then is its largest at first. Another file in the place of the one
 * that was read is not taken for it. */
static void check_files(void)
{
    static const struct tdl_dynamic_dimension range = {.name = "d2", .min = 3, .max = 24};
    static const struct tdl_model_more more = {.ranges = &range, .range_count = 1};
    static const struct tdl_model_dimension d1 = {"d1", 8, false};
    const struct tdl_model_params params = {.dimensions = &d1, .dimension_count = 1, .more = &more};
    static float out[MOST];
    struct tdl_builder *b;
    struct tdl_graph *g = read_model(&params, false), *none;
    check_begin("dynamic: a file");
    CHECK(tdl_graph_input(g, 0, NULL)->shape[3] == 24 && !tdl_graph_input_dimension(g, 0, 2) &&
              tdl_graph_input_dimension(g, 0, 3),
          "first %u", tdl_graph_input(g, 0, NULL)->shape[3]);
    OK(run_model(g, (struct size){1, 8, 5}, out));
    unlink(path);
    write_file();
    FAILS(run_model(g, (struct size){1, 8, 6}, out), TDL_ERROR_IO, "not the file that it was");
    OK(run_model(g, (struct size){1, 8, 5}, out));
    tdl_graph_destroy(&g);
    /* what is added behind is not in the file */
    OK(tdl_builder_create(ctx, &b));
    OK(tdl_model_load(b, path, &params));
    O x = subject_input(b, "more", SUBJECT_SHAPE(TDL_FLOAT32, 4));
    OK(tdl_builder_output(b, "too", tdl_builder_relu(b, x)));
    FAILS(tdl_builder_build(b, NULL, &none), TDL_ERROR_INVALID_STATE, "were added behind");
    tdl_builder_destroy(&b);
}

/* ---------------------------------------------------------------- one's own maker */

/* A state is half as long as what it stands beside, where nobody says more. */
static enum tdl_result make_state(void *data, struct tdl_builder *b, const struct tdl_input_size *s,
                                  uint32_t inputs)
{
    const uint32_t half = s[1].shape[0] ? s[1].shape[0] : s[0].shape[0] / 2;
    O x = subject_input(b, "x", SUBJECT_SHAPE(TDL_FLOAT32, s[0].shape[0]));
    O state = subject_input(b, "state", SUBJECT_SHAPE(TDL_FLOAT32, half));
    *(uint32_t *)data += inputs;
    return tdl_builder_output(b, "y", tdl_builder_concat(b, (O[]){x, state}, 2, 0));
}

static void check_states(void)
{
    const struct tdl_input_size first[] = {{.name = "x", .shape = {8}},
                                           {.name = "state", .shape = {4}}},
                                other[] = {{.name = "x", .shape = {6}},
                                           {.name = "state", .shape = {1}}};
    struct tdl_tensor_params in[2], out;
    struct tdl_builder *b;
    struct tdl_graph *g;
    uint32_t calls = 0;
    check_begin("dynamic: sizes that follow");
    OK(tdl_builder_create(ctx, &b));
    OK(make_state(&calls, b, first, 2));
    tdl_builder_set_remake(b, make_state, &calls, NULL);
    OK(tdl_builder_set_dynamic(b, "x", 0, NULL));
    OK(tdl_builder_set_dynamic(b, "state", 0, NULL));
    OK(tdl_builder_build(b, NULL, &g));
    tdl_builder_destroy(&b);
    OK(tdl_graph_compute_inputs(g, other, 1, in, 2));
    CHECK(in[0].shape[0] == 6 && in[1].shape[0] == 3, "%u and %u", in[0].shape[0], in[1].shape[0]);
    OK(tdl_graph_compute_shapes(g, other, 1, &out, 1));
    CHECK(out.shape[0] == 9, "%u", out.shape[0]);
    OK(tdl_graph_compute_shapes(g, other, 2, &out, 1));
    CHECK(out.shape[0] == 7, "%u", out.shape[0]);
    OK(tdl_graph_compute_inputs(g, NULL, 0, in, 2));
    CHECK(in[0].shape[0] == 8 && in[1].shape[0] == 4, "%u and %u", in[0].shape[0], in[1].shape[0]);
    FAILS(tdl_graph_compute_inputs(g, other, 1, in, 1), TDL_ERROR_INVALID_ARGUMENT, "2 inputs");
    tdl_graph_destroy(&g);
}

struct maker {
    int released;
    bool wrongly;
};

static void note_release(void *data)
{
    ((struct maker *)data)->released++;
}

static enum tdl_result make(void *data, struct tdl_builder *b, const struct tdl_input_size *s,
                            uint32_t inputs)
{
    const struct maker *m = data;
    if (!s->shape[0]) /* nobody said it, and nothing says it here */
        return TDL_ERROR_INVALID_STATE;
    O x = subject_input(b, s->name, SUBJECT_SHAPE(TDL_FLOAT32, s->shape[0], s->shape[1]));
    CHECK(inputs == 1, "%u inputs", inputs);
    x = tdl_builder_reshape(b, x, 1, (const uint32_t[]){s->shape[0] * s->shape[1]});
    return tdl_builder_output(b, m->wrongly ? "z" : "y", tdl_builder_relu(b, x));
}

static void check_maker(void)
{
    struct maker m = {0};
    const struct tdl_input_size two[] = {{.name = "x", .shape = {2, 6}},
                                         {.name = "x", .shape = {3, 6}}};
    struct tdl_tensor_params out;
    struct tdl_builder *b;
    struct tdl_graph *g;
    check_begin("dynamic: made by a function");
    OK(tdl_builder_create(ctx, &b));
    OK(make(&m, b, &(struct tdl_input_size){.name = "x", .shape = {4, 6}}, 1));
    tdl_builder_set_remake(b, make, &m, note_release);
    OK(tdl_builder_set_dynamic(b, "x", 0, NULL));
    OK(tdl_builder_build(b, NULL, &g));
    tdl_builder_destroy(&b);
    OK(tdl_graph_prepare(g, &two[0], 1, NULL));
    OK(tdl_graph_compute_shapes(g, &two[1], 1, &out, 1));
    CHECK(out.rank == 1 && out.shape[0] == 18, "%u", out.shape[0]);
    m.wrongly = true;
    FAILS(tdl_graph_prepare(g, &two[1], 1, NULL), TDL_ERROR_INVALID_STATE,
          "other inputs or outputs");
    OK(tdl_graph_compute_shapes(g, &two[0], 1, &out, 1)); /* of the plan, which is there */
    CHECK(!m.released, "released while there is a graph");
    tdl_graph_destroy(&g);
    CHECK(m.released == 1, "released %d times", m.released);
}

int main(int argc, char **argv)
{
    const uint64_t seed = check_seed(argc, argv, 1);
    ctx = check_context_open();
    const int fd = mkstemp(path);
    REQUIRE(fd >= 0, "no file");
    close(fd);
    model = write_model(&model_size);
    write_file();
    check_sizes();
    check_names();
    check_any_names(seed);
    check_ranges();
    check_two();
    check_builders();
    check_bound();
    check_oldest();
    check_queued();
    check_weights();
    check_threads();
    check_background();
    check_models();
    check_files();
    check_maker();
    check_states();
    unlink(path);
    free(model);
    check_context_close(ctx);
    return check_result();
}
