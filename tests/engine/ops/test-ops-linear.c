/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reductions, moves and all else along an axis of linear values, on the device
 * against their plain C references: random shapes of every rank and type, rows
 * that a team shares, and the errors. Each graph holds several operators on the
 * same inputs.
 *
 *     test-ops-linear [cases [seed]]    that many random cases, from that seed on
 */
#include "subject.h"

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
        else if (!tdl_is_float(p->dtype))
            reduction = RNG_PICK(rng, TDL_REDUCE_SUM, TDL_REDUCE_MAX, TDL_REDUCE_MIN,
                                 TDL_REDUCE_PRODUCT, TDL_REDUCE_L1, TDL_REDUCE_SUM_SQUARE);
        else if (reduction == TDL_REDUCE_PRODUCT && p->dtype == TDL_FLOAT16)
            reduction = TDL_REDUCE_MEAN; /* products leave the range of halves */
        for (uint32_t axis = p->rank; axis-- > 0;)
            if (rng_one_in(rng, 2))
                params.axes[params.axis_count++] = axis;
        struct tdl_operand *from = x;
        if (reduction == TDL_REDUCE_LOG_SUM) /* logarithms need something positive */
            from = tdl_builder_exp(b, x);
        subject_output(b, tdl_builder_reduce(b, from, reduction, &params));
    }
}

static struct tdl_operand *indices_of(struct tdl_builder *b, struct rng *rng,
                                      struct tdl_tensor_params p, bool wide)
{
    p.dtype = RNG_PICK(rng, TDL_INT32, TDL_UINT32, wide ? TDL_INT64 : TDL_INT32);
    return subject_input(b, "indices", p);
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
    subject_output(b, tdl_builder_transpose(b, x, rng_one_in(rng, 4) ? NULL : permutation));
    subject_output(b, tdl_builder_tile(b, x, repetitions));
    if (p.rank > 1)
        subject_output(b, tdl_builder_triangular(b, x,
                                         &(struct tdl_triangular_params){
                                             .lower = rng_one_in(rng, 2),
                                             .diagonal = (int32_t)rng_below(rng, 12) - 6,
                                         }));
    if (rng_one_in(rng, 2)) {
        q.shape[axis] = RNG_PICK(rng, 1, 2, 5);
        subject_output(b, tdl_builder_gather_elements(b, x, indices_of(b, rng, q, wide), axis));
        return;
    }
    q.rank = rng_below(rng, TDL_MAX_RANK - p.rank + 2);
    for (uint32_t i = 0; i < q.rank; i++)
        q.shape[i] = RNG_PICK(rng, 1, 2, 3);
    subject_output(b, tdl_builder_gather(b, x, indices_of(b, rng, q, wide), axis));
}

static void check_random(struct tdl_context *ctx, uint64_t seed, bool wide)
{
    struct rng rng = {seed};
    struct tdl_builder *b;
    enum tdl_dtype dtype = subject_dtypes[seed % (wide ? 8 : 6)];
    struct tdl_tensor_params p = random_shape(&rng, dtype);
    const enum tdl_layout layout = rng_one_in(&rng, 2) ? TDL_LAYOUT_NCHW : TDL_LAYOUT_NHWC;
    uint32_t axis = rng_below(&rng, p.rank);
    OK(check_builder(ctx, &b));
    tdl_builder_set_input_layout(b, layout);
    struct tdl_operand *x = subject_input(b, "x", p);
    check_begin("seed %llu: %s layout %d, axis %u", (unsigned long long)seed, tdl_operand_text(x),
                layout, axis);
    add_reductions(b, &rng, x);
    add_moves(b, &rng, x, wide);
    struct tdl_arg_min_max_params arg = {.keep_dimensions = rng_one_in(&rng, 2),
                                         .select_last_index = rng_one_in(&rng, 2)};
    subject_output(b, tdl_builder_arg_max(b, x, axis, &arg));
    arg.output_dtype = wide ? TDL_INT64 : TDL_INT32;
    subject_output(b, tdl_builder_arg_min(b, x, axis, &arg));
    if (tdl_is_float(dtype))
        subject_output(b, tdl_builder_softmax(b, x, axis));
    if (dtype != TDL_INT8 && dtype != TDL_UINT8)
        subject_output(b, tdl_builder_cumulative_sum(b, x, axis,
                                             &(struct tdl_cumulative_sum_params){
                                                 .exclusive = rng_one_in(&rng, 2),
                                                 .reversed = rng_one_in(&rng, 2),
                                             }));
    subject_check(ctx, b, &rng, false);
}

