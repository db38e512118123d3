/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * XNNPACK, of which every release that Debian has will do (2022-02, 2024-11): only
 * functions on subgraphs, whose signatures have not changed. It computes convolutions,
 * products with constant matrices, and what goes on between them; the rest does not
 * treat NaN and infinities as the operators' references do (its sums and clamps lose
 * NaN, its sigmoid is NaN for large numbers), and is memory-bound anyway. Convolutions
 * that meet NaN lose it, too: that is what they cost, but for a graph's last ones, which are
 * computed anew where it may have been (plan.c, program.c).
 *
 * All values are external to it: they lie where our arena has them. Filters and biases
 * are packed when the runtime is created, and are not read later.
 */
#include "xnn_define.h"

#include <math.h>
#include <stdlib.h>

struct tdl_cpu_xnn {
    xnn_runtime_t runtime;
    uint32_t count;
    uint32_t *operands; /* ids, by external value */
    struct xnn_external_value *values;
};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static enum xnn_status initialized;

static void initialize(void)
{
    initialized = xnn_initialize(NULL);
}

bool tdl_cpu_xnn_starts(void)
{
    pthread_once(&once, initialize);
    return initialized == xnn_status_success;
}

enum tdl_result tdl_cpu_xnn_check(enum xnn_status status, const char *what)
{
    static const char *const texts[] = {"success",
                                        "it was not initialized",
                                        "it was given a wrong parameter",
                                        "it was called at the wrong time",
                                        "it does not support these parameters",
                                        "it does not support this processor",
                                        "out of memory"};
    if (status == xnn_status_success)
        return TDL_OK;
    return tdl_fail(status == xnn_status_out_of_memory ? TDL_ERROR_OUT_OF_MEMORY
                                                       : TDL_ERROR_UNSUPPORTED,
                    "XNNPACK, %s: %s", what,
                    (unsigned)status < TDL_COUNT(texts) ? texts[status] : "an unknown error");
}

void tdl_cpu_xnn_destroy(struct tdl_cpu_xnn **pointer)
{
    struct tdl_cpu_xnn *x = tdl_take(pointer);
    if (!x)
        return;
    if (x->runtime)
        xnn_delete_runtime(x->runtime);
    free(x->operands);
    free(x->values);
    free(x);
}

/* ------------------------------------------------------------------ creating */

static uint32_t find(const struct tdl_cpu_xnn_making *m, const struct tdl_operand *o)
{
    for (uint32_t i = 0; i < m->count; i++)
        if (m->operands[i] == o)
            return m->ids[i];
    return XNN_INVALID_VALUE_ID;
}

/* The value of an operand that lies in our memory; `q`: one of int8. */
static enum tdl_result define_value(struct tdl_cpu_xnn_making *m, struct tdl_operand *o,
                                    const struct tdl_quantization *q, bool made, uint32_t *out_id)
{
    const uint32_t flags = made ? XNN_VALUE_FLAG_EXTERNAL_OUTPUT : XNN_VALUE_FLAG_EXTERNAL_INPUT;
    size_t dims[TDL_MAX_RANK];
    enum xnn_status status;
    *out_id = find(m, o);
    if (*out_id != XNN_INVALID_VALUE_ID)
        return TDL_OK;
    for (uint32_t i = 0; i < o->desc.rank; i++)
        dims[i] = o->desc.shape[i];
    if (q)
        status = xnn_define_quantized_tensor_value(m->subgraph, xnn_datatype_qint8,
                                                   (int32_t)q->zero, q->scale, o->desc.rank, dims,
                                                   NULL, m->count, flags, out_id);
    else
        status = xnn_define_tensor_value(m->subgraph, xnn_datatype_fp32, o->desc.rank, dims, NULL,
                                         m->count, flags, out_id);
    m->operands[m->count] = o;
    m->ids[m->count++] = *out_id;
    return tdl_cpu_xnn_check(status, "defining a value");
}

enum tdl_result tdl_cpu_xnn_value(struct tdl_cpu_xnn_making *m, struct tdl_operand *o, bool made,
                                  uint32_t *out_id)
{
    return define_value(m, o, NULL, made, out_id);
}

enum tdl_result tdl_cpu_xnn_bytes(struct tdl_cpu_xnn_making *m, struct tdl_operand *o,
                                  const struct tdl_quantization *q, bool made, uint32_t *out_id)
{
    return define_value(m, o, q, made, out_id);
}

/* Memory until the runtime is created. */
float *tdl_cpu_xnn_memory(struct tdl_cpu_xnn_making *m, size_t count)
{
    enum { SLACK = 16 }; /* floats: XNNPACK reads a little too far */
    void *memory = calloc(count + SLACK, sizeof(float));
    if (memory)
        m->owned[m->owned_count++] = memory;
    else
        tdl_fail(TDL_ERROR_OUT_OF_MEMORY, "out of memory while building a graph");
    return memory;
}

