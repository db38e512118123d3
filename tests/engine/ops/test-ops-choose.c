/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Operators that choose: topK and nonMaxSuppression, on the device against their plain
 * references, and these against the definitions once more: a sort that keeps the order
 * of equals, and boxes that are crossed out one after the other.
 *
 *     test-ops-choose [cases [seed]]    that many random cases, from that seed on
 */
#include "subject.h"

#include <math.h>
#include <stdlib.h>

/* ------------------------------------------------------------------ references */

static const float *sorted;
static bool smallest_first;

/* In the order that topK promises; NaN is larger than all numbers. */
static int compare(const void *a, const void *b)
{
    const int32_t i = *(const int32_t *)a, j = *(const int32_t *)b;
    const float x = sorted[smallest_first ? i : j], y = sorted[smallest_first ? j : i];
    if (isnan(x) || isnan(y))
        return isnan(x) && isnan(y) ? (i > j) - (i < j) : isnan(x) ? 1 : -1;
    return x < y ? -1 : x > y ? 1 : (i > j) - (i < j);
}

static void expect_sorted(const float *x, uint32_t length, uint32_t count, bool smallest,
                          const int32_t *got)
{
    int32_t *order = malloc(length * sizeof(*order));
    for (uint32_t i = 0; i < length; i++)
        order[i] = (int32_t)i;
    sorted = x;
    smallest_first = smallest;
    qsort(order, length, sizeof(*order), compare);
    for (uint32_t i = 0; i < count; i++)
        CHECK(got[i] == order[i], "place %u has element %d instead of %d", i, got[i], order[i]);
    free(order);
}

static double side(const float *a, const float *b, int i)
{
    const double low =
        fmax(fmin((double)a[i], (double)a[i + 2]), fmin((double)b[i], (double)b[i + 2]));
    const double high =
        fmin(fmax((double)a[i], (double)a[i + 2]), fmax((double)b[i], (double)b[i + 2]));
    return fmax(high - low, 0);
}

static double common_area(const float *a, const float *b)
{
    return side(a, b, 0) * side(a, b, 1);
}

static void expect_greedy(const float *boxes, uint32_t count, double threshold, const int32_t *got)
{
    bool *out = calloc(count, sizeof(*out));
    for (uint32_t i = 0; i < count; i++) {
        const float *a = boxes + 4 * (size_t)i;
        CHECK(got[i] == !out[i], "box %u is %d", i, got[i]);
        for (uint32_t j = i + 1; j < count && !out[i]; j++) {
            const float *b = boxes + 4 * (size_t)j;
            const double both = common_area(a, b);
            const double all = common_area(a, a) + common_area(b, b) - both;
            out[j] = out[j] || (both > 0 && both / all > threshold);
        }
    }
    free(out);
}

/* ----------------------------------------------------------------------- topK */

/* Few values, so that most are there more than once; of floats some special ones. */
static void fill_few(uint32_t index, const struct tdl_tensor_params *desc, struct rng *rng,
                     void *values)
{
    static const float special[] = {0, -0.0f, 1, -1, INFINITY, -INFINITY, NAN, 1e-40f, -3};
    static const uint16_t halves[] = {0, 0x8000, 0x3c00, 0xbc00, 0x7c00, 0xfc00, 0x7e00, 1, 0xc200};
    const size_t size = tdl_dtype_size(desc->dtype);
    (void)index;
    for (size_t i = 0; i < tdl_tensor_params_size(desc) / size; i++) {
        const uint32_t k = rng_below(rng, COUNT(special));
        const int64_t whole = (int64_t)rng_below(rng, 9) - 4;
        if (desc->dtype == TDL_FLOAT32)
            ((float *)values)[i] = special[k];
        else if (desc->dtype == TDL_FLOAT16)
            ((uint16_t *)values)[i] = halves[k];
        else
            memcpy((char *)values + i * size, &whole, size);
    }
}

static void check_top_k(struct tdl_context *ctx, uint64_t seed, struct tdl_tensor_params p,
                        uint32_t axis, uint32_t count)
{
    struct rng rng = {seed};
    struct tdl_builder *b;
    struct subject s;
    struct tdl_top_k_params largest = {count, false}, smallest = {count, true};
    OK(check_builder(ctx, &b));
    struct tdl_operand *x = subject_input(b, "x", p);
    check_begin("seed %llu: topK %u of %s, axis %u", (unsigned long long)seed, count,
                tdl_operand_text(x), axis);
    subject_output(b, tdl_builder_top_k(b, x, axis, &largest));
    subject_output(b, tdl_builder_top_k(b, x, axis, &smallest));
    if (seed % 2)
        subject_open_filled(&s, ctx, b, &rng, fill_few);
    else
        subject_open(&s, ctx, b, &rng);
    if (subject_run(&s, &(struct tdl_build_params){.precision = TDL_PRECISION_FP32}) &&
        p.dtype == TDL_FLOAT32 && axis + 1 == p.rank)
        for (uint32_t row = 0; row < tdl_tensor_params_size(&p) / 4 / p.shape[axis]; row++)
            for (uint32_t i = 0; i < 2; i++)
                expect_sorted((const float *)s.inputs[0] + (size_t)row * p.shape[axis],
                              p.shape[axis], count, i == 1,
                              (const int32_t *)s.plain[i] + (size_t)row * count);
    subject_close(&s);
}

