/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Operators that take elements by tuples of indices, or put some there, reverse, and the
 * questions for NaN and infinity: on the device against their plain references, and these
 * against the definitions once more, written out by coordinates.
 *
 *     test-ops-places [cases [seed]]    that many random cases, from that seed on
 */
#include "subject.h"

#include <math.h>

/* ------------------------------------------------------------------ definitions */

struct place {
    uint32_t at[TDL_MAX_RANK];
};

static struct place spread(const struct tdl_tensor_params *p, size_t index)
{
    struct place place = {{0}};
    for (uint32_t d = p->rank; d-- > 0; index /= p->shape[d])
        place.at[d] = (uint32_t)(index % p->shape[d]);
    return place;
}

static size_t index_at(const struct tdl_tensor_params *p, const uint32_t *at)
{
    size_t index = 0;
    for (uint32_t d = 0; d < p->rank; d++)
        index = index * p->shape[d] + at[d];
    return index;
}

static size_t count_of(const struct tdl_tensor_params *p)
{
    return tdl_tensor_params_size(p) / tdl_dtype_size(p->dtype);
}

/* Number `i` of a list, as a coordinate below `size`. */
static uint32_t coordinate(const struct tdl_tensor_params *p, const void *list, size_t i,
                           uint32_t size)
{
    int64_t at = p->dtype == TDL_INT64    ? ((const int64_t *)list)[i]
                 : p->dtype == TDL_UINT32 ? (int64_t)((const uint32_t *)list)[i]
                                          : ((const int32_t *)list)[i];
    at = at < 0 ? at + size : at;
    return at < 0 ? 0 : at >= size ? size - 1 : (uint32_t)at;
}

static double combine(enum tdl_scatter_reduction reduction, double a, double b)
{
    switch (reduction) {
    case TDL_SCATTER_ADD:
        return a + b;
    case TDL_SCATTER_MUL:
        return a * b;
    case TDL_SCATTER_MAX:
        return fmax(a, b);
    case TDL_SCATTER_MIN:
        return fmin(a, b);
    default:
        return b;
    }
}

static void expect_gathered(const struct subject *s, uint32_t batch)
{
    const struct tdl_tensor_params *x = &s->ir->inputs[0]->desc, *t = &s->ir->inputs[1]->desc;
    const struct tdl_tensor_params *out = &s->ir->outputs[0]->desc;
    const uint32_t last = t->rank - 1, tuple = t->shape[last];
    for (size_t i = 0; i < count_of(out); i++) {
        const struct place at = spread(out, i);
        struct place from = at, list = at;
        for (uint32_t d = 0; d < tuple; d++) {
            list.at[last] = d;
            from.at[batch + d] =
                coordinate(t, s->inputs[1], index_at(t, list.at), x->shape[batch + d]);
        }
        for (uint32_t d = batch + tuple; d < x->rank; d++)
            from.at[d] = at.at[last + d - batch - tuple];
        if (!CHECK(((const float *)s->plain[0])[i] ==
                       ((const float *)s->inputs[0])[index_at(x, from.at)],
                   "element %zu was not gathered", i))
            return;
    }
}

