/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * softmax(q · kᵀ · scale + mask) · v as exporters write it, in one kernel where there are
 * kernels, and as single operators: both against the references of the graph as it was
 * written. And what looks like it, which stays as it is.
 *
 *     test-ops-attention [cases [seed]]    that many random cases, from that seed on
 */
#include "subject.h"

#include <math.h>

typedef struct tdl_operand *O;

/* How a graph is written. */
struct way {
    uint32_t rank, batches, heads, rows, keys, depth, width;
    bool turned;  /* [batch, row, head, column], and a transposition behind it */
    bool one_key; /* the same k and v for all heads */
    bool out_turned; /* [batch, row, head, column] comes out */
    uint32_t scaling, mask;
    enum tdl_dtype type;
};
enum { BY_NOTHING, BY_PRODUCT, BY_QUOTIENT, BY_LINEAR, BY_ROOTS, SCALINGS };
enum { NO_MASK, MASK_OF_KEYS, MASK_OF_ALL, MASKS };

static bool hides; /* the running case's mask has −∞ */

static void fill(uint32_t index, const struct tdl_tensor_params *desc, struct rng *rng,
                 void *values)
{
    float *list = values;
    subject_fill(desc, rng, values);
    const bool masks = index == 3 && desc->dtype == TDL_FLOAT32;
    for (size_t i = 0; masks && i < tdl_tensor_params_size(desc) / sizeof(float); i++)
        list[i] = !hides || i % 3 == 0 ? list[i] : -INFINITY;
}

static O scalar(struct tdl_builder *b, float value)
{
    return subject_constant(b, 1, (const uint32_t[]){1}, &value);
}

/* A matrix of that size for each batch and head; of rank 3, for each batch. */
static O matrices(struct tdl_builder *b, const struct way *w, const char *name, uint32_t heads,
                  uint32_t rows, uint32_t columns)
{
    if (w->rank == 3)
        return subject_input(b, name, SUBJECT_SHAPE(w->type, w->batches, rows, columns));
    if (!w->turned)
        return subject_input(b, name, SUBJECT_SHAPE(w->type, w->batches, heads, rows, columns));
    O x = subject_input(b, name, SUBJECT_SHAPE(w->type, w->batches, rows, heads, columns));
    return tdl_builder_transpose(b, x, (const uint32_t[]){0, 2, 1, 3});
}

/* k with its last two dimensions swapped, in one transposition. */
static O turned_keys(struct tdl_builder *b, const struct way *w, uint32_t heads)
{
    static const uint32_t swap[] = {0, 2, 1}, all[] = {0, 1, 3, 2}, both[] = {0, 2, 3, 1};
    if (w->rank == 3)
        return tdl_builder_transpose(b, matrices(b, w, "k", heads, w->keys, w->depth), swap);
    struct way plain = *w;
    plain.turned = false;
    if (!w->turned)
        return tdl_builder_transpose(b, matrices(b, &plain, "k", heads, w->keys, w->depth), all);
    O x = subject_input(b, "k", SUBJECT_SHAPE(w->type, w->batches, w->keys, heads, w->depth));
    return tdl_builder_transpose(b, x, both);
}

static O masked(struct tdl_builder *b, const struct way *w, O x)
{
    struct tdl_tensor_params p = SUBJECT_SHAPE(w->type, w->batches, 1, 1, w->keys);
    if (w->mask == NO_MASK)
        return x;
    if (w->rank == 3)
        p = SUBJECT_SHAPE(w->type, 1, 1, w->keys);
    else if (w->mask == MASK_OF_ALL)
        p = SUBJECT_SHAPE(w->type, w->rows, w->keys);
    O mask = subject_input(b, "mask", p);
    return w->mask == MASK_OF_ALL ? tdl_builder_add(b, mask, x) : tdl_builder_add(b, x, mask);
}

static O attention(struct tdl_builder *b, const struct way *w)
{
    const uint32_t heads = w->one_key ? 1 : w->heads;
    const float scale = 1 / sqrtf((float)w->depth);
    O q = matrices(b, w, "q", w->heads, w->rows, w->depth);
    O k = turned_keys(b, w, heads);
    if (w->scaling == BY_ROOTS) { /* of both sides, as PyTorch takes its own operator apart */
        q = tdl_builder_mul(b, q, scalar(b, sqrtf(scale)));
        k = tdl_builder_div(b, k, scalar(b, 1 / sqrtf(scale)));
    }
    O x = tdl_builder_matmul(b, q, k);
    O v = matrices(b, w, "v", heads, w->keys, w->width);
    if (w->scaling == BY_PRODUCT)
        x = tdl_builder_mul(b, scalar(b, scale), x);
    else if (w->scaling == BY_QUOTIENT)
        x = tdl_builder_div(b, x, scalar(b, 1 / scale));
    else if (w->scaling == BY_LINEAR)
        x = tdl_builder_linear(b, x, scale, 0);
    x = tdl_builder_softmax(b, masked(b, w, x), w->rank - 1);
    x = tdl_builder_matmul(b, x, v);
    return w->out_turned ? tdl_builder_transpose(b, x, (const uint32_t[]){0, 2, 1, 3}) : x;
}

