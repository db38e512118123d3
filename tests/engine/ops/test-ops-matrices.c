/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * gemm and matmul on the device against their plain C references: the sizes
 * where kernels go wrong, random ones, and layers that are one dispatch.
 *
 *     test-ops-matrices [cases [seed]]    that many random cases, from that seed on
 */
#include "subject.h"

#include <ops/conv/conv.h>

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
    OK(check_builder(ctx, &b));
    const uint32_t c_shape[] = {t->c_rows, t->c_columns};
    struct tdl_gemm_params p = {
        .alpha = t->alpha,
        .beta = t->beta,
        .a_transpose = t->a_transpose,
        .b_transpose = t->b_transpose,
        .activation = t->activation,
    };
    if (t->c_rank < 3)
        p.c = subject_input(b, "c", subject_shape(dtype, t->c_rank, c_shape + 2 - t->c_rank));
    struct tdl_operand *x = subject_input(b, "a",
                                          t->a_transpose ? SUBJECT_SHAPE(dtype, t->k, t->m)
                                                         : SUBJECT_SHAPE(dtype, t->m, t->k));
    struct tdl_operand *y = subject_input(b, "b",
                                          t->b_transpose ? SUBJECT_SHAPE(dtype, t->n, t->k)
                                                         : SUBJECT_SHAPE(dtype, t->k, t->n));
    struct tdl_operand *z = tdl_builder_gemm(b, x, y, &p);
    if (seed % 3 == 0) /* becomes a chain of the kernel's */
        z = tdl_builder_softsign(b, z);
    subject_output(b, z);
    subject_pretend_gpu(ctx, seed % 2);
    subject_check(ctx, b, &rng, false);
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

/* Kernels that tuning chooses from. Those of matrix units come last, and have tests of their
 * own. */
static void check_ways(struct tdl_context *ctx, uint64_t seed)
{
    /* Team, and tiles of two sizes, of which the larger takes 256 invocations. */
    const uint32_t others = tdl_context_device(ctx)->max_workgroup_invocations < 256 ? 2 : 3;
    struct rng rng = {seed};
    const struct gemm_case t = random_gemm(&rng);
    const enum tdl_dtype dtype = t.half ? TDL_FLOAT16 : TDL_FLOAT32;
    const uint32_t a[] = {3, t.m, t.k}, w[] = {t.k, t.n};
    struct tdl_builder *b;
    struct subject s;
    OK(check_builder(ctx, &b));
    subject_output(b, tdl_builder_matmul(b, subject_input(b, "a", subject_shape(dtype, 3, a)),
                                         subject_input(b, "b", subject_shape(dtype, 2, w))));
    subject_open(&s, ctx, b, &rng);
    for (s.candidate = 1; s.candidate <= others; s.candidate++) {
        check_begin("seed %llu: matmul 3x%ux%ux%u %s, way %u", (unsigned long long)seed, t.m, t.k,
                    t.n, tdl_dtype_name(dtype), s.candidate);
        subject_run(&s, &(struct tdl_build_params){.precision = TDL_PRECISION_FP32});
        CHECK(s.more || s.candidate == others, "there are %u ways", s.candidate);
    }
    subject_close(&s);
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
    OK(check_builder(ctx, &b));
    subject_output(
        b, tdl_builder_matmul(b, subject_input(b, "a", subject_shape(dtype, rank[0], shape[0])),
                              subject_input(b, "b", subject_shape(dtype, rank[1], shape[1]))));
    subject_check(ctx, b, &rng, false);
}

/* Enough tiles for a GPU to take its larger ones. */
static void check_many_tiles(struct tdl_context *ctx, enum tdl_dtype dtype)
{
    struct rng rng = {3};
    struct tdl_builder *b;
    check_begin("many tiles, %s", tdl_dtype_name(dtype));
    subject_pretend_gpu(ctx, true);
    OK(check_builder(ctx, &b));
    subject_output(b,
                   tdl_builder_matmul(b, subject_input(b, "a", SUBJECT_SHAPE(dtype, 40, 1, 67, 9)),
                                      subject_input(b, "b", SUBJECT_SHAPE(dtype, 2, 9, 18))));
    subject_check(ctx, b, &rng, false);
}

