/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Operators along one axis, softmax, argMax, argMin and cumulativeSum: a row at a time
 * where the axis is the last one, else columns beside each other. */
#include "hot.h"
#include "integers.h"
#include "ops.h"

#include "ops/ops.h"
#include "ops/rows.h"

#include <math.h>

enum { BLOCK = 64 /* columns */ };

struct work {
    const struct tdl_cpu_call *call;
    const struct tdl_cpu_hot *hot;
    struct tdl_rows rows;
    enum tdl_dtype dtype;
};

/* A piece: columns beside each other, and where their first element is. */
struct columns {
    size_t start, count, row; /* the number of the first */
};

static size_t count_pieces(const struct tdl_rows *r)
{
    return (size_t)r->outer * TDL_DIV_UP(r->inner, BLOCK);
}

static struct columns piece(const struct work *w, size_t i)
{
    const size_t blocks = TDL_DIV_UP(w->rows.inner, BLOCK), outer = i / blocks;
    const size_t first = i % blocks * BLOCK;
    return (struct columns){outer * w->rows.length * w->rows.inner + first,
                            TDL_MIN(w->rows.inner - first, (size_t)BLOCK),
                            outer * w->rows.inner + first};
}

static void run_pieces(const struct tdl_cpu_call *call, uint32_t axis, double cost,
                       void (*compute)(void *data, size_t begin, size_t end))
{
    const struct tdl_tensor_params *in = &call->node->inputs[0]->desc;
    struct work w = {
        .call = call, .hot = tdl_cpu_hot(), .rows = tdl_rows_of(in, axis), .dtype = in->dtype};
    cost *= (double)w.rows.length * TDL_MIN(w.rows.inner, (uint32_t)BLOCK);
    tdl_cpu_parallel(call->threads, compute, &w, count_pieces(&w.rows), tdl_cpu_grain(cost + 10));
}

/* ------------------------------------------------------------------ softmax */

static void softmax_row(const struct work *w, const float *x, float *out)
{
    const size_t n = w->rows.length;
    const double sum = w->hot->row_exp(x, w->hot->row_max(x, n), out, n);
    w->hot->scale(out, (float)(1 / sum), n);
}

static void softmax_columns(const struct work *w, const float *x, float *out, size_t n)
{
    const size_t stride = w->rows.inner;
    float most[BLOCK], share[BLOCK];
    double sums[BLOCK] = {0};
    for (size_t c = 0; c < n; c++)
        most[c] = -HUGE_VALF;
    w->hot->pool(TDL_CPU_POOL_MAX, x, w->rows.length, stride, most, n);
    for (size_t k = 0; k < w->rows.length; k++) {
        float *to = out + k * stride, shifted[BLOCK];
        w->hot->binary(TDL_SUB, x + k * stride, false, most, false, shifted, n);
        w->hot->unary(TDL_EXP, 0, 0, shifted, to, n);
        w->hot->add_row(TDL_REDUCE_SUM, to, NULL, sums, n);
    }
    for (size_t c = 0; c < n; c++)
        share[c] = (float)(1 / sums[c]);
    for (size_t k = 0; k < w->rows.length; k++) {
        float *to = out + k * stride, part[BLOCK];
        memcpy(part, to, n * sizeof(*part));
        w->hot->binary(TDL_MUL, part, false, share, false, to, n);
    }
}

static void softmax(void *data, size_t begin, size_t end)
{
    const struct work *w = data;
    for (size_t i = begin; i < end; i++) {
        const struct columns c = piece(w, i);
        const float *x = (const float *)w->call->inputs[0] + c.start;
        float *out = (float *)w->call->output + c.start;
        if (w->rows.inner == 1)
            softmax_row(w, x, out);
        else
            softmax_columns(w, x, out, c.count);
    }
}

static void run_softmax(const struct tdl_cpu_call *call)
{
    run_pieces(call, call->node->attr.softmax.axis, 1, softmax);
}

/* ------------------------------------------------------------ argMax, argMin */

/* Element k of column c. Unsigned ones of 64 bits in an order that signed ones have. */
static int64_t integer_at(const struct work *w, const struct columns *c, size_t k, size_t column)
{
    const size_t at = c->start + k * w->rows.inner + column;
    const int64_t v = tdl_cpu_integer(w->dtype, (const uint8_t *)w->call->inputs[0] +
                                                    at * tdl_dtype_size(w->dtype));
    return w->dtype == TDL_UINT64 ? (int64_t)((uint64_t)v ^ 1ull << 63) : v;
}