/* ------------------------------------------- where a team shares the work */

static void check_long(struct tdl_context *ctx, enum tdl_dtype dtype, struct tdl_tensor_params p,
                       uint32_t axis)
{
    struct rng rng = {p.shape[0]};
    struct tdl_builder *b;
    subject_pretend_gpu(ctx, axis == 1 && dtype != TDL_FLOAT32);
    OK(check_builder(ctx, &b));
    p.dtype = dtype;
    struct tdl_operand *x = subject_input(b, "x", p);
    check_begin("long: %s, axis %u", tdl_operand_text(x), axis);
    struct tdl_reduce_params reduce = {.axes = {axis}, .axis_count = 1};
    subject_output(b, tdl_builder_reduce(b, x, TDL_REDUCE_SUM, &reduce));
    subject_output(b, tdl_builder_reduce(b, x, TDL_REDUCE_MAX, &reduce));
    subject_output(b, tdl_builder_reduce(b, x, TDL_REDUCE_MIN, NULL));
    subject_output(b, tdl_builder_arg_max(b, x, axis, NULL));
    subject_output(b, tdl_builder_arg_min(b, x, axis,
                                  &(struct tdl_arg_min_max_params){.select_last_index = true}));
    subject_output(b, tdl_builder_cumulative_sum(b, x, axis, NULL));
    if (tdl_is_float(dtype)) {
        subject_output(b, tdl_builder_softmax(b, x, axis));
        subject_output(b, tdl_builder_reduce(b, x, TDL_REDUCE_LOG_SUM_EXP, &reduce));
    }
    subject_check(ctx, b, &rng, false);
}

static void check_long_rows(struct tdl_context *ctx, bool wide)
{
    static const struct {
        uint32_t outer, length, inner, axis;
    } rows[] = {{1, 1027, 1, 1}, {3, 515, 1, 1}, {2, 260, 3, 1}, {1, 16, 5, 1}, {40, 129, 1, 1}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct tdl_tensor_params p =
            SUBJECT_SHAPE(TDL_FLOAT32, rows[i].outer, rows[i].length, rows[i].inner);
        check_long(ctx, TDL_FLOAT32, p, rows[i].axis);
        check_long(ctx, i % 2 ? TDL_FLOAT16 : TDL_INT32, p, rows[i].axis);
    }
    if (wide)
        check_long(ctx, TDL_INT64, SUBJECT_SHAPE(TDL_INT64, 2, 300, 2), 1);
}

/* Rows that teams of a GPU keep in registers, and longer ones; with an odd length halves do not
 * end with a word. */
static void check_kept_rows(struct tdl_context *ctx, enum tdl_dtype dtype, uint32_t rows,
                            uint32_t length)
{
    struct rng rng = {length};
    struct tdl_builder *b;
    check_begin("%u rows of %u of %s as on a GPU", rows, length, tdl_dtype_name(dtype));
    subject_pretend_gpu(ctx, true);
    OK(check_builder(ctx, &b));
    struct tdl_operand *x = subject_input(b, "x", SUBJECT_SHAPE(dtype, 1, rows, length));
    struct tdl_layer_normalization_params p = {
        .axes = {2}, .axis_count = 1, .activation = length % 2 ? TDL_ACTIVATION_RELU : 0};
    subject_output(b, tdl_builder_softmax(b, x, 2));
    subject_output(b, tdl_builder_layer_normalization(b, x, &p));
    p.scale = subject_input(b, "scale", SUBJECT_SHAPE(dtype, length));
    p.bias = subject_input(b, "bias", SUBJECT_SHAPE(dtype, length));
    subject_output(b, tdl_builder_layer_normalization(b, x, &p));
    const uint32_t whole = subject_steps(b, false, "normalize_whole_rows");
    const bool halves = dtype == TDL_FLOAT16, fits = length <= (halves ? 8192 : 4096);
    if (subject_has_kernels(ctx))
        CHECK(whole == (fits && (!halves || length % 2 == 0) ? 2 : 0), "%u whole", whole);
    subject_check(ctx, b, &rng, false);
}

static void check_kept(struct tdl_context *ctx)
{
    static const uint32_t lengths[] = {1, 2, 31, 33, 64, 100, 513, 1370, 4097};
    for (size_t i = 0; i < COUNT(lengths); i++) {
        check_kept_rows(ctx, TDL_FLOAT32, 1 + (uint32_t)i, lengths[i]);
        check_kept_rows(ctx, TDL_FLOAT16, 5, lengths[i]);
    }
}

