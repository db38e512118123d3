/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Matrices, reductions and moves of linear values on the device against their
 * plain C references: the sizes where kernels go wrong, random shapes of every
 * rank and type, and the errors. Each graph holds several operators on the
 * same inputs.
 *
 *     test-ops-linear [cases [seed]]    that many random cases, from that seed on
 */
#include "subject.h"

static const enum tdl_dtype all_types[] = {TDL_FLOAT32, TDL_FLOAT16, TDL_INT32, TDL_UINT32,
                                           TDL_INT8,    TDL_UINT8,   TDL_INT64, TDL_UINT64};

static struct tdl_tensor_params shape_of(enum tdl_dtype dtype, uint32_t rank, const uint32_t *shape)
{
    struct tdl_tensor_params p = {.dtype = dtype, .rank = rank};
    memcpy(p.shape, shape, rank * sizeof(*shape));
    return p;
}
#define SHAPE(dtype, ...)                                                                          \
    shape_of(dtype, sizeof((uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t), (uint32_t[]){__VA_ARGS__})

static struct tdl_operand *input(struct tdl_builder *b, const char *name,
                                 struct tdl_tensor_params p)
{
    return tdl_builder_input(b, name, &p);
}

static bool is_float(enum tdl_dtype dtype)
{
    return dtype == TDL_FLOAT32 || dtype == TDL_FLOAT16;
}


/* Takes the builder. */
static void run(struct tdl_context *ctx, struct tdl_builder *b, struct rng *rng, bool half)
{
    struct subject s;
    subject_open(&s, ctx, b, rng);
    subject_run(&s, &(struct tdl_build_params){
                        .precision = half ? TDL_PRECISION_FP16 : TDL_PRECISION_FP32});
    subject_close(&s);
}

/* A name for each output of a graph. */
static void output(struct tdl_builder *b, struct tdl_operand *o)
{
    char name[16];
    snprintf(name, sizeof(name), "y%u", tdl_builder_ir(b)->output_count);
    tdl_builder_output(b, name, o);
}

/* ------------------------------------------------------------------ matrices */

struct gemm_case {
    uint32_t m, n, k;
    bool a_transpose, b_transpose;
    uint32_t c_rank, c_rows, c_columns; /* c_rank 3: none */
    float alpha, beta;
    enum tdl_activation activation;
    bool half;
};

static void check_gemm(struct tdl_context *ctx, const struct gemm_case *t, uint64_t seed)
{
    struct rng rng = {seed};
    struct tdl_builder *b;
    enum tdl_dtype dtype = t->half ? TDL_FLOAT16 : TDL_FLOAT32;
    check_begin("seed %llu: gemm %ux%ux%u%s%s c %u:%ux%u alpha %g beta %g activation %d %s",
                (unsigned long long)seed, t->m, t->n, t->k, t->a_transpose ? " aT" : "",
                t->b_transpose ? " bT" : "", t->c_rank, t->c_rows, t->c_columns, (double)t->alpha,
                (double)t->beta, t->activation, tdl_dtype_name(dtype));
    OK(tdl_builder_create(ctx, &b));
    const uint32_t c_shape[] = {t->c_rows, t->c_columns};
    struct tdl_gemm_params p = {
        .alpha = t->alpha,
        .beta = t->beta,
        .a_transpose = t->a_transpose,
        .b_transpose = t->b_transpose,
        .activation = t->activation,
    };
    if (t->c_rank < 3)
        p.c = input(b, "c", shape_of(dtype, t->c_rank, c_shape + 2 - t->c_rank));
    struct tdl_operand *x = input(
        b, "a", t->a_transpose ? SHAPE(dtype, t->k, t->m) : SHAPE(dtype, t->m, t->k));
    struct tdl_operand *y = input(
        b, "b", t->b_transpose ? SHAPE(dtype, t->n, t->k) : SHAPE(dtype, t->k, t->n));
    struct tdl_operand *z = tdl_builder_gemm(b, x, y, &p);
    if (seed % 3 == 0) /* becomes a chain of the kernel's */
        z = tdl_builder_softsign(b, z);
    output(b, z);
    subject_pretend_gpu(ctx, seed % 2);
    run(ctx, b, &rng, false);
}

static const struct gemm_case gemms[] = {
    /* Teams: vectors, long and short. */
    {1, 1, 1, .c_rank = 3},
    {1, 10, 1030, .c_rank = 1, .c_rows = 1, .c_columns = 10},
    {1, 37, 64, .b_transpose = true, .c_rank = 2, .c_rows = 1, .c_columns = 37, .half = true},
    {3, 33, 129, .a_transpose = true, .c_rank = 3, .half = true},
    {65, 1, 300, .c_rank = 2, .c_rows = 65, .c_columns = 1, .beta = -2},
    /* Tiles, ± 1. */
    {8, 8, 16, .c_rank = 0, .alpha = 0.5f},
    {31, 33, 17, .c_rank = 2, .c_rows = 31, .c_columns = 33, .activation = TDL_ACTIVATION_RELU},
    {32, 32, 15, .b_transpose = true, .c_rank = 3},
    {33, 31, 16, .a_transpose = true, .c_rank = 1, .c_rows = 1, .c_columns = 31, .half = true},
    {64, 66, 40, .a_transpose = true, .b_transpose = true, .c_rank = 3, .half = true},
    {129, 70, 5, .c_rank = 2, .c_rows = 1, .c_columns = 1, .activation = TDL_ACTIVATION_SIGMOID},
};

static struct gemm_case random_gemm(struct rng *rng)
{
    struct gemm_case t = {
        .m = RNG_PICK(rng, 1, 2, 7, 8, 9, 30, 35),
        .n = RNG_PICK(rng, 1, 2, 7, 8, 9, 29, 34),
        .k = RNG_PICK(rng, 1, 3, 16, 17, 50),
        .a_transpose = rng_one_in(rng, 2),
        .b_transpose = rng_one_in(rng, 2),
        .c_rank = rng_below(rng, 4),
        .alpha = rng_float(rng, -2, 2),
        .beta = rng_float(rng, -2, 2),
        .activation = rng_below(rng, TDL_ACTIVATION_TANH + 1),
        .half = rng_one_in(rng, 2),
    };
    t.c_rows = rng_one_in(rng, 2) ? 1 : t.m;
    t.c_columns = rng_one_in(rng, 2) ? 1 : t.n;
    return t;
}

/* Batches: all the ways to broadcast, the ranks different. */
static void check_matmul(struct tdl_context *ctx, uint64_t seed)
{
    struct rng rng = {seed};
    struct tdl_builder *b;
    enum tdl_dtype dtype = rng_one_in(&rng, 2) ? TDL_FLOAT16 : TDL_FLOAT32;
    uint32_t rank[2], shape[2][TDL_MAX_RANK];
    const uint32_t m = RNG_PICK(&rng, 1, 5, 8, 17), n = RNG_PICK(&rng, 1, 6, 9, 16);
    const uint32_t k = RNG_PICK(&rng, 1, 4, 19);
    check_begin("seed %llu: matmul", (unsigned long long)seed);
    rank[0] = 2 + rng_below(&rng, 5);
    rank[1] = 2 + rng_below(&rng, 5);
    for (uint32_t i = 0; i < TDL_MAX_RANK - 2; i++) { /* from the right */
        uint32_t size = RNG_PICK(&rng, 1, 2, 3);
        for (int j = 0; j < 2; j++)
            if (i + 2 < rank[j])
                shape[j][rank[j] - 3 - i] = rng_one_in(&rng, 3) ? 1 : size;
    }
    shape[0][rank[0] - 2] = m;
    shape[0][rank[0] - 1] = shape[1][rank[1] - 2] = k;
    shape[1][rank[1] - 1] = n;
    OK(tdl_builder_create(ctx, &b));
    output(b, tdl_builder_matmul(b, input(b, "a", shape_of(dtype, rank[0], shape[0])),
                                 input(b, "b", shape_of(dtype, rank[1], shape[1]))));
    run(ctx, b, &rng, false);
}

/* Enough tiles for a GPU to take its larger ones. */
static void check_many_tiles(struct tdl_context *ctx, enum tdl_dtype dtype)
{
    struct rng rng = {3};
    struct tdl_builder *b;
    check_begin("many tiles, %s", tdl_dtype_name(dtype));
    subject_pretend_gpu(ctx, true);
    OK(tdl_builder_create(ctx, &b));
    output(b, tdl_builder_matmul(b, input(b, "a", SHAPE(dtype, 40, 1, 67, 9)),
                                 input(b, "b", SHAPE(dtype, 2, 9, 18))));
    run(ctx, b, &rng, false);
}

/* ------------------------------------------------- everything along an axis */

static struct tdl_tensor_params random_shape(struct rng *rng, enum tdl_dtype dtype)
{
    struct tdl_tensor_params p = {.dtype = dtype, .rank = 1 + rng_below(rng, TDL_MAX_RANK)};
    uint32_t left = 2000;
    for (uint32_t i = 0; i < p.rank; i++) {
        uint32_t size = RNG_PICK(rng, 1, 2, 3, 4, 5, 7, 17, 33, 130);
        p.shape[i] = size > left ? 1 : size;
        left /= p.shape[i];
    }
    p.layout = rng_one_in(rng, 2) ? TDL_LAYOUT_NCHW : TDL_LAYOUT_NHWC;
    return p;
}

static void add_reductions(struct tdl_builder *b, struct rng *rng, struct tdl_operand *x)
{
    const struct tdl_tensor_params *p = tdl_operand_get_desc(x);
    for (int i = 0; i < 2; i++) {
        struct tdl_reduce_params params = {.keep_dimensions = rng_one_in(rng, 2)};
        enum tdl_reduction reduction = rng_below(rng, TDL_REDUCE_LOG_SUM_EXP + 1);
        if (p->dtype == TDL_INT8 || p->dtype == TDL_UINT8)
            reduction = rng_one_in(rng, 2) ? TDL_REDUCE_MAX : TDL_REDUCE_MIN;
        else if (!is_float(p->dtype))
            reduction = RNG_PICK(rng, TDL_REDUCE_SUM, TDL_REDUCE_MAX, TDL_REDUCE_MIN,
                                 TDL_REDUCE_PRODUCT, TDL_REDUCE_L1, TDL_REDUCE_SUM_SQUARE);
        else if (reduction == TDL_REDUCE_PRODUCT && p->dtype == TDL_FLOAT16)
            reduction = TDL_REDUCE_MEAN; /* products leave the range of halves */
        for (uint32_t axis = p->rank; axis-- > 0;)
            if (rng_one_in(rng, 2))
                params.axes[params.axis_count++] = axis;
        struct tdl_operand *from = x;
        if (reduction == TDL_REDUCE_LOG_SUM) /* of something positive */
            from = tdl_builder_exp(b, x);
        output(b, tdl_builder_reduce(b, from, reduction, &params));
    }
}

static struct tdl_operand *indices_of(struct tdl_builder *b, struct rng *rng,
                                      struct tdl_tensor_params p, bool wide)
{
    p.dtype = RNG_PICK(rng, TDL_INT32, TDL_UINT32, wide ? TDL_INT64 : TDL_INT32);
    return input(b, "indices", p);
}

static void add_moves(struct tdl_builder *b, struct rng *rng, struct tdl_operand *x, bool wide)
{
    struct tdl_tensor_params p = *tdl_operand_get_desc(x), q = p;
    uint32_t permutation[TDL_MAX_RANK], repetitions[TDL_MAX_RANK], axis = rng_below(rng, p.rank);
    for (uint32_t i = 0; i < p.rank; i++) {
        uint32_t j = rng_below(rng, i + 1);
        permutation[i] = permutation[j];
        permutation[j] = i;
        repetitions[i] = RNG_PICK(rng, 1, 1, 2, 3);
    }
    output(b, tdl_builder_transpose(b, x, rng_one_in(rng, 4) ? NULL : permutation));
    output(b, tdl_builder_tile(b, x, repetitions));
    if (p.rank > 1)
        output(b, tdl_builder_triangular(b, x,
                                         &(struct tdl_triangular_params){
                                             .lower = rng_one_in(rng, 2),
                                             .diagonal = (int32_t)rng_below(rng, 12) - 6,
                                         }));
    if (rng_one_in(rng, 2)) {
        q.shape[axis] = RNG_PICK(rng, 1, 2, 5);
        output(b, tdl_builder_gather_elements(b, x, indices_of(b, rng, q, wide), axis));
        return;
    }
    q.rank = rng_below(rng, TDL_MAX_RANK - p.rank + 2);
    for (uint32_t i = 0; i < q.rank; i++)
        q.shape[i] = RNG_PICK(rng, 1, 2, 3);
    output(b, tdl_builder_gather(b, x, indices_of(b, rng, q, wide), axis));
}

static void check_random(struct tdl_context *ctx, uint64_t seed, bool wide)
{
    struct rng rng = {seed};
    struct tdl_builder *b;
    enum tdl_dtype dtype = all_types[seed % (wide ? 8 : 6)];
    struct tdl_tensor_params p = random_shape(&rng, dtype);
    uint32_t axis = rng_below(&rng, p.rank);
    OK(tdl_builder_create(ctx, &b));
    struct tdl_operand *x = input(b, "x", p);
    check_begin("seed %llu: %s layout %d, axis %u", (unsigned long long)seed, tdl_operand_text(x),
                p.layout, axis);
    add_reductions(b, &rng, x);
    add_moves(b, &rng, x, wide);
    struct tdl_arg_min_max_params arg = {.keep_dimensions = rng_one_in(&rng, 2),
                                         .select_last_index = rng_one_in(&rng, 2)};
    output(b, tdl_builder_arg_max(b, x, axis, &arg));
    arg.output_dtype = wide ? TDL_INT64 : TDL_INT32;
    output(b, tdl_builder_arg_min(b, x, axis, &arg));
    if (is_float(dtype))
        output(b, tdl_builder_softmax(b, x, axis));
    if (dtype != TDL_INT8 && dtype != TDL_UINT8)
        output(b, tdl_builder_cumulative_sum(b, x, axis,
                                             &(struct tdl_cumulative_sum_params){
                                                 .exclusive = rng_one_in(&rng, 2),
                                                 .reversed = rng_one_in(&rng, 2),
                                             }));
    run(ctx, b, &rng, false);
}

/* ------------------------------------------- where a team shares the work */

static void check_long(struct tdl_context *ctx, enum tdl_dtype dtype, struct tdl_tensor_params p,
                       uint32_t axis)
{
    struct rng rng = {p.shape[0]};
    struct tdl_builder *b;
    subject_pretend_gpu(ctx, axis == 1 && dtype != TDL_FLOAT32);
    OK(tdl_builder_create(ctx, &b));
    p.dtype = dtype;
    struct tdl_operand *x = input(b, "x", p);
    check_begin("long: %s, axis %u", tdl_operand_text(x), axis);
    struct tdl_reduce_params reduce = {.axes = {axis}, .axis_count = 1};
    output(b, tdl_builder_reduce(b, x, TDL_REDUCE_SUM, &reduce));
    output(b, tdl_builder_reduce(b, x, TDL_REDUCE_MAX, &reduce));
    output(b, tdl_builder_reduce(b, x, TDL_REDUCE_MIN, NULL));
    output(b, tdl_builder_arg_max(b, x, axis, NULL));
    output(b, tdl_builder_arg_min(b, x, axis,
                                  &(struct tdl_arg_min_max_params){.select_last_index = true}));
    output(b, tdl_builder_cumulative_sum(b, x, axis, NULL));
    if (is_float(dtype)) {
        output(b, tdl_builder_softmax(b, x, axis));
        output(b, tdl_builder_reduce(b, x, TDL_REDUCE_LOG_SUM_EXP, &reduce));
    }
    run(ctx, b, &rng, false);
}

static void check_long_rows(struct tdl_context *ctx, bool wide)
{
    static const struct {
        uint32_t outer, length, inner, axis;
    } rows[] = {{1, 1027, 1, 1}, {3, 515, 1, 1}, {2, 260, 3, 1}, {1, 16, 5, 1}, {40, 129, 1, 1}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct tdl_tensor_params p =
            SHAPE(TDL_FLOAT32, rows[i].outer, rows[i].length, rows[i].inner);
        check_long(ctx, TDL_FLOAT32, p, rows[i].axis);
        check_long(ctx, i % 2 ? TDL_FLOAT16 : TDL_INT32, p, rows[i].axis);
    }
    if (wide)
        check_long(ctx, TDL_INT64, SHAPE(TDL_INT64, 2, 300, 2), 1);
}

/* Few long rows, which are reduced by slices, as every reduction. */
static void check_slices(struct tdl_context *ctx, enum tdl_dtype dtype, bool gpu)
{
    struct rng rng = {dtype};
    struct tdl_builder *b;
    check_begin("slices of %s%s", tdl_dtype_name(dtype), gpu ? " as on a GPU" : "");
    subject_pretend_gpu(ctx, gpu);
    OK(tdl_builder_create(ctx, &b));
    struct tdl_operand *x = input(b, "x", SHAPE(dtype, 1, 2, 12289));
    const struct tdl_reduce_params last = {{2}, 1};
    for (uint32_t r = 0; r <= TDL_REDUCE_LOG_SUM_EXP; r++)
        if (r != TDL_REDUCE_PRODUCT && r != TDL_REDUCE_LOG_SUM)
            if (is_float(dtype) || r == TDL_REDUCE_MAX || r == TDL_REDUCE_L1 || r == TDL_REDUCE_SUM)
                output(b, tdl_builder_reduce(b, x, r, &last));
    if (is_float(dtype))
        output(b, tdl_builder_reduce(b, tdl_builder_abs(b, x), TDL_REDUCE_LOG_SUM, &last));
    run(ctx, b, &rng, false);
}

/* Three values only, so that most extremes are found more than once. */
static void fill_few(uint32_t index, const struct tdl_tensor_params *desc, struct rng *rng,
                     void *values)
{
    (void)index;
    for (size_t i = 0; i < tdl_tensor_params_size(desc) / tdl_dtype_size(desc->dtype); i++)
        if (desc->dtype == TDL_FLOAT32)
            ((float *)values)[i] = (float)rng_below(rng, 3);
        else
            ((int8_t *)values)[i] = (int8_t)(rng_below(rng, 3) - 1);
}

static void check_ties(struct tdl_context *ctx)
{
    for (int i = 0; i < 4; i++) {
        struct rng rng = {(uint64_t)i};
        struct tdl_builder *b;
        struct subject s;
        struct tdl_arg_min_max_params last = {.select_last_index = true};
        check_begin("argMin and argMax of equal values, %d", i);
        OK(tdl_builder_create(ctx, &b));
        struct tdl_operand *x =
            input(b, "x", i & 1 ? SHAPE(i & 2 ? TDL_INT8 : TDL_FLOAT32, 3, 300)
                                : SHAPE(i & 2 ? TDL_INT8 : TDL_FLOAT32, 5, 9));
        output(b, tdl_builder_arg_max(b, x, 1, NULL));
        output(b, tdl_builder_arg_min(b, x, 1, NULL));
        output(b, tdl_builder_arg_max(b, x, 1, &last));
        output(b, tdl_builder_arg_min(b, x, 0, &last));
        subject_open_filled(&s, ctx, b, &rng, fill_few);
        subject_run(&s, &(struct tdl_build_params){.precision = TDL_PRECISION_FP32});
        subject_close(&s);
    }
}

/* Matrices large enough for tiles, of each size of element. */
static void check_transposes(struct tdl_context *ctx, bool wide)
{
    static const uint32_t swap[] = {0, 2, 1};
    for (uint32_t i = 0; i < (wide ? 8u : 6u); i++) {
        struct rng rng = {i};
        struct tdl_builder *b;
        check_begin("transposing matrices of %s", tdl_dtype_name(all_types[i]));
        OK(tdl_builder_create(ctx, &b));
        output(b, tdl_builder_transpose(b, input(b, "x", SHAPE(all_types[i], 33, 47)), NULL));
        output(b, tdl_builder_transpose(b, input(b, "z", SHAPE(all_types[i], 3, 16, 17)), swap));
        run(ctx, b, &rng, false);
    }
}

/* --------------------------------------------------------------- in packs */

/* A value that lies in packs: the mean of windows of one pixel. */
static struct tdl_operand *packed(struct tdl_builder *b, struct tdl_operand *x)
{
    return tdl_builder_average_pool2d(b, x, &(struct tdl_pool2d_params){.window = {1, 1}});
}

static void check_packed(struct tdl_context *ctx, uint64_t seed)
{
    struct rng rng = {seed};
    struct tdl_builder *b;
    const bool half = rng_one_in(&rng, 2);
    const enum tdl_layout layout = seed % 2 ? TDL_LAYOUT_NCHW : TDL_LAYOUT_NHWC;
    subject_pretend_gpu(ctx, rng_one_in(&rng, 2));
    struct tdl_tensor_params p =
        subject_image(layout, RNG_PICK(&rng, 1, 2), RNG_PICK(&rng, 1, 3, 9),
                      RNG_PICK(&rng, 1, 5, 14), RNG_PICK(&rng, 1, 2, 3, 4, 5, 17, 21));
    OK(tdl_builder_create(ctx, &b));
    struct tdl_operand *x = packed(b, input(b, "x", p));
    check_begin("seed %llu: in packs, %s layout %d, %s", (unsigned long long)seed,
                tdl_operand_text(x), layout, half ? "fp16" : "fp32");
    for (uint32_t axis = 0; axis < 4; axis++)
        output(b, tdl_builder_softmax(b, x, axis));
    for (int i = 0; i < 4; i++) {
        struct tdl_reduce_params params = {.keep_dimensions = true};
        enum tdl_reduction reduction = rng_below(&rng, TDL_REDUCE_LOG_SUM_EXP + 1);
        for (uint32_t axis = 0; axis < 4; axis++)
            if (rng_one_in(&rng, 2))
                params.axes[params.axis_count++] = axis;
        if (reduction == TDL_REDUCE_LOG_SUM || reduction == TDL_REDUCE_PRODUCT)
            reduction = TDL_REDUCE_L2;
        output(b, tdl_builder_reduce(b, x, reduction, &params));
    }
    /* To the other layout and on, for readers of both storages. */
    const uint32_t to_nchw[] = {0, 3, 1, 2}, to_nhwc[] = {0, 2, 3, 1};
    struct tdl_operand *z =
        tdl_builder_transpose(b, x, layout == TDL_LAYOUT_NCHW ? to_nhwc : to_nchw);
    output(b, tdl_builder_softmax(b, packed(b, z), 3));
    output(b, tdl_builder_gather(b, z, indices_of(b, &rng, SHAPE(TDL_INT32, 2), false), 1));
    output(b, z);
    if (!half) { /* else near values are rounded to equal ones */
        uint32_t axis = layout == TDL_LAYOUT_NCHW ? 1 : 3;
        struct tdl_arg_min_max_params arg = {.keep_dimensions = rng_one_in(&rng, 2)};
        output(b, tdl_builder_arg_max(b, x, axis, &arg));
        output(b, tdl_builder_arg_min(b, x, axis, &arg));
        output(b, tdl_builder_arg_max(b, x, 2, &arg));
    }
    run(ctx, b, &rng, half);
}

/* How many steps of the graph use kernels of that name. Takes the builder. */
static uint32_t count_steps(struct tdl_builder *b, const char *kernel)
{
    const struct tdl_graph_step *s;
    struct tdl_graph *graph;
    uint32_t count = 0;
    OK(tdl_builder_build(b, NULL, &graph));
    for (uint32_t i = 0; (s = tdl_graph_get_step(graph, i)); i++)
        count += !strncmp(s->kernel, kernel, strlen(kernel));
    tdl_graph_destroy(&graph);
    tdl_builder_destroy(&b);
    return count;
}

/* A segmentation head: from packs to the mask without a conversion between. */
static void check_heads(struct tdl_context *ctx)
{
    struct tdl_builder *b;
    check_begin("heads in packs");
    for (uint32_t layout = 0; layout < 2; layout++) {
        struct tdl_tensor_params p = subject_image(layout, 1, 6, 7, 21);
        uint32_t axis = layout == TDL_LAYOUT_NCHW ? 1 : 3, count;
        OK(tdl_builder_create(ctx, &b));
        output(b, tdl_builder_softmax(b, packed(b, input(b, "x", p)), axis));
        count = count_steps(b, "convert");
        CHECK(count == 2, "softmax of packs has %u conversions round it instead of 2", count);
        OK(tdl_builder_create(ctx, &b));
        output(b, tdl_builder_arg_max(b, packed(b, input(b, "x", p)), axis, NULL));
        count = count_steps(b, "convert");
        CHECK(count == 1, "argMax of packs has %u conversions round it instead of 1", count);
        const uint32_t y = layout == TDL_LAYOUT_NCHW ? 2 : 1;
        OK(tdl_builder_create(ctx, &b));
        output(b, tdl_builder_reduce(b, packed(b, input(b, "x", p)), TDL_REDUCE_MEAN,
                                     &(struct tdl_reduce_params){{y, y + 1}, 2}));
        count = count_steps(b, "reduce_packed");
        CHECK(count == 1, "the mean of an image's pixels takes %u steps in packs", count);
    }
}

/* Moves that move nothing take no step. */
static void check_relabels(struct tdl_context *ctx)
{
    static const uint32_t to_nchw[] = {0, 3, 1, 2}, to_nhwc[] = {0, 2, 3, 1};
    struct tdl_builder *b;
    check_begin("moves that move nothing");
    OK(tdl_builder_create(ctx, &b));
    struct tdl_tensor_params p = subject_image(TDL_LAYOUT_NHWC, 1, 5, 6, 7);
    struct tdl_operand *x = tdl_builder_transpose(b, packed(b, input(b, "x", p)), to_nchw);
    struct tdl_operand *v = input(b, "v", SHAPE(TDL_INT32, 1, 9, 1));
    output(b, packed(b, x));
    output(b, tdl_builder_reduce(b, tdl_builder_transpose(b, v, NULL), TDL_REDUCE_SUM, NULL));
    uint32_t count = count_steps(b, "");
    CHECK(count == 5, "%u steps instead of convert, pool, pool, convert and reduce", count);
    OK(tdl_builder_create(ctx, &b));
    x = tdl_builder_transpose(b, packed(b, input(b, "x", p)), to_nchw);
    output(b, tdl_builder_softmax(b, tdl_builder_transpose(b, x, to_nhwc), 3));
    count = count_steps(b, "");
    CHECK(count == 4, "%u steps instead of convert, pool, softmax and convert", count);
    for (uint32_t rows = 8; rows <= 9; rows++) {
        OK(tdl_builder_create(ctx, &b));
        v = tdl_builder_slice(b, input(b, "v", SHAPE(TDL_INT32, 9, 2)),
                              &(struct tdl_slice_params){.size = {rows}});
        output(b, tdl_builder_reduce(b, v, TDL_REDUCE_SUM, NULL));
        count = count_steps(b, "move_linear");
        CHECK(count == 9 - rows, "a slice of %u rows of 9 takes %u steps", rows, count);
    }
}

/* ------------------------------------------------------------------ fusion */

/* relu(matmul(x, transpose(w)) + bias). */
static struct tdl_builder *build_layer(struct tdl_context *ctx)
{
    static const uint32_t swap[] = {0, 1, 3, 2};
    struct tdl_builder *b;
    OK(tdl_builder_create(ctx, &b));
    struct tdl_operand *x = input(b, "x", SHAPE(TDL_FLOAT32, 2, 3, 9, 12));
    struct tdl_operand *w = input(b, "w", SHAPE(TDL_FLOAT32, 1, 1, 10, 12));
    struct tdl_operand *bias = input(b, "bias", SHAPE(TDL_FLOAT32, 1, 1, 1, 10));
    struct tdl_operand *product = tdl_builder_matmul(b, x, tdl_builder_transpose(b, w, swap));
    output(b, tdl_builder_activation(b, tdl_builder_add(b, bias, product), TDL_ACTIVATION_RELU));
    return b;
}

/* One step, and the same result as four. */
static void check_fusion(struct tdl_context *ctx)
{
    uint32_t count = 0;
    for (int fuse = 0; fuse < 2; fuse++) {
        struct rng rng = {7};
        struct subject s;
        check_begin("matmul + transpose + bias + activation%s", fuse ? ", fused" : "");
        subject_open(&s, ctx, build_layer(ctx), &rng);
        subject_run(&s, &(struct tdl_build_params){.no_fuse = !fuse});
        subject_close(&s);
    }
    count = count_steps(build_layer(ctx), "");
    CHECK(count == 1, "a layer takes %u steps instead of 1", count);
}

/* ------------------------------------------------------------------ errors */

/* The call fails the builder with this text. */
#define REFUSED(part, call)                                                                        \
    do {                                                                                           \
        struct tdl_builder *b;                                                                     \
        OK(tdl_builder_create(NULL, &b));                                                          \
        struct tdl_operand *m = input(b, "m", SHAPE(TDL_FLOAT32, 3, 4));                           \
        struct tdl_operand *h = input(b, "h", SHAPE(TDL_FLOAT16, 4, 5));                           \
        struct tdl_operand *i = input(b, "i", SHAPE(TDL_INT8, 2, 3, 4));                           \
        struct tdl_operand *v = input(b, "v", SHAPE(TDL_INT32, 4));                                \
        (void)m, (void)h, (void)i, (void)v;                                                        \
        CHECK((call) == NULL && tdl_builder_status(b) == TDL_ERROR_INVALID_ARGUMENT &&             \
                  strstr(tdl_builder_error(b), part),                                              \
              "%s: \"%s\" lacks \"%s\"", #call, tdl_builder_error(b), part);                       \
        tdl_builder_destroy(&b);                                                                   \
    } while (0)

static void check_errors(void)
{
    static const uint32_t twice[] = {1, 1}, none[] = {0, 1};
    const struct tdl_reduce_params same = {.axes = {1, 1}, .axis_count = 2}, far = {{2}, 1};
    check_begin("errors");
    REFUSED("one type", tdl_builder_gemm(b, m, h, NULL));
    REFUSED("inner dimensions differ (4 and 3)", tdl_builder_gemm(b, m, m, NULL));
    REFUSED("broadcast to [3,3]",
            tdl_builder_gemm(b, m, m, &(struct tdl_gemm_params){.b_transpose = true, .c = m}));
    REFUSED("activation", tdl_builder_gemm(b, m, m, &(struct tdl_gemm_params){.activation = 99}));
    REFUSED("rank 2 or more", tdl_builder_matmul(b, v, v));
    REFUSED("inner dimensions differ", tdl_builder_matmul(b, m, m));
    REFUSED("input 1 is missing", tdl_builder_matmul(b, m, NULL));
    REFUSED("axis 2", tdl_builder_softmax(b, m, 2));
    REFUSED("cast first", tdl_builder_softmax(b, i, 0));
    REFUSED("axis 3", tdl_builder_arg_max(b, i, 3, NULL));
    REFUSED("int32 or int64",
            tdl_builder_arg_min(b, i, 0,
                                &(struct tdl_arg_min_max_params){.output_dtype = TDL_UINT8}));
    REFUSED("does not take int8", tdl_builder_reduce(b, i, TDL_REDUCE_SUM, NULL));
    REFUSED("does not take int32", tdl_builder_reduce(b, v, TDL_REDUCE_MEAN, NULL));
    REFUSED("named twice", tdl_builder_reduce(b, m, TDL_REDUCE_MAX, &same));
    REFUSED("has no axis 2", tdl_builder_reduce(b, m, TDL_REDUCE_MAX, &far));
    REFUSED("no reduction 10", tdl_builder_reduce(b, m, 10, NULL));
    REFUSED("cast first", tdl_builder_cumulative_sum(b, i, 0, NULL));
    REFUSED("each once", tdl_builder_transpose(b, m, twice));
    REFUSED("int32, uint32 or int64", tdl_builder_gather(b, m, m, 0));
    REFUSED("axis 2", tdl_builder_gather(b, m, v, 2));
    REFUSED("same size", tdl_builder_gather_elements(b, m, v, 0));
    REFUSED("rank 2 or more", tdl_builder_triangular(b, v, NULL));
    REFUSED("1 or more", tdl_builder_tile(b, m, none));
    REFUSED("no repetitions", tdl_builder_tile(b, m, NULL));
}

int main(int argc, char **argv)
{
    const char *env = getenv("TDL_TEST_CASES");
    long random = argc > 1 ? atol(argv[1]) : env ? atol(env) : 10;
    uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;
    check_errors();
    struct tdl_context *ctx = check_context_open();
    const bool wide = tdl_context_device(ctx)->shader_int64;
    if (argc <= 2) {
        for (size_t i = 0; i < COUNT(gemms); i++)
            check_gemm(ctx, &gemms[i], i);
        check_many_tiles(ctx, TDL_FLOAT32);
        check_many_tiles(ctx, TDL_FLOAT16);
        check_long_rows(ctx, wide);
        check_slices(ctx, TDL_FLOAT32, true);
        check_slices(ctx, TDL_FLOAT32, false);
        check_slices(ctx, TDL_INT32, true);
        if (wide)
            check_slices(ctx, TDL_UINT64, true);
        check_ties(ctx);
        check_transposes(ctx, wide);
        check_heads(ctx);
        check_relabels(ctx);
        check_fusion(ctx);
    }
    for (long i = 0; i < random; i++, seed++) {
        struct rng rng = {seed};
        struct gemm_case t = random_gemm(&rng);
        check_random(ctx, seed, wide);
        check_gemm(ctx, &t, seed);
        check_matmul(ctx, seed);
        if (seed % 2)
            check_packed(ctx, seed / 2);
    }
    check_context_close(ctx);
    return check_result();
}
