/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* gather and gatherElements: elements that indices name, which are read block by block. */
#include "integers.h"
#include "ops.h"

#include "ops/ops.h"
#include "ops/rows.h"

enum { BLOCK = 256 };

struct work {
    const struct tdl_cpu_call *call;
    struct tdl_rows rows; /* of the input */
    size_t count;         /* indices in a row of the output */
    enum tdl_dtype index_type;
    size_t bytes; /* per element */
};

/* Negative ones count from the end, and what is still outside is clamped. */
static void load_indices(const struct work *w, size_t first, size_t n, int64_t *out)
{
    const int64_t length = w->rows.length;
    const uint8_t *from = w->call->inputs[1];
    tdl_cpu_load_integers(w->index_type, from + first * tdl_dtype_size(w->index_type), out, n);
    for (size_t i = 0; i < n; i++) {
        const int64_t index = out[i] < 0 ? out[i] + length : out[i];
        out[i] = index < 0 ? 0 : index < length ? index : length - 1;
    }
}

static struct work work_of(const struct tdl_cpu_call *call)
{
    const struct tdl_node *n = call->node;
    return (struct work){.call = call,
                         .rows = tdl_rows_of(&n->inputs[0]->desc, n->attr.gather.axis),
                         .index_type = n->inputs[1]->desc.dtype,
                         .bytes = tdl_dtype_size(n->inputs[0]->desc.dtype)};
}

/* ----------------------------------------------------------- gatherElements */

/* out[i] = x[index[i]][i]: columns lie side by side, their elements a row apart. */
#define TAKE(type)                                                                                 \
    static void take_##type(const type *restrict x, const int64_t *restrict index, size_t row,     \
                            size_t n, type *restrict out)                                          \
    {                                                                                              \
        for (size_t i = 0; i < n; i++)                                                             \
            out[i] = x[(size_t)index[i] * row + i];                                                \
    }                                                                                              \
    static void take_row_##type(const type *restrict x, const int64_t *restrict index, size_t n,   \
                                type *restrict out)                                                \
    {                                                                                              \
        for (size_t i = 0; i < n; i++)                                                             \
            out[i] = x[index[i]];                                                                  \
    }
TAKE(uint8_t)
TAKE(uint16_t)
TAKE(uint32_t)
TAKE(uint64_t)

/* Elements of the output from `at` on, which read one row, or one element each of columns from
 * `column` on. */
static void take(const struct work *w, const void *x, size_t column, const int64_t *index,
                 size_t at, size_t n)
{
#define CASE(type)                                                                                 \
    case sizeof(type):                                                                             \
        if (w->rows.inner == 1)                                                                    \
            take_row_##type((const type *)x, index, n, (type *)w->call->output + at);              \
        else                                                                                       \
            take_##type((const type *)x + column, index, w->rows.inner, n,                         \
                        (type *)w->call->output + at);                                             \
        return
    switch (w->bytes) {
        CASE(uint8_t);
        CASE(uint16_t);
        CASE(uint32_t);
        CASE(uint64_t);
    }
#undef CASE
}

static void take_elements(void *data, size_t begin, size_t end)
{
    const struct work *w = data;
    const size_t inner = w->rows.inner, out_row = w->count * inner;
    const size_t in_row = (size_t)w->rows.length * inner * w->bytes;
    const size_t run = inner == 1 ? out_row : inner; /* elements that are taken alike */
    int64_t index[BLOCK];
    for (size_t at = begin, n; at < end; at += n) {
        n = TDL_MIN(TDL_MIN(end - at, run - at % run), (size_t)BLOCK);
        load_indices(w, at, n, index);
        take(w, (const uint8_t *)w->call->inputs[0] + at / out_row * in_row, at % inner, index, at,
             n);
    }
}

static void run_elements(const struct tdl_cpu_call *call)
{
    struct work w = work_of(call);
    w.count = call->node->output->desc.shape[call->node->attr.gather.axis];
    tdl_cpu_parallel(call->threads, take_elements, &w, tdl_operand_count(call->node->output),
                     tdl_cpu_grain(1.5));
}

/* ------------------------------------------------------------------- gather */

static void take_slices(void *data, size_t begin, size_t end)
{
    const struct work *w = data;
    const size_t slice = w->rows.inner * w->bytes;
    const uint8_t *x = w->call->inputs[0];
    int64_t index[BLOCK];
    for (size_t at = begin, n; at < end; at += n) {
        n = TDL_MIN(TDL_MIN(end - at, w->count - at % w->count), (size_t)BLOCK);
        load_indices(w, at % w->count, n, index);
        const uint8_t *row = x + at / w->count * w->rows.length * slice;
        if (w->rows.inner == 1)
            take(w, row, 0, index, at, n);
        else
            for (size_t i = 0; i < n; i++)
                memcpy((uint8_t *)w->call->output + (at + i) * slice,
                       row + (size_t)index[i] * slice, slice);
    }
}

static void run_gather(const struct tdl_cpu_call *call)
{
    struct work w = work_of(call);
    w.count = tdl_operand_count(call->node->inputs[1]);
    tdl_cpu_parallel(call->threads, take_slices, &w, w.rows.outer * w.count,
                     tdl_cpu_grain(2 + (double)w.rows.inner * (double)w.bytes / 16));
}

const struct tdl_cpu_kernel tdl_cpu_gather_elements = {.run = run_elements};
const struct tdl_cpu_kernel tdl_cpu_gather = {.run = run_gather};
