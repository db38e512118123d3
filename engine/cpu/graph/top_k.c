/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* topK: a heap of the best so far, which lies in the output, its worst on top; then in
 * order (Williams 1964, "Heapsort"). */
#include "ops.h"

#include "ops/ops.h"
#include "ops/rows.h"

struct work {
    const struct tdl_cpu_call *call;
    struct tdl_rows rows;
    uint32_t count;
    bool smallest;
};

/* A row, and the indices that are kept of it. */
struct heap {
    const uint8_t *x;
    int32_t *kept;
    size_t stride; /* elements, of both */
    enum tdl_dtype dtype;
    bool smallest;
};

/* Numbers in whose order elements are: NaN is the largest, and both zeros are one. */
static uint64_t key(const struct heap *h, int32_t i)
{
    const uint64_t sign = 1ull << (8 * tdl_dtype_size(h->dtype) - 1);
    uint64_t k = tdl_element_bits(h->dtype, h->x, (size_t)i * h->stride) & (2 * sign - 1);
    if (tdl_is_float(h->dtype)) {
        const uint64_t magnitude = k & (sign - 1);
        const uint64_t infinity = h->dtype == TDL_FLOAT16 ? 0x7c00 : 0x7f800000;
        k = magnitude > infinity ? UINT64_MAX : k < sign ? sign + magnitude : sign - magnitude;
    } else if (h->dtype == TDL_INT8 || h->dtype == TDL_INT32 || h->dtype == TDL_INT64) {
        k ^= sign;
    }
    return h->smallest ? ~k : k;
}

static bool precedes(const struct heap *h, int32_t i, int32_t j)
{
    const uint64_t a = key(h, i), b = key(h, j);
    return a > b || (a == b && i < j);
}

/* Put an index where the heap of `count` has its top. */
static void sift(const struct heap *h, uint32_t count, uint32_t top, int32_t index)
{
    for (uint32_t child; (child = 2 * top + 1) < count; top = child) {
        if (child + 1 < count &&
            precedes(h, h->kept[child * h->stride], h->kept[(child + 1) * h->stride]))
            child++;
        if (!precedes(h, index, h->kept[child * h->stride]))
            break;
        h->kept[top * h->stride] = h->kept[child * h->stride];
    }
    h->kept[top * h->stride] = index;
}

static void choose(const struct heap *h, uint32_t length, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        h->kept[i * h->stride] = (int32_t)i;
    for (uint32_t i = count / 2; i-- > 0;)
        sift(h, count, i, h->kept[i * h->stride]);
    for (uint32_t i = count; i < length; i++)
        if (precedes(h, (int32_t)i, h->kept[0]))
            sift(h, count, 0, (int32_t)i);
    for (uint32_t left = count; left > 1; left--) {
        const int32_t last = h->kept[(left - 1) * h->stride];
        h->kept[(left - 1) * h->stride] = h->kept[0];
        sift(h, left - 1, 0, last);
    }
}

static void choose_rows(void *data, size_t begin, size_t end)
{
    const struct work *w = data;
    const enum tdl_dtype dtype = w->call->node->inputs[0]->desc.dtype;
    const struct tdl_rows kept = {w->rows.outer, w->count, w->rows.inner};
    for (size_t row = begin; row < end; row++) {
        const struct heap heap = {
            .x = (const uint8_t *)w->call->inputs[0] +
                 tdl_rows_start(w->rows, (uint32_t)row) * tdl_dtype_size(dtype),
            .kept = (int32_t *)w->call->output + tdl_rows_start(kept, (uint32_t)row),
            .stride = w->rows.inner,
            .dtype = dtype,
            .smallest = w->smallest,
        };
        choose(&heap, w->rows.length, w->count);
    }
}

static void run(const struct tdl_cpu_call *call)
{
    const struct tdl_node *n = call->node;
    struct work w = {call, tdl_rows_of(&n->inputs[0]->desc, n->attr.top_k.axis),
                     n->attr.top_k.p.count, n->attr.top_k.p.smallest};
    tdl_cpu_parallel(call->threads, choose_rows, &w, (size_t)w.rows.outer * w.rows.inner,
                     tdl_cpu_grain(3.0 * w.rows.length + 60.0 * w.count));
}

const struct tdl_cpu_kernel tdl_cpu_top_k = {.run = run};