#define FIND(name, type, element)                                                                  \
    static void name(const struct work *w, const struct columns *c, bool largest, int64_t *index)  \
    {                                                                                              \
        const bool last = w->call->node->attr.arg.select_last_index;                               \
        type best[BLOCK];                                                                          \
        for (size_t column = 0; column < c->count; column++) {                                     \
            const size_t k = 0;                                                                    \
            best[column] = (element);                                                              \
            index[column] = 0;                                                                     \
        }                                                                                          \
        for (size_t k = 1; k < w->rows.length; k++)                                                \
            for (size_t column = 0; column < c->count; column++) {                                 \
                const type v = (element);                                                          \
                const bool better = (largest ? v > best[column] : v < best[column]) ||             \
                                    (last && v == best[column]);                                   \
                best[column] = better ? v : best[column];                                          \
                index[column] = better ? (int64_t)k : index[column];                               \
            }                                                                                      \
    }
FIND(find_float, float, ((const float *)w->call->inputs[0])[c->start + k * w->rows.inner + column])
FIND(find_integer, int64_t, integer_at(w, c, k, column))

static void find(const struct work *w, bool largest, size_t begin, size_t end)
{
    const enum tdl_dtype to = w->call->node->output->desc.dtype;
    int64_t index[BLOCK];
    for (size_t i = begin; i < end; i++) {
        const struct columns c = piece(w, i);
        if (w->dtype == TDL_FLOAT32)
            find_float(w, &c, largest, index);
        else
            find_integer(w, &c, largest, index);
        tdl_cpu_store_integers(to, index, (uint8_t *)w->call->output + c.row * tdl_dtype_size(to),
                               c.count);
    }
}

static void find_largest(void *data, size_t begin, size_t end)
{
    find(data, true, begin, end);
}

static void find_least(void *data, size_t begin, size_t end)
{
    find(data, false, begin, end);
}

static void run_arg_max(const struct tdl_cpu_call *call)
{
    run_pieces(call, call->node->attr.arg.axis, 1, find_largest);
}

static void run_arg_min(const struct tdl_cpu_call *call)
{
    run_pieces(call, call->node->attr.arg.axis, 1, find_least);
}

/* ------------------------------------------------------------ cumulativeSum */

static void sum_floats(const struct work *w, const struct columns *c)
{
    const struct tdl_cumulative_sum_params *p = &w->call->node->attr.cumulative_sum.p;
    const float *x = w->call->inputs[0];
    float *out = w->call->output;
    double sums[BLOCK] = {0};
    for (size_t i = 0; i < w->rows.length; i++) {
        const size_t k = p->reversed ? w->rows.length - 1 - i : i;
        const size_t at = c->start + k * w->rows.inner;
        for (size_t n = 0; n < c->count; n++) {
            const double before = sums[n];
            sums[n] += (double)x[at + n];
            out[at + n] = (float)(p->exclusive ? before : sums[n]);
        }
    }
}

static void sum_integers(const struct work *w, const struct columns *c)
{
    const struct tdl_cumulative_sum_params *p = &w->call->node->attr.cumulative_sum.p;
    const size_t size = tdl_dtype_size(w->dtype);
    const uint8_t *x = w->call->inputs[0];
    uint8_t *out = w->call->output;
    int64_t row[BLOCK], before[BLOCK], sums[BLOCK] = {0};
    for (size_t i = 0; i < w->rows.length; i++) {
        const size_t k = p->reversed ? w->rows.length - 1 - i : i;
        const size_t at = (c->start + k * w->rows.inner) * size;
        tdl_cpu_load_integers(w->dtype, x + at, row, c->count);
        memcpy(before, sums, sizeof(before));
        for (size_t n = 0; n < c->count; n++)
            sums[n] = (int64_t)((uint64_t)sums[n] + (uint64_t)row[n]);
        tdl_cpu_store_integers(w->dtype, p->exclusive ? before : sums, out + at, c->count);
    }
}

static void sum_up(void *data, size_t begin, size_t end)
{
    const struct work *w = data;
    for (size_t i = begin; i < end; i++) {
        const struct columns c = piece(w, i);
        if (w->dtype == TDL_FLOAT32)
            sum_floats(w, &c);
        else
            sum_integers(w, &c);
    }
}

static void run_cumulative_sum(const struct tdl_cpu_call *call)
{
    run_pieces(call, call->node->attr.cumulative_sum.axis, 2, sum_up);
}

const struct tdl_cpu_kernel tdl_cpu_softmax = {.run = run_softmax};
const struct tdl_cpu_kernel tdl_cpu_arg_max = {.run = run_arg_max};
const struct tdl_cpu_kernel tdl_cpu_arg_min = {.run = run_arg_min};
const struct tdl_cpu_kernel tdl_cpu_cumulative_sum = {.run = run_cumulative_sum};