/* `axis` is that of scatterElements; scatterND has none. */
static void expect_scattered(const struct subject *s, enum tdl_scatter_reduction reduction,
                             int axis)
{
    const struct tdl_tensor_params *x = &s->ir->inputs[0]->desc, *t = &s->ir->inputs[1]->desc;
    const struct tdl_tensor_params *updates = &s->ir->inputs[2]->desc;
    const size_t count = count_of(x);
    double *want = malloc(count * sizeof(*want));
    REQUIRE(want, "out of memory");
    for (size_t i = 0; i < count; i++)
        want[i] = (double)((const float *)s->inputs[0])[i];
    for (size_t i = 0; i < count_of(updates); i++) {
        const struct place at = spread(updates, i);
        struct place to = at, list = at;
        if (axis >= 0) {
            to.at[axis] = coordinate(t, s->inputs[1], i, x->shape[axis]);
        } else {
            const uint32_t last = t->rank - 1, tuple = t->shape[last];
            for (uint32_t d = 0; d < tuple; d++) {
                list.at[last] = d;
                to.at[d] = coordinate(t, s->inputs[1], index_at(t, list.at), x->shape[d]);
            }
            for (uint32_t d = tuple; d < x->rank; d++)
                to.at[d] = at.at[last + d - tuple];
        }
        double *element = &want[index_at(x, to.at)];
        *element = combine(reduction, *element, (double)((const float *)s->inputs[2])[i]);
    }
    for (size_t i = 0; i < count; i++) {
        const double got = (double)((const float *)s->plain[0])[i];
        if (!CHECK(fabs(got - want[i]) <= 1e-3 + 1e-5 * fabs(want[i]),
                   "element %zu is %g instead of %g", i, got, want[i]))
            break;
    }
    free(want);
}

/* ----------------------------------------------------------------------- cases */

static uint32_t index_range; /* size of the largest dimension that indices count along */

/* Indices that mostly point inside, from both ends; updates near 1, so that products stay
 * in the range of halves. */
static void fill_places(uint32_t index, const struct tdl_tensor_params *desc, struct rng *rng,
                        void *values)
{
    const size_t size = tdl_dtype_size(desc->dtype);
    for (size_t i = 0; i < count_of(desc); i++) {
        const int64_t near = (int64_t)rng_below(rng, 2 * index_range) - index_range;
        const int64_t far = RNG_PICK(rng, 0x7fffffff, 0x80000000u, 0xffffffffu);
        const int64_t whole = index != 1            ? (int64_t)rng_below(rng, 5)
                              : rng_one_in(rng, 20) ? far
                                                    : near;
        const float real = rng_float(rng, 0.5f, 1.5f);
        const uint16_t half = (uint16_t)(0x3800 + rng_below(rng, 0x600));
        if (desc->dtype == TDL_FLOAT32)
            ((float *)values)[i] = real;
        else if (desc->dtype == TDL_FLOAT16)
            ((uint16_t *)values)[i] = half;
        else
            memcpy((char *)values + i * size, &whole, size);
    }
}

static struct tdl_tensor_params random_shape(struct rng *rng, bool wide, uint32_t rank)
{
    struct tdl_tensor_params p = {.dtype = subject_dtypes[rng_below(rng, wide ? 8 : 6)],
                                  .rank = rank};
    uint32_t left = 1500;
    if (rng_one_in(rng, 2))
        p.dtype = TDL_FLOAT32;
    for (uint32_t i = 0; i < p.rank; i++) {
        const uint32_t size = RNG_PICK(rng, 1, 2, 3, 5, 17);
        p.shape[i] = size > left ? 1 : size;
        left /= p.shape[i];
    }
    return p;
}

static enum tdl_dtype random_index(struct rng *rng, bool wide)
{
    return RNG_PICK(rng, TDL_INT32, TDL_UINT32, wide ? TDL_INT64 : TDL_INT32);
}

static const struct tdl_build_params exact = {.precision = TDL_PRECISION_FP32};

