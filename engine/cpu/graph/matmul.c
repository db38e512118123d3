/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* gemm and matmul: the right side is brought into columns of tiles, once where it is
 * constant, else for each matrix of a run. */
#include "hot.h"
#include "ops.h"

#include "ops/matmul.h"
#include "ops/ops.h"

#include <math.h>
#include <stdlib.h>

struct state {
    size_t m, n, k, tiles;
    uint32_t dims; /* batch dimensions */
    bool packed;   /* b is constant, and one for all */
    float *b;      /* [tile][k][columns], where it is not packed */
    float *a;      /* [m][k], where a is transposed */
};

struct work {
    const struct tdl_cpu_call *call;
    const struct tdl_cpu_hot *hot;
    const struct state *s;
    const float *a, *b, *c;
    float *tiles;         /* tiles of b, being made */
    const float *columns; /* tiles of b to multiply by */
    size_t c_row, c_column;
    float *out;
};

static const struct tdl_operand *c_of(const struct tdl_node *n)
{
    return n->input_count > TDL_MATMUL_C ? n->inputs[TDL_MATMUL_C] : NULL;
}

/* ------------------------------------------------------------------- packing */

/* Pieces are tiles. */
static void pack_b(void *data, size_t begin, size_t end)
{
    const struct work *w = data;
    const struct state *s = w->s;
    const bool transposed = w->call->node->attr.matmul.b_transpose;
    const size_t columns = w->hot->columns;
    for (size_t tile = begin; tile < end; tile++) {
        const size_t first = tile * columns, count = TDL_MIN(columns, s->n - first);
        float *to = w->tiles + tile * s->k * columns;
        if (transposed)
            w->hot->turn((const uint32_t *)(w->b + first * s->k), s->k, count, s->k, (uint32_t *)to,
                         columns);
        for (size_t k = 0; k < s->k; k++, to += columns) {
            for (size_t c = 0; c < count && !transposed; c++)
                to[c] = w->b[k * s->n + first + c];
            for (size_t c = count; c < columns; c++)
                to[c] = 0;
        }
    }
}

/* Pieces are rows. */
static void turn_a(void *data, size_t begin, size_t end)
{
    const struct work *w = data;
    for (size_t row = begin; row < end; row++)
        for (size_t k = 0; k < w->s->k; k++)
            w->s->a[row * w->s->k + k] = w->a[k * w->s->m + row];
}

static enum tdl_result prepare(const struct tdl_node *n, struct tdl_cpu_prepared *made)
{
    const struct tdl_tensor_params *out = &n->output->desc, *a = &n->inputs[TDL_MATMUL_A]->desc;
    const size_t columns = tdl_cpu_hot()->columns;
    const struct tdl_operand *b = n->inputs[TDL_MATMUL_B];
    struct state base = {
        .m = out->shape[out->rank - 2],
        .n = out->shape[out->rank - 1],
        .k = a->shape[a->rank - 1 - n->attr.matmul.a_transpose],
        .dims = out->rank - 2,
        .packed = tdl_is_known(b) &&
                  tdl_operand_count(b) ==
                      b->desc.shape[b->desc.rank - 1] * (size_t)b->desc.shape[b->desc.rank - 2],
    };
    base.tiles = TDL_DIV_UP(base.n, columns);
    const size_t columns_bytes = base.tiles * columns * base.k * sizeof(float);
    const size_t turned = n->attr.matmul.a_transpose ? base.m * base.k * sizeof(float) : 0;
    struct state *s = made->state = malloc(sizeof(*s) + turned + (base.packed ? 0 : columns_bytes));
    if (base.packed) {
        made->slots = 1u << TDL_MATMUL_B;
        made->packed_bytes = columns_bytes;
        made->packed = malloc(columns_bytes);
    }
    if (!s || (base.packed && !made->packed))
        return tdl_fail(TDL_ERROR_OUT_OF_MEMORY, "out of memory while building a graph");
    *s = base;
    s->a = (float *)(s + 1);
    s->b = s->a + turned / sizeof(float);
    if (s->packed) {
        const struct tdl_cpu_call call = {.node = n};
        struct work w = {
            .call = &call, .hot = tdl_cpu_hot(), .s = s, .b = b->data, .tiles = made->packed};
        pack_b(&w, 0, s->tiles);
    }
    return TDL_OK;
}

/* ------------------------------------------------------------------- running */

