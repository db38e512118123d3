/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Convolutions of 1×1, stride 1, as products of matrices: rows are pixels, columns output
 * channels. Blocks of rows go to the threads one after the other, so that a core that has
 * other work takes fewer of them: XNNPACK's threads share the work out before, and wait for
 * the slowest. It takes what is worth several threads; all else is XNNPACK's.
 */
#include "hot.h"
#include "ops.h"

#include "ops/conv/conv.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    LEAST_CHANNELS = 16,     /* a vector's, of the widest */
    LEAST_MACS = 6000000,    /* of which each thread has some tenths of a millisecond */
    MOST_WEIGHTS = 16 << 20, /* bytes */
    ROWS = 48                /* pixels of a block, about: their results stay in the cache */
};

struct state {
    uint32_t in, out, block; /* channels; pixels */
    uint32_t columns;        /* output channels, and zeros up to a vector */
    size_t pixels, bias;     /* of all images; where it is in what is packed */
    float least, most;
};

/* As hot->product() reads them: two vectors of columns by input channel, then the next two;
 * the last may be one vector. */
static void pack(const struct tdl_node *n, const struct state *s, float *w)
{
    const uint32_t pair = tdl_cpu_hot()->columns;
    const float *filter = n->inputs[TDL_CONV_FILTER]->data;
    const float *bias = n->inputs[TDL_CONV_BIAS] ? n->inputs[TDL_CONV_BIAS]->data : NULL;
    for (uint32_t o = 0; o < s->out; o++) {
        const uint32_t first = o / pair * pair, width = TDL_MIN(pair, s->columns - first);
        for (uint32_t i = 0; i < s->in; i++)
            w[(size_t)first * s->in + (size_t)i * width + o - first] =
                filter[(size_t)o * s->in + i];
        w[s->bias + o] = bias ? bias[o] : 0;
    }
}

static enum tdl_result prepare(const struct tdl_node *n, struct tdl_cpu_prepared *out)
{
    const struct tdl_cpu_hot *hot = tdl_cpu_hot();
    const enum tdl_activation a = n->attr.conv.p.activation;
    const struct tdl_dims in = tdl_operand_dims(n->inputs[TDL_CONV_INPUT]);
    const struct tdl_dims made = tdl_operand_dims(n->output);
    const struct state base = {
        .in = in.c,
        .out = made.c,
        .block = TDL_ALIGN(ROWS, hot->product_rows),
        .columns = TDL_ALIGN(made.c, hot->columns / 2),
        .pixels = (size_t)made.n * made.h * made.w,
        .bias = (size_t)in.c * TDL_ALIGN(made.c, hot->columns / 2),
        .least = a == TDL_ACTIVATION_NONE ? -INFINITY : 0,
        .most = a == TDL_ACTIVATION_RELU6 ? 6 : INFINITY,
    };
    struct state *s = out->state = malloc(sizeof(*s));
    out->packed_bytes = (base.bias + base.columns) * sizeof(float);
    out->packed = calloc(1, out->packed_bytes);
    /* Results of a block, and the rows of the last one, which may be fewer. */
    out->scratch_bytes = sizeof(float) * base.block * ((size_t)base.columns + base.in);
    if (!s || !out->packed)
        return tdl_fail(TDL_ERROR_OUT_OF_MEMORY, "out of memory while building a graph");
    *s = base;
    pack(n, s, out->packed);
    return TDL_OK;
}

struct work {
    const struct tdl_cpu_call *call;
    const struct state *s;
    const struct tdl_cpu_hot *hot;
};

/* With the bias and within the bounds; NaN stays. */
static void write_row(const struct work *w, const float *restrict sums, float *restrict out)
{
    const struct state *s = w->s;
    const float *restrict bias = w->call->packed + s->bias;
    const float least = s->least, most = s->most;
    for (uint32_t o = 0; o < s->out; o++) {
        const float v = sums[o] + bias[o], low = v < least ? least : v;
        out[o] = low > most ? most : low;
    }
}

/* Pieces are blocks. */
static void compute(void *data, size_t begin, size_t end)
{
    const struct work *w = data;
    const struct state *s = w->s;
    float *sums = tdl_cpu_scratch_take(w->call->scratch);
    float *rest = sums + (size_t)s->block * s->columns;
    for (size_t i = begin; i < end; i++) {
        const size_t first = i * s->block, count = TDL_MIN(s->block, s->pixels - first);
        const size_t rows = TDL_ALIGN(count, w->hot->product_rows);
        const float *in = (const float *)w->call->inputs[TDL_CONV_INPUT] + first * s->in;
        if (rows > count) { /* nothing is read behind the input */
            memcpy(rest, in, count * s->in * sizeof(float));
            memset(rest + count * s->in, 0, (rows - count) * s->in * sizeof(float));
            in = rest;
        }
        w->hot->product(in, s->in, w->call->packed, s->in, sums, s->columns, rows);
        for (size_t p = 0; p < count; p++)
            write_row(w, sums + p * s->columns, (float *)w->call->output + (first + p) * s->out);
    }
    tdl_cpu_scratch_give(w->call->scratch, sums);
}

static void run(const struct tdl_cpu_call *call)
{
    const struct state *s = call->state;
    struct work w = {call, s, tdl_cpu_hot()};
    tdl_cpu_parallel(call->threads, compute, &w, TDL_DIV_UP(s->pixels, s->block),
                     tdl_cpu_grain((double)s->block * s->in * s->columns / 30));
}

static bool takes(const struct tdl_node *n)
{
    const struct tdl_dims in = tdl_operand_dims(n->inputs[TDL_CONV_INPUT]);
    const struct tdl_dims out = tdl_operand_dims(n->output);
    const uint64_t weights = (uint64_t)in.c * out.c, pixels = (uint64_t)out.n * out.h * out.w;
    return n->attr.conv.pre == TDL_PRE_NONE && n->input_count <= TDL_CONV_BIAS + 1 &&
           n->attr.conv.p.groups == 1 && n->window.kernel[0] == 1 && n->window.kernel[1] == 1 &&
           in.h == out.h && in.w == out.w && in.c >= LEAST_CHANNELS && out.c >= LEAST_CHANNELS &&
           pixels >= 2 * ROWS && weights * pixels >= LEAST_MACS &&
           weights <= MOST_WEIGHTS / sizeof(float);
}

const struct tdl_cpu_kernel tdl_cpu_pointwise = {
    .name = "pointwise",
    .takes = takes,
    .prepare = prepare,
    .run = run,
    .packs = 1u << TDL_CONV_FILTER | 1u << TDL_CONV_BIAS,
    .before_xnn = true,
    .by_threads = true,
};