static void check_gather_nd(struct tdl_context *ctx, uint64_t seed, bool wide)
{
    struct rng rng = {seed};
    struct tdl_builder *b;
    struct subject s;
    const struct tdl_tensor_params p = random_shape(&rng, wide, 1 + rng_below(&rng, 5));
    struct tdl_tensor_params t = {.dtype = random_index(&rng, wide)};
    const uint32_t batch = rng_below(&rng, p.rank);
    const uint32_t tuple = 1 + rng_below(&rng, p.rank - batch), rest = p.rank - batch - tuple;
    const uint32_t more =
        rng_below(&rng, TDL_MIN(TDL_MAX_RANK - batch - rest, TDL_MAX_RANK - 1 - batch) + 1);
    memcpy(t.shape, p.shape, batch * sizeof(*t.shape));
    for (uint32_t i = 0; i < more; i++)
        t.shape[batch + i] = RNG_PICK(&rng, 1, 2, 4);
    t.shape[batch + more] = tuple;
    t.rank = batch + more + 1;
    index_range = 1;
    for (uint32_t i = 0; i < tuple; i++)
        index_range = TDL_MAX(index_range, p.shape[batch + i]);
    OK(check_builder(ctx, &b));
    struct tdl_operand *x = subject_input(b, "x", p), *indices = subject_input(b, "i", t);
    check_begin("seed %llu: gatherND of %s by %s, %u in step", (unsigned long long)seed,
                tdl_operand_text(x), tdl_operand_text(indices), batch);
    subject_output(b, tdl_builder_gather_nd(b, x, indices, batch));
    subject_open_filled(&s, ctx, b, &rng, fill_places);
    if (subject_run(&s, &exact) && p.dtype == TDL_FLOAT32)
        expect_gathered(&s, batch);
    subject_close(&s);
}

static void check_scatter(struct tdl_context *ctx, uint64_t seed, bool wide, bool elements)
{
    struct rng rng = {seed};
    struct tdl_builder *b;
    struct subject s;
    const struct tdl_tensor_params p = random_shape(&rng, wide, 1 + rng_below(&rng, 5));
    struct tdl_tensor_params t = p, u = p;
    const uint32_t axis = rng_below(&rng, p.rank), tuple = 1 + rng_below(&rng, p.rank);
    const uint32_t more = rng_below(&rng, TDL_MIN(tuple, TDL_MAX_RANK - 1) + 1);
    const struct tdl_scatter_params how = {.reduction = rng_below(&rng, TDL_SCATTER_MIN + 1)};
    t.dtype = random_index(&rng, wide);
    index_range = p.shape[axis];
    if (elements) {
        for (uint32_t i = 0; i < p.rank; i++)
            t.shape[i] = i == axis ? RNG_PICK(&rng, 1, 2, 7) : 1 + rng_below(&rng, p.shape[i]);
        memcpy(u.shape, t.shape, sizeof(u.shape));
    } else {
        for (uint32_t i = 0; i < more; i++)
            u.shape[i] = t.shape[i] = RNG_PICK(&rng, 1, 2, 4);
        t.shape[more] = tuple;
        t.rank = more + 1;
        u.rank = more + p.rank - tuple;
        memcpy(u.shape + more, p.shape + tuple, (p.rank - tuple) * sizeof(*u.shape));
        for (uint32_t i = 0; i < tuple; i++)
            index_range = TDL_MAX(index_range, p.shape[i]);
    }
    OK(check_builder(ctx, &b));
    struct tdl_operand *x = subject_input(b, "x", p), *indices = subject_input(b, "i", t);
    struct tdl_operand *updates = subject_input(b, "u", u);
    check_begin("seed %llu: scatter of %s by %s, reduction %u, axis %d", (unsigned long long)seed,
                tdl_operand_text(x), tdl_operand_text(indices), how.reduction,
                elements ? (int)axis : -1);
    subject_output(b, elements ? tdl_builder_scatter_elements(b, x, indices, updates, axis, &how)
                               : tdl_builder_scatter_nd(b, x, indices, updates, &how));
    subject_open_filled(&s, ctx, b, &rng, fill_places);
    if (subject_run(&s, &exact) && p.dtype == TDL_FLOAT32)
        expect_scattered(&s, how.reduction, elements ? (int)axis : -1);
    subject_close(&s);
}