/* relu(matmul(x, transpose(w)) + bias). */
static struct tdl_builder *build_layer(struct tdl_context *ctx)
{
    static const uint32_t swap[] = {0, 1, 3, 2};
    struct tdl_builder *b;
    OK(check_builder(ctx, &b));
    struct tdl_operand *x = subject_input(b, "x", SUBJECT_SHAPE(TDL_FLOAT32, 2, 3, 9, 12));
    struct tdl_operand *w = subject_input(b, "w", SUBJECT_SHAPE(TDL_FLOAT32, 1, 1, 10, 12));
    struct tdl_operand *bias = subject_input(b, "bias", SUBJECT_SHAPE(TDL_FLOAT32, 1, 1, 1, 10));
    struct tdl_operand *product = tdl_builder_matmul(b, x, tdl_builder_transpose(b, w, swap));
    subject_output(
        b, tdl_builder_activation(b, tdl_builder_add(b, bias, product), TDL_ACTIVATION_RELU));
    return b;
}

/* One kernel, or a product and an activation, and the same result as four steps. */
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
    struct tdl_builder *b = build_layer(ctx);
    count = subject_steps(b, false, "");
    tdl_builder_destroy(&b);
    CHECK(count == (subject_has_kernels(ctx) ? 1 : 2), "a layer takes %u steps", count);
}

/* c of any rank, beside constants: layers of networks, which devices know. */
static void check_constants(struct tdl_context *ctx, uint32_t n, uint32_t c_rank)
{
    static const float values[] = {0.5f, -2, 3, 0.25f};
    static const uint32_t ones[] = {1, 1};
    struct rng rng = {n};
    struct tdl_builder *b;
    check_begin("gemm with constants, n %u, c of rank %u", n, c_rank);
    OK(check_builder(ctx, &b));
    struct tdl_operand *x = subject_input(b, "x", SUBJECT_SHAPE(TDL_FLOAT32, 3, 2));
    struct tdl_operand *y = subject_constant(b, 2, (const uint32_t[]){2, n}, values);
    const struct tdl_gemm_params p = {.c = subject_constant(b, c_rank, ones, &values[2])};
    subject_output(b, tdl_builder_gemm(b, x, y, &p));
    subject_check(ctx, b, &rng, false);
}

/* ------------------------------------------------------------- matrix units */

/* "cooperative:64x64", or another variant that takes so many columns on this device. */
static void pick_units(struct tdl_context *ctx, struct rng *rng, uint32_t columns, char *text,
                       size_t size)
{
    const struct tdl_conv_variant *v;
    bool fits;
    do {
        v = &tdl_conv_cooperative.variants[rng_below(rng, tdl_conv_cooperative.variant_count)];
        /* Each invocation brings as many cells of eight values of b's tile. */
        fits = (v->v[1] == 32 || 2 * columns > v->v[1]) && subject_units_fit(ctx, v) &&
               v->v[1] * v->v[4] / 2 %
                       (v->v[2] * v->v[3] * tdl_context_device(ctx)->subgroup_size) == 0;
    } while (!fits);
    snprintf(text, size, "cooperative:%s", v->name);
}

/* A matrix, or several: halves, or floats that are as halves. */
static struct tdl_operand *matrices(struct tdl_builder *b, const char *name, bool as_floats,
                                    uint32_t rank, const uint32_t *shape)
{
    struct tdl_operand *x = subject_input(b, name, subject_shape(TDL_FLOAT16, rank, shape));
    return as_floats ? tdl_builder_cast(b, x, TDL_FLOAT32) : x;
}

/* For a product of m × n: of rank 0 to 2, broadcast where a size is 1; or none. */
static struct tdl_operand *random_c(struct tdl_builder *b, struct rng *rng, bool as_floats,
                                    uint32_t m, uint32_t n)
{
    const uint32_t rank = rng_below(rng, 4);
    const uint32_t shape[] = {rng_one_in(rng, 2) ? 1 : m, rng_one_in(rng, 2) ? 1 : n};
    return rank < 3 ? matrices(b, "c", as_floats, rank, shape + 2 - rank) : NULL;
}