/* Few long rows, which are reduced by slices, as every reduction. */
static void check_slices(struct tdl_context *ctx, enum tdl_dtype dtype, bool gpu)
{
    struct rng rng = {dtype};
    struct tdl_builder *b;
    check_begin("slices of %s%s", tdl_dtype_name(dtype), gpu ? " as on a GPU" : "");
    subject_pretend_gpu(ctx, gpu);
    OK(check_builder(ctx, &b));
    struct tdl_operand *x = subject_input(b, "x", SUBJECT_SHAPE(dtype, 1, 2, 12289));
    const struct tdl_reduce_params last = {{2}, 1};
    for (uint32_t r = 0; r <= TDL_REDUCE_LOG_SUM_EXP; r++)
        if (r != TDL_REDUCE_PRODUCT && r != TDL_REDUCE_LOG_SUM)
            if (tdl_is_float(dtype) || r == TDL_REDUCE_MAX || r == TDL_REDUCE_L1 ||
                r == TDL_REDUCE_SUM)
                subject_output(b, tdl_builder_reduce(b, x, r, &last));
    if (tdl_is_float(dtype))
        subject_output(b, tdl_builder_reduce(b, tdl_builder_abs(b, x), TDL_REDUCE_LOG_SUM, &last));
    subject_check(ctx, b, &rng, false);
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
        OK(check_builder(ctx, &b));
        struct tdl_operand *x =
            subject_input(b, "x", i & 1 ? SUBJECT_SHAPE(i & 2 ? TDL_INT8 : TDL_FLOAT32, 3, 300)
                                : SUBJECT_SHAPE(i & 2 ? TDL_INT8 : TDL_FLOAT32, 5, 9));
        subject_output(b, tdl_builder_arg_max(b, x, 1, NULL));
        subject_output(b, tdl_builder_arg_min(b, x, 1, NULL));
        subject_output(b, tdl_builder_arg_max(b, x, 1, &last));
        subject_output(b, tdl_builder_arg_min(b, x, 0, &last));
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
        check_begin("transposing matrices of %s", tdl_dtype_name(subject_dtypes[i]));
        OK(check_builder(ctx, &b));
        subject_output(
            b, tdl_builder_transpose(
                   b, subject_input(b, "x", SUBJECT_SHAPE(subject_dtypes[i], 33, 47)), NULL));
        subject_output(
            b, tdl_builder_transpose(
                   b, subject_input(b, "z", SUBJECT_SHAPE(subject_dtypes[i], 3, 16, 17)), swap));
        subject_check(ctx, b, &rng, false);
    }
}

/* ------------------------------------------------------------------ errors */

/* The call fails the builder with this text. */
#define REFUSED(part, call)                                                                        \
    do {                                                                                           \
        struct tdl_builder *b;                                                                     \
        OK(check_builder(NULL, &b));                                                          \
        struct tdl_operand *m = subject_input(b, "m", SUBJECT_SHAPE(TDL_FLOAT32, 3, 4));           \
        struct tdl_operand *h = subject_input(b, "h", SUBJECT_SHAPE(TDL_FLOAT16, 4, 5));           \
        struct tdl_operand *i = subject_input(b, "i", SUBJECT_SHAPE(TDL_INT8, 2, 3, 4));           \
        struct tdl_operand *v = subject_input(b, "v", SUBJECT_SHAPE(TDL_INT32, 4));                \
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
    const long random = check_cases(argc, argv, 5);
    uint64_t seed = check_seed(argc, argv, 2);
    check_errors();
    struct tdl_context *ctx = check_context_open();
    const bool wide = tdl_context_device(ctx)->shader_int64;
    if (argc <= 2) {
        check_kept(ctx);
    check_long_rows(ctx, wide);
        check_slices(ctx, TDL_FLOAT32, true);
        check_slices(ctx, TDL_FLOAT32, false);
        check_slices(ctx, TDL_INT32, true);
        if (wide)
            check_slices(ctx, TDL_UINT64, true);
        check_ties(ctx);
        check_transposes(ctx, wide);
    }
    for (long i = 0; i < random; i++)
        check_random(ctx, seed + (uint64_t)i, wide);
    check_context_close(ctx);
    return check_result();
}