static void fill_special(uint32_t index, const struct tdl_tensor_params *desc, struct rng *rng,
                         void *values)
{
    static const float special[] = {0, -0.0f, 1, INFINITY, -INFINITY, NAN, -NAN, 3e38f, 1e-40f};
    static const uint16_t halves[] = {0, 0x8000, 1, 0x7c00, 0xfc00, 0x7e00, 0xfe01, 0x7bff, 0x3c00};
    (void)index;
    for (size_t i = 0; i < count_of(desc); i++)
        if (desc->dtype == TDL_FLOAT32)
            ((float *)values)[i] = special[rng_below(rng, COUNT(special))];
        else
            ((uint16_t *)values)[i] = halves[rng_below(rng, COUNT(halves))];
}

static void check_questions(struct tdl_context *ctx, uint64_t seed)
{
    struct rng rng = {seed};
    struct tdl_builder *b;
    struct subject s;
    struct tdl_tensor_params p = random_shape(&rng, false, rng_below(&rng, 6));
    p.dtype = rng_one_in(&rng, 2) ? TDL_FLOAT32 : TDL_FLOAT16;
    OK(check_builder(ctx, &b));
    struct tdl_operand *x = subject_input(b, "x", p);
    check_begin("seed %llu: isNaN and isInfinite of %s", (unsigned long long)seed,
                tdl_operand_text(x));
    subject_output(b, tdl_builder_is_nan(b, x));
    subject_output(b, tdl_builder_is_infinite(b, x));
    subject_open_filled(&s, ctx, b, &rng, fill_special);
    if (subject_run(&s, &exact))
        for (size_t i = 0; i < count_of(&p); i++) {
            const uint32_t bits = p.dtype == TDL_FLOAT32
                                      ? ((const uint32_t *)s.inputs[0])[i] << 1
                                      : (uint32_t)((const uint16_t *)s.inputs[0])[i] << 17;
            const uint32_t infinity = p.dtype == TDL_FLOAT32 ? 0xff000000 : 0xf8000000;
            CHECK(((const uint8_t *)s.plain[0])[i] == (bits > infinity) &&
                      ((const uint8_t *)s.plain[1])[i] == (bits == infinity),
                  "element %zu, %08x: %u, %u", i, bits, ((const uint8_t *)s.plain[0])[i],
                  ((const uint8_t *)s.plain[1])[i]);
        }
    subject_close(&s);
}

static void check_reverse(struct tdl_context *ctx, uint64_t seed, bool wide)
{
    struct rng rng = {seed};
    struct tdl_builder *b;
    struct subject s;
    struct tdl_tensor_params p = random_shape(&rng, wide, rng_below(&rng, TDL_MAX_RANK + 1));
    uint32_t axes[TDL_MAX_RANK], count = 0;
    for (uint32_t i = p.rank; i-- > 0;)
        if (rng_one_in(&rng, 2))
            axes[count++] = i;
    OK(check_builder(ctx, &b));
    struct tdl_operand *x = subject_input(b, "x", p);
    check_begin("seed %llu: reverse of %s along %u axes", (unsigned long long)seed,
                tdl_operand_text(x), count);
    subject_output(b, tdl_builder_reverse(b, x, count, axes));
    subject_open(&s, ctx, b, &rng);
    if (subject_run(&s, &exact) && p.dtype == TDL_FLOAT32)
        for (size_t i = 0; i < count_of(&p); i++) {
            struct place at = spread(&p, i);
            for (uint32_t d = 0; d < (count ? count : p.rank); d++) {
                const uint32_t axis = count ? axes[d] : d;
                at.at[axis] = p.shape[axis] - 1 - at.at[axis];
            }
            CHECK(((const float *)s.plain[0])[i] ==
                      ((const float *)s.inputs[0])[index_at(&p, at.at)],
                  "element %zu is from elsewhere", i);
        }
    subject_close(&s);
}

/* ---------------------------------------------------------------------- errors */