static enum tdl_result create_runtime(struct tdl_cpu_xnn *x, const struct tdl_cpu_xnn_making *m,
                                      void *pool)
{
    enum tdl_result r = tdl_cpu_xnn_check(
        xnn_create_runtime_v2(m->subgraph, pool, XNN_FLAG_YIELD_WORKERS, &x->runtime),
        "creating a runtime");
    if (r != TDL_OK)
        return r;
    x->count = m->count;
    x->operands = calloc(m->count, sizeof(*x->operands));
    x->values = calloc(m->count, sizeof(*x->values));
    if (!x->operands || !x->values)
        return tdl_fail(TDL_ERROR_OUT_OF_MEMORY, "out of memory while building a graph");
    for (uint32_t i = 0; i < m->count; i++) {
        x->operands[i] = m->operands[i]->id;
        x->values[i].id = i;
    }
    return TDL_OK;
}

static enum tdl_result define_all(struct tdl_cpu_xnn_making *m, struct tdl_node *const *nodes,
                                  uint32_t count)
{
    enum tdl_result r =
        tdl_cpu_xnn_check(xnn_create_subgraph(3 * count, 0, &m->subgraph), "creating a subgraph");
    for (uint32_t i = 0; i < count && r == TDL_OK; i++)
        r = tdl_cpu_xnn_define(m, nodes[i]);
    return r;
}

/* Threads cost more than they save where there is little to do; and, but for those who
 * want them, where losing a core for a while costs more than they save: measured beside
 * neighbours on both cores, two threads instead of one took 60 ms instead of 3 for a
 * person network, 13 instead of 3 for a convolution of 150 million, 31 instead of 20
 * for one of 600 million, and the same time for one of 10 billion. */
static bool is_worth_pool(uint64_t macs, const struct tdl_cpu_threads *threads)
{
    enum { LEAST = 10000000, WORTH = 500000000 }; /* multiply-accumulates */
    return macs >= (uint64_t)(tdl_cpu_threads_insisted(threads) ? LEAST : WORTH);
}

enum tdl_result tdl_cpu_xnn_create(struct tdl_node *const *nodes, uint32_t count, uint64_t macs,
                                   struct tdl_cpu_threads *threads, struct tdl_cpu_xnn **out_xnn)
{
    struct tdl_cpu_xnn *x = *out_xnn = calloc(1, sizeof(*x));
    struct tdl_cpu_xnn_making m = {
        .operands = calloc(3 * (size_t)count, sizeof(*m.operands)),
        .ids = calloc(3 * (size_t)count, sizeof(*m.ids)),
        .owned = calloc(count, sizeof(*m.owned)),
    };
    enum tdl_result r;
    tdl_cpu_xnn_starts();
    if (!x || !m.operands || !m.ids || !m.owned) {
        r = tdl_fail(TDL_ERROR_OUT_OF_MEMORY, "out of memory while building a graph");
        goto fail;
    }
    TRY(tdl_cpu_xnn_check(initialized, "starting"));
    TRY(define_all(&m, nodes, count));
    TRY(create_runtime(x, &m, is_worth_pool(macs, threads) ? tdl_cpu_threads_pool(threads) : NULL));
fail:
    if (m.subgraph)
        xnn_delete_subgraph(m.subgraph);
    for (uint32_t i = 0; i < m.owned_count; i++)
        free(m.owned[i]);
    free(m.operands);
    free(m.ids);
    free(m.owned);
    if (r != TDL_OK)
        tdl_cpu_xnn_destroy(out_xnn);
    return r;
}

/* ------------------------------------------------------------------- running */

enum tdl_result tdl_cpu_xnn_setup(struct tdl_cpu_xnn *x, void *const *values, void *stand_in)
{
    bool moved = false;
    for (uint32_t i = 0; i < x->count; i++) {
        void *value = values[x->operands[i]];
        value = value ? value : stand_in;
        moved |= x->values[i].data != value;
        x->values[i].data = value;
    }
    return moved ? tdl_cpu_xnn_check(xnn_setup_runtime(x->runtime, x->count, x->values),
                                     "setting up a runtime")
                 : TDL_OK;
}

enum tdl_result tdl_cpu_xnn_run(struct tdl_cpu_xnn *x, void *const *values)
{
    const enum tdl_result r = tdl_cpu_xnn_setup(x, values, NULL);
    return r == TDL_OK ? tdl_cpu_xnn_check(xnn_invoke_runtime(x->runtime), "running") : r;
}
