/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reductions. Dimensions are kept or reduced; neighbours of one kind are one. Where
 * the last is kept, rows are added to a row of sums; where it is reduced, each row is
 * added up in lanes.
 */
#include "hot.h"
#include "integers.h"
#include "ops.h"

#include "ops/ops.h"

#include <math.h>

enum { BLOCK = 64 };

/* From the innermost dimension on. */
struct parts {
    uint32_t count;
    size_t size[TDL_MAX_RANK], stride[TDL_MAX_RANK], elements;
};

struct work {
    const struct tdl_cpu_call *call;
    const struct tdl_cpu_hot *hot;
    enum tdl_reduction reduction;
    struct parts kept, reduced;
    bool along; /* the innermost is reduced */
    size_t row; /* elements that lie in a row of it */
};

static void split(const struct tdl_node *n, struct work *w)
{
    const struct tdl_tensor_params *in = &n->inputs[0]->desc;
    size_t stride = 1;
    int last = -1;
    w->kept.elements = w->reduced.elements = 1;
    for (uint32_t d = in->rank; d-- > 0; stride *= in->shape[d]) {
        const int reduced = n->attr.reduce.axes >> d & 1;
        struct parts *p = reduced ? &w->reduced : &w->kept;
        if (in->shape[d] == 1)
            continue;
        if (reduced != last) {
            p->stride[p->count] = stride;
            p->size[p->count++] = 1;
        }
        p->size[p->count - 1] *= in->shape[d];
        p->elements *= in->shape[d];
        last = reduced;
    }
    w->along = !w->kept.count || w->kept.stride[0] != 1;
    const struct parts *inner = w->along ? &w->reduced : &w->kept;
    w->row = inner->count && inner->stride[0] == 1 ? inner->size[0] : 1;
}

/* Offset of element `i` of the parts, leaving out the innermost of them or not. */
static size_t place(const struct parts *p, size_t i, uint32_t first)
{
    size_t at = 0;
    for (uint32_t d = first; d < p->count; d++) {
        at += i % p->size[d] * p->stride[d];
        i /= p->size[d];
    }
    return at;
}

static bool is_extreme(enum tdl_reduction r)
{
    return r == TDL_REDUCE_MAX || r == TDL_REDUCE_MIN;
}

static double begin_with(enum tdl_reduction r)
{
    return r == TDL_REDUCE_PRODUCT ? 1 : 0;
}

static double join(enum tdl_reduction r, double a, double b)
{
    return r == TDL_REDUCE_MAX       ? (b > a || isnan(b) ? b : a)
           : r == TDL_REDUCE_MIN     ? (b < a || isnan(b) ? b : a)
           : r == TDL_REDUCE_PRODUCT ? a * b
                                     : a + b;
}

static double finish(const struct work *w, double sum, float most)
{
    switch (w->reduction) {
    case TDL_REDUCE_MEAN:
        return sum / (double)w->reduced.elements;
    case TDL_REDUCE_L2:
        return sqrt(sum);
    case TDL_REDUCE_LOG_SUM:
        return log(sum);
    case TDL_REDUCE_LOG_SUM_EXP:
        return isfinite(most) ? log(sum) + (double)most : (double)most;
    default:
        return sum;
    }
}

/* ----------------------------------------------- the innermost one is reduced */

static double reduce_lanes(const struct work *w, enum tdl_reduction r, const float *x, float most)
{
    const size_t inner = w->row, rows = w->reduced.elements / inner;
    const size_t lanes = TDL_MIN(inner, (size_t)BLOCK);
    float mosts[BLOCK];
    double sums[BLOCK];
    for (size_t l = 0; l < lanes; l++) {
        sums[l] = is_extreme(r) ? (double)x[0] : begin_with(r);
        mosts[l] = most;
    }
    for (size_t i = 0; i < rows; i++) {
        const float *row = x + place(&w->reduced, i, w->reduced.stride[0] == 1);
        for (size_t at = 0; at < inner; at += BLOCK)
            w->hot->add_row(r, row + at, mosts, sums, TDL_MIN(inner - at, (size_t)BLOCK));
    }
    double sum = sums[0];
    for (size_t l = 1; l < lanes; l++)
        sum = join(r, sum, sums[l]);
    return sum;
}

/* Sums of rows of a few elements that lie behind each other, as channels do. */
static bool is_short(const struct work *w)
{
    enum { SHORT = 16 };
    return (w->reduction == TDL_REDUCE_SUM || w->reduction == TDL_REDUCE_MEAN) &&
           w->reduced.elements == w->row && w->row <= SHORT && w->kept.count <= 1 &&
           (!w->kept.count || w->kept.stride[0] == w->row);
}

static void reduce_short(const struct work *w, size_t begin, size_t end)
{
    const size_t row = w->row;
    const float *x = (const float *)w->call->inputs[0] + begin * row;
    const double count = w->reduction == TDL_REDUCE_MEAN ? (double)row : 1;
    float *out = w->call->output;
    for (size_t i = begin; i < end; i++, x += row) {
        double sum = 0;
        for (size_t k = 0; k < row; k++)
            sum += (double)x[k];
        out[i] = (float)(sum / count);
    }
}