static void run_units(struct tdl_context *ctx, struct tdl_builder *b, struct rng *rng,
                      const char *algorithm, bool half, uint32_t products)
{
    const struct tdl_build_params params = {
        .precision = half ? TDL_PRECISION_FP16 : TDL_PRECISION_FP32,
        .conv2d_algorithm = algorithm,
        .defer_compile = true,
    };
    struct tdl_build_params run = params;
    const struct tdl_graph_step *step;
    struct tdl_graph *graph;
    struct subject s;
    uint32_t count = 0;
    OK(tdl_builder_build(b, &params, &graph));
    for (uint32_t i = 0; (step = tdl_graph_get_step(graph, i)); i++)
        count += step->choice == TDL_CHOICE_FORCED && !strcmp(step->algorithm, algorithm) &&
                 step->macs > 0; /* steps that only sum up parts do not multiply */
    tdl_graph_destroy(&graph);
    CHECK(count == products, "%u of %u products are on matrix units", count, products);
    run.defer_compile = false;
    subject_open(&s, ctx, b, rng);
    subject_run(&s, &run);
    subject_close(&s);
}

/* Any sizes from a fragment on, to past a tile's end; lines that begin at 16 bytes or not. */
static void check_units_gemm(struct tdl_context *ctx, uint64_t seed)
{
    struct rng rng = {seed};
    const bool floats = rng_one_in(&rng, 3);
    const uint32_t m = RNG_PICK(&rng, 8, 9, 31, 64, 72, 130),
                   n = RNG_PICK(&rng, 8, 10, 33, 64, 140),
                   k = RNG_PICK(&rng, 1, 8, 31, 64, 72, 100);
    char algorithm[64];
    struct tdl_builder *b;
    struct tdl_gemm_params p = {
        .alpha = rng_float(&rng, -2, 2),
        .beta = rng_float(&rng, -2, 2),
        .a_transpose = rng_one_in(&rng, 2),
        .b_transpose = rng_one_in(&rng, 2),
        .activation = rng_below(&rng, TDL_ACTIVATION_TANH + 1),
    };
    pick_units(ctx, &rng, n, algorithm, sizeof(algorithm));
    check_begin("seed %llu: gemm %ux%ux%u%s%s, %s, %s", (unsigned long long)seed, m, n, k,
                p.a_transpose ? " aT" : "", p.b_transpose ? " bT" : "",
                floats ? "float32" : "float16", algorithm);
    OK(check_builder(ctx, &b));
    p.c = random_c(b, &rng, floats, m, n);
    const uint32_t a[] = {p.a_transpose ? k : m, p.a_transpose ? m : k};
    const uint32_t w[] = {p.b_transpose ? n : k, p.b_transpose ? k : n};
    struct tdl_operand *y =
        tdl_builder_gemm(b, matrices(b, "a", floats, 2, a), matrices(b, "b", floats, 2, w), &p);
    subject_output(b, seed % 3 ? y : tdl_builder_softsign(b, y)); /* a chain of the kernel's */
    run_units(ctx, b, &rng, algorithm, floats, 1);
}

/* softmax(q·kᵀ / √width)·v of several heads, which share k and v or not: both products. */
static void check_units_attention(struct tdl_context *ctx, uint64_t seed)
{
    static const uint32_t swap[] = {0, 1, 3, 2};
    struct rng rng = {seed};
    const uint32_t rows = RNG_PICK(&rng, 8, 33, 50), keys = RNG_PICK(&rng, 8, 19, 40),
                   width = RNG_PICK(&rng, 8, 12, 16), heads = rng_one_in(&rng, 2) ? 3 : 1;
    const uint32_t q[] = {2, 3, rows, width}, k[] = {2, heads, keys, width};
    const bool floats = rng_one_in(&rng, 3);
    char algorithm[64];
    struct tdl_builder *b;
    pick_units(ctx, &rng, TDL_MIN(keys, width), algorithm, sizeof(algorithm));
    check_begin("seed %llu: attention of %ux%u, %u keys, %u heads of them, %s, %s",
                (unsigned long long)seed, rows, width, keys, heads, floats ? "float32" : "float16",
                algorithm);
    OK(check_builder(ctx, &b));
    struct tdl_operand *scores =
        tdl_builder_matmul(b, matrices(b, "q", floats, 4, q),
                           tdl_builder_transpose(b, matrices(b, "k", floats, 4, k), swap));
    scores = tdl_builder_linear(b, scores, 0.25f, 0);
    subject_output(b, scores); /* which keeps it from being one kernel */
    subject_output(b, tdl_builder_matmul(b, tdl_builder_softmax(b, scores, 3),
                                         matrices(b, "v", floats, 4, k)));
    run_units(ctx, b, &rng, algorithm, floats, 2);
}