/* The call fails the builder with this text. */
#define REFUSED(part, call)                                                                        \
    do {                                                                                           \
        struct tdl_builder *b;                                                                     \
        OK(check_builder(NULL, &b));                                                          \
        struct tdl_operand *m = subject_input(b, "m", SUBJECT_SHAPE(TDL_FLOAT32, 3, 4));           \
        struct tdl_operand *i = subject_input(b, "i", SUBJECT_SHAPE(TDL_INT32, 3, 4));             \
        struct tdl_operand *t = subject_input(b, "t", SUBJECT_SHAPE(TDL_INT32, 5, 2));             \
        struct tdl_operand *u = subject_input(b, "u", SUBJECT_SHAPE(TDL_FLOAT32, 5));              \
        struct tdl_operand *w =                                                                    \
            subject_input(b, "w", SUBJECT_SHAPE(TDL_INT32, 1u << 15, 1u << 15, 2, 2, 2, 1));       \
        (void)m, (void)i, (void)t, (void)u, (void)w;                                               \
        CHECK((call) == NULL && tdl_builder_status(b) == TDL_ERROR_INVALID_ARGUMENT &&             \
                  strstr(tdl_builder_error(b), part),                                              \
              "%s: \"%s\" lacks \"%s\"", #call, tdl_builder_error(b), part);                       \
        tdl_builder_destroy(&b);                                                                   \
    } while (0)

static void check_errors(void)
{
    static const uint32_t twice[] = {1, 1}, far[] = {2};
    const struct tdl_scatter_params unknown = {.reduction = 5};
    check_begin("errors");
    REFUSED("tuples in their last dimension", tdl_builder_gather_nd(b, m, i, 0));
    REFUSED("tuples in their last dimension", tdl_builder_gather_nd(b, m, m, 0));
    REFUSED("0 dimensions in step", tdl_builder_gather_nd(b, u, t, 0));
    REFUSED("2 dimensions in step", tdl_builder_gather_nd(b, m, t, 2));
    REFUSED("4294967295 dimensions in step", tdl_builder_gather_nd(b, m, t, UINT32_MAX));
    REFUSED("dimensions, 6 at most", tdl_builder_gather_nd(b, w, w, 0));
    REFUSED("there is no reduction 5", tdl_builder_scatter_nd(b, m, t, u, &unknown));
    REFUSED("the others of both", tdl_builder_scatter_nd(b, m, t, m, NULL));
    REFUSED("the others of both", tdl_builder_scatter_nd(b, m, i, u, NULL));
    REFUSED("the input's data type", tdl_builder_scatter_nd(b, i, t, u, NULL));
    REFUSED("indices are int32, uint32 or int64",
            tdl_builder_scatter_elements(b, m, m, m, 0, NULL));
    REFUSED("axis 2", tdl_builder_scatter_elements(b, m, i, m, 2, NULL));
    REFUSED("the shape of the indices", tdl_builder_scatter_elements(b, m, t, m, 0, NULL));
    REFUSED("the shape of the indices", tdl_builder_scatter_elements(b, u, i, m, 0, NULL));
    REFUSED("axis 1 of", tdl_builder_reverse(b, m, 2, twice));
    REFUSED("axis 2 of", tdl_builder_reverse(b, m, 1, far));
    REFUSED("list of axes is missing", tdl_builder_reverse(b, m, 1, NULL));
    REFUSED("isNaN takes float32 and float16", tdl_builder_is_nan(b, i));
    REFUSED("isInfinite takes float32 and float16", tdl_builder_is_infinite(b, i));
}

int main(int argc, char **argv)
{
    const long random = check_cases(argc, argv, 3);
    const uint64_t seed = check_seed(argc, argv, 2);
    check_errors();
    struct tdl_context *ctx = check_context_open();
    const bool wide = tdl_context_device(ctx)->shader_int64;
    for (uint64_t i = seed; i < seed + (uint64_t)random; i++) {
        check_gather_nd(ctx, i, wide);
        check_scatter(ctx, i, wide, true);
        check_scatter(ctx, i, wide, false);
        check_questions(ctx, i);
        check_reverse(ctx, i, wide);
    }
    check_context_close(ctx);
    return check_result();
}