static void reduce_along(const struct work *w, size_t begin, size_t end)
{
    if (is_short(w)) {
        reduce_short(w, begin, end);
        return;
    }
    for (size_t i = begin; i < end; i++) {
        const float *x = (const float *)w->call->inputs[0] + place(&w->kept, i, 0);
        float most = 0;
        if (w->reduction == TDL_REDUCE_LOG_SUM_EXP)
            most = (float)reduce_lanes(w, TDL_REDUCE_MAX, x, 0);
        ((float *)w->call->output)[i] =
            (float)finish(w, reduce_lanes(w, w->reduction, x, most), most);
    }
}

/* -------------------------------------------------- the innermost one is kept */

static void add_rows(const struct work *w, enum tdl_reduction r, const float *x, const float *mosts,
                     double *sums, size_t n)
{
    for (size_t i = 0; i < n; i++)
        sums[i] = is_extreme(r) ? (double)x[i] : begin_with(r);
    for (size_t i = 0; i < w->reduced.elements; i++)
        w->hot->add_row(r, x + place(&w->reduced, i, 0), mosts, sums, n);
}

/* Pieces are blocks of rows of results. */
static void reduce_across(const struct work *w, size_t begin, size_t end)
{
    const size_t blocks = TDL_DIV_UP(w->row, BLOCK);
    for (size_t i = begin; i < end; i++) {
        const size_t first = i % blocks * BLOCK, n = TDL_MIN(w->row - first, (size_t)BLOCK);
        const float *x = (const float *)w->call->inputs[0] + place(&w->kept, i / blocks, 1) + first;
        float *out = (float *)w->call->output + i / blocks * w->row + first;
        float mosts[BLOCK] = {0};
        double sums[BLOCK];
        if (w->reduction == TDL_REDUCE_LOG_SUM_EXP) {
            add_rows(w, TDL_REDUCE_MAX, x, mosts, sums, n);
            for (size_t k = 0; k < n; k++)
                mosts[k] = (float)sums[k];
        }
        add_rows(w, w->reduction, x, mosts, sums, n);
        for (size_t k = 0; k < n; k++)
            out[k] = (float)finish(w, sums[k], mosts[k]);
    }
}

/* ------------------------------------------------------------------ integers */

static int64_t step(enum tdl_reduction r, int64_t sum, int64_t x, bool has_sign)
{
    const bool less = has_sign ? x < sum : (uint64_t)x < (uint64_t)sum;
    switch (r) {
    case TDL_REDUCE_MAX:
        return less ? sum : x;
    case TDL_REDUCE_MIN:
        return less ? x : sum;
    case TDL_REDUCE_PRODUCT:
        return (int64_t)((uint64_t)sum * (uint64_t)x);
    case TDL_REDUCE_L1:
        return (int64_t)((uint64_t)sum + (has_sign && x < 0 ? 0 - (uint64_t)x : (uint64_t)x));
    case TDL_REDUCE_SUM_SQUARE:
        return (int64_t)((uint64_t)sum + (uint64_t)x * (uint64_t)x);
    default:
        return (int64_t)((uint64_t)sum + (uint64_t)x);
    }
}

static void reduce_integers(const struct work *w, size_t begin, size_t end)
{
    const enum tdl_dtype dtype = w->call->node->output->desc.dtype;
    const size_t size = tdl_dtype_size(dtype);
    for (size_t i = begin; i < end; i++) {
        const uint8_t *x = (const uint8_t *)w->call->inputs[0] + place(&w->kept, i, 0) * size;
        int64_t sum = is_extreme(w->reduction) ? tdl_cpu_integer(dtype, x)
                                               : w->reduction == TDL_REDUCE_PRODUCT;
        for (size_t k = 0; k < w->reduced.elements; k++)
            sum =
                step(w->reduction, sum, tdl_cpu_integer(dtype, x + place(&w->reduced, k, 0) * size),
                     tdl_cpu_has_sign(dtype));
        tdl_cpu_store_integers(dtype, &sum, (uint8_t *)w->call->output + i * size, 1);
    }
}

static void compute(void *data, size_t begin, size_t end)
{
    const struct work *w = data;
    if (!tdl_is_float(w->call->node->output->desc.dtype))
        reduce_integers(w, begin, end);
    else if (w->along)
        reduce_along(w, begin, end);
    else
        reduce_across(w, begin, end);
}

static void run(const struct tdl_cpu_call *call)
{
    struct work w = {
        .call = call, .hot = tdl_cpu_hot(), .reduction = call->node->attr.reduce.reduction};
    split(call->node, &w);
    const bool rows = !w.along && tdl_is_float(call->node->output->desc.dtype);
    const size_t pieces =
        rows ? w.kept.elements / w.row * TDL_DIV_UP(w.row, BLOCK) : w.kept.elements;
    tdl_cpu_parallel(call->threads, compute, &w, pieces,
                     tdl_cpu_grain((double)w.reduced.elements * (rows ? 10 : 1) + 10));
}

const struct tdl_cpu_kernel tdl_cpu_reduce = {.run = run};