/* activation(… + beta · c) */
static void finish_row(const struct work *w, size_t row)
{
    const struct tdl_matmul_attr *p = &w->call->node->attr.matmul;
    float *out = w->out + row * w->s->n;
    for (size_t c = 0; w->c && c < w->s->n; c++)
        out[c] += p->beta * w->c[row * w->c_row + c * w->c_column];
    for (size_t c = 0; p->activation != TDL_ACTIVATION_NONE && c < w->s->n; c++)
        out[c] = tdl_activate(p->activation, out[c]);
}

/* Pieces are some rows. */
static void multiply(void *data, size_t begin, size_t end)
{
    const struct work *w = data;
    const struct state *s = w->s;
    const float alpha = w->call->node->attr.matmul.alpha;
    const size_t at_once = w->hot->product_rows;
    for (size_t i = begin; i < end; i++) {
        const size_t first = i * at_once, count = TDL_MIN(s->m - first, at_once);
        float *out = w->out + first * s->n;
        w->hot->product(&(struct tdl_cpu_product){
            .a = w->a + first * s->k,
            .a_step = s->k,
            .b = w->columns,
            .depth = s->k,
            .rows = count,
            .columns = s->tiles * w->hot->columns,
            .out = out,
            .out_step = s->n,
            .wanted = s->n,
            .least = -INFINITY,
            .most = INFINITY,
        });
        if (alpha < 1 || alpha > 1)
            w->hot->scale(out, alpha, count * s->n);
        for (size_t r = 0; r < count; r++)
            finish_row(w, first + r);
    }
}

/* The matrix of an input for one of the output's: elements from the start. */
static size_t matrix_of(const struct tdl_node *n, uint32_t slot, size_t index)
{
    const struct tdl_tensor_params *p = &n->inputs[slot]->desc, *out = &n->output->desc;
    size_t stride = (size_t)p->shape[p->rank - 1] * p->shape[p->rank - 2], at = 0;
    for (uint32_t d = out->rank - 2; d-- > 0; index /= out->shape[d]) {
        const bool there = d + p->rank >= out->rank;
        const uint32_t size = there ? p->shape[d + p->rank - out->rank] : 1;
        at += size == 1 ? 0 : index % out->shape[d] * stride;
        stride *= size;
    }
    return at;
}

static void run(const struct tdl_cpu_call *call)
{
    const struct tdl_node *n = call->node;
    const struct state *s = call->state;
    const struct tdl_operand *c = c_of(n);
    struct work w = {.call = call,
                     .hot = tdl_cpu_hot(),
                     .s = s,
                     .c = c ? call->inputs[2] : NULL,
                     .tiles = s->b,
                     .columns = s->packed ? call->packed : s->b};
    const double macs = (double)s->n * (double)s->k;
    if (c) {
        const size_t width = c->desc.rank ? c->desc.shape[c->desc.rank - 1] : 1;
        w.c_column = width > 1;
        w.c_row = c->desc.rank > 1 && c->desc.shape[c->desc.rank - 2] > 1 ? width : 0;
    }
    size_t matrices = tdl_operand_count(n->output) / (s->m * s->n);
    size_t last = SIZE_MAX;
    for (size_t i = 0; i < matrices; i++) {
        const size_t b = s->packed ? 0 : matrix_of(n, TDL_MATMUL_B, i);
        w.a = (const float *)call->inputs[TDL_MATMUL_A] + matrix_of(n, TDL_MATMUL_A, i);
        w.b = s->packed ? NULL : (const float *)call->inputs[TDL_MATMUL_B] + b;
        w.out = (float *)call->output + i * s->m * s->n;
        if (!s->packed && b != last)
            tdl_cpu_parallel(call->threads, pack_b, &w, s->tiles,
                             tdl_cpu_grain((double)(s->k * w.hot->columns)));
        last = b;
        if (n->attr.matmul.a_transpose) {
            tdl_cpu_parallel(call->threads, turn_a, &w, s->m, tdl_cpu_grain((double)s->k));
            w.a = s->a;
        }
        tdl_cpu_parallel(call->threads, multiply, &w, TDL_DIV_UP(s->m, w.hot->product_rows),
                         tdl_cpu_grain(macs * w.hot->product_rows / 30));
    }
}

const struct tdl_cpu_kernel tdl_cpu_matmul = {.prepare = prepare, .run = run};