/* Matrices of a whole workgroup: sizes round the tiles', lines that begin anywhere. */
static void check_tensors(struct tdl_context *ctx, uint64_t seed)
{
    const struct tdl_conv_algorithm *row = &tdl_matmul_tensors;
    struct rng rng = {seed};
    const uint32_t m = RNG_PICK(&rng, 8, 31, 64, 65, 128, 257),
                   n = RNG_PICK(&rng, 8, 33, 64, 140, 256, 259),
                   k = RNG_PICK(&rng, 1, 8, 31, 64, 77, 128, 200);
    struct tdl_gemm_params p = {
        .alpha = rng_float(&rng, -2, 2),
        .beta = rng_float(&rng, -2, 2),
        .b_transpose = rng_one_in(&rng, 2),
        .activation = rng_below(&rng, TDL_ACTIVATION_TANH + 1),
    };
    const uint32_t tile = rng_below(&rng, p.b_transpose ? 2 : row->variant_count);
    char algorithm[64];
    struct tdl_builder *b;
    snprintf(algorithm, sizeof(algorithm), "tensors:%s", row->variants[tile].name);
    check_begin("seed %llu: gemm %ux%ux%u%s, %s", (unsigned long long)seed, m, n, k,
                p.b_transpose ? " bT" : "", algorithm);
    OK(check_builder(ctx, &b));
    p.c = random_c(b, &rng, false, m, n);
    const uint32_t w[] = {p.b_transpose ? n : k, p.b_transpose ? k : n};
    struct tdl_operand *y = tdl_builder_gemm(b, matrices(b, "a", false, 2, (uint32_t[]){m, k}),
                                             matrices(b, "b", false, 2, w), &p);
    subject_output(b, seed % 3 ? y : tdl_builder_softsign(b, y)); /* a chain of the kernel's */
    run_units(ctx, b, &rng, algorithm, false, 1);
}

static void check_units(struct tdl_context *ctx, uint64_t seed, long cases)
{
    if (!tdl_context_device(ctx)->cooperative_matrix[0]) {
        fprintf(stderr, "matrix units: not run, as device or build have none\n");
        return;
    }
    for (long i = 0; i < cases; i++, seed++) {
        check_units_gemm(ctx, seed);
        check_units_attention(ctx, seed);
    }
    if (!tdl_context_device(ctx)->workgroup_matrix)
        fprintf(stderr, "matrices of a workgroup: not run, as device or build have none\n");
    for (long i = 0; i < cases && tdl_context_device(ctx)->workgroup_matrix; i++)
        check_tensors(ctx, seed++);
}

int main(int argc, char **argv)
{
    const long random = check_cases(argc, argv, 5);
    uint64_t seed = check_seed(argc, argv, 2);
    struct tdl_context *ctx = check_context_open();
    if (argc <= 2) {
        for (size_t i = 0; i < COUNT(gemms); i++)
            check_gemm(ctx, &gemms[i], i);
        check_many_tiles(ctx, TDL_FLOAT32);
        check_many_tiles(ctx, TDL_FLOAT16);
        check_fusion(ctx);
        for (uint32_t i = 0; i < 6; i++)
            check_constants(ctx, 1 + i % 2, i / 2);
    }
    for (long i = 0; i < random; i++, seed++) {
        struct rng rng = {seed};
        struct gemm_case t = random_gemm(&rng);
        check_gemm(ctx, &t, seed);
        check_matmul(ctx, seed);
        if (subject_has_kernels(ctx) && i % 2 == 0)
            check_ways(ctx, seed);
    }
    check_units(ctx, seed, 2 * random);
    check_context_close(ctx);
    return check_result();
}
