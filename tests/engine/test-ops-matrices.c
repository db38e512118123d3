/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * gemm and matmul on the device against their plain C references: the sizes
 * where kernels go wrong, random ones, and layers that are one dispatch.
 *
 *     test-ops-matrices [cases [seed]]    that many random cases, from that seed on
 */
#include "subject.h"

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
    OK(tdl_builder_create(ctx, &b));
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
    OK(tdl_builder_create(ctx, &b));
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
    OK(tdl_builder_create(ctx, &b));
    struct tdl_operand *x = subject_input(b, "x", SUBJECT_SHAPE(TDL_FLOAT32, 3, 2));
    struct tdl_operand *y = subject_constant(b, 2, (const uint32_t[]){2, n}, values);
    const struct tdl_gemm_params p = {.c = subject_constant(b, c_rank, ones, &values[2])};
    subject_output(b, tdl_builder_gemm(b, x, y, &p));
    subject_check(ctx, b, &rng, false);
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
    }
    check_context_close(ctx);
    return check_result();
}