static void run_case(struct tdl_context *ctx, uint64_t seed)
{
    struct rng rng = {seed * 7919 + 1};
    struct tdl_builder *b;
    struct subject s;
    struct way w = {
        .rank = RNG_PICK(&rng, 3, 4, 4),
        .batches = RNG_PICK(&rng, 1, 2),
        .heads = RNG_PICK(&rng, 1, 3),
        .rows = RNG_PICK(&rng, 5, 8, 9, 32, 33, 70),
        .keys = RNG_PICK(&rng, 1, 7, 31, 32, 33, 65, 100),
        .depth = RNG_PICK(&rng, 1, 16, 17, 32, 48, 64, 80, 256),
        .width = RNG_PICK(&rng, 1, 8, 16, 33, 64, 256),
        .turned = rng_one_in(&rng, 2),
        .scaling = rng_below(&rng, SCALINGS),
        .mask = rng_below(&rng, MASKS),
    };
    w.one_key = w.rank == 4 && rng_one_in(&rng, 4);
    w.type = (w.scaling == BY_NOTHING || w.scaling == BY_LINEAR) && rng_one_in(&rng, 3)
                 ? TDL_FLOAT16
                 : TDL_FLOAT32;
    w.out_turned = w.rank == 4 && rng_one_in(&rng, 2);
    hides = w.keys > 3 && rng_one_in(&rng, 2);
    OK(check_builder(ctx, &b));
    tdl_builder_ir(b)->whole_attention = true;
    check_begin("seed %llu: %s, rank %u, %u batches, %u heads%s, %ux%u and %ux%u%s%s, scale %u, "
                "mask %u",
                (unsigned long long)seed, tdl_dtype_name(w.type), w.rank, w.batches, w.heads,
                w.one_key ? " of one" : "", w.rows, w.depth, w.keys, w.width,
                w.turned ? ", turned" : "", w.out_turned ? ", then too" : "", w.scaling, w.mask);
    O y = attention(b, &w);
    REQUIRE(y, "%s", tdl_builder_error(b));
    tdl_builder_output(b, "y", y);
    if (subject_has_kernels(ctx)) {
        /* Of fewer rows it does not pay, and halves are for matrix units. */
        const uint32_t kernels = w.rows >= 8 && w.type == TDL_FLOAT32;
        CHECK(subject_steps(b, false, "attention") == kernels, "%u kernels expected", kernels);
        CHECK(!kernels || subject_steps(b, false, "") == 1, "something stays beside it");
        CHECK(subject_steps(b, true, "attention") == 0, "not fused, it is one kernel");
    }
    subject_open_filled(&s, ctx, b, &rng, fill);
    subject_run(&s, &(struct tdl_build_params){.precision = TDL_PRECISION_FP32});
    const double slack = s.slack;
    s.slack = 20 * slack; /* scores are sums of rounded products, and weights their exponentials */
    subject_run(&s, &(struct tdl_build_params){.precision = TDL_PRECISION_FP16});
    s.slack = slack;
    if (seed % 4 == 0)
        subject_run(&s,
                    &(struct tdl_build_params){.precision = TDL_PRECISION_FP32, .no_fuse = true});
    subject_close(&s);
}

/* What stays as it is: weights that others read, a softmax of columns, too few rows, and what
 * does not pay without matrix units. */
static void check_left(struct tdl_context *ctx, uint32_t which)
{
    static const char *const names[] = {"weights are read", "softmax of columns", "few rows",
                                        "few scores"};
    struct tdl_builder *b;
    struct rng rng = {1};
    const uint32_t rows = which == 2 ? 7 : 20;
    check_begin("left alone: %s", names[which]);
    OK(check_builder(ctx, &b));
    tdl_builder_ir(b)->whole_attention = which != 3;
    O q = subject_input(b, "q", SUBJECT_SHAPE(TDL_FLOAT32, 2, rows, 16));
    O k = subject_input(b, "k", SUBJECT_SHAPE(TDL_FLOAT32, 2, 16, 5));
    O v = subject_input(b, "v", SUBJECT_SHAPE(TDL_FLOAT32, 2, 5, 8));
    O weights = tdl_builder_softmax(b, tdl_builder_matmul(b, q, k), which == 1 ? 1 : 2);
    tdl_builder_output(b, "y", tdl_builder_matmul(b, weights, v));
    if (which == 0)
        tdl_builder_output(b, "weights", weights);
    CHECK(subject_steps(b, false, "attention") == 0, "it is one kernel");
    subject_check(ctx, b, &rng, false);
}

int main(int argc, char **argv)
{
    const long cases = check_cases(argc, argv, 4);
    const uint64_t seed = check_seed(argc, argv, 2);
    struct tdl_context *ctx = check_context_open();
    subject_pretend_gpu(ctx, true); /* on software it does not pay */
    for (long i = 0; i < cases; i++)
        run_case(ctx, seed + (uint64_t)i);
    for (uint32_t i = 0; i < 4; i++)
        check_left(ctx, i);
    subject_pretend_gpu(ctx, false);
    check_context_close(ctx);
    return check_result();
}