static void check_random_top_k(struct tdl_context *ctx, uint64_t seed, bool wide)
{
    struct rng rng = {seed};
    struct tdl_tensor_params p = {.dtype = subject_dtypes[rng_below(&rng, wide ? 8 : 6)],
                                  .rank = 1 + rng_below(&rng, TDL_MAX_RANK)};
    uint32_t left = 3000, axis = rng_below(&rng, p.rank);
    for (uint32_t i = 0; i < p.rank; i++) {
        const uint32_t size = RNG_PICK(&rng, 1, 2, 3, 5, 17, 33, 700);
        p.shape[i] = size > left ? 1 : size;
        left /= p.shape[i];
    }
    check_top_k(ctx, seed, p, axis, 1 + rng_below(&rng, TDL_MIN(p.shape[axis], 70)));
}

/* ---------------------------------------------------------- nonMaxSuppression */

/* On a grid, so that no overlap is near a threshold. */
static void fill_boxes(uint32_t index, const struct tdl_tensor_params *desc, struct rng *rng,
                       void *values)
{
    float *v = values;
    (void)index;
    for (size_t i = 0; i < tdl_tensor_params_size(desc) / 16; i++, v += 4) {
        v[0] = (float)rng_below(rng, 24);
        v[1] = (float)rng_below(rng, 24);
        v[2] = v[0] + (float)rng_below(rng, 12);
        v[3] = v[1] + (float)rng_below(rng, 12);
        if (rng_one_in(rng, 3)) { /* another diagonal */
            const float x = v[0];
            v[0] = v[2];
            v[2] = x;
        }
    }
}

static void check_suppression(struct tdl_context *ctx, uint64_t seed)
{
    struct rng rng = {seed};
    struct tdl_builder *b;
    struct subject s;
    const uint32_t batch = RNG_PICK(&rng, 1, 1, 2, 5), count = RNG_PICK(&rng, 1, 2, 31, 130, 300);
    /* Between what areas up to 242 can make of it. */
    static const float thresholds[] = {0.10007f, 0.45007f, 0.70007f};
    const float threshold = thresholds[rng_below(&rng, COUNT(thresholds))];
    check_begin("seed %llu: nonMaxSuppression of %u x %u boxes", (unsigned long long)seed, batch,
                count);
    OK(check_builder(ctx, &b));
    struct tdl_operand *x = subject_input(b, "x", SUBJECT_SHAPE(TDL_FLOAT32, batch, count, 4));
    subject_output(b, tdl_builder_non_max_suppression(b, x, threshold));
    subject_open_filled(&s, ctx, b, &rng, fill_boxes);
    if (subject_run(&s, &(struct tdl_build_params){.precision = TDL_PRECISION_FP32}))
        for (uint32_t i = 0; i < batch; i++)
            expect_greedy((const float *)s.inputs[0] + (size_t)i * count * 4, count,
                          (double)threshold, (const int32_t *)s.plain[0] + (size_t)i * count);
    subject_close(&s);
}

/* ------------------------------------------------------------------ errors */

/* The call fails the builder with this text. */
#define REFUSED(part, call)                                                                        \
    do {                                                                                           \
        struct tdl_builder *b;                                                                     \
        OK(check_builder(NULL, &b));                                                          \
        struct tdl_operand *m = subject_input(b, "m", SUBJECT_SHAPE(TDL_FLOAT32, 3, 4));           \
        struct tdl_operand *i = subject_input(b, "i", SUBJECT_SHAPE(TDL_INT8, 3, 4));              \
        struct tdl_operand *v = subject_input(b, "v", SUBJECT_SHAPE(TDL_FLOAT32, 4));              \
        struct tdl_operand *n = subject_input(b, "n", SUBJECT_SHAPE(TDL_FLOAT32, 65537, 4));       \
        (void)m, (void)i, (void)v, (void)n;                                                        \
        CHECK((call) == NULL && tdl_builder_status(b) == TDL_ERROR_INVALID_ARGUMENT &&             \
                  strstr(tdl_builder_error(b), part),                                              \
              "%s: \"%s\" lacks \"%s\"", #call, tdl_builder_error(b), part);                       \
        tdl_builder_destroy(&b);                                                                   \
    } while (0)

static void check_errors(void)
{
    check_begin("errors");
    REFUSED("axis 2", tdl_builder_top_k(b, m, 2, NULL));
    REFUSED("5 elements of float32[3,4] along axis 1; 1 to 4",
            tdl_builder_top_k(b, m, 1, &(struct tdl_top_k_params){.count = 5}));
    REFUSED("boxes are float32", tdl_builder_non_max_suppression(b, i, 0.5f));
    REFUSED("boxes are float32", tdl_builder_non_max_suppression(b, v, 0.5f));
    REFUSED("65537 boxes; choose up to 65536", tdl_builder_non_max_suppression(b, n, 0.5f));
}

int main(int argc, char **argv)
{
    const long random = check_cases(argc, argv, 12);
    uint64_t seed = check_seed(argc, argv, 2);
    check_errors();
    struct tdl_context *ctx = check_context_open();
    const bool wide = tdl_context_device(ctx)->shader_int64;
    if (argc <= 2) { /* several parts, the last one short; once all of a row */
        check_top_k(ctx, 1, SUBJECT_SHAPE(TDL_FLOAT32, 2, 1029), 1, 3);
        check_top_k(ctx, 2, SUBJECT_SHAPE(TDL_FLOAT32, 1, 8400), 1, 100);
        check_top_k(ctx, 3, SUBJECT_SHAPE(TDL_FLOAT16, 1500, 2), 0, 70);
        check_top_k(ctx, 4, SUBJECT_SHAPE(TDL_FLOAT32, 300), 0, 300);
    }
    for (long i = 0; i < random; i++) {
        check_random_top_k(ctx, seed + (uint64_t)i, wide);
        check_suppression(ctx, seed + (uint64_t)i);
    }
    check_context_close(ctx);
    return check_result();
}
